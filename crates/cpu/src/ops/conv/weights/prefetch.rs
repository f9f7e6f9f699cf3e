//! What tiles of a gradient prefetch while they multiply: the operands of the next panel, box or block, where tiles or copies will read
//! them.
//!
//! A block of the gradient reads each operand element only a few times, so operands come from far caches or memory. Without prefetch, a
//! tile that begins a panel would wait for each of its cache lines.

use super::side::{Places, Strides};
use super::tiled::Side;
use crate::kernels::microkernel::{PREFETCH_BYTES, Prefetch};

/// Runs of bytes, equal in every block of channels and every image.
#[derive(Clone, Copy, Default)]
pub(super) struct Runs {
    at: usize,
    bytes: usize,
    /// Bytes from one request to the next, if there are enough requests.
    step: usize,
    /// Numbers of blocks and images, and the strides of both.
    counts: [usize; 2],
    distances: [usize; 2],
    done: usize,
}

impl Runs {
    /// The pixels of a box in `channels` channels, which begin at the address `start`: those of the window's last taps, since neighbouring
    /// boxes share the others.
    pub(super) fn new(side: &Side, strides: &Strides, places: &Places, start: usize, channels: usize) -> Runs {
        let dims = &side.grid.dims;
        let line = side.grid.placed(dims.map(|d| d.taps.max(1) - 1), places, strides).scaled(4);
        let farthest = (0..3).find(|i| places.at[*i].1 > 1).unwrap_or(2);
        // If a request is a pixel, pixels that a single tap skips are left out.
        let skips = dims[2].taps == 1 && strides.block * 4 == PREFETCH_BYTES;
        Runs {
            at: start.wrapping_add_signed(line.base as isize),
            bytes: places.at[farthest].1 * line.at[farthest],
            step: if skips { line.at[2].max(PREFETCH_BYTES) } else { PREFETCH_BYTES },
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

/// What is prefetched next, of both operands.
#[derive(Default)]
pub(super) struct Prefetches(pub(super) [Runs; 2]);

impl Prefetches {
    /// Runs not prefetched yet.
    pub(super) fn left(&self) -> usize {
        self.0.iter().map(|runs| runs.counts[0] * runs.counts[1] - runs.done).sum()
    }

    /// The next run, spread over `requests` requests.
    pub(super) fn take(&mut self, requests: usize) -> Prefetch {
        let run = self.0.iter_mut().find_map(Runs::next);
        run.map_or(Prefetch::default(), |(at, bytes, step)| Prefetch { at, step: bytes.div_ceil(requests.max(1)).min(step), panel: 0 })
    }
}
