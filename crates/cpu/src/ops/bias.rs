//! Gradients of biases: the sums of the result's gradient over all dimensions but channels, which the best row of reductions computes
//! behind an operation without a bias.

use super::support::{adopt, known, run_between, run_with};
use super::{reduction, reorder};
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Bound, Choose, Ctx, Decision, Exec, Plan, Region, Skip, plan_rows};
use oxidnn_spec::op::{Reduction, ReductionAlg, Reorder};
use oxidnn_spec::{Arg, Attr, Dims, Error, Op, Problem, Real, Tensor};
use std::sync::Arc;

/// An operation without a bias, and the reduction that computes the gradient of the bias.
#[derive(Debug)]
struct Biased {
    inner: Box<dyn Plan>,
    /// `None` where there is nothing to sum.
    sums: Option<Box<dyn Plan>>,
    /// The operands of the reduction.
    operands: [Tensor; 2],
}

/// Plans `problem` by `row`, which need not compute the gradient of a bias.
///
/// # Errors
/// Those of the row, and biases in layouts that do not have a dimension of channels.
pub(super) fn apart(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    if problem.op.tensor(Arg::DIFF_BIAS).is_none() {
        return row(problem, target);
    }
    known(problem)?;
    let mut bare = problem.clone();
    match &mut bare.op {
        Op::Conv(op) => op.bias = None,
        Op::Deconv(op) => op.bias = None,
        Op::InnerProduct(op) => op.bias = None,
        _ => return Err(Skip::Op("a bias of anything but products")),
    }
    let inner = row(&bare, target)?;
    let mut resolved = problem.clone();
    adopt(&mut resolved, inner.problem(), &[]);
    resolved.resolve();
    let operand = |arg: Arg| resolved.op.tensor(arg).cloned().ok_or(Skip::Op("without an operand"));
    let (from, bias) = (operand(Arg::DIFF_DST)?, operand(Arg::DIFF_BIAS)?);
    let dims = Dims::from_fn(from.dims().len(), |d| if d == 1 { bias.dims()[0] } else { 1 });
    let layout = bias.layout.reshape(&dims).map_err(|e| Skip::Layout(e.to_string()))?;
    let to = Tensor { dtype: bias.dtype, layout };
    let sums = if from.is_empty() { None } else { Some(sums(&from, &to, target)?) };
    let biased = Biased { inner, sums, operands: [from, to] };
    RowPlan::of(resolved, target, booked(&[biased.scratch()]), biased)
}

/// The plan of the sums of `from` over the dimensions in which `to` has size 1.
fn sums(from: &Tensor, to: &Tensor, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let (src, dst, zero) = (from.clone(), to.clone(), Real::new(0.0));
    // A single row is its own sum.
    let (rows, op) = match to.dims() == from.dims() {
        true => (reorder::IMPLS, Op::Reorder(Reorder { src, dst })),
        false => (reduction::IMPLS, Op::Reduction(Reduction { alg: ReductionAlg::Sum, src, dst, p: zero, eps: zero })),
    };
    let planned = plan_rows(rows, &Problem { op, attr: Attr::default() }, target, 0);
    planned.map(|planned| planned.plan).map_err(|_| Skip::Layout("of the bias".into()))
}

impl Biased {
    /// Elements of scratch of the operation or of the reduction, which run one after the other.
    fn scratch(&self) -> usize {
        self.sums.as_ref().map_or(0, |sums| sums.scratch_bytes()).max(self.inner.scratch_bytes()).div_ceil(4)
    }
}

impl Generated for Biased {
    /// The operation and the reduction.
    type Code = (Arc<dyn Exec>, Option<Arc<dyn Exec>>);

    fn decision(&self, _: &Problem) -> Decision {
        let (inner, sums) = (self.inner.decision(), self.sums.as_ref().and_then(|sums| sums.seconds()));
        Decision { seconds: inner.seconds.map(|seconds| seconds + sums.unwrap_or(0.0)), ..inner }
    }

    fn build(&self) -> Result<Self::Code, Error> {
        Ok((self.inner.build()?, self.sums.as_ref().map(|sums| sums.build()).transpose()?))
    }

    fn run(&self, (inner, sums): &Self::Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let scratch = Region::host(scratch.take(self.scratch())?.into_buf());
        let bound = |arg: Arg| ctx.bound(arg).copied().ok_or_else(|| Error::arg(arg, "nothing", "a memory object"));
        let [from, to] = &self.operands;
        let operands = [Bound { tensor: from, ..bound(Arg::DIFF_DST)? }, Bound { tensor: to, ..bound(Arg::DIFF_BIAS)? }];
        match sums {
            Some(sums) => run_between(&**sums, ctx, scratch, operands, |_| None)?,
            None => zero(&View::of(simd, ctx, Arg::DIFF_BIAS)?),
        }
        run_with(&**inner, ctx, scratch, |_| {})
    }
}

/// Writes zeros to all channels.
fn zero(bias: &View<'_>) {
    const CHUNK: usize = 64;
    let channels = bias.dims()[0] as usize;
    for first in (0..channels).step_by(CHUNK) {
        let at = std::array::from_fn(|d| if d == 0 { first as i64 } else { 0 });
        bias.write(&at, 0, &[0.0; CHUNK][..CHUNK.min(channels - first)]);
    }
}
