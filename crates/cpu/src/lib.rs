//! The CPU engine: targets, implementation rows and their kernels.

pub mod kernels;
pub mod peak;
mod target;

pub use target::{CpuTarget, Isa};
