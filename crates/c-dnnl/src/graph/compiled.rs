//! Compiled partitions and their execution.

use super::allocator::Block;
use super::tensor::Seen;
use super::{LogicalTensor, Partition, Tensor};
use crate::engine::Engine;
use crate::handle::{Array, Handle, In, New, Out, Owned, memory_over};
use crate::status::{Failure, Status, guard};
use crate::stream::Stream;
use oxidnn_graph as graph;
use oxidnn_runtime::Memory;
use oxidnn_spec::DataType;
use std::sync::Arc;

/// The object behind a `dnnl_graph_compiled_partition_t`: empty until a partition is compiled into it.
#[derive(Debug)]
pub struct CompiledPartition(Option<Ready>);

impl Owned for CompiledPartition {}

#[derive(Debug)]
struct Ready {
    engine: Arc<Engine>,
    code: graph::CompiledPartition,
    in_place: Vec<InPlacePair>,
}

/// `dnnl_graph_inplace_pair_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct InPlacePair {
    /// Id of an input.
    pub input_id: usize,
    /// Id of the output that may share its memory.
    pub output_id: usize,
}

impl CompiledPartition {
    /// Sets the compiled code.
    pub(super) fn fill(&mut self, engine: Arc<Engine>, code: graph::CompiledPartition) {
        let in_place = code.in_place().iter().map(|&(input_id, output_id)| InPlacePair { input_id, output_id }).collect();
        self.0 = Some(Ready { engine, code, in_place });
    }

    fn ready(&self) -> Result<&Ready, Failure> {
        self.0.as_ref().ok_or_else(|| Failure::invalid("compiled_partition", "one that is empty", "one that a partition was compiled into"))
    }
}

impl Ready {
    /// Memory for a port: the tensor with its id.
    fn bind<'t>(&self, port: &graph::LogicalTensor, tensors: &[In<'t, Tensor>]) -> Result<Seen<'t>, Failure> {
        for tensor in tensors {
            let tensor = tensor.get("tensor")?;
            if tensor.id() == port.id {
                let port = self.code.logical_tensor(port.id).unwrap_or(port);
                return tensor.seen_as(port, &self.engine);
            }
        }
        Err(Failure::invalid("tensors", "none", format_args!("one with the number {}", port.id)))
    }

    /// Scratch from the engine's allocator, if the engine has one and scratch is needed.
    fn scratch(&self) -> Result<Option<(Block, Memory<'static>)>, Failure> {
        let bytes = self.code.scratch_bytes();
        let Some(block) = (if bytes > 0 { Block::from_caller(&self.engine, bytes)? } else { None }) else { return Ok(None) };
        let tensor = oxidnn_spec::Tensor::plain([bytes as i64], DataType::U8)?;
        let memory = memory_over(self.engine.runtime(), tensor, &[block.data()])?;
        Ok(Some((block, memory)))
    }

    fn execute(&self, stream: &Stream, io: [&[In<'_, Tensor>]; 2], scratch: Option<&Tensor>) -> Result<(), Failure> {
        let partition = self.code.partition();
        let inputs = partition.inputs().iter().map(|p| self.bind(p, io[0])).collect::<Result<Vec<_>, _>>()?;
        let outputs = partition.outputs().iter().map(|p| self.bind(p, io[1])).collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<&Memory<'_>> = inputs.iter().map(|s| s.memory() as &Memory<'_>).collect();
        let outputs: Vec<&Memory<'_>> = outputs.iter().map(|s| s.memory() as &Memory<'_>).collect();
        match scratch {
            Some(tensor) => self.code.execute(stream.runtime(), &inputs, &outputs, Some(tensor.memory()?))?,
            None => {
                let own = self.scratch()?;
                let result = self.code.execute(stream.runtime(), &inputs, &outputs, own.as_ref().map(|s| &s.1));
                // The block is freed when the work that uses it is done.
                own.as_ref().map_or(Ok(()), |(_, memory)| memory.wait())?;
                result?;
            }
        }
        Ok(())
    }
}

/// `dnnl_graph_compiled_partition_create`: creates an empty object; a partition is compiled into it later.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_compiled_partition_create(compiled: New<'_, CompiledPartition>, partition: In<'_, Partition>) -> Status {
    guard("dnnl_graph_compiled_partition_create", || {
        partition.get("partition")?;
        compiled.own("compiled_partition", CompiledPartition(None))
    })
}

/// `dnnl_graph_compiled_partition_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_compiled_partition_destroy(compiled: Handle<CompiledPartition>) -> Status {
    guard("dnnl_graph_compiled_partition_destroy", || {
        compiled.destroy();
        Ok(())
    })
}

/// `dnnl_graph_compiled_partition_execute`: scratch comes from the engine's allocator.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_compiled_partition_execute(
    compiled: In<'_, CompiledPartition>,
    stream: In<'_, Stream>,
    in_count: usize,
    inputs: Array<'_, In<'_, Tensor>>,
    out_count: usize,
    outputs: Array<'_, In<'_, Tensor>>,
) -> Status {
    guard("dnnl_graph_compiled_partition_execute", || {
        let io = [inputs.slice("inputs", in_count)?, outputs.slice("outputs", out_count)?];
        compiled.get("compiled_partition")?.ready()?.execute(stream.get("stream")?, io, None)
    })
}

/// `dnnl_graph_compiled_partition_execute_v2`: with the caller's scratch, unless it is null.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_compiled_partition_execute_v2(
    compiled: In<'_, CompiledPartition>,
    stream: In<'_, Stream>,
    in_count: usize,
    inputs: Array<'_, In<'_, Tensor>>,
    out_count: usize,
    outputs: Array<'_, In<'_, Tensor>>,
    scratchpad: In<'_, Tensor>,
) -> Status {
    guard("dnnl_graph_compiled_partition_execute_v2", || {
        let io = [inputs.slice("inputs", in_count)?, outputs.slice("outputs", out_count)?];
        compiled.get("compiled_partition")?.ready()?.execute(stream.get("stream")?, io, scratchpad.optional())
    })
}

/// `dnnl_graph_compiled_partition_query_logical_tensor`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_compiled_partition_query_logical_tensor(
    compiled: In<'_, CompiledPartition>,
    id: usize,
    logical_tensor: Out<'_, LogicalTensor>,
) -> Status {
    guard("dnnl_graph_compiled_partition_query_logical_tensor", || {
        let lt = compiled.get("compiled_partition")?.ready()?.code.logical_tensor(id);
        let lt = lt.ok_or_else(|| Failure::invalid("tid", id, "the number of a port"))?;
        logical_tensor.set("lt", lt.into())
    })
}

/// `dnnl_graph_compiled_partition_get_inplace_ports`: the array is valid as long as the compiled partition.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_compiled_partition_get_inplace_ports(
    compiled: In<'_, CompiledPartition>,
    count: Out<'_, usize>,
    pairs: New<'_, InPlacePair>,
) -> Status {
    guard("dnnl_graph_compiled_partition_get_inplace_ports", || {
        let all = &compiled.get("compiled_partition")?.ready()?.in_place;
        count.set("num_inplace_pairs", all.len())?;
        match all.first() {
            Some(first) => pairs.lend("inplace_pairs", first),
            None => pairs.nothing("inplace_pairs"),
        }
    })
}

/// `dnnl_graph_compiled_partition_get_scratchpad_logical_tensor`: a tensor of bytes, whose id no port has.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_compiled_partition_get_scratchpad_logical_tensor(
    compiled: In<'_, CompiledPartition>,
    logical_tensor: Out<'_, LogicalTensor>,
) -> Status {
    guard("dnnl_graph_compiled_partition_get_scratchpad_logical_tensor", || {
        let bytes = compiled.get("compiled_partition")?.ready()?.code.scratch_bytes();
        let (dims, strides) = ([bytes as i64].into(), [1].into());
        let lt = graph::LogicalTensor::with_strides(usize::MAX, Some(DataType::U8), dims, strides, graph::Property::Undef)?;
        logical_tensor.set("lt", LogicalTensor::from(&lt))
    })
}
