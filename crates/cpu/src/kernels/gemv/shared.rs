//! What products of few and of many rows share: batch offsets, quantisation of weights, and the epilogue.

use super::call::Column;
use super::source::CHUNK;
use super::weights::WeightOrder;
use super::{Factor, Operands, Request};
use crate::kernels::access::Pos;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::macrokernel::SumBlock;
use crate::kernels::portable_epilogue::{Run, Sums};
use crate::kernels::scratch::Part;
use oxidnn_runtime::{Buf, Executor};
use oxidnn_spec::{DataType, Error, MAX_NDIMS};

impl Request {
    /// Columns of all panels, or of plain weights.
    pub(super) fn padded_columns(&self) -> usize {
        let WeightOrder::Panels { columns, .. } = self.weights.order else { return self.weights.n };
        self.weights.n.next_multiple_of(columns)
    }

    /// Positions of a product of the batch in source, weights and destination.
    pub(super) fn positions(&self, on: &Operands<'_>, mut batch: usize) -> [Pos; 3] {
        let mut all = [[0; MAX_NDIMS]; 3];
        let dims = [Some(on.a.view.dims()), None, Some(on.epilogue.dst().dims())];
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
    fn factor<'b>(
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

    /// Scales and zero points of groups as kernels read them, where they are or in tables.
    pub(super) fn columns<'b>(
        &self,
        on: &Operands<'_>,
        [scales, zeros]: [Option<Buf<'b>>; 2],
        tables: [Result<Part<'b>, Error>; 2],
        executor: &dyn Executor,
    ) -> Result<[Option<Column<'b>>; 2], Error> {
        let ([scale, zero], [of_scales, of_zeros]) = (self.factors(), tables);
        let scales = self.factor(on, (scale, on.scale), scales, of_scales, executor)?;
        Ok([scales, self.factor(on, (zero, on.zero), zeros, of_zeros, executor)?])
    }

    /// Writes the terms of the weights' zero points as initial sums of a block.
    pub(super) fn begin(&self, on: &Operands<'_>, a_sums: &[f32], mut block: SumBlock<'_>) {
        block.sums.chunks_mut(block.step).take(block.rows.len()).for_each(|row| row[..block.columns.len()].fill(0.0));
        self.subtract(on, a_sums, &mut block);
    }

    /// Subtracts the terms of the weights' zero points.
    fn subtract(&self, on: &Operands<'_>, a_sums: &[f32], block: &mut SumBlock<'_>) {
        let (mut weights, column, mut line) = (self.positions(on, block.unit)[1], on.places.weights[0], [0.0; 128]);
        for start in (0..block.columns.len()).step_by(line.len()) {
            let line = &mut line[..128.min(block.columns.len() - start)];
            weights[column] = (block.columns.start + start) as i64;
            on.zero.line(&weights, column, line);
            for (sums, a) in block.sums.chunks_mut(block.step).zip(&a_sums[block.unit * self.rows..][block.rows.clone()]) {
                sums[start..].iter_mut().zip(&*line).for_each(|(s, z)| *s -= z * a);
            }
        }
    }

    /// Subtracts zero points, and finishes and stores a block; there may be padding columns after the weights'.
    pub(super) fn finish(&self, on: &Operands<'_>, a_sums: &[f32], mut block: SumBlock<'_>) {
        block.columns.end = block.columns.end.min(self.weights.n);
        if self.zero {
            self.subtract(on, a_sums, &mut block);
        }
        let (mut pos, [row, column]) = (self.positions(on, block.unit)[2], on.places.dst);
        (pos[row], pos[column]) = (block.rows.start as i64, block.columns.start as i64);
        let sums = Sums { data: block.sums, exact: None, step: block.step, columns: block.columns.len(), dim: column };
        on.epilogue.store(sums, std::iter::once(Run { pos, dim: row, step: 1, count: block.rows.len() }));
    }

    /// Elements of scratch: sums of the source by group where there are zero points to subtract, and tables of scales and zero points of
    /// groups; `None` on overflow.
    pub(super) fn lens(&self) -> Option<[usize; 3]> {
        let groups = self.grouped.map_or(1, |g| self.weights.k / g.size);
        let table = |factor: Option<Factor>| match factor {
            Some(Factor::Table) => groups.checked_mul(self.padded_columns()),
            _ => Some(0),
        };
        let [scale, zero] = self.factors();
        let sums = if self.zero || zero.is_some() { self.batches.checked_mul(groups)?.checked_mul(self.rows)? } else { 0 };
        Some([sums, table(scale)?, table(zero)?])
    }

    /// Scales and zero points of groups.
    pub(super) fn factors(&self) -> [Option<Factor>; 2] {
        self.grouped.map_or([None; 2], |g| [g.scale, g.zero])
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
