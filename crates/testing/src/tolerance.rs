//! How far a result may be from the truth: the one place that says so.
//!
//! With `u(T) = epsilon(T) / 2` the unit roundoff of a type, a result of destination type `D` computed by `f32` sums of `n` terms may differ from
//! the exact value `x` by
//!
//! `u(D) * |x|  +  epsilon(f32) * (8 + 2 * sqrt(n)) * scale`,
//!
//! where `scale` is the largest magnitude in the tensor: rounding to the destination, and the accumulated rounding of `n` additions whose errors behave
//! like a random walk (Higham, *Accuracy and Stability of Numerical Algorithms*, section 2.8), relative to the size of the terms
//! (where sums cancel by design, the size of their terms is taken from the inputs). Intermediate
//! roundings to a narrower type (bf16 states of a recurrent network, `fpmath` modes) take that type's epsilon for f32's.
//! Convolutions by Winograd's algorithm add [`WINOGRAD`] of the size of the sums.
//! Functions computed by polynomials (exp, erf...) add `FUNCTION` relative, and absolute where they cancel (gelu_erf far below zero). Integer destinations are exact when nothing inexact precedes
//! the rounding, else a value on the other side of a tie is one off.

use crate::host::{HostArgs, HostTensor};
use oxidnn_spec::op::{ConvAlg, EltwiseAlg, PoolAlg, ReductionAlg};
use oxidnn_spec::{Arg, DataType, FpMathMode, Op, PostOp, Problem};

/// Relative error granted to approximations of elementary functions, as the specification's own tests grant.
pub const FUNCTION: f64 = 4e-6;

/// Error granted to Winograd's algorithm relative to the size of the sums, as the specification's own tests grant; the problem says whether it
/// is used, resolved or as it was asked for.
pub const WINOGRAD: f64 = 2e-5;

/// A bound on `|got - want|`: `relative * |want| + absolute`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Factor of the value itself.
    pub relative: f64,
    /// Offset.
    pub absolute: f64,
    /// Up to one result in fifty may be wholly different: a function with a jump or an infinite slope follows inexact arithmetic.
    pub singular: bool,
}

impl Tolerance {
    /// True when `got` is close enough to `want`.
    pub fn accepts(&self, got: f64, want: f64) -> bool {
        got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= self.relative * want.abs() + self.absolute
    }
}

/// What the arithmetic of a problem is like.
struct Arithmetic {
    /// Terms of the longest sum.
    terms: i64,
    /// Epsilon of the narrowest intermediate type.
    epsilon: f64,
    /// Elementary functions computed in a row.
    functions: u32,
}

/// The tolerance of output `arg` of `problem`, whose true values are `want` for these `inputs`.
pub fn of(problem: &Problem, arg: Arg, dtype: DataType, want: &[f64], inputs: &HostArgs) -> Tolerance {
    let a = arithmetic(problem, arg);
    let scale = largest(want).max(terms_scale(problem, arg, inputs));
    let growth = 8.0 + 2.0 * (a.terms as f64).sqrt();
    let winograd = sums_by_winograd(problem, a.terms, inputs).map_or(0.0, |sums| WINOGRAD * sums.max(scale));
    let functions = f64::from(a.functions) * FUNCTION;
    let inexact = a.functions > 0 || inexact_attributes(problem) || !is_exact_op(&problem.op);
    let rounding = if dtype.is_integral() { if inexact { 1.0 } else { 0.0 } } else { 0.0 };
    let destination = if dtype.is_integral() { 0.0 } else { dtype.epsilon() / 2.0 };
    // Where an f32 result next to a tie is rounded to a narrower type, it may land one step away.
    let step = if inexact && !dtype.is_integral() && dtype.digits() < 24 { dtype.epsilon() / 2.0 } else { 0.0 };
    Tolerance {
        relative: destination + step + functions,
        absolute: rounding + (a.epsilon * growth + functions) * scale + winograd + cancelled(problem) + smallest(dtype),
        singular: inexact && problem.attr.post_ops.iter().any(is_singular),
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().filter(|v| v.is_finite()).fold(0f64, |m, v| m.max(v.abs()))
}

/// Magnitude of the terms of a sum that cancels by design: the data gradient of a normalisation is
/// `scale / sqrt(variance + epsilon) * (diff_dst - mean(diff_dst) - x * mean(x * diff_dst))`, often far smaller than its first term.
fn terms_scale(problem: &Problem, arg: Arg, inputs: &HostArgs) -> f64 {
    let epsilon = match &problem.op {
        Op::BatchNorm(n) => n.epsilon,
        Op::LayerNorm(n) => n.epsilon,
        Op::GroupNorm(n) => n.epsilon,
        _ => return 0.0,
    };
    let values = |arg| inputs.get(arg).map(HostTensor::values);
    match (arg, values(Arg::DIFF_DST), values(Arg::VARIANCE)) {
        (Arg::DIFF_SRC, Some(diff), Some(variance)) => {
            let scale = values(Arg::SCALE).map_or(1.0, |s| largest(&s));
            let smallest = variance.iter().fold(f64::INFINITY, |m, v| m.min(*v));
            largest(&diff) * scale / (smallest + f64::from(epsilon.get())).sqrt()
        }
        _ => 0.0,
    }
}

/// Magnitude of the sums of `terms` products before what follows them, where Winograd's algorithm computes them.
fn sums_by_winograd(problem: &Problem, terms: i64, inputs: &HostArgs) -> Option<f64> {
    match &problem.op {
        Op::Conv(c) if c.alg == ConvAlg::Winograd => {}
        _ => return None,
    }
    let factors = [Arg::SRC, Arg::DIFF_DST, Arg::WEIGHTS].into_iter().flat_map(|arg| [arg, Arg::scale(arg)]);
    let largest = factors.filter_map(|arg| inputs.get(arg)).map(|t| largest(&t.values()));
    Some(largest.product::<f64>() * (terms as f64).sqrt())
}

/// The spacing of a type's subnormal numbers, half of which rounding may cost.
fn smallest(dtype: DataType) -> f64 {
    match dtype {
        DataType::F16 => 2f64.powi(-24),
        DataType::F8E4m3 => 2f64.powi(-9),
        DataType::F8E5m2 => 2f64.powi(-16),
        DataType::F4E2m1 => 0.5,
        DataType::F4E3m0 => 0.25,
        _ => 2f64.powi(-126),
    }
}

/// Functions with a jump or an infinite slope somewhere: next to it, rounding before decides the result.
fn is_singular(p: &PostOp) -> bool {
    use oxidnn_spec::op::BinaryAlg::{Eq, Ge, Gt, Le, Lt, Ne};
    match p {
        PostOp::Eltwise { alg, .. } => matches!(alg, EltwiseAlg::Round | EltwiseAlg::Sqrt | EltwiseAlg::Pow | EltwiseAlg::Log),
        PostOp::Binary { alg, .. } => matches!(alg, Ge | Gt | Le | Lt | Eq | Ne),
        _ => false,
    }
}

/// The error of `s/2 (1 + erf(s/sqrt 2))` where the sum cancels: relative to `s`, not to results, all of which may be tiny. Beyond `-4 sqrt 2`
/// f32 has none.
fn cancelled(problem: &Problem) -> f64 {
    let op = matches!(&problem.op, Op::Eltwise(e) if e.alg == EltwiseAlg::GeluErf);
    let post_op = |p: &PostOp| matches!(p, PostOp::Eltwise { alg: EltwiseAlg::GeluErf, .. });
    if op || problem.attr.post_ops.iter().any(post_op) { FUNCTION } else { 0.0 }
}

/// Functions that f32 arithmetic computes exactly, or with a single rounding.
fn is_elementary(alg: EltwiseAlg) -> bool {
    use EltwiseAlg::*;
    !matches!(alg, Relu | ReluDst | Square | Abs | Linear | Clip | ClipV2 | ClipV2Dst | Round | HardSigmoid | HardSwish)
}

fn inexact_attributes(problem: &Problem) -> bool {
    let inexact = |p: &PostOp| match p {
        PostOp::Eltwise { .. } | PostOp::Depthwise { .. } => true,
        PostOp::Binary { alg, .. } => *alg == oxidnn_spec::op::BinaryAlg::Div,
        _ => false,
    };
    problem.attr.dropout.is_some() || !problem.attr.scales.is_empty() || problem.attr.post_ops.iter().any(inexact)
}

/// Operations that give exact results on the harness's small whole numbers, before attributes.
fn is_exact_op(op: &Op) -> bool {
    match op {
        Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_) => true,
        Op::Reorder(_) | Op::Concat(_) | Op::Shuffle(_) | Op::Prelu(_) => true,
        Op::Pool(p) => p.alg == PoolAlg::Max,
        Op::Reduction(r) => matches!(r.alg, ReductionAlg::Max | ReductionAlg::Min | ReductionAlg::Sum),
        Op::Binary(b) => b.alg != oxidnn_spec::op::BinaryAlg::Div,
        _ => false,
    }
}

fn volume(dims: &[i64]) -> i64 {
    dims.iter().product::<i64>().max(1)
}

fn arithmetic(problem: &Problem, arg: Arg) -> Arithmetic {
    let f32_eps = DataType::F32.epsilon();
    let mut a = Arithmetic { terms: 1, epsilon: f32_eps, functions: 0 };
    match &problem.op {
        Op::Conv(c) => a.terms = conv_terms(c.sizes(), arg),
        Op::Deconv(c) => a.terms = conv_terms(c.sizes(), arg),
        Op::InnerProduct(p) => {
            let (s, d) = (p.src.dims(), p.dst.dims());
            a.terms = match arg {
                Arg::DIFF_SRC => d[1],
                Arg::DIFF_WEIGHTS | Arg::DIFF_BIAS => d[0],
                _ => volume(&s[1..]),
            };
        }
        Op::Matmul(m) => a.terms = m.src.dims().last().copied().unwrap_or(1),
        Op::BatchNorm(n) => a.terms = volume(n.src.dims()) / n.src.dims().get(1).copied().unwrap_or(1).max(1) * 4,
        Op::LayerNorm(n) => a.terms = volume(n.src.dims()) * 4,
        Op::GroupNorm(n) => a.terms = volume(n.src.dims()) * 4,
        Op::Lrn(l) => (a.terms, a.functions) = (l.local_size * l.local_size, 2),
        Op::Pool(p) => a.terms = volume(&p.kernel),
        Op::Eltwise(e) => a.functions = 1 + u32::from(is_elementary(e.alg)),
        Op::Softmax(s) => (a.terms, a.functions) = (s.dst.dims()[s.axis], 2),
        Op::Reduction(r) => {
            a.terms = volume(r.src.dims()) / volume(r.dst.dims());
            a.functions = match r.alg {
                ReductionAlg::Max | ReductionAlg::Min | ReductionAlg::Sum | ReductionAlg::Mean => 0,
                _ => 2,
            };
        }
        Op::Resampling(r) => a.terms = if problem.op.prop().is_some_and(|p| p.is_forward()) { 8 } else { volume(r.dst.dims()) },
        Op::Prelu(p) => a.terms = volume(p.src.dims()) / volume(p.weights.dims()).max(1),
        Op::Sum(s) => a.terms = s.srcs.len() as i64,
        Op::Rnn(r) => rnn(r, &mut a),
        Op::Sdpa(s) => (a.terms, a.functions) = (s.k.dims()[2] + s.k.dims()[3], 4),
        Op::Binary(_) | Op::Shuffle(_) | Op::Concat(_) | Op::Reorder(_) => {}
    }
    for p in &problem.attr.post_ops {
        match p {
            PostOp::Eltwise { alg, .. } => a.functions += 1 + 2 * u32::from(is_elementary(*alg)),
            PostOp::Depthwise { kernel, .. } => a.terms += kernel * kernel,
            _ => {}
        }
    }
    let lowers = matches!(problem.op, Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_) | Op::Rnn(_) | Op::Sdpa(_));
    match problem.attr.fpmath.mode {
        FpMathMode::Strict => {}
        _ if !lowers => {}
        FpMathMode::F16 | FpMathMode::Tf32 => a.epsilon = a.epsilon.max(DataType::F16.epsilon()),
        FpMathMode::Bf16 | FpMathMode::Any => a.epsilon = a.epsilon.max(DataType::Bf16.epsilon()),
    }
    a
}

fn conv_terms(s: oxidnn_spec::op::ConvSizes, arg: Arg) -> i64 {
    match arg {
        Arg::DIFF_SRC => s.oc * volume(&s.k),
        Arg::DIFF_WEIGHTS | Arg::DIFF_BIAS => s.mb * volume(&s.o),
        _ => s.ic * volume(&s.k),
    }
}

/// States are rounded to the state's type at every step, and errors travel through time and layers.
fn rnn(r: &oxidnn_spec::op::Rnn, a: &mut Arithmetic) {
    let (s, w) = (r.src_layer.dims(), r.weights_layer.dims());
    let steps = s[0] * w[0];
    a.terms = (s[2] + w[4]) * steps.max(1) * 4;
    a.functions = 4;
    a.epsilon = r.dst_layer.dtype.epsilon().max(r.src_layer.dtype.epsilon().min(1.0));
    if r.src_layer.dtype.is_integral() {
        a.epsilon = DataType::F32.epsilon();
    }
}
