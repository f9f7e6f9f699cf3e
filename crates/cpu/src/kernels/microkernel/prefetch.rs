//! Software prefetch by kernels, of operands that come from far, while they multiply.

use super::PREFETCH_BYTES;

/// Memory to prefetch into L2: [`PREFETCH_BYTES`] bytes for every four steps. Any address is allowed, since nothing is read.
#[derive(Clone, Copy, Default, Debug)]
pub struct Prefetch {
    /// The first address.
    pub at: usize,
    /// Bytes from one prefetch to the next.
    pub step: usize,
    /// Bytes from one panel's prefetch to the next one's, if panels are the outer loop; 0 if all prefetch the same.
    pub panel: usize,
}

/// Addresses in two nested lists with constant strides.
#[derive(Clone, Copy, Default, Debug)]
pub struct Grid {
    /// Addresses of an inner list.
    pub inner: usize,
    /// Bytes from one to the next.
    pub inner_step: usize,
    /// Number of inner lists.
    pub outer: usize,
    /// Bytes from one to the next.
    pub outer_step: usize,
}

/// Memory that kernels prefetch piece by piece, [`PREFETCH_BYTES`] bytes at every address of a grid.
#[derive(Clone, Copy, Default, Debug)]
pub struct PrefetchQueue {
    start: usize,
    grid: Grid,
    done: usize,
}

impl PrefetchQueue {
    /// All addresses of a grid that begins at `start`.
    pub fn new(start: usize, grid: Grid) -> PrefetchQueue {
        PrefetchQueue { start, grid, done: 0 }
    }

    /// Whether there are addresses that were not prefetched yet.
    pub fn is_left(&self) -> bool {
        self.done < self.grid.inner * self.grid.outer
    }

    /// Addresses left of an inner list.
    pub fn piece(&self) -> usize {
        self.grid.inner - self.done % self.grid.inner.max(1)
    }

    /// The next `count` addresses, but no more than are left of an inner list. If that is fewer and they are contiguous, requests are
    /// spaced more closely; otherwise addresses behind the list are prefetched as well (nothing is read there).
    pub fn take(&mut self, count: usize) -> Prefetch {
        let Grid { inner, inner_step, outer_step, .. } = self.grid;
        if !self.is_left() || count == 0 {
            return Prefetch::default();
        }
        let (i, o, piece) = (self.done % inner, self.done / inner, self.piece());
        self.done += count.min(piece);
        let step = if inner_step == PREFETCH_BYTES && count > piece { (piece * PREFETCH_BYTES).div_ceil(count) } else { inner_step };
        Prefetch { at: self.start.wrapping_add(o * outer_step + i * inner_step), step, panel: 0 }
    }
}
