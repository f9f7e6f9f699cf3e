//! One element of every type: its code to `f32` and back.

use crate::lane::round;
use crate::number::{FloatFormat, Overflow};
use oxidnn_spec::DataType;

const INFINITY: u32 = f32::INFINITY.to_bits();

/// The value of a code of a short float: the exponent is rebased, subnormal numbers are whole multiples of the smallest.
#[inline(always)]
fn decode_short(f: FloatFormat, code: u32) -> f32 {
    let magnitude = code & (f.sign() as u32 - 1);
    let sign = (code & f.sign() as u32) << (31 - f.exponent - f.mantissa);
    let normal = (magnitude << (23 - f.mantissa)).wrapping_add(((127 - f.bias) as u32) << 23);
    let quantum = f32::from_bits(((128 - f.bias) as u32 - f.mantissa) << 23);
    let subnormal = (magnitude as i32 as f32 * quantum).to_bits();
    let value = if magnitude >> f.mantissa == 0 { subnormal } else { normal };
    let value = match f.overflow {
        Overflow::Infinity if magnitude > f.max as u32 => magnitude << (23 - f.mantissa) | INFINITY,
        Overflow::Nan if magnitude > f.max as u32 => f32::NAN.to_bits(),
        _ => value,
    };
    f32::from_bits(value | sign)
}

/// The code nearest to `value`: normal numbers by adding just less than half a unit in the last place (half, where the last digit is odd) to the bits
/// and cutting them off, subnormal ones by adding a power of two whose unit in the last place is theirs.
#[inline(always)]
fn encode_short(f: FloatFormat, value: f32) -> u32 {
    let bits = value.to_bits();
    let (magnitude, sign) = (bits & 0x7fff_ffff, bits >> 31 << (f.exponent + f.mantissa));
    let cut = 23 - f.mantissa;
    // A format without mantissa sends ties up; all others to the even code.
    let odd = if f.mantissa == 0 { 1 } else { magnitude >> cut & 1 };
    let normal = (magnitude.wrapping_add((1 << (cut - 1)) - 1 + odd) >> cut).wrapping_sub(((127 - f.bias) as u32) << f.mantissa);
    let grid = f32::from_bits(((151 - f.bias) as u32 - f.mantissa) << 23);
    let subnormal = (f32::from_bits(magnitude) + grid).to_bits().wrapping_sub(grid.to_bits());
    let code = if magnitude < ((128 - f.bias) as u32) << 23 { subnormal } else { normal };
    let code = if code > f.max as u32 { f.beyond() as u32 } else { code };
    let code = if magnitude > INFINITY { f.nan() as u32 } else { code };
    code | sign
}

/// A whole number within the bounds, 0 for NaN, for bounds below 2^22: rounding leaves it in the low bits of the sum.
#[inline(always)]
fn small_integer(value: f32, low: f32, high: f32) -> i32 {
    const ROUND: f32 = 12_582_912.0;
    let clamped = if value.is_nan() { 0.0 } else { value.max(low).min(high) };
    (clamped + ROUND).to_bits() as i32 - ROUND.to_bits() as i32
}

/// The nearest 32-bit whole number, saturated, 0 for NaN. Language casts would do, but do not vectorise.
#[inline(always)]
fn integer(value: f32) -> i32 {
    const TWO_POW_23: f32 = 8_388_608.0;
    let (bits, magnitude) = (value.to_bits(), value.abs());
    let small = (magnitude + TWO_POW_23).to_bits().wrapping_sub(TWO_POW_23.to_bits());
    let large = (bits & 0x007f_ffff | 0x0080_0000).wrapping_shl((bits >> 23 & 0xff).wrapping_sub(150));
    let number = if magnitude < TWO_POW_23 { small } else { large };
    let number = if magnitude < 2_147_483_648.0 { number } else { i32::MAX as u32 };
    let number = if value.is_nan() { 0 } else { number };
    if value <= -2_147_483_648.0 {
        i32::MIN
    } else if value < 0.0 {
        (number as i32).wrapping_neg()
    } else {
        number as i32
    }
}

/// The value of a code in the low bits of a word; the bits above are ignored.
#[inline(always)]
pub(super) fn decode(dtype: DataType, code: u64) -> f32 {
    match dtype {
        DataType::F32 => f32::from_bits(code as u32),
        DataType::Bf16 => f32::from_bits((code as u32) << 16),
        DataType::F64 => f64::from_bits(code) as f32,
        DataType::S32 => code as i32 as f32,
        DataType::S64 => code as i64 as f32,
        DataType::S8 => f32::from(code as i8),
        DataType::U8 => f32::from(code as u8),
        DataType::S4 => ((code as i32) << 28 >> 28) as f32,
        DataType::U4 => (code as i32 & 15) as f32,
        DataType::Boolean => f32::from(u8::from(code as u8 != 0)),
        DataType::E8m0 => decode_e8m0(code as u8),
        DataType::F16 | DataType::F8E5m2 | DataType::F8E4m3 | DataType::F4E2m1 | DataType::F4E3m0 => match FloatFormat::of(dtype) {
            Some(format) => decode_short(format, code as u32),
            None => f32::NAN,
        },
    }
}

/// The code of the nearest value, in the low bits of a word; the bits above are not cleared for whole numbers.
#[inline(always)]
pub(super) fn encode(dtype: DataType, value: f32) -> u64 {
    match dtype {
        DataType::F32 => u64::from(value.to_bits()),
        DataType::Bf16 => u64::from(encode_bf16(value)),
        DataType::F64 => f64::from(value).to_bits(),
        DataType::S32 => integer(value) as u64,
        DataType::S64 => round(value) as i64 as u64,
        DataType::S8 => small_integer(value, -128.0, 127.0) as u64,
        DataType::U8 => small_integer(value, 0.0, 255.0) as u64,
        DataType::S4 => small_integer(value, -8.0, 7.0) as u64,
        DataType::U4 => small_integer(value, 0.0, 15.0) as u64,
        DataType::Boolean => u64::from(value.abs() > 0.0),
        DataType::E8m0 => u64::from(value.to_bits() << 1 >> 24),
        DataType::F16 | DataType::F8E5m2 | DataType::F8E4m3 | DataType::F4E2m1 | DataType::F4E3m0 => match FloatFormat::of(dtype) {
            Some(format) => u64::from(encode_short(format, value)),
            None => 0,
        },
    }
}

#[inline(always)]
pub(super) fn encode_bf16(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if value.is_nan() { bits >> 16 | 0x40 } else { rounded }
}

#[inline(always)]
fn decode_e8m0(code: u8) -> f32 {
    let bits = if code == 0 { 0x0040_0000 } else { u32::from(code) << 23 };
    f32::from_bits(if code == 255 { f32::NAN.to_bits() } else { bits })
}
