//! Softmax and its logarithm.

use crate::kernels::pointwise::{Builder, FoldOp, Over, Pipeline, Program};
use crate::ops::{fallback, support::resolved};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, Attr, Blocking, DataType, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("rows:jit", generated),
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("rows:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

/// Elements whose exponentials stay in a cache.
const MAX_CACHED_ELEMENTS: i64 = 1 << 20;
/// Lines of memory from one position to the next from which on no two share a line or its neighbours.
const APART: usize = 4;

fn generated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if matches!(&resolved(problem).op, Op::Softmax(op) if op.prop.is_forward() && passes_by(op, target)) {
        return Err(Skip::Layout("of src: more lines along the axis than L1 has".into()));
    }
    Program::plan(problem, target, |problem| match &problem.op {
        Op::Softmax(op) if op.prop.is_forward() => forward(op, problem, true),
        _ => pipeline(problem),
    })
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    match &problem.op {
        Op::Softmax(op) if op.prop.is_forward() => forward(op, problem, false),
        Op::Softmax(op) => backward(op, problem),
        _ => Err(Skip::Op("another operation than softmax")),
    }
}

/// Whether lines along the axis lie so far apart, and are so many, that one stage after the other over all rows, in the order of memory, is faster than
/// all stages down a line of rows. Only where no stage leaves numbers other than results.
fn passes_by(op: &Softmax, target: &CpuTarget) -> bool {
    let (dst, line) = (&op.dst, target.caches.line);
    let distance = |b: &Blocking| dst.dtype.bytes(b.strides[op.axis] as usize).filter(|_| b.inner.of(op.axis) == 1);
    let apart = dst.blocking().and_then(distance).is_some_and(|bytes| bytes >= APART * line);
    apart && dst.dims()[op.axis] as usize > target.caches.l1 / line && (op.alg == SoftmaxAlg::Log || dst.dtype == DataType::F32)
}

/// Folds the maximum, then the sum of exponentials, then multiplies by its reciprocal. Exponentials are stored in the destination if it is
/// `f32`, else in a row of the worker's own if all stages run on one row at a time (`by_row`), else in scratch.
fn forward(op: &Softmax, problem: &Problem, by_row: bool) -> Result<(Pipeline, usize), Skip> {
    let log = op.alg == SoftmaxAlg::Log;
    let zeros = op.alg == SoftmaxAlg::InfAsZero;
    let in_dst = op.dst.dtype == DataType::F32 && !problem.attr.reads_dst();
    // One scale for all elements, and nothing else, is a factor of the sum's reciprocal.
    let scaled = Attr { scales: Default::default(), scratchpad: Default::default(), ..problem.attr.clone() };
    let by_sum = !log && scaled.is_default() && problem.attr.scales.values().all(|scale| scale.mask == 0);
    let mut b = Builder::new(problem, op.dst.dims(), None)?;
    let kept = b.all() & !(1 << op.axis);
    b.group(kept);
    let src = b.argument(Arg::SRC)?;
    let (largest, sum) = (b.table(kept)?, b.table(kept)?);
    let (largest, sum) = (b.bind(&largest)?, b.bind(&sum)?);
    let near = b.count(b.all()) <= MAX_CACHED_ELEMENTS;
    let kept_in = match () {
        () if log => None,
        () if in_dst => Some(b.argument(Arg::DST)?),
        () if by_row => Some(b.row()?),
        () if near => {
            let all = b.table(b.all())?;
            Some(b.bind(&all)?)
        }
        () => None,
    };
    b.stage(Over::All);
    b.load(0, src);
    b.fold(0, FoldOp::Max, largest);
    if zeros {
        // A row of only -inf: with a finite maximum exponentials are 0, and so are quotients.
        b.stage(Over::Kept);
        b.load(0, largest);
        b.forward(0, EltwiseAlg::Clip, -f32::MAX, f32::INFINITY);
        b.store(0, largest);
    }
    b.stage(Over::All);
    b.load(0, src);
    b.with(0, BinaryAlg::Sub, largest);
    b.forward(0, EltwiseAlg::Exp, 0.0, 0.0);
    if let Some(exponentials) = kept_in {
        b.store(0, exponentials);
    }
    b.fold(0, FoldOp::Sum, sum);
    b.stage(Over::Kept);
    if log {
        b.load(0, sum);
        b.forward(0, EltwiseAlg::Log, 0.0, 0.0);
    } else {
        b.load(1, sum);
        if zeros {
            b.forward(1, EltwiseAlg::Clip, f32::MIN_POSITIVE, f32::INFINITY);
        }
        b.copy(0, 1);
        b.forward(0, EltwiseAlg::Clip, 1.0, 1.0);
        b.both(0, BinaryAlg::Div);
        if by_sum {
            b.scale(0, Arg::SRC)?;
            b.unscale(0, Arg::DST)?;
        }
    }
    b.store(0, sum);
    b.stage(Over::All);
    match kept_in {
        Some(exponentials) => b.load(0, exponentials),
        None => {
            b.load(0, src);
            b.with(0, BinaryAlg::Sub, largest);
        }
    }
    if kept_in.is_none() && !log {
        b.forward(0, EltwiseAlg::Exp, 0.0, 0.0);
    }
    b.with(0, if log { BinaryAlg::Sub } else { BinaryAlg::Mul }, sum);
    if by_sum {
        let dst = b.argument(Arg::DST)?;
        b.store(0, dst);
        b.pad(Arg::DST)?;
    } else {
        b.scale(0, Arg::SRC)?;
        b.result(Arg::DST)?;
    }
    b.finish()
}

/// `ds = d (dd - sum(d dd))`; of the logarithm `ds = dd - e^d sum(dd)`.
fn backward(op: &Softmax, problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let log = op.alg == SoftmaxAlg::Log;
    let mut b = Builder::new(problem, op.dst.dims(), None)?;
    let kept = b.all() & !(1 << op.axis);
    b.group(kept);
    let (dst, diff_dst) = (b.argument(Arg::DST)?, b.argument(Arg::DIFF_DST)?);
    let sum = b.table(kept)?;
    let sum = b.bind(&sum)?;
    b.stage(Over::All);
    b.load(0, diff_dst);
    if !log {
        b.with(0, BinaryAlg::Mul, dst);
    }
    b.fold(0, FoldOp::Sum, sum);
    b.stage(Over::All);
    if log {
        b.load(1, dst);
        b.forward(1, EltwiseAlg::Exp, 0.0, 0.0);
        b.with(1, BinaryAlg::Mul, sum);
        b.load(0, diff_dst);
        b.both(0, BinaryAlg::Sub);
    } else {
        b.load(0, diff_dst);
        b.with(0, BinaryAlg::Sub, sum);
        b.with(0, BinaryAlg::Mul, dst);
    }
    b.result(Arg::DIFF_SRC)?;
    b.finish()
}
