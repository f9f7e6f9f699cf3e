//! `Value`: formulas lowered to instructions. It is a [`Num`] whose operations are recorded in a function instead of computed.
//!
//! Constants remain numbers until an instruction needs them as an operand in memory, so they take no registers except those that a recorder
//! is given.

use oxidnn_expr::Num;
use oxidnn_expr::functions::Bits;
use oxidnn_jit::Function;
use oxidnn_jit::ir::{Accumulate, Binary, Compare, Pred, Rounding, Src, Unary, Val};
use oxidnn_spec::op::EltwiseAlg;
use std::cell::RefCell;

/// The function that operations are recorded in.
pub(crate) struct Recorder<'f> {
    function: RefCell<&'f mut Function>,
    /// Constants in registers, by their bits.
    kept: &'f [(u32, Val)],
}

/// The vector that a formula computes.
pub(crate) fn formula(f: &mut Function, body: impl for<'r, 'f> FnOnce(&'r Recorder<'f>) -> Value<'r, 'f>) -> Val {
    let recorder = Recorder::new(f);
    let value = body(&recorder);
    recorder.lanes(value)
}

/// A vector of f32, or of their bits.
#[derive(Clone, Copy)]
pub(crate) enum Value<'r, 'f> {
    /// The same number in every lane, by its bits.
    Constant(u32),
    /// A vector of the function.
    Lanes(&'r Recorder<'f>, Val),
}

/// A truth value for every lane.
#[derive(Clone, Copy)]
pub(crate) enum Truth<'r, 'f> {
    Constant(bool),
    Lanes(&'r Recorder<'f>, Pred),
}

impl<'f> Recorder<'f> {
    pub(crate) fn new(f: &'f mut Function) -> Recorder<'f> {
        Recorder::keeping(f, &[])
    }

    /// A recorder that takes these constants from registers.
    pub(crate) fn keeping(f: &'f mut Function, kept: &'f [(u32, Val)]) -> Recorder<'f> {
        Recorder { function: RefCell::new(f), kept }
    }

    fn kept(&self, bits: u32) -> Option<Val> {
        self.kept.iter().find(|k| k.0 == bits).map(|k| k.1)
    }

    /// A vector as a value.
    pub(crate) fn value(&self, x: Val) -> Value<'_, 'f> {
        Value::Lanes(self, x)
    }

    fn with<T>(&self, body: impl FnOnce(&mut Function) -> T) -> T {
        body(&mut self.function.borrow_mut())
    }

    /// A value as a register.
    pub(crate) fn lanes(&self, x: Value<'_, 'f>) -> Val {
        match x {
            Value::Lanes(_, x) => x,
            Value::Constant(bits) => self.kept(bits).unwrap_or_else(|| self.with(|f| f.splat_i32(f.isa().width(), bits as i32))),
        }
    }

    fn source(&self, x: Value<'_, 'f>) -> Src {
        match x {
            Value::Lanes(_, x) => x.into(),
            Value::Constant(bits) => match self.kept(bits) {
                Some(x) => x.into(),
                None => Src::Splat(self.with(|f| f.constant(&bits.to_le_bytes()))),
            },
        }
    }

    fn compare(&self, how: Compare, a: Value<'_, 'f>, b: Value<'_, 'f>) -> Truth<'_, 'f> {
        let (a, b) = (self.lanes(a), self.lanes(b));
        Truth::Lanes(self, self.with(|f| f.compare_f32(how, a, b)))
    }
}

/// The recorder of either value; `None` if both are constants.
fn recorder<'r, 'f>(a: Value<'r, 'f>, b: Value<'r, 'f>) -> Option<&'r Recorder<'f>> {
    match (a, b) {
        (Value::Lanes(r, _), _) | (_, Value::Lanes(r, _)) => Some(r),
        _ => None,
    }
}

impl<'r, 'f> Value<'r, 'f> {
    /// `op`, or `fold` on constants. If the operation is commutative, a constant becomes the second operand.
    fn binary(self, op: Binary, o: Self, fold: fn(u32, u32) -> u32) -> Self {
        let Some(r) = recorder(self, o) else {
            let (Value::Constant(a), Value::Constant(b)) = (self, o) else { return self };
            return Value::Constant(fold(a, b));
        };
        let either = matches!(op, Binary::AddF32 | Binary::MulF32 | Binary::AddI32 | Binary::And | Binary::Or);
        let (a, b) = if either && matches!(self, Value::Constant(_)) { (o, self) } else { (self, o) };
        let (a, b) = (r.lanes(a), r.source(b));
        r.value(r.with(|f| f.binary(op, a, b)))
    }

    fn unary(self, op: Unary, fold: impl FnOnce(u32) -> u32) -> Self {
        match self {
            Value::Constant(bits) => Value::Constant(fold(bits)),
            Value::Lanes(r, x) => r.value(r.with(|f| f.unary(op, x))),
        }
    }

    fn mask(self, bits: u32) -> Self {
        self.binary(Binary::And, Value::Constant(bits), |a, b| a & b)
    }

    fn compare(self, how: Compare, o: Self, fold: fn(&f32, &f32) -> bool) -> Truth<'r, 'f> {
        match (recorder(self, o), self, o) {
            (None, Value::Constant(a), Value::Constant(b)) => Truth::Constant(fold(&f32::from_bits(a), &f32::from_bits(b))),
            (Some(r), ..) => r.compare(how, self, o),
            _ => Truth::Constant(false),
        }
    }

    /// Maximum or minimum, which must return the number if one operand is NaN: by `by`, or by `of_two` if the second operand is a constant,
    /// which the processor then returns.
    fn extreme(self, [by, of_two]: [Binary; 2], o: Self, fold: fn(u32, u32) -> u32) -> Self {
        let (a, b) = if matches!(self, Value::Constant(_)) { (o, self) } else { (self, o) };
        a.binary(if matches!(b, Value::Constant(_)) { of_two } else { by }, b, fold)
    }
}

fn fold(op: fn(f32, f32) -> f32) -> impl Fn(u32, u32) -> u32 {
    move |a, b| op(f32::from_bits(a), f32::from_bits(b)).to_bits()
}

impl<'r, 'f> Num for Value<'r, 'f> {
    type Mask = Truth<'r, 'f>;

    fn constant(v: f64) -> Self {
        Value::Constant((v as f32).to_bits())
    }
    fn add(self, o: Self) -> Self {
        self.binary(Binary::AddF32, o, |a, b| fold(|a, b| a + b)(a, b))
    }
    fn sub(self, o: Self) -> Self {
        self.binary(Binary::SubF32, o, |a, b| fold(|a, b| a - b)(a, b))
    }
    fn mul(self, o: Self) -> Self {
        self.binary(Binary::MulF32, o, |a, b| fold(|a, b| a * b)(a, b))
    }
    fn div(self, o: Self) -> Self {
        self.binary(Binary::DivF32, o, |a, b| fold(|a, b| a / b)(a, b))
    }
    fn mul_add(self, a: Self, b: Self) -> Self {
        let (a, factor) = if matches!(self, Value::Constant(_)) { (self, a) } else { (a, self) };
        let Value::Lanes(r, factor) = factor else { return self.mul(a).add(b) };
        r.value(match (a, b) {
            // A step of Horner's rule, with the constant in memory.
            (Value::Lanes(_, by), Value::Constant(_)) => {
                let plus = r.source(b);
                r.with(|f| {
                    let product = f.copy_of(factor);
                    f.accumulate(Accumulate::ScaleAddF32, product, by, plus);
                    product
                })
            }
            _ => {
                let (source, start) = (r.source(a), r.lanes(b));
                let own = matches!(b, Value::Constant(bits) if r.kept(bits).is_none());
                r.with(|f| {
                    let sum = if own { start } else { f.copy_of(start) };
                    f.accumulate(Accumulate::FmaF32, sum, factor, source);
                    sum
                })
            }
        })
    }
    fn max(self, o: Self) -> Self {
        self.extreme([Binary::LargestF32, Binary::MaxF32], o, |a, b| fold(f32::max)(a, b))
    }
    fn min(self, o: Self) -> Self {
        self.extreme([Binary::SmallestF32, Binary::MinF32], o, |a, b| fold(f32::min)(a, b))
    }
    /// If one operand is NaN, the processor returns the second.
    fn clamp(self, low: f64, high: f64) -> Self {
        let not_below = Value::constant(low).binary(Binary::MaxF32, self, |a, b| fold(f32::max)(a, b));
        if high == f64::INFINITY {
            return not_below;
        }
        Value::constant(high).binary(Binary::MinF32, not_below, |a, b| fold(f32::min)(a, b))
    }
    fn abs(self) -> Self {
        self.mask(0x7fff_ffff)
    }
    fn sqrt(self) -> Self {
        self.unary(Unary::SqrtF32, |x| f32::from_bits(x).sqrt().to_bits())
    }
    oxidnn_expr::functions_of_bits!();
    /// For exponents of [`has_power`]: by products, a square root, a quotient.
    fn powf(self, p: f64) -> Self {
        let halves = (2.0 * p.abs()) as u32;
        let whole = halves.is_multiple_of(2);
        // A power with a fractional exponent is that of the absolute value for -0 and -inf, and NaN for negative numbers in between.
        let infinity = Value::constant(f64::INFINITY);
        let x = if whole {
            self
        } else {
            Value::select(self.eq(infinity.mul(Value::constant(-1.0))), infinity, self.add(Value::constant(0.0)))
        };
        let mut power = if whole { Value::constant(1.0) } else { x.sqrt() };
        for i in 0..halves / 2 {
            power = if i == 0 && whole { x } else { power.mul(x) };
        }
        if p < 0.0 { Value::constant(1.0).div(power) } else { power }
    }
    fn round(self) -> Self {
        self.unary(Unary::RoundF32(Rounding::Nearest), |x| f32::from_bits(x).round_ties_even().to_bits())
    }
    fn lt(self, o: Self) -> Truth<'r, 'f> {
        self.compare(Compare::Lt, o, f32::lt)
    }
    fn le(self, o: Self) -> Truth<'r, 'f> {
        self.compare(Compare::Le, o, f32::le)
    }
    fn eq(self, o: Self) -> Truth<'r, 'f> {
        self.compare(Compare::Eq, o, f32::eq)
    }
    fn select(mask: Truth<'r, 'f>, a: Self, b: Self) -> Self {
        match mask {
            Truth::Constant(true) => a,
            Truth::Constant(false) => b,
            Truth::Lanes(r, mask) => {
                let (a, b) = (r.lanes(a), r.lanes(b));
                r.value(r.with(|f| f.select(mask, a, b)))
            }
        }
    }
}

impl<'r, 'f> Bits for Value<'r, 'f> {
    type Word = Value<'r, 'f>;

    fn word(v: i32) -> Self {
        Value::Constant(v as u32)
    }
    fn bits(self) -> Self {
        self
    }
    fn from_bits(w: Self) -> Self {
        w
    }
    fn from_word(w: Self) -> Self {
        w.unary(Unary::F32FromI32, |x| (x as i32 as f32).to_bits())
    }
    fn word_add(a: Self, b: Self) -> Self {
        a.binary(Binary::AddI32, b, u32::wrapping_add)
    }
    fn word_sub(a: Self, b: Self) -> Self {
        a.binary(Binary::SubI32, b, u32::wrapping_sub)
    }
    fn word_shl(w: Self, n: u8) -> Self {
        w.unary(Unary::ShlI32(n), |x| x << n)
    }
    fn word_sar(w: Self, n: u8) -> Self {
        w.unary(Unary::SarI32(n), |x| (x as i32 >> n) as u32)
    }
}

/// Whether the function is a few instructions.
pub(crate) fn is_short(alg: EltwiseAlg) -> bool {
    use EltwiseAlg::*;
    matches!(alg, Relu | ReluDst | Linear | Clip | ClipV2 | ClipV2Dst | Square | Abs | Sqrt | SqrtDst | HardSigmoid | Round | HardSwish)
}

/// Whether [`Num::powf`] of values supports this exponent: some multiples of a half.
pub(crate) fn has_power(p: f32) -> bool {
    (2.0 * p).fract() == 0.0 && p.abs() <= 4.0
}
