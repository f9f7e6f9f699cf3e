//! The graph extension: `dnnl_graph.h` over [`oxidnn_graph`].

pub mod allocator;
pub mod cache;
pub mod compiled;
pub mod logical_tensor;
pub mod op;
pub mod partition;
pub mod sycl;
pub mod tensor;

pub use allocator::Allocator;
pub use compiled::CompiledPartition;
pub use logical_tensor::LogicalTensor;
pub use op::Op;
pub use partition::Partition;
pub use tensor::Tensor;

use crate::handle::{Handle, In, InOut, New, NewArray, Out, Owned};
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::numbers;
use oxidnn_graph as graph;
use oxidnn_runtime::{EngineKind, knobs};
use oxidnn_spec::{DataType, FpMath};

impl From<graph::Error> for Failure {
    fn from(error: graph::Error) -> Failure {
        let status = match &error {
            graph::Error::InvalidArguments(_) => Status::InvalidArguments,
            graph::Error::InvalidGraph(_) => Status::InvalidGraph,
            graph::Error::InvalidOp(_) => Status::InvalidGraphOp,
            graph::Error::InvalidShape(_) => Status::InvalidShape,
            graph::Error::InvalidDataType(_) => Status::InvalidDataType,
            graph::Error::Unimplemented(_) => Status::Unimplemented,
            graph::Error::Problem(e) => return e.clone().into(),
        };
        Failure { status, message: error.to_string() }
    }
}

/// The object behind a `dnnl_graph_graph_t`.
#[derive(Debug)]
pub struct Graph(graph::Graph);

impl Owned for Graph {}

/// The engine kind of a graph; only CPU engines support graphs here.
fn engine_kind(kind: i32) -> EngineKind {
    if kind == numbers::CPU { EngineKind::Cpu } else { EngineKind::Gpu }
}

fn fpmath(mode: i32, apply_to_int: bool) -> Result<FpMath, Failure> {
    let mode = numbers::FPMATH.value(mode).ok_or_else(|| Failure::invalid("mode", mode, "an fpmath mode, 0 to 4"))?;
    Ok(FpMath { mode, apply_to_int })
}

/// `dnnl_graph_graph_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_create(graph: New<'_, Graph>, kind: i32) -> Status {
    guard("dnnl_graph_graph_create", || {
        let fpmath = FpMath { mode: knobs::default_fpmath(), apply_to_int: false };
        graph.own("graph", Graph(graph::Graph::new(engine_kind(kind), fpmath)))
    })
}

/// `dnnl_graph_graph_create_with_fpmath_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_create_with_fpmath_mode(graph: New<'_, Graph>, kind: i32, mode: i32) -> Status {
    guard("dnnl_graph_graph_create_with_fpmath_mode", || {
        graph.own("graph", Graph(graph::Graph::new(engine_kind(kind), fpmath(mode, false)?)))
    })
}

/// `dnnl_graph_graph_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_destroy(graph: Handle<Graph>) -> Status {
    guard("dnnl_graph_graph_destroy", || {
        graph.destroy();
        Ok(())
    })
}

/// `dnnl_graph_graph_set_fpmath_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_set_fpmath_mode(graph: InOut<'_, Graph>, mode: i32, apply_to_int: i32) -> Status {
    guard("dnnl_graph_graph_set_fpmath_mode", || Ok(graph.get("graph")?.0.set_fpmath(fpmath(mode, apply_to_int != 0)?)?))
}

/// `dnnl_graph_graph_get_fpmath_mode`: only of a graph that is not finalised.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_get_fpmath_mode(graph: In<'_, Graph>, mode: Out<'_, i32>, apply_to_int: Out<'_, i32>) -> Status {
    guard("dnnl_graph_graph_get_fpmath_mode", || {
        let graph = &graph.get("graph")?.0;
        if graph.is_finalized() {
            return Err(graph::Error::InvalidGraph("the graph is finalized".into()).into());
        }
        mode.set_optional(numbers::FPMATH.of(graph.fpmath().mode));
        apply_to_int.set_optional(i32::from(graph.fpmath().apply_to_int));
        Ok(())
    })
}

/// The operation, unless it is f64, which the specification's operations do not support.
fn specified(op: &graph::Op) -> Result<&graph::Op, graph::Error> {
    let typed = !matches!(op.kind, graph::OpKind::End | graph::OpKind::Wildcard);
    match op.inputs.iter().chain(&op.outputs).find(|lt| typed && lt.dtype == Some(DataType::F64)) {
        Some(lt) => Err(graph::Error::InvalidOp(format!("{} (operation {}): logical tensor {} is f64", op.kind.name(), op.id, lt.id))),
        None => Ok(op),
    }
}

/// `dnnl_graph_add_op`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_add_op(graph: InOut<'_, Graph>, op: In<'_, Op>) -> Status {
    guard("dnnl_graph_add_op", || Ok(graph.get("graph")?.0.add_op(specified(op.get("op")?.graph())?)?))
}

/// `dnnl_graph_graph_finalize`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_finalize(graph: InOut<'_, Graph>) -> Status {
    guard("dnnl_graph_graph_finalize", || Ok(graph.get("graph")?.0.finalize()?))
}

/// `dnnl_graph_graph_is_finalized`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_is_finalized(graph: In<'_, Graph>, finalized: Out<'_, u8>) -> Status {
    guard("dnnl_graph_graph_is_finalized", || finalized.set("finalized", u8::from(graph.get("graph")?.0.is_finalized())))
}

/// `dnnl_graph_graph_filter`: with the policy `debug` each operation becomes a partition.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_filter(graph: InOut<'_, Graph>, policy: i32) -> Status {
    let policy = if policy == DEBUG { graph::Policy::Debug } else { graph::Policy::Fusion };
    guard("dnnl_graph_graph_filter", || Ok(graph.get("graph")?.0.filter(policy)?))
}

/// `dnnl_graph_partition_policy_debug`.
const DEBUG: i32 = 2;

/// `dnnl_graph_graph_get_partition_num`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_get_partition_num(graph: In<'_, Graph>, count: Out<'_, usize>) -> Status {
    guard("dnnl_graph_graph_get_partition_num", || count.set("num", graph.get("graph")?.0.partitions().len()))
}

/// `dnnl_graph_graph_get_partitions`: the first `count`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_graph_get_partitions(graph: In<'_, Graph>, count: usize, partitions: NewArray<'_, Partition>) -> Status {
    guard("dnnl_graph_graph_get_partitions", || {
        let all = graph.get("graph")?.0.partitions();
        if count > all.len() {
            return Err(Failure::invalid("num", count, format_args!("at most {}", all.len())));
        }
        partitions.own("partitions", all[..count].iter().cloned().map(Partition::from).collect())
    })
}
