//! Micro-kernels for programs with their own loops: batch-reduce GEMM ([`brgemm`]), the operands of its scales and post-ops ([`attr_params`]), and
//! packing of its second operand ([`transform`]). Everything runs on the calling thread.

pub mod attr_params;
pub mod brgemm;
mod finish;
pub mod transform;

use crate::engine;
use crate::status::Failure;
use oxidnn_c_common::numbers::DATA_TYPE;
use oxidnn_runtime::{QueueSpec, Stream, Threads, fork};
use oxidnn_spec::{DataType, Dims, Tensor};
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// A stream whose executions run on the calling thread only.
fn inline() -> Result<&'static Stream, Failure> {
    static STREAM: OnceLock<Stream> = OnceLock::new();
    match STREAM.get() {
        Some(stream) => Ok(stream),
        None => {
            let made = Stream::with(&engine::host(), &QueueSpec { threads: Threads::inline(), asynchronous: false })?;
            Ok(fork::once(&STREAM, || made))
        }
    }
}

/// The type of an enumerator.
fn data_type(name: &str, number: i32) -> Result<DataType, Failure> {
    DATA_TYPE.value(number).ok_or_else(|| Failure::invalid(name, number, "a data type"))
}

/// A row-major matrix.
fn rows([m, n]: [i64; 2], ld: i64, dtype: DataType) -> Result<Tensor, Failure> {
    Ok(Tensor::with_strides([m, n], dtype, Some(Dims::from([ld, 1])))?)
}
