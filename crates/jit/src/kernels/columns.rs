//! Column-wise statistics and affine maps of matrices of f32, bf16 or f16: one value for each column stays in registers from row to row.
//!
//! Batch normalisation with channels last consists of these: sums over rows, and rows computed from such sums. A call goes through the rows for
//! a group of neighbouring vectors of columns at a time, and through several rows at once if these vectors are few. A row costs its loads,
//! a few instructions and its stores, so memory is the limit. Groups are parts of the same rows, or blocks of channels whose rows follow
//! those of the block before.

use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Binary, Compare, Elem, Function, Int, Pred, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// The operation. `x` and `d` are elements of the matrices, other names are values by column in the order of [`Args::columns`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ColumnOp {
    /// `sum += x`
    Sum,
    /// `sum += x - center`, `square += (x - center)^2`; columns are `sum`, `square`, `center`.
    Moments,
    /// `sum += d`, `product += (x - mean) d`; columns are `sum`, `product`, `mean`.
    Products {
        /// Whether `d` counts only where its bit is set.
        masked: bool,
    },
    /// `y = (x - mean) factor + shift`; columns are `mean`, `factor`, `shift`.
    Scale(Bound),
    /// `y = factor d + (slope (x - mean) + constant)`; columns are `mean`, `factor`, `slope`, `constant`.
    Gradient {
        /// As for products.
        masked: bool,
    },
}

/// The treatment of results below 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bound {
    /// They stay.
    None,
    /// They become 0.
    Relu,
    /// They become 0, and a bit is set for each result that is not.
    Kept,
}

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Columns {
    /// The operation.
    pub act: ColumnOp,
    /// Elements of the matrices.
    pub elem: Elem,
    /// Vectors of columns of a group.
    pub vectors: u8,
    /// True when the number of columns need not be whole vectors; a group is one vector then.
    pub masked: bool,
    /// Whether results, whole vectors at multiples of their bytes, are stored non-temporally.
    pub streaming: bool,
}

/// The matrix of results, and that of bits.
pub const RESULT: usize = 2;
/// As said.
pub const BITS: usize = 3;
/// Most lines of numbers by column.
pub const LINES: usize = 4;

/// Arguments. Distances are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The matrices: `x`, `d`, `y`, and bits, of whose rows an element has one; those that are not used may be anything.
    pub matrices: [*mut u8; BITS + 1],
    /// Distance of the rows of elements.
    pub row: usize,
    /// Distance of the rows of bits.
    pub row_of_bits: usize,
    /// Number of rows, at least 1.
    pub rows: usize,
    /// How often this is done, at least 1, and the distance from the end of the last group's rows to the next rows, in elements and in bits.
    pub times: usize,
    /// As said.
    pub next: usize,
    /// As said.
    pub next_of_bits: usize,
    /// Number of groups of columns, at least 1, and the distance from the end of one group's rows to the next group's, in elements and in
    /// bits.
    pub groups: usize,
    /// As said.
    pub group: usize,
    /// As said.
    pub group_of_bits: usize,
    /// Number of columns.
    pub width: usize,
    /// Whether non-temporal stores are ordered before later stores: 0 or 1.
    pub last: usize,
    /// Lines of numbers by column; sums are read before they are written.
    pub columns: [*mut f32; LINES],
}

impl ColumnOp {
    /// The matrices that it has, by number.
    pub fn matrices(self) -> &'static [usize] {
        match self {
            ColumnOp::Sum | ColumnOp::Moments => &[0],
            ColumnOp::Products { masked: false } => &[0, 1],
            ColumnOp::Products { masked: true } => &[0, 1, BITS],
            ColumnOp::Scale(Bound::None | Bound::Relu) => &[0, 2],
            ColumnOp::Scale(Bound::Kept) => &[0, 2, BITS],
            ColumnOp::Gradient { masked: false } => &[0, 1, 2],
            ColumnOp::Gradient { masked: true } => &[0, 1, 2, BITS],
        }
    }

    /// Whether it has a matrix of bits; rows are whole vectors then.
    pub fn has_bits(self) -> bool {
        self.matrices().ends_with(&[BITS])
    }

    /// Lines of sums, which come first, and all lines of numbers by column.
    pub fn lines(self) -> (usize, usize) {
        match self {
            ColumnOp::Sum => (1, 1),
            ColumnOp::Moments | ColumnOp::Products { .. } => (2, 3),
            ColumnOp::Scale(_) => (0, 3),
            ColumnOp::Gradient { .. } => (0, 4),
        }
    }
}

/// A vector of a row: its addresses and mask.
struct RowVector<'f> {
    /// The row in every matrix of elements, and bytes to the vector.
    matrices: &'f [Int],
    at: i32,
    /// The existing lanes; `None` for all.
    mask: Option<Pred>,
    /// Its bits.
    bits: Option<Addr>,
}

impl Key for Columns {
    type Args = Args;

    /// The name in dumps and profiles, such as `columns.scale.bf16.4.avx512`.
    fn name(&self, isa: Isa) -> String {
        let act = match self.act {
            ColumnOp::Sum => "sum",
            ColumnOp::Moments => "moments",
            ColumnOp::Products { masked: false } => "products",
            ColumnOp::Products { masked: true } => "products.masked",
            ColumnOp::Scale(Bound::None) => "scale",
            ColumnOp::Scale(Bound::Relu) => "scale.bounded",
            ColumnOp::Scale(Bound::Kept) => "scale.kept",
            ColumnOp::Gradient { masked: false } => "gradient",
            ColumnOp::Gradient { masked: true } => "gradient.masked",
        };
        let elem = if self.elem == Elem::F32 { String::new() } else { format!("{}.", self.elem.name()) };
        let streaming = if self.streaming { "streaming." } else { "" };
        format!("columns.{act}.{elem}{streaming}{}.{}", self.vectors, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let (used, row) = (self.act.matrices(), f.argument(args, offset_of!(Args, row)));
        let elements = if self.act.has_bits() { &used[..used.len() - 1] } else { used };
        let matrix = |f: &mut Function, m: usize| f.argument(args, offset_of!(Args, matrices) + m * size_of::<usize>());
        let matrices: Vec<Int> = elements.iter().map(|m| matrix(f, *m)).collect();
        let bits = self.act.has_bits().then(|| (matrix(f, BITS), f.argument(args, offset_of!(Args, row_of_bits))));
        let times = f.argument(args, offset_of!(Args, times));
        f.repeat_some(times, |f| {
            self.groups(f, args, (&matrices, bits, row));
            let next = f.argument(args, offset_of!(Args, next));
            matrices.iter().for_each(|m| f.add(*m, next));
            if let Some((bits, _)) = bits {
                f.advance(bits, args, offset_of!(Args, next_of_bits));
            }
        });
        if self.streaming {
            let last = f.argument(args, offset_of!(Args, last));
            f.when(Compare::Gt, last, 0, Function::store_fence);
        }
    }
}

impl Columns {
    /// All groups of columns of some rows.
    fn groups(&self, f: &mut Function, args: Int, (matrices, bits, row): (&[Int], Option<(Int, Int)>, Int)) {
        let width = f.isa().width();
        let (column, groups) = (f.int(0), f.argument(args, offset_of!(Args, groups)));
        f.repeat_some(groups, |f| {
            let mask = self.masked.then(|| {
                let left = f.argument(args, offset_of!(Args, width));
                f.sub(left, column);
                f.first_lanes(left)
            });
            let lines: Vec<Int> =
                (0..self.act.lines().1).map(|line| f.argument(args, offset_of!(Args, columns) + line * size_of::<usize>())).collect();
            let values: Vec<Vec<Val>> = (0..usize::from(self.vectors))
                .map(|v| {
                    let at = (v * width.bytes()) as i32;
                    lines.iter().map(|line| load(f, width, (*line, column, at), mask)).collect()
                })
                .collect();
            let by_row = self.of_rows(f, values);
            by_row.iter().flatten().flatten().for_each(|n| f.pin(*n));
            let rows_body = |f: &mut Function, by_row: &[Vec<Vec<Val>>]| {
                for values in by_row {
                    for (v, values) in values.iter().enumerate() {
                        let at = (v * width.lanes() * self.elem.bytes()) as i32;
                        let bits = bits.map(|(bits, _)| bits.at((v * width.lanes() / 8) as i32));
                        self.row(f, &RowVector { matrices, at, mask, bits }, values);
                    }
                    matrices.iter().for_each(|m| f.add(*m, row));
                    bits.iter().for_each(|(bits, row)| f.add(*bits, *row));
                }
            };
            let rows = f.argument(args, offset_of!(Args, rows));
            if by_row.len() > 1 {
                let unrolled = f.copy(rows);
                f.shr(unrolled, by_row.len().trailing_zeros() as u8);
                f.repeat(unrolled, |f| rows_body(f, &by_row));
                f.and(rows, by_row.len() as i32 - 1);
            }
            f.repeat(rows, |f| rows_body(f, &by_row[..1]));
            let group = f.argument(args, offset_of!(Args, group));
            matrices.iter().for_each(|m| f.add(*m, group));
            if let Some((bits, _)) = bits {
                f.advance(bits, args, offset_of!(Args, group_of_bits));
            }
            for (sum, line) in (0..self.act.lines().0).zip(&lines) {
                for v in 0..usize::from(self.vectors) {
                    let to = line.indexed(column, 4, (v * width.bytes()) as i32);
                    let mut parts: Vec<Val> = by_row.iter().map(|values| values[v][sum]).collect();
                    while parts.len() > 1 {
                        let others = parts.split_off(parts.len() / 2);
                        parts.iter().zip(others).for_each(|(part, other)| f.update(Binary::AddF32, *part, other));
                    }
                    match mask {
                        Some(mask) => f.store_masked(to, parts[0], mask),
                        None => f.store(to, parts[0]),
                    }
                }
            }
            f.add(column, (usize::from(self.vectors) * width.lanes()) as i32);
        });
    }

    /// The most vectors of a group, whose values by column stay in registers: whole rows of a few hundred columns where there are 32.
    pub fn most_vectors(isa: Isa, act: ColumnOp) -> usize {
        let (free, lines) = (isa.simd_registers() - 4, act.lines().1);
        if isa.avx512 { (free / lines).clamp(1, 8) } else { (free / (lines + 1)).clamp(1, 4) }
    }

    /// Rows of an iteration of the unrolled loop, a power of two: enough for four vectors.
    fn rows(&self) -> usize {
        (4 / usize::from(self.vectors)).next_power_of_two()
    }

    /// The values by column of each of these rows, given those of the first: sums of its own, which begin with zeros, and the same other
    /// values.
    fn of_rows(&self, f: &mut Function, first: Vec<Vec<Val>>) -> Vec<Vec<Vec<Val>>> {
        let (sums, width) = (self.act.lines().0, f.isa().width());
        let mut fresh_sums = |n: &Vec<Val>| (0..sums).map(|_| f.zero(width)).chain(n[sums..].iter().copied()).collect();
        let others: Vec<Vec<Vec<Val>>> = (1..self.rows()).map(|_| first.iter().map(&mut fresh_sums).collect()).collect();
        [first].into_iter().chain(others).collect()
    }

    /// One vector of a row.
    fn row(&self, f: &mut Function, vector: &RowVector<'_>, n: &[Val]) {
        let RowVector { matrices, at, mask, bits } = *vector;
        let read = |f: &mut Function, matrix: Int| f.load_as(self.elem, matrix.at(at), mask);
        let gradient = |f: &mut Function| {
            let d = read(f, matrices[1]);
            let Some(bits) = bits else { return d };
            let (set, zero) = (f.load_bits(bits), f.zero(f.isa().width()));
            f.select(set, d, zero)
        };
        let x = read(f, matrices[0]);
        let y = match self.act {
            ColumnOp::Sum => return f.update(Binary::AddF32, n[0], x),
            ColumnOp::Moments => {
                let x = f.binary(Binary::SubF32, x, n[2]);
                f.update(Binary::AddF32, n[0], x);
                return f.accumulate(Accumulate::FmaF32, n[1], x, x);
            }
            ColumnOp::Products { .. } => {
                let (x, d) = (f.binary(Binary::SubF32, x, n[2]), gradient(f));
                f.update(Binary::AddF32, n[0], d);
                return f.accumulate(Accumulate::FmaF32, n[1], x, d);
            }
            ColumnOp::Scale(bound) => {
                let y = f.binary(Binary::SubF32, x, n[0]);
                f.accumulate(Accumulate::ScaleAddF32, y, n[1], n[2]);
                // Of two operands the second is taken where one is NaN.
                let zero = (bound != Bound::None).then(|| f.zero(f.isa().width()));
                let y = zero.map_or(y, |zero| f.binary(Binary::MaxF32, zero, y));
                if let (Some(zero), Some(bits)) = (zero, bits) {
                    let positive = f.compare_f32(Compare::Ne, y, zero);
                    f.store_bits(bits, positive);
                }
                y
            }
            ColumnOp::Gradient { .. } => {
                let (y, d) = (f.binary(Binary::SubF32, x, n[0]), gradient(f));
                f.accumulate(Accumulate::ScaleAddF32, y, n[2], n[3]);
                f.accumulate(Accumulate::FmaF32, y, d, n[1]);
                y
            }
        };
        let to = matrices[matrices.len() - 1].at(at);
        match self.elem {
            elem if self.streaming => f.store_streaming_as(elem, to, y),
            Elem::Bf16 => f.store_bf16_flushed(to, y, mask),
            elem => f.store_as(elem, to, y, mask),
        }
    }
}

/// A vector of values by column.
fn load(f: &mut Function, width: Width, (line, column, at): (Int, Int, i32), mask: Option<Pred>) -> Val {
    match mask {
        Some(mask) => f.load_masked(line.indexed(column, 4, at), mask),
        None => f.load(width, line.indexed(column, 4, at)),
    }
}
