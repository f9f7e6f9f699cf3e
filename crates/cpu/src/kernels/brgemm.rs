//! `Brgemm`: a batch-reduce product on the calling thread, around which programs build their own loops.
//!
//! `C[m x n] (+)= sum over pairs of A[m x k] * B[k x n]`, with any strides of rows. It is [`Microkernel`]s side by side; the pairs are the taps of
//! their strips.

use super::microkernel::{
    AddressList, DotType, InitialSums, LineStride, MOST_ROWS, Microkernel, MicrokernelCall, MicrokernelKey, Panels, Stride, TileStrip,
    max_rows, max_vectors,
};
pub use oxidnn_jit::Isa;
use oxidnn_runtime::{Allocation, Buf};
use oxidnn_spec::Error;

#[cfg(test)]
mod tests;

/// Sizes and strides, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Types. `B` has [`DotType::vnni`] elements of K interleaved for every column, zero-padded to the last whole group.
    pub product: DotType,
    /// Rows of `A` and `C`.
    pub m: usize,
    /// Columns of `B` and `C`.
    pub n: usize,
    /// Columns of `A` and rows of `B`.
    pub k: usize,
    /// From one row of `A` to the next.
    pub lda: usize,
    /// Columns from one group of rows of `B` to the next.
    pub ldb: usize,
    /// From one row of `C` to the next.
    pub ldc: usize,
    /// Whether sums are added to `C`.
    pub add: bool,
}

/// The kernels for a shape, ready to run.
#[derive(Debug)]
pub struct Brgemm {
    shape: Shape,
    bands: Vec<Band>,
    strips: Vec<Rows>,
    /// For signed bytes.
    zeros: Option<Zeros>,
}

/// Neighbouring columns of one tile.
#[derive(Debug)]
struct Band {
    column: usize,
    columns: usize,
    /// Columns of the last vector.
    last: usize,
}

/// Rows of tiles of one height: the first row, number of tiles, and the kernel of each band.
#[derive(Debug)]
struct Rows {
    first: usize,
    height: usize,
    tiles: usize,
    kernels: Vec<Microkernel>,
}

/// A row of `A` that is zero: its sums, by the kernels of each band, are the excess of sums of signed bytes.
#[derive(Debug)]
struct Zeros {
    row: Allocation,
    kernels: Vec<Microkernel>,
}

/// Most columns of a band.
const MAX_BAND_COLUMNS: usize = 64;
/// Words of a list up to which no allocation is needed.
const STACK_LIST_WORDS: usize = 256;

impl Shape {
    /// Bytes of an element of `A`.
    fn a_bytes(&self) -> usize {
        4 / self.product.step_depth()
    }

    /// Bytes of a column in a line of `B`.
    fn column_bytes(&self) -> usize {
        self.a_bytes() * self.product.vnni()
    }

    /// Bytes of an `A`, from its first element to the end of its last; `None` on overflow.
    pub fn a_extent(&self) -> Option<usize> {
        let rows = self.lda.checked_mul(self.m.checked_sub(1)?)?;
        rows.checked_add(self.k)?.checked_mul(self.a_bytes())
    }

    /// Bytes of a `B`.
    pub fn b_extent(&self) -> Option<usize> {
        let lines = self.k.div_ceil(self.product.vnni());
        self.ldb.checked_mul(lines.checked_sub(1)?)?.checked_add(self.n)?.checked_mul(self.column_bytes())
    }

    /// Elements of `C`.
    pub fn c_extent(&self) -> Option<usize> {
        self.ldc.checked_mul(self.m.checked_sub(1)?)?.checked_add(self.n)
    }
}

impl Brgemm {
    /// Generates the kernels that do not exist yet.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when a size is 0 or a stride shorter than a row; [`Error::Runtime`] and [`Error::OutOfMemory`] when code
    /// cannot be generated.
    pub fn new(isa: Isa, shape: Shape) -> Result<Brgemm, Error> {
        let Shape { m, n, k, lda, ldb, ldc, .. } = shape;
        for (name, size, least) in [("m", m, 1), ("n", n, 1), ("k", k, 1), ("lda", lda, k), ("ldb", ldb, n), ("ldc", ldc, n)] {
            if size < least {
                return Err(Error::invalid(name, size, format!("at least {least}")));
            }
        }
        if [shape.a_extent(), shape.b_extent(), shape.c_extent()].contains(&None) {
            return Err(Error::invalid("sizes", format!("{m}x{k}:{k}x{n}"), "matrices that fit the address space"));
        }
        let (lanes, whole) = (isa.width().lanes(), max_vectors(isa));
        let rows = max_rows(isa, n.div_ceil(lanes).min(whole)).min(m);
        let wide = whole * lanes;
        let band = |column: usize| {
            let columns = (n - column).min(wide);
            Band { column, columns, last: columns - (columns.div_ceil(lanes) - 1) * lanes }
        };
        let bands: Vec<Band> = (0..n).step_by(wide).map(band).collect();
        let kernels = |rows: usize, start: InitialSums| -> Result<Vec<Microkernel>, Error> {
            let tile = |band: &Band| {
                let (masked, partial) = (band.last < lanes, (k % shape.product.step_depth()) as u8);
                let spec = MicrokernelKey::new(shape.product, rows, band.columns.div_ceil(lanes));
                Microkernel::get(
                    isa,
                    &MicrokernelKey { line: LineStride::Strided, a_step: Stride::Fixed(4), k_tail: partial, start, masked, ..spec },
                )
            };
            bands.iter().map(tile).collect()
        };
        let start = if shape.add { InitialSums::Load } else { InitialSums::Zero };
        let heights = [(0, rows, m / rows), (m / rows * rows, m % rows, 1)].into_iter().filter(|(_, height, _)| *height > 0);
        let strips = heights.map(|(first, height, tiles)| Ok(Rows { first, height, tiles, kernels: kernels(height, start)? }));
        let strips = strips.collect::<Result<_, Error>>()?;
        let zeros = match shape.product {
            DotType::S8S8 => Some(Zeros { row: Allocation::host(k.next_multiple_of(4))?, kernels: kernels(1, InitialSums::Zero)? }),
            _ => None,
        };
        Ok(Brgemm { shape, bands, strips, zeros })
    }

    /// The shape that it was made for.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Computes the product. `pairs` are the byte offsets of each pair's matrices in `a` and `b`; `c` begins with the first sum and holds
    /// f32, or the bits of i32.
    ///
    /// # Panics
    /// If a matrix is not inside its memory.
    pub fn run(&self, a: Buf, b: Buf, pairs: &[[usize; 2]], c: &mut [f32]) {
        let mut stack = [0; STACK_LIST_WORDS];
        let highest = self.strips.iter().map(|s| s.height).max().unwrap_or(1);
        let words = AddressList::words(1, [highest; 2], pairs.len()).unwrap_or(usize::MAX);
        let mut heap = if words > STACK_LIST_WORDS { vec![0; words] } else { Vec::new() };
        let words = if words > STACK_LIST_WORDS { &mut heap[..] } else { &mut stack[..] };
        let zeros = self.zeros.as_ref().and_then(|z| z.row.region().bytes()).unwrap_or(Buf::empty());
        let (on, step) = (Operands { a, b, zeros }, self.shape.lda * self.shape.a_bytes());
        for rows in &self.strips {
            let taps = pairs.iter().map(|pair| (pair[1], a.as_ptr().addr() + rows.first * step + pair[0]));
            let list = list(words, (rows.height, rows.tiles, step), taps);
            for (band, tile) in self.bands.iter().zip(&rows.kernels) {
                self.tile((band, tile), list.strips(), on, &mut c[rows.first * self.shape.ldc + band.column..]);
            }
        }
        if let Some(zeros) = &self.zeros {
            self.correct(zeros, pairs, words, on, c);
        }
    }

    fn tile(&self, (band, tile): (&Band, &Microkernel), strips: &[usize], on: Operands, sums: &mut [f32]) {
        let (shape, bytes) = (&self.shape, self.shape.column_bytes());
        let panels = Panels::one(band.column * bytes);
        let raw = MicrokernelCall::raw(strips, shape.k / shape.product.step_depth(), panels, (sums, shape.ldc));
        tile.run(MicrokernelCall { a: on.a, zeros: on.zeros, b: on.b, b_row: shape.ldb * bytes, last: band.last, ..raw });
    }

    /// Subtracts the excess of sums of signed bytes: the sums that a row of zeros gives.
    fn correct(&self, zeros: &Zeros, pairs: &[[usize; 2]], words: &mut [usize], on: Operands, c: &mut [f32]) {
        let list = list(words, (1, 1, 0), pairs.iter().map(|pair| (pair[1], on.zeros.as_ptr().addr())));
        for (band, tile) in self.bands.iter().zip(&zeros.kernels) {
            let mut surplus = [0.0; MAX_BAND_COLUMNS];
            self.tile((band, tile), list.strips(), on, &mut surplus);
            for row in c.chunks_mut(self.shape.ldc).take(self.shape.m) {
                let sums = &mut row[band.column..band.column + band.columns];
                for (sum, surplus) in sums.iter_mut().zip(&surplus) {
                    *sum = f32::from_bits(sum.to_bits().wrapping_sub(surplus.to_bits()));
                }
            }
        }
    }
}

/// Memory of the operands.
#[derive(Clone, Copy)]
struct Operands<'a> {
    a: Buf<'a>,
    b: Buf<'a>,
    zeros: Buf<'a>,
}

/// A strip of `tiles` tiles of `rows` rows, whose rows of `A` are `step` bytes apart, with taps that give the offsets of `B` and `A`.
fn list(words: &mut [usize], (rows, tiles, step): (usize, usize, usize), taps: impl Iterator<Item = (usize, usize)>) -> AddressList<'_> {
    let mut list = AddressList::new(words, rows);
    list.strip(TileStrip { tiles, sums: 0, a_row: step, c_row: 0, to: (0, &[0; MOST_ROWS]) });
    taps.for_each(|(b, a)| list.tap(b, a, &std::array::from_fn(|i| i * step)));
    list
}
