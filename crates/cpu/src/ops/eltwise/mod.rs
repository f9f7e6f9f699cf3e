//! Element-wise functions of one operand.

use crate::kernels::pointwise::{Chunks, Program};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Eltwise;
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "chunks:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Eltwise(op) => Ok((program(op, problem)?, 0)),
        _ => Err(Skip::Op("another operation than eltwise")),
    })
}

fn program(op: &Eltwise, problem: &Problem) -> Result<Chunks, Skip> {
    let (alpha, beta) = (op.alpha.get(), op.beta.get());
    if op.prop.is_forward() {
        let mut program = Program::new(problem, Arg::DST)?;
        program.load(0, Arg::SRC)?;
        program.forward(0, op.alg, alpha, beta);
        return program.finish();
    }
    let mut program = Program::new(problem, Arg::DIFF_SRC)?;
    program.load(0, Arg::DIFF_DST)?;
    program.load(1, if op.alg.uses_dst() { Arg::DST } else { Arg::SRC })?;
    program.backward(op.alg, alpha, beta);
    program.finish()
}
