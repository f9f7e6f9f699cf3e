//! Graphs on the other library: its partitions, compiled and executed one after the other on memory of its own.

mod handle;

use crate::call::Number;
use crate::error::PeerError;
use crate::handle::{Compiled, Graph, GraphOp, Owned, Receivers, Stream};
use crate::run::Peer;
use handle::{Bound, Length, Record, TensorMemory, wait};
use oxidnn_c_common::numbers;
use oxidnn_graph::{AttrValue, LayoutType, LogicalTensor, Op, Property};
use oxidnn_spec::FpMath;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::CString;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// `dnnl_graph_partition_policy_fusion`.
const FUSION: i32 = 1;

/// A partition that the library made.
#[derive(Debug)]
pub struct Partition {
    handle: Owned<crate::handle::Partition>,
    /// The numbers of its operations, ascending.
    pub ops: Vec<usize>,
    /// Whether the library can compute it.
    pub is_supported: bool,
    inputs: Vec<Record>,
    outputs: Vec<Record>,
}

/// The partitions of a graph, compiled and bound to memory of the library's own.
#[derive(Debug)]
pub struct GraphRun {
    stream: Rc<Owned<Stream>>,
    bound: Vec<Bound>,
    memories: BTreeMap<usize, Rc<TensorMemory>>,
    compiled: Vec<Duration>,
}

fn text(text: &str) -> Result<CString, PeerError> {
    CString::new(text).map_err(|_| PeerError::Inexpressible(format!("the text {text:?}")))
}

/// A strided tensor: row-major where nothing else is said.
fn strided(lt: &LogicalTensor) -> LogicalTensor {
    if lt.layout == LayoutType::Strided {
        return *lt;
    }
    let made = match lt.dims {
        Some(dims) => LogicalTensor::with_dims(lt.id, lt.dtype, dims, LayoutType::Strided, lt.property),
        None => LogicalTensor::new(lt.id, lt.dtype, None, LayoutType::Strided, lt.property),
    };
    made.unwrap_or(*lt)
}

impl Peer {
    /// Lets the library keep so many megabytes that depend on constant tensors alone.
    ///
    /// # Errors
    /// The library's refusal.
    pub fn keep_constants(&self, megabytes: usize) -> Result<(), PeerError> {
        self.library.call("dnnl_graph_set_constant_tensor_cache_capacity", (numbers::CPU, megabytes))
    }

    /// The partitions that the library makes of a graph, in its order.
    ///
    /// # Errors
    /// The library's refusal, which names the function.
    pub fn partitions(&self, ops: &[Op], fpmath: FpMath) -> Result<Vec<Partition>, PeerError> {
        let graph = Owned::<Graph>::make(&self.library, |out| self.library.call("dnnl_graph_graph_create", (out, numbers::CPU)))?;
        if fpmath != FpMath::default() {
            let mode = (&graph, numbers::FPMATH.of(fpmath.mode), i32::from(fpmath.apply_to_int));
            self.library.call("dnnl_graph_graph_set_fpmath_mode", mode)?;
        }
        for op in ops {
            let made = self.operation(op).map_err(|e| e.during(format!("operation {} ({})", op.id, op.kind.name())))?;
            graph.call("dnnl_graph_add_op", (&graph, &made)).map_err(|e| e.during(format!("operation {} ({})", op.id, op.kind.name())))?;
        }
        graph.call("dnnl_graph_graph_finalize", (&graph,))?;
        graph.call("dnnl_graph_graph_filter", (&graph, FUSION))?;
        let count = Cell::new(0usize);
        graph.call("dnnl_graph_graph_get_partition_num", (&graph, &count))?;
        let all = Receivers::<crate::handle::Partition>::new(count.get());
        graph.call("dnnl_graph_graph_get_partitions", (&graph, Length(count.get()), &all))?;
        all.take(&self.library).into_iter().map(Partition::new).collect()
    }

    fn operation(&self, op: &Op) -> Result<Owned<GraphOp>, PeerError> {
        let name = text(&op.name)?;
        let made =
            Owned::<GraphOp>::make(&self.library, |out| self.library.call("dnnl_graph_op_create", (out, op.id, op.kind as i32, &name)))?;
        for (id, value) in &op.attrs {
            let id = *id as i32;
            match value {
                AttrValue::F32(v) => made.call("dnnl_graph_op_set_attr_f32", (&made, id, &[v.get()][..], Length(1)))?,
                AttrValue::F32s(v) => {
                    let v: Vec<f32> = v.iter().map(|v| v.get()).collect();
                    made.call("dnnl_graph_op_set_attr_f32", (&made, id, &v[..], Length(v.len())))?;
                }
                AttrValue::S64(v) => made.call("dnnl_graph_op_set_attr_s64", (&made, id, &[*v][..], Length(1)))?,
                AttrValue::S64s(v) => made.call("dnnl_graph_op_set_attr_s64", (&made, id, &v[..], Length(v.len())))?,
                AttrValue::Bool(v) => made.call("dnnl_graph_op_set_attr_bool", (&made, id, &[u8::from(*v)][..], Length(1)))?,
                AttrValue::Text(v) => made.call("dnnl_graph_op_set_attr_str", (&made, id, &text(v)?, v.len()))?,
            }
        }
        for lt in &op.inputs {
            made.call("dnnl_graph_op_add_input", (&made, &Record::from(lt)))?;
        }
        for lt in &op.outputs {
            made.call("dnnl_graph_op_add_output", (&made, &Record::from(lt)))?;
        }
        Ok(made)
    }

    /// Compiles the partitions, in their order, for a graph whose inputs are `given` with the bytes that they have, a number on the host included.
    ///
    /// # Errors
    /// The library's refusal; an input that is not among those given.
    pub fn graph(&self, partitions: &[Partition], given: &BTreeMap<usize, (LogicalTensor, Vec<u8>)>) -> Result<GraphRun, PeerError> {
        let mut run = GraphRun { stream: self.stream.clone(), bound: Vec::new(), memories: BTreeMap::new(), compiled: Vec::new() };
        for partition in partitions.iter().filter(|p| p.is_supported) {
            for port in &partition.inputs {
                if let Entry::Vacant(slot) = run.memories.entry(port.id) {
                    let missing = || PeerError::Inexpressible(format!("logical tensor {}, which nobody gave or computed", port.id));
                    let (lt, bytes) = given.get(&port.id).ok_or_else(missing)?;
                    slot.insert(Rc::new(self.input(lt, bytes)?));
                }
            }
            let inputs: Vec<Rc<TensorMemory>> = partition.inputs.iter().map(|port| run.memories[&port.id].clone()).collect();
            let records: Vec<Record> = inputs.iter().map(|tensor_memory| tensor_memory.record).collect();
            // A layout that is free is the library's choice where it is the library that reads it.
            let read = |id: usize| partitions.iter().flat_map(|p| &p.inputs).any(|port| port.id == id);
            let free = |lt: &LogicalTensor| lt.layout == LayoutType::Any && read(lt.id);
            let open = |port: &Record| port.tensor().filter(|lt| !free(lt)).map_or(*port, |lt| Record::from(&strided(&lt)));
            let outputs: Vec<Record> = partition.outputs.iter().map(open).collect();
            let begin = Instant::now();
            let compiled = Owned::<Compiled>::make(&self.library, |out| {
                self.library.call("dnnl_graph_compiled_partition_create", (out, &partition.handle))
            })?;
            partition.handle.compile(&compiled, [&records, &outputs], &self.engine)?;
            run.compiled.push(begin.elapsed());
            let mut made = Vec::with_capacity(outputs.len());
            for port in &outputs {
                let record = Cell::new(Record::EMPTY);
                compiled.call("dnnl_graph_compiled_partition_query_logical_tensor", (&compiled, port.id, &record))?;
                let tensor_memory = Rc::new(self.tensor_memory(record.get())?);
                run.memories.insert(port.id, tensor_memory.clone());
                made.push(tensor_memory);
            }
            run.bound.push(Bound::new(&self.library, compiled, [inputs, made])?);
        }
        Ok(run)
    }

    /// Memory of the library's own.
    fn tensor_memory(&self, record: Record) -> Result<TensorMemory, PeerError> {
        let size = Cell::new(0usize);
        self.library.call("dnnl_graph_logical_tensor_get_mem_size", (&record, &size))?;
        let handle = Owned::make(&self.library, |out| {
            self.library.call("dnnl_graph_tensor_create", (out, &record, &self.engine, crate::call::Allocate))
        })?;
        Ok(TensorMemory { handle, record, size: size.get() })
    }

    fn input(&self, lt: &LogicalTensor, bytes: &[u8]) -> Result<TensorMemory, PeerError> {
        let record = Record::from(lt);
        if lt.property == Property::HostScalar {
            let mut number = [0; 8];
            number.iter_mut().zip(bytes).for_each(|(n, b)| *n = *b);
            let handle =
                Owned::make(&self.library, |out| self.library.call("dnnl_graph_tensor_create_scalar", (out, &record, &Number(number))))?;
            return Ok(TensorMemory { handle, record, size: 0 });
        }
        let tensor_memory = self.tensor_memory(record)?;
        if tensor_memory.size != bytes.len() {
            return Err(PeerError::Inexpressible(format!(
                "logical tensor {}: {} bytes, the library wants {}",
                lt.id,
                bytes.len(),
                tensor_memory.size
            )));
        }
        tensor_memory.with_bytes(|to| to.copy_from_slice(bytes))?;
        Ok(tensor_memory)
    }
}

impl Partition {
    fn new(handle: Owned<crate::handle::Partition>) -> Result<Partition, PeerError> {
        let count = Cell::new(0usize);
        handle.call("dnnl_graph_partition_get_op_num", (&handle, &count))?;
        let ids = vec![Cell::new(0usize); count.get()];
        handle.call("dnnl_graph_partition_get_ops", (&handle, Length(ids.len()), &ids[..]))?;
        let mut ops: Vec<usize> = ids.iter().map(Cell::get).collect();
        ops.sort_unstable();
        let supported = Cell::new(0u8);
        handle.call("dnnl_graph_partition_is_supported", (&handle, &supported))?;
        let ports = |number: &'static str, list: &'static str| -> Result<Vec<Record>, PeerError> {
            handle.call(number, (&handle, &count))?;
            let ports = vec![Cell::new(Record::EMPTY); count.get()];
            handle.call(list, (&handle, Length(ports.len()), &ports[..]))?;
            Ok(ports.iter().map(Cell::get).collect())
        };
        let inputs = ports("dnnl_graph_partition_get_input_ports_num", "dnnl_graph_partition_get_input_ports")?;
        let outputs = ports("dnnl_graph_partition_get_output_ports_num", "dnnl_graph_partition_get_output_ports")?;
        Ok(Partition { handle, ops, is_supported: supported.get() != 0, inputs, outputs })
    }
}

impl GraphRun {
    /// Executes all partitions in order and waits until they are done.
    ///
    /// # Errors
    /// The library's failure.
    pub fn run(&self) -> Result<(), PeerError> {
        self.bound.iter().try_for_each(|b| b.submit(&self.stream))?;
        wait(&self.stream)
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.bound.len()
    }

    /// Executes one partition, by its place among those that are supported, and waits until it is done.
    ///
    /// # Errors
    /// The library's failure.
    pub fn run_one(&self, partition: usize) -> Result<(), PeerError> {
        if let Some(bound) = self.bound.get(partition) {
            bound.submit(&self.stream)?;
        }
        wait(&self.stream)
    }

    /// How long the library took to compile each partition.
    pub fn compiled(&self) -> &[Duration] {
        &self.compiled
    }

    /// A tensor that the graph computed, with its bytes; `None` where there is none of this number, or its layout is the library's own.
    ///
    /// # Errors
    /// The library's refusal.
    pub fn read(&self, id: usize) -> Result<Option<(LogicalTensor, Vec<u8>)>, PeerError> {
        let Some(tensor_memory) = self.memories.get(&id) else { return Ok(None) };
        let Some(lt) = tensor_memory.record.tensor().filter(|lt| lt.layout == LayoutType::Strided) else { return Ok(None) };
        Ok(Some((lt, tensor_memory.with_bytes(|bytes| bytes.to_vec())?)))
    }
}
