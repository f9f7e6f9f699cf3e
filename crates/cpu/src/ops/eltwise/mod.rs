//! Element-wise functions of one operand.

use crate::kernels::pointwise::{Builder, Pipeline, Program};
use crate::ops::doubles::elements;
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_expr::eltwise;
use oxidnn_runtime::{Impl, Skip};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("chunks:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("chunks:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    Impl::new("doubles:portable", elements::plan),
    fallback::ROW,
];

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::Eltwise(op) = &problem.op else { return Err(Skip::Op("another operation than eltwise")) };
    let (alpha, beta) = (op.alpha.get(), op.beta.get());
    let result = if op.prop.is_forward() { Arg::DST } else { Arg::DIFF_SRC };
    let mut b = Builder::elementwise(problem, result)?;
    if op.prop.is_forward() {
        b.load_argument(0, Arg::SRC)?;
        b.forward(0, op.alg, alpha, beta);
    } else {
        b.load_argument(0, Arg::DIFF_DST)?;
        b.load_argument(1, if op.alg.uses_dst() { Arg::DST } else { Arg::SRC })?;
        b.backward(op.alg, alpha, beta);
    }
    b.result(result)?;
    let zero: f64 =
        if op.prop.is_forward() { eltwise::forward(op.alg, alpha, beta, 0.0) } else { eltwise::backward(op.alg, alpha, beta, 0.0, 0.0) };
    if zero.to_bits() == 0 {
        b.keep_zeros();
    }
    b.finish()
}
