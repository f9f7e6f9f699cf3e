//! Copying a box of pixels of an operand to the layout that tiles read: the channels of a block contiguous.

use super::side::{Places, Row, Strides};
use super::tiled::{Gradient, Side};
use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_jit::kernels::tiles::LINES;
use oxidnn_runtime::{Buf, Ctx};
use oxidnn_spec::{DataType, Error, MAX_NDIMS};

/// Lanes of the widest vector.
const MAX_LANES: usize = 16;
/// Elements converted at a time.
const CHUNK: usize = 2048;
/// An operand bound to its memory.
pub(super) struct Reader<'a> {
    pub(super) view: View<'a>,
    /// The elements, if they are f32.
    floats: Option<&'a [f32]>,
    /// Its first element.
    pub(super) first: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(simd: Simd, ctx: &Ctx<'a>, side: &Side) -> Result<Reader<'a>, Error> {
        let view = View::of(simd, ctx, side.arg)?;
        let floats = if view.dtype() == DataType::F32 { ctx.input(side.arg) } else { None };
        Ok(Reader { view, floats, first: view.offset(&[0; MAX_NDIMS]) })
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
    /// Images, or pairs of them that share words: one after the other, and side by side.
    pub(super) images: [usize; 2],
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
            grid.epilogues(places).for_each(|slot| self.words(places, slot, |_, to| self.zeros(to, LINES)));
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
    fn words(&self, places: &Places, pixel: usize, mut each: impl FnMut(usize, usize)) {
        let pixels = self.side.grid.pixels().unwrap_or(0);
        let [count, side_by_side] = self.images;
        for (i, word) in (0..count).flat_map(|i| (0..side_by_side).map(move |word| (i, word))) {
            let image = places.images.0 + (i * side_by_side + word) * self.plan.vnni;
            each(image, ((i * pixels + pixel) * side_by_side + word) * self.width);
        }
    }

    /// Copies the words of a row of slots: those that both rows have, those of one, and zeros where they are multiplied.
    fn row(&self, (image, low): (usize, Row), (other, high): (usize, Row), to: usize) {
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
            let (at, met) = (to + from * self.pitch(), [&low, &high].map(|row| (row.before..row.before + row.count).contains(&from)));
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
                (None, [true, _]) => self.general(image, &low, |i, first, numbers| self.put(at + i * self.pitch(), first, numbers)),
                _ if has_zeros => self.zeros(at, count),
                _ => {}
            }
            from = end;
        }
    }

    fn zeros(&self, to: usize, pixels: usize) {
        for panel in 0..self.channels.1.div_ceil(self.width) {
            let to = to + panel * self.panel;
            if self.pitch() == self.width {
                self.to.part(to * 4, pixels * self.width * 4).fill(0);
            } else {
                (0..pixels).for_each(|i| self.to.part((to + i * self.pitch()) * 4, self.width * 4).fill(0));
            }
        }
    }

    /// Words from one pixel to the next.
    fn pitch(&self) -> usize {
        self.images[1] * self.width
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
    fn lines(&self, strides: &Strides, pixels: Pixels, to: usize) {
        let (view, paired, all) = (&self.reader.view, self.plan.vnni > 1, self.channels.1);
        self.blocks(strides, to, |done, channels, (width, panel), at| {
            let pixels = Pixels { first: pixels.first + strides.channel(self.channels.0 + done), ..pixels };
            view.simd().run(Line { from: view.buf(), pixels, paired, channels, width, panel, to: self.to, at, pitch: self.pitch() });
        });
        if all % self.width > 0 {
            (0..pixels.count).for_each(|i| self.pad(to + i * self.pitch(), all));
        }
    }

    /// Calls `each` with runs of channels that are neighbours in the operand: channels before it, their number, the channels of a panel of
    /// the copy with the stride of panels, and where the run goes.
    fn blocks(&self, strides: &Strides, to: usize, mut each: impl FnMut(usize, usize, (usize, usize), usize)) {
        let (mut done, all) = (0, self.channels.1);
        while done < all {
            let n = (strides.block - (self.channels.0 + done) % strides.block).min(all - done);
            let n = if strides.is_plain() { n } else { n.min(self.width - done % self.width) };
            let panels = if strides.is_plain() { (self.width, self.panel) } else { (n, 0) };
            each(done, n, panels, to + done / self.width * self.panel + done % self.width);
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
    channels: usize,
    width: usize,
    panel: usize,
    to: Buf<'a>,
    /// The first word, and words from one pixel to the next.
    at: usize,
    pitch: usize,
}

impl Body for Line<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(mut self) {
        // Contiguous pixels on both sides are copied as one.
        if self.pixels.step == self.channels && self.pitch == self.channels && self.width >= self.channels {
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
            _ => {}
        }
        self.pixels(|from, mut to| {
            let mut first = 0;
            while first < self.channels {
                let (channels, at) = (self.width.min(self.channels - first), (from + first, to));
                match channels {
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
            each(self.pixels.first + i * self.pixels.step, self.at + i * self.pitch);
        }
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
