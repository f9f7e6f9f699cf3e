//! A small CUDA runtime whose device is the host, so that programs written for cuDNN run on the CPU engine of `libcudnn.so.9` unchanged.
//!
//! Memory "of the device" is the host's, work is done when a call returns, streams are names, and events are points in time. It is for whoever puts
//! it on the loader's path on purpose; it is never installed under the name of NVIDIA's library. Kernels cannot be launched.

#![allow(non_snake_case, reason = "exported functions have CUDA's names")]

pub mod device;
pub mod error;
pub mod graph;
pub mod memory;
pub mod pointers;
pub mod stream;
