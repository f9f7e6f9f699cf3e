//! Layer normalisation: statistics by row of the last dimension.

use crate::kernels::pointwise::{Pipeline, Program};
use crate::ops::fallback;
use crate::ops::norm::Norm;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Skip};
use oxidnn_spec::{Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("rows:jit", |p, t| Program::plan(p, t, |problem| norm(problem)?.pipeline_by_row())),
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

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
