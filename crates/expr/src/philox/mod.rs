//! Philox 4x32-10, the counter-based generator behind dropout and stochastic rounding.
//!
//! The generator is that of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011); a number depends on its
//! index, the seed and an offset only, so elements may be computed in any order by any thread. The arrangement of index, seed and offset
//! in counter and key is oneDNN's, found by observing its results (3.13, CPU).

#[cfg(test)]
mod tests;

use crate::number::{self, FloatFormat};
use oxidnn_spec::DataType;

/// Ten rounds on a counter with a key, as in the paper.
#[inline(always)]
pub const fn philox4x32(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let mut round = 0;
    while round < 10 {
        let a = 0xd251_1f53u64 * counter[0] as u64;
        let b = 0xcd9e_8d57u64 * counter[2] as u64;
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
        round += 1;
    }
    counter
}

/// The number of element `index` in the stream of a 64-bit seed and offset: each block of four elements is one call.
#[inline(always)]
pub const fn at(index: u64, seed: i64, offset: i64) -> u32 {
    let block = index & !3;
    let counter = [offset as u32, (offset >> 32) as u32, block as u32, (block >> 32) as u32];
    let [a, b, c, d] = philox4x32(counter, [seed as u32, (seed >> 32) as u32]);
    // Choices between two, which vectors have.
    let (first, second) = if index & 1 == 0 { (a, c) } else { (b, d) };
    if index & 2 == 0 { first } else { second }
}

/// The random number of element `index` without an offset: 32 bits of index and seed count, and four neighbours share one number.
#[inline(always)]
pub const fn at_without_offset(index: u64, seed: i64) -> u32 {
    let (block, key) = (index as u32 & !3, seed as u32);
    philox4x32([block, block.wrapping_add(1), block, block.wrapping_add(3)], [key, key])[2]
}

/// The number that dropout compares for element `index`: an offset of 0 is as none at all.
#[inline]
pub const fn dropout_number(index: u64, seed: i64, offset: i64) -> u32 {
    if offset == 0 { at_without_offset(index, seed) } else { at(index, seed, offset) }
}

/// The largest number of a dropped element: `p * (2^32 - 1)` computed in `f32`, where the factor is 2^32.
#[inline]
pub fn dropout_threshold(p: f32) -> u32 {
    (p * u32::MAX as f32) as u32
}

/// Whether dropout with probability `p` keeps element `index` (the physical element offset in the destination): its number exceeds the
/// threshold. Kept elements are divided by `1 - p`.
#[inline]
pub fn dropout_keeps(index: u64, seed: i64, offset: i64, p: f32) -> bool {
    dropout_number(index, seed, offset) > dropout_threshold(p)
}

/// `value` rounded to `dtype` stochastically: up in magnitude with the probability of the distance past the lower neighbour. The number is that
/// of element `index`, the physical element offset in the destination.
///
/// As the specification describes it, a random bias below one unit in the last place is added to the magnitude, which is then truncated;
/// the bias has as many random bits as f32 loses in the conversion. (oneDNN's CPU code uses 8 bits in all cases, which nearly always
/// truncates.) Integer types, f64, f32 and e8m0 are rounded as without stochastic rounding.
pub fn round_stochastic(dtype: DataType, value: f64, index: u64, seed: u32) -> f64 {
    round_by(dtype, value, at(index, i64::from(seed), 0))
}

/// [`round_stochastic`] by the number of the element.
pub fn round_by(dtype: DataType, value: f64, number: u32) -> f64 {
    let format = match FloatFormat::of(dtype) {
        Some(f) if dtype != DataType::F32 && value.is_finite() => f,
        _ => return number::round_to(dtype, value),
    };
    let (exponent, quantum) = format.quantum(value);
    let one = 1u64 << (23 - format.mantissa);
    let bias = u64::from(number) & (one - 1);
    let digits = value.abs() / quantum;
    let up = digits.fract() + bias as f64 / one as f64 >= 1.0;
    let magnitude = format.decode(format.code(exponent, digits as u64 + u64::from(up)));
    magnitude.copysign(value)
}
