//! Group normalisation where channels are neighbours in memory: sums by channel first, then by group, and numbers by channel for the result, so
//! that no pass over the source knows of groups.

use crate::kernels::pointwise::{Builder, FoldOp, Over, Pipeline, Table};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, GroupNorm};
use oxidnn_spec::{Arg, Blocking, Dims, Problem, Tensor};

/// Batch items and channels, where channels are one dimension.
const FINE: u32 = 0b11;
/// Batch items and groups, where channels are two.
const COARSE: u32 = 0b011;
/// Groups and the channels of each.
const CHANNEL: u32 = 0b110;

/// Whether the results of `op` go by channels that are neighbours in memory.
pub(super) fn suits(op: &GroupNorm) -> bool {
    op.prop.is_forward() && !op.flags.rms && op.src.dims()[1] > op.groups && has_near_channels(&op.src)
}

/// Whether channels are neighbours in memory, at more than one place.
pub(super) fn has_near_channels(tensor: &Tensor) -> bool {
    let nearest = |b: &Blocking| b.inner.iter().last().map_or(b.strides[1] == 1, |block| block.0 == 1);
    tensor.dims()[2..].iter().any(|s| *s > 1) && tensor.blocking().is_some_and(nearest)
}

struct Groups<'a> {
    op: &'a GroupNorm,
    dims: &'a Dims,
    /// Batch items and channels alone.
    small: Dims,
    /// Elements of a group.
    count: f32,
    /// By channel: sums, mean, and the factor of the result.
    sum: Table,
    mean: Table,
    factor: Table,
}

/// The pipeline of a forward pass.
///
/// # Errors
/// [`Skip`] for layouts, types and attributes that pipelines do not do.
pub(super) fn pipeline(op: &GroupNorm, problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let dims = op.src.dims();
    let mut b = Builder::new(problem, dims, None)?;
    if dims.contains(&0) {
        return b.finish();
    }
    let small = Dims::from_fn(dims.len(), |d| if d < 2 { dims[d] } else { 1 });
    let count = b.count(b.all() & !0b01) as f32 / op.groups as f32;
    let (sum, mean, factor) = (b.table(FINE)?, b.table(FINE)?, b.table(FINE)?);
    Groups { op, dims, small, count, sum, mean, factor }.forward(b, problem)
}

impl Groups<'_> {
    fn forward(&self, mut b: Builder<'_>, problem: &Problem) -> Result<(Pipeline, usize), Skip> {
        let (flags, given) = (self.op.flags, self.op.flags.use_global_stats);
        b.split_positions(&self.small, (1, self.op.groups))?;
        let [mean, inverse] = [b.table(COARSE)?, b.table(COARSE)?];
        if !given {
            self.folded(&mut b, None)?;
            self.by_group(&mut b, &mean)?;
            self.keep(&mut b, Arg::MEAN)?;
        }
        self.spread(&mut b, &mean, given)?;
        if !given {
            self.folded(&mut b, Some(&self.mean))?;
            self.by_group(&mut b, &inverse)?;
            self.keep(&mut b, Arg::VARIANCE)?;
        } else {
            b.split_positions(&self.small, (1, self.op.groups))?;
            b.group(COARSE);
            let variance = b.argument_by(Arg::VARIANCE, COARSE)?;
            b.stage(Over::Kept);
            b.load(0, variance);
        }
        b.forward(0, EltwiseAlg::Linear, 1.0, self.op.epsilon.get());
        b.forward(0, EltwiseAlg::Pow, 1.0, -0.5);
        let to = b.bind(&inverse)?;
        b.store(0, to);
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
        if problem.attr.scales.contains_key(&Arg::SRC) {
            b.scale(0, Arg::SRC)?;
        }
        b.result(Arg::DST)?;
        b.finish()
    }

    /// Folds the source, or its squared distances from numbers by channel, by channel.
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

    /// `r[0]` becomes the mean by group of what was folded by channel, which `to` keeps.
    fn by_group(&self, b: &mut Builder<'_>, to: &Table) -> Result<(), Skip> {
        b.split_positions(&self.small, (1, self.op.groups))?;
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

    /// Stores `r[0]` to a statistic, where the problem has it.
    fn keep(&self, b: &mut Builder<'_>, arg: Arg) -> Result<(), Skip> {
        let wanted = if arg == Arg::MEAN { self.op.mean.is_some() } else { self.op.variance.is_some() };
        if wanted {
            let argument = b.argument_by(arg, COARSE)?;
            b.store(0, argument);
        }
        Ok(())
    }

    /// Means by channel of those by group: of the argument, where it is given.
    fn spread(&self, b: &mut Builder<'_>, mean: &Table, given: bool) -> Result<(), Skip> {
        b.split_positions(&self.small, (1, self.op.groups))?;
        b.group(b.all());
        let to = b.bind(&self.mean)?;
        let from = if given { b.argument_by(Arg::MEAN, COARSE)? } else { b.bind(mean)? };
        b.stage(Over::All);
        b.load(0, from);
        b.store(0, to);
        Ok(())
    }
}
