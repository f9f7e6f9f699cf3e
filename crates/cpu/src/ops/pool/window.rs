//! Pooling windows over planes, line by line of the last spatial dimension.

use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Planes, Window};
use oxidnn_expr::number;
use oxidnn_spec::op::{Pool, PoolAlg};

/// Kernel geometry in three spatial dimensions, leading ones of size 1.
#[derive(Clone, Copy, Debug)]
struct Geometry {
    inputs: [i64; 3],
    outputs: [i64; 3],
    kernel: [i64; 3],
    strides: [i64; 3],
    steps: [i64; 3],
    padding: [i64; 3],
}

/// Outputs of one line that see inputs under one kernel element.
#[derive(Clone, Copy)]
struct Line {
    /// First output.
    out: usize,
    /// Its input.
    inp: usize,
    /// Inputs from one output to the next.
    step: usize,
    /// Outputs.
    len: usize,
    /// The kernel element, row-major.
    tap: usize,
}

/// A pooling, forward or backward.
#[derive(Debug)]
pub(super) struct Pooling {
    alg: PoolAlg,
    forward: bool,
    indices: bool,
    geometry: Geometry,
    /// Inputs that each output sees; for averages at least 1.
    counts: Vec<f32>,
    /// Result of a window that is all padding.
    lowest: f32,
}

impl Geometry {
    /// Calls `f` for every line, outputs in order, kernel elements in order for each.
    fn lines(&self, mut f: impl FnMut(Line)) {
        let Geometry { inputs, outputs, kernel, strides, steps, padding } = *self;
        for od in 0..outputs[0] {
            for oh in 0..outputs[1] {
                for kd in 0..kernel[0] {
                    let id = od * strides[0] - padding[0] + kd * steps[0];
                    if id < 0 || id >= inputs[0] {
                        continue;
                    }
                    for kh in 0..kernel[1] {
                        let ih = oh * strides[1] - padding[1] + kh * steps[1];
                        if ih < 0 || ih >= inputs[1] {
                            continue;
                        }
                        for kw in 0..kernel[2] {
                            // Input 0 is seen by the output at `back / stride`.
                            let back = padding[2] - kw * steps[2];
                            let low = if back > 0 { (back + strides[2] - 1) / strides[2] } else { 0 };
                            let last = inputs[2] - 1 + back;
                            let high = if last < 0 { 0 } else { (last / strides[2] + 1).min(outputs[2]) };
                            if low < high {
                                f(Line {
                                    out: ((od * outputs[1] + oh) * outputs[2] + low) as usize,
                                    inp: ((id * inputs[1] + ih) * inputs[2] + low * strides[2] - back) as usize,
                                    step: strides[2] as usize,
                                    len: (high - low) as usize,
                                    tap: ((kd * kernel[1] + kh) * kernel[2] + kw) as usize,
                                });
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Pooling {
    /// The pooling of `op`; `None` where numbers overflow.
    pub(super) fn new(op: &Pool) -> Option<Pooling> {
        let three = |v: &[i64], missing: i64| {
            let mut out = [missing; 3];
            out[3 - v.len()..].copy_from_slice(v);
            out
        };
        let steps: Vec<i64> = op.window.dilations.iter().map(|d| d + 1).collect();
        let geometry = Geometry {
            inputs: three(&op.src.dims()[2..], 1),
            outputs: three(&op.dst.dims()[2..], 1),
            kernel: three(&op.kernel, 1),
            strides: three(&op.window.strides, 1),
            steps: three(&steps, 1),
            padding: three(&op.window.padding_l, 0),
        };
        let positions = usize::try_from(geometry.outputs.iter().product::<i64>()).ok()?;
        let mut counts = vec![0f32; positions];
        geometry.lines(|l| counts[l.out..l.out + l.len].iter_mut().for_each(|c| *c += 1.0));
        match op.alg {
            PoolAlg::Max => {}
            PoolAlg::AvgExcludePadding => counts.iter_mut().for_each(|c| *c = c.max(1.0)),
            PoolAlg::AvgIncludePadding => counts.fill(op.kernel.iter().product::<i64>() as f32),
        }
        Some(Pooling {
            alg: op.alg,
            forward: op.prop.is_forward(),
            indices: op.workspace.is_some(),
            geometry,
            counts,
            lowest: number::lowest(op.src.dtype) as f32,
        })
    }
}

/// Calls `f` with the numbers of a line in three planes: by output, by output, by input.
#[inline(always)]
fn along(run: usize, l: Line, a: &mut [f32], b: &mut [f32], c: &[f32], f: impl Fn(&mut f32, &mut f32, f32)) {
    let (a, b, c) = (&mut a[l.out * run..][..l.len * run], &mut b[l.out * run..][..l.len * run], &c[l.inp * run..]);
    if run == 1 && l.step > 1 {
        for (i, (a, b)) in a.iter_mut().zip(b).enumerate() {
            f(a, b, c[i * l.step]);
        }
        return;
    }
    if l.step == 1 {
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            f(a, b, *c);
        }
        return;
    }
    for (i, (a, b)) in a.chunks_exact_mut(run).zip(b.chunks_exact_mut(run)).enumerate() {
        let c = &c[i * l.step * run..][..run];
        let (a16, a) = a.as_chunks_mut::<16>();
        let (b16, b) = b.as_chunks_mut::<16>();
        let (c16, c) = c.as_chunks::<16>();
        for ((a, b), c) in a16.iter_mut().zip(b16).zip(c16) {
            let (mut one, mut two) = (*a, *b);
            for ((a, b), c) in one.iter_mut().zip(&mut two).zip(*c) {
                f(a, b, c);
            }
            (*a, *b) = (one, two);
        }
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            f(a, b, *c);
        }
    }
}

/// The same with one plane by output.
#[inline(always)]
fn gather(run: usize, l: Line, out: &mut [f32], inp: &[f32], f: impl Fn(&mut f32, f32)) {
    let (out, inp) = (&mut out[l.out * run..][..l.len * run], &inp[l.inp * run..]);
    if l.step == 1 {
        for (o, x) in out.iter_mut().zip(inp) {
            f(o, *x);
        }
    } else if run == 1 {
        for (i, o) in out.iter_mut().enumerate() {
            f(o, inp[i * l.step]);
        }
    } else {
        for (i, o) in out.chunks_exact_mut(run).enumerate() {
            let (o16, o) = o.as_chunks_mut::<16>();
            let (x16, x) = inp[i * l.step * run..][..run].as_chunks::<16>();
            for (o, x) in o16.iter_mut().zip(x16) {
                let mut vector = *o;
                for (o, x) in vector.iter_mut().zip(*x) {
                    f(o, x);
                }
                *o = vector;
            }
            for (o, x) in o.iter_mut().zip(x) {
                f(o, *x);
            }
        }
    }
}

/// `inp += f(a, b)` for the numbers of a line in two planes by output.
#[inline(always)]
fn scatter(run: usize, l: Line, inp: &mut [f32], (a, b): (&[f32], &[f32]), f: impl Fn(f32, f32) -> f32) {
    let (a, b) = (&a[l.out * run..][..l.len * run], &b[l.out * run..][..l.len * run]);
    let inp = &mut inp[l.inp * run..];
    if l.step == 1 {
        for ((x, a), b) in inp.iter_mut().zip(a).zip(b) {
            *x += f(*a, *b);
        }
        return;
    }
    for (i, (a, b)) in a.chunks_exact(run).zip(b.chunks_exact(run)).enumerate() {
        let (x16, x) = inp[i * l.step * run..][..run].as_chunks_mut::<16>();
        let (a16, a) = a.as_chunks::<16>();
        let (b16, b) = b.as_chunks::<16>();
        for ((x, a), b) in x16.iter_mut().zip(a16).zip(b16) {
            *x = std::array::from_fn(|j| x[j] + f(a[j], b[j]));
        }
        for ((x, a), b) in x.iter_mut().zip(a).zip(b) {
            *x += f(*a, *b);
        }
    }
}

/// What a line does.
enum Act<'a> {
    /// The larger of result and input goes to the result.
    Largest(&'a mut [f32], &'a [f32]),
    /// The same, and the kernel element to the indices.
    Index(&'a mut [f32], &'a mut [f32], &'a [f32]),
    /// The input is added to the result.
    Sum(&'a mut [f32], &'a [f32]),
    /// The gradient is added to the input's.
    Spread(&'a mut [f32], &'a [f32]),
    /// The gradient is added to the input's where the index is that of the kernel element.
    Choose(&'a mut [f32], &'a [f32], &'a [f32]),
}

struct OneLine<'a>(usize, Line, Act<'a>);

impl Body for OneLine<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let OneLine(run, line, act) = self;
        let tap = line.tap as f32;
        match act {
            Act::Largest(out, inp) => gather(run, line, out, inp, |m, x| *m = if x > *m || m.is_nan() { x } else { *m }),
            Act::Index(out, indices, inp) => along(run, line, out, indices, inp, |m, index, x| {
                let larger = (x > *m) | (m.is_nan() & !x.is_nan());
                *m = if larger { x } else { *m };
                *index = if larger { tap } else { *index };
            }),
            Act::Sum(out, inp) => gather(run, line, out, inp, |sum, x| *sum += x),
            Act::Spread(inp, gradient) => scatter(run, line, inp, (gradient, gradient), |g, _| g),
            Act::Choose(inp, gradient, indices) => {
                scatter(run, line, inp, (gradient, indices), |g, index| if index == tap { g } else { 0.0 });
            }
        }
    }
}

impl Pooling {
    /// `f` of every number of an output plane and the count of its position.
    fn by_position(&self, run: usize, plane: &mut [f32], f: impl Fn(&mut f32, f32)) {
        for (row, count) in plane.chunks_exact_mut(run).zip(&self.counts) {
            row.iter_mut().for_each(|v| f(v, *count));
        }
    }
}

impl Window for Pooling {
    fn compute(&self, simd: Simd, run: usize, planes: Planes<'_>) {
        let Planes { inputs: [first, second], result, extra } = planes;
        result.fill(if self.forward && self.alg == PoolAlg::Max { f32::NAN } else { 0.0 });
        match (self.forward, self.alg) {
            (true, PoolAlg::Max) => {
                if self.indices {
                    extra.fill(0.0);
                    self.geometry.lines(|l| simd.run(OneLine(run, l, Act::Index(result, extra, first))));
                } else {
                    self.geometry.lines(|l| simd.run(OneLine(run, l, Act::Largest(result, first))));
                }
                if self.counts.contains(&0.0) {
                    self.by_position(run, result, |v, count| *v = if count == 0.0 { self.lowest } else { *v });
                }
            }
            (true, _) => {
                self.geometry.lines(|l| simd.run(OneLine(run, l, Act::Sum(result, first))));
                self.by_position(run, result, |v, count| *v /= count);
            }
            (false, PoolAlg::Max) => self.geometry.lines(|l| simd.run(OneLine(run, l, Act::Choose(result, first, second)))),
            (false, _) => {
                extra.copy_from_slice(first);
                self.by_position(run, extra, |v, count| *v /= count);
                self.geometry.lines(|l| simd.run(OneLine(run, l, Act::Spread(result, extra))));
            }
        }
    }
}
