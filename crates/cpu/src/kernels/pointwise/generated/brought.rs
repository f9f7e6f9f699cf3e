//! Operands that a kernel cannot take where they lie: elements that are no neighbours along a row, and types that generated code does not know.
//!
//! Chunk by chunk they are brought into elements of the worker's own, which stay in the first cache, and taken from there. Where neighbours of
//! an operand lie across the rows, a chunk is a tile, which is transposed in registers; whatever else there is goes the way of the interpreted
//! programs.

use super::super::{CHUNK, Chunk, Kind, Memory, OPERANDS};
use super::{Operand, Part, Way};
use crate::kernels::code::elem;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::lend;
use crate::kernels::transpose::{Matrix, Squares, Turned, no_factors};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::transpose::{Transpose, UNCHANGED};
use oxidnn_runtime::Skip;
use oxidnn_spec::Error;

/// Most operands of a kernel that are brought: the registers of an interpreted program are their room.
pub(super) const MOST: usize = super::super::program::REGISTERS;

/// One such operand.
#[derive(Debug)]
pub(super) struct Brought {
    /// Its number in the group.
    pub(super) operand: usize,
    /// The worker's register for it.
    pub(super) register: usize,
    /// One number for each row.
    still: bool,
    /// Whether the kernel reads it, and whether it writes it.
    pub(super) read: bool,
    pub(super) written: bool,
    squares: Option<Transpose>,
}

impl Brought {
    /// Operand `operand` of a group, which goes along a row as `way` says, for the worker's register `register`.
    ///
    /// # Errors
    /// [`Skip`] where there are too many.
    pub(super) fn new(operand: usize, of: &Operand, way: Way, stages: &[Part], register: usize) -> Result<Brought, Skip> {
        if register == MOST {
            return Err(Skip::Attr(format!("more than {MOST} tensors that lie apart along a row")));
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

    /// The code that it needs.
    pub(super) fn build(&self, isa: Isa) -> Result<Option<Squares>, Error> {
        self.squares.map(|kernel| Squares::of(isa, kernel)).transpose()
    }

    /// Brings the elements of a chunk into `numbers`, row by row.
    ///
    /// # Panics
    /// When an element lies outside its buffer.
    pub(super) fn bring(
        &self,
        (simd, squares): (Simd, Option<&Squares>),
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
        squares.turn(&Turned {
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
