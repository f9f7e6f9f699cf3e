//! Values that are broadcast over the elements of a result: bias, scales, zero points, operands of post-ops.

use super::access::{Pos, View};
use super::convert::Elements;
use super::multiversion::Simd;
use oxidnn_runtime::{Buf, Ctx};
use oxidnn_spec::{Arg, Attr, DataType, Error, MAX_NDIMS, Quant};

/// One value for every position of a tensor of up to 12 dimensions, constant along some of them.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast<'a> {
    source: Source<'a>,
    strides: Pos,
    groups: Pos,
}

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Constant(f32),
    Numbers { simd: Simd, buf: Buf<'a>, dtype: DataType, base: usize },
    Blocked(View<'a>),
}

/// The dimensions of a tensor of `dims` along which a quantisation varies, as bits.
pub fn varying(quant: &Quant, dims: &[i64]) -> u32 {
    let n = dims.len();
    let group = |d: usize| (d + 2).checked_sub(n).and_then(|i| quant.groups.get(i)).map_or(1, |g| (*g).max(1));
    (0..n).filter(|d| quant.mask >> d & 1 == 1 && group(*d) < dims[*d]).fold(0, |mask, d| mask | 1 << d)
}

impl<'a> Broadcast<'a> {
    /// The value `value` everywhere.
    pub const fn constant(value: f32) -> Broadcast<'a> {
        Broadcast { source: Source::Constant(value), strides: [0; MAX_NDIMS], groups: [1; MAX_NDIMS] }
    }

    /// The tensor `view`, whose dimensions are 1 or those of the positions.
    pub fn tensor(view: View<'a>) -> Broadcast<'a> {
        let mut b = Broadcast::constant(0.0);
        if !view.blocking().is_plain() {
            for (s, d) in b.strides.iter_mut().zip(view.dims().iter()) {
                *s = i64::from(*d != 1);
            }
            b.source = Source::Blocked(view);
            return b;
        }
        b.source = Source::Numbers { simd: view.simd(), buf: view.buf(), dtype: view.dtype(), base: view.offset(&[0; MAX_NDIMS]) };
        for (d, s) in b.strides.iter_mut().enumerate().take(view.dims().len()) {
            *s = if view.dims()[d] == 1 { 0 } else { view.blocking().strides[d] };
        }
        b
    }

    /// The one-dimensional `view` along dimension `dim` of the positions.
    pub fn along(view: View<'a>, dim: usize) -> Broadcast<'a> {
        let mut b = Broadcast::constant(0.0);
        b.source = Source::Numbers { simd: view.simd(), buf: view.buf(), dtype: view.dtype(), base: view.offset(&[0; MAX_NDIMS]) };
        b.strides[dim] = view.stride(0).unwrap_or(1);
        b
    }

    /// Scales of `arg`, a tensor of `dims`, by its own positions; 1 without any.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when they were not passed.
    pub fn scale(simd: Simd, ctx: &Ctx<'a>, attr: &Attr, arg: Arg, dims: &[i64]) -> Result<Broadcast<'a>, Error> {
        Broadcast::quant((simd, ctx), attr.scales.get(&arg), Arg::scale(arg), dims, 1.0)
    }

    /// Zero points of `arg`, a tensor of `dims`, by its own positions; 0 without any.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when they were not passed.
    pub fn zero_point(simd: Simd, ctx: &Ctx<'a>, attr: &Attr, arg: Arg, dims: &[i64]) -> Result<Broadcast<'a>, Error> {
        Broadcast::quant((simd, ctx), attr.zero_points.get(&arg), Arg::zero_point(arg), dims, 0.0)
    }

    /// The first element of a quantisation that memory `arg` holds; `default` without a quantisation.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when they were not passed.
    pub fn first(at: (Simd, &Ctx<'a>), quant: Option<&Quant>, arg: Arg, default: f32) -> Result<f32, Error> {
        let mut first = [default];
        if quant.is_some() {
            Broadcast::elements(at, arg, 0, &mut first)?;
        }
        Ok(first[0])
    }

    /// The elements of memory `arg` from the first on, `stride` apart.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it was not passed.
    pub fn elements((simd, ctx): (Simd, &Ctx<'a>), arg: Arg, stride: usize, out: &mut [f32]) -> Result<(), Error> {
        let bound = ctx.bound(arg).ok_or_else(|| Error::arg(arg, "nothing", "a memory object"))?;
        let at = bound.tensor.blocking().map_or(0, |x| x.offset as usize);
        Elements { buf: ctx.buf(arg)?, dtype: bound.tensor.dtype, at, stride }.read(simd, out);
        Ok(())
    }

    fn quant((simd, ctx): (Simd, &Ctx<'a>), quant: Option<&Quant>, arg: Arg, dims: &[i64], default: f32) -> Result<Broadcast<'a>, Error> {
        let mut b = Broadcast::constant(default);
        let Some(quant) = quant else { return Ok(b) };
        let sizes = quant.dims(dims);
        // A tensor without elements has no values of these either.
        if sizes.contains(&0) {
            return Ok(b);
        }
        if sizes.iter().all(|size| *size == 1) {
            return Ok(Broadcast::constant(Broadcast::first((simd, ctx), Some(quant), arg, default)?));
        }
        let bound = ctx.bound(arg).ok_or_else(|| Error::arg(arg, "nothing", "a memory object"))?;
        let base = bound.tensor.blocking().map_or(0, |x| x.offset as usize);
        b.source = Source::Numbers { simd, buf: ctx.buf(arg)?, dtype: bound.tensor.dtype, base };
        let (n, mut stride) = (dims.len(), 1);
        for d in (0..n).rev().filter(|&d| quant.mask >> d & 1 == 1) {
            b.strides[d] = if dims[d] == 1 { 0 } else { stride };
            b.groups[d] = if quant.groups.is_empty() || d + 2 < n { 1 } else { quant.groups[d + 2 - n].max(1) };
            stride *= sizes[d];
        }
        Ok(b)
    }

    /// The same with position 0 for all positions of dimension `d`.
    pub fn without(mut self, d: usize) -> Broadcast<'a> {
        self.strides[d] = 0;
        self
    }

    /// The same with one value for every `size` indices of dimension `d`.
    pub fn grouped(mut self, d: usize, size: i64) -> Broadcast<'a> {
        self.groups[d] = size;
        self
    }

    /// The same for positions of a result: `dims` lists for each dimension of the result the corresponding one of this tensor.
    pub fn permuted(mut self, dims: &[Option<usize>]) -> Broadcast<'a> {
        let (strides, groups) = (self.strides, self.groups);
        (self.strides, self.groups) = ([0; MAX_NDIMS], [1; MAX_NDIMS]);
        for (to, from) in dims.iter().enumerate() {
            if let Some(from) = *from {
                (self.strides[to], self.groups[to]) = (strides[from], groups[from]);
            }
        }
        self
    }

    /// Whether the value varies along `dim`.
    pub fn varies(&self, dim: usize) -> bool {
        self.strides[dim] != 0 && !matches!(self.source, Source::Constant(_))
    }

    /// Whether the value at `at` along `dim` may differ from the one before.
    pub fn changes(&self, dim: usize, at: i64) -> bool {
        self.varies(dim) && at % self.groups[dim] == 0
    }

    /// Whether it is `value` everywhere.
    pub fn is_constant(&self, value: f32) -> bool {
        matches!(self.source, Source::Constant(v) if v == value)
    }

    /// The value at `pos`.
    pub fn at(&self, pos: &Pos) -> f32 {
        let mut one = [0.0];
        self.line(pos, 0, &mut one);
        one[0]
    }

    /// The values from `pos` on along `dim`.
    pub fn line(&self, pos: &Pos, dim: usize, out: &mut [f32]) {
        // Most are constant, or vary along few dimensions: this test is faster than a division.
        let along = |d: usize| if self.strides[d] == 0 { 0 } else { pos[d] / self.groups[d] * self.strides[d] };
        let index: i64 = (0..MAX_NDIMS).map(along).sum();
        match self.source {
            Source::Constant(v) => out.fill(v),
            Source::Blocked(view) => {
                let own: Pos = std::array::from_fn(|d| pos[d] * self.strides[d]);
                if self.strides[dim] == 0 { out.fill(view.get(&own)) } else { view.read(&own, dim, out) }
            }
            Source::Numbers { simd, buf, dtype, base } if self.groups[dim] == 1 || self.strides[dim] == 0 => {
                Elements { buf, dtype, at: base + index as usize, stride: self.strides[dim] as usize }.read(simd, out);
            }
            Source::Numbers { simd, buf, dtype, base } => {
                let (group, stride) = (self.groups[dim], self.strides[dim]);
                let (mut done, mut at) = (0, pos[dim]);
                while done < out.len() {
                    let n = ((group - at % group) as usize).min(out.len() - done);
                    let place = base as i64 + index + (at / group - pos[dim] / group) * stride;
                    Elements { buf, dtype, at: place as usize, stride: 0 }.read(simd, &mut out[done..done + n]);
                    done += n;
                    at += n as i64;
                }
            }
        }
    }

    /// Largest magnitude of `count` elements in memory; for a constant its own.
    pub fn largest(&self, count: usize) -> f32 {
        let mut buffer = [0.0; 64];
        match self.source {
            Source::Constant(v) => v.abs(),
            Source::Blocked(_) => f32::INFINITY,
            Source::Numbers { simd, buf, dtype, base } => (0..count).step_by(buffer.len()).fold(0.0, |m: f32, i| {
                let part = &mut buffer[..(count - i).min(64)];
                Elements { buf, dtype, at: base + i, stride: 1 }.read(simd, part);
                part.iter().fold(m, |m, v| m.max(v.abs()))
            }),
        }
    }
}
