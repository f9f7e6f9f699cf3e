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
    let kept: u32 = (0..dims.len()).filter(|&d| op.dst.dims()[d] == dims[d]).map(|d| 1 << d).sum();
    let fold = match op.alg {
        Max => FoldOp::Max,
        Min => FoldOp::Min,
        Mul => FoldOp::Mul,
        _ => FoldOp::Sum,
    };
    let before = |b: &mut Builder<'_>| {
        if matches!(op.alg, NormLpMax | NormLpSum | NormLpPowerPMax | NormLpPowerPSum) {
            b.forward(0, EltwiseAlg::Abs, 0.0, 0.0);
            b.power(0, p);
        }
    };
    let after = |b: &mut Builder<'_>| {
        match op.alg {
            Mean => b.forward(0, EltwiseAlg::Linear, 1.0 / b.count(b.all() & !kept) as f32, 0.0),
            NormLpMax | NormLpPowerPMax => b.forward(0, EltwiseAlg::Clip, eps, f32::INFINITY),
            NormLpSum | NormLpPowerPSum => b.forward(0, EltwiseAlg::Linear, 1.0, eps),
            _ => {}
        }
        if matches!(op.alg, NormLpMax | NormLpSum) {
            b.power(0, 1.0 / p);
        }
    };
    folded(Builder::new(problem, dims, None)?, [Arg::SRC, Arg::DST], (kept, fold), [&before, &after])
}

/// The program that folds an argument, whose elements `before` changes, over all dimensions but those in `kept`, and stores the totals, which `after` changes,
/// to another one.
///
/// # Errors
/// As for [`Builder::result`].
pub(super) fn folded(
    mut b: Builder<'_>,
    [from, to]: [Arg; 2],
    (kept, fold): (u32, FoldOp),
    [before, after]: [&dyn Fn(&mut Builder<'_>); 2],
) -> Result<(Pipeline, usize), Skip> {
    b.group(kept);
    let (src, total) = (b.argument(from)?, b.table(kept)?);
    let total = b.bind(&total)?;
    b.stage(Over::All);
    b.load(0, src);
    before(&mut b);
    b.fold(0, fold, total);
    b.stage(Over::Kept);
    b.load(0, total);
    after(&mut b);
    b.result(to)?;
    b.finish()
}
