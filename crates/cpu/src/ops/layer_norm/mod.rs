//! Layer normalisation: statistics by row of the last dimension.

use crate::kernels::pointwise::{Pipeline, Program};
use crate::ops::fallback;
use crate::ops::norm::Norm;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Skip};
use oxidnn_spec::Problem;

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("rows:jit", |p, t| Program::plan(p, t, |problem| Norm { by_row: true, ..Norm::of(problem)? }.pipeline())),
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    Norm::of(problem)?.pipeline()
}
