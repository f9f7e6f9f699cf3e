//! Running a planned [`Winograd`].

use super::{Code, LoopOrder, Place, Winograd};
use crate::kernels::access::View;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::microkernel::EpilogueArgs;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::kernels::winograd::{self, Chunks, POSITIONS, Panel, Pixels, RESULTS, SIDE, SumsOf, Taps, Tile, Transformed, heights, tallest};
use crate::row::Generated;
use oxidnn_runtime::{Buf, Ctx, Decision};
use oxidnn_spec::{Arg, Error, Problem};
use std::ops::Range;

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Winograd,
    code: &'a Code,
    source: Buf<'a>,
    weights: Buf<'a>,
    zeros: &'a [f32],
    result: Buf<'a>,
    /// Operands of the epilogue.
    operands: EpilogueArgs<'a>,
}

/// The worker's scratch of a task.
struct Own<'s> {
    /// Transformed source, or some transformed weights.
    operand: &'s mut [f32],
    sums: &'s mut [f32],
}

impl Generated for Winograd {
    type Code = Code;

    fn decision(&self, problem: &Problem) -> Decision {
        self.how().decision(problem)
    }

    fn build(&self) -> Result<Code, Error> {
        self.make()
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let lens = self.scratch().ok_or_else(|| Error::Runtime("scratch that was not booked".into()))?;
        let zeros = scratch.take(lens.zeros)?.into_slice();
        zeros.fill(0.0);
        let operands = scratch.take(lens.epilogue)?.into_slice();
        let (shared, mut workers) = (scratch.take(lens.shared)?, scratch.take(lens.workers)?);
        let before = self.before(simd, ctx)?;
        let chain = Chain::new(simd, ctx, &self.attr, self.result)?.with(&before);
        let bound = Bound {
            plan: self,
            code,
            source: ctx.buf(self.source)?,
            weights: ctx.buf(Arg::WEIGHTS)?,
            zeros,
            result: ctx.buf(self.result)?,
            operands: self.epilogue.args(&chain, 1, &[], operands)?,
        };
        match self.order {
            LoopOrder::Tiles(tasks) => {
                let chunks = self.chunks();
                let weights = shared.fill(ctx.executor(), self.weight_steps()[1], &|at, to| bound.weights(at / chunks, at % chunks, to));
                workers.work(ctx.executor(), self.workers, tasks, &|task, own| {
                    let tiles = self.all() * task / tasks..self.all() * (task + 1) / tasks;
                    bound.tiles(tiles, weights, &mut self.own(own));
                });
            }
            LoopOrder::Channels { task: vectors, .. } => {
                let source =
                    shared.fill(ctx.executor(), self.source_steps()[1], &|chunk, to| bound.source(0..self.all(), chunk..chunk + 1, to));
                let tasks = self.channels / self.lanes / vectors;
                workers.work(ctx.executor(), self.workers, tasks, &|task, own| bound.channels(task * vectors, source, &mut self.own(own)));
            }
        }
        Ok(())
    }
}

impl Winograd {
    /// What is applied to results before the post-ops.
    fn before<'a>(&self, simd: Simd, ctx: &Ctx<'a>) -> Result<Before<'a>, Error> {
        let source = View::of(simd, ctx, self.source)?;
        let scale = || Broadcast::scale(simd, ctx, &self.attr, Arg::WEIGHTS, View::of(simd, ctx, Arg::WEIGHTS)?.dims());
        Before::by_channel(ctx, &self.attr, self.source, &source, || Ok(scale()?.permuted(&[None, Some(self.result_channel)])))
    }

    /// Cuts a worker's scratch.
    fn own<'s>(&self, own: &'s mut [f32]) -> Own<'s> {
        let (sums, operand) = own.split_at_mut(self.sums().unwrap_or(0));
        Own { operand, sums }
    }

    /// Image and tile coordinates.
    fn place(&self, tile: usize) -> (usize, [usize; 2]) {
        let [down, across] = self.tiles;
        (tile / (down * across), [tile / across % down, tile % across])
    }
}

impl Bound<'_> {
    /// The weights of a panel from byte `offset` of each tap on.
    fn taps(&self, panel: usize, offset: usize) -> Taps<'_> {
        let p = self.plan;
        let line = p.panel * 4;
        let tap = p.depth * line;
        let first = p.weights + panel * 9 * tap + offset;
        let (first, tap) = if p.result_channel == 0 { (first, tap as isize) } else { (first + 8 * tap, -(tap as isize)) };
        Taps { data: self.weights, first, tap, line }
    }

    /// Transforms a chunk of a panel's weights.
    fn weights(&self, panel: usize, chunk: usize, to: &mut [f32]) {
        let p = self.plan;
        let Taps { data, first, tap, line } = self.taps(panel, chunk * p.lanes * p.panel * 4);
        self.code.transforms.weights(data, first, tap, line / 4, to, p.weight_steps()[0]);
    }

    /// Transforms chunks of tiles of the source.
    fn source(&self, tiles: Range<usize>, chunks: Range<usize>, to: &mut [f32]) {
        let p = self.plan;
        let [position, step] = p.source_steps();
        let Place { base, image: images, row, pixel, channel } = p.from;
        let [height, width] = p.source_sizes.map(|n| n as i64);
        let from = Pixels { data: self.source, pixel, channel, vectors: chunks.len() };
        for (i, tile) in tiles.enumerate() {
            let (image, at) = p.place(tile);
            let [top, left]: [i64; 2] = std::array::from_fn(|i| p.low[i] + (at[i] * RESULTS) as i64);
            let first = (base + image * images + chunks.start * channel) as isize + left as isize * pixel as isize;
            let rows = std::array::from_fn(|i| {
                let y = top + i as i64;
                (0..height).contains(&y).then(|| first + y as isize * row as isize)
            });
            let clamp = |x: i64| (x - left).clamp(0, SIDE as i64) as usize;
            let to = Transformed { data: &mut to[i * p.lanes..], position, step };
            let at = winograd::Place { rows, columns: clamp(0)..clamp(width), zeros: self.zeros };
            self.code.transforms.source(&from, &at, to);
        }
    }

    /// Results of `tiles`, for all channels.
    fn tiles(&self, tiles: Range<usize>, weights: &[f32], own: &mut Own<'_>) {
        let p = self.plan;
        self.source(tiles.clone(), 0..p.chunks(), own.operand);
        let ([position, chunk], [b_position, b_chunk]) = (p.source_steps(), p.weight_steps());
        let (rows, cut) = heights(tiles.len(), tallest(p.isa, p.panel / p.lanes));
        for (panel, data) in weights.chunks_exact(b_chunk * p.chunks()).enumerate() {
            let a = Chunks { data: own.operand, position, chunk, count: p.chunks() };
            let kernel = self.code.multiply[rows][usize::from(panel + 1 == p.panels())].as_ref();
            let kernel = kernel.unwrap_or_else(|| panic!("no kernel of {rows} rows was made"));
            let sums = &mut SumsOf { data: own.sums, position: p.sum_position() };
            kernel.run(&a, &Panel { data, position: b_position, chunk: b_chunk }, cut, sums);
            self.results((panel * p.panel, p.panel_vectors(panel)), tiles.clone(), 0, own);
        }
    }

    /// Results of all tiles, for the channels of a task from vector `first` on.
    fn channels(&self, first: usize, source: &[f32], own: &mut Own<'_>) {
        let p = self.plan;
        let each = p.panel / p.lanes;
        let taps = self.taps(first / each, first % each * p.lanes * 4);
        let [position, chunk] = p.source_steps();
        let a = Chunks { data: source, position, chunk, count: p.chunks() };
        let cut = heights(p.all(), tallest(p.isa, p.vectors())).1;
        let groups = own.sums.len() / (POSITIONS * p.sum_position());
        let sums = &mut SumsOf { data: own.sums, position: p.sum_position() };
        self.code.fused.iter().for_each(|k| k.run(&a, &taps, (cut, groups), sums, own.operand));
        for group in 0..groups {
            self.results(((first + group * p.vectors()) * p.lanes, p.vectors()), 0..p.all(), group, own);
        }
    }

    /// Finishes the sums of `tiles` for some vectors of channels from `column` on; they are group `group` of the task's sums.
    fn results(&self, (column, vectors): (usize, usize), tiles: Range<usize>, group: usize, own: &mut Own<'_>) {
        let p = self.plan;
        let columns = vectors * p.lanes;
        let all = &own.sums[group * POSITIONS * p.sum_position()..];
        for (i, tile) in tiles.enumerate() {
            let (image, at) = p.place(tile);
            let at = at.map(|x| x * RESULTS);
            let wanted: [usize; 2] = std::array::from_fn(|i| (p.result_sizes[i] - at[i]).min(RESULTS));
            let sums = &all[i * columns..];
            let first = p.to.base + image * p.to.image + column / p.lanes * p.to.channel + at[1] * p.to.pixel;
            let rows = std::array::from_fn(|i| (first + (at[0] + i) * p.to.row) as isize);
            let pixels = Pixels { data: self.result, pixel: p.to.pixel, channel: p.to.channel, vectors };
            self.code.transforms.results((sums, p.sum_position()), &Tile { pixels, rows, wanted, operands: &self.operands, column });
        }
    }
}
