//! Folds: many elements are reduced to one for each kept position.

use super::CHUNK;
use crate::kernels::multiversion::{Body, Simd, multiversion};

/// How two numbers are combined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FoldOp {
    /// Their sum.
    Sum,
    /// Their product.
    Mul,
    /// The larger; the other one if one is NaN.
    Max,
    /// The smaller; the other one if one is NaN.
    Min,
}

/// The totals so far, one for each kept position. A register is folded in `f32`, registers are combined in `f64`.
pub(super) type Totals = [f64; CHUNK];

impl FoldOp {
    /// The neutral element.
    pub(super) fn neutral(self) -> f64 {
        match self {
            FoldOp::Sum => 0.0,
            FoldOp::Mul => 1.0,
            FoldOp::Max => f64::NEG_INFINITY,
            FoldOp::Min => f64::INFINITY,
        }
    }

    pub(super) fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            FoldOp::Sum => a + b,
            FoldOp::Mul => a * b,
            FoldOp::Max => a.max(b),
            FoldOp::Min => a.min(b),
        }
    }
}

/// Folds each row of `x`.
struct Rows<'a> {
    op: FoldOp,
    x: &'a [f32],
    run: usize,
    totals: &'a mut Totals,
}

/// Independent accumulators, to hide latency.
const ACCUMULATORS: usize = 4;

/// Folds `x` in vectors of `W` lanes.
#[inline(always)]
fn row<const W: usize>(x: &[f32], neutral: f32, f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut totals = [[neutral; W]; ACCUMULATORS];
    let fold = |total: &mut [f32; W], piece: &[f32]| {
        let mut vector = [neutral; W];
        vector[..piece.len()].copy_from_slice(piece);
        *total = std::array::from_fn(|j| f(total[j], vector[j]));
    };
    let mut pieces = x.chunks_exact(ACCUMULATORS * W);
    for piece in &mut pieces {
        for (k, total) in totals.iter_mut().enumerate() {
            fold(total, &piece[k * W..][..W]);
        }
    }
    for (piece, total) in pieces.remainder().chunks(W).zip(&mut totals) {
        fold(total, piece);
    }
    let [a, b, c, d] = totals;
    let mut lanes: [f32; W] = std::array::from_fn(|j| f(f(a[j], b[j]), f(c[j], d[j])));
    let mut n = W;
    while n > 1 {
        n /= 2;
        let (low, high) = lanes.split_at_mut(n);
        for (l, h) in low.iter_mut().zip(high) {
            *l = f(*l, *h);
        }
    }
    lanes[0]
}

impl Body for Rows<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Rows { op, x, run, totals } = self;
        for (total, x) in totals.iter_mut().zip(x.chunks_exact(run)) {
            let part = match op {
                FoldOp::Sum => row::<W>(x, 0.0, |a, b| a + b),
                FoldOp::Mul => row::<W>(x, 1.0, |a, b| a * b),
                FoldOp::Max => row::<W>(x, f32::NEG_INFINITY, f32::max),
                FoldOp::Min => row::<W>(x, f32::INFINITY, f32::min),
            };
            *total = op.apply(*total, f64::from(part));
        }
    }
}

#[inline(always)]
fn down(x: &mut [f32], run: usize, f: impl Fn(f32, f32) -> f32) {
    let (first, rest) = x.split_at_mut(run);
    for row in rest.chunks_exact(run) {
        for (a, b) in first.iter_mut().zip(row) {
            *a = f(*a, *b);
        }
    }
}

/// Folds the rows of `x`, each of `run` elements, into one total each.
pub(super) fn rows(simd: Simd, op: FoldOp, x: &[f32], run: usize, totals: &mut Totals) {
    simd.run(Rows { op, x, run, totals });
}

multiversion! {
    /// Folds the columns of `x`, in rows of `run` elements, into one total each; overwrites `x`.
    pub(super) fn columns(op: FoldOp, x: &mut [f32], run: usize, totals: &mut Totals) {
        match op {
            FoldOp::Sum => down(x, run, |a, b| a + b),
            FoldOp::Mul => down(x, run, |a, b| a * b),
            FoldOp::Max => down(x, run, f32::max),
            FoldOp::Min => down(x, run, f32::min),
        }
        for (total, v) in totals.iter_mut().zip(&x[..run]) {
            *total = op.apply(*total, f64::from(*v));
        }
    }
}
