//! Element-wise functions of two operands, and select.

use crate::kernels::pointwise::{Chunks, Program};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Binary;
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "chunks:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Binary(op) => Ok((program(op, problem)?, 0)),
        _ => Err(Skip::Op("another operation than binary")),
    })
}

fn program(op: &Binary, problem: &Problem) -> Result<Chunks, Skip> {
    let mut program = Program::new(problem, Arg::DST)?;
    program.load(0, Arg::SRC)?;
    program.scale(0, Arg::SRC)?;
    program.load(1, Arg::SRC_1)?;
    program.scale(1, Arg::SRC_1)?;
    if op.src2.is_some() {
        program.load(2, Arg::SRC_2)?;
    }
    program.both(0, op.alg);
    program.finish()
}
