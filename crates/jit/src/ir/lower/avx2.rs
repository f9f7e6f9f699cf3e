//! Vectors with AVX2: masks are vectors of ones and zeros; dot products and narrow types take several instructions.

use super::super::machine::{Arg, Machine, Masked, MemOperand, Reg};
use super::super::{Accumulate, Addr, Binary, Compare, Elem, Pred, VecInst};
use super::{
    I8_RANGE, ORDERED, U8_RANGE, accumulate_op, arg, binary_op, common, float_predicate, lane_numbers, masked, source, splat_word,
    store_packed, widen,
};
use crate::asm::{Op, Width};
use crate::isa::Isa;

pub(super) fn lower(m: &mut Machine, isa: Isa, inst: VecInst) {
    if common(m, inst) {
        return;
    }
    match inst {
        VecInst::SplatInt(dst, x) => splat_int(m, dst.0, x.0),
        VecInst::Load { dst, from, mask } => load(m, dst.0, Arg::Mem(from.into()), mask),
        VecInst::Store { to, src, mask } => store(m, to, src.0, mask),
        VecInst::LoadAs { dst, elem, from, mask } => load_as(m, dst.0, elem, from, mask),
        VecInst::StoreAs { elem, to, src, mask } => store_as(m, elem, to, src.0, mask),
        VecInst::StoreStreamingAs { elem, to, src } => store_streaming_as(m, elem, to, src.0),
        VecInst::StoreFlushed { to, src, mask } => store_as(m, Elem::Bf16, to, src.0, mask),
        VecInst::StoreBothFlushed { to, first, second } => {
            store_as(m, Elem::Bf16, to, first.0, None);
            store_as(m, Elem::Bf16, to.behind(m.width(first.0).half().bytes() as i32), second.0, None);
        }
        VecInst::StoreBytes { elem, real, to, src } => {
            let numbers = src.map(|src| if real { bounded(m, elem, src.0) } else { src.0 });
            store_packed(m, elem, to, numbers);
        }
        VecInst::Binary(op, dst, a, b) => {
            let b = operand(m, dst.0, source(b));
            match op {
                Binary::EvenBlocks => m.op(Op::Blocks128, &[arg(dst), arg(a), b, Arg::Imm(0x20)]),
                Binary::SmallestF32 | Binary::LargestF32 => {
                    let b = in_register(m, dst.0, b);
                    // Of two operands the second is taken where one is NaN.
                    let (best, is_nan) = (m.temp(m.width(dst.0)), m.temp(m.width(dst.0)));
                    let extreme = if op == Binary::LargestF32 { Op::MaxF32 } else { Op::MinF32 };
                    m.op(extreme, &[Arg::Reg(best), arg(a), Arg::Reg(b)]);
                    nan_lanes(m, is_nan, b);
                    m.op(Op::BlendV, &[arg(dst), Arg::Reg(best), arg(a), Arg::Reg(is_nan)]);
                }
                Binary::PairBf16 | Binary::PairBf16Flushed => {
                    let b = in_register(m, dst.0, b);
                    let (low, high) = (bf16(m, a.0), bf16(m, b));
                    m.op(Op::ShlI32, &[Arg::Reg(high), Arg::Reg(high), Arg::Imm(16)]);
                    m.op(Op::Or, &[arg(dst), Arg::Reg(low), Arg::Reg(high)]);
                }
                Binary::OddBlocks => m.op(Op::Blocks128, &[arg(dst), arg(a), b, Arg::Imm(0x31)]),
                _ => m.op(binary_op(op), &[arg(dst), arg(a), b]),
            }
        }
        VecInst::Accumulate(op, dst, a, b) => {
            let b = operand(m, dst.0, source(b));
            match op {
                Accumulate::DotBf16 => {
                    let b = in_register(m, dst.0, b);
                    dot_bf16(m, dst.0, a.0, b);
                }
                Accumulate::DotU8S8 if !isa.vnni => {
                    let b = in_register(m, dst.0, b);
                    dot_u8s8(m, dst.0, a.0, b);
                }
                _ => m.op(accumulate_op(op), &[arg(dst), arg(a), b]),
            }
        }
        VecInst::CompareF32(how, dst, a, b) => m.op(Op::CmpF32, &[Arg::Reg(dst.0), arg(a), arg(b), Arg::Imm(float_predicate(how))]),
        VecInst::CompareI32(how, dst, a, b) => compare_i32(m, how, dst.0, a.0, b.0),
        VecInst::Select { dst, mask, yes, no } => m.op(Op::BlendV, &[arg(dst), arg(no), arg(yes), Arg::As(mask.0, m.width(dst.0))]),
        VecInst::FirstLanes(dst, count) => {
            let lanes = lane_numbers(m, Width::W256);
            splat_int(m, dst.0, count.0);
            m.op(Op::CmpGtI32, &[Arg::Reg(dst.0), Arg::Reg(dst.0), Arg::Mem(lanes)]);
            m.prefixes.push(dst.0);
        }
        VecInst::LoadBits(dst, from) => {
            let from = MemOperand::from(from);
            if let MemOperand::Const(c) = from {
                let bits = m.constants[c as usize].first().copied().unwrap_or(0);
                let mask = m.constant((0..8).flat_map(|lane| (-i32::from(bits >> lane & 1)).to_le_bytes()).collect());
                return m.op(Op::Load, &[Arg::Reg(dst.0), Arg::Mem(mask)]);
            }
            let (byte, numbers) = (m.temp_int(), m.temp(Width::W256));
            let lanes = m.constant((0..8).flat_map(|lane| (1_i32 << lane).to_le_bytes()).collect());
            m.op(Op::MovU8, &[Arg::Reg(byte), Arg::Mem(from)]);
            splat_int(m, dst.0, byte);
            m.op(Op::Load, &[Arg::Reg(numbers), Arg::Mem(lanes)]);
            m.op(Op::And, &[Arg::Reg(dst.0), Arg::Reg(dst.0), Arg::Reg(numbers)]);
            m.op(Op::CmpEqI32, &[Arg::Reg(dst.0), Arg::Reg(dst.0), Arg::Reg(numbers)]);
        }
        VecInst::StoreBits(to, bits) => {
            let byte = m.temp_int();
            m.op(Op::SignBits, &[Arg::Reg(byte), Arg::Reg(bits.0)]);
            m.op(Op::MovStore8, &[Arg::Mem(to.into()), Arg::Reg(byte)]);
        }
        VecInst::Unary(_, dst, a) => {
            let low = m.temp(Width::W256);
            m.op(Op::ShlI32, &[Arg::Reg(low), arg(a), Arg::Imm(16)]);
            m.op(Op::ShrI32, &[Arg::Reg(low), Arg::Reg(low), Arg::Imm(16)]);
            let words = packed(m, Op::PackU16, low);
            m.op(Op::F32FromF16, &[arg(dst), Arg::As(words, Width::W128)]);
        }
        // The same for all instruction sets, and done; bytes are looked up by AVX512-VBMI only.
        VecInst::Zero(_) | VecInst::Move(..) | VecInst::SplatMem(..) | VecInst::SplatAs(..) => {}
        VecInst::StoreStreaming { .. } | VecInst::LookupBytes { .. } => {}
    }
}

/// The same 32 bits in every lane, in memory.
fn repeated(m: &mut Machine, bits: u32) -> Arg {
    Arg::Mem(m.constant(bits.to_le_bytes().repeat(Width::W256.lanes())))
}

/// An operand that VEX encodes: repeated elements go through a register, constants are in memory as often as there are lanes.
fn operand(m: &mut Machine, like: Reg, src: Arg) -> Arg {
    let Arg::Splat(at) = src else { return src };
    if let MemOperand::Const(c) = at
        && let Ok(bytes) = <[u8; 4]>::try_from(&m.constants[c as usize][..])
    {
        return repeated(m, u32::from_le_bytes(bytes));
    }
    let r = m.temp(m.width(like));
    m.op(Op::Broadcast32, &[Arg::Reg(r), Arg::Mem(at)]);
    Arg::Reg(r)
}

fn in_register(m: &mut Machine, like: Reg, src: Arg) -> Reg {
    if let Arg::Reg(r) = src {
        return r;
    }
    let r = m.temp(m.width(like));
    m.op(Op::Load, &[Arg::Reg(r), src]);
    r
}

fn splat_int(m: &mut Machine, dst: Reg, x: Reg) {
    let low = m.temp(Width::W128);
    m.op(Op::Load32, &[Arg::Reg(low), Arg::Reg(x)]);
    m.op(Op::Broadcast32, &[Arg::Reg(dst), Arg::Reg(low)]);
}

fn load(m: &mut Machine, dst: Reg, from: Arg, mask: Option<Pred>) {
    match mask {
        Some(k) => m.op(Op::MaskLoad, &[Arg::Reg(dst), Arg::Reg(k.0), from]),
        None => m.op(Op::Load, &[Arg::Reg(dst), from]),
    }
}

fn store(m: &mut Machine, to: Addr, src: Reg, mask: Option<Pred>) {
    match mask {
        Some(k) => masked::store(m, Elem::F32, to, src, k),
        None => m.op(Op::Store, &[Arg::Mem(to.into()), Arg::Reg(src)]),
    }
}

fn compare_i32(m: &mut Machine, how: Compare, dst: Reg, a: Reg, b: Reg) {
    let (op, x, y, negate) = match how {
        Compare::Eq => (Op::CmpEqI32, a, b, false),
        Compare::Ne => (Op::CmpEqI32, a, b, true),
        Compare::Gt => (Op::CmpGtI32, a, b, false),
        Compare::Le => (Op::CmpGtI32, a, b, true),
        Compare::Lt => (Op::CmpGtI32, b, a, false),
        Compare::Ge => (Op::CmpGtI32, b, a, true),
    };
    m.op(op, &[Arg::Reg(dst), Arg::Reg(x), Arg::Reg(y)]);
    if negate {
        let ones = m.temp(m.width(dst));
        splat_word(m, ones, u32::MAX);
        m.op(Op::Xor, &[Arg::Reg(dst), Arg::Reg(dst), Arg::Reg(ones)]);
    }
}

/// Both bf16 of a lane are the upper half of an f32: two multiply-adds, the lower pair first.
pub(super) fn dot_bf16(m: &mut Machine, dst: Reg, a: Reg, b: Reg) {
    use Arg::{Imm, Reg};
    let width = m.width(dst);
    let (low_a, low_b) = (m.temp(width), m.temp(width));
    m.op(Op::ShlI32, &[Reg(low_a), Reg(a), Imm(16)]);
    m.op(Op::ShlI32, &[Reg(low_b), Reg(b), Imm(16)]);
    m.op(Op::FmaF32, &[Reg(dst), Reg(low_a), Reg(low_b)]);
    let (upper, high_a, high_b) = (m.temp(width), m.temp(width), m.temp(width));
    splat_word(m, upper, 0xffff_0000);
    m.op(Op::And, &[Reg(high_a), Reg(a), Reg(upper)]);
    m.op(Op::And, &[Reg(high_b), Reg(b), Reg(upper)]);
    m.op(Op::FmaF32, &[Reg(dst), Reg(high_a), Reg(high_b)]);
}

/// Even and odd bytes are extended to 16 bits, whose products sum exactly in 32 bits (the shorter way over `vpmaddubsw` saturates).
pub(super) fn dot_u8s8(m: &mut Machine, dst: Reg, a: Reg, b: Reg) {
    use Arg::{Imm, Reg};
    let width = m.width(dst);
    let (even_a, even_b) = (m.temp(width), m.temp(width));
    m.op(Op::ShlI16, &[Reg(even_a), Reg(a), Imm(8)]);
    m.op(Op::ShrI16, &[Reg(even_a), Reg(even_a), Imm(8)]);
    m.op(Op::ShlI16, &[Reg(even_b), Reg(b), Imm(8)]);
    m.op(Op::SarI16, &[Reg(even_b), Reg(even_b), Imm(8)]);
    m.op(Op::MaddI16, &[Reg(even_a), Reg(even_a), Reg(even_b)]);
    m.op(Op::AddI32, &[Reg(dst), Reg(dst), Reg(even_a)]);
    let (odd_a, odd_b) = (m.temp(width), m.temp(width));
    m.op(Op::ShrI16, &[Reg(odd_a), Reg(a), Imm(8)]);
    m.op(Op::SarI16, &[Reg(odd_b), Reg(b), Imm(8)]);
    m.op(Op::MaddI16, &[Reg(odd_a), Reg(odd_a), Reg(odd_b)]);
    m.op(Op::AddI32, &[Reg(dst), Reg(dst), Reg(odd_a)]);
}

fn ordered(m: &mut Machine, dst: Reg, a: Reg) {
    m.op(Op::CmpF32, &[Arg::Reg(dst), Arg::Reg(a), Arg::Reg(a), Arg::Imm(ORDERED)]);
    m.op(Op::And, &[Arg::Reg(dst), Arg::Reg(dst), Arg::Reg(a)]);
}

fn nan_lanes(m: &mut Machine, dst: Reg, a: Reg) {
    // 3: either is NaN.
    m.op(Op::CmpF32, &[Arg::Reg(dst), Arg::Reg(a), Arg::Reg(a), Arg::Imm(3)]);
}

/// f32 lanes to lanes whose low half is bf16, to nearest even.
fn bf16(m: &mut Machine, a: Reg) -> Reg {
    use Arg::{Imm, Reg};
    let width = m.width(a);
    let (rounded, half, is_nan, result) = (m.temp(width), m.temp(width), m.temp(width), m.temp(width));
    let (one, bias, quiet) = (repeated(m, 1), repeated(m, 0x7fff), repeated(m, 0x40));
    // The lowest bit that stays decides ties.
    m.op(Op::ShrI32, &[Reg(half), Reg(a), Imm(16)]);
    m.op(Op::And, &[Reg(rounded), Reg(half), one]);
    m.op(Op::AddI32, &[Reg(rounded), Reg(rounded), bias]);
    m.op(Op::AddI32, &[Reg(rounded), Reg(rounded), Reg(a)]);
    m.op(Op::ShrI32, &[Reg(rounded), Reg(rounded), Imm(16)]);
    // NaN stays NaN: its upper half with the quiet bit.
    nan_lanes(m, is_nan, a);
    m.op(Op::Or, &[Reg(half), Reg(half), quiet]);
    m.op(Op::BlendV, &[Reg(result), Reg(rounded), Reg(half), Reg(is_nan)]);
    result
}

fn load_as(m: &mut Machine, dst: Reg, elem: Elem, from: Addr, mask: Option<Pred>) {
    match mask {
        None => widen(m, dst, elem, Arg::Mem(from.into()), Masked::No),
        Some(_) if elem.bytes() == 4 => load(m, dst, Arg::Mem(from.into()), mask),
        Some(mask) => {
            let narrow = masked::load(m, elem, from, mask);
            widen(m, dst, elem, Arg::Reg(narrow), Masked::No);
        }
    }
}

fn store_as(m: &mut Machine, elem: Elem, to: Addr, src: Reg, mask: Option<Pred>) {
    if elem.bytes() == 4 {
        return store(m, to, src, mask);
    }
    let narrow = narrowed(m, elem, src);
    let whole = Arg::As(narrow, Width::W128);
    match mask {
        None if elem.bytes() == 2 => m.op(Op::Store, &[Arg::Mem(to.into()), whole]),
        None => m.op(Op::Store64, &[Arg::Mem(to.into()), whole]),
        Some(mask) => masked::store(m, elem, to, narrow, mask),
    }
}

/// The same non-temporally, except for bytes.
fn store_streaming_as(m: &mut Machine, elem: Elem, to: Addr, src: Reg) {
    let narrow = narrowed(m, elem, src);
    let store = if elem.bytes() == 2 { Op::StoreStreaming } else { Op::Store64 };
    m.op(store, &[Arg::Mem(to.into()), Arg::As(narrow, Width::W128)]);
}

/// Eight 32-bit lanes as narrow elements at the begin of a register.
fn narrowed(m: &mut Machine, elem: Elem, src: Reg) -> Reg {
    match elem {
        Elem::F32 | Elem::I32 => src,
        Elem::F16 => {
            let half = m.temp(Width::W128);
            m.op(Op::F16FromF32, &[Arg::Reg(half), Arg::Reg(src), Arg::Imm(0)]);
            half
        }
        Elem::Bf16 => {
            let low = bf16(m, src);
            packed(m, Op::PackU16, low)
        }
        Elem::Low16 => packed(m, Op::PackU16, src),
        Elem::F8E5m2 | Elem::F8E4m3 | Elem::Low8 | Elem::Whole8 => {
            let (words, bytes) = (packed(m, Op::PackU16, src), m.temp(Width::W128));
            m.op(Op::PackU8, &[Arg::Reg(bytes), Arg::As(words, Width::W128), Arg::As(words, Width::W128)]);
            bytes
        }
        Elem::I8 | Elem::U8 => {
            let number = bounded(m, elem, src);
            let words = packed(m, Op::PackI16, number);
            let bytes = m.temp(Width::W128);
            let pack = if elem == Elem::I8 { Op::PackI8 } else { Op::PackU8 };
            m.op(pack, &[Arg::Reg(bytes), Arg::As(words, Width::W128), Arg::As(words, Width::W128)]);
            bytes
        }
    }
}

/// f32 to integers that are saturated as bytes by packing, NaN to 0. Numbers below all 32-bit integers become the least of these.
fn bounded(m: &mut Machine, elem: Elem, src: Reg) -> Reg {
    let (_, high) = if elem == Elem::I8 { I8_RANGE } else { U8_RANGE };
    let (number, high) = (m.temp(m.width(src)), repeated(m, high.to_bits()));
    ordered(m, number, src);
    m.op(Op::MinF32, &[Arg::Reg(number), Arg::Reg(number), high]);
    m.op(Op::I32FromF32, &[Arg::Reg(number), Arg::Reg(number)]);
    number
}

/// Eight 32-bit lanes as 16-bit lanes in the lower half.
fn packed(m: &mut Machine, pack: Op, a: Reg) -> Reg {
    let words = m.temp(Width::W256);
    m.op(pack, &[Arg::Reg(words), Arg::Reg(a), Arg::Reg(a)]);
    // Packing works in blocks of 128 bits: the lower 64 bits of each are wanted.
    m.op(Op::PermuteI64, &[Arg::Reg(words), Arg::Reg(words), Arg::Imm(0b00_00_10_00)]);
    words
}
