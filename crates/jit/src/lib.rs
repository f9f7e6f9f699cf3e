//! Code for x86-64, made at run time: an assembler, a small linear IR on top of it, and memory to run code from. Knows no tensors.
//!
//! - [`asm`]: instructions, labels and constants to bytes, over the encoder of iced-x86, which appears in no signature.
//! - [`arena`]: executable memory that is never writable and executable at one address; code lives as long as its handles.
//! - [`emulator`]: a processor in software, for instruction sets that the host lacks.
//! - [`ir`]: values instead of registers, lowered by instruction set.
//! - [`kernels`]: generators that know addresses and strides, the inner kernel of `dot` before all.
//! - [`Key`]: the key of a kernel, and how its code is written.
//! - [`isa`]: the processor's features, always an argument: code for any processor can be made and tested on any host.
//!
//! Generated code keeps no frames for unwinding and calls nothing: nothing can unwind through it.

pub mod arena;
pub mod asm;
pub mod emulator;
pub mod ir;
pub mod isa;
pub mod kernels;
mod key;
#[cfg(test)]
mod testing;

pub use arena::{Code, CodeArena, CodeError, Entry};
pub use asm::{Asm, AsmError};
pub use ir::{Compiled, Function, IrError};
pub use isa::Isa;
pub use key::Key;
