//! Products on generated tiles. [`Request`] says which dimensions of which tensors are the sides of a product, [`Tiled`] runs it; the rows
//! of matmul and inner product share both.
//!
//! The epilogue runs in registers if it can. Otherwise scales, bias and zero points are applied by the portable epilogue, and rows with
//! post-ops decline, since a separate pass does those (`passes:jit`).
//!
//! For bytes two corrections are needed: tiles add 128 to signed sources, and products do not include the source's zero point. Both
//! subtract a multiple of the column sums of the weights. Packed weights include these sums. For others they are computed in every
//! execution; a product of few rows computes them as one row more, so that weights are read once. Other
//! zero points have terms that differ by row and by column; sums start with these, see [`zero_points`](super::zero_points).

use super::place::{self, Place};
use super::zero_points::{self, Outer};
use crate::CpuTarget;
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::{Broadcast, varying};
use crate::kernels::bytes::ByteProduct;
use crate::kernels::chain::{self, Before, Chain, Operand};
use crate::kernels::gemm::{self, Gemm, Kind, Operands, Sizes};
use crate::kernels::macrokernel::{BLayout, Packing, SumBlock};
use crate::kernels::microkernel::epilogue::{EpilogueOperands, EpilogueRequest};
use crate::kernels::microkernel::pack::PlainMatrix;
use crate::kernels::microkernel::{DotType, Epilogue, EpilogueArgs, Stride, max_tile_rows};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{PortableEpilogue, Run, Sums};
use crate::kernels::scratch::{Scratch, booked, lend};
use crate::ops::{passes, support};
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::tiles::LINES;
use oxidnn_runtime::{Buf, Ctx, Decision, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, MAX_NDIMS, PostOp, Problem, Quant, Tensor};
use std::sync::Arc;

/// A tensor of a product and the dimensions that are its sides, slowest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'p> {
    /// Which argument it is.
    pub(crate) arg: Arg,
    /// Its description, the layout resolved.
    pub(crate) tensor: &'p Tensor,
    /// Its rows: those of the result, or the depth for the right operand.
    pub(crate) rows: &'p [usize],
    /// Its columns: the depth for the left operand, or those of the result.
    pub(crate) columns: &'p [usize],
}

/// A product to be planned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'p> {
    /// Attributes.
    pub(crate) attr: &'p Attr,
    /// Instruction set.
    pub(crate) isa: Isa,
    /// The processor.
    pub(crate) target: &'p CpuTarget,
    /// Left operand.
    pub(crate) a: Matrix<'p>,
    /// Right operand.
    pub(crate) b: Matrix<'p>,
    /// Result.
    pub(crate) c: Matrix<'p>,
    /// Number of leading dimensions that are the batch.
    pub(crate) batch: usize,
    /// The bias; a bias of one dimension follows the result's columns.
    pub(crate) bias: Option<&'p Tensor>,
    /// For every dimension of the result, the dimension of the right operand's scales that it goes with.
    pub(crate) scales: &'p [Option<usize>],
}

/// A planned product.
#[derive(Debug)]
pub(crate) struct Tiled {
    pub(super) attr: Attr,
    pub(super) args: [Arg; 3],
    isa: Isa,
    dst: Tensor,
    /// Dimensions of the result that are its row and its columns.
    pub(super) row: Option<usize>,
    pub(super) columns: Vec<usize>,
    pub(super) gemm: Gemm,
    /// Column sums of the right operand that packed weights keep: their byte offset, and how many a product has.
    kept_sums: Option<(usize, usize)>,
    pub(super) places: [Place; 3],
    /// Sizes of the batch dimensions of result and right operand, and the byte strides of the operands along them.
    batch: Dims,
    weights_batch: Dims,
    steps: [Dims; 3],
    epilogue: Option<Arc<Epilogue>>,
    parts: Parts,
    /// For each operand, the dimensions of its scales by dimension of the result.
    pub(super) scales: [Vec<Option<usize>>; 2],
    bias_along: Option<usize>,
    /// The first element of a bias that is contiguous f32, one per column.
    bias_line: Option<usize>,
    /// What sums start with, if zero points differ by row or the right operand has zero points.
    pub(super) outer: Option<Outer>,
    /// Whether the column sums of the right operand are computed as one row more of the product.
    pub(super) beside: bool,
    /// Whether tiles add 128 to the elements of the left operand.
    flips: bool,
    /// Whether sums are i32.
    whole: bool,
    /// Elements from the right operand's scale of a column to the next one's, 0 for one scale, if these are all that scales differ by.
    factor_step: Option<usize>,
    /// Number of products, if the epilogue's operands differ between them; else 0.
    products: usize,
}

/// Sizes of a product: batch, rows and columns, depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductSizes {
    pub(super) batch: usize,
    pub(super) sides: [usize; 2],
    pub(super) depth: usize,
}

/// The kernels of a product, and of the sums of its operands' lines.
pub(crate) struct Code {
    gemm: gemm::Ready,
    line_sums: [Option<ByteProduct>; 2],
}

impl Code {
    /// The sums of an operand's lines along the depth, if they are contiguous and needed.
    pub(super) fn line_sums(&self, operand: usize) -> Option<&ByteProduct> {
        self.line_sums[operand].as_ref()
    }
}

/// Elements of scratch of an execution, by purpose.
#[derive(Clone, Copy, Debug)]
struct Parts {
    lines: usize,
    ones: usize,
    compensation: usize,
    rows: usize,
    work: usize,
}

/// The product of two types.
///
/// # Errors
/// Types without one.
pub(crate) fn product(a: DataType, b: DataType) -> Result<DotType, Skip> {
    match (a, b) {
        (DataType::F32, DataType::F32) => Ok(DotType::F32),
        (DataType::Bf16, DataType::Bf16) => Ok(DotType::Bf16),
        (DataType::F16, DataType::F16) => Ok(DotType::F16),
        (DataType::U8, DataType::S8) => Ok(DotType::U8S8),
        (DataType::S8, DataType::S8) => Ok(DotType::S8S8),
        (a, b) => Err(Skip::DataType(format!("{a} by {b}"))),
    }
}

/// Bytes of weights for each of the first rows that are as well read twice, from L1: an epilogue in registers is worth more.
const READ_TWICE: usize = 8 << 10;
const FIRST_ROWS: usize = 4;

/// Most results of a product whose own operands of the epilogue take longer to prepare than a pass over the results.
const MOST_SMALL_RESULTS: usize = 256;
/// Most numbers of a line of the epilogue's operands, if it is repeated for each product.
const MOST_LINES: usize = 1 << 20;

/// The first element of a tensor of `columns` contiguous f32.
fn line(t: &Tensor, columns: usize) -> Option<usize> {
    let b = t.blocking().filter(|b| b.is_plain() && t.dtype == DataType::F32)?;
    let last = t.dims().len().checked_sub(1)?;
    let contiguous = t.dims()[last] == columns as i64 && t.dims()[..last].iter().all(|n| *n == 1) && (b.strides[last] == 1 || columns == 1);
    contiguous.then_some(b.offset as usize)
}

/// Bytes from one row to the next in a copy of bytes.
fn pitch(depth: usize) -> usize {
    depth.next_multiple_of(64)
}

/// Byte strides along batch dimensions, 0 for dimensions of size 1.
fn batch_steps(t: &Tensor, n: usize) -> Dims {
    let size = t.dtype.bits() as i64 / 8;
    Dims::from_fn(n, |d| if t.dims()[d] == 1 { 0 } else { t.blocking().map_or(0, |b| b.strides[d]) * size })
}

impl<'p> Request<'p> {
    /// The same product transposed: the columns of `B` are the rows of its left operand.
    pub(super) fn transposed(&self) -> Self {
        let transposed = |m: Matrix<'p>| Matrix { rows: m.columns, columns: m.rows, ..m };
        Request { a: transposed(self.b), b: transposed(self.a), c: transposed(self.c), ..*self }
    }

    /// Refuses quantisation that varies along K.
    fn check_depth(&self) -> Result<(), Skip> {
        let Request { a, b, attr, .. } = *self;
        for (all, what) in [(&attr.scales, "scales"), (&attr.zero_points, "zero points")] {
            let varies = |m: Matrix<'_>, depth: &[usize]| {
                all.get(&m.arg).is_some_and(|q| depth.iter().any(|d| varying(q, m.tensor.dims()) >> d & 1 == 1))
            };
            if varies(a, a.columns) || varies(b, b.rows) {
                return Err(Skip::Attr(format!("{what} that differ along the reduction")));
            }
        }
        Ok(())
    }

    /// The dimension of the result that is innermost among its columns.
    fn column(&self) -> usize {
        self.c.columns.last().copied().unwrap_or(0)
    }

    /// The epilogue in registers, if it can do everything after the sums.
    pub(super) fn epilogue(&self, compensated: bool) -> Option<Epilogue> {
        let column = self.column();
        let [a, b] = [self.a.arg, self.b.arg].map(|arg| self.attr.scales.get(&arg));
        let mask = |q: &Quant, t: &Tensor| varying(q, t.dims());
        let scale = self.scales.iter().position(|d| d.is_some_and(|d| b.is_some_and(|q| mask(q, self.b.tensor) >> d & 1 == 1)));
        let by_column =
            b.is_none_or(|q| mask(q, self.b.tensor).count_ones() <= 1 && (mask(q, self.b.tensor) == 0 || scale == Some(column)));
        let n = self.c.tensor.dims().len();
        let bias = self.bias.is_none_or(|t| t.dims().len() < n || t.dims()[self.batch..column].iter().all(|d| *d == 1));
        if a.is_some_and(|q| mask(q, self.a.tensor) != 0) || !by_column || !bias {
            return None;
        }
        let scaled = a.is_some() || b.is_some();
        let biased = self.bias.is_some();
        Epilogue::plan(&EpilogueRequest {
            attr: self.attr,
            dst: self.c.tensor,
            columns: column,
            batch: self.batch,
            compensated,
            scaled,
            biased,
        })
        .ok()
    }

    /// Whether the bias or operands of post-ops differ between products of the batch: then the epilogue has lines for each product.
    pub(super) fn differs(&self) -> bool {
        let batch = self.c.tensor.dims()[..self.batch].iter().any(|d| *d > 1);
        let differs = |t: &Tensor| t.dims().len() > self.batch && t.dims()[..self.batch].iter().any(|d| *d > 1);
        let operand = |op: &PostOp| matches!(op, PostOp::Binary { src1, .. } if differs(src1));
        batch && (self.bias.is_some_and(differs) || self.attr.post_ops.iter().any(operand))
    }

    /// See [`Tiled::factor_step`].
    fn factor_step(&self) -> Option<usize> {
        let of = |m: &Matrix<'_>| self.attr.scales.get(&m.arg).map_or((0, true), |q| (varying(q, m.tensor.dims()), q.groups.is_empty()));
        let column = self.scales.get(self.column()).copied().flatten().map_or(0, |d| 1 << d);
        match (of(&self.a), of(&self.b)) {
            ((0, _), (0, _)) => Some(0),
            ((0, _), (by, true)) if by == column && self.c.columns.len() == 1 => Some(1),
            _ => None,
        }
    }

    /// Whether a tile has room for all rows and one more, and the weights are so large that they should be read only once.
    fn has_room(&self, product: DotType) -> bool {
        let (c, isa) = (self.c, self.isa);
        let vectors = place::width(isa, self.b.tensor, self.b.columns) / isa.width().lanes();
        let one = c.tensor.dims()[..self.batch].iter().all(|d| *d == 1) && c.rows.len() == 1 && c.columns.len() == 1;
        let (rows, columns) = (place::count(c.tensor, c.rows), place::count(c.tensor, c.columns));
        let weights = columns.saturating_mul(place::count(self.b.tensor, self.b.rows));
        // Columns that are contiguous along the depth are summed one by one.
        let by_column = place::plain(self.b.tensor, self.b.rows, self.b.columns).is_ok_and(|place| place.row == 1 && columns > 1);
        // AMX multiplies weights in L2 in less time than the portable epilogue takes.
        let few = if isa.amx { self.target.caches.l2 } else { READ_TWICE * if by_column { 1 } else { rows.min(FIRST_ROWS) } };
        one && weights > few && rows < if isa.amx { LINES } else { max_tile_rows(isa, product, vectors) }
    }

    /// The kernel and its bytes of scratch.
    ///
    /// # Errors
    /// Products that tiles do not take.
    pub(crate) fn plan(&self) -> Result<(Tiled, usize), Skip> {
        let Request { a, b, c, isa, target, .. } = *self;
        let product = product(a.tensor.dtype, b.tensor.dtype)?;
        self.check_depth()?;
        let outer = Outer::of(self.attr, (a.arg, a.tensor), (b.arg, b.tensor));
        let [shifted, flips] = [outer.is_some() || self.attr.zero_points.contains_key(&a.arg), product == DotType::S8S8 && !isa.amx];
        if shifted && !product.is_integer() {
            return Err(Skip::Attr("zero points of real numbers".into()));
        }
        let summed = self.attr.zero_points.contains_key(&a.arg) || flips;
        let padded = b.columns.last().zip(b.tensor.blocking()).map_or(0, |(d, blocking)| blocking.padded_dims[*d] as usize);
        let kept_sums = support::kept_sums(b.tensor, b.rows).filter(|_| summed).map(|start| (start, padded));
        let beside = summed && kept_sums.is_none() && !outer.is_some_and(|o| o.by_row) && self.has_room(product);
        let compensated = summed && !beside && !outer.is_some_and(|o| o.by_row);
        let mut left = place::plain(a.tensor, a.rows, a.columns)?;
        let a_step = match (left.column == a.tensor.dtype.bits() / 8, product) {
            (true, _) => Stride::Fixed(4),
            (false, DotType::F32) => Stride::Given,
            _ => return Err(Skip::Layout("a source whose depth is not contiguous".into())),
        };
        if place::count(a.tensor, a.rows) == 1 {
            left.row = 0;
        }
        let (right, weights) = place::right(isa, b.tensor, b.rows, b.columns, product.vnni())?;
        let right = place::of_rows(isa, place::count(c.tensor, c.rows), b.tensor, (right, &weights));
        let to = place::plain(c.tensor, c.rows, c.columns).ok().filter(|p| p.column == c.tensor.dtype.bits() / 8);
        let products = if self.differs() { c.tensor.dims()[..self.batch].iter().product::<i64>() as usize } else { 0 };
        let lines = products.saturating_mul(Epilogue::apart(place::count(c.tensor, c.columns)));
        // Post-ops of small products are a pass over all results, if each product has operands of its own.
        let results = place::count(c.tensor, c.rows).saturating_mul(place::count(c.tensor, c.columns));
        let passes = products > 1 && results <= MOST_SMALL_RESULTS && !self.attr.post_ops.is_empty();
        let epilogue = to.filter(|_| !(beside || passes) && lines <= MOST_LINES).and_then(|_| self.epilogue(compensated)).map(Arc::new);
        // With few rows, the portable epilogue costs nothing beside weights that are read once.
        if !beside {
            passes::left(epilogue.as_ref(), self.attr)?;
        }
        let columns = place::count(c.tensor, c.columns);
        let batch = c.tensor.dims()[..self.batch].iter().product::<i64>() as usize;
        passes::fills(self.attr, [batch.saturating_mul(place::count(c.tensor, c.rows)), columns], (isa, target))?;
        let sizes = Sizes {
            batch,
            rows: place::count(c.tensor, c.rows) + usize::from(beside),
            columns,
            width: place::width(isa, b.tensor, b.columns),
            depth: place::count(a.tensor, a.columns),
        };
        let kind = Kind { isa, product, right, a_step, begins: outer.is_some(), epilogue: epilogue.clone() };
        let weights_batch = b.tensor.dims()[..self.batch].iter().product::<i64>() as usize;
        let copies = match (products, compensated) {
            (0, true) => weights_batch,
            (products, _) => products.max(1),
        };
        let all_columns = copies.checked_mul(if copies > 1 { Epilogue::apart(columns) } else { columns });
        let gemm = Gemm::in_blocks(kind, sizes, place::block_steps(right, &weights, columns), target)?;
        let too_long = || Skip::Shape("scratch exceeds the address space");
        let work = gemm.scratch_len().ok_or_else(too_long)?;
        let parts = Parts {
            lines: epilogue.as_ref().map_or(Some(0), |t| t.scratch(all_columns?)).ok_or_else(too_long)?,
            ones: if beside { sizes.rows * pitch(sizes.depth) / 4 } else { 0 },
            rows: outer.map_or(Some(0), |o| o.numbers(sizes.batch.checked_mul(sizes.rows)?)).ok_or_else(too_long)?,
            compensation: if summed && !beside { weights_batch.checked_mul(columns).ok_or_else(too_long)? } else { 0 },
            work,
        };
        let bytes = booked(&[parts.lines, parts.ones, parts.compensation, parts.rows, parts.work]).ok_or_else(too_long)?;
        let src_scales = (0..c.tensor.dims().len()).map(|d| (d < self.batch || c.rows.contains(&d)).then_some(d)).collect();
        let tiled = Tiled {
            attr: self.attr.clone(),
            args: [a.arg, b.arg, c.arg],
            isa: isa.without_amx(),
            dst: c.tensor.clone(),
            row: if c.rows.len() == 1 { Some(c.rows[0]) } else { None },
            columns: c.columns.to_vec(),
            gemm,
            kept_sums,
            places: [left, weights, to.unwrap_or(Place { start: 0, row: 0, column: 0 })],
            batch: Dims::from_fn(self.batch, |d| c.tensor.dims()[d]),
            weights_batch: Dims::from_fn(self.batch, |d| b.tensor.dims()[d]),
            steps: [a.tensor, b.tensor, c.tensor].map(|t| batch_steps(t, self.batch)),
            epilogue,
            parts,
            scales: [src_scales, self.scales.to_vec()],
            bias_along: self.bias.filter(|t| t.dims().len() == 1).map(|_| self.column()),
            bias_line: self.bias.and_then(|t| line(t, columns)),
            outer,
            beside,
            flips,
            whole: product.is_integer(),
            factor_step: self.factor_step(),
            products,
        };
        if (tiled.epilogue.is_none() || outer.is_some()) && (tiled.row.is_none() || tiled.columns.len() != 1) {
            return Err(Skip::Layout("a result of several dimensions whose columns are apart".into()));
        }
        Ok((tiled, bytes))
    }
}

impl Tiled {
    /// Byte offsets of a product of the batch in the operands.
    pub(super) fn starts(&self, mut index: usize) -> [usize; 3] {
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

    /// The index of the right operand of a product of the batch.
    pub(super) fn right(&self, index: usize) -> usize {
        let pos = self.position(index);
        self.weights_batch.iter().zip(pos).fold(0, |all, (size, at)| all * *size as usize + at as usize % *size as usize)
    }

    /// Number of right operands in the batch.
    pub(super) fn rights(&self) -> usize {
        self.weights_batch.iter().product::<i64>() as usize
    }

    /// Byte offset of a right operand.
    pub(super) fn right_start(&self, mut index: usize) -> usize {
        let mut start = self.places[1].start;
        for (d, size) in self.weights_batch.iter().enumerate().rev() {
            start += index % *size as usize * self.steps[1][d] as usize;
            index /= *size as usize;
        }
        start
    }

    /// Columns of the result.
    pub(super) fn width(&self) -> usize {
        self.columns.iter().map(|d| self.dst.dims()[*d] as usize).product()
    }

    /// Position of a product of the batch in the result.
    pub(super) fn position(&self, mut index: usize) -> Pos {
        let mut pos = [0; MAX_NDIMS];
        for (d, size) in self.batch.iter().enumerate().rev() {
            pos[d] = (index % *size as usize) as i64;
            index /= *size as usize;
        }
        pos
    }

    fn factors<'a>(&self, simd: Simd, ctx: &Ctx<'a>) -> Result<[Broadcast<'a>; 2], Error> {
        let of = |i: usize| -> Result<Broadcast<'a>, Error> {
            let dims = ctx.bound(self.args[i]).map_or(&[][..], |b| b.tensor.dims());
            Ok(Broadcast::scale(simd, ctx, &self.attr, self.args[i], dims)?.permuted(&self.scales[i]))
        };
        Ok([of(0)?, of(1)?])
    }

    /// The factors of the first columns, where those of consecutive ones are `step` scales of the right operand apart.
    fn factor_line(&self, at: (Simd, &Ctx<'_>), step: usize, out: &mut [f32]) -> Result<(), Error> {
        let [a, b] = [self.args[0], self.args[1]];
        let factor = Broadcast::first(at, self.attr.scales.get(&a), Arg::scale(a), 1.0)?;
        if step == 0 {
            out.fill(factor * Broadcast::first(at, self.attr.scales.get(&b), Arg::scale(b), 1.0)?);
            return Ok(());
        }
        Broadcast::elements(at, Arg::scale(b), step, out)?;
        out.iter_mut().for_each(|x| *x *= factor);
        Ok(())
    }

    fn bias<'a>(&self, simd: Simd, ctx: &Ctx<'a>) -> Result<Option<Broadcast<'a>>, Error> {
        let view = if ctx.bound(Arg::BIAS).is_some() { Some(View::of(simd, ctx, Arg::BIAS)?) } else { None };
        Ok(view.map(|v| self.bias_along.map_or_else(|| Broadcast::tensor(v), |d| Broadcast::along(v, d))))
    }

    /// The memory of an execution, without epilogue.
    fn operands<'a>(&self, ctx: &Ctx<'a>, starts: &'a (dyn Fn(usize) -> [usize; 3] + Sync)) -> Result<Operands<'a>, Error> {
        let [a, b, c] = self.places;
        let packs = if self.gemm.right() == BLayout::Packed {
            let bytes = ctx.input(self.args[1]);
            let bytes = bytes.ok_or_else(|| Error::arg(self.args[1], "memory that is written too", "memory of its own"))?;
            Packing::Plain(PlainMatrix { bytes, depth: b.row, column: b.column })
        } else {
            Packing::Nothing
        };
        Ok(Operands {
            a: ctx.buf(self.args[0])?,
            a_row: a.row,
            a_depth: a.column,
            b: ctx.buf(self.args[1])?,
            notes: ctx.notes(self.args[1]),
            packs,
            b_row: b.row,
            b_column: b.column,
            c: ctx.buf(self.args[2])?,
            c_row: c.row,
            starts,
            epilogue: None,
            epilogue_column: &|_| 0,
            begin: &|_| {},
            store: &|_| {},
        })
    }

    /// The number that tiles add to the elements of the left operand.
    pub(super) fn added(&self) -> i32 {
        if self.flips { 128 } else { 0 }
    }

    /// The factor of the column sums that are subtracted.
    fn factor(&self, simd: Simd, ctx: &Ctx<'_>) -> Result<i32, Error> {
        Ok(self.first_zero_points(simd, ctx)?[0] + self.added())
    }

    /// Sizes of the product.
    pub(super) fn product_sizes(&self) -> ProductSizes {
        let sizes = self.gemm.sizes();
        ProductSizes { batch: sizes.batch, sides: [sizes.rows - usize::from(self.beside), sizes.columns], depth: sizes.depth }
    }

    /// Zero points of an operand, 0 for the left one, by positions of the result.
    pub(super) fn zero_points<'a>(&self, (simd, ctx): (Simd, &Ctx<'a>), operand: usize) -> Result<Broadcast<'a>, Error> {
        let arg = self.args[operand];
        let dims = ctx.bound(arg).map_or(&[][..], |b| b.tensor.dims());
        Ok(Broadcast::zero_point(simd, ctx, &self.attr, arg, dims)?.permuted(&self.scales[operand]))
    }

    /// The first zero points of both operands.
    pub(super) fn first_zero_points(&self, simd: Simd, ctx: &Ctx<'_>) -> Result<[i32; 2], Error> {
        let of = |arg: Arg| Broadcast::first((simd, ctx), self.attr.zero_points.get(&arg), Arg::zero_point(arg), 0.0);
        Ok([of(self.args[0])? as i32, of(self.args[1])? as i32])
    }

    /// What is applied to sums before the post-ops.
    pub(super) fn before<'a>(&self, simd: Simd, ctx: &Ctx<'a>) -> Result<Before<'a>, Error> {
        Before::new(&self.attr, || self.factors(simd, ctx), self.bias(simd, ctx)?)
    }

    /// The portable epilogue.
    pub(super) fn epilogue<'a>(&'a self, simd: Simd, ctx: &Ctx<'a>, before: &'a Before<'a>) -> Result<PortableEpilogue<'a>, Error> {
        PortableEpilogue::new(Chain::new(simd, ctx, &self.attr, self.args[2])?.with(before))
    }

    /// What is subtracted from the sums of every column; the column sums themselves if the factor differs by row.
    fn compensation<'s>(&self, code: &Code, (simd, ctx): (Simd, &Ctx<'_>), sums: &'s mut [f32]) -> Result<&'s [i32], Error> {
        if sums.is_empty() {
            return Ok(&[]);
        }
        let factor = if self.outer.is_some_and(|o| o.by_row) { 1 } else { self.factor(simd, ctx)? };
        if let Some((start, padded)) = self.kept_sums {
            let (b, sums) = (ctx.buf(self.args[1])?, bytemuck::cast_slice_mut::<f32, i32>(sums));
            for (right, sums) in sums.chunks_exact_mut(self.width()).enumerate() {
                b.read(start + right * padded, sums);
                sums.iter_mut().for_each(|sum| *sum = sum.wrapping_mul(factor.wrapping_neg()));
            }
            return Ok(sums);
        }
        zero_points::column_sums((self, code.line_sums(1)), (simd, ctx), lend(&mut *sums))?;
        let sums = bytemuck::cast_slice_mut::<f32, i32>(sums);
        sums.iter_mut().for_each(|sum| *sum = sum.wrapping_mul(factor));
        Ok(sums)
    }

    /// Copies the rows of the left operand, with a row of ones behind them, to scratch.
    fn with_ones<'s>(&self, ctx: &Ctx<'_>, scratch: &'s mut [f32]) -> Result<Buf<'s>, Error> {
        let (depth, arg, place) = (self.gemm.sizes().depth, self.args[0], self.places[0]);
        let bytes: &[u8] = ctx.input(arg).ok_or_else(|| Error::arg(arg, "memory that is written too", "memory of its own"))?;
        let to: &mut [u8] = bytemuck::cast_slice_mut(&mut *scratch);
        for (i, row) in to.chunks_exact_mut(pitch(depth)).enumerate() {
            if i + 1 < self.gemm.sizes().rows {
                row[..depth].copy_from_slice(&bytes[place.start + i * place.row..][..depth]);
            } else {
                // A 1 for products that add 128.
                row.fill(if self.flips { 0x81 } else { 1 });
            }
        }
        Ok(lend(scratch))
    }

    /// Finishes and stores a block of raw sums.
    fn store(&self, epilogue: &PortableEpilogue<'_>, (compensation, factor): (&[i32], i32), mut block: SumBlock<'_>) {
        if self.beside {
            block.rows.end -= 1;
            let (sums, ones) = block.sums.split_at_mut(block.rows.len() * block.step);
            for line in sums.chunks_mut(block.step) {
                let (line, ones): (&mut [i32], &[i32]) = (bytemuck::cast_slice_mut(line), bytemuck::cast_slice(ones));
                line.iter_mut().zip(ones).for_each(|(x, one)| *x = x.wrapping_sub(one.wrapping_mul(factor)));
            }
        }
        let (Some(row), &[column]) = (self.row, &self.columns[..]) else { return };
        let mut pos = self.position(block.unit);
        (pos[row], pos[column]) = (block.rows.start as i64, block.columns.start as i64);
        if !compensation.is_empty() {
            for line in block.sums.chunks_mut(block.step).take(block.rows.len()) {
                let line: &mut [i32] = bytemuck::cast_slice_mut(line);
                let of_right = &compensation[self.right(block.unit) * self.width()..];
                line.iter_mut().zip(&of_right[block.columns.clone()]).for_each(|(x, c)| *x = x.wrapping_sub(*c));
            }
        }
        let (data, exact) = if self.whole { (block.spare, Some(block.sums)) } else { (block.sums, None) };
        let sums = Sums { data, exact, step: block.step, columns: block.columns.len(), dim: column };
        epilogue.store(sums, std::iter::once(Run { pos, dim: row, step: 1, count: block.rows.len() }));
    }
}

/// The operands of the epilogue.
struct Bound<'b, 'a> {
    tiled: &'b Tiled,
    simd: Simd,
    ctx: &'b Ctx<'a>,
    dst: View<'a>,
}

impl<'a> EpilogueOperands<'a> for Bound<'_, 'a> {
    fn dst(&self) -> &View<'a> {
        &self.dst
    }

    fn products(&self) -> usize {
        self.tiled.products
    }

    fn product(&self, index: usize) -> (Pos, usize) {
        (self.tiled.position(index), self.tiled.right(index))
    }

    fn by_product(&self, operand: Operand) -> Result<Option<Broadcast<'a>>, Error> {
        match operand {
            Operand::Bias => self.tiled.bias(self.simd, self.ctx),
            Operand::PostOp(i, of) => Ok(Some(Broadcast::tensor(self.argument(i, of)?))),
            _ => Ok(None),
        }
    }

    fn line(&self, operand: Operand, dim: usize, out: &mut [f32]) -> Result<(), Error> {
        let Bound { tiled, simd, ctx, dst } = *self;
        let pos = [0; MAX_NDIMS];
        match operand {
            Operand::Factors => match tiled.factor_step {
                Some(step) => tiled.factor_line((simd, ctx), step, out)?,
                None => chain::product(&tiled.factors(simd, ctx)?, &pos, dim, out),
            },
            Operand::Bias if tiled.bias_line.is_some() => ctx.buf(Arg::BIAS)?.read(tiled.bias_line.unwrap_or(0), out),
            Operand::Bias => tiled.bias(simd, ctx)?.unwrap_or(Broadcast::constant(0.0)).line(&pos, dim, out),
            Operand::Before(dtype) => dst.reinterpret(dtype).read(&pos, dim, out),
            Operand::PostOp(i, of) => Broadcast::tensor(self.argument(i, of)?).line(&pos, dim, out),
            Operand::Scale => Broadcast::scale(simd, ctx, &tiled.attr, Arg::DST, dst.dims())?.line(&pos, dim, out),
            Operand::ZeroPoint => Broadcast::zero_point(simd, ctx, &tiled.attr, Arg::DST, dst.dims())?.line(&pos, dim, out),
        }
        Ok(())
    }

    fn argument(&self, i: usize, of: Arg) -> Result<View<'a>, Error> {
        View::of(self.simd, self.ctx, Arg::post_op(i, of))
    }
}

impl Generated for Tiled {
    fn decision(&self, problem: &Problem) -> Decision {
        self.gemm.how().decision(problem)
    }

    type Code = Code;

    fn build(&self) -> Result<Code, Error> {
        let by_line = self.parts.compensation > 0 && self.kept_sums.is_none() && self.places[1].row == 1;
        let (of_rows, signed) = (self.outer.is_some_and(|o| o.by_column), self.gemm.product() == DotType::S8S8);
        let sums = |wanted: bool, signed| wanted.then(|| ByteProduct::of_sums(self.isa, signed)).transpose();
        Ok(Code { gemm: self.gemm.build()?, line_sums: [sums(of_rows, signed)?, sums(by_line, true)?] })
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let lines = scratch.take(self.parts.lines)?.into_slice();
        let (copy, sums) = (scratch.take(self.parts.ones)?.into_slice(), scratch.take(self.parts.compensation)?.into_slice());
        let rows = scratch.take(self.parts.rows)?.into_slice();
        let mut work = scratch.take(self.parts.work)?;
        let column_sums = self.compensation(code, (simd, ctx), sums)?;
        let starts = |batch| {
            let [a, b, c] = self.starts(batch);
            [if self.beside { 0 } else { a }, b, c]
        };
        let outer = self.terms(code, (simd, ctx), column_sums, rows)?;
        let begin = |block: SumBlock<'_>| {
            if let Some(terms) = &outer {
                terms.begin(block);
            }
        };
        let mut on = Operands { begin: &begin, ..self.operands(ctx, &starts)? };
        if self.beside {
            (on.a, on.a_row, on.a_depth) = (self.with_ones(ctx, copy)?, pitch(self.gemm.sizes().depth), 1);
        }
        let compensation = if self.outer.is_some_and(|o| o.by_row) { &[][..] } else { column_sums };
        let Some(epilogue) = &self.epilogue else {
            let before = self.before(simd, ctx)?;
            let epilogue = self.epilogue(simd, ctx, &before)?;
            epilogue.dst().zero_padding();
            let factor = if self.beside { self.factor(simd, ctx)? } else { 0 };
            let store = |block: SumBlock<'_>| self.store(&epilogue, (compensation, factor), block);
            code.gemm.run(simd, ctx.executor(), &mut work, &Operands { store: &store, ..on });
            return Ok(());
        };
        if self.parts.lines == 0 && self.attr.post_ops.is_empty() {
            code.gemm.run(simd, ctx.executor(), &mut work, &Operands { epilogue: Some(&EpilogueArgs::NONE), ..on });
            return Ok(());
        }
        let named = Bound { tiled: self, simd, ctx, dst: View::of(simd, ctx, self.args[2])? };
        let args = epilogue.args(&named, self.columns.last().copied().unwrap_or(0), compensation, lines)?;
        let apart = if self.products > 0 || compensation.len() > self.width() { Epilogue::apart(self.width()) } else { 0 };
        let epilogue_column = |batch| apart * if self.products > 0 { batch } else { self.right(batch) };
        code.gemm.run(simd, ctx.executor(), &mut work, &Operands { epilogue: Some(&args), epilogue_column: &epilogue_column, ..on });
        Ok(())
    }
}
