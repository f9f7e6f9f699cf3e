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
}

/// The elementary functions of this module as methods: part of the `impl` of [`Num`] for a type that has [`Bits`].
#[macro_export]
macro_rules! functions_of_bits {
    () => {
        $crate::functions_of_bits!(exp ln exp_m1 ln_1p tanh erf);
    };
    ($($name:ident)+) => {
        $(#[inline(always)]
        fn $name(self) -> Self {
            $crate::functions::$name(self)
        })+
    };
}

/// `e^r = 1 + r EXP(r)`: to a relative error of `1.8e-8` for `|r| <= ln(2)/2`, ten times that up to `ln(2)`.
const EXP: [f64; 6] = [1.0, 0.500001143581825, 0.16666543627268962, 0.04163749218206545, 0.008363676010565346, 0.0015518181074296936];
/// `2^r = 1 + r EXP2(r)`: the polynomial of `EXP` in `r ln(2)`.
const EXP2: [f64; 6] = {
    let (mut coefficients, mut power, mut k) = (EXP, 1.0, 0);
    while k < coefficients.len() {
        power *= std::f64::consts::LN_2;
        coefficients[k] *= power;
        k += 1;
    }
    coefficients
};
/// `2^r = 1 + r EXP2_SHORT(r)` for `|r| <= 1/2`, to a relative error of `7e-6`.
const EXP2_SHORT: [f64; 4] = [0.6931367338836215, 0.24022530097412195, 0.05583828294621972, 0.009656710288546807];
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
/// `tanh(x) = x P(x^2) / Q(x^2)` up to a bound, where it is 1 or a little more, which is cut: the bound, `P`, `Q`.
const TANH: (f64, [f64; 6], [f64; 4]) = (
    9.2,
    [
        0.9999999281182977,
        0.12906816062360768,
        0.0029074550568895983,
        9.147104337073568e-06,
        -1.2426358785107535e-08,
        1.7375698586793523e-11,
    ],
    [1.0, 0.46240089813310187, 0.023708584887491755, 0.0002262674999277604],
);
/// The same of `erf(x)`.
const ERF: (f64, [f64; 7], [f64; 5]) = (
    4.0,
    [
        1.1283790940026008,
        0.2071118927407582,
        0.051523326920553586,
        0.003990075589006193,
        0.00014728193146901677,
        -1.9425399152351716e-06,
        1.911747523112184e-08,
    ],
    [1.0, 0.5168793843187156, 0.11796542013826479, 0.01495704196482667, 0.001021012492314492],
);

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

/// The largest exponent of a finite number.
const MOST: f64 = 127.0;

/// `(n + ROUND, r)` with `x = n ln(2) + r` for `|x| <= 89`, where `n` is at most [`MOST`] and `|r| <= ln(2)/2`, except for the largest
/// finite results, for which it is at most `ln(2)`.
#[inline(always)]
fn reduced<N: Bits>(x: N) -> (N, N) {
    let shifted = x.mul_add(c(f64::from(std::f32::consts::LOG2_E)), c(f64::from(ROUND))).min(c(f64::from(ROUND) + MOST));
    let n = shifted.sub(c(f64::from(ROUND)));
    (shifted, n.mul_add(c(-LN2_LOW), n.mul_add(c(-LN2_HIGH), x)))
}

/// The whole number in the low bits of `shifted`.
#[inline(always)]
fn word_of<N: Bits>(shifted: N) -> N::Word {
    N::word_sub(shifted.bits(), N::word(ROUND.to_bits() as i32))
}

/// `2^n` for `-126 <= n <= 127`.
#[inline(always)]
fn power_of_two<N: Bits>(n: N::Word) -> N {
    N::from_bits(N::word_shl(N::word_add(n, N::word(127)), 23))
}

/// `x * 2^n` for `-126 <= n <= 127`, and 0 for `n = -127`; `shifted` is `n +` [`ROUND`], which a shift by the digits of the mantissa
/// reduces to the bits of `n`. No power of two is subnormal: subnormal operands take a hundred times as long on some processors.
#[inline(always)]
fn scaled<N: Bits>(x: N, shifted: N) -> N {
    x.mul(N::from_bits(N::word_add(N::word_shl(shifted.bits(), 23), N::word(1.0_f32.to_bits() as i32))))
}

/// `e^x`; 0 below `-126.5 ln(2)`.
#[inline(always)]
pub fn exp<N: Bits>(x: N) -> N {
    let (shifted, r) = reduced(x.clamp(-88.0, 89.0));
    scaled(polynomial(r, EXP).mul_add(r, c(1.0)), shifted)
}

/// Where [`exp2`] is zero, and beyond which it is infinite.
const EXP2_ENDS: [f64; 2] = [-127.0, 129.0];

/// The numbers that [`exp2`] needs besides its argument, for code that keeps them in registers.
pub fn exp2_constants() -> impl Iterator<Item = f64> {
    EXP2_ENDS.into_iter().chain([f64::from(ROUND), f64::from(ROUND) + MOST, 1.0]).chain(EXP2)
}

/// The same of [`exp2_short`].
pub fn exp2_short_constants() -> impl Iterator<Item = f64> {
    [EXP2_ENDS[0], f64::from(ROUND), 1.0].into_iter().chain(EXP2_SHORT)
}

/// `2^x`; 0 below -126.5.
#[inline(always)]
pub fn exp2<N: Bits>(x: N) -> N {
    let x = x.clamp(EXP2_ENDS[0], EXP2_ENDS[1]);
    binary_power(x, x.add(c(f64::from(ROUND))).min(c(f64::from(ROUND) + MOST)), EXP2)
}

/// `2^x` for `x <= 127` where a rounding to 16 bits follows: to a relative error of `7e-6`; 0 below -126.5.
#[inline(always)]
pub fn exp2_short<N: Bits>(x: N) -> N {
    let x = x.clamp(EXP2_ENDS[0], f64::INFINITY);
    binary_power(x, x.add(c(f64::from(ROUND))), EXP2_SHORT)
}

/// `2^x` by a polynomial of the difference between `x` and the whole number in `shifted`.
#[inline(always)]
fn binary_power<N: Bits, const K: usize>(x: N, shifted: N, fraction: [f64; K]) -> N {
    let r = x.sub(shifted.sub(c(f64::from(ROUND))));
    scaled(polynomial(r, fraction).mul_add(r, c(1.0)), shifted)
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
    let (shifted, r) = reduced(x.clamp(-25.0, 89.0));
    let p = r.mul(polynomial(r, EXP));
    let s: N = power_of_two(N::word_sub(word_of(shifted), N::word(1)));
    let e = c::<N>(2.0).mul(s.mul_add(p, s.sub(c(0.5))));
    N::select(x.eq(c(0.0)), x, e)
}

/// `ln(1 + x)` for `0 <= x <= 1`: as `ln(2) + ln(1 + f)` for `f = (x - 1) / 2` where that is nearer to 0. No square is taken of small numbers: it would be
/// subnormal long before they are, and slow.
#[inline(always)]
pub fn ln_1p<N: Bits>(x: N) -> N {
    let above = c::<N>(f64::from(SQRT_2) - 1.0).lt(x);
    let f = N::select(above, x.mul_add(c(0.5), c(-0.5)), x);
    let e = N::select(above, c(std::f64::consts::LN_2), c(0.0));
    e.add(f.mul_add(f.mul(f.mul_add(polynomial(f, LN), c(-0.5))), f))
}

/// Added to squares, so that they are never subnormal, and slow; far below the rounding errors of the polynomials of them.
const LEAST_SQUARE: f64 = 1e-30;

/// An odd function by its quotient.
#[inline(always)]
fn quotient<N: Bits, const P: usize, const Q: usize>(x: N, (end, p, q): (f64, [f64; P], [f64; Q])) -> N {
    let x = x.clamp(-end, end);
    let square = x.mul_add(x, c(LEAST_SQUARE));
    x.mul(polynomial(square, p)).div(polynomial(square, q)).clamp(-1.0, 1.0)
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<N: Bits>(x: N) -> N {
    quotient(x, TANH)
}

/// The error function.
#[inline(always)]
pub fn erf<N: Bits>(x: N) -> N {
    quotient(x, ERF)
}
