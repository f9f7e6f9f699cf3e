//! 8-bit floats, which no instruction converts: bit arithmetic on their codes, the same for all instruction sets.

use super::{Accumulate, Binary, Compare, Elem, Function, Src, Unary, Val};

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

    /// The codes of the nearest 8-bit floats, in the low bytes of words whose other bytes are 0. Numbers are rounded by adding one and a half
    /// times a power of two whose unit in the last place is theirs: the last bits of the sum count these units.
    pub(super) fn f8_from_f32(&mut self, elem: Elem, x: Val) -> Val {
        // The last number's code is that of infinity, or of NaN in the other format.
        let (mantissa, bias, beyond) = if elem == Elem::F8E5m2 { (2, 15, 65536_f32) } else { (3, 7, 480_f32) };
        let (cut, middle) = (23 - mantissa, 1 << 22);
        let unit = f32::from_bits((127 + cut) << 23 | middle);
        let (all, beyond) = (self.word(0x7fff_ffff), self.word(beyond.to_bits()));
        let magnitude = self.binary(Binary::And, x, all);
        let magnitude = self.binary(Binary::MinF32, magnitude, beyond);
        let (exponents, least) = (self.word(0xff << 23), self.word((128 - bias) << 23));
        let power = self.binary(Binary::And, magnitude, exponents);
        let power = self.binary(Binary::MaxI32, power, least);
        let unit = self.word(unit.to_bits());
        self.accumulate(Accumulate::FmaF32, magnitude, power, unit);
        let units = self.binary(Binary::SubI32, magnitude, power);
        let exponent = self.unary(Unary::ShrI32(cut as u8), power);
        let code = self.binary(Binary::AddI32, units, exponent);
        // Numbers of the least exponent may be subnormal, and begin at 0.
        let rebased = self.word((cut << 23 | middle) + ((128 - bias) << mantissa));
        let mut code = self.binary(Binary::SubI32, code, rebased);
        if elem == Elem::F8E5m2 {
            let (is_nan, nan) = (self.compare_f32(Compare::Ne, x, x), self.splat_i32(self.width(x), 0x7e));
            code = self.select(is_nan, nan, code);
        }
        let (sign, bit) = (self.unary(Unary::ShrI32(24), x), self.word(0x80));
        let sign = self.binary(Binary::And, sign, bit);
        self.binary(Binary::Or, code, sign)
    }
}
