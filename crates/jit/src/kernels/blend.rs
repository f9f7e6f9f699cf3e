//! Sums of weighted columns of some lines: resampling of channels that follow each other in memory, forward and backward.
//!
//! A result is a vector of channels, or some of them; its sum stays in registers over the lines of a row and the taps of its column. The
//! weight of an element is the line's weight times the tap's. A result costs `2 * lines * taps` operations, less than loading it from L2.

use super::strips::{Finish, Strip, StripKey, last_lanes};
use crate::ir::{Accumulate, Binary, Compare, Elem, Function, Int, Pred, Src, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blend {
    /// Type of the source.
    pub source: Elem,
    /// Taps of every column; `None` where [`Args::counts`] says how many each has.
    pub taps: Option<u8>,
    /// Lines of every row, whose places and weights registers then hold; `None` where [`Args::count`] says how many a row has. Only with
    /// [`Blend::taps`] of a number.
    pub lines: Option<u8>,
    /// Whether columns are a single tap of a single line, without weights.
    pub copies: bool,
    /// Vectors of channels that are contiguous in memory and computed together: a group.
    pub vectors: u8,
    /// True when the last vector of the last group may be part of one.
    pub masked: bool,
    /// Whether all groups of a column are computed before the next column, because they are contiguous where channels are last: then memory
    /// is written in one run. Only for [`Blend::taps`] of a number.
    pub across: bool,
    /// Whether results, words that nothing is done to, are stored non-temporally: whole vectors at multiples of their bytes.
    pub streaming: bool,
}

/// A line of the source, or a tap of a column.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Tap {
    /// Where it begins, in bytes.
    pub source: usize,
    /// Its weight.
    pub weight: f32,
}

/// Arguments. Distances are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The lines of the row.
    pub lines: *const Tap,
    /// Their number.
    pub count: usize,
    /// The taps of all columns, one column after the other.
    pub taps: *const Tap,
    /// The number of taps of each column.
    pub counts: *const usize,
    /// Columns of the result, at least 1.
    pub columns: usize,
    /// Groups of channels, at least 1, and channels.
    pub groups: usize,
    /// As said.
    pub channels: usize,
    /// The source, and the distance of groups.
    pub source: *const u8,
    /// As said.
    pub group: usize,
    /// The result, and the distances of columns and groups.
    pub result: *mut u8,
    /// As said.
    pub result_column: usize,
    /// As said.
    pub result_group: usize,
    /// Distance of the vectors of a group.
    pub result_vector: usize,
    /// Whether non-temporal stores are ordered before later stores: 0 or 1.
    pub last: usize,
}

impl Key for Blend {
    type Args = Args;

    /// The name in dumps and profiles, such as `blend.bf16.2.4.avx512`.
    fn name(&self, isa: Isa) -> String {
        let lines = self.lines.map_or(String::new(), |lines| format!("{lines}x"));
        let taps = self.taps.map_or("any".into(), |taps| format!("{lines}{taps}"));
        let masked = if self.masked { ".masked" } else { "" };
        let taps = if self.copies { "copy".into() } else { taps };
        let across = if self.across { ".across" } else { "" };
        let streaming = if self.streaming { ".streaming" } else { "" };
        format!("blend.{}.{taps}.{}{masked}{across}{streaming}.{}", self.source.name(), self.vectors, isa.name())
    }

    fn write(&self, f: &mut Function) {
        self.write_strips(f, &mut |f, strip| strip.store(f, Elem::F32));
    }
}

impl StripKey for Blend {
    fn write_strips(&self, f: &mut Function, finish: &mut Finish<'_>) {
        match self.taps.filter(|_| self.across) {
            Some(taps) => self.by_columns(f, taps, finish),
            None => self.by_groups(f, finish),
        }
        if self.streaming {
            let args = f.arguments();
            let last = f.argument(args, offset_of!(Args, last));
            f.when(Compare::Gt, last, 0, Function::store_fence);
        }
    }
}

impl Blend {
    /// The offsets and weights of the lines, where registers hold them.
    fn load_lines(&self, f: &mut Function, args: Int) -> Vec<(Int, Val)> {
        let Some(count) = self.lines else { return Vec::new() };
        let lines = f.argument(args, offset_of!(Args, lines));
        let mut line = |at: i32| {
            let (source, weight) = (f.load_int(lines.at(at)), f.splat(f.isa().width(), lines.at(at + offset_of!(Tap, weight) as i32)));
            f.pin(weight);
            (source, weight)
        };
        (0..i32::from(count)).map(|i| line(i * size_of::<Tap>() as i32)).collect()
    }

    /// Group by group, each of all columns.
    fn by_groups(&self, f: &mut Function, finish: &mut Finish<'_>) {
        let args = f.arguments();
        let lines = self.load_lines(f, args);
        let (source, result) = (f.argument(args, offset_of!(Args, source)), f.argument(args, offset_of!(Args, result)));
        let channel = f.int(0);
        let groups = f.argument(args, offset_of!(Args, groups));
        f.repeat_some(groups, |f| {
            let mask = self.mask(f, args, channel);
            let (taps, to) = (f.argument(args, offset_of!(Args, taps)), f.copy(result));
            let counts = self.taps.is_none().then(|| f.argument(args, offset_of!(Args, counts)));
            let columns = f.argument(args, offset_of!(Args, columns));
            f.repeat_some(columns, |f| {
                let sums = self.sums(f, &Column { args, source, taps, counts, mask, lines: &lines });
                self.finish(f, &Destination { args, channel, to, mask }, &sums, finish);
                f.advance(to, args, offset_of!(Args, result_column));
            });
            self.advance(f, args, [source, result, channel]);
        });
    }

    /// Column by column, each of all groups.
    fn by_columns(&self, f: &mut Function, taps_per_column: u8, finish: &mut Finish<'_>) {
        let args = f.arguments();
        let lines = self.load_lines(f, args);
        let (taps, result) = (f.argument(args, offset_of!(Args, taps)), f.argument(args, offset_of!(Args, result)));
        let columns = f.argument(args, offset_of!(Args, columns));
        f.repeat_some(columns, |f| {
            let (source, to, channel) = (f.argument(args, offset_of!(Args, source)), f.copy(result), f.int(0));
            let groups = f.argument(args, offset_of!(Args, groups));
            f.repeat_some(groups, |f| {
                let mask = self.mask(f, args, channel);
                let taps = f.copy(taps);
                let sums = self.sums(f, &Column { args, source, taps, counts: None, mask, lines: &lines });
                self.finish(f, &Destination { args, channel, to, mask }, &sums, finish);
                self.advance(f, args, [source, to, channel]);
            });
            f.add(taps, i32::from(taps_per_column) * size_of::<Tap>() as i32);
            f.advance(result, args, offset_of!(Args, result_column));
        });
    }

    /// The existing lanes of a group that begins with a channel.
    fn mask(&self, f: &mut Function, args: Int, channel: Int) -> Option<Pred> {
        self.masked.then(|| last_lanes(f, (args, offset_of!(Args, channels)), channel, self.vectors))
    }

    /// The existing lanes of a vector of a group: all except in the last vector.
    fn mask_of_vector(&self, mask: Option<Pred>, vector: usize) -> Option<Pred> {
        mask.filter(|_| vector + 1 == usize::from(self.vectors))
    }

    /// Finishes the vectors of a column and group.
    fn finish(&self, f: &mut Function, destination: &Destination, sums: &[Val], finish: &mut Finish<'_>) {
        let Destination { args, channel, to, mask } = *destination;
        let (first, at, lanes) = (f.copy(channel), f.copy(to), f.isa().width().lanes());
        let step = f.argument(args, offset_of!(Args, result_vector));
        for (vector, sum) in sums.iter().enumerate() {
            let (values, mask) = (std::slice::from_ref(sum), self.mask_of_vector(mask, vector));
            let (column, streaming) = (offset_of!(Args, result_column), self.streaming);
            finish(f, &Strip { args, column, channel: first, result: at, values, mask, normal: false, streaming });
            if vector + 1 < sums.len() {
                f.add(first, lanes as i32);
                f.add(at, step);
            }
        }
    }

    /// Advances to the next group.
    fn advance(&self, f: &mut Function, args: Int, [source, result, channel]: [Int; 3]) {
        for (at, distance) in [(source, offset_of!(Args, group)), (result, offset_of!(Args, result_group))] {
            f.advance(at, args, distance);
        }
        let lanes = f.isa().width().lanes();
        f.add(channel, (lanes * usize::from(self.vectors)) as i32);
    }

    /// The vectors of a column that is one tap of one line.
    fn copy(&self, f: &mut Function, column: &Column<'_>) -> Vec<Val> {
        let Column { args, source, taps, mask, .. } = *column;
        let lines = f.argument(args, offset_of!(Args, lines));
        let (line, at) = (f.load_int(lines.at(0)), f.load_int(taps.at(0)));
        f.add(at, line);
        f.add(at, source);
        f.add(taps, size_of::<Tap>() as i32);
        let size = f.isa().width().lanes() * self.source.bytes();
        (0..usize::from(self.vectors)).map(|v| f.load_number(self.source, at.at((v * size) as i32), self.mask_of_vector(mask, v))).collect()
    }

    /// The sums of a column; the pointers advance to the taps and the count of the next.
    fn sums(&self, f: &mut Function, column: &Column<'_>) -> Vec<Val> {
        if self.copies {
            return self.copy(f, column);
        }
        if let Some(taps) = self.taps.filter(|_| self.lines.is_some()) {
            return self.sums_unrolled(f, column, taps);
        }
        let Column { args, source, taps, counts, mask, .. } = *column;
        let count = counts.map(|counts| f.load_int(counts.at(0)));
        let sums: Vec<Val> = (0..self.vectors).map(|_| f.zero(f.isa().width())).collect();
        sums.iter().for_each(|sum| f.pin(*sum));
        let (lines, line_count) = (f.argument(args, offset_of!(Args, lines)), f.argument(args, offset_of!(Args, count)));
        f.repeat(line_count, |f| {
            let (line, at) = (f.load_int(lines.at(0)), f.copy(taps));
            f.add(line, source);
            let add = |f: &mut Function| {
                self.add(f, &LineTap { line, of: lines, tap: at }, &sums, mask);
                f.add(at, size_of::<Tap>() as i32);
            };
            match (self.taps, count) {
                (None, Some(count)) => {
                    let times = f.copy(count);
                    f.repeat(times, add);
                }
                (taps, _) => (0..taps.unwrap_or(0)).for_each(|_| add(f)),
            }
            f.add(lines, size_of::<Tap>() as i32);
        });
        match (self.taps, count, counts) {
            (None, Some(count), Some(counts)) => {
                f.shl(count, size_of::<Tap>().ilog2() as u8);
                f.add(taps, count);
                f.add(counts, size_of::<usize>() as i32);
            }
            (used, ..) => f.add(taps, i32::from(used.unwrap_or(0)) * size_of::<Tap>() as i32),
        }
        sums
    }

    /// The sums of a column where the numbers of lines and taps are known: both loops are unrolled.
    fn sums_unrolled(&self, f: &mut Function, column: &Column<'_>, count: u8) -> Vec<Val> {
        let Column { source, taps, mask, lines, .. } = *column;
        let width = f.isa().width();
        let sums: Vec<Val> = (0..self.vectors).map(|_| f.zero(width)).collect();
        sums.iter().for_each(|sum| f.pin(*sum));
        for _ in 0..count {
            let at = f.load_int(taps.at(0));
            f.add(at, source);
            for (line, weight) in lines {
                let by = f.binary(Binary::MulF32, *weight, Src::Splat(taps.at(offset_of!(Tap, weight) as i32)));
                for (v, sum) in sums.iter().enumerate() {
                    let from = at.indexed(*line, 1, (v * width.lanes() * self.source.bytes()) as i32);
                    let x = f.load_number(self.source, from, self.mask_of_vector(mask, v));
                    f.accumulate(Accumulate::FmaF32, *sum, x, by);
                }
            }
            f.add(taps, size_of::<Tap>() as i32);
        }
        sums
    }

    /// Adds the vectors of a tap of a line.
    fn add(&self, f: &mut Function, line_tap: &LineTap, sums: &[Val], mask: Option<Pred>) {
        let LineTap { line, of, tap } = *line_tap;
        let (width, weight) = (f.isa().width(), offset_of!(Tap, weight) as i32);
        let at = f.load_int(tap.at(0));
        f.add(at, line);
        let by = f.splat(width, of.at(weight));
        let by = f.binary(Binary::MulF32, by, Src::Splat(tap.at(weight)));
        for (v, sum) in sums.iter().enumerate() {
            let from = at.at((v * width.lanes() * self.source.bytes()) as i32);
            let x = f.load_number(self.source, from, self.mask_of_vector(mask, v));
            f.accumulate(Accumulate::FmaF32, *sum, x, by);
        }
    }
}

/// The state of a column's computation: the arguments, the source, the addresses of its taps and their count, the existing lanes, and lines
/// held in registers.
struct Column<'l> {
    args: Int,
    source: Int,
    taps: Int,
    counts: Option<Int>,
    mask: Option<Pred>,
    lines: &'l [(Int, Val)],
}

/// The destination of the vectors of a column and group: the arguments, the first channel, its address, and the existing lanes.
struct Destination {
    args: Int,
    channel: Int,
    to: Int,
    mask: Option<Pred>,
}

/// A tap of a line: where the line begins, where its weight is, and the tap.
struct LineTap {
    line: Int,
    of: Int,
    tap: Int,
}
