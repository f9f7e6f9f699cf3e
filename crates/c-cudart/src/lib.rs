//! A small CUDA runtime whose device is the host, so that programs written for cuDNN run on the CPU engine of `libcudnn.so.9` unchanged.
//!
//! Device memory is host memory. Work is done when a call returns, or, with `OXIDNN_CUDART_ASYNC=1`, on a thread per stream; it can be captured and
//! launched as a graph, including executions of `libcudnn.so.9`. Kernels cannot be launched. Whoever wants it puts it on the loader's path; it is never
//! installed under the name of NVIDIA's library.

#![allow(non_snake_case, reason = "exported functions have CUDA's names")]

pub mod device;
pub mod error;
pub mod graph;
pub mod memory;
pub mod pointers;
pub mod stream;
mod work;
