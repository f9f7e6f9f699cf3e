//! `Num`: the arithmetic that formulas are written in, and its definition for `f64`.

mod erf;
#[cfg(test)]
mod tests;

/// A number, or a vector of numbers, that formulas compute with.
///
/// Comparisons give a mask that [`Num::select`] takes. Operations are element-wise; NaN in gives NaN out unless said otherwise.
pub trait Num: Copy {
    /// The result of a comparison.
    type Mask: Copy;
    /// A constant.
    fn constant(v: f64) -> Self;
    /// `self + o`.
    fn add(self, o: Self) -> Self;
    /// `self - o`.
    fn sub(self, o: Self) -> Self;
    /// `self * o`.
    fn mul(self, o: Self) -> Self;
    /// `self / o`.
    fn div(self, o: Self) -> Self;
    /// `self * a + b`, rounded once where the hardware can.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The larger; the other operand where one is NaN.
    fn max(self, o: Self) -> Self;
    /// The smaller; the other operand where one is NaN.
    fn min(self, o: Self) -> Self;
    /// Not below `low` and then not above `high`; NaN stays NaN.
    fn clamp(self, low: f64, high: f64) -> Self;
    /// `|self|`.
    fn abs(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// `e^self`.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// `e^self - 1`, without cancellation near 0.
    fn exp_m1(self) -> Self;
    /// `ln(1 + self)` for numbers between 0 and 1, without cancellation near 0.
    fn ln_1p(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Error function.
    fn erf(self) -> Self;
    /// `self^p` for a constant exponent.
    fn powf(self, p: f64) -> Self;
    /// To the nearest whole number, ties to even.
    fn round(self) -> Self;
    /// `self < o`.
    fn lt(self, o: Self) -> Self::Mask;
    /// `self <= o`.
    fn le(self, o: Self) -> Self::Mask;
    /// `self == o`.
    fn eq(self, o: Self) -> Self::Mask;
    /// `mask ? a : b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
}

impl Num for f64 {
    type Mask = bool;
    #[inline(always)]
    fn constant(v: f64) -> f64 {
        v
    }
    #[inline(always)]
    fn add(self, o: f64) -> f64 {
        self + o
    }
    #[inline(always)]
    fn sub(self, o: f64) -> f64 {
        self - o
    }
    #[inline(always)]
    fn mul(self, o: f64) -> f64 {
        self * o
    }
    #[inline(always)]
    fn div(self, o: f64) -> f64 {
        self / o
    }
    #[inline(always)]
    fn mul_add(self, a: f64, b: f64) -> f64 {
        self * a + b
    }
    #[inline(always)]
    fn max(self, o: f64) -> f64 {
        f64::max(self, o)
    }
    #[inline(always)]
    fn min(self, o: f64) -> f64 {
        f64::min(self, o)
    }
    #[inline(always)]
    fn clamp(self, low: f64, high: f64) -> f64 {
        let x = if self < low { low } else { self };
        if high < x { high } else { x }
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    #[inline(always)]
    fn exp_m1(self) -> f64 {
        f64::exp_m1(self)
    }
    #[inline(always)]
    fn ln_1p(self) -> f64 {
        f64::ln_1p(self)
    }
    #[inline(always)]
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
    fn erf(self) -> f64 {
        erf::erf(self)
    }
    #[inline(always)]
    fn powf(self, p: f64) -> f64 {
        f64::powf(self, p)
    }
    #[inline(always)]
    fn round(self) -> f64 {
        self.round_ties_even()
    }
    #[inline(always)]
    fn lt(self, o: f64) -> bool {
        self < o
    }
    #[inline(always)]
    fn le(self, o: f64) -> bool {
        self <= o
    }
    #[inline(always)]
    fn eq(self, o: f64) -> bool {
        self == o
    }
    #[inline(always)]
    fn select(mask: bool, a: f64, b: f64) -> f64 {
        if mask { a } else { b }
    }
}
