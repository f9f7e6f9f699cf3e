//! Random numbers for each element: dropout, and stochastic rounding. The generator counts elements in the memory order of the destination,
//! so its numbers depend neither on the order of work nor on threads.

use super::program::{Drop, Round};
use super::{CHUNK, Chunk, Kind, Memory, OPERANDS};
use crate::kernels::multiversion::{Simd, multiversion};
use oxidnn_expr::philox;
use oxidnn_spec::DataType;

/// An argument that is a single integer.
fn whole(memory: &Memory<'_>) -> i64 {
    match memory.kind {
        Kind::Number(DataType::S64) => memory.buf.get(0),
        _ => i64::from(memory.buf.get::<i32>(0)),
    }
}

multiversion! {
    /// The random numbers of elements, from a seed and an offset.
    fn draw(elements: &[u64], seed: i64, offset: i64, numbers: &mut [u32]) {
        let pairs = numbers.iter_mut().zip(elements);
        if offset == 0 {
            pairs.for_each(|(number, element)| *number = philox::at_without_offset(*element, seed));
        } else {
            pairs.for_each(|(number, element)| *number = philox::at(*element, seed, offset));
        }
    }
}

multiversion! {
    /// Drops elements of a chunk and divides the others.
    fn keep(numbers: &[u32], threshold: u32, divisor: f64, x: &mut [f32], kept: &mut [f32]) {
        for ((x, kept), number) in x.iter_mut().zip(kept).zip(numbers) {
            let keep = *number > threshold;
            *x = if keep { (f64::from(*x) / divisor) as f32 } else { 0.0 };
            *kept = f32::from(u8::from(keep));
        }
    }
}

multiversion! {
    /// Stochastic rounding of f32 to a type with fewer digits: random bits are added below the last digit before the rest is cut off.
    fn round_all(elements: &[u64], seed: u32, dtype: DataType, x: &mut [f32]) {
        let mut numbers = [0u32; CHUNK];
        let numbers = &mut numbers[..x.len()];
        numbers.iter_mut().zip(elements).for_each(|(number, element)| *number = philox::at(*element, i64::from(seed), 0));
        // The bits that are lost by normal numbers of the type, and the range of these.
        let (lost, normal) = match dtype {
            DataType::Bf16 => (0xffff, f32::MIN_POSITIVE..1e38),
            DataType::F16 => (0x1fff, 6.103_515_6e-5..65472.0),
            _ => (0, 0.0..0.0),
        };
        if x.iter().all(|x| normal.contains(&x.abs()) || *x == 0.0) {
            let cut = |x: f32, number: u32| f32::from_bits((x.to_bits() + (number & lost)) & !lost);
            x.iter_mut().zip(numbers).for_each(|(x, number)| *x = if *x == 0.0 { *x } else { cut(*x, *number) });
        } else {
            x.iter_mut().zip(numbers).for_each(|(x, number)| *x = philox::round_by(dtype, f64::from(*x), *number) as f32);
        }
    }
}

/// The element indices of operand `t` at the positions of a chunk.
fn elements(chunk: &Chunk<'_>, t: usize) -> [u64; CHUNK] {
    let mut elements = [0; CHUNK];
    let [at, inner, outer] = [chunk.at[t], chunk.inner[t], chunk.outer[t]].map(|n| n as u64);
    for (r, row) in elements[..chunk.positions()].chunks_exact_mut(chunk.run.max(1)).enumerate() {
        row.iter_mut().zip(0..).for_each(|(element, j)| *element = at + r as u64 * outer + j * inner);
    }
    elements
}

/// Drops elements of `x`, and sets `kept` to 1 for the others.
pub(super) fn drop_out(simd: Simd, drop: &Drop, memory: &[Memory<'_>; OPERANDS], chunk: &Chunk<'_>, [x, kept]: [&mut [f32; CHUNK]; 2]) {
    let p: f32 = memory[drop.probability].buf.get(0);
    let (seed, offset) = (whole(&memory[drop.seed]), drop.offset.map_or(0, |o| whole(&memory[o])));
    let (elements, mut numbers, n) = (elements(chunk, drop.of), [0; CHUNK], chunk.positions());
    draw(simd, &elements[..n], seed, offset, &mut numbers[..n]);
    let (threshold, divisor) = (philox::dropout_threshold(p), 1.0 - f64::from(p));
    keep(simd, &numbers[..n], threshold, divisor, &mut x[..n], &mut kept[..n]);
}

/// Rounds the elements of `x` to a type stochastically.
pub(super) fn round(simd: Simd, round: &Round, memory: &[Memory<'_>; OPERANDS], chunk: &Chunk<'_>, x: &mut [f32; CHUNK]) {
    let seed = whole(&memory[round.seed]) as u32;
    let (elements, n) = (elements(chunk, round.of), chunk.positions());
    round_all(simd, &elements[..n], seed, round.dtype, &mut x[..n]);
}
