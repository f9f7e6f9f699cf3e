//! Products of a vector of bytes with a matrix whose lines are read once, in place: a dot product for each line, bound by memory.
//!
//! VNNI multiplies unsigned bytes by signed ones. The vector is the operand that it is by its own type, and lines become the other: where they are
//! not, they are flipped (their top bits inverted), which adds or subtracts 128 times the sum of the vector, known to the caller. Without VNNI even and
//! odd bytes are widened to 16 bits.

use super::gemv::Streams;
use crate::ir::{Accumulate, Addr, Binary, Elem, Function, Int, Pred, Src, Unary, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ByteDots {
    /// Whether the elements of the vector and of lines are signed.
    pub signed: [bool; 2],
    /// Lines that are taken at a time.
    pub lines: u8,
    /// Whether lines are summed too, which zero points of the vector are multiplied by.
    pub summed: bool,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The vector: unchanged where there is VNNI, else as [`ByteDots::arrange`] makes it.
    pub x: *const u8,
    /// The first line, and the distance to the next in bytes.
    pub lines: *const u8,
    /// As said.
    pub step: usize,
    /// Groups of [`ByteDots::lines`] lines, at least 1.
    pub groups: usize,
    /// Whole vectors of a line, and 32-bit words after them.
    pub vectors: usize,
    /// As said, fewer than there are in a vector.
    pub words: usize,
    /// Where sums of products go, one for each line.
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

/// The accumulators of a group of lines: sums of products, and sums.
struct Accumulators {
    dots: Vec<Val>,
    sums: Vec<Val>,
}

/// The addresses of a vector of each line.
struct Operands<'a> {
    /// The part of the vector that they are multiplied by.
    x: Int,
    lines: &'a Streams,
    /// The existing lanes; `None` for all.
    mask: Option<Pred>,
}

impl ByteDots {
    /// Lines that a kernel takes at a time where there are as many: each has a chain of its own, and the vector is loaded once for all of them.
    pub const LINES: u8 = 8;

    /// Whether the top bits of lines are inverted: sums of products are then too large by 128 sums of the vector where lines are signed, or as much too
    /// small.
    pub const fn flips(&self, isa: Isa) -> bool {
        isa.vnni && self.signed[0] == self.signed[1]
    }

    /// Bytes of an arranged vector of so many elements, one register more than whole ones; 0 if it is read in place.
    pub fn arranged(isa: Isa, bytes: usize) -> usize {
        if isa.vnni { 0 } else { (bytes / isa.width().bytes() + 1) * ByteDots::register(isa) }
    }

    /// Bytes of the arranged vector for one register of a line.
    fn register(isa: Isa) -> usize {
        isa.width().bytes() * if isa.vnni { 1 } else { 2 }
    }

    /// Arranges the vector, unless it is read in place: even and odd bytes of each register as 16-bit elements, zeros after them.
    pub fn arrange(&self, isa: Isa, x: &[u8], to: &mut [u8]) {
        let width = isa.width().bytes();
        to.fill(0);
        for (x, to) in x.chunks(width).zip(to.chunks_exact_mut(2 * width)) {
            for (i, x) in x.iter().enumerate() {
                let number = if self.signed[0] { i16::from(x.cast_signed()) } else { i16::from(*x) };
                to[i % 2 * width + i / 2 * 2..][..2].copy_from_slice(&number.to_le_bytes());
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
        let x_vector = isa.vnni.then(|| load(f, x.at(0)));
        for (i, dot) in accumulators.dots.iter().enumerate() {
            let y = load(f, lines.at(i));
            let Some(x_vector) = x_vector else {
                let [even, odd] = self.halves(f, y);
                for (n, y) in [even, odd].into_iter().enumerate() {
                    let pairs = f.binary(Binary::MaddI16, y, Src::Mem(x.at((n * width.bytes()) as i32)));
                    f.update(Binary::AddI32, *dot, pairs);
                    if let Some(ones) = constants.ones {
                        let pairs = f.binary(Binary::MaddI16, y, ones);
                        f.update(Binary::AddI32, accumulators.sums[i], pairs);
                    }
                }
                continue;
            };
            match constants.ones {
                Some(ones) if self.signed[1] => f.accumulate(Accumulate::DotU8S8, accumulators.sums[i], ones, y),
                Some(ones) => f.accumulate(Accumulate::DotU8S8, accumulators.sums[i], y, ones),
                None => {}
            }
            let y = constants.flip.map_or(y, |flip| f.binary(Binary::Xor, y, flip));
            let (unsigned, signed) = if self.signed[0] { (y, x_vector) } else { (x_vector, y) };
            f.accumulate(Accumulate::DotU8S8, *dot, unsigned, signed);
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

    /// The name in dumps and profiles, such as `bytes.u8.s8.4.sums.avx512_vnni`.
    fn name(&self, isa: Isa) -> String {
        let [x, y] = self.signed.map(|signed| if signed { "s8" } else { "u8" });
        format!("bytes.{x}.{y}.{}{}.{}", self.lines, if self.summed { ".sums" } else { "" }, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let (args, isa) = (f.arguments(), f.isa());
        let (width, lines) = (isa.width(), usize::from(self.lines));
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
        let at = Streams::new(f, line, step, lines);
        let groups = argument(f, offset_of!(Args, groups));
        f.repeat_some(groups, |f| {
            let zeros = |f: &mut Function, n: usize| (0..n).map(|_| f.zero(width)).collect();
            let accumulators = Accumulators { dots: zeros(f, lines), sums: zeros(f, if self.summed { lines } else { 0 }) };
            let x = argument(f, offset_of!(Args, x));
            at.restart(f, line);
            let vectors = argument(f, offset_of!(Args, vectors));
            f.repeat(vectors, |f| {
                self.vector(f, &constants, &accumulators, Operands { x, lines: &at, mask: None });
                f.add(x, ByteDots::register(isa) as i32);
                at.advance(f, width.bytes() as i32);
            });
            self.vector(f, &constants, &accumulators, Operands { x, lines: &at, mask: Some(last) });
            (0..lines).for_each(|_| f.add(line, step));
            for (to, totals) in [(dots, &accumulators.dots), (sums, &accumulators.sums)] {
                for total in totals {
                    let total = f.across(Binary::AddI32, *total);
                    f.store_as(Elem::I32, to.at(0), total, Some(first));
                    f.add(to, 4);
                }
            }
        });
    }
}
