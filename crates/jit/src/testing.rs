//! Shared by the tests of this crate: comparing decoded with requested instructions, running functions.

use crate::arena::{CodeArena, Options};
use crate::asm::{Asked, Assembled, Gpr, Mask, Masking, Mem, Operand, Simd, Width};
use crate::emulator::Program;
use crate::ir::{Compiled, Function};
use crate::isa::Isa;
use crate::key::Key;
use iced_x86::{CpuidFeature, Decoder, DecoderOptions, Formatter, Instruction, NasmFormatter, OpKind, Register};
use std::fmt::Write as _;

/// The instruction sets that functions are tested for.
pub(crate) const ISAS: [Isa; 5] = [Isa::AVX2, Isa::AVX2_VNNI, Isa::AVX512, Isa::AVX512_BF16, Isa::AVX512_FP16];

/// Compiles, and checks that every instruction decodes to the requested one and belongs to the instruction set.
pub(crate) fn compile(function: Function) -> Compiled {
    let isa = function.isa();
    let compiled = function.finish_recording().unwrap();
    check(&compiled.code, isa);
    compiled
}

/// Checks that every instruction decodes to the requested one and belongs to the instruction set.
pub(crate) fn check(code: &Assembled, isa: Isa) {
    let mut asked = code.asked.iter();
    for i in decoded(code) {
        for feature in i.cpuid_features() {
            assert!(allowed(isa, *feature), "{feature:?} for {}", isa.name());
        }
        // Alignment is not asked for.
        if asked.as_slice().first().is_some_and(|a| a.offset == i.ip() as usize)
            && let Some(asked) = asked.next()
        {
            assert_eq!(disagreement(&i, asked), None);
        }
    }
    assert_eq!(asked.next(), None, "everything asked for is there");
}

/// The instructions of code.
pub(crate) fn decoded(code: &Assembled) -> Vec<Instruction> {
    let list: Vec<Instruction> = Decoder::with_ip(64, &code.bytes[..code.code_len], 0, DecoderOptions::NONE).into_iter().collect();
    assert!(list.iter().all(|i| !i.is_invalid()));
    list
}

fn allowed(isa: Isa, feature: CpuidFeature) -> bool {
    use CpuidFeature::*;
    match feature {
        INTEL8086 | INTEL186 | INTEL386 | X64 | CMOV | MULTIBYTENOP | SSE | PREFETCHW | AVX | AVX2 | FMA | F16C => true,
        AVX512F | AVX512BW | AVX512DQ | AVX512VL => isa.avx512,
        AVX_VNNI => !isa.avx512 && isa.vnni,
        AVX512_VNNI => isa.avx512 && isa.vnni,
        AVX512_BF16 => isa.bf16,
        AVX512_FP16 => isa.fp16,
        AVX512_VBMI => isa.vbmi,
        AMX_TILE | AMX_BF16 | AMX_INT8 => isa.amx,
        _ => false,
    }
}

/// Runs a function of one block of arguments, on the emulator where this processor lacks its instruction set.
pub(crate) fn run<A>(function: Function, arguments: &A) {
    let isa = function.isa();
    let compiled = compile(function);
    let arena = CodeArena::new(Options::default());
    let code = match isa.is_present() && !isa.emulated {
        true => arena.install("test", &compiled.code),
        false => arena.install_emulated("test", Program::new(&compiled.code, isa)),
    };
    // SAFETY: compiled functions take one pointer, for an instruction set that is present; tests pass pointers to what they read and write.
    unsafe { code.unwrap().entry::<A>().call(arguments) };
}

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
        Operand::Tile(t) => register() == format!("TMM{t}"),
        Operand::Mem(mem) => decoded.op_kind(n) == OpKind::Memory && !decoded.is_broadcast() && same_memory(decoded, mem),
        Operand::Splat(mem) => decoded.op_kind(n) == OpKind::Memory && decoded.is_broadcast() && same_memory(decoded, mem),
        Operand::Imm(imm) => decoded.immediate(n) as i64 == imm,
    }
}

/// The first difference between a decoded and a requested instruction, operand by operand; jumps are not compared.
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

fn listing(compiled: &Compiled) -> String {
    let mut formatter = NasmFormatter::new();
    formatter.options_mut().set_branch_leading_zeros(false);
    let mut text = format!(
        "; {} instructions, {} bytes, {} spills, {} of them in inner loops\n",
        compiled.code.instructions, compiled.code.code_len, compiled.spills, compiled.inner_spills
    );
    for i in decoded(&compiled.code) {
        let mut line = String::new();
        formatter.format(&i, &mut line);
        let _ = writeln!(text, "{:04x}  {line}", i.ip());
    }
    text
}

/// Compiles a kernel, checks it as [`check`] does, and compares it with the golden listing of its name, or writes that where `OXIDNN_BLESS` is set.
pub(crate) fn golden(kernel: &impl Key, isa: Isa) -> Compiled {
    let compiled = compile(kernel.function(isa));
    golden_listing(&kernel.name(isa), &compiled);
    compiled
}

/// Compares with the golden listing of that name, or writes it.
fn golden_listing(name: &str, compiled: &Compiled) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/jit");
    let file = folder.join(format!("{name}.asm"));
    let text = listing(compiled);
    if std::env::var_os("OXIDNN_BLESS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&file, text).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    let line = golden.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(golden == text, "{} differs: {line:?}; `cargo xtask bless` if that is meant", file.display());
}
