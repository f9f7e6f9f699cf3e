//! Operand provider of AMX: the addresses of each half of 16 rows, and gathering of rows that a tile register cannot load in place.

use super::block::{Gatherer, TileRegisters};
use crate::kernels::macrokernel::{KBlock, SumBlock};
use oxidnn_jit::kernels::tiles::{LINES, ROWS, TAP_WORDS};
use oxidnn_runtime::Buf;
use std::ops::Range;

/// Where the operands of a product are, and where its results go, by 16 rows; see `macrokernel::Rows`.
pub trait HalfTileProvider: Sync {
    /// A place among the rows of a unit.
    type Cursor;

    /// The place of `row`.
    fn cursor(&self, unit: usize, row: usize) -> Self::Cursor;

    /// Moves behind the next rows, as many as `half` has, and gives their addresses under every tap and in the destination. Both halves of
    /// a tile have the same taps.
    fn lines(&self, cursor: &mut Self::Cursor, half: &mut HalfTile<'_>);

    /// How the next tiles of this many rows are arranged.
    fn run(&self, _cursor: &Self::Cursor, _rows: usize) -> Run {
        Run::ONE
    }

    /// Moves behind the next rows of a listed run, at most 16, and gives the addresses of their results; `nowhere` for unwanted ones.
    fn places(&self, _cursor: &mut Self::Cursor, _nowhere: usize, _to: &mut [usize]) {}

    /// Moves behind `rows` rows of a run.
    fn skip(&self, _cursor: &mut Self::Cursor, _rows: usize) {}

    /// Calls `tap` for the taps of the next row that are not on padding, with the byte offset of their lines of `B` in a panel, the address
    /// of the row, and the range of the tap's steps. Called only for rows of halves that are [padded](HalfTile::padded).
    fn inside(&self, _cursor: &mut Self::Cursor, _tap: &mut dyn FnMut(usize, usize, Range<usize>)) {}

    /// Writes the initial sums of a block; called only if the shape has such.
    fn begin(&self, _block: SumBlock<'_>) {}

    /// Finishes and stores a block of raw sums; called only without an epilogue in registers.
    fn store(&self, block: SumBlock<'_>);
}

/// Consecutive tiles that are arranged as the first of them.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Number of tiles, at least 1, and bytes from one to the next in the source and in the destination.
    pub tiles: usize,
    /// See [`Run::tiles`].
    pub bytes: [usize; 2],
    /// Whether the results of tiles have other strides than those: then [`HalfTileProvider::places`] gives the addresses of all rows.
    pub listed: bool,
    /// Rows of a line if the first tile begins one, else 0; number of equal lines; bytes from one to the next.
    pub line: usize,
    /// See [`Run::line`].
    pub lines: usize,
    /// See [`Run::line`].
    pub line_bytes: [usize; 2],
}

impl Run {
    /// A single tile.
    pub const ONE: Run = Run { tiles: 1, bytes: [0; 2], listed: false, line: 0, lines: 1, line_bytes: [0; 2] };
}

/// A half of a tile, to be described by the provider.
pub struct HalfTile<'h> {
    /// Number of rows.
    pub rows: usize,
    /// The addresses of the rows in the destination, at the first column.
    pub to: &'h mut [usize; LINES],
    /// The address for unwanted results, of a tile that is not in a run; only if the shape is padded.
    pub nowhere: usize,
    /// Whether some rows are padding (zeros) under some taps, or have elements after their end that are multiplied by zeros.
    pub padded: bool,
    /// Whether elements that are multiplied by zeros of `B` need no check: sums are integers, or are watched.
    pub(super) passes: bool,
    /// Whether rows were gathered.
    pub(super) is_gathered: bool,
    /// 0 for the upper half, 1 for the lower.
    pub(super) index: usize,
    pub(super) part: &'h KBlock,
    pub(super) gatherer: &'h Gatherer,
    pub(super) held: &'h TileRegisters<'h>,
    /// The source, and the values of padding.
    pub(super) memory: [Buf<'h>; 2],
    pub(super) taps: &'h mut [usize],
    /// Number of taps so far.
    pub(super) count: usize,
    pub(super) gathered: &'h mut [f32],
}

impl HalfTile<'_> {
    /// Adds a tap if it belongs to the current K block. Its lines of `B` are `b` bytes behind the first of a panel, its rows of `A` begin
    /// at `first`, `distance` bytes apart.
    ///
    /// # Panics
    /// If there are more taps than the product has.
    #[inline]
    pub fn line(&mut self, b: usize, first: usize, distance: usize) {
        if self.part.k_tail > 0 && !self.ends_inside(first, distance) {
            return self.tap(b, &std::array::from_fn(|i| first.wrapping_add(distance.wrapping_mul(i))));
        }
        if self.takes(b) {
            self.padded |= self.part.k_tail > 0;
            self.add(b, first.wrapping_add(self.part.first * 4), distance);
        }
    }

    /// Whether whole steps are read where the last step of a row is partial: `B` is zero there. Floating-point sums are then checked, which
    /// costs less than gathering the rows only with many taps.
    fn ends_inside(&self, first: usize, distance: usize) -> bool {
        let (part, source) = (self.part, self.memory[0]);
        let bytes = (part.first + part.all_steps()) * 4;
        let len = distance.checked_mul(self.rows - 1).and_then(|d| d.checked_add(bytes));
        let at = first.checked_sub(source.as_ptr().addr());
        let end = at.zip(len).and_then(|(at, len)| at.checked_add(len));
        (self.passes || part.taps > 1) && end.is_some_and(|end| end <= source.len())
    }

    /// The same for rows at arbitrary addresses, which are gathered.
    ///
    /// # Panics
    /// As [`HalfTile::line`], or if the copy has no room for this many rows.
    pub fn tap(&mut self, b: usize, rows: &[usize; LINES]) {
        if !self.takes(b) {
            return;
        }
        let (part, before) = (self.part, self.part.first * 4);
        self.is_gathered = true;
        let row = Gatherer::row(part.all_steps());
        let to = &mut self.gathered[(2 * self.count + self.index) * (ROWS / 2) * row..][..self.rows * row];
        self.gatherer.run(&rows[..self.rows], (before, part.steps), self.memory, to);
        if self.count.is_multiple_of(2) {
            self.held.stay_awake();
        }
        let at = to.as_ptr().addr();
        self.add(b, at, row * 4);
    }

    /// Whether a tap belongs to the K block.
    #[inline]
    fn takes(&self, b: usize) -> bool {
        self.part.takes(b)
    }

    #[inline]
    fn add(&mut self, b: usize, at: usize, distance: usize) {
        let words = &mut self.taps[self.count * TAP_WORDS..][..TAP_WORDS];
        words[0] = b;
        words[1 + 2 * self.index] = at;
        words[2 + 2 * self.index] = distance;
        self.count += 1;
    }
}
