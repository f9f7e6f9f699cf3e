//! Batch normalisation of matrices with a channel a column: channels last.
//!
//! The rows are cut into segments, a function of the sizes alone. Each segment folds its columns in `f32`; what segments have folded is put
//! together in `f64`, in their order. Deviations are taken from the mean of the segment, which is in the cache still, and moved to the
//! mean of all (Chan, Golub, LeVeque, *Algorithms for computing the sample variance*), so that memory is read once for both statistics.

use super::lines::down;
use super::{Matrix, TILE, bytes, parameters};
use crate::kernels::columns::{Act, Sweep};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::{Part, Scratch};
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Executor, Skip};
use oxidnn_spec::op::{self, NormFlags, Prop};
use oxidnn_spec::{Arg, Error, Problem};
use std::ops::Range;

/// Rows of a segment at least.
const ROWS: usize = 32;
/// Columns whose totals are put together at a time.
const COLUMNS: usize = 64;

/// Statistics, scale and shift by column.
#[derive(Debug)]
pub struct BatchNorm {
    matrix: Matrix,
    flags: NormFlags,
    epsilon: f32,
    forward: bool,
    /// Whether mean and variance are arguments: given, or wanted.
    stats: bool,
    /// Whether the gradients of scale and shift are wanted.
    learnt: [bool; 2],
    /// Rows of a segment.
    segment: usize,
    space: usize,
    /// Instructions of generated code, where rows are gone through by such.
    jit: Option<Isa>,
}

impl BatchNorm {
    /// The kernel with its bytes of scratch; by generated code where there is an instruction set for it.
    ///
    /// # Errors
    /// [`Skip`] for anything but `f32` with channels last, for fused operations with a second tensor, and for gradients with constant statistics.
    pub fn new(op: &op::BatchNorm, problem: &Problem, workers: usize, jit: Option<Isa>) -> Result<(BatchNorm, usize), Skip> {
        let (forward, flags) = (op.prop.is_forward(), op.flags);
        if op.workspace.is_some() || flags.fuse_add_relu || flags.rms || !forward && (flags.use_global_stats || flags.fuse_relu) {
            return Err(Skip::Op("fused operations with workspace, gradients with constant statistics"));
        }
        let args: &[Arg] = if forward { &[Arg::SRC, Arg::DST] } else { &[Arg::SRC, Arg::DIFF_DST, Arg::DIFF_SRC] };
        let matrix = Matrix::of(problem, 1, args, workers)?;
        if matrix.width > TILE {
            return Err(Skip::Shape("more channels than a tile has room for"));
        }
        let all = op.prop == Prop::Backward;
        let learnt = [all && op.diff_scale.is_some(), all && op.diff_shift.is_some()];
        let stats = op.mean.is_some() && op.variance.is_some();
        let by_column = [
            (stats, Arg::MEAN),
            (stats, Arg::VARIANCE),
            (flags.use_scale, Arg::SCALE),
            (forward && flags.use_shift, Arg::SHIFT),
            (learnt[0], Arg::DIFF_SCALE),
            (learnt[1], Arg::DIFF_SHIFT),
        ];
        for (_, arg) in by_column.into_iter().filter(|a| a.0) {
            matrix.by_column(problem, arg)?;
        }
        let segment = (GRAIN as usize / matrix.width).max(ROWS).min(matrix.rows);
        let space = matrix.space(if forward { 1 } else { 2 })?;
        let kernel = BatchNorm { matrix, flags, epsilon: op.epsilon.get(), forward, stats, learnt, segment, space, jit };
        let scratch = bytes(&kernel.parts())?;
        Ok((kernel, scratch))
    }

    /// Numbers of scratch: four tables by column, the workers' tiles, what segments fold.
    fn parts(&self) -> [usize; 6] {
        let width = self.matrix.width;
        [width, width, width, width, self.space, if self.forward { 3 } else { 2 } * width * self.segments()]
    }

    fn segments(&self) -> usize {
        self.matrix.rows.div_ceil(self.segment)
    }

    fn segment_rows(&self, index: usize) -> Range<usize> {
        index * self.segment..((index + 1) * self.segment).min(self.matrix.rows)
    }

    /// Calls `body` in parallel for ranges of all rows, the last ones first: those are still near.
    fn rows(&self, executor: &dyn Executor, body: &(dyn Fn(Range<usize>) + Sync)) {
        let (rows, each) = (self.matrix.rows, (GRAIN as usize / self.matrix.width).max(1));
        let tasks = rows.div_ceil(each);
        executor.run(executor.threads(), tasks, &|_, task| {
            let start = (tasks - 1 - task) * each;
            body(start..(start + each).min(rows));
        });
    }

    /// Fills `mean` and `variance` with the statistics of `src`.
    fn statistics<'s>(&self, on: On<'_, '_>, src: Buf, space: (&mut Part<'s>, Part<'s>), [mean, variance]: [&mut [f32]; 2]) {
        let On { code, simd, ctx } = on;
        let (matrix, width) = (&self.matrix, self.matrix.width);
        let (tiles, folded) = space;
        let folded = tiles.work_on(folded, ctx.executor(), matrix.workers, (self.segments(), 3 * width), &|index, folded, space| {
            let rows = self.segment_rows(index);
            let (sums, rest) = folded.split_at_mut(width);
            let (squares, means) = rest.split_at_mut(width);
            sums.fill(0.0);
            squares.fill(0.0);
            match code.first() {
                Some(sum) => sum.run(&[src], rows.clone(), &mut [&mut *sums], &[]),
                None => matrix.each(rows.clone(), |rows| simd.run(Sum { x: matrix.read(src, &rows, space).0, totals: sums })),
            }
            let count = rows.len() as f32;
            means.iter_mut().zip(&*sums).for_each(|(mean, sum)| *mean = sum / count);
            match code.get(1) {
                Some(pass) => pass.run(&[src], rows, &mut [squares], &[means]),
                None => matrix.each(rows, |rows| simd.run(Squares { x: matrix.read(src, &rows, space).0, mean: means, totals: squares })),
            }
        });
        let (folded, all) = (&*folded.into_slice(), matrix.rows as f64);
        let segments = || folded.chunks_exact(3 * width).enumerate().map(|(i, f)| (self.segment_rows(i).len() as f64, f));
        for (i, (mean, variance)) in mean.chunks_mut(COLUMNS).zip(variance.chunks_mut(COLUMNS)).enumerate() {
            let first = i * COLUMNS;
            let [mut sums, mut squares] = [[0.0; COLUMNS]; 2];
            for (_, f) in segments() {
                sums.iter_mut().zip(&f[first..width]).for_each(|(sum, f)| *sum += f64::from(*f));
            }
            // Squares are those of the distances from a segment's mean as f32 has it: what it is off by counts too.
            for (n, f) in segments() {
                let parts = f[first..width].iter().zip(&f[width + first..2 * width]).zip(&f[2 * width + first..]);
                for ((square, total), ((sum, near), center)) in squares.iter_mut().zip(&sums).zip(parts) {
                    let (center, distance) = (f64::from(*center), f64::from(*center) - total / all);
                    *square += f64::from(*near) + 2.0 * distance * (f64::from(*sum) - n * center) + n * distance * distance;
                }
            }
            mean.iter_mut().zip(&sums).for_each(|(m, sum)| *m = (sum / all) as f32);
            variance.iter_mut().zip(&squares).for_each(|(v, square)| *v = (square / all) as f32);
        }
    }

    /// The given mean and variance.
    fn given<'s>(&self, ctx: &Ctx<'_>, scratch: &mut Scratch<'s>) -> Result<[&'s mut [f32]; 2], Error> {
        let given = (self.stats && (self.flags.use_global_stats || !self.forward), 0.0);
        let width = self.matrix.width;
        Ok([parameters(ctx, scratch, width, Arg::MEAN, given)?, parameters(ctx, scratch, width, Arg::VARIANCE, given)?])
    }

    fn forward(&self, on: On<'_, '_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let On { code, simd, ctx } = on;
        let (matrix, flags) = (&self.matrix, self.flags);
        let (src, dst) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?);
        let [mean, variance] = self.given(ctx, &mut scratch)?;
        let factor = parameters(ctx, &mut scratch, matrix.width, Arg::SCALE, (flags.use_scale, 1.0))?;
        let shift = &*parameters(ctx, &mut scratch, matrix.width, Arg::SHIFT, (flags.use_shift, 0.0))?;
        let mut tiles = scratch.take(self.space)?;
        if !flags.use_global_stats {
            let folded = scratch.take(self.parts()[5])?;
            self.statistics(on, src, (&mut tiles, folded), [mean, variance]);
            if self.stats {
                ctx.buf(Arg::MEAN)?.write(0, mean);
                ctx.buf(Arg::VARIANCE)?.write(0, variance);
            }
        }
        factor.iter_mut().zip(&*variance).for_each(|(f, v)| *f /= (v + self.epsilon).sqrt());
        let (mean, factor) = (&*mean, &*factor);
        if let Some(scale) = code.get(2) {
            self.rows(ctx.executor(), &|rows| scale.run(&[src, dst], rows, &mut [], &[mean, factor, shift]));
            return Ok(());
        }
        matrix.tiles(ctx.executor(), &mut tiles, &|rows, space| {
            let (x, _) = matrix.read(src, &rows, space);
            simd.run(Forward { x, mean, factor, shift, relu: flags.fuse_relu });
            matrix.write(dst, &rows, x);
        });
        Ok(())
    }

    /// With `n` rows, `x` the normalised source and `f = scale / sigma`: `diff_src = f (dd - sum(dd) / n - x sum(dd x) / n)`.
    fn backward(&self, on: On<'_, '_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let On { code, simd, ctx } = on;
        let (matrix, width) = (&self.matrix, self.matrix.width);
        let (src, diff_dst, diff_src) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DIFF_DST)?, ctx.buf(Arg::DIFF_SRC)?);
        let [mean, slope] = self.given(ctx, &mut scratch)?;
        let factor = parameters(ctx, &mut scratch, width, Arg::SCALE, (self.flags.use_scale, 1.0))?;
        let constant = scratch.take(width)?.into_slice();
        let (mut tiles, folded) = (scratch.take(self.space)?, scratch.take(self.parts()[5])?);
        let mean = &*mean;
        let folded = tiles.work_on(folded, ctx.executor(), matrix.workers, (self.segments(), 2 * width), &|index, folded, space| {
            let (sums, products) = folded.split_at_mut(width);
            sums.fill(0.0);
            products.fill(0.0);
            let rows = self.segment_rows(index);
            if let Some(pass) = code.first() {
                return pass.run(&[src, diff_dst], rows, &mut [sums, products], &[mean]);
            }
            matrix.each(rows, |rows| {
                let (x, rest) = matrix.read(src, &rows, space);
                let (dd, _) = matrix.read(diff_dst, &rows, rest);
                simd.run(Sum { x: dd, totals: sums });
                simd.run(Products { x, dd, mean, totals: products });
            });
        });
        let (folded, all) = (&*folded.into_slice(), matrix.rows as f32);
        let total = |c: usize| folded.chunks_exact(2 * width).map(|f| f64::from(f[c])).sum::<f64>() as f32;
        let outputs = [(self.learnt[0], Arg::DIFF_SCALE), (self.learnt[1], Arg::DIFF_SHIFT)];
        for c in 0..width {
            let inverse = 1.0 / (slope[c] + self.epsilon).sqrt();
            let (sum, product) = (total(c), total(width + c) * inverse);
            for ((wanted, arg), value) in outputs.into_iter().zip([product, sum]) {
                if wanted {
                    ctx.buf(arg)?.set(c, value);
                }
            }
            factor[c] *= inverse;
            (slope[c], constant[c]) = (-factor[c] * inverse * product / all, -factor[c] * sum / all);
        }
        let (factor, slope, constant) = (&*factor, &*slope, &*constant);
        if let Some(gradient) = code.get(1) {
            self.rows(ctx.executor(), &|rows| gradient.run(&[src, diff_dst, diff_src], rows, &mut [], &[mean, factor, slope, constant]));
            return Ok(());
        }
        matrix.tiles(ctx.executor(), &mut tiles, &|rows, space| {
            let (x, rest) = matrix.read(src, &rows, space);
            let (dd, _) = matrix.read(diff_dst, &rows, rest);
            simd.run(Backward { x, dd, mean, factor, slope, constant });
            matrix.write(diff_src, &rows, dd);
        });
        Ok(())
    }
}

/// What an execution goes through rows with.
#[derive(Clone, Copy)]
struct On<'e, 'a> {
    /// The kernels of the passes in their order; none where there is no generated code.
    code: &'e [Sweep],
    simd: Simd,
    ctx: &'e Ctx<'a>,
}

impl Generated for BatchNorm {
    type Code = Vec<Sweep>;

    fn build(&self) -> Result<Vec<Sweep>, Error> {
        let Some(isa) = self.jit else { return Ok(Vec::new()) };
        let acts: &[Act] = match self.forward {
            true => &[Act::Sum, Act::Squares, Act::Scale { bounded: self.flags.fuse_relu }],
            false => &[Act::Products, Act::Gradient],
        };
        acts.iter().map(|act| Sweep::get(isa, *act, self.matrix.width)).collect()
    }

    fn run(&self, code: &Vec<Sweep>, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let on = On { code, simd, ctx };
        if self.forward { self.forward(on, scratch) } else { self.backward(on, scratch) }
    }
}

/// Adds the rows of `x` to `totals`.
struct Sum<'a> {
    x: &'a [f32],
    totals: &'a mut [f32],
}

impl Body for Sum<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        down(self.totals, self.x, self.x, &self.x[..self.totals.len()], |x, _, _| x);
    }
}

/// Adds the squared deviations of the rows of `x`.
struct Squares<'a> {
    x: &'a [f32],
    mean: &'a [f32],
    totals: &'a mut [f32],
}

impl Body for Squares<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        down(self.totals, self.x, self.x, self.mean, |x, _, m| (x - m) * (x - m));
    }
}

/// Adds the products of deviations and gradients.
struct Products<'a> {
    x: &'a [f32],
    dd: &'a [f32],
    mean: &'a [f32],
    totals: &'a mut [f32],
}

impl Body for Products<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        down(self.totals, self.x, self.dd, self.mean, |x, dd, m| (x - m) * dd);
    }
}

/// `x = (x - mean) * factor + shift`, not below 0 with `relu`.
struct Forward<'a> {
    x: &'a mut [f32],
    mean: &'a [f32],
    factor: &'a [f32],
    shift: &'a [f32],
    relu: bool,
}

impl Body for Forward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Forward { x, mean, factor, shift, relu } = self;
        let low = if relu { 0.0 } else { f32::NEG_INFINITY };
        for row in x.chunks_exact_mut(mean.len()) {
            for (((x, m), f), s) in row.iter_mut().zip(mean).zip(factor).zip(shift) {
                let y = (*x - m) * f + s;
                *x = if y < low { low } else { y };
            }
        }
    }
}

/// `dd = factor * dd + slope * (x - mean) + constant`.
struct Backward<'a> {
    x: &'a [f32],
    dd: &'a mut [f32],
    mean: &'a [f32],
    factor: &'a [f32],
    slope: &'a [f32],
    constant: &'a [f32],
}

impl Body for Backward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Backward { x, dd, mean, factor, slope, constant } = self;
        let n = mean.len();
        let (factor, slope, constant) = (&factor[..n], &slope[..n], &constant[..n]);
        for (x, dd) in x.chunks_exact(n).zip(dd.chunks_exact_mut(n)) {
            for j in 0..n {
                dd[j] = factor[j] * dd[j] + (slope[j] * (x[j] - mean[j]) + constant[j]);
            }
        }
    }
}
