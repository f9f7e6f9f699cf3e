//! Resampling.

mod channels;
mod lines;
mod place;
mod points;

use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Builder, FoldOp, Pipeline, Planes, Program, Sides, Tables, Window, Windows};
use crate::ops::reduction::folded;
use crate::ops::{fallback, passes};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{Resampling, ResamplingAlg};
use oxidnn_spec::{Arg, Attr, Op, Problem, Tensor};
use std::ops::Range;

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("channels:jit", channels::plan),
    Impl::new("tables:jit", looked_up),
    Impl::new("stages:jit", |p, t| Program::plan_in_stages(p, t, sums)),
    Impl::new("lines:jit", lines::plan),
    Impl::new("passes:jit", passes::generated),
    Impl::new("points:portable", points::plan),
    Impl::new("tables:portable", |p, t| RowPlan::resolved(p, t, |problem| Ok((nearest(problem, |tables| tables)?, 0)))),
    Impl::new("planes:portable", plan),
    fallback::ROW,
];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Resampling(op) => windows(op, problem, target),
        _ => Err(Skip::Op("another operation than resampling")),
    })
}

/// Gradients of images of one element along some dimensions, and unchanged along the others: sums.
fn sums(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::Resampling(op) = &problem.op else { return Err(Skip::Op("another operation than resampling")) };
    let (inputs, outputs) = (op.src.dims(), op.dst.dims());
    if op.prop.is_forward() || (0..inputs.len()).any(|d| inputs[d] != 1 && inputs[d] != outputs[d]) {
        return Err(Skip::Shape("anything but gradients of single elements"));
    }
    let kept = (0..inputs.len()).filter(|d| inputs[*d] == outputs[*d]).map(|d| 1 << d).sum();
    folded(Builder::new(problem, outputs, None)?, [Arg::DIFF_DST, Arg::DIFF_SRC], (kept, FoldOp::Sum), [&|_| {}, &|_| {}])
}

/// The input and the result.
fn ends(op: &Resampling) -> [(Arg, &Tensor); 2] {
    if op.prop.is_forward() { [(Arg::SRC, &op.src), (Arg::DST, &op.dst)] } else { [(Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src)] }
}

/// Refuses attributes other than that of the scratchpad.
fn changes_nothing(attr: &Attr) -> Result<(), Skip> {
    let is_default = (Attr { scratchpad: Default::default(), ..attr.clone() }).is_default();
    if is_default { Ok(()) } else { Err(Skip::Attr("that changes the result".into())) }
}

/// Nearest neighbours by vectors of indices.
fn looked_up(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| Ok((nearest(problem, Tables::in_long_rows)?.looked_up(isa)?, 0)))
}

/// Nearest neighbours, element by element.
fn nearest(problem: &Problem, rows: fn(Tables) -> Tables) -> Result<Tables, Skip> {
    match &problem.op {
        Op::Resampling(op) if op.prop.is_forward() && op.alg == ResamplingAlg::Nearest => {
            changes_nothing(&problem.attr)?;
            let axes = Axis::all_of(op)?;
            let mut tables = rows(Tables::new(Arg::DST, &op.dst)?);
            let spatial = |d: usize| (d + 5).checked_sub(op.dst.dims().len()).filter(|_| d >= 2).map(|i| axes[i - 2]);
            tables.fill(Arg::SRC, &op.src, |d, p| spatial(d).map_or(p, |axis| axis.nearest(p)))?;
            Ok(tables)
        }
        _ => Err(Skip::Op("another operation than the nearest neighbours, forward")),
    }
}

/// Inputs for each output from which on the definition is faster than reading planes.
const MAX_INPUTS_PER_OUTPUT: i64 = 256;

/// Whether there are at least `ratio` inputs for each output.
fn is_sparse(op: &Resampling, ratio: i64) -> bool {
    let [inputs, outputs] = <[_; 2]>::from(op.spatial()).map(|sizes| sizes.into_iter().fold(1, i64::saturating_mul));
    op.prop.is_forward() && inputs / ratio >= outputs
}

fn windows(op: &Resampling, problem: &Problem, target: &CpuTarget) -> Result<(Windows<Interpolation>, usize), Skip> {
    let [(input, _), (result, made)] = ends(op);
    if is_sparse(op, MAX_INPUTS_PER_OUTPUT) {
        return Err(Skip::Shape("planes most of which nothing is made of"));
    }
    // A line of inputs.
    let extra = op.spatial().0[2];
    let sides = Sides { inputs: &[input], second: None, extra, workers: target.threads, jit: target.jit };
    Windows::new(Builder::new(problem, made.dims(), None)?, result, 0b11, Interpolation::new(op)?, sides)
}

/// The inputs of an output along one dimension, with their weights.
type Taps = [(usize, f32); 2];

/// Outputs of a line whose taps are computed together.
const BLOCK: usize = 256;

/// Most outputs of a line whose taps are computed in advance.
const MAX_PRECOMPUTED_OUTPUTS: i64 = 1 << 16;

/// The taps of neighbouring outputs of a line.
#[derive(Debug)]
struct Block {
    /// Both inputs of each output, relative to `span`'s start, with their weights.
    inputs: [[u32; BLOCK]; 2],
    weights: [[f32; BLOCK]; 2],
    count: usize,
    /// The range of inputs that they use.
    span: Range<usize>,
    nearest: bool,
}

impl Block {
    /// The outputs from `first` on, at most [`BLOCK`] of them.
    fn new(axis: Axis, first: usize) -> Block {
        let nearest = axis.alg == ResamplingAlg::Nearest;
        let (mut inputs, mut weights) = ([[0; BLOCK]; 2], [[0.0; BLOCK]; 2]);
        let count = BLOCK.min(axis.outputs as usize - first);
        let (mut start, mut end) = (0, 0);
        for (i, taps) in axis.from(first as i64).take(count).enumerate() {
            if i == 0 {
                start = taps[0].0;
            }
            let [low, high] = match taps {
                _ if nearest => [taps[0], (taps[0].0, 0.0)],
                // An input of weight 0 may be infinite and must not count: the other one counts twice with half its weight.
                [(at, weight), (_, 0.0)] => [(at, weight / 2.0); 2],
                both => both,
            };
            (inputs[0][i], inputs[1][i]) = ((low.0 - start) as u32, (high.0 - start) as u32);
            (weights[0][i], weights[1][i]) = (low.1, high.1);
            end = high.0 + 1;
        }
        Block { inputs, weights, count, span: start..end, nearest }
    }

    /// Outputs `first..` of the block, in runs of `run` elements, from the inputs of its span.
    #[inline(always)]
    fn spread(&self, run: usize, first: usize, line: &[f32], result: &mut [f32]) {
        let [low, high] = self.inputs.each_ref().map(|inputs| &inputs[first..self.count]);
        let [u, v] = self.weights.each_ref().map(|weights| &weights[first..self.count]);
        if run == 1 {
            result.iter_mut().zip(low).for_each(|(t, a)| *t = line[*a as usize]);
            if !self.nearest {
                let mut other = [0.0; BLOCK];
                other.iter_mut().zip(high).for_each(|(t, b)| *t = line[*b as usize]);
                result.iter_mut().zip(&other).zip(u.iter().zip(v)).for_each(|((t, y), (u, v))| *t = u * *t + v * y);
            }
            return;
        }
        for (i, to) in result.chunks_exact_mut(run).enumerate() {
            let x = &line[low[i] as usize * run..][..run];
            if self.nearest {
                to.copy_from_slice(x);
            } else {
                let y = &line[high[i] as usize * run..][..run];
                to.iter_mut().zip(x).zip(y).for_each(|((t, x), y)| *t = u[i] * x + v[i] * y);
            }
        }
    }

    /// The gradient: adds each output, in runs of `run` elements, to its inputs in the span.
    #[inline(always)]
    fn collect(&self, run: usize, outputs: &[f32], line: &mut [f32]) {
        for (i, from) in outputs.chunks_exact(run).take(self.count).enumerate() {
            for (inputs, weights) in self.inputs.iter().zip(&self.weights).filter(|(_, weights)| weights[i] != 0.0) {
                line[inputs[i] as usize * run..][..run].iter_mut().zip(from).for_each(|(l, x)| *l += weights[i] * x);
            }
        }
    }
}

/// One dimension.
#[derive(Clone, Copy, Debug)]
struct Axis {
    alg: ResamplingAlg,
    inputs: i64,
    outputs: i64,
}

/// The taps of consecutive outputs: the exact quotient of [`Axis::from`], updated without divisions.
struct Coordinates {
    axis: Axis,
    whole: i64,
    rest: i64,
    /// Added from one output to the next: to the quotient, and to the remainder.
    step: (i64, i64),
}

impl Axis {
    /// Depth, height and width.
    fn all_of(op: &Resampling) -> Result<[Axis; 3], Skip> {
        let (inputs, outputs) = op.spatial();
        if inputs.into_iter().chain(outputs).any(|n| n > i64::from(u32::MAX)) {
            return Err(Skip::Shape("too long a dimension"));
        }
        Ok(std::array::from_fn(|d| Axis { alg: op.alg, inputs: inputs[d], outputs: outputs[d] }))
    }

    /// The taps of the outputs from `o` on. Output `o` is at `(o + 1/2) inputs / outputs - 1/2`. Nearest rounds this, halves upward, which
    /// is the quotient `(2 o + 1) inputs / (2 outputs)` rounded down. Linear takes its weights from the remainder of `((2 o + 1) inputs -
    /// outputs) / (2 outputs)`.
    fn from(self, o: i64) -> Coordinates {
        let half = if self.alg == ResamplingAlg::Nearest { 0 } else { self.outputs };
        let (of, at) = (i128::from(2 * self.outputs), i128::from(2 * o + 1) * i128::from(self.inputs) - i128::from(half));
        let step = (self.inputs / self.outputs, 2 * (self.inputs % self.outputs));
        Coordinates { axis: self, whole: at.div_euclid(of) as i64, rest: at.rem_euclid(of) as i64, step }
    }

    /// The input that is nearest to output `o`.
    fn nearest(self, o: i64) -> i64 {
        self.from(o).whole
    }

    /// The outputs that use input `i`, with its weights there.
    fn outputs_of(self, i: i64) -> impl Iterator<Item = (i64, f32)> {
        // The quotient of output `o` is at least `i - 1`, or at least `i` with a single tap, from this output on.
        let nearest = self.alg == ResamplingAlg::Nearest;
        let (half, least) = if nearest { (0, i) } else { (self.outputs, i - 1) };
        let above = i128::from(least) * i128::from(2 * self.outputs) + i128::from(half) - i128::from(self.inputs);
        let first =
            (above + i128::from(2 * self.inputs) - 1).div_euclid(i128::from(2 * self.inputs)).clamp(0, i128::from(self.outputs)) as i64;
        let weight = move |taps: Taps| taps.iter().filter(|t| t.0 as i64 == i).map(|t| t.1).sum::<f32>();
        let near = move |taps: &Taps| taps[0].0 as i64 <= i;
        let outputs = (first..self.outputs).zip(self.from(first)).take_while(move |(_, taps)| near(taps));
        outputs.map(move |(o, taps)| (o, weight(taps))).filter(|(_, weight)| *weight != 0.0)
    }

    fn all(self) -> impl Iterator<Item = Taps> {
        self.from(0).take(self.outputs as usize)
    }
}

impl Iterator for Coordinates {
    type Item = Taps;

    #[inline(always)]
    fn next(&mut self) -> Option<Taps> {
        let (inputs, of) = (self.axis.inputs, 2 * self.axis.outputs);
        let (whole, rest) = (self.whole, self.rest);
        let (step, part) = self.step;
        let carry = rest + part >= of;
        (self.whole, self.rest) = (whole + step + i64::from(carry), rest + part - if carry { of } else { 0 });
        if self.axis.alg == ResamplingAlg::Nearest {
            return Some([(whole as usize, 1.0), (0, 0.0)]);
        }
        let above = rest as f64 / of as f64;
        let clamp = |i: i64| i.clamp(0, inputs - 1) as usize;
        Some([(clamp(whole), (1.0 - above) as f32), (clamp(whole + 1), above as f32)])
    }
}

/// Resampling of planes.
#[derive(Debug)]
struct Interpolation {
    forward: bool,
    axes: [Axis; 3],
    /// The blocks of a line; none if taps are computed when they are needed.
    blocks: Vec<Block>,
}

impl Interpolation {
    /// Positions of a plane by the sizes of its dimensions.
    fn volume(&self, size: impl Fn(&Axis) -> i64) -> usize {
        self.axes.iter().map(size).product::<i64>() as usize
    }

    fn new(op: &Resampling) -> Result<Interpolation, Skip> {
        let axes = Axis::all_of(op)?;
        let known = if axes[2].outputs <= MAX_PRECOMPUTED_OUTPUTS { axes[2].outputs as usize } else { 0 };
        let blocks = (0..known).step_by(BLOCK).map(|first| Block::new(axes[2], first)).collect();
        Ok(Interpolation { forward: op.prop.is_forward(), axes, blocks })
    }
}

impl Window for Interpolation {
    const TOGETHER: bool = true;

    fn table_bytes(&self) -> usize {
        size_of_val(&self.blocks[..])
    }

    fn compute(&self, simd: Simd, run: usize, planes: Planes<'_>) {
        let Planes { inputs: [input, _], result, extra } = planes;
        let [depth, height, width] = self.axes;
        if !self.forward {
            result.fill(0.0);
        }
        let (volume, outputs) = (self.volume(|a| a.inputs) * run, self.volume(|a| a.outputs) * run);
        let (from, to) = if self.forward { (volume, outputs) } else { (outputs, volume) };
        let line = &mut extra[..width.inputs as usize * run];
        for (i, first) in (0..width.outputs as usize).step_by(BLOCK).enumerate() {
            let made = self.blocks.is_empty().then(|| Block::new(width, first));
            let Some(block) = made.as_ref().or(self.blocks.get(i)) else { break };
            for (input, result) in input.chunks_exact(from).zip(result.chunks_exact_mut(to)) {
                for (od, d) in depth.all().enumerate() {
                    for (oh, h) in height.all().enumerate() {
                        let out = ((od * height.outputs as usize + oh) * width.outputs as usize + first) * run;
                        let inputs = corners(&d, &h).map(|(c, weight)| ((c[0] * height.inputs as usize + c[1]) * line.len(), weight));
                        simd.run(Line { forward: self.forward, run, out, inputs, block, input, result, line });
                    }
                }
            }
        }
    }
}

/// The four pairs of inputs along two dimensions, with the products of their weights.
fn corners(d: &Taps, h: &Taps) -> [([usize; 2], f32); 4] {
    std::array::from_fn(|i| ([d[i / 2].0, h[i % 2].0], d[i / 2].1 * h[i % 2].1))
}

/// Some outputs of a line, from output `out` on: the lines of inputs around it are added to one, whose taps are added. For gradients the
/// other way round.
struct Line<'a> {
    forward: bool,
    run: usize,
    out: usize,
    /// Offsets of the lines of inputs, with their weights.
    inputs: [(usize, f32); 4],
    block: &'a Block,
    input: &'a [f32],
    result: &'a mut [f32],
    line: &'a mut [f32],
}

impl Body for Line<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        match self.run {
            1 => self.go::<1>(),
            16 => self.go::<16>(),
            _ => self.go::<0>(),
        }
    }
}

impl Line<'_> {
    /// All of it, for runs of `RUN` elements; 0 stands for any number.
    #[inline(always)]
    fn go<const RUN: usize>(self) {
        let run = if RUN == 0 { self.run } else { RUN };
        let Line { forward, out, inputs, block, input, result, line, .. } = self;
        let (start, width, outputs) = (block.span.start * run, block.span.len() * run, block.count * run);
        let line = &mut line[start..][..width];
        if forward {
            let line = match inputs.iter().skip(1).any(|i| i.1 != 0.0) {
                true => {
                    let (first, weight) = inputs[0];
                    line.iter_mut().zip(&input[first + start..]).for_each(|(l, x)| *l = weight * x);
                    for (first, weight) in inputs.into_iter().skip(1).filter(|i| i.1 != 0.0) {
                        line.iter_mut().zip(&input[first + start..]).for_each(|(l, x)| *l += weight * x);
                    }
                    &*line
                }
                false => &input[inputs[0].0 + start..][..width],
            };
            return block.spread(run, 0, line, &mut result[out..][..outputs]);
        }
        line.fill(0.0);
        block.collect(run, &input[out..][..outputs], line);
        for (first, weight) in inputs.into_iter().filter(|i| i.1 != 0.0) {
            result[first + start..][..width].iter_mut().zip(&*line).for_each(|(r, l)| *r += weight * l);
        }
    }
}
