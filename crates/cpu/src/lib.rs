//! The CPU engine: targets, implementation rows and their kernels.

pub mod kernels;
pub mod ops;
pub mod peak;
mod row;
mod target;

pub use row::{Kernel, RowPlan};
pub use target::{CpuTarget, Isa};
