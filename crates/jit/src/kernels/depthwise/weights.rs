//! The inner kernel of gradients of depthwise weights, and of weights of groups of few channels: the gradients of the taps of some lines
//! stay in registers over strips of window positions, rows and images.
//!
//! `sum[tap] += x[place * stride + tap] * y[place]`, vectors over channels. A strip is a number of neighbouring places. Every source column
//! is loaded once for all taps that use it, so that `n` places and `k` taps are `n * k` multiply-adds for about `2 * n + k` loads. Where
//! groups have `g` channels, a column is broadcast over its groups once for each channel, and there are `g` times as many sums. Several
//! lines of the window share the gradients of the results.
//!
//! A few taps would wait for the latency of their own sums, so places use several sets of accumulators in turn, which are added at the end. A row
//! of places is cut into parts that use the same taps, without those in the padding. The key holds the parts; how often the strips of the
//! long part repeat is data.

use super::broadcast;
use crate::asm::Width;
use crate::ir::{Accumulate, Binary, Elem, Function, Int, Pred, Src, Val};
use crate::isa::Isa;
use crate::kernels::strips::{ColumnStrides, Columns, Cursor, Tap};
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Neighbouring places that use the same taps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// Places of a strip.
    pub places: u8,
    /// Whether there are [`Args::strips`] of them; else one.
    pub repeated: bool,
    /// First tap, and number of taps.
    pub taps: (u8, u8),
}

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gradient {
    /// Type of the source, and of the gradient of the result.
    pub types: [Elem; 2],
    /// True when both are words of a bf16 and a zero, for processors that multiply pairs.
    pub dots: bool,
    /// Channels of a group; a vector is whole groups.
    pub group: u8,
    /// Source columns between places.
    pub stride: u8,
    /// Lines of the window.
    pub lines: u8,
    /// The taps of a line; their weights say which sums of it are theirs.
    pub taps: Vec<Tap>,
    /// The parts of a row in their order; each has at least one tap.
    pub parts: Vec<Part>,
    /// True when the number of channels need not be whole vectors.
    pub masked: bool,
}

/// Distances of an operand in bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Steps {
    /// Columns.
    pub column: usize,
    /// Strips of the part that is repeated.
    pub strip: usize,
    /// Lines of the window.
    pub line: usize,
    /// Rows.
    pub row: usize,
    /// Images.
    pub image: usize,
    /// Vectors of channels.
    pub vector: usize,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The source column from which tap columns are counted at the first place.
    pub source: *const u8,
    /// Its distances.
    pub source_steps: Steps,
    /// The gradient of the first result.
    pub gradient: *const u8,
    /// Its distances.
    pub gradient_steps: Steps,
    /// Strips of the part that is repeated, rows of an image, images and vectors of channels, at least 1 each.
    pub strips: usize,
    /// As said.
    pub rows: usize,
    /// As said.
    pub images: usize,
    /// As said.
    pub vectors: usize,
    /// Number of channels.
    pub channels: usize,
    /// The destination of the sums: for every tap's weights as many vectors as a group has source channels.
    pub sums: *mut f32,
    /// Bytes from the sums of a vector of channels to the next's, and of a line.
    pub sums_vector: usize,
    /// As said.
    pub sums_line: usize,
}

/// Places of a strip, and the same where there are few sums.
const STRIP_PLACES: [usize; 2] = [4, 8];
/// The same with the sixteen registers of AVX2.
const STRIP_PLACES_AVX2: [usize; 2] = [2, 4];
/// Sums are few if they take at most one register of so many.
const FEW_SUMS_DIVISOR: usize = 3;
/// Accumulators in flight that hide the latency of multiply-adds.
const MIN_ACCUMULATORS: usize = 8;

impl Key for Gradient {
    type Args = Args;

    /// The name in dumps and profiles, such as `depthwise_weights.f32f32.1.3x3s1.1_4_1.avx512`.
    fn name(&self, isa: Isa) -> String {
        let Gradient { types: [x, y], stride, group, lines, .. } = self;
        let parts: Vec<String> = self.parts.iter().map(|p| p.places.to_string()).collect();
        let (taps, parts) = (self.taps.len(), parts.join("_"));
        format!("depthwise_weights.{}{}.{group}.{lines}x{taps}s{stride}.{parts}.{}", x.name(), y.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        Writer { kernel: self, width: f.isa().width() }.write(f);
    }
}

impl Gradient {
    /// Places of a strip with so many taps of all lines, where there are enough.
    pub fn most_places(isa: Isa, group: usize, taps: usize) -> usize {
        let few = taps * group <= isa.simd_registers() / FEW_SUMS_DIVISOR;
        (if isa.simd_registers() > 16 { STRIP_PLACES } else { STRIP_PLACES_AVX2 })[usize::from(few)]
    }

    /// The most taps that a call may have.
    pub fn most_taps(isa: Isa, group: usize) -> usize {
        // Beside the sums, registers hold the places, a column, its broadcast and a mask.
        let places = Self::most_places(isa, group, usize::MAX >> 8);
        ((isa.simd_registers() - places - 3) / group.max(1)).max(1)
    }

    /// Source columns that a row reads, the first and the last counted from that of the first place, and its number of places, where the part
    /// that is repeated has so many strips; `None` where they are not to be counted.
    pub fn reach(&self, strips: usize) -> Option<(i64, i64, usize)> {
        let (mut low, mut high, mut place) = (i64::MAX, i64::MIN, 0usize);
        for part in &self.parts {
            let places = usize::from(part.places).checked_mul(if part.repeated { strips } else { 1 })?;
            let begin = i64::try_from(place).ok()?.checked_mul(self.stride.into())?;
            place = place.checked_add(places)?;
            let last = i64::try_from(place.checked_sub(1)?).ok()?.checked_mul(self.stride.into())?;
            for tap in self.taps_of(part) {
                low = low.min(begin + i64::from(tap.column));
                high = high.max(last + i64::from(tap.column));
            }
        }
        if low <= high { Some((low, high, place)) } else { Some((0, 0, place)) }
    }

    fn taps_of(&self, part: &Part) -> &[Tap] {
        &self.taps[usize::from(part.taps.0)..][..usize::from(part.taps.1)]
    }

    fn columns<'t>(&'t self, part: &Part) -> Columns<'t> {
        Columns { taps: self.taps_of(part), results: part.places, stride: self.stride, step: 1, inside: (i16::MIN, i16::MAX) }
    }

    /// Sets of sums.
    fn sets(&self, isa: Isa) -> usize {
        let sums = self.taps.len().max(1) * usize::from(self.group) * usize::from(self.lines.max(1));
        let places = self.parts.iter().map(|p| usize::from(p.places)).max().unwrap_or(1);
        let available = (isa.simd_registers() - places - 3) / sums;
        (MIN_ACCUMULATORS / sums).min(available).min(places).max(1)
    }
}

struct Writer<'k> {
    kernel: &'k Gradient,
    width: Width,
}

/// The sums by set, line, source channel of a group, and tap.
struct Sums(Vec<Vec<Vec<Vec<Val>>>>);

/// Values that are invariant in the loops over images and rows: the call's arguments, strides of columns, the mask of channels, and the sums.
#[derive(Clone, Copy)]
struct Invariants<'k> {
    args: Int,
    column: ColumnStrides,
    mask: Option<Pred>,
    sums: &'k Sums,
}

/// The places of a part, loaded.
struct Strip<'s> {
    part: &'s Part,
    places: &'s [Val],
}

impl Writer<'_> {
    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let column = ColumnStrides::new(f, args, offset_of!(Args, source_steps.column));
        let source = f.argument(args, offset_of!(Args, source));
        let gradient = f.argument(args, offset_of!(Args, gradient));
        let sums_at = f.argument(args, offset_of!(Args, sums));
        let left = f.argument(args, offset_of!(Args, channels));
        let vectors = f.argument(args, offset_of!(Args, vectors));
        f.repeat_some(vectors, |f| {
            let mask = self.kernel.masked.then(|| f.first_lanes(left));
            let sums = self.zeros(f);
            let images = f.argument(args, offset_of!(Args, images));
            let outer = [f.copy(source), f.copy(gradient)];
            f.repeat_some(images, |f| {
                let rows = f.argument(args, offset_of!(Args, rows));
                let row = outer.map(|at| f.copy(at));
                f.repeat_some(rows, |f| {
                    self.row(f, row, &Invariants { args, column, mask, sums: &sums });
                    f.advance(row[0], args, offset_of!(Args, source_steps.row));
                    f.advance(row[1], args, offset_of!(Args, gradient_steps.row));
                });
                f.advance(outer[0], args, offset_of!(Args, source_steps.image));
                f.advance(outer[1], args, offset_of!(Args, gradient_steps.image));
            });
            self.add(f, (args, sums_at), &sums);
            f.advance(source, args, offset_of!(Args, source_steps.vector));
            f.advance(gradient, args, offset_of!(Args, gradient_steps.vector));
            f.advance(sums_at, args, offset_of!(Args, sums_vector));
            f.sub(left, self.width.lanes() as i32);
        });
    }

    fn zeros(&self, f: &mut Function) -> Sums {
        let k = self.kernel;
        let sets = k.sets(f.isa());
        let mut line = || (0..k.group).map(|_| k.taps.iter().map(|_| f.zero(self.width)).collect()).collect();
        let sums = Sums((0..sets).map(|_| (0..k.lines).map(|_| line()).collect()).collect());
        sums.0.iter().flatten().flatten().flatten().for_each(|s| f.pin(*s));
        sums
    }

    /// Adds the sums of all sets to those in memory.
    fn add(&self, f: &mut Function, (args, at): (Int, Int), sums: &Sums) {
        let (group, at) = (usize::from(self.kernel.group), f.copy(at));
        for line in 0..usize::from(self.kernel.lines) {
            for (t, tap) in self.kernel.taps.iter().enumerate() {
                for channel in 0..group {
                    let (first, rest) = (sums.0[0][line][channel][t], &sums.0[1..]);
                    let total = rest.iter().fold(first, |sum, set| f.binary(Binary::AddF32, sum, set[line][channel][t]));
                    let to = at.at(((usize::from(tap.weights) * group + channel) * self.width.lanes() * 4) as i32);
                    let total = f.binary(Binary::AddF32, total, Src::Mem(to));
                    f.store_as(Elem::F32, to, total, None);
                }
            }
            f.advance(at, args, offset_of!(Args, sums_line));
        }
    }

    /// The products of a row, part by part.
    fn row(&self, f: &mut Function, row: [Int; 2], invariants: &Invariants<'_>) {
        let Invariants { args, column, .. } = *invariants;
        let [source, gradient] = row.map(|at| f.copy(at));
        // The column at the address `source`, relative to that of the next place.
        let mut current = 0;
        for part in &self.kernel.parts {
            let first = self.kernel.columns(part).first();
            move_by(f, source, column.0[0], first - current);
            current = first;
            if part.repeated {
                let strips = f.argument(args, offset_of!(Args, strips));
                f.repeat_some(strips, |f| {
                    self.strip(f, [source, gradient], part, invariants);
                    f.advance(source, args, offset_of!(Args, source_steps.strip));
                    f.advance(gradient, args, offset_of!(Args, gradient_steps.strip));
                });
                continue;
            }
            self.strip(f, [source, gradient], part, invariants);
            current -= i32::from(part.places) * i32::from(self.kernel.stride);
            (0..part.places).for_each(|_| f.advance(gradient, args, offset_of!(Args, gradient_steps.column)));
        }
    }

    /// The products of a strip, whose first column `source` is.
    fn strip(&self, f: &mut Function, [source, gradient]: [Int; 2], part: &Part, invariants: &Invariants<'_>) {
        let Invariants { args, mask, .. } = *invariants;
        let k = self.kernel;
        let y_type = k.types[1];
        let at = f.copy(gradient);
        let places: Vec<Val> = (0..part.places)
            .map(|i| {
                if i > 0 {
                    f.advance(at, args, offset_of!(Args, gradient_steps.column));
                }
                f.load_as(y_type, at.at(0), mask)
            })
            .collect();
        let line = f.copy(source);
        for sums in 0..usize::from(k.lines) {
            if sums > 0 {
                f.advance(line, args, offset_of!(Args, source_steps.line));
            }
            self.line(f, (line, sums), &Strip { part, places: &places }, invariants);
        }
    }

    /// The products of a strip's places with a line of the window, whose first column `source` is.
    fn line(&self, f: &mut Function, (source, line): (Int, usize), strip: &Strip<'_>, invariants: &Invariants<'_>) {
        let Strip { part, places } = *strip;
        let Invariants { column, mask, sums, .. } = *invariants;
        let k = self.kernel;
        let x_type = k.types[0];
        let add = if k.dots { Accumulate::DotBf16 } else { Accumulate::FmaF32 };
        let plain = x_type == Elem::F32 && mask.is_none();
        for channel in 0..k.group {
            let broadcast = broadcast(f, self.width, ([k.group; 2], channel), |at| at);
            let source = f.copy(source);
            let columns = k.columns(part);
            let mut cursor = Cursor::new(source, column, columns.first(), None);
            for x in columns.all() {
                let at = cursor.seek(f, x).at(0);
                let sum = |i: usize, t: usize| sums.0[i % sums.0.len()][line][usize::from(channel)][usize::from(part.taps.0) + t];
                if plain && broadcast.is_none() && columns.users(x).count() == 1 {
                    columns.users(x).for_each(|(i, t)| f.accumulate(add, sum(i, t), places[i], Src::Mem(at)));
                    continue;
                }
                let value = match broadcast {
                    Some(broadcast) if plain => f.binary(Binary::Lookup32, broadcast, Src::Mem(at)),
                    _ => {
                        let value = f.load_as(x_type, at, mask);
                        broadcast.map_or(value, |broadcast| f.binary(Binary::Lookup32, broadcast, value))
                    }
                };
                columns.users(x).for_each(|(i, t)| f.accumulate(add, sum(i, t), value, places[i]));
            }
        }
    }
}

/// `at += columns * column`
fn move_by(f: &mut Function, at: Int, column: Int, columns: i32) {
    match columns {
        0 => {}
        1 => f.add(at, column),
        -1 => f.sub(at, column),
        n => {
            let by = f.int(n.into());
            f.mul(by, column);
            f.add(at, by);
        }
    }
}
