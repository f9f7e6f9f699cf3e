//! Arguments of attention bound to memory, and how blocks of them come into a worker's scratch.

use super::thin::Lines;
use crate::kernels::access::{Axis, Pos, View, read_run};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::tile::pack::{Form, Plain, panels};
use crate::ops::support;
use oxidnn_runtime::Ctx;
use oxidnn_spec::op::{SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, Error, MAX_NDIMS};
use std::ops::Range;

/// A tensor whose heads are matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads<'a> {
    source: Source<'a>,
}

/// Which dimension of a head is what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Roles {
    /// The depth of the product.
    pub(super) depth: usize,
    /// The columns.
    pub(super) column: usize,
}

/// The position where a head begins.
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
    /// The argument `arg`, quantised as the attributes say.
    pub(super) fn of((simd, ctx): (Simd, &Ctx<'a>), attr: &Attr, arg: Arg) -> Result<Heads<'a>, Error> {
        let view = View::of(simd, ctx, arg)?;
        let scale = Broadcast::scale(simd, ctx, attr, arg, view.dims())?;
        let zero_point = Broadcast::zero_point(simd, ctx, attr, arg, view.dims())?;
        Ok(Heads {
            source: Source {
                view,
                zero_point: Some(zero_point).filter(|z| !z.is_constant(0.0)),
                scale: Some(scale).filter(|s| !s.is_constant(1.0)),
                floats: support::floats(ctx, arg, &view),
            },
        })
    }

    /// Copies rows, counted over all heads of a batch, to numbers `step` apart, each multiplied by `factor`.
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

    /// Writes a part of a head as panels of `width` columns.
    pub(super) fn panels(&self, part: &Part, width: usize, to: &mut [f32]) {
        let view = &self.source.view;
        if let (Some(floats), Some([by_depth, by_column])) = (self.source.floats, self.steps(part.roles))
            && (by_depth == 1 || by_column == 1)
        {
            let from =
                Plain { bytes: bytemuck::cast_slice(&floats[view.offset(&part.head)..]), depth: by_depth * 4, column: by_column * 4 };
            return panels(view.simd(), &from, part.depth.clone(), part.columns.clone(), Form { size: 4, together: 1, width }, to);
        }
        let [depth, columns] = part.axes(view);
        let [depth, columns] = [(&depth, &part.depth), (&columns, &part.columns)].map(span);
        pack::panels(&self.source, &part.head, columns, depth, to, width);
    }

    /// Distances of depths and of columns, where the numbers are plain and lie in memory as they are.
    fn steps(&self, roles: Roles) -> Option<[usize; 2]> {
        let view = &self.source.view;
        let (depth, column) = view.stride(roles.depth).zip(view.stride(roles.column)).filter(|_| self.source.is_plain())?;
        Some([depth as usize, column as usize])
    }

    /// A part of a head as lines, where they are if they are contiguous, else copied to `spare`. Every line is a depth where `weighed`, and those
    /// of weight 0 do not count; else a line is a column, or a depth where these are contiguous.
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

/// Takes parts of a worker's scratch from its front, by their lengths.
pub(super) fn taker<'s>(mut rest: &'s mut [f32]) -> impl FnMut(usize) -> &'s mut [f32] {
    move |len| rest.split_off_mut(..len).unwrap_or_default()
}

/// What scores are multiplied by.
pub(super) fn factor(simd: Simd, ctx: &Ctx<'_>, kind: SdpaScale) -> Result<f32, Error> {
    if kind == SdpaScale::None {
        return Ok(1.0);
    }
    let bound = ctx.bound(Arg::SCALE).ok_or_else(|| Error::arg(Arg::SCALE, "nothing", "a memory object"))?;
    let mut scale = [0.0];
    let first = bound.tensor.blocking().map_or(0, |b| b.offset as usize);
    read_run(simd, ctx.buf(Arg::SCALE)?, bound.tensor.dtype, (first, 1), &mut scale);
    Ok(if kind == SdpaScale::Divide { 1.0 / scale[0] } else { scale[0] })
}

/// A tensor that is added to the scores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mask<'a> {
    simd: Simd,
    numbers: Broadcast<'a>,
    queries: usize,
}

/// Rows of a batch by some keys.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) batch: usize,
    /// Rows, counted over all heads of the batch.
    pub(super) rows: Range<usize>,
    pub(super) keys: Range<usize>,
}

impl<'a> Mask<'a> {
    /// The mask of an execution, where there is one.
    pub(super) fn of((simd, ctx): (Simd, &Ctx<'a>), kind: SdpaMask, queries: usize) -> Result<Option<Mask<'a>>, Error> {
        if kind != SdpaMask::Buffer {
            return Ok(None);
        }
        Ok(Some(Mask { simd, numbers: Broadcast::tensor(View::of(simd, ctx, Arg::SRC_3)?), queries }))
    }

    /// Adds it to the scores, `step` apart, of a block; `line` has room for one number a key.
    pub(super) fn add(&self, block: &Block, scores: &mut [f32], step: usize, line: &mut [f32]) {
        let line = &mut line[..block.keys.len()];
        for (row, scores) in block.rows.clone().zip(scores.chunks_mut(step)) {
            let mut pos = row_at(block.batch, row, self.queries);
            pos[3] = block.keys.start as i64;
            self.numbers.line(&pos, 3, line);
            self.simd.run(Add(&mut scores[..line.len()], line));
        }
    }
}

struct Add<'a>(&'a mut [f32], &'a [f32]);

impl Body for Add<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.0.iter_mut().zip(self.1).for_each(|(x, y)| *x += y);
    }
}
