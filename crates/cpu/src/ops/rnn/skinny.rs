//! The products of a step: the rows of a slice of the batch by a panel, in tiles, sums left in the worker's scratch.

use crate::kernels::tile::{Ahead, Call, Line, List, MOST_ROWS, ONE_STRIP, Panels, Product, Spec, Strip, Tile, max_rows};
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::OnceLock;

/// Rows of a matrix in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// The memory.
    pub(super) buf: Buf,
    /// Byte of the first row.
    pub(super) start: usize,
    /// Bytes from a row to the next.
    pub(super) row: usize,
}

/// One of the runs of a reduction: how far its lines of `B` are behind the first of the panel, and its numbers of `A` behind those of the row.
pub(super) type Run = [usize; 2];

/// Most runs of a reduction.
pub(super) const RUNS: usize = 4;

/// Products whose reduction is a number of runs of the same depth.
#[derive(Debug)]
pub(super) struct Skinny {
    isa: Isa,
    product: Product,
    width: usize,
    depth: usize,
    /// Slices of the rows, none of which shares a tile with another.
    heights: [bool; MOST_ROWS],
    tall: usize,
    tiles: OnceLock<Vec<Option<Tile>>>,
}

/// Cuts `range` evenly into pieces of at most `most`.
pub(super) fn even(range: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    let (start, n) = (range.start, range.len());
    let pieces = n.div_ceil(most.max(1));
    (0..pieces).map(move |i| start + i * n / pieces..start + (i + 1) * n / pieces)
}

impl Skinny {
    /// Products of `depth` by panels of `width` columns for slices of the rows.
    pub(super) fn new(isa: Isa, product: Product, [depth, width]: [usize; 2], slices: impl Iterator<Item = Range<usize>>) -> Skinny {
        let tall = max_rows(isa, width / isa.width().lanes());
        let mut heights = [false; MOST_ROWS];
        slices.flat_map(|slice| even(slice, tall)).for_each(|rows| heights[rows.len() - 1] = true);
        Skinny { isa, product, width, depth, heights, tall, tiles: OnceLock::new() }
    }

    /// Makes the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] where a kernel cannot be made.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        if self.tiles.get().is_some() {
            return Ok(());
        }
        let vectors = self.width / self.isa.width().lanes();
        let tile = |rows: usize| {
            let partial = (self.depth % self.product.depth()) as u8;
            let spec = Spec { partial, line: Line::Packed(vectors as u8), ..Spec::new(self.product, rows, vectors) };
            Tile::get(self.isa, &spec)
        };
        let tiles: Result<Vec<_>, Error> = (0..MOST_ROWS).map(|i| self.heights[i].then(|| tile(i + 1)).transpose()).collect();
        let _ = self.tiles.set(tiles?);
        Ok(())
    }

    /// Writes the products of some rows of `a` by a panel to `sums`, whose rows are `step` apart.
    pub(super) fn run(&self, a: &Rows, rows: Range<usize>, runs: &[Run], (b, b_at): (Buf, usize), sums: &mut [f32], step: usize) {
        let Some(tiles) = self.tiles.get() else { return };
        let first = rows.start;
        let mut words = [0; ONE_STRIP + RUNS * (1 + MOST_ROWS)];
        for rows in even(rows, self.tall) {
            let Some(tile) = tiles.get(rows.len() - 1).and_then(Option::as_ref) else { continue };
            let mut list = List::new(&mut words, rows.len());
            let sums_at = (rows.start - first) * step * 4;
            list.strip(Strip { tiles: 1, sums: sums_at, a_row: a.row, c_row: 0, to: (0, &[0; MOST_ROWS]) });
            let from = a.buf.as_ptr().addr() + a.start + rows.start * a.row;
            for [b, at] in runs {
                list.tap(*b, from + at, &std::array::from_fn(|i| i * a.row));
            }
            tile.run(Call {
                strips: list.strips(),
                steps: self.depth / self.product.depth(),
                a: a.buf,
                zeros: Buf::empty(),
                b,
                panels: Panels::one(b_at),
                c: Buf::empty(),
                column: 0,
                tail_column: 0,
                tail: None,
                sums: &mut *sums,
                sums_row: step,
                a_step: 0,
                b_row: 0,
                last: 0,
                ahead: Ahead::default(),
            });
        }
    }
}
