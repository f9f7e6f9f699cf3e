//! Transposition of 32-bit numbers by generated code: safe to run, since every address is checked before it is used.

use super::code::{Kernels, Key};
use oxidnn_jit::kernels::transpose::{Args, Transpose};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::sync::OnceLock;

static SQUARES: Kernels<Transpose> = Kernels::new();

impl Key for Transpose {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        Transpose::name(self, isa)
    }

    fn function(&self, isa: Isa) -> Function {
        Transpose::function(self, isa)
    }
}

/// The kernel, which works by squares of as many rows as a vector has lanes.
#[derive(Clone, Debug)]
pub struct Squares {
    entry: Entry<Args>,
    lanes: usize,
}

/// The kernel of a primitive, made when that is prepared.
#[derive(Default, Debug)]
pub struct Prepared(OnceLock<Squares>);

/// A matrix in memory.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// The memory.
    pub buf: Buf,
    /// Byte of its first number.
    pub at: usize,
    /// Bytes from a row to the next.
    pub row: usize,
}

impl Matrix {
    /// The part from a row and a column on.
    fn from(self, [row, column]: [usize; 2]) -> Matrix {
        Matrix { at: self.at + row * self.row + column * 4, ..self }
    }

    /// Whether so many numbers lie in the memory.
    fn holds(&self, rows: usize, columns: usize) -> bool {
        let end = (rows - 1).checked_mul(self.row).and_then(|n| n.checked_add(self.at)?.checked_add(columns.checked_mul(4)?));
        end.is_some_and(|end| end <= self.buf.len())
    }
}

impl Prepared {
    /// Makes it, where it has not been made.
    ///
    /// # Errors
    /// As for [`Squares::get`].
    pub fn prepare(&self, isa: Isa) -> Result<(), Error> {
        if self.0.get().is_none() {
            let _ = self.0.set(Squares::get(isa)?);
        }
        Ok(())
    }

    /// The kernel.
    ///
    /// # Errors
    /// [`Error::Runtime`] before it was prepared.
    pub fn get(&self) -> Result<&Squares, Error> {
        self.0.get().ok_or_else(|| Error::Runtime("squares that were not made".into()))
    }
}

impl Squares {
    /// The kernel.
    ///
    /// # Errors
    /// As for [`Kernels::get`].
    pub fn get(isa: Isa) -> Result<Squares, Error> {
        Ok(Squares { entry: SQUARES.get(isa, &Transpose)?, lanes: isa.width().lanes() })
    }

    /// Writes `rows` by `columns` numbers of `from` to `to` with rows and columns exchanged. Fastest where one of the numbers is a multiple of
    /// the lanes and the other is large.
    ///
    /// # Panics
    /// When a number lies outside its memory.
    pub fn run(&self, from: Matrix, to: Matrix, rows: usize, columns: usize) {
        if rows == 0 || columns == 0 {
            return;
        }
        assert!(from.holds(rows, columns) && to.holds(columns, rows), "{rows} by {columns} numbers from {from:?} to {to:?}");
        let short = rows.min(columns);
        for first in (0..short).step_by(self.lanes) {
            let count = self.lanes.min(short - first);
            let last = first + count == short;
            let args = if rows <= columns {
                self.strip(from.from([first, 0]), to.from([0, first]), [count, columns], last)
            } else {
                self.strip(from.from([0, first]), to.from([first, 0]), [rows, count], last)
            };
            // SAFETY: the strip is a part of the matrices, which were checked; buffers are valid by the promise of `Buf::new`.
            unsafe { self.entry.call(&args) }
        }
    }

    /// The arguments for a matrix one of whose sizes is that of a square at most. Unless it is the last of its kind, the next is asked for.
    fn strip(&self, from: Matrix, to: Matrix, [rows, columns]: [usize; 2], last: bool) -> Args {
        let lanes = self.lanes;
        let along_columns = columns >= rows;
        let (long, short) = if along_columns { (columns, rows) } else { (rows, columns) };
        let full = if short == lanes { long / lanes } else { 0 };
        let left = long - full * lanes;
        let (from_step, to_step) = if along_columns { (4, to.row) } else { (from.row, 4) };
        let (from_next, to_next) = if along_columns { (from.row, 4) } else { (4, to.row) };
        let ahead = if last { 0 } else { lanes };
        Args {
            from: from.buf.as_ptr().wrapping_add(from.at),
            from_row: from.row,
            from_square: lanes * from_step,
            to: to.buf.as_ptr().wrapping_add(to.at),
            to_row: to.row,
            to_square: lanes * to_step,
            from_ahead: ahead * from_next,
            to_ahead: ahead * to_next,
            full,
            partial: left.div_ceil(lanes),
            rows: if along_columns { short } else { left },
            fewer_rows: if along_columns { 0 } else { lanes },
            columns: if along_columns { left } else { short },
            fewer_columns: if along_columns { lanes } else { 0 },
        }
    }
}
