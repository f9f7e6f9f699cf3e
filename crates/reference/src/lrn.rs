//! Local response normalisation across channels or within a channel, forward and backward.
//!
//! The window of size `n` around position `c` is `c - (n - 1) / 2 ..= c + (n - 1) / 2`, cut at the borders; an even size loses its last element, as
//! the specification's sum has it. The divisor counts the whole window all the same.

#[cfg(test)]
mod tests;

use crate::region::{Region, lease, ravel};
use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_spec::op::{Lrn, LrnAlg};
use oxidnn_spec::{Arg, Attr, Dims, Error};

/// In backward the base of the power for every element.
pub(crate) fn scratch_len(op: &Lrn) -> usize {
    if op.prop.is_forward() { 0 } else { op.src.dims().volume().and_then(|v| usize::try_from(v).ok()).unwrap_or(0) }
}

pub(crate) fn run<'a>(op: &Lrn, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let src = View::of(args, Arg::SRC)?;
    let beta = f64::from(op.beta.get());
    if op.prop.is_forward() {
        let tail = Epilogue::new(attr, args, Arg::DST)?;
        for_each_position(src.dims(), |pos| tail.finish(pos, src.get(pos) * base(op, &src, pos).powf(-beta)));
        tail.dst().zero_padding();
        return Ok(());
    }
    let diff_dst = View::of(args, Arg::DIFF_DST)?;
    let tail = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
    let bases = lease(scratch, src.dims().iter().product())?;
    let index = |pos: &[i64]| ravel(pos, src.dims());
    for_each_position(src.dims(), |pos| bases[index(pos)] = base(op, &src, pos));
    let factor = 2.0 * f64::from(op.alpha.get()) * beta / divisor(op, src.dims());
    for_each_position(src.dims(), |pos| {
        let around = window(op, src.dims(), pos);
        let sum = around.sum(|q| diff_dst.get(q) * src.get(q) * bases[index(q)].powf(-beta - 1.0));
        tail.finish(pos, diff_dst.get(pos) * bases[index(pos)].powf(-beta) - factor * src.get(pos) * sum);
    });
    tail.dst().zero_padding();
    Ok(())
}

/// `k + alpha / n * sum(src^2 over the window)`.
fn base(op: &Lrn, src: &View<'_>, pos: &[i64]) -> f64 {
    let squares = window(op, src.dims(), pos).sum(|q| src.get(q).powi(2));
    f64::from(op.k.get()) + f64::from(op.alpha.get()) * squares / divisor(op, src.dims())
}

fn axes(op: &Lrn, dims: &Dims) -> std::ops::Range<usize> {
    if op.alg == LrnAlg::AcrossChannels { 1..2 } else { 2..dims.len() }
}

fn divisor(op: &Lrn, dims: &Dims) -> f64 {
    (op.local_size as f64).powi(axes(op, dims).len() as i32)
}

/// The positions around `pos`; those whose windows hold `pos` are the same.
fn window(op: &Lrn, dims: &Dims, pos: &[i64]) -> Region {
    let half = (op.local_size - 1) / 2;
    let mut region = Region { start: Dims::from_fn(pos.len(), |d| pos[d]), size: Dims::filled(pos.len(), 1) };
    for d in axes(op, dims) {
        let (first, last) = ((pos[d] - half).max(0), (pos[d] + half).min(dims[d] - 1));
        region = region.along(d, first, last - first + 1);
    }
    region
}
