//! Softmax along contiguous rows.

use super::{Matrix, bytes};
use crate::kernels::lanes::fold;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_expr::{Lane, Num};
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::{self, SoftmaxAlg};
use oxidnn_spec::{Arg, Error, Problem};

/// Exponentials that are computed together if they are not stored.
const CHUNK: usize = 512;

/// Softmax, its variants and their gradients.
#[derive(Debug)]
pub struct Softmax {
    matrix: Matrix,
    alg: SoftmaxAlg,
    forward: bool,
    space: usize,
}

impl Softmax {
    /// The kernel with its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for anything but `f32` rows without post-ops.
    pub fn new(op: &op::Softmax, problem: &Problem, workers: usize) -> Result<(Softmax, usize), Skip> {
        let forward = op.prop.is_forward();
        let args: &[Arg] = if forward { &[Arg::SRC, Arg::DST] } else { &[Arg::DST, Arg::DIFF_DST, Arg::DIFF_SRC] };
        let matrix = Matrix::of(problem, op.axis, args, workers)?;
        let space = matrix.space(if forward { 1 } else { 2 })?;
        Ok((Softmax { matrix, alg: op.alg, forward, space }, bytes(&[space])?))
    }
}

impl Kernel for Softmax {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (mut space, dst) = (scratch.take(self.space)?, ctx.buf(Arg::DST)?);
        if self.forward {
            let src = ctx.buf(Arg::SRC)?;
            self.matrix.tiles(ctx.executor(), &mut space, &|rows, space| {
                let (tile, _) = self.matrix.read(src, &rows, space);
                simd.run(Forward(self, tile));
                self.matrix.write(dst, &rows, tile);
            });
        } else {
            let (diff_dst, diff_src) = (ctx.buf(Arg::DIFF_DST)?, ctx.buf(Arg::DIFF_SRC)?);
            self.matrix.tiles(ctx.executor(), &mut space, &|rows, space| {
                let (d, rest) = self.matrix.read(dst, &rows, space);
                let (dd, _) = self.matrix.read(diff_dst, &rows, rest);
                simd.run(Backward(self, d, dd));
                self.matrix.write(diff_src, &rows, dd);
            });
        }
        Ok(())
    }
}

/// Replaces rows by their softmax.
struct Forward<'a>(&'a Softmax, &'a mut [f32]);

impl Body for Forward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Forward(&Softmax { matrix, alg, .. }, tile) = self;
        for row in tile.chunks_exact_mut(matrix.width) {
            let mut largest = fold::<W>([&*row; 2], f32::NEG_INFINITY, |largest, x, _| f32::max(largest, x), f32::max);
            if alg == SoftmaxAlg::InfAsZero {
                // A row of only -inf: with a finite maximum exponentials are 0, and so are quotients.
                largest = largest.max(-f32::MAX);
            }
            if alg == SoftmaxAlg::Log {
                let mut sum = 0.0;
                for piece in row.chunks(CHUNK) {
                    let mut powers = [0.0; CHUNK];
                    let powers = &mut powers[..piece.len()];
                    for (p, x) in powers.iter_mut().zip(piece) {
                        *p = Lane::<FMA>(*x - largest).exp().0;
                    }
                    sum += fold::<W>([powers; 2], 0.0, |sum, x, _| sum + x, |a, b| a + b);
                }
                let sum = Lane::<FMA>(sum).ln().0;
                row.iter_mut().for_each(|x| *x = *x - largest - sum);
            } else {
                row.iter_mut().for_each(|x| *x = Lane::<FMA>(*x - largest).exp().0);
                let sum = fold::<W>([&*row; 2], 0.0, |sum, x, _| sum + x, |a, b| a + b);
                // If all exponentials are zero, so are the quotients.
                let share = if sum == 0.0 { 0.0 } else { 1.0 / sum };
                row.iter_mut().for_each(|x| *x *= share);
            }
        }
    }
}

/// Replaces rows of gradients (the last slice) by those of the source.
struct Backward<'a>(&'a Softmax, &'a [f32], &'a mut [f32]);

impl Body for Backward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Backward(&Softmax { matrix, alg, .. }, d, dd) = self;
        for (d, dd) in d.chunks_exact(matrix.width).zip(dd.chunks_exact_mut(matrix.width)) {
            if alg == SoftmaxAlg::Log {
                let sum = fold::<W>([&*dd; 2], 0.0, |sum, x, _| sum + x, |a, b| a + b);
                dd.iter_mut().zip(d).for_each(|(dd, d)| *dd -= Lane::<FMA>(*d).exp().0 * sum);
            } else {
                let sum = fold::<W>([d, dd], 0.0, |sum, d, dd| sum + d * dd, |a, b| a + b);
                dd.iter_mut().zip(d).for_each(|(dd, d)| *dd = d * (*dd - sum));
            }
        }
    }
}
