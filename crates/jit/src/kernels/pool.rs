//! The inner kernel of pooling: strips of results of some vectors of channels stay in registers over the whole window.
//!
//! It goes through windows as [`depthwise`](super::depthwise) does, without weights: a source column is loaded once for all results that
//! use it, and combined with each of them. Columns that do not exist are part of the key, lines of the window are data. Where channels are
//! contiguous, several vectors of them are computed at a time, so that source and results are read and written in longer runs.
//!
//! A maximum begins with the first element and takes larger ones, which NaN never is, nor anything than NaN. If a result is NaN in the end, the
//! strip is computed once more by instructions that leave NaN out: four with AVX2. With AVX-512 it is one, which pays only where places are
//! wanted.
//!
//! The gradient of a mean is a mean of gradients, over the taps that use a source element; where windows differ in size it is a sum of
//! quotients. The gradient of a maximum adds the gradients of those results whose maximum came from this tap. A tap's place is its number
//! in the window, an integer wherever it is.

use super::strips::{Args, At, Cursor, Finish, Other, Row, StripKey, Window, WindowKey};
use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Binary, Compare, Elem, Function, Int, Pred, Src, Unary, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// The least i8 in every byte of a word.
const MIN_I8X4: i32 = i32::from_le_bytes([0x80; 4]);

/// The reduction over the elements of a window. Places are unsigned bytes or integers of 32 bits; those of a line are the bits of its
/// [`Line::value`](super::strips::Line).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Take {
    /// The largest; NaN only where all are NaN.
    Largest,
    /// The largest of integers of this type, compared unconverted: of 32 bits, or of bytes, four in each word of the source.
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
    /// The sum of the source columns: each [`Line::value`](super::strips::Line), divided by its entry of [`Pool::counts`].
    Shared,
    /// The sum of those whose place, a number of this type in the same order as the source, is that of the tap.
    Chosen(Elem),
}

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pool {
    /// The window; instead of weights its taps have their places in the line. Rows without lines are zeros, or NaN for maxima.
    pub window: Window,
    /// The reduction.
    pub take: Take,
    /// Divisors of the existing source columns where these are shared, from the first on; further columns use the last divisor.
    pub counts: Vec<u8>,
}

/// How integers of a type are loaded: bytes zero-extended to words.
fn as_words(elem: Elem) -> Elem {
    if elem == Elem::I32 { elem } else { Elem::Low8 }
}

/// How elements are added: bytes as integers, which take fewer instructions.
fn as_summands(elem: Elem) -> Elem {
    match elem {
        Elem::I8 => Elem::Whole8,
        Elem::U8 => Elem::Low8,
        elem => elem,
    }
}

/// Taps whose places stay resident in registers; places of wider windows are loaded at every use.
const RESIDENT_TAPS: usize = 8;

impl Key for Pool {
    type Args = Args;

    /// The name in dumps and profiles, such as `pool.max.f32.7x3s2.4.avx512`.
    fn name(&self, isa: Isa) -> String {
        let Window { source, results, stride, step, vectors, taps, streaming, .. } = &self.window;
        let streaming = if *streaming { "streaming." } else { "" };
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
        format!("pool.{take}.{streaming}{}.{results}x{}s{stride}{step}.{vectors}.{}", source.name(), taps.len(), isa.name())
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

impl WindowKey for Pool {
    fn window(&self) -> &Window {
        &self.window
    }
    fn with(&self, window: Window) -> Pool {
        Pool { window, ..self.clone() }
    }
    fn other(&self) -> Other {
        match self.take {
            Take::Place(elem) => Other::Written(elem),
            Take::Chosen(elem) => Other::Read(elem),
            _ => Other::None,
        }
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
            Take::Place(_) => (free - taps.min(RESIDENT_TAPS) - 4) / (2 * vectors),
            Take::Chosen(_) => (free - taps.min(RESIDENT_TAPS) - 5) / vectors,
        };
        results.min(16)
    }

    /// True if every result uses a column.
    pub fn is_met(&self) -> bool {
        (0..usize::from(self.window.results)).all(|result| self.window.count(result) > 0)
    }

    /// The divisor of a source column where it is shared.
    fn divisor_of(&self, column: i32) -> u8 {
        let at = usize::try_from(column - i32::from(self.window.inside.0)).unwrap_or(0);
        self.counts.get(at).or(self.counts.last()).copied().unwrap_or(1).max(1)
    }
}

struct Writer<'k> {
    kernel: &'k Pool,
    width: Width,
}

/// The state of a line of the window.
struct LineState {
    cursor: Cursor,
    /// Places, where they are read.
    places: Option<Int>,
    /// Place of its first tap, or factor of its columns.
    value: Option<Val>,
    /// Whether it is the first line of a maximum.
    begins: bool,
}

/// How maxima of floating-point elements treat NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Nan {
    /// Neither it nor an element beside it is ever larger: results whose first element is NaN are NaN.
    Ignored,
    /// Results of nothing else are NaN.
    LeftOut,
}

/// A vector of a source column: its address, its mask, the results that use it.
struct SourceVector<'u> {
    from: Addr,
    mask: Option<Pred>,
    users: &'u [User],
}

/// A result that uses a column.
#[derive(Clone, Copy)]
struct User {
    result: usize,
    /// The place of the tap through which it does, where places are wanted.
    place: Option<Val>,
    /// Whether the result is initialised with it.
    begins: bool,
}

/// The accumulators of a strip, vector by vector, and how its maxima treat NaN.
#[derive(Clone)]
struct Accumulators {
    values: Vec<Vec<Val>>,
    places: Vec<Vec<Val>>,
    nan: Nan,
}

impl Writer<'_> {
    fn write(&self, f: &mut Function, finish: &mut Finish<'_>) {
        // The distance of places that are read stays in a register.
        let column = |f: &mut Function, at: &At| self.reads_places().then(|| f.argument(at.args, offset_of!(Args, other.column)));
        self.kernel.window.write(f, self.kernel.other(), column, |f, at, column| self.strip(f, at, *column, finish));
    }

    fn reads_places(&self) -> bool {
        matches!(self.kernel.take, Take::Chosen(_))
    }

    /// Computes the results of a strip, epilogue included.
    fn strip(&self, f: &mut Function, at: &At, column: Option<Int>, finish: &mut Finish<'_>) {
        let mut accumulators = self.start(f);
        self.over_lines(f, at, column, &accumulators);
        if accumulators.nan == Nan::Ignored {
            self.when_nan(f, &accumulators, |f| {
                let nan = f.splat_f32(self.width, f32::NAN);
                accumulators.values.iter().flatten().for_each(|v| f.assign(*v, nan));
                accumulators.places.iter().flatten().for_each(|p| f.clear(*p));
                self.over_lines(f, at, column, &Accumulators { nan: Nan::LeftOut, ..accumulators.clone() });
            });
        }
        if let Take::Mean { counted, exact } = self.kernel.take {
            if as_summands(self.kernel.window.source) != self.kernel.window.source {
                accumulators.values.iter_mut().flatten().for_each(|sum| *sum = f.unary(Unary::F32FromI32, *sum));
            }
            let divisor = f.splat_as(Elem::F32, at.row.at(offset_of!(Row, divisor) as i32));
            self.divide(f, &mut accumulators.values, divisor, (counted, exact));
        }
        if let (Take::Place(elem), Some(places)) = (self.kernel.take, at.other) {
            self.store_places(f, (as_words(elem), places), &accumulators.places, at);
        }
        self.kernel.window.finish(f, at, accumulators.values.iter(), (false, finish));
    }

    /// The initial treatment of NaN in maxima.
    fn nan(&self, isa: Isa) -> Nan {
        match self.kernel.take {
            Take::Place(_) => Nan::Ignored,
            Take::Largest if !isa.avx512 => Nan::Ignored,
            _ => Nan::LeftOut,
        }
    }

    /// The initial accumulators of a strip.
    fn start(&self, f: &mut Function) -> Accumulators {
        let (kernel, nan) = (self.kernel, self.nan(f.isa()));
        let registers = |f: &mut Function, start: fn(&mut Function, Width) -> Val| -> Vec<Vec<Val>> {
            (0..kernel.window.vectors).map(|_| (0..kernel.window.results).map(|_| start(f, self.width)).collect()).collect()
        };
        let values = match kernel.take {
            Take::Largest | Take::Place(_) => registers(f, |f, w| f.splat_f32(w, f32::NAN)),
            Take::LargestWhole(Elem::I32) => registers(f, |f, w| f.splat_i32(w, i32::MIN)),
            Take::LargestWhole(Elem::I8) => registers(f, |f, w| f.splat_i32(w, MIN_I8X4)),
            _ => registers(f, Function::zero),
        };
        let places = if matches!(kernel.take, Take::Place(_)) { registers(f, Function::zero) } else { Vec::new() };
        values.iter().chain(&places).flatten().for_each(|v| f.pin(*v));
        Accumulators { values, places, nan }
    }

    /// Runs `body` where a result is NaN, or two are infinite with different signs.
    fn when_nan(&self, f: &mut Function, accumulators: &Accumulators, body: impl FnOnce(&mut Function)) {
        let mut values = accumulators.values.iter().flatten();
        let Some(first) = values.next() else { return };
        let sum = f.copy_of(*first);
        values.for_each(|v| f.update(Binary::AddF32, sum, *v));
        let (found, bits) = (f.compare_f32(Compare::Ne, sum, sum), f.local(size_of::<u64>()));
        f.store_bits(bits.at(0), found);
        let found = if f.isa().avx512 { f.load_u16(bits.at(0)) } else { f.load_u8(bits.at(0)) };
        f.when(Compare::Gt, found, 0, body);
    }

    /// Accumulates all lines of the window.
    fn over_lines(&self, f: &mut Function, at: &At, column: Option<Int>, accumulators: &Accumulators) {
        let first = self.kernel.window.first();
        let line = |begins: bool| {
            move |f: &mut Function, source: Int, places: Option<Int>, value: Addr| {
                let wanted = matches!(self.kernel.take, Take::Place(_) | Take::Chosen(_) | Take::Shared);
                let value = wanted.then(|| f.splat_as(Elem::F32, value));
                let cursor = Cursor::new(source, at.column, first, places.zip(column));
                self.line(f, LineState { cursor, places, value, begins }, at, accumulators);
            }
        };
        match accumulators.nan {
            Nan::Ignored => at.over_lines_peeled(f, line(true), line(false)),
            Nan::LeftOut => at.over_lines(f, self.reads_places(), line(false)),
        }
    }

    /// The place of a tap, where that of the line's first is `first`.
    fn place(&self, f: &mut Function, first: Val, tap: usize) -> Val {
        match self.kernel.window.taps[tap].weights {
            0 => first,
            n => {
                let n = f.constant(&u32::from(n).to_le_bytes());
                f.binary(Binary::AddI32, first, Src::Splat(n))
            }
        }
    }

    /// Accumulates the columns of a line.
    fn line(&self, f: &mut Function, state: LineState, at: &At, accumulators: &Accumulators) {
        let LineState { mut cursor, places, value, begins } = state;
        let (kernel, window) = (self.kernel, &self.kernel.window);
        let (columns, lanes) = (window.columns(), self.width.lanes());
        let (first, scale) = if kernel.take == Take::Shared { (None, value) } else { (value, None) };
        let resident: Vec<Val> = match first {
            Some(first) if window.taps.len() <= RESIDENT_TAPS => (0..window.taps.len()).map(|tap| self.place(f, first, tap)).collect(),
            _ => Vec::new(),
        };
        let mut factors: Vec<(u8, Val)> = Vec::new();
        let mut uninitialised = vec![begins; usize::from(window.results)];
        for x in columns.all() {
            let address = cursor.seek(f, x);
            let user = |(result, tap): (usize, usize)| {
                let place = first.map(|first| resident.get(tap).copied().unwrap_or_else(|| self.place(f, first, tap)));
                User { result, place, begins: std::mem::take(&mut uninitialised[result]) }
            };
            let users: Vec<User> = columns.users(x).map(user).collect();
            let factor = scale.map(|scale| self.factor(f, scale, x, &mut factors));
            for vector in 0..usize::from(window.vectors) {
                let disp = |elem: Elem| (vector * lanes * elem.bytes()) as i32;
                let source = SourceVector { from: address.at(disp(window.source)), mask: at.mask(window, vector), users: &users };
                let values = &accumulators.values[vector];
                match (kernel.take, places, factor) {
                    (Take::Chosen(elem), Some(places), _) => self.add_selected(f, &source, (as_words(elem), places.at(disp(elem))), values),
                    (.., Some(factor)) => self.add_scaled(f, &source, values, factor),
                    _ if accumulators.nan == Nan::Ignored => self.combine_max(f, &source, accumulators, vector),
                    _ => self.combine(f, &source, accumulators, vector),
                }
            }
        }
    }

    /// The factor of a source column; factors of the line's earlier columns are reused.
    fn factor(&self, f: &mut Function, scale: Val, column: i32, factors: &mut Vec<(u8, Val)>) -> Val {
        let count = self.kernel.divisor_of(column);
        let known = factors.iter().find(|p| p.0 == count).map(|p| p.1);
        known.unwrap_or_else(|| {
            let inverse = f.constant(&(1.0 / f32::from(count)).to_le_bytes());
            let factor = f.binary(Binary::MulF32, scale, Src::Splat(inverse));
            factors.push((count, factor));
            factor
        })
    }

    /// Adds a vector of a column, times a factor, to the results that use it.
    fn add_scaled(&self, f: &mut Function, source: &SourceVector<'_>, values: &[Val], factor: Val) {
        let SourceVector { from, mask, users } = *source;
        if let ([User { result, .. }], Elem::F32, None) = (users, self.kernel.window.source, mask) {
            return f.accumulate(Accumulate::FmaF32, values[*result], factor, Src::Mem(from));
        }
        let x = f.load_number(self.kernel.window.source, from, mask);
        users.iter().for_each(|user| f.accumulate(Accumulate::FmaF32, values[user.result], factor, x));
    }

    /// Combines a vector of a column with the maxima that use it: of two operands the second is taken where the first is NaN.
    fn combine_max(&self, f: &mut Function, source: &SourceVector<'_>, accumulators: &Accumulators, vector: usize) {
        let SourceVector { from, mask, users } = *source;
        let x = f.load_number(self.kernel.window.source, from, mask);
        for User { result, place, begins } in users {
            let (value, result_place) =
                (accumulators.values[vector][*result], place.map(|place| (accumulators.places[vector][*result], place)));
            if *begins {
                f.assign(value, x);
                result_place.into_iter().for_each(|(result_place, place)| f.assign(result_place, place));
                continue;
            }
            // Of equal elements the first counts.
            let larger = result_place.map(|result_place| (f.compare_f32(Compare::Gt, x, value), result_place));
            match larger {
                // Moves have more ports than maxima.
                Some((larger, _)) if f.isa().avx512 => f.replace(value, larger, x),
                _ => f.update_from(Binary::MaxF32, value, x),
            }
            if let Some((larger, (result_place, place))) = larger {
                f.replace(result_place, larger, place);
            }
        }
    }

    /// Combines a vector of a column with the results that use it.
    fn combine(&self, f: &mut Function, source: &SourceVector<'_>, accumulators: &Accumulators, vector: usize) {
        let SourceVector { from, mask, users } = *source;
        let values = &accumulators.values[vector];
        let source_elem = self.kernel.window.source;
        let elem = if matches!(self.kernel.take, Take::Mean { .. }) { as_summands(source_elem) } else { source_elem };
        let op = match self.kernel.take {
            Take::Mean { .. } if elem != source_elem => Binary::AddI32,
            Take::Mean { .. } => Binary::AddF32,
            Take::LargestWhole(Elem::I32) => Binary::MaxI32,
            Take::LargestWhole(Elem::I8) => Binary::MaxI8,
            Take::LargestWhole(_) => Binary::MaxU8,
            _ => Binary::LargestF32,
        };
        if let ([User { result, place: None, .. }], Elem::F32, None) = (users, elem, mask) {
            return f.update(op, values[*result], Src::Mem(from));
        }
        let x = f.load_number(elem, from, mask);
        for User { result, place, .. } in users {
            let value = values[*result];
            let Some(place) = place else {
                f.update(op, value, x);
                continue;
            };
            // Equal elements change nothing; any element replaces NaN.
            let larger = f.binary(op, value, x);
            let changed = f.compare_f32(Compare::Ne, larger, value);
            f.assign(value, larger);
            f.replace(accumulators.places[vector][*result], changed, *place);
        }
    }

    /// Adds a vector of a column to the results whose taps have the places that belong to it.
    fn add_selected(&self, f: &mut Function, source: &SourceVector<'_>, (elem, places): (Elem, Addr), values: &[Val]) {
        let x = f.load_number(self.kernel.window.source, source.from, source.mask);
        let places = f.load_as(elem, places, source.mask);
        for (result, place) in source.users.iter().filter_map(|user| Some((user.result, user.place?))) {
            let (of_tap, zero) = (f.compare_i32(Compare::Eq, places, place), f.zero(self.width));
            let selected = f.select(of_tap, x, zero);
            f.update(Binary::AddF32, values[result], selected);
        }
    }

    fn divide(&self, f: &mut Function, values: &mut [Vec<Val>], divisor: Val, (counted, exact): (bool, bool)) {
        let by = if exact {
            divisor
        } else {
            let one = f.splat_f32(self.width, 1.0);
            f.binary(Binary::DivF32, one, divisor)
        };
        let mut known = vec![(1, by, exact.then(|| f.divisor(by)))];
        for i in 0..usize::from(self.kernel.window.results) {
            let count = if counted { self.kernel.window.count(i).max(1) } else { 1 };
            let found = known.iter().find(|d| d.0 == count).copied();
            let (_, by, divisor) = found.unwrap_or_else(|| {
                let columns = if exact { count as f32 } else { 1.0 / count as f32 };
                let columns = f.constant(&columns.to_le_bytes());
                let product = f.binary(Binary::MulF32, by, Src::Splat(columns));
                let of_count = (count, product, exact.then(|| f.divisor(product)));
                known.push(of_count);
                of_count
            });
            values.iter_mut().for_each(|v| match divisor {
                Some(divisor) => v[i] = f.quotient(v[i], divisor),
                None => f.update(Binary::MulF32, v[i], by),
            });
        }
    }

    fn store_places(&self, f: &mut Function, (elem, to): (Elem, Int), places: &[Vec<Val>], at: &At) {
        let (window, column) = (&self.kernel.window, f.argument(at.args, offset_of!(Args, other.column)));
        let to = f.copy(to);
        for i in 0..usize::from(window.results) {
            for (vector, places) in places.iter().enumerate() {
                f.store_as(elem, to.at((vector * self.width.lanes() * elem.bytes()) as i32), places[i], at.mask(window, vector));
            }
            f.add(to, column);
        }
    }
}
