//! The gradients of attention. Scores are computed again, with the logarithm of each row's sum that the forward pass kept.
//!
//! A task has a part of the keys of a head and all queries of the heads that share these keys, both in blocks. For each pair of blocks it
//! computes scores and from these the probabilities, products of gradients and values and from these the gradients of scores, and three more
//! products. The gradients of values and keys are accumulated in L2 until their block is done; those of queries are accumulated in memory
//! of the task's own. After all tasks, the tasks' query gradients are added up in the order of the keys.
//!
//! The floor is five products, where forward has two, plus one exponential and half a dozen operations for each score.

use super::blocking::BackwardBlocking;
use super::operands::{Block, Heads, Mask, Part, Roles, factor, head, row_at, split, total};
use super::products::{Kind, Left, Products, Ready, Right, Sums};
use super::softmax::{Probabilities, score_gradients};
use crate::decision::How;
use crate::kernels::access::{Axis, View};
use crate::kernels::lanes::fold;
use crate::kernels::microkernel::pack::{self, PanelLayout, PlainMatrix};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Lens, Scratch, for_workers};
use crate::ops::support;
use crate::row::{Generated, TOO_LARGE};
use oxidnn_runtime::{Ctx, Decision, Skip};
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, Error, Problem};
use std::ops::Range;

/// A head of keys or of values: K is its first matrix dimension, or its second.
const NO_TRANS: Roles = Roles { depth: 2, column: 3 };
const TRANS: Roles = Roles { depth: 3, column: 2 };
/// Elements between rows, so that rows do not map to the same cache sets.
const SKEW: usize = 16;

/// The gradients of attention.
#[derive(Debug)]
pub(super) struct Backward {
    blocking: BackwardBlocking,
    products: Products,
    attr: Attr,
    mask: SdpaMask,
    scale: SdpaScale,
    workers: usize,
    space: Space,
    /// The tasks' gradients of queries are shared.
    scratch: Lens,
}

/// The layout of a worker's scratch.
#[derive(Clone, Copy, Debug)]
struct Space {
    /// Strides of rows of queries, of results, of scores.
    query: usize,
    result: usize,
    score: usize,
    /// Columns of panels of keys, of key elements, of value elements.
    widths: [usize; 3],
    /// The elements of a key and of a value, rounded up to whole panels.
    depth: usize,
    values: usize,
    /// Elements of a worker's scratch: the fields of [`Worker`], in their order.
    lens: [usize; 15],
}

/// Parts of a worker's scratch.
struct Worker<'s> {
    queries: &'s mut [f32],
    /// Gradients of results, and the results.
    diff_results: &'s mut [f32],
    results: &'s mut [f32],
    /// Panels: keys over key elements, key elements over keys, keys over value elements; of queries; of gradients of results.
    keys: &'s mut [f32],
    keys_trans: &'s mut [f32],
    values: &'s mut [f32],
    query_panels: &'s mut [f32],
    diff_result_panels: &'s mut [f32],
    probabilities: &'s mut [f32],
    diff_scores: &'s mut [f32],
    /// Accumulators of the gradients of the block's keys and values, by key.
    diff_keys: &'s mut [f32],
    diff_values: &'s mut [f32],
    /// For every row: the log-sum-exp that the forward pass kept, and the dot product of the result and its gradient.
    logsumexp: &'s mut [f32],
    delta: &'s mut [f32],
    line: &'s mut [f32],
}

impl<'s> Worker<'s> {
    /// From its fields in their order.
    fn of(
        [queries, diff_results, results, keys, keys_trans, values, query_panels, diff_result_panels, rest @ ..]: [&'s mut [f32]; 15],
    ) -> Self {
        let [probabilities, diff_scores, diff_keys, diff_values, logsumexp, delta, line] = rest;
        Worker {
            queries,
            diff_results,
            results,
            keys,
            keys_trans,
            values,
            query_panels,
            diff_result_panels,
            probabilities,
            diff_scores,
            diff_keys,
            diff_values,
            logsumexp,
            delta,
            line,
        }
    }
}

impl Space {
    /// `None` on overflow.
    fn new(blocking: &BackwardBlocking, products: &Products) -> Option<Space> {
        let widths = [products.width(blocking.keys), products.width(blocking.depth), products.width(blocking.values)];
        let up = |size: usize, unit: usize| size.checked_next_multiple_of(unit.max(1));
        let (block, depth, values) = (up(blocking.block, widths[0])?, up(blocking.depth, widths[1])?, up(blocking.values, widths[2])?);
        let (query, result, score) =
            (up(blocking.depth, 16)?.checked_add(SKEW)?, up(blocking.values, 16)?.checked_add(SKEW)?, block + SKEW);
        let area = |rows: usize, columns: usize| up(rows.checked_mul(columns)?, 16);
        let lens = [
            area(blocking.rows, query)?,
            area(blocking.rows, result)?,
            area(blocking.rows, result)?,
            area(blocking.depth, block)?,
            area(blocking.block, depth)?,
            area(blocking.values, block)?,
            area(blocking.rows, depth)?,
            area(blocking.rows, values)?,
            area(blocking.rows, score)?,
            area(blocking.rows, score)?,
            area(blocking.block, depth)?,
            area(blocking.block, values)?,
            up(blocking.all_rows, 16)?,
            up(blocking.all_rows, 16)?,
            // Also one element for every key.
            up(block, 16)?,
        ];
        Some(Space { query, result, score, widths, depth, values, lens })
    }
}

impl Backward {
    /// The kernel and its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for types that packing does not convert.
    pub(super) fn new(op: &Sdpa, attr: &Attr, products: Products, workers: usize) -> Result<(Backward, usize), Skip> {
        for t in [Some(&op.q), Some(&op.k), Some(&op.v), Some(&op.dst), op.mask.as_ref()].into_iter().flatten() {
            support::operand_type(t.dtype)?;
        }
        let blocking = BackwardBlocking::new(op, &products);
        let space = Space::new(&blocking, &products).ok_or(TOO_LARGE)?;
        let all = total(&space.lens).and_then(|each| for_workers(workers, each)).ok_or(TOO_LARGE)?;
        let pieces = Backward::piece(&blocking, &space).and_then(|piece| piece.checked_mul(blocking.tasks())).ok_or(TOO_LARGE)?;
        let scratch = Lens { shared: pieces, workers: all };
        let bytes = scratch.bytes().ok_or(TOO_LARGE)?;
        Ok((Backward { blocking, products, attr: attr.clone(), mask: op.mask_kind, scale: op.scale_kind, workers, space, scratch }, bytes))
    }

    /// Elements of a task's gradients of queries.
    fn piece(blocking: &BackwardBlocking, space: &Space) -> Option<usize> {
        blocking.all_rows.checked_mul(space.depth)?.checked_next_multiple_of(16)
    }
}

impl Generated for Backward {
    type Code = Ready;

    fn decision(&self, problem: &Problem) -> Decision {
        let (BackwardBlocking { rows, block, .. }, Space { query, result, score, .. }) = (&self.blocking, self.space);
        How::new(
            "gradients of attention: scores of blocks of queries by blocks of keys are computed again",
            self.products.rate(),
            self.workers,
        )
        .registers("sums of a tile of scores or gradients", 0)
        .block(format!("{rows} queries, their results and the gradients of both"), 2 * rows * (query + result) * 4)
        .block(format!("scores of {rows} queries by {block} keys, and their gradients"), 2 * rows * score * 4)
        .block(format!("panels of {block} keys and values, and their gradients"), 2 * block * (query + result) * 4)
        .decision(problem)
    }

    fn build(&self) -> Result<Ready, Error> {
        let [keys, depth, values] = self.space.widths;
        let (rows, columns) = (self.blocking.heights(), self.blocking.key_heights());
        let kinds = [(rows, false, keys), (rows, false, depth), (columns, true, depth), (columns, true, values)];
        self.products.build(&kinds.map(|(rows, transposed, width)| Kind { rows, transposed, width }))
    }

    fn table_bytes(&self) -> usize {
        self.products.table_bytes()
    }

    fn run(&self, products: &Ready, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let diffs = [Arg::DIFF_SRC, Arg::DIFF_SRC_1, Arg::DIFF_SRC_2].map(|arg| View::of(simd, ctx, arg));
        let [diff_q, diff_k, diff_v] = diffs;
        let (diff_q, diff_k, diff_v) = (diff_q?, diff_k?, diff_v?);
        [&diff_q, &diff_k, &diff_v].into_iter().for_each(View::zero_padding);
        let bound = |arg| Heads::of((simd, ctx), &self.attr, arg);
        let on = Gradients {
            simd,
            kernel: self,
            products,
            q: bound(Arg::SRC)?,
            k: bound(Arg::SRC_1)?,
            v: bound(Arg::SRC_2)?,
            dst: bound(Arg::DST)?,
            diff_dst: bound(Arg::DIFF_DST)?,
            mask: Mask::of((simd, ctx), self.mask, self.blocking.queries)?,
            logsumexp: View::of(simd, ctx, Arg::WORKSPACE)?,
            factor: factor(simd, ctx, self.scale)?,
            diff_q,
            diff_k,
            diff_v,
        };
        let (blocking, executor) = (&self.blocking, ctx.executor());
        let (mut space, pieces) = (scratch.take(self.scratch.workers)?, scratch.take(self.scratch.shared)?);
        let piece = Backward::piece(blocking, &self.space).unwrap_or(0);
        let pieces = space.work_on(pieces, executor, self.workers, (blocking.tasks(), piece), &|task, diff_queries, space| {
            on.part(task / blocking.parts, blocking.part(task % blocking.parts), diff_queries, Worker::of(split(space, self.space.lens)));
        });
        let pieces = &*pieces.into_slice();
        executor.run(self.workers.min(executor.threads()), blocking.units() * blocking.blocks, &|_, task| {
            let (unit, block) = (task / blocking.blocks, task % blocking.blocks);
            on.combine(unit, blocking.block_rows(block), &pieces[unit * blocking.parts * piece..][..blocking.parts * piece]);
        });
        Ok(())
    }
}

/// An execution.
struct Gradients<'a> {
    simd: Simd,
    kernel: &'a Backward,
    products: &'a Ready,
    q: Heads<'a>,
    k: Heads<'a>,
    v: Heads<'a>,
    dst: Heads<'a>,
    diff_dst: Heads<'a>,
    mask: Option<Mask<'a>>,
    logsumexp: View<'a>,
    factor: f32,
    diff_q: View<'a>,
    diff_k: View<'a>,
    diff_v: View<'a>,
}

impl Gradients<'_> {
    /// A part of the keys, with all rows of their unit.
    fn part(&self, unit: usize, keys: Range<usize>, diff_queries: &mut [f32], mut on: Worker<'_>) {
        let blocking = &self.kernel.blocking;
        diff_queries.fill(0.0);
        self.delta(unit, &mut on);
        for start in keys.clone().step_by(blocking.block) {
            let block = start..(start + blocking.block).min(keys.end);
            self.keys(unit, &block, diff_queries, &mut on);
        }
    }

    /// Computes for every row what is needed: the log-sum-exp that the forward pass kept, and the dot product of the result and its gradient.
    fn delta(&self, unit: usize, on: &mut Worker<'_>) {
        let Backward { blocking, space, .. } = self.kernel;
        let (batch, first) = blocking.first_row(unit);
        Axis::new(&[1, 2], self.logsumexp.dims()).read(&self.logsumexp, &head(batch, 0), first, &mut on.logsumexp[..blocking.all_rows]);
        for block in 0..blocking.blocks {
            let rows = blocking.block_rows(block);
            let of = first + rows.start..first + rows.end;
            self.dst.rows(batch, &of, 1.0, (on.results, space.result));
            self.diff_dst.rows(batch, &of, 1.0, (on.diff_results, space.result));
            let delta = &mut on.delta[rows];
            self.simd.run(Dots { a: on.results, b: on.diff_results, step: space.result, size: blocking.values, to: delta });
        }
    }

    /// A block of keys, with all rows.
    fn keys(&self, unit: usize, keys: &Range<usize>, diff_queries: &mut [f32], on: &mut Worker<'_>) {
        let Backward { blocking, space, .. } = self.kernel;
        let pos = head(unit / blocking.heads, unit % blocking.heads);
        let part = |roles, depth, columns| Part { head: pos, roles, depth, columns };
        let form = |width| self.kernel.products.form(width);
        self.k.panels(&part(NO_TRANS, 0..blocking.depth, keys.clone()), form(space.widths[0]), on.keys);
        self.k.panels(&part(TRANS, keys.clone(), 0..blocking.depth), form(space.widths[1]), on.keys_trans);
        self.v.panels(&part(TRANS, 0..blocking.values, keys.clone()), form(space.widths[0]), on.values);
        on.diff_keys.fill(0.0);
        on.diff_values.fill(0.0);
        for block in 0..blocking.blocks {
            let rows = blocking.block_rows(block);
            if rows.clone().any(|row| blocking.visible(row) > keys.start) {
                let diff = &mut diff_queries[rows.start * space.depth..rows.end * space.depth];
                self.block(unit, (rows, keys), diff, on);
            }
        }
        let mut store = |to: &View<'_>, (key, number): (usize, usize), (from, step): (&[f32], usize), size: usize| {
            let mut pos = pos;
            if to.stride(key) == Some(1) && keys.len() > 1 {
                pos[key] = keys.start as i64;
                for c in 0..size {
                    let line = &mut on.line[..keys.len()];
                    line.iter_mut().enumerate().for_each(|(j, x)| *x = from[j * step + c]);
                    pos[number] = c as i64;
                    to.write(&pos, key, line);
                }
                return;
            }
            for (key_at, row) in keys.clone().zip(from.chunks(step)) {
                pos[key] = key_at as i64;
                to.write(&pos, number, &row[..size]);
            }
        };
        store(&self.diff_k, (3, 2), (on.diff_keys, space.depth), blocking.depth);
        store(&self.diff_v, (2, 3), (on.diff_values, space.values), blocking.values);
    }

    /// A block of rows and a block of keys.
    fn block(&self, unit: usize, (rows, keys): (Range<usize>, &Range<usize>), diff_queries: &mut [f32], on: &mut Worker<'_>) {
        let (Backward { blocking, space, .. }, products) = (self.kernel, self.products);
        let (batch, first) = blocking.first_row(unit);
        let (of, count) = (first + rows.start..first + rows.end, rows.len());
        self.q.rows(batch, &of, self.factor, (on.queries, space.query));
        self.diff_dst.rows(batch, &of, 1.0, (on.diff_results, space.result));
        let plain = |numbers, step| Left { numbers, step, rows: count, transposed: false };
        let by_keys = |panels, depth: usize| Right {
            panels,
            width: space.widths[0],
            columns: keys.len(),
            panel: depth * space.widths[0],
            skip_zeros: false,
        };
        let sums = Sums { numbers: &mut *on.probabilities, step: space.score, add: false };
        products.run(self.simd, &plain(&*on.queries, space.query), &by_keys(&*on.keys, blocking.depth), blocking.depth, sums);
        if let Some(mask) = &self.mask {
            mask.add(&Block { batch, rows: of, keys: keys.clone() }, 1.0, (&mut *on.probabilities, space.score), &mut *on.line);
        }
        self.simd.run(Probabilities {
            scores: &mut *on.probabilities,
            step: space.score,
            columns: keys.len(),
            visible: |i: usize| blocking.visible(rows.start + i).clamp(keys.start, keys.end) - keys.start,
            logsumexp: &on.logsumexp[rows.clone()],
        });
        let sums = Sums { numbers: &mut *on.diff_scores, step: space.score, add: false };
        products.run(self.simd, &plain(&*on.diff_results, space.result), &by_keys(&*on.values, blocking.values), blocking.values, sums);
        score_gradients(self.simd, &*on.probabilities, &mut *on.diff_scores, space.score, keys.len(), &on.delta[rows]);
        self.add(count, keys.len(), diff_queries, on);
    }

    /// Adds the products with probabilities and their gradients to the gradients of values, keys and queries.
    fn add(&self, rows: usize, keys: usize, diff_queries: &mut [f32], on: &mut Worker<'_>) {
        let (Backward { blocking, space, .. }, products) = (self.kernel, self.products);
        let [_, by_depth, by_value] = space.widths;
        let across = |numbers| Left { numbers, step: space.score, rows: keys, transposed: true };
        let plain = |numbers, step| Left { numbers, step, rows, transposed: false };
        self.panels(&plain(&*on.diff_results, space.result), blocking.values, by_value, &mut *on.diff_result_panels);
        let right = self.gradients(&*on.diff_result_panels, by_value, [rows, blocking.values]);
        let sums = Sums { numbers: &mut *on.diff_values, step: space.values, add: true };
        products.run(self.simd, &across(&*on.probabilities), &right, rows, sums);
        self.panels(&plain(&*on.queries, space.query), blocking.depth, by_depth, &mut *on.query_panels);
        let right = self.gradients(&*on.query_panels, by_depth, [rows, blocking.depth]);
        let sums = Sums { numbers: &mut *on.diff_keys, step: space.depth, add: true };
        products.run(self.simd, &across(&*on.diff_scores), &right, rows, sums);
        let left = plain(&*on.diff_scores, space.score);
        let right = self.gradients(&*on.keys_trans, by_depth, [keys, blocking.depth]);
        let sums = Sums { numbers: diff_queries, step: space.depth, add: true };
        products.run(self.simd, &left, &right, keys, sums);
    }

    /// Panels that are multiplied by probabilities or their gradients: those of masked-out keys are 0 and must not contribute NaN.
    fn gradients<'p>(&self, panels: &'p [f32], width: usize, [depth, columns]: [usize; 2]) -> Right<'p> {
        let panel = depth * width;
        let words = &panels[..panel * columns.div_ceil(width)];
        Right { panels, width, columns, panel, skip_zeros: !self.products.is_finite(self.simd, words) }
    }

    /// Packs rows as panels; each row is a step of K.
    fn panels(&self, rows: &Left<'_>, columns: usize, width: usize, to: &mut [f32]) {
        let from = PlainMatrix { bytes: bytemuck::cast_slice(rows.numbers), depth: rows.step * 4, column: 4 };
        pack::panels(self.simd, &from, 0..rows.rows, 0..columns, PanelLayout { size: 4, vnni: 1, width }, to);
    }

    /// Adds up the gradients that all parts of the keys have for a block of queries, and writes them.
    fn combine(&self, unit: usize, rows: Range<usize>, pieces: &[f32]) {
        let Backward { blocking, space, .. } = self.kernel;
        let (batch, first) = blocking.first_row(unit);
        let piece = pieces.len() / blocking.parts;
        let mut line = [0.0; 128];
        for row in rows {
            let mut pos = row_at(batch, first + row, blocking.queries);
            for start in (0..blocking.depth).step_by(line.len()) {
                let line = &mut line[..(blocking.depth - start).min(128)];
                let part = |p: usize| &pieces[p * piece + row * space.depth + start..];
                line.iter_mut().zip(part(0)).for_each(|(x, y)| *x = *y);
                (1..blocking.parts).for_each(|p| line.iter_mut().zip(part(p)).for_each(|(x, y)| *x += y));
                line.iter_mut().for_each(|x| *x *= self.factor);
                pos[3] = start as i64;
                self.diff_q.write(&pos, 3, line);
            }
        }
    }
}

/// Dot products of pairs of rows.
struct Dots<'a> {
    a: &'a [f32],
    b: &'a [f32],
    step: usize,
    size: usize,
    to: &'a mut [f32],
}

impl Body for Dots<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Dots { a, b, step, size, to } = self;
        for ((a, b), to) in a.chunks(step).zip(b.chunks(step)).zip(to) {
            *to = fold::<W>([&a[..size], &b[..size]], 0.0, |sum, a, b| sum + a * b, |a, b| a + b);
        }
    }
}
