//! Scalar formulas, written once.
//!
//! A formula is a function generic over [`Num`]: the reference evaluates it in `f64`, the portable kernels in `f32` lanes that the compiler
//! turns into vectors, a code generator in values that it records. No other crate defines activations.
//!
//! - [`number`]: exact conversion of every data type, the definition that everything else is tested against;
//! - [`eltwise`], [`binary`]: the element-wise functions and their derivatives;
//! - [`functions`]: the elementary functions in `f32`, for vector code;
//! - [`convert`]: slices to `f32` and back; [`lane`]: `f32` arithmetic for vector code;
//! - [`quant`]: scales and zero points; [`philox`]: random numbers for dropout and stochastic rounding.
#![forbid(unsafe_code)]

pub mod binary;
pub mod convert;
pub mod eltwise;
pub mod functions;
pub mod lane;
mod num;
pub mod number;
pub mod philox;
pub mod quant;

pub use lane::Lane;
pub use num::Num;

/// Of the codes and points that a test walks through it visits one in so many: all of them, but under Miri, which is some thousand times slower.
#[cfg(test)]
const EVERY: usize = if cfg!(miri) { 4001 } else { 1 };
