//! What a plan decides: launches of kernels, each with the words of its arguments.
//!
//! A [`Program`] is plain data made from a problem and a target, on any host. Kernels get one structure of 64-bit words by value; words are known
//! when the program is made, or are addresses of arguments and scratch that an execution has.

use oxidnn_spec::Arg;
use std::sync::Arc;

/// One 64-bit word of a kernel's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// A number.
    Value(u64),
    /// The address of buffer `buffer` of an argument.
    Address {
        /// Whose.
        arg: Arg,
        /// Which buffer; 0 unless it is sparse.
        buffer: usize,
    },
    /// The bits of a number that the caller keeps on the host.
    HostScalar(Arg),
    /// An address so many bytes into the scratch.
    Scratch(usize),
}

/// Source text of a kernel: what its code depends on, and nothing else.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// The file with the kernel, a name of the registry.
    pub file: &'static str,
    /// The generated header `args.cuh`: types, structure of arguments, accessors, formulas.
    pub header: Arc<str>,
}

/// One launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The kernel; its function has the name of the file.
    pub source: Arc<Source>,
    /// Its arguments.
    pub words: Vec<Word>,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: u32,
}

/// The launches of an operation, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Program {
    /// The launches.
    pub launches: Vec<Launch>,
    /// Bytes of scratch that they share.
    pub scratch: usize,
}

/// Alignment of parts of the scratch, in bytes.
const PART: usize = 256;

impl Program {
    /// Books `bytes` of scratch and gives their offset; `None` where the sizes overflow.
    pub fn book(&mut self, bytes: usize) -> Option<usize> {
        let at = self.scratch;
        self.scratch = at.checked_add(bytes)?.checked_next_multiple_of(PART)?;
        Some(at)
    }
}
