//! Where the rows of a tile lie: what a product says about each half of 16, and what is done where a register cannot take them as they lie.

use super::all_steps;
use super::block::Gatherer;
use crate::kernels::tile::drive::{Block, Part};
use oxidnn_jit::kernels::tiles::{LINES, ROWS, TAP};
use oxidnn_runtime::Buf;

/// Where the operands of a product are, and where its results go, 16 rows at a time; see `tile::drive::Work`.
pub trait Lines: Sync {
    /// A place among the rows of a unit.
    type Walk;

    /// The place of `row`.
    fn walk(&self, unit: usize, row: usize) -> Self::Walk;

    /// Goes on behind the next rows, as many as `half` has: says where they lie under every tap, and where in the destination. Both halves of a tile
    /// have the same taps.
    fn lines(&self, walk: &mut Self::Walk, half: &mut Half<'_>);

    /// Finishes and stores a block of raw sums; called only where there is no tail.
    fn store(&self, block: Block<'_>);
}

/// A half of a tile, being described.
pub struct Half<'h> {
    /// Number of rows.
    pub rows: usize,
    /// The addresses of their first columns in the destination.
    pub to: [usize; LINES],
    /// Whether it is the lower one.
    index: usize,
    part: &'h Part,
    gatherer: &'h Gatherer,
    /// The source, and what padding is.
    memory: [Buf; 2],
    taps: &'h mut [usize],
    count: usize,
    gathered: &'h mut [f32],
}

impl<'h> Half<'h> {
    pub(super) fn new(
        (index, rows): (usize, usize),
        part: &'h Part,
        (gatherer, memory): (&'h Gatherer, [Buf; 2]),
        (taps, gathered): (&'h mut [usize], &'h mut [f32]),
    ) -> Half<'h> {
        Half { rows, to: [0; LINES], index, part, gatherer, memory, taps, count: 0, gathered }
    }

    /// Number of taps so far.
    pub(super) fn taps(&self) -> usize {
        self.count
    }

    /// Adds a tap, where it is of the part of the reduction that is looked at, whose lines of `B` are `b` bytes behind the first of a panel, and whose rows of `A` begin at these addresses; `distance` is what
    /// lies between each two, where that is the same.
    ///
    /// # Panics
    /// When there are more taps than the product has.
    pub fn tap(&mut self, b: usize, rows: &[usize; LINES], distance: Option<usize>) {
        let (part, before) = (self.part, self.part.before[0]);
        if part.taken.is_some_and(|[first, end]| !(first..end).contains(&b)) {
            return;
        }
        let (at, apart) = match distance {
            Some(distance) if part.partial == 0 => (rows[0].wrapping_add(before), distance),
            _ => {
                let row = Gatherer::row(all_steps(part));
                let to = &mut self.gathered[(2 * self.count + self.index) * (ROWS / 2) * row..][..self.rows * row];
                self.gatherer.run(&rows[..self.rows], (before, part.steps), self.memory, to);
                (to.as_ptr().addr(), row * 4)
            }
        };
        let words = &mut self.taps[self.count * TAP..][..TAP];
        words[0] = b;
        words[1 + 2 * self.index] = at;
        words[2 + 2 * self.index] = apart;
        self.count += 1;
    }
}
