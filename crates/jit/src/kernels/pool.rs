//! The inner kernel of pooling: strips of results of some vectors of channels stay in registers over the whole window.
//!
//! It goes through windows as [`depthwise`](super::depthwise) does, and has no weights: a source column is loaded once for all results that
//! meet it, and joined to each of them. Columns that do not exist are part of the key, lines of the window are data. Where channels follow each
//! other in memory, several vectors of them are made at a time, so that source and results are read and written in longer pieces.
//!
//! A maximum begins with minus infinity and takes what is larger, which no NaN is. Where it is minus infinity in the end, all elements may have been
//! NaN, and the strip is made once more by instructions that tell these apart: four with AVX2. With AVX-512 that is one, and pays for places alone.
//!
//! The gradient of a mean is a mean of gradients, through the taps that meet a source element, and where windows differ in size a sum of shares of
//! them; that of a maximum adds those gradients whose maximum had this tap's place. A tap's place is its number in the window.

use super::depthwise::{Columns, Finish, SHARE, Strip, StripKey, Tap, column_at};
use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Binary, Compare, Elem, Function, Int, Pred, Prefetch, Src, Unary, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Four times the least i8.
const LEAST_BYTES: i32 = i32::from_le_bytes([0x80; 4]);

/// What is made of the elements of a window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Take {
    /// The largest; NaN only where all are NaN.
    Largest,
    /// The largest of integers of this type, compared as they are: of 32 bits, or of bytes, four of which are a number of the source.
    LargestWhole(Elem),
    /// The same, and the place of its tap as a number of this type: of the first of equals.
    Place(Elem),
    /// The sum, divided by [`Row::divisor`], and where it is `counted` by the number of columns that exist.
    Mean {
        /// As said.
        counted: bool,
        /// True for a division, which keeps ties of integers; false for a product with the inverse, which takes a fifth of the time.
        exact: bool,
    },
    /// The sum of what each source column hands on: itself by [`Line::share`], divided by its number of [`Pool::counts`].
    Shared,
    /// The sum of those whose place, a number of this type in the same order as the source, is that of the tap.
    Chosen(Elem),
}

/// What a kernel is made for. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pool {
    /// Type of the source.
    pub source: Elem,
    /// What is made of it.
    pub take: Take,
    /// Results of a strip.
    pub results: u8,
    /// Source columns between results.
    pub stride: u8,
    /// Results between source columns: result `j` meets column `x` by the taps whose column is `x step - j stride`.
    pub step: u8,
    /// The taps of a line; instead of weights they have their places in the line.
    pub taps: Vec<Tap>,
    /// First source column that exists and the one behind the last, counted from the column of the first result; columns that no tap meets
    /// need not be told from others.
    pub inside: (i16, i16),
    /// What the source columns that exist are divided by where they are shared, from the first on; further ones by the last of these.
    pub counts: Vec<u8>,
    /// Vectors of channels that follow each other in memory and are made together: a group.
    pub vectors: u8,
    /// True when the last vector of a group may be part of one; there is one group then, or a group is one vector.
    pub masked: bool,
    /// Whether results, whole vectors of f32 at multiples of their bytes, go past the caches as they are.
    pub streaming: bool,
}

/// A line of the window.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Line {
    /// Bytes added to [`Args::source`].
    pub source: usize,
    /// Bytes added to [`Args::places`] where places are read.
    pub places: usize,
    /// Place of the line's first tap.
    pub place: usize,
    /// Factor of the line's columns where they are shared.
    pub share: f32,
}

/// A row of results.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Row {
    /// Bytes added to [`Args::result`].
    pub result: usize,
    /// Bytes added to [`Args::places`] where places are written.
    pub places: usize,
    /// Number of lines of the window that exist there; none leaves zeros, or NaN for maxima.
    pub lines: usize,
    /// What sums are divided by.
    pub divisor: f32,
}

/// Arguments of a kernel. Distances are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The rows.
    pub rows: *const Row,
    /// Number of rows, at least 1.
    pub count: usize,
    /// The lines of all rows.
    pub lines: *const Line,
    /// Number of strips, at least 1.
    pub strips: usize,
    /// Number of groups of vectors, at least 1.
    pub groups: usize,
    /// Number of channels.
    pub channels: usize,
    /// The first source column that the first strip reads ([`Pool::first`]), less what the lines add.
    pub source: *const u8,
    /// Distance of source columns.
    pub column: usize,
    /// Distance of the strips' source columns.
    pub strip: usize,
    /// Distance of groups of the source.
    pub group: usize,
    /// The first result, less what the rows add.
    pub result: *mut u8,
    /// Distance of results.
    pub result_column: usize,
    /// Distance of the strips' results.
    pub result_strip: usize,
    /// Distance of vectors of a group of results.
    pub result_vector: usize,
    /// Distance of groups of results.
    pub result_group: usize,
    /// Places: read under the source, or written under the results.
    pub places: *mut u8,
    /// Their distances, as those of source or results.
    pub places_column: usize,
    /// As said.
    pub places_strip: usize,
    /// As said.
    pub places_group: usize,
}

/// Taps whose places are held in registers; those of wider windows are made with every use.
const HELD: usize = 8;

impl Key for Pool {
    type Args = Args;

    /// The name in dumps and profiles, such as `pool.max.f32.7x3s2.4.avx512`.
    fn name(&self, isa: Isa) -> String {
        let Pool { source, results, stride, step, vectors, .. } = self;
        let streaming = if self.streaming { "streaming." } else { "" };
        let step = if *step > 1 { format!("u{step}") } else { String::new() };
        let take = match self.take {
            Take::Largest => "max",
            Take::LargestWhole(Elem::I32) => "max-s32",
            Take::LargestWhole(Elem::I8) => "max-s8",
            Take::LargestWhole(_) => "max-u8",
            Take::Place(_) => "places",
            Take::Mean { .. } => "mean",
            Take::Shared => "shared",
            Take::Chosen(_) => "chosen",
        };
        format!("pool.{take}.{streaming}{}.{results}x{}s{stride}{step}.{vectors}.{}", source.name(), self.taps.len(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        self.write_strips(f, &mut |f, strip| strip.store(f, Elem::F32));
    }
}

impl StripKey for Pool {
    fn write_strips(&self, f: &mut Function, finish: &mut Finish<'_>) {
        Writer { kernel: self, width: f.isa().width() }.write(f, finish);
    }
}

impl Pool {
    /// The most results that a strip of so many vectors and taps may have.
    pub fn most_results(isa: Isa, take: Take, taps: usize, vectors: usize, masked: bool) -> usize {
        let mask = usize::from(masked && !isa.avx512);
        let free = isa.simd_registers() - mask;
        let results = match take {
            Take::Largest | Take::LargestWhole(_) | Take::Mean { .. } => (free - 4) / vectors,
            Take::Shared => (free - 5) / vectors,
            Take::Place(_) => (free - taps.min(HELD) - 4) / (2 * vectors),
            Take::Chosen(_) => (free - taps.min(HELD) - 5) / vectors,
        };
        results.min(16)
    }

    /// The first source column that is read, counted from the column of the first result; 0 where none is.
    pub fn first(&self) -> i32 {
        self.columns().first()
    }

    /// The last source column that is read; `None` where none is.
    pub fn last(&self) -> Option<i32> {
        self.columns().all().last()
    }

    /// True where every result meets a column.
    pub fn is_met(&self) -> bool {
        (0..usize::from(self.results)).all(|result| self.count(result) > 0)
    }

    fn columns(&self) -> Columns<'_> {
        Columns { taps: &self.taps, results: self.results, stride: self.stride, step: self.step, inside: self.inside }
    }

    /// What a source column is divided by where it is shared.
    fn share(&self, column: i32) -> u8 {
        let at = usize::try_from(column - i32::from(self.inside.0)).unwrap_or(0);
        self.counts.get(at).or(self.counts.last()).copied().unwrap_or(1).max(1)
    }

    /// Columns that a result meets.
    fn count(&self, result: usize) -> usize {
        let columns = self.columns();
        columns.all().flat_map(|x| columns.users(x)).filter(|(i, _)| *i == result).count()
    }
}

struct Writer<'k> {
    kernel: &'k Pool,
    width: Width,
}

/// What stays the same for all lines of the window.
struct Frame {
    /// Distance of source columns, its triple and its quintuple.
    column: [Int; 3],
    /// Added to the lines' sources and places.
    source: Int,
    places: Option<Int>,
    places_column: Option<Int>,
    mask: Option<Pred>,
}

/// What a line of the window has.
struct Given {
    /// Its source and, where they are read, its places.
    source: Int,
    places: Option<Int>,
    /// Place of its first tap, and factor of its columns.
    first: Option<Val>,
    share: Option<Val>,
}

/// What maxima of floating-point elements know of NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Nan {
    /// It is never larger; results of nothing else are minus infinity.
    Ignored,
    /// Results of nothing else are NaN.
    Kept,
}

/// A vector of a column: where it is, the lanes that there are, the results that meet it.
struct Met<'u> {
    from: Addr,
    mask: Option<Pred>,
    users: &'u [User],
}

/// A result that meets a column, and the place of the tap through which it does where places are wanted.
type User = (usize, Option<Val>);

/// The registers of a strip, vector by vector, and what its maxima know of NaN.
#[derive(Clone)]
struct Strips {
    values: Vec<Vec<Val>>,
    places: Vec<Vec<Val>>,
    nan: Nan,
}

impl Writer<'_> {
    fn write(&self, f: &mut Function, finish: &mut Finish<'_>) {
        let args = f.arguments();
        let column = f.argument(args, offset_of!(Args, column));
        let column = [column, f.address(column.indexed(column, 2, 0)), f.address(column.indexed(column, 4, 0))];
        let (source, result) = (f.argument(args, offset_of!(Args, source)), f.argument(args, offset_of!(Args, result)));
        let places = matches!(self.kernel.take, Take::Place(_) | Take::Chosen(_)).then(|| f.argument(args, offset_of!(Args, places)));
        let places_column = self.reads_places().then(|| f.argument(args, offset_of!(Args, places_column)));
        let channel = f.int(0);
        let groups = f.argument(args, offset_of!(Args, groups));
        f.repeat_some(groups, |f| {
            let mask = self.kernel.masked.then(|| {
                let left = f.argument(args, offset_of!(Args, channels));
                f.sub(left, channel);
                let before = self.width.lanes() * (usize::from(self.kernel.vectors) - 1);
                if before > 0 {
                    f.add(left, -(before as i32));
                }
                f.first_lanes(left)
            });
            let rows = f.argument(args, offset_of!(Args, rows));
            let lines = f.argument(args, offset_of!(Args, lines));
            let count = f.argument(args, offset_of!(Args, count));
            f.repeat_some(count, |f| {
                let (from, to) = (f.copy(source), f.copy(result));
                f.advance(to, rows, offset_of!(Row, result));
                let places = places.map(|p| f.copy(p));
                if let (Take::Place(_), Some(places)) = (self.kernel.take, places) {
                    f.advance(places, rows, offset_of!(Row, places));
                }
                let frame = Frame { column, source: from, places, places_column, mask };
                let strips = f.argument(args, offset_of!(Args, strips));
                f.repeat_some(strips, |f| {
                    if !self.kernel.streaming {
                        self.ask(f, args, to);
                    }
                    self.strip(f, (args, rows, lines), (channel, to), &frame, finish);
                    f.advance(from, args, offset_of!(Args, strip));
                    f.advance(to, args, offset_of!(Args, result_strip));
                    places.into_iter().for_each(|p| f.advance(p, args, offset_of!(Args, places_strip)));
                });
                let (used, size) = (f.argument(rows, offset_of!(Row, lines)), f.int(size_of::<Line>() as i64));
                f.mul(used, size);
                f.add(lines, used);
                f.add(rows, size_of::<Row>() as i32);
            });
            f.advance(source, args, offset_of!(Args, group));
            f.advance(result, args, offset_of!(Args, result_group));
            places.into_iter().for_each(|p| f.advance(p, args, offset_of!(Args, places_group)));
            f.add(channel, (self.width.lanes() * usize::from(self.kernel.vectors)) as i32);
        });
        if self.kernel.streaming {
            f.store_fence();
        }
    }

    /// The lanes that there are of a vector of a group.
    fn mask(&self, frame: &Frame, vector: usize) -> Option<Pred> {
        frame.mask.filter(|_| vector + 1 == usize::from(self.kernel.vectors))
    }

    fn reads_places(&self) -> bool {
        matches!(self.kernel.take, Take::Chosen(_))
    }

    /// Asks for the lines of a strip's results while they are computed: stores wait for their lines one after the other.
    fn ask(&self, f: &mut Function, args: Int, result: Int) {
        let column = f.argument(args, offset_of!(Args, result_column));
        let at = f.copy(result);
        for _ in 0..self.kernel.results {
            for vector in 0..i32::from(self.kernel.vectors) {
                f.prefetch(Prefetch::Write, at.at(vector * 64));
            }
            f.add(at, column);
        }
    }

    /// Computes the results of a strip and hands them on.
    fn strip(
        &self,
        f: &mut Function,
        (args, row, lines): (Int, Int, Int),
        (channel, result): (Int, Int),
        frame: &Frame,
        finish: &mut Finish<'_>,
    ) {
        let mut made = self.start(f);
        self.over_lines(f, (row, lines), frame, &made);
        if made.nan == Nan::Ignored {
            self.when_least(f, &made, |f| {
                let nan = f.splat_f32(self.width, f32::NAN);
                made.values.iter().flatten().for_each(|v| f.assign(*v, nan));
                made.places.iter().flatten().for_each(|p| f.clear(*p));
                self.over_lines(f, (row, lines), frame, &Strips { nan: Nan::Kept, ..made.clone() });
            });
        }
        if let Take::Mean { counted, exact } = self.kernel.take {
            let divisor = f.splat_as(Elem::F32, row.at(offset_of!(Row, divisor) as i32));
            self.divide(f, &mut made.values, divisor, (counted, exact));
        }
        if let (Take::Place(elem), Some(places)) = (self.kernel.take, frame.places) {
            self.store_places(f, elem, (args, places), &made.places, frame);
        }
        let (channel, result) = (f.copy(channel), f.copy(result));
        for (vector, values) in made.values.iter().enumerate() {
            let mask = self.mask(frame, vector);
            let strip =
                Strip { args, column: offset_of!(Args, result_column), channel, result, values, mask, normal: false, streaming: false };
            if self.kernel.streaming {
                strip.store_streaming(f)
            } else {
                finish(f, &strip)
            }
            f.add(channel, self.width.lanes() as i32);
            f.advance(result, args, offset_of!(Args, result_vector));
        }
    }

    /// What maxima know of NaN, at first.
    fn nan(&self, isa: Isa) -> Nan {
        match self.kernel.take {
            Take::Place(_) => Nan::Ignored,
            Take::Largest if !isa.avx512 => Nan::Ignored,
            _ => Nan::Kept,
        }
    }

    /// The registers of a strip as they are before the first line.
    fn start(&self, f: &mut Function) -> Strips {
        let (kernel, nan) = (self.kernel, self.nan(f.isa()));
        let registers = |f: &mut Function, start: fn(&mut Function, Width) -> Val| -> Vec<Vec<Val>> {
            (0..kernel.vectors).map(|_| (0..kernel.results).map(|_| start(f, self.width)).collect()).collect()
        };
        let values = match kernel.take {
            _ if nan == Nan::Ignored => registers(f, |f, w| f.splat_f32(w, f32::NEG_INFINITY)),
            Take::Largest | Take::Place(_) => registers(f, |f, w| f.splat_f32(w, f32::NAN)),
            Take::LargestWhole(Elem::I32) => registers(f, |f, w| f.splat_i32(w, i32::MIN)),
            Take::LargestWhole(Elem::I8) => registers(f, |f, w| f.splat_i32(w, LEAST_BYTES)),
            _ => registers(f, Function::zero),
        };
        let places = if matches!(kernel.take, Take::Place(_)) { registers(f, Function::zero) } else { Vec::new() };
        values.iter().chain(&places).flatten().for_each(|v| f.pin(*v));
        Strips { values, places, nan }
    }

    /// Runs `body` where a result is minus infinity.
    fn when_least(&self, f: &mut Function, made: &Strips, body: impl FnOnce(&mut Function)) {
        let mut values = made.values.iter().flatten();
        let Some(first) = values.next() else { return };
        let least = f.copy_of(*first);
        values.for_each(|v| f.update(Binary::MinF32, least, *v));
        let limit = f.splat_f32(self.width, f32::NEG_INFINITY);
        let (found, bits) = (f.compare_f32(Compare::Eq, least, limit), f.local(size_of::<u64>()));
        f.store_bits(bits.at(0), found);
        let found = if f.isa().avx512 { f.load_u16(bits.at(0)) } else { f.load_u8(bits.at(0)) };
        f.when(Compare::Gt, found, 0, body);
    }

    /// Joins all lines of the window to a strip.
    fn over_lines(&self, f: &mut Function, (row, lines): (Int, Int), frame: &Frame, made: &Strips) {
        let (kernel, width) = (self.kernel, self.width);
        let lines = f.copy(lines);
        let count = f.argument(row, offset_of!(Row, lines));
        f.repeat(count, |f| {
            let source = f.argument(lines, offset_of!(Line, source));
            f.add(source, frame.source);
            let places = frame.places.filter(|_| self.reads_places()).map(|places| {
                let line = f.argument(lines, offset_of!(Line, places));
                f.add(line, places);
                line
            });
            let first = matches!(kernel.take, Take::Place(_) | Take::Chosen(_)).then(|| {
                let place = f.argument(lines, offset_of!(Line, place));
                let place = f.splat_int(width, place);
                f.unary(Unary::F32FromI32, place)
            });
            let share = (kernel.take == Take::Shared).then(|| f.splat_as(Elem::F32, lines.at(offset_of!(Line, share) as i32)));
            f.add(lines, size_of::<Line>() as i32);
            self.line(f, &Given { source, places, first, share }, frame, made);
        });
    }

    /// The place of a tap, where that of the line's first is `first`.
    fn place(&self, f: &mut Function, first: Val, tap: usize) -> Val {
        match self.kernel.taps[tap].weights {
            0 => first,
            n => {
                let n = f.constant(&f32::from(n).to_le_bytes());
                f.binary(Binary::AddF32, first, Src::Splat(n))
            }
        }
    }

    /// Joins the columns of a line.
    fn line(&self, f: &mut Function, given: &Given, frame: &Frame, made: &Strips) {
        let Given { source, places, first, share } = *given;
        let (kernel, columns) = (self.kernel, self.kernel.columns());
        let held: Vec<Val> = match first {
            Some(first) if kernel.taps.len() <= HELD => (0..kernel.taps.len()).map(|tap| self.place(f, first, tap)).collect(),
            _ => Vec::new(),
        };
        let mut parts: Vec<(u8, Val)> = Vec::new();
        let mut base = kernel.first();
        for x in columns.all() {
            while x - base >= if places.is_some() { 1 } else { SHARE } {
                f.add(source, frame.column[if places.is_some() { 0 } else { 2 }]);
                places.into_iter().zip(frame.places_column).for_each(|(p, column)| f.add(p, column));
                base += if places.is_some() { 1 } else { SHARE };
            }
            let users: Vec<User> = columns
                .users(x)
                .map(|(i, tap)| (i, first.map(|first| held.get(tap).copied().unwrap_or_else(|| self.place(f, first, tap)))))
                .collect();
            let part = share.map(|share| self.part(f, share, x, &mut parts));
            for vector in 0..usize::from(kernel.vectors) {
                let at = |elem: Elem| (vector * self.width.lanes() * elem.bytes()) as i32;
                let from = column_at(source, frame.column, x - base, at(kernel.source));
                match (kernel.take, places) {
                    (Take::Chosen(elem), Some(places)) => {
                        let mask = self.mask(frame, vector);
                        self.choose(f, (from, places.at(at(elem))), mask, (elem, &users, &made.values[vector]))
                    }
                    _ => {
                        let met = Met { from, mask: self.mask(frame, vector), users: &users };
                        match part {
                            Some(part) => self.add_part(f, &met, &made.values[vector], part),
                            None if made.nan == Nan::Ignored => self.join_larger(f, &met, made, vector),
                            None => self.join(f, &met, made, vector),
                        }
                    }
                }
            }
        }
    }

    /// The factor of a source column, of those that the line has had.
    fn part(&self, f: &mut Function, share: Val, column: i32, parts: &mut Vec<(u8, Val)>) -> Val {
        let count = self.kernel.share(column);
        let known = parts.iter().find(|p| p.0 == count).map(|p| p.1);
        known.unwrap_or_else(|| {
            let inverse = f.constant(&(1.0 / f32::from(count)).to_le_bytes());
            let part = f.binary(Binary::MulF32, share, Src::Splat(inverse));
            parts.push((count, part));
            part
        })
    }

    /// Adds a part of a vector of a column to the results that meet it.
    fn add_part(&self, f: &mut Function, met: &Met<'_>, values: &[Val], part: Val) {
        let Met { from, mask, users } = *met;
        if let ([(i, _)], Elem::F32, None) = (users, self.kernel.source, mask) {
            return f.accumulate(Accumulate::FmaF32, values[*i], part, Src::Mem(from));
        }
        let x = f.load_number(self.kernel.source, from, mask);
        users.iter().for_each(|(i, _)| f.accumulate(Accumulate::FmaF32, values[*i], part, x));
    }

    /// Joins a vector of a column to the maxima that meet it: of two operands the second is taken where the first is NaN.
    fn join_larger(&self, f: &mut Function, met: &Met<'_>, made: &Strips, vector: usize) {
        let Met { from, mask, users } = *met;
        let x = f.load_number(self.kernel.source, from, mask);
        for (i, place) in users {
            let value = made.values[vector][*i];
            // Of equal elements the first counts.
            let larger = place.map(|place| (f.compare_f32(Compare::Gt, x, value), place));
            f.update_from(Binary::MaxF32, value, x);
            if let Some((larger, place)) = larger {
                f.replace(made.places[vector][*i], larger, place);
            }
        }
    }

    /// Joins a vector of a column to the results that meet it.
    fn join(&self, f: &mut Function, met: &Met<'_>, made: &Strips, vector: usize) {
        let Met { from, mask, users } = *met;
        let values = &made.values[vector];
        let op = match self.kernel.take {
            Take::Mean { .. } => Binary::AddF32,
            Take::LargestWhole(Elem::I32) => Binary::MaxI32,
            Take::LargestWhole(Elem::I8) => Binary::MaxI8,
            Take::LargestWhole(_) => Binary::MaxU8,
            _ => Binary::LargestF32,
        };
        if let ([(i, None)], Elem::F32, None) = (users, self.kernel.source, mask) {
            return f.update(op, values[*i], Src::Mem(from));
        }
        let x = f.load_number(self.kernel.source, from, mask);
        for (i, place) in users {
            let Some(place) = place else {
                f.update(op, values[*i], x);
                continue;
            };
            // Equal elements change nothing; what is NaN gives way to whatever comes.
            let larger = f.binary(op, values[*i], x);
            let changed = f.compare_f32(Compare::Ne, larger, values[*i]);
            f.assign(values[*i], larger);
            f.replace(made.places[vector][*i], changed, *place);
        }
    }

    /// Adds a vector of a column to the results whose taps have the places that belong to it.
    fn choose(&self, f: &mut Function, (from, places): (Addr, Addr), mask: Option<Pred>, (elem, users, values): (Elem, &[User], &[Val])) {
        let x = f.load_number(self.kernel.source, from, mask);
        let places = f.load_number(elem, places, mask);
        for (i, place) in users.iter().filter_map(|(i, place)| Some((*i, (*place)?))) {
            let (mine, zero) = (f.compare_f32(Compare::Eq, places, place), f.zero(self.width));
            let chosen = f.select(mine, x, zero);
            f.update(Binary::AddF32, values[i], chosen);
        }
    }

    fn divide(&self, f: &mut Function, values: &mut [Vec<Val>], divisor: Val, (counted, exact): (bool, bool)) {
        let by = if exact {
            divisor
        } else {
            let one = f.splat_f32(self.width, 1.0);
            f.binary(Binary::DivF32, one, divisor)
        };
        let mut known: Vec<(usize, Val)> = vec![(1, by)];
        for i in 0..usize::from(self.kernel.results) {
            let count = if counted { self.kernel.count(i).max(1) } else { 1 };
            let found = known.iter().find(|d| d.0 == count).map(|d| d.1);
            let by = found.unwrap_or_else(|| {
                let columns = if exact { count as f32 } else { 1.0 / count as f32 };
                let columns = f.constant(&columns.to_le_bytes());
                let product = f.binary(Binary::MulF32, by, Src::Splat(columns));
                known.push((count, product));
                product
            });
            let op = if exact { Binary::DivF32 } else { Binary::MulF32 };
            values.iter_mut().for_each(|v| f.update(op, v[i], by));
        }
    }

    fn store_places(&self, f: &mut Function, elem: Elem, (args, at): (Int, Int), places: &[Vec<Val>], frame: &Frame) {
        let column = f.argument(args, offset_of!(Args, places_column));
        let at = f.copy(at);
        for i in 0..usize::from(self.kernel.results) {
            for (vector, places) in places.iter().enumerate() {
                let place = if elem == Elem::I32 { f.unary(Unary::I32FromF32, places[i]) } else { places[i] };
                f.store_as(elem, at.at((vector * self.width.lanes() * elem.bytes()) as i32), place, self.mask(frame, vector));
            }
            f.add(at, column);
        }
    }
}
