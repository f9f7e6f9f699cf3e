//! Pooling.

mod chosen;
mod jit;
mod planes;
mod window;

use crate::kernels::pointwise::{Builder, FoldOp, Over, Pipeline, Program, Sides, Windows};
use crate::ops::reduction::folded;
use crate::ops::{fallback, passes, staged};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, Pool, PoolAlg};
use oxidnn_spec::{Arg, Blocking, DataType, Op, Problem};
use window::Pooling;

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, stages)),
    Impl::new("chosen:portable", |p, t| {
        RowPlan::resolved(p, t, |problem| match &problem.op {
            Op::Pool(op) => Ok((chosen::Chosen::new(op)?, 0)),
            _ => Err(Skip::Op("another operation than pooling")),
        })
    }),
    Impl::new("direct:jit", jit::plan),
    Impl::new("passes:jit", passes::generated),
    Impl::new("staged:jit", |p, t| staged::following(p, t, &[jit::plan])),
    Impl::new("planes:portable", plan),
    fallback::ROW,
];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Pool(op) => windows(op, problem, target),
        _ => Err(Skip::Op("another operation than pooling")),
    })
}

/// Channels of a block that are too few for vectors.
const MIN_BLOCK_CHANNELS: i64 = 8;

/// Whether every window is a whole plane.
fn is_whole(op: &Pool) -> bool {
    let single = op.dst.dims()[2..].iter().all(|n| *n == 1);
    let dense = op.kernel.iter().zip(&*op.window.dilations).all(|(kernel, dilation)| *kernel == 1 || *dilation == 0);
    op.kernel[..] == op.src.dims()[2..] && single && dense && op.window.padding_l.iter().all(|n| *n == 0)
}

/// Pooling in stages: averages of whole planes, and gradients where no window fits into the source, which are zero.
fn stages(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::Pool(op) = &problem.op else { return Err(Skip::Op("another operation than pooling")) };
    if op.prop.is_forward() || !op.dst.is_empty() {
        return averages(op, problem);
    }
    let mut b = Builder::new(problem, op.src.dims(), None)?;
    b.zero(Arg::DIFF_SRC)?;
    b.finish()
}

/// Averages and maxima of whole planes as reductions, and gradients of averages, which are equal for all elements of a plane.
fn averages(op: &Pool, problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let spatial = &op.src.dims()[2..];
    // Vectors of channels are left to strips.
    let apart = |b: &Blocking| if b.inner.is_empty() { b.strides[1] != 1 } else { b.inner.of(1) < MIN_BLOCK_CHANNELS };
    let planar = op.src.blocking().is_some_and(apart);
    let max = op.alg == PoolAlg::Max;
    if !planar || !is_whole(op) || max && (op.workspace.is_some() || op.src.dtype == DataType::S32) {
        return Err(Skip::Shape("anything but averages and maxima of whole planes"));
    }
    if max {
        return maxima(problem, op);
    }
    let count = spatial.iter().product::<i64>().max(1) as f32;
    let divide = |b: &mut Builder<'_>| match op.dst.dtype.is_integral() {
        // Only a division makes ties of integer results exact; a multiplication by the reciprocal does not.
        true => {
            b.copy(1, 0);
            b.forward(1, EltwiseAlg::Clip, count, count);
            b.both(0, BinaryAlg::Div);
        }
        false => b.forward(0, EltwiseAlg::Linear, 1.0 / count, 0.0),
    };
    if !op.prop.is_forward() {
        let mut b = Builder::elementwise(problem, Arg::DIFF_SRC)?;
        b.load_argument(0, Arg::DIFF_DST)?;
        divide(&mut b);
        b.result(Arg::DIFF_SRC)?;
        return b.finish();
    }
    folded(Builder::new(problem, op.src.dims(), None)?, [Arg::SRC, Arg::DST], (0b11, FoldOp::Sum), [&|_| {}, &divide])
}

/// The largest element of each plane, NaN where there is nothing else: then the smallest number, the neutral element of minima, is larger.
fn maxima(problem: &Problem, op: &Pool) -> Result<(Pipeline, usize), Skip> {
    let mut b = Builder::new(problem, op.src.dims(), None)?;
    b.group(0b11);
    let (src, largest, smallest) = (b.argument(Arg::SRC)?, b.table(0b11)?, b.table(0b11)?);
    let (largest, smallest) = (b.bind(&largest)?, b.bind(&smallest)?);
    b.stage(Over::All);
    b.load(0, src);
    b.fold(0, FoldOp::Max, largest);
    b.fold(0, FoldOp::Min, smallest);
    b.stage(Over::Kept);
    b.load(0, largest);
    b.load(1, largest);
    b.load(2, smallest);
    b.both(1, BinaryAlg::Ge);
    b.forward(1, EltwiseAlg::Linear, 1.0, -1.0);
    b.forward(1, EltwiseAlg::Sqrt, 0.0, 0.0);
    b.both(0, BinaryAlg::Add);
    b.result(Arg::DST)?;
    b.finish()
}

fn windows(op: &Pool, problem: &Problem, target: &CpuTarget) -> Result<(Windows<Pooling>, usize), Skip> {
    let (forward, workspace) = (op.prop.is_forward(), op.workspace.is_some());
    let (result, dims) = if forward { (Arg::DST, op.dst.dims()) } else { (Arg::DIFF_SRC, op.src.dims()) };
    let inputs: &[Arg] = match (forward, workspace) {
        (true, _) => &[Arg::SRC],
        (false, true) => &[Arg::DIFF_DST, Arg::WORKSPACE],
        (false, false) => &[Arg::DIFF_DST],
    };
    let second = (forward && workspace).then_some(Arg::WORKSPACE);
    // Backward averages first divide the gradients, in the extra scratch.
    let extra = if forward { 0 } else { op.dst.dims()[2..].iter().product() };
    Windows::new(
        Builder::new(problem, dims, None)?,
        result,
        0b11,
        Pooling::new(op),
        Sides { inputs, second, extra, workers: target.threads, jit: target.jit },
    )
}
