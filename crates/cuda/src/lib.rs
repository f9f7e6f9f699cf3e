//! The CUDA engine: kernels compiled at run time for the GPU that is there.
//!
//! A plan lowers a problem to a [`program::Program`]: launches of the kernels in `kernels/*.cu`, each with a generated header (module `emit`) that holds what
//! its code depends on (types, layouts, post-ops, formulas of `expr`) and words that hold what it does not (sizes, strides, addresses). Plans are made
//! from a [`CudaTarget`] on any host; only building them needs a GPU.

pub mod compile;
pub mod cublas;
mod device;
pub mod driver;
mod emit;
pub mod exec;
pub mod ops;
pub mod program;
mod queue;
mod row;
mod target;
pub mod tuned;

pub use device::{CudaDevice, engine, engines};
pub use queue::{Captured, CudaQueue};
pub use row::{Lower, Row, RowPlan};
pub use target::{CudaTarget, Facts};
