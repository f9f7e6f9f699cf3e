//! Pooling over 1 to 3 spatial dimensions, forward and backward.

#[cfg(test)]
mod tests;

use crate::region::{Region, lease, ravel};
use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_expr::number;
use oxidnn_spec::op::{Pool, PoolAlg};
use oxidnn_spec::{Arg, Attr, Dims, Error};

/// In backward one channel of the source's gradient.
pub(crate) fn scratch_len(op: &Pool) -> usize {
    let plane: i64 = op.src.dims()[2..].iter().product();
    if op.prop.is_forward() { 0 } else { usize::try_from(plane).unwrap_or(0) }
}

pub(crate) fn run<'a>(op: &Pool, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    if op.prop.is_forward() { forward(op, attr, args) } else { backward(op, attr, args, scratch) }
}

/// The kernel elements along spatial dimension `i` that cover one of its `size` elements in the window of output `o`.
fn seen(op: &Pool, i: usize, size: i64, o: i64) -> std::ops::Range<i64> {
    let (step, first) = (op.window.dilations[i] + 1, o * op.window.strides[i] - op.window.padding_l[i]);
    let before = |distance: i64| ((distance + step - 1).div_euclid(step)).clamp(0, op.kernel[i]);
    before(-first)..before(size - first)
}

/// Calls `f` with the source positions of a window and their indices within the kernel, row-major.
fn for_each_tap(op: &Pool, dims: &Dims, out: &[i64], mut f: impl FnMut(&[i64], i64)) {
    let n = op.kernel.len();
    let seen: [_; 3] = std::array::from_fn(|i| if i < n { seen(op, i, dims[2 + i], out[2 + i]) } else { 0..0 });
    let counts = Dims::from_fn(n, |i| (seen[i].end - seen[i].start).max(0));
    let mut pos = Dims::from_fn(out.len(), |d| out[d]);
    for_each_position(&counts, |at| {
        let mut index = 0;
        for i in 0..n {
            let k = seen[i].start + at[i];
            pos[2 + i] = out[2 + i] * op.window.strides[i] - op.window.padding_l[i] + k * (op.window.dilations[i] + 1);
            index = index * op.kernel[i] + k;
        }
        f(&pos, index);
    });
}

/// What the sum over a window is divided by.
fn divisor(op: &Pool, dims: &Dims, out: &[i64]) -> f64 {
    if op.alg == PoolAlg::AvgIncludePadding {
        return op.kernel.iter().product::<i64>() as f64;
    }
    let mut count = 0;
    for_each_tap(op, dims, out, |_, _| count += 1);
    f64::from(count.max(1))
}

fn forward<'a>(op: &Pool, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let src = View::of(args, Arg::SRC)?;
    let tail = Epilogue::new(attr, args, Arg::DST)?;
    let workspace = if op.workspace.is_some() { Some(View::of(args, Arg::WORKSPACE)?) } else { None };
    for_each_position(tail.dst().dims(), |out| {
        let value = if op.alg == PoolAlg::Max {
            let (value, index) = largest(op, &src, out);
            if let Some(ws) = workspace {
                ws.set(out, index as f64);
            }
            value
        } else {
            let mut sum = 0.0;
            for_each_tap(op, src.dims(), out, |pos, _| sum += src.get(pos));
            sum / divisor(op, src.dims(), out)
        };
        tail.finish(out, value);
    });
    if let Some(ws) = workspace {
        ws.zero_padding();
    }
    tail.dst().zero_padding();
    Ok(())
}

/// The largest element of a window and its index, the first of equals, NaN only among NaNs; the lowest number of the destination's type where
/// all is padding.
fn largest(op: &Pool, src: &View<'_>, out: &[i64]) -> (f64, i64) {
    let mut best: Option<(f64, i64)> = None;
    for_each_tap(op, src.dims(), out, |pos, index| {
        let value = src.get(pos);
        if best.is_none_or(|(b, _)| value > b || b.is_nan() && !value.is_nan()) {
            best = Some((value, index));
        }
    });
    best.unwrap_or_else(|| (number::lowest(op.dst.dtype), 0))
}

fn backward<'a>(op: &Pool, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let diff_dst = View::of(args, Arg::DIFF_DST)?;
    let workspace = if op.alg == PoolAlg::Max { Some(View::of(args, Arg::WORKSPACE)?) } else { None };
    let tail = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
    let (dims, out_dims) = (tail.dst().dims(), diff_dst.dims());
    let plane = lease(scratch, dims[2..].iter().product())?;
    let index = |pos: &[i64]| ravel(&pos[2..], &dims[2..]);
    for_each_position(&dims[..2], |nc| {
        let channel = |d: &Dims| Region::all(d).along(0, nc[0], 1).along(1, nc[1], 1);
        plane.fill(0.0);
        channel(out_dims).for_each(|out| {
            let gradient = diff_dst.get(out);
            match workspace {
                Some(ws) => {
                    let argmax = ws.get(out) as i64;
                    for_each_tap(op, dims, out, |pos, k| plane[index(pos)] += if k == argmax { gradient } else { 0.0 });
                }
                None => {
                    let part = gradient / divisor(op, dims, out);
                    for_each_tap(op, dims, out, |pos, _| plane[index(pos)] += part);
                }
            }
        });
        channel(dims).for_each(|pos| tail.finish(pos, plane[index(pos)]));
    });
    tail.dst().zero_padding();
    Ok(())
}
