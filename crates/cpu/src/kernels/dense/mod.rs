//! Softmax and layer normalisation of matrices: `f32` tensors with contiguous rows, one after the other.
//!
//! [`pointwise`](super::pointwise) handles any type and layout in many passes over small registers; the kernels here handle the usual case
//! in few: a tile of whole rows is read once into L1, worked on in place and written once, so the result may overwrite a source.
mod layer_norm;
mod softmax;

pub use layer_norm::LayerNorm;
pub use softmax::Softmax;

use super::pointwise::GRAIN;
use super::scratch::{Part, Scratch, booked, for_workers};
use crate::row::TOO_LARGE;
use oxidnn_runtime::{Buf, Ctx, Executor, Skip};
use oxidnn_spec::{Arg, DataType, Error, Problem, Rounding, Tensor};
use std::ops::Range;

/// Elements of a tile of short rows.
const TILE_ELEMENTS: usize = 4096;
/// Widths for which this is faster: below, the work once a row dominates; above, a row does not stay in the cache.
const ROW_WIDTHS: std::ops::RangeInclusive<usize> = 16..=32 * 1024;

/// The sizes of the tensors, and the number of workers.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    rows: usize,
    width: usize,
    workers: usize,
}

fn tensor(problem: &Problem, arg: Arg) -> Result<Tensor, Skip> {
    let tensor = problem.tensor(arg).ok_or_else(|| Skip::Layout(format!("of {arg}: there is none")))?;
    match tensor.dtype {
        DataType::F32 => Ok(tensor),
        dtype => Err(Skip::DataType(format!("{dtype} of {arg}"))),
    }
}

/// Whether a tensor has no blocks, gaps or padding.
fn contiguous(tensor: &Tensor) -> bool {
    let plain = tensor.blocking().is_some_and(|b| b.is_plain() && b.offset == 0 && b.padded_dims == *tensor.dims());
    plain && tensor.layout.is_dense(false)
}

/// Refuses attributes that change the result.
fn plain_attributes(problem: &Problem) -> Result<(), Skip> {
    let attr = &problem.attr;
    let stochastic = attr.rounding.values().any(|&r| r == Rounding::Stochastic);
    let plain = attr.post_ops.is_empty() && attr.scales.is_empty() && attr.zero_points.is_empty();
    if plain && !stochastic && attr.dropout.is_none() { Ok(()) } else { Err(Skip::Attr("that changes the result".into())) }
}

impl Matrix {
    /// The arguments `args` as matrices of the same sizes, with rows along dimension `axis`.
    ///
    /// # Errors
    /// [`Skip`] for other types and layouts, and for attributes that change the result.
    fn of(problem: &Problem, axis: usize, args: &[Arg], workers: usize) -> Result<Matrix, Skip> {
        plain_attributes(problem)?;
        let first = tensor(problem, args[0])?;
        for &arg in args {
            let t = tensor(problem, arg)?;
            if !contiguous(&t) || t.layout != first.layout || t.blocking().is_none_or(|b| b.strides[axis] != 1) {
                return Err(Skip::Layout(format!("of {arg}: not contiguous rows")));
            }
        }
        let (width, volume) = (first.dims()[axis] as usize, first.layout.elements().unwrap_or(0) as usize);
        if !ROW_WIDTHS.contains(&width) || volume == 0 {
            return Err(Skip::Shape("rows that are too short or too long"));
        }
        Ok(Matrix { rows: volume / width, width, workers })
    }

    /// Refuses an argument `arg` that is not one contiguous number for each column.
    fn by_column(&self, problem: &Problem, arg: Arg) -> Result<(), Skip> {
        let t = tensor(problem, arg)?;
        let fits = contiguous(&t) && t.layout.elements() == Some(self.width as i64);
        if fits { Ok(()) } else { Err(Skip::Layout(format!("of {arg}"))) }
    }

    /// Rows of a tile.
    fn tile(&self) -> usize {
        (TILE_ELEMENTS / self.width).clamp(1, self.rows)
    }

    /// Elements of scratch for `tiles` tiles of every worker.
    fn space(&self, tiles: usize) -> Result<usize, Skip> {
        for_workers(self.workers, tiles * self.tile() * self.width).ok_or(TOO_LARGE)
    }

    /// Calls `body` in parallel for the rows of all tiles, with the worker's share of `space`.
    fn tiles(&self, executor: &dyn Executor, space: &mut Part<'_>, body: &(dyn Fn(Range<usize>, &mut [f32]) + Sync)) {
        let tile = self.tile();
        let task_rows = (GRAIN as usize / (tile * self.width)).max(1) * tile;
        space.work(executor, self.workers, self.rows.div_ceil(task_rows), &|task, space| {
            self.each(task * task_rows..((task + 1) * task_rows).min(self.rows), |rows| body(rows, space));
        });
    }

    /// Calls `body` for each tile of some rows.
    fn each(&self, rows: Range<usize>, mut body: impl FnMut(Range<usize>)) {
        let tile = self.tile();
        for first in rows.clone().step_by(tile) {
            body(first..(first + tile).min(rows.end));
        }
    }

    /// Reads rows to the front of `space`; returns them and the rest.
    fn read<'s>(&self, from: Buf, rows: &Range<usize>, space: &'s mut [f32]) -> (&'s mut [f32], &'s mut [f32]) {
        let (tile, rest) = space.split_at_mut(rows.len() * self.width);
        from.read(rows.start * self.width, tile);
        (tile, rest)
    }

    /// Rows in place, or copied to `space` if something that is written may overlap them.
    fn lend<'s>(&self, (floats, from): (Option<&'s [f32]>, Buf), rows: &Range<usize>, space: &'s mut [f32]) -> &'s [f32] {
        match floats {
            Some(all) => &all[rows.start * self.width..rows.end * self.width],
            None => self.read(from, rows, space).0,
        }
    }

    fn write(&self, to: Buf, rows: &Range<usize>, tile: &[f32]) {
        to.write(rows.start * self.width, tile);
    }
}

/// Bytes of scratch for `parts`.
fn bytes(parts: &[usize]) -> Result<usize, Skip> {
    booked(parts).ok_or(TOO_LARGE)
}

/// The argument `arg` by column if it is `used`, else `default` for every column.
fn parameters<'s>(
    ctx: &Ctx<'_>,
    scratch: &mut Scratch<'s>,
    width: usize,
    arg: Arg,
    (used, default): (bool, f32),
) -> Result<&'s mut [f32], Error> {
    let values = scratch.take(width)?.into_slice();
    if used {
        ctx.buf(arg)?.read(0, values);
    } else {
        values.fill(default);
    }
    Ok(values)
}
