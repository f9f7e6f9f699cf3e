//! The softmax of rows that arrive block by block: a running maximum, a running sum, and results that are rescaled when the maximum grows.
//!
//! This is online softmax (Milakov and Gimelshein 2018, arXiv 1805.02867) as FlashAttention uses it (Dao et al. 2022, arXiv 2205.14135; Dao
//! 2023, arXiv 2307.08691). The state of a row is the largest score `m`, `l = sum e^(s - m)` and `o = sum e^(s - m) v`. A block with a
//! larger score multiplies `l` and `o` by `e^(m - m')`; in the end the result is `o / l`. Scores are multiplied by their scale times the
//! binary logarithm of e, so that exponentials are powers of two.

use crate::kernels::lanes::fold;
use crate::kernels::multiversion::{Body, multiversion};
use crate::kernels::online::{Call, Online};
use bytemuck::{Pod, Zeroable};
use oxidnn_expr::functions::exp2;
use oxidnn_expr::{Lane, Num};
use std::f32::consts::LN_2;

/// The softmax state of a row.
#[derive(Clone, Copy, Pod, Zeroable, Debug)]
#[repr(C)]
pub(super) struct Row {
    /// The largest scaled score so far, or one that no score exceeds by much.
    pub(super) largest: f32,
    /// The sum of powers of two of the scaled scores minus `largest`.
    pub(super) sum: f32,
}

impl Row {
    /// Before the first key.
    pub(super) const NONE: Row = Row { largest: f32::NEG_INFINITY, sum: 0.0 };

    /// What is subtracted from scores: the largest, or 0 while all are minus infinity, so that exponentials are 0 and not NaN.
    #[inline(always)]
    pub(super) fn reference(self) -> f32 {
        if self.largest == f32::NEG_INFINITY { 0.0 } else { self.largest }
    }

    /// The natural logarithm of the sum of exponentials; minus infinity if all keys are masked out.
    pub(super) fn logsumexp(self) -> f32 {
        if self.sum == 0.0 { f32::NEG_INFINITY } else { self.largest * LN_2 + self.sum.ln() }
    }

    /// The final factor of the result; 0 if all keys are masked out.
    #[inline(always)]
    pub(super) fn inverse_sum(self) -> f32 {
        if self.sum == 0.0 { 0.0 } else { 1.0 / self.sum }
    }
}

/// Replaces the scores of a block by probabilities, for rows whose log-sum-exp is known.
pub(super) struct Probabilities<'a, F> {
    /// Scores, row by row, in whole vectors.
    pub(super) scores: &'a mut [f32],
    /// Stride of the rows of scores.
    pub(super) step: usize,
    /// Columns of the block; the rest of the last vector becomes 0.
    pub(super) columns: usize,
    /// How many of a row's columns are not masked out.
    pub(super) visible: F,
    /// One for each row.
    pub(super) logsumexp: &'a [f32],
}

impl<F: Fn(usize) -> usize> Body for Probabilities<'_, F> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Probabilities { scores, step, columns, visible, logsumexp } = self;
        let whole = columns.next_multiple_of(W);
        for (i, (scores, logsumexp)) in scores.chunks_mut(step).zip(logsumexp).enumerate() {
            let scores = &mut scores[..whole];
            scores[visible(i)..].fill(f32::NEG_INFINITY);
            let reference = Row { largest: *logsumexp, sum: 0.0 }.reference();
            scores.iter_mut().for_each(|s| *s = Lane::<FMA>(*s - reference).exp().0);
        }
    }
}

multiversion! {
    /// Replaces gradients of probabilities, in rows of `columns` elements `step` apart, by gradients of scores: `s = p (d - delta)`, where
    /// `delta` is the dot product of a row's result and its gradient.
    pub(super) fn score_gradients(probabilities: &[f32], diffs: &mut [f32], step: usize, columns: usize, delta: &[f32]) {
        for ((probabilities, diffs), delta) in probabilities.chunks(step).zip(diffs.chunks_mut(step)).zip(delta) {
            for (diff, p) in diffs[..columns].iter_mut().zip(&probabilities[..columns]) {
                *diff = if *p == 0.0 { 0.0 } else { *p * (*diff - delta) };
            }
        }
    }
}

/// Replaces the scores of a block by exponentials and updates the rows' states.
pub(super) struct OnlineSoftmax<'a, F> {
    /// Scores, row by row, in whole vectors.
    pub(super) scores: &'a mut [f32],
    /// Stride of the rows of scores.
    pub(super) step: usize,
    /// Columns of the block; the rest of the last vector becomes 0.
    pub(super) columns: usize,
    /// How many of a row's columns are not masked out.
    pub(super) visible: F,
    /// The factor of scores: the scale times the binary logarithm of e, positive and finite.
    pub(super) factor: f32,
    /// The rows.
    pub(super) rows: &'a mut [Row],
    /// The accumulated results, row by row, which are rescaled.
    pub(super) results: &'a mut [f32],
    /// Stride of the rows of results.
    pub(super) results_step: usize,
    /// Whether there are results.
    pub(super) has_results: bool,
}

impl<F: Fn(usize) -> usize> OnlineSoftmax<'_, F> {
    /// Runs generated code for vectors of `lanes` lanes.
    pub(super) fn generated(self, online: &Online, lanes: usize) {
        let OnlineSoftmax { scores, step, columns, visible, factor, rows, results, results_step, has_results } = self;
        let whole = columns.next_multiple_of(lanes);
        for (i, scores) in scores.chunks_mut(step).enumerate().take(rows.len()) {
            let seen = visible(i);
            if seen < whole {
                scores[seen..whole].fill(f32::NEG_INFINITY);
            }
        }
        let states = bytemuck::cast_slice_mut(rows);
        let results_columns = if has_results { results_step } else { 0 };
        online.run(Call { scores, step, columns: whole, factor, states, results, results_step, results_columns });
    }
}

impl<F: Fn(usize) -> usize> Body for OnlineSoftmax<'_, F> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let OnlineSoftmax { scores, step, columns, visible, factor, rows, results, results_step, .. } = self;
        let whole = columns.next_multiple_of(W);
        let fma = |a: f32, b: f32, c: f32| if FMA { a.mul_add(b, c) } else { a * b + c };
        // If a score is NaN, so will be the sum.
        let larger = |a, b| if b > a { b } else { a };
        for (i, row) in rows.iter_mut().enumerate() {
            let scores = &mut scores[i * step..][..whole];
            scores[visible(i)..].fill(f32::NEG_INFINITY);
            let largest = fold::<W>([scores, scores], f32::NEG_INFINITY, |a, b, _| larger(a, b), larger) * factor;
            let largest = if largest > row.largest { largest } else { row.largest };
            let next = Row { largest, ..*row };
            let reference = next.reference();
            scores.iter_mut().for_each(|s| *s = exp2(Lane::<FMA>(fma(*s, factor, -reference))).0);
            let sum = fold::<W>([scores, scores], 0.0, |sum, x, _| sum + x, |a, b| a + b);
            if row.largest == largest {
                row.sum += sum;
                continue;
            }
            let factor = exp2(Lane::<FMA>(row.largest - reference)).0;
            *row = Row { largest, sum: row.sum * factor + sum };
            results[i * results_step..][..results_step].iter_mut().for_each(|x| *x *= factor);
        }
    }
}
