//! Batch, layer and group normalisation.

use super::{Prop, Use, operands};
use crate::check::types::{F32, F64, FP, Pass, S8, TypeTable, Types, X8, row, same};
use crate::check::{self, Checked, ensure};
use crate::{Arg, DataType, Dims, Layout, RUNTIME, Real, Tensor};

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
    /// Bit mask of positive elements before the fused ReLU, 1-D u8: the element at position `i` of [`BatchNorm::bits`] is bit `i % 8` of
    /// byte `i / 8`; padding has 0 (output of training, input of backward).
    pub workspace: Option<Tensor>,
}

/// The two gradients of a data tensor, for constructors of backward passes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diff {
    /// Gradient of the source, computed.
    pub src: Tensor,
    /// Gradient of the destination, given.
    pub dst: Tensor,
}

/// The learnt parameters of a normalisation and their gradients, to be filled where a pass needs them.
struct Learnt<'a> {
    prop: Prop,
    flags: NormFlags,
    channels: i64,
    scale: &'a mut Option<Tensor>,
    shift: &'a mut Option<Tensor>,
    diff_scale: &'a mut Option<Tensor>,
    diff_shift: &'a mut Option<Tensor>,
}

impl Learnt<'_> {
    /// Scale wherever it is used, shift in forward passes, their gradients with [`Prop::Backward`]; gradients take the scale's type.
    fn derive(self) {
        let fill = |slot: &mut Option<Tensor>, needed: bool, dtype| {
            if needed && slot.is_none() {
                *slot = Tensor::plain([self.channels], dtype).ok();
            }
        };
        let dtype = [&self.scale, &self.shift, &self.diff_scale, &self.diff_shift]
            .into_iter()
            .find_map(|t| t.as_ref().map(|t| t.dtype))
            .unwrap_or(DataType::F32);
        let all = self.prop == Prop::Backward;
        fill(self.scale, self.flags.use_scale, dtype);
        fill(self.shift, self.flags.use_shift && self.prop.is_forward(), dtype);
        fill(self.diff_scale, self.flags.use_scale && all, dtype);
        fill(self.diff_shift, self.flags.use_shift && all, dtype);
    }
}

/// Fills the statistics where the pass has them: all but inference without global statistics.
fn derive_stats(prop: Prop, flags: NormFlags, dims: Option<Dims>, mean: &mut Option<Tensor>, variance: &mut Option<Tensor>) {
    if prop == Prop::ForwardInference && !flags.use_global_stats {
        return;
    }
    let stats = dims.and_then(|d| Tensor::plain(d, DataType::F32).ok());
    if !flags.rms && mean.is_none() {
        mean.clone_from(&stats);
    }
    if variance.is_none() {
        *variance = stats;
    }
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

impl BatchNorm {
    /// A forward pass; [`crate::Problem::new`] adds statistics, scale, shift and workspace as `prop` and `flags` need them.
    pub fn forward(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor, dst: Tensor) -> BatchNorm {
        let src_1 = flags.fuse_add_relu.then(|| dst.clone());
        BatchNorm { src_1, dst: Some(dst), ..BatchNorm::bare(prop, flags, epsilon, src) }
    }

    /// A backward pass, [`Prop::Backward`] or [`Prop::BackwardData`]; the rest is added as for the forward pass.
    pub fn backward(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor, diff: Diff) -> BatchNorm {
        let diff_src_1 = flags.fuse_add_relu.then(|| diff.dst.clone());
        BatchNorm { diff_src: Some(diff.src), diff_dst: Some(diff.dst), diff_src_1, ..BatchNorm::bare(prop, flags, epsilon, src) }
    }

    fn bare(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor) -> BatchNorm {
        BatchNorm {
            prop,
            epsilon: Real::new(epsilon),
            flags,
            src,
            src_1: None,
            dst: None,
            mean: None,
            variance: None,
            scale: None,
            shift: None,
            diff_src: None,
            diff_src_1: None,
            diff_dst: None,
            diff_scale: None,
            diff_shift: None,
            workspace: None,
        }
    }

    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::NORM_PROPS)?;
        check::rank(Arg::SRC, &self.src, 2..=crate::MAX_NDIMS)?;
        let NormFlags { use_global_stats, fuse_relu, fuse_add_relu, rms, .. } = self.flags;
        check_flags("rms_norm", rms, false)?;
        ensure(!(fuse_relu && fuse_add_relu), "flags", "fuse_norm_relu and fuse_norm_add_relu", "one of the two")?;
        let forward = self.prop.is_forward();
        for (arg, tensor, wanted) in
            [(Arg::SRC_1, &self.src_1, fuse_add_relu && forward), (Arg::DIFF_SRC_1, &self.diff_src_1, fuse_add_relu && !forward)]
        {
            check::presence(arg, tensor, wanted)?;
            check::dims_if(arg, tensor, self.src.dims())?;
            ensure(tensor.as_ref().is_none_or(|t| t.dtype == self.src.dtype), arg, "another data type", self.src.dtype)?;
        }
        ensure(self.src.dtype != DataType::S8 || use_global_stats, "flags", "no use_global_stats", "use_global_stats for s8")?;
        let channels = self.src.dims()[1];
        Parts {
            prop: self.prop,
            flags: self.flags,
            epsilon: self.epsilon,
            src: &self.src,
            data: [&self.dst, &self.diff_src, &self.diff_dst],
            stats: [&self.mean, &self.variance],
            stats_dims: Dims::from([channels]),
            learnt: [&self.scale, &self.shift, &self.diff_scale, &self.diff_shift],
            channels,
            learnt_types: F32,
        }
        .check(&BATCH_TYPES)
    }

    /// The order of the bits of the workspace: that of the source's memory with its padding, so that one loop passes over both; row-major
    /// for a source with gaps, or of unknown layout. `None` if elements cannot be numbered.
    pub fn bits(&self) -> Option<Layout> {
        let src = &self.src.layout;
        let whole = src.blocking().is_some_and(|b| b.offset == 0 && b.padded_offsets.iter().all(|o| *o == 0));
        if whole && src.is_dense(true) { Some(src.clone()) } else { Layout::plain(*self.src.dims()).ok() }
    }

    /// One bit an element.
    fn workspace_bytes(&self) -> Option<i64> {
        if self.src.layout.has_runtime() {
            return Some(RUNTIME);
        }
        let elements = self.bits()?.blocking()?.padded_dims.volume()?;
        Some(elements / 8 + i64::from(elements % 8 != 0))
    }

    /// Fills the fields that the source, the pass and the flags determine.
    pub(super) fn derive(&mut self) {
        let Some(&channels) = self.src.dims().get(1) else { return };
        let BatchNorm { prop, flags, mean, variance, scale, shift, diff_scale, diff_shift, .. } = self;
        derive_stats(*prop, *flags, Some(Dims::from([channels])), mean, variance);
        Learnt { prop: *prop, flags: *flags, channels, scale, shift, diff_scale, diff_shift }.derive();
        let kept = self.prop != Prop::ForwardInference && (flags.fuse_relu || flags.fuse_add_relu);
        let bytes = self.workspace_bytes().filter(|_| kept);
        self.workspace = bytes.and_then(|n| Tensor::plain([n], DataType::U8).ok());
    }
}

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

impl LayerNorm {
    /// A forward pass; [`crate::Problem::new`] adds statistics, scale and shift (f32) as `prop` and `flags` need them.
    pub fn forward(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor, dst: Tensor) -> LayerNorm {
        LayerNorm { dst: Some(dst), ..LayerNorm::bare(prop, flags, epsilon, src) }
    }

    /// A backward pass, [`Prop::Backward`] or [`Prop::BackwardData`]; the rest is added as for the forward pass.
    pub fn backward(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor, diff: Diff) -> LayerNorm {
        LayerNorm { diff_src: Some(diff.src), diff_dst: Some(diff.dst), ..LayerNorm::bare(prop, flags, epsilon, src) }
    }

    fn bare(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor) -> LayerNorm {
        LayerNorm {
            prop,
            epsilon: Real::new(epsilon),
            flags,
            src,
            dst: None,
            mean: None,
            variance: None,
            scale: None,
            shift: None,
            diff_src: None,
            diff_dst: None,
            diff_scale: None,
            diff_shift: None,
        }
    }

    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::NORM_PROPS)?;
        check::rank(Arg::SRC, &self.src, 2..=5)?;
        check_flags("fuse_norm_relu", self.flags.fuse_relu, false)?;
        check_flags("fuse_norm_add_relu", self.flags.fuse_add_relu, false)?;
        let dims = self.src.dims();
        let (stats_dims, channels) = (Dims::from_fn(dims.len() - 1, |d| dims[d]), dims[dims.len() - 1]);
        Parts {
            prop: self.prop,
            flags: self.flags,
            epsilon: self.epsilon,
            src: &self.src,
            data: [&self.dst, &self.diff_src, &self.diff_dst],
            stats: [&self.mean, &self.variance],
            stats_dims,
            learnt: [&self.scale, &self.shift, &self.diff_scale, &self.diff_shift],
            channels,
            learnt_types: FP,
        }
        .check(&LAYER_TYPES)
    }

    /// Fills the fields that the source, the pass and the flags determine.
    pub(super) fn derive(&mut self) {
        let LayerNorm { prop, flags, src, mean, variance, scale, shift, diff_scale, diff_shift, .. } = self;
        let Some((&channels, rest)) = src.dims().split_last() else { return };
        derive_stats(*prop, *flags, Dims::new(rest), mean, variance);
        Learnt { prop: *prop, flags: *flags, channels, scale, shift, diff_scale, diff_shift }.derive();
    }
}

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

impl GroupNorm {
    /// A forward pass; [`crate::Problem::new`] adds statistics, scale and shift as `prop` and `flags` need them.
    pub fn forward(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor, dst: Tensor) -> GroupNorm {
        GroupNorm { dst: Some(dst), ..GroupNorm::bare(prop, flags, epsilon, src) }
    }

    /// A backward pass, [`Prop::Backward`] or [`Prop::BackwardData`]; the rest is added as for the forward pass.
    pub fn backward(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor, diff: Diff) -> GroupNorm {
        GroupNorm { diff_src: Some(diff.src), diff_dst: Some(diff.dst), ..GroupNorm::bare(prop, flags, epsilon, src) }
    }

    /// The same with `groups` groups (1 otherwise).
    pub fn groups(self, groups: i64) -> GroupNorm {
        GroupNorm { groups, ..self }
    }

    fn bare(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor) -> GroupNorm {
        GroupNorm {
            prop,
            groups: 1,
            epsilon: Real::new(epsilon),
            flags,
            src,
            dst: None,
            mean: None,
            variance: None,
            scale: None,
            shift: None,
            diff_src: None,
            diff_dst: None,
            diff_scale: None,
            diff_shift: None,
        }
    }

    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::NORM_PROPS)?;
        check::rank(Arg::SRC, &self.src, 2..=crate::MAX_NDIMS)?;
        check_flags("fuse_norm_relu", self.flags.fuse_relu, false)?;
        check_flags("fuse_norm_add_relu", self.flags.fuse_add_relu, false)?;
        check_flags("rms_norm", self.flags.rms, false)?;
        let (batch, channels) = (self.src.dims()[0], self.src.dims()[1]);
        let divides = self.groups >= 1 && (channels == RUNTIME || channels % self.groups == 0);
        ensure(divides, "groups", self.groups, format_args!("a divisor of {channels} channels"))?;
        Parts {
            prop: self.prop,
            flags: self.flags,
            epsilon: self.epsilon,
            src: &self.src,
            data: [&self.dst, &self.diff_src, &self.diff_dst],
            stats: [&self.mean, &self.variance],
            stats_dims: Dims::from([batch, self.groups]),
            learnt: [&self.scale, &self.shift, &self.diff_scale, &self.diff_shift],
            channels,
            learnt_types: F32,
        }
        .check(&GROUP_TYPES)
    }

    /// Fills the fields that the source, the pass and the flags determine.
    pub(super) fn derive(&mut self) {
        let GroupNorm { prop, groups, flags, src, mean, variance, scale, shift, diff_scale, diff_shift, .. } = self;
        let [batch, channels, ..] = **src.dims() else { return };
        derive_stats(*prop, *flags, Some(Dims::from([batch, *groups])), mean, variance);
        Learnt { prop: *prop, flags: *flags, channels, scale, shift, diff_scale, diff_shift }.derive();
    }
}

/// Data types of batch normalisation; s8 only with global statistics.
pub(super) const BATCH_TYPES: TypeTable = TypeTable {
    columns: &["src", "dst", "diff_src", "diff_dst"],
    rows: &[same(Pass::Every, &[FP, FP, FP, FP]), same(Pass::Forward, &[S8, S8]), same(Pass::Every, &[F64, F64, F64, F64])],
};

/// Data types of layer normalisation.
pub(super) const LAYER_TYPES: TypeTable = TypeTable {
    columns: &["src", "dst", "diff_src", "diff_dst"],
    rows: &[row(Pass::Forward, &[FP.or(X8), FP.or(X8)]), row(Pass::Backward, &[FP, FP, FP, FP]), same(Pass::Every, &[F64, F64, F64, F64])],
};

/// Data types of group normalisation.
pub(super) const GROUP_TYPES: TypeTable = LAYER_TYPES;

/// The common parts of the three normalisations.
struct Parts<'a> {
    prop: Prop,
    flags: NormFlags,
    epsilon: Real,
    src: &'a Tensor,
    /// Destination, gradient of the source, of the destination.
    data: [&'a Option<Tensor>; 3],
    stats: [&'a Option<Tensor>; 2],
    stats_dims: Dims,
    /// Scale, shift and their gradients.
    learnt: [&'a Option<Tensor>; 4],
    channels: i64,
    learnt_types: Types,
}

impl Parts<'_> {
    fn check(&self, types: &TypeTable) -> Checked {
        let Parts { prop, flags, .. } = *self;
        let eps = self.epsilon.get();
        ensure(eps.is_finite() && eps >= 0.0, "epsilon", eps, "a finite number of at least 0")?;
        super::eltwise::check_pairs(prop, self.src, self.data, types)?;
        let kept = prop != Prop::ForwardInference || flags.use_global_stats;
        for (stat, arg, wanted) in [(self.stats[0], Arg::MEAN, kept && !flags.rms), (self.stats[1], Arg::VARIANCE, kept)] {
            check::presence(arg, stat, wanted)?;
            check::dims_if(arg, stat, &self.stats_dims)?;
            ensure(stat.as_ref().is_none_or(|t| t.dtype == DataType::F32), arg, "another data type", "f32")?;
        }
        let all = prop == Prop::Backward;
        let wanted = [
            (Arg::SCALE, flags.use_scale),
            (Arg::SHIFT, flags.use_shift && prop.is_forward()),
            (Arg::DIFF_SCALE, flags.use_scale && all),
            (Arg::DIFF_SHIFT, flags.use_shift && all),
        ];
        let mut dtype = None;
        for (tensor, (arg, wanted)) in self.learnt.iter().zip(wanted) {
            check::presence(arg, tensor, wanted)?;
            check::dims_if(arg, tensor, &[self.channels])?;
            let Some(t) = tensor else { continue };
            ensure(self.learnt_types.contains(t.dtype), arg, t.dtype, self.learnt_types)?;
            let first = *dtype.get_or_insert(t.dtype);
            ensure(t.dtype == first, arg, t.dtype, format_args!("{first} as the other parameters"))?;
        }
        Ok(())
    }
}

/// Flags of one normalisation only.
fn check_flags(name: &str, set: bool, allowed: bool) -> Checked {
    ensure(!set || allowed, "flags", name, format_args!("no {name} in this normalisation"))
}
