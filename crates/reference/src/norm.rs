//! Batch, layer and group normalisation, forward and backward: one algorithm over three ways to group elements.
//!
//! Elements that share statistics form a [`Region`]; scale and shift go by channel. A run-time source scale multiplies the result, before the
//! post-ops. May run in place: every region is read for its sums before it is written, and parameter gradients come before `diff_src`.

#[cfg(test)]
mod tests;

use crate::region::Region;
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::{BatchNorm, GroupNorm, LayerNorm, NormFlags, Prop};
use oxidnn_spec::{Arg, Attr, Dims, Error, Layout, Tensor};
use std::cell::Cell;

/// Which elements share a mean and a variance.
#[derive(Clone, Copy)]
enum Share {
    /// Those of a channel (dim 1).
    Channel,
    /// Those of a row of the last dimension.
    Row,
    /// Those of a batch item and a group of this many channels.
    Group(i64),
}

/// A normalisation with its arguments looked up.
struct Norm<'a> {
    share: Share,
    flags: NormFlags,
    epsilon: f64,
    src: View<'a>,
    mean: Option<View<'a>>,
    variance: Option<View<'a>>,
    scale: Option<View<'a>>,
    /// Bits of positive results of a fused ReLU.
    mask: Option<Mask<'a>>,
}

/// The bits of a workspace, and where each position's is.
struct Mask<'a> {
    bits: &'a [Cell<u8>],
    order: Layout,
}

impl Mask<'_> {
    /// The byte and the bit of a position.
    fn place(&self, pos: &[i64]) -> (&Cell<u8>, i64) {
        let i = self.order.blocking().map_or(0, |b| b.offset_of(pos));
        (&self.bits[(i / 8) as usize], i % 8)
    }

    fn set(&self, pos: &[i64]) {
        let (byte, bit) = self.place(pos);
        byte.set(byte.get() | 1 << bit);
    }

    fn has(&self, pos: &[i64]) -> bool {
        let (byte, bit) = self.place(pos);
        byte.get() >> bit & 1 == 1
    }
}

pub(crate) fn batch<'a>(op: &BatchNorm, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let mut norm = Norm::new(Share::Channel, op.flags, op.epsilon.get(), args)?;
    if op.workspace.is_some() {
        let bits = args.data(Arg::WORKSPACE, 0).ok_or_else(|| Error::arg(Arg::WORKSPACE, "nothing", "the bit mask of a fused ReLU"))?;
        let need = op.workspace.as_ref().map_or(0, Tensor::bytes);
        let bits = bits.get(..need).ok_or_else(|| Error::arg(Arg::WORKSPACE, bits.len(), format_args!("{need} bytes")))?;
        let order = op.bits().ok_or_else(|| Error::arg(Arg::SRC, &op.src.layout, "elements that can be numbered"))?;
        norm.mask = Some(Mask { bits, order });
    }
    norm.run(op.prop, attr, args)
}

pub(crate) fn layer<'a>(op: &LayerNorm, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    Norm::new(Share::Row, op.flags, op.epsilon.get(), args)?.run(op.prop, attr, args)
}

pub(crate) fn group<'a>(op: &GroupNorm, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let channels = op.src.dims()[1] / op.groups.max(1);
    Norm::new(Share::Group(channels.max(1)), op.flags, op.epsilon.get(), args)?.run(op.prop, attr, args)
}

impl<'a> Norm<'a> {
    fn new(share: Share, flags: NormFlags, epsilon: f32, args: &'a dyn Args) -> Result<Norm<'a>, Error> {
        Ok(Norm {
            share,
            flags,
            epsilon: f64::from(epsilon),
            src: View::of(args, Arg::SRC)?,
            mean: View::optional(args, Arg::MEAN)?,
            variance: View::optional(args, Arg::VARIANCE)?,
            scale: if flags.use_scale { Some(View::of(args, Arg::SCALE)?) } else { None },
            mask: None,
        })
    }

    fn run(&self, prop: Prop, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
        if self.src.is_empty() {
            return self.empty(prop, args);
        }
        if prop.is_forward() { self.forward(attr, args) } else { self.backward(prop, attr, args) }
    }

    /// Without a source nothing is normalised, but the gradients of scale and shift are sums of nothing.
    fn empty(&self, prop: Prop, args: &'a dyn Args) -> Result<(), Error> {
        for (arg, used) in [(Arg::DIFF_SCALE, self.flags.use_scale), (Arg::DIFF_SHIFT, self.flags.use_shift)] {
            if used && prop == Prop::Backward {
                View::of(args, arg)?.fill(0.0);
            }
        }
        Ok(())
    }

    /// The dimension that scale and shift go by.
    fn channel(&self) -> usize {
        if matches!(self.share, Share::Row) { self.src.dims().len() - 1 } else { 1 }
    }

    /// Sizes of mean and variance.
    fn stat_dims(&self) -> Dims {
        let d = self.src.dims();
        match self.share {
            Share::Channel => Dims::from([d[1]]),
            Share::Row => Dims::from_fn(d.len() - 1, |i| d[i]),
            Share::Group(channels) => Dims::from([d[0], d[1] / channels]),
        }
    }

    /// The position in mean and variance that belongs to the element at `pos`.
    fn stat_of(&self, pos: &[i64]) -> Dims {
        match self.share {
            Share::Channel => Dims::from([pos[1]]),
            Share::Row => Dims::from_fn(pos.len() - 1, |i| pos[i]),
            Share::Group(channels) => Dims::from([pos[0], pos[1] / channels]),
        }
    }

    /// The elements that the statistics at `stat` are of.
    fn region(&self, stat: &[i64]) -> Region {
        let all = Region::all(self.src.dims());
        match self.share {
            Share::Channel => all.along(1, stat[0], 1),
            Share::Row => stat.iter().enumerate().fold(all, |r, (d, &p)| r.along(d, p, 1)),
            Share::Group(channels) => all.along(0, stat[0], 1).along(1, stat[1] * channels, channels),
        }
    }

    /// Mean and reciprocal standard deviation as given.
    fn given(&self, stat: &[i64]) -> Result<(f64, f64), Error> {
        let mean = match self.mean {
            _ if self.flags.rms => 0.0,
            Some(m) => m.get(stat),
            None => return Err(Error::arg(Arg::MEAN, "nothing", "the means")),
        };
        let variance = self.variance.ok_or_else(|| Error::arg(Arg::VARIANCE, "nothing", "the variances"))?.get(stat);
        Ok((mean, 1.0 / (variance + self.epsilon).sqrt()))
    }

    /// Mean and reciprocal standard deviation as computed, kept where there is room for them.
    fn computed(&self, stat: &[i64], region: &Region) -> (f64, f64) {
        let n = region.count() as f64;
        let mean = if self.flags.rms { 0.0 } else { region.sum(|pos| self.src.get(pos)) / n };
        let variance = region.sum(|pos| (self.src.get(pos) - mean).powi(2)) / n;
        if let Some(m) = self.mean.filter(|_| !self.flags.rms) {
            m.set(stat, mean);
        }
        if let Some(v) = self.variance {
            v.set(stat, variance);
        }
        (mean, 1.0 / (variance + self.epsilon).sqrt())
    }

    fn forward(&self, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
        let shift = if self.flags.use_shift { Some(View::of(args, Arg::SHIFT)?) } else { None };
        let added = if self.flags.fuse_add_relu { Some(View::of(args, Arg::SRC_1)?) } else { None };
        let factor = Factor::scale(attr, args, Arg::SRC, self.src.dims())?;
        let tail = Epilogue::new(attr, args, Arg::DST)?;
        if let Some(mask) = &self.mask {
            mask.bits.iter().for_each(|byte| byte.set(0));
        }
        let channel = self.channel();
        let mut result = Ok(());
        for_each_position(&self.stat_dims(), |stat| {
            let region = self.region(stat);
            let stats = if self.flags.use_global_stats { self.given(stat) } else { Ok(self.computed(stat, &region)) };
            let (mean, inverse) = match stats {
                Ok(s) => s,
                Err(e) => return result = Err(e),
            };
            region.for_each(|pos| {
                let c = &pos[channel..=channel];
                let scaled = (self.src.get(pos) - mean) * inverse * self.scale.map_or(1.0, |s| s.get(c));
                let mut value = scaled + shift.map_or(0.0, |s| s.get(c)) + added.map_or(0.0, |a| a.get(pos));
                if self.flags.fuse_relu || self.flags.fuse_add_relu {
                    value = self.relu(pos, value);
                }
                tail.finish(pos, value * factor.at(pos));
            });
        });
        self.zero_stat_padding();
        tail.dst().zero_padding();
        result
    }

    fn zero_stat_padding(&self) {
        if !self.flags.use_global_stats {
            self.mean.iter().chain(&self.variance).for_each(View::zero_padding);
        }
    }

    fn relu(&self, pos: &[i64], value: f64) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        if let Some(mask) = &self.mask {
            mask.set(pos);
        }
        value
    }

    /// With `x^ = (src - mean) / sigma` and `g = scale * dd`: `diff_src = (g - mean(g) - x^ mean(g x^)) / sigma`; without the means where the
    /// statistics are constants, and without the first of them for RMS.
    fn backward(&self, prop: Prop, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
        let diff_dst = View::of(args, Arg::DIFF_DST)?;
        let diff_added = if self.flags.fuse_add_relu { Some(View::of(args, Arg::DIFF_SRC_1)?) } else { None };
        let gradient = |pos: &[i64]| {
            let positive = self.mask.as_ref().is_none_or(|mask| mask.has(pos));
            if positive { diff_dst.get(pos) } else { 0.0 }
        };
        if prop == Prop::Backward {
            self.parameters(args, &gradient)?;
        }
        let tail = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
        let channel = self.channel();
        let mut result = Ok(());
        for_each_position(&self.stat_dims(), |stat| {
            let (mean, inverse) = match self.given(stat) {
                Ok(s) => s,
                Err(e) => return result = Err(e),
            };
            let region = self.region(stat);
            let n = region.count() as f64;
            let scaled = |pos: &[i64]| gradient(pos) * self.scale.map_or(1.0, |s| s.get(&pos[channel..=channel]));
            let normal = |pos: &[i64]| (self.src.get(pos) - mean) * inverse;
            let constant = self.flags.use_global_stats;
            let mean_g = if constant || self.flags.rms { 0.0 } else { region.sum(scaled) / n };
            let mean_gx = if constant { 0.0 } else { region.sum(|pos| scaled(pos) * normal(pos)) / n };
            region.for_each(|pos| {
                let own = if constant { scaled(pos) } else { scaled(pos) - mean_g - normal(pos) * mean_gx };
                let value = own * inverse;
                if let Some(d) = diff_added {
                    d.set(pos, gradient(pos));
                }
                tail.finish(pos, value);
            });
        });
        if let Some(d) = diff_added {
            d.zero_padding();
        }
        tail.dst().zero_padding();
        result
    }

    /// `diff_scale = sum(dd x^)` and `diff_shift = sum(dd)` by channel.
    fn parameters(&self, args: &'a dyn Args, gradient: &dyn Fn(&[i64]) -> f64) -> Result<(), Error> {
        let diff_scale = if self.flags.use_scale { Some(View::of(args, Arg::DIFF_SCALE)?) } else { None };
        let diff_shift = if self.flags.use_shift { Some(View::of(args, Arg::DIFF_SHIFT)?) } else { None };
        self.given(&self.stat_of(&Dims::filled(self.src.dims().len(), 0)))?;
        for c in 0..self.src.dims()[self.channel()] {
            let region = Region::all(self.src.dims()).along(self.channel(), c, 1);
            if let Some(d) = diff_scale {
                let sum = region.sum(|pos| {
                    let (mean, inverse) = self.given(&self.stat_of(pos)).unwrap_or((f64::NAN, f64::NAN));
                    gradient(pos) * (self.src.get(pos) - mean) * inverse
                });
                d.set(&[c], sum);
            }
            if let Some(d) = diff_shift {
                d.set(&[c], region.sum(gradient));
            }
        }
        diff_scale.iter().chain(&diff_shift).for_each(View::zero_padding);
        Ok(())
    }
}
