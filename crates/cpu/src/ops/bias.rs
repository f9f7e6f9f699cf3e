//! Gradients of biases: the sums of the result's gradient over all dimensions but channels, which the best row of reductions computes
//! behind an operation without a bias.

use super::reduction;
use super::support::{adopt, known, run_between, run_with};
use crate::CpuTarget;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Bound, Choose, Ctx, Decision, Exec, Plan, Region, Skip, plan_rows};
use oxidnn_spec::op::{Reduction, ReductionAlg};
use oxidnn_spec::{Arg, Attr, Dims, Error, Op, Problem, Real, Tensor};
use std::sync::Arc;

/// An operation without a bias, and the reduction that computes the gradient of the bias.
#[derive(Debug)]
struct Biased {
    inner: Box<dyn Plan>,
    sums: Box<dyn Plan>,
    /// The operands of the reduction.
    operands: [Tensor; 2],
}

/// Plans `problem` by `row`, which need not compute the gradient of a bias.
///
/// # Errors
/// Those of the row, no results, and biases in layouts that do not have a dimension of channels.
pub(super) fn apart(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    if problem.op.tensor(Arg::DIFF_BIAS).is_none() {
        return row(problem, target);
    }
    known(problem)?;
    if problem.op.tensor(Arg::DIFF_DST).is_none_or(Tensor::is_empty) {
        return Err(Skip::Shape("nothing to sum for the bias"));
    }
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
    let zero = Real::new(0.0);
    let sums = Reduction { alg: ReductionAlg::Sum, src: from.clone(), dst: to.clone(), p: zero, eps: zero };
    let sums = Problem::new(sums, Attr::default()).map_err(|e| Skip::Layout(e.to_string()))?;
    let sums = plan_rows(reduction::IMPLS, &sums, target, 0).map_err(|_| Skip::Layout("of the bias".into()))?.plan;
    let biased = Biased { inner, sums, operands: [from, to] };
    RowPlan::of(resolved, target, booked(&[biased.scratch()]), biased)
}

impl Biased {
    /// Elements of scratch of the operation or of the reduction, which run one after the other.
    fn scratch(&self) -> usize {
        self.inner.scratch_bytes().max(self.sums.scratch_bytes()).div_ceil(4)
    }
}

impl Generated for Biased {
    /// The operation and the reduction.
    type Code = [Arc<dyn Exec>; 2];

    fn decision(&self, _: &Problem) -> Decision {
        let (inner, sums) = (self.inner.decision(), self.sums.seconds());
        Decision { seconds: inner.seconds.zip(sums).map(|(inner, sums)| inner + sums), ..inner }
    }

    fn build(&self) -> Result<Self::Code, Error> {
        Ok([self.inner.build()?, self.sums.build()?])
    }

    fn run(&self, [inner, sums]: &Self::Code, _: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let scratch = Region::host(scratch.take(self.scratch())?.into_buf());
        let bound = |arg: Arg| ctx.bound(arg).copied().ok_or_else(|| Error::arg(arg, "nothing", "a memory object"));
        let [from, to] = &self.operands;
        let operands = [Bound { tensor: from, ..bound(Arg::DIFF_DST)? }, Bound { tensor: to, ..bound(Arg::DIFF_BIAS)? }];
        run_between(&**sums, ctx, scratch, operands, |_| None)?;
        run_with(&**inner, ctx, scratch, |_| {})
    }
}
