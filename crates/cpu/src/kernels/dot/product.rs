//! Portable matrix products of any type, layout and quantisation: cut into blocks, packed, multiplied, finished.
//!
//! A task is one block of the result. It iterates over K in steps, whose operands are copied into the worker's scratch. Blocks depend on the
//! sizes alone, so results do not depend on the number of workers.

use super::block::{Block, Rows, accumulate};
use super::pack::{self, Source, Span};
use super::sums::Accumulator;
use super::tile::{Tap, panel_width};
use crate::kernels::access::{Axis, Pos};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{PortableEpilogue, Run, Sums};
use crate::kernels::scratch::{Part, for_workers};
use crate::target::Isa;
use oxidnn_runtime::Executor;
use oxidnn_spec::{Dims, MAX_NDIMS};

/// Largest number of rows of a block.
const MAX_BLOCK_ROWS: usize = 240;
/// Largest number of columns of a block.
const MAX_BLOCK_COLUMNS: usize = 128;
/// Largest K of a step.
const K_BLOCK: usize = 256;
/// Elements between packed rows, so that rows do not map to the same cache sets.
const SKEW: usize = 16;

/// One operand of a product.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Elements and quantisation.
    pub source: Source<'a>,
    /// The rows of `A` or columns of `B`.
    pub outer: Axis,
    /// The reduction.
    pub depth: Axis,
}

impl<'a> Operand<'a> {
    /// The matrix of dimensions `outer` and `depth` of `source`, each list slowest first.
    pub fn new(source: Source<'a>, outer: &[usize], depth: &[usize]) -> Operand<'a> {
        let dims = source.view.dims();
        Operand { source, outer: Axis::new(outer, dims), depth: Axis::new(depth, dims) }
    }
}

/// `c[batch, m, n] = epilogue(sum over k of a[batch, m, k] * b[batch, k, n])`.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// Sizes of the batch dimensions; an operand of size 1 there is broadcast.
    pub batch: Dims,
    /// Left operand.
    pub a: Operand<'a>,
    /// Right operand.
    pub b: Operand<'a>,
    /// Destination and epilogue.
    pub epilogue: PortableEpilogue<'a>,
    /// Rows in the destination.
    pub rows: Axis,
    /// Columns in the destination.
    pub columns: Axis,
    /// For integers, the longest part of a reduction whose sums are exact in `f32`; `None` for floating-point elements.
    pub exact: Option<usize>,
}

/// Length of the scratch for `workers` workers.
pub fn scratch_len(isa: Isa, workers: usize) -> Option<usize> {
    let each = 2 * MAX_BLOCK_ROWS * MAX_BLOCK_COLUMNS
        + MAX_BLOCK_ROWS * (K_BLOCK + SKEW)
        + K_BLOCK * MAX_BLOCK_COLUMNS.next_multiple_of(2 * isa.lanes());
    for_workers(workers, each)
}

/// A block's place.
struct Place {
    a: Pos,
    b: Pos,
    c: Pos,
    m: std::ops::Range<usize>,
    n: std::ops::Range<usize>,
}

/// Cuts `size` into equal blocks of at most `most`, multiples of `unit`: (number, size).
fn cut(size: usize, most: usize, unit: usize) -> (usize, usize) {
    let each = size.div_ceil(size.div_ceil(most).max(1)).next_multiple_of(unit).max(unit);
    (size.div_ceil(each), each)
}

impl Product<'_> {
    /// Computes everything, on at most `workers` workers that share `scratch`.
    pub fn run(&self, simd: Simd, executor: &dyn Executor, workers: usize, scratch: &mut Part<'_>) {
        let (m, n) = (self.rows.len(), self.columns.len());
        let batches = self.batch.iter().product::<i64>() as usize;
        let (m_blocks, m_each) = cut(m, MAX_BLOCK_ROWS, 12);
        let (n_blocks, n_each) = cut(n, MAX_BLOCK_COLUMNS, panel_width(simd.isa(), n));
        scratch.work(executor, workers, batches * m_blocks * n_blocks, &|task, scratch| {
            let (i, rest) = (task % m_blocks, task / m_blocks);
            let (j, batch) = (rest % n_blocks, rest / n_blocks);
            let span = |i: usize, each: usize, all: usize| i * each..all.min((i + 1) * each);
            let [a, b, c] = self.batch_positions(batch);
            self.block(simd, &Place { a, b, c, m: span(i, m_each, m), n: span(j, n_each, n) }, scratch);
        });
    }

    /// Positions of a product of the batch in the operands and the destination.
    fn batch_positions(&self, mut batch: usize) -> [Pos; 3] {
        let mut all = [[0; MAX_NDIMS]; 3];
        for (d, size) in self.batch.iter().enumerate().rev() {
            let p = (batch % *size as usize) as i64;
            batch /= *size as usize;
            for (pos, dims) in all.iter_mut().zip([self.a.source.view.dims(), self.b.source.view.dims(), self.epilogue.dst().dims()]) {
                pos[d] = if dims[d] == 1 { 0 } else { p };
            }
        }
        all
    }

    fn block(&self, simd: Simd, at: &Place, scratch: &mut [f32]) {
        let (m, n) = (at.m.len(), at.n.len());
        let width = panel_width(simd.isa(), self.columns.len());
        let (sums, rest) = scratch.split_at_mut(2 * MAX_BLOCK_ROWS * MAX_BLOCK_COLUMNS);
        let (left, right) = rest.split_at_mut(MAX_BLOCK_ROWS * (K_BLOCK + SKEW));
        let step = n.next_multiple_of(width);
        let mut sums = Accumulator::new(sums, m * step, self.exact);
        let depth = self.a.depth.len();
        let most = self.exact.map_or(K_BLOCK, |e| e.min(K_BLOCK));
        for k in (0..depth).step_by(most) {
            let now = most.min(depth - k);
            sums.reserve(now);
            let [along_a, along_b] = [&self.a, &self.b].map(|of| Span { axis: &of.depth, first: k, count: now });
            let row = now + SKEW;
            pack::rows(&self.a.source, &at.a, Span { axis: &self.a.outer, first: at.m.start, count: m }, along_a, left, row);
            pack::panels(&self.b.source, &at.b, Span { axis: &self.b.outer, first: at.n.start, count: n }, along_b, right, width);
            let rows: [usize; MAX_BLOCK_ROWS] = std::array::from_fn(|i| i * row);
            let block = Block {
                a: left,
                rows: Rows::At(&rows[..m]),
                b: right,
                width,
                b_step: width,
                panel: now * width,
                columns: n,
                taps: &[Tap { a: 0, b: 0 }],
                depth: now,
            };
            accumulate(simd, &block, sums.data, step);
        }
        let (data, exact) = sums.finish();
        self.store(at, Sums { data, exact, step, columns: n, dim: self.columns.fastest() });
    }

    fn store(&self, at: &Place, sums: Sums<'_>) {
        match (self.rows.single(), self.columns.single()) {
            (Some(row), Some(column)) => {
                let mut pos = at.c;
                pos[row] = at.m.start as i64;
                pos[column] = at.n.start as i64;
                self.epilogue.store(sums, std::iter::once(Run { pos, dim: row, step: 1, count: at.m.len() }));
            }
            _ => {
                for i in 0..at.m.len() {
                    let pos = self.rows.at(&at.c, at.m.start + i);
                    self.columns.write(self.epilogue.dst(), &pos, at.n.start, &sums.data[i * sums.step..][..at.n.len()]);
                }
            }
        }
    }
}
