//! Sparse tensors: CSR and COO by their stored entries, packed ones by position.

use crate::dot::TILE;
use crate::view::Cells;
use crate::{Args, for_each_position};
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
pub(crate) struct Entries<'a> {
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
    pub(crate) fn of(args: &'a dyn Args, arg: Arg, tensor: &Tensor) -> Result<Option<Entries<'a>>, Error> {
        let Format::Sparse(encoding @ (Sparse::Csr { .. } | Sparse::Coo { .. })) = &args.tensor(arg).unwrap_or(tensor).layout.format else {
            return Ok(None);
        };
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
            _ => (index(2, nnz)?, Rows::Indices(index(1, nnz)?)),
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

    fn for_each(&self, mut f: impl FnMut(i64, i64, f64)) {
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
    pub(crate) fn as_left(
        &self,
        size: [i64; 2],
        scratch: &mut [f64],
        right: &mut dyn FnMut(i64, i64) -> f64,
        out: impl FnMut(i64, i64, &mut [f64]),
    ) {
        tiles(size, scratch, out, |[m0, n0], [height, width], sums| {
            self.for_each(|m, k, v| {
                if (m0..m0 + height).contains(&m) {
                    for n in 0..width {
                        sums[((m - m0) * width + n) as usize] += v * right(k, n0 + n);
                    }
                }
            });
        });
    }

    /// The product with these entries as right operand.
    pub(crate) fn as_right(
        &self,
        size: [i64; 2],
        scratch: &mut [f64],
        left: &mut dyn FnMut(i64, i64) -> f64,
        out: impl FnMut(i64, i64, &mut [f64]),
    ) {
        tiles(size, scratch, out, |[m0, n0], [height, width], sums| {
            self.for_each(|k, n, v| {
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
pub(crate) struct PackedSparse<'a> {
    values: Cells<'a>,
    bits: Cells<'a>,
    starts: Cells<'a>,
    /// Lengths of `bits` and `starts`.
    bytes: i64,
    blocks: i64,
    nnz: i64,
    blocking: &'a Blocking,
    dims: &'a Dims,
}

impl<'a> PackedSparse<'a> {
    pub(crate) fn of(args: &'a dyn Args, arg: Arg) -> Result<PackedSparse<'a>, Error> {
        let wrong = || Error::arg(arg, "a packed layout that nothing has chosen", "the layout that a reorder made");
        let tensor = args.tensor(arg).ok_or_else(|| Error::arg(arg, "nothing", "a tensor"))?;
        let Format::Sparse(Sparse::Packed { nnz, blocking }) = &tensor.layout.format else { return Err(wrong()) };
        let blocking = blocking.as_deref().ok_or_else(wrong)?;
        let bytes = |i| tensor.buffer_bytes(i).and_then(|b| i64::try_from(b).ok()).unwrap_or(i64::MAX);
        let (bytes, blocks) = (bytes(1), bytes(2) / 8);
        Ok(PackedSparse {
            values: buffer(args, arg, 0, tensor.dtype, *nnz)?,
            bits: buffer(args, arg, 1, DataType::U8, bytes)?,
            starts: buffer(args, arg, 2, DataType::S64, blocks)?,
            bytes,
            blocks,
            nnz: *nnz,
            blocking,
            dims: tensor.dims(),
        })
    }

    pub(crate) fn dims(&self) -> &'a Dims {
        self.dims
    }

    pub(crate) fn get(&self, pos: &[i64]) -> f64 {
        let offset = self.offset(pos);
        if self.has(offset) { self.values.load(self.rank(offset)) } else { 0.0 }
    }

    /// Stores the numbers that `value` answers, already of the tensor's type; zeros are left out.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for `arg` when they are more than the tensor has room for.
    pub(crate) fn pack(&self, arg: Arg, value: impl Fn(&[i64]) -> f64) -> Result<(), Error> {
        let mut count = 0;
        for_each_position(self.dims, |pos| count += i64::from(value(pos) != 0.0));
        if count > self.nnz {
            return Err(Error::arg(arg, format_args!("{count} values that are not zero"), format_args!("at most {}", self.nnz)));
        }
        (0..self.bytes).for_each(|i| self.bits.set_bits(i, 0));
        for_each_position(self.dims, |pos| {
            if value(pos) != 0.0 {
                let offset = self.offset(pos);
                self.bits.set_bits(offset / 8, self.bits.bits(offset / 8) | 1 << (offset % 8));
            }
        });
        let mut start = 0;
        for block in 0..self.blocks {
            self.starts.set_bits(block, start);
            start += self.ones(block * 8, self.bytes.min(block * 8 + 8));
        }
        for_each_position(self.dims, |pos| {
            let v = value(pos);
            if v != 0.0 {
                self.values.store(self.rank(self.offset(pos)), v);
            }
        });
        Ok(())
    }

    fn offset(&self, pos: &[i64]) -> i64 {
        let mut inside = Dims::filled(pos.len(), 0);
        for (d, &p) in pos.iter().enumerate().filter(|&(d, _)| self.dims[d] != 1) {
            inside[d] = p;
        }
        self.blocking.offset_of(&inside)
    }

    fn has(&self, offset: i64) -> bool {
        self.bits.bits(offset / 8) >> (offset % 8) & 1 == 1
    }

    /// Index of the value at `offset`.
    fn rank(&self, offset: i64) -> i64 {
        let (block, byte) = (offset / 64, offset / 8);
        let below = self.bits.bits(byte) & ((1 << (offset % 8)) - 1);
        (self.starts.bits(block) + self.ones(block * 8, byte)) as i64 + i64::from(below.count_ones())
    }

    /// Bits set in a range of bytes.
    fn ones(&self, from: i64, to: i64) -> u64 {
        (from..to).map(|i| u64::from(self.bits.bits(i).count_ones())).sum()
    }
}
