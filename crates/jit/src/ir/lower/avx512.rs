//! Vectors with AVX-512: masks have registers of their own, nearly everything is one instruction.

use super::super::machine::{Arg, Item, Machine, Masked, Reg};
use super::super::{Accumulate, Binary, Compare, Elem, Pred, VecInst};
use super::{
    I8_RANGE, ORDERED, U8_RANGE, accumulate_op, arg, binary_op, common, float_predicate, lane_numbers, merged, source, store_packed, widen,
    zeroed,
};
use crate::asm::{Cond, Op, Width};
use crate::isa::Isa;

pub(super) fn lower(m: &mut Machine, isa: Isa, inst: VecInst) {
    if let (VecInst::SplatAs(dst, Elem::F16, from), true) = (inst, isa.fp16) {
        return m.op(Op::F32FromF16Wide, &[arg(dst), Arg::Splat(from.into())]);
    }
    if common(m, inst) {
        return;
    }
    match inst {
        VecInst::SplatInt(dst, x) => m.op(Op::BroadcastInt, &[arg(dst), Arg::Reg(x.0)]),
        VecInst::Load { dst, from, mask } => m.masked(Op::Load, &[arg(dst), Arg::Mem(from.into())], zeroed(mask)),
        VecInst::Store { to, src, mask } => m.masked(Op::Store, &[Arg::Mem(to.into()), arg(src)], merged(mask)),
        VecInst::LoadAs { dst, elem, from, mask } => widen(m, dst.0, elem, Arg::Mem(from.into()), zeroed(mask)),
        VecInst::StoreAs { elem: Elem::Bf16, to, src, mask } if isa.bf16 => store_bf16(m, Arg::Mem(to.into()), src.0, mask),
        VecInst::StoreAs { elem, to, src, mask } => store_as(m, elem, Arg::Mem(to.into()), src.0, mask),
        VecInst::StoreStreamingAs { elem, to, src } => {
            let narrow = m.temp(if elem.bytes() == 2 { m.width(src.0).half() } else { m.width(src.0).half().half() });
            match elem {
                Elem::F16 => m.op(Op::F16FromF32, &[Arg::Reg(narrow), arg(src), Arg::Imm(0)]),
                Elem::Bf16 if isa.bf16 => m.op(Op::Bf16FromF32, &[Arg::Reg(narrow), arg(src)]),
                elem => store_as(m, elem, Arg::Reg(narrow), src.0, None),
            }
            m.op(Op::StoreStreaming, &[Arg::Mem(to.into()), Arg::Reg(narrow)]);
        }
        VecInst::StoreFlushed { to, src, mask } if isa.bf16 => {
            let narrow = m.temp(m.width(src.0).half());
            m.op(Op::Bf16FromF32, &[Arg::Reg(narrow), arg(src)]);
            m.masked(Op::StoreI16, &[Arg::Mem(to.into()), Arg::Reg(narrow)], merged(mask));
        }
        VecInst::StoreFlushed { to, src, mask } => store_as(m, Elem::Bf16, Arg::Mem(to.into()), src.0, mask),
        VecInst::StoreBothFlushed { to, first, second } if isa.bf16 => {
            let both = m.temp(m.width(first.0));
            m.op(Op::Bf16FromBoth, &[Arg::Reg(both), arg(second), arg(first)]);
            m.op(Op::Store, &[Arg::Mem(to.into()), Arg::Reg(both)]);
        }
        VecInst::StoreBothFlushed { to, first, second } => {
            let behind = to.behind(m.width(first.0).half().bytes() as i32);
            store_as(m, Elem::Bf16, Arg::Mem(to.into()), first.0, None);
            store_as(m, Elem::Bf16, Arg::Mem(behind.into()), second.0, None);
        }
        VecInst::LookupBytes { dst, bytes, table: [a, b, c, d] } => {
            let (upper, signs) = (m.temp(m.width(dst.0)), m.temp_mask());
            m.op(Op::SignsI8, &[Arg::Reg(signs), arg(bytes)]);
            m.op(Op::Load, &[arg(dst), arg(bytes)]);
            m.op(Op::Load, &[Arg::Reg(upper), arg(bytes)]);
            m.op(Op::LookupI8, &[arg(dst), arg(a), arg(b)]);
            m.op(Op::LookupI8, &[Arg::Reg(upper), arg(c), arg(d)]);
            m.masked(Op::LoadI8, &[arg(dst), Arg::Reg(upper)], Masked::Merge(signs));
        }
        VecInst::StoreBytes { elem, real, to, src } => {
            let numbers = src.map(|src| if real { bounded(m, elem, src.0) } else { src.0 });
            store_packed(m, elem, to, numbers);
        }
        VecInst::Binary(op @ (Binary::EvenBlocks | Binary::OddBlocks), dst, a, b) => {
            // Two bits choose each of four blocks, one bit each of two.
            let (even, odd) = if m.width(dst.0) == Width::W512 { (0b10_00_10_00, 0b11_01_11_01) } else { (0b00, 0b11) };
            let imm = if op == Binary::EvenBlocks { even } else { odd };
            m.op(Op::Blocks128, &[arg(dst), arg(a), source(b), Arg::Imm(imm)]);
        }
        VecInst::Binary(op @ (Binary::SmallestF32 | Binary::LargestF32), dst, a, b) => {
            m.op(Op::RangeF32, &[arg(dst), arg(a), source(b), Arg::Imm(if op == Binary::LargestF32 { 5 } else { 4 })]);
        }
        VecInst::Binary(op @ (Binary::PairBf16 | Binary::PairBf16Flushed), dst, a, b) => {
            let odd = in_register(m, m.width(dst.0), source(b));
            match op {
                Binary::PairBf16Flushed if isa.bf16 => pair_flushed(m, dst.0, [a.0, odd]),
                _ => pair_bf16(m, isa, dst.0, [a.0, odd]),
            }
        }
        VecInst::Binary(op, dst, a, b) => m.op(binary_op(op), &[arg(dst), arg(a), source(b)]),
        VecInst::Accumulate(op, dst, a, b) => match op {
            Accumulate::DotBf16 if !isa.bf16 => {
                let b = in_register(m, m.width(dst.0), source(b));
                super::avx2::dot_bf16(m, dst.0, a.0, b);
            }
            Accumulate::DotU8S8 if !isa.vnni => {
                let b = in_register(m, m.width(dst.0), source(b));
                super::avx2::dot_u8s8(m, dst.0, a.0, b);
            }
            _ => m.op(accumulate_op(op), &[arg(dst), arg(a), source(b)]),
        },
        VecInst::CompareF32(how, dst, a, b) => m.op(Op::CmpF32, &[Arg::Reg(dst.0), arg(a), arg(b), Arg::Imm(float_predicate(how))]),
        VecInst::CompareI32(how, dst, a, b) => m.op(Op::CmpI32, &[Arg::Reg(dst.0), arg(a), arg(b), Arg::Imm(integer_predicate(how))]),
        VecInst::Select { dst, mask, yes, no } => m.masked(Op::Blend, &[arg(dst), arg(no), arg(yes)], Masked::Blend(mask.0)),
        VecInst::FirstLanes(dst, count) => {
            // A comparison, because the instruction that keeps the low bits of a number uses only 8 bits of the count.
            let (lanes, counts) = (lane_numbers(m, Width::W512), m.temp(Width::W512));
            m.op(Op::BroadcastInt, &[Arg::Reg(counts), Arg::Reg(count.0)]);
            m.op(Op::CmpI32, &[Arg::Reg(dst.0), Arg::Reg(counts), Arg::Mem(lanes), Arg::Imm(integer_predicate(Compare::Gt))]);
        }
        VecInst::LoadBits(dst, from) => m.op(Op::KLoad16, &[Arg::Reg(dst.0), Arg::Mem(from.into())]),
        VecInst::StoreBits(to, bits) => m.op(Op::KStore16, &[Arg::Mem(to.into()), Arg::Reg(bits.0)]),
        VecInst::Unary(_, dst, a) => {
            let half = m.temp(m.width(dst.0).half());
            m.op(Op::Low16FromI32, &[Arg::Reg(half), arg(a)]);
            m.op(Op::F32FromF16, &[arg(dst), Arg::Reg(half)]);
        }
        VecInst::Zero(_) | VecInst::Move(..) | VecInst::SplatMem(..) | VecInst::SplatAs(..) | VecInst::StoreStreaming { .. } => {}
    }
}

fn integer_predicate(how: Compare) -> i64 {
    match how {
        Compare::Eq => 0,
        Compare::Lt => 1,
        Compare::Le => 2,
        Compare::Ne => 4,
        Compare::Ge => 5,
        Compare::Gt => 6,
    }
}

fn in_register(m: &mut Machine, width: Width, src: Arg) -> Reg {
    let (op, from) = match src {
        Arg::Reg(r) => return r,
        Arg::Splat(at) => (Op::Broadcast32, Arg::Mem(at)),
        other => (Op::Load, other),
    };
    let r = m.temp(width);
    m.op(op, &[Arg::Reg(r), from]);
    r
}

fn store_as(m: &mut Machine, elem: Elem, to: Arg, src: Reg, mask: Option<Pred>) {
    match elem {
        Elem::F32 | Elem::I32 => m.masked(Op::Store, &[to, Arg::Reg(src)], merged(mask)),
        Elem::F16 => {
            // Conversions to memory take up to twice as long as those to a register and a store.
            let half = m.temp(m.width(src).half());
            m.op(Op::F16FromF32, &[Arg::Reg(half), Arg::Reg(src), Arg::Imm(0)]);
            m.masked(Op::StoreI16, &[to, Arg::Reg(half)], merged(mask));
        }
        Elem::Low16 => m.masked(Op::Low16FromI32, &[to, Arg::Reg(src)], merged(mask)),
        Elem::F8E5m2 | Elem::F8E4m3 | Elem::Low8 | Elem::Whole8 => m.masked(Op::U8FromI32, &[to, Arg::Reg(src)], merged(mask)),
        Elem::Bf16 => {
            let low = bf16(m, src);
            m.masked(Op::Low16FromI32, &[to, Arg::Reg(low)], merged(mask));
        }
        Elem::I8 => {
            let number = bounded(m, elem, src);
            m.masked(Op::I8FromI32, &[to, Arg::Reg(number)], merged(mask));
        }
        Elem::U8 => {
            // A number beyond all integers becomes 2^31 as an unsigned one, and is saturated as one that is too high for a byte.
            let (number, least) = (m.temp(m.width(src)), Arg::Splat(super::word(m, U8_RANGE.0.to_bits())));
            m.op(Op::MaxF32, &[Arg::Reg(number), Arg::Reg(src), least]);
            m.op(Op::I32FromF32, &[Arg::Reg(number), Arg::Reg(number)]);
            m.masked(Op::U8FromI32, &[to, Arg::Reg(number)], merged(mask));
        }
    }
}

/// f32 to integers that are saturated as bytes by packing, NaN to 0.
fn bounded(m: &mut Machine, elem: Elem, src: Reg) -> Reg {
    let number = m.temp(m.width(src));
    if elem == Elem::I8 {
        // A number that is too low stays too low as an integer, and is saturated last.
        let (k, most) = (m.temp_mask(), Arg::Splat(super::word(m, I8_RANGE.1.to_bits())));
        m.op(Op::CmpF32, &[Arg::Reg(k), Arg::Reg(src), Arg::Reg(src), Arg::Imm(ORDERED)]);
        m.masked(Op::MinF32, &[Arg::Reg(number), Arg::Reg(src), most], Masked::Zero(k));
    } else {
        // Of two operands the second is taken where one is NaN, which becomes the least integer.
        let limit = super::word(m, U8_RANGE.1.to_bits());
        m.op(Op::Broadcast32, &[Arg::Reg(number), Arg::Mem(limit)]);
        m.op(Op::MinF32, &[Arg::Reg(number), Arg::Reg(number), Arg::Reg(src)]);
    }
    m.op(Op::I32FromF32, &[Arg::Reg(number), Arg::Reg(number)]);
    number
}

/// The bit of `vfpclassps` that asks for subnormals.
const SUBNORMAL: i64 = 0x20;

/// f32 lanes to bf16 in memory by the instruction for it, which makes subnormals zeros: where a lane has one, it is rounded as an integer.
fn store_bf16(m: &mut Machine, to: Arg, src: Reg, mask: Option<Pred>) {
    use Arg::{Imm, Reg};
    let (narrow, small) = (m.temp(m.width(src).half()), m.temp_mask());
    m.op(Op::Bf16FromF32, &[Reg(narrow), Reg(src)]);
    m.op(Op::ClassF32, &[Reg(small), Reg(src), Imm(SUBNORMAL)]);
    m.op(Op::KTest16, &[Reg(small), Reg(small)]);
    m.items.push(Item::If(Cond::Eq));
    let low = rounded(m, src);
    m.op(Op::ShrI32, &[Reg(low), Reg(low), Imm(16)]);
    m.masked(Op::Low16FromI32, &[Reg(narrow), Reg(low)], Masked::Merge(small));
    m.items.push(Item::End);
    m.masked(Op::StoreI16, &[to, Reg(narrow)], merged(mask));
}

/// f32 lanes to bf16 in the low halves, and those of a second vector in the high halves: by the instruction for it if there is one and no
/// lane is subnormal.
fn pair_bf16(m: &mut Machine, isa: Isa, dst: Reg, [even, odd]: [Reg; 2]) {
    use Arg::{Imm, Reg};
    if isa.bf16 {
        let small = [m.temp_mask(), m.temp_mask()];
        pair_flushed(m, dst, [even, odd]);
        m.op(Op::ClassF32, &[Reg(small[0]), Reg(even), Imm(SUBNORMAL)]);
        m.op(Op::ClassF32, &[Reg(small[1]), Reg(odd), Imm(SUBNORMAL)]);
        m.op(Op::KTest16, &[Reg(small[0]), Reg(small[1])]);
        m.items.push(Item::If(Cond::Eq));
    }
    let (low, high) = (bf16(m, even), bf16(m, odd));
    m.op(Op::ShlI32, &[Reg(high), Reg(high), Imm(16)]);
    m.op(Op::Or, &[Reg(dst), Reg(low), Reg(high)]);
    if isa.bf16 {
        m.items.push(Item::End);
    }
}

/// The same by the instruction alone, which makes subnormals zeros.
fn pair_flushed(m: &mut Machine, dst: Reg, [even, odd]: [Reg; 2]) {
    use Arg::{Mem, Reg};
    let width = m.width(dst);
    let lanes = width.lanes() as u16;
    let order = m.constant((0..lanes).flat_map(|i| [i, lanes + i]).flat_map(u16::to_le_bytes).collect());
    let (packed, places) = (m.temp(width), m.temp(width));
    m.op(Op::Bf16FromBoth, &[Reg(packed), Reg(odd), Reg(even)]);
    m.op(Op::Load, &[Reg(places), Mem(order)]);
    m.op(Op::PermuteI16, &[Reg(dst), Reg(places), Reg(packed)]);
}

/// f32 lanes, not NaN, whose upper half is the nearest even bf16.
fn rounded(m: &mut Machine, a: Reg) -> Reg {
    use Arg::Reg;
    let (rounded, odd) = (m.temp(m.width(a)), m.temp_mask());
    let word = |m: &mut Machine, bits| Arg::Splat(super::word(m, bits));
    let (one, half, lowest) = (word(m, 1), word(m, 0x7fff), word(m, 0x0001_0000));
    // The lowest bit that stays decides ties.
    m.op(Op::TestI32, &[Reg(odd), Reg(a), lowest]);
    m.op(Op::AddI32, &[Reg(rounded), Reg(a), half]);
    m.masked(Op::AddI32, &[Reg(rounded), Reg(rounded), one], Masked::Merge(odd));
    rounded
}

/// f32 lanes to lanes whose low half is bf16, to nearest even.
fn bf16(m: &mut Machine, a: Reg) -> Reg {
    use Arg::{Imm, Reg};
    let (rounded, is_nan) = (rounded(m, a), m.temp_mask());
    let quiet = Arg::Splat(super::word(m, 0x0040_0000));
    // NaN stays NaN: its upper half with the quiet bit. 3: either is NaN.
    m.op(Op::CmpF32, &[Reg(is_nan), Reg(a), Reg(a), Imm(3)]);
    m.masked(Op::Or, &[Reg(rounded), Reg(a), quiet], Masked::Merge(is_nan));
    m.op(Op::ShrI32, &[Reg(rounded), Reg(rounded), Imm(16)]);
    rounded
}
