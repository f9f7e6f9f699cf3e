//! The CPU engine: targets, implementation rows and their kernels.

mod device;
pub mod kernels;
pub mod ops;
pub mod peak;
mod row;
mod target;

pub use device::{CpuDevice, engine};
pub use row::{Kernel, RowPlan};
pub use target::{CpuTarget, Isa};
