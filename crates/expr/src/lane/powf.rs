//! `x^p` by `f64` arithmetic, whose spare digits keep the result exact to the last place or so of `f32`.

use std::f64::consts::{LN_2, LOG2_E};

/// `ln((1 + f) / (1 - f)) = 2 f (1 + f^2/3 + f^4/5 + ...)`, seven terms for `|f| < 0.172`.
const LN: [f64; 7] = [1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0];
/// The exponential series, for `|r| <= ln(2)/2`.
const EXP: [f64; 9] = [1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0];
/// Adding it rounds to a whole number, which then stands in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

#[inline(always)]
fn polynomial<const FMA: bool, const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let mut p = c[N - 1];
    for k in (0..N - 1).rev() {
        p = if FMA { p.mul_add(x, c[k]) } else { p * x + c[k] };
    }
    p
}

/// Base-2 logarithm of a positive finite number.
#[inline(always)]
fn log2<const FMA: bool>(x: f64) -> f64 {
    const SQRT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let bits = x.to_bits().wrapping_sub(SQRT_HALF);
    let n = bits & !0u64 << 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub(n));
    let exponent = f64::from((n >> 32) as i32 >> 20);
    let f = (m - 1.0) / (m + 1.0);
    exponent + 2.0 * LOG2_E * f * polynomial::<FMA, 7>(f * f, LN)
}

/// `2^y` for `|y| < 1000`.
#[inline(always)]
fn exp2<const FMA: bool>(y: f64) -> f64 {
    let shifted = y + ROUND;
    let r = y - (shifted - ROUND);
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    scale * polynomial::<FMA, 9>(r * LN_2, EXP)
}

/// As [`f64::powf`] rounded to `f32`.
#[inline(always)]
pub(super) fn powf<const FMA: bool>(x: f32, p: f64) -> f32 {
    let is_integer = p.trunc() == p;
    let odd = is_integer && p.abs() < 9e15 && (p as i64) & 1 == 1;
    if p == 0.0 {
        return 1.0;
    }
    let a = f64::from(x.abs());
    let power = exp2::<FMA>((p * log2::<FMA>(a)).clamp(-300.0, 300.0));
    let (at_zero, at_infinity) = if p > 0.0 { (0.0, f64::INFINITY) } else { (f64::INFINITY, 0.0) };
    let power = if a == 0.0 { at_zero } else { power };
    let power = if a == f64::INFINITY { at_infinity } else { power };
    // For an infinite exponent the logarithm of 1 says nothing.
    let power = if a == 1.0 { 1.0 } else { power } as f32;
    let negative = if !is_integer && x != 0.0 && x != f32::NEG_INFINITY {
        f32::NAN
    } else if odd {
        -power
    } else {
        power
    };
    let value = if x.is_sign_negative() { negative } else { power };
    if x.is_nan() { x } else { value }
}
