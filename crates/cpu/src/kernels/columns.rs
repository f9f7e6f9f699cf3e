//! Work on columns by generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written, reach};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::columns::{Args, BITS, LINES};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

pub use oxidnn_jit::kernels::columns::{Act, Bound, Columns};

/// Bytes of the rows of a call that has several groups: what they share with the next group is still near then.
const NEAR: usize = 32 * 1024;
/// Bytes of a narrow matrix that are asked for before they are read; of a wide one it is the group's columns in the rows of the next call.
const AHEAD: usize = 2 * 1024;

/// Matrices of which the same rows are gone through.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Their number.
    pub count: usize,
    /// Elements from the beginning of one to that of the next.
    pub distance: usize,
}

/// A kernel for matrices of some width.
#[derive(Clone, Debug)]
pub struct Sweep {
    entry: Entry<Args>,
    kernel: Columns,
    width: usize,
    groups: usize,
}

impl Sweep {
    /// The kernel that does `act` on matrices with rows of `width` elements, one behind the other.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, act: Act, elem: Elem, width: usize) -> Result<Sweep, Error> {
        let lanes = isa.width().lanes();
        let masked = !width.is_multiple_of(lanes);
        let most = if masked { 1 } else { Columns::most_vectors(isa, act) };
        let vectors = (1..=most).rev().find(|n| width.is_multiple_of(n * lanes)).unwrap_or(1);
        let kernel = Columns { act, elem, vectors: vectors as u8, masked };
        Ok(Sweep { entry: code::get(isa, &kernel)?, kernel, width, groups: width.div_ceil(vectors * lanes) })
    }

    /// Does it for some rows of so many matrices each, so many elements apart, the first of which begin at these bytes, with sums and other numbers by
    /// column.
    ///
    /// # Panics
    /// When a matrix ends before its rows, rows of bits are not whole vectors, a line before its columns, or there are others than the kernel has.
    pub fn run(&self, matrices: &[(Buf, usize)], (rows, batches): (Range<usize>, Batches), sums: &mut [&mut [f32]], numbers: &[&[f32]]) {
        if rows.is_empty() || batches.count == 0 || self.width == 0 {
            return;
        }
        let (act, row) = (self.kernel.act, self.width * self.kernel.elem.bytes());
        let (of_sums, of_all) = act.lines();
        assert!(sums.len() == of_sums && of_sums + numbers.len() == of_all, "{} sums and {} lines for {act:?}", sums.len(), numbers.len());
        assert!(matrices.len() == act.matrices().len(), "{} matrices for {act:?}", matrices.len());
        assert!(!act.has_bits() || !self.kernel.masked, "bits of {} columns", self.width);
        let row_of = |m: usize| if m == BITS { self.width / 8 } else { row };
        let batch_of = |m: usize| if m == BITS { batches.distance / 8 } else { batches.distance * self.kernel.elem.bytes() };
        let mut first = [std::ptr::null_mut(); BITS + 1];
        for (first, (m, (buf, start))) in first.iter_mut().zip(act.matrices().iter().zip(matrices)) {
            *first = Written::from(*buf).at("matrix", *start, reach(&[(batches.count, batch_of(*m)), (rows.end, row_of(*m))], row_of(*m)));
        }
        let mut args = Args {
            matrices: [std::ptr::null_mut(); BITS + 1],
            row,
            row_of_bits: row_of(BITS),
            rows: 0,
            batches: batches.count,
            batch: batch_of(0),
            batch_of_bits: batch_of(BITS),
            groups: self.groups,
            width: self.width,
            ahead: 0,
            columns: [std::ptr::null_mut(); LINES],
        };
        let line = self.width.checked_mul(size_of::<f32>());
        let sums = sums.iter_mut().map(|s| Written::from(&mut **s).at("sums", 0, line));
        let lines = sums.chain(numbers.iter().map(|n| Read::from(*n).at("line", 0, line).cast_mut()));
        for (to, line) in args.columns.iter_mut().zip(lines) {
            *to = line.cast();
        }
        let each = if self.groups == 1 || batches.count > 1 { rows.len() } else { (NEAR / row).max(4) };
        args.ahead = if batches.count > 1 {
            batch_of(0)
        } else if self.groups == 1 {
            AHEAD
        } else {
            each * row
        };
        for start in rows.clone().step_by(each) {
            args.rows = each.min(rows.end - start);
            for (m, first) in act.matrices().iter().zip(first) {
                args.matrices[*m] = first.wrapping_add(start * row_of(*m));
            }
            // SAFETY: the kernel touches the rows and lines that were asked for, and writes to results, bits and sums alone.
            unsafe { self.entry.call(&args) }
        }
    }
}
