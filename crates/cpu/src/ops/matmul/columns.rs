//! `few_columns:jit`: products of few columns and many rows, as products of few rows by the source: each column of the weights is a row of the left operand, and
//! rows of the source, contiguous along the depth, are columns of the right one. Tiles would multiply lanes of columns that do not exist.

use crate::CpuTarget;
use crate::kernels::access::{Axis, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::dot::pack::Source;
use crate::kernels::epilogue::{self, Epilogue};
use crate::kernels::gemv::{Operands, Product, ReadyProduct, Request, Weights};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::ops::support;
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, Problem, Tensor};
use std::sync::Arc;

/// Most columns: with more of them a tile has lanes enough to be faster.
const COLUMNS: i64 = 4;
/// Least depth: what follows sums costs each as much as a few vectors of products.
const DEPTH: usize = 64;

/// Which dimensions are the sides of a product.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// Dimensions of the depth, slowest first, in source and weights.
    pub(crate) depth: [Vec<usize>; 2],
    /// The dimension of the rows in the source and in the destination.
    pub(crate) row: [usize; 2],
    /// The dimension of the columns in the weights and in the destination.
    pub(crate) column: [usize; 2],
    /// Leading dimensions that all have.
    pub(crate) batch: usize,
}

#[derive(Debug)]
struct Columns {
    attr: Attr,
    sides: Sides,
    product: Product,
    /// Whether the weights are taken as they lie.
    in_place: bool,
}

/// Whether a product is one of few columns, by its sizes and types.
///
/// # Errors
/// What it is not.
pub(crate) fn check([src, weights, dst]: [&Tensor; 3], sides: &Sides) -> Result<(), Skip> {
    if [src, weights, dst].iter().any(|t| t.dims().has_runtime() || t.is_empty()) {
        return Err(Skip::Shape("empty, or of sizes that come later"));
    }
    let (rows, columns) = (dst.dims()[sides.row[1]], dst.dims()[sides.column[1]]);
    let depth = sides.depth[0].iter().map(|d| src.dims()[*d] as usize).fold(1, usize::saturating_mul);
    if !(1..=COLUMNS).contains(&columns) || rows < columns || depth < DEPTH {
        return Err(Skip::Shape("not of 1 to 4 columns, as many rows and 64 of depth"));
    }
    let real = [DataType::F32, DataType::Bf16, DataType::F16].contains(&src.dtype) && src.dtype == weights.dtype;
    if real { Ok(()) } else { Err(Skip::DataType(format!("{} by {}", src.dtype, weights.dtype))) }
}

/// Plans a problem whose layouts are resolved.
///
/// # Errors
/// What the kernels do not take.
pub(crate) fn plan(problem: Problem, tensors: [&Tensor; 3], sides: Sides, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let [src, weights, dst] = tensors;
    support::dense(&problem)?;
    epilogue::check(&problem.attr, dst)?;
    let attr = &problem.attr;
    let quantised = [&attr.scales.keys().collect::<Vec<_>>(), &attr.zero_points.keys().collect::<Vec<_>>()];
    if quantised.into_iter().flatten().any(|arg| **arg != Arg::DST) || !attr.precomputed_reductions.is_empty() {
        return Err(Skip::Attr("quantised operands".into()));
    }
    let request = Request {
        isa,
        workers: target.threads,
        weights: Weights::new(src, sides.row[0], &sides.depth[0], isa)?,
        batches: dst.dims()[..sides.batch].iter().product::<i64>() as usize,
        rows: weights.dims()[sides.column[0]] as usize,
        bf16: weights.dtype == DataType::Bf16,
        grouped: None,
        zero: false,
    };
    if !request.weights.is_by_columns() {
        return Err(Skip::Layout("of the source: its depth is not contiguous".into()));
    }
    let product = Product::new(request)?;
    let plain = weights.blocking().is_some_and(|b| {
        let even = |n: &i64| product.word_type() == DataType::F32 || n % 2 == 0;
        let depth = Axis::new(&sides.depth[1], weights.dims());
        b.is_plain() && depth.chained(b) == Some(1) && b.strides[..sides.batch].iter().chain([&b.offset]).all(even)
    });
    let in_place = plain && product.takes_in_place() && product.word_type() == weights.dtype;
    let scratch_bytes = product.scratch_bytes().ok_or(Skip::Shape("scratch exceeds the address space"))?;
    let kernel = Columns { attr: problem.attr.clone(), sides, product, in_place };
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(kernel) }))
}

impl Generated for Columns {
    type Code = ReadyProduct;

    fn build(&self) -> Result<ReadyProduct, Error> {
        self.product.build()
    }

    fn run(&self, code: &ReadyProduct, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let [src, weights, dst] = [View::of(simd, ctx, Arg::SRC)?, View::of(simd, ctx, Arg::WEIGHTS)?, View::of(simd, ctx, Arg::DST)?];
        dst.zero_padding();
        let Sides { depth, row, column, batch } = &self.sides;
        let bias = View::optional(simd, ctx, Arg::BIAS)?;
        let bias = bias.map(|b| if b.dims().len() == dst.dims().len() { Broadcast::tensor(b) } else { Broadcast::along(b, column[1]) });
        let bytes = src.dtype().bits() as i64 / 8;
        let one = Broadcast::constant(1.0);
        let operands = Operands {
            a: Source::plain(weights, support::floats(ctx, Arg::WEIGHTS, &weights)),
            in_place: ctx.input(Arg::WEIGHTS).filter(|_| self.in_place),
            axes: [Axis::new(&[column[0]], weights.dims()), Axis::new(&depth[1], weights.dims())],
            b: src.buf(),
            zero: Broadcast::constant(0.0),
            scale: one,
            factors: [None; 2],
            weights: [row[0], depth[0][0]],
            tail: Epilogue::new((simd, ctx), &self.attr, Arg::DST, [one; 2], bias)?,
            dst: [column[1], row[1]],
            batch: Dims::from_fn(*batch, |d| dst.dims()[d]),
            batch_bytes: Dims::from_fn(*batch, |d| if src.dims()[d] == 1 { 0 } else { src.blocking().strides[d] * bytes }),
        };
        code.run(&operands, ctx.executor(), &mut scratch)
    }
}
