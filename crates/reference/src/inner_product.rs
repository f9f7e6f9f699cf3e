//! Inner product, forward and both backward passes: all dimensions of the source but the first are summed over.

#[cfg(test)]
mod tests;

use crate::dot::products;
use crate::view::unravel;
use crate::{Args, Epilogue, Factor, View};
use oxidnn_spec::op::InnerProduct;
use oxidnn_spec::{Arg, Attr, Error, Prop};

/// A tensor as a matrix: its first dimension by all others, flattened in row-major order.
struct Matrix<'a> {
    view: View<'a>,
    inner: [i64; 4],
}

impl<'a> Matrix<'a> {
    fn of(args: &'a dyn Args, arg: Arg) -> Result<Matrix<'a>, Error> {
        let view = View::of(args, arg)?;
        let mut inner = [1; 4];
        let dims = &view.dims()[1..];
        inner[4 - dims.len()..].copy_from_slice(dims);
        Ok(Matrix { view, inner })
    }

    fn columns(&self) -> i64 {
        self.inner.iter().product()
    }

    #[inline]
    fn get(&self, row: i64, column: i64) -> f64 {
        self.at(row, column, |pos| self.view.get(pos))
    }

    /// Calls `f` with the position of an element.
    #[inline]
    fn at<T>(&self, row: i64, column: i64, f: impl FnOnce(&[i64]) -> T) -> T {
        let mut pos = [0; 5];
        pos[1..].copy_from_slice(&unravel(column, &self.inner));
        let first = 5 - self.view.dims().len();
        pos[first] = row;
        f(&pos[first..])
    }
}

/// Computes an inner product; needs `dot::SCRATCH`.
pub(crate) fn run<'a>(op: &InnerProduct, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    match op.prop {
        Prop::BackwardData => backward_data(attr, args, scratch),
        Prop::BackwardWeights => backward_weights(attr, args, scratch),
        _ => forward(attr, args, scratch),
    }
}

fn forward<'a>(attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let (src, weights) = (Matrix::of(args, Arg::SRC)?, Matrix::of(args, Arg::WEIGHTS)?);
    let (bias, tail) = (View::optional(args, Arg::BIAS)?, Epilogue::new(attr, args, Arg::DST)?);
    let src_scale = src.at(0, 0, |pos| Ok(Factor::scale(attr, args, Arg::SRC, src.view.dims())?.at(pos)))?;
    let scale = Factor::scale(attr, args, Arg::WEIGHTS, weights.view.dims())?;
    let size = [tail.dst().dims()[0], tail.dst().dims()[1], src.columns()];
    let term = |n, t| Some(src.get(n, t));
    products(
        size,
        scratch,
        term,
        |t, oc| weights.get(oc, t),
        |n, oc0, sums| {
            for (oc, &sum) in (oc0..).zip(sums.iter()) {
                let scaled = sum * (src_scale * weights.at(oc, 0, |pos| scale.at(pos)));
                tail.finish(&[n, oc], scaled + bias.map_or(0.0, |b| b.get(&[oc])));
            }
        },
    );
    tail.dst().zero_padding();
    Ok(())
}

fn backward_data<'a>(attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let (diff_dst, weights) = (Matrix::of(args, Arg::DIFF_DST)?, Matrix::of(args, Arg::WEIGHTS)?);
    let (diff_src, tail) = (Matrix::of(args, Arg::DIFF_SRC)?, Epilogue::new(attr, args, Arg::DIFF_SRC)?);
    let size = [diff_dst.view.dims()[0], diff_src.columns(), diff_dst.columns()];
    let term = |n, oc| Some(diff_dst.get(n, oc));
    products(
        size,
        scratch,
        term,
        |oc, t| weights.get(oc, t),
        |n, t0, sums| {
            for (t, &sum) in (t0..).zip(sums.iter()) {
                diff_src.at(n, t, |pos| tail.finish(pos, sum));
            }
        },
    );
    tail.dst().zero_padding();
    Ok(())
}

fn backward_weights<'a>(attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let (diff_dst, src) = (Matrix::of(args, Arg::DIFF_DST)?, Matrix::of(args, Arg::SRC)?);
    let (diff_weights, tail) = (Matrix::of(args, Arg::DIFF_WEIGHTS)?, Epilogue::new(attr, args, Arg::DIFF_WEIGHTS)?);
    let batch = diff_dst.view.dims()[0];
    let size = [diff_dst.columns(), diff_weights.columns(), batch];
    let term = |oc, n| Some(diff_dst.get(n, oc));
    products(
        size,
        scratch,
        term,
        |n, t| src.get(n, t),
        |oc, t0, sums| {
            for (t, &sum) in (t0..).zip(sums.iter()) {
                diff_weights.at(oc, t, |pos| tail.finish(pos, sum));
            }
        },
    );
    tail.dst().zero_padding();
    if let Some(bias) = View::optional(args, Arg::DIFF_BIAS)? {
        for oc in 0..diff_dst.columns() {
            bias.set(&[oc], (0..batch).map(|n| diff_dst.get(n, oc)).sum());
        }
        bias.zero_padding();
    }
    Ok(())
}
