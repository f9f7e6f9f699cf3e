//! Copies of tensors whose batches have different lengths (`kernels/ragged.cu`), which no operation of the specification makes: cuDNN's ragged offsets.

use crate::CudaTarget;
use crate::emit::bare;
use crate::exec::{Launches, Places};
use crate::program::{Program, Word};
use oxidnn_spec::{Arg, Error};

/// A tensor of batches x heads x rows x size whose batches lie one behind the other, and its padded copy.
#[derive(Clone, Copy, Debug)]
pub struct Ragged {
    /// Sizes of the padded copy.
    pub dims: [i64; 4],
    /// Strides of the caller's tensor in elements; batch `b` begins at `offsets[b] * unit`.
    pub strides: [i64; 4],
    /// Elements per unit of the offsets.
    pub unit: i64,
    /// Whether offsets have 64 bits, not 32.
    pub wide: bool,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub bytes: usize,
    /// Whether to pad, not to copy back.
    pub into: bool,
}

impl Ragged {
    /// The launch; it takes its addresses from [`Memories`].
    ///
    /// # Errors
    /// [`Error::Runtime`] if it does not compile or load.
    pub fn load(&self, target: &CudaTarget) -> Result<Launches, Error> {
        let Ragged { dims, strides, unit, wide, bytes, into } = *self;
        let word = ["u8", "u16", "u32", "u64"][bytes.min(8).ilog2() as usize];
        let options = [("WORD", word), ("OFFSET", if wide { "i64" } else { "int" }), ("INTO", if into { "1" } else { "0" })];
        let count = dims.iter().fold(1i64, |n, &d| n.saturating_mul(d));
        let mut words: Vec<Word> = [Arg::SRC, Arg::SRC_1, Arg::DST].map(|arg| Word::Address { arg, buffer: 0 }).into();
        words.extend([unit, count, dims[1], dims[2], dims[3]].into_iter().chain(strides).map(|n| Word::Value(n as u64)));
        let launch = bare("ragged", &options, words, count.min(1 << 30));
        Launches::alone(&Program { launches: vec![launch], ..Program::default() }, target)
    }
}

/// The addresses of the caller's tensor, of the offsets and of the padded copy.
#[derive(Clone, Copy, Debug)]
pub struct Memories(pub [u64; 3]);

impl Places for Memories {
    fn address(&self, arg: Arg, _: usize) -> Option<u64> {
        [Arg::SRC, Arg::SRC_1, Arg::DST].iter().position(|&a| a == arg).map(|i| self.0[i])
    }
    fn host_scalar(&self, _: Arg) -> Option<u64> {
        None
    }
    fn scratch(&self) -> u64 {
        0
    }
}
