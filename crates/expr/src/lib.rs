//! Scalar formulas, written once.
//!
//! A formula is a function generic over [`Num`]: the reference evaluates it in `f64`, the portable kernels in vectors of `f32`, a code
//! generator in values that it records. There is no second table of activations anywhere.
#![forbid(unsafe_code)]

mod num;

pub use num::Num;
