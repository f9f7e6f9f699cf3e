//! Weighted sums of tensors.

use crate::kernels::pointwise::{Chunks, Program};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{EltwiseAlg, Sum};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "chunks:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Sum(op) => Ok((program(op, problem)?, 0)),
        _ => Err(Skip::Op("another operation than sum")),
    })
}

fn program(op: &Sum, problem: &Problem) -> Result<Chunks, Skip> {
    let mut program = Program::new(problem, Arg::DST)?;
    for (i, scale) in op.scales.iter().enumerate() {
        program.load(i.min(1), Arg::multiple_src(i))?;
        match i {
            0 => program.forward(0, EltwiseAlg::Linear, scale.get(), 0.0),
            _ => program.accumulate(scale.get(), 0.0),
        }
    }
    program.finish()
}
