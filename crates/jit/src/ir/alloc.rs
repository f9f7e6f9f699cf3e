//! Register allocation: linear scan over the live ranges of virtual registers, with spilling.
//!
//! A live range goes from a value's first definition to its last use, and to the end of every loop that the value is live into; a value that ends in an
//! instruction leaves its register to the instruction's result. Where registers do not suffice, the values with the fewest uses for their length
//! (a use counts tenfold with every loop around it) are spilled: their uses get values of their own that live for one instruction, and the scan is repeated.

use super::machine::{Arg, Args, Item, Machine, MachineInst, Masked, MemOperand, Reg, uses};
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
struct LiveRange {
    reg: Reg,
    /// Twice the number of the item; one more where it is written.
    from: usize,
    to: usize,
    weight: u64,
}

impl LiveRange {
    /// The cost of keeping the value on the stack, relative to the time for which that frees a register.
    fn cost(&self) -> u64 {
        self.weight.saturating_mul(1 << 16) / (self.to - self.from + 1) as u64
    }
}

/// Gives registers, adding loads and stores for values that do not fit.
pub(super) fn allocate(m: &mut Machine, registers: Registers) -> Result<Assignment, IrError> {
    loop {
        let live = liveness(m)?;
        match scan(m, &live, registers)? {
            Scan::Fits(assignment) => return Ok(assignment),
            Scan::Spill(regs) => spill(m, &regs),
        }
    }
}

/// `x ^ x`, which does not depend on `x`.
#[inline]
pub(super) fn is_clearing(inst: &MachineInst) -> bool {
    let args = inst.args.get();
    inst.op == Op::Xor && inst.masked == Masked::No && args[0] == args[1] && args[1] == args[2]
}

/// Live ranges, and what helps to coalesce copies.
struct Liveness {
    /// The live range of every value that occurs, in the order of their begins.
    ranges: Vec<LiveRange>,
    /// For every vector whose first definition is a copy of another of the same width: that vector.
    copy_of: Vec<Option<Reg>>,
}

/// One pass over the code, for live ranges; every use must come after a definition in the same block or one around it.
fn liveness(m: &Machine) -> Result<Liveness, IrError> {
    let none = |reg| LiveRange { reg, from: usize::MAX, to: 0, weight: 0 };
    let mut ranges: Vec<LiveRange> = (0..m.virtuals.len() as Reg).map(none).collect();
    let mut copy_of = vec![None; m.virtuals.len()];
    let mut defined = vec![false; m.virtuals.len()];
    // Values defined in the open blocks.
    let mut blocks: Vec<Vec<Reg>> = vec![Vec::new()];
    let (mut loops, mut open_loops, mut weight) = (Vec::new(), Vec::new(), 1_u64);
    for (at, item) in m.items.iter().enumerate() {
        let inst = match item {
            // A loop's body runs at least once, so its definitions stay.
            Item::Loop => {
                open_loops.push(at);
                weight = weight.saturating_mul(10);
                continue;
            }
            Item::Again(_) => {
                loops.extend(open_loops.pop().map(|begin| (2 * begin, 2 * at)));
                weight /= 10;
                continue;
            }
            Item::If(_) => {
                blocks.push(Vec::new());
                continue;
            }
            Item::End => {
                blocks.pop().into_iter().flatten().for_each(|r| defined[r as usize] = false);
                continue;
            }
            Item::Inst(inst) => inst,
        };
        if let (Op::Load, Masked::No, [Arg::Reg(to), Arg::Reg(from)]) = (inst.op, inst.masked, inst.args.get())
            && ranges[*to as usize].weight == 0
            && m.width(*from) == m.width(*to)
        {
            copy_of[*to as usize] = Some(*from);
        }
        let clears = is_clearing(inst);
        // An instruction writes one register at most.
        let (mut undefined, mut written) = (None, None);
        uses(inst, |u| {
            let new = !defined[u.reg as usize];
            undefined = undefined.or((u.reads && new && !clears).then_some(u.reg));
            written = written.or((u.writes && new).then_some(u.reg));
            let range = &mut ranges[u.reg as usize];
            range.from = range.from.min(2 * at + usize::from(!u.reads || clears));
            range.to = range.to.max(2 * at + usize::from(u.writes));
            range.weight = range.weight.saturating_add(weight);
        });
        if let Some(value) = undefined {
            return Err(IrError::Undefined { at, value });
        }
        if let (Some(reg), Some(block)) = (written, blocks.last_mut()) {
            defined[reg as usize] = true;
            block.push(reg);
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
    Ok(Liveness { ranges, copy_of })
}

/// The most registers of a kind.
const MAX_REGISTERS: usize = 32;

enum Scan {
    Fits(Assignment),
    /// The values to spill; the rest may not fit yet.
    Spill(Vec<Reg>),
}

/// The registers of a kind during the scan.
#[derive(Clone, Copy)]
struct RegisterFile {
    kind: &'static str,
    count: usize,
    /// Where each register's value ends.
    ends: [usize; MAX_REGISTERS],
    /// The number of its range.
    holders: [usize; MAX_REGISTERS],
}

fn scan(m: &Machine, live: &Liveness, registers: Registers) -> Result<Scan, IrError> {
    let ranges = &live.ranges;
    let mut assignment: Assignment = vec![None; m.virtuals.len()];
    let mut victims = Vec::new();
    let file = |kind, count| RegisterFile { kind, count, ends: [0; MAX_REGISTERS], holders: [0; MAX_REGISTERS] };
    let (mut ints, mut simd, mut masks) = (file("general", registers.ints), file("vector", registers.simd), file("mask", registers.masks));
    for (n, range) in ranges.iter().enumerate() {
        let RegisterFile { kind, count, ends, holders } = match m.virtuals[range.reg as usize].class {
            Class::Int => &mut ints,
            Class::Simd => &mut simd,
            Class::Mask => &mut masks,
        };
        let ends = &mut ends[..*count];
        // A copy takes its source's register if that value ends there: then the copy needs no instruction.
        let same = live.copy_of[range.reg as usize].and_then(|from| assignment[from as usize]).map(usize::from);
        let mut free = same.filter(|at| ends[*at] <= range.from).or_else(|| ends.iter().position(|end| *end <= range.from));
        if free.is_none() {
            let holding = holders[..*count].iter().enumerate().map(|(at, holder)| (Some(at), *holder));
            let candidates = holding.chain([(None, n)]).filter(|(_, holder)| !m.virtuals[ranges[*holder].reg as usize].pinned);
            let victim = candidates.min_by_key(|(_, holder)| ranges[*holder].cost());
            let (at, holder) = victim.ok_or(IrError::Pressure { kind, at: range.from / 2 })?;
            victims.push(ranges[holder].reg);
            free = at;
        }
        if let Some(at) = free {
            ends[at] = range.to + 1;
            holders[at] = n;
            assignment[range.reg as usize] = Some(at as u8);
        }
    }
    Ok(if victims.is_empty() { Scan::Fits(assignment) } else { Scan::Spill(victims) })
}

/// Puts values on the stack: loads before their reads, stores after their writes.
fn spill(m: &mut Machine, regs: &[Reg]) {
    let mut slots: Vec<Option<u32>> = vec![None; m.virtuals.len()];
    for reg in regs {
        slots[*reg as usize] = Some(m.slots);
        m.slots += 1;
    }
    let items = std::mem::take(&mut m.items);
    m.items.reserve(items.len() * 2);
    for item in items {
        match item {
            Item::Inst(inst) => spill_in(m, inst, &slots),
            other => m.items.push(other),
        }
    }
}

/// An instruction with its loads and stores.
fn spill_in(m: &mut Machine, mut inst: MachineInst, slots: &[Option<u32>]) {
    // Values on the stack: how often they are used here, by kind of use. An instruction has few operands.
    let mut used: Vec<(Reg, bool, bool)> = Vec::new();
    let clears = is_clearing(&inst);
    uses(&inst, |u| {
        if slots.get(u.reg as usize).copied().flatten().is_some() {
            match used.iter_mut().find(|x| x.0 == u.reg) {
                Some(x) => (x.1, x.2) = (x.1 | (u.reads && !clears), x.2 | u.writes),
                None => used.push((u.reg, u.reads && !clears, u.writes)),
            }
        }
    });
    let spill_code = |op, args: &[Arg]| Item::Inst(MachineInst { op, args: Args::new(args), masked: Masked::No, spill: true });
    let mut stores = Vec::new();
    for (reg, reads, writes) in used {
        let like = m.virtuals[reg as usize];
        let temp = m.new_reg(Virtual { pinned: true, ..like });
        rename(&mut inst, reg, temp);
        let place = Arg::Mem(MemOperand::Slot(slots[reg as usize].unwrap_or(0), 0));
        let (load, store) = match like.class {
            Class::Int => (Op::Mov, Op::MovStore),
            Class::Simd => (Op::Load, Op::Store),
            Class::Mask => (Op::KMove, Op::KStore),
        };
        if reads {
            m.items.push(spill_code(load, &[Arg::Reg(temp), place]));
        }
        if writes {
            // Between a count and the jump that depends on it, only instructions that leave the flags alone.
            debug_assert!(!matches!(inst.op, Op::Dec) || store == Op::MovStore, "a store leaves the flags alone");
            stores.push(spill_code(store, &[place, Arg::Reg(temp)]));
        }
    }
    m.items.push(Item::Inst(inst));
    m.items.extend(stores);
}

fn rename(inst: &mut MachineInst, from: Reg, to: Reg) {
    let replace = |r: &mut Reg| {
        if *r == from {
            *r = to;
        }
    };
    for arg in inst.args.get_mut() {
        match arg {
            Arg::Reg(r) | Arg::As(r, _) => replace(r),
            Arg::Mem(MemOperand::At { base, index, .. }) | Arg::Splat(MemOperand::At { base, index, .. }) => {
                replace(base);
                if let Some((index, _)) = index {
                    replace(index);
                }
            }
            _ => {}
        }
    }
    if let Masked::Merge(k) | Masked::Zero(k) | Masked::Blend(k) = &mut inst.masked {
        replace(k);
    }
}
