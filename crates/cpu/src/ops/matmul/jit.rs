//! `packed:jit`: matrix products on generated tiles.
//!
//! Weights lie in panels (what `any` resolves to), or plain: row-major, or transposed. Everything behind the sums happens in registers where
//! the tail can do it, else in the shared epilogue.

use super::gemm::{Block, Gemm, Kind, Operands, Sizes};
use super::place::{self, Place};
use crate::CpuTarget;
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::epilogue::{self, Epilogue, Run, Sums};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::kernels::tile::layout::panel_columns;
use crate::kernels::tile::tail::{self, About};
use crate::kernels::tile::{Product, Stride, Tail, TailArgs};
use crate::ops::support;
use crate::row::{Kernel, RowPlan};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, MAX_NDIMS, Op, Problem, Tensor, op};
use std::sync::Arc;

/// A planned product.
#[derive(Debug)]
struct Packed {
    attr: Attr,
    dst: Tensor,
    gemm: Gemm,
    /// Where source, weights and destination lie.
    places: [Place; 3],
    /// Sizes of the batch dimensions, and the distances of source, weights and destination along them in bytes.
    batch: Dims,
    steps: [Dims; 3],
    tail: Option<Arc<Tail>>,
    tail_len: usize,
    scratch: usize,
    whole: bool,
}

/// Takes products of matrices of one of the types of tiles.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let mut problem = problem.clone();
    let Op::Matmul(op) = &mut problem.op else { return Err(Skip::Op("anything but matmul")) };
    let product = product(op.src.dtype, op.weights.dtype)?;
    let n = op.dst.dims().len();
    if [&op.src, &op.weights, &op.dst].iter().any(|t| t.dims().has_runtime() || t.is_empty()) {
        return Err(Skip::Shape("empty, or given at execution"));
    }
    check(&problem.attr, n)?;
    super::resolve_weights(&mut op.weights, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    epilogue::check(&problem.attr, &op.dst)?;
    let kernel = Packed::new(op, &problem.attr, product, target, isa)?;
    let scratch_bytes = booked(&[kernel.tail_len, kernel.scratch]).ok_or(Skip::Shape("scratch exceeds the address space"))?;
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(kernel) }))
}

/// The product of the operands' types.
fn product(src: DataType, weights: DataType) -> Result<Product, Skip> {
    match (src, weights) {
        (DataType::F32, DataType::F32) => Ok(Product::F32),
        (DataType::Bf16, DataType::Bf16) => Ok(Product::Bf16),
        (DataType::F16, DataType::F16) => Ok(Product::F16),
        (a, b) => Err(Skip::DataType(format!("{a} by {b}"))),
    }
}

/// Scales of the operands must not differ along the reduction; float operands have no zero points.
fn check(attr: &Attr, n: usize) -> Result<(), Skip> {
    let varies = |arg: Arg, d: usize| attr.scales.get(&arg).is_some_and(|q| q.mask >> d & 1 == 1 || !q.groups.is_empty());
    if varies(Arg::SRC, n - 1) || varies(Arg::WEIGHTS, n - 2) {
        return Err(Skip::Attr("scales that differ along the reduction".into()));
    }
    if attr.zero_points.keys().any(|a| *a != Arg::DST) || !attr.precomputed_reductions.is_empty() {
        return Err(Skip::Attr("zero points of operands".into()));
    }
    Ok(())
}

impl Packed {
    fn new(op: &op::Matmul, attr: &Attr, product: Product, target: &CpuTarget, isa: oxidnn_jit::Isa) -> Result<Packed, Skip> {
        let n = op.dst.dims().len();
        let (row, column) = (n - 2, n - 1);
        let mut a = place::plain(&op.src, &[row], &[column])?;
        let size = op.src.dtype.bits() / 8;
        let a_step = match (a.column == size, product) {
            (true, _) => Stride::Fixed(4),
            (false, Product::F32) => Stride::Given,
            _ => return Err(Skip::Layout("a source whose depth is not contiguous".into())),
        };
        if op.src.dims()[row] == 1 {
            a.row = 0;
        }
        let (right, b) = place::right(isa, &op.weights, &[row], &[column], product.together())?;
        let tail = plan_tail(op, attr).map(Arc::new);
        let c = if tail.is_some() { place::plain(&op.dst, &[row], &[column])? } else { Place { start: 0, row: 0, column: 0 } };
        let sizes = Sizes {
            batch: op.dst.dims()[..n - 2].iter().product::<i64>() as usize,
            rows: op.dst.dims()[row] as usize,
            columns: op.dst.dims()[column] as usize,
            width: panel_columns(isa, op.dst.dims()[column] as usize),
            depth: op.src.dims()[column] as usize,
        };
        let gemm = Gemm::new(Kind { isa, product, right, a_step, tail: tail.clone() }, sizes, target.threads);
        let too_long = Skip::Shape("scratch exceeds the address space");
        let tail_len = tail.as_ref().map_or(Some(0), |t| t.scratch(sizes.columns)).ok_or(too_long.clone())?;
        let scratch = gemm.scratch_len().ok_or(too_long)?;
        let steps = [&op.src, &op.weights, &op.dst].map(|t| batch_steps(t, n - 2));
        Ok(Packed {
            attr: attr.clone(),
            dst: op.dst.clone(),
            gemm,
            places: [a, b, c],
            batch: Dims::from_fn(n - 2, |d| op.dst.dims()[d]),
            steps,
            tail,
            tail_len,
            scratch,
            whole: product.is_whole(),
        })
    }

    /// Where a product of the batch begins in source, weights and destination.
    fn starts(&self, mut index: usize) -> [usize; 3] {
        let mut starts = self.places.map(|p| p.start);
        for (d, size) in self.batch.iter().enumerate().rev() {
            let at = index % *size as usize;
            index /= *size as usize;
            for (start, steps) in starts.iter_mut().zip(&self.steps) {
                *start += at * steps[d] as usize;
            }
        }
        starts
    }

    /// Position of a product of the batch in the destination.
    fn position(&self, mut index: usize) -> Pos {
        let mut pos = [0; MAX_NDIMS];
        for (d, size) in self.batch.iter().enumerate().rev() {
            pos[d] = (index % *size as usize) as i64;
            index /= *size as usize;
        }
        pos
    }

    fn factors<'a>(&self, simd: Simd, ctx: &Ctx<'a>) -> Result<[Broadcast<'a>; 2], Error> {
        let n = self.dst.dims().len();
        let of = |arg: Arg, depth: usize| -> Result<Broadcast<'a>, Error> {
            let dims = ctx.bound(arg).map_or(&[][..], |b| b.tensor.dims());
            Ok(Broadcast::scale(simd, ctx, &self.attr, arg, dims)?.without(depth))
        };
        Ok([of(Arg::SRC, n - 1)?, of(Arg::WEIGHTS, n - 2)?])
    }
}

/// Distances along the batch dimensions in bytes, 0 where there is one.
fn batch_steps(t: &Tensor, n: usize) -> Dims {
    let size = t.dtype.bits() as i64 / 8;
    Dims::from_fn(n, |d| if t.dims()[d] == 1 { 0 } else { t.blocking().map_or(0, |b| b.strides[d]) * size })
}

/// The tail that does everything behind the sums, where there is one.
fn plan_tail(op: &op::Matmul, attr: &Attr) -> Option<Tail> {
    let column = op.dst.dims().len() - 1;
    let by_column = |mask: u32| mask & !(1 << column) == 0;
    let scale = |arg: Arg| attr.scales.get(&arg);
    let common = scale(Arg::SRC).is_none_or(|q| q.mask == 0) && scale(Arg::WEIGHTS).is_none_or(|q| by_column(q.mask));
    let bias = op.bias.as_ref().is_none_or(|b| b.dims()[..column].iter().all(|d| *d == 1));
    if !common || !bias {
        return None;
    }
    let scaled = scale(Arg::SRC).is_some() || scale(Arg::WEIGHTS).is_some();
    let about = About { attr, dst: &op.dst, columns: column, compensated: false, scaled, biased: op.bias.is_some() };
    Tail::plan(&about).ok()
}

impl Kernel for Packed {
    fn prepare(&self) -> Result<(), Error> {
        self.gemm.prepare()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let lines = scratch.take(self.tail_len)?.into_slice();
        let mut rest = scratch.take(self.scratch)?;
        let [a, b, c] = self.places;
        let mut on = Operands {
            a: ctx.buf(Arg::SRC)?,
            a_row: a.row,
            a_depth: a.column,
            b: ctx.buf(Arg::WEIGHTS)?,
            b_bytes: ctx.input(Arg::WEIGHTS).unwrap_or_default(),
            b_row: b.row,
            b_column: b.column,
            c: ctx.buf(Arg::DST)?,
            c_row: c.row,
            starts: &|batch| self.starts(batch),
            tail: None,
            store: &|_| {},
        };
        let Some(tail) = &self.tail else {
            let bias = View::optional(simd, ctx, Arg::BIAS)?.map(Broadcast::tensor);
            let epilogue = Epilogue::new((simd, ctx), &self.attr, Arg::DST, self.factors(simd, ctx)?, bias)?;
            epilogue.dst().zero_padding();
            let store = |block: Block<'_>| self.store(&epilogue, block);
            self.gemm.run(simd, ctx.executor, &mut rest, &Operands { store: &store, ..on });
            return Ok(());
        };
        let args = if self.tail_len == 0 { TailArgs::NONE } else { self.tail_args(tail, (simd, ctx), lines)? };
        on.tail = Some(&args);
        self.gemm.run(simd, ctx.executor, &mut rest, &on);
        Ok(())
    }
}

impl Packed {
    /// The operands of the tail.
    fn tail_args<'s>(&self, tail: &Tail, ctx: (Simd, &Ctx<'_>), scratch: &'s mut [f32]) -> Result<TailArgs<'s>, Error> {
        let from = tail::Operands {
            ctx,
            attr: &self.attr,
            dst: &self.dst,
            columns: self.dst.dims().len() - 1,
            compensation: &[],
            factors: self.factors(ctx.0, ctx.1)?,
            bias: View::optional(ctx.0, ctx.1, Arg::BIAS)?.map(Broadcast::tensor),
        };
        tail.args(&from, scratch)
    }

    /// Finishes and stores a block of raw sums.
    fn store(&self, epilogue: &Epilogue<'_>, block: Block<'_>) {
        let (row, column) = (self.dst.dims().len() - 2, self.dst.dims().len() - 1);
        let mut pos = self.position(block.batch);
        (pos[row], pos[column]) = (block.rows.start as i64, block.columns.start as i64);
        let (data, exact) = if self.whole { (block.spare, Some(block.sums)) } else { (block.sums, None) };
        let sums = Sums { data, exact, step: block.step, columns: block.columns.len(), dim: column };
        epilogue.store(sums, std::iter::once(Run { pos, dim: row, step: 1, count: block.rows.len() }));
    }
}
