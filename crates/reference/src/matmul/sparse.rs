//! Sparse operands of a matmul: CSR and COO by their stored entries, packed ones by position.

use crate::Args;
use crate::dot::TILE;
use crate::view::Cells;
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Error, Format, Sparse, Tensor};

/// Buffer `buffer` of `arg`, with at least `count` elements of `dtype`.
fn buffer<'a>(args: &'a dyn Args, arg: Arg, buffer: usize, dtype: DataType, count: i64) -> Result<Cells<'a>, Error> {
    let need = usize::try_from(count).ok().and_then(|n| dtype.bytes(n)).unwrap_or(usize::MAX);
    match args.data(arg, buffer) {
        Some(data) if data.len() >= need => Ok(Cells::new(dtype, data)),
        Some(data) => Err(Error::arg(arg, format_args!("{} bytes in buffer {buffer}", data.len()), format_args!("{need} bytes"))),
        None => Err(Error::arg(arg, format_args!("no buffer {buffer}"), format_args!("{need} bytes"))),
    }
}

/// The entries `(row, column, value)` of a sparse matrix.
pub(super) struct Entries<'a> {
    values: Cells<'a>,
    columns: Cells<'a>,
    rows: Rows<'a>,
    nnz: i64,
    dims: [i64; 2],
}

enum Rows<'a> {
    /// Where each row's entries begin, and one end more.
    Pointers(Cells<'a>),
    /// The row of each entry.
    Indices(Cells<'a>),
}

impl<'a> Entries<'a> {
    /// The entries of `arg`, where it is CSR or COO.
    pub(super) fn of(args: &'a dyn Args, arg: Arg, tensor: &Tensor) -> Result<Option<Entries<'a>>, Error> {
        let Format::Sparse(encoding) = &args.tensor(arg).unwrap_or(tensor).layout.format else { return Ok(None) };
        let ([rows, columns], nnz) = (
            match **tensor.dims() {
                [r, c] => [r, c],
                _ => return Err(Error::arg(arg, tensor.dims(), "two dimensions")),
            },
            encoding.nnz(),
        );
        let index = |i: usize, count: i64| buffer(args, arg, i, DataType::S32, count);
        let (columns_at, rows_at) = match encoding {
            Sparse::Csr { .. } => (index(1, nnz)?, Rows::Pointers(index(2, rows + 1)?)),
            Sparse::Coo { .. } => (index(2, nnz)?, Rows::Indices(index(1, nnz)?)),
            Sparse::Packed { .. } => return Ok(None),
        };
        let values = buffer(args, arg, 0, tensor.dtype, nnz)?;
        let entries = Entries { values, columns: columns_at, rows: rows_at, nnz, dims: [rows, columns] };
        entries.check(arg)?;
        Ok(Some(entries))
    }

    /// Indices are the caller's data: all must lie inside the matrix, row pointers must ascend.
    fn check(&self, arg: Arg) -> Result<(), Error> {
        let at = |c: &Cells<'_>, i: i64| c.load(i) as i64;
        let good = match &self.rows {
            Rows::Pointers(p) => at(p, 0) == 0 && at(p, self.dims[0]) == self.nnz && (0..self.dims[0]).all(|r| at(p, r) <= at(p, r + 1)),
            Rows::Indices(r) => (0..self.nnz).all(|i| (0..self.dims[0]).contains(&at(r, i))),
        };
        if good && (0..self.nnz).all(|i| (0..self.dims[1]).contains(&at(&self.columns, i))) {
            Ok(())
        } else {
            Err(Error::arg(arg, "indices outside the matrix", "row and column indices within its dimensions"))
        }
    }

    fn each(&self, mut f: impl FnMut(i64, i64, f64)) {
        let at = |c: &Cells<'_>, i: i64| c.load(i) as i64;
        match &self.rows {
            Rows::Pointers(p) => {
                for r in 0..self.dims[0] {
                    for i in at(p, r)..at(p, r + 1) {
                        f(r, at(&self.columns, i), self.values.load(i));
                    }
                }
            }
            Rows::Indices(rows) => {
                for i in 0..self.nnz {
                    f(at(rows, i), at(&self.columns, i), self.values.load(i));
                }
            }
        }
    }

    /// The product with these entries as left operand; `right` answers the elements of the right one, `out` takes rows of at most [`TILE`] sums.
    pub(super) fn from_left(
        &self,
        size: [i64; 2],
        scratch: &mut [f64],
        right: &mut dyn FnMut(i64, i64) -> f64,
        out: impl FnMut(i64, i64, &mut [f64]),
    ) {
        tiles(size, scratch, out, |[m0, n0], [height, width], sums| {
            self.each(|m, k, v| {
                if (m0..m0 + height).contains(&m) {
                    for n in 0..width {
                        sums[((m - m0) * width + n) as usize] += v * right(k, n0 + n);
                    }
                }
            });
        });
    }

    /// The product with these entries as right operand.
    pub(super) fn from_right(
        &self,
        size: [i64; 2],
        scratch: &mut [f64],
        left: &mut dyn FnMut(i64, i64) -> f64,
        out: impl FnMut(i64, i64, &mut [f64]),
    ) {
        tiles(size, scratch, out, |[m0, n0], [height, width], sums| {
            self.each(|k, n, v| {
                if (n0..n0 + width).contains(&n) {
                    for m in 0..height {
                        sums[(m * width + n - n0) as usize] += left(m0 + m, k) * v;
                    }
                }
            });
        });
    }
}

/// Computes a matrix tile by tile: `fill(first, size, sums)` adds to the zeroed sums, `out(m, n, row)` takes the rows.
fn tiles(
    [rows, columns]: [i64; 2],
    scratch: &mut [f64],
    mut out: impl FnMut(i64, i64, &mut [f64]),
    mut fill: impl FnMut([i64; 2], [i64; 2], &mut [f64]),
) {
    for m0 in (0..rows).step_by(TILE) {
        for n0 in (0..columns).step_by(TILE) {
            let (height, width) = ((rows - m0).min(TILE as i64), (columns - n0).min(TILE as i64));
            let sums = &mut scratch[..(height * width) as usize];
            sums.fill(0.0);
            fill([m0, n0], [height, width], sums);
            for (m, row) in (m0..).zip(sums.chunks_exact_mut(width as usize)) {
                out(m, n0, row);
            }
        }
    }
}

/// A tensor of which only the stored values are kept: values in the order of their offsets in a blocked layout, one bit an offset that says
/// whether there is one, and for every 64 offsets the number of values before them (s64).
pub(super) struct PackedSparse<'a> {
    values: Cells<'a>,
    bits: Cells<'a>,
    starts: Cells<'a>,
    blocking: &'a Blocking,
    dims: &'a Dims,
}

impl<'a> PackedSparse<'a> {
    pub(super) fn of(args: &'a dyn Args, arg: Arg) -> Result<PackedSparse<'a>, Error> {
        let wrong = || Error::arg(arg, "a packed layout that nothing has chosen", "the layout that a reorder made");
        let tensor = args.tensor(arg).ok_or_else(|| Error::arg(arg, "nothing", "a tensor"))?;
        let Format::Sparse(Sparse::Packed { nnz, blocking }) = &tensor.layout.format else { return Err(wrong()) };
        let blocking = blocking.as_ref().as_ref().ok_or_else(wrong)?;
        let bytes = |i| tensor.buffer_bytes(i).and_then(|b| i64::try_from(b).ok()).unwrap_or(i64::MAX);
        Ok(PackedSparse {
            values: buffer(args, arg, 0, tensor.dtype, *nnz)?,
            bits: buffer(args, arg, 1, DataType::U8, bytes(1))?,
            starts: buffer(args, arg, 2, DataType::S64, bytes(2) / 8)?,
            blocking,
            dims: tensor.dims(),
        })
    }

    pub(super) fn dims(&self) -> &'a Dims {
        self.dims
    }

    pub(super) fn get(&self, pos: &[i64]) -> f64 {
        let mut inside = Dims::filled(pos.len(), 0);
        for (d, &p) in pos.iter().enumerate().filter(|&(d, _)| self.dims[d] != 1) {
            inside[d] = p;
        }
        let offset = self.blocking.offset_of(&inside);
        let byte = |i: i64| self.bits.bits(i) as u8;
        if byte(offset / 8) >> (offset % 8) & 1 == 0 {
            return 0.0;
        }
        let whole: u32 = (offset / 64 * 8..offset / 8).map(|i| byte(i).count_ones()).sum();
        let rest = (u32::from(byte(offset / 8)) & ((1 << (offset % 8)) - 1)).count_ones();
        self.values.load(self.starts.bits(offset / 64) as i64 + i64::from(whole + rest))
    }
}
