//! Quotients of many numbers by one, by its reciprocal: a division of vectors of 16 lanes takes 10 to 16 cycles, these instructions 4.

use super::{Accumulate, Binary, Compare, Function, Val};

/// What subnormal divisors are multiplied by: 2 to the power of 24.
const LARGE: f32 = (1 << 24) as f32;

/// A divisor of many numbers.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    by: Val,
    /// Where divisions take long: its magnitude, the reciprocal of that with a minus, and the dividend's factor, minus its sign. A subnormal
    /// number and its dividends are multiplied by a power of two, since its reciprocal could be infinite.
    factors: Option<[Val; 3]>,
}

impl Divisor {
    /// The number itself.
    pub fn number(&self) -> Val {
        self.by
    }
}

impl Function {
    /// Prepares divisions by `by`.
    pub fn divisor(&mut self, by: Val) -> Divisor {
        let factors = self.isa.avx512.then(|| {
            let (width, sign, others) = (self.width(by), self.word(0x8000_0000), self.word(0x7fff_ffff));
            let [least, minus_one, minus_large] = [f32::MIN_POSITIVE, -1.0, -LARGE].map(|x| self.splat_f32(width, x));
            let (size, own) = (self.binary(Binary::And, by, others), self.binary(Binary::And, by, sign));
            let is_subnormal = self.compare_f32(Compare::Lt, size, least);
            let minus = self.select(is_subnormal, minus_large, minus_one);
            let minus_size = self.binary(Binary::MulF32, size, minus);
            let size = self.binary(Binary::And, minus_size, others);
            [size, self.binary(Binary::DivF32, minus_one, size), self.binary(Binary::Xor, minus, own)]
        });
        Divisor { by, factors }
    }

    /// f32 `x / by`, rounded once where neither the quotient nor its remainder is subnormal: the first of two corrections by the remainder
    /// leaves an error of less than one unit in the last place, and from there on the second is exact ([Markstein's
    /// theorem](https://doi.org/10.1147/rd.341.0111)). Infinite and undefined quotients have no remainder.
    pub fn quotient(&mut self, x: Val, by: Divisor) -> Val {
        let Some([size, inverse, factor]) = by.factors else { return self.binary(Binary::DivF32, x, by.by) };
        let minus = self.binary(Binary::MulF32, x, factor);
        let first = self.binary(Binary::MulF32, minus, inverse);
        let mut quotient = first;
        for _ in 0..2 {
            // What the quotient is too large by, so that one that is exactly zero keeps its sign.
            let excess = self.copy_of(minus);
            self.accumulate(Accumulate::FmaF32, excess, quotient, size);
            quotient = self.copy_of(quotient);
            self.accumulate(Accumulate::FmaF32, quotient, excess, inverse);
        }
        let is_number = self.compare_f32(Compare::Eq, quotient, quotient);
        self.select(is_number, quotient, first)
    }
}
