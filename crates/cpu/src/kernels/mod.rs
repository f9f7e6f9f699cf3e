//! Kernel families and what they share.

pub mod dot;
pub mod lanes;
pub mod multiversion;
