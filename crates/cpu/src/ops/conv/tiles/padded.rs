//! A zero-padded copy of the source for AMX.
//!
//! AMX loads the rows of a tile at one stride. If windows read padding in place, rows are gathered for every tap, which takes several times
//! as long as multiplying them by few columns. In a padded copy all results have all taps at one stride, neighbouring taps of a line are
//! merged into one of their joint depth, and the channels of a pixel are whole steps. The copy has some images at a time, or the lines that
//! a band of result lines reads, so that it stays in L2.

use super::Place;
use crate::kernels::amx;
use crate::kernels::multiversion::{Simd, multiversion};
use crate::ops::conv::geometry::Line;
use oxidnn_jit::kernels::tiles::ROWS;
use oxidnn_runtime::{Buf, Element, Executor};
use std::ops::{BitAnd, BitOr, Shl, Shr};

/// Cycles to gather a row for a tap, and the bytes for each of which it takes one more.
const GATHER_CYCLES: usize = 12;
const GATHER_BYTES_PER_CYCLE: usize = 32;
/// Cycles for each row of tiles whose rows are listed one by one.
const LIST_CYCLES: usize = 12;
/// Cycles of a call.
const CALL_CYCLES: usize = 600;
/// Bytes that are copied in a cycle; the same if pixels are as dense in the source as in the copy.
const COPY_BYTES_PER_CYCLE: usize = 8;
const DENSE_COPY_BYTES_PER_CYCLE: usize = 32;
/// Bytes of a pixel up to which the copy may exceed L2, because little of it is read at a time.
const MAX_NARROW_PIXEL_BYTES: usize = 64;
/// Copying tasks for every worker.
const TASKS_PER_WORKER: usize = 2;
/// Bytes of the copy that make a task worthwhile.
const MIN_TASK_BYTES: usize = 8 << 10;
/// An image may take this fraction of the L2 caches, else it is copied in bands of lines. A band must have this many times as many lines as
/// two bands share.
const BAND_L2_FRACTION: usize = 4;
const MIN_BAND_LINES_PER_SHARED: usize = 4;
/// Fraction of the products' time that copying may take in any case.
const COPY_TIME_FRACTION: usize = 16;

/// How the source is copied.
#[derive(Clone, Debug)]
pub(super) struct Padded {
    /// Images that are copied at a time; result lines of a plane whose source lines are copied at a time; result lines of a plane.
    pub(super) images: usize,
    pub(super) lines: usize,
    height: usize,
    /// Groups, each with pixels of its own.
    groups: usize,
    /// In each dimension: pixels of padding before the source, source pixels, pixels in all.
    before: [usize; 3],
    inner: [usize; 3],
    all: [usize; 3],
    /// Bytes of a group's pixel in the source and in the copy.
    bytes: usize,
    pixel: usize,
    /// Whether results that read padding need no special care.
    pub(super) watched: bool,
    /// Whether all results of a plane are one line, with unused results between lines.
    wide: bool,
}

/// What is to be copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyRequest {
    pub(super) images: usize,
    pub(super) groups: usize,
    /// Bytes of a group's pixel in the source, and in the copy.
    pub(super) bytes: usize,
    pub(super) pixel: usize,
    /// Columns of a group.
    pub(super) columns: usize,
    /// Bytes of L2 of all cores, and of panels that stay in one.
    pub(super) budget: usize,
    pub(super) panels: usize,
    /// Whether sums are integers, or can be checked when they are finished and computed again, or weights are inspected before.
    pub(super) watched: bool,
    /// Whether the epilogue does not depend on the old destination, so that results may be computed again.
    pub(super) repeats: bool,
    /// Whether it also reads no operands at the places of results, so that unused results can go elsewhere.
    pub(super) by_column: bool,
    /// Whether padding may be other than zero: then results that read it need no pass of their own.
    pub(super) fills: bool,
}

impl CopyRequest {
    /// Cycles to gather a row for a tap, for all groups of panels that stay in L2.
    fn gathered(&self, taps: usize) -> usize {
        let groups = (taps * self.pixel * self.columns.next_multiple_of(16)).div_ceil(self.panels.max(1));
        (GATHER_CYCLES + self.bytes / GATHER_BYTES_PER_CYCLE) * groups.max(1)
    }
}

impl Padded {
    /// A copy, if windows read padding or pixels are not whole steps, it fits, and it saves time.
    pub(super) fn new(lines: &[Line; 3], request: CopyRequest) -> Option<Padded> {
        let padded = Padded::of_lines(lines, &request)?;
        let padded = padded.in_bands(lines, &request).unwrap_or(padded);
        let fits = padded.image()
            <= if request.pixel <= MAX_NARROW_PIXEL_BYTES {
                request.budget.saturating_mul(MAX_NARROW_PIXEL_BYTES / request.pixel.max(1) + 1)
            } else {
                request.budget
            };
        let most = if fits { (request.budget / 2 / padded.image().max(1)).clamp(1, request.images) } else { 0 };
        let images = (1..=most).rev().find(|n| request.images.is_multiple_of(*n))?;
        let padded = Padded { images, wide: padded.is_wide(lines, &request), ..padded };
        padded.pays(lines, &request).then_some(padded)
    }

    /// A copy of all lines of an image.
    fn of_lines(lines: &[Line; 3], request: &CopyRequest) -> Option<Padded> {
        let reach = |line: &Line| {
            let ends = line.phases.iter().filter_map(|p| p.reach(line.stride, 0, p.count.max(1)));
            ends.fold((0, line.source), |(low, end), (l, h)| (low.min(l), end.max(h + 1)))
        };
        let reaches = [0, 1, 2].map(|i| reach(&lines[i]));
        let mut before = reaches.map(|(low, _)| low.unsigned_abs() as usize);
        let mut all: [usize; 3] = std::array::from_fn(|i| (reaches[i].1 - reaches[i].0) as usize);
        let inner = [0, 1, 2].map(|i| lines[i].source as usize);
        if !request.fills {
            // Planes of padding are left out as taps, instead of being copied as zeros.
            (before[0], all[0]) = (0, inner[0]);
        }
        if request.images == 0
            || inner.contains(&0)
            || lines.iter().flat_map(|line| &line.phases).any(|p| p.count == 0 || p.taps.is_empty())
        {
            return None;
        }
        let CopyRequest { groups, bytes, pixel, watched, .. } = *request;
        all.iter().try_fold(groups * pixel, |n, size| n.checked_mul(*size))?;
        let height = lines[1].phases.iter().map(|p| p.count).max().unwrap_or(0);
        Some(Padded { images: 1, lines: height, height, groups, before, inner, all, bytes, pixel, watched, wide: false })
    }

    /// A copy in bands of result lines, if an image is large. The last band overlaps the one before, so that all have the same height.
    fn in_bands(&self, lines: &[Line; 3], request: &CopyRequest) -> Option<Padded> {
        let [depth, height, _] = lines;
        let (limit, line) = (request.budget / BAND_L2_FRACTION, self.all[2] * self.pixel * self.groups);
        let [phase] = &*height.phases else { return None };
        if depth.phases.len() > 1 || self.all[0] > 1 || self.image() <= limit || !request.watched || !request.repeats {
            return None;
        }
        let (low, high) = phase.reach(height.stride, 0, 1)?;
        let (before, stride) = (self.before[1], height.stride as usize);
        let one = before + high.max(0) as usize + 1;
        let copied = |lines: usize| (lines - 1) * stride + one;
        let most = ((limit / line.max(1)).checked_sub(one)? / stride + 1).min(phase.count);
        let each = phase.count.div_ceil(phase.count.div_ceil(most));
        // Lines that two bands read are copied twice.
        let again = (high - low + 1).max(0) as usize;
        (each * stride >= MIN_BAND_LINES_PER_SHARED * again).then_some(Padded {
            lines: each,
            all: [1, copied(each), self.all[2]],
            ..self.clone()
        })
    }

    /// The first result line of each band of an image.
    pub(super) fn bands(&self) -> impl Iterator<Item = usize> + use<> {
        let (lines, last) = (self.lines.max(1), self.height - self.lines);
        (0..self.height).step_by(lines).map(move |first| first.min(last))
    }

    /// Whether not gathering rows, tap by tap, saves more time than the copy takes.
    fn pays(&self, lines: &[Line; 3], request: &CopyRequest) -> bool {
        let counts = |inside: bool| -> usize {
            let dim = |line: &Line| -> usize { line.phases.iter().map(|p| if inside { line.inside(p) } else { p.count }).sum() };
            lines.iter().map(dim).product()
        };
        let taps: usize = lines.iter().map(|line| line.phases.iter().map(|p| p.taps.len()).max().unwrap_or(0)).product();
        let (rows, partial) = (counts(false), self.bytes < self.pixel || !self.bytes.is_multiple_of(4));
        let gathered = if partial || self.wide { rows } else { rows - counts(true) };
        let rate = if self.bytes == self.pixel && self.groups == 1 { DENSE_COPY_BYTES_PER_CYCLE } else { COPY_BYTES_PER_CYCLE };
        let copied = self.image() * self.bands().count() / rate;
        let products = rows * taps * self.groups * self.bytes.div_ceil(64) * request.columns.div_ceil(16);
        let passes = request.fills && rows > counts(true);
        passes || gathered > 0 && copied < self.groups * gathered * taps * request.gathered(taps) + products / COPY_TIME_FRACTION
    }

    /// Whether tiles over a whole plane, with unused results between lines, take less time than tiles of single lines, which are gathered
    /// if lines are short.
    fn is_wide(&self, lines: &[Line; 3], request: &CopyRequest) -> bool {
        let [height, width] = [&lines[1], &lines[2]];
        let ([_], [w]) = (&*height.phases, &*width.phases) else { return false };
        if [height, width].iter().any(|line| line.stride != 1) || self.lines < 2 || !request.watched || !request.by_column {
            return false;
        }
        let taps: usize = lines.iter().map(|line| line.phases.iter().map(|p| p.taps.len()).max().unwrap_or(0)).product();
        let row = taps * self.bytes.div_ceil(64) * request.columns.div_ceil(16);
        // A tile of few rows takes as long as one of 32.
        let pieces = w.count.div_ceil(16);
        let apart = if w.count / pieces >= amx::SHORT {
            let calls = if amx::has_equal_tiles(w.count) { 0 } else { 2 * self.lines };
            (self.lines * pieces).div_ceil(2) * ROWS * row + calls * CALL_CYCLES
        } else {
            self.lines * w.count * (row + taps * request.gathered(taps))
        };
        let plane = self.plane(w.count);
        plane / plane.div_ceil(16) >= amx::SHORT && plane * (row + LIST_CYCLES) < apart
    }

    /// Results of a plane, with those between lines and as many behind as fill its last tile.
    fn plane(&self, width: usize) -> usize {
        let rows = (self.lines - 1) * self.all[2] + width;
        let tiles = rows.div_ceil(ROWS);
        rows.div_ceil(tiles) * tiles
    }

    /// Bytes behind the copy that the results behind a plane read.
    fn behind(&self) -> usize {
        if self.wide { ROWS * self.pixel } else { 0 }
    }

    /// Pixels from one line of a plane to the next, if all lines are one.
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

    /// Bytes of the copy, and of what a tile may read behind it.
    pub(super) fn len(&self) -> usize {
        self.images * self.image() + self.behind() + 64
    }

    /// The addresses of pixels in the copy. Groups that are copied together keep their places in a pixel.
    pub(super) fn place(&self, from: &Place) -> Place {
        let [_, h, w] = self.all;
        let strides = [h * w * self.pixel, w * self.pixel, self.pixel];
        let base = self.before.iter().zip(strides).map(|(n, stride)| n * stride).sum();
        Place { base, image: self.image(), group: if self.groups > 1 { self.group() } else { from.group }, strides }
    }

    /// The lines of a window over the copy, without padding.
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
        // Equal parts, as the results have: a worker then reads mostly what it wrote.
        let most = TASKS_PER_WORKER * executor.threads().max(1);
        let (all, tasks) = (self.images * depth * height, (self.images * self.image() / MIN_TASK_BYTES).clamp(1, most));
        executor.run(executor.threads(), tasks, &|_, task| {
            let inside = |i: usize, at: usize| at.checked_sub(self.before[i]).filter(|at| *at < self.inner[i]);
            // All groups of a line are copied one after the other: they are in the same source pixels.
            for (i, group) in (all * task / tasks..all * (task + 1) / tasks).flat_map(|i| (0..self.groups).map(move |group| (i, group))) {
                let (image, d, h) = (i / height / depth, i / height % depth, i % height);
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
            copy_pixels(simd, from, Pixels { memory: row, first: begin, step: self.pixel }, self.bytes, count);
        }
        row.part(end, self.row() - end).fill(padding);
    }
}

/// Images that are copied.
#[derive(Clone, Copy)]
pub(super) struct Images<'a> {
    /// Their addresses.
    pub(super) memory: Buf<'a>,
    pub(super) place: Place,
    /// The source line that results of the first line read at offset 0.
    pub(super) line: usize,
    /// The bytes of padding.
    pub(super) padding: u8,
}

multiversion! {
    /// Copies the bytes of pixels, with zeros behind them.
    fn copy_pixels(from: Pixels<'_>, to: Pixels<'_>, bytes: usize, count: usize) {
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

/// Pixels of a line: the address of the first, and bytes from one to the next.
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

    /// The memory from the first pixel on; none if that is behind the end.
    fn rest(&self) -> Buf<'_> {
        let start = self.first.min(self.memory.len());
        self.memory.part(start, self.memory.len() - start)
    }

    /// How many pixels have at least `bytes` bytes of memory from their begin on.
    fn room(&self, bytes: usize) -> usize {
        self.memory.len().checked_sub(self.first + bytes).map_or(0, |left| left.checked_div(self.step).map_or(1, |more| more + 1))
    }
}

/// Copies dense pixels of three elements to words of four, four pixels at a time; the mask keeps three elements of `bits` bits. Returns how
/// many.
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

/// Copies pixels of at most `N` words as whole words. The bytes of a word behind its pixel are zeroed. Returns how many pixels were copied:
/// behind the last ones there may be no memory for whole words.
#[inline(always)]
fn copy_words<const N: usize>(from: &Pixels<'_>, to: &Pixels<'_>, (bytes, count): (usize, usize)) -> usize
where
    [u64; N]: Element,
{
    let (all, used) = (8 * N, |i: usize| bytes.saturating_sub(8 * i).min(8));
    let masks: [u64; N] = std::array::from_fn(|i| u64::MAX.checked_shr(64 - 8 * used(i) as u32).unwrap_or(0));
    let count = count.min(from.room(all)).min(to.room(all));
    to.rest().map_at::<[u64; N]>(&from.rest(), [to.step, from.step], count, |words| std::array::from_fn(|k| words[k] & masks[k]));
    if to.step > all {
        (0..count).for_each(|i| to.memory.part(to.at(i) + all, to.step - all).fill(0));
    }
    count
}

/// Copies pixels longer than a cache line as whole lines, with zeros behind their bytes. Returns how many, as [`copy_words`] does.
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
