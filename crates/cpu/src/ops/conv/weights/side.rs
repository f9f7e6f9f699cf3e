//! One operand of a gradient of weights: which of its pixels a tap meets, and where they lie, in place or copied.
//!
//! The window slides over one operand, `X`; the other one, `Y`, has a pixel for every place of the window. In place pixels are where the layout
//! says. A copy keeps the pixels of a box by their remainder by the window's stride (their *phase*), so that the pixels a tap meets are
//! neighbours whatever the stride, and holds the pixels of several images side by side, so that one row of a small image makes a long part of
//! the reduction. Pixels that lie in the padding are neither copied nor multiplied: a tap meets only the places where it lies inside.

use crate::kernels::access::Axis;
use oxidnn_spec::Tensor;
use std::ops::Range;

/// A dimension of the window over an operand. For `Y` the window is one pixel wide and moves by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    /// Pixels of the operand.
    pub(crate) size: usize,
    /// Places of the window.
    pub(crate) places: usize,
    /// Taps, their distance, the distance of places, and pixels of padding before the first.
    pub(crate) taps: usize,
    pub(crate) dilation: usize,
    pub(crate) stride: usize,
    pub(crate) pad: i64,
}

/// What a tap meets in one dimension: at place `o` the pixel `(o + shift) * stride + phase`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Meets {
    phase: usize,
    shift: i64,
}

impl Dim {
    /// The dimension as `Y` has it.
    pub(crate) fn of_places(places: usize) -> Dim {
        Dim { size: places, places, taps: 1, dilation: 1, stride: 1, pad: 0 }
    }

    fn meets(&self, tap: usize) -> Meets {
        let (first, stride) = ((tap * self.dilation) as i64 - self.pad, self.stride as i64);
        let phase = first.rem_euclid(stride);
        Meets { phase: phase as usize, shift: (first - phase) / stride }
    }

    /// The places of the window at which a tap lies inside.
    pub(crate) fn inside(&self, tap: usize) -> Range<usize> {
        let Meets { phase, shift } = self.meets(tap);
        let pixels = self.size.saturating_sub(phase).div_ceil(self.stride) as i64;
        let end = (pixels - shift).clamp(0, self.places as i64);
        (-shift).clamp(0, end) as usize..end as usize
    }

    /// The pixel behind the last one that a tap meets.
    pub(crate) fn end(&self) -> usize {
        let last = (self.places.saturating_sub(1) * self.stride + self.taps.saturating_sub(1) * self.dilation) as i64 - self.pad;
        self.size.min((last + 1).max(0) as usize)
    }

    /// True where every tap lies inside at every place.
    pub(crate) fn is_unpadded(&self) -> bool {
        // Others lie between the first and the last.
        self.taps == 0 || [0, self.taps - 1].iter().all(|t| self.inside(*t) == (0..self.places))
    }

    /// Least and largest shift of all taps.
    fn shifts(&self) -> (i64, i64) {
        (self.meets(0).shift, self.meets(self.taps.max(1) - 1).shift)
    }

    /// Which of the phases that any tap has is the tap's, counted in the order of taps.
    fn phase_index(&self, tap: usize) -> usize {
        tap % self.period()
    }

    /// The number of taps from one of a phase to the next.
    fn period(&self) -> usize {
        let (mut a, mut b) = (self.dilation, self.stride);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        self.stride / a.max(1)
    }

    /// Pixels that all taps meet at so many places, from the first to the last.
    fn span(&self, places: usize) -> usize {
        (places.max(1) - 1) * self.stride + (self.taps.max(1) - 1) * self.dilation + 1
    }

    /// Number of phases of the taps.
    fn phases(&self) -> usize {
        self.taps.min(self.period())
    }
}

/// Distances of an operand's elements in memory; channels are neighbours, at least by blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Strides {
    pub(crate) image: usize,
    pub(crate) at: [usize; 3],
    /// Channels of a block, and the distance of two blocks.
    pub(crate) block: usize,
    pub(crate) far: usize,
}

impl Strides {
    /// Where a channel is.
    pub(crate) fn channel(&self, channel: usize) -> usize {
        channel / self.block * self.far + channel % self.block
    }

    /// True where all channels are neighbours.
    pub(crate) fn is_plain(&self) -> bool {
        self.block == usize::MAX
    }
}

/// Which dimensions of a tensor are what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roles {
    /// Images; `None` where there is one.
    pub(crate) image: Option<usize>,
    /// Depth, height and width of a pixel's position, where there are such.
    pub(crate) pixel: [Option<usize>; 3],
    /// Channels.
    pub(crate) channels: Axis,
}

impl Roles {
    /// Distances in a tensor with these roles, where channels are neighbours.
    pub(crate) fn strides(&self, tensor: &Tensor) -> Option<Strides> {
        let b = tensor.blocking()?;
        let of = |d: Option<usize>| d.map_or(Some(0), |d| usize::try_from(b.strides[d]).ok());
        let mut blocks = b.inner.iter();
        let (block, far) = match (blocks.next(), blocks.next(), self.channels.single()) {
            (None, ..) => {
                let neighbours = self.channels.len() == 1 || self.channels.chained(b)? == 1;
                neighbours.then_some((usize::MAX, 0))?
            }
            (Some((d, n)), None, Some(channel)) if d == channel => (usize::try_from(n).ok()?, usize::try_from(b.strides[d]).ok()?),
            _ => return None,
        };
        let [d, h, w] = self.pixel.map(of);
        Some(Strides { image: of(self.image)?, at: [d?, h?, w?], block, far })
    }
}

/// A box of places of the window over some images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    /// First image and number of images.
    pub(crate) images: (usize, usize),
    /// First place and number of places in each dimension.
    pub(crate) at: [(usize, usize); 3],
    /// How far behind them in each dimension those are that share their words, where these are not other images'; 0 for none.
    pub(crate) apart: [usize; 3],
}

/// How the pixels of a box of an operand lie in its copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Grid {
    /// The window.
    pub(crate) dims: [Dim; 3],
    /// Phases that are there, by dimension.
    phases: [usize; 3],
    /// Pixels of a phase.
    slots: [usize; 3],
    /// The place before or behind a box's first whose pixel is the first of a phase.
    first: [i64; 3],
    /// The dimension from which on all taps of the window are one tap of so many channels more; 3 for none. Their pixels are copied with their
    /// padding, as they follow each other.
    pub(crate) joint: usize,
}

/// Distances, and where the first pixel is that a tap meets at a box's first place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) base: i64,
    /// From a group of images to the next.
    pub(crate) image: usize,
    /// From a place to the next in each dimension.
    pub(crate) at: [usize; 3],
}

impl Line {
    /// All distances in units of `n`.
    pub(crate) fn scaled(self, n: usize) -> Line {
        Line { base: self.base * n as i64, image: self.image * n, at: self.at.map(|d| d * n) }
    }
}

impl Grid {
    /// The grid of boxes of `each` places, where taps are one from dimension `joint` on.
    pub(crate) fn new(dims: [Dim; 3], each: [usize; 3], joint: usize) -> Grid {
        let mut grid = Grid { dims, phases: [1; 3], slots: [1; 3], first: [0; 3], joint };
        for (i, dim) in dims.iter().enumerate() {
            if i >= joint {
                grid.slots[i] = dim.span(each[i]);
                continue;
            }
            let (low, high) = dim.shifts();
            grid.phases[i] = dim.phases();
            grid.slots[i] = each[i] + (high - low) as usize;
            grid.first[i] = low;
        }
        grid
    }

    /// The grid of a copy whose rows have the pixels of a channel side by side. Where a row of the window is one tap, it has places in their place.
    pub(crate) fn turned(&self) -> Grid {
        if !self.is_merged() {
            return *self;
        }
        let across = &self.dims[2];
        let places = (self.slots[2] - across.taps) / across.stride + 1;
        let (mut dims, mut slots) = (self.dims, self.slots);
        (dims[2], slots[2]) = (Dim::of_places(across.places), places);
        Grid { dims, slots, joint: 3, ..*self }
    }

    /// Whether a row of the window is one tap, if not more of it.
    pub(crate) fn is_merged(&self) -> bool {
        self.joint < 3
    }

    /// Pixels from the first tap that is one with others to tap `index` of them, in the copy.
    pub(crate) fn tap_offset(&self, index: usize) -> usize {
        let tap = self.joint_tap(index);
        let at: [usize; 3] = std::array::from_fn(|i| tap[i] * self.dims[i].dilation);
        (at[0] * self.slots[1] + at[1]) * self.slots[2] + at[2]
    }

    /// Which tap of the window is tap `index` of those that are one.
    pub(crate) fn joint_tap(&self, index: usize) -> [usize; 3] {
        let (mut tap, mut rest) = ([0; 3], index);
        for i in (self.joint..3).rev() {
            (tap[i], rest) = (rest % self.dims[i].taps, rest / self.dims[i].taps);
        }
        tap
    }

    /// Whether no two taps meet the same phase, in boxes of so many images and places.
    pub(crate) fn is_partition(&self, [_, each @ ..]: [usize; 4]) -> bool {
        self.slots == each
    }

    /// Number of taps that are one.
    pub(crate) fn joint_taps(&self) -> usize {
        self.dims[self.joint..].iter().map(|d| d.taps).product()
    }

    /// Pixels of a row of a copy, and number of rows.
    pub(crate) fn lines(&self) -> (usize, usize) {
        (self.slots[2], self.phases.iter().product::<usize>() * self.slots[0] * self.slots[1])
    }

    /// Pixels of a copy; `None` on overflow.
    pub(crate) fn pixels(&self) -> Option<usize> {
        self.phases.iter().chain(&self.slots).try_fold(1usize, |n, s| n.checked_mul(*s))
    }

    /// Taps in each dimension; those that are one count once.
    pub(crate) fn taps(&self) -> [usize; 3] {
        std::array::from_fn(|i| if i < self.joint { self.dims[i].taps } else { 1 })
    }

    /// The places of a box at which a tap lies inside.
    pub(crate) fn inside(&self, i: usize, tap: usize, places: &Places) -> Range<usize> {
        let (first, count) = places.at[i];
        let all = if i >= self.joint { 0..first + count } else { self.dims[i].inside(tap) };
        let end = all.end.min(first + count);
        all.start.max(first).min(end)..end
    }

    /// Where a tap's pixels are in a copy, in pixels. `images` is the distance of two groups of images.
    pub(crate) fn copied(&self, tap: [usize; 3], images: usize) -> Line {
        let mut at = [self.slots[1] * self.slots[2], self.slots[2], 1];
        let (mut phase, mut base) = (0, 0);
        for (i, distance) in at.iter().enumerate().take(self.joint) {
            phase = phase * self.phases[i] + self.dims[i].phase_index(tap[i]);
            base += (self.dims[i].meets(tap[i]).shift - self.first[i]) * *distance as i64;
        }
        base += (phase * self.slots.iter().product::<usize>()) as i64;
        at.iter_mut().zip(&self.dims).skip(self.joint).for_each(|(distance, dim)| *distance *= dim.stride);
        Line { base, image: images, at }
    }

    /// Where a tap's pixels are in place, in elements from the first element of the operand on.
    pub(crate) fn placed(&self, tap: [usize; 3], places: &Places, strides: &Strides) -> Line {
        let mut line = Line { base: (places.images.0 * strides.image) as i64, image: strides.image, at: [0; 3] };
        for (i, dim) in self.dims.iter().enumerate() {
            let pixel = (places.at[i].0 * dim.stride + tap[i] * dim.dilation) as i64 - dim.pad;
            line.base += pixel * strides.at[i] as i64;
            line.at[i] = dim.stride * strides.at[i];
        }
        line
    }

    /// Calls `each` with every row of a copy of a box: where its pixels go, and which they are. Rows of the same pixels follow each other. Rows
    /// that lie in the padding are left out, unless taps are one: then they are zeros.
    pub(crate) fn rows(&self, places: &Places, mut each: impl FnMut(usize, Row)) {
        let [pd, ph, pw] = self.phases;
        let count =
            |i: usize| if i < self.joint { places.at[i].1 + self.slots[i] - self.each(i) } else { self.dims[i].span(places.at[i].1) };
        let (depth, height) = (count(0), count(1));
        let padding = Row { at: [0; 2], before: 0, first: 0, step: 1, count: 0, behind: self.dims[2].span(places.at[2].1) };
        for (phase_d, d) in (0..pd).flat_map(|p| (0..depth).map(move |d| (p, d))) {
            let d_at = self.pixel(0, places, self.phase(0, phase_d), d);
            for (h, phase_h) in (0..height).flat_map(|h| (0..ph).map(move |p| (h, p))) {
                let at = [d_at, self.pixel(1, places, self.phase(1, phase_h), h)];
                if (0..2).any(|i| i < self.joint && at[i].is_none()) {
                    continue;
                }
                for phase_w in 0..pw {
                    let phase = (phase_d * ph + phase_h) * pw + phase_w;
                    let to = ((phase * self.slots[0] + d) * self.slots[1] + h) * self.slots[2];
                    let at = at[0].zip(at[1]);
                    each(to, at.map_or(padding, |(d, h)| self.row(places, self.phase(2, phase_w), [d, h])));
                }
            }
        }
    }

    fn phase(&self, i: usize, index: usize) -> usize {
        if i >= self.joint { 0 } else { self.dims[i].meets(index).phase }
    }

    /// Places of a full box.
    fn each(&self, i: usize) -> usize {
        let (low, high) = self.dims[i].shifts();
        self.slots[i] - (high - low) as usize
    }

    /// The pixel in slot `slot` of a phase, where there is one.
    fn pixel(&self, i: usize, places: &Places, phase: usize, slot: usize) -> Option<usize> {
        if i >= self.joint {
            let pixel = (places.at[i].0 * self.dims[i].stride + slot) as i64 - self.dims[i].pad;
            return usize::try_from(pixel).ok().filter(|p| *p < self.dims[i].size);
        }
        let place = places.at[i].0 as i64 + self.first[i] + slot as i64;
        let pixel = usize::try_from(place).ok()? * self.dims[i].stride + phase;
        (pixel < self.dims[i].size).then_some(pixel)
    }

    fn row(&self, places: &Places, phase: usize, at: [usize; 2]) -> Row {
        let dim = &self.dims[2];
        let (place, count) = places.at[2];
        if self.is_merged() {
            let first = (place * dim.stride) as i64 - dim.pad;
            let cells = dim.span(count);
            let before = (-first).clamp(0, cells as i64) as usize;
            let inside = (dim.size as i64 - first).clamp(before as i64, cells as i64) as usize - before;
            return Row { at, before, first: (first + before as i64) as usize, step: 1, count: inside, behind: cells - before - inside };
        }
        let first = place as i64 + self.first[2];
        let skipped = (-first).max(0) as usize;
        let slots = (count + self.slots[2] - self.each(2)).saturating_sub(skipped);
        let first = (first + skipped as i64) as usize;
        let pixels = dim.size.saturating_sub(phase).div_ceil(dim.stride).saturating_sub(first);
        Row { at, before: skipped, first: first * dim.stride + phase, step: dim.stride, count: slots.min(pixels), behind: 0 }
    }
}

/// A row of pixels of an image that are copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// Depth and height.
    pub(crate) at: [usize; 2],
    /// Places of the copy in front of the first pixel; zeros where taps are one.
    pub(crate) before: usize,
    /// First pixel, distance of two, and number of pixels.
    pub(crate) first: usize,
    pub(crate) step: usize,
    pub(crate) count: usize,
    /// Zeros behind them.
    pub(crate) behind: usize,
}
