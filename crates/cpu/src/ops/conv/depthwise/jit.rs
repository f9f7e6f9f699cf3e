//! `direct:jit`: depthwise convolution by generated strips, forward and backward by data, and its deconvolution.
//!
//! Channels must lie in vectors: last, or in blocks of whole vectors. A task is a number of result rows of an image by a chunk of channels,
//! small enough for the source rows of a window to stay in the first cache from one result row to the next. Where a result is the sum alone,
//! converted, strips store it to the destination; else to a row of sums, which the common tail finishes.

use super::super::geometry::{Line, Phase};
use super::super::window::{Setup, check_quantisation, cut, place, resolve_data, spatial};
use super::{meeting, sizes_of, weights_tag};
use crate::CpuTarget;
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::epilogue::{self, Epilogue, Run, Sums};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::kernels::strip::{self, Call, Spec, Steps, Strip};
use crate::ops::support;
use crate::row::{Kernel, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::depthwise::{self, Tap};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Error, MAX_NDIMS, Op, Problem, Tensor};
use std::sync::Arc;

/// Most lines of a window, and taps of a line.
const LINES: usize = 64;
const TAPS: usize = 32;
/// Most columns between a result and a tap.
const REACH: i64 = 8 << 10;
/// Source bytes of a window's rows that should stay in the first cache.
const ROWS: usize = 24 << 10;
/// Multiply-adds of a task.
const TASK: usize = 1 << 16;

/// Equal strips of a row.
#[derive(Debug)]
struct Segment {
    strip: Strip,
    /// First result within the phase, results of a strip, number of strips.
    first: usize,
    each: usize,
    strips: usize,
    /// First source column that is read.
    column: usize,
}

#[derive(Debug)]
pub(crate) struct Depthwise {
    attr: Attr,
    source: Arg,
    result: Arg,
    lines: [Line; 3],
    /// The segments of each phase of the width.
    segments: Vec<Vec<Segment>>,
    kernel: [usize; 3],
    channels: usize,
    images: usize,
    result_sizes: [i64; 3],
    workers: usize,
    lanes: usize,
    /// Channels of a task, and their number of chunks.
    chunk: usize,
    chunks: usize,
    /// Result rows of a task.
    rows: usize,
    /// True where weights are read in place.
    placed: bool,
    /// True where strips store results.
    direct: bool,
    /// Numbers of a worker's sums.
    sums: usize,
}

/// The element type of generated loads and stores; `None` for types they do not know.
fn elem(dtype: DataType) -> Option<Elem> {
    Some(match dtype {
        DataType::F32 => Elem::F32,
        DataType::Bf16 => Elem::Bf16,
        DataType::F16 => Elem::F16,
        DataType::S8 => Elem::I8,
        DataType::U8 => Elem::U8,
        _ => return None,
    })
}

/// Channels that follow each other in vectors at one distance, the distance in elements; `None` where they do not lie in whole vectors.
fn vectors(tensor: &Tensor, lanes: usize) -> Option<(usize, usize)> {
    let b = tensor.blocking()?;
    let mut inner = b.inner.iter();
    match (inner.next(), inner.next()) {
        (None, None) if b.strides[1] == 1 || tensor.dims()[1] == 1 => Some((usize::MAX, lanes)),
        (Some((1, block)), None) if block as usize == lanes => Some((usize::MAX, b.strides[1] as usize)),
        (Some((1, block)), None) if (block as usize).is_multiple_of(lanes) => Some((block as usize, lanes)),
        _ => None,
    }
}

/// Plans `problem`, whose operation `setup` describes.
///
/// # Errors
/// What the row does not take.
pub(crate) fn plan(mut problem: Problem, target: &CpuTarget, setup: fn(&Op) -> Option<Setup<'_>>) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = setup(&problem.op).ok_or(Skip::Op("this propagation kind"))?;
    let weights = s.weights.dims().len();
    if weights == s.source.1.dims().len() || s.sizes.oc != 1 || s.sizes.ic != 1 {
        return Err(Skip::Shape("more than one channel in a group"));
    }
    let [kd, kh, kw] = s.sizes.k;
    if kd * kh > LINES as i64 || kw > TAPS as i64 || s.sizes.s[2] > 16 || s.sizes.d[2] > 64 {
        return Err(Skip::Shape("a large window"));
    }
    let lanes = jit.width().lanes();
    resolve_data(&mut problem, setup, &weights_tag(weights, lanes))?;
    problem.resolve();
    support::dense(&problem)?;
    let s = setup(&problem.op).ok_or(Skip::Op("this propagation kind"))?;
    epilogue::check(&problem.attr, s.result.1)?;
    check_quantisation(&problem.attr, &s)?;
    if problem.attr.zero_points.contains_key(&Arg::WEIGHTS) {
        return Err(Skip::Attr("zero points of the weights".into()));
    }
    let biased = problem.operands().iter().any(|o| o.arg == Arg::BIAS);
    let kernel = Depthwise::new(&s, (&problem.attr, biased), (target, jit))?;
    let bytes = kernel.scratch_parts().and_then(|parts| booked(&parts));
    let scratch_bytes = bytes.ok_or(Skip::Shape("scratch exceeds the address space"))?;
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(kernel) }))
}

/// What decides about the kernels of a problem.
struct Kernels {
    jit: Isa,
    source: Elem,
    weights: Elem,
    result: Elem,
    shifted: bool,
    masked: bool,
}

impl Kernels {
    /// Cuts a row of results into strips.
    fn cut(&self, line: &Line, phase: &Phase) -> Result<Vec<Segment>, Skip> {
        let most = depthwise::Depthwise::most_results(self.jit, phase.taps.len(), self.masked);
        let (each, n) = cut(phase.count, most, 1);
        let mut segments: Vec<(depthwise::Depthwise, Segment)> = Vec::new();
        for i in 0..n {
            let first = i * each;
            let kernel = self.sums(line, phase, first, each.min(phase.count - first));
            if let Some((last, segment)) = segments.last_mut()
                && *last == kernel
            {
                segment.strips += 1;
                continue;
            }
            let strip = Strip::get(self.jit, &Spec { sums: kernel.clone(), result: self.result });
            let strip = strip.map_err(|_| Skip::Isa("executable memory"))?;
            let column = (first as i64 * line.stride + i64::from(kernel.first())).max(0) as usize;
            segments.push((kernel, Segment { strip, first, each, strips: 1, column }));
        }
        Ok(segments.into_iter().map(|s| s.1).collect())
    }

    /// The kernel of one strip.
    fn sums(&self, line: &Line, phase: &Phase, first: usize, results: usize) -> depthwise::Depthwise {
        let begin = first as i64 * line.stride;
        let taps: Vec<Tap> = phase.taps.iter().map(|t| Tap { column: t.1 as i16, weights: t.0 as u16 }).collect();
        let (low, high) = phase.reach(line.stride, 0, results).unwrap_or((0, -1));
        let inside = (low.max(-begin).min(high + 1) as i16, (high + 1).min(line.source - begin).max(low) as i16);
        let Kernels { source, weights, shifted, masked, .. } = *self;
        depthwise::Depthwise { source, weights, results: results as u8, stride: line.stride as u8, taps, inside, shifted, masked }
    }
}

impl Depthwise {
    fn new(s: &Setup<'_>, (attr, biased): (&Attr, bool), (target, jit): (&CpuTarget, Isa)) -> Result<Depthwise, Skip> {
        let (source, weights, result) = (s.source.1, s.weights, s.result.1);
        let known = |t: &Tensor| elem(t.dtype).ok_or_else(|| Skip::DataType(format!("{} in a depthwise window", t.dtype)));
        let (source_elem, weights_elem) = (known(source)?, known(weights)?);
        let lanes = jit.width().lanes();
        let (from, to) = (sizes_of(source), sizes_of(result));
        let lines: [Line; 3] = std::array::from_fn(|i| Line::new(s.direction, &s.sizes, i, to[i], from[i]));
        let channels = s.sizes.g as usize;
        if lines[2].phases.iter().flat_map(|p| &p.taps).any(|t| t.1.abs() > REACH) {
            return Err(Skip::Shape("a large window"));
        }
        let masked = !channels.is_multiple_of(lanes);
        if masked && !jit.avx512 && source_elem.bytes() < 4 {
            return Err(Skip::Shape("channels that are not whole vectors of narrow numbers"));
        }
        let unlike = || Skip::Layout("channels that are not in vectors".into());
        let (source_block, _) = vectors(source, lanes).ok_or_else(unlike)?;
        let result_vectors = vectors(result, lanes);
        let plain = attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty() && !biased;
        let result_elem = elem(result.dtype).filter(|_| plain && result_vectors.is_some());
        let direct = result_elem.is_some();
        let most = match (source_block, result_vectors.filter(|_| direct).map_or(usize::MAX, |v| v.0)) {
            (a, b) if a == b || b == usize::MAX => a,
            (usize::MAX, b) => b,
            _ => lanes,
        };
        let window: usize = (s.sizes.k[0] * s.sizes.k[1]) as usize;
        let row = window.max(1) * from[2].max(1) as usize * source_elem.bytes();
        let wanted = (ROWS / row / lanes * lanes).max(lanes);
        let chunk = if most < usize::MAX { most } else { cut(channels, wanted, lanes).0 };
        let placed = weights.blocking().is_some_and(|b| {
            let mut inner = b.inner.iter();
            let last = weights.dims().len() - 1;
            inner.next() == Some((0, lanes as i64)) && inner.next().is_none() && b.strides[last] == lanes as i64
        });
        let kernels = Kernels {
            jit,
            source: source_elem,
            weights: if placed { weights_elem } else { Elem::F32 },
            result: result_elem.unwrap_or(Elem::F32),
            shifted: attr.zero_points.contains_key(&s.source.0),
            masked,
        };
        let segments: Vec<Vec<Segment>> = lines[2].phases.iter().map(|p| kernels.cut(&lines[2], p)).collect::<Result<_, _>>()?;
        let widest = lines[2].phases.iter().map(|p| p.count).max().unwrap_or(0);
        let per_row = to[2].max(1) as usize * chunk * s.sizes.k.iter().product::<i64>() as usize;
        let result_rows = (to[0] * to[1]).max(1) as usize;
        Ok(Depthwise {
            attr: attr.clone(),
            source: s.source.0,
            result: s.result.0,
            segments,
            kernel: s.sizes.k.map(|k| k as usize),
            channels,
            images: s.sizes.mb as usize,
            result_sizes: to,
            workers: target.threads,
            lanes,
            chunk,
            chunks: channels.div_ceil(chunk),
            rows: cut(result_rows, (TASK / per_row.max(1)).max(1), 1).0,
            placed,
            direct,
            sums: if direct { 0 } else { widest * chunk.next_multiple_of(lanes) },
            lines,
        })
    }

    /// Numbers of scratch: packed weights, shifts, and each worker's sums.
    fn scratch_parts(&self) -> Option<[usize; 3]> {
        let channels = self.channels.checked_next_multiple_of(self.lanes)?;
        let weights = if self.placed { 0 } else { self.kernel.iter().product::<usize>().checked_mul(channels)? };
        let shifts = if self.attr.zero_points.contains_key(&self.source) { channels } else { 0 };
        Some([weights, shifts, for_workers(self.workers, self.sums)?])
    }

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

impl Kernel for Depthwise {
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
        if !shift.is_empty() {
            Broadcast::zero_point(simd, ctx, &self.attr, self.source, source.dims())?.line(&[0; MAX_NDIMS], 1, &mut shift[..self.channels]);
            shift[self.channels..].fill(0.0);
        }
        let mut workers = scratch.take(sums)?;
        let bound = Bound { plan: self, source, weights: self.weights(&weights, packed), shift, tail };
        let rows = (self.result_sizes[0] * self.result_sizes[1]) as usize;
        let tasks = self.images * self.chunks * rows.div_ceil(self.rows);
        workers.work(ctx.executor, self.workers, tasks, &|task, scratch| bound.task(task, scratch));
        Ok(())
    }
}

/// Where weights are; distances in bytes.
struct Weights<'a> {
    memory: strip::Read<'a>,
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
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Depthwise,
    source: View<'a>,
    weights: Weights<'a>,
    shift: &'a [f32],
    tail: Epilogue<'a>,
}

/// A row of results of a chunk of channels.
struct Row<'l> {
    lines: &'l [strip::Line],
    image: usize,
    first: usize,
    channels: usize,
    at: [i64; 2],
}

impl Bound<'_> {
    /// Some rows of results of an image and a chunk of channels.
    fn task(&self, task: usize, sums: &mut [f32]) {
        let p = self.plan;
        let all = (p.result_sizes[0] * p.result_sizes[1]) as usize;
        let blocks = all.div_ceil(p.rows);
        let (block, rest) = (task % blocks, task / blocks);
        let (first, image) = (rest % p.chunks * p.chunk, rest / p.chunks);
        let channels = p.chunk.min(p.channels - first);
        let mut lines = [strip::Line::default(); LINES];
        let size = self.source.dtype().bits() / 8;
        let [depth, height] = [0, 1].map(|i| {
            let d = spatial(i, self.source.dims().len(), 2);
            d.map_or(0, |d| self.source.blocking().strides[d] as usize * size)
        });
        for row in block * p.rows..all.min((block + 1) * p.rows) {
            let at = [row as i64 / p.result_sizes[1], row as i64 % p.result_sizes[1]];
            let mut n = 0;
            for (kd, z) in meeting(&p.lines[0], at[0]) {
                for (kh, y) in meeting(&p.lines[1], at[1]) {
                    let [wd, wh] = self.weights.lines;
                    lines[n] = strip::Line {
                        source: z as usize * depth + y as usize * height,
                        weights: kd as usize * wd + kh as usize * wh,
                    };
                    n += 1;
                }
            }
            self.row(&Row { lines: &lines[..n], image, first, channels, at }, sums);
        }
    }

    fn row(&self, row: &Row<'_>, sums: &mut [f32]) {
        let p = self.plan;
        for (segments, phase) in p.segments.iter().zip(&p.lines[2].phases) {
            for segment in segments {
                self.segment(row, segment, phase, sums);
            }
            if !p.direct {
                self.finish(row, phase, sums);
            }
        }
    }

    /// Computes the results of a segment.
    fn segment(&self, row: &Row<'_>, segment: &Segment, phase: &Phase, sums: &mut [f32]) {
        let (p, line) = (self.plan, &self.plan.lines[2]);
        let mut pos: Pos = [0; MAX_NDIMS];
        (pos[0], pos[1]) = (row.image as i64, row.first as i64);
        let n = self.source.dims().len();
        let source = steps(&self.source, p.lanes, 1, segment.each * line.stride as usize);
        place(&mut pos, n, [0, 0, segment.column as i64]);
        let size = self.source.dtype().bits() / 8;
        let from = self.source.offset(&pos) * size;
        let vector = row.first / p.lanes;
        let (result, result_steps) = if p.direct {
            let dst = self.tail.dst();
            place(&mut pos, n, [row.at[0], row.at[1], phase.first + segment.first as i64 * line.step]);
            let to = dst.offset(&pos) * (dst.dtype().bits() / 8);
            ((dst.buf().into(), to), steps(dst, p.lanes, line.step as usize, segment.each * line.step as usize))
        } else {
            let pixel = row.channels.next_multiple_of(p.lanes) * 4;
            let steps = Steps { column: pixel, strip: segment.each * pixel, vector: p.lanes * 4 };
            ((sums.into(), segment.first * pixel), steps)
        };
        segment.strip.run(&Call {
            lines: row.lines,
            source: (self.source.buf().into(), from),
            source_steps: source,
            weights: (self.weights.memory, self.weights.start + vector * self.weights.vector),
            weights_vector: self.weights.vector,
            result,
            result_steps,
            strips: segment.strips,
            channels: row.channels,
            shift: self.shift.get(row.first..).unwrap_or_default(),
        });
    }

    /// Takes a row of sums through the tail.
    fn finish(&self, row: &Row<'_>, phase: &Phase, sums: &mut [f32]) {
        let (p, n) = (self.plan, self.tail.dst().dims().len());
        let mut pos: Pos = [0; MAX_NDIMS];
        (pos[0], pos[1]) = (row.image as i64, row.first as i64);
        place(&mut pos, n, [row.at[0], row.at[1], phase.first]);
        let step = row.channels.next_multiple_of(p.lanes);
        let run = Run { pos, dim: n - 1, step: p.lines[2].step, count: phase.count };
        let sums = Sums { data: &mut sums[..step * phase.count], exact: None, step, columns: row.channels, dim: 1 };
        self.tail.store(sums, std::iter::once(run));
    }
}

/// Distances of `column` columns, `strip` columns, and vectors of channels, in bytes.
fn steps(view: &View<'_>, lanes: usize, column: usize, strip: usize) -> Steps {
    let (size, n) = (view.dtype().bits() / 8, view.dims().len());
    let x = view.blocking().strides[n - 1] as usize * size;
    let block = view.blocking().inner.iter().next().map(|b| b.1 as usize);
    let vector = if block == Some(lanes) { view.blocking().strides[1] as usize } else { lanes };
    Steps { column: column * x, strip: strip * x, vector: vector * size }
}
