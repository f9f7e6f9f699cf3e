//! Partitions.

use super::logical_tensor::list;
use super::{CompiledPartition, LogicalTensor, Op, engine_kind};
use crate::engine::Engine;
use crate::handle::{Array, ArrayMut, Handle, In, InOut, New, Out, Owned};
use crate::stack;
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::numbers;
use oxidnn_graph as graph;
use oxidnn_runtime::EngineKind;

/// The object behind a `dnnl_graph_partition_t`.
#[derive(Clone, Debug)]
pub struct Partition(graph::Partition);

impl Owned for Partition {}

impl Partition {
    /// The partition.
    pub fn graph(&self) -> &graph::Partition {
        &self.0
    }
}

impl From<graph::Partition> for Partition {
    fn from(partition: graph::Partition) -> Partition {
        Partition(partition)
    }
}

/// `dnnl_graph_partition_create_with_op`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_create_with_op(partition: New<'_, Partition>, op: In<'_, Op>, kind: i32) -> Status {
    guard("dnnl_graph_partition_create_with_op", || {
        partition.check("partition")?;
        partition.own("partition", Partition(graph::Partition::new(op.get("op")?.graph(), engine_kind(kind))?))
    })
}

/// `dnnl_graph_partition_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_destroy(partition: Handle<Partition>) -> Status {
    guard("dnnl_graph_partition_destroy", || {
        partition.destroy();
        Ok(())
    })
}

/// `dnnl_graph_partition_get_op_num`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_op_num(partition: In<'_, Partition>, count: Out<'_, usize>) -> Status {
    guard("dnnl_graph_partition_get_op_num", || count.set("num", partition.get("partition")?.0.ops().len()))
}

/// The first `count` of a partition's items.
fn first<T>(all: &[T], count: usize) -> Result<&[T], Failure> {
    all.get(..count).ok_or_else(|| Failure::invalid("num", count, format_args!("at most {}", all.len())))
}

/// `dnnl_graph_partition_get_ops`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_ops(partition: In<'_, Partition>, count: usize, ids: ArrayMut<'_, usize>) -> Status {
    guard("dnnl_graph_partition_get_ops", || {
        let all: Vec<usize> = partition.get("partition")?.0.ops().iter().map(|op| op.id).collect();
        ids.fill("ids", first(&all, count)?)
    })
}

/// `dnnl_graph_partition_get_id`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_id(partition: In<'_, Partition>, id: Out<'_, usize>) -> Status {
    guard("dnnl_graph_partition_get_id", || id.set("id", partition.get("partition")?.0.id()))
}

/// `dnnl_graph_partition_compile`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_compile(
    partition: In<'_, Partition>,
    compiled: InOut<'_, CompiledPartition>,
    in_count: usize,
    inputs: Array<'_, In<'_, LogicalTensor>>,
    out_count: usize,
    outputs: Array<'_, In<'_, LogicalTensor>>,
    engine: In<'_, Engine>,
) -> Status {
    guard("dnnl_graph_partition_compile", || {
        let (partition, compiled) = (&partition.get("partition")?.0, compiled.get("compiled_partition")?);
        let engine = engine.share("engine")?;
        let (inputs, outputs) = (list("inputs", inputs, in_count)?, list("outputs", outputs, out_count)?);
        let made = stack::deep(|| partition.compile(engine.runtime(), &inputs, &outputs))?;
        if made.is_open() {
            return Err(Failure::invalid("inputs", "one of unknown sizes or strides", "all of them known, as oneDNN demands"));
        }
        compiled.fill(engine, made);
        Ok(())
    })
}

/// `dnnl_graph_partition_get_input_ports_num`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_input_ports_num(partition: In<'_, Partition>, count: Out<'_, usize>) -> Status {
    guard("dnnl_graph_partition_get_input_ports_num", || count.set("num", partition.get("partition")?.0.reads().len()))
}

/// `dnnl_graph_partition_get_input_ports`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_input_ports(
    partition: In<'_, Partition>,
    count: usize,
    inputs: ArrayMut<'_, LogicalTensor>,
) -> Status {
    guard("dnnl_graph_partition_get_input_ports", || {
        let all: Vec<LogicalTensor> = partition.get("partition")?.0.reads().iter().map(LogicalTensor::from).collect();
        inputs.fill("inputs", first(&all, count)?)
    })
}

/// `dnnl_graph_partition_get_output_ports_num`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_output_ports_num(partition: In<'_, Partition>, count: Out<'_, usize>) -> Status {
    guard("dnnl_graph_partition_get_output_ports_num", || count.set("num", partition.get("partition")?.0.outputs().len()))
}

/// `dnnl_graph_partition_get_output_ports`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_output_ports(
    partition: In<'_, Partition>,
    count: usize,
    outputs: ArrayMut<'_, LogicalTensor>,
) -> Status {
    guard("dnnl_graph_partition_get_output_ports", || {
        let all: Vec<LogicalTensor> = partition.get("partition")?.0.outputs().iter().map(LogicalTensor::from).collect();
        outputs.fill("outputs", first(&all, count)?)
    })
}

/// `dnnl_graph_partition_is_supported`: compiling an unsupported partition reports the reason.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_is_supported(partition: In<'_, Partition>, supported: Out<'_, u8>) -> Status {
    guard("dnnl_graph_partition_is_supported", || {
        supported.set("is_supported", u8::from(partition.get("partition")?.0.refusal().is_none()))
    })
}

/// `dnnl_graph_partition_get_engine_kind`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_partition_get_engine_kind(partition: In<'_, Partition>, kind: Out<'_, i32>) -> Status {
    guard("dnnl_graph_partition_get_engine_kind", || {
        let cpu = partition.get("partition")?.0.engine_kind() == EngineKind::Cpu;
        kind.set("kind", if cpu { numbers::CPU } else { numbers::GPU })
    })
}
