//! Arguments of attention bound to memory, and how blocks of them come into a worker's scratch.

use super::thin::Lines;
use crate::kernels::access::{Axis, Pos, View, read_run};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::tile::pack::{Form, Plain, panels};
use crate::ops::support;
use oxidnn_runtime::Ctx;
use oxidnn_spec::op::SdpaScale;
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
    pub(super) fn panels(&self, at: &Pos, roles: Roles, (depth, columns): (Range<usize>, Range<usize>), width: usize, to: &mut [f32]) {
        let view = &self.source.view;
        let strides = view.stride(roles.depth).zip(view.stride(roles.column)).map(|(d, c)| (d as usize, c as usize));
        if let (Some(floats), Some((by_depth, by_column)), true) = (self.source.floats, strides, self.source.is_plain())
            && (by_depth == 1 || by_column == 1)
        {
            let from = Plain { bytes: bytemuck::cast_slice(&floats[view.offset(at)..]), depth: by_depth * 4, column: by_column * 4 };
            return panels(view.simd(), &from, depth, columns, Form { size: 4, together: 1, width }, to);
        }
        let dims = view.dims();
        let axes = [Axis::new(&[roles.depth], dims), Axis::new(&[roles.column], dims)];
        let [depth, columns] = [(0, depth), (1, columns)].map(|(i, range)| Span { axis: &axes[i], first: range.start, count: range.len() });
        pack::panels(&self.source, at, columns, depth, to, width);
    }
}

impl<'a> Heads<'a> {
    /// A part of a head as lines, where they are if they are contiguous, else copied to `spare`: a line a column where `of_columns`, else a line a
    /// depth. In place, where `either`, the other kind will do too.
    pub(super) fn lines<'s>(
        &self,
        at: &Pos,
        roles: Roles,
        (depth, columns): (Range<usize>, Range<usize>),
        (of_columns, either): (bool, bool),
        spare: &'s mut [f32],
    ) -> Lines<'s>
    where
        'a: 's,
    {
        let view = &self.source.view;
        let strides = view.stride(roles.depth).zip(view.stride(roles.column)).map(|(d, c)| (d as usize, c as usize));
        let kinds = [of_columns, !of_columns];
        if let (Some(floats), Some((by_depth, by_column)), true) = (self.source.floats, strides, self.source.is_plain()) {
            let fits = |of_columns: &&bool| if **of_columns { by_depth == 1 } else { by_column == 1 };
            if let Some(&of_columns) = kinds[..1 + usize::from(either)].iter().find(fits) {
                let first = view.offset(at) + depth.start * by_depth + columns.start * by_column;
                return Lines { numbers: &floats[first..], step: if of_columns { by_column } else { by_depth }, of_columns };
            }
        }
        let dims = view.dims();
        let axes = [Axis::new(&[roles.depth], dims), Axis::new(&[roles.column], dims)];
        let spans = [(0, depth), (1, columns)].map(|(i, range)| Span { axis: &axes[i], first: range.start, count: range.len() });
        let [lines, along] = if of_columns { [spans[1], spans[0]] } else { spans };
        pack::rows(&self.source, at, lines, along, spare, along.count);
        Lines { numbers: spare, step: along.count, of_columns }
    }
}

/// Takes parts of the given lengths from the front of a worker's scratch.
pub(super) fn parts<const N: usize>(space: &mut [f32], lens: [usize; N]) -> [&mut [f32]; N] {
    let mut rest = space;
    lens.map(|len| rest.split_off_mut(..len).unwrap_or_default())
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

/// Adds a mask to the scores, `step` apart, of rows of a batch by some keys.
pub(super) fn add_mask(
    simd: Simd,
    (mask, batch, queries): (&Broadcast<'_>, usize, usize),
    (rows, keys): (Range<usize>, &Range<usize>),
    (scores, step): (&mut [f32], usize),
    line: &mut [f32],
) {
    let line = &mut line[..keys.len()];
    for (row, scores) in rows.zip(scores.chunks_mut(step)) {
        let mut pos = row_at(batch, row, queries);
        pos[3] = keys.start as i64;
        mask.line(&pos, 3, line);
        simd.run(Add(&mut scores[..keys.len()], line));
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
