//! `Num`: the arithmetic that formulas are written in.

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
    /// `|self|`.
    fn abs(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// `e^self`.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
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
