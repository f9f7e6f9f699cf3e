//! Lowering: an author's instructions to machine instructions on virtual registers.
//!
//! Integers and structure are the same everywhere and are here; vectors are lowered by one file per instruction set.

mod amx;
mod avx2;
mod avx512;
mod masked;

use super::machine::{Arg, Item, Machine, Masked, MemOperand, Reg};
use super::{
    Accumulate, Addr, Binary, Compare, Elem, Function, Inst, IntOp, IntSrc, LoopKind, Prefetch, Rounding, Src, Unary, Val, VecInst,
};
use crate::asm::{Cond, Gpr, Op, Width};

/// Lowers a function.
pub(super) fn lower(function: Function) -> Machine {
    let isa = function.isa;
    // Few instructions become more than one.
    let items = Vec::with_capacity(function.body.len() + function.body.len() / 4);
    let mut m =
        Machine { items, virtuals: function.virtuals, constants: function.constants, slots: function.locals as u32, prefixes: Vec::new() };
    for inst in function.body {
        match inst {
            Inst::Vector(v) if isa.avx512 => avx512::lower(&mut m, isa, v),
            Inst::Vector(v) => avx2::lower(&mut m, isa, v),
            Inst::Tile(t) => amx::lower(&mut m, t),
            other => scalar(&mut m, other),
        }
    }
    m
}

fn scalar(m: &mut Machine, inst: Inst) {
    use Arg::{Imm, Mem, Reg};
    match inst {
        Inst::Vector(_) | Inst::Tile(_) => {}
        Inst::Arguments(dst) => m.op(Op::Mov, &[Reg(dst.0), Arg::Fixed(Gpr::Rdi)]),
        Inst::Constant(dst, value) => m.op(Op::MovImm, &[Reg(dst.0), Imm(value)]),
        Inst::Copy(dst, a) => m.op(Op::Mov, &[Reg(dst.0), Reg(a.0)]),
        Inst::LoadInt(dst, from) => m.op(Op::Mov, &[Reg(dst.0), Mem(from.into())]),
        Inst::LoadI32(dst, from) => m.op(Op::MovI32, &[Reg(dst.0), Mem(from.into())]),
        Inst::LoadU16(dst, from) => m.op(Op::MovU16, &[Reg(dst.0), Mem(from.into())]),
        Inst::LoadU8(dst, from) => m.op(Op::MovU8, &[Reg(dst.0), Mem(from.into())]),
        Inst::StoreInt(to, src) => m.op(Op::MovStore, &[Mem(to.into()), Reg(src.0)]),
        Inst::Address(dst, of) => m.op(Op::Lea, &[Reg(dst.0), Mem(of.into())]),
        Inst::Local(dst, slot) => m.op(Op::Lea, &[Reg(dst.0), Mem(MemOperand::Slot(slot as u32, 0))]),
        Inst::Int(op, dst, b) => integer(m, op, dst.0, b),
        Inst::Prefetch(what, at) => {
            let op = match what {
                Prefetch::L1 => Op::PrefetchL1,
                Prefetch::L2 => Op::PrefetchL2,
                Prefetch::Write => Op::PrefetchWrite,
            };
            m.op(op, &[Mem(at.into())]);
        }
        Inst::StoreFence => m.op(Op::StoreFence, &[]),
        Inst::Loop(count, kind) => {
            if kind == LoopKind::Checked {
                m.op(Op::Test, &[Reg(count.0), Reg(count.0)]);
                m.items.push(Item::If(Cond::Le));
            }
            m.items.push(Item::Loop);
        }
        Inst::EndLoop(count, kind) => {
            m.op(Op::Dec, &[Reg(count.0)]);
            m.items.push(Item::Again(Cond::Ne));
            if kind == LoopKind::Checked {
                m.items.push(Item::End);
            }
        }
        Inst::If(how, a, b) => {
            match b {
                IntSrc::Int(b) => m.op(Op::Cmp, &[Reg(a.0), Reg(b.0)]),
                IntSrc::Imm(b) => m.op(Op::CmpImm, &[Reg(a.0), Imm(i64::from(b))]),
            }
            m.items.push(Item::If(unless(how)));
        }
        Inst::EndIf => m.items.push(Item::End),
    }
}

/// The condition under which a comparison does not hold.
fn unless(how: Compare) -> Cond {
    match how {
        Compare::Eq => Cond::Ne,
        Compare::Ne => Cond::Eq,
        Compare::Lt => Cond::Ge,
        Compare::Le => Cond::Gt,
        Compare::Gt => Cond::Le,
        Compare::Ge => Cond::Lt,
    }
}

fn integer(m: &mut Machine, op: IntOp, dst: Reg, b: IntSrc) {
    let (imm, int) = match op {
        IntOp::Add => (Op::AddImm, Op::Add),
        IntOp::Sub => (Op::SubImm, Op::Sub),
        IntOp::And => (Op::AndImm, Op::AndInt),
        IntOp::Shl => (Op::ShlImm, Op::ShlImm),
        IntOp::Shr => (Op::ShrImm, Op::ShrImm),
        IntOp::Mul => (Op::Mul, Op::Mul),
    };
    match b {
        IntSrc::Int(b) => m.op(int, &[Arg::Reg(dst), Arg::Reg(b.0)]),
        IntSrc::Imm(b) => m.op(imm, &[Arg::Reg(dst), Arg::Imm(i64::from(b))]),
    }
}

fn binary_op(op: Binary) -> Op {
    match op {
        Binary::AddF32 => Op::AddF32,
        Binary::SubF32 => Op::SubF32,
        Binary::MulF32 => Op::MulF32,
        Binary::DivF32 => Op::DivF32,
        Binary::MinF32 => Op::MinF32,
        Binary::MaxF32 => Op::MaxF32,
        Binary::SmallestF32 | Binary::LargestF32 => Op::RangeF32,
        Binary::And => Op::And,
        Binary::AndNot => Op::AndNot,
        Binary::Or => Op::Or,
        Binary::Xor => Op::Xor,
        Binary::AddI32 => Op::AddI32,
        Binary::SubI32 => Op::SubI32,
        Binary::MulI32 => Op::MulI32,
        Binary::MinI32 => Op::MinI32,
        Binary::MaxI32 => Op::MaxI32,
        Binary::MaxI8 => Op::MaxI8,
        Binary::MaxU8 => Op::MaxU8,
        Binary::MaddI16 => Op::MaddI16,
        Binary::MaddU8S8 => Op::MaddU8S8,
        Binary::Lookup32 => Op::PermuteI32,
        Binary::Lookup16 => Op::PermuteI16,
        Binary::PairBf16 | Binary::PairBf16Flushed => Op::Bf16FromBoth,
        Binary::InterleaveLow32 => Op::InterleaveLow32,
        Binary::InterleaveHigh32 => Op::InterleaveHigh32,
        Binary::InterleaveLow64 => Op::InterleaveLow64,
        Binary::InterleaveHigh64 => Op::InterleaveHigh64,
        Binary::EvenBlocks | Binary::OddBlocks => Op::Blocks128,
    }
}

fn accumulate_op(op: Accumulate) -> Op {
    match op {
        Accumulate::ScaleAddF32 => Op::ScaleAddF32,
        Accumulate::FmaF32 => Op::FmaF32,
        Accumulate::FnmaF32 => Op::FnmaF32,
        Accumulate::DotBf16 => Op::DotBf16,
        Accumulate::DotU8S8 => Op::DotU8S8,
    }
}

/// `dst = f(a)` where one instruction does it; true when this was so.
fn unary(m: &mut Machine, op: Unary, dst: Reg, a: Reg) -> bool {
    let (op, imm) = match op {
        Unary::SqrtF32 => (Op::SqrtF32, None),
        Unary::RoundF32(how) => (Op::RoundF32, Some(rounding(how))),
        Unary::F32FromI32 => (Op::F32FromI32, None),
        Unary::I32FromF32 => (Op::I32FromF32, None),
        Unary::ShlI32(n) => (Op::ShlI32, Some(n)),
        Unary::ShrI32(n) => (Op::ShrI32, Some(n)),
        Unary::SarI32(n) => (Op::SarI32, Some(n)),
        Unary::ShlI16(n) => (Op::ShlI16, Some(n)),
        Unary::ShrI16(n) => (Op::ShrI16, Some(n)),
        Unary::SarI16(n) => (Op::SarI16, Some(n)),
        Unary::F32FromLowF16 => return false,
    };
    match imm {
        Some(imm) => m.op(op, &[Arg::Reg(dst), Arg::Reg(a), Arg::Imm(i64::from(imm))]),
        None => m.op(op, &[Arg::Reg(dst), Arg::Reg(a)]),
    }
    true
}

/// Bit 3 leaves the exception flags alone.
fn rounding(how: Rounding) -> u8 {
    8 | match how {
        Rounding::Nearest => 0,
        Rounding::Floor => 1,
        Rounding::Ceil => 2,
        Rounding::Truncate => 3,
    }
}

/// The predicate of a quiet comparison of floats.
fn float_predicate(how: Compare) -> i64 {
    use Compare::*;
    match how {
        Eq => 0,
        Ne => 4,
        Lt => 17,
        Le => 18,
        Gt => 30,
        Ge => 29,
    }
}

/// The predicate "neither is NaN".
const ORDERED: i64 = 7;

/// The same 32 bits in every lane, kept once after the code.
fn word(m: &mut Machine, bits: u32) -> MemOperand {
    m.constant(bits.to_le_bytes().to_vec())
}

/// Every lane's number, kept once after the code.
fn lane_numbers(m: &mut Machine, width: Width) -> MemOperand {
    m.constant((0..width.lanes() as i32).flat_map(i32::to_le_bytes).collect())
}

fn splat_word(m: &mut Machine, dst: Reg, bits: u32) {
    let at = word(m, bits);
    m.op(Op::Broadcast32, &[Arg::Reg(dst), Arg::Mem(at)]);
}

fn arg(v: Val) -> Arg {
    Arg::Reg(v.0)
}

fn source(src: Src) -> Arg {
    match src {
        Src::Val(v) => arg(v),
        Src::Mem(at) => Arg::Mem(at.into()),
        Src::Splat(at) => Arg::Splat(at.into()),
    }
}

/// The instructions that every set has, in the same form; true when this was one.
fn common(m: &mut Machine, inst: VecInst) -> bool {
    match inst {
        VecInst::Zero(dst) => {
            // Clears the register in any width, and needs no execution unit.
            m.op(Op::Xor, &[arg(dst), arg(dst), arg(dst)]);
        }
        VecInst::Move(dst, a) => m.op(Op::Load, &[arg(dst), arg(a)]),
        VecInst::SplatMem(dst, from) => m.op(Op::Broadcast32, &[arg(dst), Arg::Mem(from.into())]),
        VecInst::SplatAs(dst, elem, from) => splat_as(m, dst.0, elem, Arg::Mem(from.into())),
        VecInst::Load { dst, from, mask: None } => m.op(Op::Load, &[arg(dst), Arg::Mem(from.into())]),
        VecInst::StoreStreaming { to, src } => m.op(Op::StoreStreaming, &[Arg::Mem(to.into()), arg(src)]),
        VecInst::Store { to, src, mask: None } => m.op(Op::Store, &[Arg::Mem(to.into()), arg(src)]),
        VecInst::Unary(op, dst, a) => return unary(m, op, dst.0, a.0),
        _ => return false,
    }
    true
}

/// A number in memory, converted, in every lane.
fn splat_as(m: &mut Machine, dst: Reg, elem: Elem, from: Arg) {
    let width = m.width(dst);
    let (load, then) = match elem {
        Elem::F32 | Elem::I32 => return m.op(Op::Broadcast32, &[Arg::Reg(dst), from]),
        Elem::Bf16 => {
            m.op(Op::Broadcast16, &[Arg::Reg(dst), from]);
            return m.op(Op::ShlI32, &[Arg::Reg(dst), Arg::Reg(dst), Arg::Imm(16)]);
        }
        Elem::F16 => (Op::Broadcast16, Op::F32FromF16),
        Elem::I8 | Elem::Whole8 => (Op::Broadcast8, Op::I32FromI8),
        Elem::U8 | Elem::F8E5m2 | Elem::F8E4m3 | Elem::Low8 => (Op::Broadcast8, Op::I32FromU8),
        Elem::Low16 => (Op::Broadcast16, Op::I32FromU16),
    };
    let narrow = m.temp(if elem == Elem::F16 { width.half() } else { Width::W128 });
    m.op(load, &[Arg::Reg(narrow), from]);
    m.op(then, &[Arg::Reg(dst), Arg::Reg(narrow)]);
    if matches!(elem, Elem::I8 | Elem::U8) {
        m.op(Op::F32FromI32, &[Arg::Reg(dst), Arg::Reg(dst)]);
    }
}

/// Widens elements in memory or in a register to 32-bit lanes, numbers of 8 or 16 bits to f32; a masked load stays masked.
fn widen(m: &mut Machine, dst: Reg, elem: Elem, from: Arg, masked: Masked) {
    let load = match elem {
        Elem::F32 | Elem::I32 => Op::Load,
        Elem::F16 => Op::F32FromF16,
        Elem::Bf16 | Elem::Low16 => Op::I32FromU16,
        Elem::I8 | Elem::Whole8 => Op::I32FromI8,
        // The code of an 8-bit float; arithmetic on it follows.
        Elem::U8 | Elem::F8E5m2 | Elem::F8E4m3 | Elem::Low8 => Op::I32FromU8,
    };
    m.masked(load, &[Arg::Reg(dst), from], masked);
    match elem {
        Elem::Bf16 => m.op(Op::ShlI32, &[Arg::Reg(dst), Arg::Reg(dst), Arg::Imm(16)]),
        Elem::I8 | Elem::U8 => m.op(Op::F32FromI32, &[Arg::Reg(dst), Arg::Reg(dst)]),
        _ => {}
    }
}

/// Integers of four vectors as saturated bytes, two vectors at either place: packed within blocks of 128 bits, whose words are put in order
/// last.
fn store_packed(m: &mut Machine, elem: Elem, to: [Addr; 2], numbers: [Reg; 4]) {
    use Arg::{As, Imm, Mem, Reg};
    let width = m.width(numbers[0]);
    let [first, second, places] = [(); 3].map(|()| m.temp(width));
    let (lanes, blocks) = (width.lanes() as u32, width.lanes() as u32 / 4);
    let order = m.constant((0..lanes).flat_map(|i| (i % blocks * 4 + i / blocks).to_le_bytes()).collect());
    m.op(Op::PackI16, &[Reg(first), Reg(numbers[0]), Reg(numbers[1])]);
    m.op(Op::PackI16, &[Reg(second), Reg(numbers[2]), Reg(numbers[3])]);
    m.op(if elem == Elem::I8 { Op::PackI8 } else { Op::PackU8 }, &[Reg(first), Reg(first), Reg(second)]);
    m.op(Op::Load, &[Reg(places), Mem(order)]);
    m.op(Op::PermuteI32, &[Reg(first), Reg(places), Reg(first)]);
    m.op(Op::Store, &[Mem(to[0].into()), As(first, width.half())]);
    if width == Width::W512 {
        return m.op(Op::High256, &[Mem(to[1].into()), Reg(first), Imm(1)]);
    }
    let half = m.temp(width.half());
    m.op(Op::High128, &[Reg(half), Reg(first), Imm(1)]);
    m.op(Op::Store, &[Mem(to[1].into()), Reg(half)]);
}

/// Scales of constants that several lowerings share.
const I8_RANGE: (f32, f32) = (-128.0, 127.0);
const U8_RANGE: (f32, f32) = (0.0, 255.0);

fn zeroed(mask: Option<super::Pred>) -> Masked {
    mask.map_or(Masked::No, |k| Masked::Zero(k.0))
}

fn merged(mask: Option<super::Pred>) -> Masked {
    mask.map_or(Masked::No, |k| Masked::Merge(k.0))
}
