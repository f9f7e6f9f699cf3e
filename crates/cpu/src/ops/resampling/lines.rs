//! Resampling where lines are runs of memory: plain, with channels last, or in blocks of channels. A line of results is a sum of lines around it,
//! then of its neighbours along the line; backward the other way round. Nothing but a few lines is between memory and memory.

use super::{Axis, BLOCK, Block, Interpolation};
use crate::CpuTarget;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Builder, CHUNK, GRAIN, Kind, Memory, Results, Stores};
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::{Kernel, RowPlan};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::Resampling;
use oxidnn_spec::{Arg, DataType, Error, Op, Problem, Tensor};
use std::ops::Range;

/// Elements of a line at least, and of all lines of a task at most.
const NUMBERS: std::ops::RangeInclusive<usize> = 128..=1 << 20;

/// Elements of a line that are made before they are stored.
const PIECE: usize = 2048;

/// Neighbours of a position from which on they are copied by themselves.
const LONG: usize = 64;

/// Blocks of outputs whose taps are kept from line to line.
const KEPT: usize = 8;

/// Bytes of a word.
const WORD: usize = 4;

/// Where lines lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) start: usize,
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

    /// Elements from an image's first line to the one at some depth and height.
    pub(super) fn row(&self, depth: usize, height: usize) -> usize {
        depth * self.strides[2] + height * self.strides[3]
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
        let blocks = if self.window.forward { (self.window.axes[2].outputs as usize).div_ceil(BLOCK) } else { 1 };
        let each = (GRAIN as usize / input.max(result).div_ceil(blocks)).max(1);
        let mut space = scratch.take(for_workers(self.workers, self.numbers()).unwrap_or(0))?;
        space.work(ctx.executor(), self.workers, all.div_ceil(each) * blocks, &|task, space| {
            let (copy, rest) = space.split_at_mut(input);
            let (sum, rest) = rest.split_at_mut(input);
            let input = Input { simd, memory, floats, copy, sum };
            let mut lines = Task { kernel: self, simd, input, stores: destination.stores(), result: &mut rest[..result] };
            let (first, block) = (task / blocks * each, task % blocks);
            let range = first..(first + each).min(all);
            if self.window.forward { lines.forward(range, block * BLOCK) } else { lines.backward(range) }
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
    /// The outputs from `first` on of some lines.
    fn forward(&mut self, range: Range<usize>, first: usize) {
        let (kernel, run, simd) = (self.kernel, self.kernel.from.run, self.simd);
        let [depth, height, width] = kernel.window.axes;
        let block = Block::new(width, first);
        let span = block.span.start * run..block.span.end * run;
        let mut at = position(range.start, kernel);
        let (mut depths, mut heights) = (depth.from(at[2] as i64), height.from(at[3] as i64));
        let mut taps = [depths.next().unwrap_or_default(), heights.next().unwrap_or_default()];
        for _ in range {
            let lines = super::corners(&taps[0], &taps[1]);
            let start = |[d, h]: [usize; 2]| kernel.from.line([at[0], at[1], d, h]);
            let to = kernel.to.line(at) + first * run;
            match self.input.floats.filter(|_| block.nearest && run >= LONG && self.stores.is_plain()) {
                // Long runs of the nearest inputs go to their places at once.
                Some(floats) => {
                    let line = &floats[start(lines[0].0) + span.start..];
                    for (i, a) in block.inputs[0][..block.count].iter().enumerate() {
                        self.stores.store(simd, to + i * run, &line[*a as usize * run..][..run]);
                    }
                }
                None => {
                    let line = self.input.add(lines.into_iter().map(|(at, weight)| (start(at), weight)), span.clone());
                    let made = &mut self.result[..block.count * run];
                    if let Some(line) = line {
                        // Pieces are stored while they are in the first cache.
                        let each = (PIECE / run).max(1);
                        for (i, made) in made.chunks_mut(each * run).enumerate() {
                            simd.run(Spread { run, block: &block, first: i * each, line, result: &mut *made });
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

    fn backward(&mut self, range: Range<usize>) {
        let (kernel, run, simd) = (self.kernel, self.kernel.from.run, self.simd);
        let [depth, height, width] = kernel.window.axes;
        let outputs = width.outputs as usize;
        let kept: [Option<Block>; KEPT] = std::array::from_fn(|i| (i * BLOCK < outputs).then(|| Block::new(width, i * BLOCK)));
        let mut at = position(range.start, kernel);
        for _ in range {
            let result = std::mem::take(&mut self.result);
            result.fill(0.0);
            for first in (0..outputs).step_by(BLOCK) {
                let block = match &kept.get(first / BLOCK) {
                    Some(Some(block)) => block,
                    _ => &Block::new(width, first),
                };
                let heights = |d: i64, by: f32| {
                    let start = move |h: i64| kernel.from.line([at[0], at[1], d as usize, h as usize]);
                    height.outputs_of(at[3] as i64).map(move |(h, weight)| (start(h), weight * by))
                };
                let lines = depth.outputs_of(at[2] as i64).flat_map(|(d, weight)| heights(d, weight));
                let line = self.input.add(lines, first * run..(first + block.count) * run);
                let result = &mut result[block.span.start * run..];
                line.into_iter().for_each(|line| simd.run(Collect { run, block, line, result: &mut *result }));
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
pub(super) struct Add<'a> {
    pub(super) to: &'a mut [f32],
    pub(super) line: &'a [f32],
    pub(super) weight: f32,
    pub(super) first: bool,
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
    block: &'a Block,
    /// The first of the outputs that are made.
    first: usize,
    line: &'a [f32],
    result: &'a mut [f32],
}

impl Body for Spread<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Spread { run, block, first, line, result } = self;
        match run {
            1 => block.spread(1, first, line, result),
            8 => block.spread(8, first, line, result),
            16 => block.spread(16, first, line, result),
            _ => block.spread(run, first, line, result),
        }
    }
}

/// Each output added to its taps.
struct Collect<'a> {
    run: usize,
    block: &'a Block,
    line: &'a [f32],
    result: &'a mut [f32],
}

impl Body for Collect<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Collect { run, block, line, result } = self;
        match run {
            1 => block.collect(1, line, result),
            8 => block.collect(8, line, result),
            16 => block.collect(16, line, result),
            _ => block.collect(run, line, result),
        }
    }
}
