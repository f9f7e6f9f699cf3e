//! What products of few and of many rows share: batch offsets, quantisation of weights, and the epilogue.

use super::call::Column;
use super::source::CHUNK;
use super::weights::Lie;
use super::{Factor, Operands, Request};
use crate::kernels::access::Pos;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::epilogue::{Run, Sums};
use crate::kernels::nest::Block;
use crate::kernels::scratch::Part;
use oxidnn_runtime::{Buf, Executor};
use oxidnn_spec::{DataType, Error, MAX_NDIMS};

/// The sums to finish: rows `step` apart from `row` on, columns from `first` on; there may be padding columns after the weights'.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finished {
    pub(super) batch: usize,
    pub(super) row: usize,
    pub(super) rows: usize,
    pub(super) first: usize,
    pub(super) columns: usize,
    pub(super) step: usize,
}

impl Request {
    /// Columns of all panels, or of plain weights.
    pub(super) fn padded_columns(&self) -> usize {
        let Lie::Panels { columns, .. } = self.weights.lie else { return self.weights.n };
        self.weights.n.next_multiple_of(columns)
    }

    /// Positions of a product of the batch in source, weights and destination.
    pub(super) fn positions(&self, on: &Operands<'_>, mut batch: usize) -> [Pos; 3] {
        let mut all = [[0; MAX_NDIMS]; 3];
        let dims = [Some(on.a.view.dims()), None, Some(on.tail.dst().dims())];
        for (d, size) in on.places.batch.iter().enumerate().rev() {
            let p = (batch % *size as usize) as i64;
            batch /= *size as usize;
            for (pos, dims) in all.iter_mut().zip(dims) {
                pos[d] = if dims.is_some_and(|dims| dims[d] == 1) { 0 } else { p };
            }
        }
        all
    }

    /// Byte offset of the weights of a product of the batch.
    pub(super) fn weights_start(&self, on: &Operands<'_>, mut batch: usize) -> usize {
        let mut start = self.weights.offset;
        for (size, bytes) in on.places.batch.iter().zip(on.places.batch_bytes.iter()).rev() {
            start += batch % *size as usize * *bytes as usize;
            batch /= *size as usize;
        }
        start
    }

    /// The weights of a product of the batch.
    pub(super) fn weights_of<'b>(&self, on: &Operands<'b>, batch: usize) -> Buf<'b> {
        let start = self.weights_start(on, batch);
        on.b.part(start, on.b.len() - start)
    }

    /// Sums of the source over every group: by product of the batch, by group, by row.
    pub(super) fn sum_groups<'s>(&self, on: &Operands<'_>, part: Part<'s>, executor: &dyn Executor) -> &'s [f32] {
        let Request { rows, weights, grouped, .. } = *self;
        let size = grouped.map_or(weights.k, |g| g.size);
        let groups = weights.k / size;
        part.fill(executor, groups * rows, &|batch, out| {
            let pos = self.positions(on, batch)[0];
            let mut line = [0.0; CHUNK];
            for (i, sum) in out.iter_mut().enumerate() {
                let pos = on.places.axes[0].at(&pos, i % rows);
                let mut total = 0.0;
                for start in (0..size).step_by(CHUNK) {
                    let line = &mut line[..CHUNK.min(size - start)];
                    on.a.read(&on.places.axes[1], &pos, i / rows * size + start, line);
                    total += sum_of(line);
                }
                *sum = total as f32;
            }
        })
    }

    /// The scales or zero points of groups as kernels read them.
    pub(super) fn factor<'b>(
        &self,
        on: &Operands<'_>,
        (factor, from): (Option<Factor>, &Broadcast<'_>),
        buf: Option<Buf<'b>>,
        part: Result<Part<'b>, Error>,
        executor: &dyn Executor,
    ) -> Result<Option<Column<'b>>, Error> {
        let (Some(factor), Some(grouped)) = (factor, self.grouped) else { return part.map(|_| None) };
        let columns = self.padded_columns();
        if let (Factor::InPlace(dtype), Some(buf)) = (factor, buf) {
            return Ok(Some(Column { buf, row: columns * dtype.bits() / 8, dtype }));
        }
        let ([column, depth], table) = (on.places.weights, part?.into_buf());
        executor.run(executor.threads(), self.weights.k / grouped.size, &|_, group| {
            let mut pos: Pos = [0; MAX_NDIMS];
            pos[depth] = (group * grouped.size) as i64;
            let mut line = [0.0f32; 128];
            for first in (0..columns).step_by(line.len()) {
                let line = &mut line[..128.min(columns - first)];
                pos[column] = first as i64;
                let (there, padding) = line.split_at_mut(line.len().min(self.weights.n.saturating_sub(first)));
                from.line(&pos, column, there);
                padding.fill(0.0);
                table.write(group * columns + first, line);
            }
        });
        Ok(Some(Column { buf: table, row: columns * 4, dtype: DataType::F32 }))
    }

    /// Writes the terms of the weights' zero points as initial sums of a block.
    pub(super) fn begin(&self, on: &Operands<'_>, a_sums: &[f32], block: Block<'_>) {
        let Block { unit: batch, rows, columns, sums, step, .. } = block;
        sums.chunks_mut(step).take(rows.len()).for_each(|row| row[..columns.len()].fill(0.0));
        let at = Finished { batch, row: rows.start, rows: rows.len(), first: columns.start, columns: columns.len(), step };
        self.subtract(on, a_sums, at, sums);
    }

    /// Subtracts the terms of the weights' zero points.
    fn subtract(&self, on: &Operands<'_>, a_sums: &[f32], at: Finished, sums: &mut [f32]) {
        let (mut weights, column, mut line) = (self.positions(on, at.batch)[1], on.places.weights[0], [0.0; 128]);
        for start in (0..at.columns).step_by(line.len()) {
            let line = &mut line[..128.min(at.columns - start)];
            weights[column] = (at.first + start) as i64;
            on.zero.line(&weights, column, line);
            for (sums, a) in sums.chunks_mut(at.step).zip(&a_sums[at.batch * self.rows + at.row..][..at.rows]) {
                sums[start..].iter_mut().zip(&*line).for_each(|(s, z)| *s -= z * a);
            }
        }
    }

    /// Subtracts zero points, and finishes and stores a block.
    pub(super) fn finish(&self, on: &Operands<'_>, a_sums: &[f32], at: Finished, sums: &mut [f32]) {
        let at = Finished { columns: at.columns.min(self.weights.n - at.first), ..at };
        let mut pos = self.positions(on, at.batch)[2];
        (pos[on.places.dst[0]], pos[on.places.dst[1]]) = (at.row as i64, at.first as i64);
        if self.zero {
            self.subtract(on, a_sums, at, sums);
        }
        let run = Run { pos, dim: on.places.dst[0], step: 1, count: at.rows };
        let sums = Sums { data: sums, exact: None, step: at.step, columns: at.columns, dim: on.places.dst[1] };
        on.tail.store(sums, std::iter::once(run));
    }
}

/// Sum of elements, in eight partial sums.
fn sum_of(line: &[f32]) -> f64 {
    let mut parts = [0.0f64; 8];
    for x in line.chunks(8) {
        parts.iter_mut().zip(x).for_each(|(p, x)| *p += f64::from(*x));
    }
    parts.iter().sum()
}
