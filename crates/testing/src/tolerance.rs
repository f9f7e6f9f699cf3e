//! How far a result may be from the truth: the one place that says so.
//!
//! With `u(T) = epsilon(T) / 2` the unit roundoff of a type, a result of destination type `D` computed by `f32` sums of `n` terms may differ from
//! the exact value `x` by
//!
//! `u(D) * |x|  +  epsilon(f32) * (8 + 2 * sqrt(n)) * scale`,
//!
//! where `scale` is the largest magnitude in the element's row, or the size that the terms of its sum have by the inputs (`rows`):
//! rounding to the destination, and the accumulated rounding of `n` additions whose errors behave like a random walk (Higham, *Accuracy and
//! Stability of Numerical Algorithms*, section 2.8). A row is what one reduction makes: a row of a product, of a softmax or of a layer
//! normalisation, a channel of a batch normalisation, one element of what is computed element by element. Intermediate roundings to a narrower
//! type (bf16 states of a recurrent network, factors in `fpmath` modes) add some of that type's epsilon: they do not grow with the sums. States that
//! are whole numbers may be one step off ([`whole_states`]).
//! Convolutions by Winograd's algorithm add [`WINOGRAD`] of the size of the sums. Functions computed by polynomials (exp, erf...) add
//! [`FUNCTION`] relative.
//!
//! Integer destinations are exact unless something inexact precedes the rounding (`exact`); then a value on the other side of a tie is one
//! off. A function with a jump or an infinite slope ([`exact::first_jump`]) follows inexact arithmetic: there each element is judged by the truths a
//! little to both sides of it ([`Bounds::beside`]).

mod exact;
mod rows;
#[cfg(test)]
mod tests;

use crate::host::{HostArgs, HostTensor};
pub use exact::{first_jump, is_exact};
use oxidnn_judge::within;
use oxidnn_spec::op::{Conv, ConvAlg, EltwiseAlg, ReductionAlg, RnnDirection, Sdpa};
use oxidnn_spec::{Arg, DataType, FpMathMode, Op, PostOp, Problem};
use rows::Rows;

/// Relative error granted to approximations of elementary functions, as the specification's own tests grant.
pub const FUNCTION: f64 = 4e-6;

/// Error granted to Winograd's algorithm relative to the size of the sums, as the specification's own tests grant; the problem says whether it
/// is used, resolved or as it was asked for.
pub const WINOGRAD: f64 = 2e-5;

/// Bounds on `|got - want|`, element by element: `relative * |want| + absolute`.
#[derive(Clone, PartialEq, Debug)]
pub struct Bounds {
    dtype: DataType,
    relative: f64,
    /// One for all elements, or one each.
    absolute: Vec<f64>,
    /// Truths for results a little smaller and larger before a jump.
    beside: Option<[Vec<f64>; 2]>,
    /// Infinite truths come from overflow, as the inputs are finite.
    overflow: bool,
    /// Whole numbers went through f32, whose numbers are further apart from 2^24 on.
    through_f32: bool,
}

impl Bounds {
    /// The same bound for all elements of a tensor.
    pub fn uniform(dtype: DataType, relative: f64, absolute: f64) -> Bounds {
        Bounds { dtype, relative, absolute: vec![absolute], beside: None, overflow: false, through_f32: false }
    }

    /// Also accepts what lies between the truths of two neighbouring results, where these differ because a function jumps between them.
    pub fn beside(self, truths: [Vec<f64>; 2]) -> Bounds {
        Bounds { beside: Some(truths), ..self }
    }

    /// The largest difference allowed from `want`, the true value of element `index`.
    pub fn allowed(&self, index: usize, want: f64) -> f64 {
        let absolute = self.absolute.get(index).or(self.absolute.first()).copied().unwrap_or(0.0);
        let spacing = if self.through_f32 && want.abs() >= F32_INTEGERS { want.abs() * 2f64.powi(-23) } else { 0.0 };
        self.relative * want.abs() + absolute + spacing
    }

    /// True when `got` is close enough to `want`, the true value of element `index`.
    pub fn accepts(&self, index: usize, got: f64, want: f64) -> bool {
        let allowed = self.allowed(index, want);
        if within(got, want, allowed) || self.overflows(index, got, want) {
            return true;
        }
        let Some([below, above]) = &self.beside else { return false };
        let (Some(&a), Some(&b)) = (below.get(index), above.get(index)) else { return false };
        if a == b {
            return false;
        }
        let (low, high) = (a.min(b).min(want), a.max(b).max(want));
        within(got, a, allowed) || within(got, b, allowed) || (got >= low - allowed && got <= high + allowed && got.is_finite())
    }

    /// Next to overflow a result may round to either side, the largest number or infinity: as if an infinity were the number behind it.
    fn overflows(&self, index: usize, got: f64, want: f64) -> bool {
        let Some(beyond) = beyond(self.dtype).filter(|_| self.overflow) else { return false };
        let finite = |v: f64| if v.is_infinite() { v.signum() * beyond } else { v };
        got.is_infinite() != want.is_infinite() && within(finite(got), finite(want), self.allowed(index, beyond))
    }
}

/// Whole numbers from here on are not all f32 numbers.
const F32_INTEGERS: f64 = 16_777_216.0;

/// The number after the largest of a floating-point type, to which overflow rounds where the type has infinities.
fn beyond(dtype: DataType) -> Option<f64> {
    match dtype {
        DataType::F16 => Some(65536.0),
        DataType::F8E5m2 => Some(65536.0),
        DataType::F32 | DataType::Bf16 => Some(2f64.powi(128)),
        _ => None,
    }
}

/// What the arithmetic of a problem is like.
struct Arithmetic {
    /// Terms of the longest sum.
    terms: i64,
    /// Error by roundings to an intermediate type that is narrower than f32.
    narrow: f64,
    /// Elementary functions computed in a row.
    functions: u32,
    /// Relative error of an addition or a product.
    unit: f64,
}

impl Arithmetic {
    /// Error relative to the terms of the sums.
    fn growth(&self) -> f64 {
        self.unit * (8.0 + 2.0 * (self.terms as f64).sqrt()) + self.narrow + f64::from(self.functions) * FUNCTION
    }
}

/// The bounds of output `arg` of `problem`, whose true values are `want` for these `inputs`.
pub fn of(problem: &Problem, arg: Arg, dtype: DataType, want: &[f64], inputs: &HostArgs) -> Bounds {
    let a = arithmetic(problem, arg);
    let dims = problem.operands().into_iter().find(|o| o.arg == arg).map(|o| *o.tensor.dims());
    let rows = Rows::of(problem, arg, dims.as_deref().unwrap_or(&[]), want.len());
    let scales = rows.scales(want, &rows::floors(problem, arg, inputs, &rows, a.terms));
    let winograd = if is_winograd(problem) { WINOGRAD } else { 0.0 };
    let inexact = !exact::is_exact(problem, inputs);
    let rounding = if dtype.is_integral() && inexact { 1.0 } else { 0f64 }.max(whole_states(problem, arg, dtype));
    if !inexact && (dtype.is_integral() || rows.is_each()) {
        return Bounds { through_f32: through_f32(problem, dtype), ..Bounds::uniform(dtype, 0.0, flushed(problem, dtype)) };
    }
    let destination = if dtype.is_integral() { 0.0 } else { dtype.epsilon() / 2.0 };
    // Where an f32 result next to a tie is rounded to a narrower type, it may land one step away.
    let step = if inexact && !dtype.is_integral() && dtype.digits() < 24 { dtype.epsilon() / 2.0 } else { 0.0 };
    let growth = a.growth() + winograd;
    let functions = f64::from(a.functions) * FUNCTION;
    let relative = destination + step + functions;
    let tiny = smallest(dtype) + cancelled(problem);
    Bounds {
        dtype,
        relative,
        absolute: scales.into_iter().map(|s| rounding + growth * s + tiny).collect(),
        beside: None,
        overflow: is_finite(inputs),
        through_f32: through_f32(problem, dtype),
    }
}

/// What the states of a network of bytes, which are whole numbers, may add to the error of output `arg` of type `dtype`: a state next to a tie may
/// be its neighbour, one step of the scale away, and both of those that are summed; a cell that it goes into moves by less, as gates and the
/// weights of such networks are at most one. 0 for all else.
pub fn whole_states(problem: &Problem, arg: Arg, dtype: DataType) -> f64 {
    let Op::Rnn(r) = &problem.op else { return 0.0 };
    if !r.src_layer.dtype.is_integral() {
        return 0.0;
    }
    let states = if arg == Arg::DST && r.direction == RnnDirection::BidirectionalSum { 2.0 } else { 1.0 };
    let scale = problem.attr.rnn.data.map_or(1.0, |(scale, _)| f64::from(scale.get()).abs());
    if dtype.is_integral() { states } else { states / scale }
}

/// How far the results of `problem` before its post-ops may be from the truth.
pub fn before_post_ops(problem: &Problem, inputs: &HostArgs) -> f64 {
    let a = arithmetic(problem, Arg::DST);
    let winograd = if is_winograd(problem) { WINOGRAD } else { 0.0 };
    // Few sums are more than four times as large as is to be expected.
    4.0 * (a.growth() + winograd) * rows::terms(problem, Arg::DST, inputs, a.terms)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().filter(|v| v.is_finite()).fold(0f64, |m, v| m.max(v.abs()))
}

fn values(inputs: &HostArgs, arg: Arg) -> Option<Vec<f64>> {
    inputs.get(arg).map(HostTensor::values)
}

/// Whether no input holds a NaN or an infinity.
fn is_finite(inputs: &HostArgs) -> bool {
    let floats = inputs.0.iter().filter(|(_, t)| !t.tensor.dtype.is_integral() && t.tensor.dtype != DataType::E8m0);
    floats.map(|(_, t)| t.values()).all(|v| v.iter().all(|v| v.is_finite()))
}

/// Whether s32 results are put together from more than whole numbers: f32 arithmetic does that.
fn through_f32(problem: &Problem, dtype: DataType) -> bool {
    let whole = problem.operands().into_iter().all(|o| o.tensor.dtype.is_integral() || o.arg.post_op_index().is_some());
    dtype == DataType::S32 && !(whole && problem.attr.post_ops.is_empty() && problem.attr.scales.is_empty())
}

/// What becomes 0 on its way to memory: the instruction that converts to bf16 takes subnormal numbers for 0. Copies do not convert.
fn flushed(problem: &Problem, dtype: DataType) -> f64 {
    let copies = matches!(problem.op, Op::Reorder(_) | Op::Concat(_) | Op::Shuffle(_) | Op::Pool(_)) && problem.attr.post_ops.is_empty();
    if dtype == DataType::Bf16 && !copies { 2f64.powi(-126) } else { 0.0 }
}

/// Whether Winograd's algorithm may compute a problem.
fn is_winograd(problem: &Problem) -> bool {
    matches!(&problem.op, Op::Conv(c) if c.alg == ConvAlg::Winograd)
}

/// The spacing of a type's subnormal numbers, half of which rounding may cost; all of them where instructions take them for zero.
fn smallest(dtype: DataType) -> f64 {
    match dtype {
        DataType::F16 => 2f64.powi(-24),
        DataType::F8E4m3 => 2f64.powi(-9),
        DataType::F8E5m2 => 2f64.powi(-16),
        DataType::F4E2m1 => 0.5,
        DataType::F4E3m0 => 0.25,
        d if d.is_integral() => 0.0,
        _ => 2f64.powi(-126),
    }
}

/// The error of a `gelu_erf` among the post-ops, `s/2 (1 + erf(s/sqrt 2))`, where the sum cancels: relative to `s`, not to results, all of which
/// may be tiny. Beyond `-4 sqrt 2` f32 has none.
fn cancelled(problem: &Problem) -> f64 {
    let cancels = |p: &PostOp| matches!(p, PostOp::Eltwise { alg: EltwiseAlg::GeluErf, .. });
    if problem.attr.post_ops.iter().any(cancels) { FUNCTION } else { 0.0 }
}

fn volume(dims: &[i64]) -> i64 {
    dims.iter().product::<i64>().max(1)
}

fn arithmetic(problem: &Problem, arg: Arg) -> Arithmetic {
    let mut a = Arithmetic { terms: 1, narrow: 0.0, functions: 0, unit: DataType::F32.epsilon() };
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
        Op::LayerNorm(n) => {
            let row = n.src.dims().last().copied().unwrap_or(1);
            a.terms = norm_terms(arg, volume(n.src.dims()), row, row);
        }
        Op::GroupNorm(n) => a.terms = norm_terms(arg, volume(n.src.dims()), volume(&n.src.dims()[1..]) / n.groups.max(1), n.src.dims()[1]),
        Op::Lrn(l) => (a.terms, a.functions) = (l.local_size * l.local_size, 2),
        Op::Pool(p) => a.terms = volume(&p.kernel),
        Op::Eltwise(e) => a.functions = 2 * u32::from(exact::is_elementary(e.alg)),
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
        Op::Sdpa(s) => {
            (a.terms, a.functions) = (s.k.dims()[2] + s.k.dims()[3], 4);
            if matches!(s.v.dtype, DataType::F16 | DataType::Bf16) {
                a.narrow = attention_roundings(s, arg) * s.v.dtype.epsilon() / 2.0;
            }
        }
        Op::Binary(_) | Op::Shuffle(_) | Op::Concat(_) | Op::Reorder(_) => {}
    }
    for p in &problem.attr.post_ops {
        match p {
            PostOp::Eltwise { alg, .. } => a.functions += 3 * u32::from(exact::is_elementary(*alg)),
            PostOp::Depthwise { kernel, .. } => a.terms += kernel * kernel,
            _ => {}
        }
    }
    if let (Op::Conv(c), Some(index)) = (&problem.op, problem.attr.depthwise_index()) {
        a.narrow += between(c, &problem.attr.post_ops[..index]);
    }
    let lowers = matches!(problem.op, Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::Matmul(_) | Op::Rnn(_) | Op::Sdpa(_));
    // Products of f64 are summed in f64.
    if lowers && problem.operands().iter().all(|o| o.tensor.dtype == DataType::F64 || o.tensor.dtype.is_integral()) {
        a.unit = DataType::F64.epsilon();
    }
    match problem.attr.fpmath.mode {
        FpMathMode::Strict => {}
        _ if !lowers => {}
        FpMathMode::F16 | FpMathMode::Tf32 => a.narrow += 4.0 * DataType::F16.epsilon(),
        FpMathMode::Bf16 | FpMathMode::Any => a.narrow += 4.0 * DataType::Bf16.epsilon(),
    }
    a
}

/// Roundings to a type of 16 bits, of one unit roundoff each, that attention may make on the way to an output, relative to the size of the terms of its sums.
///
/// With the weights `P`, the destination `O = P V` and the gradients `dP = dO V'`, `dS = P (dP - sum(dO O))`: a weight is rounded once before `P V` and
/// before `dV = P' dO`, so these are off by `u` of sums of `P |V|` and `P |dO|`. `dS` is rounded once before it is multiplied by keys or queries, and `O` in it
/// is the destination as it was stored, rounded once, too, so that `dS` is off by `u |dS| + u P sum(|dO| |O|)`; both terms are at most `u` of the size that `dS`
/// has without its difference, as `|O|` is at most `|V|`. Of a single key the weight is one, `O` is `V` itself, and the score has no gradient.
fn attention_roundings(s: &Sdpa, arg: Arg) -> f64 {
    match arg {
        _ if !s.prop.is_forward() && s.k.dims()[3] == 1 => 0.0,
        Arg::DIFF_SRC | Arg::DIFF_SRC_1 => 2.0,
        _ => 1.0,
    }
}

/// What the rounding of the result of a convolution that a depthwise one reads adds to the error of that, relative to the size of its terms: where an
/// inexact function ends next to a tie the result may be its neighbour. Functions behind the sums may double the error, as a square root does.
fn between(conv: &Conv, functions: &[PostOp]) -> f64 {
    let inexact = functions.iter().any(|p| matches!(p, PostOp::Eltwise { alg, .. } if exact::is_elementary(*alg)));
    let dtype = conv.dst.dtype;
    if inexact && !dtype.is_integral() && dtype != DataType::F64 { 2.0 * dtype.epsilon() } else { 0.0 }
}

/// Terms of the sums of a normalisation of `volume` elements in rows of `row`: of these, or over all rows for the gradients of scale and shift,
/// of which there are `channels`.
fn norm_terms(arg: Arg, volume: i64, row: i64, channels: i64) -> i64 {
    let over_rows = matches!(arg, Arg::DIFF_SCALE | Arg::DIFF_SHIFT);
    4 * if over_rows { volume / channels.max(1) } else { row.max(1) }
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
    let state = r.dst_layer.dtype.epsilon().max(r.src_layer.dtype.epsilon());
    let is_narrow = state > DataType::F32.epsilon() && !r.src_layer.dtype.is_integral();
    a.narrow = if is_narrow { state * (4.0 + 2.0 * (steps as f64).sqrt()) } else { 0.0 };
}
