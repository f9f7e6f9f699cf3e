//! The products of a step: the rows of a slice of the batch by a few panels, in tiles, sums left in the worker's scratch.

use super::cut::Cut;
use crate::kernels::tile::{AHEAD, Ahead, Call, Line, List, MOST_ROWS, ONE_STRIP, Panels, Product, Spec, Strip, Tile, max_rows};
use crate::ops::matmul::gemm::{NEAR, runs};
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::OnceLock;

/// Bytes of weights that do not stay in the second cache.
const FAR: usize = 512 << 10;

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

/// Panels of the right operand, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The memory.
    pub(super) buf: Buf,
    /// Byte where the first panel begins.
    pub(super) at: usize,
    /// Bytes from a panel to the next.
    pub(super) step: usize,
    /// Their number.
    pub(super) count: usize,
    /// Byte where those begin that are wanted next.
    pub(super) next: usize,
}

/// One of the runs of a reduction: how far its lines of `B` are behind the first of the panel, and its numbers of `A` behind those of the row,
/// in bytes.
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
    /// Rows of tiles that there are.
    heights: [bool; MOST_ROWS],
    tall: usize,
    /// Whether panels come from afar, so that tiles ask for the next one.
    far: bool,
    tiles: OnceLock<Vec<Option<Tile>>>,
}

impl Skinny {
    /// Products of `depth` by panels of `width` columns, of so many bytes in all, for slices of the rows.
    pub(super) fn new(isa: Isa, product: Product, [depth, width, bytes]: [usize; 3], cut: &Cut) -> Skinny {
        let tall = max_rows(isa, width / isa.width().lanes());
        let mut heights = [false; MOST_ROWS];
        cut.all().flat_map(|slice| runs(slice, tall)).for_each(|(_, rows, _)| heights[rows - 1] = true);
        Skinny { isa, product, width, depth, heights, tall, far: bytes > FAR, tiles: OnceLock::new() }
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
            let spec = Spec { partial, ahead: self.far, line: Line::Packed(vectors as u8), ..Spec::new(self.product, rows, vectors) };
            Tile::get(self.isa, &spec)
        };
        let tiles: Result<Vec<_>, Error> = (0..MOST_ROWS).map(|i| self.heights[i].then(|| tile(i + 1)).transpose()).collect();
        let _ = self.tiles.set(tiles?);
        Ok(())
    }

    /// Writes the products of some rows of `a` by panels to `sums`, whose rows are `step` apart. Panels from afar meet all rows before the next
    /// one does.
    pub(super) fn run(&self, (a, rows): (&Rows, Range<usize>), taps: &[Run], b: &Group, (sums, step): (&mut [f32], usize)) {
        let Some(tiles) = self.tiles.get() else { return };
        let steps = self.depth / self.product.depth();
        let mut words = [0; ONE_STRIP + RUNS * (1 + MOST_ROWS)];
        let each = if self.far { 1 } else { b.count };
        for panel in (0..b.count).step_by(each) {
            let at = |panel: usize| if panel < b.count { b.at + panel * b.step } else { b.next };
            let mut ahead = Ahead { at: b.buf.as_ptr().addr() + at(panel + 1), step: if self.far { AHEAD } else { 0 } };
            for (first, height, count) in runs(rows.clone(), self.tall) {
                let Some(tile) = tiles.get(height - 1).and_then(Option::as_ref) else { continue };
                let mut list = List::new(&mut words, height);
                let sums_at = (first - rows.start) * step * 4;
                list.strip(Strip { tiles: count, sums: sums_at, a_row: a.row, c_row: 0, to: (0, &[0; MOST_ROWS]) });
                let from = a.buf.as_ptr().addr() + a.start + first * a.row;
                let offsets = std::array::from_fn(|i| i * a.row);
                taps.iter().for_each(|[b, at]| list.tap(*b, from + at, &offsets));
                tile.run(Call {
                    strips: list.strips(),
                    steps,
                    a: a.buf,
                    a_from: 0,
                    zeros: Buf::empty(),
                    b: b.buf,
                    panels: Panels { at: at(panel), step: b.step, count: each, outer: steps * taps.len() * self.width * 4 <= NEAR },
                    c: Buf::empty(),
                    column: 0,
                    tail_column: 0,
                    tail: None,
                    sums: &mut sums[panel * self.width..],
                    sums_row: step,
                    a_step: 0,
                    b_row: 0,
                    last: 0,
                    ahead,
                });
                ahead.at += taps.len() * (steps / 4) * count * ahead.step;
            }
        }
    }
}
