//! Group normalisation: statistics by batch item and group of channels.

mod columns;

use crate::kernels::pointwise::{Pipeline, Program};
use crate::ops::fallback;
use crate::ops::norm::Norm;
use crate::ops::staged;
use crate::ops::support::pixel_distance;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::{Op, Problem, Tensor};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("stages:jit", stages),
    Impl::new("staged:jit", |p, t| staged::plan(p, t, &[stages], &[&[]])),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

/// Neighbouring channels that fill less than half a vector: these problems are faster on copies whose pixels are contiguous. Measured on
/// Zen 4.
const MAX_COPIED_CHANNELS: i64 = 8;

fn stages(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if let Op::GroupNorm(op) = &problem.op
        && is_copied(&op.src)
    {
        return Err(Skip::Layout("of src: few neighbouring channels, or pixels at several distances".into()));
    }
    Program::plan_in_stages(problem, target, pipeline)
}

/// Whether neither channels nor pixels are runs that fill vectors.
fn is_copied(src: &Tensor) -> bool {
    let Some(b) = src.blocking() else { return false };
    let channels = b.inner.iter().last().map_or(src.dims()[1], |(_, block)| block);
    match columns::has_contiguous_channels(src) {
        true => channels < MAX_COPIED_CHANNELS,
        false => pixel_distance(src).is_none(),
    }
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::GroupNorm(op) = &problem.op else { return Err(Skip::Op("another operation than group normalisation")) };
    if columns::suits(op) {
        return columns::pipeline(op, problem);
    }
    let norm = Norm {
        problem,
        prop: op.prop,
        flags: op.flags,
        epsilon: op.epsilon.get(),
        src: &op.src,
        split: Some((1, op.groups)),
        kept: 0b011,
        channel: 0b110,
        workspace: None,
    };
    norm.pipeline()
}
