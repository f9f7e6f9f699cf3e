//! Registers for virtual registers: linear scan over live ranges.
//!
//! A value's range goes from its first definition to its last use, and to the end of every loop that it entered alive; a value that ends in an
//! instruction leaves its register to the instruction's result. Where registers do not suffice, the value that is used least (tenfold with
//! every loop around a use) goes to the stack: its uses get values of their own that live for one instruction, and the scan is repeated.

use super::machine::{Arg, Args, Item, Machine, MachineInst, Masked, Place, Reg, uses};
use super::{Class, IrError, Virtual};
use crate::asm::Op;

/// How many registers there are of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    pub(super) ints: usize,
    pub(super) simd: usize,
    pub(super) masks: usize,
}

/// The register number of every virtual register within its kind.
pub(super) type Assignment = Vec<Option<u8>>;

#[derive(Clone, Copy, Debug)]
struct Range {
    reg: Reg,
    /// Twice the number of the item; one more where it is written.
    from: usize,
    to: usize,
    weight: u64,
}

/// Gives registers, adding loads and stores for what does not fit.
pub(super) fn allocate(m: &mut Machine, registers: Registers) -> Result<Assignment, IrError> {
    check_defined(m)?;
    loop {
        let ranges = ranges(m);
        match scan(m, &ranges, registers)? {
            Scan::Fits(assignment) => return Ok(assignment),
            Scan::Spill(reg) => spill(m, reg),
        }
    }
}

/// Every use comes after a definition in the same block or one around it.
fn check_defined(m: &Machine) -> Result<(), IrError> {
    let mut defined = vec![false; m.virtuals.len()];
    // Values defined in the open blocks.
    let mut blocks: Vec<Vec<Reg>> = vec![Vec::new()];
    for (at, item) in m.items.iter().enumerate() {
        match item {
            // A loop's body runs at least once: what it defines stays.
            Item::Loop | Item::Again(_) => {}
            Item::If(_) => blocks.push(Vec::new()),
            Item::End => blocks.pop().into_iter().flatten().for_each(|r| defined[r as usize] = false),
            Item::Inst(inst) => {
                let clears = is_clearing(inst);
                let mut undefined = None;
                uses(inst, |u| {
                    if u.reads && !defined[u.reg as usize] && !clears {
                        undefined = Some(u.reg);
                    }
                });
                if let Some(value) = undefined {
                    return Err(IrError::Undefined { at, value });
                }
                uses(inst, |u| {
                    if u.writes && !defined[u.reg as usize] {
                        defined[u.reg as usize] = true;
                        if let Some(block) = blocks.last_mut() {
                            block.push(u.reg);
                        }
                    }
                });
            }
        }
    }
    Ok(())
}

/// `x ^ x`, which does not depend on what `x` was.
pub(super) fn is_clearing(inst: &MachineInst) -> bool {
    let args = inst.args.get();
    inst.op == Op::Xor && inst.masked == Masked::No && args[0] == args[1] && args[1] == args[2]
}

fn ranges(m: &Machine) -> Vec<Range> {
    let none = |reg| Range { reg, from: usize::MAX, to: 0, weight: 0 };
    let mut ranges: Vec<Range> = (0..m.virtuals.len() as Reg).map(none).collect();
    let mut loops = Vec::new();
    let mut open = Vec::new();
    let mut weight = 1_u64;
    for (at, item) in m.items.iter().enumerate() {
        match item {
            Item::Loop => {
                open.push(at);
                weight = weight.saturating_mul(10);
            }
            Item::Again(_) => {
                loops.extend(open.pop().map(|begin| (2 * begin, 2 * at)));
                weight /= 10;
            }
            Item::If(_) | Item::End => {}
            Item::Inst(inst) => {
                let clears = is_clearing(inst);
                uses(inst, |u| {
                    let range = &mut ranges[u.reg as usize];
                    range.from = range.from.min(2 * at + usize::from(!u.reads || clears));
                    range.to = range.to.max(2 * at + usize::from(u.writes));
                    range.weight = range.weight.saturating_add(weight);
                });
            }
        }
    }
    // Inner loops end, and are listed, before those around them.
    for (begin, end) in loops {
        for range in &mut ranges {
            if range.from < begin && range.to > begin && range.to < end {
                range.to = end;
            }
        }
    }
    ranges.retain(|r| r.from != usize::MAX);
    ranges.sort_by_key(|r| (r.from, r.reg));
    ranges
}

enum Scan {
    Fits(Assignment),
    Spill(Reg),
}

fn scan(m: &Machine, ranges: &[Range], registers: Registers) -> Result<Scan, IrError> {
    let mut assignment: Assignment = vec![None; m.virtuals.len()];
    for (class, count, kind) in
        [(Class::Int, registers.ints, "general"), (Class::Simd, registers.simd, "vector"), (Class::Mask, registers.masks, "mask")]
    {
        let mut holders: Vec<Option<Range>> = vec![None; count];
        for range in ranges.iter().filter(|r| m.virtuals[r.reg as usize].class == class) {
            holders.iter_mut().filter(|h| h.is_some_and(|h| h.to < range.from)).for_each(|h| *h = None);
            let Some(free) = holders.iter().position(Option::is_none) else {
                let candidates = holders.iter().flatten().chain([range]).filter(|r| !m.virtuals[r.reg as usize].pinned);
                let victim = candidates.min_by_key(|r| (r.weight, usize::MAX - r.to));
                return victim.map(|r| Scan::Spill(r.reg)).ok_or(IrError::Pressure { kind, at: range.from / 2 });
            };
            holders[free] = Some(*range);
            assignment[range.reg as usize] = Some(free as u8);
        }
    }
    Ok(Scan::Fits(assignment))
}

/// Puts a value on the stack: loads before its reads, stores after its writes.
fn spill(m: &mut Machine, reg: Reg) {
    let slot = m.slots;
    m.slots += 1;
    let like = m.virtuals[reg as usize];
    let items = std::mem::take(&mut m.items);
    for item in items {
        let Item::Inst(mut inst) = item else {
            m.items.push(item);
            continue;
        };
        let (mut reads, mut writes) = (false, false);
        let clears = is_clearing(&inst);
        uses(&inst, |u| {
            if u.reg == reg {
                reads |= u.reads && !clears;
                writes |= u.writes;
            }
        });
        if !reads && !writes {
            m.items.push(Item::Inst(inst));
            continue;
        }
        let temp = m.new_reg(Virtual { pinned: true, ..like });
        rename(&mut inst, reg, temp);
        let place = Arg::Mem(Place::Slot(slot, 0));
        let (load, store) = match like.class {
            Class::Int => (Op::Mov, Op::MovStore),
            Class::Simd => (Op::Load, Op::Store),
            Class::Mask => (Op::KMove, Op::KStore),
        };
        let moved = |op, args: &[Arg]| Item::Inst(MachineInst { op, args: Args::new(args), masked: Masked::No, spill: true });
        if reads {
            m.items.push(moved(load, &[Arg::Reg(temp), place]));
        }
        let flags_follow = matches!(inst.op, Op::Dec);
        m.items.push(Item::Inst(inst));
        if writes {
            debug_assert!(!flags_follow || store == Op::MovStore, "a store leaves the flags alone");
            m.items.push(moved(store, &[place, Arg::Reg(temp)]));
        }
    }
}

fn rename(inst: &mut MachineInst, from: Reg, to: Reg) {
    let swap = |r: &mut Reg| {
        if *r == from {
            *r = to;
        }
    };
    for arg in inst.args.get_mut() {
        match arg {
            Arg::Reg(r) | Arg::As(r, _) => swap(r),
            Arg::Mem(Place::At { base, index, .. }) | Arg::Splat(Place::At { base, index, .. }) => {
                swap(base);
                if let Some((index, _)) = index {
                    swap(index);
                }
            }
            _ => {}
        }
    }
    if let Masked::Merge(k) | Masked::Zero(k) | Masked::Choose(k) = &mut inst.masked {
        swap(k);
    }
}
