//! Tensors as lines of `f32`: how kernels read and write any type and any blocked layout.
//!
//! A line is a run of elements along one dimension. Lines of contiguous elements are converted in bulk, others element by element; blocked
//! layouts give as many contiguous pieces as they have blocks.

use super::convert::Elements;
use super::multiversion::Simd;
use oxidnn_runtime::{Buf, Ctx};
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Error, MAX_NDIMS, Tensor};
use std::ops::Range;

/// A logical position; entries beyond the tensor's dimensions are ignored.
pub type Pos = [i64; MAX_NDIMS];

/// A dense tensor bound to memory.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    simd: Simd,
    buf: Buf<'a>,
    dtype: DataType,
    blocking: &'a Blocking,
    dims: &'a Dims,
}

impl<'a> View<'a> {
    /// The argument `arg`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it was not passed or is not dense.
    pub fn of(simd: Simd, ctx: &Ctx<'a>, arg: Arg) -> Result<View<'a>, Error> {
        let bound = ctx.bound(arg).ok_or_else(|| Error::arg(arg, "nothing", "a memory object"))?;
        View::new(simd, arg, bound.tensor, ctx.buf(arg)?)
    }

    /// The argument `arg`, if it was passed.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it is not dense.
    pub fn optional(simd: Simd, ctx: &Ctx<'a>, arg: Arg) -> Result<Option<View<'a>>, Error> {
        if ctx.bound(arg).is_some() { View::of(simd, ctx, arg).map(Some) } else { Ok(None) }
    }

    /// A tensor in `buf`, called `arg` in errors.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it is not dense.
    pub fn new(simd: Simd, arg: Arg, tensor: &'a Tensor, buf: Buf<'a>) -> Result<View<'a>, Error> {
        let blocking = tensor.blocking().ok_or_else(|| Error::arg(arg, "a layout without strides", "a dense tensor"))?;
        Ok(View { simd, buf, dtype: tensor.dtype, blocking, dims: tensor.dims() })
    }

    /// The same memory read as another type of the same width.
    pub fn reinterpret(self, dtype: DataType) -> View<'a> {
        View { dtype, ..self }
    }

    /// The instruction set of conversions.
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Reads elements from element `offset` on, `stride` apart.
    pub fn read_run(&self, offset: usize, stride: usize, out: &mut [f32]) {
        Elements { buf: self.buf, dtype: self.dtype, at: offset, stride }.read(self.simd, out);
    }

    /// Writes elements from element `offset` on, `stride` apart, rounded to nearest even, integers saturated.
    pub fn write_run(&self, offset: usize, stride: usize, values: &[f32]) {
        Elements { buf: self.buf, dtype: self.dtype, at: offset, stride }.write(self.simd, values);
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Logical sizes.
    pub fn dims(&self) -> &'a Dims {
        self.dims
    }

    /// Strides and blocks.
    pub fn blocking(&self) -> &'a Blocking {
        self.blocking
    }

    /// The memory.
    pub fn buf(&self) -> Buf<'a> {
        self.buf
    }

    /// Element offset of a position.
    pub fn offset(&self, pos: &Pos) -> usize {
        self.blocking.offset_of(&pos[..self.dims.len()]) as usize
    }

    /// The stride along `dim`, if there is one for all.
    pub fn stride(&self, dim: usize) -> Option<i64> {
        self.blocking.is_plain().then(|| self.blocking.strides[dim])
    }

    /// Number of elements from `pos` on along `dim` at a constant stride, and that stride.
    fn piece(&self, pos: &Pos, dim: usize) -> (usize, usize) {
        if let Some(stride) = self.stride(dim) {
            return (usize::MAX, stride as usize);
        }
        let inner = &self.blocking.inner;
        let Some((index, (_, size))) = inner.iter().enumerate().rfind(|(_, b)| b.0 == dim) else {
            return (usize::MAX, self.blocking.strides[dim] as usize);
        };
        let stride: i64 = inner.iter().skip(index + 1).map(|b| b.1).product();
        ((size - pos[dim] % size) as usize, stride as usize)
    }

    /// Calls `each` for the pieces with a constant stride that make up `len` elements from `pos` on along `dim`: with the first element of
    /// a piece, the stride, and the range of its elements.
    #[inline(always)]
    fn pieces(&self, pos: &Pos, dim: usize, len: usize, mut each: impl FnMut(usize, usize, Range<usize>)) {
        let (mut pos, mut done) = (*pos, 0);
        while done < len {
            let (piece, stride) = self.piece(&pos, dim);
            let n = piece.min(len - done);
            each(self.offset(&pos), stride, done..done + n);
            pos[dim] += n as i64;
            done += n;
        }
    }

    /// Reads the elements from `pos` on along `dim`.
    pub fn read(&self, pos: &Pos, dim: usize, out: &mut [f32]) {
        self.pieces(pos, dim, out.len(), |at, stride, piece| self.read_run(at, stride, &mut out[piece]));
    }

    /// Writes elements from `pos` on along `dim`, rounded to nearest even, integers saturated.
    pub fn write(&self, pos: &Pos, dim: usize, values: &[f32]) {
        self.pieces(pos, dim, values.len(), |at, stride, piece| self.write_run(at, stride, &values[piece]));
    }

    /// Reads one element.
    pub fn get(&self, pos: &Pos) -> f32 {
        let mut one = [0.0];
        self.read_run(self.offset(pos), 1, &mut one);
        one[0]
    }

    /// Writes integers to an s32 tensor from `pos` on along `dim`.
    pub fn write_whole(&self, pos: &Pos, dim: usize, values: &[i32]) {
        self.pieces(pos, dim, values.len(), |at, stride, piece| {
            values[piece].iter().enumerate().for_each(|(i, v)| self.buf.set(at + i * stride, *v));
        });
    }

    /// Zeroes the padded area behind the logical sizes, in contiguous runs within blocks.
    pub fn zero_padding(&self) {
        let (dims, b) = (self.dims, self.blocking);
        if b.padded_dims == *dims {
            return;
        }
        let sizes = Dims::from_fn(dims.len(), |e| b.inner.iter().filter(|i| i.0 == e).map(|i| i.1).product());
        for d in (0..dims.len()).filter(|&d| b.padded_dims[d] > dims[d]) {
            for outer in dims[d] / sizes[d]..b.padded_dims[d] / sizes[d] {
                self.zero_blocks(&sizes, d, outer);
            }
        }
    }

    /// Zeroes the padding of dimension `d` in the blocks with index `outer` along it; blocks have the sizes `sizes`.
    fn zero_blocks(&self, sizes: &Dims, d: usize, outer: i64) {
        let first = self.dims[d] - outer * sizes[d];
        let all = sizes.iter().product::<i64>() as usize;
        let is_behind = |at: usize| self.index_in_block(d, at) >= first;
        // Positions of a dimension without blocks have one stride.
        let line = (0..sizes.len()).rev().find(|e| *e != d && sizes[*e] == 1);
        let (count, step) = line.map_or((1, 0), |e| (self.blocking.padded_dims[e] as usize, self.blocking.strides[e] as usize));
        let low = Dims::from_fn(sizes.len(), |e| if e == d { outer } else { 0 });
        let high = Dims::from_fn(sizes.len(), |e| match e {
            _ if e == d => outer + 1,
            _ if Some(e) == line => self.blocking.padded_dims[e].min(1),
            _ => self.blocking.padded_dims[e] / sizes[e],
        });
        let mut at = 0;
        while let Some(start) = (at..all).find(|at| is_behind(*at)) {
            at = (start..all).find(|at| !is_behind(*at)).unwrap_or(all);
            for_each(&low, &high, |block| {
                let mut pos = *block;
                pos.iter_mut().zip(sizes.iter()).for_each(|(p, size)| *p *= size);
                self.zero_runs(self.offset(&pos) + start, at - start, (count, step));
            });
        }
    }

    /// Zeroes some contiguous runs of elements, `count` of them at one stride.
    fn zero_runs(&self, offset: usize, run: usize, (count, step): (usize, usize)) {
        const CHUNK: usize = 256;
        let bits = self.dtype.bits();
        if bits >= 8 && self.dtype != DataType::E8m0 {
            let [offset, run, step] = [offset, run, step].map(|n| n * (bits / 8));
            return (0..count).for_each(|i| zero_bytes(&self.buf, offset + i * step, run));
        }
        for (i, part) in (0..count).flat_map(|i| (0..run).step_by(CHUNK).map(move |part| (i, part))) {
            Elements { buf: self.buf, dtype: self.dtype, at: offset + i * step + part, stride: 1 }
                .write(self.simd, &[0.0; CHUNK][..CHUNK.min(run - part)]);
        }
    }

    /// Index along `d` of element `at` of a block.
    fn index_in_block(&self, d: usize, mut at: usize) -> i64 {
        let (mut index, mut unit) = (0, 1);
        for (e, size) in self.blocking.inner.iter().rev() {
            if e == d {
                index += (at % size as usize) as i64 * unit;
                unit *= size;
            }
            at /= size as usize;
        }
        index
    }
}

/// Copies elements; the usual number, that of the widest vector, by one load and one store.
#[inline]
pub(crate) fn copy_line(from: &[f32], to: &mut [f32]) {
    match (<&[f32; 16]>::try_from(from), <&mut [f32; 16]>::try_from(&mut *to)) {
        (Ok(from), Ok(to)) => *to = *from,
        _ => to.copy_from_slice(from),
    }
}

/// Zeroes contiguous bytes, up to a cache line by two stores that may overlap.
#[inline]
pub(crate) fn zero_bytes(buf: &Buf<'_>, at: usize, count: usize) {
    match count {
        33..=64 => [at, at + count - 32].iter().for_each(|at| buf.write(*at, &[0u8; 32])),
        16..=32 => [at, at + count - 16].iter().for_each(|at| buf.write(*at, &[0u8; 16])),
        8..=15 => [at, at + count - 8].iter().for_each(|at| buf.write(*at, &[0u8; 8])),
        _ => buf.part(at, count).fill(0),
    }
}

/// Dimensions that are merged into one: an index counts the last of them fastest.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    dims: Dims,
    sizes: Dims,
}

impl Axis {
    /// The dimensions `dims` (slowest first) of a tensor of sizes `sizes`. Dimensions of size 1 are dropped, unless all are: their strides
    /// are meaningless.
    pub fn new(dims: &[usize], sizes: &[i64]) -> Axis {
        let (mut kept, mut lengths) = (Dims::default(), Dims::default());
        for (i, &d) in dims.iter().enumerate() {
            if sizes[d] != 1 || kept.is_empty() && i + 1 == dims.len() {
                kept.push(d as i64);
                lengths.push(sizes[d]);
            }
        }
        Axis { dims: kept, sizes: lengths }
    }

    /// The only dimension, if there is one.
    pub fn single(&self) -> Option<usize> {
        if self.dims.len() == 1 { Some(self.dims[0] as usize) } else { None }
    }

    /// The fastest dimension.
    pub fn fastest(&self) -> usize {
        self.dims.last().map_or(0, |d| *d as usize)
    }

    /// Number of indices.
    pub fn len(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `pos` moved to index `index`.
    pub fn at(&self, pos: &Pos, index: usize) -> Pos {
        let (mut pos, mut rest) = (*pos, index as i64);
        for (d, size) in self.dims.iter().zip(self.sizes.iter()).rev() {
            pos[*d as usize] += rest % size;
            rest /= size;
        }
        pos
    }

    /// The stride in `view`, if there is one for all.
    pub fn stride(&self, view: &View<'_>) -> Option<i64> {
        if view.blocking().is_plain() { self.chained(view.blocking()) } else { None }
    }

    /// The stride by the strides of `blocking` alone, if there is one for all.
    pub fn chained(&self, blocking: &Blocking) -> Option<i64> {
        let (strides, n) = (&blocking.strides, self.dims.len());
        let chained = |i: usize| strides[self.dims[i] as usize] == strides[self.dims[i + 1] as usize] * self.sizes[i + 1];
        (0..n.saturating_sub(1)).all(chained).then(|| strides[self.fastest()])
    }

    /// Calls `f(position, dimension, range)` for the lines that make up indices `start..start + count` from `pos` on.
    fn lines(&self, view: &View<'_>, pos: &Pos, start: usize, count: usize, mut f: impl FnMut(&Pos, usize, Range<usize>)) {
        let dim = self.fastest();
        let size = *self.sizes.last().unwrap_or(&1) as usize;
        if self.dims.len() <= 1 || self.stride(view).is_some() {
            return f(&self.at(pos, start), dim, 0..count);
        }
        let mut done = 0;
        while done < count {
            let n = (size - (start + done) % size).min(count - done);
            f(&self.at(pos, start + done), dim, done..done + n);
            done += n;
        }
    }

    /// Reads indices from `start` on.
    pub fn read(&self, view: &View<'_>, pos: &Pos, start: usize, out: &mut [f32]) {
        let count = out.len();
        self.lines(view, pos, start, count, |pos, dim, range| view.read(pos, dim, &mut out[range]));
    }

    /// Writes indices from `start` on.
    pub fn write(&self, view: &View<'_>, pos: &Pos, start: usize, values: &[f32]) {
        self.lines(view, pos, start, values.len(), |pos, dim, range| view.write(pos, dim, &values[range]));
    }
}

/// Calls `f` for every position of the box from `low` to before `high`.
pub fn for_each(low: &[i64], high: &[i64], mut f: impl FnMut(&Pos)) {
    let n = low.len();
    if low.iter().zip(high).any(|(l, h)| l >= h) {
        return;
    }
    let mut pos = [0; MAX_NDIMS];
    pos[..n].copy_from_slice(low);
    loop {
        f(&pos);
        let Some(d) = (0..n).rev().find(|&d| pos[d] + 1 < high[d]) else { return };
        pos[d] += 1;
        pos[d + 1..n].copy_from_slice(&low[d + 1..]);
    }
}
