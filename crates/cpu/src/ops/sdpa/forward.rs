//! `flash`: attention in one pass, without the matrix of scores in memory.
//!
//! A task has blocks of rows, one after the other, and processes the keys of each in blocks. A first product, of queries and panels of
//! keys, gives the scores; [`OnlineSoftmax`] scales them, replaces them by exponentials and rescales the accumulated results; a second product
//! accumulates the results. Both products and all between them stay in L2; a result is written once. Panels of keys and values are packed
//! for the first block of rows and kept for the task's others ([`Groups`]).
//!
//! If queries, keys and values are bf16 and the processor multiplies bf16, both products do: scores are sums of exact products,
//! exponentials are rounded to bf16 once, and their sum is accumulated in f32.
//!
//! The floor is that of the products, `4 * queries * keys * size` operations a head. In addition every task copies keys and values to
//! panels, and a vector of scores takes some twenty instructions for its exponentials.

use super::blocking::{Blocking, Groups, RowBlock};
use super::decode;
use super::operands::{Block, Heads, Mask, Part, Roles, add_scaled, factor, head, row_at, split, total};
use super::products::{Kind, Left, Products, Ready, Right, Sums};
use super::softmax::{OnlineSoftmax, Row};
use crate::decision::How;
use crate::kernels::access::{Pos, View};
use crate::kernels::microkernel::DotType;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Lens, Scratch, for_workers};
use crate::ops::support;
use crate::row::{Generated, TOO_LARGE};
use oxidnn_runtime::{Ctx, Decision, Skip};
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, DataType, Error, Problem};
use std::f32::consts::LOG2_E;
use std::ops::Range;

/// Keys as the right operand for scores, and values as that for results.
const MATRIX: Roles = Roles { depth: 2, column: 3 };
/// Elements between rows, so that rows do not map to the same cache sets.
const SKEW: usize = 16;
/// Elements of a result that are combined at a time.
const CHUNK: usize = 128;

/// Attention, forward.
#[derive(Debug)]
pub(super) struct Forward {
    blocking: Blocking,
    groups: Groups,
    products: Products,
    attr: Attr,
    mask: SdpaMask,
    scale: SdpaScale,
    workers: usize,
    space: Space,
    /// The results of parts of the keys are shared.
    scratch: Lens,
}

/// The layout of a worker's scratch.
#[derive(Clone, Copy, Debug)]
struct Space {
    /// Strides of rows of queries, scores and results, in words.
    query: usize,
    score: usize,
    result: usize,
    /// Columns of panels of keys and of values.
    widths: [usize; 2],
    /// Words of the panels of a block of keys, and of its values.
    blocks: [usize; 2],
    /// Elements of a worker's scratch for a part of the keys: the fields of [`Worker`] but results.
    lens: [usize; 6],
    /// Elements of the results that a part of the keys leaves, and of their [`Row`]s.
    results: usize,
    rows: usize,
}

/// Parts of a worker's scratch.
struct Worker<'s> {
    queries: &'s mut [f32],
    /// Panels of keys and of values, of a block or of all blocks of a part.
    keys: &'s mut [f32],
    values: &'s mut [f32],
    /// For every block of values whether all are finite: 1 if so.
    finite: &'s mut [f32],
    scores: &'s mut [f32],
    /// A line of the mask.
    line: &'s mut [f32],
    results: &'s mut [f32],
}

impl Space {
    /// Words of the panels of a block of keys, and of its values. `None` on overflow.
    fn blocks(blocking: &Blocking, products: &Products) -> Option<[usize; 2]> {
        let up = |size: usize, columns: usize| size.checked_next_multiple_of(products.width(columns));
        let panels = |columns: usize, depth: usize| columns.checked_mul(products.words(depth))?.checked_next_multiple_of(16);
        Some([panels(up(blocking.block, blocking.keys)?, blocking.depth)?, panels(up(blocking.values, blocking.values)?, blocking.block)?])
    }

    /// `None` on overflow.
    fn new(blocking: &Blocking, products: &Products, groups: &Groups) -> Option<Space> {
        let widths = [products.width(blocking.keys), products.width(blocking.values)];
        let blocks = Space::blocks(blocking, products)?;
        let kept = if groups.keep() { blocking.key_blocks() } else { 1 };
        let block = blocking.block.checked_next_multiple_of(widths[0])?;
        let values = blocking.values.checked_next_multiple_of(widths[1])?;
        let (query, score) = (products.words(blocking.depth).checked_next_multiple_of(16)?.checked_add(SKEW)?, block + SKEW);
        let by_rows = |step: usize| blocking.rows.checked_mul(step)?.checked_next_multiple_of(16);
        let [keys, panels] = [blocks[0].checked_mul(kept)?, blocks[1].checked_mul(kept)?];
        let [finite, line] = [kept.checked_next_multiple_of(16)?, block.checked_next_multiple_of(16)?];
        let lens = [by_rows(query)?, keys, panels, finite, by_rows(score)?, line];
        Some(Space { query, score, result: values, widths, blocks, lens, results: by_rows(values)?, rows: by_rows(2)? })
    }

    /// Elements of a worker's scratch.
    fn total(&self) -> Option<usize> {
        total(&self.lens)?.checked_add(self.results)?.checked_add(self.rows)
    }

    /// Elements that a part of the keys leaves: results and [`Row`]s.
    fn piece(&self) -> usize {
        self.results + self.rows
    }
}

impl Forward {
    /// The kernel and its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for types that packing does not convert.
    pub(super) fn new(op: &Sdpa, attr: &Attr, products: Products, workers: usize) -> Result<(Forward, usize), Skip> {
        for t in [Some(&op.q), Some(&op.k), Some(&op.v), op.mask.as_ref()].into_iter().flatten() {
            support::operand_type(t.dtype)?;
        }
        let blocking = Blocking::new(op, &products);
        let pairs = op.q.dtype == DataType::Bf16 && Heads::has_pairs(&op.k) && Heads::has_pairs(&op.v) && blocking.rows > decode::MAX_ROWS;
        let products = products.of_bf16().filter(|_| pairs && is_unscaled(attr)).unwrap_or(products);
        let [keys, values] = Space::blocks(&blocking, &products).ok_or(TOO_LARGE)?;
        let panels = keys.saturating_add(values).saturating_mul(blocking.key_blocks());
        let groups = Groups::new(&blocking, workers, if blocking.rows > decode::MAX_ROWS { panels } else { usize::MAX });
        let space = Space::new(&blocking, &products, &groups).ok_or(TOO_LARGE)?;
        let all = space.total().and_then(|each| for_workers(workers, each)).ok_or(TOO_LARGE)?;
        let tasks = groups.count(&blocking).checked_mul(blocking.parts).ok_or(TOO_LARGE)?;
        let each = space.piece().checked_mul(groups.each).ok_or(TOO_LARGE)?;
        let pieces = if blocking.parts == 1 { Some(0) } else { tasks.checked_mul(each) }.ok_or(TOO_LARGE)?;
        let scratch = Lens { shared: pieces, workers: all };
        let bytes = scratch.bytes().ok_or(TOO_LARGE)?;
        let (attr, mask, scale) = (attr.clone(), op.mask_kind, op.scale_kind);
        Ok((Forward { blocking, groups, products, attr, mask, scale, workers, space, scratch }, bytes))
    }

    /// Whether keys and values are read once, for a few rows, in place.
    fn is_decode(&self) -> bool {
        self.blocking.rows <= decode::MAX_ROWS
    }
}

impl Generated for Forward {
    type Code = Ready;

    fn decision(&self, problem: &Problem) -> Decision {
        let (Blocking { rows, block, .. }, Space { query, score, result, blocks, .. }) = (&self.blocking, self.space);
        let algorithm = if self.is_decode() {
            "attention in one pass: keys and values are read once where they lie, an online softmax between"
        } else {
            "attention in one pass: queries by blocks of keys, an online softmax between the two products"
        };
        How::new(algorithm, self.products.rate(), self.workers)
            .registers("sums of a tile of scores or results", 0)
            .block(format!("{rows} queries and their results, which all keys meet"), rows * (query + result) * 4)
            .block(format!("scores of {rows} queries by {block} keys"), rows * score * 4)
            .block(format!("panels of {block} keys and their values"), blocks.iter().sum::<usize>() * 4)
            .decision(problem)
    }

    fn build(&self) -> Result<Ready, Error> {
        let kinds = self.space.widths.map(|width| Kind { rows: self.blocking.heights(), transposed: false, width });
        self.products.build(if self.is_decode() { &[] } else { &kinds })
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
            mask: Mask::of((simd, ctx), self.mask, self.blocking.queries)?,
            factor: factor(simd, ctx, self.scale)?,
            dst,
            logsumexp: View::optional(simd, ctx, Arg::WORKSPACE)?,
        };
        let (Forward { blocking, groups, .. }, executor) = (self, ctx.executor());
        let (mut space, pieces) = (scratch.take(self.scratch.workers)?, scratch.take(self.scratch.shared)?);
        if blocking.parts == 1 {
            space.work(executor, self.workers, groups.count(blocking), &|task, space| {
                let mut packed = 0;
                groups.blocks(task).for_each(|block| on.whole(&blocking.place(block, 0), &mut packed, space));
            });
            return Ok(());
        }
        let (tasks, piece) = (groups.count(blocking) * blocking.parts, self.space.piece());
        let pieces = space.work_on(pieces, executor, self.workers, (tasks, piece * groups.each), &|task, pieces, space| {
            let mut packed = 0;
            for (block, own) in groups.blocks(task / blocking.parts).zip(pieces.chunks_exact_mut(piece)) {
                on.part(&blocking.place(block, task % blocking.parts), &mut packed, own, space);
            }
        });
        let pieces = &*pieces.into_slice();
        executor.run(self.workers.min(executor.threads()), blocking.row_blocks(), &|_, block| {
            let (group, at) = groups.of(block);
            on.combine(&blocking.place(block, 0), &pieces[(group * blocking.parts * groups.each + at) * piece..]);
        });
        Ok(())
    }
}

/// Whether no operand has scales or zero points.
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
    logsumexp: Option<View<'a>>,
}

/// A block of a part's keys.
struct KeyBlock {
    /// Its index among the blocks of the part, and the index of its panels.
    number: usize,
    at: usize,
    /// Its keys, and the end of those that any row may attend to.
    whole: Range<usize>,
    end: usize,
}

/// The place of [`Row`]s among the elements.
fn rows_in(numbers: &mut [f32]) -> &mut [Row] {
    bytemuck::cast_slice_mut(numbers)
}

impl Attention<'_> {
    /// All keys: writes results. `packed` blocks have panels already.
    fn whole(&self, at: &RowBlock, packed: &mut usize, space: &mut [f32]) {
        let sizes = &self.kernel.space;
        let (space, own) = space.split_at_mut(space.len() - sizes.piece());
        self.part(at, packed, own, space);
        let (results, rows) = own.split_at_mut(sizes.results);
        let (step, Blocking { values, queries, .. }) = (self.kernel.space.result, &self.kernel.blocking);
        let rows = &rows_in(rows)[..at.rows.len()];
        for (i, state) in rows.iter().enumerate() {
            let share = state.inverse_sum();
            results[i * step..][..*values].iter_mut().for_each(|x| *x *= share);
        }
        for (row, state) in at.rows.clone().zip(rows) {
            self.keep(&row_at(at.batch, row, *queries), *state);
        }
        let together = if self.is_dense() { rows.len() } else { 1 };
        for first in (0..rows.len()).step_by(together) {
            // Rows that are contiguous in memory are converted together.
            (1..together).for_each(|i| results.copy_within(i * step..i * step + values, i * values));
            let line = if together > 1 { &results[..together * values] } else { &results[first * step..][..*values] };
            self.dst.write(&row_at(at.batch, at.rows.start + first, *queries), 3, line);
        }
    }

    /// Whether all rows of a batch are contiguous in memory.
    fn is_dense(&self) -> bool {
        let Blocking { values, queries, .. } = self.kernel.blocking;
        [1, values, values * queries].into_iter().zip([3, 2, 1]).all(|(step, dim)| self.dst.stride(dim) == Some(step as i64))
    }

    /// Stores what training needs about a row.
    fn keep(&self, pos: &Pos, row: Row) {
        if let Some(logsumexp) = &self.logsumexp {
            logsumexp.write(pos, 2, &[row.logsumexp()]);
        }
    }

    /// A part of the keys: leaves results and [`Row`]s in `own`.
    fn part(&self, at: &RowBlock, packed: &mut usize, own: &mut [f32], space: &mut [f32]) {
        let Forward { blocking, space: sizes, .. } = self.kernel;
        let (results, rows) = own.split_at_mut(sizes.results);
        let rows = &mut rows_in(rows)[..at.rows.len()];
        let [queries, keys, values, finite, scores, line] = split(space, sizes.lens);
        let mut worker = Worker { queries, keys, values, finite, scores, line, results };
        rows.fill(Row::NONE);
        let end = at.keys.end.min(blocking.reach(&at.rows));
        if end <= at.keys.start {
            return worker.results.fill(0.0);
        }
        if self.products.product() == DotType::Bf16 {
            self.q.pairs(at.batch, &at.rows, (worker.queries, sizes.query));
        } else {
            self.q.rows(at.batch, &at.rows, 1.0, (worker.queries, sizes.query));
        }
        for (i, start) in at.keys.clone().step_by(blocking.block).take_while(|start| *start < end).enumerate() {
            let whole = start..(start + blocking.block).min(at.keys.end);
            let block = KeyBlock { number: i, at: if self.kernel.groups.keep() { i } else { 0 }, end: whole.end.min(end), whole };
            if !self.kernel.is_decode() && (i >= *packed || !self.kernel.groups.keep()) {
                self.pack(at, &block, &mut worker);
                *packed = i + 1;
            }
            self.block(at, &block, (&mut worker, rows));
        }
    }

    /// Packs a block of keys with its values.
    fn pack(&self, at: &RowBlock, block: &KeyBlock, on: &mut Worker<'_>) {
        let Forward { blocking, space: sizes, .. } = self.kernel;
        let (head, keys) = (head(at.batch, at.shared), &block.whole);
        let [form, form_of_values] = sizes.widths.map(|width| self.kernel.products.form(width));
        let part = Part { head, roles: MATRIX, depth: 0..blocking.depth, columns: keys.clone() };
        self.k.panels(&part, form, &mut on.keys[block.at * sizes.blocks[0]..][..sizes.blocks[0]]);
        let part = Part { head, roles: MATRIX, depth: keys.clone(), columns: 0..blocking.values };
        let values = &mut on.values[block.at * sizes.blocks[1]..][..sizes.blocks[1]];
        self.v.panels(&part, form_of_values, values);
        let words = self.kernel.products.words(keys.len()) * blocking.values.next_multiple_of(sizes.widths[1]);
        on.finite[block.at] = f32::from(u8::from(self.products.is_finite(self.simd, &values[..words])));
    }

    /// A block of keys.
    fn block(&self, at: &RowBlock, block: &KeyBlock, (on, rows): (&mut Worker<'_>, &mut [Row])) {
        let Forward { blocking, space: sizes, .. } = self.kernel;
        let keys = block.whole.start..block.end;
        self.score(at, block, on);
        let mut factor = self.factor;
        if let Some(mask) = &self.mask {
            let block = Block { batch: at.batch, rows: at.rows.clone(), keys: keys.clone() };
            mask.add(&block, factor, (on.scores, sizes.score), on.line);
            factor = 1.0;
        } else if !(factor > 0.0 && (factor * LOG2_E).is_finite()) {
            on.scores.iter_mut().for_each(|score| *score *= factor);
            factor = 1.0;
        }
        let step = OnlineSoftmax {
            scores: on.scores,
            step: sizes.score,
            columns: keys.len(),
            visible: |i: usize| blocking.visible(at.rows.start + i).clamp(keys.start, keys.end) - keys.start,
            factor: factor * LOG2_E,
            rows,
            results: on.results,
            results_step: sizes.result,
            has_results: block.number > 0,
        };
        self.products.step(self.simd, step);
        self.weigh(at, block, on);
    }

    /// Computes the scores of a block of keys.
    fn score(&self, at: &RowBlock, block: &KeyBlock, on: &mut Worker<'_>) {
        let Forward { blocking, space: sizes, products, .. } = self.kernel;
        let columns = block.end - block.whole.start;
        let left = Left { numbers: on.queries, step: sizes.query, rows: at.rows.len(), transposed: false };
        let sums = Sums { numbers: on.scores, step: sizes.score, add: false };
        if self.kernel.is_decode() {
            let part =
                Part { head: head(at.batch, at.shared), roles: MATRIX, depth: 0..blocking.depth, columns: block.whole.start..block.end };
            let lines = self.k.lines(&part, false, on.keys);
            return decode::product(self.simd, &left, &lines, [blocking.depth, columns], sums);
        }
        let right = Right {
            panels: &on.keys[block.at * sizes.blocks[0]..][..sizes.blocks[0]],
            width: sizes.widths[0],
            columns,
            panel: products.words(blocking.depth) * sizes.widths[0],
            skip_zeros: false,
        };
        self.products.run(self.simd, &left, &right, blocking.depth, sums);
    }

    /// Adds the weighted values of a block of keys to the results.
    fn weigh(&self, at: &RowBlock, block: &KeyBlock, on: &mut Worker<'_>) {
        let Forward { blocking, space: sizes, products, .. } = self.kernel;
        let keys = block.whole.start..block.end;
        let depth = keys.len();
        let left = Left { numbers: on.scores, step: sizes.score, rows: at.rows.len(), transposed: false };
        let sums = Sums { numbers: on.results, step: sizes.result, add: block.number > 0 };
        if self.kernel.is_decode() {
            let part = Part { head: head(at.batch, at.shared), roles: MATRIX, depth: keys, columns: 0..blocking.values };
            let lines = self.v.lines(&part, true, on.values);
            return decode::product(self.simd, &left, &lines, [depth, blocking.values], sums);
        }
        let right = Right {
            panels: &on.values[block.at * sizes.blocks[1]..][..sizes.blocks[1]],
            width: sizes.widths[1],
            columns: blocking.values,
            panel: products.words(block.whole.len()) * sizes.widths[1],
            skip_zeros: on.finite[block.at] == 0.0,
        };
        self.products.run(self.simd, &left, &right, depth, sums);
    }

    /// Combines the results of all parts of the keys for a block of rows, and writes them. `pieces` begins with the first part's.
    fn combine(&self, at: &RowBlock, pieces: &[f32]) {
        let Forward { blocking, space, groups, .. } = self.kernel;
        let piece = space.piece() * groups.each;
        for (i, row) in at.rows.clone().enumerate() {
            let part = |p: usize| pieces[p * piece..].split_at(space.results);
            let state = |p: usize| -> Row { bytemuck::cast_slice(part(p).1)[i] };
            let largest = (0..blocking.parts).fold(f32::NEG_INFINITY, |m, p| if state(p).largest > m { state(p).largest } else { m });
            let reference = Row { largest, sum: 0.0 }.reference();
            let factor = |p: usize| (state(p).largest - reference).exp2();
            let sum = (0..blocking.parts).map(|p| if state(p).sum == 0.0 { 0.0 } else { state(p).sum * factor(p) }).sum();
            let share = Row { largest, sum }.inverse_sum();
            let mut pos = row_at(at.batch, row, blocking.queries);
            self.keep(&pos, Row { largest, sum });
            for start in (0..blocking.values).step_by(CHUNK) {
                let mut line = [0.0; CHUNK];
                let line = &mut line[..CHUNK.min(blocking.values - start)];
                for p in (0..blocking.parts).filter(|p| state(*p).sum != 0.0) {
                    let line = &mut *line;
                    add_scaled(self.simd, line, 1.0, &part(p).0[i * space.result + start..], factor(p) * share);
                }
                pos[3] = start as i64;
                self.dst.write(&pos, 3, line);
            }
        }
    }
}
