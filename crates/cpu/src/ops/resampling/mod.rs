//! Resampling.

use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Builder, Planes, Sides, Window, Windows};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{Resampling, ResamplingAlg};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "planes:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Resampling(op) => windows(op, problem, target),
        _ => Err(Skip::Op("another operation than resampling")),
    })
}

fn windows(op: &Resampling, problem: &Problem, target: &CpuTarget) -> Result<(Windows<Interpolation>, usize), Skip> {
    let forward = op.prop.is_forward();
    let (result, input, dims) = if forward { (Arg::DST, Arg::SRC, op.dst.dims()) } else { (Arg::DIFF_SRC, Arg::DIFF_DST, op.src.dims()) };
    let sides = Sides { inputs: &[input], second: None, extra: 0, workers: target.threads };
    Windows::new(Builder::new(problem, dims, None)?, result, 0b11, Interpolation::new(op)?, sides)
}

/// The inputs of one output along one dimension with their weights.
type Taps = [(usize, f32); 2];

/// Outputs of a line whose taps are made together.
const BLOCK: usize = 128;

/// One dimension.
#[derive(Clone, Copy, Debug)]
struct Axis {
    alg: ResamplingAlg,
    inputs: i64,
    outputs: i64,
}

/// The taps of one output after the other: the exact quotient of [`Axis::from`], counted on without division.
struct Walk {
    axis: Axis,
    whole: i64,
    rest: i64,
    /// From one output to the next: added to the whole number, and to the rest.
    step: (i64, i64),
}

impl Axis {
    /// The taps of the outputs from `o` on. Output `o` lies at `(o + 1/2) inputs / outputs - 1/2`: nearest rounds that, halves upwards, which
    /// is the quotient `(2 o + 1) inputs / (2 outputs)` rounded down; linear weighs both sides by the rest of
    /// `((2 o + 1) inputs - outputs) / (2 outputs)`.
    fn from(self, o: i64) -> Walk {
        let half = if self.alg == ResamplingAlg::Nearest { 0 } else { self.outputs };
        let (of, at) = (i128::from(2 * self.outputs), i128::from(2 * o + 1) * i128::from(self.inputs) - i128::from(half));
        let step = (self.inputs / self.outputs, 2 * (self.inputs % self.outputs));
        Walk { axis: self, whole: at.div_euclid(of) as i64, rest: at.rem_euclid(of) as i64, step }
    }

    fn all(self) -> impl Iterator<Item = Taps> {
        self.from(0).take(self.outputs as usize)
    }
}

impl Iterator for Walk {
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
}

impl Interpolation {
    fn new(op: &Resampling) -> Result<Interpolation, Skip> {
        let (inputs, outputs) = op.spatial();
        if inputs.into_iter().chain(outputs).any(|n| n > i64::MAX / 8) {
            return Err(Skip::Shape("too long a dimension"));
        }
        let axes = std::array::from_fn(|d| Axis { alg: op.alg, inputs: inputs[d], outputs: outputs[d] });
        Ok(Interpolation { forward: op.prop.is_forward(), axes })
    }
}

impl Window for Interpolation {
    fn compute(&self, simd: Simd, run: usize, planes: Planes<'_>) {
        let Planes { inputs: [input, _], result, .. } = planes;
        result.fill(0.0);
        let [depth, height, width] = self.axes;
        let mut block = [[(0, 0.0); 2]; BLOCK];
        for first in (0..width.outputs).step_by(BLOCK) {
            let count = block.iter_mut().zip(width.from(first)).map(|(to, taps)| *to = taps).take((width.outputs - first) as usize).count();
            for (od, d) in depth.all().enumerate() {
                for (oh, h) in height.all().enumerate() {
                    let out = (od * height.outputs as usize + oh) * width.outputs as usize + first as usize;
                    for (corner, weight) in corners(&d, &h).into_iter().filter(|c| c.1 != 0.0) {
                        let inp = (corner[0] * height.inputs as usize + corner[1]) * width.inputs as usize;
                        simd.run(Line { forward: self.forward, run, out, inp, weight, taps: &block[..count], input, result });
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

/// A line of inputs, from position `inp` on, is added to the outputs from `out` on; backward the other way round.
struct Line<'a> {
    forward: bool,
    run: usize,
    out: usize,
    inp: usize,
    weight: f32,
    taps: &'a [Taps],
    input: &'a [f32],
    result: &'a mut [f32],
}

impl Body for Line<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Line { forward, run, out, inp, weight, taps, input, result } = self;
        for (ow, taps) in taps.iter().enumerate() {
            for (iw, w) in taps.iter().filter(|t| t.1 != 0.0) {
                let (out, inp) = ((out + ow) * run, (inp + iw) * run);
                let (to, from) = if forward { (out, inp) } else { (inp, out) };
                for (r, x) in result[to..to + run].iter_mut().zip(&input[from..from + run]) {
                    *r += weight * w * x;
                }
            }
        }
    }
}
