//! Interleaves rows into words (VNNI): elements of 8 or 16 bits, of four or two rows, side by side in every word, as products of narrow
//! elements need their weights. Rows of other types are converted and multiplied by factors on the way.
//!
//! A call makes groups of such rows, whose addresses are in a table. Narrow elements are the low bits of lanes, and a multiplication shifts
//! them to their places. 64 bytes of the destination take a load, a multiplication and an `or` for each row, and a store: no more time than
//! L1 needs to deliver the rows.

use super::transpose::{Factor, Factors, UNCHANGED};
use crate::ir::{Accumulate, Addr, Binary, Compare, Elem, Function, Int, Pred, Unary, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Bytes of a word.
const WORD: usize = 4;

/// The kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interleave {
    /// Elements of the rows.
    pub from: Elem,
    /// Elements of the destination, of 8 or 16 bits. Without factors, elements of the rows' own type are moved as bits.
    pub to: Elem,
    /// The arithmetic of elements: numbers for all, or one for each column.
    pub factors: Factors,
    /// Whether the elements of every column, which are signed bytes, are added up.
    pub summed: bool,
}

/// Arguments. Distances are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The base address of the rows.
    pub from: *const u8,
    /// From a row of a group to the next.
    pub row: usize,
    /// Rows that exist; the others are zeros.
    pub rows: usize,
    /// The base address of the words.
    pub to: *mut u8,
    /// The place of the first row and of the words of every group.
    pub places: *const [usize; 2],
    /// Groups, at least 1.
    pub groups: usize,
    /// Vectors of a row, and columns after them.
    pub vectors: usize,
    /// As said.
    pub left: usize,
    /// Words to write after the vectors, zeros where there are no columns; 0, or at least as many as columns are left.
    pub written: usize,
    /// The factors of the first column.
    pub factors: [*const f32; UNCHANGED.len()],
    /// The address to which the elements of the written columns are added.
    pub sums: *mut i32,
}

impl Key for Interleave {
    type Args = Args;

    /// The name in dumps and profiles, such as `interleave.f32s8.same.avx512`.
    fn name(&self, isa: Isa) -> String {
        let factors: String = self.factors.iter().map(|f| ["", ".same", ".column"][*f as usize]).collect();
        let sums = if self.summed { ".sums" } else { "" };
        format!("interleave.{}{}{factors}{sums}.{}", self.from.name(), self.to.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let (row, rows) = (f.argument(args, offset_of!(Args, row)), f.argument(args, offset_of!(Args, rows)));
        let lanes = f.isa().width().lanes();
        let groups = f.argument(args, offset_of!(Args, groups));
        let places = f.argument(args, offset_of!(Args, places));
        // Elements that are converted are written down, and read as bits.
        let converted = self.converts().then(|| f.local(lanes * WORD));
        let row_3 = f.copy(row);
        (0..2).for_each(|_| f.add(row_3, row));
        f.repeat_some(groups, |f| {
            let (from, to) = (f.argument(args, offset_of!(Args, from)), f.argument(args, offset_of!(Args, to)));
            for (at, place) in [from, to].into_iter().zip([0, 1]) {
                let place = f.load_int(places.at(place * size_of::<usize>() as i32));
                f.add(at, place);
            }
            let factors = std::array::from_fn(|i| {
                let how = self.factors[i];
                (how != Factor::None).then(|| (f.argument(args, offset_of!(Args, factors) + i * size_of::<usize>()), how))
            });
            let vectors = f.argument(args, offset_of!(Args, vectors));
            let sums = self.summed.then(|| f.argument(args, offset_of!(Args, sums)));
            let at = Registers { from, to, row, row_3, rows, factors, converted, sums };
            let all_vectors = |f: &mut Function, whole: bool| {
                let vectors = f.copy(vectors);
                f.repeat(vectors, |f| {
                    self.vector(f, &at, (whole, None));
                    f.add(from, (lanes * self.from.bytes()) as i32);
                    f.add(to, (lanes * WORD) as i32);
                    sums.iter().for_each(|at| f.add(*at, (lanes * WORD) as i32));
                    factors.iter().flatten().filter(|x| x.1 == Factor::ByRow).for_each(|(at, _)| f.add(*at, (lanes * WORD) as i32));
                });
            };
            // Most often there are all rows, which are not asked for one by one.
            f.when(Compare::Ge, rows, self.rows() as i32, |f| all_vectors(f, true));
            f.when(Compare::Lt, rows, self.rows() as i32, |f| all_vectors(f, false));
            let written = f.argument(args, offset_of!(Args, written));
            f.when(Compare::Gt, written, 0, |f| {
                let left = f.argument(args, offset_of!(Args, left));
                let masks = (f.first_lanes(left), f.first_lanes(written));
                self.vector(f, &at, (false, Some(masks)));
            });
            f.add(places, 2 * size_of::<usize>() as i32);
        });
    }
}

impl Interleave {
    /// Rows of a group.
    pub const fn rows(&self) -> usize {
        WORD / self.to.bytes()
    }

    /// The same kernel, by bits where elements do not change on their way: types of a size share it.
    #[must_use]
    pub fn shared(self) -> Interleave {
        if self.converts() { self } else { Interleave { from: self.low(), to: self.low(), ..self } }
    }

    /// Whether elements change on their way.
    fn converts(&self) -> bool {
        self.from != self.to || self.factors != UNCHANGED
    }

    /// A vector of words, of the `whole` group or of the rows that there are; of some columns where there are masks of those that exist and those that are
    /// written.
    fn vector(&self, f: &mut Function, at: &Registers, (whole, masks): (bool, Option<(Pred, Pred)>)) {
        let width = f.isa().width();
        let valid = masks.map(|m| m.0);
        let factors = at.factors.map(|factor| {
            let (at, how) = factor?;
            Some(match (how, valid) {
                (Factor::Same, _) => f.splat(width, at.at(0)),
                (_, Some(mask)) => f.load_masked(at.at(0), mask),
                (_, None) => f.load(width, at.at(0)),
            })
        });
        let words = if whole { self.row(f, at, 0, (valid, factors)) } else { f.zero(width) };
        for i in usize::from(whole)..self.rows() {
            let add = |f: &mut Function| {
                let x = self.row(f, at, i, (valid, factors));
                f.update(Binary::Or, words, x);
            };
            if whole { add(f) } else { f.when(Compare::Gt, at.rows, i as i32, add) }
        }
        if let Some(sums) = at.sums {
            let ones = f.splat_i32(width, 0x0101_0101);
            let sum = match masks {
                Some((_, written)) => f.load_masked(sums.at(0), written),
                None => f.load(width, sums.at(0)),
            };
            f.accumulate(Accumulate::DotU8S8, sum, ones, words);
            match masks {
                Some((_, written)) => f.store_masked(sums.at(0), sum, written),
                None => f.store(sums.at(0), sum),
            }
        }
        match masks {
            Some((_, written)) => f.store_masked(at.to.at(0), words, written),
            None => f.store(at.to.at(0), words),
        }
    }

    /// The elements of row `i` of a vector at their places in words: the columns that exist.
    fn row(&self, f: &mut Function, at: &Registers, i: usize, (valid, factors): (Option<Pred>, [Option<Val>; UNCHANGED.len()])) -> Val {
        let from = row_of(at.from, (at.row, at.row_3), i);
        let mut x = match at.converted {
            None => f.load_as(self.low(), from, valid),
            Some(converted) => {
                let x = f.load_number(self.from, from, valid);
                let x = super::transpose::scaled(f, x, factors, None);
                f.store_as(self.to, converted.at(0), x, None);
                f.load_as(self.low(), converted.at(0), None)
            }
        };
        if let (Some(mask), Some(_)) = (valid, at.converted) {
            let zero = f.zero(f.isa().width());
            x = f.select(mask, x, zero);
        }
        if i > 0 { f.unary(Unary::ShlI32((i * 8 * self.to.bytes()) as u8), x) } else { x }
    }

    /// The destination's elements as bits.
    fn low(&self) -> Elem {
        if self.to.bytes() == 1 { Elem::Low8 } else { Elem::Low16 }
    }
}

/// Row `i` of a group, of which the distances of the second and the fourth are given.
fn row_of(from: Int, (row, row_3): (Int, Int), i: usize) -> Addr {
    match i {
        0 => from.at(0),
        1 => from.indexed(row, 1, 0),
        2 => from.indexed(row, 2, 0),
        _ => from.indexed(row_3, 1, 0),
    }
}

/// Where a vector of words comes from and goes to.
struct Registers {
    from: Int,
    to: Int,
    /// From the first row to the next, and to the last of four.
    row: Int,
    row_3: Int,
    rows: Int,
    factors: [Option<(Int, Factor)>; UNCHANGED.len()],
    converted: Option<Int>,
    sums: Option<Int>,
}
