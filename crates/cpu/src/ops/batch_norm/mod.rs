//! Batch normalisation: statistics by channel.

use crate::kernels::dense;
use crate::kernels::pointwise::{Pipeline, Program};
use crate::ops::fallback;
use crate::ops::norm::Norm;
use crate::{CpuTarget, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::{Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("columns:jit", generated_plan),
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("dense:portable", dense_plan),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

fn generated_plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    dense(problem, target, Some(jit))
}

fn dense_plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem, target, None)
}

fn dense(problem: &Problem, target: &CpuTarget, jit: Option<Isa>) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::BatchNorm(op) => dense::BatchNorm::new(op, problem, target, jit),
        _ => Err(Skip::Op("another operation than batch normalisation")),
    })
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::BatchNorm(op) = &problem.op else { return Err(Skip::Op("another operation than batch normalisation")) };
    let norm = Norm {
        problem,
        prop: op.prop,
        flags: op.flags,
        epsilon: op.epsilon.get(),
        src: &op.src,
        split: None,
        kept: 0b10,
        channel: 0b10,
        workspace: op.workspace.as_ref().and_then(|_| op.bits()),
    };
    norm.pipeline()
}
