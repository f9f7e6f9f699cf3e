//! Layer normalisation: statistics by row of the last dimension.

use crate::kernels::dense;
use crate::kernels::pointwise::{Pipeline, Program};
use crate::ops::fallback;
use crate::ops::norm::Norm;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Prop;
use oxidnn_spec::{Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("rows:jit", |p, t| Program::plan(p, t, |problem| norm(problem)?.pipeline_by_row())),
    Impl::new("stages:jit", staged_plan),
    Impl::new("dense:portable", dense_plan),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

fn staged_plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if let Op::LayerNorm(op) = &problem.op {
        let learnt = op.prop == Prop::Backward && (op.diff_scale.is_some() || op.diff_shift.is_some());
        let far = learnt && !target.caches.keep(op.src.bytes().saturating_mul(3));
        if (far || op.prop.is_forward()) && dense_plan(problem, target).is_ok() {
            return Err(Skip::Shape("sums by column of more than the caches keep, or rows of one pass"));
        }
    }
    Program::plan_in_stages(problem, target, pipeline)
}

fn dense_plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::LayerNorm(op) => dense::LayerNorm::new(op, problem, target.threads),
        _ => Err(Skip::Op("another operation than layer normalisation")),
    })
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    norm(problem)?.pipeline()
}

fn norm(problem: &Problem) -> Result<Norm<'_>, Skip> {
    let Op::LayerNorm(op) = &problem.op else { return Err(Skip::Op("another operation than layer normalisation")) };
    Ok(Norm {
        problem,
        prop: op.prop,
        flags: op.flags,
        epsilon: op.epsilon.get(),
        src: &op.src,
        split: None,
        kept: (1 << (op.src.dims().len() - 1)) - 1,
        channel: 1 << (op.src.dims().len() - 1),
        workspace: None,
    })
}
