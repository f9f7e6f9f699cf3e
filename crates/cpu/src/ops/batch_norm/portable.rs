//! The passes of [`columns`](super::columns) over a matrix of f32, in portable code.

use crate::kernels::columns::{Act, Bound};
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_runtime::Buf;
use std::ops::Range;

/// Elements of the rows that are processed at a time: they stay in L1 between operations.
const L1_ELEMENTS: usize = 2048;
/// Rows that are added up before their sum is added to the total.
const ROWS_PER_PARTIAL_SUM: usize = 4;

/// The operation on some rows of matrices with `columns` columns: the sources, then the result.
pub(super) struct Rows {
    pub(super) simd: Simd,
    pub(super) act: Act,
    pub(super) rows: Range<usize>,
    pub(super) width: usize,
}

impl Rows {
    /// Runs it with `sums` and `numbers` by column.
    pub(super) fn run(self, bufs: &[Buf], sums: &mut [&mut [f32]], numbers: &[&[f32]]) {
        let Rows { simd, act, rows, width } = self;
        let each = (L1_ELEMENTS / width).max(1);
        let (mut all_x, mut all_d) = ([0.0; L1_ELEMENTS], [0.0; L1_ELEMENTS]);
        for first in (0..width).step_by(L1_ELEMENTS) {
            let columns = first..width.min(first + L1_ELEMENTS);
            for start in rows.clone().step_by(each) {
                let (at, len) = (start * width + first, each.min(rows.end - start) * columns.len());
                let (x, d) = (&mut all_x[..len], &mut all_d[..len]);
                bufs[0].read(at, x);
                if matches!(act, Act::Products { .. } | Act::Gradient { .. }) {
                    bufs[1].read(at, d);
                }
                simd.run(Piece { act, columns: columns.clone(), x: &mut *x, d: &mut *d, sums: &mut *sums, numbers });
                match act {
                    Act::Scale(_) => bufs[1].write(at, x),
                    Act::Gradient { .. } => bufs[2].write(at, d),
                    _ => {}
                }
            }
        }
    }
}

/// Whole rows of some columns; results replace a source.
struct Piece<'p, 's> {
    act: Act,
    columns: Range<usize>,
    x: &'p mut [f32],
    d: &'p mut [f32],
    sums: &'p mut [&'s mut [f32]],
    numbers: &'p [&'p [f32]],
}

impl Body for Piece<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Piece { act, columns, x, d, sums, numbers } = self;
        let n = columns.len();
        let number = |i: usize| &numbers[i][columns.clone()];
        match act {
            Act::Sum => down(&mut sums[0][columns.clone()], (x, x), x, |x, _, _| x),
            Act::Moments => {
                down(&mut sums[0][columns.clone()], (x, x), number(0), |x, _, c| x - c);
                down(&mut sums[1][columns.clone()], (x, x), number(0), |x, _, c| (x - c) * (x - c));
            }
            Act::Products { .. } => {
                down(&mut sums[0][columns.clone()], (x, d), number(0), |_, d, _| d);
                down(&mut sums[1][columns.clone()], (x, d), number(0), |x, d, m| (x - m) * d);
            }
            Act::Scale(bound) => {
                let low = if bound == Bound::None { f32::NEG_INFINITY } else { 0.0 };
                let [mean, factor, shift] = [0, 1, 2].map(number);
                for x in x.chunks_exact_mut(n) {
                    for (((x, m), f), s) in x.iter_mut().zip(mean).zip(factor).zip(shift) {
                        let y = (*x - m) * f + s;
                        *x = if y < low { low } else { y };
                    }
                }
            }
            Act::Gradient { .. } => {
                let [mean, factor, slope, constant] = [0, 1, 2, 3].map(number);
                for (x, d) in x.chunks_exact(n).zip(d.chunks_exact_mut(n)) {
                    for j in 0..n {
                        d[j] = factor[j] * d[j] + (slope[j] * (x[j] - mean[j]) + constant[j]);
                    }
                }
            }
        }
    }
}

/// Adds `map(x, y, number)` to the sums of columns, for every row.
#[inline(always)]
fn down(sums: &mut [f32], (x, y): (&[f32], &[f32]), numbers: &[f32], map: impl Fn(f32, f32, f32) -> f32) {
    let n = sums.len();
    let (numbers, many) = (&numbers[..n], x.len() / (ROWS_PER_PARTIAL_SUM * n) * ROWS_PER_PARTIAL_SUM * n);
    for (x, y) in x[..many].chunks_exact(ROWS_PER_PARTIAL_SUM * n).zip(y[..many].chunks_exact(ROWS_PER_PARTIAL_SUM * n)) {
        let [x0, x1, x2, x3]: [&[f32]; ROWS_PER_PARTIAL_SUM] = std::array::from_fn(|k| &x[k * n..][..n]);
        let [y0, y1, y2, y3]: [&[f32]; ROWS_PER_PARTIAL_SUM] = std::array::from_fn(|k| &y[k * n..][..n]);
        for j in 0..n {
            let (a, b) = (map(x0[j], y0[j], numbers[j]), map(x1[j], y1[j], numbers[j]));
            let (c, d) = (map(x2[j], y2[j], numbers[j]), map(x3[j], y3[j], numbers[j]));
            sums[j] += (a + b) + (c + d);
        }
    }
    for (x, y) in x[many..].chunks_exact(n).zip(y[many..].chunks_exact(n)) {
        for j in 0..n {
            sums[j] += map(x[j], y[j], numbers[j]);
        }
    }
}
