//! Copies of operands in the form that the tiles read: rows of `A` with a conflict-free distance, panels of `B`; converted to `f32`,
//! zero point subtracted and, where scales differ along the reduction, scaled.

use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::broadcast::Broadcast;

/// Lines that are read before they are stored across.
const GROUP: usize = 4;
/// Longest part of a line that is stored across.
const LINE: usize = 128;

/// A tensor with what turns its elements into real numbers: `scale * (element - zero_point)`.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The elements.
    pub view: View<'a>,
    /// Subtracted first.
    pub zero_point: Option<Broadcast<'a>>,
    /// Multiplied then.
    pub scale: Option<Broadcast<'a>>,
}

impl<'a> Source<'a> {
    /// The elements as they are.
    pub fn plain(view: View<'a>) -> Source<'a> {
        Source { view, zero_point: None, scale: None }
    }

    /// True when the elements are the numbers.
    pub fn is_plain(&self) -> bool {
        self.zero_point.is_none() && self.scale.is_none()
    }

    /// Reads indices of `axis` from `start` on.
    pub fn read(&self, axis: &Axis, pos: &Pos, start: usize, out: &mut [f32]) {
        axis.read(&self.view, pos, start, out);
        if self.is_plain() {
            return;
        }
        let mut line = [0.0; LINE];
        // Quantised operands have one-dimensional axes.
        let (mut pos, dim) = (axis.at(pos, start), axis.fastest());
        for out in out.chunks_mut(LINE) {
            let line = &mut line[..out.len()];
            if let Some(zero_point) = &self.zero_point {
                zero_point.line(&pos, dim, line);
                out.iter_mut().zip(&*line).for_each(|(x, z)| *x -= z);
            }
            if let Some(scale) = &self.scale {
                scale.line(&pos, dim, line);
                out.iter_mut().zip(&*line).for_each(|(x, s)| *x *= s);
            }
            pos[dim] += out.len() as i64;
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

/// True when the elements of `view` lie closer along `a` than along `b`.
pub fn closer(view: &View<'_>, a: &Axis, b: &Axis) -> bool {
    let distance = |a: &Axis| match a.stride(view) {
        Some(s) => s.max(1),
        None if view.blocking().inner.iter().last().is_some_and(|b| b.0 == a.fastest()) => 1,
        None => view.blocking().strides[a.fastest()].max(2),
    };
    distance(a) < distance(b)
}

/// Lines: `out[i * step + k]` is the element at index `i` of `lines`, index `k` of `along`.
pub fn lines(source: &Source<'_>, pos: &Pos, lines: Span<'_>, along: Span<'_>, out: &mut [f32], step: usize) {
    for i in 0..lines.count {
        let pos = lines.axis.at(pos, lines.first + i);
        source.read(along.axis, &pos, along.first, &mut out[i * step..][..along.count]);
    }
}

/// Rows: `out[i * step + k]` is the element at row `i`, depth `k`.
pub fn rows(source: &Source<'_>, pos: &Pos, rows: Span<'_>, depth: Span<'_>, out: &mut [f32], step: usize) {
    if !closer(&source.view, rows.axis, depth.axis) {
        return lines(source, pos, rows, depth, out, step);
    }
    across(source, pos, rows, depth, |i, k, values| out[i * step + k..][..values.len()].copy_from_slice(values));
}

/// Panels: `out[j / width * depth.count * width + k * width + j % width]` is the element at depth `k`, column `j`; the last panel is
/// filled up with zeros.
pub fn panels(source: &Source<'_>, pos: &Pos, columns: Span<'_>, depth: Span<'_>, out: &mut [f32], width: usize) {
    let panel = depth.count * width;
    let tail = columns.count % width;
    if tail > 0 {
        let last = &mut out[columns.count / width * panel..][..panel];
        last.chunks_exact_mut(width).for_each(|row| row[tail..].fill(0.0));
    }
    if closer(&source.view, depth.axis, columns.axis) {
        return across(source, pos, depth, columns, |k, j, values| {
            out[j / width * panel + k * width + j % width..][..values.len()].copy_from_slice(values);
        });
    }
    for k in 0..depth.count {
        let pos = depth.axis.at(pos, depth.first + k);
        for j in (0..columns.count).step_by(width) {
            let n = width.min(columns.count - j);
            source.read(columns.axis, &pos, columns.first + j, &mut out[j / width * panel + k * width..][..n]);
        }
    }
}

/// Reads lines along `fast` and hands them over transposed: `put(f, s, values)` gets the elements at `f` of `fast` and `s..` of `slow`; there
/// are at most [`GROUP`] of them, and `s` is a multiple of it.
#[inline(always)]
fn across(source: &Source<'_>, pos: &Pos, fast: Span<'_>, slow: Span<'_>, mut put: impl FnMut(usize, usize, &[f32])) {
    let mut lines = [[0.0f32; LINE]; GROUP];
    for f in (0..fast.count).step_by(LINE) {
        let n = LINE.min(fast.count - f);
        for s in (0..slow.count).step_by(GROUP) {
            let g = GROUP.min(slow.count - s);
            for (i, line) in lines.iter_mut().enumerate().take(g) {
                let pos = slow.axis.at(pos, slow.first + s + i);
                source.read(fast.axis, &pos, fast.first + f, &mut line[..n]);
            }
            for x in 0..n {
                let values: [f32; GROUP] = std::array::from_fn(|i| lines[i][x]);
                put(f + x, s, &values[..g]);
            }
        }
    }
}
