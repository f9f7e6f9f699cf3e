//! Parametric ReLU.

use crate::kernels::pointwise::{Builder, FoldOp, Over, Pipeline, Program};
use crate::ops::{fallback, whole};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, Prelu};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("chunks:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("chunks:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    match &problem.op {
        Op::Prelu(op) if op.prop.is_forward() => match with_padding(op, problem) {
            Some(whole) => forward(&whole),
            None => forward(problem),
        },
        Op::Prelu(op) => backward(op, problem),
        _ => Err(Skip::Op("another operation than prelu")),
    }
}

/// The problem over padding too: there weights are zeros as sources are.
fn with_padding(op: &Prelu, problem: &Problem) -> Option<Problem> {
    let [dst, src, weights] = whole::tensors(problem, [op.dst.as_ref()?, &op.src, &op.weights])?;
    Problem::new(Prelu { src, weights, dst: Some(dst), ..op.clone() }, problem.attr.clone()).ok()
}

fn forward(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    b.load_argument(0, Arg::SRC)?;
    b.load_argument(1, Arg::WEIGHTS)?;
    b.prelu();
    b.result(Arg::DST)?;
    b.finish()
}

/// Both gradients in one pass: that of the weights, `sum(dd min(s, 0))` over the dimensions that they are broadcast along, is found before that
/// of the source is written, which may lie over `src` or `diff_dst`.
fn backward(op: &Prelu, problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let (dims, weights) = (op.src.dims(), op.weights.dims());
    let kept = (0..dims.len()).filter(|&d| weights[d] == dims[d]).map(|d| 1 << d).sum();
    if dims.contains(&0) {
        let mut b = Builder::new(problem, dims, None)?;
        b.zero(Arg::DIFF_WEIGHTS)?;
        return b.finish();
    }
    let mut b = if weights == dims {
        Builder::elementwise(problem, Arg::DIFF_SRC)?
    } else {
        let mut b = Builder::new(problem, dims, None)?;
        b.group(kept);
        b.stage(Over::All);
        // Its memory leads, not that of the weights, which are broadcast.
        b.argument(Arg::DIFF_SRC)?;
        b
    };
    b.load_argument(0, Arg::DIFF_DST)?;
    b.load_argument(2, Arg::SRC)?;
    b.forward(2, EltwiseAlg::Clip, f32::NEG_INFINITY, 0.0);
    b.copy(3, 0);
    b.both(2, BinaryAlg::Mul);
    b.copy(3, 2);
    b.load_argument(1, Arg::WEIGHTS)?;
    b.copy(2, 0);
    b.both(1, BinaryAlg::Mul);
    b.load_argument(2, Arg::SRC)?;
    b.forward(2, EltwiseAlg::Relu, 0.0, 0.0);
    b.both(0, BinaryAlg::Select);
    b.result(Arg::DIFF_SRC)?;
    if weights == dims {
        b.copy(0, 3);
    } else {
        let sums = b.table(kept)?;
        let sums = b.bind(&sums)?;
        b.fold(3, FoldOp::Sum, sums);
        b.stage(Over::Kept);
        b.load(0, sums);
    }
    b.result(Arg::DIFF_WEIGHTS)?;
    b.finish()
}
