//! Weighted sums of tensors.

use crate::kernels::pointwise::{Builder, Pipeline, Program};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::EltwiseAlg;
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl::new("chunks:jit", generated), Impl::new("chunks:portable", plan), fallback::ROW];

fn generated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    Program::plan_in_stages(problem, target, pipeline)
}

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, pipeline)
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::Sum(op) = &problem.op else { return Err(Skip::Op("another operation than sum")) };
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    for (i, scale) in op.scales.iter().enumerate() {
        b.load_argument(i.min(1), Arg::multiple_src(i))?;
        match i {
            0 => b.forward(0, EltwiseAlg::Linear, scale.get(), 0.0),
            _ => b.accumulate(scale.get(), 0.0),
        }
    }
    b.result(Arg::DST)?;
    b.finish()
}
