//! Transposition of matrices of 32-bit numbers, by squares in registers.
//!
//! A square has as many rows as a vector has lanes: 16 loads, four rounds of 16 shuffles and 16 stores with AVX-512, so a shuffle a vector and
//! round, and the floor is the shuffles: 32 cycles for 1 KB where a core starts two of them in a cycle. A call moves on by given distances
//! from square to square, along rows or along columns alike. Rows lie too far apart for the processor to foresee, so every full square asks
//! for the lines of a later one. Squares that are not full come last: rows and columns that do not exist are neither read nor written.

use crate::asm::Width;
use crate::ir::{Binary, Compare, Compiled, Function, Int, IrError, Prefetch, Val};
use crate::isa::Isa;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// The kernel. There is one for each instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transpose;

/// Arguments. Distances are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// First square of the source.
    pub from: *const u8,
    /// Distance of its rows.
    pub from_row: usize,
    /// Distance of its squares.
    pub from_square: usize,
    /// First square of the destination, whose rows are the source's columns.
    pub to: *mut u8,
    /// Distance of its rows.
    pub to_row: usize,
    /// Distance of its squares.
    pub to_square: usize,
    /// What is asked for meanwhile: so many bytes behind every row that is read, and behind every row that is written.
    pub from_ahead: usize,
    /// As said.
    pub to_ahead: usize,
    /// Full squares.
    pub full: usize,
    /// Squares behind them of which only a part exists.
    pub partial: usize,
    /// Rows of the source in the first of those, and how many fewer there are in each next; at most a full square counts.
    pub rows: usize,
    /// As said.
    pub fewer_rows: usize,
    /// Columns of the source in the first of those, and how many fewer there are in each next.
    pub columns: usize,
    /// As said.
    pub fewer_columns: usize,
}

fn argument(f: &mut Function, args: Int, offset: usize) -> Int {
    f.load_int(args.at(offset as i32))
}

impl Transpose {
    /// The kernel for a processor.
    ///
    /// # Errors
    /// [`IrError`]: never, as the registers suffice everywhere.
    pub fn compile(&self, isa: Isa) -> Result<Compiled, IrError> {
        self.function(isa).finish()
    }

    /// The kernel before registers.
    pub fn function(&self, isa: Isa) -> Function {
        let mut f = Function::new(isa);
        write(&mut f, isa.width());
        f
    }

    /// The name in dumps and profiles, such as `transpose.16x16.avx512`.
    pub fn name(&self, isa: Isa) -> String {
        let lanes = isa.width().lanes();
        format!("transpose.{lanes}x{lanes}.{}", isa.name())
    }
}

fn write(f: &mut Function, width: Width) {
    let args = f.arguments();
    let (from, to) = (argument(f, args, offset_of!(Args, from)), argument(f, args, offset_of!(Args, to)));
    let (from_row, to_row) = (argument(f, args, offset_of!(Args, from_row)), argument(f, args, offset_of!(Args, to_row)));
    let full = argument(f, args, offset_of!(Args, full));
    f.repeat(full, |f| {
        let ahead = (argument(f, args, offset_of!(Args, from_ahead)), argument(f, args, offset_of!(Args, to_ahead)));
        full_square(f, width, [(from, from_row, ahead.0), (to, to_row, ahead.1)]);
        advance(f, args, from, to);
    });
    let partial = argument(f, args, offset_of!(Args, partial));
    let (rows, columns) = (argument(f, args, offset_of!(Args, rows)), argument(f, args, offset_of!(Args, columns)));
    f.repeat(partial, |f| {
        partial_square(f, width, (from, from_row, rows), (to, to_row, columns));
        advance(f, args, from, to);
        let (fewer_rows, fewer_columns) =
            (argument(f, args, offset_of!(Args, fewer_rows)), argument(f, args, offset_of!(Args, fewer_columns)));
        f.sub(rows, fewer_rows);
        f.sub(columns, fewer_columns);
    });
}

/// To the next square.
fn advance(f: &mut Function, args: Int, from: Int, to: Int) {
    for (place, step) in [(from, offset_of!(Args, from_square)), (to, offset_of!(Args, to_square))] {
        let step = argument(f, args, step);
        f.add(place, step);
    }
}

fn full_square(f: &mut Function, width: Width, [(from, from_row, from_ahead), (to, to_row, to_ahead)]: [(Int, Int, Int); 2]) {
    let from = f.copy(from);
    let mut rows = Vec::new();
    for _ in 0..width.lanes() {
        rows.push(f.load(width, from.at(0)));
        f.prefetch(Prefetch::L1, from.indexed(from_ahead, 1, 0));
        f.add(from, from_row);
    }
    let to = f.copy(to);
    for column in shuffled(f, rows) {
        f.store(to.at(0), column);
        f.prefetch(Prefetch::Write, to.indexed(to_ahead, 1, 0));
        f.add(to, to_row);
    }
}

fn partial_square(f: &mut Function, width: Width, (from, from_row, rows): (Int, Int, Int), (to, to_row, columns): (Int, Int, Int)) {
    let (across, down) = (f.first_lanes(columns), f.first_lanes(rows));
    let from = f.copy(from);
    let mut loaded = Vec::new();
    for i in 0..width.lanes() {
        let row = f.zero(width);
        f.when(Compare::Gt, rows, i as i32, |f| {
            let there = f.load_masked(from.at(0), across);
            f.assign(row, there);
        });
        f.add(from, from_row);
        loaded.push(row);
    }
    let to = f.copy(to);
    for (i, column) in shuffled(f, loaded).into_iter().enumerate() {
        f.when(Compare::Gt, columns, i as i32, |f| f.store_masked(to.at(0), column, down));
        f.add(to, to_row);
    }
}

/// The columns of a square of rows.
fn shuffled(f: &mut Function, rows: Vec<Val>) -> Vec<Val> {
    let blocks = rows.len() / 4;
    // `fours[g][c]`: in block `q` rows `4g..4g + 4` of column `4q + c`.
    let fours: Vec<[Val; 4]> = rows
        .chunks_exact(4)
        .map(|r| {
            let (low, high) = (f.binary(Binary::InterleaveLow32, r[0], r[1]), f.binary(Binary::InterleaveHigh32, r[0], r[1]));
            let (low_b, high_b) = (f.binary(Binary::InterleaveLow32, r[2], r[3]), f.binary(Binary::InterleaveHigh32, r[2], r[3]));
            [
                f.binary(Binary::InterleaveLow64, low, low_b),
                f.binary(Binary::InterleaveHigh64, low, low_b),
                f.binary(Binary::InterleaveLow64, high, high_b),
                f.binary(Binary::InterleaveHigh64, high, high_b),
            ]
        })
        .collect();
    let mut columns = rows;
    for c in 0..4 {
        let mut parts: Vec<Val> = fours.iter().map(|four| four[c]).collect();
        // Each round halves the blocks that lie together: first the lowest bit of their number is sorted out, then the next.
        let mut halves = 1;
        while halves < blocks {
            let each = parts.len() / halves;
            let mut next = Vec::new();
            for group in parts.chunks_exact(each) {
                for op in [Binary::EvenBlocks, Binary::OddBlocks] {
                    next.extend(group.chunks_exact(2).map(|p| f.binary(op, p[0], p[1])));
                }
            }
            parts = next;
            halves *= 2;
        }
        for (i, part) in parts.into_iter().enumerate() {
            // Blocks come with the bits of their numbers reversed.
            let q = if blocks == 4 { [0, 2, 1, 3][i] } else { i };
            columns[4 * q + c] = part;
        }
    }
    columns
}
