//! Softmax and its logarithm along one axis, forward and backward. May run in place: a row is read into scratch before it is written.
//!
//! A run-time source scale multiplies the result, before the post-ops.

#[cfg(test)]
mod tests;

use crate::region::lease;
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::{Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, Attr, Dims, Error};

/// A row, in backward two of them.
pub(crate) fn scratch_len(op: &Softmax) -> usize {
    let row = usize::try_from(op.dst.dims()[op.axis]).unwrap_or(0);
    if op.prop.is_forward() { row } else { 2 * row }
}

pub(crate) fn run<'a>(op: &Softmax, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    if op.prop.is_forward() { forward(op, attr, args, scratch) } else { backward(op, attr, args, scratch) }
}

/// Calls `f` with the first position of every row.
fn for_each_row(dims: &Dims, axis: usize, mut f: impl FnMut(&mut Dims)) {
    let mut rows = *dims;
    rows[axis] = rows[axis].min(1);
    for_each_position(&rows, |pos| f(&mut Dims::from_fn(pos.len(), |d| pos[d])));
}

fn read(view: &View<'_>, pos: &mut Dims, axis: usize, row: &mut [f64]) {
    for (i, x) in row.iter_mut().enumerate() {
        pos[axis] = i as i64;
        *x = view.get(pos);
    }
}

fn forward<'a>(op: &Softmax, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let src = View::of(args, Arg::SRC)?;
    let scale = Factor::scale(attr, args, Arg::SRC, src.dims())?;
    let tail = Epilogue::new(attr, args, Arg::DST)?;
    let row = lease(scratch, src.dims()[op.axis])?;
    for_each_row(src.dims(), op.axis, |pos| {
        read(&src, pos, op.axis, row);
        normalise(op.alg, row);
        for (i, &x) in row.iter().enumerate() {
            pos[op.axis] = i as i64;
            tail.finish(pos, x * scale.at(pos));
        }
    });
    tail.dst().zero_padding();
    Ok(())
}

fn normalise(alg: SoftmaxAlg, row: &mut [f64]) {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if alg == SoftmaxAlg::InfAsZero && max == f64::NEG_INFINITY && !row.iter().any(|x| x.is_nan()) {
        row.fill(0.0);
        return;
    }
    let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
    for x in row {
        *x = if alg == SoftmaxAlg::Log { *x - max - sum.ln() } else { (*x - max).exp() / sum };
    }
}

/// `ds = d (dd - sum(dd d))`; of the logarithm `ds = dd - e^d sum(dd)`.
fn backward<'a>(op: &Softmax, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let (dst, diff_dst) = (View::of(args, Arg::DST)?, View::of(args, Arg::DIFF_DST)?);
    let tail = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
    let (d, dd) = lease(scratch, 2 * dst.dims()[op.axis])?.split_at_mut(dst.dims()[op.axis] as usize);
    for_each_row(dst.dims(), op.axis, |pos| {
        read(&dst, pos, op.axis, d);
        read(&diff_dst, pos, op.axis, dd);
        let sum: f64 = if op.alg == SoftmaxAlg::Log { dd.iter().sum() } else { d.iter().zip(dd.iter()).map(|(d, dd)| d * dd).sum() };
        for (i, (d, dd)) in d.iter().zip(dd.iter()).enumerate() {
            pos[op.axis] = i as i64;
            tail.finish(pos, if op.alg == SoftmaxAlg::Log { dd - d.exp() * sum } else { d * (dd - sum) });
        }
    });
    tail.dst().zero_padding();
    Ok(())
}
