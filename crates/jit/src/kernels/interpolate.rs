//! Rows that are weighted sums of a few elements of a few lines, by tables: interpolation along contiguous elements, and its gradient.
//!
//! The lines of a row are added up with a weight each, vector by vector. A vector of results has some taps: elements that are near each other in such a sum,
//! permuted from one or a few vectors of it, which are blended, and multiplied by a weight for each lane. Tables say where rows, lines and vectors lie, the
//! lane that every lane comes from, and the weights, so sizes and ratios are data. The floor is a load for each line of a source vector, and a permutation and
//! two loads of the table for each tap.

use super::blend::Tap as Line;
use super::lookup::LANES;
use crate::ir::{Accumulate, Binary, Elem, Function, Int, Src, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interpolate {
    /// Elements of the source.
    pub from: Elem,
    /// Elements of the results.
    pub to: Elem,
    /// Lines of every row, at least one.
    pub lines: u8,
    /// Source vectors of every vector of results, at least one.
    pub sources: u8,
    /// Taps of every result, at least one.
    pub taps: u8,
}

/// The lanes of a tap that come from a source vector.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pick {
    /// The lane that each comes from.
    pub lanes: [u8; LANES],
    /// Which come from it; those of the first source vector are not looked at.
    pub takes: u16,
}

/// The weights of a tap, lane by lane.
pub type Weights = [f32; LANES];

/// Arguments of a kernel. Offsets are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The source.
    pub source: *const u8,
    /// The results.
    pub result: *mut u8,
    /// The lines of all rows.
    pub lines: *const Line,
    /// The offset of each row of results.
    pub rows: *const usize,
    /// Rows, at least one.
    pub count: usize,
    /// The offset of each vector of a row.
    pub places: *const usize,
    /// The offset in a line of every source vector of every vector, all of whose lanes are read.
    pub sources: *const usize,
    /// The lanes of every tap from every source vector, vector by vector.
    pub picks: *const Pick,
    /// The weights of every tap of every vector.
    pub weights: *const Weights,
    /// Vectors of a row, at least one.
    pub vectors: usize,
}

impl Key for Interpolate {
    type Args = Args;

    /// The name in dumps and profiles.
    fn name(&self, isa: Isa) -> String {
        let Interpolate { from, to, lines, sources, taps } = self;
        format!("interpolate.{}{}.{lines}x{taps}.{sources}.{}", from.name(), to.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let [lines, rows, count] =
            [offset_of!(Args, lines), offset_of!(Args, rows), offset_of!(Args, count)].map(|field| f.argument(args, field));
        f.repeat_some(count, |f| {
            let (row, to) = (f.load_int(rows.at(0)), f.argument(args, offset_of!(Args, result)));
            f.add(to, row);
            let of_row: Vec<(Int, Val)> = (0..self.lines).map(|i| self.line(f, args, lines, i)).collect();
            self.row(f, args, to, &of_row);
            f.add(rows, size_of::<usize>() as i32);
            f.add(lines, i32::from(self.lines) * size_of::<Line>() as i32);
        });
    }
}

impl Interpolate {
    /// The address of line `i` of a row, and its weight.
    fn line(&self, f: &mut Function, args: Int, lines: Int, i: u8) -> (Int, Val) {
        let at = i32::from(i) * size_of::<Line>() as i32;
        let line = f.load_int(lines.at(at + offset_of!(Line, source) as i32));
        f.advance(line, args, offset_of!(Args, source));
        let weight = f.splat(f.isa().width(), lines.at(at + offset_of!(Line, weight) as i32));
        f.pin(weight);
        (line, weight)
    }

    /// The vectors of a row.
    fn row(&self, f: &mut Function, args: Int, to: Int, lines: &[(Int, Val)]) {
        let fields = [offset_of!(Args, places), offset_of!(Args, sources), offset_of!(Args, picks), offset_of!(Args, weights)];
        let [places, sources, picks, weights] = fields.map(|field| f.argument(args, field));
        let vectors = f.argument(args, offset_of!(Args, vectors));
        f.repeat_some(vectors, |f| {
            let from: Vec<Val> = (0..self.sources).map(|i| self.source(f, sources, i, lines)).collect();
            let sum = f.zero(f.isa().width());
            for tap in 0..self.taps {
                let x = self.tap(f, picks, tap, &from);
                f.accumulate(Accumulate::FmaF32, sum, x, Src::Mem(weights.at(i32::from(tap) * size_of::<Weights>() as i32)));
            }
            let place = f.load_int(places.at(0));
            match self.to {
                // A single tap may be a copy, which keeps subnormal numbers.
                Elem::Bf16 if self.taps > 1 => f.store_bf16_flushed(to.indexed(place, 1, 0), sum, None),
                elem => f.store_number(elem, to.indexed(place, 1, 0), sum, None),
            }
            f.add(places, size_of::<usize>() as i32);
            f.add(sources, i32::from(self.sources) * size_of::<usize>() as i32);
            f.add(picks, i32::from(self.taps) * i32::from(self.sources) * size_of::<Pick>() as i32);
            f.add(weights, i32::from(self.taps) * size_of::<Weights>() as i32);
        });
    }

    /// Source vector `i`: the sum of those of the lines.
    fn source(&self, f: &mut Function, sources: Int, i: u8, lines: &[(Int, Val)]) -> Val {
        let at = f.load_int(sources.at(i32::from(i) * size_of::<usize>() as i32));
        let load = |f: &mut Function, line: Int| f.load_number(self.from, line.indexed(at, 1, 0), None);
        let first = load(f, lines[0].0);
        let sum = f.binary(Binary::MulF32, first, lines[0].1);
        for (line, weight) in &lines[1..] {
            let x = load(f, *line);
            f.accumulate(Accumulate::FmaF32, sum, x, *weight);
        }
        sum
    }

    /// The elements of a tap: those of the first source vector, some of which are replaced by those of the others.
    fn tap(&self, f: &mut Function, picks: Int, tap: u8, sources: &[Val]) -> Val {
        let field = |i: usize, field: usize| picks.at(((usize::from(tap) * sources.len() + i) * size_of::<Pick>() + field) as i32);
        let picked = |f: &mut Function, i: usize| {
            let lanes = f.load_number(Elem::Low8, field(i, offset_of!(Pick, lanes)), None);
            f.binary(Binary::Lookup32, lanes, sources[i])
        };
        let elements = picked(f, 0);
        for i in 1..sources.len() {
            let takes = f.load_bits(field(i, offset_of!(Pick, takes)));
            let others = picked(f, i);
            f.replace(elements, takes, others);
        }
        elements
    }
}
