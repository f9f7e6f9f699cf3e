//! What is drawn for each element: dropout, and rounding up or down. The generator counts elements in the memory of the destination, so that what it
//! gives depends neither on the order of work nor on threads.

use super::program::{Drop, Round};
use super::{CHUNK, Chunk, Kind, Memory, OPERANDS};
use oxidnn_expr::philox;
use oxidnn_spec::DataType;

/// An integer that is an argument by itself.
fn whole(memory: &Memory<'_>) -> i64 {
    match memory.kind {
        Kind::Number(DataType::S64) => memory.buf.get(0),
        _ => i64::from(memory.buf.get::<i32>(0)),
    }
}

/// Calls `f` with every position of a chunk, and the element of operand `t` there.
fn each(chunk: &Chunk<'_>, t: usize, mut f: impl FnMut(usize, u64)) {
    let [at, inner, outer] = [chunk.at[t], chunk.inner[t], chunk.outer[t]].map(|n| n as u64);
    for (r, j) in (0..chunk.rows).flat_map(|r| (0..chunk.run).map(move |j| (r, j))) {
        f(r * chunk.run + j, at + r as u64 * outer + j as u64 * inner);
    }
}

/// Drops elements of `x`, and says in `kept` which it does not.
pub(super) fn drop_out(drop: &Drop, memory: &[Memory<'_>; OPERANDS], chunk: &Chunk<'_>, x: &mut [f32; CHUNK], kept: &mut [f32; CHUNK]) {
    let p: f32 = memory[drop.probability].buf.get(0);
    let (seed, offset) = (whole(&memory[drop.seed]), drop.offset.map_or(0, |o| whole(&memory[o])));
    each(chunk, drop.of, |i, element| {
        let keep = philox::dropout_keeps(element, seed, offset, p);
        x[i] = if keep { (f64::from(x[i]) / (1.0 - f64::from(p))) as f32 } else { 0.0 };
        kept[i] = f32::from(u8::from(keep));
    });
}

/// Rounds the elements of `x` to a type at random.
pub(super) fn round(round: &Round, memory: &[Memory<'_>; OPERANDS], chunk: &Chunk<'_>, x: &mut [f32; CHUNK]) {
    let seed = whole(&memory[round.seed]) as u32;
    each(chunk, round.of, |i, element| x[i] = philox::round_stochastic(round.dtype, f64::from(x[i]), element, seed) as f32);
}
