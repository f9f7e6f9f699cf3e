//! `squares:jit`: copies of 32-bit words between layouts whose neighbours lie along different dimensions, square by square in registers.
//!
//! NCHW to NHWC, either to blocks of channels, and back are the cases that matter, and weights to their panels. Dimensions are cut where blocks
//! of either layout end; what neither layout separates is one. What is left is a matrix, transposed for every position of the other loops. A
//! task takes a number of them, or some columns of one that is large. Narrow numbers are words where so many are neighbours in both layouts.
//!
//! Of a few rows most of a square would not exist: images with a few channels, and weights of which a panel holds two or four rows side by side.
//! They are woven into the destination by shuffles that the compiler chooses, numbers of any width, converted on the way where that is asked
//! for.

use super::reorder;
use super::sums::{Summed, Sums};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::Scratch;
use crate::kernels::transpose::{Matrix, Prepared};
use crate::row::Kernel;
use crate::{CpuTarget, RowPlan};
use oxidnn_expr::convert;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Element, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Error, MAX_NDIMS, Problem};

/// Most rows that are woven, and columns at a time.
const FEW: usize = 4;
const WOVEN: usize = 64;
/// Bytes of a word.
const WORD: usize = 4;

/// A loop over tensors: how often, and the elements of a step in destination, source, and what else there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop<const N: usize = 2> {
    pub(super) size: usize,
    pub(super) steps: [usize; N],
}

/// The transpositions of one reorder.
#[derive(Debug)]
struct Transposed {
    jit: Isa,
    squares: Prepared,
    /// What is copied: 32-bit words where these are `F32`.
    types: [DataType; 2],
    /// Elements before the first of destination and source.
    starts: [usize; 2],
    /// Neighbours of the destination: the rows of a matrix.
    rows: Loop,
    /// Neighbours of the source: its columns, and how many a task takes.
    columns: Loop,
    piece: usize,
    /// The other loops.
    outer: Vec<Loop>,
}

/// Plans a transposition.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        let mut types = types(op, problem)?;
        let [dst, src] = layouts(op)?;
        let mut outer = loops(op.dst.dims(), [dst, src]).ok_or_else(padded)?;
        let mut starts = [dst.offset as usize, src.offset as usize];
        if types[0] == types[1]
            && let Some(words) = in_words(32 / types[0].bits(), &outer, starts)
        {
            ((outer, starts), types) = (words, [DataType::F32; 2]);
        }
        let mut taken = |t: usize| outer.iter().position(|l| l.steps[t] == 1).map(|i| outer.remove(i));
        let (Some(rows), Some(columns)) = (taken(0), taken(1)) else {
            return Err(Skip::Layout("of src: neighbours are those of dst".into()));
        };
        let lanes = jit.width().lanes();
        let blocked = !dst.is_plain() || !src.is_plain();
        if is_woven(rows, columns) {
            if blocked && columns.size < lanes / 2 {
                return Err(Skip::Shape("small blocks"));
            }
        } else if types != [DataType::F32; 2] {
            return Err(Skip::DataType(format!("{} of {}, which are no words", types[0], op.src.dtype)));
        } else if blocked && rows.size.min(columns.size) < lanes / 2 {
            return Err(Skip::Shape("small blocks"));
        }
        let piece = (GRAIN as usize / rows.size.max(1)).next_multiple_of(lanes).clamp(lanes, columns.size.max(lanes));
        let data = Transposed { jit, squares: Prepared::default(), types, starts, rows, columns, piece, outer };
        Ok((Summed { data, sums: Sums::plan(op)? }, 0))
    })
}

/// The types of destination and source, for copies and for the conversions that are made on the way.
///
/// # Errors
/// Types and attributes for which there is more to do.
fn types(op: &Reorder, problem: &Problem) -> Result<[DataType; 2], Skip> {
    use DataType::*;
    let (dst, src) = (op.dst.dtype, op.src.dtype);
    if matches!((dst, src), (Bf16 | F16 | S8 | U8, F32)) && problem.attr.is_default() {
        super::check_adjusted(op)?;
        return Ok([dst, src]);
    }
    super::check_copy(op, &problem.attr)?;
    match dst.bits() {
        32 => Ok([F32; 2]),
        8 | 16 => Ok([dst; 2]),
        _ => Err(Skip::DataType(format!("{dst}, not of 8, 16 or 32 bits"))),
    }
}

/// Loops and starts in words of `ratio` elements, where so many are neighbours in both tensors.
fn in_words(ratio: usize, loops: &[Loop], starts: [usize; 2]) -> Option<(Vec<Loop>, [usize; 2])> {
    let whole = |n: usize| n.is_multiple_of(ratio).then_some(n / ratio);
    let both = |[a, b]: [usize; 2]| Some([whole(a)?, whole(b)?]);
    let word =
        |l: &Loop| if l.steps == [1; 2] { Some(Loop { size: whole(l.size)?, ..*l }) } else { Some(Loop { steps: both(l.steps)?, ..*l }) };
    if !loops.iter().any(|l| l.steps == [1; 2]) {
        return None;
    }
    let words: Vec<Loop> = loops.iter().map(word).collect::<Option<_>>()?;
    Some((words.into_iter().filter(|l| l.size > 1).collect(), both(starts)?))
}

/// Whether rows are so few that their columns are put together number by number.
fn is_woven(rows: Loop, columns: Loop) -> bool {
    rows.size <= FEW && columns.steps[0] == rows.size
}

/// Strides and blocks of destination and source.
///
/// # Errors
/// Tensors without elements or with padding.
pub(super) fn layouts(op: &Reorder) -> Result<[&Blocking; 2], Skip> {
    if op.dst.dims().iter().any(|d| *d <= 0) {
        return Err(Skip::Shape("no elements, or sizes known at execution only"));
    }
    match [&op.dst, &op.src].map(|t| t.blocking().filter(|b| b.padded_dims == *t.dims())) {
        [Some(dst), Some(src)] => Ok([dst, src]),
        _ => Err(padded()),
    }
}

/// Layouts for which there are no loops.
pub(super) fn padded() -> Skip {
    Skip::Layout("of src or dst: padding, or blocks that do not nest".into())
}

/// Positions at which blocks of dimension `d` end, from 1 to its size, each a divisor of the next; `None` where blocks do not nest.
pub(super) fn units(d: usize, size: i64, tensors: &[&Blocking]) -> Option<Vec<i64>> {
    let mut units = vec![1, size];
    for b in tensors {
        let mut unit = 1;
        for (_, block) in b.inner.iter().rev().filter(|inner| inner.0 == d) {
            unit *= block;
            units.push(unit);
        }
    }
    units.sort_unstable();
    units.dedup();
    units.windows(2).all(|w| w[1] % w[0] == 0).then_some(units)
}

/// Elements between a position of dimension `d` and the one `unit` behind it, where a block of so many begins.
pub(super) fn step(b: &Blocking, d: usize, unit: i64) -> i64 {
    let (mut below, mut stride) = (1, 1);
    for (e, block) in b.inner.iter().rev() {
        if e == d {
            if below * block > unit {
                return unit / below * stride;
            }
            below *= block;
        }
        stride *= block;
    }
    unit / below * b.strides[d]
}

/// The loops over dimensions and their blocks of more than one position, outermost in the destination first, joined where all tensors allow.
pub(super) fn loops<const N: usize>(dims: &Dims, tensors: [&Blocking; N]) -> Option<Vec<Loop<N>>> {
    let mut all = Vec::with_capacity(2 * MAX_NDIMS);
    for (d, size) in dims.iter().enumerate() {
        for w in units(d, *size, &tensors)?.windows(2) {
            all.push(Loop { size: (w[1] / w[0]) as usize, steps: tensors.map(|b| step(b, d, w[0]) as usize) });
        }
    }
    all.sort_by_key(|l| std::cmp::Reverse(l.steps));
    let mut joined: Vec<Loop<N>> = Vec::with_capacity(all.len());
    for l in all {
        match joined.last_mut().filter(|before| (0..N).all(|t| before.steps[t] == l.steps[t] * l.size)) {
            Some(before) => *before = Loop { size: before.size * l.size, ..l },
            None => joined.push(l),
        }
    }
    Some(joined)
}

impl Kernel for Transposed {
    fn prepare(&self) -> Result<(), Error> {
        self.squares.prepare(self.jit)
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let (to, from) = (ctx.buf(Arg::DST)?, ctx.buf(Arg::SRC)?);
        let squares = self.squares.get()?;
        let (rows, columns) = (self.rows, self.columns);
        let pieces = columns.size.div_ceil(self.piece);
        let all = pieces * self.outer.iter().map(|l| l.size).product::<usize>();
        let each = (GRAIN as usize / (rows.size * self.piece.min(columns.size)).max(1)).max(1);
        let sizes = self.types.map(|t| t.bits() / 8);
        // Matrices from one on that lie at constant distances, as many of `most` as there are.
        let some = |i: usize, most: usize| {
            let first = i % pieces * self.piece;
            let at = place(&self.outer, self.starts, i / pieces);
            let next = self
                .outer
                .last()
                .filter(|_| pieces == 1)
                .map_or(Loop { size: 1, steps: [0; 2] }, |l| Loop { size: l.size - i % l.size, ..*l });
            let matrices = Loop { size: next.size.min(most), ..next };
            let from = Matrix { buf: from, at: (at[1] + first) * sizes[1], row: rows.steps[1] * sizes[1] };
            let to = Matrix { buf: to, at: (at[0] + first * columns.steps[0]) * sizes[0], row: columns.steps[0] * sizes[0] };
            let count = self.piece.min(columns.size - first);
            if is_woven(rows, columns) {
                simd.run(Weave { from, to, types: self.types, rows: rows.size, columns: count, matrices });
                return matrices.size;
            }
            squares.run(from, to, rows.size, count);
            1
        };
        ctx.executor.run(ctx.executor.threads(), all.div_ceil(each), &|_, task| {
            let (mut i, end) = (task * each, all.min((task + 1) * each));
            while i < end {
                i += some(i, end - i);
            }
        });
        Ok(())
    }
}

/// Elements of all tensors at position `i` of some loops, the last of which is the innermost.
pub(super) fn place<const N: usize>(loops: &[Loop<N>], mut at: [usize; N], mut i: usize) -> [usize; N] {
    for l in loops.iter().rev() {
        (0..N).for_each(|t| at[t] += i % l.size * l.steps[t]);
        i /= l.size;
    }
    at
}

/// A few rows whose columns follow each other in the destination: of some matrices at constant distances.
struct Weave {
    from: Matrix,
    to: Matrix,
    types: [DataType; 2],
    rows: usize,
    columns: usize,
    matrices: Loop,
}

/// Numbers of rows in the destination's type.
type Rows<T> = [[T; WOVEN]; FEW];

impl Weave {
    /// Writes columns from one on to a byte, of rows that have been converted or begin at another byte.
    #[inline(always)]
    fn columns<T: Element + Into<u32>, const N: usize>(&self, rows: Result<&Rows<u32>, usize>, first: usize, to: usize) {
        // Most often there are all columns, and the compiler knows how many that are.
        match WOVEN.min(self.columns - first) {
            WOVEN => self.weave::<T, N>(rows, first, to, WOVEN),
            count => self.weave::<T, N>(rows, first, to, count),
        }
    }

    #[inline(always)]
    fn weave<T: Element + Into<u32>, const N: usize>(&self, rows: Result<&Rows<u32>, usize>, first: usize, to: usize, count: usize) {
        let mut read = [[T::zeroed(); WOVEN]; N];
        for (i, row) in read.iter_mut().enumerate() {
            match rows {
                Ok(rows) => row.copy_from_slice(&bytemuck::cast_slice(&rows[i])[..WOVEN]),
                Err(from) => self.from.buf.read((from + i * self.from.row) / size_of::<T>() + first, &mut row[..count]),
            }
        }
        // Columns that do not exist are woven too, and left behind. Plain loops: closures would not be compiled for the body's instructions.
        if N * size_of::<T>() == WORD && to.is_multiple_of(WORD) {
            let mut words = [0u32; WOVEN];
            for (column, word) in words.iter_mut().enumerate() {
                for row in (0..N).rev() {
                    *word = (*word << ((32 / N) % 32)) | read[row][column].into();
                }
            }
            self.to.buf.write(to / WORD, &words[..count]);
        } else {
            let mut woven = [[T::zeroed(); N]; WOVEN];
            for (column, together) in woven.iter_mut().enumerate() {
                for (row, number) in together.iter_mut().enumerate() {
                    *number = read[row][column];
                }
            }
            self.to.buf.write(to / size_of::<T>(), &woven.as_flattened()[..count * N]);
        }
    }

    /// Converts the columns of all rows from one on; all that a row has room for, though there may be fewer.
    #[inline(always)]
    fn convert(&self, from: usize, first: usize, rows: &mut Rows<u32>) {
        let mut numbers = [0.0_f32; WOVEN];
        for (i, row) in rows.iter_mut().enumerate().take(self.rows) {
            let at = (from + i * self.from.row) / size_of::<f32>() + first;
            match WOVEN.min(self.columns - first) {
                WOVEN => self.from.buf.read(at, &mut numbers),
                count => self.from.buf.read(at, &mut numbers[..count]),
            }
            convert::from_f32(self.types[0], &numbers, bytemuck::cast_slice_mut(row));
        }
    }
}

impl Body for Weave {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let [to_step, from_step] = [0, 1].map(|t| self.matrices.steps[t] * self.types[t].bits() / 8);
        let (bits, mut converted) = (self.types[0].bits(), [[0; WOVEN]; FEW]);
        for matrix in 0..self.matrices.size {
            let from = self.from.at + matrix * from_step;
            for first in (0..self.columns).step_by(WOVEN) {
                let rows = if self.types[0] == self.types[1] {
                    Err(from)
                } else {
                    self.convert(from, first, &mut converted);
                    Ok(&converted)
                };
                let to = self.to.at + matrix * to_step + first * self.rows * bits / 8;
                match (bits, self.rows) {
                    (8, 1) => self.columns::<u8, 1>(rows, first, to),
                    (8, 2) => self.columns::<u8, 2>(rows, first, to),
                    (8, 3) => self.columns::<u8, 3>(rows, first, to),
                    (8, _) => self.columns::<u8, FEW>(rows, first, to),
                    (16, 1) => self.columns::<u16, 1>(rows, first, to),
                    (16, 2) => self.columns::<u16, 2>(rows, first, to),
                    (16, 3) => self.columns::<u16, 3>(rows, first, to),
                    (16, _) => self.columns::<u16, FEW>(rows, first, to),
                    (_, 1) => self.columns::<u32, 1>(rows, first, to),
                    (_, 2) => self.columns::<u32, 2>(rows, first, to),
                    (_, 3) => self.columns::<u32, 3>(rows, first, to),
                    (_, _) => self.columns::<u32, FEW>(rows, first, to),
                }
            }
        }
    }
}
