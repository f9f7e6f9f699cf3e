//! Quotients of many numbers by one, by its reciprocal: a division of vectors of 16 lanes takes 10 to 16 cycles, these instructions 4.

use super::{Accumulate, Binary, Compare, Function, Val};

/// A divisor of many numbers.
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    by: Val,
    /// Where divisions take long: its magnitude, the reciprocal of that with a minus, and the bits that change a dividend's sign where its
    /// own is plus.
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
            let (sign, others) = (self.word(0x8000_0000), self.word(0x7fff_ffff));
            let (size, own) = (self.binary(Binary::And, by, others), self.binary(Binary::And, by, sign));
            let minus_one = self.splat_f32(self.width(by), -1.0);
            [size, self.binary(Binary::DivF32, minus_one, size), self.binary(Binary::Xor, own, sign)]
        });
        Divisor { by, factors }
    }

    /// f32 `x / by`, rounded once where neither the quotient nor its remainder is subnormal: the first of two corrections by the remainder
    /// leaves an error of less than one unit in the last place, and from there on the second is exact ([Markstein's
    /// theorem](https://doi.org/10.1147/rd.341.0111)). Infinite and undefined quotients have no remainder.
    pub fn quotient(&mut self, x: Val, by: Divisor) -> Val {
        let Some([size, inverse, turn]) = by.factors else { return self.binary(Binary::DivF32, x, by.by) };
        let minus = self.binary(Binary::Xor, x, turn);
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
