//! Transposition of matrices, by squares in registers: unconverted words, or numbers that are converted on the way and multiplied by
//! factors.
//!
//! A square has as many rows as a vector has lanes: 16 loads, four stages of 16 shuffles and 16 stores with AVX-512. The floor is the
//! shuffles: 32 cycles for 1 KB where a core starts two of them a cycle. A call moves from square to square by given distances, along rows
//! or along columns. Rows are too far apart for the hardware prefetcher, so every full square prefetches the lines of a later one. Partial
//! squares come last: rows and columns that do not exist are neither read nor written, except for zeros where the destination has room for
//! more rows than there are. Narrow elements are words in registers: the shuffles are the same.

use crate::ir::{Addr, Binary, Compare, Divisor, Elem, Function, Int, Pred, Prefetch, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// An operand of the arithmetic on elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Factor {
    /// None.
    None,
    /// The same f32 for all.
    Same,
    /// An f32 for each row of the source.
    ByRow,
}

/// The arithmetic of a quantised element, in its order: subtract the zero point of the source, multiply by and divide by the scales of
/// source and destination, add the zero point of the destination.
pub type Factors = [Factor; STEPS.len()];

/// The effect of [`Factors`].
const STEPS: [Binary; 4] = [Binary::SubF32, Binary::MulF32, Binary::DivF32, Binary::AddF32];

/// The index of the divisor among them.
pub(super) const DIVISOR: usize = 2;

/// No arithmetic.
pub const UNCHANGED: Factors = [Factor::None; STEPS.len()];

/// The kernel: the elements read and written, and the work in between.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transpose {
    /// Elements of the source.
    pub from: Elem,
    /// Elements of the destination. Both or neither are unconverted words.
    pub to: Elem,
    /// The arithmetic of elements.
    pub factors: Factors,
    /// The rows of the destination are at addresses of a table, not at a stride.
    pub placed: bool,
}

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
    /// Prefetch distances: so many bytes after every row that is read, and after every row that is written.
    pub from_ahead: usize,
    /// As said.
    pub to_ahead: usize,
    /// Full squares.
    pub full: usize,
    /// Partial squares after them.
    pub partial: usize,
    /// Rows of the source in the first of those, and how many fewer there are in each next; at most a full square counts.
    pub rows: usize,
    /// As said.
    pub fewer_rows: usize,
    /// Columns of the source in the first of those, and how many fewer there are in each next.
    pub columns: usize,
    /// As said.
    pub fewer_columns: usize,
    /// Elements that are written of the destination's rows in the first of those, zeros where the source has no row; fewer as rows are.
    pub written: usize,
    /// The factors of the first square, and the distance to those of the next.
    pub factors: [*const f32; STEPS.len()],
    /// As said.
    pub factor_square: usize,
    /// Bytes from `to` to the rows of the first square, and the distance to those of the next.
    pub places: *const usize,
    /// As said.
    pub places_square: usize,
    /// Without AVX-512, whose masks cost little, and without factors: rows of the source in each full square, zeros behind them.
    pub present: usize,
    /// If there are fewer of them than a square has: whether another square of zeros is behind each.
    pub behind: usize,
}

impl Key for Transpose {
    type Args = Args;

    /// The name in dumps and profiles, such as `transpose.16x16.avx512`.
    fn name(&self, isa: Isa) -> String {
        let lanes = isa.width().lanes();
        let types = if *self == Transpose::WORDS { String::new() } else { format!(".{}{}", self.from.name(), self.to.name()) };
        let factors: String = self.factors.iter().map(|f| ["", ".same", ".row"][*f as usize]).collect();
        format!("transpose{types}{factors}{}.{lanes}x{lanes}.{}", if self.placed { ".placed" } else { "" }, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let (from, to) = (f.argument(args, offset_of!(Args, from)), f.argument(args, offset_of!(Args, to)));
        let (from_row, to_row) = (f.argument(args, offset_of!(Args, from_row)), f.argument(args, offset_of!(Args, to_row)));
        let (mut factors, mut places) = ([None; STEPS.len()], None);
        for (i, factor) in self.factors.iter().enumerate().filter(|f| *f.1 != Factor::None) {
            let at = f.argument(args, offset_of!(Args, factors) + i * size_of::<usize>());
            factors[i] = Some((at, *factor));
        }
        if self.placed {
            places = Some(f.argument(args, offset_of!(Args, places)));
        }
        let full = f.argument(args, offset_of!(Args, full));
        let at = At { from, from_row, to, to_row, factors, places };
        let squares = |f: &mut Function, present: Option<[Int; 2]>| {
            f.repeat(full, |f| {
                let ahead = [f.argument(args, offset_of!(Args, from_ahead)), f.argument(args, offset_of!(Args, to_ahead))];
                self.full_square(f, &at, ahead, present);
                at.advance(f, args);
            });
        };
        if !f.isa().avx512 && self.factors == UNCHANGED {
            let (present, lanes) = (f.argument(args, offset_of!(Args, present)), f.isa().width().lanes() as i32);
            let behind = f.argument(args, offset_of!(Args, behind));
            // After these squares none are left for the loop below.
            f.when(Compare::Lt, present, lanes, |f| squares(f, Some([present, behind])));
        }
        squares(f, None);
        let partial = f.argument(args, offset_of!(Args, partial));
        let (rows, columns) = (f.argument(args, offset_of!(Args, rows)), f.argument(args, offset_of!(Args, columns)));
        let written = f.argument(args, offset_of!(Args, written));
        f.repeat(partial, |f| {
            self.partial_square(f, &at, [rows, columns, written]);
            at.advance(f, args);
            let (fewer_rows, fewer_columns) =
                (f.argument(args, offset_of!(Args, fewer_rows)), f.argument(args, offset_of!(Args, fewer_columns)));
            f.sub(rows, fewer_rows);
            f.sub(columns, fewer_columns);
            f.sub(written, fewer_rows);
        });
    }
}

impl Transpose {
    /// Unconverted words, in rows at equal strides.
    pub const WORDS: Transpose = Transpose { from: Elem::F32, to: Elem::F32, factors: UNCHANGED, placed: false };

    /// A square of which all columns exist, and all rows or so many as the first number of `present`; the second asks for zeros behind them.
    fn full_square(&self, f: &mut Function, at: &At, [from_ahead, to_ahead]: [Int; 2], present: Option<[Int; 2]>) {
        let (from, width) = (f.copy(at.from), f.isa().width());
        let mut rows = Vec::new();
        for i in 0..width.lanes() {
            match present {
                Some([present, _]) => {
                    let row = f.zero(width);
                    f.when(Compare::Gt, present, i as i32, |f| {
                        let row_values = f.load_number(self.from, from.at(0), None);
                        f.assign(row, row_values);
                    });
                    rows.push(row);
                }
                None => {
                    rows.push(f.load_number(self.from, from.at(0), None));
                    f.prefetch(Prefetch::L1, from.indexed(from_ahead, 1, 0));
                }
            }
            f.add(from, at.from_row);
        }
        let columns = shuffled(f, rows);
        let factors = at.factors(f, None);
        let to = f.copy(at.to);
        let zeros = present.map(|[_, behind]| (behind, f.zero(width)));
        let next = (width.lanes() * self.to.bytes()) as i32;
        for (i, column) in columns.into_iter().enumerate() {
            let column = scaled(f, column, factors, None);
            let store = |f: &mut Function, to: Addr| {
                f.store_number(self.to, to, column, None);
                if let Some((behind, zero)) = zeros {
                    f.when(Compare::Gt, behind, 0, |f| f.store_number(self.to, to.behind(next), zero, None));
                }
            };
            if let Some(places) = at.places {
                let place = f.load_int(places.at((i * size_of::<usize>()) as i32));
                store(f, to.indexed(place, 1, 0));
            } else {
                store(f, to.at(0));
                f.prefetch(Prefetch::Write, to.indexed(to_ahead, 1, 0));
                f.add(to, at.to_row);
            }
        }
    }

    /// A square of so many rows and columns, of whose columns so many elements are written.
    fn partial_square(&self, f: &mut Function, at: &At, [rows, columns, written]: [Int; 3]) {
        let (read_mask, written_mask) = (f.first_lanes(columns), f.first_lanes(written));
        let width = f.isa().width();
        let from = f.copy(at.from);
        let mut loaded = Vec::new();
        for i in 0..width.lanes() {
            let row = f.zero(width);
            f.when(Compare::Gt, rows, i as i32, |f| {
                let row_values = f.load_number(self.from, from.at(0), Some(read_mask));
                f.assign(row, row_values);
            });
            f.add(from, at.from_row);
            loaded.push(row);
        }
        let shuffled = shuffled(f, loaded);
        // Factors of rows that do not exist are 0. Quotients by them are not written, or the dividend has been made zero, as have the
        // summands.
        let valid = f.first_lanes(rows);
        let factors = at.factors(f, Some(valid));
        let to = f.copy(at.to);
        for (i, column) in shuffled.into_iter().enumerate() {
            f.when(Compare::Gt, columns, i as i32, |f| {
                let mut x = scaled(f, column, factors, None);
                if self.factors != UNCHANGED {
                    let zero = f.zero(width);
                    x = f.select(valid, x, zero);
                }
                match at.places {
                    Some(places) => {
                        let place = f.load_int(places.at((i * size_of::<usize>()) as i32));
                        f.store_number(self.to, to.indexed(place, 1, 0), x, Some(written_mask));
                    }
                    None => f.store_number(self.to, to.at(0), x, Some(written_mask)),
                }
            });
            if at.places.is_none() {
                f.add(to, at.to_row);
            }
        }
    }
}

/// Where a square is.
struct At {
    from: Int,
    from_row: Int,
    to: Int,
    to_row: Int,
    factors: [Option<(Int, Factor)>; STEPS.len()],
    places: Option<Int>,
}

impl At {
    /// To the next square.
    fn advance(&self, f: &mut Function, args: Int) {
        let factors = self.factors.map(|x| x.filter(|f| f.1 == Factor::ByRow).map(|f| (f.0, offset_of!(Args, factor_square))));
        let places = self.places.map(|p| (p, offset_of!(Args, places_square)));
        let moved = [Some((self.from, offset_of!(Args, from_square))), Some((self.to, offset_of!(Args, to_square)))];
        for (place, step) in moved.into_iter().chain(factors).chain([places]).flatten() {
            f.advance(place, args, step);
        }
    }

    /// The factors of the square's rows, of those in a mask.
    fn factors(&self, f: &mut Function, mask: Option<Pred>) -> [Option<Val>; STEPS.len()] {
        self.factors.map(|factor| {
            let (at, how) = factor?;
            let width = f.isa().width();
            Some(match (how, mask) {
                (Factor::Same, _) => f.splat(width, at.at(0)),
                (_, Some(mask)) => f.load_masked(at.at(0), mask),
                (_, None) => f.load(width, at.at(0)),
            })
        })
    }
}

/// Elements after all steps of their arithmetic, with the divisor prepared if it serves many vectors of which little else is computed.
pub(super) fn scaled(f: &mut Function, x: Val, factors: [Option<Val>; STEPS.len()], divisor: Option<Divisor>) -> Val {
    let steps = STEPS.into_iter().zip(factors).filter_map(|(step, factor)| Some((step, factor?)));
    steps.fold(x, |x, (step, factor)| match divisor {
        Some(divisor) if step == Binary::DivF32 => f.quotient(x, divisor),
        _ => f.binary(step, x, factor),
    })
}

/// The columns of a square of rows.
fn shuffled(f: &mut Function, rows: Vec<Val>) -> Vec<Val> {
    let blocks = rows.len() / 4;
    // `quads[g][c]`: in block `q` rows `4g..4g + 4` of column `4q + c`.
    let quads: Vec<[Val; 4]> = rows
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
        let mut vectors: Vec<Val> = quads.iter().map(|quad| quad[c]).collect();
        // Each stage halves the runs of contiguous blocks: it sorts them by the lowest bit of their number, then by the next.
        let mut halves = 1;
        while halves < blocks {
            let group_len = vectors.len() / halves;
            let mut next = Vec::new();
            for group in vectors.chunks_exact(group_len) {
                for op in [Binary::EvenBlocks, Binary::OddBlocks] {
                    next.extend(group.chunks_exact(2).map(|p| f.binary(op, p[0], p[1])));
                }
            }
            vectors = next;
            halves *= 2;
        }
        for (i, vector) in vectors.into_iter().enumerate() {
            // Blocks come with the bits of their numbers reversed.
            let q = if blocks == 4 { [0, 2, 1, 3][i] } else { i };
            columns[4 * q + c] = vector;
        }
    }
    columns
}
