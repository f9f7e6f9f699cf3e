//! Running a planned [`Depthwise`].

use super::super::geometry::Phase;
use super::super::window::{place, spatial, weight_scale};
use super::jit::{Depthwise, Segment};
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::epilogue::{Epilogue, Run, Sums};
use crate::kernels::extent::Read;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, lend};
use crate::kernels::strip::{Call, Steps, Strip, Table};
use crate::kernels::tile::TailArgs;
use crate::row::Generated;
use oxidnn_runtime::{Ctx, Decision};
use oxidnn_spec::{Arg, Error, MAX_NDIMS, Problem};
use std::ops::Range;

/// Most lanes of a vector.
const LANES: usize = 16;

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
            (View::of(simd, ctx, self.source)?, View::of(simd, ctx, Arg::WEIGHTS)?, View::of(simd, ctx, self.result)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let by_weights = || weight_scale(ctx, &self.attr, &weights, (dst.dims().len(), self.result_channel, self.group[1]));
        let before = Before::by_channel(ctx, &self.attr, self.source, &source, by_weights)?;
        let lens = self.scratch().ok_or_else(|| Error::Runtime("scratch that was not booked".into()))?;
        let zero_point = Broadcast::zero_point(simd, ctx, &self.attr, Arg::WEIGHTS, weights.dims())?;
        let by = Weights { view: &weights, zero_point: Some(zero_point).filter(|z| !z.is_constant(0.0)) };
        let packed = scratch.take(lens.packed)?.fill(ctx.executor(), self.panel(), &|vector, out| self.pack(&by, vector, out));
        let shift = scratch.take(lens.shifts)?.into_slice();
        if let Some((used, rest)) = shift.split_at_mut_checked(self.channels) {
            Broadcast::zero_point(simd, ctx, &self.attr, self.source, source.dims())?.line(&[0; MAX_NDIMS], 1, used);
            rest.fill(0.0);
        }
        let operands = scratch.take(lens.tail)?.into_slice();
        let chain = Chain::new(simd, ctx, &self.attr, self.result)?.with(&before);
        let finish = match &self.tail {
            Some(tail) => Finish::Strips(tail.args(&chain, 1, &[], operands)?),
            None => Finish::Rows(Epilogue::new(chain)?),
        };
        let mut workers = scratch.take(lens.workers)?;
        let (from, to) = (Tensor::new(source, self.lanes / self.group[1] * self.group[0]), Tensor::new(dst, self.lanes));
        let bound = Bound { plan: self, strips, from, to, weights: self.weights(&weights, packed), shift, finish };
        let rows = (self.result_sizes[0] * self.result_sizes[1]) as usize;
        let tasks = self.images * self.chunks * rows.div_ceil(self.rows);
        workers.work(ctx.executor(), self.workers, tasks, &|task, scratch| bound.task(task, scratch));
        Ok(())
    }
}

/// Weights with what is subtracted from them.
struct Weights<'a> {
    view: &'a View<'a>,
    zero_point: Option<Broadcast<'a>>,
}

impl Weights<'_> {
    /// Reads elements that follow each other along a dimension.
    fn read(&self, pos: &Pos, dim: usize, out: &mut [f32]) {
        self.view.read(pos, dim, out);
        if let Some(zero_point) = &self.zero_point {
            let mut line = [0.0; LANES];
            let line = &mut line[..out.len()];
            zero_point.line(pos, dim, line);
            out.iter_mut().zip(line).for_each(|(x, z)| *x -= *z);
        }
    }
}

/// Where kernels find weights; in bytes.
struct Placed<'a> {
    memory: Read<'a>,
    start: usize,
    vector: usize,
}

impl Depthwise {
    fn weights<'a>(&self, view: &View<'a>, packed: &'a [f32]) -> Placed<'a> {
        if !self.placed {
            return Placed { memory: packed.into(), start: 0, vector: self.panel() * 4 };
        }
        let (size, blocking) = (view.dtype().bits() / 8, view.blocking());
        Placed { memory: view.buf().into(), start: blocking.offset as usize * size, vector: blocking.strides[0] as usize * size }
    }

    /// Elements of the packed weights of a vector of channels.
    fn panel(&self) -> usize {
        self.kernel.iter().product::<usize>() * self.words[0] * self.lanes
    }

    /// Writes the weights of a vector of channels: tap by tap, in each source channel by source channel of the groups, or pair by pair.
    fn pack(&self, weights: &Weights<'_>, vector: usize, out: &mut [f32]) {
        let (lanes, from) = (self.lanes, self.words[0]);
        let pairs = self.group[0] / from;
        let bits = |x: &f32| x.to_bits() >> 16;
        for (i, out) in out.chunks_exact_mut(lanes).enumerate() {
            let (tap, channel) = (i / from, i % from * pairs);
            self.pack_channel(weights, (vector, tap, channel), out);
            if !self.dots {
                continue;
            }
            let mut second = [0.0; LANES];
            if pairs > 1 {
                self.pack_channel(weights, (vector, tap, channel + 1), &mut second[..lanes]);
            }
            out.iter_mut().zip(&second).for_each(|(x, y)| *x = f32::from_bits(bits(x) | bits(y) << 16));
        }
    }

    /// Writes what a source channel of each group has as weights of a tap.
    fn pack_channel(&self, weights: &Weights<'_>, (vector, tap, channel): (usize, usize, usize), out: &mut [f32]) {
        let (n, to, [_, kh, kw]) = (weights.view.dims().len(), self.group[1], self.kernel);
        let first = vector * self.lanes;
        let groups = self.lanes.min(self.channels - first) / to;
        let mut pos: Pos = [0; MAX_NDIMS];
        pos[2 - self.result_channel] = channel as i64;
        for (i, x) in [tap / (kh * kw), tap / kw % kh, tap % kw].into_iter().enumerate() {
            if let Some(d) = spatial(i, n, 3) {
                pos[d] = x as i64;
            }
        }
        pos[0] = (first / to) as i64;
        if to == 1 {
            weights.read(&pos, 0, &mut out[..groups]);
        } else {
            for out in out.chunks_exact_mut(to).take(groups) {
                weights.read(&pos, 1 + self.result_channel, out);
                pos[0] += 1;
            }
        }
        out[groups * to..].fill(0.0);
    }
}

/// A tensor with its distances in bytes.
struct Tensor<'a> {
    view: View<'a>,
    size: usize,
    column: usize,
    vector: usize,
}

impl<'a> Tensor<'a> {
    fn new(view: View<'a>, lanes: usize) -> Tensor<'a> {
        let (size, blocking) = (view.dtype().bits() / 8, view.blocking());
        let block = blocking.inner.iter().next().map(|b| b.1 as usize);
        let vector = if block == Some(lanes) { blocking.strides[1] as usize } else { lanes } * size;
        Tensor { view, size, column: blocking.strides[view.dims().len() - 1] as usize * size, vector }
    }

    /// Distances of strips of `columns` columns that are `step` columns of the tensor apart.
    fn steps(&self, step: usize, columns: usize) -> Steps {
        let column = step * self.column;
        Steps { column, strip: columns * column, vector: self.vector }
    }

    /// Bytes before a channel of an image.
    fn channel(&self, image: usize, channel: usize) -> usize {
        let mut pos: Pos = [0; MAX_NDIMS];
        (pos[0], pos[1]) = (image as i64, channel as i64);
        self.view.offset(&pos) * self.size
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Depthwise,
    strips: &'a [Vec<Strip>],
    from: Tensor<'a>,
    to: Tensor<'a>,
    weights: Placed<'a>,
    shift: &'a [f32],
    finish: Finish<'a>,
}

/// What makes results of sums.
#[allow(clippy::large_enum_variant, reason = "lies on the stack: executions allocate nothing")]
enum Finish<'a> {
    /// The strips themselves, with these operands.
    Strips(TailArgs<'a>),
    /// The common tail, row by row.
    Rows(Epilogue<'a>),
}

/// What a task computes: some rows of results of an image by a chunk of channels.
struct Task {
    image: usize,
    /// First channel, and number of channels.
    first: usize,
    channels: usize,
    /// Its rows, counted over depth and height.
    rows: Range<usize>,
    /// Bytes before the first channel in source and result.
    source: usize,
    result: usize,
}

impl Bound<'_> {
    fn task(&self, task: usize, sums: &mut [f32]) {
        let p = self.plan;
        let all = (p.result_sizes[0] * p.result_sizes[1]) as usize;
        let blocks = all.div_ceil(p.rows);
        let (block, rest) = (task % blocks, task / blocks);
        let (first, image) = (rest % p.chunks * p.chunk, rest / p.chunks);
        let [from, to] = p.group;
        let (source, result) = (self.from.channel(image, first / to * from), self.to.channel(image, first));
        let rows = block * p.rows..all.min((block + 1) * p.rows);
        let task = |rows: Range<usize>| Task { image, first, channels: p.chunk.min(p.channels - first), rows, source, result };
        let phases = p.segments.iter().zip(self.strips).zip(&p.tables).zip(&p.lines[2].phases);
        for (((segments, strips), table), phase) in phases {
            for row in rows.clone().step_by(p.together) {
                let some = task(row..rows.end.min(row + p.together));
                segments.iter().zip(strips).for_each(|segment| self.segment(&some, segment, table, sums));
            }
            if let Finish::Rows(tail) = &self.finish {
                self.finish(tail, &task(rows.clone()), phase, sums);
            }
        }
    }

    /// Computes the results of a segment, some strips at a time.
    fn segment(&self, task: &Task, (segment, strip): (&Segment, &Strip), table: &Table, sums: &mut [f32]) {
        let (p, line) = (self.plan, &self.plan.lines[2]);
        let (to, placed, result_steps, operands) = match &self.finish {
            Finish::Strips(tail) => (self.to.view.buf(), task.result, self.to.steps(line.step as usize, segment.each), tail),
            Finish::Rows(_) => {
                let sum = p.sum * 4;
                (lend(sums), 0, Steps { column: sum, strip: segment.each * sum, vector: p.lanes * 4 }, &TailArgs::NONE)
            }
        };
        let source_steps = Steps { column: self.from.column, ..self.from.steps(line.stride as usize, segment.each) };
        let source = task.source + segment.column * self.from.column;
        let result = placed + segment.first * result_steps.column;
        let each = (p.columns / segment.each).clamp(1, segment.strips.max(1));
        for first in (0..segment.strips).step_by(each) {
            strip.run(Call {
                table,
                rows: task.rows.clone(),
                source: (self.from.view.buf().into(), source + first * source_steps.strip),
                source_steps,
                weights: (self.weights.memory, self.weights.start + task.first / p.lanes * self.weights.vector),
                weights_vector: self.weights.vector,
                result: (to.into(), result + first * result_steps.strip),
                result_steps,
                strips: each.min(segment.strips - first),
                channels: task.channels,
                shift: self.shift.get(task.first..).unwrap_or_default(),
                tail: (operands, task.first),
                far: p.columns < usize::MAX,
            });
        }
    }

    /// Takes rows of sums through the tail.
    fn finish(&self, tail: &Epilogue<'_>, task: &Task, phase: &Phase, sums: &mut [f32]) {
        let (p, n) = (self.plan, self.to.view.dims().len());
        let runs = task.rows.clone().map(|row| {
            let mut pos: Pos = [0; MAX_NDIMS];
            (pos[0], pos[1]) = (task.image as i64, task.first as i64);
            place(&mut pos, n, [row as i64 / p.result_sizes[1], row as i64 % p.result_sizes[1], phase.first]);
            Run { pos, dim: n - 1, step: p.lines[2].step, count: phase.count }
        });
        let data = &mut sums[..task.rows.len() * phase.count * p.sum];
        tail.store(Sums { data, exact: None, step: p.sum, columns: task.channels, dim: 1 }, runs);
    }
}
