//! Binding the arguments of attention, and bringing blocks of them into a worker's scratch.

use super::decode::Lines;
use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::convert::Elements;
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::microkernel::pack::{PanelLayout, PlainMatrix, panels};
use crate::kernels::multiversion::{Simd, multiversion};
use oxidnn_runtime::Ctx;
use oxidnn_spec::op::{SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, DataType, Error, MAX_NDIMS, Tensor};
use std::ops::Range;

/// Elements of a line that are read at a time.
const CHUNK: usize = 128;

/// A tensor whose heads are matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads<'a> {
    source: Source<'a>,
    /// The memory, if nothing writes to it.
    bytes: Option<&'a [u8]>,
}

/// The roles of a head's dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Roles {
    /// The dimension of K.
    pub(super) depth: usize,
    /// The dimension of columns.
    pub(super) column: usize,
}

/// The position of the first element of a head.
pub(super) fn head(batch: usize, head: usize) -> Pos {
    let mut pos = [0; MAX_NDIMS];
    (pos[0], pos[1]) = (batch as i64, head as i64);
    pos
}

/// The position of the first element of a row, counted over all heads of a batch.
pub(super) fn row_at(batch: usize, row: usize, queries: usize) -> Pos {
    let mut pos = head(batch, row / queries);
    pos[2] = (row % queries) as i64;
    pos
}

impl<'a> Heads<'a> {
    /// The argument `arg` with its quantisation.
    pub(super) fn of((simd, ctx): (Simd, &Ctx<'a>), attr: &Attr, arg: Arg) -> Result<Heads<'a>, Error> {
        let source = Source::shifted(simd, ctx, attr, arg)?;
        let scale = Broadcast::scale(simd, ctx, attr, arg, source.view.dims())?;
        Ok(Heads { source: Source { scale: Some(scale).filter(|s| !s.is_constant(1.0)), ..source }, bytes: ctx.input(arg) })
    }

    /// Copies bf16 rows, counted over all heads of a batch, to words of pairs, with rows `step` words apart.
    pub(super) fn pairs(&self, batch: usize, rows: &Range<usize>, (to, step): (&mut [f32], usize)) {
        let view = &self.source.view;
        let (queries, size) = (view.dims()[2] as usize, view.dims()[3] as usize);
        for (row, to) in rows.clone().zip(to.chunks_mut(step)) {
            let (pos, to) = (row_at(batch, row, queries), &mut to[..size.div_ceil(2)]);
            match self.bytes.filter(|_| view.stride(3) == Some(1)) {
                Some(bytes) => {
                    let to: &mut [u8] = bytemuck::cast_slice_mut(to);
                    let (numbers, rest) = to.split_at_mut(2 * size);
                    numbers.copy_from_slice(&bytes[2 * view.offset(&pos)..][..2 * size]);
                    rest.fill(0);
                }
                None => self.line(&pos, 3, size, bytemuck::cast_slice_mut(to), 1),
            }
        }
    }

    /// Copies bf16 elements along a dimension to pairs `step` words apart; an odd last one is paired with a zero.
    fn line(&self, pos: &Pos, dim: usize, count: usize, to: &mut [u16], pair: usize) {
        let (mut pos, mut part) = (*pos, [0.0; CHUNK]);
        for start in (0..count).step_by(CHUNK) {
            let part = &mut part[..CHUNK.min(count - start)];
            self.source.view.read(&pos, dim, part);
            pos[dim] += part.len() as i64;
            for (i, x) in part.iter().enumerate() {
                let k = start + i;
                to[k / 2 * 2 * pair + k % 2] = (x.to_bits() >> 16) as u16;
            }
        }
        if count % 2 == 1 {
            to[count / 2 * 2 * pair + 1] = 0;
        }
    }

    /// Copies rows, counted over all heads of a batch, to rows `step` elements apart, each multiplied by `factor`.
    pub(super) fn rows(&self, batch: usize, rows: &Range<usize>, factor: f32, (to, step): (&mut [f32], usize)) {
        let dims = self.source.view.dims();
        let (over_heads, depth) = (Axis::new(&[1, 2], dims), Axis::new(&[3], dims));
        let (count, size) = (rows.len(), dims[3] as usize);
        let rows = Span { axis: &over_heads, first: rows.start, count };
        pack::rows(&self.source, &head(batch, 0), rows, Span { axis: &depth, first: 0, count: size }, to, step);
        if factor != 1.0 {
            for row in to.chunks_mut(step).take(count) {
                row[..size].iter_mut().for_each(|x| *x *= factor);
            }
        }
    }

    /// Packs a part of a head into panels.
    pub(super) fn panels(&self, part: &Part, form: PanelLayout, to: &mut [f32]) {
        let view = &self.source.view;
        let bytes = if form.size == 4 { self.source.floats.map(bytemuck::cast_slice) } else { self.bytes };
        if let (Some(bytes), Some([by_depth, by_column])) = (bytes, self.steps(part.roles))
            && (by_depth == 1 || by_column == 1)
        {
            let bytes = &bytes[view.offset(&part.head) * form.size..];
            let from = PlainMatrix { bytes, depth: by_depth * form.size, column: by_column * form.size };
            return panels(view.simd(), &from, part.depth.clone(), part.columns.clone(), form, to);
        }
        if form.vnni == 2 {
            return self.panels_of_pairs(part, form, to);
        }
        let [depth, columns] = part.axes(view);
        let [depth, columns] = [(&depth, &part.depth), (&columns, &part.columns)].map(span);
        pack::panels(&self.source, &part.head, columns, depth, to, form.width);
    }

    /// The same for bf16 in any layout, column by column.
    fn panels_of_pairs(&self, part: &Part, form: PanelLayout, to: &mut [f32]) {
        let Part { head, roles, depth, columns } = part;
        let panel = form.panel(depth.len()) / 4;
        for (first, to) in columns.clone().step_by(form.width).zip(to.chunks_exact_mut(panel.max(1))) {
            to.fill(0.0);
            let to: &mut [u16] = bytemuck::cast_slice_mut(to);
            for j in 0..form.width.min(columns.end - first) {
                let mut pos = *head;
                pos[roles.column] = (first + j) as i64;
                pos[roles.depth] = depth.start as i64;
                self.line(&pos, roles.depth, depth.len(), &mut to[2 * j..], form.width);
            }
        }
    }

    /// Whether keys or values with this layout can be packed into panels of pairs by vectors.
    pub(super) fn has_pairs(tensor: &Tensor) -> bool {
        let strides = tensor.blocking().filter(|b| b.is_plain()).map(|b| [b.strides[2], b.strides[3]]);
        tensor.dtype == DataType::Bf16 && strides.is_some_and(|s| s.contains(&1))
    }

    /// Strides of K and of columns, if elements need no conversion.
    fn steps(&self, roles: Roles) -> Option<[usize; 2]> {
        let view = &self.source.view;
        let (depth, column) = view.stride(roles.depth).zip(view.stride(roles.column)).filter(|_| self.source.is_plain())?;
        Some([depth as usize, column as usize])
    }

    /// A part of a head as lines, in place if they are contiguous, else copied to `spare`. With `weighed`, a line is a step of K, and lines
    /// of weight 0 do not contribute; else a line is a column, or a step of K if these are contiguous.
    pub(super) fn lines<'s>(&self, part: &Part, weighed: bool, spare: &'s mut [f32]) -> Lines<'s>
    where
        'a: 's,
    {
        let (view, Part { head, depth, columns, .. }) = (&self.source.view, part);
        if let (Some(floats), Some([by_depth, by_column])) = (self.source.floats, self.steps(part.roles)) {
            let numbers = || &floats[view.offset(head) + depth.start * by_depth + columns.start * by_column..];
            if by_depth == 1 && !weighed {
                return Lines { numbers: numbers(), step: by_column, of_columns: true, weighed };
            }
            if by_column == 1 {
                return Lines { numbers: numbers(), step: by_depth, of_columns: false, weighed };
            }
        }
        let axes = part.axes(view);
        let [depth, columns] = [(&axes[0], depth), (&axes[1], columns)].map(span);
        let [lines, along] = if weighed { [depth, columns] } else { [columns, depth] };
        pack::rows(&self.source, head, lines, along, spare, along.count);
        Lines { numbers: spare, step: along.count, of_columns: !weighed, weighed }
    }
}

/// Some indices of an axis.
fn span<'s>((axis, range): (&'s Axis, &Range<usize>)) -> Span<'s> {
    Span { axis, first: range.start, count: range.len() }
}

/// A part of a head as the right operand of a product.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Where the head begins.
    pub(super) head: Pos,
    pub(super) roles: Roles,
    pub(super) depth: Range<usize>,
    pub(super) columns: Range<usize>,
}

impl Part {
    fn axes(&self, view: &View<'_>) -> [Axis; 2] {
        [self.roles.depth, self.roles.column].map(|dim| Axis::new(&[dim], view.dims()))
    }
}

/// Slices of a worker's scratch from its front, by length.
pub(super) fn split<const N: usize>(mut rest: &mut [f32], lens: [usize; N]) -> [&mut [f32]; N] {
    lens.map(|len| rest.split_off_mut(..len).unwrap_or_default())
}

/// The sum of lengths; `None` on overflow.
pub(super) fn total(lens: &[usize]) -> Option<usize> {
    lens.iter().try_fold(0usize, |sum, len| sum.checked_add(*len))
}

/// The factor of scores.
pub(super) fn factor(simd: Simd, ctx: &Ctx<'_>, kind: SdpaScale) -> Result<f32, Error> {
    if kind == SdpaScale::None {
        return Ok(1.0);
    }
    let bound = ctx.bound(Arg::SCALE).ok_or_else(|| Error::arg(Arg::SCALE, "nothing", "a memory object"))?;
    let mut scale = [0.0];
    let first = bound.tensor.blocking().map_or(0, |b| b.offset as usize);
    Elements { buf: ctx.buf(Arg::SCALE)?, dtype: bound.tensor.dtype, at: first, stride: 1 }.read(simd, &mut scale);
    Ok(if kind == SdpaScale::Divide { 1.0 / scale[0] } else { scale[0] })
}

/// A tensor that is added to the scores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mask<'a> {
    simd: Simd,
    numbers: Broadcast<'a>,
    queries: usize,
}

/// Rows of a batch and some keys.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) batch: usize,
    /// Rows, counted over all heads of the batch.
    pub(super) rows: Range<usize>,
    pub(super) keys: Range<usize>,
}

impl<'a> Mask<'a> {
    /// The mask of an execution, if it has one.
    pub(super) fn of((simd, ctx): (Simd, &Ctx<'a>), kind: SdpaMask, queries: usize) -> Result<Option<Mask<'a>>, Error> {
        if kind != SdpaMask::Buffer {
            return Ok(None);
        }
        Ok(Some(Mask { simd, numbers: Broadcast::tensor(View::of(simd, ctx, Arg::SRC_3)?), queries }))
    }

    /// Multiplies the scores of a block, with rows `step` apart, by a factor and adds the mask; `line` has room for one element a key.
    pub(super) fn add(&self, block: &Block, factor: f32, (scores, step): (&mut [f32], usize), line: &mut [f32]) {
        let line = &mut line[..block.keys.len()];
        for (row, scores) in block.rows.clone().zip(scores.chunks_mut(step)) {
            let mut pos = row_at(block.batch, row, self.queries);
            pos[3] = block.keys.start as i64;
            self.numbers.line(&pos, 3, line);
            add_scaled(self.simd, &mut scores[..line.len()], factor, line, 1.0);
        }
    }
}

multiversion! {
    /// `to = to * factor + from * by`.
    pub(super) fn add_scaled(to: &mut [f32], factor: f32, from: &[f32], by: f32) {
        to.iter_mut().zip(from).for_each(|(x, y)| *x = *x * factor + y * by);
    }
}
