//! A small CUDA runtime whose device is the host, so that programs written for cuDNN run on the CPU engine of `libcudnn.so.9` unchanged.
//!
//! Memory "of the device" is the host's. Work is done when a call returns, or, with `OXIDNN_CUDART_ASYNC=1`, on threads of streams; it can be recorded and
//! launched as a graph, executions of `libcudnn.so.9` among it. It is for whoever puts
//! it on the loader's path on purpose; it is never installed under the name of NVIDIA's library. Kernels cannot be launched.

#![allow(non_snake_case, reason = "exported functions have CUDA's names")]

pub mod device;
pub mod error;
pub mod graph;
pub mod memory;
pub mod pointers;
pub mod stream;
mod work;
