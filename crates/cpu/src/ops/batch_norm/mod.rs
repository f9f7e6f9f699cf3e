//! Batch normalisation: statistics by channel.

pub(super) mod columns;

use crate::kernels::pointwise::{Pipeline, Program};
use crate::ops::norm::Norm;
use crate::ops::{fallback, staged, support};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::{Op, Problem, Tensor};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("columns:jit", columns::plan),
    Impl::new("staged:jit", copied),
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

/// Plans on copies where the batch is inside of channels and pixels. The order of bits of a fused ReLU is the tensors', which must be their own.
fn copied(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match &problem.op {
        Op::BatchNorm(op) if op.workspace.is_none() && has_few_inside(&op.src) => {
            staged::plan(&support::resolved(problem), target, &[columns::plan, |p, t| Program::plan_in_stages(p, t, pipeline)], &[&[]])
        }
        _ => Err(Skip::Layout("of src: channels or pixels inside of the batch, or bits in the order of src".into())),
    }
}

/// Neighbouring items of the batch that fill vectors.
const MIN_BATCH: i64 = 16;

/// Whether blocks of the batch that are partly filled, or few items of it, are neighbours in memory.
fn has_few_inside(src: &Tensor) -> bool {
    let few = src.dims()[0] < MIN_BATCH;
    few && src.blocking().is_some_and(|b| b.inner.of(0) > 1 || src.dims()[0] > 1 && b.strides[0] == 1)
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    Norm::of(problem)?.pipeline()
}
