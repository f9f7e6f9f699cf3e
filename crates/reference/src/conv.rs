//! Convolution, forward and both backward passes, with an optional depthwise convolution after a 1x1.
//!
//! Every algorithm computes the same sums here. Zero points: `x - zero_point` of source and weights is what is summed, so padding (which is
//! not summed) stands for the source's zero point. With a depthwise post-op the result of the 1x1 convolution goes through the post-ops before
//! it, is quantised with the scale and zero point of [`Arg::DST`] and rounded to the intermediate type; the depthwise convolution reads that
//! back (dequantised), with its weights' scale ([`Arg::depthwise`]) and bias, and the post-ops after it follow. The destination then has the
//! scale of `Arg::depthwise(Arg::DST)`.

#[cfg(test)]
mod tests;

use crate::dot;
use crate::window::{Forward, Pass, Position};
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, Attr, DataType, Error, Prop};

/// Scratch for [`run`]: with a depthwise post-op also one image of the intermediate result.
pub(crate) fn scratch_len(op: &Conv, attr: &Attr) -> usize {
    let image = op.depthwise_sizes(attr).map_or(0, |z| (z.g * z.i[1] * z.i[2]) as usize);
    dot::SCRATCH + image
}

/// Computes a convolution.
pub(crate) fn run<'a>(op: &Conv, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let pass = Pass::conv(op.sizes());
    match op.prop {
        Prop::BackwardData => pass.run_backward_data(attr, args, scratch),
        Prop::BackwardWeights => pass.run_backward_weights(attr, args, scratch),
        _ => match (op.depthwise_sizes(attr), attr.depthwise_index()) {
            (Some(sizes), Some(index)) => Fused::of(op, attr, args, sizes, index)?.run(&pass, scratch),
            _ => forward(&pass, attr, args, scratch),
        },
    }
}

/// A forward pass without depthwise post-op, of deconvolutions too.
pub(crate) fn forward<'a>(pass: &Pass, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let (inputs, tail) = (Forward::of(attr, args)?, Epilogue::new(attr, args, Arg::DST)?);
    pass.forward(&inputs, 0..pass.sizes.mb, scratch, |pos, value| tail.finish(pos, value));
    tail.dst().zero_padding();
    Ok(())
}

/// A 1x1 convolution with a depthwise one after it.
struct Fused<'a> {
    inputs: Forward<'a>,
    /// Post-ops before the depthwise convolution, and the quantisation of the intermediate result.
    before: Epilogue<'a>,
    after: Epilogue<'a>,
    sizes: ConvSizes,
    intermediate: DataType,
    source_scale: Factor<'a>,
    source_zero_point: Factor<'a>,
    weights: View<'a>,
    scale: Factor<'a>,
    bias: Option<View<'a>>,
}

impl<'a> Fused<'a> {
    fn of(op: &Conv, attr: &'a Attr, args: &'a dyn Args, sizes: ConvSizes, index: usize) -> Result<Fused<'a>, Error> {
        let (dst, weights) = (View::of(args, Arg::DST)?, View::of(args, Arg::depthwise(Arg::WEIGHTS))?);
        Ok(Fused {
            inputs: Forward::of(attr, args)?,
            before: Epilogue::part(attr, args, dst, Arg::DST, 0..index)?,
            after: Epilogue::part(attr, args, dst, Arg::depthwise(Arg::DST), index + 1..attr.post_ops.len())?,
            sizes,
            intermediate: op.dst.dtype,
            source_scale: Factor::scale(attr, args, Arg::DST, op.dst.dims())?,
            source_zero_point: Factor::zero_point(attr, args, Arg::DST, op.dst.dims())?,
            weights,
            scale: Factor::scale(attr, args, Arg::depthwise(Arg::WEIGHTS), weights.dims())?,
            bias: View::optional(args, Arg::depthwise(Arg::BIAS))?,
        })
    }

    fn run(&self, pass: &Pass, scratch: &mut [f64]) -> Result<(), Error> {
        let (scratch, image) = scratch.split_at_mut(dot::SCRATCH);
        let [_, height, width] = self.sizes.i;
        for n in 0..self.sizes.mb {
            pass.forward(&self.inputs, n..n + 1, scratch, |pos, value| {
                let value = self.before.value(pos, value);
                let quantised = self.before.quantise_as(self.intermediate, pos, value);
                let real = (quantised - self.source_zero_point.at(pos)) * self.source_scale.at(pos);
                image[((pos[1] * height + pos[2]) * width + pos[3]) as usize] = real;
            });
            for_each_position(&[self.sizes.g, self.sizes.o[1], self.sizes.o[2]], |p| {
                let pos = Position::new(4, n, p[0], [0, p[1], p[2]]);
                self.after.finish(&pos, self.depthwise(image, p));
            });
        }
        self.after.dst().zero_padding();
        Ok(())
    }

    /// The sum for channel `p[0]` at row `p[1]`, column `p[2]`, with scale and bias.
    fn depthwise(&self, image: &[f64], p: &[i64]) -> f64 {
        let (z, c) = (&self.sizes, p[0]);
        let mut sum = 0.0;
        for_each_position(&z.k, |k| {
            let (y, x) = (p[1] * z.s[1] - z.pl[1] + k[1], p[2] * z.s[2] - z.pl[2] + k[2]);
            if (0..z.i[1]).contains(&y) && (0..z.i[2]).contains(&x) {
                sum += image[((c * z.i[1] + y) * z.i[2] + x) as usize] * self.weights.get(&[c, 0, 0, k[1], k[2]]);
            }
        });
        sum * self.scale.at(&[c, 0, 0, 0, 0]) + self.bias.map_or(0.0, |b| b.get(&[c]))
    }
}
