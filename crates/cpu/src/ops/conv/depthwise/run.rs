//! Executing a planned [`Depthwise`].

use super::super::window::weight_scale;
use super::jit::Depthwise;
use crate::kernels::access::View;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::microkernel::EpilogueArgs;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::kernels::strip::{Call, Operand, Strip, Table};
use crate::ops::strips::Segment;
use crate::row::Generated;
use oxidnn_jit::kernels::depthwise as generated;
use oxidnn_runtime::{Buf, Ctx, Decision};
use oxidnn_spec::{Arg, Error, MAX_NDIMS, Problem};
use std::ops::Range;

impl Generated for Depthwise {
    fn decision(&self, problem: &Problem) -> Decision {
        self.how().decision(problem)
    }

    type Code = Vec<Vec<Strip>>;

    fn build(&self) -> Result<Vec<Vec<Strip>>, Error> {
        self.strips()
    }

    fn run(&self, strips: &Vec<Vec<Strip>>, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (source, weights, dst) =
            (View::of(simd, ctx, self.source.arg)?, View::of(simd, ctx, Arg::WEIGHTS)?, View::of(simd, ctx, self.result.arg)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let by_weights = || weight_scale(ctx, &self.attr, &weights, (dst.dims().len(), self.result_channel, self.group[1]));
        let before = Before::by_channel(ctx, &self.attr, self.source.arg, &source, by_weights)?;
        let lens = self.scratch().ok_or_else(|| Error::Runtime("scratch that was not booked".into()))?;
        let zero_point = Broadcast::zero_point(simd, ctx, &self.attr, Arg::WEIGHTS, weights.dims())?.at(&[0; MAX_NDIMS]);
        let copy = |vector, out: &mut [f32]| self.shift(&weights, zero_point, vector, out);
        let copy = scratch.take(lens.weights)?.refill(ctx.executor(), self.panel(), &copy);
        let shift = scratch.take(lens.shifts)?.into_slice();
        if let Some((used, rest)) = shift.split_at_mut_checked(self.channels) {
            Broadcast::zero_point(simd, ctx, &self.attr, self.source.arg, source.dims())?.line(&[0; MAX_NDIMS], 1, used);
            rest.fill(0.0);
        }
        let operands = scratch.take(lens.epilogue)?.into_slice();
        let chain = Chain::new(simd, ctx, &self.attr, self.result.arg)?.with(&before);
        let epilogue = self.epilogue.args(&chain, 1, &[], operands)?;
        let bound = Bound { plan: self, strips, from: source.buf(), to: dst.buf(), weights: self.weights(&weights, copy), shift, epilogue };
        let rows = (self.result_sizes[0] * self.result_sizes[1]) as usize;
        let tasks = self.images * self.chunks * rows.div_ceil(self.rows) * self.parts;
        ctx.executor().run(self.workers.min(ctx.executor().threads().max(1)), tasks, &|_, task| bound.task(task));
        Ok(())
    }
}

impl Depthwise {
    /// The weights as kernels read them: in place, or their copy.
    fn weights<'a>(&self, view: &View<'a>, copy: Buf<'a>) -> Operand<'a> {
        let operand = |buf, at, vector| Operand { buf, at, column: 0, strip: 0, vector, group: vector };
        if self.shifted {
            return operand(copy, 0, self.panel() * 4);
        }
        let (size, blocking) = (view.dtype().bits() / 8, view.blocking());
        operand(view.buf(), blocking.offset as usize * size, blocking.strides[0] as usize * size)
    }

    /// Elements of the weights of a vector of channels.
    fn panel(&self) -> usize {
        self.kernel.iter().product::<usize>() * self.group[0] * self.lanes
    }

    /// Copies the weights of a vector of channels, less their zero point.
    fn shift(&self, weights: &View<'_>, zero_point: f32, vector: usize, out: &mut [f32]) {
        weights.read_run(weights.blocking().offset as usize + vector * out.len(), 1, out);
        let there = self.lanes.min(self.channels - vector * self.lanes);
        out.chunks_exact_mut(self.lanes).for_each(|line| line[..there].iter_mut().for_each(|x| *x -= zero_point));
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Depthwise,
    strips: &'a [Vec<Strip>],
    from: Buf<'a>,
    to: Buf<'a>,
    weights: Operand<'a>,
    shift: &'a [f32],
    epilogue: EpilogueArgs<'a>,
}

/// The work of a task: a part of some result rows of an image times a chunk of channels.
struct Task {
    /// First channel, and number of channels.
    first: usize,
    channels: usize,
    /// Its rows, counted over depth and height.
    rows: Range<usize>,
    part: usize,
    /// Byte offset of the first channel in source and in result.
    source: usize,
    result: usize,
}

impl Bound<'_> {
    fn task(&self, task: usize) {
        let p = self.plan;
        let all = (p.result_sizes[0] * p.result_sizes[1]) as usize;
        let blocks = all.div_ceil(p.rows);
        let (part, task) = (task % p.parts, task / p.parts);
        // In the order of memory, so that workers have parts of it.
        let (task, image) = (task % (blocks * p.chunks), task / (blocks * p.chunks));
        let (chunk, block) = if p.result.blocks == 0 { (task % p.chunks, task / p.chunks) } else { (task / blocks, task % blocks) };
        let first = chunk * p.chunk;
        let [from, to] = p.group;
        let (source, result) = (p.source.at(image, first / to * from), p.result.at(image, first));
        let rows = block * p.rows..all.min((block + 1) * p.rows);
        let task = |rows: Range<usize>| Task { first, channels: p.chunk.min(p.channels - first), rows, part, source, result };
        for row in rows.clone().step_by(p.together) {
            let some = task(row..rows.end.min(row + p.together));
            for ((segments, strips), table) in p.segments.iter().zip(self.strips).zip(&p.tables) {
                segments.iter().zip(strips).for_each(|segment| self.segment(&some, segment, table));
            }
        }
    }

    /// Computes the results of a segment.
    fn segment(&self, task: &Task, (segment, strip): (&Segment<generated::Depthwise>, &Strip), table: &Table) {
        let (p, line, lanes) = (self.plan, &self.plan.width.line, self.plan.lanes);
        let (step, stride) = (line.step as usize, line.stride as usize);
        let strips = task.part * segment.strips / p.parts..(task.part + 1) * segment.strips / p.parts;
        if strips.is_empty() {
            return;
        }
        let before = strips.start * segment.each;
        let at = task.result + (segment.first + before) * step * p.result.spatial[2];
        let result = p.result.operand(self.to, at, (step, segment.each * step), [lanes, 1]).of_vectors();
        let first = task.source + (segment.column + before * stride) * p.source.spatial[2];
        let source = p.source.operand(self.from, first, (1, segment.each * stride), [lanes / p.group[1] * p.group[0], 1]).of_vectors();
        let weights = Operand { at: self.weights.at + task.first / lanes * self.weights.group, ..self.weights };
        strip.run(Call {
            table,
            rows: task.rows.clone(),
            source,
            result,
            other: Some(weights),
            strips: strips.len(),
            channels: task.channels,
            shift: self.shift.get(task.first..).unwrap_or_default(),
            epilogue: (&self.epilogue, task.first),
            far: p.far,
        });
    }
}
