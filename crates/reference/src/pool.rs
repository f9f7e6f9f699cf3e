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

/// The source position under kernel element `k` of the window of destination position `out`; `None` in the padding.
fn source(op: &Pool, dims: &Dims, out: &[i64], k: &[i64]) -> Option<Dims> {
    let mut pos = Dims::from_fn(out.len(), |d| out[d]);
    for (i, &k) in k.iter().enumerate() {
        let w = &op.window;
        pos[2 + i] = out[2 + i] * w.strides[i] - w.padding_l[i] + k * (w.dilations[i] + 1);
        if pos[2 + i] < 0 || pos[2 + i] >= dims[2 + i] {
            return None;
        }
    }
    Some(pos)
}

/// Calls `f` with the source positions of a window and their indices within the kernel, row-major.
fn for_each_tap(op: &Pool, dims: &Dims, out: &[i64], mut f: impl FnMut(&[i64], i64)) {
    let mut index = 0;
    for_each_position(&op.kernel, |k| {
        if let Some(pos) = source(op, dims, out, k) {
            f(&pos, index);
        }
        index += 1;
    });
}

/// What the sum over a window is divided by.
fn divisor(op: &Pool, dims: &Dims, out: &[i64]) -> f64 {
    if op.alg == PoolAlg::AvgIncludePadding {
        return op.kernel.iter().product::<i64>() as f64;
    }
    let mut inside = 0;
    for_each_tap(op, dims, out, |_, _| inside += 1);
    f64::from(inside.max(1))
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

/// The largest element of a window and its index, the first of equals, NaN only among NaNs; the type's lowest number where all is padding.
fn largest(op: &Pool, src: &View<'_>, out: &[i64]) -> (f64, i64) {
    let mut best: Option<(f64, i64)> = None;
    for_each_tap(op, src.dims(), out, |pos, index| {
        let value = src.get(pos);
        if best.is_none_or(|(b, _)| value > b || b.is_nan() && !value.is_nan()) {
            best = Some((value, index));
        }
    });
    best.unwrap_or_else(|| (number::lowest(src.dtype()), 0))
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
        channel(out_dims).each(|out| {
            let gradient = diff_dst.get(out);
            match workspace {
                Some(ws) => {
                    let chosen = ws.get(out) as i64;
                    for_each_tap(op, dims, out, |pos, k| plane[index(pos)] += if k == chosen { gradient } else { 0.0 });
                }
                None => {
                    let part = gradient / divisor(op, dims, out);
                    for_each_tap(op, dims, out, |pos, _| plane[index(pos)] += part);
                }
            }
        });
        channel(dims).each(|pos| tail.finish(pos, plane[index(pos)]));
    });
    tail.dst().zero_padding();
    Ok(())
}
