//! `Asm`: instructions to bytes.
//!
//! A thin layer over the encoder of iced-x86, which appears in no signature. The raw encoder is used (about 25 ns an instruction, a third
//! of the time of the crate's own assembler); labels, the constants after the code and alignment are ours. Instructions come from one
//! table ([`Op`]); a vector instruction is encoded as EVEX when the [`Isa`] has AVX-512 and as VEX when it has not.
//!
//! Mistakes (an operand that does not fit, a label that is never placed) are those of a kernel's author: they are recorded and reported
//! once, by [`Asm::finish`].

mod op;
mod reg;
#[cfg(test)]
mod tests;

pub use op::Op;
pub use reg::{Cond, Const, Gpr, Label, Mask, Mem, Operand, Simd, Width};

use crate::isa::Isa;
use iced_x86::{Code, Encoder, Instruction, OpKind, Register};
use op::{Codes, ROWS};

/// Largest alignment of code and constants: that of the arena.
pub const ALIGN: usize = 64;

/// Why code could not be assembled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AsmError {
    /// An instruction has no encoding with these operands.
    #[error("instruction {at}: {op:?} {operands}: {why}")]
    Instruction {
        /// Number of the instruction.
        at: usize,
        /// The instruction.
        op: Op,
        /// Its operands.
        operands: String,
        /// The operand that does not fit.
        why: String,
    },
    /// A label is used and never bound.
    #[error("label {0} is nowhere")]
    Label(usize),
}

/// Code and the constants after it, position-independent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assembled {
    /// Instructions, filling up to [`ALIGN`], constants.
    pub bytes: Vec<u8>,
    /// Bytes of instructions.
    pub code_len: usize,
    /// Number of instructions, filling not counted.
    pub instructions: usize,
    /// Places of the constants in the bytes.
    pub constants: Vec<usize>,
    /// The requested instructions, if [`Asm::recording`] is on.
    pub asked: Vec<Asked>,
}

/// An instruction as it was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Place in the code.
    pub offset: usize,
    /// The instruction; `None` is a jump.
    pub op: Option<Op>,
    /// For a jump, when it is taken, and the place in the code where it goes.
    pub jump: Option<(Cond, usize)>,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// Its mask.
    pub masking: Masking,
}

/// The effect of a mask on an instruction's result.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Masking {
    /// There is none.
    #[default]
    None,
    /// Lanes without a bit keep the destination's old value.
    Merge(Mask),
    /// Lanes without a bit become 0.
    Zero(Mask),
}

struct Constant {
    bytes: Vec<u8>,
    align: usize,
}

/// A place whose four bytes are a distance from `end` to a label or constant.
struct Fix<T> {
    at: usize,
    end: usize,
    to: T,
}

/// Code being assembled.
pub struct Asm {
    isa: Isa,
    encoder: Encoder,
    at: usize,
    instructions: usize,
    labels: Vec<Option<usize>>,
    jumps: Vec<Fix<usize>>,
    constants: Vec<Constant>,
    uses: Vec<Fix<usize>>,
    asked: Option<Vec<Asked>>,
    error: Option<AsmError>,
}

impl Asm {
    /// An empty piece of code for a processor.
    pub fn new(isa: Isa) -> Asm {
        Asm {
            isa,
            encoder: Encoder::new(64),
            at: 0,
            instructions: 0,
            labels: Vec::new(),
            jumps: Vec::new(),
            constants: Vec::new(),
            uses: Vec::new(),
            asked: None,
            error: None,
        }
    }

    /// Records the requested instructions, for the emulator, and for tests that compare them with the decoded bytes.
    pub fn recording(mut self) -> Asm {
        self.asked = Some(Vec::new());
        self
    }

    /// The processor that code is made for.
    pub fn isa(&self) -> &Isa {
        &self.isa
    }

    /// Number of bytes so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// A new label, to be bound once.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label is here.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0] = Some(self.at);
    }

    /// A constant, after the code at a multiple of `align` (a power of two up to [`ALIGN`]); equal ones are kept once.
    pub fn constant(&mut self, bytes: &[u8], align: usize) -> Const {
        let align = align.clamp(1, ALIGN);
        if let Some(i) = self.constants.iter().position(|c| c.bytes == bytes) {
            self.constants[i].align = self.constants[i].align.max(align);
            return Const(i);
        }
        self.constants.push(Constant { bytes: bytes.to_vec(), align });
        Const(self.constants.len() - 1)
    }

    /// Fills with instructions that do nothing up to a multiple of `align`, a power of two up to [`ALIGN`].
    pub fn align(&mut self, align: usize) {
        let mut fill = self.at.next_multiple_of(align.clamp(1, ALIGN)) - self.at;
        while fill > 0 {
            let nop = NOPS[fill.min(NOPS.len()) - 1];
            nop.iter().for_each(|b| self.encoder.write_u8(*b));
            self.at += nop.len();
            fill -= nop.len();
        }
    }

    /// An instruction.
    pub fn op(&mut self, op: Op, operands: &[Operand]) {
        self.masked(op, operands, Masking::None);
    }

    /// An instruction under a mask.
    pub fn masked(&mut self, op: Op, operands: &[Operand], masking: Masking) {
        let encoded = build(&self.isa, op, operands, masking, self.at as u64)
            .and_then(|i| self.encoder.encode(&i, self.at as u64).map_err(|e| e.to_string()));
        match encoded {
            Ok(len) => self.emitted(Ok(op), operands, masking, len),
            Err(why) if self.error.is_none() => {
                self.error = Some(AsmError::Instruction { at: self.instructions, op, operands: format!("{operands:?} {masking:?}"), why });
            }
            Err(_) => {}
        }
    }

    /// A jump.
    pub fn jump(&mut self, cond: Cond, label: Label) {
        let here = self.at as u64;
        let (code, target) = match self.labels[label.0] {
            Some(to) if self.at - to < 120 => (short_jump(cond), to as u64),
            Some(to) => (near_jump(cond), to as u64),
            None => (near_jump(cond), here),
        };
        let mut jump = Instruction::default();
        jump.set_code(code);
        jump.set_op0_kind(OpKind::NearBranch64);
        jump.set_near_branch64(target);
        // Distances within one piece of code fit, so that encoding a jump does not fail.
        let len = self.encoder.encode(&jump, here).unwrap_or(0);
        if self.labels[label.0].is_none() {
            self.jumps.push(Fix { at: self.at + len - 4, end: self.at + len, to: label.0 });
        }
        self.emitted(Err((cond, label.0)), &[], Masking::None, len);
    }

    /// Counts and records an instruction, or a jump and the number of its label.
    fn emitted(&mut self, what: Result<Op, (Cond, usize)>, operands: &[Operand], masking: Masking, len: usize) {
        for operand in operands {
            if let Operand::Mem(Mem::Const(c)) | Operand::Splat(Mem::Const(c)) = operand {
                let place = self.encoder.get_constant_offsets().displacement_offset();
                self.uses.push(Fix { at: self.at + place, end: self.at + len, to: c.0 });
            }
        }
        if let Some(asked) = &mut self.asked {
            asked.push(Asked { offset: self.at, op: what.ok(), jump: what.err(), operands: operands.to_vec(), masking });
        }
        self.at += len;
        self.instructions += 1;
    }

    /// The code.
    ///
    /// # Errors
    /// The first instruction that could not be encoded, or a label that was never bound.
    pub fn finish(mut self) -> Result<Assembled, AsmError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut bytes = self.encoder.take_buffer();
        let code_len = bytes.len();
        let mut asked = self.asked.unwrap_or_default();
        for (_, label) in asked.iter_mut().filter_map(|a| a.jump.as_mut()) {
            *label = self.labels[*label].ok_or(AsmError::Label(*label))?;
        }
        for jump in &self.jumps {
            let to = self.labels[jump.to].ok_or(AsmError::Label(jump.to))?;
            patch(&mut bytes, jump, to);
        }
        let mut places = Vec::with_capacity(self.constants.len());
        for constant in &self.constants {
            // Traps fill the space between code and constants.
            bytes.resize(bytes.len().next_multiple_of(constant.align), 0xcc);
            places.push(bytes.len());
            bytes.extend_from_slice(&constant.bytes);
        }
        for used in &self.uses {
            patch(&mut bytes, used, places[used.to]);
        }
        Ok(Assembled { bytes, code_len, instructions: self.instructions, constants: places, asked })
    }
}

fn patch(bytes: &mut [u8], fix: &Fix<usize>, to: usize) {
    let distance = (to as i64 - fix.end as i64) as i32;
    bytes[fix.at..fix.at + 4].copy_from_slice(&distance.to_le_bytes());
}

/// The multi-byte forms of `nop` that the manuals recommend, by length.
const NOPS: &[&[u8]] = &[
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

fn short_jump(cond: Cond) -> Code {
    match cond {
        Cond::Always => Code::Jmp_rel8_64,
        Cond::Eq => Code::Je_rel8_64,
        Cond::Ne => Code::Jne_rel8_64,
        Cond::Lt => Code::Jl_rel8_64,
        Cond::Ge => Code::Jge_rel8_64,
        Cond::Le => Code::Jle_rel8_64,
        Cond::Gt => Code::Jg_rel8_64,
    }
}

fn near_jump(cond: Cond) -> Code {
    match cond {
        Cond::Always => Code::Jmp_rel32_64,
        Cond::Eq => Code::Je_rel32_64,
        Cond::Ne => Code::Jne_rel32_64,
        Cond::Lt => Code::Jl_rel32_64,
        Cond::Ge => Code::Jge_rel32_64,
        Cond::Le => Code::Jle_rel32_64,
        Cond::Gt => Code::Jg_rel32_64,
    }
}

/// The code of an instruction with these operands.
fn code_of(isa: &Isa, op: Op, operands: &[Operand]) -> Result<Code, String> {
    let (first, index) = match ROWS[op as usize].codes {
        Codes::One(code) => return Ok(code),
        Codes::Imm(short, long) => {
            let imm = operands.iter().find_map(|o| if let Operand::Imm(i) = o { Some(*i) } else { None }).unwrap_or(0);
            let fits = if op == Op::MovImm { u32::try_from(imm).is_ok() } else { i8::try_from(imm).is_ok() };
            return Ok(if fits { short } else { long });
        }
        Codes::Wide { vex, evex, narrowest } => {
            let widths = operands.iter().filter_map(|o| if let Operand::Simd(r) = o { Some(r.width) } else { None });
            let width = widths.max().ok_or("no vector operand")?.max(narrowest);
            let index = width as usize - narrowest as usize;
            match (isa.avx512, vex, evex) {
                (true, _, Some(code)) => (code, index),
                (false, Some(code), _) if width < Width::W512 => (code, index),
                (true, ..) => return Err("not encoded with AVX-512".into()),
                (false, ..) => return Err("needs AVX-512".into()),
            }
        }
    };
    let scalar = matches!(op, Op::Load32 | Op::Store32 | Op::Load64 | Op::Store64);
    Code::try_from(first as usize + if scalar { 0 } else { index }).map_err(|e| e.to_string())
}

fn build(isa: &Isa, op: Op, operands: &[Operand], masking: Masking, at: u64) -> Result<Instruction, String> {
    if op.is_tile() && !isa.amx {
        return Err("needs AMX".into());
    }
    if op.is_half() && !isa.fp16 {
        return Err("needs AVX512-FP16".into());
    }
    let code = code_of(isa, op, operands)?;
    let mut i = Instruction::default();
    i.set_code(code);
    if i.op_count() as usize != operands.len() {
        return Err(format!("takes {} operands", i.op_count()));
    }
    let splat = operands.iter().any(|o| matches!(o, Operand::Splat(_)));
    let evex = isa.avx512 && matches!(ROWS[op as usize].codes, Codes::Wide { .. });
    if (splat || masking != Masking::None) && !evex {
        return Err("masks and repeated numbers need AVX-512".into());
    }
    if matches!(masking, Masking::Zero(_)) && !matches!(operands, [Operand::Simd(_), ..]) {
        return Err("only vector registers are zeroed where masked".into());
    }
    for (n, operand) in operands.iter().enumerate() {
        let n = n as u32;
        match *operand {
            Operand::Int(r) => i.set_op_register(n, gpr(r, int_bits(op, n, code))),
            Operand::Simd(r) => i.set_op_register(n, simd(r)?),
            Operand::Mask(Mask(k)) => i.set_op_register(n, numbered(Register::K0, k, 8)?),
            Operand::Tile(t) => i.set_op_register(n, numbered(Register::TMM0, t, 8)?),
            Operand::Mem(mem) => memory(&mut i, n, mem, at)?,
            Operand::Splat(mem) => {
                memory(&mut i, n, mem, at)?;
                i.set_is_broadcast(true);
            }
            Operand::Imm(imm) => immediate(&mut i, n, code, imm)?,
        }
    }
    if let Masking::Merge(Mask(k)) | Masking::Zero(Mask(k)) = masking {
        i.set_op_mask(numbered(Register::K0, k, 8)?);
        i.set_zeroing_masking(matches!(masking, Masking::Zero(_)));
    }
    Ok(i)
}

/// Number of bits of a general register that operand `n` is.
fn int_bits(op: Op, n: u32, code: Code) -> u32 {
    match op {
        Op::Mov32 | Op::KFromInt16 | Op::KFromInt32 | Op::IntFromK16 | Op::BroadcastInt | Op::Load32 | Op::Store32 | Op::SignBits => 32,
        Op::MovU8 if n == 1 => 8,
        Op::MovU16 if n == 1 => 16,
        Op::MovU8 | Op::MovU16 => 32,
        Op::MovI32 if n == 1 => 32,
        Op::MovStore8 => 8,
        Op::MovStore16 => 16,
        Op::MovImm if code == Code::Mov_r32_imm32 => 32,
        _ => 64,
    }
}

fn numbered(first: Register, number: u8, count: u8) -> Result<Register, String> {
    if number >= count {
        return Err(format!("no register {number}"));
    }
    Register::try_from(first as usize + usize::from(number)).map_err(|e| e.to_string())
}

fn gpr(r: Gpr, bits: u32) -> Register {
    match bits {
        // The encoder's list has the old upper halves after the first four.
        8 if (r as u32) < 4 => Register::AL + r as u32,
        8 => Register::SPL + (r as u32 - 4),
        16 => Register::AX + r as u32,
        32 => Register::EAX + r as u32,
        _ => Register::RAX + r as u32,
    }
}

fn simd(r: Simd) -> Result<Register, String> {
    let first = match r.width {
        Width::W128 => Register::XMM0,
        Width::W256 => Register::YMM0,
        Width::W512 => Register::ZMM0,
    };
    numbered(first, r.index, 32)
}

fn memory(i: &mut Instruction, n: u32, mem: Mem, at: u64) -> Result<(), String> {
    i.set_op_kind(n, OpKind::Memory);
    match mem {
        Mem::At { base, index, disp } => {
            i.set_memory_base(gpr(base, 64));
            if let Some((index, scale)) = index {
                if index == Gpr::Rsp || !matches!(scale, 1 | 2 | 4 | 8) {
                    return Err(format!("no index {index:?} * {scale}"));
                }
                i.set_memory_index(gpr(index, 64));
                i.set_memory_index_scale(u32::from(scale));
            }
            i.set_memory_displ_size(u32::from(disp != 0));
            i.set_memory_displacement64(i64::from(disp) as u64);
        }
        Mem::Const(_) => {
            i.set_memory_base(Register::RIP);
            i.set_memory_displ_size(8);
            i.set_memory_displacement64(at);
        }
    }
    Ok(())
}

fn immediate(i: &mut Instruction, n: u32, code: Code, imm: i64) -> Result<(), String> {
    let kind = match code {
        Code::Mov_r64_imm64 => OpKind::Immediate64,
        Code::Mov_r32_imm32 => OpKind::Immediate32,
        Code::Add_rm64_imm8 | Code::Sub_rm64_imm8 | Code::And_rm64_imm8 | Code::Cmp_rm64_imm8 => OpKind::Immediate8to64,
        Code::Add_rm64_imm32 | Code::Sub_rm64_imm32 | Code::And_rm64_imm32 | Code::Cmp_rm64_imm32 => OpKind::Immediate32to64,
        _ => OpKind::Immediate8,
    };
    i.set_op_kind(n, kind);
    let fits = match kind {
        OpKind::Immediate8 => u8::try_from(imm).map(|v| i.set_immediate8(v)).is_ok(),
        OpKind::Immediate8to64 => i8::try_from(imm).map(|v| i.set_immediate8to64(i64::from(v))).is_ok(),
        OpKind::Immediate32 => u32::try_from(imm).map(|v| i.set_immediate32(v)).is_ok(),
        OpKind::Immediate32to64 => i32::try_from(imm).map(|v| i.set_immediate32to64(i64::from(v))).is_ok(),
        _ => {
            i.set_immediate64(imm as u64);
            true
        }
    };
    if fits { Ok(()) } else { Err(format!("{imm} does not fit")) }
}
