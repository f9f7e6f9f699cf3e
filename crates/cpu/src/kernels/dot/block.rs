//! A block of rows and columns, tile by tile.

use super::tile::{ColumnTile, Operands, RowTile, Tap, max_rows};
use crate::kernels::multiversion::Simd;

/// Where the rows of `A` are.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// Row `i` at K index `k` is `a[tap.a + list[i] + k]`.
    At(&'a [usize]),
    /// Row `i` at K index `k` is `a[tap.a + i + k * step]`; panels of `B` must be two vectors wide.
    Columns {
        /// Number of rows.
        count: usize,
        /// Stride of K.
        step: usize,
    },
}

impl Rows<'_> {
    /// Number of rows.
    pub fn count(&self) -> usize {
        match self {
            Rows::At(list) => list.len(),
            Rows::Columns { count, .. } => *count,
        }
    }
}

/// Operands of a block: `c[i][j] += sum over taps and k < depth of A(i, tap, k) * b[tap.b + j / width * panel + k * b_step + j % width]`.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Elements of `A`.
    pub a: &'a [f32],
    /// Its rows.
    pub rows: Rows<'a>,
    /// Elements of `B`, in panels.
    pub b: &'a [f32],
    /// Columns of a panel (see [`super::panel_width`]): one vector or two.
    pub width: usize,
    /// Stride of rows of `B`.
    pub b_step: usize,
    /// Stride of panels.
    pub panel: usize,
    /// Number of columns; the last panel is computed whole.
    pub columns: usize,
    /// Parts of the reduction.
    pub taps: &'a [Tap],
    /// Length of each part.
    pub depth: usize,
}

/// Adds the block's products to `c`, whose rows are `c_step` apart, at least the columns rounded up to whole panels.
///
/// # Panics
/// If an operand is shorter than the block needs.
pub fn accumulate(simd: Simd, block: &Block<'_>, c: &mut [f32], c_step: usize) {
    let lanes = simd.isa().lanes();
    let m = block.rows.count();
    let tiles = m.div_ceil(max_rows(simd.isa()));
    for p in 0..block.columns.div_ceil(block.width) {
        let left = block.columns - p * block.width;
        let on = Operands { a: block.a, b: &block.b[p * block.panel..], b_step: block.b_step, taps: block.taps, depth: block.depth };
        let narrow = left <= lanes;
        let mut first = 0;
        for t in 0..tiles {
            let end = (t + 1) * m / tiles;
            let c = &mut c[first * c_step + p * block.width..];
            match block.rows {
                Rows::At(list) => rows(simd, on, &list[first..end], c, c_step, narrow),
                Rows::Columns { step, .. } => columns(simd, on, (first, end - first, step), c, c_step),
            }
            first = end;
        }
    }
}

/// Calls `$f::<rows>` for a run-time number of rows.
macro_rules! by_rows {
    ($count:expr, $f:ident($($arg:expr),*)) => {
        match $count {
            1 => $f::<1>($($arg),*),
            2 => $f::<2>($($arg),*),
            3 => $f::<3>($($arg),*),
            4 => $f::<4>($($arg),*),
            5 => $f::<5>($($arg),*),
            6 => $f::<6>($($arg),*),
            7 => $f::<7>($($arg),*),
            8 => $f::<8>($($arg),*),
            9 => $f::<9>($($arg),*),
            10 => $f::<10>($($arg),*),
            11 => $f::<11>($($arg),*),
            _ => $f::<12>($($arg),*),
        }
    };
}

fn rows(simd: Simd, on: Operands<'_>, rows: &[usize], c: &mut [f32], c_step: usize, narrow: bool) {
    #[inline(always)]
    fn go<const MR: usize>(simd: Simd, on: Operands<'_>, rows: &[usize], c: &mut [f32], c_step: usize, narrow: bool) {
        if narrow {
            simd.run(RowTile::<'_, '_, MR, 1> { on, rows, c, c_step });
        } else {
            simd.run(RowTile::<'_, '_, MR, 2> { on, rows, c, c_step });
        }
    }
    by_rows!(rows.len(), go(simd, on, rows, c, c_step, narrow));
}

fn columns(simd: Simd, on: Operands<'_>, (first, count, step): (usize, usize, usize), c: &mut [f32], c_step: usize) {
    #[inline(always)]
    fn go<const MR: usize>(simd: Simd, on: Operands<'_>, (first, step): (usize, usize), c: &mut [f32], c_step: usize) {
        simd.run(ColumnTile::<'_, '_, MR> { on, first, step, c, c_step });
    }
    by_rows!(count, go(simd, on, (first, step), c, c_step));
}
