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
    Windows::new(Builder::new(problem, dims, None)?, result, 0b11, Interpolation::new(op), sides)
}

/// The inputs of one output along one dimension with their weights.
type Taps = [(usize, f32); 2];

/// Weights of the inputs of every output, by dimension.
#[derive(Debug)]
struct Interpolation {
    forward: bool,
    inputs: [usize; 3],
    taps: [Vec<Taps>; 3],
}

impl Interpolation {
    fn new(op: &Resampling) -> Interpolation {
        let (inputs, outputs) = op.spatial();
        let along = |d: usize| (0..outputs[d]).map(|o| taps(op.alg, o, inputs[d], outputs[d])).collect();
        Interpolation { forward: op.prop.is_forward(), inputs: inputs.map(|i| i as usize), taps: std::array::from_fn(along) }
    }
}

/// Output `o` of `outputs` lies at `(o + 1/2) inputs / outputs - 1/2`: nearest rounds that, halves upwards; linear weighs both sides.
fn taps(alg: ResamplingAlg, o: i64, inputs: i64, outputs: i64) -> Taps {
    if alg == ResamplingAlg::Nearest {
        return [(((2 * o + 1) * inputs / (2 * outputs)) as usize, 1.0), (0, 0.0)];
    }
    let x = (o as f64 + 0.5) * inputs as f64 / outputs as f64 - 0.5;
    let below = x.floor();
    let clamp = |i: f64| (i as i64).clamp(0, inputs - 1) as usize;
    [(clamp(below), (1.0 - (x - below)) as f32), (clamp(below + 1.0), (x - below) as f32)]
}

impl Window for Interpolation {
    fn compute(&self, simd: Simd, run: usize, planes: Planes<'_>) {
        let Planes { inputs: [input, _], result, .. } = planes;
        result.fill(0.0);
        let ([_, height, width], [depth_taps, height_taps, width_taps]) = (self.inputs, &self.taps);
        for (od, d) in depth_taps.iter().enumerate() {
            for (oh, h) in height_taps.iter().enumerate() {
                let out = (od * height_taps.len() + oh) * width_taps.len();
                for (corner, weight) in corners(d, h).into_iter().filter(|c| c.1 != 0.0) {
                    let inp = (corner[0] * height + corner[1]) * width;
                    simd.run(Line { forward: self.forward, run, out, inp, weight, taps: width_taps, input, result });
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
