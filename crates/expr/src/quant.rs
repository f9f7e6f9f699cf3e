//! Quantisation: real numbers kept as whole numbers (or short floats) with a scale and a zero point.

#[cfg(test)]
mod tests;

use crate::{Num, number};
use oxidnn_spec::DataType;

/// The real number that `q` stands for: `scale * (q - zero_point)`.
#[inline(always)]
pub fn dequantise<N: Num>(q: N, scale: N, zero_point: N) -> N {
    q.sub(zero_point).mul(scale)
}

/// The stored number, before rounding and saturation, of the real number `x`: `x / scale + zero_point`.
#[inline(always)]
pub fn quantise<N: Num>(x: N, scale: N, zero_point: N) -> N {
    x.div(scale).add(zero_point)
}

/// Smallest and largest `f32` that a whole-number type holds: for s32 and s64 the upper bound is the largest `f32` below 2^31 or 2^63.
/// Infinite for float types.
pub fn bounds(dtype: DataType) -> (f32, f32) {
    let (low, high) = number::integral_bounds(dtype);
    let beyond = matches!(dtype, DataType::S32 | DataType::S64);
    (low as f32, if beyond { (high as f32).next_down() } else { high as f32 })
}

/// The result of an exact sum of products of integers: `alpha * sum + beta * old + offset`, halves rounded away from zero as BLAS-like
/// interfaces do, saturated.
#[inline]
pub fn combine(alpha: f32, sum: i32, beta: f32, old: i32, offset: i32) -> i32 {
    let term = |factor: f32, value: i32| f64::from(factor) * f64::from(value);
    (term(alpha, sum) + term(beta, old) + f64::from(offset)).round() as i32
}
