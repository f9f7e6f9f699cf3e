//! What tiles of a gradient ask for while they multiply: the operands' memory of the panel, box or block that comes next, where tiles read it and
//! where it is copied.
//!
//! A gradient meets every number of its operands a few times for a block of itself, so that they come from far, and a tile that begins a panel
//! would wait for each of its lines.

use super::side::{Places, Strides};
use super::tiled::Side;
use crate::kernels::tile::{AHEAD, Ahead};

/// Runs of bytes, the same in every block of channels and every image.
#[derive(Clone, Copy, Default)]
pub(super) struct Runs {
    at: usize,
    bytes: usize,
    /// Bytes from a request to the next, if there are enough of them.
    step: usize,
    /// Blocks and images, and the distances of both.
    counts: [usize; 2],
    distances: [usize; 2],
    done: usize,
}

impl Runs {
    /// The pixels of a box in so many channels of an operand that begins with them at the address `start`. Of a window's rows the last ones: boxes
    /// that follow each other have the others in common.
    pub(super) fn new(side: &Side, strides: &Strides, places: &Places, start: usize, channels: usize) -> Runs {
        let dims = &side.grid.dims;
        let line = side.grid.placed(dims.map(|d| d.taps.max(1) - 1), places, strides).scaled(4);
        let farthest = (0..3).find(|i| places.at[*i].1 > 1).unwrap_or(2);
        // Where a request is a pixel, those that a single tap skips are left out.
        let skips = dims[2].taps == 1 && strides.block * 4 == AHEAD;
        Runs {
            at: start.wrapping_add_signed(line.base as isize),
            bytes: places.at[farthest].1 * line.at[farthest],
            step: if skips { line.at[2].max(AHEAD) } else { AHEAD },
            counts: [channels.div_ceil(strides.block), places.images.1],
            distances: [strides.far * 4, line.image],
            done: 0,
        }
    }

    fn next(&mut self) -> Option<(usize, usize, usize)> {
        let [blocks, images] = self.counts;
        if self.done == blocks * images {
            return None;
        }
        let at = self.at + self.done / images * self.distances[0] + self.done % images * self.distances[1];
        self.done += 1;
        Some((at, self.bytes, self.step))
    }
}

/// What is asked for next, of either operand.
#[derive(Default)]
pub(super) struct Upcoming(pub(super) [Runs; 2]);

impl Upcoming {
    /// Runs that nobody has asked for.
    pub(super) fn left(&self) -> usize {
        self.0.iter().map(|runs| runs.counts[0] * runs.counts[1] - runs.done).sum()
    }

    /// The next run, spread over so many requests.
    pub(super) fn take(&mut self, requests: usize) -> Ahead {
        let run = self.0.iter_mut().find_map(Runs::next);
        run.map_or(Ahead::default(), |(at, bytes, step)| Ahead { at, step: bytes.div_ceil(requests.max(1)).min(step), panel: 0 })
    }
}
