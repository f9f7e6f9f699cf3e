//! Lowered code: machine instructions on virtual registers.

use super::{Addr, Class, Virtual};
use crate::asm::{Cond, Gpr, Op, Width};

/// A virtual register by number.
pub(super) type Reg = u32;

/// A memory operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum MemOperand {
    At {
        base: Reg,
        index: Option<(Reg, u8)>,
        disp: i32,
    },
    Const(u32),
    /// Bytes after the begin of a slot of the stack frame.
    Slot(u32, i32),
}

impl From<Addr> for MemOperand {
    fn from(a: Addr) -> MemOperand {
        match a {
            Addr::At { base, index, disp } => MemOperand::At { base: base.0, index: index.map(|(i, s)| (i.0, s)), disp },
            Addr::Const(c) => MemOperand::Const(c.0),
        }
    }
}

/// An operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Arg {
    /// A register in its own width.
    Reg(Reg),
    /// A vector register in another width.
    As(Reg, Width),
    /// A general register that the calling convention names.
    Fixed(Gpr),
    Tile(u8),
    Mem(MemOperand),
    Splat(MemOperand),
    Imm(i64),
}

/// A mask on an instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Masked {
    No,
    Merge(Reg),
    Zero(Reg),
    /// The mask selects between two sources; the destination is not read.
    Blend(Reg),
}

/// A machine instruction.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MachineInst {
    pub(super) op: Op,
    pub(super) args: Args,
    pub(super) masked: Masked,
    /// Made by the allocator.
    pub(super) spill: bool,
}

/// Up to four operands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Args {
    list: [Arg; 4],
    len: u8,
}

impl Args {
    pub(super) fn new(args: &[Arg]) -> Args {
        let mut list = [Arg::Imm(0); 4];
        list[..args.len()].copy_from_slice(args);
        Args { list, len: args.len() as u8 }
    }

    pub(super) fn get(&self) -> &[Arg] {
        &self.list[..usize::from(self.len)]
    }

    pub(super) fn get_mut(&mut self) -> &mut [Arg] {
        &mut self.list[..usize::from(self.len)]
    }
}

/// An element of lowered code. Blocks nest.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Item {
    Inst(MachineInst),
    /// Skips up to the matching end if the condition holds.
    If(Cond),
    /// The matching end.
    End,
    /// A loop begins.
    Loop,
    /// Back to the loop's begin if the condition holds; the loop ends.
    Again(Cond),
}

/// Lowered code.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) items: Vec<Item>,
    pub(super) virtuals: Vec<Virtual>,
    pub(super) constants: Vec<Vec<u8>>,
    /// Slots of the stack frame, one widest vector each.
    pub(super) slots: u32,
    /// Masks that name the first lanes up to one.
    pub(super) prefixes: Vec<Reg>,
}

impl Machine {
    pub(super) fn temp(&mut self, width: Width) -> Reg {
        self.new_reg(Virtual { class: Class::Simd, width, pinned: false })
    }

    pub(super) fn temp_int(&mut self) -> Reg {
        self.new_reg(Virtual { class: Class::Int, width: Width::W128, pinned: false })
    }

    pub(super) fn temp_mask(&mut self) -> Reg {
        self.new_reg(Virtual { class: Class::Mask, width: Width::W512, pinned: false })
    }

    pub(super) fn new_reg(&mut self, v: Virtual) -> Reg {
        self.virtuals.push(v);
        self.virtuals.len() as Reg - 1
    }

    pub(super) fn width(&self, r: Reg) -> Width {
        self.virtuals[r as usize].width
    }

    pub(super) fn constant(&mut self, bytes: Vec<u8>) -> MemOperand {
        let at = self.constants.iter().position(|c| *c == bytes).unwrap_or_else(|| {
            self.constants.push(bytes);
            self.constants.len() - 1
        });
        MemOperand::Const(at as u32)
    }

    pub(super) fn op(&mut self, op: Op, args: &[Arg]) {
        self.masked(op, args, Masked::No);
    }

    pub(super) fn masked(&mut self, op: Op, args: &[Arg], masked: Masked) {
        self.items.push(Item::Inst(MachineInst { op, args: Args::new(args), masked, spill: false }));
    }
}

/// How an instruction uses its first operand, if that is a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FirstOperand {
    Reads,
    Writes,
    Changes,
}

pub(super) fn first_operand(inst: &MachineInst) -> FirstOperand {
    match inst.op {
        Op::Cmp | Op::CmpImm | Op::Test | Op::KTest16 => FirstOperand::Reads,
        Op::ScaleAddF32 | Op::FmaF32 | Op::FnmaF32 | Op::DotBf16 | Op::DotU8S8 | Op::LookupI8 => FirstOperand::Changes,
        Op::Add | Op::AddImm | Op::Sub | Op::SubImm | Op::Mul | Op::AndImm | Op::AndInt | Op::ShlImm | Op::ShrImm | Op::Dec => {
            FirstOperand::Changes
        }
        _ if matches!(inst.masked, Masked::Merge(_)) => FirstOperand::Changes,
        _ => FirstOperand::Writes,
    }
}

/// A use of a register by an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Use {
    pub(super) reg: Reg,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// Every register that an instruction reads or writes, with repetitions.
#[inline]
pub(super) fn uses(inst: &MachineInst, mut visit: impl FnMut(Use)) {
    let read = |reg| Use { reg, reads: true, writes: false };
    for (n, arg) in inst.args.get().iter().enumerate() {
        match *arg {
            Arg::Reg(reg) | Arg::As(reg, _) if n == 0 => {
                let access = first_operand(inst);
                visit(Use { reg, reads: access != FirstOperand::Writes, writes: access != FirstOperand::Reads });
            }
            Arg::Reg(reg) | Arg::As(reg, _) => visit(read(reg)),
            Arg::Mem(MemOperand::At { base, index, .. }) | Arg::Splat(MemOperand::At { base, index, .. }) => {
                visit(read(base));
                if let Some((index, _)) = index {
                    visit(read(index));
                }
            }
            _ => {}
        }
    }
    if let Masked::Merge(k) | Masked::Zero(k) | Masked::Blend(k) = inst.masked {
        visit(read(k));
    }
}
