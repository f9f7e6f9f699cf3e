//! `squares:jit`: copies of 32-bit numbers between layouts whose neighbours lie along different dimensions, square by square in registers.
//!
//! NCHW to NHWC and back is the case that matters. Dimensions that neither layout separates are one; what is left is a matrix, transposed for
//! every position of the other dimensions. A task takes a matrix, or a number of its columns where it is large.

use super::reorder;
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::Scratch;
use crate::kernels::transpose::{Matrix, Squares};
use crate::row::Kernel;
use crate::{CpuTarget, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::{Arg, Blocking, Dims, Error, MAX_NDIMS, Problem, Tensor};
use std::sync::OnceLock;

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
        let strides = Skip::Layout("of src or dst: not strides alone".into());
        let (Some(dst), Some(src)) = (plain(&op.dst), plain(&op.src)) else { return Err(strides) };
        let mut outer = loops(op.dst.dims(), [dst, src]);
        let mut taken = |t: usize| outer.iter().position(|l| l.steps[t] == 1).map(|i| outer.remove(i));
        let (Some(rows), Some(columns)) = (taken(0), taken(1)) else {
            return Err(Skip::Layout("of src: neighbours are those of dst".into()));
        };
        let lanes = jit.width().lanes();
        let piece = (GRAIN as usize / rows.size.max(1)).next_multiple_of(lanes).clamp(lanes, columns.size.max(lanes));
        let starts = [dst.offset as usize, src.offset as usize];
        Ok((Transposed { jit, squares: OnceLock::new(), starts, rows, columns, piece, outer }, 0))
    })
}

/// Strides without blocks or padding.
fn plain(tensor: &Tensor) -> Option<&Blocking> {
    tensor.blocking().filter(|b| b.is_plain() && b.padded_dims == *tensor.dims())
}

/// The loops over dimensions of more than one position, outermost in the destination first, joined where both tensors allow.
fn loops(dims: &Dims, tensors: [&Blocking; 2]) -> Vec<Loop> {
    let one = |d: usize| Loop { size: dims[d] as usize, steps: tensors.map(|b| b.strides[d] as usize) };
    let mut all: Vec<Loop> = (0..dims.len()).filter(|&d| dims[d] > 1).map(one).collect();
    all.sort_by_key(|l| std::cmp::Reverse(l.steps));
    let mut joined: Vec<Loop> = Vec::with_capacity(MAX_NDIMS);
    for l in all {
        match joined.last_mut().filter(|before| (0..2).all(|t| before.steps[t] == l.steps[t] * l.size)) {
            Some(before) => *before = Loop { size: before.size * l.size, ..l },
            None => joined.push(l),
        }
    }
    joined
}

impl Kernel for Transposed {
    fn prepare(&self) -> Result<(), Error> {
        if self.squares.get().is_none() {
            let _ = self.squares.set(Squares::get(self.jit)?);
        }
        Ok(())
    }

    fn run(&self, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
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
            squares.run(from, to, rows.size, self.piece.min(columns.size - first));
        });
        Ok(())
    }
}
