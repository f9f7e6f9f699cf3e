//! `flash`: attention in one pass, without the matrix of scores in memory.
//!
//! A task has the queries of its rows in scratch. It meets the keys block by block: the block's keys become panels, one
//! product gives the scores, [`Step`] scales them, turns them into exponentials and rescales what there is of the results, the values become panels, and
//! a second product adds to the results. Both products and all that is between them stay in L2; a result is written once.
//!
//! Where queries, keys and values are bf16 and the processor multiplies these, so do both products: scores are sums of exact products, exponentials
//! are rounded to bf16 once, and their sum is that of f32.
//!
//! The floor is that of the products: `4 * queries * keys * size` operations a head. Panels cost a copy of keys and values for every block of
//! rows (an element for twice as many multiply-adds as there are rows), exponentials some twenty instructions for a vector of scores.

use super::cut::{Cut, Place};
use super::operands::{Block, Heads, Mask, Part, Roles, factor, head, row_at, taker};
use super::products::{Kind, Left, Products, Ready, Right, Sums};
use super::softmax::{Row, Step};
use super::thin;
use crate::kernels::access::{Pos, View};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Lens, Scratch, for_workers};
use crate::kernels::tile::Product;
use crate::ops::support;
use crate::row::Generated;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, DataType, Error};
use std::f32::consts::LOG2_E;
use std::ops::Range;

/// Keys as the right operand of scores, and values as that of results.
const MATRIX: Roles = Roles { depth: 2, column: 3 };
/// Numbers beyond those of a row: they keep rows off each other's cache sets.
const SKEW: usize = 16;
/// Numbers of a result that are put together at a time.
const CHUNK: usize = 128;

/// Attention, forward.
#[derive(Debug)]
pub(super) struct Forward {
    cut: Cut,
    products: Products,
    attr: Attr,
    mask: SdpaMask,
    scale: SdpaScale,
    workers: usize,
    space: Space,
    /// What parts of the keys leave is shared.
    scratch: Lens,
}

/// What a worker has in scratch, and how it lies there.
#[derive(Clone, Copy, Debug)]
struct Space {
    /// Distances of rows of queries, scores and results, in words.
    query: usize,
    score: usize,
    result: usize,
    /// Columns of panels of keys and of values.
    widths: [usize; 2],
    /// Numbers for a part of the keys.
    lens: Worker<usize>,
    /// Numbers of the rows that a part of the keys leaves with its results.
    rows: usize,
}

/// What a worker has for a part of the keys: numbers, or how many they are.
#[derive(Clone, Copy, Debug)]
struct Worker<T> {
    queries: T,
    /// Panels of keys and of values.
    keys: T,
    values: T,
    scores: T,
    /// A line of the mask.
    line: T,
    results: T,
}

impl Worker<usize> {
    fn total(&self) -> Option<usize> {
        let Worker { queries, keys, values, scores, line, results } = *self;
        [queries, keys, values, scores, line, results].into_iter().try_fold(0, usize::checked_add)
    }

    /// Cuts `space` into all but the results, which others read.
    fn cut<'s>(&self, space: &'s mut [f32], results: &'s mut [f32]) -> Worker<&'s mut [f32]> {
        let mut take = taker(space);
        Worker {
            queries: take(self.queries),
            keys: take(self.keys),
            values: take(self.values),
            scores: take(self.scores),
            line: take(self.line),
            results,
        }
    }
}

impl Space {
    /// `None` on overflow.
    fn new(cut: &Cut, products: &Products) -> Option<Space> {
        let widths = [products.width(cut.keys), products.width(cut.values)];
        let block = cut.block.checked_next_multiple_of(widths[0])?;
        let values = cut.values.checked_next_multiple_of(widths[1])?;
        let (query, score) = (products.words(cut.depth).checked_next_multiple_of(16)?.checked_add(SKEW)?, block + SKEW);
        let by_rows = |step: usize| cut.rows.checked_mul(step)?.checked_next_multiple_of(16);
        let panels = |columns: usize, depth: usize| columns.checked_mul(depth)?.checked_next_multiple_of(16);
        let lens = Worker {
            queries: by_rows(query)?,
            keys: panels(block, products.words(cut.depth))?,
            values: panels(values, products.words(cut.block))?,
            scores: by_rows(score)?,
            line: block.checked_next_multiple_of(16)?,
            results: by_rows(values)?,
        };
        Some(Space { query, score, result: values, widths, lens, rows: by_rows(2)? })
    }

    /// Numbers of a worker.
    fn total(&self) -> Option<usize> {
        self.lens.total()?.checked_add(self.rows)
    }

    /// Numbers that a part of the keys leaves: results and rows.
    fn piece(&self) -> usize {
        self.lens.results + self.rows
    }
}

impl Forward {
    /// The kernel with its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for types that packing does not convert.
    pub(super) fn new(op: &Sdpa, attr: &Attr, products: Products, workers: usize) -> Result<(Forward, usize), Skip> {
        let overflow = || Skip::Shape("scratch exceeds the address space");
        for t in [Some(&op.q), Some(&op.k), Some(&op.v), op.mask.as_ref()].into_iter().flatten() {
            support::operand_type(t.dtype)?;
        }
        let cut = Cut::new(op, &products);
        let pairs = op.q.dtype == DataType::Bf16 && Heads::has_pairs(&op.k) && Heads::has_pairs(&op.v) && cut.rows > thin::ROWS;
        let products = products.of_bf16().filter(|_| pairs && is_unscaled(attr)).unwrap_or(products);
        let space = Space::new(&cut, &products).ok_or_else(overflow)?;
        let all = space.total().and_then(|each| for_workers(workers, each)).ok_or_else(overflow)?;
        let tasks = cut.row_blocks().checked_mul(cut.parts).ok_or_else(overflow)?;
        let pieces = if cut.parts == 1 { Some(0) } else { tasks.checked_mul(space.piece()) }.ok_or_else(overflow)?;
        let scratch = Lens { shared: pieces, workers: all };
        let bytes = scratch.bytes().ok_or_else(overflow)?;
        Ok((Forward { cut, products, attr: attr.clone(), mask: op.mask_kind, scale: op.scale_kind, workers, space, scratch }, bytes))
    }

    /// Whether keys and values are read once, for a few rows, where they lie.
    fn is_thin(&self) -> bool {
        self.cut.rows <= thin::ROWS
    }
}

impl Generated for Forward {
    type Code = Ready;

    fn build(&self) -> Result<Ready, Error> {
        let kinds = self.space.widths.map(|width| Kind { rows: self.cut.heights(), transposed: false, width });
        self.products.build(if self.is_thin() { &[] } else { &kinds })
    }

    fn table_bytes(&self) -> usize {
        self.products.table_bytes()
    }

    fn run(&self, products: &Ready, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let dst = View::of(simd, ctx, Arg::DST)?;
        dst.zero_padding();
        let bound = |arg| Heads::of((simd, ctx), &self.attr, arg);
        let on = Attention {
            simd,
            kernel: self,
            products,
            q: bound(Arg::SRC)?,
            k: bound(Arg::SRC_1)?,
            v: bound(Arg::SRC_2)?,
            mask: Mask::of((simd, ctx), self.mask, self.cut.queries)?,
            factor: factor(simd, ctx, self.scale)?,
            dst,
            kept: View::optional(simd, ctx, Arg::WORKSPACE)?,
        };
        let (cut, executor) = (&self.cut, ctx.executor());
        let (mut space, pieces) = (scratch.take(self.scratch.workers)?, scratch.take(self.scratch.shared)?);
        if cut.parts == 1 {
            space.work(executor, self.workers, cut.row_blocks(), &|task, space| on.whole(&cut.place(task, 0), space));
            return Ok(());
        }
        let (tasks, piece) = (cut.row_blocks() * cut.parts, self.space.piece());
        let pieces = space.work_on(pieces, executor, self.workers, (tasks, piece), &|task, piece, space| {
            on.part(&cut.place(task / cut.parts, task % cut.parts), piece, space);
        });
        let pieces = &*pieces.into_slice();
        executor.run(self.workers.min(executor.threads()), cut.row_blocks(), &|_, task| {
            on.join(&cut.place(task, 0), &pieces[task * cut.parts * piece..][..cut.parts * piece]);
        });
        Ok(())
    }
}

/// Whether operands are the numbers that they hold.
fn is_unscaled(attr: &Attr) -> bool {
    attr.scales.is_empty() && attr.zero_points.is_empty()
}

/// An execution.
struct Attention<'a> {
    simd: Simd,
    kernel: &'a Forward,
    products: &'a Ready,
    q: Heads<'a>,
    k: Heads<'a>,
    v: Heads<'a>,
    mask: Option<Mask<'a>>,
    factor: f32,
    dst: View<'a>,
    kept: Option<View<'a>>,
}

/// Numbers in the place of rows.
fn rows_in(numbers: &mut [f32]) -> &mut [Row] {
    bytemuck::cast_slice_mut(numbers)
}

impl Attention<'_> {
    /// All keys: results are written.
    fn whole(&self, at: &Place, space: &mut [f32]) {
        let sizes = &self.kernel.space;
        let (space, own) = space.split_at_mut(space.len() - sizes.piece());
        self.part(at, own, space);
        let (results, rows) = own.split_at_mut(sizes.lens.results);
        let (step, Cut { values, queries, .. }) = (self.kernel.space.result, &self.kernel.cut);
        let rows = &rows_in(rows)[..at.rows.len()];
        for (i, state) in rows.iter().enumerate() {
            self.simd.run(Scale(&mut results[i * step..][..*values], state.share()));
        }
        for (row, state) in at.rows.clone().zip(rows) {
            self.keep(&row_at(at.batch, row, *queries), *state);
        }
        let together = if self.is_dense() { rows.len() } else { 1 };
        for first in (0..rows.len()).step_by(together) {
            // Rows that follow each other in memory are converted together.
            (1..together).for_each(|i| results.copy_within(i * step..i * step + values, i * values));
            let line = if together > 1 { &results[..together * values] } else { &results[first * step..][..*values] };
            self.dst.write(&row_at(at.batch, at.rows.start + first, *queries), 3, line);
        }
    }

    /// Whether all rows of a batch follow each other in memory.
    fn is_dense(&self) -> bool {
        let Cut { values, queries, .. } = self.kernel.cut;
        [1, values, values * queries].into_iter().zip([3, 2, 1]).all(|(step, dim)| self.dst.stride(dim) == Some(step as i64))
    }

    /// Keeps for training what is known of a row.
    fn keep(&self, pos: &Pos, row: Row) {
        if let Some(kept) = &self.kept {
            kept.write(pos, 2, &[row.logarithm()]);
        }
    }

    /// A part of the keys: results and rows are left in `own`.
    fn part(&self, at: &Place, own: &mut [f32], space: &mut [f32]) {
        let Forward { cut, space: sizes, .. } = self.kernel;
        let (results, rows) = own.split_at_mut(sizes.lens.results);
        let rows = &mut rows_in(rows)[..at.rows.len()];
        let mut worker = sizes.lens.cut(space, results);
        rows.fill(Row::NONE);
        let end = at.keys.end.min(cut.reach(&at.rows));
        if end <= at.keys.start {
            return worker.results.fill(0.0);
        }
        if self.products.product() == Product::Bf16 {
            self.q.pairs(at.batch, &at.rows, (worker.queries, sizes.query));
        } else {
            self.q.rows(at.batch, &at.rows, 1.0, (worker.queries, sizes.query));
        }
        for start in at.keys.clone().step_by(cut.block).take_while(|start| *start < end) {
            let keys = start..(start + cut.block).min(end);
            self.block(at, keys.clone(), start == at.keys.start, (&mut worker, rows));
        }
    }

    /// A block of keys.
    fn block(&self, at: &Place, keys: Range<usize>, first: bool, (on, rows): (&mut Worker<&mut [f32]>, &mut [Row])) {
        let Forward { cut, space: sizes, .. } = self.kernel;
        self.score(at, &keys, on);
        let mut factor = self.factor;
        if let Some(mask) = &self.mask {
            let block = Block { batch: at.batch, rows: at.rows.clone(), keys: keys.clone() };
            mask.add(&block, factor, (on.scores, sizes.score), on.line);
            factor = 1.0;
        } else if !(factor > 0.0 && (factor * LOG2_E).is_finite()) {
            on.scores.iter_mut().for_each(|score| *score *= factor);
            factor = 1.0;
        }
        let step = Step {
            scores: on.scores,
            step: sizes.score,
            columns: keys.len(),
            visible: |i: usize| cut.visible(at.rows.start + i).clamp(keys.start, keys.end) - keys.start,
            factor: factor * LOG2_E,
            rows,
            results: on.results,
            results_step: sizes.result,
            has_results: !first,
        };
        self.products.step(self.simd, step);
        self.weigh(at, &keys, first, on);
    }

    /// The scores of a block of keys.
    fn score(&self, at: &Place, keys: &Range<usize>, on: &mut Worker<&mut [f32]>) {
        let Forward { cut, space: sizes, .. } = self.kernel;
        let part = Part { head: head(at.batch, at.shared), roles: MATRIX, depth: 0..cut.depth, columns: keys.clone() };
        let left = Left { numbers: on.queries, step: sizes.query, rows: at.rows.len(), transposed: false };
        let sums = Sums { numbers: on.scores, step: sizes.score, add: false };
        if self.kernel.is_thin() {
            let lines = self.k.lines(&part, false, on.keys);
            return thin::product(self.simd, &left, &lines, [cut.depth, keys.len()], sums);
        }
        self.k.panels(&part, self.kernel.products.form(sizes.widths[0]), on.keys);
        let right = Right { panels: on.keys, width: sizes.widths[0], columns: keys.len() };
        self.products.run(self.simd, &left, &right, cut.depth, sums);
    }

    /// Adds the values of a block of keys, weighed, to the results.
    fn weigh(&self, at: &Place, keys: &Range<usize>, first: bool, on: &mut Worker<&mut [f32]>) {
        let Forward { cut, space: sizes, .. } = self.kernel;
        let part = Part { head: head(at.batch, at.shared), roles: MATRIX, depth: keys.clone(), columns: 0..cut.values };
        let left = Left { numbers: on.scores, step: sizes.score, rows: at.rows.len(), transposed: false };
        let sums = Sums { numbers: on.results, step: sizes.result, add: !first };
        if self.kernel.is_thin() {
            let lines = self.v.lines(&part, true, on.values);
            return thin::product(self.simd, &left, &lines, [keys.len(), cut.values], sums);
        }
        self.v.panels(&part, self.kernel.products.form(sizes.widths[1]), on.values);
        let right = Right { panels: on.values, width: sizes.widths[1], columns: cut.values };
        self.products.weigh(self.simd, &left, &right, keys.len(), sums);
    }

    /// Puts together what the parts of the keys have left of a block of rows, and writes it.
    fn join(&self, at: &Place, pieces: &[f32]) {
        let Forward { cut, space, .. } = self.kernel;
        let piece = space.piece();
        for (i, row) in at.rows.clone().enumerate() {
            let part = |p: usize| pieces[p * piece..].split_at(space.lens.results);
            let state = |p: usize| -> Row { bytemuck::cast_slice(part(p).1)[i] };
            let largest = (0..cut.parts).fold(f32::NEG_INFINITY, |m, p| if state(p).largest > m { state(p).largest } else { m });
            let reference = Row { largest, sum: 0.0 }.reference();
            let factor = |p: usize| (state(p).largest - reference).exp2();
            let sum = (0..cut.parts).map(|p| if state(p).sum == 0.0 { 0.0 } else { state(p).sum * factor(p) }).sum();
            let share = Row { largest, sum }.share();
            let mut pos = row_at(at.batch, row, cut.queries);
            self.keep(&pos, Row { largest, sum });
            for start in (0..cut.values).step_by(CHUNK) {
                let mut line = [0.0; CHUNK];
                let line = &mut line[..CHUNK.min(cut.values - start)];
                for p in (0..cut.parts).filter(|p| state(*p).sum != 0.0) {
                    self.simd.run(AddTo(line, &part(p).0[i * space.result + start..], factor(p) * share));
                }
                pos[3] = start as i64;
                self.dst.write(&pos, 3, line);
            }
        }
    }
}

/// Multiplies numbers.
struct Scale<'a>(&'a mut [f32], f32);

impl Body for Scale<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.0.iter_mut().for_each(|x| *x *= self.1);
    }
}

/// Adds a multiple of numbers.
struct AddTo<'a>(&'a mut [f32], &'a [f32], f32);

impl Body for AddTo<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.0.iter_mut().zip(self.1).for_each(|(x, y)| *x += y * self.2);
    }
}
