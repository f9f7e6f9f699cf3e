//! Layer normalisation of contiguous rows.

use super::{Matrix, bytes, contiguous, parameters, tensor};
use crate::kernels::lanes::fold;
use crate::kernels::multiversion::{Body, Simd, multiversion};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::{self, NormFlags, Prop};
use oxidnn_spec::{Arg, Error, Problem};

/// Fewest rows of a segment.
const MIN_SEGMENT_ROWS: usize = 32;

/// Statistics by row, in two passes over the row in the cache; scale and shift by column. Backward passes fold the gradients of scale and
/// shift by segments of rows, which depend on the sizes alone.
#[derive(Debug)]
pub struct LayerNorm {
    matrix: Matrix,
    flags: NormFlags,
    epsilon: f32,
    forward: bool,
    /// Whether statistics are arguments.
    mean: bool,
    variance: bool,
    /// Whether the gradients of scale and shift are wanted.
    learnt: [bool; 2],
    /// Rows of a segment.
    segment: usize,
    space: usize,
}

impl LayerNorm {
    /// The kernel with its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for anything but `f32` rows without post-ops, and for gradients with constant statistics.
    pub fn new(op: &op::LayerNorm, problem: &Problem, workers: usize) -> Result<(LayerNorm, usize), Skip> {
        let (forward, flags) = (op.prop.is_forward(), op.flags);
        if !forward && flags.use_global_stats {
            return Err(Skip::Op("gradients with constant statistics"));
        }
        let args: &[Arg] = if forward { &[Arg::SRC, Arg::DST] } else { &[Arg::SRC, Arg::DIFF_DST, Arg::DIFF_SRC] };
        let matrix = Matrix::of(problem, op.src.dims().len() - 1, args, workers)?;
        let all = op.prop == Prop::Backward;
        let learnt = [all && op.diff_scale.is_some(), all && op.diff_shift.is_some()];
        let by_column = [
            (flags.use_scale, Arg::SCALE),
            (forward && flags.use_shift, Arg::SHIFT),
            (learnt[0], Arg::DIFF_SCALE),
            (learnt[1], Arg::DIFF_SHIFT),
        ];
        for (_, arg) in by_column.into_iter().filter(|a| a.0) {
            matrix.by_column(problem, arg)?;
        }
        let (mean, variance) = (op.mean.is_some() && !flags.rms, op.variance.is_some());
        for (_, arg) in [(mean, Arg::MEAN), (variance, Arg::VARIANCE)].into_iter().filter(|a| a.0) {
            by_row(problem, arg)?;
        }
        let segment = (GRAIN as usize / matrix.width).max(MIN_SEGMENT_ROWS).min(matrix.rows);
        let space = matrix.space(if forward { 1 } else { 4 })?;
        let kernel = LayerNorm { matrix, flags, epsilon: op.epsilon.get(), forward, mean, variance, learnt, segment, space };
        let width = kernel.matrix.width;
        let scratch = bytes(&[width, width, space, kernel.folded()])?;
        Ok((kernel, scratch))
    }

    /// Elements of scratch for the sums of segments in backward passes.
    fn folded(&self) -> usize {
        if self.forward { 0 } else { 2 * self.matrix.width * self.matrix.rows.div_ceil(self.segment) }
    }
}

/// Refuses a statistic `arg` that is not one contiguous number for each row.
fn by_row(problem: &Problem, arg: Arg) -> Result<(), Skip> {
    let (t, src) = (tensor(problem, arg)?, tensor(problem, Arg::SRC)?);
    let ordered = t.blocking().zip(src.blocking()).is_some_and(|(t, s)| {
        let width = src.dims().last().copied().unwrap_or(1);
        (0..t.strides.len()).all(|d| src.dims()[d] == 1 || t.strides[d] * width == s.strides[d])
    });
    if ordered && contiguous(&t) { Ok(()) } else { Err(Skip::Layout(format!("of {arg}"))) }
}

impl LayerNorm {
    fn forward(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (matrix, flags) = (&self.matrix, self.flags);
        let (src, dst) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?);
        let scale = &*parameters(ctx, &mut scratch, matrix.width, Arg::SCALE, (flags.use_scale, 1.0))?;
        let shift = &*parameters(ctx, &mut scratch, matrix.width, Arg::SHIFT, (flags.use_shift, 0.0))?;
        let mut space = scratch.take(self.space)?;
        let means = if self.mean { Some(ctx.buf(Arg::MEAN)?) } else { None };
        let variances = if self.variance { Some(ctx.buf(Arg::VARIANCE)?) } else { None };
        matrix.tiles(ctx.executor(), &mut space, &|rows, space| {
            let (tile, _) = matrix.read(src, &rows, space);
            for (row, x) in rows.clone().zip(tile.chunks_exact_mut(matrix.width)) {
                let stats = match (flags.use_global_stats, variances) {
                    (true, Some(v)) => [means.map_or(0.0, |m| m.get(row)), v.get(row)],
                    _ => simd.run(Statistics { x, rms: flags.rms }),
                };
                if !flags.use_global_stats {
                    means.inspect(|m| m.set(row, stats[0]));
                    variances.inspect(|v| v.set(row, stats[1]));
                }
                apply(simd, x, scale, shift, stats[0], 1.0 / (stats[1] + self.epsilon).sqrt());
            }
            matrix.write(dst, &rows, tile);
        });
        Ok(())
    }
}

impl LayerNorm {
    /// With `n` columns, `x` the normalised source and `g = scale dd`: `diff_src = (g - sum(g) / n - x sum(g x) / n) / sigma`, without the
    /// first mean for RMS.
    fn backward(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (matrix, width, rms) = (&self.matrix, self.matrix.width, self.flags.rms);
        let (src, diff_dst, diff_src) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DIFF_DST)?, ctx.buf(Arg::DIFF_SRC)?);
        let scale = &*parameters(ctx, &mut scratch, width, Arg::SCALE, (self.flags.use_scale, 1.0))?;
        let result = scratch.take(width)?.into_slice();
        let (mut tiles, folded) = (scratch.take(self.space)?, scratch.take(self.folded())?);
        let means = if self.mean { Some(ctx.buf(Arg::MEAN)?) } else { None };
        let variances = ctx.buf(Arg::VARIANCE)?;
        let segments = matrix.rows.div_ceil(self.segment);
        let floats = [Arg::SRC, Arg::DIFF_DST].map(|arg| ctx.input::<f32>(arg));
        let folded = tiles.work_on(folded, ctx.executor(), matrix.workers, (segments, 2 * width), &|index, folded, space| {
            folded.fill(0.0);
            matrix.each(index * self.segment..((index + 1) * self.segment).min(matrix.rows), |rows| {
                let (normal, rest) = space.split_at_mut(rows.len() * width);
                let (result, rest) = rest.split_at_mut(rows.len() * width);
                let (first, second) = rest.split_at_mut(rows.len() * width);
                let (x, dd) = (matrix.lend((floats[0], src), &rows, first), matrix.lend((floats[1], diff_dst), &rows, second));
                let outputs = normal.chunks_exact_mut(width).zip(result.chunks_exact_mut(width));
                for (((row, x), dd), (normal, result)) in rows.clone().zip(x.chunks_exact(width)).zip(dd.chunks_exact(width)).zip(outputs) {
                    let (mean, variance): (f32, f32) = (means.map_or(0.0, |m| m.get(row)), variances.get(row));
                    let inverse = 1.0 / (variance + self.epsilon).sqrt();
                    simd.run(Gradient { x, dd, normal, result, scale, folded, mean, inverse, rms });
                }
                matrix.write(diff_src, &rows, result);
            });
        });
        let folded = &*folded.into_slice();
        for (i, arg) in [Arg::DIFF_SCALE, Arg::DIFF_SHIFT].into_iter().enumerate().filter(|(i, _)| self.learnt[*i]) {
            for (c, r) in result.iter_mut().enumerate() {
                *r = folded.chunks_exact(2 * width).map(|f| f64::from(f[i * width + c])).sum::<f64>() as f32;
            }
            ctx.buf(arg)?.write(0, result);
        }
        Ok(())
    }
}

impl Kernel for LayerNorm {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        if self.forward { self.forward(simd, ctx, scratch) } else { self.backward(simd, ctx, scratch) }
    }
}

/// Mean and variance of a row; the mean is 0 for RMS.
struct Statistics<'a> {
    x: &'a [f32],
    rms: bool,
}

impl Body for Statistics<'_> {
    type Out = [f32; 2];
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) -> [f32; 2] {
        let Statistics { x, rms } = self;
        let count = x.len() as f32;
        let mean = if rms { 0.0 } else { fold::<W>([x; 2], 0.0, |sum, x, _| sum + x, |a, b| a + b) / count };
        [mean, fold::<W>([x; 2], 0.0, |sum, x, _| sum + (x - mean) * (x - mean), |a, b| a + b) / count]
    }
}

multiversion! {
    /// `x = (x - mean) * inverse * scale + shift`.
    fn apply(x: &mut [f32], scale: &[f32], shift: &[f32], mean: f32, inverse: f32) {
        for ((x, scale), shift) in x.iter_mut().zip(scale).zip(shift) {
            *x = (*x - mean) * inverse * scale + shift;
        }
    }
}

/// Computes a row of gradients of the source, and on the way normalised values; adds to the gradients of scale and shift in `folded`.
struct Gradient<'a> {
    x: &'a [f32],
    dd: &'a [f32],
    normal: &'a mut [f32],
    result: &'a mut [f32],
    scale: &'a [f32],
    folded: &'a mut [f32],
    mean: f32,
    inverse: f32,
    rms: bool,
}

impl Body for Gradient<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Gradient { x, dd, normal, result, scale, folded, mean, inverse, rms } = self;
        let n = x.len();
        let (products, sums) = folded.split_at_mut(n);
        let (dd, normal, result, scale, sums) = (&dd[..n], &mut normal[..n], &mut result[..n], &scale[..n], &mut sums[..n]);
        for i in 0..n {
            let normalised = (x[i] - mean) * inverse;
            normal[i] = normalised;
            products[i] += dd[i] * normalised;
            sums[i] += dd[i];
            result[i] = dd[i] * scale[i];
        }
        let share = 1.0 / n as f32;
        let first = if rms { 0.0 } else { fold::<W>([&*result; 2], 0.0, |sum, g, _| sum + g, |a, b| a + b) * share };
        let second = fold::<W>([result, normal], 0.0, |sum, g, x| sum + g * x, |a, b| a + b) * share;
        result.iter_mut().zip(normal).for_each(|(g, x)| *g = (*g - first - *x * second) * inverse);
    }
}
