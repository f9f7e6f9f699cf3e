//! Layer normalisation of contiguous rows, forward.

use super::lines::across;
use super::{Matrix, bytes, contiguous, parameters, tensor};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::{self, NormFlags};
use oxidnn_spec::{Arg, Error, Problem};

/// Statistics by row, in two passes over the row in the cache; scale and shift by column.
#[derive(Debug)]
pub struct LayerNorm {
    matrix: Matrix,
    flags: NormFlags,
    epsilon: f32,
    /// Whether statistics are arguments: given, or wanted.
    mean: bool,
    variance: bool,
    space: usize,
}

impl LayerNorm {
    /// The kernel with its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for anything but `f32` rows without post-ops, and for backward passes.
    pub fn new(op: &op::LayerNorm, problem: &Problem, workers: usize) -> Result<(LayerNorm, usize), Skip> {
        if !op.prop.is_forward() {
            return Err(Skip::Op("backward passes"));
        }
        let matrix = Matrix::of(problem, op.src.dims().len() - 1, &[Arg::SRC, Arg::DST], workers)?;
        for arg in [(op.flags.use_scale, Arg::SCALE), (op.flags.use_shift, Arg::SHIFT)].into_iter().filter(|a| a.0) {
            matrix.by_column(problem, arg.1)?;
        }
        let (mean, variance) = (op.mean.is_some() && !op.flags.rms, op.variance.is_some());
        for arg in [(mean, Arg::MEAN), (variance, Arg::VARIANCE)].into_iter().filter(|a| a.0) {
            by_row(problem, arg.1)?;
        }
        let space = matrix.space(1)?;
        let kernel = LayerNorm { matrix, flags: op.flags, epsilon: op.epsilon.get(), mean, variance, space };
        Ok((kernel, bytes(&[matrix.width, matrix.width, space])?))
    }
}

/// Checks that the statistic `arg` has a number for each row, in the order of the rows.
fn by_row(problem: &Problem, arg: Arg) -> Result<(), Skip> {
    let (t, src) = (tensor(problem, arg)?, tensor(problem, Arg::SRC)?);
    let ordered = t.blocking().zip(src.blocking()).is_some_and(|(t, s)| {
        let width = src.dims().last().copied().unwrap_or(1);
        (0..t.strides.len()).all(|d| src.dims()[d] == 1 || t.strides[d] * width == s.strides[d])
    });
    if ordered && contiguous(&t) { Ok(()) } else { Err(Skip::Layout(format!("of {arg}"))) }
}

impl Kernel for LayerNorm {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (matrix, flags) = (&self.matrix, self.flags);
        let (src, dst) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?);
        let scale = &*parameters(ctx, &mut scratch, matrix.width, Arg::SCALE, (flags.use_scale, 1.0))?;
        let shift = &*parameters(ctx, &mut scratch, matrix.width, Arg::SHIFT, (flags.use_shift, 0.0))?;
        let mut space = scratch.take(self.space)?;
        let means = if self.mean { Some(ctx.buf(Arg::MEAN)?) } else { None };
        let variances = if self.variance { Some(ctx.buf(Arg::VARIANCE)?) } else { None };
        matrix.tiles(ctx.executor, &mut space, &|rows, space| {
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
                simd.run(Apply { x, scale, shift, mean: stats[0], inverse: 1.0 / (stats[1] + self.epsilon).sqrt() });
            }
            matrix.write(dst, &rows, tile);
        });
        Ok(())
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
        let count = 1.0 / x.len() as f32;
        let mean = if rms { 0.0 } else { across::<W>(x, x, 0.0, |x, _| x, |a, b| a + b) * count };
        [mean, across::<W>(x, x, 0.0, |x, _| (x - mean) * (x - mean), |a, b| a + b) * count]
    }
}

/// `x = (x - mean) * inverse * scale + shift`.
struct Apply<'a> {
    x: &'a mut [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    mean: f32,
    inverse: f32,
}

impl Body for Apply<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Apply { x, scale, shift, mean, inverse } = self;
        for ((x, scale), shift) in x.iter_mut().zip(scale).zip(shift) {
            *x = (*x - mean) * inverse * scale + shift;
        }
    }
}
