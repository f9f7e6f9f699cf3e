use super::*;
use crate::arena::{CodeArena, Options};
use crate::asm::{Asm, Mask, Simd};
use std::collections::BTreeSet;

/// Number of vector registers that an instruction may use, and the bytes of memory that holds them.
const REGISTERS: usize = 4;
const MEMORY: usize = REGISTERS * 64;
/// The first instructions that are not on vectors, and the first on tiles.
const SCALARS: usize = Op::KFromInt16 as usize;

/// What the tests' functions read and write: vector registers before and after, memory of an operand, and a mask before and after.
#[repr(C, align(64))]
#[derive(Clone, PartialEq, Debug)]
struct State {
    registers: [u8; MEMORY],
    memory: [u8; 64],
    mask: [u64; 2],
}

/// Words of all kinds: of floats that are ordinary, tiny, infinite and no numbers, and of any bits.
fn word(random: &mut u64) -> u32 {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let bits = (*random >> 32) as u32;
    match *random >> 29 & 7 {
        0 => bits & 0x807f_ffff,
        1 => [0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x4f00_0000, 0xcf00_0000, 0x3f00_0000][bits as usize % 8],
        2 | 3 => bits,
        _ => (bits as i32 as f32 / 65536.0).to_bits(),
    }
}

fn state(seed: u64) -> State {
    let mut random = seed;
    let mut fill = |bytes: &mut [u8]| bytes.chunks_mut(4).for_each(|four| four.copy_from_slice(&word(&mut random).to_le_bytes()));
    let mut state = State { registers: [0; MEMORY], memory: [0; 64], mask: [seed ^ 0xa5a5, 0] };
    fill(&mut state.registers);
    fill(&mut state.memory);
    state
}

/// A function that loads the registers, runs an instruction, and stores them.
fn function(isa: Isa, op: Op, operands: &[Operand], masking: Masking) -> Option<Assembled> {
    let mut asm = Asm::new(isa).recording();
    let width = isa.width();
    let register = |i: usize| Operand::Simd(Simd::new(i as u8, width));
    let place = |i: usize| Operand::Mem(Mem::at(Gpr::Rdi, 64 * i as i32));
    let mask = |i: i32| Operand::Mem(Mem::at(Gpr::Rdi, (MEMORY + 64) as i32 + 8 * i));
    asm.op(Op::Mov, &[Gpr::Rdi.into(), Mem::at(Gpr::Rdi, 0).into()]);
    (0..REGISTERS).for_each(|i| asm.op(Op::Load, &[register(i), place(i)]));
    asm.op(Op::Mov, &[Gpr::Rax.into(), mask(0)]);
    if isa.avx512 {
        asm.op(Op::KFromInt64, &[Mask(1).into(), Gpr::Rax.into()]);
    }
    asm.masked(op, operands, masking);
    (0..REGISTERS).for_each(|i| asm.op(Op::Store, &[place(i), register(i)]));
    match isa.avx512 {
        true => asm.op(Op::KStore, &[mask(1), Mask(1).into()]),
        false => asm.op(Op::MovStore, &[mask(1), Gpr::Rax.into()]),
    }
    asm.op(Op::ZeroUpper, &[]);
    asm.op(Op::Ret, &[]);
    asm.finish().ok()
}

/// Whether a processor has an instruction that the assembler encodes for it.
fn has(isa: Isa, op: Op) -> bool {
    match op {
        Op::DotU8S8 => isa.vnni,
        Op::LookupI8 => isa.vbmi,
        Op::DotBf16 | Op::Bf16FromF32 | Op::Bf16FromBoth => isa.bf16,
        _ => true,
    }
}

/// The operands that an instruction may have, where it takes them.
fn operands(width: Width) -> Vec<Vec<Operand>> {
    let simd = |i, width| Operand::Simd(Simd::new(i, width));
    let memory = Operand::Mem(Mem::at(Gpr::Rdi, MEMORY as i32));
    let splat = Operand::Splat(Mem::at(Gpr::Rdi, MEMORY as i32 + 4));
    let kinds = |i: u8| {
        let mut all: Vec<Operand> = [width, width.half(), Width::W128].map(|w| simd(i, w)).into();
        all.dedup();
        all.extend([memory, splat, Mask(1).into(), Gpr::Rax.into(), Operand::Imm(0)]);
        all
    };
    let mut all = vec![vec![]];
    let mut longer = all.clone();
    for i in 0..REGISTERS as u8 {
        longer = longer.iter().flat_map(|list| kinds(i).into_iter().map(|kind| [list.clone(), vec![kind]].concat())).collect();
        all.extend(longer.clone());
    }
    all
}

/// Numbers that an instruction is used with.
fn numbers(op: Op, isa: Isa) -> Vec<i64> {
    match op {
        Op::RoundF32 => (8..12).collect(),
        Op::RangeF32 => vec![4, 5],
        Op::F16FromF32 => vec![0],
        Op::CmpF32 => (0..32).collect(),
        Op::CmpI32 => (0..8).collect(),
        Op::Blocks128 if !isa.avx512 => vec![0x00, 0x20, 0x31, 0x13, 0x02],
        Op::High128 | Op::High256 => vec![0, 1],
        _ => vec![0, 1, 7, 15, 0x1b, 0x20, 0x64, 0xd8, 0xff],
    }
}

/// Whether two results of an instruction are the same, but for which of two NaN it passes on.
fn same(a: &State, b: &State) -> bool {
    let words = |s: &State| s.registers.iter().chain(&s.memory).copied().collect::<Vec<u8>>();
    let nan = |w: &[u8]| f32::from_le_bytes([w[0], w[1], w[2], w[3]]).is_nan();
    a.mask == b.mask && words(a).chunks(4).zip(words(b).chunks(4)).all(|(a, b)| a == b || nan(a) && nan(b))
}

/// Every instruction on vectors that this processor has, with operands in registers, in memory, repeated and masked, against the processor.
#[test]
fn vectors_are_what_the_processor_makes_of_them() {
    let arena = CodeArena::new(Options::default());
    let Some(isa) = Isa::host() else { return };
    let mut seen = BTreeSet::new();
    for width in [Width::W128, Width::W256, Width::W512].into_iter().filter(|w| *w <= isa.width()) {
        for list in operands(width).into_iter().filter(|l| !l.is_empty()) {
            for op in Op::all().filter(|op| (*op as usize) < SCALARS && has(isa, *op)) {
                let maskings = [Masking::None, Masking::Merge(Mask(1)), Masking::Zero(Mask(1))];
                for masking in maskings.into_iter().take(if isa.avx512 { 3 } else { 1 }) {
                    if function(isa, op, &list, masking).is_none() {
                        continue;
                    }
                    let has_number = list.iter().any(|o| matches!(o, Operand::Imm(_)));
                    for number in numbers(op, isa).into_iter().take(if has_number { 32 } else { 1 }) {
                        let list: Vec<Operand> =
                            list.iter().map(|o| if let Operand::Imm(_) = o { Operand::Imm(number) } else { *o }).collect();
                        let code = function(isa, op, &list, masking).expect("it takes other numbers");
                        let before = state(seen.len() as u64 * 77 + number as u64);
                        let [mut real, mut emulated] = [before.clone(), before];
                        let run = |code: crate::Code, state: *mut State| {
                            // SAFETY: the function has the processor's instructions, and reads and writes the state alone.
                            unsafe { code.entry::<*mut State>().call(&state) }
                        };
                        run(arena.install("real", &code).unwrap(), &mut real);
                        run(arena.install_emulated("emulated", Program::new(&code, isa)).unwrap(), &mut emulated);
                        assert!(same(&real, &emulated), "{op:?} {list:?} {masking:?}:\n{real:?}\n{emulated:?}");
                        seen.insert(op as usize);
                    }
                }
            }
        }
    }
    assert!(seen.len() > 60, "only {} instructions", seen.len());
}
