//! Group normalisation with channels contiguous in memory: sums by channel first, then by group, and parameters by channel for the result,
//! so that no pass over the source needs groups.

use crate::kernels::pointwise::{Builder, FoldOp, Over, Pipeline, Table};
use crate::ops::norm::Norm;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, GroupNorm};
use oxidnn_spec::{Arg, Blocking, Dims, Tensor};

/// Dimensions of batch and channels, when channels are one dimension.
const FINE: u32 = 0b11;
/// Dimensions of batch and groups, when channels are two.
const COARSE: u32 = 0b011;
/// Dimensions of groups and channels.
const CHANNEL: u32 = 0b110;

/// Whether channels of the tensors of `op` are contiguous in memory.
pub(super) fn suits(op: &GroupNorm) -> bool {
    !op.flags.rms && op.src.dims()[1] > op.groups && has_contiguous_channels(&op.src)
}

/// Whether channels are contiguous in memory, and there is more than one pixel.
pub(super) fn has_contiguous_channels(tensor: &Tensor) -> bool {
    let nearest = |b: &Blocking| b.inner.iter().last().map_or(b.strides[1] == 1, |block| block.0 == 1);
    tensor.dims()[2..].iter().any(|s| *s > 1) && tensor.blocking().is_some_and(nearest)
}

struct Groups<'a> {
    norm: &'a Norm<'a>,
    groups: i64,
    dims: &'a Dims,
    /// Sizes of batch and channels, all others 1.
    small: Dims,
    /// Elements of a group.
    count: f32,
    /// By channel: sums, mean, and the result's factor: the reciprocal deviation, forward times the scale.
    sum: Table,
    mean: Table,
    factor: Table,
}

/// The pipeline of the pass.
///
/// # Errors
/// [`Skip`] for layouts, types and attributes that pipelines do not do.
pub(super) fn pipeline(norm: &Norm<'_>, groups: i64) -> Result<(Pipeline, usize), Skip> {
    let dims = norm.src.dims();
    let mut b = Builder::new(norm.problem, dims, None)?;
    if dims.contains(&0) {
        [Arg::DIFF_SCALE, Arg::DIFF_SHIFT].into_iter().try_for_each(|arg| b.zero(arg))?;
        return b.finish();
    }
    let small = Dims::from_fn(dims.len(), |d| if d < 2 { dims[d] } else { 1 });
    let count = b.count(b.all() & !0b01) as f32 / groups as f32;
    let (sum, mean, factor) = (b.table(FINE)?, b.table(FINE)?, b.table(FINE)?);
    let groups = Groups { norm, groups, dims, small, count, sum, mean, factor };
    if norm.prop.is_forward() { groups.forward(b) } else { groups.backward(b) }
}

impl Groups<'_> {
    fn forward(&self, mut b: Builder<'_>) -> Result<(Pipeline, usize), Skip> {
        let (flags, given) = (self.norm.flags, self.norm.flags.use_global_stats);
        b.split_positions(&self.small, (1, self.groups))?;
        let [mean, inverse] = [b.table(COARSE)?, b.table(COARSE)?];
        if !given {
            self.folded(&mut b, None)?;
            self.by_group(&mut b, &mean)?;
            self.norm.keep(&mut b, Arg::MEAN)?;
        }
        self.spread(&mut b, (if given { None } else { Some(&mean) }, &self.mean))?;
        if given {
            self.given(&mut b, &inverse)?;
        } else {
            self.folded(&mut b, Some(&self.mean))?;
            self.by_group(&mut b, &inverse)?;
            self.norm.keep(&mut b, Arg::VARIANCE)?;
            self.invert(&mut b, &inverse)?;
        }
        b.group(b.all());
        let (to, from) = (b.bind(&self.factor)?, b.bind(&inverse)?);
        b.stage(Over::All);
        b.load(0, from);
        if flags.use_scale {
            let scale = b.argument_by(Arg::SCALE, CHANNEL)?;
            b.with(0, BinaryAlg::Mul, scale);
        }
        b.store(0, to);

        b.whole_positions(self.dims);
        b.group(FINE);
        b.argument(Arg::SRC)?;
        let (mean, factor) = (b.bind(&self.mean)?, b.bind(&self.factor)?);
        b.stage(Over::All);
        b.load_argument(0, Arg::SRC)?;
        b.with(0, BinaryAlg::Sub, mean);
        b.with(0, BinaryAlg::Mul, factor);
        if flags.use_shift {
            let shift = b.argument_by(Arg::SHIFT, 0b10)?;
            b.with(0, BinaryAlg::Add, shift);
        }
        if self.norm.problem.attr.scales.contains_key(&Arg::SRC) {
            b.scale(0, Arg::SRC)?;
        }
        b.result(Arg::DST)?;
        b.finish()
    }

    /// Folds by channel the source, or its squared distances from per-channel values.
    fn folded(&self, b: &mut Builder<'_>, from: Option<&Table>) -> Result<(), Skip> {
        b.whole_positions(self.dims);
        b.group(FINE);
        b.argument(Arg::SRC)?;
        let sum = b.bind(&self.sum)?;
        b.stage(Over::All);
        b.load_argument(0, Arg::SRC)?;
        if let Some(from) = from {
            let from = b.bind(from)?;
            b.with(0, BinaryAlg::Sub, from);
            b.forward(0, EltwiseAlg::Square, 0.0, 0.0);
        }
        b.fold(0, FoldOp::Sum, sum);
        Ok(())
    }

    /// `r[0]` becomes the mean by group of what was folded by channel, which `to` stores.
    fn by_group(&self, b: &mut Builder<'_>, to: &Table) -> Result<(), Skip> {
        b.split_positions(&self.small, (1, self.groups))?;
        b.group(COARSE);
        let (sum, to) = (b.bind(&self.sum)?, b.bind(to)?);
        b.stage(Over::All);
        b.load(0, sum);
        b.fold(0, FoldOp::Sum, to);
        b.stage(Over::Kept);
        b.load(0, to);
        b.divide(0, self.count);
        b.store(0, to);
        Ok(())
    }

    /// With `d` the source minus its mean and `g = scale dd`: sums of `dd` and `dd d` by channel give the gradients of shift and scale over
    /// the batch, and the means of `g` and `g d / sigma` by group; `diff_src = (g - mean(g) - d / sigma mean(g d / sigma)) / sigma`,
    /// without the means if statistics are constants.
    fn backward(&self, mut b: Builder<'_>) -> Result<(Pipeline, usize), Skip> {
        let constant = self.norm.flags.use_global_stats;
        let learnt = self.norm.is_learnt();
        let (products, means) = (b.table(FINE)?, [b.table(FINE)?, b.table(FINE)?]);
        b.split_positions(&self.small, (1, self.groups))?;
        let inverse = b.table(COARSE)?;
        self.given(&mut b, &inverse)?;
        self.spread(&mut b, (None, &self.mean))?;
        self.spread(&mut b, (Some(&inverse), &self.factor))?;
        if !constant || learnt {
            self.sums(&mut b, &products)?;
        }
        if learnt {
            self.parameters(&mut b, (&products, &inverse))?;
        }
        if !constant {
            self.means(&mut b, [&self.sum, &products].into_iter().zip(&means), &inverse)?;
        }

        b.whole_positions(self.dims);
        b.group(FINE);
        b.argument(Arg::SRC)?;
        let (mean, factor) = (b.bind(&self.mean)?, b.bind(&self.factor)?);
        b.stage(Over::All);
        b.load_argument(0, Arg::DIFF_DST)?;
        if self.norm.flags.use_scale {
            let scale = b.argument_by(Arg::SCALE, 0b10)?;
            b.with(0, BinaryAlg::Mul, scale);
        }
        if !constant {
            let [of_gradients, of_products] = [b.bind(&means[0])?, b.bind(&means[1])?];
            b.with(0, BinaryAlg::Sub, of_gradients);
            b.load_argument(1, Arg::SRC)?;
            b.with(1, BinaryAlg::Sub, mean);
            b.with(1, BinaryAlg::Mul, factor);
            b.with(1, BinaryAlg::Mul, of_products);
            b.both(0, BinaryAlg::Sub);
        }
        b.with(0, BinaryAlg::Mul, factor);
        b.result(Arg::DIFF_SRC)?;
        b.finish()
    }

    /// Folds by channel the gradient of the result, and its product with the source minus its mean.
    fn sums(&self, b: &mut Builder<'_>, products: &Table) -> Result<(), Skip> {
        b.whole_positions(self.dims);
        b.group(FINE);
        b.argument(Arg::SRC)?;
        let (mean, sum, products) = (b.bind(&self.mean)?, b.bind(&self.sum)?, b.bind(products)?);
        b.stage(Over::All);
        b.load_argument(0, Arg::DIFF_DST)?;
        b.load_argument(1, Arg::SRC)?;
        b.with(1, BinaryAlg::Sub, mean);
        b.copy(2, 0);
        b.both(1, BinaryAlg::Mul);
        b.fold(0, FoldOp::Sum, sum);
        b.fold(1, FoldOp::Sum, products);
        Ok(())
    }

    /// Stores the gradients of shift and scale: what was folded by channel, summed over the batch.
    fn parameters(&self, b: &mut Builder<'_>, (products, inverse): (&Table, &Table)) -> Result<(), Skip> {
        b.split_positions(&self.small, (1, self.groups))?;
        for (arg, from) in [(Arg::DIFF_SHIFT, &self.sum), (Arg::DIFF_SCALE, products)] {
            if !self.norm.has(arg) {
                continue;
            }
            let all = b.table(CHANNEL)?;
            b.group(CHANNEL);
            let (from, inverse, all) = (b.bind(from)?, b.bind(inverse)?, b.bind(&all)?);
            b.stage(Over::All);
            b.load(0, from);
            if arg == Arg::DIFF_SCALE {
                b.with(0, BinaryAlg::Mul, inverse);
            }
            b.fold(0, FoldOp::Sum, all);
            b.stage(Over::Kept);
            b.load(0, all);
            let to = b.argument_by(arg, CHANNEL)?;
            b.store(0, to);
        }
        Ok(())
    }

    /// From what was folded by channel, the means by group, stored by channel: of the gradient times the scale, and of its product with the
    /// normalised source.
    fn means<'t>(&self, b: &mut Builder<'_>, tables: impl Iterator<Item = (&'t Table, &'t Table)>, inverse: &Table) -> Result<(), Skip> {
        for (i, (from, to)) in tables.enumerate() {
            b.split_positions(&self.small, (1, self.groups))?;
            let mean = b.table(COARSE)?;
            b.group(COARSE);
            let (operand, inverse, kept) = (b.bind(from)?, b.bind(inverse)?, b.bind(&mean)?);
            b.stage(Over::All);
            b.load(0, operand);
            if self.norm.flags.use_scale {
                let scale = b.argument_by(Arg::SCALE, CHANNEL)?;
                b.with(0, BinaryAlg::Mul, scale);
            }
            b.fold(0, FoldOp::Sum, kept);
            b.stage(Over::Kept);
            b.load(0, kept);
            b.divide(0, self.count);
            if i == 1 {
                b.with(0, BinaryAlg::Mul, inverse);
            }
            b.store(0, kept);
            self.spread(b, (Some(&mean), to))?;
        }
        Ok(())
    }

    /// `to` becomes the reciprocal deviations of given variances.
    fn given(&self, b: &mut Builder<'_>, to: &Table) -> Result<(), Skip> {
        b.split_positions(&self.small, (1, self.groups))?;
        b.group(COARSE);
        let variance = b.argument_by(Arg::VARIANCE, COARSE)?;
        b.stage(Over::Kept);
        b.load(0, variance);
        self.invert(b, to)
    }

    /// `to` becomes `1 / sqrt(r[0] + epsilon)`.
    fn invert(&self, b: &mut Builder<'_>, to: &Table) -> Result<(), Skip> {
        self.norm.invert(b);
        let to = b.bind(to)?;
        b.store(0, to);
        Ok(())
    }

    /// Values by channel from those by group: of the given means if there is no table.
    fn spread(&self, b: &mut Builder<'_>, (from, to): (Option<&Table>, &Table)) -> Result<(), Skip> {
        b.split_positions(&self.small, (1, self.groups))?;
        b.group(b.all());
        let to = b.bind(to)?;
        let from = if let Some(table) = from { b.bind(table)? } else { b.argument_by(Arg::MEAN, COARSE)? };
        b.stage(Over::All);
        b.load(0, from);
        b.store(0, to);
        Ok(())
    }
}
