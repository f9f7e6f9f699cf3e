//! Bulk conversion between elements of any type in memory and f32: rounded to nearest even, integers saturated.

use super::multiversion::{Body, Simd, multiversion};
use oxidnn_expr::convert;
use oxidnn_runtime::{Buf, Grid};
use oxidnn_spec::DataType;
use std::cell::Cell;

/// Sizes of the buffers between memory and f32, in bytes: for short runs, and for a piece of long ones.
const SMALL_BUFFER_BYTES: usize = 128;
const LARGE_BUFFER_BYTES: usize = 2048;
/// Contiguous elements of a row from which on rows are copied one by one.
pub const MIN_ROW: usize = 8;

multiversion! {
    fn fill(value: f32, out: &mut [f32]) {
        out.fill(value);
    }
}

struct ToF32<'a>(DataType, &'a [u8], &'a mut [f32]);

impl Body for ToF32<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        convert::to_f32(self.0, self.1, self.2);
    }
}

struct FromF32<'a>(DataType, &'a [f32], &'a mut [u8]);

impl Body for FromF32<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        convert::from_f32(self.0, self.1, self.2);
    }
}

multiversion! {
    /// Converts bf16: elements are the upper halves of f32.
    fn widen(bytes: &[Cell<u8>], out: &mut [f32]) {
        for (out, [low, high]) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *out = f32::from_bits(u32::from_le_bytes([0, 0, low.get(), high.get()]));
        }
    }
}

/// Converts stored elements to f32.
pub fn to_f32(simd: Simd, dtype: DataType, bytes: &[u8], out: &mut [f32]) {
    simd.run(ToF32(dtype, bytes, out));
}

/// Converts f32 to stored elements.
pub fn from_f32(simd: Simd, dtype: DataType, values: &[f32], bytes: &mut [u8]) {
    simd.run(FromF32(dtype, values, bytes));
}

/// Elements in memory, from element `at` on, `stride` apart. When written, two 4-bit elements of one byte must belong to the same task.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// The memory.
    pub buf: Buf<'a>,
    /// Their type.
    pub dtype: DataType,
    /// The first.
    pub at: usize,
    /// Elements from one to the next.
    pub stride: usize,
}

impl Elements<'_> {
    /// The elements after the first `n`.
    fn behind(self, n: usize) -> Self {
        Elements { at: self.at + n * self.stride, ..self }
    }

    fn size(self) -> usize {
        self.dtype.bits() / 8
    }

    /// The first `count` elements.
    fn grid(self, count: usize) -> Grid {
        Grid { at: self.at, counts: [1, count], steps: [0, self.stride] }
    }

    /// Reads as many elements as `out` holds.
    pub fn read(self, simd: Simd, out: &mut [f32]) {
        let Elements { buf, dtype, at, stride } = self;
        match (dtype, stride) {
            (DataType::F32, 1) => buf.read(at, out),
            (DataType::Bf16, 1) => widen(simd, &buf.cells()[at * 2..(at + out.len()) * 2], out),
            (_, 0) => {
                let mut one = [0.0; 1];
                let one = &mut one[..out.len().min(1)];
                Elements { stride: 1, ..self }.read(simd, one);
                one.iter().for_each(|one| fill(simd, *one, &mut *out));
            }
            (DataType::F32, _) => {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = buf.get(at + i * stride);
                }
            }
            _ if dtype.bits() == 4 => {
                for (i, out) in out.chunks_mut(2 * SMALL_BUFFER_BYTES).enumerate() {
                    self.behind(i * 2 * SMALL_BUFFER_BYTES).read_nibbles(simd, out);
                }
            }
            _ if out.len() * self.size() <= SMALL_BUFFER_BYTES => self.read_through::<SMALL_BUFFER_BYTES>(simd, out),
            _ => {
                let piece = LARGE_BUFFER_BYTES / self.size();
                for (i, out) in out.chunks_mut(piece).enumerate() {
                    self.behind(i * piece).read_through::<LARGE_BUFFER_BYTES>(simd, out);
                }
            }
        }
    }

    /// Writes values, the first to the first element.
    pub fn write(self, simd: Simd, values: &[f32]) {
        let Elements { buf, dtype, at, stride } = self;
        match (dtype, stride) {
            (DataType::F32, 1) => buf.write(at, values),
            (DataType::F32, _) => buf.scatter::<f32>(self.grid(values.len()), bytemuck::cast_slice(values)),
            _ if dtype.bits() == 4 => {
                for (i, values) in values.chunks(2 * SMALL_BUFFER_BYTES).enumerate() {
                    self.behind(i * 2 * SMALL_BUFFER_BYTES).write_nibbles(simd, values);
                }
            }
            _ if values.len() * self.size() <= SMALL_BUFFER_BYTES => self.write_through::<SMALL_BUFFER_BYTES>(simd, values),
            _ => {
                let piece = LARGE_BUFFER_BYTES / self.size();
                for (i, values) in values.chunks(piece).enumerate() {
                    self.behind(i * piece).write_through::<LARGE_BUFFER_BYTES>(simd, values);
                }
            }
        }
    }

    /// Reads elements by way of a buffer of `N` bytes.
    fn read_through<const N: usize>(self, simd: Simd, out: &mut [f32]) {
        let mut bytes = [0u8; N];
        let bytes = &mut bytes[..out.len() * self.size()];
        gather(self.buf, self.size(), self.grid(out.len()), bytes);
        to_f32(simd, self.dtype, bytes, out);
    }

    /// Writes elements by way of a buffer of `N` bytes.
    fn write_through<const N: usize>(self, simd: Simd, values: &[f32]) {
        let mut bytes = [0u8; N];
        let bytes = &mut bytes[..values.len() * self.size()];
        from_f32(simd, self.dtype, values, bytes);
        scatter(self.buf, self.size(), self.grid(values.len()), bytes);
    }

    /// The packed bytes of 4-bit elements are collected first, then converted.
    fn read_nibbles(self, simd: Simd, out: &mut [f32]) {
        let Elements { buf, dtype, at, stride } = self;
        let mut packed = [0u8; SMALL_BUFFER_BYTES];
        let packed = &mut packed[..out.len().div_ceil(2)];
        if stride == 1 && at.is_multiple_of(2) {
            buf.read(at / 2, packed);
        } else {
            for i in 0..out.len() {
                let from = at + i * stride;
                packed[i / 2] |= (buf.get::<u8>(from / 2) >> (from % 2 * 4) & 15) << (i % 2 * 4);
            }
        }
        to_f32(simd, dtype, packed, out);
    }

    /// Half bytes at the ends of a run belong to neighbours and are kept.
    fn write_nibbles(self, simd: Simd, values: &[f32]) {
        let Elements { buf, dtype, at, stride } = self;
        let mut packed = [0u8; SMALL_BUFFER_BYTES];
        let packed = &mut packed[..values.len().div_ceil(2)];
        from_f32(simd, dtype, values, packed);
        if stride == 1 && at.is_multiple_of(2) && values.len().is_multiple_of(2) {
            return buf.write(at / 2, packed);
        }
        for i in 0..values.len() {
            let to = at + i * stride;
            let (shift, bits) = (to % 2 * 4, packed[i / 2] >> (i % 2 * 4) & 15);
            let old = buf.get::<u8>(to / 2);
            buf.set(to / 2, old & !(15 << shift) | bits << shift);
        }
    }
}

/// Whether rows of a grid are copied one by one.
fn in_rows(grid: &Grid) -> bool {
    grid.steps[1] == 1 && (grid.counts[1] >= MIN_ROW || grid.counts[0] == 1)
}

/// Collects elements of `size` bytes row by row.
pub fn gather(buf: Buf, size: usize, grid: Grid, bytes: &mut [u8]) {
    if in_rows(&grid) {
        let rows = bytes.chunks_exact_mut((grid.counts[1] * size).max(1)).enumerate();
        return rows.for_each(|(r, row)| buf.read((grid.at + r * grid.steps[0]) * size, row));
    }
    match size {
        1 => buf.gather::<u8>(grid, bytes),
        2 => buf.gather::<u16>(grid, bytes),
        4 => buf.gather::<u32>(grid, bytes),
        _ => buf.gather::<u64>(grid, bytes),
    }
}

/// Scatters elements of `size` bytes row by row.
pub fn scatter(buf: Buf, size: usize, grid: Grid, bytes: &[u8]) {
    if in_rows(&grid) {
        let rows = bytes.chunks_exact((grid.counts[1] * size).max(1)).enumerate();
        return rows.for_each(|(r, row)| buf.write((grid.at + r * grid.steps[0]) * size, row));
    }
    match size {
        1 => buf.scatter::<u8>(grid, bytes),
        2 => buf.scatter::<u16>(grid, bytes),
        4 => buf.scatter::<u32>(grid, bytes),
        _ => buf.scatter::<u64>(grid, bytes),
    }
}
