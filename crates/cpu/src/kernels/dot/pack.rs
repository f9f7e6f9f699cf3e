//! Packing of operands for the portable tiles: rows of `A` at a stride without cache conflicts, panels of `B`; converted to `f32`, with the
//! zero point subtracted and, if scales vary along K, scaled.

use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_runtime::Ctx;
use oxidnn_spec::{Arg, Attr, DataType, Error};

/// Lines that are converted before they are transposed.
const LINES_AT_ONCE: usize = 16;
/// Longest part of a line that is converted at a time.
const CHUNK: usize = 128;

/// A tensor and its quantisation: real values are `scale * (element - zero_point)`.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The elements.
    pub view: View<'a>,
    /// Subtracted first.
    pub zero_point: Option<Broadcast<'a>>,
    /// Multiplied then.
    pub scale: Option<Broadcast<'a>>,
    /// The elements, if they are `f32` and nothing writes to them.
    pub floats: Option<&'a [f32]>,
}

impl<'a> Source<'a> {
    /// The elements of the argument `arg` without quantisation.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it is missing.
    pub fn plain(simd: Simd, ctx: &Ctx<'a>, arg: Arg) -> Result<Source<'a>, Error> {
        let view = View::of(simd, ctx, arg)?;
        let floats = if view.dtype() == DataType::F32 { ctx.input(arg) } else { None };
        Ok(Source { view, zero_point: None, scale: None, floats })
    }

    /// The elements of the argument `arg` minus its zero points.
    ///
    /// # Errors
    /// As for [`Source::plain`].
    pub fn shifted(simd: Simd, ctx: &Ctx<'a>, attr: &Attr, arg: Arg) -> Result<Source<'a>, Error> {
        let plain = Source::plain(simd, ctx, arg)?;
        if !attr.zero_points.contains_key(&arg) {
            return Ok(plain);
        }
        let zero_point = Broadcast::zero_point(simd, ctx, attr, arg, plain.view.dims())?;
        Ok(Source { zero_point: Some(zero_point).filter(|z| !z.is_constant(0.0)), ..plain })
    }

    /// Whether there is no quantisation.
    pub fn is_plain(&self) -> bool {
        self.zero_point.is_none() && self.scale.is_none()
    }

    /// Reads indices of `axis` from `start` on.
    pub fn read(&self, axis: &Axis, pos: &Pos, start: usize, out: &mut [f32]) {
        axis.read(&self.view, pos, start, out);
        if !self.is_plain() {
            // Quantised operands have axes of one dimension.
            self.adjust(&axis.at(pos, start), (axis.fastest(), out.len()), (0, 1), out);
        }
    }

    /// Subtracts zero points from and scales `out`: equal lines that follow each other along dimension `next`, of each the first `count`
    /// elements, which follow each other along `dim`; the first is at `pos`.
    fn adjust(&self, pos: &Pos, (dim, count): (usize, usize), (next, lines): (usize, usize), out: &mut [f32]) {
        let each = out.len() / lines.max(1);
        let mut line = [0.0; CHUNK];
        for start in (0..count).step_by(CHUNK) {
            let line = &mut line[..CHUNK.min(count - start)];
            for (factor, subtract) in [(&self.zero_point, true), (&self.scale, false)] {
                let Some(factor) = factor else { continue };
                let mut pos = *pos;
                pos[dim] += start as i64;
                for (l, out) in out.chunks_exact_mut(each.max(1)).enumerate() {
                    if l == 0 || factor.changes(next, pos[next]) {
                        factor.line(&pos, dim, line);
                    }
                    let out = &mut out[start..][..line.len()];
                    if subtract {
                        out.iter_mut().zip(&*line).for_each(|(x, z)| *x -= z);
                    } else {
                        out.iter_mut().zip(&*line).for_each(|(x, s)| *x *= s);
                    }
                    pos[next] += 1;
                }
            }
        }
    }
}

/// A part of a matrix: indices `first..first + count` of an axis.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The axis.
    pub axis: &'a Axis,
    /// First index.
    pub first: usize,
    /// Number of indices.
    pub count: usize,
}

/// Whether the elements of `view` have a smaller stride along `a` than along `b`.
fn has_smaller_stride(view: &View<'_>, a: &Axis, b: &Axis) -> bool {
    let distance = |a: &Axis| match a.stride(view) {
        Some(s) => s.max(1),
        None if view.blocking().inner.iter().last().is_some_and(|b| b.0 == a.fastest()) => 1,
        None => view.blocking().strides[a.fastest()].max(2),
    };
    distance(a) < distance(b)
}

/// Rows: `out[i * step + k]` is the element at row `i`, K index `k`.
pub fn rows(source: &Source<'_>, pos: &Pos, rows: Span<'_>, depth: Span<'_>, out: &mut [f32], step: usize) {
    if has_smaller_stride(&source.view, rows.axis, depth.axis) {
        transfer(source, pos, depth, rows, out, (1, step));
    } else {
        transfer(source, pos, rows, depth, out, (step, 1));
    }
}

/// Panels: `out[j / width * depth.count * width + k * width + j % width]` is the element at K index `k`, column `j`; the last panel is
/// zero-padded.
pub fn panels(source: &Source<'_>, pos: &Pos, columns: Span<'_>, depth: Span<'_>, out: &mut [f32], width: usize) {
    let by_depth = has_smaller_stride(&source.view, depth.axis, columns.axis);
    for (j, panel) in (0..columns.count).step_by(width).zip(out.chunks_mut((depth.count * width).max(1))) {
        let columns = Span { first: columns.first + j, count: width.min(columns.count - j), ..columns };
        if columns.count < width {
            panel.chunks_exact_mut(width).for_each(|row| row[columns.count..].fill(0.0));
        }
        if let Some(start) = in_panels(source, pos, columns, depth, width) {
            source.view.read_run(start, 1, panel);
            if !source.is_plain() {
                let pos = columns.axis.at(&depth.axis.at(pos, depth.first), columns.first);
                source.adjust(&pos, (columns.axis.fastest(), columns.count), (depth.axis.fastest(), depth.count), panel);
            }
        } else if by_depth {
            transfer(source, pos, columns, depth, panel, (1, width));
        } else {
            transfer(source, pos, depth, columns, panel, (width, 1));
        }
    }
}

/// Where a panel begins in memory, if it is stored as it is needed except for its type.
fn in_panels(source: &Source<'_>, pos: &Pos, columns: Span<'_>, depth: Span<'_>, width: usize) -> Option<usize> {
    let blocking = source.view.blocking();
    let mut blocks = blocking.inner.iter();
    let (block, more) = (blocks.next()?, blocks.next());
    let dim = columns.axis.single()?;
    let first = pos[dim] as usize + columns.first;
    let fits = more.is_none() && block == (dim, width as i64) && first.is_multiple_of(width);
    let dense = depth.axis.chained(blocking)? == width as i64 && (source.is_plain() || depth.axis.single().is_some());
    // Elements behind the columns of a partial panel do not matter: their products are not used.
    (fits && dense).then(|| source.view.offset(&columns.axis.at(&depth.axis.at(pos, depth.first), columns.first)))
}

/// Copies a matrix whose lines (indices of `outer`) are along `inner` in memory; `steps` are the strides of both in `out`, one of them 1.
fn transfer(source: &Source<'_>, pos: &Pos, outer: Span<'_>, inner: Span<'_>, out: &mut [f32], steps: (usize, usize)) {
    let view = &source.view;
    let strides = outer.axis.stride(view).zip(inner.axis.stride(view)).map(|(o, i)| (o as usize, i as usize));
    let counts = (outer.count, inner.count);
    let start = || view.offset(&inner.axis.at(&outer.axis.at(pos, outer.first), inner.first));
    if let (Some(from), Some(from_steps), true) = (source.floats, strides, source.is_plain()) {
        if counts.0 > 0 && counts.1 > 0 {
            view.simd().run(Transfer { from: &from[start()..], from_steps, to: out, to_steps: steps, counts });
        }
        return;
    }
    let dense = source.is_plain() && strides == Some((inner.count, 1)) && inner.count > 0;
    let mut buffer = [0.0f32; LINES_AT_ONCE * CHUNK];
    let group = if dense { (LINES_AT_ONCE * CHUNK / inner.count).max(1) } else { LINES_AT_ONCE };
    let most = if dense { (LINES_AT_ONCE * CHUNK).min(inner.count) } else { CHUNK };
    for i in (0..inner.count).step_by(most) {
        let n = most.min(inner.count - i);
        for o in (0..outer.count).step_by(group) {
            let g = group.min(outer.count - o);
            if dense && n == inner.count {
                view.read_run(start() + o * n, 1, &mut buffer[..g * n]);
            } else {
                for (l, line) in buffer.chunks_exact_mut(n).enumerate().take(g) {
                    source.read(inner.axis, &outer.axis.at(pos, outer.first + o + l), inner.first + i, line);
                }
            }
            let to = &mut out[o * steps.0 + i * steps.1..];
            view.simd().run(Transfer { from: &buffer, from_steps: (n, 1), to, to_steps: steps, counts: (g, n) });
        }
    }
}

/// `to[o * to_steps.0 + i * to_steps.1] = from[o * from_steps.0 + i * from_steps.1]`.
struct Transfer<'a> {
    from: &'a [f32],
    from_steps: (usize, usize),
    to: &'a mut [f32],
    to_steps: (usize, usize),
    counts: (usize, usize),
}

impl Body for Transfer<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Transfer { from, from_steps, to, to_steps, counts: (outer, inner) } = self;
        if from_steps.1 == 1 && to_steps.1 == 1 {
            for o in 0..outer {
                copy::<W>(&from[o * from_steps.0..][..inner], &mut to[o * to_steps.0..][..inner]);
            }
            return;
        }
        let whole = if from_steps.1 == 1 && to_steps.0 == 1 { outer / W * W } else { 0 };
        for o in (0..whole).step_by(W) {
            let lines: [&[f32]; W] = std::array::from_fn(|l| &from[(o + l) * from_steps.0..][..inner]);
            for i in 0..inner {
                let column: [f32; W] = std::array::from_fn(|l| lines[l][i]);
                to[i * to_steps.1 + o..][..W].copy_from_slice(&column);
            }
        }
        for o in whole..outer {
            for i in 0..inner {
                to[o * to_steps.0 + i * to_steps.1] = from[o * from_steps.0 + i * from_steps.1];
            }
        }
    }
}

/// Copies a line, a short one without a call.
#[inline(always)]
fn copy<const W: usize>(from: &[f32], to: &mut [f32]) {
    if from.len() > 16 * W {
        return to.copy_from_slice(from);
    }
    let (head, epilogue) = from.as_chunks::<W>();
    let (to_head, to_tail) = to.as_chunks_mut::<W>();
    for (t, f) in to_head.iter_mut().zip(head) {
        *t = *f;
    }
    for (t, f) in to_tail.iter_mut().zip(epilogue) {
        *t = *f;
    }
}
