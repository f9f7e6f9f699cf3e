//! Settings of the process: caches and dumps.

use super::engine_kind;
use crate::handle::Out;
use crate::status::{Failure, Status, guard};
use oxidnn_graph::{self as graph, DumpMode};
use oxidnn_runtime::EngineKind;

const MEBIBYTE: usize = 1 << 20;

/// `dnnl_graph_get_compiled_partition_cache_capacity`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_get_compiled_partition_cache_capacity(capacity: Out<'_, i32>) -> Status {
    guard("dnnl_graph_get_compiled_partition_cache_capacity", || {
        capacity.set("capacity", i32::try_from(graph::cache_capacity()).unwrap_or(i32::MAX))
    })
}

/// `dnnl_graph_set_compiled_partition_cache_capacity`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_set_compiled_partition_cache_capacity(capacity: i32) -> Status {
    guard("dnnl_graph_set_compiled_partition_cache_capacity", || {
        graph::set_cache_capacity(usize::try_from(capacity).map_err(|_| Failure::invalid("capacity", capacity, "0 or more"))?);
        Ok(())
    })
}

/// `dnnl_graph_set_constant_tensor_cache`: off, or without a limit.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_set_constant_tensor_cache(flag: i32) -> Status {
    guard("dnnl_graph_set_constant_tensor_cache", || {
        if flag < 0 {
            return Err(Failure::invalid("flag", flag, "0 or more"));
        }
        let bytes = if flag == 0 { 0 } else { usize::MAX };
        for kind in [EngineKind::Cpu, EngineKind::Gpu] {
            graph::set_constant_capacity(kind, bytes);
        }
        Ok(())
    })
}

/// `dnnl_graph_get_constant_tensor_cache`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_get_constant_tensor_cache(flag: Out<'_, i32>) -> Status {
    guard("dnnl_graph_get_constant_tensor_cache", || flag.set("flag", i32::from(graph::constant_capacity(EngineKind::Cpu) > 0)))
}

/// `dnnl_graph_set_constant_tensor_cache_capacity`, in MiB.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_set_constant_tensor_cache_capacity(kind: i32, size: usize) -> Status {
    guard("dnnl_graph_set_constant_tensor_cache_capacity", || {
        graph::set_constant_capacity(engine_kind(kind), size.saturating_mul(MEBIBYTE));
        Ok(())
    })
}

/// `dnnl_graph_get_constant_tensor_cache_capacity`, in MiB.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_get_constant_tensor_cache_capacity(kind: i32, size: Out<'_, usize>) -> Status {
    guard("dnnl_graph_get_constant_tensor_cache_capacity", || size.set("size", graph::constant_capacity(engine_kind(kind)) / MEBIBYTE))
}

/// `dnnl_graph_set_dump_mode`: bit 0 partitions, bit 1 graphs.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_set_dump_mode(mode: i32) -> Status {
    guard("dnnl_graph_set_dump_mode", || {
        if !(0..4).contains(&mode) {
            return Err(Failure::invalid("mode", mode, "none 0, subgraph 1, graph 2 or both 3"));
        }
        graph::set_dump_mode(DumpMode { graph: mode & 2 != 0, subgraph: mode & 1 != 0 });
        Ok(())
    })
}
