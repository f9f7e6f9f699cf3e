//! The CPU engine: targets, implementation rows and their kernels.

mod decision;
mod device;
pub mod hardware;
pub mod kernels;
mod limit;
pub mod ops;
pub mod peak;
mod row;
mod target;

pub use device::{CpuDevice, engine};
pub use hardware::Caches;
pub use limit::Limit;
pub use row::{Generated, Kernel, RowPlan};
pub use target::{CpuTarget, Isa};
