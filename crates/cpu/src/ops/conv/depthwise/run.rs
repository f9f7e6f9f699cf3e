//! Running a planned [`Depthwise`].

use super::super::geometry::Phase;
use super::super::window::{place, spatial};
use super::jit::{Depthwise, LINES, Segment};
use super::meeting;
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::epilogue::{Epilogue, Run, Sums};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::kernels::strip::{Call, Line, Read, Row, Steps};
use crate::row::Kernel;
use oxidnn_runtime::Ctx;
use oxidnn_spec::{Arg, Error, MAX_NDIMS};

impl Kernel for Depthwise {
    fn prepare(&self) -> Result<(), Error> {
        self.prepare_strips()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (source, weights, dst) =
            (View::of(simd, ctx, self.source)?, View::of(simd, ctx, Arg::WEIGHTS)?, View::of(simd, ctx, self.result)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let factors = [
            Broadcast::scale(simd, ctx, &self.attr, self.source, source.dims())?.permuted(&[]),
            Broadcast::scale(simd, ctx, &self.attr, Arg::WEIGHTS, weights.dims())?.permuted(&[None, Some(0)]),
        ];
        let bias = View::optional(simd, ctx, Arg::BIAS)?.map(|b| Broadcast::along(b, 1));
        let tail = Epilogue::new((simd, ctx), &self.attr, self.result, factors, bias)?;
        let [packed, shifts, sums] = self.scratch_parts().unwrap_or([0; 3]);
        let panel = self.kernel.iter().product::<usize>() * self.lanes;
        let packed = scratch.take(packed)?.fill(ctx.executor, panel, &|vector, out| self.pack(&weights, vector, out));
        let shift = scratch.take(shifts)?.into_slice();
        if let Some((used, rest)) = shift.split_at_mut_checked(self.channels) {
            Broadcast::zero_point(simd, ctx, &self.attr, self.source, source.dims())?.line(&[0; MAX_NDIMS], 1, used);
            rest.fill(0.0);
        }
        let mut workers = scratch.take(sums)?;
        let (from, to) = (Tensor::new(source, self.lanes), Tensor::new(dst, self.lanes));
        let bound = Bound { plan: self, from, to, weights: self.weights(&weights, packed), shift, tail };
        let rows = (self.result_sizes[0] * self.result_sizes[1]) as usize;
        let tasks = self.images * self.chunks * rows.div_ceil(self.rows);
        workers.work(ctx.executor, self.workers, tasks, &|task, scratch| bound.task(task, scratch));
        Ok(())
    }
}

/// Where weights are; distances in bytes.
struct Weights<'a> {
    memory: Read<'a>,
    start: usize,
    vector: usize,
    /// Distances along depth and height of the window.
    lines: [usize; 2],
}

impl Depthwise {
    fn weights<'a>(&self, view: &View<'_>, packed: &'a [f32]) -> Weights<'a> {
        let [kd, kh, kw] = self.kernel;
        if !self.placed {
            let line = kw * self.lanes * 4;
            return Weights { memory: packed.into(), start: 0, vector: kd * kh * line, lines: [kh * line, line] };
        }
        let (size, strides, n) = (view.dtype().bits() / 8, &view.blocking().strides, view.dims().len());
        let stride = |i: usize| spatial(i, n, 3).map_or(0, |d| strides[d] as usize * size);
        let start = view.blocking().offset as usize * size;
        Weights { memory: view.buf().into(), start, vector: strides[0] as usize * size, lines: [stride(0), stride(1)] }
    }

    /// Writes the weights of a vector of channels: tap by tap.
    fn pack(&self, weights: &View<'_>, vector: usize, out: &mut [f32]) {
        let n = weights.dims().len();
        let first = vector * self.lanes;
        let count = self.lanes.min(self.channels - first);
        let [_, kh, kw] = self.kernel;
        for (tap, out) in out.chunks_exact_mut(self.lanes).enumerate() {
            let mut pos: Pos = [0; MAX_NDIMS];
            pos[0] = first as i64;
            for (i, x) in [tap / (kh * kw), tap / kw % kh, tap % kw].into_iter().enumerate() {
                if let Some(d) = spatial(i, n, 3) {
                    pos[d] = x as i64;
                }
            }
            weights.read(&pos, 0, &mut out[..count]);
            out[count..].fill(0.0);
        }
    }
}

/// A tensor with its distances in bytes.
struct Tensor<'a> {
    view: View<'a>,
    size: usize,
    spatial: [usize; 3],
    vector: usize,
}

impl<'a> Tensor<'a> {
    fn new(view: View<'a>, lanes: usize) -> Tensor<'a> {
        let (size, n, blocking) = (view.dtype().bits() / 8, view.dims().len(), view.blocking());
        let stride = |i: usize| spatial(i, n, 2).map_or(0, |d| blocking.strides[d] as usize * size);
        let block = blocking.inner.iter().next().map(|b| b.1 as usize);
        let vector = if block == Some(lanes) { blocking.strides[1] as usize } else { lanes } * size;
        Tensor { view, size, spatial: std::array::from_fn(stride), vector }
    }

    /// Distances of strips of `columns` columns that are `step` columns of the tensor apart.
    fn steps(&self, step: usize, columns: usize) -> Steps {
        let column = step * self.spatial[2];
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
    from: Tensor<'a>,
    to: Tensor<'a>,
    weights: Weights<'a>,
    shift: &'a [f32],
    tail: Epilogue<'a>,
}

/// What a task computes: some rows of results of an image by a chunk of channels.
struct Task {
    image: usize,
    /// First channel, and number of channels.
    first: usize,
    channels: usize,
    /// First row, counted over depth and height.
    row: usize,
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
        let (source, result) = (self.from.channel(image, first), self.to.channel(image, first));
        let task = Task { image, first, channels: p.chunk.min(p.channels - first), row: block * p.rows, source, result };
        let (mut rows, mut lines) = ([Row::default(); LINES], [Line::default(); LINES]);
        let rows = &mut rows[..p.rows.min(all - task.row)];
        let mut n = 0;
        let mut at = self.position(&task);
        for row in rows.iter_mut() {
            row.lines = self.lines(at, &mut lines[n..]);
            n += row.lines;
            at = self.next(at);
        }
        for (segments, phase) in p.segments.iter().zip(&p.lines[2].phases) {
            self.place(&task, phase, rows);
            for segment in segments {
                self.segment(&task, segment, (rows, &lines[..n]), sums);
            }
            if !p.direct {
                self.finish(&task, phase, rows.len(), sums);
            }
        }
    }

    /// Depth and height of the task's first row.
    fn position(&self, task: &Task) -> [i64; 2] {
        let height = self.plan.result_sizes[1];
        [task.row as i64 / height, task.row as i64 % height]
    }

    /// Depth and height of the row behind `at`.
    fn next(&self, [d, h]: [i64; 2]) -> [i64; 2] {
        if h + 1 < self.plan.result_sizes[1] { [d, h + 1] } else { [d + 1, 0] }
    }

    /// Writes the lines of the window of the row at a depth and height; their number.
    fn lines(&self, at: [i64; 2], lines: &mut [Line]) -> usize {
        let p = self.plan;
        let ([depth, height, _], [by_depth, by_height]) = (self.from.spatial, self.weights.lines);
        let mut n = 0;
        for (kd, z) in meeting(&p.lines[0], at[0]) {
            for (kh, y) in meeting(&p.lines[1], at[1]) {
                let source = z as usize * depth + y as usize * height;
                lines[n] = Line { source, weights: kd as usize * by_depth + kh as usize * by_height };
                n += 1;
            }
        }
        n
    }

    /// Sets where the rows' results go.
    fn place(&self, task: &Task, phase: &Phase, rows: &mut [Row]) {
        let p = self.plan;
        let [depth, height, column] = self.to.spatial;
        let start = task.result + phase.first as usize * column;
        let mut at = self.position(task);
        for (i, row) in rows.iter_mut().enumerate() {
            let placed = start + at[0] as usize * depth + at[1] as usize * height;
            row.result = if p.direct { placed } else { i * phase.count * self.sum(task) * 4 };
            at = self.next(at);
        }
    }

    /// Distance of a task's sums.
    fn sum(&self, task: &Task) -> usize {
        task.channels.next_multiple_of(self.plan.lanes)
    }

    /// Computes the results of a segment.
    fn segment(&self, task: &Task, segment: &Segment, (rows, lines): (&[Row], &[Line]), sums: &mut [f32]) {
        let (p, line) = (self.plan, &self.plan.lines[2]);
        let result_steps = if p.direct {
            self.to.steps(line.step as usize, segment.each)
        } else {
            let sum = self.sum(task) * 4;
            Steps { column: sum, strip: segment.each * sum, vector: p.lanes * 4 }
        };
        let result = segment.first * result_steps.column;
        let source = task.source + segment.column * self.from.spatial[2];
        let Some(strip) = segment.strip() else { return };
        strip.run(&Call {
            rows,
            lines,
            source: (self.from.view.buf().into(), source),
            source_steps: Steps { column: self.from.spatial[2], ..self.from.steps(line.stride as usize, segment.each) },
            weights: (self.weights.memory, self.weights.start + task.first / p.lanes * self.weights.vector),
            weights_vector: self.weights.vector,
            result: (if p.direct { self.to.view.buf().into() } else { sums.into() }, result),
            result_steps,
            strips: segment.strips,
            channels: task.channels,
            shift: self.shift.get(task.first..).unwrap_or_default(),
        });
    }

    /// Takes rows of sums through the tail.
    fn finish(&self, task: &Task, phase: &Phase, rows: usize, sums: &mut [f32]) {
        let (p, n, step) = (self.plan, self.to.view.dims().len(), self.sum(task));
        let runs = (task.row..task.row + rows).map(|row| {
            let mut pos: Pos = [0; MAX_NDIMS];
            (pos[0], pos[1]) = (task.image as i64, task.first as i64);
            place(&mut pos, n, [row as i64 / p.result_sizes[1], row as i64 % p.result_sizes[1], phase.first]);
            Run { pos, dim: n - 1, step: p.lines[2].step, count: phase.count }
        });
        let data = &mut sums[..rows * phase.count * step];
        self.tail.store(Sums { data, exact: None, step, columns: task.channels, dim: 1 }, runs);
    }
}
