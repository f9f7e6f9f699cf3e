//! Resampling where lines are runs of memory: plain, with channels last, or in blocks of channels. A line of results is a sum of lines around it,
//! then of its neighbours along the line; backward the other way round. Nothing but a few lines is between memory and memory.

use super::{Axis, BLOCK, Interpolation, Taps};
use crate::CpuTarget;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Builder, CHUNK, GRAIN, Kind, Memory, Results, Stores};
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::{Kernel, RowPlan};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::{Resampling, ResamplingAlg};
use oxidnn_spec::{Arg, DataType, Error, Op, Problem, Tensor};
use std::ops::Range;

/// Elements of a line at least, and of all lines of a task at most.
const NUMBERS: std::ops::RangeInclusive<usize> = 128..=1 << 20;

/// Elements of a line that are made before they are stored.
const PIECE: usize = 2048;

/// Neighbours of a position from which on they are copied by themselves.
const LONG: usize = 64;

/// Bytes of a word.
const WORD: usize = 4;

/// Where lines lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    start: usize,
    /// Distance of images, of blocks of channels, of depths and of heights.
    pub(super) strides: [usize; 4],
    /// Images, and blocks of channels.
    pub(super) counts: [usize; 2],
    /// Neighbours of a position of a line.
    pub(super) run: usize,
}

impl Place {
    pub(super) fn of(arg: Arg, tensor: &Tensor) -> Result<Place, Skip> {
        let apart = || Skip::Layout(format!("of {arg}: lines that are not one run"));
        let (b, dims) = (tensor.blocking().ok_or_else(apart)?, tensor.dims());
        let (n, channels) = (dims.len(), dims[1]);
        let mut inner = b.inner.iter();
        let stride = |i: usize| (n + i).checked_sub(5).filter(|d| *d >= 2).map_or(0, |d| b.strides[d] as usize);
        let (run, blocks, block) = match (inner.next(), inner.next()) {
            (None, _) if b.strides[n - 1] == 1 => (1, channels, b.strides[1]),
            (None, _) if b.strides[1] == 1 && b.strides[n - 1] == channels => (channels, 1, 0),
            (Some((1, block)), None) if b.strides[n - 1] == block => (block, b.padded_dims[1] / block, b.strides[1]),
            _ => return Err(apart()),
        };
        if b.padded_dims.iter().enumerate().any(|(d, size)| d != 1 && *size != dims[d]) || tensor.layout.has_runtime() {
            return Err(apart());
        }
        let strides = [b.strides[0] as usize, block as usize, stride(2), stride(3)];
        Ok(Place { start: b.offset as usize, strides, counts: [dims[0] as usize, blocks as usize], run: run as usize })
    }

    /// The same in words of four bytes instead of elements of so many.
    pub(super) fn in_words(&self, size: usize) -> Option<Place> {
        let word = |elements: usize| (elements * size).is_multiple_of(WORD).then_some(elements * size / WORD);
        let [a, b, c, d] = self.strides;
        let strides = [word(a)?, word(b)?, word(c)?, word(d)?];
        Some(Place { start: word(self.start)?, strides, counts: self.counts, run: word(self.run)? })
    }

    /// The first element of a line: of which image and block, at what depth and height.
    pub(super) fn line(&self, at: [usize; 4]) -> usize {
        self.start + at.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<usize>()
    }
}

/// The kernel.
#[derive(Debug)]
struct Interpolated {
    window: Interpolation,
    input: Arg,
    dtype: DataType,
    from: Place,
    to: Place,
    results: Results,
    workers: usize,
}

/// Plans a resampling by lines.
///
/// # Errors
/// [`Skip`] for other layouts, for short lines and long ones, and for attributes with other tensors.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let Op::Resampling(op) = &problem.op else { return Err(Skip::Op("another operation than resampling")) };
        let kernel = Interpolated::new(op, problem, target.threads)?;
        let numbers = for_workers(kernel.workers, kernel.numbers()).and_then(|n| booked(&[n]));
        Ok((kernel, numbers.ok_or(Skip::Shape("scratch exceeds the address space"))?))
    })
}

impl Interpolated {
    fn new(op: &Resampling, problem: &Problem, workers: usize) -> Result<Interpolated, Skip> {
        let forward = op.prop.is_forward();
        let tensors = [(Arg::SRC, &op.src), (Arg::DST, &op.dst), (Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src)];
        let [input, result] = if forward { [tensors[0], tensors[1]] } else { [tensors[2], tensors[3]] };
        let results = Results::new(Builder::new(problem, result.1.dims(), None)?, result.0)?;
        let (from, to) = (Place::of(input.0, input.1)?, Place::of(result.0, result.1)?);
        if from.run != to.run || from.counts != to.counts {
            return Err(Skip::Layout("of src and dst: other channels in a line".into()));
        }
        if input.1.is_empty() || result.1.is_empty() || input.1.dtype.bits() > 32 {
            return Err(Skip::Shape("no elements, or of 64 bits"));
        }
        let kernel = Interpolated {
            window: Interpolation::new(op)?,
            input: input.0,
            dtype: input.1.dtype,
            from,
            to,
            results,
            workers: workers.max(1),
        };
        let sizes = kernel.sizes();
        if sizes.iter().any(|n| *n < *NUMBERS.start()) || sizes.iter().sum::<usize>() > *NUMBERS.end() {
            return Err(Skip::Shape("short lines, or long ones"));
        }
        Ok(kernel)
    }

    /// Elements of a line of the input and of the result.
    fn sizes(&self) -> [usize; 2] {
        let [_, _, width] = self.window.axes;
        let sizes = [width.inputs as usize, width.outputs as usize].map(|n| n.saturating_mul(self.from.run));
        if self.window.forward { sizes } else { [sizes[1], sizes[0]] }
    }

    /// Elements of a worker: a line of the input as it is, one that is a sum, and one of results.
    fn numbers(&self) -> usize {
        let [input, result] = self.sizes();
        2 * input + result
    }

    /// Lines of an image and block of the result: depths and heights.
    fn lines(&self) -> [usize; 2] {
        let size = |axis: Axis| if self.window.forward { axis.outputs } else { axis.inputs } as usize;
        [size(self.window.axes[0]), size(self.window.axes[1])]
    }
}

impl Kernel for Interpolated {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let destination = self.results.bind(ctx)?;
        let memory = Memory { buf: ctx.buf(self.input)?, kind: Kind::Number(self.dtype) };
        let floats = if self.dtype == DataType::F32 { ctx.input::<f32>(self.input) } else { None };
        let [depths, heights] = self.lines();
        let all = self.to.counts[0] * self.to.counts[1] * depths * heights;
        let [input, result] = self.sizes();
        let each = (GRAIN as usize / input.max(result)).max(1);
        let mut space = scratch.take(for_workers(self.workers, self.numbers()).unwrap_or(0))?;
        space.work(ctx.executor(), self.workers, all.div_ceil(each), &|task, space| {
            let (copy, rest) = space.split_at_mut(input);
            let (sum, rest) = rest.split_at_mut(input);
            let input = Input { simd, memory, floats, copy, sum };
            let mut lines = Task { kernel: self, simd, input, stores: destination.stores(), result: &mut rest[..result] };
            let range = task * each..((task + 1) * each).min(all);
            if self.window.forward { lines.forward(range) } else { lines.backward(range) }
        });
        self.results.pad(ctx)
    }
}

/// Some lines of the result.
struct Task<'t> {
    kernel: &'t Interpolated,
    simd: Simd,
    input: Input<'t>,
    stores: Stores<'t>,
    result: &'t mut [f32],
}

/// The input, and space for a line of it and for a sum of lines.
struct Input<'t> {
    simd: Simd,
    memory: Memory<'t>,
    /// The whole input, where it need not be copied.
    floats: Option<&'t [f32]>,
    copy: &'t mut [f32],
    sum: &'t mut [f32],
}

/// The outputs of a line from `first` on, and their taps.
struct Outputs {
    taps: [Taps; BLOCK],
    count: usize,
    first: usize,
    /// Elements of the line of inputs that taps are of.
    span: Range<usize>,
    nearest: bool,
}

impl Outputs {
    fn new(width: Axis, first: usize, run: usize) -> Outputs {
        let mut taps = [[(0, 0.0); 2]; BLOCK];
        let count = taps.iter_mut().zip(width.from(first as i64)).take(width.outputs as usize - first).map(|(to, t)| *to = t).count();
        let nearest = width.alg == ResamplingAlg::Nearest;
        let last = taps[count - 1];
        let span = taps[0][0].0 * run..(if nearest { last[0].0 } else { last[1].0 } + 1) * run;
        Outputs { taps, count, first, span, nearest }
    }
}

impl Input<'_> {
    /// Elements `span` of the sum of lines of the input, by where they begin and their weights; `None` of no lines.
    fn add(&mut self, lines: impl Iterator<Item = (usize, f32)>, span: Range<usize>) -> Option<&[f32]> {
        let Input { simd, memory, floats, copy, sum } = self;
        let mut lines = lines.filter(|l| l.1 != 0.0);
        let (first, second) = (lines.next()?, lines.next());
        // One line of its own weight is taken where it is.
        if let (1.0, None, Some(floats)) = (first.1, second, *floats) {
            return Some(&floats[first.0 + span.start..][..span.len()]);
        }
        let sum = &mut sum[span.clone()];
        for (count, (at, weight)) in [first].into_iter().chain(second).chain(lines).enumerate() {
            let at = at + span.start;
            let line = match floats {
                Some(floats) => &floats[at..at + span.len()],
                None => {
                    let copy = &mut copy[..span.len()];
                    copy.chunks_mut(CHUNK).enumerate().for_each(|(i, piece)| memory.read(*simd, at + i * CHUNK, 1, piece));
                    &*copy
                }
            };
            simd.run(Add { to: sum, line, weight, first: count == 0 });
        }
        Some(sum)
    }
}

impl Task<'_> {
    fn forward(&mut self, range: Range<usize>) {
        let (kernel, run, simd) = (self.kernel, self.kernel.from.run, self.simd);
        let [depth, height, width] = kernel.window.axes;
        for first in (0..width.outputs as usize).step_by(BLOCK) {
            let outputs = Outputs::new(width, first, run);
            let mut at = position(range.start, kernel);
            let (mut depths, mut heights) = (depth.from(at[2] as i64), height.from(at[3] as i64));
            let mut taps = [depths.next().unwrap_or_default(), heights.next().unwrap_or_default()];
            for _ in range.clone() {
                let lines = super::corners(&taps[0], &taps[1]);
                let start = |[d, h]: [usize; 2]| kernel.from.line([at[0], at[1], d, h]);
                let to = kernel.to.line(at) + first * run;
                match self.input.floats.filter(|_| outputs.nearest && run >= LONG && self.stores.is_plain()) {
                    // Long runs of the nearest inputs go to their places at once.
                    Some(floats) => {
                        let line = &floats[start(lines[0].0)..];
                        for (i, [(a, _), _]) in outputs.taps[..outputs.count].iter().enumerate() {
                            self.stores.store(simd, to + i * run, &line[a * run..][..run]);
                        }
                    }
                    None => {
                        let line = self.input.add(lines.into_iter().map(|(at, weight)| (start(at), weight)), outputs.span.clone());
                        let made = &mut self.result[..outputs.count * run];
                        if let Some(line) = line {
                            // Pieces are stored while they are in the first cache.
                            let each = (PIECE / run).max(1);
                            for (i, made) in made.chunks_mut(each * run).enumerate() {
                                simd.run(Spread { run, outputs: &outputs, first: i * each, line, result: &mut *made });
                                self.stores.store(simd, to + i * each * run, made);
                            }
                        }
                    }
                }
                at = next(at, kernel);
                if at[3] == 0 {
                    heights = height.from(0);
                    depths = if at[2] == 0 { depth.from(0) } else { depths };
                    taps[0] = depths.next().unwrap_or_default();
                }
                taps[1] = heights.next().unwrap_or_default();
            }
        }
    }

    fn backward(&mut self, range: Range<usize>) {
        let (kernel, run, simd) = (self.kernel, self.kernel.from.run, self.simd);
        let [depth, height, width] = kernel.window.axes;
        let mut outputs = Outputs::new(width, 0, run);
        let mut at = position(range.start, kernel);
        for _ in range {
            let result = std::mem::take(&mut self.result);
            result.fill(0.0);
            for first in (0..width.outputs as usize).step_by(BLOCK) {
                if outputs.first != first {
                    outputs = Outputs::new(width, first, run);
                }
                let heights = |d: i64, by: f32| {
                    let start = move |h: i64| kernel.from.line([at[0], at[1], d as usize, h as usize]);
                    height.outputs_of(at[3] as i64).map(move |(h, weight)| (start(h), weight * by))
                };
                let lines = depth.outputs_of(at[2] as i64).flat_map(|(d, weight)| heights(d, weight));
                let line = self.input.add(lines, first * run..(first + outputs.count) * run);
                line.into_iter().for_each(|line| simd.run(Collect { run, outputs: &outputs, line, result: &mut *result }));
            }
            self.stores.store(simd, kernel.to.line(at), result);
            self.result = result;
            at = next(at, kernel);
        }
    }
}

/// Image, block, depth and height of a line of the result by its number.
fn position(line: usize, kernel: &Interpolated) -> [usize; 4] {
    let ([depths, heights], blocks) = (kernel.lines(), kernel.to.counts[1]);
    [line / heights / depths / blocks, line / heights / depths % blocks, line / heights % depths, line % heights]
}

/// Those of the next line.
fn next(mut at: [usize; 4], kernel: &Interpolated) -> [usize; 4] {
    let [depths, heights] = kernel.lines();
    let sizes = [usize::MAX, kernel.to.counts[1], depths, heights];
    for d in (0..4).rev() {
        at[d] += 1;
        if at[d] < sizes[d] {
            break;
        }
        at[d] = 0;
    }
    at
}

/// `to += weight * line`, or `to = weight * line` for the first.
struct Add<'a> {
    to: &'a mut [f32],
    line: &'a [f32],
    weight: f32,
    first: bool,
}

impl Body for Add<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Add { to, line, weight, first } = self;
        match first {
            true => to.iter_mut().zip(line).for_each(|(t, x)| *t = weight * x),
            false => to.iter_mut().zip(line).for_each(|(t, x)| *t += weight * x),
        }
    }
}

/// The taps of each output, added.
struct Spread<'a> {
    run: usize,
    outputs: &'a Outputs,
    /// The first of the outputs that are made.
    first: usize,
    line: &'a [f32],
    result: &'a mut [f32],
}

impl Body for Spread<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        match self.run {
            1 => self.go::<1>(),
            8 => self.go::<8>(),
            16 => self.go::<16>(),
            _ => self.go::<0>(),
        }
    }
}

impl Spread<'_> {
    /// For runs of `RUN` elements, or of any number where that is 0.
    #[inline(always)]
    fn go<const RUN: usize>(self) {
        let Spread { outputs, first, line, result, .. } = self;
        let (run, start) = (if RUN == 0 { self.run } else { RUN }, outputs.span.start);
        for (to, [(a, u), (b, v)]) in result.chunks_exact_mut(run).zip(&outputs.taps[first..]) {
            let x = &line[a * run - start..][..run];
            if outputs.nearest {
                to.copy_from_slice(x);
            } else if *v == 0.0 {
                to.iter_mut().zip(x).for_each(|(t, x)| *t = u * x);
            } else {
                let y = &line[b * run - start..][..run];
                to.iter_mut().zip(x).zip(y).for_each(|((t, x), y)| *t = u * x + v * y);
            }
        }
    }
}

/// Each output added to its taps.
struct Collect<'a> {
    run: usize,
    outputs: &'a Outputs,
    line: &'a [f32],
    result: &'a mut [f32],
}

impl Body for Collect<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        match self.run {
            1 => self.go::<1>(),
            8 => self.go::<8>(),
            16 => self.go::<16>(),
            _ => self.go::<0>(),
        }
    }
}

impl Collect<'_> {
    /// For runs of `RUN` elements, or of any number where that is 0.
    #[inline(always)]
    fn go<const RUN: usize>(self) {
        let Collect { outputs, line, result, .. } = self;
        let run = if RUN == 0 { self.run } else { RUN };
        for (from, taps) in line.chunks_exact(run).zip(&outputs.taps) {
            for (at, weight) in taps.iter().filter(|t| t.1 != 0.0) {
                result[at * run..][..run].iter_mut().zip(from).for_each(|(r, x)| *r += weight * x);
            }
        }
    }
}
