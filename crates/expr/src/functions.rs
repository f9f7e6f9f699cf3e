//! Elementary functions in `f32`, by operations that every vector unit has: no branches, no tables.
//!
//! Written once, over [`Bits`]: portable kernels evaluate them in lanes, a code generator records them. The polynomials come from
//! `coefficients.py` beside the crate; the errors are measured where lanes are tested.

use crate::Num;
use std::f32::consts::SQRT_2;

/// `f32` numbers whose bits can be worked with.
pub trait Bits: Num {
    /// A 32-bit integer for every number.
    type Word: Copy;
    /// A constant.
    fn word(v: i32) -> Self::Word;
    /// The bits of the number.
    fn bits(self) -> Self::Word;
    /// The number with these bits.
    fn from_bits(w: Self::Word) -> Self;
    /// The number nearest to an integer.
    fn from_word(w: Self::Word) -> Self;
    /// `a + b`, wrapping.
    fn word_add(a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a - b`, wrapping.
    fn word_sub(a: Self::Word, b: Self::Word) -> Self::Word;
    /// `w << n`.
    fn word_shl(w: Self::Word, n: u8) -> Self::Word;
    /// `w >> n`, the sign shifted in.
    fn word_sar(w: Self::Word, n: u8) -> Self::Word;
    /// Between the bounds; anything for NaN.
    fn clamp(self, low: f64, high: f64) -> Self;
    /// `|self|` with the sign of the other.
    fn copysign(self, sign: Self) -> Self;
}

/// `e^r = 1 + r + r^2 EXP(r)` for `|r| <= ln(2)/2`.
const EXP: [f64; 5] = [0.5, 0.1666657702559799, 0.041666554662050534, 0.008363173074513711, 0.001392617611993558];
/// `ln(1 + f) = f - f^2/2 + f^3 LN(f)` for `sqrt(1/2) <= 1 + f <= sqrt(2)`.
const LN: [f64; 9] = [
    0.33333331180030046,
    -0.24999996957950882,
    0.200007157488921,
    -0.16667802319501254,
    0.1424905764569748,
    -0.12425687331451106,
    0.1168541992348674,
    -0.11479733846637635,
    0.06971611471451178,
];
/// `erf(x) = x ERF_SMALL(x^2)` for `|x| < 1`.
const ERF_SMALL: [f64; 7] = [
    1.1283791658483509,
    -0.37612626666720334,
    0.11283594715160218,
    -0.026854212010626412,
    0.005189087423433974,
    -0.000801686428716587,
    7.875875062685488e-05,
];
/// `erf(x) = 1 - e^ERF_LARGE(x)` for `1 <= x <= 4`; beyond, it is 1.
const ERF_LARGE: [f64; 8] = [
    -0.0007658977796976417,
    -1.1258936524091032,
    -0.6391412576467043,
    -0.10328111759830176,
    0.022604772238048635,
    -0.0034323513807002423,
    0.00031693702249140847,
    -1.3272361811238555e-05,
];

/// ln(2) as a number of few digits, whose small multiples are exact, and the rest.
const LN2_HIGH: f64 = 0.693_359_375;
const LN2_LOW: f64 = -2.121_944_400_546_905_8e-4;
/// Adding it rounds a number below 2^22 to a whole one, which then stands in the low bits.
const ROUND: f32 = 12_582_912.0;

#[inline(always)]
fn c<N: Num>(v: f64) -> N {
    N::constant(v)
}

/// `c[0] + c[1] x + ...`, by Horner's rule.
#[inline(always)]
fn polynomial<N: Num, const K: usize>(x: N, coefficients: [f64; K]) -> N {
    let mut p = c::<N>(coefficients[K - 1]);
    for k in (0..K - 1).rev() {
        p = p.mul_add(x, c(coefficients[k]));
    }
    p
}

/// `x` where it is NaN, else `value`.
#[inline(always)]
fn unless_nan<N: Num>(x: N, value: N) -> N {
    N::select(x.eq(x), value, x)
}

/// `(n, e^r - 1)` with `x = n ln(2) + r`, for `|x| < 128`.
#[inline(always)]
fn split_exp<N: Bits>(x: N) -> (N::Word, N) {
    let shifted = x.mul_add(c(f64::from(std::f32::consts::LOG2_E)), c(f64::from(ROUND)));
    let n = shifted.sub(c(f64::from(ROUND)));
    let r = n.mul_add(c(-LN2_LOW), n.mul_add(c(-LN2_HIGH), x));
    (N::word_sub(shifted.bits(), N::word(ROUND.to_bits() as i32)), r.mul(r).mul_add(polynomial(r, EXP), r))
}

/// `2^n` for `-126 <= n <= 127`.
#[inline(always)]
fn power_of_two<N: Bits>(n: N::Word) -> N {
    N::from_bits(N::word_shl(N::word_add(n, N::word(127)), 23))
}

/// `e^x`. Two factors reach the whole range, subnormal results included.
#[inline(always)]
pub fn exp<N: Bits>(x: N) -> N {
    let (n, p) = split_exp(x.clamp(-104.0, 89.0));
    let half = N::word_sar(n, 1);
    let e = p.add(c(1.0)).mul(power_of_two(half)).mul(power_of_two(N::word_sub(n, half)));
    unless_nan(x, e)
}

/// Natural logarithm.
#[inline(always)]
pub fn ln<N: Bits>(x: N) -> N {
    let subnormal = x.lt(c(f64::from(f32::MIN_POSITIVE)));
    let (x1, e1) = (N::select(subnormal, x.mul(c(8_388_608.0)), x), N::select(subnormal, c(-23.0), c(0.0)));
    // The exponent that leaves a factor between sqrt(1/2) and sqrt(2).
    let n = N::word_sar(N::word_sub(x1.bits(), N::word((SQRT_2 / 2.0).to_bits() as i32)), 23);
    let f = N::from_bits(N::word_sub(x1.bits(), N::word_shl(n, 23))).sub(c(1.0));
    let e = N::from_word(n).add(e1);
    let tail = f.mul(f).mul_add(f.mul_add(polynomial(f, LN), c(-0.5)), e.mul(c(LN2_LOW)));
    let l = e.mul_add(c(LN2_HIGH), f.add(tail));
    let l = N::select(x.eq(c(f64::INFINITY)), x, l);
    let l = N::select(x.eq(c(0.0)), c(f64::NEG_INFINITY), l);
    N::select(c::<N>(0.0).le(x), l, c(f64::NAN))
}

/// `e^x - 1 = 2^n (e^r - 1) + (2^n - 1)`, halved on the way so that the largest results do not overflow early.
#[inline(always)]
pub fn exp_m1<N: Bits>(x: N) -> N {
    let (n, p) = split_exp(x.clamp(-25.0, 89.0));
    let s: N = power_of_two(N::word_sub(n, N::word(1)));
    let e = c::<N>(2.0).mul(s.mul_add(p, s.sub(c(0.5))));
    unless_nan(x, N::select(x.eq(c(0.0)), x, e))
}

/// `ln(1 + x)` as `ln(u)` for the rounded `u = 1 + x`, plus what the rounding lost, over `u`.
#[inline(always)]
pub fn ln_1p<N: Bits>(x: N) -> N {
    let u = c::<N>(1.0).add(x);
    let l = ln(u);
    let lost = x.sub(u.sub(c(1.0))).div(u);
    N::select(l.abs().lt(c(f64::INFINITY)), l.add(lost), l)
}

/// `tanh(x) = -m / (m + 2)` with `m = e^(-2|x|) - 1`.
#[inline(always)]
pub fn tanh<N: Bits>(x: N) -> N {
    let m = exp_m1(c::<N>(-2.0).mul(x.abs()));
    c::<N>(0.0).sub(m).div(m.add(c(2.0))).copysign(x)
}

/// The error function.
#[inline(always)]
pub fn erf<N: Bits>(x: N) -> N {
    let a = x.abs();
    let small = x.mul(polynomial(x.mul(x), ERF_SMALL));
    let (n, p) = split_exp(polynomial(a.clamp(0.0, 4.0), ERF_LARGE));
    let scale: N = power_of_two(n);
    let complement = p.mul_add(scale, scale);
    let large = N::select(a.lt(c(4.0)), c::<N>(1.0).sub(complement), c(1.0));
    unless_nan(x, N::select(a.lt(c(1.0)), small, large.copysign(x)))
}
