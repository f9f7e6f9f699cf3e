//! AVX2 vectors in memory whose lanes a mask selects. The instruction set masks nothing below 32 bits, and some processors take 40
//! operations for a masked store. So a full mask becomes a plain load or store, and a mask of the first lanes becomes accesses of four, two
//! and one elements; for narrow elements every mask is tested for being one of the first lanes.

use super::super::machine::{Arg, Item, Machine, MemOperand, Reg};
use super::super::{Addr, Elem, Pred};
use crate::asm::{Cond, Op, Width};

/// The sign bits of all eight lanes.
const ALL_LANES: i64 = 0xff;

/// Loads narrow elements under a mask to the lower half of a register, which it returns; masked-out elements are zeros.
pub(super) fn load(m: &mut Machine, elem: Elem, from: Addr, mask: Pred) -> Reg {
    let (bits, all) = (signs(m, mask), m.temp(Width::W128));
    let whole = if elem.bytes() == 1 { Op::Load64 } else { Op::Load };
    m.op(Op::Xor, &[Arg::Reg(all); 3]);
    unless(m, Cond::Ne, bits, ALL_LANES, |m| m.op(whole, &[Arg::Reg(all), Arg::Mem(from.into())]));
    unless(m, Cond::Eq, bits, ALL_LANES, |m| {
        if m.prefixes.contains(&mask.0) {
            return first_lanes(m, elem, from, bits, all);
        }
        let others = beyond_prefix(m, bits);
        unless(m, Cond::Ne, others, 0, |m| first_lanes(m, elem, from, bits, all));
        unless(m, Cond::Eq, others, 0, |m| {
            let slot = new_slot(m);
            m.op(Op::Store, &[Arg::Mem(MemOperand::Slot(slot, 0)), Arg::Reg(all)]);
            lane_by_lane(m, elem, bits, |lane| (lane_address(from, elem, lane), MemOperand::Slot(slot, lane * elem.bytes() as i32)));
            m.op(Op::Load, &[Arg::Reg(all), Arg::Mem(MemOperand::Slot(slot, 0))]);
        });
    });
    all
}

/// Stores lanes under a mask: those of a vector, or narrow elements in the lower half of one.
pub(super) fn store(m: &mut Machine, elem: Elem, to: Addr, src: Reg, mask: Pred) {
    let bits = signs(m, mask);
    let whole = if elem.bytes() == 4 { Arg::Reg(src) } else { Arg::As(src, Width::W128) };
    let op = if elem.bytes() == 1 { Op::Store64 } else { Op::Store };
    unless(m, Cond::Ne, bits, ALL_LANES, |m| m.op(op, &[Arg::Mem(to.into()), whole]));
    unless(m, Cond::Eq, bits, ALL_LANES, |m| match elem.bytes() {
        _ if m.prefixes.contains(&mask.0) => store_first(m, elem, to, src, bits),
        4 => m.op(Op::MaskStore, &[Arg::Mem(to.into()), Arg::Reg(mask.0), whole]),
        _ => {
            let others = beyond_prefix(m, bits);
            unless(m, Cond::Ne, others, 0, |m| store_first(m, elem, to, src, bits));
            unless(m, Cond::Eq, others, 0, |m| {
                let slot = new_slot(m);
                m.op(op, &[Arg::Mem(MemOperand::Slot(slot, 0)), whole]);
                lane_by_lane(m, elem, bits, |lane| (MemOperand::Slot(slot, lane * elem.bytes() as i32), lane_address(to, elem, lane)));
            });
        }
    });
}

/// The bits of a mask in a general register.
fn signs(m: &mut Machine, mask: Pred) -> Reg {
    let bits = m.temp_int();
    m.op(Op::SignBits, &[Arg::Reg(bits), Arg::Reg(mask.0)]);
    bits
}

/// Zero where a mask is of the first lanes.
fn beyond_prefix(m: &mut Machine, bits: Reg) -> Reg {
    let others = m.temp_int();
    m.op(Op::Mov, &[Arg::Reg(others), Arg::Reg(bits)]);
    m.op(Op::AddImm, &[Arg::Reg(others), Arg::Imm(1)]);
    m.op(Op::AndInt, &[Arg::Reg(others), Arg::Reg(bits)]);
    others
}

/// Skips the code of `body` if the comparison with a number holds.
fn unless(m: &mut Machine, cond: Cond, bits: Reg, number: i64, body: impl FnOnce(&mut Machine)) {
    m.op(Op::CmpImm, &[Arg::Reg(bits), Arg::Imm(number)]);
    m.items.push(Item::If(cond));
    body(m);
    m.items.push(Item::End);
}

/// The code of `body`, run if any bit of these is set.
fn where_set(m: &mut Machine, bits: Reg, which: i64, body: impl FnOnce(&mut Machine)) {
    let bit = m.temp_int();
    m.op(Op::Mov, &[Arg::Reg(bit), Arg::Reg(bits)]);
    m.op(Op::AndImm, &[Arg::Reg(bit), Arg::Imm(which)]);
    m.items.push(Item::If(Cond::Eq));
    body(m);
    m.items.push(Item::End);
}

fn new_slot(m: &mut Machine) -> u32 {
    m.slots += 1;
    m.slots - 1
}

fn at(base: Reg, elements: i32, elem: Elem) -> MemOperand {
    MemOperand::At { base, index: None, disp: elements * elem.bytes() as i32 }
}

/// Loads the first narrow elements, so many as `bits` has ones, fewer than eight: up to three after the first four go through a general register.
fn first_lanes(m: &mut Machine, elem: Elem, from: Addr, bits: Reg, all: Reg) {
    use Arg::{Imm, Mem, Reg};
    let (one, two) = if elem.bytes() == 2 { (Op::MovU16, Op::Mov32) } else { (Op::MovU8, Op::MovU16) };
    let (first, next, left, epilogue) = (m.temp_int(), m.temp_int(), m.temp_int(), m.temp_int());
    m.op(Op::Lea, &[Reg(first), Mem(from.into())]);
    m.op(Op::Mov, &[Reg(next), Reg(first)]);
    m.op(Op::Mov, &[Reg(left), Reg(bits)]);
    m.op(Op::MovImm, &[Reg(epilogue), Imm(0)]);
    where_set(m, bits, 8, |m| {
        m.op(Op::ShrImm, &[Reg(left), Imm(4)]);
        m.op(Op::AddImm, &[Reg(next), Imm(4 * elem.bytes() as i64)]);
    });
    unless(m, Cond::Ne, left, 1, |m| m.op(one, &[Reg(epilogue), Mem(at(next, 0, elem))]));
    where_set(m, left, 2, |m| m.op(two, &[Reg(epilogue), Mem(at(next, 0, elem))]));
    where_set(m, left, 4, |m| {
        let upper = m.temp_int();
        m.op(one, &[Reg(upper), Mem(at(next, 2, elem))]);
        m.op(Op::ShlImm, &[Reg(upper), Imm(16 * elem.bytes() as i64)]);
        m.op(Op::Add, &[Reg(epilogue), Reg(upper)]);
    });
    let slot = Mem(MemOperand::Slot(new_slot(m), 0));
    if elem.bytes() == 1 {
        where_set(m, bits, 8, |m| {
            let first_four = m.temp_int();
            m.op(Op::Mov32, &[Reg(first_four), Mem(at(first, 0, elem))]);
            m.op(Op::ShlImm, &[Reg(epilogue), Imm(32)]);
            m.op(Op::Add, &[Reg(epilogue), Reg(first_four)]);
        });
    }
    m.op(Op::MovStore, &[slot, Reg(epilogue)]);
    m.op(Op::Load64, &[Reg(all), slot]);
    if elem.bytes() == 2 {
        where_set(m, bits, 8, |m| {
            let first_four = m.temp(Width::W128);
            m.op(Op::Load64, &[Reg(first_four), Mem(at(first, 0, elem))]);
            m.op(Op::InterleaveLow64, &[Reg(all), Reg(first_four), Reg(all)]);
        });
    }
}

/// Stores the first elements, so many as `bits` has ones, fewer than eight.
fn store_first(m: &mut Machine, elem: Elem, to: Addr, src: Reg, bits: Reg) {
    use Arg::{As, Imm, Mem, Reg};
    let (at, left, x, size) = (m.temp_int(), m.temp_int(), m.temp(Width::W128), elem.bytes() as i64);
    let here = || Mem(MemOperand::At { base: at, index: None, disp: 0 });
    let advance = |m: &mut Machine, elements: i64| m.op(Op::AddImm, &[Reg(at), Imm(elements * size)]);
    m.op(Op::Lea, &[Reg(at), Mem(to.into())]);
    m.op(Op::Mov, &[Reg(left), Reg(bits)]);
    m.op(Op::Load, &[Reg(x), As(src, Width::W128)]);
    where_set(m, bits, 8, |m| {
        match size {
            4 => {
                m.op(Op::Store, &[here(), Reg(x)]);
                m.op(Op::High128, &[Reg(x), Reg(src), Imm(1)]);
            }
            2 => {
                m.op(Op::Store64, &[here(), Reg(x)]);
                m.op(Op::InterleaveHigh64, &[Reg(x), Reg(x), Reg(x)]);
            }
            _ => {
                m.op(Op::Store32, &[here(), Reg(x)]);
                m.op(Op::ShuffleF32, &[Reg(x), Reg(x), Reg(x), Imm(1)]);
            }
        }
        advance(m, 4);
        m.op(Op::ShrImm, &[Reg(left), Imm(4)]);
    });
    if size == 1 {
        let number = m.temp_int();
        m.op(Op::Store32, &[Reg(number), Reg(x)]);
        where_set(m, left, 2, |m| {
            m.op(Op::MovStore16, &[here(), Reg(number)]);
            m.op(Op::ShrImm, &[Reg(number), Imm(16)]);
            advance(m, 2);
            m.op(Op::ShrImm, &[Reg(left), Imm(2)]);
        });
        return where_set(m, left, 1, |m| m.op(Op::MovStore8, &[here(), Reg(number)]));
    }
    where_set(m, left, 2, |m| {
        if size == 4 {
            m.op(Op::Store64, &[here(), Reg(x)]);
            m.op(Op::InterleaveHigh64, &[Reg(x), Reg(x), Reg(x)]);
        } else {
            m.op(Op::Store32, &[here(), Reg(x)]);
            m.op(Op::ShuffleF32, &[Reg(x), Reg(x), Reg(x), Imm(1)]);
        }
        advance(m, 2);
        m.op(Op::ShrImm, &[Reg(left), Imm(2)]);
    });
    where_set(m, left, 1, |m| {
        if size == 4 {
            return m.op(Op::Store32, &[here(), Reg(x)]);
        }
        let number = m.temp_int();
        m.op(Op::Store32, &[Reg(number), Reg(x)]);
        m.op(Op::MovStore16, &[here(), Reg(number)]);
    });
}

fn lane_address(at: Addr, elem: Elem, lane: i32) -> MemOperand {
    match MemOperand::from(at) {
        MemOperand::At { base, index, disp } => MemOperand::At { base, index, disp: disp.wrapping_add(lane * elem.bytes() as i32) },
        other => other,
    }
}

/// Copies the narrow elements that a mask names, one by one.
fn lane_by_lane(m: &mut Machine, elem: Elem, bits: Reg, addresses: impl Fn(i32) -> (MemOperand, MemOperand)) {
    let (load, store) = if elem.bytes() == 2 { (Op::MovU16, Op::MovStore16) } else { (Op::MovU8, Op::MovStore8) };
    for lane in 0..8 {
        let (from, to) = addresses(lane);
        where_set(m, bits, 1 << lane, |m| {
            let number = m.temp_int();
            m.op(load, &[Arg::Reg(number), Arg::Mem(from)]);
            m.op(store, &[Arg::Mem(to), Arg::Reg(number)]);
        });
    }
}
