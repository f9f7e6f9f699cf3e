//! One obvious implementation of every operation: plain loops in `f64`, over any data type and layout.
//!
//! It is the oracle that every other row is checked against, and the last row of every table. It is itself checked against
//! truth made outside the project (`tests/vectors`).
#![forbid(unsafe_code)]

mod binary;
mod concat;
mod conv;
mod copy;
mod deconv;
mod dot;
mod eltwise;
pub mod epilogue;
mod inner_product;
#[cfg(test)]
mod lines;
mod lrn;
mod matmul;
mod norm;
mod pool;
mod prelu;
mod reduction;
mod region;
mod reorder;
mod resampling;
mod rnn;
mod sdpa;
mod shuffle;
mod softmax;
mod sparse;
mod sum;
#[cfg(test)]
mod testkit;
pub mod view;
mod window;

pub use epilogue::{Epilogue, Factor};
pub use view::{Cells, View, for_each_position};

use oxidnn_spec::{Arg, Error, Op, Problem, Tensor};
use std::cell::Cell;

/// The execution arguments of a problem, as the caller keeps them.
pub trait Args {
    /// Description of the tensor passed as `arg`: the problem's own, with runtime dimensions made concrete.
    fn tensor(&self, arg: Arg) -> Option<&Tensor>;
    /// Bytes of buffer `buffer` of that tensor (0 unless it is sparse). Buffers may overlap: `dst` may be `src` in place.
    fn data(&self, arg: Arg, buffer: usize) -> Option<&[Cell<u8>]>;
    /// Where the results of output `arg` are to be kept as they are before dropout, post-ops and quantisation, in logical row-major order, by
    /// who wants to know how far rounding may carry them. What no [`Epilogue`] finishes stays `None`.
    fn sums(&self, arg: Arg) -> Option<&[Cell<Option<f64>>]> {
        let _ = arg;
        None
    }
}

/// Length of the scratch that [`run`] needs for `problem`, in `f64` elements.
pub fn scratch_len(problem: &Problem) -> usize {
    match &problem.op {
        Op::Conv(op) => conv::scratch_len(op, &problem.attr),
        Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_) => dot::SCRATCH,
        Op::Lrn(op) => lrn::scratch_len(op),
        Op::Pool(op) => pool::scratch_len(op),
        Op::Softmax(op) => softmax::scratch_len(op),
        Op::Resampling(op) => resampling::scratch_len(op),
        Op::Sum(op) => sum::scratch_len(op),
        Op::Rnn(op) => rnn::scratch_len(op),
        Op::Sdpa(op) => sdpa::scratch_len(op),
        _ => 0,
    }
}

/// Computes `problem`, whose layouts are all resolved; runtime dimensions come from `args`. Does not allocate.
///
/// # Errors
/// [`Error::InvalidArguments`] when an argument is missing, too small, or `scratch` is shorter than [`scratch_len`].
pub fn run(problem: &Problem, args: &dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let need = scratch_len(problem);
    if scratch.len() < need {
        return Err(Error::invalid("scratch", scratch.len(), format_args!("{need} elements")));
    }
    let attr = &problem.attr;
    match &problem.op {
        Op::Conv(op) => conv::run(op, attr, args, scratch),
        Op::Deconv(op) => deconv::run(op, attr, args, scratch),
        Op::InnerProduct(op) => inner_product::run(op, attr, args, scratch),
        Op::Matmul(op) => matmul::run(op, attr, args, scratch),
        Op::BatchNorm(op) => norm::batch(op, attr, args),
        Op::LayerNorm(op) => norm::layer(op, attr, args),
        Op::GroupNorm(op) => norm::group(op, attr, args),
        Op::Lrn(op) => lrn::run(op, attr, args, scratch),
        Op::Pool(op) => pool::run(op, attr, args, scratch),
        Op::Eltwise(op) => eltwise::run(op, attr, args),
        Op::Softmax(op) => softmax::run(op, attr, args, scratch),
        Op::Reduction(op) => reduction::run(op, attr, args),
        Op::Resampling(op) => resampling::run(op, attr, args, scratch),
        Op::Binary(op) => binary::run(op, attr, args),
        Op::Prelu(op) => prelu::run(op, attr, args),
        Op::Shuffle(op) => shuffle::run(op, attr, args),
        Op::Concat(op) => concat::run(op, attr, args),
        Op::Sum(op) => sum::run(op, attr, args, scratch),
        Op::Reorder(_) => reorder::run(attr, args),
        Op::Rnn(op) => rnn::run(op, attr, args, scratch),
        Op::Sdpa(op) => sdpa::run(op, attr, args, scratch),
    }
}
