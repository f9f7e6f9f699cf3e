//! Functions of elements: of one tensor, of two, and their gradients.

use super::fold::{Post, dropped};
use super::{Lowering, Value};
use crate::{AttrId, Error, Op, OpKind};
use oxidnn_spec::op::{Binary, BinaryAlg, Diff, Eltwise, EltwiseAlg, Prelu, Prop};
use oxidnn_spec::{Arg, DataType};

/// Parameters of a function.
type Parameters = fn(&Op) -> [f32; 2];

const NONE: Parameters = |_| [0.0; 2];
const ALPHA: Parameters = |op| [op.f32(AttrId::Alpha), 0.0];
const ALPHA_BETA: Parameters = |op| [op.f32(AttrId::Alpha), op.f32(AttrId::Beta)];
const BOUNDS: Parameters = |op| [op.f32(AttrId::Min), op.f32(AttrId::Max)];
const POWER: Parameters = |op| [1.0, op.f32(AttrId::Beta)];
const INVERSE: Parameters = |_| [1.0, -1.0];
/// The factor of a soft ReLU, which `beta` is to the graph.
const SOFT: Parameters = |op| [op.f32(AttrId::Beta), 0.0];
/// `x * clamp(x / 6 + 1 / 2)`.
const HARD_SWISH: Parameters = |_| [1.0 / 6.0, 0.5];

/// Functions, and their gradients by the source, with their parameters.
const FUNCTIONS: [(OpKind, Option<OpKind>, EltwiseAlg, Parameters); 19] = [
    (OpKind::Abs, Some(OpKind::AbsBackward), EltwiseAlg::Abs, NONE),
    (OpKind::Clamp, Some(OpKind::ClampBackward), EltwiseAlg::ClipV2, BOUNDS),
    (OpKind::Elu, Some(OpKind::EluBackward), EltwiseAlg::Elu, ALPHA),
    (OpKind::Exp, None, EltwiseAlg::Exp, NONE),
    (OpKind::Gelu, Some(OpKind::GeluBackward), EltwiseAlg::GeluErf, NONE),
    (OpKind::HardSigmoid, Some(OpKind::HardSigmoidBackward), EltwiseAlg::HardSigmoid, ALPHA_BETA),
    (OpKind::HardSwish, Some(OpKind::HardSwishBackward), EltwiseAlg::HardSwish, HARD_SWISH),
    (OpKind::LeakyRelu, None, EltwiseAlg::Relu, ALPHA),
    (OpKind::Log, None, EltwiseAlg::Log, NONE),
    (OpKind::Mish, Some(OpKind::MishBackward), EltwiseAlg::Mish, NONE),
    (OpKind::Pow, None, EltwiseAlg::Pow, POWER),
    (OpKind::Reciprocal, None, EltwiseAlg::Pow, INVERSE),
    (OpKind::Relu, Some(OpKind::ReluBackward), EltwiseAlg::Relu, NONE),
    (OpKind::Round, None, EltwiseAlg::Round, NONE),
    (OpKind::Sigmoid, Some(OpKind::SigmoidBackward), EltwiseAlg::Logistic, NONE),
    (OpKind::SoftPlus, Some(OpKind::SoftPlusBackward), EltwiseAlg::SoftRelu, SOFT),
    (OpKind::Sqrt, Some(OpKind::SqrtBackward), EltwiseAlg::Sqrt, NONE),
    (OpKind::Square, None, EltwiseAlg::Square, NONE),
    (OpKind::Tanh, Some(OpKind::TanhBackward), EltwiseAlg::Tanh, NONE),
];

/// The gradient that takes the destination instead of the source.
fn by_destination(alg: EltwiseAlg) -> EltwiseAlg {
    match alg {
        EltwiseAlg::ClipV2 => EltwiseAlg::ClipV2Dst,
        EltwiseAlg::Elu => EltwiseAlg::EluDst,
        EltwiseAlg::Logistic => EltwiseAlg::LogisticDst,
        EltwiseAlg::Relu => EltwiseAlg::ReluDst,
        EltwiseAlg::Sqrt => EltwiseAlg::SqrtDst,
        EltwiseAlg::Tanh => EltwiseAlg::TanhDst,
        other => other,
    }
}

/// Whether operations of the kind are functions of one element.
pub(super) fn is_function(kind: OpKind) -> bool {
    FUNCTIONS.iter().any(|f| f.0 == kind)
}

/// The function of elements that an operation, or the gradient that it is, has.
pub(super) fn function(op: &Op) -> Result<(EltwiseAlg, [f32; 2]), Error> {
    let row = FUNCTIONS.iter().find(|f| f.0 == op.kind || f.1 == Some(op.kind));
    let &(.., alg, parameters) = row.ok_or_else(|| Error::Unimplemented(format!("{} as a function of elements", op.kind.name())))?;
    let alg = if op.text(AttrId::Mode) == "gelu_tanh" { EltwiseAlg::GeluTanh } else { alg };
    Ok((alg, parameters(op)))
}

pub(super) fn forward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (alg, parameters) = function(l.op)?;
    let (src, dst) = (l.input(0)?, l.output(0)?);
    let problem = Eltwise::forward(Prop::ForwardInference, alg, parameters, src.tensor.clone(), dst.tensor.clone());
    l.main(problem, &[(Arg::SRC, &src), (Arg::DST, &dst)])
}

pub(super) fn backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (alg, parameters) = function(l.op)?;
    let alg = if l.op.flag(AttrId::UseDst) { by_destination(alg) } else { alg };
    let (data, diff_dst, diff_src) = (l.input(0)?, l.input(1)?, l.output(0)?);
    let diff = Diff { src: diff_src.tensor.clone(), dst: diff_dst.tensor.clone() };
    let problem = Eltwise::backward(alg, parameters, data.tensor.clone(), diff);
    let arg = if alg.uses_dst() { Arg::DST } else { Arg::SRC };
    l.step(problem, &[(arg, &data), (Arg::DIFF_DST, &diff_dst), (Arg::DIFF_SRC, &diff_src)])
}

/// The function of two elements that an operation is.
pub(super) fn algorithm(kind: OpKind) -> BinaryAlg {
    match kind {
        OpKind::Add => BinaryAlg::Add,
        OpKind::Divide => BinaryAlg::Div,
        OpKind::Maximum => BinaryAlg::Max,
        OpKind::Minimum => BinaryAlg::Min,
        OpKind::Multiply => BinaryAlg::Mul,
        OpKind::GreaterEqual => BinaryAlg::Ge,
        _ => BinaryAlg::Sub,
    }
}

pub(super) fn binary(l: &mut Lowering<'_>) -> Result<(), Error> {
    let alg = algorithm(l.op.kind);
    // A binary operation does not take zero points.
    let fits = |v: &Value| v.scaled.as_ref().is_none_or(|s| s.zero.is_none() && s.common.is_some());
    let mut operands = [l.operand(0)?, l.operand(1)?];
    for (i, value) in operands.iter_mut().enumerate() {
        if !l.quantised || !fits(value) {
            *value = l.input(i)?;
        }
    }
    let dst = l.output(0)?;
    let [a, b] = operands;
    two(l, alg, &a, &b, &dst)
}

/// `dst = alg(a, b)` with sizes as broadcasting makes them equal.
fn two(l: &mut Lowering<'_>, alg: BinaryAlg, a: &Value, b: &Value, dst: &Value) -> Result<(), Error> {
    let rank = dst.dims().len();
    let (a, b) = (a.at_rank(rank)?, b.at_rank(rank)?);
    // A truth value is the byte 0 or 1.
    let dst = if dst.dtype() == DataType::Boolean { dst.typed(DataType::U8) } else { dst.clone() };
    if l.op.kind == OpKind::SquaredDifference {
        l.folded.posts.insert(0, Post::Eltwise(EltwiseAlg::Square, [0.0; 2]));
    }
    let problem = Binary { alg, src0: a.tensor.clone(), src1: b.tensor.clone(), src2: None, dst: dst.tensor.clone() };
    l.main(problem, &[(Arg::SRC, &a), (Arg::SRC_1, &b), (Arg::DST, &dst)])
}

/// A one-dimensional tensor as one along the channels of `data`.
fn along_channels(l: &Lowering<'_>, value: &Value, data: &Value) -> Result<Value, Error> {
    let rank = data.dims().len();
    let (channel, count) = (crate::infer::channel(l.op, rank), value.size(0)?);
    let dims: Vec<i64> = (0..rank).map(|d| if d == channel { count } else { 1 }).collect();
    value.reshaped(&dims)
}

pub(super) fn bias_add(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, bias, dst) = (l.input(0)?, l.input(1)?, l.output(0)?);
    let bias = along_channels(l, &bias, &src)?;
    two(l, BinaryAlg::Add, &src, &bias, &dst)
}

pub(super) fn select(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (condition, a, b, dst) = (l.input(0)?, l.input(1)?, l.input(2)?, l.output(0)?);
    let dims = *dst.dims();
    let condition = condition.typed(DataType::S8).spread(&dims)?;
    let (a, b) = (a.spread(&dims)?, b.at_rank(dims.len())?);
    let problem = Binary {
        alg: BinaryAlg::Select,
        src0: a.tensor.clone(),
        src1: b.tensor.clone(),
        src2: Some(condition.tensor.clone()),
        dst: dst.tensor.clone(),
    };
    l.main(problem, &[(Arg::SRC, &a), (Arg::SRC_1, &b), (Arg::SRC_2, &condition), (Arg::DST, &dst)])
}

/// The slope as the data's broadcast operand: along the channels where it has one dimension and is meant so, else by the last dimensions.
fn slope(l: &Lowering<'_>, slope: &Value, data: &Value) -> Result<Value, Error> {
    let per_channel = l.op.flag(AttrId::PerChannelBroadcast) || l.op.kind == OpKind::PreluBackward;
    let rank = data.dims().len();
    let fits = slope.dims().len() == 1 && rank > 1 && slope.dims()[0] == data.dims()[crate::infer::channel(l.op, rank)];
    if fits && per_channel { along_channels(l, slope, data) } else { slope.at_rank(rank) }
}

pub(super) fn prelu(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, weights, dst) = (l.input(0)?, l.input(1)?, l.output(0)?);
    let weights = slope(l, &weights, &src)?;
    let problem = Prelu {
        prop: Prop::ForwardInference,
        src: src.tensor.clone(),
        weights: weights.tensor.clone(),
        dst: Some(dst.tensor.clone()),
        diff_src: None,
        diff_weights: None,
        diff_dst: None,
    };
    l.step(problem, &[(Arg::SRC, &src), (Arg::WEIGHTS, &weights), (Arg::DST, &dst)])
}

pub(super) fn prelu_backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, weights, diff_dst) = (l.input(0)?, l.input(1)?, l.input(2)?);
    let (diff_src, diff_weights) = (l.output(0)?, l.output(1)?);
    let (weights, diff_weights) = (slope(l, &weights, &src)?, slope(l, &diff_weights, &src)?);
    let problem = Prelu {
        prop: Prop::Backward,
        src: src.tensor.clone(),
        weights: weights.tensor.clone(),
        dst: None,
        diff_src: Some(diff_src.tensor.clone()),
        diff_weights: Some(diff_weights.tensor.clone()),
        diff_dst: Some(diff_dst.tensor.clone()),
    };
    let args = [
        (Arg::SRC, &src),
        (Arg::WEIGHTS, &weights),
        (Arg::DIFF_DST, &diff_dst),
        (Arg::DIFF_SRC, &diff_src),
        (Arg::DIFF_WEIGHTS, &diff_weights),
    ];
    l.step(problem, &args)
}

/// A copy with dropout. Seed, offset and probability are numbers on the host, or tensors of one element.
pub(super) fn dropout(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    l.folded.dropout = Some(dropped(l, l.op)?);
    let problem = Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Linear, [1.0, 0.0], src.tensor.clone(), dst.tensor.clone());
    l.main(problem, &[(Arg::SRC, &src), (Arg::DST, &dst)])
}
