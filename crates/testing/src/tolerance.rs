//! How far a result may be from the truth: the one place that says so.
//!
//! With `u(T) = epsilon(T) / 2` the unit roundoff of a type, a result of destination type `D` computed by `f32` sums of `n` terms may differ from
//! the exact value `x` by
//!
//! `u(D) * |x|  +  epsilon(f32) * (8 + 2 * sqrt(n)) * scale`,
//!
//! where `scale` is the largest magnitude in the element's row, or the size of the terms of its sum as computed from the inputs (`rows`):
//! rounding to the destination, and the accumulated rounding of `n` additions whose errors behave like a random walk (Higham, *Accuracy and
//! Stability of Numerical Algorithms*, section 2.8). A row is the result of one reduction: a row of a product, of a softmax or of a layer
//! normalisation, a channel of a batch normalisation, one element of an element-wise operation. Intermediate roundings to a narrower type
//! (bf16 states of a recurrent network, operands in `fpmath` modes) add some of that type's epsilon: they do not grow with the sums.
//! Integer states may be one step off ([`integer_states_error`]). Convolutions by Winograd's algorithm add [`WINOGRAD`] of the size of the sums.
//! Functions computed by polynomials (exp, erf...) add [`FUNCTION`] relative.
//!
//! Of two fused convolutions, the second one's sums may be off by the error of the first one's results, times its weights ([`First`]).
//!
//! These are the bounds of the values before the post-ops. If the terms of the sums are multiples of a number that leaves f32 enough bits
//! (`exact::grid`) there is no error, and fills are chosen such that this is the rule. From there on every element is an interval
//! ([`Interval`]), which the formulas of the post-ops, scale, zero point and the rounding to the destination map to the numbers that may be
//! stored. So the bound of each element reflects how its functions change an error, whether terms cancel, and whether a comparison or a tie
//! is near enough to go either way.

mod exact;
mod fused;
mod interval;
mod rows;
mod tail;
#[cfg(test)]
mod tests;

use crate::host::{HostArgs, HostTensor};
pub use exact::is_exact;
pub use fused::{First, first};
pub use interval::Interval;
use oxidnn_expr::quant;
use oxidnn_spec::op::{ConvAlg, ConvSizes, ReductionAlg, RnnCell, RnnDirection, Sdpa};
use oxidnn_spec::{Arg, DataType, Error, FpMathMode, Op, PostOp, Problem};
use rows::Rows;

/// Relative error granted to approximations of elementary functions, as in the specification's own tests.
pub const FUNCTION: f64 = 4e-6;

/// Error granted to Winograd's algorithm relative to the size of the sums, as in the specification's own tests; the problem, resolved or as
/// requested, says whether it is used.
pub const WINOGRAD: f64 = 2e-5;

/// The numbers that each element of an output may hold.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bounds(Vec<Interval>);

impl Bounds {
    /// The values at most `allowed(index, |want|)` from `want`. If infinite truths may come from `overflow`, the largest numbers are near
    /// them: as if infinity were the number behind these.
    pub fn around(dtype: DataType, want: &[f64], allowed: impl Fn(usize, f64) -> f64, overflow: bool) -> Bounds {
        let beyond = beyond(dtype).filter(|_| overflow);
        let one = |(i, &v): (usize, &f64)| {
            let finite = match beyond {
                Some(beyond) if v.is_infinite() => beyond.copysign(v),
                _ => v,
            };
            let exact = Interval::point(v);
            let around = Interval::point(finite).widened(0.0, allowed(i, finite.abs()));
            match beyond {
                Some(beyond) if around.high >= beyond => exact.hull(Interval { high: f64::INFINITY, ..around }),
                Some(beyond) if around.low <= -beyond => exact.hull(Interval { low: f64::NEG_INFINITY, ..around }),
                _ if v.is_finite() => saturated(dtype, around),
                _ => exact,
            }
        };
        Bounds(want.iter().enumerate().map(one).collect())
    }

    /// Adds the next element's.
    fn push(&mut self, stored: Interval) {
        self.0.push(stored);
    }

    /// The numbers of element `index`.
    pub fn of(&self, index: usize) -> Interval {
        self.0.get(index).copied().unwrap_or(Interval::NAN)
    }

    /// True when element `index` may be `got`.
    pub fn accepts(&self, index: usize, got: f64) -> bool {
        self.of(index).contains(got)
    }

    /// The largest difference allowed from `want`, the true value of element `index`.
    pub fn allowed(&self, index: usize, want: f64) -> f64 {
        let Interval { low, high, .. } = self.of(index);
        (want - low).max(high - want)
    }

    /// The same bounds around other truths: for `to` as they are for `from`.
    #[must_use]
    pub fn moved(&self, from: &[f64], to: &[f64]) -> Bounds {
        let moved = |(of, (&from, &to)): (&Interval, (&f64, &f64))| match from.is_finite() && to.is_finite() {
            true => Interval { low: to - (from - of.low), high: to + (of.high - from), ..*of },
            false if of.contains(to) => of.hull(Interval::point(to)),
            false => Interval::point(to),
        };
        Bounds(self.0.iter().zip(from.iter().zip(to)).map(moved).collect())
    }

    /// These values, and all at most `error` away.
    #[must_use]
    pub fn widened(&self, error: f64) -> Bounds {
        Bounds(self.0.iter().map(|of| of.widened(0.0, error)).collect())
    }

    /// The values that either accepts.
    #[must_use]
    pub fn or(&self, other: &Bounds) -> Bounds {
        Bounds(self.0.iter().zip(&other.0).map(|(a, b)| a.hull(*b)).collect())
    }
}

/// With the largest number of f32 that a whole-number type has, where the largest of the type, which is none of f32, is among those that may be stored.
fn saturated(dtype: DataType, x: Interval) -> Interval {
    let largest = f64::from(quant::bounds(dtype).1);
    let beyond = matches!(dtype, DataType::S32 | DataType::S64) && x.high > largest;
    if beyond { Interval { low: x.low.min(largest), ..x } } else { x }
}

/// The number after the largest of a floating-point type, to which overflow rounds where the type has infinities.
fn beyond(dtype: DataType) -> Option<f64> {
    match dtype {
        DataType::F16 => Some(65536.0),
        DataType::F8E5m2 => Some(65536.0),
        DataType::F32 | DataType::Bf16 => Some(2f64.powi(128)),
        _ => None,
    }
}

/// The arithmetic of a problem.
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

/// A problem with all its arguments, before and after the reference.
#[derive(Clone, Copy)]
pub struct Computed<'a> {
    /// The computed values.
    pub problem: &'a Problem,
    /// The arguments before.
    pub inputs: &'a HostArgs,
    /// The arguments afterwards.
    pub outputs: &'a HostArgs,
    /// Of two fused convolutions, the results of the first one.
    pub first: Option<First<'a>>,
}

/// The bounds of output `arg`, whose results are `sums` before its post-ops, where the reference has such.
///
/// # Errors
/// Errors of the reference's epilogue.
pub fn of(computed: &Computed<'_>, arg: Arg, sums: Option<&[f64]>) -> Result<Bounds, Error> {
    let Computed { problem, inputs, outputs, .. } = computed;
    let Some(out) = outputs.get(arg) else { return Ok(Bounds::default()) };
    let want = out.values();
    if let Some(sums) = sums {
        return tail::bounds(computed, arg, sums);
    }
    let dtype = out.tensor.dtype;
    let a = arithmetic(problem, arg);
    let rows = Rows::of(problem, arg, out.tensor.dims(), want.len());
    if exact::is_exact(problem, inputs) && (dtype.is_integral() || rows.is_per_element()) {
        return Ok(Bounds::around(dtype, &want, |_, _| flushed(problem, dtype), is_finite(inputs)));
    }
    let scales = rows.scales(&want, &rows::floors(problem, arg, inputs, &rows, a.terms));
    let rounding = if dtype.is_integral() { 1.0 } else { 0f64 }.max(integer_states_error(problem, arg, dtype));
    // Rounding to the destination, one step away where an f32 result is next to a tie of a narrower type.
    let steps = if dtype.is_integral() { 0.0 } else { f64::from(u8::from(dtype.digits() < 24) + 1) };
    let relative = steps * dtype.epsilon() / 2.0 + f64::from(a.functions) * FUNCTION;
    let scale = |i: usize| scales.get(i).or(scales.first()).copied().unwrap_or(0.0);
    let gate_error = gate_error(problem);
    let allowed = |i: usize, v: f64| relative * v + rounding + gate_error + a.growth() * scale(i) + smallest(dtype);
    Ok(Bounds::around(dtype, &want, allowed, is_finite(inputs)))
}

/// Whether a post-op jumps so near to a number that inexact arithmetic decides to which side it falls: the possible values (`may`) are more
/// than `size` apart.
pub fn is_near_jump(problem: &Problem, may: Interval, size: f64) -> bool {
    problem.attr.post_ops.iter().any(exact::jumps) && may.high - may.low > size
}

/// The error that the integer states of an int8 network may add to output `arg` of type `dtype`: a state next to a tie may be its
/// neighbour, one step of the scale away, and so may both states that are summed; a cell state computed from it moves by less, as gates and
/// the weights of such networks are at most one. 0 for all else.
pub fn integer_states_error(problem: &Problem, arg: Arg, dtype: DataType) -> f64 {
    let Op::Rnn(r) = &problem.op else { return 0.0 };
    if !r.src_layer.dtype.is_integral() {
        return 0.0;
    }
    let states = if arg == Arg::DST && r.direction == RnnDirection::BidirectionalSum { 2.0 } else { 1.0 };
    let scale = problem.attr.rnn.data.map_or(1.0, |(scale, _)| f64::from(scale.get()).abs());
    if dtype.is_integral() { states } else { states / scale }
}

/// The additional error of the states of gated recurrent units: a candidate, at most 1, has a share of `1 - u`, which is as inexact as
/// numbers next to 1 are, in each layer and step.
fn gate_error(problem: &Problem) -> f64 {
    let Op::Rnn(r) = &problem.op else { return 0.0 };
    let is_gated = matches!(r.cell, RnnCell::Gru | RnnCell::LbrGru | RnnCell::Augru | RnnCell::LbrAugru);
    let cells = r.src_layer.dims()[0] * r.weights_layer.dims()[0];
    if is_gated { cells as f64 * DataType::F32.epsilon() / 2.0 } else { 0.0 }
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

/// The magnitude below which a stored value may become 0: the instruction that converts to bf16 takes subnormal numbers for 0. Copies do
/// not convert.
fn flushed(problem: &Problem, dtype: DataType) -> f64 {
    let copies = matches!(problem.op, Op::Reorder(_) | Op::Concat(_) | Op::Shuffle(_) | Op::Pool(_)) && problem.attr.post_ops.is_empty();
    if dtype == DataType::Bf16 && !copies { 2f64.powi(-126) } else { 0.0 }
}

/// Whether Winograd's algorithm may compute a problem: where the choice is the library's, 3x3 windows of stride 1 over f32.
fn is_winograd(problem: &Problem) -> bool {
    let Op::Conv(c) = &problem.op else { return false };
    let ConvSizes { k, s, d, .. } = c.sizes();
    let may_be = || (k, s, d) == ([1, 3, 3], [1; 3], [1; 3]) && c.src.dtype == DataType::F32 && c.weights.dtype == DataType::F32;
    c.alg == ConvAlg::Winograd || c.alg == ConvAlg::Auto && may_be()
}

/// The error that it may add, relative to the size of the sums.
fn winograd(problem: &Problem) -> f64 {
    if is_winograd(problem) { WINOGRAD } else { 0.0 }
}

/// The spacing of a type's subnormal numbers, half of which rounding may cost; all of them if instructions flush them to zero.
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
        Op::Eltwise(_) | Op::Binary(_) | Op::Shuffle(_) | Op::Concat(_) | Op::Reorder(_) => {}
    }
    for p in &problem.attr.post_ops {
        if let PostOp::Depthwise { kernel, .. } = p {
            a.terms += kernel * kernel;
        }
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
/// With the weights `P`, the destination `O = P V` and the gradients `dP = dO V'`, `dS = P (dP - sum(dO O))`: a weight is rounded once
/// before `P V` and before `dV = P' dO`, so these are off by `u` of sums of `P |V|` and `P |dO|`. `dS` is rounded once before it is
/// multiplied by keys or queries, and the `O` in it is the stored destination, also rounded once, so `dS` is off by
/// `u |dS| + u P sum(|dO| |O|)`; both terms are at most `u` of the size that `dS` has without its difference, as `|O|` is at most `|V|`.
/// With a single key the weight is one, `O` is `V` itself, and the score has no gradient.
fn attention_roundings(s: &Sdpa, arg: Arg) -> f64 {
    match arg {
        _ if !s.prop.is_forward() && s.k.dims()[3] == 1 => 0.0,
        Arg::DIFF_SRC | Arg::DIFF_SRC_1 => 2.0,
        _ => 1.0,
    }
}

/// Terms of the sums of a normalisation of `volume` elements in rows of `row`: those of a row, or those over all rows for the gradients of
/// scale and shift, of which there are `channels`.
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
    // Gradients of hidden channels are sums over the channels of the projection.
    let projected = r.weights_projection.as_ref().map_or(0, |w| w.dims()[3]);
    a.terms = (s[2] + w[4] + projected) * steps.max(1) * 4;
    a.functions = 4;
    let state = r.dst_layer.dtype.epsilon().max(r.src_layer.dtype.epsilon());
    let is_narrow = state > DataType::F32.epsilon() && !r.src_layer.dtype.is_integral();
    a.narrow = if is_narrow { state * (4.0 + 2.0 * (steps as f64).sqrt()) } else { 0.0 };
}
