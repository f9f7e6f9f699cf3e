//! One obvious implementation of every operation: plain loops in `f64`, over any data type and layout.
//!
//! It is the oracle that every other row is checked against, and the last row of every table. It is itself checked against
//! truth made outside the project (`tests/vectors`).
#![forbid(unsafe_code)]

mod conv;
mod deconv;
mod dot;
pub mod epilogue;
mod inner_product;
mod matmul;
mod shim;
#[cfg(test)]
mod testkit;
pub mod view;
mod window;

pub use epilogue::{Epilogue, Factor};
pub use view::{View, for_each_position};

use oxidnn_spec::{Arg, Tensor};
use std::cell::Cell;

/// The execution arguments of a problem, as the caller keeps them.
pub trait Args {
    /// Description of the tensor passed as `arg`: the problem's own, with runtime dimensions made concrete.
    fn tensor(&self, arg: Arg) -> Option<&Tensor>;
    /// Bytes of buffer `buffer` of that tensor (0 unless it is sparse). Buffers may overlap: `dst` may be `src` in place.
    fn data(&self, arg: Arg, buffer: usize) -> Option<&[Cell<u8>]>;
}
