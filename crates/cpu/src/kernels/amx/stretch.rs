//! How rows are cut into tiles of AMX.

use super::SHORT;
use oxidnn_jit::kernels::tiles::LINES;

/// Fewest rows of a piece if lines are cut into one piece more, so that every line is whole tiles.
const MIN_SPLIT_PIECE_ROWS: usize = 11;

/// Rows that are cut into tiles together. Pieces of up to 16 rows do not cross lines, unless lines are short; a tile is two pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) first_tile: usize,
    pub(super) first_row: usize,
    /// Rows of a line, and number of its pieces.
    pub(super) line: usize,
    pub(super) pieces: usize,
    /// Rows of every piece of a line except its last; `None` if lines are cut evenly, so that all tiles have equally many rows. A tile with
    /// another configuration than the one before ends a run.
    pub(super) each: Option<usize>,
    /// Number of pieces of all lines.
    pub(super) all: usize,
}

impl Stretch {
    pub(super) fn new((first_tile, first_row): (usize, usize), rows: usize, line: usize) -> Stretch {
        // Gathering rows of two lines costs less than tiles that are nearly half empty.
        let kept = line > 0 && rows.is_multiple_of(line) && line / line.div_ceil(LINES) >= SHORT;
        let line = if kept { line } else { rows };
        let pieces = line.div_ceil(LINES).max(1);
        let next = pieces + 1;
        let pairs =
            pieces > 1 && next.is_multiple_of(2) && line.is_multiple_of(next / 2) && line / next >= MIN_SPLIT_PIECE_ROWS && rows > line;
        let pieces = if pairs { next } else { pieces };
        let even = line.is_multiple_of(pieces) || pieces.is_multiple_of(2) && line.is_multiple_of(pieces / 2);
        let each = if even { None } else { Some(line.div_ceil(pieces)) };
        Stretch { first_tile, first_row, line, pieces, each, all: rows / line.max(1) * pieces }
    }

    pub(super) fn tiles(&self) -> usize {
        self.all.div_ceil(2)
    }

    /// The first row of a piece, and the first after it.
    pub(super) fn piece(&self, piece: usize) -> (usize, usize) {
        let (line, i) = (piece / self.pieces, piece % self.pieces);
        let before = |i: usize| self.each.map_or(i * self.line / self.pieces, |each| (i * each).min(self.line));
        let start = |i: usize| self.first_row + line * self.line + before(i);
        (start(i), start(i + 1))
    }

    /// Number of tiles, from `tile` on, with equally many rows.
    pub(super) fn equal_tiles(&self, tile: usize) -> usize {
        let (here, whole) = (tile - self.first_tile, self.all / 2);
        let last = (2 * here / self.pieces + 1) * self.pieces - 1;
        match self.each {
            _ if here >= whole => 1,
            // The last piece of a line has fewer rows.
            Some(_) if self.pieces > 2 => (last / 2 - here).max(1),
            _ => whole - here,
        }
    }

    /// Whether it has tiles of `tall` pieces.
    pub(super) fn has(&self, tall: usize) -> bool {
        if tall == 2 { self.all > 1 } else { !self.all.is_multiple_of(2) }
    }
}
