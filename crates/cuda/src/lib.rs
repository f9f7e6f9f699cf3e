//! The CUDA engine: kernels in CUDA C++, compiled by NVRTC for the GPU at hand.
//!
//! - Planning (`ops`): a [`Row`] lowers a problem to a [`program::Program`], a list of launches of the kernels in `kernels/*.cu`. A [`CudaTarget`] describes the
//!   GPU, which need not be present.
//! - Code generation (`emit`): each launch has a generated header with what its code depends on (types, layouts, post-ops, formulas of `expr`). Sizes,
//!   strides and addresses are kernel parameters, so a new shape compiles nothing.
//! - Compilation ([`compile`]): cubins come from memory, the installed kernels, the user's kernel store, or NVRTC.
//! - Execution ([`exec`]): the path from `execute` to `cuLaunchKernelEx`; [`CudaQueue`] is a stream.
//! - [`driver`] wraps the CUDA driver API, loaded at run time.

pub mod compile;
pub mod cublas;
mod device;
pub mod driver;
mod emit;
pub mod exec;
pub mod ops;
pub mod program;
mod queue;
pub mod ragged;
mod row;
mod target;
pub mod tuned;

pub use device::{CudaDevice, engine, engines};
pub use queue::{Captured, CudaQueue};
pub use row::{Lower, Row, RowPlan};
pub use target::{CudaTarget, Facts};
