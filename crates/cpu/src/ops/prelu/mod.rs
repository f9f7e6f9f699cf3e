//! Parametric ReLU.

use crate::kernels::pointwise::{Chunks, Program};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "chunks:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Prelu(op) if op.prop.is_forward() => Ok((forward(problem)?, 0)),
        _ => Err(Skip::Op("backward")),
    })
}

fn forward(problem: &Problem) -> Result<Chunks, Skip> {
    let mut program = Program::new(problem, Arg::DST)?;
    program.load(0, Arg::SRC)?;
    program.load(1, Arg::WEIGHTS)?;
    program.prelu();
    program.finish()
}
