//! `squares:jit`: copies of 32-bit numbers between layouts whose neighbours lie along different dimensions, square by square in registers.
//!
//! NCHW to NHWC, either to blocks of channels, and back are the cases that matter. Dimensions are cut where blocks of either layout end;
//! what neither layout separates is one. What is left is a matrix, transposed for every position of the other loops. A task takes a matrix, or
//! a number of its columns where it is large. Of images with a few channels most of a square would not exist: their rows are woven into the
//! destination by shuffles that the compiler chooses.

use super::reorder;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::Scratch;
use crate::kernels::transpose::{Matrix, Squares};
use crate::row::Kernel;
use crate::{CpuTarget, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::{Arg, Blocking, Dims, Error, MAX_NDIMS, Problem, Tensor};
use std::sync::OnceLock;

/// Most rows that are woven, and columns at a time.
const FEW: usize = 4;
const WOVEN: usize = 256;

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
        super::check_copy(op, &problem.attr)?;
        if op.src.dtype.bits() != 32 {
            return Err(Skip::DataType(format!("{}, not of 32 bits", op.src.dtype)));
        }
        if op.dst.dims().iter().any(|d| *d <= 0) {
            return Err(Skip::Shape("no elements, or sizes known at execution only"));
        }
        let padded = || Skip::Layout("of src or dst: padding, or blocks that do not nest".into());
        let (Some(dst), Some(src)) = (whole(&op.dst), whole(&op.src)) else { return Err(padded()) };
        let mut outer = loops(op.dst.dims(), [dst, src]).ok_or_else(padded)?;
        let mut taken = |t: usize| outer.iter().position(|l| l.steps[t] == 1).map(|i| outer.remove(i));
        let (Some(rows), Some(columns)) = (taken(0), taken(1)) else {
            return Err(Skip::Layout("of src: neighbours are those of dst".into()));
        };
        let lanes = jit.width().lanes();
        let blocked = !dst.is_plain() || !src.is_plain();
        if blocked && rows.size.min(columns.size) < lanes / 2 {
            return Err(Skip::Shape("small blocks"));
        }
        let piece = (GRAIN as usize / rows.size.max(1)).next_multiple_of(lanes).clamp(lanes, columns.size.max(lanes));
        let starts = [dst.offset as usize, src.offset as usize];
        Ok((Transposed { jit, squares: OnceLock::new(), starts, rows, columns, piece, outer }, 0))
    })
}

/// Strides and blocks without padding.
fn whole(tensor: &Tensor) -> Option<&Blocking> {
    tensor.blocking().filter(|b| b.padded_dims == *tensor.dims())
}

/// Positions at which blocks of dimension `d` end, from 1 to its size, each a divisor of the next; `None` where blocks do not nest.
fn units(d: usize, size: i64, tensors: [&Blocking; 2]) -> Option<Vec<i64>> {
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
fn step(b: &Blocking, d: usize, unit: i64) -> i64 {
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
        let matrices: usize = self.outer.iter().map(|l| l.size).product();
        ctx.executor.run(ctx.executor.threads(), pieces * matrices, &|_, task| {
            let first = task % pieces * self.piece;
            let (mut at, mut rest) = (self.starts, task / pieces);
            for l in self.outer.iter().rev() {
                (0..2).for_each(|t| at[t] += rest % l.size * l.steps[t]);
                rest /= l.size;
            }
            let from = Matrix { buf: from, at: (at[1] + first) * 4, row: rows.steps[1] * 4 };
            let to = Matrix { buf: to, at: (at[0] + first * columns.steps[0]) * 4, row: columns.steps[0] * 4 };
            let count = self.piece.min(columns.size - first);
            if rows.size <= FEW && columns.steps[0] == rows.size {
                simd.run(Weave { from, to, rows: rows.size, columns: count });
            } else {
                squares.run(from, to, rows.size, count);
            }
        });
        Ok(())
    }
}

/// A few rows whose columns follow each other in the destination.
struct Weave {
    from: Matrix,
    to: Matrix,
    rows: usize,
    columns: usize,
}

impl Weave {
    #[inline(always)]
    fn rows<const N: usize>(&self) {
        let (mut rows, mut woven) = ([[0_u32; WOVEN]; N], [[0_u32; N]; WOVEN]);
        for first in (0..self.columns).step_by(WOVEN) {
            let count = WOVEN.min(self.columns - first);
            for (i, row) in rows.iter_mut().enumerate() {
                self.from.buf.read((self.from.at + i * self.from.row) / 4 + first, &mut row[..count]);
            }
            // All columns are woven, and those that do not exist left behind: the compiler knows how many there are.
            for (column, to) in woven.iter_mut().enumerate() {
                to.iter_mut().zip(&rows).for_each(|(to, row)| *to = row[column]);
            }
            self.to.buf.write(self.to.at / 4 + first * N, &woven.as_flattened()[..count * N]);
        }
    }
}

impl Body for Weave {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        match self.rows {
            1 => self.rows::<1>(),
            2 => self.rows::<2>(),
            3 => self.rows::<3>(),
            _ => self.rows::<FEW>(),
        }
    }
}
