//! Element-wise functions of two operands, and select.

use crate::kernels::pointwise::{Builder, Pipeline, Program};
use crate::ops::doubles::elements;
use crate::ops::{fallback, staged};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::BinaryAlg;
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("staged:jit", |p, t| staged::alike(p, t, chunks)),
    Impl::new("chunks:jit", chunks),
    Impl::new("chunks:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    Impl::new("doubles:portable", elements::plan),
    fallback::ROW,
];

fn chunks(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    Program::plan_in_stages(problem, target, pipeline)
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    use BinaryAlg::{Add, Gt, Lt, Max, Min, Mul, Ne, Sub};
    let Op::Binary(op) = &problem.op else { return Err(Skip::Op("another operation than binary")) };
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    b.load_argument(0, Arg::SRC)?;
    b.scale(0, Arg::SRC)?;
    b.load_argument(1, Arg::SRC_1)?;
    b.scale(1, Arg::SRC_1)?;
    if op.src2.is_some() {
        b.load_argument(2, Arg::SRC_2)?;
    }
    b.both(0, op.alg);
    b.result(Arg::DST)?;
    if op.src2.is_none() && matches!(op.alg, Add | Sub | Mul | Max | Min | Lt | Gt | Ne) {
        b.keep_zeros();
    }
    b.finish()
}
