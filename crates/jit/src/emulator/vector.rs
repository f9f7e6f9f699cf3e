//! Instructions on vector registers.
//!
//! Every instruction computes whole registers of 64 bytes from whole registers; what is behind the instruction's width is dropped when the
//! result is written. Lanes that a mask excludes are neither loaded nor stored.

use super::memory::{load_into, store_from};
use super::tiles::flushed;
use super::{Arg, Machine, Step};
use crate::asm::{Masking, Op};
use half::{bf16, f16};

/// A vector register.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Vector(pub(super) [u8; 64]);

impl Vector {
    pub(super) const ZERO: Vector = Vector([0; 64]);

    pub(super) fn words(&self) -> [u32; 16] {
        std::array::from_fn(|i| u32::from_le_bytes([self.0[4 * i], self.0[4 * i + 1], self.0[4 * i + 2], self.0[4 * i + 3]]))
    }

    fn halves(&self) -> [u16; 32] {
        std::array::from_fn(|i| u16::from_le_bytes([self.0[2 * i], self.0[2 * i + 1]]))
    }

    fn of_words(lane: impl Fn(usize) -> u32) -> Vector {
        let mut v = Vector::ZERO;
        (0..16).for_each(|i| v.0[4 * i..4 * i + 4].copy_from_slice(&lane(i).to_le_bytes()));
        v
    }

    fn of_halves(lane: impl Fn(usize) -> u16) -> Vector {
        let mut v = Vector::ZERO;
        (0..32).for_each(|i| v.0[2 * i..2 * i + 2].copy_from_slice(&lane(i).to_le_bytes()));
        v
    }

    /// Bits of the words that `is` holds for.
    fn bits(a: &Vector, b: &Vector, is: impl Fn(u32, u32) -> bool) -> u64 {
        let (a, b) = (a.words(), b.words());
        (0..16).map(|i| u64::from(is(a[i], b[i])) << i).sum()
    }

    /// Words by words.
    fn zip(a: &Vector, b: &Vector, f: impl Fn(u32, u32) -> u32) -> Vector {
        let (a, b) = (a.words(), b.words());
        Vector::of_words(|i| f(a[i], b[i]))
    }

    fn floats(a: &Vector, b: &Vector, f: impl Fn(f32, f32) -> f32) -> Vector {
        Vector::zip(a, b, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits())
    }

    fn ints(a: &Vector, b: &Vector, f: impl Fn(i32, i32) -> i32) -> Vector {
        Vector::zip(a, b, |a, b| f(a as i32, b as i32) as u32)
    }

    fn short(a: &Vector, f: impl Fn(u16) -> u16) -> Vector {
        let a = a.halves();
        Vector::of_halves(|i| f(a[i]))
    }
}

/// The elements that an instruction reads and writes, in bytes.
#[derive(Clone, Copy)]
struct Sizes {
    /// Of an element of the result, and of memory that is stored to.
    to: usize,
    /// Of an element of memory that is loaded.
    from: usize,
    /// Whether elements of the result depend on those at the same place only.
    is_by_lane: bool,
}

fn sizes(op: Op) -> Sizes {
    let same = |bytes| Sizes { to: bytes, from: bytes, is_by_lane: true };
    let across = |to, from| Sizes { to, from, is_by_lane: false };
    let convert = |to, from| Sizes { to, from, is_by_lane: true };
    match op {
        Op::LoadI8 | Op::StoreI8 | Op::MaxI8 | Op::MaxU8 => same(1),
        Op::LoadI16 | Op::StoreI16 | Op::ShlI16 | Op::ShrI16 | Op::SarI16 => same(2),
        Op::F32FromF16 | Op::F32FromF16Wide | Op::I32FromU16 | Op::I32FromI16 => convert(4, 2),
        Op::I32FromU8 | Op::I32FromI8 => convert(4, 1),
        Op::F16FromF32 | Op::Low16FromI32 | Op::Bf16FromF32 => convert(2, 4),
        Op::I8FromI32 | Op::U8FromI32 => convert(1, 4),
        Op::Broadcast8 => across(1, 1),
        Op::Broadcast16 => across(2, 2),
        Op::Broadcast64 | Op::InterleaveLow64 | Op::InterleaveHigh64 | Op::PermuteI64 | Op::High256 => across(8, 8),
        Op::MaddU8S8 | Op::PermuteI16 => across(2, 2),
        Op::PackI16 | Op::PackU16 | Op::Bf16FromBoth => across(2, 4),
        Op::PackI8 | Op::PackU8 | Op::LookupI8 => across(1, 1),
        Op::Broadcast32
        | Op::ShuffleF32
        | Op::InterleaveLow32
        | Op::InterleaveHigh32
        | Op::Blocks128
        | Op::PermuteI32
        | Op::High128
        | Op::MaddI16 => across(4, 4),
        _ => same(4),
    }
}

impl Machine {
    pub(super) fn simd_of(&self, arg: Arg) -> &Vector {
        match arg {
            Arg::Simd(r) => &self.simd[usize::from(r)],
            other => unreachable!("{other:?} is no vector"),
        }
    }

    pub(super) fn vector(&mut self, op: Op, step: &Step) {
        let [to, a, b, c] = step.operands;
        match op {
            Op::Load32 => self.lowest::<4>(to, a),
            Op::Load64 => self.lowest::<8>(to, a),
            Op::Store32 => self.lowest_to::<4>(to, a),
            Op::Store64 => self.lowest_to::<8>(to, a),
            Op::MaskLoad => {
                let mask = Vector::bits(self.simd_of(a), &Vector::ZERO, |m, _| m >> 31 > 0);
                let loaded = self.loaded(b, step.width, 4, mask);
                self.write(to, &loaded, step.width, 4, Masking::None);
            }
            Op::MaskStore => {
                let mask = Vector::bits(self.simd_of(a), &Vector::ZERO, |m, _| m >> 31 > 0);
                self.store_lanes(to, b, step.width, mask);
            }
            Op::CmpF32 | Op::CmpI32 | Op::ClassF32 | Op::TestI32 if matches!(to, Arg::Mask(_)) => self.compare(op, step),
            Op::SignsI8 => {
                let bytes = self.simd_of(a).0.iter().take(step.width);
                let bits = bytes.enumerate().fold(0, |bits, (i, byte)| bits | u64::from(byte >> 7) << i);
                self.set_mask(to, bits);
            }
            Op::BlendV => {
                let (no, yes, mask) = (self.source(a, step, op), self.source(b, step, op), self.simd_of(c).words());
                let (no, yes) = (no.words(), yes.words());
                let blended = Vector::of_words(|i| if mask[i] >> 31 > 0 { yes[i] } else { no[i] });
                self.write(to, &blended, step.width, 4, Masking::None);
            }
            Op::Blend => {
                let (no, yes) = (self.source(a, step, op), self.source(b, step, op));
                let (no, yes) = (no.words(), yes.words());
                let (mask, keep) = match step.masking {
                    Masking::None => (u64::MAX, true),
                    Masking::Merge(k) => (self.masks[usize::from(k.0)], true),
                    Masking::Zero(k) => (self.masks[usize::from(k.0)], false),
                };
                let other = |i: usize| if keep { no[i] } else { 0 };
                let blended = Vector::of_words(|i| if mask >> i & 1 > 0 { yes[i] } else { other(i) });
                self.write(to, &blended, step.width, 4, Masking::None);
            }
            op => self.ordinary(op, step),
        }
    }

    /// An instruction with up to two sources, a number, and a masked result.
    fn ordinary(&mut self, op: Op, step: &Step) {
        let [to, a, b, _] = step.operands;
        let (first, imm) = (self.source(a, step, op), step.operands.iter().find_map(|o| if let Arg::Imm(i) = o { Some(*i) } else { None }));
        let second = if matches!(b, Arg::None | Arg::Imm(_)) { Vector::ZERO } else { self.source(b, step, op) };
        let old = if let Arg::Simd(r) = to { self.simd[usize::from(r)] } else { Vector::ZERO };
        let result = match op {
            Op::ScaleAddF32 | Op::FmaF32 | Op::FnmaF32 | Op::DotBf16 | Op::DotU8S8 => accumulated(op, &old, &first, &second),
            Op::LookupI8 => {
                let place = |i: usize| usize::from(old.0[i]) % (2 * step.width);
                let byte = |at: usize| if at < step.width { first.0[at] } else { second.0[at - step.width] };
                Vector(std::array::from_fn(|i| byte(place(i))))
            }
            op if sizes(op).is_by_lane => by_lane(op, &first, &second, imm.unwrap_or(0)),
            op => across(op, [&first, &second], imm.unwrap_or(0) as usize, step),
        };
        let Sizes { to: size, from, is_by_lane } = sizes(op);
        let bytes = match op {
            Op::High128 => 16,
            Op::High256 => 32,
            _ if is_by_lane && size < from => step.width * size / from,
            _ => step.width,
        };
        if op == Op::StoreStreaming {
            assert!(self.place(to).is_multiple_of(step.width as u64), "a non-temporal store at {:#x}", self.place(to));
        }
        self.write(to, &result, bytes, size, step.masking);
    }

    fn compare(&mut self, op: Op, step: &Step) {
        let [to, a, b, c] = step.operands;
        let first = self.source(a, step, op);
        let imm = if let Arg::Imm(i) = c { i } else { 0 };
        let float = |a: u32, b: u32| float_holds(imm, f32::from_bits(a), f32::from_bits(b));
        let bits = match (op, b) {
            (Op::ClassF32, Arg::Imm(classes)) => Vector::bits(&first, &Vector::ZERO, |a, _| class(f32::from_bits(a)) & classes > 0),
            (Op::CmpF32, _) => Vector::bits(&first, &self.source(b, step, op), float),
            (Op::CmpI32, _) => Vector::bits(&first, &self.source(b, step, op), |a, b| int_holds(imm, a as i32, b as i32)),
            _ => Vector::bits(&first, &self.source(b, step, op), |a, b| a & b > 0),
        };
        let mask = self.bits_of(step.masking);
        self.set_mask(to, bits & mask & ((1 << (step.width / 4)) - 1));
    }

    fn bits_of(&self, masking: Masking) -> u64 {
        match masking {
            Masking::None => u64::MAX,
            Masking::Merge(k) | Masking::Zero(k) => self.masks[usize::from(k.0)],
        }
    }

    /// A source of an instruction, loaded if it is in memory.
    fn source(&self, arg: Arg, step: &Step, op: Op) -> Vector {
        let Sizes { to, from, is_by_lane } = sizes(op);
        match arg {
            Arg::Simd(r) => self.simd[usize::from(r)],
            Arg::Int(r) => Vector::of_words(|_| self.ints[r as usize] as u32),
            Arg::Splat(_) => {
                let mut v = Vector::ZERO;
                let (element, rest) = v.0.split_at_mut(from);
                load_into(self.place(arg), element);
                rest.chunks_mut(from).for_each(|to| to.copy_from_slice(element));
                v
            }
            Arg::Mem(_) if matches!(op, Op::Broadcast8 | Op::Broadcast16 | Op::Broadcast32 | Op::Broadcast64) => {
                self.loaded(arg, from, from, u64::MAX)
            }
            Arg::Mem(_) if is_by_lane => self.loaded(arg, step.width / to.max(from) * from, from, self.bits_of(step.masking)),
            Arg::Mem(_) => self.loaded(arg, step.width, from, u64::MAX),
            other => unreachable!("{other:?} is no vector"),
        }
    }

    /// The elements of `size` bytes in memory of `bytes` bytes that `mask` has.
    fn loaded(&self, from: Arg, bytes: usize, size: usize, mask: u64) -> Vector {
        let (address, mut v) = (self.place(from), Vector::ZERO);
        if mask == u64::MAX {
            load_into(address, &mut v.0[..bytes]);
            return v;
        }
        for (i, lane) in v.0[..bytes].chunks_mut(size).enumerate().filter(|(i, _)| mask >> i & 1 > 0) {
            load_into(address.wrapping_add((i * size) as u64), lane);
        }
        v
    }

    /// The first `bytes` bytes of a result to a register, where zeros follow, or to memory.
    fn write(&mut self, to: Arg, result: &Vector, bytes: usize, size: usize, masking: Masking) {
        let mask = self.bits_of(masking);
        let Arg::Simd(r) = to else {
            let address = self.place(to);
            let lanes = result.0[..bytes].chunks(size).enumerate().filter(|(i, _)| mask >> i & 1 > 0);
            return lanes.for_each(|(i, lane)| store_from(address.wrapping_add((i * size) as u64), lane));
        };
        let old = &mut self.simd[usize::from(r)];
        let zero = [0; 8];
        for (i, (new, old)) in result.0[..bytes].chunks(size).zip(old.0.chunks_mut(size)).enumerate() {
            match masking {
                _ if mask >> i & 1 > 0 => old.copy_from_slice(new),
                Masking::Zero(_) => old.copy_from_slice(&zero[..size]),
                _ => {}
            }
        }
        old.0[bytes..].fill(0);
    }

    fn store_lanes(&self, to: Arg, from: Arg, bytes: usize, mask: u64) {
        let (address, source) = (self.place(to), self.simd_of(from));
        for (i, lane) in source.0[..bytes].chunks(4).enumerate().filter(|(i, _)| mask >> i & 1 > 0) {
            store_from(address.wrapping_add((4 * i) as u64), lane);
        }
    }

    /// The lowest bytes of a register or memory to a register, with zeros behind.
    fn lowest<const N: usize>(&mut self, to: Arg, from: Arg) {
        let mut v = Vector::ZERO;
        match from {
            Arg::Int(r) => v.0[..N].copy_from_slice(&self.ints[r as usize].to_le_bytes()[..N]),
            Arg::Simd(r) => v.0[..N].copy_from_slice(&self.simd[usize::from(r)].0[..N]),
            memory => load_into(self.place(memory), &mut v.0[..N]),
        }
        self.write(to, &v, 64, 4, Masking::None);
    }

    /// The lowest bytes of a register to a general one or to memory.
    fn lowest_to<const N: usize>(&mut self, to: Arg, from: Arg) {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(&self.simd_of(from).0[..N]);
        match to {
            Arg::Int(_) => self.set(to, u64::from_le_bytes(bytes)),
            Arg::Simd(_) => self.lowest::<N>(to, from),
            memory => store_from(self.place(memory), &bytes[..N]),
        }
    }
}

/// `dst op= a, b`
fn accumulated(op: Op, dst: &Vector, a: &Vector, b: &Vector) -> Vector {
    let (dst, x, y) = (dst.words(), a.words(), b.words());
    let float = |f: &dyn Fn(f32, f32, f32) -> f32| {
        Vector::of_words(|i| f(f32::from_bits(dst[i]), f32::from_bits(x[i]), f32::from_bits(y[i])).to_bits())
    };
    match op {
        Op::ScaleAddF32 => float(&|dst, a, b| dst.mul_add(a, b)),
        Op::FmaF32 => float(&|dst, a, b| a.mul_add(b, dst)),
        Op::FnmaF32 => float(&|dst, a, b| (-a).mul_add(b, dst)),
        Op::DotBf16 => {
            let half = |word: u32, high: bool| flushed(f32::from_bits(if high { word & 0xffff_0000 } else { word << 16 }));
            let add = |sum: f32, i: usize, high| flushed(half(x[i], high).mul_add(half(y[i], high), sum));
            Vector::of_words(|i| add(add(flushed(f32::from_bits(dst[i])), i, true), i, false).to_bits())
        }
        op => {
            assert_eq!(op, Op::DotU8S8);
            let product = |i: usize, byte: usize| i32::from(a.0[4 * i + byte]) * i32::from(b.0[4 * i + byte] as i8);
            Vector::of_words(|i| (0..4).fold(dst[i] as i32, |sum, byte| sum.wrapping_add(product(i, byte))) as u32)
        }
    }
}

/// Elements from those at the same place.
fn by_lane(op: Op, a: &Vector, b: &Vector, imm: i64) -> Vector {
    let n = imm as u32;
    match op {
        Op::Load | Op::Store | Op::StoreStreaming | Op::LoadI8 | Op::StoreI8 | Op::LoadI16 | Op::StoreI16 | Op::BroadcastInt => *a,
        Op::AddF32 => Vector::floats(a, b, |a, b| a + b),
        Op::SubF32 => Vector::floats(a, b, |a, b| a - b),
        Op::MulF32 => Vector::floats(a, b, |a, b| a * b),
        Op::DivF32 => Vector::floats(a, b, |a, b| a / b),
        Op::MinF32 => Vector::floats(a, b, |a, b| if a < b { a } else { b }),
        Op::MaxF32 => Vector::floats(a, b, |a, b| if a > b { a } else { b }),
        Op::SqrtF32 => Vector::floats(a, b, |a, _| a.sqrt()),
        Op::RoundF32 => Vector::floats(a, b, |a, _| rounded(a, imm)),
        Op::RangeF32 => Vector::floats(a, b, |a, b| extreme(a, b, imm == 5)),
        Op::And => Vector::zip(a, b, |a, b| a & b),
        Op::AndNot => Vector::zip(a, b, |a, b| !a & b),
        Op::Or => Vector::zip(a, b, |a, b| a | b),
        Op::Xor => Vector::zip(a, b, |a, b| a ^ b),
        Op::AddI32 => Vector::ints(a, b, i32::wrapping_add),
        Op::SubI32 => Vector::ints(a, b, i32::wrapping_sub),
        Op::MulI32 => Vector::ints(a, b, i32::wrapping_mul),
        Op::MinI32 => Vector::ints(a, b, Ord::min),
        Op::MaxI32 => Vector::ints(a, b, Ord::max),
        Op::MaxI8 => Vector(std::array::from_fn(|i| (a.0[i] as i8).max(b.0[i] as i8) as u8)),
        Op::MaxU8 => Vector(std::array::from_fn(|i| a.0[i].max(b.0[i]))),
        Op::ShlI32 => Vector::zip(a, b, |a, _| a.checked_shl(n).unwrap_or(0)),
        Op::ShrI32 => Vector::zip(a, b, |a, _| a.checked_shr(n).unwrap_or(0)),
        Op::SarI32 => Vector::ints(a, b, |a, _| a >> n.min(31)),
        Op::ShlI16 => Vector::short(a, |a| a.checked_shl(n).unwrap_or(0)),
        Op::ShrI16 => Vector::short(a, |a| a.checked_shr(n).unwrap_or(0)),
        Op::SarI16 => Vector::short(a, |a| (a as i16 >> n.min(15)) as u16),
        Op::CmpF32 => Vector::zip(a, b, |a, b| ones(float_holds(imm, f32::from_bits(a), f32::from_bits(b)))),
        Op::CmpGtI32 => Vector::zip(a, b, |a, b| ones(a as i32 > b as i32)),
        Op::CmpEqI32 => Vector::zip(a, b, |a, b| ones(a == b)),
        op => converted(op, a),
    }
}

/// Elements of another type.
fn converted(op: Op, a: &Vector) -> Vector {
    let (words, halves) = (a.words(), a.halves());
    let floats = words.map(f32::from_bits);
    let mut narrow = Vector::ZERO;
    match op {
        Op::F32FromI32 => Vector::of_words(|i| (words[i] as i32 as f32).to_bits()),
        Op::I32FromF32 => Vector::of_words(|i| integer(floats[i]) as u32),
        Op::F32FromF16 | Op::F32FromF16Wide => Vector::of_words(|i| f16::from_bits(halves[i]).to_f32().to_bits()),
        Op::F16FromF32 => Vector::of_halves(|i| f16::from_f32(if i < 16 { floats[i] } else { 0.0 }).to_bits()),
        Op::I32FromU8 => Vector::of_words(|i| u32::from(a.0[i])),
        Op::I32FromI8 => Vector::of_words(|i| a.0[i] as i8 as u32),
        Op::I32FromU16 => Vector::of_words(|i| u32::from(halves[i])),
        Op::I32FromI16 => Vector::of_words(|i| halves[i] as i16 as u32),
        Op::I8FromI32 => {
            (0..16).for_each(|i| narrow.0[i] = (words[i] as i32).clamp(-128, 127) as u8);
            narrow
        }
        Op::U8FromI32 => {
            (0..16).for_each(|i| narrow.0[i] = words[i].min(255) as u8);
            narrow
        }
        Op::Low16FromI32 => Vector::of_halves(|i| if i < 16 { words[i] as u16 } else { 0 }),
        Op::Bf16FromF32 => Vector::of_halves(|i| if i < 16 { bf16_of(floats[i]) } else { 0 }),
        op => unreachable!("{op:?} is no instruction on vectors"),
    }
}

/// Elements from those at other places.
fn across(op: Op, [a, b]: [&Vector; 2], imm: usize, step: &Step) -> Vector {
    let (x, y) = (a.words(), b.words());
    let quarter = |i: usize| 4 * (i / 4);
    let lanes = step.width / 4;
    match op {
        Op::Broadcast8 => Vector([a.0[0]; 64]),
        Op::Broadcast16 => Vector::of_halves(|_| a.halves()[0]),
        Op::Broadcast32 => Vector::of_words(|_| x[0]),
        Op::Broadcast64 => Vector::of_words(|i| x[i % 2]),
        Op::MaddI16 => {
            let (x, y) = (a.halves(), b.halves());
            let product = |i: usize| i32::from(x[i] as i16) * i32::from(y[i] as i16);
            Vector::of_words(|i| product(2 * i).wrapping_add(product(2 * i + 1)) as u32)
        }
        Op::MaddU8S8 => {
            let product = |i: usize| i32::from(a.0[i]) * i32::from(b.0[i] as i8);
            Vector::of_halves(|i| (product(2 * i) + product(2 * i + 1)).clamp(-32768, 32767) as u16)
        }
        Op::PackI16 | Op::PackU16 => {
            let saturated =
                |word: u32| if op == Op::PackI16 { (word as i32).clamp(-32768, 32767) } else { (word as i32).clamp(0, 65535) } as u16;
            Vector::of_halves(|i| {
                let (at, of) = (4 * (i / 8) + i % 4, if i % 8 < 4 { &x } else { &y });
                saturated(of[at])
            })
        }
        Op::PackI8 | Op::PackU8 => {
            let (x, y) = (a.halves(), b.halves());
            let saturated = |half: u16| if op == Op::PackI8 { (half as i16).clamp(-128, 127) } else { (half as i16).clamp(0, 255) } as u8;
            Vector(std::array::from_fn(|i| {
                let (at, of) = (8 * (i / 16) + i % 8, if i % 16 < 8 { &x } else { &y });
                saturated(of[at])
            }))
        }
        Op::Bf16FromBoth => {
            let of = |i: usize| if i < lanes { y[i] } else { x[(i - lanes).min(15)] };
            Vector::of_halves(|i| bf16_of(f32::from_bits(of(i))))
        }
        Op::ShuffleF32 => Vector::of_words(|i| (if i % 4 < 2 { x } else { y })[quarter(i) + (imm >> (2 * (i % 4)) & 3)]),
        Op::InterleaveLow32 => Vector::of_words(|i| (if i % 2 == 0 { x } else { y })[quarter(i) + i % 4 / 2]),
        Op::InterleaveHigh32 => Vector::of_words(|i| (if i % 2 == 0 { x } else { y })[quarter(i) + 2 + i % 4 / 2]),
        Op::InterleaveLow64 => Vector::of_words(|i| (if i % 4 < 2 { x } else { y })[quarter(i) + i % 2]),
        Op::InterleaveHigh64 => Vector::of_words(|i| (if i % 4 < 2 { x } else { y })[quarter(i) + 2 + i % 2]),
        Op::Blocks128 => Vector::of_words(|i| [x, y].as_flattened()[blocks_from(i / 4, imm, step) + i % 4]),
        Op::PermuteI64 => Vector::of_words(|i| x[8 * (i / 8) + 2 * (imm >> (2 * (i % 8 / 2)) & 3) + i % 2]),
        Op::PermuteI32 => Vector::of_words(|i| y[x[i] as usize % lanes]),
        Op::PermuteI16 => {
            let (x, y) = (a.halves(), b.halves());
            Vector::of_halves(|i| y[usize::from(x[i]) % (2 * lanes)])
        }
        Op::High128 => Vector::of_words(|i| x[(4 * (imm % (lanes / 4)) + i) % 16]),
        Op::High256 => Vector::of_words(|i| x[(8 * (imm % 2) + i) % 16]),
        op => unreachable!("{op:?} is no instruction on vectors"),
    }
}

/// The first word, of two sources of 16, of a block of four words that [`Op::Blocks128`] gives.
fn blocks_from(block: usize, imm: usize, step: &Step) -> usize {
    let (source, from) = match (step.width, step.is_vex) {
        (64, _) => (block / 2, imm >> (2 * block) & 3),
        (_, false) => (block % 2, imm >> (block % 2) & 1),
        (_, true) => (imm >> (4 * (block % 2) + 1) & 1, imm >> (4 * (block % 2)) & 1),
    };
    16 * source + 4 * from
}

fn ones(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

/// The predicates of `vcmpps`, of which those from 16 on differ in the exceptions that they raise.
fn float_holds(predicate: i64, a: f32, b: f32) -> bool {
    let unordered = a.is_nan() || b.is_nan();
    match predicate & 15 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => unordered,
        4 => a != b,
        5 => unordered || a >= b,
        6 => unordered || a > b,
        7 => !unordered,
        8 => unordered || a == b,
        9 => unordered || a < b,
        10 => unordered || a <= b,
        11 => false,
        12 => !unordered && a != b,
        13 => a >= b,
        14 => a > b,
        _ => true,
    }
}

/// The predicates of `vpcmpd`.
fn int_holds(predicate: i64, a: i32, b: i32) -> bool {
    match predicate & 7 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => false,
        4 => a != b,
        5 => a >= b,
        6 => a > b,
        _ => true,
    }
}

/// The class of a number as `vfpclassps` has it.
fn class(x: f32) -> i64 {
    let quiet = x.to_bits() & 0x40_0000 > 0;
    match x.classify() {
        std::num::FpCategory::Nan => {
            if quiet {
                1
            } else {
                128
            }
        }
        std::num::FpCategory::Zero => {
            if x.is_sign_negative() {
                4
            } else {
                2
            }
        }
        std::num::FpCategory::Infinite => {
            if x.is_sign_negative() {
                16
            } else {
                8
            }
        }
        std::num::FpCategory::Subnormal => 32 | if x.is_sign_negative() { 64 } else { 0 },
        std::num::FpCategory::Normal => {
            if x.is_sign_negative() {
                64
            } else {
                0
            }
        }
    }
}

/// To an integer, in the direction that the lowest two bits of the number say.
fn rounded(x: f32, how: i64) -> f32 {
    assert_eq!(how & !11, 0, "a way of rounding");
    match how & 3 {
        0 => x.round_ties_even(),
        1 => x.floor(),
        2 => x.ceil(),
        _ => x.trunc(),
    }
}

/// The larger or the smaller number, zeros ordered by sign; the other where one is a quiet NaN, and a signalling one made quiet.
fn extreme(a: f32, b: f32, larger: bool) -> f32 {
    let is_signalling = |x: f32| x.is_nan() && x.to_bits() & 0x40_0000 == 0;
    let quiet = |x: f32| f32::from_bits(x.to_bits() | 0x40_0000);
    match (a.is_nan(), b.is_nan()) {
        _ if is_signalling(a) => quiet(a),
        _ if is_signalling(b) => quiet(b),
        (true, _) => b,
        (_, true) => a,
        _ if (a.total_cmp(&b) == std::cmp::Ordering::Greater) == larger => a,
        _ => b,
    }
}

/// To nearest even; what is out of range becomes the smallest number.
fn integer(x: f32) -> i32 {
    let x = x.round_ties_even();
    if (-2_147_483_648.0..2_147_483_648.0).contains(&x) { x as i32 } else { i32::MIN }
}

/// To nearest even, with subnormal numbers as zeros.
fn bf16_of(x: f32) -> u16 {
    bf16::from_f32(flushed(x)).to_bits()
}
