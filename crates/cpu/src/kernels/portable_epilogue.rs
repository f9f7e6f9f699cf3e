//! The portable epilogue of accumulated sums: scales, bias, post-ops, the destination's scale and zero point, conversion.
//!
//! Results come as blocks of rows in scratch; a row is a run of elements along one dimension of the destination, and consecutive rows are
//! neighbours along another one ([`Run`]). Everything is done row by row, in vectors; the block is then stored along whichever of the two
//! dimensions is contiguous in memory.

use super::access::{Pos, View};
use super::chain::{Chain, Operand, Step, lanes};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Attr, DataType, Error, QuantMode, Rounding, Tensor};

/// Columns that are processed at a time.
const CHUNK: usize = 128;
/// Sums that a step processes before the next step does: they stay in L1.
const NEAR: usize = 4096;

/// Consecutive rows of a block: `count` positions from `pos` on, `step` apart along dimension `dim`.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Position of the first row's first element.
    pub pos: Pos,
    /// The dimension along which rows follow each other.
    pub dim: usize,
    /// Positions from row to row along it.
    pub step: i64,
    /// Number of rows.
    pub count: usize,
}

impl Run {
    /// Position of a row's first element.
    fn at(&self, row: usize) -> Pos {
        let mut pos = self.pos;
        pos[self.dim] += self.step * row as i64;
        pos
    }
}

/// A block of sums.
#[derive(Debug)]
pub struct Sums<'s> {
    /// The elements.
    pub data: &'s mut [f32],
    /// The sums as 32-bit integers (in the bits) if `data` cannot represent them: then `data` is not read.
    pub exact: Option<&'s mut [f32]>,
    /// Stride of rows.
    pub step: usize,
    /// Number of columns that belong to the result.
    pub columns: usize,
    /// The dimension along columns.
    pub dim: usize,
}

/// The epilogue of a primitive, bound to its arguments.
#[derive(Clone, Copy, Debug)]
pub struct PortableEpilogue<'a> {
    chain: Chain<'a>,
    plain: bool,
}

/// Refuses attributes that [`PortableEpilogue`] does not do.
///
/// # Errors
/// The attribute.
pub fn check(attr: &Attr, dst: &Tensor) -> Result<(), Skip> {
    let no = |what: &str| Err(Skip::Attr(what.into()));
    if dst.dtype.bits() == 4 || dst.dtype == DataType::F64 {
        return Err(Skip::DataType(format!("{} as destination", dst.dtype)));
    }
    if attr.dropout.is_some() {
        return no("dropout");
    }
    if attr.rounding.values().any(|r| *r == Rounding::Stochastic) {
        return no("stochastic rounding");
    }
    if attr.scales.values().any(|q| q.mode != QuantMode::Static) {
        return no("scales computed by the library");
    }
    if attr.depthwise_index().is_some() {
        return no("a depthwise post-op");
    }
    Ok(())
}

impl<'a> PortableEpilogue<'a> {
    /// The epilogue of a chain.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when an argument is missing.
    pub fn new(chain: Chain<'a>) -> Result<PortableEpilogue<'a>, Error> {
        let mut plain = true;
        for step in chain.steps() {
            plain = false;
            let step = step.map_err(|declined| Error::Runtime(declined.to_string()))?;
            for operand in step.operands.into_iter().flatten() {
                if let Operand::PostOp(i, of) = operand {
                    chain.argument(i, of)?;
                }
            }
        }
        Ok(PortableEpilogue { chain, plain })
    }

    /// The operands.
    pub fn chain(&self) -> &Chain<'a> {
        &self.chain
    }

    /// The destination.
    pub fn dst(&self) -> &View<'a> {
        self.chain.dst()
    }

    /// Whether sums are stored unchanged.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Finishes and stores a block whose rows are those of `runs`, in order.
    pub fn store(&self, sums: Sums<'_>, runs: impl Iterator<Item = Run>) {
        let Sums { data, exact, step, columns, dim } = sums;
        if columns == 0 {
            return;
        }
        if let Some(exact) = exact {
            let whole: &[i32] = bytemuck::cast_slice(exact);
            if self.plain && self.dst().dtype() == DataType::S32 {
                return self.store_whole(whole, step, (columns, dim), runs);
            }
            data.iter_mut().zip(whole).for_each(|(x, w)| *x = *w as f32);
        }
        let (along_columns, near) = (self.stride(dim) <= 1, (NEAR / step).max(1));
        let mut first = 0;
        for run in runs {
            let rows = &mut data[first * step..];
            for (chunk, rows) in rows.chunks_mut(near * step).enumerate().take(run.count.div_ceil(near)) {
                let run = Run { pos: run.at(chunk * near), count: near.min(run.count - chunk * near), ..run };
                if !self.plain {
                    self.rows(&run, dim, rows, (step, columns));
                }
                for (i, row) in rows.chunks(step).enumerate().take(run.count).filter(|_| along_columns) {
                    self.dst().write(&run.at(i), dim, &row[..columns]);
                }
            }
            if !along_columns {
                self.store_across(rows, step, columns, dim, &run);
            }
            first += run.count;
        }
    }

    /// Stores integer sums unchanged.
    fn store_whole(&self, sums: &[i32], step: usize, (columns, dim): (usize, usize), runs: impl Iterator<Item = Run>) {
        let mut first = 0;
        for run in runs {
            for i in 0..run.count {
                self.dst().write_whole(&run.at(i), dim, &sums[(first + i) * step..][..columns]);
            }
            first += run.count;
        }
    }

    /// The stride along `dim` in memory, within a block if the dimension is blocked.
    fn stride(&self, dim: usize) -> i64 {
        let blocking = self.dst().blocking();
        match blocking.inner.iter().enumerate().rfind(|(_, b)| b.0 == dim) {
            Some((i, _)) => blocking.inner.iter().skip(i + 1).map(|b| b.1).product(),
            None => blocking.strides[dim],
        }
    }

    /// Stores a run column by column.
    fn store_across(&self, rows: &[f32], step: usize, columns: usize, dim: usize, run: &Run) {
        let mut line = [0.0; CHUNK];
        let dst = self.dst();
        let whole = run.step == 1 && (1..=CHUNK).contains(&run.count) && dst.stride(run.dim) == Some(1);
        if whole && dst.stride(dim) == Some(run.count as i64) {
            // Columns follow each other.
            let (each, start) = (CHUNK / run.count, dst.offset(&run.pos));
            for first in (0..columns).step_by(each) {
                let line = &mut line[..each.min(columns - first) * run.count];
                for (j, column) in line.chunks_exact_mut(run.count).enumerate() {
                    column.iter_mut().enumerate().for_each(|(i, x)| *x = rows[i * step + first + j]);
                }
                dst.write_run(start + first * run.count, 1, line);
            }
            return;
        }
        for j in 0..columns {
            for start in (0..run.count).step_by(CHUNK) {
                let line = &mut line[..(run.count - start).min(CHUNK)];
                for (i, x) in line.iter_mut().enumerate() {
                    *x = rows[(start + i) * step + j];
                }
                let mut pos = run.pos;
                pos[dim] += j as i64;
                pos[run.dim] += run.step * start as i64;
                if run.step == 1 {
                    self.dst().write(&pos, run.dim, line);
                    continue;
                }
                for x in line.iter() {
                    self.dst().write(&pos, run.dim, std::slice::from_ref(x));
                    pos[run.dim] += run.step;
                }
            }
        }
    }

    /// Applies all steps to the sums of a run, except for the conversion.
    fn rows(&self, run: &Run, dim: usize, rows: &mut [f32], (distance, columns): (usize, usize)) {
        let mut lines = [[0.0; CHUNK]; 2];
        // The steps were checked when the epilogue was made.
        for step in self.chain.steps().flatten() {
            for (i, row) in rows.chunks_mut(distance).enumerate().take(run.count) {
                self.row(&step, run.at(i), dim, &mut row[..columns], &mut lines);
            }
        }
    }

    /// Applies a step to the sums from `pos` on along `dim`.
    fn row(&self, step: &Step, mut pos: Pos, dim: usize, row: &mut [f32], lines: &mut [[f32; CHUNK]; 2]) {
        for x in row.chunks_mut(CHUNK) {
            for (operand, line) in step.operands.iter().flatten().zip(&mut *lines) {
                if let Err(missing) = self.chain.line(*operand, &pos, dim, &mut line[..x.len()]) {
                    panic!("{missing}, though it was there before");
                }
            }
            let operands = lines.each_ref().map(|line| &line[..x.len()]);
            lanes::apply(self.dst().simd(), step.formula, x, operands);
            pos[dim] += x.len() as i64;
        }
    }
}
