//! How the steps of a layer are cut into tasks. Steps wait for each other, samples and directions do not.

use super::sizes::Sizes;
use super::skinny::even;
use std::ops::Range;

/// Most rows of a slice of the batch: their gates of a panel stay in the first cache.
const ROWS: usize = 48;
/// Rows that fill a tile.
const TILE: usize = 6;
/// Multiply-adds of a step from which on it is worth a fork.
const FORK: usize = 128 << 10;
/// Bytes of recurrent weights that stay in a second cache.
const STAYS: usize = 768 << 10;

/// The cut of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    /// Samples.
    batch: usize,
    /// Slices of the batch.
    pub(super) slices: usize,
    /// True where a task is a slice of a direction with all its steps, false where it is a panel of a slice in one step.
    pub(super) whole: bool,
}

impl Cut {
    /// The cut for so many workers, panels, and bytes of recurrent weights of a direction. It decides who computes what, not how.
    pub(super) fn new(z: &Sizes, workers: usize, panels: usize, weights: usize) -> Cut {
        let least = z.batch.div_ceil(ROWS);
        let most = (z.batch / TILE).max(1);
        let step = z.directions * z.batch * z.sic * z.gates * z.dhc;
        let slices = |tasks: usize| least.max(workers.div_ceil(tasks).min(most));
        let whole = workers == 1
            || step <= FORK
            || z.directions * least >= workers
            || weights <= STAYS && z.directions * slices(z.directions) >= workers;
        Cut { batch: z.batch, slices: slices(if whole { z.directions } else { z.directions * panels }), whole }
    }

    /// The samples of a slice.
    pub(super) fn rows(&self, slice: usize) -> Range<usize> {
        slice * self.batch / self.slices..(slice + 1) * self.batch / self.slices
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = Range<usize>> {
        let cut = *self;
        (0..self.slices).map(move |slice| cut.rows(slice))
    }

    /// Rows of the largest slice.
    pub(super) fn tallest(&self) -> usize {
        even(0..self.batch, ROWS).map(|r| r.len()).max().unwrap_or(0).max(self.all().map(|r| r.len()).max().unwrap_or(0))
    }
}
