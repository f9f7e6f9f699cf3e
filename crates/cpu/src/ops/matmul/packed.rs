//! `packed:portable` of matmul and inner product: any dense matrix product through the dot kernel.
//!
//! Operands of any type are converted to `f32` while they are packed; products of small integers are summed exactly (see [`exact_depth`]).
//! Scales that do not vary along K, and all that follows, are applied by the epilogue.

use super::tiled::Matrix;
use crate::CpuTarget;
use crate::kernels::access::{Axis, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::Source;
use crate::kernels::dot::product::{Operand, Product, scratch_len};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{self, PortableEpilogue};
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::support;
use crate::row::{Kernel, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::{Arg, Attr, Dims, Error, Op, Problem};

/// A planned product.
#[derive(Debug)]
pub(crate) struct Packed {
    attr: Attr,
    args: [Arg; 3],
    /// The dimensions that are rows and depth of the left operand, columns and depth of the right one, rows and columns of the result: their
    /// sizes may come with an execution.
    axes: [[Vec<usize>; 2]; 3],
    /// Number of leading dimensions that are the batch.
    batch: usize,
    /// For every dimension of the result, the dimensions of the operands' scales that it goes with.
    scales: [Vec<Option<usize>>; 2],
    workers: usize,
    scratch: usize,
}

/// Takes dense products of all types up to 32 bits.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    let Op::Matmul(op) = &mut problem.op else { return Err(Skip::Op("anything but matmul")) };
    for t in [&op.src, &op.weights] {
        support::operand_type(t.dtype)?;
    }
    portable_epilogue::check(&problem.attr, &op.dst)?;
    if !problem.attr.precomputed_reductions.is_empty() {
        return Err(Skip::Attr("precomputed reductions".into()));
    }
    super::resolve_weights(op, &problem.attr, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    let n = op.dst.dims().len();
    let (rows, columns) = (&[n - 2][..], &[n - 1][..]);
    let matrix = |arg, tensor| Matrix { arg, tensor, rows, columns };
    let sides = [matrix(Arg::SRC, &op.src), matrix(Arg::WEIGHTS, &op.weights), matrix(Arg::DST, &op.dst)];
    let scales = (0..n).map(|d| (d != n - 2).then_some(d)).collect();
    let (kernel, scratch_bytes) = Packed::new(&problem.attr, sides, (n - 2, scales), target)?;
    RowPlan::of(problem, target, Some(scratch_bytes), kernel)
}

/// Splits the scales of an operand: those that vary along K (dimension `depth`), and those that the epilogue applies, by positions of the
/// result.
fn split_scale<'a>(scale: Broadcast<'a>, depth: usize, dims: &[Option<usize>]) -> (Option<Broadcast<'a>>, Broadcast<'a>) {
    if scale.varies(depth) { (Some(scale), Broadcast::constant(1.0)) } else { (None, scale.permuted(dims)) }
}

impl Packed {
    /// The product of two operands, with leading batch dimensions, and the dimensions of the right operand's scales by those of the result;
    /// and its bytes of scratch.
    ///
    /// # Errors
    /// Scratch beyond the address space.
    pub(crate) fn new(
        attr: &Attr,
        sides: [Matrix<'_>; 3],
        (batch, scales): (usize, Vec<Option<usize>>),
        target: &CpuTarget,
    ) -> Result<(Packed, usize), Skip> {
        let [a, b, c] = sides;
        let scratch = scratch_len(target.isa, target.threads).ok_or(TOO_LARGE)?;
        let of_rows = (0..c.tensor.dims().len()).map(|d| (d < batch || c.rows.contains(&d)).then_some(d)).collect();
        let packed = Packed {
            attr: attr.clone(),
            args: sides.map(|m| m.arg),
            axes: [[a.rows, a.columns], [b.columns, b.rows], [c.rows, c.columns]].map(|m| m.map(<[usize]>::to_vec)),
            batch,
            scales: [of_rows, scales],
            workers: target.threads,
            scratch,
        };
        Ok((packed, booked(&[scratch]).ok_or(TOO_LARGE)?))
    }
}

impl Kernel for Packed {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let ([a, b, result], attr) = (self.args, &self.attr);
        let [mut a, mut b] = [Source::shifted(simd, ctx, attr, a)?, Source::shifted(simd, ctx, attr, b)?];
        let dst = View::of(simd, ctx, result)?;
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let axes = |i: usize, dims: &Dims| [0, 1].map(|side: usize| Axis::new(&self.axes[i][side], dims));
        let ([outer, depth], [inner, b_depth], [rows, columns]) = (axes(0, a.view.dims()), axes(1, b.view.dims()), axes(2, dst.dims()));
        let scale = |i: usize, source: &Source<'_>, depth: Axis| {
            let scale = Broadcast::scale(simd, ctx, attr, self.args[i], source.view.dims())?;
            Ok::<_, Error>(split_scale(scale, depth.fastest(), &self.scales[i]))
        };
        let (of_a, of_b);
        (a.scale, of_a) = scale(0, &a, depth)?;
        (b.scale, of_b) = scale(1, &b, b_depth)?;
        let bias = View::optional(simd, ctx, Arg::BIAS)?;
        let bias = bias.map(|v| if v.dims().len() == 1 { Broadcast::along(v, columns.fastest()) } else { Broadcast::tensor(v) });
        let before = Before::new(attr, || Ok([of_a, of_b]), bias)?;
        let product = Product {
            batch: Dims::from_fn(self.batch, |d| dst.dims()[d]),
            exact: support::exact_depth([&a, &b], attr),
            a: Operand { source: a, outer, depth },
            b: Operand { source: b, outer: inner, depth: b_depth },
            epilogue: PortableEpilogue::new(Chain::new(simd, ctx, attr, result)?.with(&before))?,
            rows,
            columns,
        };
        product.run(simd, ctx.executor(), self.workers, &mut scratch.take(self.scratch)?);
        Ok(())
    }
}
