//! The caller's thread pool: streams and products that run on an object of the C++ class `dnnl::threadpool_interop::threadpool_iface`.

#![allow(clippy::too_many_arguments, reason = "the functions of the C interface have the parameters that BLAS gave them")]

mod iface;
#[cfg(test)]
mod tests;

use crate::engine::{Engine, host};
use crate::gemm::{Bytes, Floats};
use crate::handle::{Array, ArrayMut, Data, In, New, Out};
use crate::status::{Failure, Status, guard};
use crate::stream::Stream;
use iface::Pool;
use oxidnn_runtime::{self as runtime, Threads};
use oxidnn_spec::DataType;
use std::cell::Cell;
use std::ffi::c_char;

/// The threads of a pool; only the calling thread without a pool.
fn threads(pool: Data) -> Threads {
    Pool::at(pool).map_or_else(Threads::inline, Threads::caller)
}

/// A stream for one product.
fn stream(pool: Data) -> Result<runtime::Stream, Failure> {
    Ok(runtime::Stream::with(&host(), &runtime::QueueSpec { threads: threads(pool), asynchronous: false })?)
}

/// `dnnl_threadpool_interop_stream_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_threadpool_interop_stream_create(stream: New<'_, Stream>, engine: In<'_, Engine>, pool: Data) -> Status {
    guard("dnnl_threadpool_interop_stream_create", || {
        stream.check("stream")?;
        stream.own("stream", Stream::new(engine.share("engine")?, threads(pool))?.with_pool(pool))
    })
}

/// `dnnl_threadpool_interop_stream_get_threadpool`: null for a stream without a pool.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_threadpool_interop_stream_get_threadpool(stream: In<'_, Stream>, pool: Out<'_, *mut u8>) -> Status {
    guard("dnnl_threadpool_interop_stream_get_threadpool", || pool.set("threadpool", stream.get("stream")?.pool().address()))
}

thread_local! {
    /// The value set by the calling thread, 0 before.
    static MAX_CONCURRENCY: Cell<i32> = const { Cell::new(0) };
}

/// `dnnl_threadpool_interop_set_max_concurrency`: a hint of the calling thread; executions ask their pool instead.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_threadpool_interop_set_max_concurrency(max: i32) -> Status {
    guard("dnnl_threadpool_interop_set_max_concurrency", || {
        if max < 1 {
            return Err(Failure::invalid("max_concurrency", max, "1 or more"));
        }
        MAX_CONCURRENCY.set(max);
        Ok(())
    })
}

/// `dnnl_threadpool_interop_get_max_concurrency`: the value set by the calling thread, else the threads of the process-wide pool.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_threadpool_interop_get_max_concurrency(max: Out<'_, i32>) -> Status {
    guard("dnnl_threadpool_interop_get_max_concurrency", || {
        let default = || i32::try_from(runtime::threads::default_threads()).unwrap_or(i32::MAX);
        let set = MAX_CONCURRENCY.get();
        max.set("max_concurrency", if set > 0 { set } else { default() })
    })
}

/// `dnnl_threadpool_interop_sgemm`: as `dnnl_sgemm`, on a pool.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_threadpool_interop_sgemm(
    transa: c_char,
    transb: c_char,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: Data,
    lda: i64,
    b: Data,
    ldb: i64,
    beta: f32,
    c: Data,
    ldc: i64,
    pool: Data,
) -> Status {
    let floats = Floats { transa, transb, sizes: [m, n, k], alpha, lds: [lda, ldb, ldc], beta };
    guard("dnnl_threadpool_interop_sgemm", || floats.run(DataType::F32, [a, b, c], &stream(pool)?))
}

/// `dnnl_threadpool_interop_gemm_u8s8s32`: as `dnnl_gemm_u8s8s32`, on a pool.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_threadpool_interop_gemm_u8s8s32(
    transa: c_char,
    transb: c_char,
    offsetc: c_char,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: Data,
    lda: i64,
    ao: u8,
    b: Data,
    ldb: i64,
    bo: i8,
    beta: f32,
    c: ArrayMut<'_, i32>,
    ldc: i64,
    co: Array<'_, i32>,
    pool: Data,
) -> Status {
    let zeros = [ao.into(), bo.into()];
    let bytes = Bytes { transa, transb, offsetc, sizes: [m, n, k], alpha, a, b, zeros, lds: [lda, ldb, ldc], beta, c, co };
    guard("dnnl_threadpool_interop_gemm_u8s8s32", || bytes.run(DataType::U8, &stream(pool)?))
}

/// `dnnl_threadpool_interop_gemm_s8s8s32`: as `dnnl_gemm_s8s8s32`, on a pool.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_threadpool_interop_gemm_s8s8s32(
    transa: c_char,
    transb: c_char,
    offsetc: c_char,
    m: i64,
    n: i64,
    k: i64,
    alpha: f32,
    a: Data,
    lda: i64,
    ao: i8,
    b: Data,
    ldb: i64,
    bo: i8,
    beta: f32,
    c: ArrayMut<'_, i32>,
    ldc: i64,
    co: Array<'_, i32>,
    pool: Data,
) -> Status {
    let zeros = [ao.into(), bo.into()];
    let bytes = Bytes { transa, transb, offsetc, sizes: [m, n, k], alpha, a, b, zeros, lds: [lda, ldb, ldc], beta, c, co };
    guard("dnnl_threadpool_interop_gemm_s8s8s32", || bytes.run(DataType::S8, &stream(pool)?))
}
