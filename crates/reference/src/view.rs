//! `View`: a tensor over the caller's bytes, read and written element by element as `f64`.
//!
//! In every blocked layout the offset of an element is a sum of one term a dimension ([`View::dim`]): inner blocks split one dimension each.
//! Loops that run often add the terms level by level; all others use [`View::get`] and [`View::set`] with a whole position. A position along
//! a dimension of size 1 counts as 0 whatever it is, so that any view reads as if broadcast.

#[cfg(test)]
mod tests;

use crate::Args;
use oxidnn_expr::number;
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Error, Format, MAX_NDIMS, Tensor};
use std::cell::Cell;

/// A dense tensor (or host scalar) in memory. Small and `Copy`; several views may lie over the same bytes.
#[derive(Clone, Copy)]
pub struct View<'a> {
    cells: Cells<'a>,
    dims: &'a Dims,
    origin: i64,
    /// Distances along the dimensions without inner blocks; 0 along those of size 1.
    strides: Dims,
    /// The dimensions with inner blocks, a bit each.
    blocked: u32,
    blocking: Option<&'a Blocking>,
}

/// Elements of one type in a row.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    dtype: DataType,
    data: &'a [Cell<u8>],
}

impl<'a> View<'a> {
    /// The tensor passed as `arg`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it is not passed, is not dense, or its buffer is too small.
    pub fn of(args: &'a dyn Args, arg: Arg) -> Result<View<'a>, Error> {
        match (args.tensor(arg), args.data(arg, 0)) {
            (Some(tensor), Some(data)) => View::new(arg, tensor, data),
            _ => Err(Error::arg(arg, "nothing", "a tensor")),
        }
    }

    /// The tensor passed as `arg`, if the problem has one there.
    ///
    /// # Errors
    /// As for [`View::of`], when it is passed.
    pub fn optional(args: &'a dyn Args, arg: Arg) -> Result<Option<View<'a>>, Error> {
        if args.tensor(arg).is_none() || args.data(arg, 0).is_none() {
            return Ok(None);
        }
        View::of(args, arg).map(Some)
    }

    /// `tensor` at `data`; `arg` is named in errors.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the tensor is not dense, has runtime dimensions, or `data` is too small for it.
    pub fn new(arg: Arg, tensor: &'a Tensor, data: &'a [Cell<u8>]) -> Result<View<'a>, Error> {
        let blocking = match &tensor.layout.format {
            Format::Blocked(b) => Some(&**b),
            Format::HostScalar => None,
            _ => return Err(Error::arg(arg, "an opaque, sparse or undecided layout", "a dense layout")),
        };
        match tensor.buffer_bytes(0) {
            None => Err(Error::arg(arg, tensor.dims(), "no runtime dimension at execution")),
            Some(need) if data.len() < need => Err(Error::arg(arg, format_args!("{} bytes", data.len()), format_args!("{need} bytes"))),
            Some(_) => Ok(View::over(Cells::new(tensor.dtype, data), tensor.dims(), blocking)),
        }
    }

    fn over(cells: Cells<'a>, dims: &'a Dims, blocking: Option<&'a Blocking>) -> View<'a> {
        let strides = Dims::filled(dims.len(), 0);
        let mut view = View { cells, dims, origin: 0, strides, blocked: 0, blocking };
        if let Some(b) = blocking {
            view.origin = b.offset;
            for d in 0..dims.len() {
                if dims[d] != 1 && b.inner.of(d) > 1 {
                    view.blocked |= 1 << d;
                    continue;
                }
                view.origin += b.term(d, b.padded_offsets[d]);
                view.strides[d] = if dims[d] == 1 { 0 } else { b.strides[d] };
            }
        }
        view
    }

    /// The same bytes read as another type of the same width.
    #[must_use]
    pub fn reinterpret(self, dtype: DataType) -> View<'a> {
        View { cells: Cells { dtype, ..self.cells }, ..self }
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DataType {
        self.cells.dtype
    }

    /// Logical sizes.
    pub fn dims(&self) -> &'a Dims {
        self.dims
    }

    /// True where an empty dimension leaves no elements.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// What all element offsets have in common: with the terms of [`View::dim`] it makes an offset.
    #[inline]
    pub fn origin(&self) -> i64 {
        self.origin
    }

    /// What position `p` of dimension `d` adds to the element offset; 0 for a dimension of size 1.
    #[inline]
    pub fn dim(&self, d: usize, p: i64) -> i64 {
        match self.blocking {
            Some(b) if self.blocked >> d & 1 == 1 => b.term(d, p + b.padded_offsets[d]),
            _ => p * self.strides[d],
        }
    }

    /// Element offset of the logical position `pos`.
    #[inline]
    pub fn offset(&self, pos: &[i64]) -> i64 {
        if self.blocked == 0 {
            return pos.iter().zip(self.strides.iter()).fold(self.origin, |sum, (p, s)| sum + p * s);
        }
        pos.iter().enumerate().fold(self.origin, |sum, (d, &p)| sum + self.dim(d, p))
    }

    /// The element at `pos`, broadcast along dimensions of size 1.
    #[inline]
    pub fn get(&self, pos: &[i64]) -> f64 {
        self.load(self.offset(pos))
    }

    /// Writes `value` at `pos`: rounded to nearest, ties to even; saturated for whole-number types.
    #[inline]
    pub fn set(&self, pos: &[i64], value: f64) {
        self.store(self.offset(pos), value);
    }

    /// The element at an element offset.
    #[inline]
    pub fn load(&self, offset: i64) -> f64 {
        self.cells.load(offset)
    }

    /// Writes `value` at an element offset, converted as by [`View::set`].
    #[inline]
    pub fn store(&self, offset: i64, value: f64) {
        self.cells.store(offset, value);
    }

    /// The bits of the element at an element offset, in the low end of the word: for exact copies.
    #[inline]
    pub fn bits(&self, offset: i64) -> u64 {
        self.cells.bits(offset)
    }

    /// Writes the low bits of `bits` at an element offset.
    #[inline]
    pub fn set_bits(&self, offset: i64, bits: u64) {
        self.cells.set_bits(offset, bits);
    }

    /// Writes `value` to every logical element.
    pub fn fill(&self, value: f64) {
        for_each_position(self.dims, |pos| self.set(pos, value));
    }

    /// Sets every element of the padded area to zero bits; logical elements, and bytes that belong to no element, are left alone.
    pub fn zero_padding(&self) {
        let Some(b) = self.blocking else { return };
        if self.is_empty() {
            return;
        }
        for d in 0..self.dims.len() {
            for_each_position(&slab(self.dims, b, d), |pos| {
                let mut at = [0; MAX_NDIMS];
                for (e, (a, &p)) in at.iter_mut().zip(pos).enumerate() {
                    *a = p;
                    if e == d && p >= b.padded_offsets[e] {
                        *a += self.dims[e];
                    } else if e < d {
                        *a += b.padded_offsets[e];
                    }
                }
                let offset = b.offset + at[..pos.len()].iter().enumerate().map(|(e, &p)| b.term(e, p)).sum::<i64>();
                self.set_bits(offset, 0);
            });
        }
    }
}

impl<'a> Cells<'a> {
    /// The elements of `dtype` at `data`.
    pub fn new(dtype: DataType, data: &'a [Cell<u8>]) -> Cells<'a> {
        Cells { dtype, data }
    }

    /// The element at an element offset.
    #[inline]
    pub fn load(&self, offset: i64) -> f64 {
        match self.dtype {
            DataType::F32 => f64::from(f32::from_le_bytes(self.bytes(offset))),
            DataType::S8 => f64::from(i8::from_le_bytes(self.bytes(offset))),
            DataType::U8 => f64::from(u8::from_le_bytes(self.bytes(offset))),
            DataType::Bf16 => f64::from(f32::from_bits(u32::from(u16::from_le_bytes(self.bytes(offset))) << 16)),
            DataType::S32 => f64::from(i32::from_le_bytes(self.bytes(offset))),
            DataType::F64 => f64::from_le_bytes(self.bytes(offset)),
            dtype => number::decode(dtype, self.bits(offset)),
        }
    }

    /// Writes `value` at an element offset: rounded to nearest, ties to even; saturated for whole-number types.
    #[inline]
    pub fn store(&self, offset: i64, value: f64) {
        match self.dtype {
            DataType::F32 => self.store_bytes((value as f32).to_le_bytes(), offset),
            DataType::F64 => self.store_bytes(value.to_le_bytes(), offset),
            dtype => self.set_bits(offset, number::encode(dtype, value)),
        }
    }

    #[inline]
    pub(crate) fn bits(&self, offset: i64) -> u64 {
        match self.dtype.bits() {
            4 => {
                let byte = self.data[(offset / 2) as usize].get();
                u64::from(byte >> (offset % 2 * 4) & 15)
            }
            8 => u64::from(u8::from_le_bytes(self.bytes(offset))),
            16 => u64::from(u16::from_le_bytes(self.bytes(offset))),
            32 => u64::from(u32::from_le_bytes(self.bytes(offset))),
            _ => u64::from_le_bytes(self.bytes(offset)),
        }
    }

    #[inline]
    pub(crate) fn set_bits(&self, offset: i64, bits: u64) {
        match self.dtype.bits() {
            4 => {
                let cell = &self.data[(offset / 2) as usize];
                let shift = offset % 2 * 4;
                cell.set(cell.get() & !(15 << shift) | (bits as u8 & 15) << shift);
            }
            8 => self.store_bytes((bits as u8).to_le_bytes(), offset),
            16 => self.store_bytes((bits as u16).to_le_bytes(), offset),
            32 => self.store_bytes((bits as u32).to_le_bytes(), offset),
            _ => self.store_bytes(bits.to_le_bytes(), offset),
        }
    }

    #[inline]
    fn bytes<const N: usize>(&self, offset: i64) -> [u8; N] {
        let cells = &self.data[offset as usize * N..][..N];
        std::array::from_fn(|i| cells[i].get())
    }

    #[inline]
    fn store_bytes<const N: usize>(&self, bytes: [u8; N], offset: i64) {
        let cells = &self.data[offset as usize * N..][..N];
        for (cell, byte) in cells.iter().zip(bytes) {
            cell.set(byte);
        }
    }
}

/// Sizes of the part of the padded area that lies outside along dimension `d`, inside along the dimensions before it, anywhere along those after.
fn slab(dims: &Dims, b: &Blocking, d: usize) -> Dims {
    Dims::from_fn(dims.len(), |e| match e.cmp(&d) {
        std::cmp::Ordering::Less => dims[e],
        std::cmp::Ordering::Equal => b.padded_dims[e] - dims[e],
        std::cmp::Ordering::Greater => b.padded_dims[e],
    })
}

/// Calls `f` with every position of a tensor of `dims`, the last dimension fastest; never when a dimension is empty.
pub fn for_each_position(dims: &[i64], mut f: impl FnMut(&[i64])) {
    if dims.iter().any(|&d| d <= 0) {
        return;
    }
    let mut pos = [0; MAX_NDIMS];
    loop {
        f(&pos[..dims.len()]);
        let mut d = dims.len();
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            pos[d] += 1;
            if pos[d] < dims[d] {
                break;
            }
            pos[d] = 0;
        }
    }
}

/// Splits the row-major index `i` into a position of a tensor of `dims` (0 along empty ones).
#[inline]
pub(crate) fn unravel<const N: usize>(i: i64, dims: &[i64; N]) -> [i64; N] {
    let mut pos = [0; N];
    // Division is much the faster for 32 bits on many processors.
    if dims.iter().fold(i, |all, d| all | d) >> 32 == 0 {
        let mut i = i as u32;
        for d in (0..N).rev() {
            let size = (dims[d] as u32).max(1);
            (pos[d], i) = (i64::from(i % size), i / size);
        }
    } else {
        let mut i = i;
        for d in (0..N).rev() {
            (pos[d], i) = (i % dims[d].max(1), i / dims[d].max(1));
        }
    }
    pos
}
