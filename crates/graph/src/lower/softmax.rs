//! Softmax and reductions.

use super::{Lowering, Value};
use crate::infer::{axis, channel, reduced};
use crate::{AttrId, Error, OpKind};
use oxidnn_spec::op::{Binary, BinaryAlg, Eltwise, EltwiseAlg, Prop, Reduction, ReductionAlg, Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, Attr, DataType, Dims, PostOp, Real, Tensor};

fn algorithm(l: &Lowering<'_>) -> SoftmaxAlg {
    match l.op.kind {
        OpKind::LogSoftmax | OpKind::LogSoftmaxBackward => SoftmaxAlg::Log,
        _ if l.op.text(AttrId::Mode) == "inf_as_zero" => SoftmaxAlg::InfAsZero,
        _ => SoftmaxAlg::Accurate,
    }
}

/// Whether the softmax of a row that is all -inf is zeros, with 0 as its statistics.
pub(super) fn counts_nothing(l: &Lowering<'_>) -> bool {
    algorithm(l) == SoftmaxAlg::InfAsZero
}

/// Puts 0 in the place of the logarithms of nothing among `statistics`.
pub(super) fn finite(l: &mut Lowering<'_>, statistics: &Value) -> Result<(), Error> {
    let tensor = Tensor::plain(*statistics.dims(), DataType::F32)?;
    let lowest = l.numbers(Tensor::plain(Dims::filled(tensor.dims().len(), 1), DataType::F32)?, |_| f64::from(f32::MIN))?;
    let (counts, number) = (l.temporary(tensor.clone(), false), l.temporary(tensor, false));
    combine(l, BinaryAlg::Gt, [statistics, &lowest], &counts, Vec::new())?;
    combine(l, BinaryAlg::Max, [statistics, &lowest], &number, Vec::new())?;
    combine(l, BinaryAlg::Mul, [&number, &counts], statistics, Vec::new())
}

pub(super) fn forward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    let axis = axis(l.op.s64(AttrId::Axis), src.dims().len())?;
    if l.op.outputs.len() > 1 {
        // Before the destination is written, which may be in the source's place.
        statistics(l, &src, axis)?;
    }
    let problem = Softmax {
        prop: Prop::ForwardInference,
        alg: algorithm(l),
        src: Some(src.tensor.clone()),
        dst: dst.tensor.clone(),
        diff_src: None,
        diff_dst: None,
        axis,
    };
    l.main(problem, &[(Arg::SRC, &src), (Arg::DST, &dst)])
}

pub(super) fn backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (diff_dst, dst, diff_src) = (l.input(0)?, l.input(1)?, l.output(0)?);
    let problem = Softmax {
        prop: Prop::BackwardData,
        alg: algorithm(l),
        src: None,
        dst: dst.tensor.clone(),
        diff_src: Some(diff_src.tensor.clone()),
        diff_dst: Some(diff_dst.tensor.clone()),
        axis: axis(l.op.s64(AttrId::Axis), dst.dims().len())?,
    };
    l.step(problem, &[(Arg::DST, &dst), (Arg::DIFF_DST, &diff_dst), (Arg::DIFF_SRC, &diff_src)])
}

fn eltwise(alg: EltwiseAlg, [alpha, beta]: [f32; 2]) -> PostOp {
    PostOp::Eltwise { alg, alpha: Real::new(alpha), beta: Real::new(beta) }
}

/// `log(sum(exp(x)))` of each row, as `max + log(sum(exp(x - max)))`. For a row that is all -inf, whose softmax is 0 in this mode, it is 0.
fn statistics(l: &mut Lowering<'_>, src: &Value, axis: usize) -> Result<(), Error> {
    let out = l.output(1)?;
    let dims = *src.dims();
    let single = Dims::from_fn(dims.len(), |d| if d == axis { 1 } else { dims[d] });
    let row = Tensor::plain(single, DataType::F32)?;
    let max = l.temporary(row.clone(), false);
    // A maximum below every number counts as the lowest one: no difference is NaN then.
    let floor = eltwise(EltwiseAlg::ClipV2, [f32::MIN, f32::INFINITY]);
    along(l, ReductionAlg::Max, src, &max, floor.clone())?;
    let shifted = l.temporary(Tensor { dtype: DataType::F32, layout: src.tensor.layout.resized(dims) }, false);
    combine(l, BinaryAlg::Sub, [src, &max], &shifted, vec![eltwise(EltwiseAlg::Exp, [0.0; 2])])?;
    let sum = l.temporary(row.clone(), false);
    along(l, ReductionAlg::Sum, &shifted, &sum, eltwise(EltwiseAlg::Log, [0.0; 2]))?;
    if algorithm(l) != SoftmaxAlg::InfAsZero {
        return combine(l, BinaryAlg::Add, [&sum, &max], &out, Vec::new());
    }
    let lowest = l.numbers(Tensor::plain(Dims::filled(dims.len(), 1), DataType::F32)?, |_| f64::from(f32::MIN))?;
    let (finite, total) = (l.temporary(row.clone(), false), l.temporary(row, false));
    combine(l, BinaryAlg::Gt, [&max, &lowest], &finite, Vec::new())?;
    combine(l, BinaryAlg::Add, [&sum, &max], &total, vec![floor])?;
    combine(l, BinaryAlg::Mul, [&total, &finite], &out, Vec::new())
}

/// `dst = alg(a, b)` and the links after it.
fn combine(l: &mut Lowering<'_>, alg: BinaryAlg, [a, b]: [&Value; 2], dst: &Value, post_ops: Vec<PostOp>) -> Result<(), Error> {
    let attr = Attr { post_ops, ..l.attr.clone() };
    let problem = Binary { alg, src0: a.tensor.clone(), src1: b.tensor.clone(), src2: None, dst: dst.tensor.clone() };
    l.step_with(problem, attr, &[(Arg::SRC, a), (Arg::SRC_1, b), (Arg::DST, dst)])
}

/// A reduction and a function of its results; if it reduces only dimensions of size 1, the function of the elements.
fn along(l: &mut Lowering<'_>, alg: ReductionAlg, src: &Value, dst: &Value, then: PostOp) -> Result<(), Error> {
    if src.dims() != dst.dims() {
        return fold(l, alg, [0.0; 2], src, dst, vec![then]);
    }
    let PostOp::Eltwise { alg, alpha, beta } = then else { return l.reorder(src, dst) };
    let problem = Eltwise::forward(Prop::ForwardInference, alg, [alpha.get(), beta.get()], src.tensor.clone(), dst.tensor.clone());
    l.step(problem, &[(Arg::SRC, src), (Arg::DST, dst)])
}

/// A reduction with its parameters `p` and `eps`, and the links after it.
fn fold(l: &mut Lowering<'_>, alg: ReductionAlg, [p, eps]: [f32; 2], src: &Value, dst: &Value, post_ops: Vec<PostOp>) -> Result<(), Error> {
    let attr = Attr { post_ops, ..l.attr.clone() };
    let problem = Reduction { alg, src: src.tensor.clone(), dst: dst.tensor.clone(), p: Real::new(p), eps: Real::new(eps) };
    l.step_with(problem, attr, &[(Arg::SRC, src), (Arg::DST, dst)])
}

pub(super) fn reduce(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    let (alg, p) = match l.op.kind {
        OpKind::ReduceL1 => (ReductionAlg::NormLpPowerPSum, 1.0),
        OpKind::ReduceL2 => (ReductionAlg::NormLpSum, 2.0),
        OpKind::ReduceMax => (ReductionAlg::Max, 0.0),
        OpKind::ReduceMean => (ReductionAlg::Mean, 0.0),
        OpKind::ReduceMin => (ReductionAlg::Min, 0.0),
        OpKind::ReduceProd => (ReductionAlg::Mul, 0.0),
        _ => (ReductionAlg::Sum, 0.0),
    };
    let rank = src.dims().len();
    let reduced = reduced(l.op, rank)?;
    let single: Vec<i64> = (0..rank).map(|d| if reduced[d] { 1 } else { src.dims()[d] }).collect();
    let seen = dst.reshaped(&single)?;
    l.folded.view(|v| single_sized(v, dst.dims(), &single))?;
    if single[..] != src.dims()[..] {
        let problem = Reduction { alg, src: src.tensor.clone(), dst: seen.tensor.clone(), p: Real::new(p), eps: Real::new(0.0) };
        return l.main(problem, &[(Arg::SRC, &src), (Arg::DST, &seen)]);
    }
    if l.folded.has_operands() || !l.folded.posts.is_empty() {
        return Err(Error::Unimplemented("post-ops of a reduction of single elements".into()));
    }
    // Nothing but single elements is reduced: to themselves, or to their magnitude.
    let problem = match l.op.kind {
        OpKind::ReduceL1 | OpKind::ReduceL2 => {
            Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Abs, [0.0; 2], src.tensor.clone(), seen.tensor.clone())
        }
        _ => return l.reorder(&src, &seen),
    };
    l.step(problem, &[(Arg::SRC, &src), (Arg::DST, &seen)])
}

/// A tensor broadcast to a result of sizes `dst`, in dimensions in which the reduced ones are kept with size 1.
fn single_sized(value: &Value, dst: &Dims, single: &[i64]) -> Result<Value, Error> {
    match value.dims() {
        dims if dst[..] == *single => value.at_rank(dims.len()),
        dims if dims == dst => value.reshaped(single),
        dims if dims.volume() == Some(1) => value.reshaped(&vec![1; single.len()]),
        dims => Err(Error::shape("operand", dims, dst)),
    }
}

/// The sum over all but the channels.
pub(super) fn bias_gradient(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    let rank = src.dims().len();
    let c = channel(l.op, rank);
    let single: Vec<i64> = (0..rank).map(|d| if d == c { src.dims()[d] } else { 1 }).collect();
    let seen = dst.reshaped(&single)?;
    if single[..] == src.dims()[..] {
        return l.reorder(&src, &seen);
    }
    fold(l, ReductionAlg::Sum, [0.0; 2], &src, &seen, Vec::new())
}
