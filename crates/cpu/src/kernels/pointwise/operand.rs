//! Operands of chunks: elements of any type in memory, as `f32` in registers.

use super::nest::{CHUNK, Chunk};
use crate::kernels::convert::{self, Elements, MIN_ROW};
use crate::kernels::multiversion::Simd;
use oxidnn_runtime::{Buf, Grid};
use oxidnn_spec::DataType;

/// Bytes of a chunk of the widest type.
const CHUNK_BYTES: usize = 4 * CHUNK;

/// What an operand's elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Numbers of a type.
    Number(DataType),
    /// Single bits, 1 for numbers above 0.
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

/// The memory of an operand, whose elements have at most 32 bits: f32 cannot represent longer ones.
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

impl Memory<'_> {
    /// Reads operand `t` of a chunk.
    pub fn load(&self, simd: Simd, chunk: &Chunk<'_>, t: usize, out: &mut [f32]) {
        let out = &mut out[..chunk.positions()];
        let (at, inner, outer) = (chunk.at[t] as usize, chunk.inner[t] as usize, chunk.outer[t] as usize);
        let joined = chunk.rows == 1 || outer == inner * chunk.run;
        match (joined, inner) {
            (true, _) => self.read(simd, at, inner, out),
            (_, 0) if outer == 0 => self.read(simd, at, 0, out),
            // The same row repeated: copied in doubling pieces.
            (_, 1) if outer == 0 => {
                self.read(simd, at, 1, &mut out[..chunk.run]);
                let mut done = chunk.run;
                while done < out.len() {
                    let more = done.min(out.len() - done);
                    out.copy_within(..more, done);
                    done += more;
                }
            }
            // A tile of a transposition: the operand is contiguous across the rows.
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
                Kind::Number(DataType::F32) if inner != 1 || chunk.run < MIN_ROW => {
                    self.buf
                        .gather::<f32>(Grid { at, counts: [chunk.rows, chunk.run], steps: [outer, inner] }, bytemuck::cast_slice_mut(out));
                }
                Kind::Number(dtype) if dtype != DataType::F32 && dtype.bits() >= 8 => {
                    // Elements are collected first, then converted.
                    let (mut bytes, size) = ([0u8; CHUNK_BYTES], dtype.bits() / 8);
                    let bytes = &mut bytes[..out.len() * size];
                    convert::gather(self.buf, size, Grid { at, counts: [chunk.rows, chunk.run], steps: [outer, inner] }, bytes);
                    convert::to_f32(simd, dtype, bytes, out);
                }
                _ => {
                    for (r, row) in out.chunks_exact_mut(chunk.run).enumerate() {
                        self.read(simd, at + r * outer, inner, row);
                    }
                }
            },
        }
    }

    /// The value of operand `t` over a chunk, if it is constant there.
    pub fn constant(&self, simd: Simd, chunk: &Chunk<'_>, t: usize) -> Option<f32> {
        let still = (chunk.inner[t] == 0 || chunk.run == 1) && (chunk.outer[t] == 0 || chunk.rows == 1);
        let mut one = [0.0];
        still.then(|| {
            self.read(simd, chunk.at[t] as usize, 1, &mut one);
            one[0]
        })
    }

    /// Writes operand `t` of a chunk: rounded to nearest even, saturated for integer types.
    pub fn store(&self, simd: Simd, chunk: &Chunk<'_>, t: usize, values: &[f32]) {
        let values = &values[..chunk.positions()];
        let (at, inner, outer) = (chunk.at[t] as usize, chunk.inner[t] as usize, chunk.outer[t] as usize);
        if chunk.rows == 1 || outer == inner * chunk.run {
            return self.write(simd, at, inner, values);
        }
        match self.kind {
            Kind::Number(DataType::F32) if inner != 1 || chunk.run < MIN_ROW => {
                self.buf.scatter::<f32>(Grid { at, counts: [chunk.rows, chunk.run], steps: [outer, inner] }, bytemuck::cast_slice(values));
            }
            Kind::Number(dtype) if dtype != DataType::F32 && dtype.bits() >= 8 => {
                let (mut bytes, size) = ([0u8; CHUNK_BYTES], dtype.bits() / 8);
                let bytes = &mut bytes[..values.len() * size];
                convert::from_f32(simd, dtype, values, bytes);
                convert::scatter(self.buf, size, Grid { at, counts: [chunk.rows, chunk.run], steps: [outer, inner] }, bytes);
            }
            _ => {
                for (r, row) in values.chunks_exact(chunk.run).enumerate() {
                    self.write(simd, at + r * outer, inner, row);
                }
            }
        }
    }

    /// Reads elements from element `at` on, `stride` apart.
    pub fn read(&self, simd: Simd, at: usize, stride: usize, out: &mut [f32]) {
        let Kind::Number(dtype) = self.kind else {
            return if stride == 1 { self.read_bits(at, out) } else { self.read_strided_bits(at, stride, out) };
        };
        Elements { buf: self.buf, dtype, at, stride }.read(simd, out);
    }

    /// Writes elements from element `at` on, `stride` apart.
    pub fn write(&self, simd: Simd, at: usize, stride: usize, values: &[f32]) {
        let Kind::Number(dtype) = self.kind else {
            return if stride == 1 { self.write_bits(at, values) } else { self.write_strided_bits(at, stride, values) };
        };
        Elements { buf: self.buf, dtype, at, stride }.write(simd, values);
    }

    /// Reads single bits.
    fn read_strided_bits(&self, at: usize, stride: usize, out: &mut [f32]) {
        for (i, o) in out.iter_mut().enumerate() {
            let bit = at + i * stride;
            *o = f32::from(self.buf.get::<u8>(bit / 8) >> (bit % 8) & 1);
        }
    }

    /// Writes single bits.
    fn write_strided_bits(&self, at: usize, stride: usize, values: &[f32]) {
        for (i, v) in values.iter().enumerate() {
            let (byte, bit) = ((at + i * stride) / 8, 1 << ((at + i * stride) % 8));
            let old = self.buf.get::<u8>(byte);
            self.buf.set(byte, if *v > 0.0 { old | bit } else { old & !bit });
        }
    }

    /// Reads consecutive bits, eight of a byte at a time.
    fn read_bits(&self, at: usize, out: &mut [f32]) {
        let (first, rest) = out.split_at_mut((at.next_multiple_of(8) - at).min(out.len()));
        let (whole, last) = rest.as_chunks_mut::<8>();
        let byte = (at + first.len()) / 8;
        self.read_strided_bits(at, 1, first);
        for (i, eight) in whole.iter_mut().enumerate() {
            let bits = self.buf.get::<u8>(byte + i);
            *eight = std::array::from_fn(|bit| f32::from(bits >> bit & 1));
        }
        self.read_strided_bits((byte + whole.len()) * 8, 1, last);
    }

    /// Writes consecutive bits; other bits of their bytes are kept.
    fn write_bits(&self, at: usize, values: &[f32]) {
        let (first, rest) = values.split_at((at.next_multiple_of(8) - at).min(values.len()));
        let (whole, last) = rest.as_chunks::<8>();
        let byte = (at + first.len()) / 8;
        self.write_strided_bits(at, 1, first);
        for (i, eight) in whole.iter().enumerate() {
            let bits = eight.iter().enumerate().fold(0, |bits, (bit, v)| bits | u8::from(*v > 0.0) << bit);
            self.buf.set(byte + i, bits);
        }
        self.write_strided_bits((byte + whole.len()) * 8, 1, last);
    }
}
