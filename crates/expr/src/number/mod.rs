//! The numbers of every data type, exactly: bits to `f64` and back.
//!
//! This is the definition of the types. The fast paths of `convert` are tested against it.
//!
//! Rounding is to nearest, ties to even. Overflow by type:
//!
//! | type | beyond the largest value | NaN |
//! |---|---|---|
//! | s32 s64 s8 u8 s4 u4 | saturates | 0 |
//! | boolean | any value but 0 is 1 | 0 |
//! | f64 f32 f16 bf16 f8_e5m2 | infinity | NaN |
//! | f8_e4m3 (no infinity) | NaN, as OCP's conversion without saturation | NaN |
//! | f4_e2m1 f4_e3m0 (neither) | saturates | largest magnitude, sign kept |
//! | e8m0 (no sign, no zero) | NaN | NaN |
//!
//! e8m0 takes the power of two at or below the magnitude (its exponent; the sign is dropped, magnitudes below 2^-127 give 2^-127), as oneDNN does;
//! the OCP MX rule for block scales needs just that. f4_e3m0 has no mantissa: a tie goes to the larger magnitude, as IEEE 754 has it for one digit.
//! `f64` holds every value of every type but s64, whose values beyond 2^53 are rounded.

#[cfg(test)]
mod tests;

use oxidnn_spec::DataType;

/// The treatment of values beyond the largest finite one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overflow {
    /// The code after the largest finite one is infinity; NaNs follow.
    Infinity,
    /// There is no infinity; the code after the largest finite one is NaN.
    Nan,
    /// There is neither.
    Saturate,
}

/// A binary floating-point format with a sign bit and subnormal numbers: sign, exponent, mantissa from the top bit down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FloatFormat {
    /// Exponent bits.
    pub exponent: u32,
    /// Mantissa bits, the implicit one not counted.
    pub mantissa: u32,
    /// Subtracted from the exponent field.
    pub bias: i32,
    /// Largest finite code without the sign.
    pub max: u64,
    /// Beyond it.
    pub overflow: Overflow,
}

impl FloatFormat {
    /// The format of a type; `None` for integral types, for e8m0, and for f64 itself.
    #[inline(always)]
    pub const fn of(dtype: DataType) -> Option<FloatFormat> {
        use Overflow::{Infinity, Nan, Saturate};
        let (exponent, mantissa, max, overflow) = match dtype {
            DataType::F32 => (8, 23, 0x7f7f_ffff, Infinity),
            DataType::Bf16 => (8, 7, 0x7f7f, Infinity),
            DataType::F16 => (5, 10, 0x7bff, Infinity),
            DataType::F8E5m2 => (5, 2, 0x7b, Infinity),
            DataType::F8E4m3 => (4, 3, 0x7e, Nan),
            DataType::F4E2m1 => (2, 1, 0x7, Saturate),
            DataType::F4E3m0 => (3, 0, 0x7, Saturate),
            _ => return None,
        };
        Some(FloatFormat { exponent, mantissa, bias: (1 << (exponent - 1)) - 1, max, overflow })
    }

    /// The sign bit.
    #[inline(always)]
    pub const fn sign(&self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    /// The code that stands for NaN (for the largest magnitude where there is none), without a sign.
    #[inline(always)]
    pub const fn nan(&self) -> u64 {
        match self.overflow {
            Overflow::Infinity => self.max + 1 + (1 << (self.mantissa - 1)),
            Overflow::Nan => self.max + 1,
            Overflow::Saturate => self.max,
        }
    }

    /// The code, without a sign, for a magnitude beyond the largest finite value.
    #[inline(always)]
    pub const fn beyond(&self) -> u64 {
        match self.overflow {
            Overflow::Saturate => self.max,
            _ => self.max + 1,
        }
    }

    /// The value of a code; bits above the sign are ignored.
    pub fn decode(&self, bits: u64) -> f64 {
        let code = bits & (self.sign() - 1);
        let magnitude = if code > self.max {
            if self.overflow == Overflow::Infinity && code == self.max + 1 { f64::INFINITY } else { f64::NAN }
        } else {
            let (exponent, mantissa) = (code >> self.mantissa, code & ((1 << self.mantissa) - 1));
            let digits = if exponent == 0 { mantissa } else { mantissa | 1 << self.mantissa };
            digits as f64 * power_of_two(exponent.max(1) as i32 - self.bias - self.mantissa as i32)
        };
        if bits & self.sign() == 0 { magnitude } else { -magnitude }
    }

    /// The code of the value nearest to `v`, ties to even.
    pub fn encode(&self, v: f64) -> u64 {
        let sign = if v.is_sign_negative() { self.sign() } else { 0 };
        if v.is_nan() {
            return sign | self.nan();
        }
        if v.is_infinite() {
            return sign | self.beyond();
        }
        let (exponent, quantum) = self.quantum(v);
        let digits = (v.abs() / quantum).round_ties_even() as u64;
        sign | self.code(exponent, digits)
    }

    /// Exponent of the binade of `v` (at least that of the smallest normal number) and the distance of the values there.
    pub(crate) fn quantum(&self, v: f64) -> (i32, f64) {
        let exponent = (((v.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(1 - self.bias);
        (exponent, power_of_two(exponent - self.mantissa as i32))
    }

    /// The code of `digits` quanta in the binade `exponent`; a carry into the next binade comes out right by itself.
    pub(crate) fn code(&self, exponent: i32, digits: u64) -> u64 {
        let code = (((exponent + self.bias - 1) as u64) << self.mantissa) + digits;
        if code > self.max { self.beyond() } else { code }
    }
}

/// `2^e` for exponents of normal `f64` numbers.
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// The value of the element whose bits are the low bits of `bits`.
pub fn decode(dtype: DataType, bits: u64) -> f64 {
    match dtype {
        DataType::F64 => f64::from_bits(bits),
        DataType::F32 => f64::from(f32::from_bits(bits as u32)),
        DataType::S32 => f64::from(bits as i32),
        DataType::S64 => bits as i64 as f64,
        DataType::S8 => f64::from(bits as i8),
        DataType::U8 => f64::from(bits as u8),
        DataType::S4 => f64::from(((bits as i8) << 4) >> 4),
        DataType::U4 => f64::from(bits as u8 & 15),
        DataType::Boolean => f64::from(u8::from(bits & 0xff != 0)),
        DataType::E8m0 => match bits as u8 {
            255 => f64::NAN,
            code => power_of_two(i32::from(code) - 127),
        },
        small => FloatFormat::of(small).map_or(f64::NAN, |f| f.decode(bits)),
    }
}

/// The bits of the element nearest to `value`, in the low bits; see the module for rounding and overflow.
pub fn encode(dtype: DataType, value: f64) -> u64 {
    match dtype {
        DataType::F64 => value.to_bits(),
        DataType::F32 => u64::from((value as f32).to_bits()),
        DataType::S64 => value.round_ties_even() as i64 as u64,
        DataType::Boolean => u64::from(value != 0.0 && !value.is_nan()),
        DataType::E8m0 => encode_e8m0(value),
        d => match FloatFormat::of(d) {
            Some(f) => f.encode(value),
            None => {
                let (low, high) = integral_bounds(d);
                (value.round_ties_even().clamp(low, high) as i64 as u64) & (u64::MAX >> (64 - d.bits()))
            }
        },
    }
}

/// Smallest and largest value of an integral type (s64's rounded to `f64`); infinite for the others.
pub const fn integral_bounds(dtype: DataType) -> (f64, f64) {
    match dtype {
        DataType::S64 => (i64::MIN as f64, i64::MAX as f64),
        DataType::S32 => (i32::MIN as f64, i32::MAX as f64),
        DataType::S8 => (-128.0, 127.0),
        DataType::U8 => (0.0, 255.0),
        DataType::S4 => (-8.0, 7.0),
        DataType::U4 => (0.0, 15.0),
        DataType::Boolean => (0.0, 1.0),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// The smallest finite value of a type.
pub fn lowest(dtype: DataType) -> f64 {
    match FloatFormat::of(dtype) {
        Some(f) => -f.decode(f.max),
        None if dtype == DataType::F64 => f64::MIN,
        None if dtype == DataType::E8m0 => power_of_two(-127),
        None => integral_bounds(dtype).0,
    }
}

/// The value nearest to `value` that the type has.
pub fn round_to(dtype: DataType, value: f64) -> f64 {
    decode(dtype, encode(dtype, value))
}

fn encode_e8m0(v: f64) -> u64 {
    let exponent = ((v.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    if exponent > 127 { 255 } else { (exponent + 127).max(0) as u64 }
}
