//! Resampling with half-pixel centres, nearest and (multi)linear; backward is the exact adjoint.
//!
//! Output position `o` of `O` lies at `(o + 1/2) I / O - 1/2` among the `I` inputs. Nearest takes the input at that point rounded, halves
//! upwards; linear weighs the inputs on both sides, which coincide beyond the first and last.

#[cfg(test)]
mod tests;

use crate::region::{Region, lease, ravel};
use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_spec::op::{Resampling, ResamplingAlg};
use oxidnn_spec::{Arg, Attr, Dims, Error};

/// In backward one channel of the source's gradient.
pub(crate) fn scratch_len(op: &Resampling) -> usize {
    let plane: i64 = op.src.dims()[2..].iter().product();
    if op.prop.is_forward() { 0 } else { usize::try_from(plane).unwrap_or(0) }
}

pub(crate) fn run<'a>(op: &Resampling, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    if op.prop.is_forward() { forward(op, attr, args) } else { backward(op, attr, args, scratch) }
}

/// The two inputs along one dimension and their weights: output `o` lies at `(o + 1/2) inputs / outputs - 1/2`, a quotient of whole numbers.
fn taps(alg: ResamplingAlg, o: i64, inputs: i64, outputs: i64) -> [(i64, f64); 2] {
    let (center, of) = ((2 * i128::from(o) + 1) * i128::from(inputs), 2 * i128::from(outputs));
    if alg == ResamplingAlg::Nearest {
        return [((center / of) as i64, 1.0), (0, 0.0)];
    }
    let at = center - i128::from(outputs);
    let (below, above) = (at.div_euclid(of) as i64, at.rem_euclid(of) as f64 / of as f64);
    let clamp = |i: i64| i.clamp(0, inputs - 1);
    [(clamp(below), 1.0 - above), (clamp(below + 1), above)]
}

/// Calls `f` with the inputs of output position `out` and their weights.
fn for_each_tap(alg: ResamplingAlg, inputs: &Dims, outputs: &Dims, out: &[i64], mut f: impl FnMut(&[i64], f64)) {
    let spatial = inputs.len() - 2;
    let corner = Dims::filled(spatial, 2);
    let mut pos = Dims::from_fn(out.len(), |d| out[d]);
    for_each_position(&corner, |side| {
        let mut weight = 1.0;
        for d in 0..spatial {
            let (at, w) = taps(alg, out[2 + d], inputs[2 + d], outputs[2 + d])[side[d] as usize];
            pos[2 + d] = at;
            weight *= w;
        }
        if weight != 0.0 {
            f(&pos, weight);
        }
    });
}

fn forward<'a>(op: &Resampling, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let src = View::of(args, Arg::SRC)?;
    let tail = Epilogue::new(attr, args, Arg::DST)?;
    let dims = tail.dst().dims();
    for_each_position(dims, |out| {
        let mut sum = 0.0;
        for_each_tap(op.alg, src.dims(), dims, out, |pos, weight| sum += weight * src.get(pos));
        tail.finish(out, sum);
    });
    tail.dst().zero_padding();
    Ok(())
}

fn backward<'a>(op: &Resampling, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let diff_dst = View::of(args, Arg::DIFF_DST)?;
    let tail = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
    let (dims, out_dims) = (tail.dst().dims(), diff_dst.dims());
    let plane = lease(scratch, dims[2..].iter().product())?;
    let index = |pos: &[i64]| ravel(&pos[2..], &dims[2..]);
    for_each_position(&dims[..2], |nc| {
        let channel = |d: &Dims| Region::all(d).along(0, nc[0], 1).along(1, nc[1], 1);
        plane.fill(0.0);
        channel(out_dims).for_each(|out| {
            let gradient = diff_dst.get(out);
            for_each_tap(op.alg, dims, out_dims, out, |pos, weight| plane[index(pos)] += weight * gradient);
        });
        channel(dims).for_each(|pos| tail.finish(pos, plane[index(pos)]));
    });
    tail.dst().zero_padding();
    Ok(())
}
