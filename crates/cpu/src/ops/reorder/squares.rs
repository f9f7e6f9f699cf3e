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
use crate::kernels::transpose::{Matrix, Squares};
use crate::row::Kernel;
use crate::{CpuTarget, RowPlan};
use oxidnn_expr::convert;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Element, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Error, MAX_NDIMS, Problem, Tensor};
use std::array::from_fn;
use std::sync::OnceLock;

/// Most rows that are woven, and columns at a time.
const FEW: usize = 4;
const WOVEN: usize = 64;
/// Bytes of a word.
const WORD: usize = 4;

/// A loop over both tensors: how often, and the elements of a step in destination and source.
#[derive(Clone, Copy, Debug)]
struct Loop {
    size: usize,
    steps: [usize; 2],
}

/// The transpositions of one reorder.
#[derive(Debug)]
struct Transposed {
    jit: Isa,
    squares: OnceLock<Squares>,
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
        if op.dst.dims().iter().any(|d| *d <= 0) {
            return Err(Skip::Shape("no elements, or sizes known at execution only"));
        }
        let padded = || Skip::Layout("of src or dst: padding, or blocks that do not nest".into());
        let (Some(dst), Some(src)) = (whole(&op.dst), whole(&op.src)) else { return Err(padded()) };
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
        let data = Transposed { jit, squares: OnceLock::new(), types, starts, rows, columns, piece, outer };
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

/// Strides and blocks without padding.
fn whole(tensor: &Tensor) -> Option<&Blocking> {
    tensor.blocking().filter(|b| b.padded_dims == *tensor.dims())
}

/// Positions at which blocks of dimension `d` end, from 1 to its size, each a divisor of the next; `None` where blocks do not nest.
pub(super) fn units(d: usize, size: i64, tensors: [&Blocking; 2]) -> Option<Vec<i64>> {
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

/// The loops over dimensions and their blocks of more than one position, outermost in the destination first, joined where both tensors allow.
fn loops(dims: &Dims, tensors: [&Blocking; 2]) -> Option<Vec<Loop>> {
    let mut all = Vec::with_capacity(2 * MAX_NDIMS);
    for (d, size) in dims.iter().enumerate() {
        for w in units(d, *size, tensors)?.windows(2) {
            all.push(Loop { size: (w[1] / w[0]) as usize, steps: tensors.map(|b| step(b, d, w[0]) as usize) });
        }
    }
    all.sort_by_key(|l| std::cmp::Reverse(l.steps));
    let mut joined: Vec<Loop> = Vec::with_capacity(all.len());
    for l in all {
        match joined.last_mut().filter(|before| (0..2).all(|t| before.steps[t] == l.steps[t] * l.size)) {
            Some(before) => *before = Loop { size: before.size * l.size, ..l },
            None => joined.push(l),
        }
    }
    Some(joined)
}

impl Kernel for Transposed {
    fn prepare(&self) -> Result<(), Error> {
        if self.squares.get().is_none() {
            let _ = self.squares.set(Squares::get(self.jit)?);
        }
        Ok(())
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let (to, from) = (ctx.buf(Arg::DST)?, ctx.buf(Arg::SRC)?);
        let squares = self.squares.get().ok_or_else(|| Error::Runtime("squares that were not made".into()))?;
        let (rows, columns) = (self.rows, self.columns);
        let pieces = columns.size.div_ceil(self.piece);
        let all = pieces * self.outer.iter().map(|l| l.size).product::<usize>();
        let each = (GRAIN as usize / (rows.size * self.piece.min(columns.size)).max(1)).max(1);
        let sizes = self.types.map(|t| t.bits() / 8);
        let one = |i: usize| {
            let first = i % pieces * self.piece;
            let (mut at, mut rest) = (self.starts, i / pieces);
            for l in self.outer.iter().rev() {
                (0..2).for_each(|t| at[t] += rest % l.size * l.steps[t]);
                rest /= l.size;
            }
            let from = Matrix { buf: from, at: (at[1] + first) * sizes[1], row: rows.steps[1] * sizes[1] };
            let to = Matrix { buf: to, at: (at[0] + first * columns.steps[0]) * sizes[0], row: columns.steps[0] * sizes[0] };
            let count = self.piece.min(columns.size - first);
            if is_woven(rows, columns) {
                simd.run(Weave { from, to, types: self.types, rows: rows.size, columns: count });
            } else {
                squares.run(from, to, rows.size, count);
            }
        };
        ctx.executor.run(ctx.executor.threads(), all.div_ceil(each), &|_, task| (task * each..all.min((task + 1) * each)).for_each(one));
        Ok(())
    }
}

/// A few rows whose columns follow each other in the destination.
struct Weave {
    from: Matrix,
    to: Matrix,
    types: [DataType; 2],
    rows: usize,
    columns: usize,
}

impl Weave {
    #[inline(always)]
    fn rows<T: Element + Into<u32>, const N: usize>(&self) {
        let mut rows = [[T::zeroed(); WOVEN]; N];
        for first in (0..self.columns).step_by(WOVEN) {
            let count = WOVEN.min(self.columns - first);
            for (i, row) in rows.iter_mut().enumerate() {
                self.read(self.from.at + i * self.from.row, first, &mut row[..count]);
            }
            // All columns are woven, and those that do not exist left behind: the compiler knows how many there are.
            let at = self.to.at + first * N * size_of::<T>();
            if N * size_of::<T>() == WORD && at.is_multiple_of(WORD) {
                let words: [u32; WOVEN] =
                    from_fn(|column| rows.iter().rev().fold(0, |word, row| (word << ((32 / N) % 32)) | row[column].into()));
                self.to.buf.write(at / WORD, &words[..count]);
            } else {
                let woven: [[T; N]; WOVEN] = from_fn(|column| rows.map(|row| row[column]));
                self.to.buf.write(at / size_of::<T>(), &woven.as_flattened()[..count * N]);
            }
        }
    }

    /// Numbers of a row that begins at a byte, in the destination's type.
    #[inline(always)]
    fn read<T: Element>(&self, row: usize, first: usize, to: &mut [T]) {
        if self.types[0] == self.types[1] {
            return self.from.buf.read(row / size_of::<T>() + first, to);
        }
        let mut numbers = [0.0_f32; WOVEN];
        let numbers = &mut numbers[..to.len()];
        self.from.buf.read(row / size_of::<f32>() + first, numbers);
        convert::from_f32(self.types[0], numbers, bytemuck::cast_slice_mut(to));
    }

    #[inline(always)]
    fn all<T: Element + Into<u32>>(&self) {
        match self.rows {
            1 => self.rows::<T, 1>(),
            2 => self.rows::<T, 2>(),
            3 => self.rows::<T, 3>(),
            _ => self.rows::<T, FEW>(),
        }
    }
}

impl Body for Weave {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        match self.types[0].bits() {
            8 => self.all::<u8>(),
            16 => self.all::<u16>(),
            _ => self.all::<u32>(),
        }
    }
}
