//! Batch, layer and group normalisation.

use super::{Prop, Use, operands};
use crate::{Arg, Real, Tensor};

/// Flags of the normalisations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct NormFlags {
    /// Mean and variance are given, not computed (and are constants in backward).
    pub use_global_stats: bool,
    /// Multiply by a learnt scale.
    pub use_scale: bool,
    /// Add a learnt shift.
    pub use_shift: bool,
    /// Apply ReLU to the result (batch normalisation).
    pub fuse_relu: bool,
    /// Add a second source, then apply ReLU (batch normalisation).
    pub fuse_add_relu: bool,
    /// Root-mean-square normalisation: the mean is taken as 0 (layer normalisation).
    pub rms: bool,
}

/// `dst = scale * (src - mean) / sqrt(variance + epsilon) + shift` with statistics per channel (dim 1), biased variance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BatchNorm {
    /// Forward kinds, [`Prop::Backward`] or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Added to the variance.
    pub epsilon: Real,
    /// Flags.
    pub flags: NormFlags,
    /// Source, at least 2 dims.
    pub src: Tensor,
    /// Second source of the fused addition, as `dst`.
    pub src_1: Option<Tensor>,
    /// Destination (forward).
    pub dst: Option<Tensor>,
    /// Mean, f32, C; an input with global stats and in backward, an output in training, absent in inference without global stats, and with neither.
    pub mean: Option<Tensor>,
    /// Variance, as the mean.
    pub variance: Option<Tensor>,
    /// Scale, f32, C.
    pub scale: Option<Tensor>,
    /// Shift, f32, C (forward).
    pub shift: Option<Tensor>,
    /// Gradient of the source (backward).
    pub diff_src: Option<Tensor>,
    /// Gradient of the fused second source (backward).
    pub diff_src_1: Option<Tensor>,
    /// Gradient of the destination (backward).
    pub diff_dst: Option<Tensor>,
    /// Gradient of the scale.
    pub diff_scale: Option<Tensor>,
    /// Gradient of the shift.
    pub diff_shift: Option<Tensor>,
    /// Bit mask of positive elements before the fused ReLU, 1-D u8, element `i` in logical row-major order is bit `i % 8` of byte `i / 8`
    /// (output of training, input of backward).
    pub workspace: Option<Tensor>,
}

fn stats_use(prop: Prop, flags: NormFlags) -> Use {
    if prop.is_forward() && !flags.use_global_stats { Use::Out } else { Use::In }
}

operands!(BatchNorm { prop, flags, src, src_1, dst, mean, variance, scale, shift, diff_src, diff_src_1, diff_dst, diff_scale, diff_shift, workspace }, o => {
    let stats = stats_use(*prop, *flags);
    o.input(Arg::SRC, src);
    o.input(Arg::SRC_1, src_1);
    o.put(Arg::MEAN, stats, mean);
    o.put(Arg::VARIANCE, stats, variance);
    o.input(Arg::SCALE, scale);
    o.input(Arg::SHIFT, shift);
    o.input(Arg::DIFF_DST, diff_dst);
    o.put(Arg::WORKSPACE, if prop.is_forward() { Use::Out } else { Use::In }, workspace);
    o.output(Arg::DST, dst);
    o.output(Arg::DIFF_SRC, diff_src);
    o.output(Arg::DIFF_SRC_1, diff_src_1);
    o.output(Arg::DIFF_SCALE, diff_scale);
    o.output(Arg::DIFF_SHIFT, diff_shift);
});

/// `dst = scale * (src - mean) / sqrt(variance + epsilon) + shift` with statistics over the last dimension, biased variance.
/// With [`NormFlags::rms`]: `dst = scale * src / sqrt(mean(src^2) + epsilon) + shift`, and no mean argument; the variance argument is `mean(src^2)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LayerNorm {
    /// Forward kinds, [`Prop::Backward`] or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Added to the variance.
    pub epsilon: Real,
    /// Flags.
    pub flags: NormFlags,
    /// Source, 2 to 5 dims.
    pub src: Tensor,
    /// Destination (forward).
    pub dst: Option<Tensor>,
    /// Mean, f32, the source's dims but the last; inputs and outputs as for [`BatchNorm`].
    pub mean: Option<Tensor>,
    /// Variance, as the mean.
    pub variance: Option<Tensor>,
    /// Scale, the last dim; f32, bf16 or f16.
    pub scale: Option<Tensor>,
    /// Shift, as the scale (forward).
    pub shift: Option<Tensor>,
    /// Gradient of the source (backward).
    pub diff_src: Option<Tensor>,
    /// Gradient of the destination (backward).
    pub diff_dst: Option<Tensor>,
    /// Gradient of the scale.
    pub diff_scale: Option<Tensor>,
    /// Gradient of the shift.
    pub diff_shift: Option<Tensor>,
}

operands!(LayerNorm { prop, flags, src, dst, mean, variance, scale, shift, diff_src, diff_dst, diff_scale, diff_shift }, o => {
    let stats = stats_use(*prop, *flags);
    o.input(Arg::SRC, src);
    o.put(Arg::MEAN, stats, mean);
    o.put(Arg::VARIANCE, stats, variance);
    o.input(Arg::SCALE, scale);
    o.input(Arg::SHIFT, shift);
    o.input(Arg::DIFF_DST, diff_dst);
    o.output(Arg::DST, dst);
    o.output(Arg::DIFF_SRC, diff_src);
    o.output(Arg::DIFF_SCALE, diff_scale);
    o.output(Arg::DIFF_SHIFT, diff_shift);
});

/// As [`BatchNorm`] with statistics per batch item and group of channels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GroupNorm {
    /// Forward kinds, [`Prop::Backward`] or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Number of groups; divides the channels.
    pub groups: i64,
    /// Added to the variance.
    pub epsilon: Real,
    /// Flags.
    pub flags: NormFlags,
    /// Source, at least 2 dims.
    pub src: Tensor,
    /// Destination (forward).
    pub dst: Option<Tensor>,
    /// Mean, f32, N x G; inputs and outputs as for [`BatchNorm`].
    pub mean: Option<Tensor>,
    /// Variance, as the mean.
    pub variance: Option<Tensor>,
    /// Scale, f32, C.
    pub scale: Option<Tensor>,
    /// Shift, f32, C (forward).
    pub shift: Option<Tensor>,
    /// Gradient of the source (backward).
    pub diff_src: Option<Tensor>,
    /// Gradient of the destination (backward).
    pub diff_dst: Option<Tensor>,
    /// Gradient of the scale.
    pub diff_scale: Option<Tensor>,
    /// Gradient of the shift.
    pub diff_shift: Option<Tensor>,
}

operands!(GroupNorm { prop, flags, src, dst, mean, variance, scale, shift, diff_src, diff_dst, diff_scale, diff_shift }, o => {
    let stats = stats_use(*prop, *flags);
    o.input(Arg::SRC, src);
    o.put(Arg::MEAN, stats, mean);
    o.put(Arg::VARIANCE, stats, variance);
    o.input(Arg::SCALE, scale);
    o.input(Arg::SHIFT, shift);
    o.input(Arg::DIFF_DST, diff_dst);
    o.output(Arg::DST, dst);
    o.output(Arg::DIFF_SRC, diff_src);
    o.output(Arg::DIFF_SCALE, diff_scale);
    o.output(Arg::DIFF_SHIFT, diff_shift);
});
