//! Software prefetch of kernels, of operands that come from far while they multiply.

use super::AHEAD;

/// Memory that is wanted in L2 soon: [`AHEAD`] bytes for every four steps. Any address will do, nothing is read.
#[derive(Clone, Copy, Default, Debug)]
pub struct Ahead {
    /// Where it begins.
    pub at: usize,
    /// Bytes from there to the next, and so on.
    pub step: usize,
    /// Bytes from one panel's prefetch to the next one's, where panels are outer; 0 if all prefetch the same.
    pub panel: usize,
}

/// Places at constant distances, a list of lists.
#[derive(Clone, Copy, Default, Debug)]
pub struct Grid {
    /// Places of an inner list.
    pub inner: usize,
    /// Bytes from one to the next.
    pub inner_step: usize,
    /// Number of inner lists.
    pub outer: usize,
    /// Bytes from one to the next.
    pub outer_step: usize,
}

/// Memory that kernels prefetch bit by bit, [`AHEAD`] bytes at every place of a grid.
#[derive(Clone, Copy, Default, Debug)]
pub struct Next {
    start: usize,
    grid: Grid,
    done: usize,
}

impl Next {
    /// All places of a grid that begins at an address.
    pub fn new(start: usize, grid: Grid) -> Next {
        Next { start, grid, done: 0 }
    }

    /// Whether there are places that nobody has asked for.
    pub fn is_left(&self) -> bool {
        self.done < self.grid.inner * self.grid.outer
    }

    /// Places that are left of an inner list.
    pub fn piece(&self) -> usize {
        self.grid.inner - self.done % self.grid.inner.max(1)
    }

    /// The next `count` places, but no more than are left of an inner list: where these follow each other, they are asked for as much more slowly,
    /// else what lies behind the list is asked for too (nothing is read there).
    pub fn take(&mut self, count: usize) -> Ahead {
        let Grid { inner, inner_step, outer_step, .. } = self.grid;
        if !self.is_left() || count == 0 {
            return Ahead::default();
        }
        let (i, o, piece) = (self.done % inner, self.done / inner, self.piece());
        self.done += count.min(piece);
        let step = if inner_step == AHEAD && count > piece { (piece * AHEAD).div_ceil(count) } else { inner_step };
        Ahead { at: self.start.wrapping_add(o * outer_step + i * inner_step), step, panel: 0 }
    }
}
