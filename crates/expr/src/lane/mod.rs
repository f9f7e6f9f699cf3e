//! `Lane`: a number in `f32` whose functions have no branches, so that plain loops over slices of it become vector code.
//!
//! A kernel writes `for x in row { *x = formula(Lane::<FMA>(*x)).0 }`, inlined into a function compiled for a wide instruction set; LLVM's loop
//! vectoriser does the rest. (Arrays of lanes as one value do not vectorise: formulas are deeper than LLVM's search in straight-line code.)
//! `FMA` says that a fused multiply-add is one instruction there; without it one would be a slow library call.
//!
//! The functions are those of [`crate::functions`], powers aside. Largest relative errors measured over dense sweeps (`tests.rs`), with FMA
//! or without: exp 1.1e-7, exp_m1 1.6e-7, ln 9e-8, ln_1p 1.5e-7, tanh 3.5e-7, erf 4.1e-7, powf 6e-8. `accuracy.rs` bounds the resulting
//! errors of the element-wise formulas, over all numbers.

#[cfg(test)]
mod accuracy;
mod map;
mod powf;
#[cfg(test)]
mod tests;

pub use map::{Formula, WithFormula, backward, dispatch, forward};

use crate::Num;
use crate::functions::Bits;

/// One `f32`; see the module.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Lane<const FMA: bool>(pub f32);

impl<const FMA: bool> Lane<FMA> {
    #[inline(always)]
    fn fma(a: f32, b: f32, c: f32) -> f32 {
        if FMA { a.mul_add(b, c) } else { a * b + c }
    }
}

/// To the nearest whole number, ties to even: from 2^23 on all numbers are whole.
#[inline(always)]
pub(crate) fn round(x: f32) -> f32 {
    const TWO_POW_23: f32 = 8_388_608.0;
    let a = x.abs();
    let r = ((a + TWO_POW_23) - TWO_POW_23).copysign(x);
    if a < TWO_POW_23 { r } else { x }
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
    fn clamp(self, low: f64, high: f64) -> Self {
        let (low, high) = (low as f32, high as f32);
        let x = if self.0 < low { low } else { self.0 };
        Lane(if high < x { high } else { x })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Lane(self.0.abs())
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Lane(self.0.sqrt())
    }
    crate::functions_of_bits!();
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

impl<const FMA: bool> Bits for Lane<FMA> {
    type Word = i32;
    #[inline(always)]
    fn word(v: i32) -> i32 {
        v
    }
    #[inline(always)]
    fn bits(self) -> i32 {
        self.0.to_bits() as i32
    }
    #[inline(always)]
    fn from_bits(w: i32) -> Self {
        Lane(f32::from_bits(w as u32))
    }
    #[inline(always)]
    fn from_word(w: i32) -> Self {
        Lane(w as f32)
    }
    #[inline(always)]
    fn word_add(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn word_sub(a: i32, b: i32) -> i32 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn word_shl(w: i32, n: u8) -> i32 {
        w << n
    }
    #[inline(always)]
    fn word_sar(w: i32, n: u8) -> i32 {
        w >> n
    }
}
