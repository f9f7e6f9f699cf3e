//! Transposition, and interleaving of rows into words, in generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written, reach};
use super::multiversion::Simd;
use super::scratch::lend;
use crate::target;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::interleave::{Args as InterleaveArgs, Interleave};
use oxidnn_jit::kernels::transpose::{Args, Factor, Factors as Kinds, Transpose, UNCHANGED};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::{Buf, fork};
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::OnceLock;

/// Bytes of a word, and of a factor.
const WORD: usize = 4;

/// The kernel, which works in squares with as many rows as a vector has lanes.
#[derive(Clone, Debug)]
pub struct RegisterTranspose {
    entry: Entry<Args>,
    kernel: Transpose,
    lanes: usize,
    /// Whether the last squares of a matrix overlap the ones before them: without AVX-512, whose masks cost less than to move elements twice.
    overlaps: bool,
}

/// A matrix in memory.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The memory.
    pub buf: Buf<'a>,
    /// Byte offset of its first element.
    pub at: usize,
    /// Bytes from a row to the next.
    pub row: usize,
}

impl Matrix<'_> {
    /// The bytes that `rows` rows of `bytes` bytes reach; 0 without rows.
    fn reach(&self, rows: usize, bytes: usize) -> Option<usize> {
        if rows == 0 { Some(0) } else { reach(&[(rows, self.row)], bytes) }
    }
}

/// The factors of each step of arithmetic: memory, and the index of the first factor.
pub type Factors<'a> = [(Buf<'a>, usize); UNCHANGED.len()];

/// No factors.
pub fn no_factors<'a>() -> Factors<'a> {
    [(Buf::empty(), 0); UNCHANGED.len()]
}

/// Places of rows or words, `N` offsets each, in bytes from the begin of a call.
#[derive(Debug)]
pub struct Places<const N: usize> {
    places: Vec<[usize; N]>,
    /// The running maximum.
    most: Vec<[usize; N]>,
}

impl<const N: usize> Places<N> {
    /// A table.
    pub fn new(places: Vec<[usize; N]>) -> Places<N> {
        let mut most = places.clone();
        for i in 1..most.len() {
            most[i] = std::array::from_fn(|n| most[i][n].max(most[i - 1][n]));
        }
        Places { places, most }
    }

    /// The maximum of `count` places from one on.
    fn most(&self, first: usize, count: usize) -> [usize; N] {
        if first == 0 {
            return self.most[count - 1];
        }
        self.places[first..first + count].iter().fold([0; N], |most, place| std::array::from_fn(|n| most[n].max(place[n])))
    }
}

/// A matrix to transpose.
#[derive(Clone, Copy, Debug)]
pub struct TransposeOperand<'t> {
    /// The source.
    pub from: Matrix<'t>,
    /// Its rows.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
    /// The destination, whose rows are the source's columns.
    pub to: Matrix<'t>,
    /// Elements of the destination's rows that are written, at least the source's: zeros behind those.
    pub written: usize,
    /// For kernels with a table: the places of the destination's rows, from one of the table on.
    pub places: Option<(&'t Places<1>, usize)>,
    /// The factors of elements.
    pub factors: Factors<'t>,
}

impl RegisterTranspose {
    /// The kernel for words.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa) -> Result<RegisterTranspose, Error> {
        RegisterTranspose::of(isa, Transpose::WORDS)
    }

    /// The kernel that transposes as `kernel` says.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn of(isa: Isa, kernel: Transpose) -> Result<RegisterTranspose, Error> {
        Ok(RegisterTranspose { entry: code::get(isa, &kernel)?, kernel, lanes: isa.width().lanes(), overlaps: !isa.avx512 })
    }

    /// Writes `rows` by `columns` words of `from` to `to`, transposed. Fastest if one of the numbers is a multiple of the lanes and the
    /// other is large.
    ///
    /// # Panics
    /// If an element is outside its memory.
    pub fn run(&self, from: Matrix, to: Matrix, rows: usize, columns: usize) {
        self.turn(&TransposeOperand { from, rows, columns, to, written: rows, places: None, factors: no_factors() });
    }

    /// Writes `rows` by `columns` words from memory to `to`, of as many elements, transposed.
    ///
    /// # Panics
    /// If an element is outside its memory.
    pub fn run_to(&self, from: Matrix, to: &mut [f32], rows: usize, columns: usize) {
        self.run(from, Matrix { buf: lend(to), at: 0, row: rows * WORD }, rows, columns);
    }

    /// Writes the `rows` by `columns` words of `from` to `to`, transposed.
    ///
    /// # Panics
    /// If either has fewer elements.
    pub fn exchange(&self, from: &[f32], to: &mut [f32], rows: usize, columns: usize) {
        self.run_to(lent(from, columns), to, rows, columns);
    }

    /// Writes the `rows` by `columns` words of `from` to memory, transposed.
    ///
    /// # Panics
    /// If an element is outside its memory.
    pub fn run_from(&self, from: &[f32], to: Matrix, rows: usize, columns: usize) {
        self.run(lent(from, columns), to, rows, columns);
    }

    /// Transposes the elements of a matrix.
    ///
    /// # Panics
    /// If an element is outside its memory, or a kernel with a table gets none.
    pub fn turn(&self, t: &TransposeOperand<'_>) {
        let sizes = [self.kernel.from, self.kernel.to].map(|e| e.bytes());
        let TransposeOperand { from, rows, columns, to, written, .. } = *t;
        if written == 0 || columns == 0 {
            return;
        }
        let reached = match t.places {
            Some((places, first)) => reach(&[], written * sizes[1]).and_then(|row| row.checked_add(places.most[first + columns - 1][0])),
            None => to.reach(columns, written * sizes[1]),
        };
        assert!(rows <= written && (!self.kernel.placed || t.places.is_some()), "{rows} rows as {written} by {columns} numbers");
        let source =
            if rows == 0 { std::ptr::null() } else { Read::from(from.buf).at("source", from.at, from.reach(rows, columns * sizes[0])) };
        let corners = Corners {
            from: source,
            to: Written::from(to.buf).at("transposed", to.at, reached),
            factors: factors(self.kernel.factors, t.factors, rows),
        };
        let by_rows = rows < written || written <= columns;
        let (short, long) = if by_rows { (written, columns) } else { (columns, rows) };
        let (lanes, overlaps) = (self.lanes, self.overlaps);
        // The begin of up to a square's elements from one on, moved back so that all of them exist.
        let begin = |first: usize, all: usize| if overlaps && all >= lanes { first.min(all - lanes) } else { first };
        let run = |strip: Strip| {
            let args = self.args(t, &corners, strip);
            // SAFETY: the strip is a part of the matrices, which were checked as a whole.
            unsafe { self.entry.call(&args) }
        };
        // A partial square of few columns has few stores.
        let split = overlaps && long > lanes && 2 * (long % lanes) > lanes;
        // Two vectors of which the second is zeros are written together.
        let padded = overlaps && self.kernel.factors == UNCHANGED && by_rows && rows < lanes && written == 2 * lanes && long >= lanes;
        let split = split || padded && !long.is_multiple_of(lanes);
        for first in (0..short).step_by(if padded { written } else { lanes }) {
            let (first, last) = (begin(first, short), padded || first + lanes >= short);
            let strip = Strip { by_rows, first, count: lanes.min(short - first), along: 0..long, last, padded };
            if !split || strip.count < lanes {
                run(strip);
            } else {
                run(Strip { along: 0..long / lanes * lanes, ..strip.clone() });
                run(Strip { along: long - lanes..long, ..strip });
            }
        }
    }

    /// The arguments for a strip. The next one, if any, is prefetched.
    fn args(
        &self,
        t: &TransposeOperand<'_>,
        corners: &Corners,
        Strip { by_rows, first, count, along, last, padded: behind }: Strip,
    ) -> Args {
        let (lanes, sizes) = (self.lanes, [self.kernel.from, self.kernel.to].map(|e| e.bytes()));
        let (corner, rows, columns, written) = if by_rows {
            ([first, along.start], t.rows.saturating_sub(first).min(count), along.len(), count)
        } else {
            ([along.start, first], along.len(), count, along.len())
        };
        let to_row = if t.places.is_some() { 0 } else { t.to.row };
        let offset = |[row, column]: [usize; 2], step: usize, size: usize| row * step + column * size;
        // Missing rows are not read, wherever they would be.
        let from = if rows == 0 { 0 } else { offset(corner, t.from.row, sizes[0]) };
        let long = along.len();
        let padded = self.overlaps && self.kernel.factors == UNCHANGED;
        let full = if count == lanes && (!by_rows || rows == lanes || padded) { long / lanes } else { 0 };
        let left = long - full * lanes;
        let (from_step, to_step) = if by_rows { (sizes[0], to_row) } else { (t.from.row, sizes[1]) };
        let (from_next, to_next) = if by_rows { (t.from.row, sizes[1]) } else { (sizes[0], to_row) };
        let distance = if last { 0 } else { lanes };
        let same = |i: usize| self.kernel.factors[i] == Factor::Same;
        let factor = |i: usize| {
            let skipped = if same(i) || rows == 0 { 0 } else { corner[0] * WORD };
            corners.factors[i].wrapping_add(skipped).cast()
        };
        Args {
            from: corners.from.wrapping_add(from),
            from_row: t.from.row,
            from_square: lanes * from_step,
            to: corners.to.wrapping_add(offset([corner[1], corner[0]], to_row, sizes[1])),
            to_row,
            to_square: lanes * to_step,
            from_ahead: distance * from_next,
            to_ahead: distance * to_next,
            full,
            partial: left.div_ceil(lanes),
            rows: if by_rows { rows } else { left },
            fewer_rows: if by_rows { 0 } else { lanes },
            columns: if by_rows { left } else { columns },
            fewer_columns: if by_rows { lanes } else { 0 },
            written: if by_rows { written } else { left },
            factors: std::array::from_fn(factor),
            factor_square: if by_rows { 0 } else { lanes * WORD },
            places: t.places.map_or(std::ptr::null(), |(p, first)| p.places[first + corner[1]..].as_ptr().cast()),
            places_square: if by_rows { lanes * size_of::<usize>() } else { 0 },
            present: if by_rows { rows } else { lanes },
            behind: usize::from(behind),
        }
    }
}

/// Elements in rows of `columns` as a matrix that is read.
fn lent(from: &[f32], columns: usize) -> Matrix<'_> {
    read(bytemuck::cast_slice(from), columns * WORD)
}

/// Rows at a stride in bytes as a matrix that is read.
fn read(from: &[u8], row: usize) -> Matrix<'_> {
    // SAFETY: the bytes are borrowed as long as the memory, and nothing is written to them.
    let buf = unsafe { Buf::new(from.as_ptr().cast_mut(), from.len()) };
    Matrix { buf, at: 0, row }
}

/// Lines of elements to be transposed in any memory.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'a> {
    /// Memory, from the first line on; it need not be aligned.
    pub bytes: &'a [u8],
    /// Bytes from a line to the next.
    pub step: usize,
    /// Number of lines.
    pub lines: usize,
    /// Elements of a line.
    pub count: usize,
}

/// Writes element `i` of line `j`, of `SIZE` bytes, 2 or 4, to element `i * width + j` of `to`, and zeros behind the last line up to
/// `width`; one by one without generated code.
///
/// # Panics
/// When a line is not there, or `to` does not have `count * width` elements.
pub fn elements<const SIZE: usize>(simd: Simd, from: &Lines<'_>, to: &mut [u8], width: usize) {
    static KERNELS: [OnceLock<Option<RegisterTranspose>>; 4] = [const { OnceLock::new() }; 4];
    let (Lines { bytes, step, lines, count }, halves) = (*from, SIZE == 2);
    let isa = match simd.isa() {
        target::Isa::Avx512 => Some(Isa::AVX512),
        target::Isa::Avx2 => Some(Isa::AVX2),
        target::Isa::Baseline => None,
    };
    let kernel = isa.and_then(|isa| {
        let elem = if halves { Elem::Low16 } else { Elem::F32 };
        let new = || RegisterTranspose::of(isa, Transpose { from: elem, to: elem, ..Transpose::WORDS }).ok();
        let made = || if code::refusal().is_none() { new() } else { None };
        fork::once(&KERNELS[usize::from(isa.avx512) + 2 * usize::from(halves)], made).as_ref()
    });
    if let Some(squares) = kernel {
        // SAFETY: the bytes are exclusively borrowed as long as the memory.
        let buf = unsafe { Buf::new(to.as_mut_ptr(), to.len()) };
        let (from, to) = (read(bytes, step), Matrix { buf, at: 0, row: width * SIZE });
        return squares.turn(&TransposeOperand {
            from,
            rows: lines,
            columns: count,
            to,
            written: width,
            places: None,
            factors: no_factors(),
        });
    }
    for (i, line) in to.as_chunks_mut::<SIZE>().0.chunks_exact_mut(width).enumerate().take(count) {
        for (j, element) in line.iter_mut().enumerate() {
            *element = if j < lines { bytes[j * step + SIZE * i..].first_chunk().copied().unwrap_or([0; SIZE]) } else { [0; SIZE] };
        }
    }
}

/// At most a square's rows (or columns) of a matrix, from one on, and a range of its columns (or rows).
#[derive(Clone)]
struct Strip {
    by_rows: bool,
    first: usize,
    count: usize,
    along: Range<usize>,
    last: bool,
    /// Whether as many zeros follow each square in the destination.
    padded: bool,
}

/// The first elements of matrices and factors.
struct Corners {
    from: *const u8,
    to: *mut u8,
    factors: [*const u8; UNCHANGED.len()],
}

/// The addresses of the factors of `count` rows or columns.
///
/// # Panics
/// If they are not inside their memory.
fn factors(kinds: Kinds, factors: Factors, count: usize) -> [*const u8; UNCHANGED.len()] {
    std::array::from_fn(|i| {
        let ((buf, first), kind) = (factors[i], kinds[i]);
        let numbers = match kind {
            Factor::None => return std::ptr::null(),
            Factor::Same => 1,
            Factor::ByRow => count,
        };
        Read::from(buf).at("factors", first.saturating_mul(WORD), numbers.checked_mul(WORD))
    })
}

/// The kernel that interleaves rows.
#[derive(Clone, Debug)]
pub struct Interleaver {
    entry: Entry<InterleaveArgs>,
    kernel: Interleave,
    lanes: usize,
}

/// Rows to interleave.
#[derive(Clone, Copy, Debug)]
pub struct Interleaved<'w> {
    /// The first row of a group at place 0, and the stride of its rows.
    pub from: Matrix<'w>,
    /// Rows that exist.
    pub rows: usize,
    /// Columns that exist.
    pub columns: usize,
    /// The memory of the words, and the byte offset of place 0.
    pub to: (Buf<'w>, usize),
    /// Words that are written: zeros where there is no column.
    pub written: usize,
    /// The places of rows and words, the first group, and number of groups.
    pub groups: (&'w Places<2>, usize, usize),
    /// The factors of elements.
    pub factors: Factors<'w>,
    /// The sums to which columns are added: memory, and the index of the first column's 32-bit sum.
    pub sums: Option<(Buf<'w>, usize)>,
}

impl Interleaver {
    /// The kernel.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, kernel: Interleave) -> Result<Interleaver, Error> {
        let kernel = kernel.shared();
        Ok(Interleaver { entry: code::get(isa, &kernel)?, kernel, lanes: isa.width().lanes() })
    }

    /// Rows that are interleaved in a word.
    pub fn rows(&self) -> usize {
        self.kernel.rows()
    }

    /// Interleaves.
    ///
    /// # Panics
    /// If an element is outside its memory.
    pub fn interleave(&self, w: &Interleaved<'_>) {
        let (Interleaved { from, rows, columns, to, written, .. }, (places, first, count)) = (*w, w.groups);
        if count == 0 || written == 0 {
            return;
        }
        let size = self.kernel.from.bytes();
        let most = places.most(first, count);
        assert!(rows <= self.kernel.rows() && columns <= written, "{rows} rows of {columns} columns as {written} words");
        let nothing = rows == 0 || columns == 0;
        let read = from.reach(rows, columns * size).and_then(|bytes| bytes.checked_add(most[0]));
        let source = if nothing { std::ptr::null() } else { Read::from(from.buf).at("source", from.at, read) };
        let words = written.checked_mul(WORD);
        let interleaved = Written::from(to.0).at("words", to.1, words.and_then(|words| words.checked_add(most[1])));
        let sums = match w.sums {
            Some((buf, first)) if self.kernel.summed => Written::from(buf).at("sums", first.saturating_mul(WORD), words),
            None if self.kernel.summed => panic!("no sums for columns"),
            _ => std::ptr::null_mut(),
        };
        let vectors = if rows == 0 { 0 } else { columns / self.lanes };
        let factors = factors(self.kernel.factors, w.factors, columns).map(<*const u8>::cast);
        let all = InterleaveArgs {
            from: source,
            row: from.row,
            rows,
            to: interleaved,
            places: places.places[first..first + count].as_ptr(),
            groups: count,
            vectors,
            left: if rows == 0 { 0 } else { columns % self.lanes },
            written: (written - vectors * self.lanes).min(self.lanes),
            factors,
            sums: sums.cast(),
        };
        // SAFETY: all rows, words, factors and sums are inside their memory, which was checked.
        unsafe { self.entry.call(&all) }
        for done in (vectors * self.lanes..written).step_by(self.lanes).skip(1) {
            let to = all.to.wrapping_add(done * WORD);
            let zeros = InterleaveArgs { to, rows: 0, vectors: 0, left: 0, written: (written - done).min(self.lanes), ..all };
            // SAFETY: as above; nothing is read.
            unsafe { self.entry.call(&zeros) }
        }
    }
}
