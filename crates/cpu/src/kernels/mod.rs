//! Kernel families and what they share.

pub mod access;
pub mod amx;
pub mod blend;
pub mod brgemm;
pub mod broadcast;
pub mod code;
pub mod columns;
mod convert;
pub mod dense;
pub mod dot;
pub mod epilogue;
pub mod extent;
pub mod gemm;
pub mod gemv;
pub mod lanes;
pub mod multiversion;
pub mod nest;
pub mod online;
pub mod permute;
pub mod pointwise;
pub mod pool;
pub mod responses;
pub mod scratch;
pub mod strip;
pub mod tile;
pub mod transpose;
pub mod winograd;
