//! Lines of panels from rows of a matrix with contiguous columns: elements of consecutive K are interleaved (VNNI) in vector registers.
//!
//! All panels get their part of a row before the next row is read, so memory is read in long runs at any stride. One of the few files with
//! unsafe code: it calls code for the instruction sets of a [`Simd`], and loads and stores vectors at places that it has checked.

use super::pack::{PanelLayout, PlainMatrix, Size};
use crate::kernels::multiversion::{Simd, multiversion};
#[cfg(target_arch = "x86_64")]
use crate::target::Isa;

/// Some panels of a matrix. Only the vector code uses its methods for rows and destinations.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
#[derive(Clone, Copy)]
struct Job {
    from: *const u8,
    /// Bytes from a row to the next.
    row: usize,
    depth: usize,
    columns: usize,
    form: PanelLayout,
    to: *mut u8,
    /// Bytes of a panel.
    panel: usize,
}

/// Packs rows and columns of a matrix into panels, one after the other, zero-padded behind the last column and row; says whether there is
/// code for them.
///
/// # Panics
/// When the matrix does not have these rows and columns, or `to` is too short.
pub(super) fn panels(simd: Simd, from: &PlainMatrix<'_>, size: Size, form: PanelLayout, to: &mut [u8]) -> bool {
    let Size { depth, columns } = size;
    if depth == 0 || columns == 0 {
        return true;
    }
    let read = (depth - 1).checked_mul(from.depth).and_then(|n| n.checked_add(columns.checked_mul(form.size)?));
    let (panel, count) = (form.panel(depth), columns.div_ceil(form.width));
    assert!(read.is_some_and(|read| read <= from.bytes.len()), "{depth} rows of {columns} columns in {} bytes", from.bytes.len());
    assert!(panel.checked_mul(count).is_some_and(|n| n <= to.len()), "{count} panels of {panel} bytes in {}", to.len());
    let job = Job { from: from.bytes.as_ptr(), row: from.depth, depth, columns, form, to: to.as_mut_ptr(), panel };
    match (simd.isa(), form.vnni) {
        // SAFETY: a `Simd` of an instruction set exists only where the processor has it; rows and panels have been checked to be inside
        // both slices.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 2) if form.size == 2 && form.width.is_multiple_of(16) => unsafe { x86::halves16(&job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, 4) if form.size == 1 && form.width.is_multiple_of(16) => unsafe { x86::bytes16(&job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 2) if form.size == 2 && form.width.is_multiple_of(8) => unsafe { x86::halves8(&job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx2, 4) if form.size == 1 && form.width.is_multiple_of(8) => unsafe { x86::bytes8(&job) },
        (_, 1) => copy_rows(simd, from.bytes, &job, to),
        _ => return false,
    }
    true
}

/// Rows to prefetch ahead: each is in another page, which hardware prefetchers do not cross.
const PREFETCH_ROWS: usize = 8;
/// The same, if steps have several rows that are this far apart.
#[cfg(target_arch = "x86_64")]
const PREFETCH_STEPS: usize = 4;
#[cfg(target_arch = "x86_64")]
const MIN_FAR_STRIDE_BYTES: usize = 8 << 10;
/// Bytes from the first row to the last of a matrix that is in L1 or L2.
#[cfg(target_arch = "x86_64")]
const MAX_CACHED_MATRIX_BYTES: usize = 2 << 20;
/// Bytes that are moved at a time.
const CHUNK: usize = 64;

multiversion! {
    /// Lines that are parts of rows, without interleaving.
    fn copy_rows(bytes: &[u8], job: &Job, to: &mut [u8]) {
        let Job { row, depth, columns, form, panel, .. } = job;
        let (len, line) = (columns * form.size, form.line());
        for step in 0..*depth {
            if step + PREFETCH_ROWS < *depth {
                ask(bytes[(step + PREFETCH_ROWS) * row..][..len].as_ptr(), len);
            }
            let from = bytes[step * row..][..len].chunks_exact(line);
            let (rest, mut at) = (from.remainder(), step * line);
            for from in from {
                copy(from, &mut to[at..][..line]);
                at += panel;
            }
            if !rest.is_empty() {
                let (there, behind) = to[at..][..line].split_at_mut(rest.len());
                there.copy_from_slice(rest);
                behind.fill(0);
            }
        }
    }
}

/// Copies a short line.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    let ((chunks, end), (from, from_end)) = (to.as_chunks_mut::<CHUNK>(), from.as_chunks::<CHUNK>());
    chunks.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    end.iter_mut().zip(from_end).for_each(|(to, from)| *to = *from);
}

/// Prefetches bytes.
#[inline(always)]
fn ask(from: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..len).step_by(CHUNK) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, len);
}

/// A run of columns of a line: its addresses in the `T` rows, of which the first ones exist, and the destinations of its two halves.
#[cfg(target_arch = "x86_64")]
struct Run<const T: usize> {
    rows: [*const u8; T],
    present: usize,
    /// Columns that exist, and columns of the panels from here on, at most a vector.
    there: usize,
    wanted: usize,
    to: [*mut u8; 2],
}

#[cfg(target_arch = "x86_64")]
impl<const T: usize> Run<T> {
    /// Whether all rows exist with so many columns.
    #[inline(always)]
    fn is_whole(&self, lanes: usize) -> bool {
        self.present == T && self.there >= lanes
    }

    /// The mask of the existing columns, of `lanes` lanes.
    #[inline(always)]
    fn mask(&self, row: usize, lanes: u32) -> u64 {
        let there = if row < self.present { self.there as u32 } else { 0 };
        if there == 0 { 0 } else { u64::MAX >> (64 - there.min(lanes)) }
    }

    /// A row, if it exists.
    #[inline(always)]
    fn row(&self, row: usize) -> Option<*const u8> {
        (row < self.present).then_some(self.rows[row])
    }
}

#[cfg(target_arch = "x86_64")]
impl Job {
    /// Calls `each` for all runs of at most `most` columns: of one panel, or of two that are half as wide. A line is of `T` rows. A matrix
    /// in a near cache is processed by runs of columns, another one row by row.
    #[inline(always)]
    fn runs<const T: usize>(&self, most: usize, mut each: impl FnMut(Run<T>)) {
        let Job { from, row, depth, columns, form: PanelLayout { size, .. }, to, .. } = *self;
        let line = self.form.line();
        if depth.saturating_mul(row) <= MAX_CACHED_MATRIX_BYTES {
            return self.across(most, |at, there, wanted, behind, half| {
                let run = |step: usize, present: usize| {
                    let to = to.wrapping_add(behind + step * line);
                    let rows = std::array::from_fn(|t| from.wrapping_add((step * T + t) * row + at * size));
                    Run { rows, present, there, wanted, to: [to, to.wrapping_add(half)] }
                };
                (0..depth / T).for_each(|step| each(run(step, T)));
                if !depth.is_multiple_of(T) {
                    each(run(depth / T, depth % T));
                }
            });
        }
        for step in 0..depth.div_ceil(T) {
            let first_row = from.wrapping_add(step * T * row);
            let rows_there = depth - step * T;
            let asked = if row >= MIN_FAR_STRIDE_BYTES { rows_there } else { 0 };
            for t in PREFETCH_STEPS * T..asked.min((PREFETCH_STEPS + 1) * T) {
                ask(first_row.wrapping_add(t * row), columns * size);
            }
            self.across(most, |at, there, wanted, behind, half| {
                let to = to.wrapping_add(behind + step * line);
                let rows = std::array::from_fn(|t| first_row.wrapping_add(t * row + at * size));
                each(Run { rows, present: rows_there.min(T), there, wanted, to: [to, to.wrapping_add(half)] });
            });
        }
    }

    /// Calls `each` for all runs of columns: the first column, those that exist and those of panels, and the byte offsets of the first
    /// line's half and between its halves.
    #[inline(always)]
    fn across(&self, most: usize, mut each: impl FnMut(usize, usize, usize, usize, usize)) {
        let Job { columns, form: PanelLayout { width, .. }, panel, .. } = *self;
        let padded = columns.next_multiple_of(width);
        let (span, panels, half) = if most == 2 * width { (most, 2, panel) } else { (width, 1, most * 2) };
        for (i, column) in (0..columns).step_by(span).enumerate() {
            for first in (0..span).step_by(most) {
                let wanted = most.min(span - first).min(padded - column);
                let there = columns.saturating_sub(column + first).min(wanted);
                each(column + first, there, wanted, i * panels * panel + first * 4, half);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Job, Run};
    use std::arch::x86_64::*;

    /// Pairs of 16-bit elements, 32 columns at a time.
    ///
    /// # Safety
    /// Rows and panels must be valid, panels of 16 columns each or a multiple and unshared.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn halves16(job: &Job) {
        let index: [[i16; 32]; 2] = std::array::from_fn(|half| std::array::from_fn(|i| (half * 16 + i / 2 + i % 2 * 32) as i16));
        // SAFETY: the table has two vectors.
        let [low, high] = [0, 1].map(|half: usize| unsafe { _mm512_loadu_si512(index[half].as_ptr().cast()) });
        job.runs::<2>(32, |run| {
            // SAFETY: a row that exists has this many columns more, by the caller's promise; other lanes are not read.
            let load = |t: usize| unsafe {
                if run.is_whole(32) {
                    _mm512_loadu_si512(run.rows[t].cast())
                } else {
                    _mm512_maskz_loadu_epi16(run.mask(t, 32) as u32, run.rows[t].cast())
                }
            };
            let (a, b, Run { wanted, to: [to, next], .. }) = (load(0), load(1), run);
            // SAFETY: a line has all `wanted` columns, which are whole vectors.
            unsafe { _mm512_storeu_si512(to.cast(), _mm512_permutex2var_epi16(a, low, b)) };
            if wanted > 16 {
                // SAFETY: as above.
                unsafe { _mm512_storeu_si512(next.cast(), _mm512_permutex2var_epi16(a, high, b)) };
            }
        });
    }

    /// Bytes by four, 64 columns at a time.
    ///
    /// # Safety
    /// As for [`halves16`].
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn bytes16(job: &Job) {
        job.runs::<4>(64, |run| {
            // SAFETY: a row that exists has this many columns more, by the caller's promise; other lanes are not read.
            let load = |t: usize| unsafe {
                if run.is_whole(64) {
                    _mm512_loadu_si512(run.rows[t].cast())
                } else {
                    _mm512_maskz_loadu_epi8(run.mask(t, 64), run.rows[t].cast())
                }
            };
            let ([a, b, c, d], Run { wanted, to: [to, next], .. }) = ([load(0), load(1), load(2), load(3)], run);
            let (low, low_next) = (_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d));
            let (high, high_next) = (_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d));
            // Lane l of the i-th has columns 16 l + 4 i and the next three.
            let q = [_mm512_unpacklo_epi16(low, low_next), _mm512_unpackhi_epi16(low, low_next)];
            let r = [_mm512_unpacklo_epi16(high, high_next), _mm512_unpackhi_epi16(high, high_next)];
            let near = (_mm512_shuffle_i32x4::<0x44>(q[0], q[1]), _mm512_shuffle_i32x4::<0x44>(r[0], r[1]));
            let far = (_mm512_shuffle_i32x4::<0xee>(q[0], q[1]), _mm512_shuffle_i32x4::<0xee>(r[0], r[1]));
            // SAFETY: a line has all `wanted` columns, which are whole vectors.
            unsafe {
                _mm512_storeu_si512(to.cast(), _mm512_shuffle_i32x4::<0x88>(near.0, near.1));
                if wanted > 16 {
                    _mm512_storeu_si512(to.wrapping_add(64).cast(), _mm512_shuffle_i32x4::<0xdd>(near.0, near.1));
                }
                if wanted > 32 {
                    _mm512_storeu_si512(next.cast(), _mm512_shuffle_i32x4::<0x88>(far.0, far.1));
                }
                if wanted > 48 {
                    _mm512_storeu_si512(next.wrapping_add(64).cast(), _mm512_shuffle_i32x4::<0xdd>(far.0, far.1));
                }
            }
        });
    }

    /// Loads up to 8 bytes, zero-padded, by two loads that overlap: through memory they would wait for the stores of single bytes.
    ///
    /// # Safety
    /// They must be valid for reads.
    #[inline(always)]
    unsafe fn word(from: *const u8, bytes: usize) -> u64 {
        // SAFETY: the caller's promise, for both ends.
        unsafe {
            match bytes {
                0 => 0,
                1 => u64::from(from.read()),
                2..4 => {
                    let end = from.add(bytes - 2).cast::<u16>().read_unaligned();
                    u64::from(from.cast::<u16>().read_unaligned()) | u64::from(end) << ((bytes - 2) * 8)
                }
                4..8 => {
                    let end = from.add(bytes - 4).cast::<u32>().read_unaligned();
                    u64::from(from.cast::<u32>().read_unaligned()) | u64::from(end) << ((bytes - 4) * 8)
                }
                _ => from.cast::<u64>().read_unaligned(),
            }
        }
    }

    /// Loads `bytes` bytes of a row, zero-padded.
    ///
    /// # Safety
    /// They must be valid for reads.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load8(row: Option<*const u8>, bytes: usize) -> __m256i {
        let Some(row) = row else { return _mm256_setzero_si256() };
        // SAFETY: the caller's promise.
        let half = |first: usize| unsafe {
            let left = bytes.saturating_sub(first);
            let from = row.wrapping_add(first);
            match left {
                16.. => _mm_loadu_si128(from.cast()),
                8.. => _mm_set_epi64x(word(from.add(8), left - 8).cast_signed(), word(from, 8).cast_signed()),
                _ => _mm_cvtsi64_si128(word(from, left).cast_signed()),
            }
        };
        match bytes {
            // SAFETY: the caller's promise.
            32 => unsafe { _mm256_loadu_si256(row.cast()) },
            ..=16 => _mm256_zextsi128_si256(half(0)),
            _ => _mm256_set_m128i(half(16), half(0)),
        }
    }

    /// Pairs of 16-bit elements, 16 columns at a time.
    ///
    /// # Safety
    /// Rows and panels must be valid, panels of 8 columns each or a multiple and unshared.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn halves8(job: &Job) {
        job.runs::<2>(16, |run| {
            let Run { there, wanted, to: [to, next], .. } = run;
            // SAFETY: a row has this many columns more, and a line all `wanted` ones, by the caller's promise.
            unsafe {
                let (a, b) = (load8(run.row(0), there * 2), load8(run.row(1), there * 2));
                let (low, high) = (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b));
                _mm256_storeu_si256(to.cast(), _mm256_permute2x128_si256::<0x20>(low, high));
                if wanted > 8 {
                    _mm256_storeu_si256(next.cast(), _mm256_permute2x128_si256::<0x31>(low, high));
                }
            }
        });
    }

    /// Bytes by four, 32 columns at a time.
    ///
    /// # Safety
    /// As for [`halves8`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn bytes8(job: &Job) {
        job.runs::<4>(32, |run| {
            let Run { there, wanted, to: [to, next], .. } = run;
            // SAFETY: a row has this many columns more, and a line all `wanted` ones, by the caller's promise.
            unsafe {
                // One by one: `map` is not compiled for vectors.
                let (a, b) = (load8(run.row(0), there), load8(run.row(1), there));
                let (c, d) = (load8(run.row(2), there), load8(run.row(3), there));
                let (low, low_next) = (_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d));
                let (high, high_next) = (_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d));
                // Half h of the i-th has columns 16 h + 4 i and the next three.
                let q = [_mm256_unpacklo_epi16(low, low_next), _mm256_unpackhi_epi16(low, low_next)];
                let r = [_mm256_unpacklo_epi16(high, high_next), _mm256_unpackhi_epi16(high, high_next)];
                _mm256_storeu_si256(to.cast(), _mm256_permute2x128_si256::<0x20>(q[0], q[1]));
                if wanted > 8 {
                    _mm256_storeu_si256(to.wrapping_add(32).cast(), _mm256_permute2x128_si256::<0x20>(r[0], r[1]));
                }
                if wanted > 16 {
                    _mm256_storeu_si256(next.cast(), _mm256_permute2x128_si256::<0x31>(q[0], q[1]));
                }
                if wanted > 24 {
                    _mm256_storeu_si256(next.wrapping_add(32).cast(), _mm256_permute2x128_si256::<0x31>(r[0], r[1]));
                }
            }
        });
    }
}
