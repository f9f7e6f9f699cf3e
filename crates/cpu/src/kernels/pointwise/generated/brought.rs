//! Operands that a kernel cannot take in place: elements that are not contiguous along a row, and types that generated code does not have.
//!
//! They are copied chunk by chunk to elements of the worker's own, which stay in L1, and used from there. If an operand is contiguous
//! across the rows, a chunk is a tile, which is transposed in registers; all other operands are converted as interpreted programs do.

use super::super::{CHUNK, Chunk, Kind, Memory, OPERANDS};
use super::{Operand, Part, Way};
use crate::kernels::code::elem;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::lend;
use crate::kernels::transpose::{Matrix, RegisterTranspose, TransposeOperand, no_factors};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::transpose::{Transpose, UNCHANGED};
use oxidnn_runtime::Skip;
use oxidnn_spec::Error;

/// Most such operands of a kernel: they use the registers of an interpreted program.
pub(super) const MAX_OPERANDS: usize = super::super::program::REGISTERS;

/// One such operand.
#[derive(Debug)]
pub(super) struct Brought {
    /// Its index in the group.
    pub(super) operand: usize,
    /// The worker's register for its elements.
    pub(super) register: usize,
    /// Whether there is one number for each row.
    still: bool,
    /// Whether the kernel reads it, and whether it writes it.
    pub(super) read: bool,
    pub(super) written: bool,
    squares: Option<Transpose>,
}

impl Brought {
    /// Operand `operand` of a group, which goes along a row as `way` says, with the worker's register `register`.
    ///
    /// # Errors
    /// [`Skip`] if there are too many.
    pub(super) fn new(operand: usize, of: &Operand, way: Way, stages: &[Part], register: usize) -> Result<Brought, Skip> {
        if register == MAX_OPERANDS {
            return Err(Skip::Attr(format!("more than {MAX_OPERANDS} tensors that lie apart along a row")));
        }
        let known = if let Kind::Number(dtype) = of.kind { elem(dtype) } else { None };
        let squares = known.map(|from| Transpose { from, to: Elem::F32, factors: UNCHANGED, placed: false });
        Ok(Brought {
            operand,
            register,
            still: way == Way::Still,
            read: stages.iter().any(|s| s.loads(operand)),
            written: stages.iter().any(|s| s.writes(operand)),
            squares,
        })
    }

    /// The transposition that it needs, if any.
    pub(super) fn build(&self, isa: Isa) -> Result<Option<RegisterTranspose>, Error> {
        self.squares.map(|kernel| RegisterTranspose::of(isa, kernel)).transpose()
    }

    /// Copies the elements of a chunk to `numbers`, row by row.
    ///
    /// # Panics
    /// If an element is outside its buffer.
    pub(super) fn bring(
        &self,
        (simd, squares): (Simd, Option<&RegisterTranspose>),
        memory: &[Memory<'_>; OPERANDS],
        chunk: &Chunk<'_>,
        numbers: &mut [f32; CHUNK],
    ) {
        let (memory, t) = (memory[self.operand], self.operand);
        let (at, inner, outer) = (chunk.at[t] as usize, chunk.inner[t] as usize, chunk.outer[t] as usize);
        if self.still {
            return memory.read(simd, at, outer, &mut numbers[..chunk.rows]);
        }
        let squares = squares.zip(self.squares).filter(|_| outer == 1 && inner > 1 && chunk.rows > 1);
        let Some((squares, kernel)) = squares else {
            return memory.load(simd, chunk, t, numbers);
        };
        let size = kernel.from.bytes();
        squares.turn(&TransposeOperand {
            from: Matrix { buf: memory.buf, at: at * size, row: inner * size },
            rows: chunk.run,
            columns: chunk.rows,
            to: Matrix { buf: lend(numbers), at: 0, row: 4 * chunk.run },
            written: chunk.run,
            places: None,
            factors: no_factors(),
        });
    }
}
