//! Parametric ReLU.

use crate::kernels::pointwise::{Builder, FoldOp, IN_ALL, Over, Pipeline, Program, summed_rows};
use crate::ops::{fallback, support};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, Prelu};
use oxidnn_spec::{Arg, Attr, Op, Problem, Tensor};

/// Elements of a row from which on rows accumulate the gradient of the weights.
const MIN_ROW_ELEMENTS: i64 = 80;
/// Cost of an element, relative to moving one.
const ELEMENT_COST: i64 = 2;

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("rows:jit", |p, t| Program::plan(p, t, by_row)),
    Impl::new("chunks:jit", |p, t| Program::plan_in_stages(p, t, pipeline)),
    Impl::new("chunks:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    match &problem.op {
        Op::Prelu(op) if op.prop.is_forward() => forward(problem),
        Op::Prelu(op) => backward(with_padding(op, problem).as_ref().unwrap_or(problem)),
        _ => Err(Skip::Op("another operation than prelu")),
    }
}

/// A backward pass with padding as elements: weights and gradients are zero there, as sources are. `None` if there is no padding, or if a tensor is
/// padded otherwise or has another size.
fn with_padding(op: &Prelu, problem: &Problem) -> Option<Problem> {
    if !(Attr { scratchpad: Default::default(), ..problem.attr.clone() }).is_default() || op.src.is_empty() {
        return None;
    }
    let (dims, padded) = (*op.src.dims(), op.src.blocking()?.padded_dims);
    let whole = |t: &Tensor| {
        let layout = support::with_padding(t)?;
        let like = |d: usize| t.dims()[d] == dims[d] && layout.dims[d] == padded[d];
        let alike = (0..dims.len()).all(|d| like(d) || dims[d] == padded[d] && layout.dims[d] == t.dims()[d]);
        alike.then_some(Tensor { dtype: t.dtype, layout })
    };
    let some = |t: &Option<Tensor>| t.as_ref().and_then(whole).map(Some);
    let [diff_src, diff_dst, diff_weights] = [some(&op.diff_src)?, some(&op.diff_dst)?, some(&op.diff_weights)?];
    let all = Prelu { src: whole(&op.src)?, weights: whole(&op.weights)?, diff_src, diff_dst, diff_weights, ..op.clone() };
    if dims == padded { None } else { Problem::new(all, problem.attr.clone()).ok() }
}

fn forward(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    b.load_argument(0, Arg::SRC)?;
    b.load_argument(1, Arg::WEIGHTS)?;
    b.prelu();
    b.result(Arg::DST)?;
    b.keep_zeros();
    b.finish()
}

/// Both gradients in one pass. That of the weights, `sum(dd min(s, 0))` over the dimensions of their broadcast, is computed before that of
/// the source is written, which may overlap `src` or `diff_dst`.
fn backward(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::Prelu(op) = &problem.op else { return Err(Skip::Op("another operation than prelu")) };
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
        // The traversal follows its memory, not that of the broadcast weights.
        b.argument(Arg::DIFF_SRC)?;
        b
    };
    term(&mut b)?;
    b.copy(3, 2);
    gradient(&mut b)?;
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

/// `r[0]` becomes the gradient of the result, `r[2]` the element's term of the weights' gradient.
fn term(b: &mut Builder<'_>) -> Result<(), Skip> {
    b.load_argument(0, Arg::DIFF_DST)?;
    b.load_argument(2, Arg::SRC)?;
    b.forward(2, EltwiseAlg::Clip, f32::NEG_INFINITY, 0.0);
    b.copy(3, 0);
    b.both(2, BinaryAlg::Mul);
    Ok(())
}

/// The gradient of the source, from that of the result in `r[0]`; uses the following registers except the last.
fn gradient(b: &mut Builder<'_>) -> Result<(), Skip> {
    b.load_argument(1, Arg::WEIGHTS)?;
    b.copy(2, 0);
    b.both(1, BinaryAlg::Mul);
    b.load_argument(2, Arg::SRC)?;
    b.forward(2, EltwiseAlg::Relu, 0.0, 0.0);
    b.both(0, BinaryAlg::Select);
    b.result(Arg::DIFF_SRC)
}

/// The same if rows have the weights' dimensions: they accumulate the gradient of the weights.
fn by_row(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::Prelu(op) = &problem.op else { return Err(Skip::Op("another operation than prelu")) };
    let (dims, weights) = (op.src.dims(), op.weights.dims());
    let reduced = (0..dims.len()).filter(|&d| weights[d] == dims[d] && dims[d] > 1).map(|d| 1 << d).sum::<u32>();
    let mut b = Builder::new(problem, dims, None)?;
    let (row, kept) = (b.count(reduced), b.all() & !reduced);
    if op.prop.is_forward() || weights == dims || row < MIN_ROW_ELEMENTS || b.count(kept) == 0 {
        return Err(Skip::Shape("forward, or rows of few elements"));
    }
    b.group(kept);
    b.stage(Over::All);
    b.argument(Arg::DIFF_SRC)?;
    let sums = b.sums(summed_rows(b.count(kept), row, ELEMENT_COST))?;
    term(&mut b)?;
    b.add_up(2, &sums);
    gradient(&mut b)?;
    for total in b.total(&[&sums])? {
        b.load(0, total);
        let weights = b.argument_by(Arg::DIFF_WEIGHTS, IN_ALL)?;
        b.store(0, weights);
    }
    b.finish()
}
