//! `libdnnl.so.3`: oneDNN's C interface over oxidnn, so that programs linked with oneDNN run on it unchanged.
//!
//! There is no computation here. Each exported function takes the types of [`handle`], which are pointers to C and checked values to Rust. Its body,
//! run by [`status::guard`], translates the arguments, calls the runtime, and turns errors into statuses; a panic becomes `runtime_error`. Objects
//! behind handles are reference-counted, so handles may be destroyed in any order and used from any thread.

pub mod attr;
pub mod create;
pub mod debug;
pub mod engine;
pub mod extensions;
pub mod gemm;
pub mod graph;
pub mod handle;
mod heap;
pub mod internal;
pub mod interop;
pub mod isa;
pub mod memory;
pub mod memory_desc;
mod omp;
pub mod packed_gemm;
pub mod post_ops;
pub mod primitive;
pub mod primitive_desc;
pub mod query;
mod reserve;
pub mod service;
mod stack;
pub mod status;
pub mod stream;
pub mod threadpool;
pub mod threads;
pub mod ukernel;
pub mod values;
