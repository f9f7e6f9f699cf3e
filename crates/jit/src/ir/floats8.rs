//! 8-bit floats, which no instruction converts: bit arithmetic on their codes, the same for all instruction sets.

use super::{Binary, Compare, Elem, Function, Src, Unary, Val};

impl Elem {
    /// Whether it is a float of 8 bits.
    pub(super) const fn is_f8(self) -> bool {
        matches!(self, Elem::F8E5m2 | Elem::F8E4m3)
    }
}

impl Function {
    /// A word in every lane, as the last source of an instruction.
    pub(super) fn word(&mut self, word: u32) -> Src {
        Src::Splat(self.constant(&word.to_le_bytes()))
    }

    /// The 8-bit floats in one byte of every word, by way of f16, which has all of their values: the first format is its upper byte. The
    /// second has a bit of exponent less and other codes for NaN: the sum of its magnitude and one carries into the bit that
    /// all other exponents leave 0.
    pub(crate) fn f32_from_f8(&mut self, elem: Elem, x: Val, byte: u8) -> Val {
        if elem == Elem::F8E5m2 {
            let low = if byte == 0 { x } else { self.unary(Unary::ShrI32(8 * byte), x) };
            let half = self.unary(Unary::ShlI32(8), low);
            return self.unary(Unary::F32FromLowF16, half);
        }
        let high = if byte == 3 { x } else { self.unary(Unary::ShlI32(24 - 8 * byte), x) };
        // The sign is in bits 14 and 15, the magnitude below.
        let wide = self.unary(Unary::SarI32(17), high);
        let (one, carry, number) = (self.word(0x80), self.word(0x4000), self.word(0xbf80));
        let next = self.binary(Binary::AddI32, wide, one);
        let carried = self.binary(Binary::Xor, next, wide);
        let nan = self.binary(Binary::And, carried, carry);
        let finite = self.binary(Binary::And, wide, number);
        let half = self.binary(Binary::Or, finite, nan);
        let scaled = self.unary(Unary::F32FromLowF16, half);
        let factor = self.word(256_f32.to_bits());
        self.binary(Binary::MulF32, scaled, factor)
    }

    /// The codes of the nearest 8-bit floats, in the low bytes of words whose other bytes are 0. Normal numbers are rounded by adding just
    /// less than half a unit in the last place, or half where the last digit is odd; subnormal ones by adding a power of two whose
    /// unit in the last place is theirs.
    pub(super) fn f8_from_f32(&mut self, elem: Elem, x: Val) -> Val {
        let (mantissa, bias, beyond) = if elem == Elem::F8E5m2 { (2, 15, 0x7c) } else { (3, 7, 0x7f) };
        let (cut, least, grid) = (23 - mantissa, (128 - bias) << 23, (151 - bias - mantissa) << 23);
        let width = self.width(x);
        let (all, last) = (self.word(0x7fff_ffff), self.word(1));
        let magnitude = self.binary(Binary::And, x, all);
        let odd = self.unary(Unary::ShrI32(cut as u8), magnitude);
        let odd = self.binary(Binary::And, odd, last);
        let (half, rebased) = (self.word((1 << (cut - 1)) - 1), self.word((127 - bias) << mantissa));
        let above = self.binary(Binary::AddI32, magnitude, half);
        let above = self.binary(Binary::AddI32, above, odd);
        let normal = self.unary(Unary::ShrI32(cut as u8), above);
        let normal = self.binary(Binary::SubI32, normal, rebased);
        let grid = self.word(grid);
        let subnormal = self.binary(Binary::AddF32, magnitude, grid);
        let subnormal = self.binary(Binary::SubI32, subnormal, grid);
        let least = self.splat_i32(width, least as i32);
        let small = self.compare_i32(Compare::Lt, magnitude, least);
        let code = self.select(small, subnormal, normal);
        let beyond = self.word(beyond);
        let mut code = self.binary(Binary::MinI32, code, beyond);
        if elem == Elem::F8E5m2 {
            // The other format has no infinity: what is beyond its numbers is NaN.
            let (is_nan, nan) = (self.compare_f32(Compare::Ne, x, x), self.splat_i32(width, 0x7e));
            code = self.select(is_nan, nan, code);
        }
        let (sign, bit) = (self.unary(Unary::ShrI32(24), x), self.word(0x80));
        let sign = self.binary(Binary::And, sign, bit);
        self.binary(Binary::Or, code, sign)
    }
}
