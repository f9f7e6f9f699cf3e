//! Batch, layer and group normalisation: one pipeline over three ways to share statistics.

use crate::kernels::pointwise::{Builder, FoldOp, IN_ALL, Over, Pipeline, Split, Sums, Table, summed_rows};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, NormFlags, Prop};
use oxidnn_spec::{Arg, DataType, Layout, Op, Problem, Tensor};
use std::ops::RangeInclusive;

/// Passes over a row in a backward pass.
const BACKWARD_PASSES: i64 = 3;

/// Elements of a row of several vectors that stays in L1 as f32, beside scale and shift.
const KEPT: RangeInclusive<i64> = 128..=1536;
/// Fewest such rows: a single one waits for what it has just stored.
const MIN_ROWS: i64 = 4;

/// A normalisation.
pub(super) struct Norm<'p> {
    /// The problem.
    pub(super) problem: &'p Problem,
    /// Pass.
    pub(super) prop: Prop,
    /// Flags.
    pub(super) flags: NormFlags,
    /// Added to the variance.
    pub(super) epsilon: f32,
    /// Source.
    pub(super) src: &'p Tensor,
    /// Channels by groups, where statistics are by group.
    pub(super) split: Split,
    /// Dimensions with statistics of their own.
    pub(super) kept: u32,
    /// Dimensions of scale and shift.
    pub(super) channel: u32,
    /// The order of the bits, if a mask of positive results is a workspace.
    pub(super) workspace: Option<Layout>,
    /// Whether a kernel runs all stages on a row.
    pub(super) by_row: bool,
}

/// The gradients of parameters, in the order of their sums.
const PARAMETERS: [Arg; 2] = [Arg::DIFF_SHIFT, Arg::DIFF_SCALE];

/// Where the gradients of scale and shift come from.
#[derive(Clone, Copy)]
enum Learnt<'s> {
    /// They have a group of stages of their own, or are not wanted.
    Apart,
    /// They are the sums that the gradient of the source needs as well.
    Same,
    /// Accumulators of shift and scale, to which every row adds.
    ByRow(&'s [Option<Sums>; 2]),
}

/// Mean (none for RMS) and `1 / sqrt(variance + epsilon)` by kept dimensions.
#[derive(Clone, Copy)]
struct Stats {
    mean: Option<usize>,
    inverse: usize,
}

impl<'p> Norm<'p> {
    /// The normalisation of a problem.
    ///
    /// # Errors
    /// Other operations.
    pub(super) fn of(problem: &'p Problem) -> Result<Norm<'p>, Skip> {
        let (prop, flags, epsilon, src) = match &problem.op {
            Op::BatchNorm(op) => (op.prop, op.flags, op.epsilon, &op.src),
            Op::LayerNorm(op) => (op.prop, op.flags, op.epsilon, &op.src),
            Op::GroupNorm(op) => (op.prop, op.flags, op.epsilon, &op.src),
            _ => return Err(Skip::Op("another operation than a normalisation")),
        };
        let last = src.dims().len() - 1;
        let (kept, channel, split, workspace) = match &problem.op {
            Op::BatchNorm(op) => (0b10, 0b10, None, op.workspace.as_ref().and_then(|_| op.bits())),
            Op::GroupNorm(op) => (0b011, 0b110, Some((1, op.groups)), None),
            _ => ((1 << last) - 1, 1 << last, None, None),
        };
        Ok(Norm { problem, prop, flags, epsilon: epsilon.get(), src, split, kept, channel, workspace, by_row: false })
    }

    /// The pipeline of the pass. Kernels that run all stages on a row accumulate the gradients of scale and shift.
    ///
    /// # Errors
    /// [`Skip`] for layouts, types and attributes that pipelines do not do.
    pub(super) fn pipeline(&self) -> Result<(Pipeline, usize), Skip> {
        let mut b = Builder::new(self.problem, self.src.dims(), self.split)?;
        if b.space().contains(&0) {
            [Arg::DIFF_SCALE, Arg::DIFF_SHIFT].into_iter().try_for_each(|arg| b.zero(arg))?;
            return b.finish();
        }
        match self.prop.is_forward() {
            true => self.forward(&mut b)?,
            false if self.by_row && self.is_learnt() && !self.is_shared() => self.backward_by_row(&mut b)?,
            false => self.backward(&mut b)?,
        }
        b.finish()
    }

    /// Whether the problem has a tensor.
    pub(super) fn has(&self, arg: Arg) -> bool {
        self.problem.op.tensor(arg).is_some()
    }

    /// `r[0] = 1 / sqrt(r[0] + epsilon)`.
    pub(super) fn invert(&self, b: &mut Builder<'_>) {
        b.forward(0, EltwiseAlg::Linear, 1.0, self.epsilon);
        b.forward(0, EltwiseAlg::Pow, 1.0, -0.5);
    }

    /// Mean and reciprocal deviation as operands of the group: the mean is an argument if statistics are given, else in `tables`.
    fn stats(&self, b: &mut Builder<'_>, tables: &[Table; 2]) -> Result<Stats, Skip> {
        let given = self.flags.use_global_stats || !self.prop.is_forward();
        let mean = match self.flags.rms {
            true => None,
            false if given => Some(b.argument_by(Arg::MEAN, self.kept)?),
            false => Some(b.bind(&tables[0])?),
        };
        Ok(Stats { mean, inverse: b.bind(&tables[1])? })
    }

    /// Computes the reciprocals of given statistics; forward, times the scale if that has the same dimensions.
    fn given(&self, b: &mut Builder<'_>, stats: Stats) -> Result<(), Skip> {
        let variance = b.argument_by(Arg::VARIANCE, self.kept)?;
        b.stage(Over::Kept);
        b.load(0, variance);
        self.invert(b);
        if self.is_shared() && self.prop.is_forward() {
            self.scaled(b)?;
        }
        b.store(0, stats.inverse);
        Ok(())
    }

    /// Computes statistics of the source, also into their arguments if there are any; reciprocals as [`Norm::given`].
    fn computed(&self, b: &mut Builder<'_>, stats: Stats) -> Result<(), Skip> {
        let count = b.count(b.all() & !self.kept) as f32;
        if let Some(mean) = stats.mean {
            b.stage(Over::All);
            b.load_argument(0, Arg::SRC)?;
            if self.keeps_source() {
                let kept = self.source(b)?;
                b.store(0, kept);
            }
            b.fold(0, FoldOp::Sum, mean);
            b.stage(Over::Kept);
            b.load(0, mean);
            b.divide(0, count);
            b.store(0, mean);
            self.keep(b, Arg::MEAN)?;
        }
        b.stage(Over::All);
        let source = self.source(b)?;
        b.load(0, source);
        if let Some(mean) = stats.mean {
            b.with(0, BinaryAlg::Sub, mean);
        }
        b.forward(0, EltwiseAlg::Square, 0.0, 0.0);
        b.fold(0, FoldOp::Sum, stats.inverse);
        b.stage(Over::Kept);
        b.load(0, stats.inverse);
        b.divide(0, count);
        self.keep(b, Arg::VARIANCE)?;
        self.invert(b);
        if self.is_shared() {
            self.scaled(b)?;
        }
        b.store(0, stats.inverse);
        Ok(())
    }

    /// Whether a row of the source, which three stages read, is converted once and kept.
    fn keeps_source(&self) -> bool {
        let (dims, row) = (self.src.dims(), self.src.dims().last().copied().unwrap_or(0));
        let fits = KEPT.contains(&row) && dims.volume().is_some_and(|all| all >= MIN_ROWS * row);
        fits && self.by_row && self.src.dtype != DataType::F32 && !self.flags.use_global_stats && !self.flags.rms
    }

    /// The source for the stages after the first.
    fn source(&self, b: &mut Builder<'_>) -> Result<usize, Skip> {
        if self.keeps_source() { b.row() } else { b.argument(Arg::SRC) }
    }

    /// Stores `r[0]` to a statistic, if the problem has it.
    pub(super) fn keep(&self, b: &mut Builder<'_>, arg: Arg) -> Result<(), Skip> {
        if self.has(arg) {
            let argument = b.argument_by(arg, self.kept)?;
            b.store(0, argument);
        }
        Ok(())
    }

    fn forward(&self, b: &mut Builder<'_>) -> Result<(), Skip> {
        let tables = [b.table(self.kept)?, b.table(self.kept)?];
        b.group(self.kept);
        b.argument(Arg::SRC)?;
        let stats = self.stats(b, &tables)?;
        if self.flags.use_global_stats {
            self.given(b, stats)?
        } else {
            self.computed(b, stats)?
        }
        if let Some(order) = &self.workspace {
            // Before the result, which may overlap the source.
            b.clear(Arg::WORKSPACE, 0..usize::MAX);
            b.group(b.all());
            let (bits, stats) = (b.bits(Arg::WORKSPACE, order)?, self.stats(b, &tables)?);
            b.stage(Over::All);
            self.normalise(b, stats)?;
            b.store(0, bits);
            b.group(self.kept);
            b.argument(Arg::SRC)?;
        }
        let stats = self.stats(b, &tables)?;
        b.stage(Over::All);
        self.normalise(b, stats)?;
        if self.flags.fuse_relu || self.flags.fuse_add_relu {
            b.forward(0, EltwiseAlg::Relu, 0.0, 0.0);
        }
        b.scale(0, Arg::SRC)?;
        b.result(Arg::DST)
    }

    /// `r[0]` becomes the result before a fused ReLU; uses `r[1]`.
    fn normalise(&self, b: &mut Builder<'_>, stats: Stats) -> Result<(), Skip> {
        let source = self.source(b)?;
        b.load(0, source);
        if let Some(mean) = stats.mean {
            b.with(0, BinaryAlg::Sub, mean);
        }
        b.with(0, BinaryAlg::Mul, stats.inverse);
        let scale = self.flags.use_scale && !self.is_shared();
        for (used, arg, alg) in [(scale, Arg::SCALE, BinaryAlg::Mul), (self.flags.use_shift, Arg::SHIFT, BinaryAlg::Add)] {
            if used {
                let operand = b.argument_by(arg, self.channel)?;
                b.with(0, alg, operand);
            }
        }
        if self.flags.fuse_add_relu {
            let added = b.argument(Arg::SRC_1)?;
            b.with(0, BinaryAlg::Add, added);
        }
        Ok(())
    }

    /// `r[0]` becomes the gradient of the result, 0 where a fused ReLU was 0; uses `r[1]`.
    fn gradient(&self, b: &mut Builder<'_>) -> Result<(), Skip> {
        b.load_argument(0, Arg::DIFF_DST)?;
        if let Some(order) = &self.workspace {
            // Selects by the derivative of the absolute value, which is 0 at 0 and 1 at 1; multiplying by the bit would turn an infinity
            // into NaN.
            let bits = b.bits(Arg::WORKSPACE, order)?;
            b.load(1, bits);
            b.backward(EltwiseAlg::Abs, 0.0, 0.0);
        }
        Ok(())
    }

    /// `r[1]` becomes the source minus its mean; uses `r[2]`.
    fn distance(&self, b: &mut Builder<'_>, stats: Stats) -> Result<(), Skip> {
        b.load_argument(1, Arg::SRC)?;
        if let Some(mean) = stats.mean {
            b.with(1, BinaryAlg::Sub, mean);
        }
        Ok(())
    }

    /// Whether the gradients of scale or shift are wanted.
    pub(super) fn is_learnt(&self) -> bool {
        self.prop == Prop::Backward && (self.has(Arg::DIFF_SCALE) || self.has(Arg::DIFF_SHIFT))
    }

    /// Whether scale and shift have the dimensions that have statistics of their own.
    fn is_shared(&self) -> bool {
        self.kept == self.channel
    }

    /// Folds `r[0]` (the gradient) and its product with the normalised source; or with the source minus its mean, if the factor is the same
    /// for all that is folded.
    fn sums(&self, b: &mut Builder<'_>, stats: Stats, sums: [usize; 2]) -> Result<(), Skip> {
        self.distance(b, stats)?;
        if !self.is_shared() {
            b.with(1, BinaryAlg::Mul, stats.inverse);
        }
        b.copy(2, 0);
        b.both(1, BinaryAlg::Mul);
        b.fold(0, FoldOp::Sum, sums[0]);
        b.fold(1, FoldOp::Sum, sums[1]);
        Ok(())
    }

    /// With `x` the normalised source and `g = scale dd`: `diff_scale = sum(dd x)`, `diff_shift = sum(dd)` by channel, `diff_src = (g -
    /// mean(g) - x mean(g x)) / sigma`; without the means if statistics are constants, without the first one for RMS.
    fn backward(&self, b: &mut Builder<'_>) -> Result<(), Skip> {
        let (learnt, shared) = (self.is_learnt(), self.is_shared());
        let tables = [b.table(self.kept)?, b.table(self.kept)?];
        b.group(self.kept);
        b.argument(Arg::SRC)?;
        let stats = self.stats(b, &tables)?;
        self.given(b, stats)?;
        if learnt && !shared {
            b.group(self.channel);
            b.argument(Arg::SRC)?;
            let stats = self.stats(b, &tables)?;
            let sums = [b.table(self.channel)?, b.table(self.channel)?];
            let sums = [b.bind(&sums[0])?, b.bind(&sums[1])?];
            b.stage(Over::All);
            self.gradient(b)?;
            self.sums(b, stats, sums)?;
            b.stage(Over::Kept);
            self.parameters(b, sums.map(Some), self.channel)?;
            b.group(self.kept);
            b.argument(Arg::SRC)?;
        }
        self.data(b, &tables, if shared && learnt { Learnt::Same } else { Learnt::Apart })
    }

    /// As [`Norm::backward`], if scale and shift have the dimensions of rows.
    fn backward_by_row(&self, b: &mut Builder<'_>) -> Result<(), Skip> {
        let tables = [b.table(self.kept)?, b.table(self.kept)?];
        b.group(self.kept);
        b.argument(Arg::SRC)?;
        let stats = self.stats(b, &tables)?;
        self.given(b, stats)?;
        let each = summed_rows(b.count(self.kept), b.count(b.all() & !self.kept), BACKWARD_PASSES);
        let mut added = [const { None }; 2];
        for (sums, _) in added.iter_mut().zip(PARAMETERS).filter(|(_, arg)| self.has(*arg)) {
            *sums = Some(b.sums(each)?);
        }
        self.data(b, &tables, Learnt::ByRow(&added))?;
        let totals = b.total(&added.iter().flatten().collect::<Vec<_>>())?;
        let mut next = totals.iter().copied();
        let sums = added.each_ref().map(|sums| sums.as_ref().and_then(|_| next.next()));
        self.parameters(b, sums, IN_ALL)
    }

    /// Folds the gradient in `r[0]`, times the scale, and its product with the normalised source; without the scale both are added to
    /// `sums` by column. Uses all registers.
    fn sums_by_row(&self, b: &mut Builder<'_>, stats: Stats, folds: [usize; 2], sums: &[Option<Sums>; 2]) -> Result<(), Skip> {
        self.distance(b, stats)?;
        b.with(1, BinaryAlg::Mul, stats.inverse);
        sums[0].iter().for_each(|sums| b.add_up(0, sums));
        b.copy(2, 0);
        b.both(1, BinaryAlg::Mul);
        sums[1].iter().for_each(|sums| b.add_up(1, sums));
        if self.flags.use_global_stats {
            return Ok(());
        }
        b.copy(2, 0);
        for register in [1, 2].into_iter().filter(|_| self.flags.use_scale) {
            let scale = b.argument_by(Arg::SCALE, self.channel)?;
            b.with(register, BinaryAlg::Mul, scale);
        }
        b.fold(2, FoldOp::Sum, folds[0]);
        b.fold(1, FoldOp::Sum, folds[1]);
        Ok(())
    }

    /// The gradient of the source, and those of scale and shift if these come from the same sums or rows. A scale by kept dimensions is a
    /// factor of the whole; another one is part of the sums.
    fn data(&self, b: &mut Builder<'_>, tables: &[Table; 2], learnt: Learnt<'_>) -> Result<(), Skip> {
        let (constant, shared) = (self.flags.use_global_stats, self.is_shared());
        let stats = self.stats(b, tables)?;
        let sums = [b.table(self.kept)?, b.table(self.kept)?];
        let sums = [b.bind(&sums[0])?, b.bind(&sums[1])?];
        let same = matches!(learnt, Learnt::Same);
        if !constant || !matches!(learnt, Learnt::Apart) {
            b.stage(Over::All);
            self.gradient(b)?;
            if let Learnt::ByRow(added) = learnt {
                self.sums_by_row(b, stats, sums, added)?;
            } else {
                if !shared {
                    self.scaled(b)?;
                }
                self.sums(b, stats, sums)?;
            }
        }
        if !constant || same {
            b.stage(Over::Kept);
            if shared {
                b.load(0, sums[1]);
                b.with(0, BinaryAlg::Mul, stats.inverse);
                b.store(0, sums[1]);
            }
            if same {
                self.parameters(b, sums.map(Some), self.channel)?;
            }
            let count = 1.0 / b.count(b.all() & !self.kept) as f32;
            for s in sums {
                b.load(0, s);
                b.forward(0, EltwiseAlg::Linear, count, 0.0);
                if shared && s == sums[1] {
                    b.with(0, BinaryAlg::Mul, stats.inverse);
                }
                b.store(0, s);
            }
        }
        if shared && self.flags.use_scale {
            b.stage(Over::Kept);
            b.load(0, stats.inverse);
            self.scaled(b)?;
            b.store(0, stats.inverse);
        }
        b.stage(Over::All);
        self.gradient(b)?;
        if self.flags.fuse_add_relu {
            let added = b.argument(Arg::DIFF_SRC_1)?;
            b.store(0, added);
            b.pad(Arg::DIFF_SRC_1)?;
        }
        if !shared {
            self.scaled(b)?;
        }
        if !constant {
            if !self.flags.rms {
                b.with(0, BinaryAlg::Sub, sums[0]);
            }
            self.distance(b, stats)?;
            if !shared {
                b.with(1, BinaryAlg::Mul, stats.inverse);
            }
            b.with(1, BinaryAlg::Mul, sums[1]);
            b.both(0, BinaryAlg::Sub);
        }
        b.with(0, BinaryAlg::Mul, stats.inverse);
        b.result(Arg::DIFF_SRC)
    }

    /// `r[0]` times the learnt scale; uses `r[1]`.
    fn scaled(&self, b: &mut Builder<'_>) -> Result<(), Skip> {
        if self.flags.use_scale {
            let scale = b.argument_by(Arg::SCALE, self.channel)?;
            b.with(0, BinaryAlg::Mul, scale);
        }
        Ok(())
    }

    /// Stores the gradients of shift and scale, which have the dimensions in `channel`.
    fn parameters(&self, b: &mut Builder<'_>, sums: [Option<usize>; 2], channel: u32) -> Result<(), Skip> {
        for (arg, sum) in PARAMETERS.into_iter().zip(sums) {
            if let (true, Some(sum)) = (self.has(arg), sum) {
                let argument = b.argument_by(arg, channel)?;
                b.load(0, sum);
                b.store(0, argument);
            }
        }
        Ok(())
    }
}
