use super::op::{Codes, ROWS};
use super::*;
use crate::testing::disagreement;
use iced_x86::{Decoder, DecoderOptions};

const KINDS: usize = 10;

fn operand(kind: usize, width: Width, place: usize) -> Operand {
    let simd = |width| Operand::Simd(Simd::new([3, 5, 2, 7][place], width));
    match kind {
        0 => simd(width),
        1 => simd(width.half()),
        2 => simd(Width::W128),
        3 => Operand::Mask(Mask([1, 2, 3, 4][place])),
        4 => Operand::Int([Gpr::R9, Gpr::Rcx, Gpr::R13, Gpr::Rsi][place]),
        5 => Operand::Mem(Mem::At { base: Gpr::R12, index: Some((Gpr::Rdx, 4)), disp: 0x140 }),
        6 => Operand::Mem(Mem::at(Gpr::R13, 0)),
        7 => Operand::Tile([1, 5, 7, 0][place]),
        8 => Operand::Splat(Mem::at(Gpr::Rsp, -12)),
        _ => Operand::Imm(5),
    }
}

fn lists(width: Width) -> Vec<Vec<Operand>> {
    let mut lists = vec![vec![]];
    for count in 1..=4_u32 {
        for code in 0..KINDS.pow(count) {
            lists.push((0..count).map(|n| operand(code / KINDS.pow(n) % KINDS, width, n as usize)).collect());
        }
    }
    lists
}

/// Every instruction in every width and encoding with every list of operands that it takes.
#[test]
fn what_is_encoded_decodes_to_what_was_asked() {
    for isa in [Isa::AVX2, Isa::AMX] {
        let mut accepted = vec![0; ROWS.len()];
        for width in [Width::W128, Width::W256, Width::W512] {
            for list in lists(width) {
                for row in ROWS {
                    let Ok(encoded) = build(&isa, row.op, &list, Masking::None, 0) else { continue };
                    let mut encoder = Encoder::new(64);
                    let Ok(len) = encoder.encode(&encoded, 0) else { continue };
                    let bytes = encoder.take_buffer();
                    let decoded = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE).decode();
                    let asked = Asked { offset: 0, op: Some(row.op), jump: None, operands: list.clone(), masking: Masking::None };
                    assert_eq!(decoded.len(), len, "{:?} {list:?}", row.op);
                    assert_eq!(decoded.code(), encoded.code(), "{:?} {list:?}", row.op);
                    assert_eq!(disagreement(&decoded, &asked), None, "{:?} {list:?}", row.op);
                    accepted[row.op as usize] += 1;
                }
            }
        }
        for (row, count) in ROWS.iter().zip(accepted) {
            let exists = match row.codes {
                Codes::Wide { vex, evex, .. } => {
                    if isa.avx512 {
                        evex.is_some()
                    } else {
                        vex.is_some()
                    }
                }
                _ => isa.amx || !row.op.is_tile(),
            };
            assert_eq!(count > 0, exists, "{:?}", row.op);
        }
    }
}

#[test]
fn masks_are_encoded() {
    for masking in [Masking::Merge(Mask(3)), Masking::Zero(Mask(7))] {
        let mut asm = Asm::new(Isa::AVX512).recording();
        let zmm = |i| Operand::Simd(Simd::new(i, Width::W512));
        asm.masked(Op::AddF32, &[zmm(31), zmm(16), Mem::at(Gpr::Rax, 64).into()], masking);
        let done = asm.finish().unwrap();
        let decoded = Decoder::with_ip(64, &done.bytes, 0, DecoderOptions::NONE).decode();
        assert_eq!(disagreement(&decoded, &done.asked[0]), None);
    }
}

#[test]
fn labels_and_constants_are_where_they_are_said_to_be() {
    let mut asm = Asm::new(Isa::AVX2).recording();
    let (top, out) = (asm.label(), asm.label());
    let ymm = |i| Operand::Simd(Simd::new(i, Width::W256));
    asm.jump(Cond::Eq, out);
    let ones = asm.constant(&[1; 32], 32);
    let twos = asm.constant(&[2; 4], 4);
    assert_eq!(asm.constant(&[1; 32], 64), ones, "equal constants are one");
    asm.align(32);
    asm.bind(top);
    let start = asm.position();
    asm.op(Op::Load, &[ymm(1), Mem::Const(ones).into()]);
    asm.op(Op::RoundF32, &[ymm(1), Mem::Const(ones).into(), Operand::Imm(1)]);
    asm.op(Op::Broadcast32, &[ymm(2), Mem::Const(twos).into()]);
    asm.jump(Cond::Ne, top);
    for _ in 0..20 {
        asm.op(Op::MovImm, &[Gpr::Rax.into(), Operand::Imm(1 << 40)]);
    }
    asm.jump(Cond::Always, top);
    asm.bind(out);
    asm.op(Op::Ret, &[]);
    let done = asm.finish().unwrap();
    assert_eq!((start % 32, done.instructions), (0, 27));

    let mut targets = Vec::new();
    let mut constants = Vec::new();
    let mut last = 0;
    for i in Decoder::with_ip(64, &done.bytes[..done.code_len], 0, DecoderOptions::NONE).iter() {
        assert!(!i.is_invalid());
        if i.is_ip_rel_memory_operand() {
            constants.push(done.bytes[i.ip_rel_memory_address() as usize]);
        } else if i.near_branch_target() != 0 {
            targets.push(i.near_branch_target() as usize);
        }
        last = i.ip() as usize;
    }
    assert_eq!(constants, [1, 1, 2]);
    assert_eq!(targets, [last, start, start]);
}

#[test]
fn alignment_is_made_of_instructions() {
    for before in 0..64 {
        let mut asm = Asm::new(Isa::AVX2);
        (0..before).for_each(|_| asm.op(Op::Ret, &[]));
        asm.align(64);
        let done = asm.finish().unwrap();
        assert_eq!(done.bytes.len() % 64, 0);
        assert!(Decoder::with_ip(64, &done.bytes, 0, DecoderOptions::NONE).iter().all(|i| !i.is_invalid()));
    }
}

#[test]
fn mistakes_are_reported_by_finish() {
    let ymm = |i| Operand::Simd(Simd::new(i, Width::W256));
    let mut asm = Asm::new(Isa::AVX2);
    asm.op(Op::AddF32, &[ymm(1), ymm(2), ymm(16)]);
    assert!(matches!(asm.finish(), Err(AsmError::Instruction { at: 0, op: Op::AddF32, .. })));
    let mut asm = Asm::new(Isa::AVX2);
    asm.op(Op::DotBf16, &[ymm(1), ymm(2), ymm(3)]);
    assert!(asm.finish().unwrap_err().to_string().contains("needs AVX-512"));
    let mut asm = Asm::new(Isa::AVX512);
    asm.masked(Op::Store, &[Mem::at(Gpr::Rdi, 0).into(), ymm(1)], Masking::Zero(Mask(1)));
    assert!(asm.finish().unwrap_err().to_string().contains("only vector registers"));
    let mut asm = Asm::new(Isa::AVX2);
    let nowhere = asm.label();
    asm.jump(Cond::Always, nowhere);
    assert_eq!(asm.finish(), Err(AsmError::Label(0)));
}
