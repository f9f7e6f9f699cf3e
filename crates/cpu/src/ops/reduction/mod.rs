//! Reductions.

use crate::kernels::pointwise::{Builder, FoldOp, Over, Pipeline, Program};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Skip};
use oxidnn_spec::op::{EltwiseAlg, ReductionAlg};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    use ReductionAlg::*;
    let Op::Reduction(op) = &problem.op else { return Err(Skip::Op("another operation than reduction")) };
    let (dims, (p, eps)) = (op.src.dims(), (op.p.get(), op.eps.get()));
    let mut b = Builder::new(problem, dims, None)?;
    let kept = (0..dims.len()).filter(|&d| op.dst.dims()[d] == dims[d]).map(|d| 1 << d).sum();
    let norm = matches!(op.alg, NormLpMax | NormLpSum | NormLpPowerPMax | NormLpPowerPSum);
    b.group(kept);
    let src = b.argument(Arg::SRC)?;
    let total = b.table(kept)?;
    let total = b.bind(&total)?;
    b.stage(Over::All);
    b.load(0, src);
    if norm {
        b.forward(0, EltwiseAlg::Abs, 0.0, 0.0);
        b.power(0, p);
    }
    let fold = match op.alg {
        Max => FoldOp::Max,
        Min => FoldOp::Min,
        Mul => FoldOp::Mul,
        _ => FoldOp::Sum,
    };
    b.fold(0, fold, total);
    b.stage(Over::Kept);
    b.load(0, total);
    match op.alg {
        Mean => b.forward(0, EltwiseAlg::Linear, 1.0 / b.count(b.all() & !kept) as f32, 0.0),
        NormLpMax | NormLpPowerPMax => b.forward(0, EltwiseAlg::Clip, eps, f32::INFINITY),
        NormLpSum | NormLpPowerPSum => b.forward(0, EltwiseAlg::Linear, 1.0, eps),
        _ => {}
    }
    if matches!(op.alg, NormLpMax | NormLpSum) {
        b.power(0, 1.0 / p);
    }
    b.result(Arg::DST)?;
    b.finish()
}
