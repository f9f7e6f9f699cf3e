//! Sums of products in `f64`: one block of a result, from operands that are packed element by element.
//!
//! The microkernel keeps a tile of `MR` rows by 16 columns in registers (AVX-512: 12 rows of two vectors; AVX2: 3 rows of four) over a
//! K block. Packed rows of `A` and the packed panel of `B` of a K block lie in L1 and L2; sums stay in the worker's scratch between K blocks.

use super::multiversion::{Body, Simd};

/// Rows of a block.
pub const ROWS: usize = 120;
/// Columns of a block.
pub const COLUMNS: usize = 128;
/// Longest K block.
pub const DEPTH: usize = 128;
/// Columns of a tile.
const WIDTH: usize = 16;

/// Elements of `f64` that [`Block`] takes of a worker's scratch.
pub const SCRATCH: usize = (ROWS + COLUMNS) * DEPTH + ROWS * COLUMNS;

/// A block of sums and the packed operands of a K block.
pub struct Block<'s> {
    a: &'s mut [f64],
    b: &'s mut [f64],
    sums: &'s mut [f64],
    columns: usize,
}

impl<'s> Block<'s> {
    /// Sums of zero of `columns` columns, in the first [`SCRATCH`] elements of `scratch`.
    ///
    /// # Panics
    /// When there are fewer, or more columns than [`COLUMNS`].
    pub fn new(scratch: &'s mut [f64], columns: usize) -> Block<'s> {
        assert!(columns <= COLUMNS, "{columns} columns");
        let (a, rest) = scratch.split_at_mut(ROWS * DEPTH);
        let (b, sums) = rest.split_at_mut(COLUMNS * DEPTH);
        let sums = &mut sums[..ROWS * COLUMNS];
        sums.fill(0.0);
        Block { a, b, sums, columns }
    }

    /// Adds a K block of `depth` products to the sums of the rows `rows`: `a(i, k)` is the element of row `rows[i]`.
    ///
    /// # Panics
    /// For more rows than [`ROWS`] or more depth than [`DEPTH`].
    pub fn add(&mut self, simd: Simd, rows: &[usize], depth: usize, a: impl Fn(usize, usize) -> f64, b: impl Fn(usize, usize) -> f64) {
        for (i, row) in self.a.chunks_exact_mut(DEPTH).enumerate().take(rows.len()) {
            row[..depth].iter_mut().enumerate().for_each(|(k, x)| *x = a(i, k));
        }
        for (panel, lines) in self.b.chunks_exact_mut(DEPTH * WIDTH).enumerate().take(self.columns.div_ceil(WIDTH)) {
            let columns = WIDTH.min(self.columns - panel * WIDTH);
            for (k, line) in lines.chunks_exact_mut(WIDTH).enumerate().take(depth) {
                line[..columns].iter_mut().enumerate().for_each(|(j, x)| *x = b(k, panel * WIDTH + j));
                line[columns..].fill(0.0);
            }
        }
        simd.run(Add { rows, depth, panels: self.columns.div_ceil(WIDTH), a: self.a, b: self.b, sums: self.sums });
    }

    /// The sums of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.sums[row * COLUMNS..][..self.columns]
    }
}

/// The tiles of a K block.
struct Add<'a> {
    rows: &'a [usize],
    depth: usize,
    panels: usize,
    a: &'a [f64],
    b: &'a [f64],
    sums: &'a mut [f64],
}

impl Body for Add<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(mut self) {
        for panel in 0..self.panels {
            let mut row = 0;
            while row < self.rows.len() {
                row += match self.rows.len() - row {
                    12.. if W >= 16 => self.tile::<12, FMA>(row, panel),
                    3.. => self.tile::<3, FMA>(row, panel),
                    _ => self.tile::<1, FMA>(row, panel),
                };
            }
        }
    }
}

impl Add<'_> {
    /// Adds the products of `MR` rows from `row` on and of a panel; the number of rows.
    #[inline(always)]
    fn tile<const MR: usize, const FMA: bool>(&mut self, row: usize, panel: usize) -> usize {
        let rows: [usize; MR] = std::array::from_fn(|i| self.rows[row + i] * COLUMNS + panel * WIDTH);
        let (a, b) = (self.a, &self.b[panel * DEPTH * WIDTH..]);
        let a: [&[f64]; MR] = std::array::from_fn(|i| &a[(row + i) * DEPTH..][..self.depth]);
        let mut tile = [[0.0; WIDTH]; MR];
        for i in 0..MR {
            tile[i].copy_from_slice(&self.sums[rows[i]..][..WIDTH]);
        }
        for (k, b) in b.as_chunks::<WIDTH>().0.iter().enumerate().take(self.depth) {
            for i in 0..MR {
                let x = a[i][k];
                for j in 0..WIDTH {
                    tile[i][j] = if FMA { x.mul_add(b[j], tile[i][j]) } else { x * b[j] + tile[i][j] };
                }
            }
        }
        for i in 0..MR {
            self.sums[rows[i]..][..WIDTH].copy_from_slice(&tile[i]);
        }
        MR
    }
}
