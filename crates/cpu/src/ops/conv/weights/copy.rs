//! Copying a box of pixels of an operand to the layout that tiles read: the channels of a block contiguous.

use super::side::{Places, Row, Strides};
use super::tiled::{Gradient, Side};
use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::extent::Read;
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_runtime::{Buf, Ctx};
use oxidnn_spec::{DataType, Error, MAX_NDIMS};

/// Lanes of the widest vector.
const MAX_LANES: usize = 16;
/// Masks of the lanes that are kept, from any number of lanes less than all on.
const KEPT: [u32; 2 * MAX_LANES] = {
    let mut kept = [0; 2 * MAX_LANES];
    let mut lane = 0;
    while lane < MAX_LANES {
        kept[lane] = u32::MAX;
        lane += 1;
    }
    kept
};
/// Elements converted at a time.
const CHUNK: usize = 2048;
/// Bytes to prefetch ahead of a copy, and the most pixels for that.
const PREFETCH_BYTES: usize = 4 << 10;
/// Bytes of a cache line: shorter pieces share lines with others that are copied soon.
const CACHE_LINE_BYTES: usize = 64;
const MAX_PREFETCHED_PIXELS: usize = 16;

/// An operand bound to its memory.
pub(super) struct Reader<'a> {
    pub(super) view: View<'a>,
    /// The elements, if they are f32.
    floats: Option<&'a [f32]>,
    /// Its first element.
    pub(super) first: usize,
    bytes: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(simd: Simd, ctx: &Ctx<'a>, side: &Side) -> Result<Reader<'a>, Error> {
        let view = View::of(simd, ctx, side.arg)?;
        let floats = if view.dtype() == DataType::F32 { ctx.input(side.arg) } else { None };
        let bytes = view.dims().iter().product::<i64>() as usize * view.dtype().bits() / 8;
        Ok(Reader { view, floats, first: view.offset(&[0; MAX_NDIMS]), bytes })
    }
}

/// A copy to be made.
pub(super) struct Copy<'c, 'a> {
    pub(super) plan: &'c Gradient,
    pub(super) side: &'c Side,
    pub(super) reader: &'c Reader<'a>,
    /// First channel of the tensor and number of channels.
    pub(super) channels: (usize, usize),
    /// Channels of a panel of the copy, and words from one panel to the next.
    pub(super) width: usize,
    pub(super) panel: usize,
    /// The destination.
    pub(super) to: Buf<'c>,
    /// Groups of images, and words of a pixel in one group.
    pub(super) groups: usize,
    pub(super) joint_images: usize,
}

/// Where the pixels of a row go: the first word, and words from one pixel to the next.
#[derive(Clone, Copy)]
struct To {
    first: usize,
    pixel: usize,
}

impl To {
    /// Where pixel `pixel` of the row goes, and those behind it.
    fn behind(self, pixel: usize) -> To {
        To { first: self.first + pixel * self.pixel, ..self }
    }
}

/// Pixels of a row: the first element, elements from one pixel to the next, and number of pixels.
#[derive(Clone, Copy)]
struct Pixels {
    first: usize,
    step: usize,
    count: usize,
    /// Elements from the pixels to those that share their words, if there are any.
    other: Option<usize>,
    /// Bits by which their elements are shifted in their words.
    raised: u32,
}

impl Copy<'_, '_> {
    /// Copies all pixels of a box.
    pub(super) fn all(&self, places: &Places) {
        let (grid, images) = (&self.side.grid, places.images.0 + places.images.1);
        if grid.padded {
            grid.epilogues(places).for_each(|slot| self.words(places, slot, |_, to| self.zeros(to, 0..grid.epilogue)));
        }
        grid.rows(places, |pixel, [low, high]| {
            self.words(places, pixel, |image, to| {
                let other = match (self.plan.vnni, self.plan.halves) {
                    (1, _) => None,
                    (_, None) => (image + 1 < images).then_some((image + 1, low)),
                    _ => (places.pair_offset != [0; 3]).then_some((image, high)),
                };
                self.row((image, low), other.unwrap_or_default(), to);
            });
        });
    }

    /// Calls `each` with the first images of all words of a pixel, and where these go.
    fn words(&self, places: &Places, pixel: usize, mut each: impl FnMut(usize, To)) {
        let pixels = self.side.grid.pixels().unwrap_or(0);
        for group in 0..self.groups {
            for word in 0..self.joint_images {
                let image = places.images.0 + (group * self.joint_images + word) * self.plan.vnni;
                let first = ((group * pixels + pixel) * self.joint_images + word) * self.width;
                each(image, To { first, pixel: self.joint_images * self.width });
            }
        }
    }

    /// Copies the words of a row of slots: those that both rows have, those of one, and zeros where they are multiplied.
    fn row(&self, (image, low): (usize, Row), (other, high): (usize, Row), to: To) {
        let strides = self.strides().filter(|_| self.plan.vnni > 1 || self.reader.view.dtype() == DataType::F32);
        let (end, has_zeros) = (|row: &Row| row.before + row.count, self.side.grid.has_zeros());
        let slots = if has_zeros { self.side.grid.lines().0 } else { end(&low).max(end(&high)) };
        let mut ends = [low.before, end(&low), high.before, end(&high), slots];
        ends.sort_unstable();
        let mut from = 0;
        for end in ends {
            let count = end - from;
            if count == 0 {
                continue;
            }
            let (at, met) = (to.behind(from), [&low, &high].map(|row| (row.before..row.before + row.count).contains(&from)));
            let place = |strides: &Strides, image: usize, row: &Row| {
                let (first, step) = self.place(strides, image, row);
                (first + (from - row.before) * step, step)
            };
            match (strides, met) {
                (Some(strides), [true, second]) => {
                    let (first, step) = place(strides, image, &low);
                    let other = second.then(|| place(strides, other, &high).0 - first);
                    self.lines(strides, Pixels { first, other, step, count, raised: 0 }, at);
                }
                (Some(strides), [false, true]) => {
                    let (first, step) = place(strides, other, &high);
                    self.lines(strides, Pixels { first, other: None, step, count, raised: 16 }, at);
                }
                (None, [true, _]) => self.general(image, &low, |i, first, numbers| self.put(at.first + i * at.pixel, first, numbers)),
                _ if has_zeros => self.zeros(at, 0..count),
                _ => {}
            }
            from = end;
        }
    }

    fn zeros(&self, to: To, pixels: std::ops::Range<usize>) {
        for panel in 0..self.channels.1.div_ceil(self.width) {
            let to = To { first: to.first + panel * self.panel, ..to }.behind(pixels.start);
            if to.pixel == self.width {
                self.to.part(to.first * 4, pixels.len() * to.pixel * 4).fill(0);
                continue;
            }
            (0..pixels.len()).for_each(|i| self.to.part(to.behind(i).first * 4, self.width * 4).fill(0));
        }
    }

    fn strides(&self) -> Option<&Strides> {
        self.side.strides.as_ref()
    }

    /// The element offset of a row's first pixel, and the stride of its pixels.
    fn place(&self, strides: &Strides, image: usize, row: &Row) -> (usize, usize) {
        let offset = self.reader.first + image * strides.image;
        (offset + row.at[0] * strides.at[0] + row.at[1] * strides.at[1] + row.first * strides.at[2], row.step * strides.at[2])
    }

    /// Copies pixels of a row whose channels are neighbours.
    fn lines(&self, strides: &Strides, pixels: Pixels, to: To) {
        let (view, paired, all) = (&self.reader.view, self.plan.vnni > 1, self.channels.1);
        if pixels.count == 0 {
            return;
        }
        let fills = paired && self.fills();
        self.blocks(strides, to, |done, channels, (width, panel), at| {
            let prefetch_distance = if paired { self.prefetch_distance(channels * 2, pixels.step * 2) } else { 0 };
            let pixels = Pixels { first: pixels.first + strides.channel(self.channels.0 + done), ..pixels };
            let (from, to) = (view.buf(), self.to);
            view.simd().run(Line { from, pixels, paired, prefetch_distance, channels, width, panel, fills, to, at });
        });
        if all % self.width > 0 && !fills {
            (0..pixels.count).for_each(|i| self.pad(to.behind(i).first, all));
        }
    }

    /// Pixels to prefetch ahead of interleaving, for pixels of `bytes` bytes at that stride: those from memory with gaps between, which
    /// hardware prefetchers do not recognise as a stream.
    fn prefetch_distance(&self, bytes: usize, stride: usize) -> usize {
        if (CACHE_LINE_BYTES..stride).contains(&bytes) && self.plan.is_far(self.reader.bytes) {
            (PREFETCH_BYTES / bytes.max(1)).clamp(1, MAX_PREFETCHED_PIXELS)
        } else {
            0
        }
    }

    /// Calls `each` with runs of channels that are neighbours in the operand: channels before it, their number, the channels of a panel of
    /// the copy with the stride of panels, and where the run goes.
    fn blocks(&self, strides: &Strides, to: To, mut each: impl FnMut(usize, usize, (usize, usize), To)) {
        let (mut done, all) = (0, self.channels.1);
        while done < all {
            let n = (strides.block - (self.channels.0 + done) % strides.block).min(all - done);
            let n = if strides.is_plain() { n } else { n.min(self.width - done % self.width) };
            let panels = if strides.is_plain() { (self.width, self.panel) } else { (n, 0) };
            each(done, n, panels, To { first: to.first + done / self.width * self.panel + done % self.width, pixel: to.pixel });
            done += n;
        }
    }

    /// Writes channels of a pixel from channel `first` on.
    fn put(&self, at: usize, first: usize, numbers: &[f32]) {
        let mut done = 0;
        while done < numbers.len() {
            let (panel, column) = ((first + done) / self.width, (first + done) % self.width);
            let n = (self.width - column).min(numbers.len() - done);
            self.to.write(panel * self.panel + at + column, &numbers[done..done + n]);
            done += n;
        }
        self.pad(at, first + numbers.len());
    }

    /// Whether words are written as far as vectors reach: to panels that have room, of operands whose channels are neighbours.
    fn fills(&self) -> bool {
        let columns = !std::ptr::eq(self.side, &raw const self.plan.rows);
        columns && self.width.is_multiple_of(MAX_LANES) && self.strides().is_some_and(Strides::is_plain)
    }

    /// Writes zeros behind the block's last channel, if that is `end`, as far as vectors reach: panels only, not rows.
    fn pad(&self, at: usize, end: usize) {
        const ZEROS: [u32; 64] = [0; 64];
        let column = end % self.width;
        if !std::ptr::eq(self.side, &raw const self.plan.rows) && end == self.channels.1 && column > 0 && self.width <= ZEROS.len() {
            self.to.write(end / self.width * self.panel + at + column, &ZEROS[..self.width - column]);
        }
    }

    /// A row of any layout and type: calls `each` with a pixel's index, a first channel and its numbers.
    fn general(&self, image: usize, row: &Row, mut each: impl FnMut(usize, usize, &[f32])) {
        let (reader, roles) = (self.reader, &self.side.roles);
        let source = Source { view: reader.view, zero_point: None, scale: None, floats: reader.floats };
        let across = Axis::new(&[roles.pixel[2].unwrap_or(0)], reader.view.dims());
        let mut pos: Pos = [0; MAX_NDIMS];
        for (d, at) in [(roles.image, image), (roles.pixel[0], row.at[0]), (roles.pixel[1], row.at[1])] {
            if let Some(d) = d {
                pos[d] = at as i64;
            }
        }
        let mut buffer = [0.0f32; CHUNK];
        let channels = self.channels.1;
        for c in (0..channels).step_by(CHUNK) {
            let n = (channels - c).min(CHUNK);
            let most = (CHUNK / n / row.step.max(1)).max(1);
            for i in (0..row.count).step_by(most) {
                let count = most.min(row.count - i);
                let (taken, step) = if most == 1 { (1, 1) } else { ((count - 1) * row.step + 1, row.step) };
                let line = Span { axis: &across, first: row.first + i * row.step, count: taken };
                let span = Span { axis: &roles.channels, first: self.channels.0 + c, count: n };
                pack::rows(&source, &pos, line, span, &mut buffer[..taken * n], n);
                for j in 0..count {
                    each(i + j, c, &buffer[j * step * n..][..n]);
                }
            }
        }
    }
}

/// Copies pixels: f32 elements, or words of the 16-bit elements of two rows.
struct Line<'a> {
    from: Buf<'a>,
    pixels: Pixels,
    /// Whether elements are 16-bit.
    paired: bool,
    /// Pixels from the one that is copied to the one that is prefetched; 0 for no prefetch.
    prefetch_distance: usize,
    channels: usize,
    width: usize,
    panel: usize,
    /// Whether zeros are written behind the last channel, as far as vectors reach.
    fills: bool,
    to: Buf<'a>,
    at: To,
}

impl Body for Line<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(mut self) {
        // Contiguous pixels on both sides are copied as one.
        if self.pixels.step == self.channels && self.at.pixel == self.channels && self.width >= self.channels {
            self.channels *= self.pixels.count;
            (self.width, self.pixels.count) = (self.channels, 1);
        }
        if self.paired { self.copy::<W, true>() } else { self.copy::<W, false>() }
    }
}

impl Line<'_> {
    #[inline(always)]
    fn copy<const W: usize, const P: bool>(&self) {
        match self.channels {
            n if n > self.width => {}
            1 => return self.pixels(|from, to| self.pieces::<1, P>((from, to), 1)),
            2 => return self.pixels(|from, to| self.pieces::<2, P>((from, to), 2)),
            3 => return self.pixels(|from, to| self.pieces::<3, P>((from, to), 3)),
            4 => return self.pixels(|from, to| self.pieces::<4, P>((from, to), 4)),
            8 => return self.pixels(|from, to| self.pieces::<8, P>((from, to), 8)),
            16 => return self.pixels(|from, to| self.pieces::<16, P>((from, to), 16)),
            32 => return self.pixels(|from, to| self.pieces::<32, P>((from, to), 32)),
            64 => return self.pixels(|from, to| self.pieces::<64, P>((from, to), 64)),
            n if P && self.fills => return self.pixels(|from, to| self.filled::<W>((from, to), n)),
            _ => {}
        }
        self.pixels(|from, mut to| {
            let mut first = 0;
            while first < self.channels {
                let (channels, at) = (self.width.min(self.channels - first), (from + first, to));
                match channels {
                    n if P && self.fills && !n.is_multiple_of(W) => self.filled::<W>(at, n),
                    64.. => self.pieces::<64, P>(at, channels),
                    n if n >= W => self.pieces::<W, P>(at, n),
                    8.. => self.pieces::<8, P>(at, channels),
                    4.. => self.pieces::<4, P>(at, channels),
                    _ => self.pieces::<1, P>(at, channels),
                }
                (first, to) = (first + self.width, to + self.panel);
            }
        });
    }

    /// Calls `each` with the first element and word of every pixel.
    #[inline(always)]
    fn pixels(&self, each: impl Fn(usize, usize)) {
        for i in 0..self.pixels.count {
            let from = self.pixels.first + i * self.pixels.step;
            if self.prefetch_distance > 0 {
                let (memory, later) = (Read::from(self.from), from + self.prefetch_distance * self.pixels.step);
                memory.ask(later * 2, self.channels * 2);
                self.pixels.other.into_iter().for_each(|other| memory.ask((later + other) * 2, self.channels * 2));
            }
            each(from, self.at.behind(i).first);
        }
    }

    /// Interleaves channels from element `from` to word `to`, and zeros behind them to whole vectors. What lies behind the channels is read with
    /// them, unless it is behind the operand.
    #[inline(always)]
    fn filled<const W: usize>(&self, (from, to): (usize, usize), channels: usize) {
        let (whole, left) = (channels / W * W, channels % W);
        let mut c = 0;
        while c < whole {
            self.to.write(to + c, &self.words::<W, true>(from + c));
            c += W;
        }
        if left == 0 {
            return;
        }
        let (from, to) = (from + whole, to + whole);
        if from + self.pixels.other.unwrap_or(0) + W > self.from.len() / 2 {
            self.to.write(to, &[0u32; W]);
            return (0..left).for_each(|c| self.pieces::<1, true>((from + c, to + c), 1));
        }
        let mut words = self.words::<W, true>(from);
        for (word, kept) in words.iter_mut().zip(&KEPT[MAX_LANES - left..]) {
            *word &= *kept;
        }
        self.to.write(to, &words);
    }

    /// Copies at least `N` channels from element `from` to word `to`, `N` at a time; the last piece overlaps the one before.
    #[inline(always)]
    fn pieces<const N: usize, const P: bool>(&self, (from, to): (usize, usize), channels: usize) {
        let mut c = 0;
        while c < channels {
            let at = c.min(channels - N);
            self.piece::<N, P>(from + at, to + at);
            c += N;
        }
    }

    /// Copies `N` channels, at most a vector of words at a time, which stays in a register.
    #[inline(always)]
    fn piece<const N: usize, const P: bool>(&self, from: usize, to: usize) {
        if !P || N <= MAX_LANES {
            return self.to.write(to, &self.words::<N, P>(from));
        }
        let mut c = 0;
        while c < N {
            self.to.write(to + c, &self.words::<MAX_LANES, P>(from + c));
            c += MAX_LANES;
        }
    }

    /// The words of `N` channels from element `from` on; `P`: of 16-bit elements.
    #[inline(always)]
    fn words<const N: usize, const P: bool>(&self, from: usize) -> [u32; N] {
        let mut words = [0; N];
        if !P {
            self.from.read(from, &mut words);
            return words;
        }
        let (mut low, mut high, mut j) = ([0u16; N], [0u16; N], 0);
        self.from.read(from, &mut low);
        // Loops of the language: those of the standard library are not compiled for wide vectors.
        if let Some(other) = self.pixels.other {
            self.from.read(from + other, &mut high);
            while j < N {
                words[j] = u32::from(low[j]) | u32::from(high[j]) << 16;
                j += 1;
            }
        }
        while j < N {
            words[j] = u32::from(low[j]) << self.pixels.raised;
            j += 1;
        }
        words
    }
}
