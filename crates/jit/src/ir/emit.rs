//! Emission: lowered code with allocated registers to machine code.

use super::alloc::{Assignment, Registers, allocate};
use super::lower::lower;
use super::machine::{Arg, Item, Machine, MachineInst, Masked, MemOperand, Reg};
use super::{Class, Compiled, Function, IrError};
use crate::asm::{ALIGN, Asm, Const, Gpr, Label, Mask, Masking, Mem, Op, Operand, Simd};

/// General registers in the order in which they are given: the argument first, those that a caller wants back last.
const INTS: [Gpr; 15] = [
    Gpr::Rdi,
    Gpr::Rax,
    Gpr::Rcx,
    Gpr::Rdx,
    Gpr::Rsi,
    Gpr::R8,
    Gpr::R9,
    Gpr::R10,
    Gpr::R11,
    Gpr::Rbx,
    Gpr::Rbp,
    Gpr::R12,
    Gpr::R13,
    Gpr::R14,
    Gpr::R15,
];
/// How many of them are caller-saved (System V).
const CALLER_SAVED: usize = 9;
/// Bytes of a slot of the stack frame.
pub(super) const SLOT_BYTES: usize = 64;
/// Loops begin at a multiple of this.
const LOOP_ALIGN_BYTES: usize = 64;

pub(super) fn compile(function: Function, recording: bool) -> Result<Compiled, IrError> {
    let isa = function.isa;
    let mut m = lower(function);
    let registers = Registers { ints: INTS.len(), simd: isa.simd_registers(), masks: if isa.avx512 { 7 } else { 0 } };
    let assignment = allocate(&mut m, registers)?;
    let asm = if recording { Asm::new(isa).recording() } else { Asm::new(isa) };
    let mut emitter = Emitter { asm, m: &m, assignment, constants: Vec::new() };
    emitter.constants = m.constants.iter().map(|c| emitter.asm.constant(c, c.len().next_power_of_two().min(ALIGN))).collect();
    let frame = emitter.function();
    let (spills, inner_spills) = count_spills(&m);
    Ok(Compiled { code: emitter.asm.finish()?, spills, inner_spills, frame })
}

/// Spills in all, and in loops without loops inside.
fn count_spills(m: &Machine) -> (usize, usize) {
    let (mut all, mut inner) = (0, 0);
    // Per open loop: spills directly inside, and whether it has a loop inside.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for item in &m.items {
        match item {
            Item::Loop => {
                open.iter_mut().for_each(|l| l.1 = true);
                open.push((0, false));
            }
            Item::Again(_) => inner += open.pop().map_or(0, |(n, outer)| if outer { 0 } else { n }),
            Item::Inst(inst) if inst.spill => {
                all += 1;
                open.iter_mut().last().into_iter().for_each(|l| l.0 += 1);
            }
            _ => {}
        }
    }
    (all, inner)
}

struct Emitter<'m> {
    asm: Asm,
    m: &'m Machine,
    assignment: Assignment,
    constants: Vec<Const>,
}

impl Emitter<'_> {
    /// Everything; returns the bytes of the stack frame.
    fn function(&mut self) -> usize {
        let highest = |class: Class| {
            let of_class = self.m.virtuals.iter().zip(&self.assignment).filter(|(v, _)| v.class == class);
            of_class.filter_map(|(_, r)| *r).max().map_or(0, |r| usize::from(r) + 1)
        };
        let saved = &INTS[CALLER_SAVED..highest(Class::Int).max(CALLER_SAVED)];
        let vectors = highest(Class::Simd) > 0;
        let frame = self.m.slots as usize * SLOT_BYTES;
        for r in saved {
            self.asm.op(Op::Push, &[(*r).into()]);
        }
        if frame > 0 {
            self.asm.op(Op::SubImm, &[Gpr::Rsp.into(), Operand::Imm(frame as i64)]);
        }
        self.body();
        if frame > 0 {
            self.asm.op(Op::AddImm, &[Gpr::Rsp.into(), Operand::Imm(frame as i64)]);
        }
        for r in saved.iter().rev() {
            self.asm.op(Op::Pop, &[(*r).into()]);
        }
        if vectors {
            self.asm.op(Op::ZeroUpper, &[]);
        }
        self.asm.op(Op::Ret, &[]);
        frame
    }

    fn body(&mut self) {
        let mut ends: Vec<Label> = Vec::new();
        let mut begins: Vec<Label> = Vec::new();
        let m = self.m;
        for item in &m.items {
            match item {
                Item::Inst(inst) => self.inst(inst),
                Item::If(cond) => {
                    let end = self.asm.label();
                    self.asm.jump(*cond, end);
                    ends.push(end);
                }
                Item::End => ends.pop().into_iter().for_each(|end| self.asm.bind(end)),
                Item::Loop => {
                    let begin = self.asm.label();
                    self.asm.align(LOOP_ALIGN_BYTES);
                    self.asm.bind(begin);
                    begins.push(begin);
                }
                Item::Again(cond) => begins.pop().into_iter().for_each(|begin| self.asm.jump(*cond, begin)),
            }
        }
    }

    fn inst(&mut self, inst: &MachineInst) {
        let args = inst.args.get();
        let mut operands = [Operand::Imm(0); 4];
        for (operand, arg) in operands.iter_mut().zip(args) {
            *operand = self.operand(*arg);
        }
        let operands = &operands[..args.len()];
        let is_move = matches!(inst.op, Op::Mov | Op::Load) && inst.masked == Masked::No;
        if is_move && operands[0] == operands[1] {
            return;
        }
        let masking = match inst.masked {
            Masked::No => Masking::None,
            Masked::Merge(k) | Masked::Blend(k) => Masking::Merge(self.mask(k)),
            Masked::Zero(k) => Masking::Zero(self.mask(k)),
        };
        self.asm.masked(inst.op, operands, masking);
    }

    fn number(&self, reg: Reg) -> u8 {
        // Every register that occurs has a range, and a finished scan has given each range a register.
        self.assignment[reg as usize].unwrap_or(0)
    }

    fn int(&self, reg: Reg) -> Gpr {
        INTS[usize::from(self.number(reg))]
    }

    /// `k0` cannot mask.
    fn mask(&self, reg: Reg) -> Mask {
        Mask(self.number(reg) + 1)
    }

    fn operand(&self, arg: Arg) -> Operand {
        match arg {
            Arg::Reg(r) => match self.m.virtuals[r as usize].class {
                Class::Int => self.int(r).into(),
                Class::Simd => Simd::new(self.number(r), self.m.width(r)).into(),
                Class::Mask => self.mask(r).into(),
            },
            Arg::As(r, width) => Simd::new(self.number(r), width).into(),
            Arg::Fixed(r) => r.into(),
            Arg::Tile(t) => Operand::Tile(t),
            Arg::Mem(place) => Operand::Mem(self.place(place)),
            Arg::Splat(place) => Operand::Splat(self.place(place)),
            Arg::Imm(i) => Operand::Imm(i),
        }
    }

    fn place(&self, place: MemOperand) -> Mem {
        match place {
            MemOperand::At { base, index, disp } => Mem::At { base: self.int(base), index: index.map(|(i, s)| (self.int(i), s)), disp },
            MemOperand::Const(c) => Mem::Const(self.constants[c as usize]),
            MemOperand::Slot(slot, disp) => Mem::at(Gpr::Rsp, slot as i32 * SLOT_BYTES as i32 + disp),
        }
    }
}
