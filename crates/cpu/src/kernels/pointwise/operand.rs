//! Operands of chunks: elements of any type between memory and `f32`.

use super::nest::{CHUNK, Chunk};
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_expr::convert;
use oxidnn_runtime::Buf;
use oxidnn_spec::DataType;

/// Sizes of the buffers between memory and `f32`, in bytes: for short runs, and for a whole chunk of the widest type.
const SMALL: usize = 128;
const LARGE: usize = 4 * CHUNK;

/// What the elements of an operand are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Elements of a type.
    Number(DataType),
    /// Single bits, 1 where the number is above 0.
    Bits,
}

impl Kind {
    /// Width of an element.
    pub fn bits(self) -> usize {
        match self {
            Kind::Number(dtype) => dtype.bits(),
            Kind::Bits => 1,
        }
    }
}

/// The memory of an operand, whose elements have at most 32 bits: f32 says nothing of longer ones.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// The bytes.
    pub buf: Buf<'a>,
    /// The elements.
    pub kind: Kind,
}

impl Default for Memory<'_> {
    fn default() -> Self {
        Memory { buf: Buf::empty(), kind: Kind::Number(DataType::F32) }
    }
}

struct Fill<'a>(f32, &'a mut [f32]);

impl Body for Fill<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.1.fill(self.0);
    }
}

pub(super) struct ToF32<'a>(pub(super) DataType, pub(super) &'a [u8], pub(super) &'a mut [f32]);

impl Body for ToF32<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        convert::to_f32(self.0, self.1, self.2);
    }
}

pub(super) struct FromF32<'a>(pub(super) DataType, pub(super) &'a [f32], pub(super) &'a mut [u8]);

impl Body for FromF32<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        convert::from_f32(self.0, self.1, self.2);
    }
}

impl Memory<'_> {
    /// Reads operand `t` of a chunk.
    pub fn load(&self, simd: Simd, chunk: &Chunk<'_>, t: usize, out: &mut [f32]) {
        let out = &mut out[..chunk.positions()];
        let (at, inner, outer) = (chunk.at[t] as usize, chunk.inner[t] as usize, chunk.outer[t] as usize);
        let joined = chunk.rows == 1 || outer == inner * chunk.run;
        match (joined, inner) {
            (true, _) => self.read(simd, at, inner, out),
            (_, 0) if outer == 0 => self.read(simd, at, 0, out),
            // The same row again and again: twice as many from time to time.
            (_, 1) if outer == 0 => {
                self.read(simd, at, 1, &mut out[..chunk.run]);
                let mut done = chunk.run;
                while done < out.len() {
                    let more = done.min(out.len() - done);
                    out.copy_within(..more, done);
                    done += more;
                }
            }
            // A tile of a transposition: what is contiguous goes across the rows.
            _ if outer == 1 && inner > 1 => {
                let mut column = [0.0; CHUNK];
                for j in 0..chunk.run {
                    let column = &mut column[..chunk.rows];
                    self.read(simd, at + j * inner, 1, column);
                    for (o, v) in out[j..].iter_mut().step_by(chunk.run).zip(column.iter()) {
                        *o = *v;
                    }
                }
            }
            _ => match self.kind {
                Kind::Number(dtype) if dtype != DataType::F32 && dtype.bits() >= 8 => {
                    // Elements are put together first, then converted.
                    let (mut bytes, size) = ([0u8; LARGE], dtype.bits() / 8);
                    let bytes = &mut bytes[..out.len() * size];
                    for (r, row) in bytes.chunks_exact_mut(chunk.run * size).enumerate() {
                        gather_any(self.buf, size, at + r * outer, inner, row);
                    }
                    simd.run(ToF32(dtype, bytes, out));
                }
                _ => {
                    for (r, row) in out.chunks_exact_mut(chunk.run).enumerate() {
                        self.read(simd, at + r * outer, inner, row);
                    }
                }
            },
        }
    }

    /// The number that operand `t` is all over a chunk, where it stands still.
    pub fn constant(&self, simd: Simd, chunk: &Chunk<'_>, t: usize) -> Option<f32> {
        let still = (chunk.inner[t] == 0 || chunk.run == 1) && (chunk.outer[t] == 0 || chunk.rows == 1);
        let mut one = [0.0];
        still.then(|| {
            self.read(simd, chunk.at[t] as usize, 1, &mut one);
            one[0]
        })
    }

    /// Writes operand `t` of a chunk: rounded to nearest even, whole-number types saturated.
    pub fn store(&self, simd: Simd, chunk: &Chunk<'_>, t: usize, values: &[f32]) {
        let values = &values[..chunk.positions()];
        let (at, inner, outer) = (chunk.at[t] as usize, chunk.inner[t] as usize, chunk.outer[t] as usize);
        if chunk.rows == 1 || outer == inner * chunk.run {
            return self.write(simd, at, inner, values);
        }
        if let Kind::Number(dtype) = self.kind
            && dtype != DataType::F32
            && dtype.bits() >= 8
        {
            let (mut bytes, size) = ([0u8; LARGE], dtype.bits() / 8);
            let bytes = &mut bytes[..values.len() * size];
            simd.run(FromF32(dtype, values, bytes));
            for (r, row) in bytes.chunks_exact(chunk.run * size).enumerate() {
                scatter_any(self.buf, size, at + r * outer, inner, row);
            }
            return;
        }
        for (r, row) in values.chunks_exact(chunk.run).enumerate() {
            self.write(simd, at + r * outer, inner, row);
        }
    }

    /// Reads at most [`CHUNK`] elements from element `at` on, `stride` apart.
    pub fn read(&self, simd: Simd, at: usize, stride: usize, out: &mut [f32]) {
        let Kind::Number(dtype) = self.kind else {
            return if stride == 1 { self.read_bits(at, out) } else { self.read_apart(at, stride, out) };
        };
        let (size, n) = (dtype.bits() / 8, out.len());
        debug_assert!(size <= 4, "{dtype} through f32");
        match (dtype, stride) {
            (DataType::F32, 1) => self.buf.read(at, out),
            (_, 0) => {
                let mut one = [0.0];
                self.read(simd, at, 1, &mut one);
                simd.run(Fill(one[0], out));
            }
            (DataType::F32, _) => {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = self.buf.get(at + i * stride);
                }
            }
            _ if size == 0 => self.read_nibbles(simd, dtype, at, stride, out),
            _ if n * size <= SMALL => self.read_through::<SMALL>(simd, (dtype, size), (at, stride), out),
            _ => self.read_through::<LARGE>(simd, (dtype, size), (at, stride), out),
        }
    }

    /// Writes at most [`CHUNK`] elements from element `at` on, `stride` apart.
    pub fn write(&self, simd: Simd, at: usize, stride: usize, values: &[f32]) {
        let Kind::Number(dtype) = self.kind else {
            return if stride == 1 { self.write_bits(at, values) } else { self.write_apart(at, stride, values) };
        };
        let (size, n) = (dtype.bits() / 8, values.len());
        debug_assert!(size <= 4, "{dtype} through f32");
        match (dtype, stride) {
            (DataType::F32, 1) => self.buf.write(at, values),
            (DataType::F32, _) => {
                for (i, v) in values.iter().enumerate() {
                    self.buf.set(at + i * stride, *v);
                }
            }
            _ if size == 0 => self.write_nibbles(simd, dtype, at, stride, values),
            _ if n * size <= SMALL => self.write_through::<SMALL>(simd, (dtype, size), (at, stride), values),
            _ => self.write_through::<LARGE>(simd, (dtype, size), (at, stride), values),
        }
    }

    /// Reads single bits.
    fn read_apart(&self, at: usize, stride: usize, out: &mut [f32]) {
        for (i, o) in out.iter_mut().enumerate() {
            let bit = at + i * stride;
            *o = f32::from(self.buf.get::<u8>(bit / 8) >> (bit % 8) & 1);
        }
    }

    /// Writes single bits.
    fn write_apart(&self, at: usize, stride: usize, values: &[f32]) {
        for (i, v) in values.iter().enumerate() {
            let (byte, bit) = ((at + i * stride) / 8, 1 << ((at + i * stride) % 8));
            let old = self.buf.get::<u8>(byte);
            self.buf.set(byte, if *v > 0.0 { old | bit } else { old & !bit });
        }
    }

    /// Reads bits that follow each other: eight of a byte at a time.
    fn read_bits(&self, at: usize, out: &mut [f32]) {
        let (first, rest) = out.split_at_mut((at.next_multiple_of(8) - at).min(out.len()));
        let (whole, last) = rest.as_chunks_mut::<8>();
        let byte = (at + first.len()) / 8;
        self.read_apart(at, 1, first);
        for (i, eight) in whole.iter_mut().enumerate() {
            let bits = self.buf.get::<u8>(byte + i);
            *eight = std::array::from_fn(|bit| f32::from(bits >> bit & 1));
        }
        self.read_apart((byte + whole.len()) * 8, 1, last);
    }

    /// Writes bits that follow each other; those of bytes that are shared with others are left.
    fn write_bits(&self, at: usize, values: &[f32]) {
        let (first, rest) = values.split_at((at.next_multiple_of(8) - at).min(values.len()));
        let (whole, last) = rest.as_chunks::<8>();
        let byte = (at + first.len()) / 8;
        self.write_apart(at, 1, first);
        for (i, eight) in whole.iter().enumerate() {
            let bits = eight.iter().enumerate().fold(0, |bits, (bit, v)| bits | u8::from(*v > 0.0) << bit);
            self.buf.set(byte + i, bits);
        }
        self.write_apart((byte + whole.len()) * 8, 1, last);
    }

    /// Reads elements of `size` bytes by way of a buffer of `N` bytes.
    fn read_through<const N: usize>(&self, simd: Simd, (dtype, size): (DataType, usize), (at, stride): (usize, usize), out: &mut [f32]) {
        let mut bytes = [0u8; N];
        let bytes = &mut bytes[..out.len() * size];
        gather_any(self.buf, size, at, stride, bytes);
        simd.run(ToF32(dtype, bytes, out));
    }

    /// Writes elements of `size` bytes by way of a buffer of `N` bytes.
    fn write_through<const N: usize>(&self, simd: Simd, (dtype, size): (DataType, usize), (at, stride): (usize, usize), values: &[f32]) {
        let mut bytes = [0u8; N];
        let bytes = &mut bytes[..values.len() * size];
        simd.run(FromF32(dtype, values, bytes));
        scatter_any(self.buf, size, at, stride, bytes);
    }

    /// The packed bytes of 4-bit elements are put together first, then converted.
    fn read_nibbles(&self, simd: Simd, dtype: DataType, at: usize, stride: usize, out: &mut [f32]) {
        let mut packed = [0u8; CHUNK / 2];
        let packed = &mut packed[..out.len().div_ceil(2)];
        if stride == 1 && at.is_multiple_of(2) {
            self.buf.read(at / 2, packed);
        } else {
            for i in 0..out.len() {
                let from = at + i * stride;
                packed[i / 2] |= (self.buf.get::<u8>(from / 2) >> (from % 2 * 4) & 15) << (i % 2 * 4);
            }
        }
        simd.run(ToF32(dtype, packed, out));
    }

    /// Half bytes at the ends of a run belong to the neighbours and are kept.
    fn write_nibbles(&self, simd: Simd, dtype: DataType, at: usize, stride: usize, values: &[f32]) {
        let mut packed = [0u8; CHUNK / 2];
        let packed = &mut packed[..values.len().div_ceil(2)];
        simd.run(FromF32(dtype, values, packed));
        if stride == 1 && at.is_multiple_of(2) && values.len().is_multiple_of(2) {
            return self.buf.write(at / 2, packed);
        }
        for i in 0..values.len() {
            let to = at + i * stride;
            let (shift, bits) = (to % 2 * 4, packed[i / 2] >> (i % 2 * 4) & 15);
            let old = self.buf.get::<u8>(to / 2);
            self.buf.set(to / 2, old & !(15 << shift) | bits << shift);
        }
    }
}

/// Collects elements of `size` bytes, `stride` elements apart.
fn gather_any(buf: Buf, size: usize, at: usize, stride: usize, bytes: &mut [u8]) {
    if stride == 1 {
        return buf.read(at * size, bytes);
    }
    match size {
        1 => gather::<1>(buf, at, stride, bytes),
        2 => gather::<2>(buf, at, stride, bytes),
        _ => gather::<4>(buf, at, stride, bytes),
    }
}

/// Spreads elements of `size` bytes, `stride` elements apart.
fn scatter_any(buf: Buf, size: usize, at: usize, stride: usize, bytes: &[u8]) {
    if stride == 1 {
        return buf.write(at * size, bytes);
    }
    match size {
        1 => scatter::<1>(buf, at, stride, bytes),
        2 => scatter::<2>(buf, at, stride, bytes),
        _ => scatter::<4>(buf, at, stride, bytes),
    }
}

#[inline(always)]
fn gather<const N: usize>(buf: Buf, at: usize, stride: usize, bytes: &mut [u8])
where
    [u8; N]: bytemuck::Pod,
{
    for (i, b) in bytes.chunks_exact_mut(N).enumerate() {
        b.copy_from_slice(&buf.get::<[u8; N]>(at + i * stride));
    }
}

#[inline(always)]
fn scatter<const N: usize>(buf: Buf, at: usize, stride: usize, bytes: &[u8])
where
    [u8; N]: bytemuck::Pod,
{
    for (i, b) in bytes.chunks_exact(N).enumerate() {
        let mut element = [0; N];
        element.copy_from_slice(b);
        buf.set(at + i * stride, element);
    }
}
