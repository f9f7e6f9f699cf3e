//! `Lane`: a number in `f32` whose functions have no branches, so that plain loops over slices of it become vector code.
//!
//! A kernel writes `for x in row { *x = formula(Lane::<FMA>(*x)).0 }`, inlined into a function compiled for a wide instruction set; LLVM's loop
//! vectoriser does the rest. (Arrays of lanes as one value do not vectorise: formulas are deeper than LLVM's search in straight-line code.)
//! `FMA` says that a fused multiply-add is one instruction there; without it one would be a slow library call.
//!
//! The polynomials come from `coefficients.py` beside the crate. Largest relative errors measured over dense sweeps (`tests.rs`), with FMA or without:
//! exp 1.0e-7, exp_m1 1.3e-7, ln 9e-8, ln_1p 1.5e-7, tanh 2.0e-7, erf 2.0e-7, powf 6e-8.

mod map;
mod powf;
#[cfg(test)]
mod tests;

pub use map::{Formula, WithFormula, backward, dispatch, forward};

use crate::Num;
use std::f32::consts::{LOG2_E, SQRT_2};

/// One `f32`; see the module.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Lane<const FMA: bool>(pub f32);

/// `e^r = 1 + r + r^2 EXP(r)` for `|r| <= ln(2)/2`.
const EXP: [f32; 5] = rounded([0.5, 0.1666657702559799, 0.041666554662050534, 0.008363173074513711, 0.001392617611993558]);
/// `ln(1 + f) = f - f^2/2 + f^3 LN(f)` for `sqrt(1/2) <= 1 + f <= sqrt(2)`.
const LN: [f32; 9] = rounded([
    0.33333331180030046,
    -0.24999996957950882,
    0.200007157488921,
    -0.16667802319501254,
    0.1424905764569748,
    -0.12425687331451106,
    0.1168541992348674,
    -0.11479733846637635,
    0.06971611471451178,
]);
/// `erf(x) = x ERF_SMALL(x^2)` for `|x| < 1`.
const ERF_SMALL: [f32; 7] = rounded([
    1.1283791658483509,
    -0.37612626666720334,
    0.11283594715160218,
    -0.026854212010626412,
    0.005189087423433974,
    -0.000801686428716587,
    7.875875062685488e-05,
]);
/// `erf(x) = 1 - e^ERF_LARGE(x)` for `1 <= x <= 4`; beyond, it is 1.
const ERF_LARGE: [f32; 8] = rounded([
    -0.0007658977796976417,
    -1.1258936524091032,
    -0.6391412576467043,
    -0.10328111759830176,
    0.022604772238048635,
    -0.0034323513807002423,
    0.00031693702249140847,
    -1.3272361811238555e-05,
]);

/// The coefficients in the precision of the arithmetic.
const fn rounded<const N: usize>(c: [f64; N]) -> [f32; N] {
    let mut r = [0.0; N];
    let mut i = 0;
    while i < N {
        r[i] = c[i] as f32;
        i += 1;
    }
    r
}

/// ln(2) as a number of few digits, whose small multiples are exact, and the rest.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Adding it rounds a number below 2^22 to a whole one, which then stands in the low bits.
const ROUND: f32 = 12_582_912.0;

impl<const FMA: bool> Lane<FMA> {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        if FMA { a.mul_add(b, c) } else { a * b + c }
    }

    /// `c[0] + c[1] x + ...`, by Horner's rule.
    #[inline(always)]
    fn polynomial<const N: usize>(x: f32, c: [f32; N]) -> f32 {
        let mut p = c[N - 1];
        for k in (0..N - 1).rev() {
            p = Self::fma(p, x, c[k]);
        }
        p
    }

    /// `(n, e^r - 1)` with `x = n ln(2) + r`, for `|x| < 128`.
    #[inline(always)]
    fn split_exp(x: f32) -> (i32, f32) {
        let shifted = Self::fma(x, LOG2_E, ROUND);
        let n = shifted - ROUND;
        let r = Self::fma(n, -LN2_LOW, Self::fma(n, -LN2_HIGH, x));
        ((shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32), Self::fma(r * r, Self::polynomial(r, EXP), r))
    }
}

/// `2^n` for `-126 <= n <= 127`.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// To the nearest whole number, ties to even: from 2^23 on all numbers are whole.
#[inline(always)]
pub(crate) fn round(x: f32) -> f32 {
    const WHOLE: f32 = 8_388_608.0;
    let a = x.abs();
    let r = ((a + WHOLE) - WHOLE).copysign(x);
    if a < WHOLE { r } else { x }
}

impl<const FMA: bool> Num for Lane<FMA> {
    type Mask = bool;
    #[inline(always)]
    fn constant(v: f64) -> Self {
        Lane(v as f32)
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Lane(self.0 + o.0)
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Lane(self.0 - o.0)
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Lane(self.0 * o.0)
    }
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        Lane(self.0 / o.0)
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Lane(Self::fma(self.0, a.0, b.0))
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        Lane(self.0.max(o.0))
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        Lane(self.0.min(o.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Lane(self.0.abs())
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Lane(self.0.sqrt())
    }
    /// Two factors reach the whole range, subnormal results included.
    #[inline(always)]
    fn exp(self) -> Self {
        let x = self.0;
        let (n, p) = Self::split_exp(x.clamp(-104.0, 89.0));
        let half = n >> 1;
        let e = (p + 1.0) * power_of_two(half) * power_of_two(n.wrapping_sub(half));
        Lane(if x.is_nan() { x } else { e })
    }
    #[inline(always)]
    fn ln(self) -> Self {
        let x = self.0;
        let subnormal = x < f32::MIN_POSITIVE;
        let (x1, e1) = if subnormal { (x * 8_388_608.0, -23) } else { (x, 0) };
        // The exponent that leaves a factor between sqrt(1/2) and sqrt(2).
        let n = (x1.to_bits() as i32).wrapping_sub((SQRT_2 / 2.0).to_bits() as i32) >> 23;
        let f = f32::from_bits((x1.to_bits() as i32).wrapping_sub(n << 23) as u32) - 1.0;
        let e = n.wrapping_add(e1) as f32;
        let tail = Self::fma(f * f, Self::fma(f, Self::polynomial(f, LN), -0.5), e * LN2_LOW);
        let l = Self::fma(e, LN2_HIGH, f + tail);
        let l = if x == f32::INFINITY { x } else { l };
        let l = if x == 0.0 { f32::NEG_INFINITY } else { l };
        Lane(if x >= 0.0 { l } else { f32::NAN })
    }
    /// `2^n (e^r - 1) + (2^n - 1)`, halved on the way so that the largest results do not overflow early.
    #[inline(always)]
    fn exp_m1(self) -> Self {
        let x = self.0;
        let (n, p) = Self::split_exp(x.clamp(-25.0, 89.0));
        let s = power_of_two(n.wrapping_sub(1));
        let e = 2.0 * Self::fma(s, p, s - 0.5);
        Lane(if x.is_nan() || x == 0.0 { x } else { e })
    }
    /// `ln(u)` for the rounded `u = 1 + x`, plus what the rounding lost, over `u`.
    #[inline(always)]
    fn ln_1p(self) -> Self {
        let x = self.0;
        let u = 1.0 + x;
        let l = Lane::<FMA>(u).ln().0;
        let lost = (x - (u - 1.0)) / u;
        Lane(if l.is_finite() { l + lost } else { l })
    }
    /// `-m / (m + 2)` with `m = e^(-2|x|) - 1`.
    #[inline(always)]
    fn tanh(self) -> Self {
        let m = Lane::<FMA>(-2.0 * self.0.abs()).exp_m1().0;
        Lane((-m / (m + 2.0)).copysign(self.0))
    }
    #[inline(always)]
    fn erf(self) -> Self {
        let x = self.0;
        let a = x.abs();
        let small = x * Self::polynomial(x * x, ERF_SMALL);
        let (n, p) = Self::split_exp(Self::polynomial(a.min(4.0), ERF_LARGE));
        let complement = Self::fma(p, power_of_two(n), power_of_two(n));
        let large = if a < 4.0 { 1.0 - complement } else { 1.0 };
        let value = if a < 1.0 { small } else { large.copysign(x) };
        Lane(if x.is_nan() { x } else { value })
    }
    #[inline(always)]
    fn powf(self, p: f64) -> Self {
        Lane(powf::powf::<FMA>(self.0, p))
    }
    #[inline(always)]
    fn round(self) -> Self {
        Lane(round(self.0))
    }
    #[inline(always)]
    fn lt(self, o: Self) -> bool {
        self.0 < o.0
    }
    #[inline(always)]
    fn le(self, o: Self) -> bool {
        self.0 <= o.0
    }
    #[inline(always)]
    fn eq(self, o: Self) -> bool {
        self.0 == o.0
    }
    #[inline(always)]
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
}
