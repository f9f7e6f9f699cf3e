//! The functions of `dnnl_graph_sycl.h` that every build exports: there is no SYCL here, so they return that for all arguments.

use crate::status::{Failure, Status, guard};

fn refused(function: &'static str) -> Status {
    guard(function, || Err(Failure::unimplemented("SYCL")))
}

/// `dnnl_graph_sycl_interop_allocator_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_sycl_interop_allocator_create() -> Status {
    refused("dnnl_graph_sycl_interop_allocator_create")
}

/// `dnnl_graph_sycl_interop_make_engine_with_allocator`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_sycl_interop_make_engine_with_allocator() -> Status {
    refused("dnnl_graph_sycl_interop_make_engine_with_allocator")
}

/// `dnnl_graph_sycl_interop_compiled_partition_execute`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_sycl_interop_compiled_partition_execute() -> Status {
    refused("dnnl_graph_sycl_interop_compiled_partition_execute")
}

/// `dnnl_graph_sycl_interop_compiled_partition_execute_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_sycl_interop_compiled_partition_execute_v2() -> Status {
    refused("dnnl_graph_sycl_interop_compiled_partition_execute_v2")
}
