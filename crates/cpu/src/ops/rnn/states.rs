//! Rows of states, and elements by channel: where they are, and how they are copied between tensors and scratch.

use super::sizes::{Panels, Sizes};
use super::skinny::Rows;
use crate::kernels::access::{Pos, View};
use crate::kernels::convert::Elements;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Part;
use oxidnn_runtime::{Buf, Ctx, Executor};
use oxidnn_spec::{Arg, DataType, Error, MAX_NDIMS};

/// Elements that are converted at a time.
const CHUNK: usize = 256;

/// The position of the first channel of a row.
pub(super) fn position(at: &[usize]) -> Pos {
    let mut pos = [0; MAX_NDIMS];
    pos.iter_mut().zip(at).for_each(|(p, i)| *p = *i as i64);
    pos
}

/// How many of `rows` rows of scratch, `width` elements apart, are moved at a time: all if their `count` channels, and rows along dimension
/// `dim` of the tensor, follow each other in both.
pub(super) fn together(view: &View<'_>, dim: usize, rows: usize, [width, count]: [usize; 2]) -> usize {
    let follow = width == count && view.stride(dim + 1) == Some(1) && view.stride(dim) == Some(count as i64);
    if follow { rows } else { 1 }
}

/// The representation of states: a type, and for integers `scale * x + shift`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codec {
    pub(super) dtype: DataType,
    /// Scale and shift.
    pub(super) whole: Option<(f32, f32)>,
}

impl Codec {
    /// Elements without scale and shift.
    pub(super) const fn plain(dtype: DataType) -> Codec {
        Codec { dtype, whole: None }
    }

    /// Bytes of an element.
    pub(super) const fn size(&self) -> usize {
        self.dtype.bits() / 8
    }

    /// The rows of the first layer's input: those of the source at a byte offset and stride, or copies.
    pub(super) fn copy_init_layer<'a>(
        &self,
        (simd, ctx): (Simd, &Ctx<'a>),
        z: &Sizes,
        in_place: Option<(usize, usize)>,
        copy: Part<'a>,
    ) -> Result<States<'a>, Error> {
        // Both directions read the same rows.
        let states = |buf, start, row| States { codec: *self, buf, start, direction: 0, time: z.batch * row, row };
        if let Some((start, row)) = in_place {
            return Ok(states(ctx.buf(Arg::SRC)?, start, row));
        }
        let (to, view) = (copy.into_buf(), View::of(simd, ctx, Arg::SRC)?);
        let each = together(&view, 1, z.batch, [z.slc; 2]);
        ctx.executor().run(ctx.executor().threads(), z.samples() / each, &|_, i| {
            let (i, count) = (i * each, each * z.slc);
            self.load(&view, (&[i / z.batch, i % z.batch], 0), to, (i * z.slc, count), count);
        });
        Ok(states(to, 0, z.slc * self.size()))
    }

    /// The offset of the element at `pos`, if the tensor has this codec's type and the elements along `dim` are contiguous.
    fn raw_offset(&self, view: &View<'_>, pos: &Pos, dim: usize) -> Option<usize> {
        (view.dtype() == self.dtype && view.stride(dim) == Some(1)).then(|| view.offset(pos))
    }

    /// Copies `count` channels, from `channel` on, of a row of a tensor to elements `first..first + width` of scratch, zero-padded.
    pub(super) fn load(&self, view: &View<'_>, (at, channel): (&[usize], usize), to: Buf, (first, width): (usize, usize), count: usize) {
        let mut pos = position(at);
        pos[at.len()] = channel as i64;
        if let Some(from) = self.raw_offset(view, &pos, at.len()) {
            let size = self.size();
            to.copy::<u8>(first * size, &view.buf(), from * size, count * size);
            return to.part((first + count) * size, (width - count) * size).fill(0);
        }
        let mut line = [0.0; CHUNK];
        let convert = self.whole.filter(|_| view.dtype() != self.dtype);
        for start in (0..width).step_by(CHUNK) {
            let line = &mut line[..CHUNK.min(width - start)];
            let (there, padding) = line.split_at_mut(count.saturating_sub(start).min(line.len()));
            padding.fill(0.0);
            if !there.is_empty() {
                pos[at.len()] = (channel + start) as i64;
                view.read(&pos, at.len(), there);
                if let Some((scale, shift)) = convert {
                    there.iter_mut().for_each(|x| *x = *x * scale + shift);
                }
            }
            Elements { buf: to, dtype: self.dtype, at: first + start, stride: 1 }.write(view.simd(), line);
        }
    }

    /// Fills scratch with the representation of 0.
    pub(super) fn clear(&self, simd: Simd, to: Buf) {
        to.fill(0);
        if let (Some((_, shift)), false) = (self.whole, to.is_empty()) {
            Elements { buf: to, dtype: self.dtype, at: 0, stride: 1 }.write(simd, &[shift]);
            to.fill(to.get(0));
        }
    }

    /// Writes the sum of rows of scratch to `count` channels, from `channel` on, of a row of a tensor.
    pub(super) fn store(&self, view: &View<'_>, (at, channel): (&[usize], usize), from: &[(Buf, usize)], count: usize) {
        let mut pos = position(at);
        pos[at.len()] = channel as i64;
        if let (Some(to), [(buf, first)]) = (self.raw_offset(view, &pos, at.len()), from) {
            let size = self.size();
            return view.buf().copy::<u8>(to * size, buf, first * size, count * size);
        }
        let mut line = [0.0; CHUNK];
        for start in (0..count).step_by(CHUNK) {
            let line = &mut line[..CHUNK.min(count - start)];
            let read = |(buf, first): &(Buf, usize), to: &mut [f32]| {
                Elements { buf: *buf, dtype: self.dtype, at: first + start, stride: 1 }.read(view.simd(), to);
            };
            read(&from[0], line);
            for other in &from[1..] {
                let mut numbers = [0.0; CHUNK];
                read(other, &mut numbers[..line.len()]);
                line.iter_mut().zip(&numbers).for_each(|(x, y)| *x += y);
            }
            if let Some((scale, shift)) = self.whole {
                let shifts = from.len() as f32;
                if view.dtype().is_x8() {
                    line.iter_mut().for_each(|x| *x -= (shifts - 1.0) * shift);
                } else {
                    line.iter_mut().for_each(|x| *x = (*x - shifts * shift) / scale);
                }
            }
            pos[at.len()] = (channel + start) as i64;
            view.write(&pos, at.len(), line);
        }
    }
}

/// Rows of states by direction, time and sample; strides in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct States<'a> {
    pub(super) codec: Codec,
    pub(super) buf: Buf<'a>,
    pub(super) start: usize,
    pub(super) direction: usize,
    pub(super) time: usize,
    pub(super) row: usize,
}

impl<'a> States<'a> {
    /// Contiguous rows of `width` elements, for `time` times and `batch` samples.
    pub(super) const fn packed(codec: Codec, buf: Buf, time: usize, batch: usize, width: usize) -> States {
        let row = width * codec.size();
        States { codec, buf, start: 0, direction: time * batch * row, time: batch * row, row }
    }

    /// The samples of a time.
    pub(super) const fn rows(&self, d: usize, t: usize) -> Rows<'a> {
        Rows { buf: self.buf, start: self.start + d * self.direction + t * self.time, row: self.row }
    }

    /// The memory and the index of the first element of a row.
    pub(super) fn row(&self, [d, t, n]: [usize; 3]) -> (Buf<'a>, usize) {
        (self.buf, (self.rows(d, t).start + n * self.row) / self.codec.size())
    }

    /// The first of every group of rows of a tensor of states by layer, direction and sample that are copied at once, and the group's size.
    fn groups(&self, view: &View<'_>, z: &Sizes, count: usize) -> (impl Iterator<Item = [usize; 2]> + use<>, usize) {
        let (batch, each) = (z.batch, together(view, 2, z.batch, [self.row / self.codec.size(), count]));
        ((0..z.directions * z.batch).step_by(each).map(move |i| [i / batch, i % batch]), each)
    }

    /// Loads the `count` channels of a layer's initial states, or zeros.
    pub(super) fn copy_init_iter(&self, (simd, view): (Simd, Option<&View<'_>>), z: &Sizes, l: usize, count: usize) {
        let Some(view) = view else { return self.codec.clear(simd, self.buf) };
        let (rows, each) = self.groups(view, z, count);
        for [d, n] in rows {
            let ((to, first), width) = (self.row([d, 0, n]), self.row / self.codec.size());
            self.codec.load(view, (&[l, d, n], 0), to, (first, each * width), each * count);
        }
    }

    /// Stores the `count` channels of a layer's states; `time` is that of a direction.
    pub(super) fn copy_res_iter(&self, view: &View<'_>, z: &Sizes, (l, count): (usize, usize), time: impl Fn(usize) -> usize) {
        let (rows, each) = self.groups(view, z, count);
        for [d, n] in rows {
            self.codec.store(view, (&[l, d, n], 0), &[self.row([d, time(d), n])], each * count);
        }
        if l == 0 {
            view.zero_padding();
        }
    }
}

/// Elements by layer, direction, gate and channel, in the order in which tasks read them: by stack, panel, gate, and channel of the panel.
pub(super) struct Lines<'z> {
    pub(super) z: &'z Sizes,
    pub(super) panels: Panels,
    /// Gates of the elements.
    pub(super) gates: usize,
}

impl Lines<'_> {
    /// Fills a part with the elements of a tensor, or zeros.
    pub(super) fn fill<'s>(&self, executor: &dyn Executor, view: Option<&View<'_>>, part: Part<'s>) -> &'s [f32] {
        let (z, width) = (self.z, self.panels.width);
        part.fill(executor, self.panels.padded() * self.gates, &|stack, to| {
            to.fill(0.0);
            let Some(view) = view else { return };
            for (i, line) in to.chunks_exact_mut(width).enumerate() {
                let (panel, gate) = (i / self.gates, i % self.gates);
                let (first, count) = self.panels.channels(panel, z.dhc);
                let pos = position(&[stack / z.directions, stack % z.directions, gate, first]);
                view.read(&pos, 3, &mut line[..count]);
            }
        })
    }
}
