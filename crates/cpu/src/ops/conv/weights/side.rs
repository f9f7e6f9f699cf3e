//! One operand of a gradient of weights: which of its pixels a tap reads, and where they are, in place or in a copy.
//!
//! The window slides over one operand, `X`; the other one, `Y`, has a pixel for every place of the window. A copy has the pixels of a box
//! by their remainder modulo the window's stride (their *phase*), so that the pixels that a tap reads are contiguous for any stride. It has
//! the pixels of several images side by side, so that one row of a small image still makes a long part of the reduction. Pixels of padding
//! are neither copied nor multiplied: a tap is used only at the places where it is inside.

use crate::kernels::access::Axis;
use oxidnn_jit::kernels::tiles::LINES;
use oxidnn_spec::Tensor;
use std::ops::Range;

/// A dimension of the window over an operand. For `Y` the window is one pixel wide and moves by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    /// Pixels of the operand.
    pub(crate) size: usize,
    /// Places of the window.
    pub(crate) places: usize,
    /// Taps, their dilation, the stride of places, and pixels of padding before the first.
    pub(crate) taps: usize,
    pub(crate) dilation: usize,
    pub(crate) stride: usize,
    pub(crate) pad: i64,
}

/// What a tap reads in one dimension: at place `o` the pixel `(o + shift) * stride + phase`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PhaseShift {
    phase: usize,
    shift: i64,
}

impl Dim {
    /// The dimension of `Y`, for `places` places.
    pub(crate) fn of_places(places: usize) -> Dim {
        Dim { size: places, places, taps: 1, dilation: 1, stride: 1, pad: 0 }
    }

    #[inline]
    fn phase_shift(&self, tap: usize) -> PhaseShift {
        let (first, stride) = ((tap * self.dilation) as i64 - self.pad, self.stride as i64);
        // Divisions take longer than the rest of a small gradient.
        if stride == 1 {
            return PhaseShift { phase: 0, shift: first };
        }
        let phase = first.rem_euclid(stride);
        PhaseShift { phase: phase as usize, shift: (first - phase) / stride }
    }

    /// The places of the window at which a tap is inside.
    pub(crate) fn inside(&self, tap: usize) -> Range<usize> {
        let PhaseShift { phase, shift } = self.phase_shift(tap);
        let end = (self.pixels(phase) as i64 - shift).clamp(0, self.places as i64);
        (-shift).clamp(0, end) as usize..end as usize
    }

    /// Pixels of a phase.
    #[inline]
    fn pixels(&self, phase: usize) -> usize {
        let pixels = self.size.saturating_sub(phase);
        if self.stride == 1 { pixels } else { pixels.div_ceil(self.stride) }
    }

    /// Whether every tap is inside at some place.
    pub(crate) fn meets_pixels(&self) -> bool {
        // The other taps are between the first and the last, and a stride does not step over all pixels.
        self.size >= self.stride && [0, self.taps.saturating_sub(1)].iter().all(|tap| !self.inside(*tap).is_empty())
    }

    /// Smallest and largest shift of all taps.
    fn shifts(&self) -> (i64, i64) {
        (self.phase_shift(0).shift, self.phase_shift(self.taps.max(1) - 1).shift)
    }

    /// Index of a tap's phase among the phases of all taps, in the order of taps.
    fn phase_index(&self, tap: usize) -> usize {
        let period = self.period();
        if period == 1 { 0 } else { tap % period }
    }

    /// Taps from one of a phase to the next of the same phase.
    pub(crate) fn period(&self) -> usize {
        if self.stride == 1 {
            return 1;
        }
        let (mut a, mut b) = (self.dilation, self.stride);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        self.stride / a.max(1)
    }

    /// Pixels from the first to the last that any tap reads at `places` places.
    pub(super) fn span(&self, places: usize) -> usize {
        (places.max(1) - 1) * self.stride + (self.taps.max(1) - 1) * self.dilation + 1
    }

    /// Number of phases of the taps.
    fn phases(&self) -> usize {
        self.taps.min(self.period())
    }
}

/// Strides of an operand's elements in memory; channels are contiguous, at least within blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Strides {
    pub(crate) image: usize,
    pub(crate) at: [usize; 3],
    /// Channels of a block, and the stride of blocks.
    pub(crate) block: usize,
    pub(crate) far: usize,
}

impl Strides {
    /// The offset of a channel.
    pub(crate) fn channel(&self, channel: usize) -> usize {
        channel / self.block * self.far + channel % self.block
    }

    /// Whether all channels are contiguous.
    pub(crate) fn is_plain(&self) -> bool {
        self.block == usize::MAX
    }
}

/// The roles of a tensor's dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roles {
    /// Images; `None` for a single one.
    pub(crate) image: Option<usize>,
    /// Depth, height and width, if the tensor has them.
    pub(crate) pixel: [Option<usize>; 3],
    /// Channels.
    pub(crate) channels: Axis,
}

impl Roles {
    /// The strides of a tensor with these roles, if its channels are contiguous.
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
    /// The distance in each dimension to the places that share their 16-bit words, if not images do; else 0.
    pub(crate) pair_offset: [usize; 3],
}

/// The layout of the pixels of a box of an operand in its copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Grid {
    /// The window.
    pub(crate) dims: [Dim; 3],
    /// Phases in each dimension.
    phases: [usize; 3],
    /// Pixels of a phase.
    slots: [usize; 3],
    /// The place, before or behind the box's first, whose pixel is the first of a phase.
    first: [i64; 3],
    /// Whether the taps of a window row are merged into one with as many times the channels. Their pixels are copied with padding, so that they
    /// are contiguous.
    pub(crate) merged: bool,
    /// Whether all slots are copied, with zeros for those that have no pixel, so that taps are inside at all places of a row.
    pub(crate) padded: bool,
    /// Slots behind the rows of each image of a padded copy, and behind those of the last one: zeros over which products go on to whole K
    /// blocks of tiles. Those of one operand suffice between images.
    epilogue: usize,
    tail: usize,
}

/// Strides, and the offset of the first pixel that a tap reads at a box's first place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) base: i64,
    /// From one group of images to the next.
    pub(crate) image: usize,
    /// From one place to the next in each dimension.
    pub(crate) at: [usize; 3],
}

impl Line {
    /// All of it in units of `1 / n`.
    pub(crate) fn scaled(self, n: usize) -> Line {
        Line { base: self.base * n as i64, image: self.image * n, at: self.at.map(|d| d * n) }
    }
}

impl Grid {
    /// The grid of boxes of `each` places.
    pub(crate) fn new(dims: [Dim; 3], each: [usize; 3], merged: bool) -> Grid {
        let mut grid = Grid { dims, phases: [1; 3], slots: [1; 3], first: [0; 3], merged, padded: false, epilogue: 0, tail: 0 };
        for (i, dim) in dims.iter().enumerate() {
            if grid.is_merged(i) {
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

    /// The grids of an operand and of the one that the window slides over, padded: with rows of as many slots, so that the rows of a box are
    /// one part of the reduction.
    pub(crate) fn padded([mut sliding, mut other]: [Grid; 2]) -> [Grid; 2] {
        let (across, rows) = (sliding.slots[2], LINES.div_ceil(sliding.slots[2].max(1)));
        (sliding.padded, sliding.tail) = (true, LINES);
        other.slots[2] = across;
        if other.slots[0] > 1 {
            other.slots[1] += rows;
        }
        [sliding, Grid { padded: true, epilogue: LINES, ..other }]
    }

    /// The grid of a transposed copy, whose rows have the pixels of one channel. If a row of the window is merged, it has places instead of
    /// pixels.
    pub(crate) fn turned(&self) -> Grid {
        if !self.merged {
            return *self;
        }
        let across = &self.dims[2];
        let places = (self.slots[2] - across.taps) / across.stride + 1;
        let (mut dims, mut slots) = (self.dims, self.slots);
        (dims[2], slots[2]) = (Dim::of_places(across.places), places);
        Grid { dims, slots, merged: false, ..*self }
    }

    /// Whether the taps of dimension `i` are merged.
    fn is_merged(&self, i: usize) -> bool {
        self.merged && i == 2
    }

    /// Whether slots without a pixel are multiplied, so that copies have zeros there.
    pub(crate) fn has_zeros(&self) -> bool {
        self.padded || self.merged
    }

    /// Whether no two taps read the same phase, in boxes of `each` places.
    pub(crate) fn is_partition(&self, [_, each @ ..]: [usize; 4]) -> bool {
        self.slots == each
    }

    /// Number of merged taps.
    pub(crate) fn merged_taps(&self) -> usize {
        if self.merged { self.dims[2].taps } else { 1 }
    }

    /// Pixels of a row of a copy, and number of rows.
    pub(crate) fn lines(&self) -> (usize, usize) {
        (self.slots[2], self.phases.iter().product::<usize>() * self.slots[0] * self.slots[1])
    }

    /// Pixels of a copy of `images` images; `None` on overflow.
    pub(crate) fn all_pixels(&self, images: usize) -> Option<usize> {
        self.pixels()?.checked_mul(images)?.checked_add(self.tail)
    }

    /// Pixels from one image of a copy to the next; `None` on overflow.
    pub(crate) fn pixels(&self) -> Option<usize> {
        self.phases.iter().chain(&self.slots).try_fold(1usize, |n, s| n.checked_mul(*s))?.checked_add(self.epilogue)
    }

    /// Taps in each dimension; merged ones count once.
    pub(crate) fn taps(&self) -> [usize; 3] {
        std::array::from_fn(|i| if self.is_merged(i) { 1 } else { self.dims[i].taps })
    }

    /// The places of a box at which a tap is inside.
    pub(crate) fn inside(&self, i: usize, tap: usize, places: &Places) -> Range<usize> {
        let (first, count) = places.at[i];
        let all = if self.is_merged(i) { 0..first + count } else { self.dims[i].inside(tap) };
        // Rows on padding are left out of a padded copy's products, unless rows share words with others.
        let whole = self.padded && !all.is_empty() && (i == 2 || places.pair_offset[i] > 0);
        let all = if whole { 0..first + count } else { all };
        let end = all.end.min(first + count);
        all.start.max(first).min(end)..end
    }

    /// Offset and strides of a tap's pixels in a copy, in pixels. `images` is the stride of groups of images.
    pub(crate) fn copied(&self, tap: [usize; 3], images: usize) -> Line {
        let mut at = [self.slots[1] * self.slots[2], self.slots[2], 1];
        let (mut phase, mut base) = (0, 0);
        for (i, distance) in at.iter().enumerate().filter(|(i, _)| !self.is_merged(*i)) {
            phase = phase * self.phases[i] + self.dims[i].phase_index(tap[i]);
            base += (self.dims[i].phase_shift(tap[i]).shift - self.first[i]) * *distance as i64;
        }
        base += (phase * self.slots.iter().product::<usize>()) as i64;
        at[2] *= if self.merged { self.dims[2].stride } else { 1 };
        Line { base, image: images, at }
    }

    /// Offset and strides of a tap's pixels in place, in elements from the operand's first on.
    pub(crate) fn placed(&self, tap: [usize; 3], places: &Places, strides: &Strides) -> Line {
        let mut line = Line { base: (places.images.0 * strides.image) as i64, image: strides.image, at: [0; 3] };
        for (i, dim) in self.dims.iter().enumerate() {
            let pixel = (places.at[i].0 * dim.stride + tap[i] * dim.dilation) as i64 - dim.pad;
            line.base += pixel * strides.at[i] as i64;
            line.at[i] = dim.stride * strides.at[i];
        }
        line
    }

    /// Calls `each` with every row of slots of a copy of a box: the first slot, the row's pixels, and those that share their words. Rows on
    /// padding are left out, unless their zeros are multiplied.
    pub(crate) fn rows(&self, places: &Places, mut each: impl FnMut(usize, [Row; 2])) {
        let ([pd, ph, pw], [depth, height]) = (self.phases, self.heights(places));
        let (offset, shared) = (places.pair_offset, places.pair_offset != [0; 3]);
        let pixels = |i: usize, line: (usize, usize)| {
            let low = self.pixel(i, places.at[i].0, line);
            [low, if shared { self.pixel(i, places.at[i].0 + offset[i], line) } else { low }]
        };
        for (phase_d, d) in (0..pd).flat_map(|p| (0..depth).map(move |d| (p, d))) {
            let depths = pixels(0, (phase_d, d));
            for (h, phase_h) in (0..height).flat_map(|h| (0..ph).map(move |p| (h, p))) {
                let heights = pixels(1, (phase_h, h));
                let is_left_out = |which: usize| depths[which].is_none() || heights[which].is_none();
                if !self.padded && is_left_out(0) && is_left_out(1) {
                    continue;
                }
                for phase_w in 0..pw {
                    let to = (((phase_d * ph + phase_h) * pw + phase_w) * self.slots[0] + d) * self.slots[1] + h;
                    let row = |which: usize, offset: usize| {
                        let at = depths[which].zip(heights[which]);
                        at.map_or(Row::default(), |(d, h)| self.row((places.at[2].0 + offset, places.at[2].1), phase_w, [d, h]))
                    };
                    let low = row(0, 0);
                    each(to * self.slots[2], [low, if shared { row(1, offset[2]) } else { low }]);
                }
            }
        }
    }

    /// Depths and heights of the slots of a box in a phase.
    fn heights(&self, places: &Places) -> [usize; 2] {
        [0, 1].map(|i| self.slots_of(i, places.at[i].1))
    }

    /// Slots of `places` places in a phase.
    fn slots_of(&self, i: usize, places: usize) -> usize {
        let (low, high) = self.dims[i].shifts();
        if self.is_merged(i) { self.dims[i].span(places) } else { places + (high - low) as usize }
    }

    /// The slots behind the rows of every phase and depth of a padded copy of a box, from which on an epilogue has zeros unless rows follow.
    pub(crate) fn epilogues(&self, places: &Places) -> impl Iterator<Item = usize> + use<> {
        let ([depth, height], slots, phases) = (self.heights(places), self.slots, self.phases.iter().product::<usize>());
        (0..phases).flat_map(move |phase| (0..depth).map(move |d| ((phase * slots[0] + d) * slots[1] + height) * slots[2]))
    }

    fn phase(&self, i: usize, index: usize) -> usize {
        if self.is_merged(i) { 0 } else { self.dims[i].phase_shift(index).phase }
    }

    /// What the slots of dimension `i` in a phase hold, if the first place is `first`: the place of the first slot, its pixels per place, and
    /// their number.
    fn of_slots(&self, i: usize, first: usize, phase: usize) -> (i64, usize, i64) {
        let dim = &self.dims[i];
        if self.is_merged(i) {
            return ((first * dim.stride) as i64 - dim.pad, 1, dim.size as i64);
        }
        (first as i64 + self.first[i], dim.stride, dim.pixels(phase) as i64)
    }

    /// The pixel in a slot of a phase, if there is one.
    fn pixel(&self, i: usize, first: usize, (phase, slot): (usize, usize)) -> Option<usize> {
        let phase = self.phase(i, phase);
        let (first, step, pixels) = self.of_slots(i, first, phase);
        let place = first + slot as i64;
        (0..pixels).contains(&place).then(|| place as usize * step + phase)
    }

    /// The pixels of a row of slots, for `count` places from `first` on.
    fn row(&self, (first, count): (usize, usize), phase: usize, at: [usize; 2]) -> Row {
        let (phase, slots) = (self.phase(2, phase), self.slots_of(2, count) as i64);
        let (first, step, pixels) = self.of_slots(2, first, phase);
        let before = (-first).clamp(0, slots);
        let count = (pixels - first).clamp(before, slots) - before;
        Row { at, before: before as usize, first: (first + before).max(0) as usize * step + phase, step, count: count as usize }
    }
}

/// A row of pixels of an image to copy.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Row {
    /// Depth and height.
    pub(crate) at: [usize; 2],
    /// Slots of the copy before the first pixel.
    pub(crate) before: usize,
    /// First pixel, distance of two, number of pixels.
    pub(crate) first: usize,
    pub(crate) step: usize,
    pub(crate) count: usize,
}

/// The two halves of the places of an image, in one dimension, at which all taps are inside: each tap reads the same in both. The remaining
/// places are paired with zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halves {
    /// Which dimension of the window.
    pub(super) dim: usize,
    /// The first place, and places of a half.
    first: usize,
    pub(super) count: usize,
}

impl Halves {
    /// Halves by depth or height that leave the fewest places, else by width, which splits rows; `None` if there are none.
    pub(super) fn of(window: &[Dim; 3]) -> Option<Halves> {
        let halves = |dim: usize| {
            let [first, last] = [0, window[dim].taps.saturating_sub(1)].map(|tap| window[dim].inside(tap));
            let start = first.start.max(last.start);
            let (end, Dim { places, taps, .. }) = (first.end.min(last.end), window[dim]);
            // With a single tap the last place may lack a partner: no other tap reads its pixel.
            let odd = taps == 1 && end == places;
            Halves { dim, first: start, count: (end.saturating_sub(start) + usize::from(odd)) / 2 }
        };
        let are = |h: &Halves| h.count > 0 && window[h.dim].places > 1;
        let fewest = [1, 0].map(halves).into_iter().filter(are);
        let fewest = fewest.min_by_key(|h| (window[h.dim].places - h.count) * (1 << 16) / window[h.dim].places);
        fewest.or_else(|| Some(halves(2)).filter(are))
    }

    /// Halves of all places for padded copies, by height if it has several places; the last place may lack a partner.
    pub(super) fn padded(window: &[Dim; 3]) -> Option<Halves> {
        let dim = [1, 0, 2].into_iter().find(|dim| window[*dim].places > 1)?;
        Some(Halves { dim, first: 0, count: window[dim].places.div_ceil(2) })
    }

    /// Whether places remain.
    pub(super) fn leaves_some(&self, window: &[Dim; 3]) -> bool {
        self.first > 0 || self.first + 2 * self.count < window[self.dim].places
    }

    /// Boxes of at most `each` places for all `places`.
    pub(super) fn boxes(&self, places: usize, each: usize) -> usize {
        [self.count, self.first, places.saturating_sub(self.first + 2 * self.count)].iter().map(|n| n.div_ceil(each)).sum()
    }

    /// First place and number of places of a box, and the distance to the places that share their words; 0 for remaining places.
    pub(super) fn span(&self, (places, each): (usize, usize), index: usize) -> (usize, usize, usize) {
        let mut index = index;
        for (start, end, pair_offset) in
            [(self.first, self.first + self.count, self.count), (0, self.first, 0), (places.min(self.first + 2 * self.count), places, 0)]
        {
            let boxes = (end - start).div_ceil(each);
            if index < boxes {
                let first = start + index * each;
                return (first, each.min(end - first), pair_offset);
            }
            index -= boxes;
        }
        (0, 0, 0)
    }
}
