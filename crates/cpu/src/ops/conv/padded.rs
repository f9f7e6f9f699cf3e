//! A copy of the source for tiles of AMX in which padding is pixels of zeros.
//!
//! Tiles load rows at one distance. Where a window reads padding, rows would be gathered for every tap, which takes several times as long as to multiply
//! them by few columns. In a copy all results meet all taps at one distance, taps that are neighbours in a line are one of their joint depth, and channels
//! end with whole steps. Some images are copied at a time, or the lines that some lines of results meet, so that the copy stays in L2.

use super::geometry::Line;
use super::tiles::Place;
use crate::kernels::amx;
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_jit::kernels::tiles::ROWS;
use oxidnn_runtime::{Buf, Element, Executor};
use std::ops::{BitAnd, BitOr, Shl, Shr};

/// Cycles in which a row is gathered for a tap, and bytes of it for each of which it takes one more.
const GATHERED: usize = 12;
const LINE: usize = 32;
/// Cycles for each row of tiles whose results are listed, and rows of a tile that it takes as long as without others.
const LISTED: usize = 12;
const LEAST: usize = 28;
/// Cycles of a call.
const CALL: usize = 600;
/// Bytes that are copied in a cycle, and of pixels that lie as densely in the source.
const COPIED: usize = 8;
const DENSE: usize = 32;
/// Bytes of a pixel up to which copies need not stay in L2: little of them is read at a time.
const FEW: usize = 64;
/// Tasks of copying for every worker.
const TASKS: usize = 2;
/// Part of the second caches that an image may take, else bands of its lines do, of so many times as many lines as two of them share.
const BANDS: usize = 4;
const OFTEN: usize = 4;
/// Part of the products' time that a copy may take in any case.
const SHARE: usize = 16;

/// How the source is copied.
#[derive(Clone, Debug)]
pub(super) struct Padded {
    /// Images that are copied at a time, and lines of results of a plane whose source is, of how many.
    pub(super) images: usize,
    pub(super) lines: usize,
    height: usize,
    /// Groups, whose pixels lie apart.
    groups: usize,
    /// Pixels before the source's, the source's, and all, in every dimension.
    before: [usize; 3],
    inner: [usize; 3],
    all: [usize; 3],
    /// Bytes of a pixel of a group in the source and in the copy.
    bytes: usize,
    pixel: usize,
    /// Whether rows that meet padding need no care of their own.
    pub(super) watched: bool,
    /// Whether all results of a plane are one line, with some behind each line's last that nobody wants.
    wide: bool,
}

/// What is to be copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) images: usize,
    pub(super) groups: usize,
    /// Bytes of a pixel of a group, and what they are padded to.
    pub(super) bytes: usize,
    pub(super) pixel: usize,
    /// Columns of a group.
    pub(super) columns: usize,
    /// Bytes of the second caches, and of panels that stay in one.
    pub(super) budget: usize,
    pub(super) panels: usize,
    /// Whether sums are integers, or may be looked at once they are finished, and computed again.
    pub(super) watched: bool,
    /// Whether results depend on nothing that lies where they do.
    pub(super) repeats: bool,
    /// Whether padding may be what is no zero: then results that meet it need no pass of their own.
    pub(super) fills: bool,
}

impl Wish {
    /// Cycles in which a row is gathered for a tap, once for each group of panels that stay in L2.
    fn gathered(&self, taps: usize) -> usize {
        let groups = (taps * self.pixel * self.columns.next_multiple_of(16)).div_ceil(self.panels.max(1));
        (GATHERED + self.bytes / LINE) * groups.max(1)
    }
}

impl Padded {
    /// A copy, where windows read padding or pixels do not end with whole steps, it fits, and it pays.
    pub(super) fn new(lines: &[Line; 3], wish: Wish) -> Option<Padded> {
        let padded = Padded::of_lines(lines, &wish)?;
        let padded = padded.in_bands(lines, &wish).unwrap_or(padded);
        let fits = padded.image() <= if wish.pixel <= FEW { wish.budget.saturating_mul(FEW / wish.pixel.max(1) + 1) } else { wish.budget };
        let most = if fits { (wish.budget / 2 / padded.image().max(1)).clamp(1, wish.images) } else { 0 };
        let images = (1..=most).rev().find(|n| wish.images.is_multiple_of(*n))?;
        let padded = Padded { images, wide: padded.is_wide(lines, &wish), ..padded };
        padded.pays(lines, &wish).then_some(padded)
    }

    /// A copy of all lines of an image.
    fn of_lines(lines: &[Line; 3], wish: &Wish) -> Option<Padded> {
        let reach = |line: &Line| {
            let ends = line.phases.iter().filter_map(|p| p.reach(line.stride, 0, p.count.max(1)));
            ends.fold((0, line.source), |(low, end), (l, h)| (low.min(l), end.max(h + 1)))
        };
        let reaches = [0, 1, 2].map(|i| reach(&lines[i]));
        let mut before = reaches.map(|(low, _)| low.unsigned_abs() as usize);
        let mut all: [usize; 3] = std::array::from_fn(|i| (reaches[i].1 - reaches[i].0) as usize);
        let inner = [0, 1, 2].map(|i| lines[i].source as usize);
        if !wish.fills {
            // Planes of padding are no taps, instead of zeros.
            (before[0], all[0]) = (0, inner[0]);
        }
        if wish.images == 0 || inner.contains(&0) || lines.iter().flat_map(|line| &line.phases).any(|p| p.count == 0 || p.taps.is_empty()) {
            return None;
        }
        let Wish { groups, bytes, pixel, watched, .. } = *wish;
        all.iter().try_fold(groups * pixel, |n, size| n.checked_mul(*size))?;
        let height = lines[1].phases.iter().map(|p| p.count).max().unwrap_or(0);
        Some(Padded { images: 1, lines: height, height, groups, before, inner, all, bytes, pixel, watched, wide: false })
    }

    /// The same for fewer lines of results, where an image is large: the last of them begin among those before, as many.
    fn in_bands(&self, lines: &[Line; 3], wish: &Wish) -> Option<Padded> {
        let [depth, height, _] = lines;
        let (limit, line) = (wish.budget / BANDS, self.all[2] * self.pixel * self.groups);
        let [phase] = &*height.phases else { return None };
        if depth.phases.len() > 1 || self.all[0] > 1 || self.image() <= limit || !wish.watched || !wish.repeats {
            return None;
        }
        let (low, high) = phase.reach(height.stride, 0, 1)?;
        let (before, stride) = (self.before[1], height.stride as usize);
        let copied = |lines: usize| before + (lines - 1) * stride + high.max(0) as usize + 1;
        let most = (1..=phase.count).rev().find(|n| copied(*n) * line <= limit)?;
        let each = phase.count.div_ceil(phase.count.div_ceil(most));
        // Lines that two bands meet are copied twice.
        let again = (high - low + 1).max(0) as usize;
        (each * stride >= OFTEN * again).then_some(Padded { lines: each, all: [1, copied(each), self.all[2]], ..self.clone() })
    }

    /// The first lines of results of the bands of an image.
    pub(super) fn bands(&self) -> impl Iterator<Item = usize> + use<> {
        let (lines, last) = (self.lines.max(1), self.height - self.lines);
        (0..self.height).step_by(lines).map(move |first| first.min(last))
    }

    /// Whether results that need not be gathered, for each tap, save more than the copy takes.
    fn pays(&self, lines: &[Line; 3], wish: &Wish) -> bool {
        let counts = |inside: bool| -> usize {
            let dim = |line: &Line| -> usize { line.phases.iter().map(|p| if inside { line.inside(p) } else { p.count }).sum() };
            lines.iter().map(dim).product()
        };
        let taps: usize = lines.iter().map(|line| line.phases.iter().map(|p| p.taps.len()).max().unwrap_or(0)).product();
        let (rows, partial) = (counts(false), self.bytes < self.pixel || !self.bytes.is_multiple_of(4));
        let gathered = if partial || self.wide { rows } else { rows - counts(true) };
        let rate = if self.bytes == self.pixel && self.groups == 1 { DENSE } else { COPIED };
        let copied = self.image() * self.bands().count() / rate;
        let products = rows * taps * self.groups * self.bytes.div_ceil(64) * wish.columns.div_ceil(16);
        let passes = wish.fills && rows > counts(true);
        passes || gathered > 0 && copied < self.groups * gathered * taps * wish.gathered(taps) + products / SHARE
    }

    /// Whether tiles of a plane's results, with those between lines, take less time than those of its lines, which are gathered where they are short.
    fn is_wide(&self, lines: &[Line; 3], wish: &Wish) -> bool {
        let [height, width] = [&lines[1], &lines[2]];
        let ([_], [w]) = (&*height.phases, &*width.phases) else { return false };
        if [height, width].iter().any(|line| line.stride != 1) || self.lines < 2 || !wish.watched || !wish.repeats {
            return false;
        }
        let taps: usize = lines.iter().map(|line| line.phases.iter().map(|p| p.taps.len()).max().unwrap_or(0)).product();
        let row = taps * self.bytes.div_ceil(64) * wish.columns.div_ceil(16);
        // Tiles take as long as they have rows, or as their operands need.
        let pieces = w.count.div_ceil(16);
        let apart = if w.count / pieces >= amx::SHORT {
            let calls = if amx::are_alike(w.count) { 0 } else { 2 * self.lines };
            (self.lines * pieces).div_ceil(2) * (2 * w.count / pieces).max(LEAST) * row + calls * CALL
        } else {
            self.lines * w.count * (row + taps * wish.gathered(taps))
        };
        let plane = self.plane(w.count);
        plane / plane.div_ceil(16) >= amx::SHORT && plane * (row + LISTED) < apart
    }

    /// Results of a plane and those between its lines, and as many behind them as give all its tiles as many rows.
    fn plane(&self, width: usize) -> usize {
        let rows = (self.lines - 1) * self.all[2] + width;
        let tiles = rows.div_ceil(ROWS);
        rows.div_ceil(tiles) * tiles
    }

    /// Bytes behind the copy that results behind a plane meet.
    fn behind(&self) -> usize {
        if self.wide { ROWS * self.pixel } else { 0 }
    }

    /// Pixels from one line of a plane to the next, where all are one line.
    pub(super) fn wide(&self) -> Option<usize> {
        self.wide.then_some(self.all[2])
    }

    /// Bytes of an image.
    fn image(&self) -> usize {
        self.groups * self.all.iter().product::<usize>() * self.pixel
    }

    /// Bytes of a group of an image.
    fn group(&self) -> usize {
        self.all.iter().product::<usize>() * self.pixel
    }

    /// Bytes of the copy, and as many more as a tile may read behind it.
    pub(super) fn len(&self) -> usize {
        self.images * self.image() + self.behind() + 64
    }

    /// Where pixels lie in the copy. Groups that are not told apart lie in a pixel as they did.
    pub(super) fn place(&self, from: &Place) -> Place {
        let [_, h, w] = self.all;
        let strides = [h * w * self.pixel, w * self.pixel, self.pixel];
        let base = self.before.iter().zip(strides).map(|(n, stride)| n * stride).sum();
        Place { base, image: self.image(), group: if self.groups > 1 { self.group() } else { from.group }, strides }
    }

    /// The lines of the copy, in which nothing reads padding.
    pub(super) fn lines(&self, lines: &[Line; 3]) -> [Line; 3] {
        std::array::from_fn(|i| {
            if i == 0 && self.all[0] == self.inner[0] {
                return lines[0].clone();
            }
            let mut line = Line { source: self.all[i] as i64, ..lines[i].clone() };
            line.phases.iter_mut().flat_map(|p| &mut p.taps).for_each(|tap| tap.1 += self.before[i] as i64);
            if let (true, [w]) = (self.wide && i > 0, &*lines[2].phases) {
                line.phases[0].count = if i == 1 { 1 } else { self.plane(w.count) };
                line.source = (self.all[1] * self.all[2] + ROWS) as i64;
            }
            line
        })
    }

    /// Copies images to `to`.
    pub(super) fn copy(&self, (simd, executor): (Simd, &dyn Executor), from: &Images<'_>, to: Buf<'_>) {
        let Images { memory, place, line, padding } = *from;
        let [depth, height, _] = self.all;
        to.part(self.images * self.image(), self.behind()).fill(0);
        let planes = self.images * depth;
        let each = (height * planes).div_ceil(TASKS * executor.threads().max(1)).clamp(1, height);
        let bands = height.div_ceil(each);
        executor.run(executor.threads(), planes * bands, &|_, task| {
            let (plane, band) = (task / bands, task % bands);
            let (image, d) = (plane / depth, plane % depth);
            let inside = |i: usize, at: usize| at.checked_sub(self.before[i]).filter(|at| *at < self.inner[i]);
            // All groups of a line one after the other: they lie in the same pixels.
            for (h, group) in (band * each..height.min((band + 1) * each)).flat_map(|h| (0..self.groups).map(move |group| (h, group))) {
                let first = place.base + image * place.image + group * place.group;
                let row = to.part(image * self.image() + group * self.group() + (d * height + h) * self.row(), self.row());
                match inside(0, d).zip(inside(1, line + h)) {
                    Some((d, h)) => {
                        let first = first + d * place.strides[0] + h * place.strides[1];
                        self.copy_row(simd, Pixels { memory, first, step: place.strides[2] }, (row, padding));
                    }
                    None => row.fill(padding),
                }
            }
        });
    }

    /// Bytes of a row of pixels.
    fn row(&self) -> usize {
        self.all[2] * self.pixel
    }

    /// Copies the pixels of a row, and the padding beside them.
    fn copy_row(&self, simd: Simd, from: Pixels<'_>, (row, padding): (Buf<'_>, u8)) {
        let (begin, count) = (self.before[2] * self.pixel, self.inner[2]);
        let end = begin + count * self.pixel;
        row.part(0, begin).fill(padding);
        if (self.bytes, from.step) == (self.pixel, self.pixel) {
            row.copy::<u8>(begin, &from.memory, from.first, count * self.pixel);
        } else {
            simd.run(CopyPixels { from, to: Pixels { memory: row, first: begin, step: self.pixel }, bytes: self.bytes, count });
        }
        row.part(end, self.row() - end).fill(padding);
    }
}

/// Images that are copied.
#[derive(Clone, Copy)]
pub(super) struct Images<'a> {
    /// Where they lie.
    pub(super) memory: Buf<'a>,
    pub(super) place: Place,
    /// The line of the source that results of the first line meet at offset 0.
    pub(super) line: usize,
    /// The bytes of padding.
    pub(super) padding: u8,
}

/// Copies the bytes of pixels, zeros behind them.
struct CopyPixels<'a> {
    from: Pixels<'a>,
    to: Pixels<'a>,
    bytes: usize,
    count: usize,
}

impl Body for CopyPixels<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let CopyPixels { from, to, bytes, count } = self;
        let dense = from.step == bytes;
        let done = match bytes {
            3 if dense && to.step == 4 => copy_threes::<u32>(&from, &to, count, (0xff_ffff, 8)),
            6 if dense && to.step == 8 => copy_threes::<u64>(&from, &to, count, (0xffff_ffff_ffff, 16)),
            0..=8 => copy_words::<1>(&from, &to, (bytes, count)),
            9..=16 => copy_words::<2>(&from, &to, (bytes, count)),
            17..=32 => copy_words::<4>(&from, &to, (bytes, count)),
            33..=64 => copy_words::<8>(&from, &to, (bytes, count)),
            _ => copy_lines(&from, &to, (bytes, count)),
        };
        for i in done..count {
            to.memory.part(to.at(i), bytes).copy::<u8>(0, &from.memory, from.at(i), bytes);
            to.memory.part(to.at(i) + bytes, to.step - bytes).fill(0);
        }
    }
}

/// Pixels of a line: where the first of them lies in memory, and bytes from one to the next.
struct Pixels<'a> {
    memory: Buf<'a>,
    first: usize,
    step: usize,
}

impl Pixels<'_> {
    #[inline(always)]
    fn at(&self, index: usize) -> usize {
        self.first + index * self.step
    }

    /// How many pixels have so many bytes of memory behind their begin.
    fn room(&self, bytes: usize) -> usize {
        self.memory.len().checked_sub(self.first + bytes).map_or(0, |left| left.checked_div(self.step).map_or(1, |more| more + 1))
    }
}

/// Copies dense pixels of three elements of so many bits to words of four, of which the mask has three, four pixels at a time. Returns how many.
#[inline(always)]
fn copy_threes<U>(from: &Pixels<'_>, to: &Pixels<'_>, count: usize, (mask, bits): (U, u32)) -> usize
where
    U: Element + Shl<u32, Output = U> + Shr<u32, Output = U> + BitAnd<Output = U> + BitOr<Output = U>,
{
    let (size, fours) = (size_of::<U>(), count / 4);
    let (from, to) = (from.memory.part(from.first, fours * 3 * size), to.memory.part(to.first, fours * 4 * size));
    for i in 0..fours {
        let [a, b, c] = from.get::<[U; 3]>(i);
        to.set(i, [a & mask, (a >> (3 * bits) | b << bits) & mask, (b >> (2 * bits) | c << (2 * bits)) & mask, c >> bits]);
    }
    fours * 4
}

/// Copies pixels of at most so many words, whole words of each: what these have behind a pixel's bytes is zero, until the next pixel lies there. Returns
/// how many were copied, since behind the last ones there is no memory for that.
#[inline(always)]
fn copy_words<const N: usize>(from: &Pixels<'_>, to: &Pixels<'_>, (bytes, count): (usize, usize)) -> usize
where
    [u64; N]: Element,
{
    let (all, used) = (8 * N, |i: usize| bytes.saturating_sub(8 * i).min(8));
    let masks: [u64; N] = std::array::from_fn(|i| u64::MAX.checked_shr(64 - 8 * used(i) as u32).unwrap_or(0));
    let count = count.min(from.room(all)).min(to.room(all));
    for i in 0..count {
        let words = from.memory.part(from.at(i), all).get::<[u64; N]>(0);
        to.memory.part(to.at(i), all).set(0, std::array::from_fn::<u64, N, _>(|k| words[k] & masks[k]));
        if to.step > all {
            to.memory.part(to.at(i) + all, to.step - all).fill(0);
        }
    }
    count
}

/// Copies pixels of more bytes than a line has, whole lines of each, and zeros behind its bytes. Returns how many, as [`copy_words`] does.
#[inline(always)]
fn copy_lines(from: &Pixels<'_>, to: &Pixels<'_>, (bytes, count): (usize, usize)) -> usize {
    let (whole, all) = (bytes / 64 * 64, bytes.next_multiple_of(64));
    let rest = |k: usize| (bytes - whole).saturating_sub(8 * k).min(8);
    let masks: [u64; 8] = std::array::from_fn(|k| u64::MAX.checked_shr(64 - 8 * rest(k) as u32).unwrap_or(0));
    let count = count.min(from.room(all)).min(to.room(all));
    for i in 0..count {
        let (from, to) = (from.memory.part(from.at(i), all), to.memory.part(to.at(i), all));
        (0..whole / 64).for_each(|k| to.set(k, from.get::<[u64; 8]>(k)));
        if whole < all {
            let words = from.get::<[u64; 8]>(whole / 64);
            to.set(whole / 64, std::array::from_fn::<u64, 8, _>(|k| words[k] & masks[k]));
        }
    }
    if to.step > all {
        (0..count).for_each(|i| to.memory.part(to.at(i) + all, to.step - all).fill(0));
    }
    count
}
