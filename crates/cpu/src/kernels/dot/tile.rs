//! The portable register-blocked kernel: a tile of up to 12 rows by two vectors of columns stays in registers over the whole reduction.
//!
//! `A` is read in place, element by element (a broadcast operand of the multiply-add); `B` is in panels, with a row of as many columns as
//! the tile for every K index. The reduction is a list of [`Tap`]s of equal depth, so that windows, dilation and image rows are addresses
//! and not copies.

use crate::kernels::lanes::Lanes;
use crate::kernels::multiversion::Body;
use crate::target::Isa;

/// The largest number of rows of a tile.
pub const MAX_ROWS: usize = 12;

/// Rows of the tallest tile whose accumulators fit the registers.
pub(super) const fn max_rows(isa: Isa) -> usize {
    match isa {
        Isa::Avx512 => MAX_ROWS,
        Isa::Avx2 => 6,
        Isa::Baseline => 5,
    }
}

/// Columns of a panel of packed `B`: two vectors, or one if that holds all `columns`.
pub fn panel_width(isa: Isa, columns: usize) -> usize {
    if columns <= isa.lanes() { isa.lanes() } else { 2 * isa.lanes() }
}

/// One part of a reduction: its offsets in `A` and in `B`, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tap {
    /// Added to the offset of every row of `A`.
    pub a: usize,
    /// Added to the offset of the panel of `B`.
    pub b: usize,
}

/// Operands of one tile.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    pub(super) a: &'a [f32],
    pub(super) b: &'a [f32],
    /// Stride of rows of `B`.
    pub(super) b_step: usize,
    pub(super) taps: &'a [Tap],
    /// Depth of every tap.
    pub(super) depth: usize,
}

/// A tile whose row `i` at K index `k` is `a[tap.a + rows[i] + k]`.
pub(super) struct RowTile<'a, 'c, const MR: usize, const NV: usize> {
    pub(super) on: Operands<'a>,
    pub(super) rows: &'a [usize],
    pub(super) c: &'c mut [f32],
    pub(super) c_step: usize,
}

/// A tile of two vectors of columns whose row `i` at K index `k` is `a[tap.a + first + i + k * step]`. (One vector is not offered: the
/// compiler would vectorise along the rows, which are contiguous here, and spill.)
pub(super) struct ColumnTile<'a, 'c, const MR: usize> {
    pub(super) on: Operands<'a>,
    pub(super) first: usize,
    pub(super) step: usize,
    pub(super) c: &'c mut [f32],
    pub(super) c_step: usize,
}

type Acc<const MR: usize, const NV: usize, const W: usize> = [[Lanes<W>; NV]; MR];

#[inline(always)]
fn load<const MR: usize, const NV: usize, const W: usize>(c: &[f32], step: usize) -> Acc<MR, NV, W> {
    let mut acc = [[Lanes::ZERO; NV]; MR];
    for (i, row) in acc.iter_mut().enumerate() {
        for (v, lanes) in row.iter_mut().enumerate() {
            *lanes = Lanes::load(&c[i * step + v * W..]);
        }
    }
    acc
}

#[inline(always)]
fn store<const MR: usize, const NV: usize, const W: usize>(acc: &Acc<MR, NV, W>, c: &mut [f32], step: usize) {
    for (i, row) in acc.iter().enumerate() {
        for (v, lanes) in row.iter().enumerate() {
            lanes.store(&mut c[i * step + v * W..]);
        }
    }
}

#[inline(always)]
fn b_row<const NV: usize, const W: usize>(row: &[f32]) -> [Lanes<W>; NV] {
    std::array::from_fn(|v| Lanes::load(&row[v * W..]))
}

impl<const MR: usize, const NV: usize> Body for RowTile<'_, '_, MR, NV> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let RowTile { on, rows, c, c_step } = self;
        let rows: &[usize; MR] = rows[..MR].try_into().expect("a tile's rows");
        let mut acc = load::<MR, NV, W>(c, c_step);
        for tap in on.taps {
            let a: [&[f32]; MR] = std::array::from_fn(|i| &on.a[tap.a + rows[i]..][..on.depth]);
            let b = &on.b[tap.b..];
            for k in 0..on.depth {
                let bv = b_row::<NV, W>(&b[k * on.b_step..][..NV * W]);
                for i in 0..MR {
                    let x = a[i][k];
                    for v in 0..NV {
                        acc[i][v] = acc[i][v].fma::<FMA>(x, bv[v]);
                    }
                }
            }
        }
        store(&acc, c, c_step);
    }
}

impl<const MR: usize> Body for ColumnTile<'_, '_, MR> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let ColumnTile { on, first, step, c, c_step } = self;
        let mut acc = load::<MR, 2, W>(c, c_step);
        for tap in on.taps {
            let a = &on.a[tap.a + first..];
            let b = &on.b[tap.b..];
            for k in 0..on.depth {
                let bv = b_row::<2, W>(&b[k * on.b_step..][..2 * W]);
                let x: &[f32; MR] = a[k * step..][..MR].try_into().expect("a tile's rows");
                for i in 0..MR {
                    for v in 0..2 {
                        acc[i][v] = acc[i][v].fma::<FMA>(x[i], bv[v]);
                    }
                }
            }
        }
        store(&acc, c, c_step);
    }
}
