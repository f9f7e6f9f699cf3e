//! Products of few vectors of bytes with a matrix whose lines are read once, in place: a dot product for each vector and line, bound by memory.
//!
//! VNNI multiplies unsigned bytes by signed ones. Vectors are the operand that they are by their own type, and lines become the other: where they are
//! not, they are flipped (their top bits inverted), which adds or subtracts 128 times the sum of a vector, known to the caller. Without VNNI even and
//! odd bytes are widened to 16 bits. Several vectors are arranged register by register, so that one address reaches all of them.

use super::gemv::Streams;
use crate::ir::{Accumulate, Addr, Binary, Elem, Function, Int, Pred, Prefetch, Src, Unary, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Lines at a time up to which those of the next group are prefetched.
const MAX_PREFETCHED_LINES: usize = 4;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ByteDots {
    /// Whether the elements of the vectors and of lines are signed.
    pub signed: [bool; 2],
    /// Vectors, up to [`ByteDots::MOST`]; without any there are sums of lines only.
    pub vectors: u8,
    /// Lines that are taken at a time.
    pub lines: u8,
    /// Whether lines are summed too, which zero points of the vectors are multiplied by.
    pub summed: bool,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The vectors as [`ByteDots::arrange`] makes them; a single one unchanged where there is VNNI.
    pub x: *const u8,
    /// The first line, and the distance to the next in bytes.
    pub lines: *const u8,
    /// As said.
    pub step: usize,
    /// Groups of [`ByteDots::lines`] lines, at least 1.
    pub groups: usize,
    /// Whole vectors of a line, and 32-bit words after them.
    pub vectors: usize,
    /// As said, fewer than there are in a vector, and 1 if there are any, else 0.
    pub words: usize,
    /// As said.
    pub last: usize,
    /// Where sums of products go, one for each line; those of the next vector are [`ByteDots::PITCH`] numbers behind.
    pub dots: *mut i32,
    /// Where sums of lines go, where there are any.
    pub sums: *mut i32,
}

/// Constants in registers.
struct Constants {
    /// Inverts the top bits of lines.
    flip: Option<Val>,
    /// Ones that lines are summed by.
    ones: Option<Val>,
}

/// The accumulators of a group of lines: sums of products, for all lines of a vector after the other, and sums.
struct Accumulators {
    dots: Vec<Val>,
    sums: Vec<Val>,
}

/// The addresses of a vector of each line.
struct Operands<'a> {
    /// The part of the vectors that they are multiplied by.
    x: Int,
    lines: &'a Streams,
    /// The existing lanes; `None` for all.
    mask: Option<Pred>,
}

impl ByteDots {
    /// Most vectors.
    pub const MOST: usize = 8;
    /// Numbers from a vector's sums of products to the next one's: no more lines in a call.
    pub const PITCH: usize = 128;

    /// Lines that a kernel takes at a time where there are as many: each has a chain of its own, and a vector is loaded once for all of them.
    pub const fn lines(isa: Isa, vectors: usize, summed: bool) -> u8 {
        let (registers, each) = (if isa.avx512 { 28 } else { 11 }, vectors + summed as usize + 1);
        match registers / each {
            lines @ 1..8 if vectors > 1 => lines as u8,
            _ => 8,
        }
    }

    /// Whether the top bits of lines are inverted: sums of products are then too large by 128 sums of the vector where lines are signed, or as much too
    /// small.
    pub const fn flips(&self, isa: Isa) -> bool {
        isa.vnni && self.signed[0] == self.signed[1]
    }

    /// Bytes of arranged vectors of so many elements, one register more than whole ones; 0 if they are read in place.
    pub fn arranged(isa: Isa, vectors: usize, bytes: usize) -> usize {
        if isa.vnni && vectors == 1 { 0 } else { (bytes / isa.width().bytes() + 1) * ByteDots::register(isa) * vectors }
    }

    /// Bytes of an arranged vector for one register of a line.
    fn register(isa: Isa) -> usize {
        isa.width().bytes() * if isa.vnni { 1 } else { 2 }
    }

    /// Arranges a vector of an even number of elements, unless it is read in place: each register, or the even and odd bytes of it as 16-bit elements, behind that of the vector
    /// before; zeros after the last.
    pub fn arrange(&self, isa: Isa, vector: usize, x: &[u8], to: &mut [u8]) {
        let (width, register) = (isa.width().bytes(), ByteDots::register(isa));
        let mut parts = x.chunks(width);
        for to in to.chunks_exact_mut(register).skip(vector).step_by(usize::from(self.vectors)) {
            let x = parts.next().unwrap_or_default();
            if isa.vnni {
                to[..x.len()].copy_from_slice(x);
                to[x.len()..].fill(0);
                continue;
            }
            to.fill(0);
            let number = |x: u8| if self.signed[0] { i16::from(x.cast_signed()) } else { i16::from(x) }.to_le_bytes();
            let (even, odd) = to.split_at_mut(width);
            for ((x, even), odd) in x.chunks_exact(2).zip(even.as_chunks_mut().0).zip(odd.as_chunks_mut().0) {
                (*even, *odd) = (number(x[0]), number(x[1]));
            }
        }
    }

    fn vector(&self, f: &mut Function, constants: &Constants, accumulators: &Accumulators, Operands { x, lines, mask }: Operands<'_>) {
        let isa = f.isa();
        let width = isa.width();
        let load = |f: &mut Function, from: Addr| match mask {
            Some(mask) => f.load_masked(from, mask),
            None => f.load(width, from),
        };
        let (register, count) = (ByteDots::register(isa) as i32, usize::from(self.lines));
        if !isa.vnni {
            for i in 0..count {
                let y = load(f, lines.at(i));
                for (half, y) in self.halves(f, y).into_iter().enumerate() {
                    for (vector, dots) in accumulators.dots.chunks(count).enumerate() {
                        let at = vector as i32 * register + (half * width.bytes()) as i32;
                        let pairs = f.binary(Binary::MaddI16, y, Src::Mem(x.at(at)));
                        f.update(Binary::AddI32, dots[i], pairs);
                    }
                    if let Some(ones) = constants.ones {
                        let pairs = f.binary(Binary::MaddI16, y, ones);
                        f.update(Binary::AddI32, accumulators.sums[i], pairs);
                    }
                }
            }
            return;
        }
        let line = |f: &mut Function, i: usize| {
            let y = load(f, lines.at(i));
            match constants.ones {
                Some(ones) if self.signed[1] => f.accumulate(Accumulate::DotU8S8, accumulators.sums[i], ones, y),
                Some(ones) => f.accumulate(Accumulate::DotU8S8, accumulators.sums[i], y, ones),
                None => {}
            }
            constants.flip.map_or(y, |flip| f.binary(Binary::Xor, y, flip))
        };
        let multiply = |f: &mut Function, dot: Val, x: Val, y: Val| {
            let (unsigned, signed) = if self.signed[0] { (y, x) } else { (x, y) };
            f.accumulate(Accumulate::DotU8S8, dot, unsigned, signed);
        };
        if self.vectors == 1 {
            let x = load(f, x.at(0));
            for (i, dot) in accumulators.dots.iter().enumerate() {
                let y = line(f, i);
                multiply(f, *dot, x, y);
            }
            return;
        }
        let ys: Vec<Val> = (0..count).map(|i| line(f, i)).collect();
        for (vector, dots) in accumulators.dots.chunks(count).enumerate() {
            let x = f.load(width, x.at(vector as i32 * register));
            dots.iter().zip(&ys).for_each(|(dot, y)| multiply(f, *dot, x, *y));
        }
    }

    /// Even and odd bytes in 16 bits.
    fn halves(&self, f: &mut Function, y: Val) -> [Val; 2] {
        let low = f.unary(Unary::ShlI16(8), y);
        let shift_right = if self.signed[1] { Unary::SarI16(8) } else { Unary::ShrI16(8) };
        [f.unary(shift_right, low), f.unary(shift_right, y)]
    }
}

impl Key for ByteDots {
    type Args = Args;

    /// The name in dumps and profiles, such as `bytes.2u8.s8.4.sums.avx512_vnni`.
    fn name(&self, isa: Isa) -> String {
        let [x, y] = self.signed.map(|signed| if signed { "s8" } else { "u8" });
        format!("bytes.{}{x}.{y}.{}{}.{}", self.vectors, self.lines, if self.summed { ".sums" } else { "" }, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let (args, isa) = (f.arguments(), f.isa());
        let (width, lines, vectors) = (isa.width(), usize::from(self.lines), usize::from(self.vectors));
        let flip = self.flips(isa).then(|| f.splat_i32(width, i32::from_le_bytes([0x80; 4])));
        let ones = self.summed.then(|| f.splat_i32(width, i32::from_le_bytes(if isa.vnni { [1; 4] } else { [1, 0, 1, 0] })));
        let constants = Constants { flip, ones };
        flip.iter().chain(&ones).for_each(|v| f.pin(*v));
        let argument = |f: &mut Function, field: usize| f.argument(args, field);
        let words = argument(f, offset_of!(Args, words));
        let (last, one) = (f.first_lanes(words), f.int(1));
        let first = f.first_lanes(one);
        let (line, step) = (argument(f, offset_of!(Args, lines)), argument(f, offset_of!(Args, step)));
        let (dots, sums) = (argument(f, offset_of!(Args, dots)), argument(f, offset_of!(Args, sums)));
        // Lines of the next group, each of which is a stream that the hardware finds late.
        let prefetched = if lines <= MAX_PREFETCHED_LINES { lines } else { 0 };
        let at = Streams::new(f, line, step, lines + prefetched);
        let groups = argument(f, offset_of!(Args, groups));
        f.repeat_some(groups, |f| {
            let zeros = |f: &mut Function, n: usize| (0..n).map(|_| f.zero(width)).collect();
            let accumulators = Accumulators { dots: zeros(f, lines * vectors), sums: zeros(f, if self.summed { lines } else { 0 }) };
            let x = argument(f, offset_of!(Args, x));
            at.restart(f, line);
            let whole = argument(f, offset_of!(Args, vectors));
            f.repeat(whole, |f| {
                (0..prefetched).for_each(|i| f.prefetch(Prefetch::L2, at.at(lines + i)));
                self.vector(f, &constants, &accumulators, Operands { x, lines: &at, mask: None });
                f.add(x, (ByteDots::register(isa) * vectors) as i32);
                at.advance(f, width.bytes() as i32);
            });
            let rest = argument(f, offset_of!(Args, last));
            f.repeat(rest, |f| self.vector(f, &constants, &accumulators, Operands { x, lines: &at, mask: Some(last) }));
            (0..lines).for_each(|_| f.add(line, step));
            for i in 0..lines {
                for vector in 0..vectors {
                    let total = f.across(Binary::AddI32, accumulators.dots[vector * lines + i]);
                    f.store_as(Elem::I32, dots.at((vector * ByteDots::PITCH * 4) as i32), total, Some(first));
                }
                f.add(dots, 4);
            }
            for total in &accumulators.sums {
                let total = f.across(Binary::AddI32, *total);
                f.store_as(Elem::I32, sums.at(0), total, Some(first));
                f.add(sums, 4);
            }
        });
    }
}
