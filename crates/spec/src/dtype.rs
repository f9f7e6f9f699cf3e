//! Data types of tensor elements.

use std::fmt;
use std::str::FromStr;

/// The type of one tensor element.
///
/// 4-bit types are packed two to a byte, the element with the even offset in the low nibble.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum DataType {
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// IEEE 754 half precision.
    F16,
    /// bfloat16: 8 exponent bits, 7 mantissa bits.
    Bf16,
    /// 32-bit signed integer.
    S32,
    /// 64-bit signed integer.
    S64,
    /// 8-bit signed integer.
    S8,
    /// 8-bit unsigned integer.
    U8,
    /// 4-bit signed integer, two to a byte.
    S4,
    /// 4-bit unsigned integer, two to a byte.
    U4,
    /// OCP 8-bit float, 5 exponent bits, with infinities.
    F8E5m2,
    /// OCP 8-bit float, 4 exponent bits, no infinities.
    F8E4m3,
    /// OCP power-of-two scale: 8 exponent bits, no sign, no mantissa.
    E8m0,
    /// OCP 4-bit float, 2 exponent bits, two to a byte.
    F4E2m1,
    /// 4-bit float, 3 exponent bits, no mantissa, two to a byte.
    F4E3m0,
    /// One byte, 0 or 1.
    Boolean,
}

use DataType::*;

impl DataType {
    /// Every data type, in oneDNN's order of names.
    pub const ALL: [DataType; 16] = [F16, Bf16, F32, S32, S8, U8, F64, Boolean, F8E5m2, F8E4m3, S4, U4, E8m0, F4E2m1, F4E3m0, S64];

    /// The type's name in the specification, `f32` or `f8_e4m3` for example.
    pub const fn name(self) -> &'static str {
        match self {
            F32 => "f32",
            F64 => "f64",
            F16 => "f16",
            Bf16 => "bf16",
            S32 => "s32",
            S64 => "s64",
            S8 => "s8",
            U8 => "u8",
            S4 => "s4",
            U4 => "u4",
            F8E5m2 => "f8_e5m2",
            F8E4m3 => "f8_e4m3",
            E8m0 => "e8m0",
            F4E2m1 => "f4_e2m1",
            F4E3m0 => "f4_e3m0",
            Boolean => "boolean",
        }
    }

    /// Width of one element in bits: 4, 8, 16, 32 or 64.
    pub const fn bits(self) -> usize {
        match self {
            F64 | S64 => 64,
            F32 | S32 => 32,
            F16 | Bf16 => 16,
            S8 | U8 | F8E5m2 | F8E4m3 | E8m0 | Boolean => 8,
            S4 | U4 | F4E2m1 | F4E3m0 => 4,
        }
    }

    /// Bytes that `elements` consecutive elements take; `None` on overflow.
    pub fn bytes(self, elements: usize) -> Option<usize> {
        match self.bits() {
            4 => Some(elements.div_ceil(2)),
            b => elements.checked_mul(b / 8),
        }
    }

    /// True for whole-number types (`boolean` included).
    pub const fn is_integral(self) -> bool {
        matches!(self, S32 | S64 | S8 | U8 | S4 | U4 | Boolean)
    }

    /// True for the two 8-bit integers.
    pub const fn is_x8(self) -> bool {
        matches!(self, S8 | U8)
    }

    /// True for the two OCP 8-bit floats.
    pub const fn is_f8(self) -> bool {
        matches!(self, F8E5m2 | F8E4m3)
    }

    /// True for f32, bf16 and f16.
    pub const fn is_fp(self) -> bool {
        matches!(self, F32 | Bf16 | F16)
    }

    /// Mantissa digits, the implicit one included; 0 for integers.
    pub const fn digits(self) -> u32 {
        match self {
            F64 => 53,
            F32 => 24,
            F16 => 11,
            Bf16 => 8,
            F8E4m3 => 4,
            F8E5m2 => 3,
            F4E2m1 => 2,
            E8m0 | F4E3m0 => 1,
            _ => 0,
        }
    }

    /// Distance from 1 to the next value (`2^(1 - digits)`); 1 for integers.
    pub fn epsilon(self) -> f64 {
        if self.is_integral() { 1.0 } else { 2f64.powi(1 - self.digits() as i32) }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that belongs to no data type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a data type; known: f32 f64 f16 bf16 s32 s64 s8 u8 s4 u4 f8_e5m2 f8_e4m3 e8m0 f4_e2m1 f4_e3m0 boolean")]
pub struct UnknownDataType(pub String);

impl FromStr for DataType {
    type Err = UnknownDataType;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        DataType::ALL.into_iter().find(|d| d.name() == s).ok_or_else(|| UnknownDataType(s.into()))
    }
}
