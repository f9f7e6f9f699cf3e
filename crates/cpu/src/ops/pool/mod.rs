//! Pooling.

mod jit;
mod planes;
mod window;

use crate::kernels::pointwise::{Builder, Sides, Windows};
use crate::ops::{fallback, passes};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Pool;
use oxidnn_spec::{Arg, Op, Problem};
use window::Pooling;

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] =
    &[Impl::new("direct:jit", jit::plan), Impl::new("passes:jit", passes::generated), Impl::new("planes:portable", plan), fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Pool(op) => windows(op, problem, target),
        _ => Err(Skip::Op("another operation than pooling")),
    })
}

fn windows(op: &Pool, problem: &Problem, target: &CpuTarget) -> Result<(Windows<Pooling>, usize), Skip> {
    let (forward, workspace) = (op.prop.is_forward(), op.workspace.is_some());
    let (result, dims) = if forward { (Arg::DST, op.dst.dims()) } else { (Arg::DIFF_SRC, op.src.dims()) };
    let inputs: &[Arg] = match (forward, workspace) {
        (true, _) => &[Arg::SRC],
        (false, true) => &[Arg::DIFF_DST, Arg::WORKSPACE],
        (false, false) => &[Arg::DIFF_DST],
    };
    let second = (forward && workspace).then_some(Arg::WORKSPACE);
    // Backward averages divide the gradients first, in the extra space.
    let extra = if forward { 0 } else { op.dst.dims()[2..].iter().product() };
    Windows::new(
        Builder::new(problem, dims, None)?,
        result,
        0b11,
        Pooling::new(op),
        Sides { inputs, second, extra, workers: target.threads, jit: target.jit },
    )
}
