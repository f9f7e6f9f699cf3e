//! `packed:portable`: any dense matrix product through the dot kernel.
//!
//! Operands of any type are converted to `f32` while they are packed; products of small integers are summed exactly (see [`exact_depth`]).
//! Scales that do not vary along K, and all that follows, are applied by the epilogue.

use crate::CpuTarget;
use crate::kernels::access::{Axis, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::Source;
use crate::kernels::dot::product::{Operand, Product, scratch_len};
use crate::kernels::epilogue::{self, Epilogue};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::support;
use crate::row::{Kernel, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::{Arg, Attr, Dims, Error, Op, Problem};

#[derive(Debug)]
struct Packed {
    attr: Attr,
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
    epilogue::check(&problem.attr, &op.dst)?;
    if !problem.attr.precomputed_reductions.is_empty() {
        return Err(Skip::Attr("precomputed reductions".into()));
    }
    super::resolve_weights(op, &problem.attr, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let scratch = scratch_len(target.isa, target.threads);
    let (Some(scratch), Some(scratch_bytes)) = (scratch, scratch.and_then(|s| booked(&[s]))) else {
        return Err(TOO_LARGE);
    };
    let kernel = Packed { attr: problem.attr.clone(), workers: target.threads, scratch };
    RowPlan::of(problem, target, Some(scratch_bytes), kernel)
}

/// Splits the scales of an operand: those that vary along K (dimension `depth`), and those that the epilogue applies.
fn split_scale<'a>(scale: Broadcast<'a>, depth: usize) -> (Option<Broadcast<'a>>, Broadcast<'a>) {
    if scale.varies(depth) { (Some(scale), Broadcast::constant(1.0)) } else { (None, scale.without(depth)) }
}

impl Kernel for Packed {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let source = |arg: Arg| Source::shifted(simd, ctx, &self.attr, arg);
        let (src, weights, dst) = (source(Arg::SRC)?, source(Arg::WEIGHTS)?, View::of(simd, ctx, Arg::DST)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let n = dst.dims().len();
        let (row, column) = (n - 2, n - 1);
        let (a_scale, a_factor) = split_scale(Broadcast::scale(simd, ctx, &self.attr, Arg::SRC, src.view.dims())?, column);
        let (b_scale, b_factor) = split_scale(Broadcast::scale(simd, ctx, &self.attr, Arg::WEIGHTS, weights.view.dims())?, row);
        let bias = View::optional(simd, ctx, Arg::BIAS)?.map(Broadcast::tensor);
        let before = Before::new(&self.attr, || Ok([a_factor, b_factor]), bias)?;
        let tail = Epilogue::new(Chain::new(simd, ctx, &self.attr, Arg::DST)?.with(&before))?;
        let (a, b) = (Source { scale: a_scale, ..src }, Source { scale: b_scale, ..weights });
        let product = Product {
            batch: Dims::from_fn(n - 2, |d| dst.dims()[d]),
            exact: support::exact_depth([&a, &b], &self.attr),
            a: Operand::new(a, &[row], &[column]),
            b: Operand::new(b, &[column], &[row]),
            tail,
            rows: Axis::new(&[row], dst.dims()),
            columns: Axis::new(&[column], dst.dims()),
        };
        product.run(simd, ctx.executor(), self.workers, &mut scratch.take(self.scratch)?);
        Ok(())
    }
}
