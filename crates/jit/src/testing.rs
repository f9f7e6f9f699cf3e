//! What tests of this crate share: comparing decoded instructions with those that were asked for.

use crate::asm::{Asked, Gpr, Mask, Masking, Mem, Operand, Simd, Width};
use iced_x86::{Instruction, OpKind, Register};

fn simd_name(r: Simd) -> String {
    let bank = match r.width {
        Width::W128 => "XMM",
        Width::W256 => "YMM",
        Width::W512 => "ZMM",
    };
    format!("{bank}{}", r.index)
}

fn gpr_name(r: Gpr) -> String {
    format!("{r:?}").to_uppercase()
}

fn same_memory(decoded: &Instruction, mem: Mem) -> bool {
    let Mem::At { base, index, disp } = mem else { return decoded.memory_base() == Register::RIP };
    let index = index.map(|(r, scale)| (gpr_name(r), u32::from(scale)));
    let decoded_index = match decoded.memory_index() {
        Register::None => None,
        r => Some((format!("{r:?}"), decoded.memory_index_scale())),
    };
    format!("{:?}", decoded.memory_base()) == gpr_name(base)
        && decoded_index == index
        && decoded.memory_displacement64() as i64 == i64::from(disp)
}

fn same_operand(decoded: &Instruction, n: u32, operand: Operand) -> bool {
    let register = || format!("{:?}", decoded.op_register(n));
    match operand {
        Operand::Simd(r) => register() == simd_name(r),
        Operand::Mask(Mask(k)) => register() == format!("K{k}"),
        Operand::Int(r) => decoded.op_kind(n) == OpKind::Register && format!("{:?}", decoded.op_register(n).full_register()) == gpr_name(r),
        Operand::Mem(mem) => decoded.op_kind(n) == OpKind::Memory && !decoded.is_broadcast() && same_memory(decoded, mem),
        Operand::Splat(mem) => decoded.op_kind(n) == OpKind::Memory && decoded.is_broadcast() && same_memory(decoded, mem),
        Operand::Imm(imm) => decoded.immediate(n) as i64 == imm,
    }
}

/// Where a decoded instruction differs from what was asked, operand by operand; jumps are not looked at.
pub(crate) fn disagreement(decoded: &Instruction, asked: &Asked) -> Option<String> {
    asked.op?;
    let masking = match (decoded.op_mask(), decoded.zeroing_masking()) {
        (Register::None, _) => Masking::None,
        (k, zero) => {
            let mask = Mask(k.number() as u8);
            if zero { Masking::Zero(mask) } else { Masking::Merge(mask) }
        }
    };
    let same = decoded.op_count() as usize == asked.operands.len()
        && asked.operands.iter().enumerate().all(|(n, o)| same_operand(decoded, n as u32, *o))
        && masking == asked.masking;
    (!same).then(|| format!("{:?}: {asked:?}", decoded.code()))
}
