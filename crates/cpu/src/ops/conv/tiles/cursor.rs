//! An iterator over the results of a pass, with the addresses that windows read and of results.

use super::order::{Patch, Segment};
use super::{Pass, Place};
use crate::kernels::microkernel::MOST_ROWS;

/// An iterator over results in the order of a pass.
pub(super) struct Cursor<'p> {
    pass: &'p Pass,
    pub(super) segment: usize,
    pub(super) patch: usize,
    pub(super) image: usize,
    /// Result within the phase.
    pub(super) at: [usize; 3],
    /// Results left in the line.
    pub(super) left: usize,
    pub(super) source: Lane,
    pub(super) result: Lane,
}

/// Addresses along a line of source or result.
pub(super) struct Lane {
    pub(super) place: Place,
    /// Address of the group's first channel.
    first: usize,
    /// Address of the current result's pixel; in the source: of what a tap at offset 0 reads.
    pub(super) now: usize,
    /// Bytes from there to the following results.
    pub(super) offsets: [usize; MOST_ROWS],
}

impl Lane {
    /// The lane of results that are `distance` pixels apart. For a line with one result the distance is not used and may be any number.
    pub(super) fn new(place: Place, first: usize, distance: i64) -> Lane {
        let step = place.strides[2].wrapping_mul(distance as usize);
        Lane { place, first, now: 0, offsets: std::array::from_fn(|i| step.wrapping_mul(i)) }
    }

    /// Moves to coordinates of an image.
    fn enter(&mut self, image: usize, at: [usize; 3]) {
        let p = &self.place;
        self.now = self.first + image * p.image + at[0] * p.strides[0] + at[1] * p.strides[1] + at[2] * p.strides[2];
    }
}

impl<'p> Cursor<'p> {
    /// From result `row` on.
    pub(super) fn new(pass: &'p Pass, row: usize, lanes: [Lane; 2]) -> Cursor<'p> {
        let order = &pass.order;
        let segment = order.segments.partition_point(|s| s.first_row + s.rows <= row);
        let (mut patch, mut rest) = (order.segments[segment].patches.start, row - order.segments[segment].first_row);
        let rows = |p: usize| order.patches[p].pixels() * order.images;
        while rest >= rows(patch) {
            rest -= rows(patch);
            patch += 1;
        }
        let Patch { first, count, .. } = &order.patches[patch];
        let (line, w) = (rest / count[2], rest % count[2]);
        let (plane, h) = (line / count[1], line % count[1]);
        let (image, d) = (plane / count[0], plane % count[0]);
        let [source, result] = lanes;
        let mut cursor = Cursor { pass, segment, patch, image, at: [first[0] + d, first[1] + h, first[2] + w], left: 0, source, result };
        cursor.enter();
        cursor
    }

    pub(super) fn segment(&self) -> &'p Segment {
        &self.pass.order.segments[self.segment]
    }

    /// Coordinates of the result in the destination.
    pub(super) fn position(&self) -> [i64; 3] {
        let (lines, phases) = (&self.pass.lines, self.segment().phases);
        std::array::from_fn(|i| lines[i].phases[phases[i]].first + self.at[i] as i64 * lines[i].step)
    }

    /// Looks up the addresses of the result.
    fn enter(&mut self) {
        let patch = &self.pass.order.patches[self.patch];
        self.left = patch.first[2] + patch.count[2] - self.at[2];
        let (lines, position) = (&self.pass.lines, self.position());
        self.source.enter(self.image, std::array::from_fn(|i| self.at[i] * lines[i].stride as usize));
        self.result.enter(self.image, position.map(|x| x as usize));
    }

    /// Moves on by `n` results of this line.
    #[inline]
    pub(super) fn advance(&mut self, n: usize) {
        self.at[2] += n;
        self.left -= n;
        if self.left > 0 {
            self.source.now += self.source.offsets[1] * n;
            self.result.now += self.result.offsets[1] * n;
        } else {
            self.next_line();
        }
    }

    /// Moves from the end of a line to the next.
    fn next_line(&mut self) {
        let order = &self.pass.order;
        let p = &order.patches[self.patch];
        self.at[2] = p.first[2];
        self.at[1] += 1;
        if self.at[1] == p.first[1] + p.count[1] {
            self.at[1] = p.first[1];
            self.at[0] += 1;
            if self.at[0] == p.first[0] + p.count[0] {
                self.at[0] = p.first[0];
                self.image += 1;
            }
        }
        if self.image == order.images {
            let Some(next) = order.patches.get(self.patch + 1) else { return };
            (self.image, self.at) = (0, next.first);
            self.patch += 1;
            self.segment += usize::from(self.patch == self.segment().patches.end);
        }
        self.enter();
    }
}
