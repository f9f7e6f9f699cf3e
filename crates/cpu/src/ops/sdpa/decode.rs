//! Products of a few rows with a matrix that is read once, in place, line by line: the products of decoding, bound by memory bandwidth.

use super::products::{Left, Sums};
use crate::kernels::lanes::fold;
use crate::kernels::multiversion::{Body, Simd, multiversion};

/// Most rows: packing panels costs about as much as the products of this many.
pub(super) const MAX_ROWS: usize = 8;
/// Lines that are added at a time.
const UNROLL_LINES: usize = 4;
/// Elements of the lines that are multiplied with all rows before the next ones: they stay in L1.
const L1_ELEMENTS: usize = 4096;

/// A matrix in lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a> {
    /// The elements.
    pub(super) numbers: &'a [f32],
    /// Stride of lines.
    pub(super) step: usize,
    /// Whether a line is a column over all of K, and not a step of K over all columns.
    pub(super) of_columns: bool,
    /// Whether steps of K with a 0 in the left operand contribute nothing whatever the line holds. Lines are steps of K then.
    pub(super) weighed: bool,
}

/// Computes `left` times `columns` columns of the matrix.
pub(super) fn product(simd: Simd, left: &Left<'_>, right: &Lines<'_>, [depth, columns]: [usize; 2], sums: Sums<'_>) {
    let Sums { numbers, step, add } = sums;
    if !add {
        numbers.chunks_mut(step).take(left.rows).for_each(|row| row[..columns].fill(0.0));
    }
    // A few lines are multiplied with all rows while they are in L1.
    let (lines, len) = if right.of_columns { (columns, depth) } else { (depth, columns) };
    let few = (L1_ELEMENTS / len.max(1)).next_multiple_of(UNROLL_LINES).max(UNROLL_LINES);
    for first in (0..lines).step_by(few) {
        let count = few.min(lines - first);
        let right = Lines { numbers: &right.numbers[first * right.step..], ..*right };
        for (row, to) in left.numbers.chunks(left.step).zip(numbers.chunks_mut(step)).take(left.rows) {
            if right.of_columns {
                simd.run(Columns { row: &row[..depth], right, to: &mut to[first..first + count] });
            } else {
                depths(simd, &row[first..first + count], right, &mut to[..columns]);
            }
        }
    }
}

/// Dot products of a row with lines that are columns.
struct Columns<'a> {
    row: &'a [f32],
    right: Lines<'a>,
    to: &'a mut [f32],
}

impl Body for Columns<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Columns { row, right, to } = self;
        let fma = |sum: f32, a: f32, b: f32| if FMA { a.mul_add(b, sum) } else { a * b + sum };
        for (i, to) in to.iter_mut().enumerate() {
            let line = &right.numbers[i * right.step..][..row.len()];
            *to += fold::<W>([row, line], 0.0, fma, |a, b| a + b);
        }
    }
}

multiversion! {
    /// Adds multiples of lines that are steps of K.
    fn depths(row: &[f32], right: Lines<'_>, to: &mut [f32]) {
        let (fours, rest) = row.as_chunks::<UNROLL_LINES>();
        for (i, weights) in fours.iter().enumerate() {
            if right.weighed && weights.contains(&0.0) {
                for (k, weight) in weights.iter().enumerate().filter(|w| *w.1 != 0.0) {
                    add(to, *weight, &right.numbers[(i * UNROLL_LINES + k) * right.step..]);
                }
                continue;
            }
            let [a, b, c, d] = std::array::from_fn(|k| &right.numbers[(i * UNROLL_LINES + k) * right.step..][..to.len()]);
            let [wa, wb, wc, wd] = *weights;
            for j in 0..to.len() {
                to[j] += (wa * a[j] + wb * b[j]) + (wc * c[j] + wd * d[j]);
            }
        }
        for (k, weight) in rest.iter().enumerate().filter(|w| !right.weighed || *w.1 != 0.0) {
            add(to, *weight, &right.numbers[(fours.len() * UNROLL_LINES + k) * right.step..]);
        }
    }
}

/// Adds a multiple of a line.
#[inline(always)]
fn add(to: &mut [f32], weight: f32, line: &[f32]) {
    to.iter_mut().zip(line).for_each(|(x, y)| *x += weight * y);
}
