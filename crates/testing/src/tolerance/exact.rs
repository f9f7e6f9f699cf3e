//! Which results f32 arithmetic computes exactly.

use super::values;
use crate::host::HostArgs;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, PoolAlg, ReductionAlg, ResamplingAlg};
use oxidnn_spec::{Arg, DataType, Op, PostOp, Problem, Real, Use};

/// Significant bits that factors after a sum may add until f32 arithmetic, with 24, may round values next to a tie.
const SPARE_BITS: u32 = 10;

/// Significant bits of data to which others of the same range may be added exactly.
const SOURCE_BITS: u32 = 17;

/// Functions whose result f32 arithmetic does not give with one rounding.
pub(super) fn is_elementary(alg: EltwiseAlg) -> bool {
    use EltwiseAlg::*;
    !matches!(alg, Relu | ReluDst | Square | Abs | Linear | Clip | ClipV2 | ClipV2Dst | Round | HardSigmoid | HardSwish)
}

/// Post-ops with a jump or an infinite slope somewhere: next to it, rounding before decides the result.
pub(super) fn jumps(p: &PostOp) -> bool {
    use BinaryAlg::{Eq, Ge, Gt, Le, Lt, Ne};
    match p {
        PostOp::Eltwise { alg, .. } => matches!(alg, EltwiseAlg::Round | EltwiseAlg::Sqrt | EltwiseAlg::Pow | EltwiseAlg::Log),
        PostOp::Binary { alg, .. } => matches!(alg, Ge | Gt | Le | Lt | Eq | Ne),
        _ => false,
    }
}

/// The grid of which the terms of sums are multiples: sums of at most `largest` are exact in f32.
pub(super) struct Grid {
    /// The largest sum; infinite where results are some of the inputs.
    largest: f64,
}

impl Grid {
    /// Whether a sum is exact.
    pub(super) fn holds(&self, sum: f64) -> bool {
        sum.abs() <= self.largest || !sum.is_finite()
    }
}

/// Numbers of f32 from 0 on.
const SINGLES: f64 = 16_777_216.0;

/// The grid of the sums of output `arg`, which are expected to be as large as `size`; `None` if something is rounded on the way to them.
pub(super) fn grid(problem: &Problem, arg: Arg, inputs: &HostArgs, size: f64) -> Option<Grid> {
    let of = |arg| values(inputs, arg);
    let powers = |arg| of(Arg::scale(arg)).is_none_or(|v| v.iter().all(|v| bits_of(*v) <= 1));
    let dynamic = problem.attr.scales.iter().any(|(of, q)| *of != Arg::DST && q.mode != oxidnn_spec::QuantMode::Static);
    let scaled = [Arg::SRC, Arg::WEIGHTS, Arg::SRC_1].into_iter().all(powers);
    if !is_exact_op(problem, inputs) || !scaled || dynamic || problem.attr.depthwise_index().is_some() {
        return None;
    }
    let factor = |arg: Arg| -> Option<f64> {
        let shifts = of(Arg::zero_point(arg)).unwrap_or_default();
        let step = step(&of(arg)?).min(step(&shifts));
        let scale = of(Arg::scale(arg)).map_or(1.0, |s| self::step(&s));
        (step * scale).is_finite().then_some(step * scale)
    };
    let sums = match &problem.op {
        Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_) => {
            let factors = [Arg::SRC, Arg::WEIGHTS, Arg::DIFF_DST].into_iter().filter(|a| arg != Arg::DIFF_BIAS || *a == Arg::DIFF_DST);
            factors.filter_map(factor).product::<f64>()
        }
        Op::Reduction(r) if r.alg == ReductionAlg::Sum => factor(Arg::SRC).unwrap_or(1.0),
        _ => return Some(Grid { largest: f64::INFINITY }),
    };
    let added = of(Arg::BIAS).unwrap_or_default();
    let largest = sums.min(step(&added)) * SINGLES - super::largest(&added);
    // Few sums, and sums of some of their terms, are more than four times as large as is to be expected.
    (is_integer(problem) || 4.0 * size <= largest).then_some(Grid { largest })
}

/// Whether sums are of products of whole numbers, in whole numbers.
pub(super) fn is_integer(problem: &Problem) -> bool {
    let product = matches!(problem.op, Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_));
    let factor =
        |o: &&oxidnn_spec::Operand<oxidnn_spec::Tensor>| matches!(o.arg, Arg::SRC | Arg::WEIGHTS | Arg::DIFF_DST) && o.usage == Use::In;
    let rank = problem.op.tensor(Arg::SRC).map_or(0, |t| t.dims().len());
    let inside = |(of, q): (&Arg, &oxidnn_spec::Quant)| {
        let depth = if *of == Arg::SRC { 1 } else { 2 };
        *of != Arg::DST && (!q.groups.is_empty() || matches!(problem.op, Op::Matmul(_)) && q.mask >> rank.saturating_sub(depth) & 1 == 1)
    };
    let strict = problem.attr.fpmath.mode == oxidnn_spec::FpMathMode::Strict;
    let integers = problem.operands().iter().filter(factor).all(|o| o.tensor.dtype.is_integral());
    product && strict && integers && problem.attr.depthwise_index().is_none() && !problem.attr.scales.iter().any(inside)
}

/// The largest bias.
pub(super) fn bias(inputs: &HostArgs) -> f64 {
    values(inputs, Arg::BIAS).map_or(0.0, |b| super::largest(&b))
}

/// The largest power of two that all `values` are multiples of; infinite without any but 0.
fn step(values: &[f64]) -> f64 {
    let low = |v: &f64| 2f64.powi(((v.to_bits() >> 52) & 0x7ff) as i32 - 1022 - bits_of(*v) as i32);
    values.iter().filter(|v| v.is_normal()).map(low).fold(f64::INFINITY, f64::min)
}

/// Whether f32 arithmetic computes all results of `problem` exactly, up to the rounding to the destination's type.
pub fn is_exact(problem: &Problem, inputs: &HostArgs) -> bool {
    let sources = [Arg::SRC, Arg::SRC_1].into_iter().chain((0..8).map(Arg::multiple_src));
    let short = |arg| values(inputs, arg).is_none_or(|v| span(&v) <= SOURCE_BITS);
    let adds = problem.attr.post_ops.iter().any(|p| !matches!(p, PostOp::Eltwise { .. }));
    is_exact_op(problem, inputs)
        && (!adds || sources.into_iter().all(short))
        && attributes_bits(problem, inputs).is_some_and(|bits| bits <= SPARE_BITS)
}

/// Operations that f32 arithmetic computes exactly on these inputs, before attributes.
fn is_exact_op(problem: &Problem, inputs: &HostArgs) -> bool {
    let short = |arg| values(inputs, arg).is_none_or(|v| span(&v) <= SPARE_BITS);
    let forward = problem.op.prop().is_none_or(|p| p.is_forward());
    match &problem.op {
        _ if super::is_winograd(problem) => false,
        Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_) => {
            let strict = problem.attr.fpmath.mode == oxidnn_spec::FpMathMode::Strict;
            strict && [Arg::SRC, Arg::WEIGHTS, Arg::DIFF_DST, Arg::BIAS].into_iter().all(short)
        }
        Op::Reorder(_) | Op::Concat(_) | Op::Shuffle(_) => true,
        Op::Prelu(_) => forward && short(Arg::SRC) && short(Arg::WEIGHTS),
        Op::Pool(p) => forward && p.alg == PoolAlg::Max,
        Op::Resampling(r) => forward && r.alg == ResamplingAlg::Nearest,
        Op::Reduction(r) => match r.alg {
            ReductionAlg::Max | ReductionAlg::Min => true,
            ReductionAlg::Sum => short(Arg::SRC),
            _ => false,
        },
        Op::Eltwise(e) => {
            let copies = matches!(e.alg, EltwiseAlg::Abs | EltwiseAlg::Round | EltwiseAlg::Clip | EltwiseAlg::ClipV2) && forward;
            copies
                || !is_elementary(e.alg)
                    && function_bits(e.alg, e.alpha, e.beta).is_some_and(|b| b == 0 || b <= SPARE_BITS && short(Arg::SRC))
        }
        Op::Binary(b) => match b.alg {
            BinaryAlg::Div => values(inputs, Arg::SRC_1).is_some_and(|v| v.iter().all(|v| bits_of(*v) <= 1)),
            BinaryAlg::Add | BinaryAlg::Sub | BinaryAlg::Mul => short(Arg::SRC) && short(Arg::SRC_1),
            _ => true,
        },
        Op::Sum(s) => {
            s.scales.iter().all(|v| bits_of(f64::from(v.get())) <= SPARE_BITS) && (0..s.srcs.len()).all(|i| short(Arg::multiple_src(i)))
        }
        _ => false,
    }
}

/// The significant bits that the attributes' factors add to a result; `None` where they compute something that f32 arithmetic rounds.
fn attributes_bits(problem: &Problem, inputs: &HostArgs) -> Option<u32> {
    let bits_of_arg = |arg| values(inputs, arg).map_or(0, |v| span(&v));
    let is_power = |arg: Arg| values(inputs, arg).is_none_or(|v| v.iter().all(|v| bits_of(*v) <= 1));
    let by_kernel = problem.operands().into_iter().filter(|o| o.usage == Use::In).map(|o| o.arg);
    let scales: Vec<Arg> = by_kernel.filter(|a| problem.attr.scales.keys().any(|of| Arg::scale(*of) == *a)).collect();
    let dynamic = problem.attr.scales.values().any(|q| q.mode != oxidnn_spec::QuantMode::Static);
    if dynamic || !scales.into_iter().all(is_power) || !dropout_is_exact(problem, inputs) || !problem.attr.rounding.is_empty() {
        return None;
    }
    let mut bits = 0;
    for (i, p) in problem.attr.post_ops.iter().enumerate() {
        let operand = || bits_of_arg(Arg::post_op(i, Arg::SRC_1));
        bits += match p {
            PostOp::Sum { scale, dtype, .. } => {
                bits_of(f64::from(scale.get())) - 1 + if dtype.is_some_and(DataType::is_integral) { 0 } else { 2 }
            }
            PostOp::Eltwise { alg, alpha, beta } => function_bits(*alg, *alpha, *beta)?,
            PostOp::Binary { alg: BinaryAlg::Div, .. } if !is_power(Arg::post_op(i, Arg::SRC_1)) => return None,
            PostOp::Binary { alg: BinaryAlg::Div, .. } => 0,
            PostOp::Binary { alg: BinaryAlg::Mul, .. } => operand(),
            PostOp::Binary { .. } if operand() > SPARE_BITS => return None,
            PostOp::Binary { .. } => 1,
            PostOp::Prelu { .. } => bits_of_arg(Arg::post_op(i, Arg::WEIGHTS)),
            PostOp::Depthwise { .. } => return None,
        };
    }
    Some(bits)
}

fn dropout_is_exact(problem: &Problem, inputs: &HostArgs) -> bool {
    let keeps = || values(inputs, Arg::DROPOUT_PROBABILITY).is_some_and(|p| p.iter().all(|p| bits_of(1.0 - p) <= 1));
    problem.attr.dropout.is_none() || keeps()
}

/// The significant bits that a function adds to its argument's; `None` where f32 arithmetic rounds it.
fn function_bits(alg: EltwiseAlg, alpha: Real, beta: Real) -> Option<u32> {
    use EltwiseAlg::*;
    let [a, b] = [alpha, beta].map(|v| bits_of(f64::from(v.get())));
    match alg {
        Relu | ReluDst if alpha.get() == 0.0 => Some(0),
        Relu | ReluDst => Some(a),
        Abs | Round => Some(0),
        Clip | ClipV2 | ClipV2Dst => Some(0),
        Linear | HardSigmoid => Some(a.max(1) - 1 + b),
        _ => None,
    }
}

/// The bits from the highest of the largest of `values` to the lowest that any of them has set: those of sums of few of them. NaN and
/// infinities are left alone.
pub(super) fn span(values: &[f64]) -> u32 {
    let mut range: Option<(i32, i32)> = None;
    for v in values.iter().filter(|v| v.is_finite() && **v != 0.0) {
        let high = ((v.to_bits() >> 52) & 0x7ff) as i32;
        let low = high + 1 - bits_of(*v) as i32;
        range = Some(range.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
    }
    range.map_or(0, |(low, high)| (high - low + 1) as u32)
}

/// Bits from the first to the last of a number that are set; 0 for 0, and none of a NaN or an infinity.
fn bits_of(v: f64) -> u32 {
    let fraction = v.to_bits() & ((1 << 52) - 1);
    if v == 0.0 || !v.is_finite() { 0 } else { 53 - (fraction | 1 << 52).trailing_zeros() }
}
