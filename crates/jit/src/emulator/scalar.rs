//! Instructions on general and mask registers, and those without effect on results.

use super::memory::{load, store};
use super::{Arg, Machine, Step};
use crate::asm::{Cond, Gpr, Op};

impl Machine {
    pub(super) fn holds(&self, cond: Cond) -> bool {
        let [zero, sign, overflow] = self.flags;
        match cond {
            Cond::Always => true,
            Cond::Eq => zero,
            Cond::Ne => !zero,
            Cond::Lt => sign != overflow,
            Cond::Ge => sign == overflow,
            Cond::Le => zero || sign != overflow,
            Cond::Gt => !zero && sign == overflow,
        }
    }

    pub(super) fn scalar(&mut self, op: Op, step: &Step) {
        let [to, a, b, _] = step.operands;
        match op {
            Op::PrefetchL1 | Op::PrefetchL2 | Op::PrefetchWrite | Op::StoreFence => {}
            Op::ZeroUpper => self.simd.iter_mut().take(16).for_each(|r| r.0[16..].fill(0)),
            Op::KFromInt16 => self.set_mask(to, self.value(a) & 0xffff),
            Op::KFromInt32 => self.set_mask(to, self.value(a) & 0xffff_ffff),
            Op::KFromInt64 | Op::KMove => self.set_mask(to, self.value(a)),
            Op::IntFromK16 => self.set(to, self.value(a) & 0xffff),
            Op::KStore | Op::MovStore => store(self.place(to), self.value(a).to_le_bytes()),
            Op::KLoad16 => {
                let bits = if let Arg::Mask(_) = a { self.value(a) & 0xffff } else { u64::from(u16::from_le_bytes(load(self.place(a)))) };
                self.set_mask(to, bits);
            }
            Op::KStore16 | Op::MovStore16 => store(self.place(to), (self.value(a) as u16).to_le_bytes()),
            Op::MovStore8 => store(self.place(to), [self.value(a) as u8]),
            Op::KTest16 => self.flags = [(self.value(to) | self.value(a)) & 0xffff == 0, false, false],
            Op::KAnd => self.set_mask(to, self.value(a) & self.value(b)),
            Op::KOr => self.set_mask(to, self.value(a) | self.value(b)),
            Op::KNot => self.set_mask(to, !self.value(a)),
            Op::Mov | Op::MovImm => self.set(to, self.value(a)),
            Op::Mov32 => self.set(to, self.narrow::<4>(a)),
            Op::MovI32 => self.set(to, self.narrow::<4>(a) as u32 as i32 as u64),
            Op::MovU8 => self.set(to, self.narrow::<1>(a)),
            Op::MovU16 => self.set(to, self.narrow::<2>(a)),
            Op::SignBits => {
                let lanes = self.simd_of(a).words();
                self.set(to, (0..8).map(|i| u64::from(lanes[i] >> 31) << i).sum());
            }
            Op::Lea => self.set(to, self.place(a)),
            Op::Push => {
                self.ints[Gpr::Rsp as usize] -= 8;
                store(self.ints[Gpr::Rsp as usize], self.value(to).to_le_bytes());
            }
            Op::Pop => {
                let value = u64::from_le_bytes(load(self.ints[Gpr::Rsp as usize]));
                self.ints[Gpr::Rsp as usize] += 8;
                self.set(to, value);
            }
            op => self.arithmetic(op, to, a),
        }
    }

    /// `to = to op a`, or a comparison of the two, with flags.
    fn arithmetic(&mut self, op: Op, to: Arg, a: Arg) {
        let (x, y) = (self.value(to) as i64, if op == Op::Dec { 1 } else { self.value(a) as i64 });
        let (result, overflow) = match op {
            Op::Add | Op::AddImm => x.overflowing_add(y),
            Op::Sub | Op::SubImm | Op::Dec | Op::Cmp | Op::CmpImm => x.overflowing_sub(y),
            Op::Mul => x.overflowing_mul(y),
            Op::AndImm | Op::AndInt | Op::Test => (x & y, false),
            Op::ShlImm => (x << (y & 63), false),
            Op::ShrImm => ((x as u64 >> (y & 63)) as i64, false),
            op => unreachable!("{op:?} is no arithmetic"),
        };
        self.flags = [result == 0, result < 0, overflow];
        if !matches!(op, Op::Cmp | Op::CmpImm | Op::Test) {
            self.set(to, result as u64);
        }
    }

    /// 64 bits of an operand.
    pub(super) fn value(&self, arg: Arg) -> u64 {
        match arg {
            Arg::Int(r) => self.ints[r as usize],
            Arg::Mask(k) => self.masks[usize::from(k)],
            Arg::Imm(i) => i as u64,
            memory => u64::from_le_bytes(load(self.place(memory))),
        }
    }

    /// The lowest `N` bytes of an operand, zero-extended.
    fn narrow<const N: usize>(&self, arg: Arg) -> u64 {
        let mut bytes = [0; 8];
        match arg {
            Arg::Int(r) => bytes[..N].copy_from_slice(&self.ints[r as usize].to_le_bytes()[..N]),
            memory => bytes[..N].copy_from_slice(&load::<N>(self.place(memory))),
        }
        u64::from_le_bytes(bytes)
    }

    pub(super) fn set(&mut self, to: Arg, value: u64) {
        match to {
            Arg::Int(r) => self.ints[r as usize] = value,
            other => unreachable!("{other:?} is no general register"),
        }
    }

    pub(super) fn set_mask(&mut self, to: Arg, bits: u64) {
        match to {
            Arg::Mask(k) => self.masks[usize::from(k)] = bits,
            other => unreachable!("{other:?} is no mask"),
        }
    }
}
