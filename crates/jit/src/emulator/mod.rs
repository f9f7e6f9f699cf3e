//! A processor in software: runs assembled code of any [`Isa`], instruction by instruction, on hosts that lack its instruction sets.
//!
//! What runs is the list of instructions that the assembler recorded, after lowering and register allocation; that the encoded bytes are
//! the same instructions is what the assembler's tests check. A [`Program`] is that list with operands resolved. [`run`] is called in place
//! of the code, with the same block of arguments: it reads and writes the same memory at the same addresses, masked lanes excepted, as
//! the processor would. Tiles and their shapes belong to the thread and outlast a call, as the processor's do.
//!
//! Semantics are those of Intel's Software Developer's Manual, volumes 1 and 2, for the instructions of [`Op`] in their default modes
//! (rounding to nearest, no exceptions taken). Where code would fault (tiles without shapes, an unaligned non-temporal store), it panics.

mod memory;
mod scalar;
#[cfg(test)]
mod tests;
mod tiles;
mod vector;

use crate::asm::{Asked, Assembled, Cond, Gpr, Masking, Mem, Op, Operand, Width};
use crate::isa::Isa;
use std::cell::RefCell;
use tiles::Tiles;
use vector::Vector;

/// Bytes of a program's stack.
const STACK_BYTES: usize = 256 << 10;

/// An instruction with its operands resolved.
#[derive(Clone, Copy, Debug)]
struct Step {
    what: What,
    operands: [Arg; 4],
    masking: Masking,
    /// Bytes of the widest vector operand.
    width: usize,
    /// Whether it is encoded as AVX2 has it.
    is_vex: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Op(Op),
    /// To a step.
    Jump(Cond, usize),
}

/// An operand.
#[derive(Clone, Copy, Debug)]
enum Arg {
    None,
    Int(Gpr),
    Simd(u8),
    Mask(u8),
    Tile(u8),
    Mem(Place),
    /// An element of memory in all lanes.
    Splat(Place),
    Imm(i64),
}

/// A place in memory: `base + index * scale + disp`.
#[derive(Clone, Copy, Debug)]
struct Place {
    base: Option<Gpr>,
    index: Option<(Gpr, u8)>,
    disp: i64,
}

/// Code that the emulator runs.
#[derive(Debug)]
pub struct Program {
    steps: Vec<Step>,
    /// Constants at multiples of the alignment of code; steps have their addresses.
    _constants: Box<[Line]>,
}

/// Memory as code is aligned.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u8; 64]);

impl Program {
    /// The program of code that was [recorded](crate::Asm::recording).
    pub fn new(code: &Assembled, isa: Isa) -> Program {
        let mut constants = vec![Line([0; 64]); code.bytes.len().div_ceil(64)].into_boxed_slice();
        for (line, bytes) in constants.iter_mut().zip(code.bytes.chunks(64)) {
            line.0[..bytes.len()].copy_from_slice(bytes);
        }
        let first = constants.as_ptr() as i64;
        let steps = code.asked.iter().map(|asked| Step { is_vex: !isa.avx512, ..step(code, asked, first) }).collect();
        Program { steps, _constants: constants }
    }

    /// Machine code that calls [`run`] with this program, wherever it lies; the arguments are where its caller has them.
    pub(crate) fn call(&self) -> [u8; 22] {
        let mut code = [0; 22];
        // `mov rsi, program`, `mov rax, run`, `jmp rax`
        code[..2].copy_from_slice(&[0x48, 0xbe]);
        code[2..10].copy_from_slice(&(std::ptr::from_ref(self).expose_provenance() as u64).to_le_bytes());
        code[10..12].copy_from_slice(&[0x48, 0xb8]);
        code[12..20].copy_from_slice(&((run as unsafe extern "C" fn(*const u8, *const Program)) as usize as u64).to_le_bytes());
        code[20..].copy_from_slice(&[0xff, 0xe0]);
        code
    }
}

fn step(code: &Assembled, asked: &Asked, constants: i64) -> Step {
    let place = |mem| match mem {
        Mem::At { base, index, disp } => Place { base: Some(base), index, disp: i64::from(disp) },
        Mem::Const(c) => Place { base: None, index: None, disp: constants + code.constants[c.number()] as i64 },
    };
    let mut operands = [Arg::None; 4];
    let mut width = Width::W128;
    for (to, operand) in operands.iter_mut().zip(&asked.operands) {
        *to = match *operand {
            Operand::Int(r) => Arg::Int(r),
            Operand::Simd(r) => {
                width = width.max(r.width);
                Arg::Simd(r.index)
            }
            Operand::Mask(k) => Arg::Mask(k.0),
            Operand::Tile(t) => Arg::Tile(t),
            Operand::Mem(mem) => Arg::Mem(place(mem)),
            Operand::Splat(mem) => Arg::Splat(place(mem)),
            Operand::Imm(i) => Arg::Imm(i),
        };
    }
    let target = |offset| code.asked.partition_point(|a| a.offset < offset);
    let what = match (asked.op, asked.jump) {
        (Some(op), _) => What::Op(op),
        (None, Some((cond, offset))) => What::Jump(cond, target(offset)),
        (None, None) => unreachable!("what is no instruction is a jump"),
    };
    Step { what, operands, masking: asked.masking, width: width.bytes(), is_vex: false }
}

/// The registers of a thread.
#[derive(Debug)]
struct Machine {
    ints: [u64; 16],
    /// Of the last comparison or arithmetic on integers: zero, sign, overflow.
    flags: [bool; 3],
    simd: [Vector; 32],
    masks: [u64; 8],
    tiles: Tiles,
    stack: Box<[Line]>,
}

thread_local! {
    static MACHINE: RefCell<Machine> = RefCell::new(Machine {
        ints: [0; 16],
        flags: [false; 3],
        simd: [Vector::ZERO; 32],
        masks: [0; 8],
        tiles: Tiles::default(),
        stack: vec![Line([0; 64]); STACK_BYTES / 64].into_boxed_slice(),
    });
}

/// Runs a program with a block of arguments on the calling thread's machine.
///
/// # Safety
/// As for the code: every pointer in the arguments must be valid for the program's reads and writes.
pub unsafe extern "C" fn run(arguments: *const u8, program: *const Program) {
    // SAFETY: who installed the program keeps it as long as what calls this.
    let program = unsafe { &*program };
    MACHINE.with_borrow_mut(|machine| machine.run(program, arguments as u64));
}

impl Machine {
    fn run(&mut self, program: &Program, arguments: u64) {
        self.ints[Gpr::Rdi as usize] = arguments;
        // As a call leaves it: the return address is at a multiple of 16 bytes less 8.
        self.ints[Gpr::Rsp as usize] = self.stack.as_ptr_range().end as u64 - 8;
        let lowest = self.stack.as_ptr() as u64;
        let mut at = 0;
        loop {
            let step = &program.steps[at];
            at += 1;
            match step.what {
                What::Jump(cond, to) if self.holds(cond) => at = to,
                What::Jump(..) => {}
                What::Op(Op::Ret) => return,
                What::Op(op) => self.step(op, step),
            }
            assert!(self.ints[Gpr::Rsp as usize] >= lowest, "a frame of over {STACK_BYTES} bytes");
        }
    }

    fn step(&mut self, op: Op, step: &Step) {
        match op {
            op if op as usize >= Op::TileConfig as usize => self.tile(op, step),
            op if op as usize >= Op::KFromInt16 as usize => self.scalar(op, step),
            op => self.vector(op, step),
        }
    }

    fn address(&self, place: Place) -> u64 {
        let int = |r: Gpr| self.ints[r as usize];
        let index = place.index.map_or(0, |(r, scale)| int(r).wrapping_mul(u64::from(scale)));
        place.base.map_or(0, int).wrapping_add(index).wrapping_add_signed(place.disp)
    }

    /// The address of an operand in memory.
    fn place(&self, arg: Arg) -> u64 {
        match arg {
            Arg::Mem(place) | Arg::Splat(place) => self.address(place),
            other => unreachable!("{other:?} is no memory"),
        }
    }
}
