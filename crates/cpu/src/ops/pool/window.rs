//! Pooling windows over planes, line by line of the last spatial dimension.

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
    #[inline(always)]
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
        for ((a, b), c) in a.iter_mut().zip(b).zip(&c[i * l.step * run..][..run]) {
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
            for (o, x) in o.iter_mut().zip(&inp[i * l.step * run..][..run]) {
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
        for ((x, a), b) in inp[i * l.step * run..][..run].iter_mut().zip(a).zip(b) {
            *x += f(*a, *b);
        }
    }
}

impl Window for Pooling {
    #[inline(always)]
    fn compute<const FMA: bool>(&self, run: usize, planes: Planes<'_>) {
        let Planes { inputs: [first, second], result, extra } = planes;
        let by_position = |plane: &mut [f32], f: &dyn Fn(&mut f32, f32)| {
            for (row, count) in plane.chunks_exact_mut(run).zip(&self.counts) {
                row.iter_mut().for_each(|v| f(v, *count));
            }
        };
        match (self.forward, self.alg) {
            (true, PoolAlg::Max) => {
                result.fill(f32::NAN);
                if self.indices {
                    extra.fill(0.0);
                    self.geometry.lines(|l| {
                        let tap = l.tap as f32;
                        along(run, l, result, extra, first, |m, index, x| {
                            let larger = x > *m || m.is_nan() && !x.is_nan();
                            *m = if larger { x } else { *m };
                            *index = if larger { tap } else { *index };
                        });
                    });
                } else {
                    self.geometry.lines(|l| gather(run, l, result, first, |m, x| *m = if x > *m || m.is_nan() { x } else { *m }));
                }
                let lowest = self.lowest;
                by_position(result, &|v, count| *v = if count == 0.0 { lowest } else { *v });
            }
            (true, _) => {
                result.fill(0.0);
                self.geometry.lines(|l| gather(run, l, result, first, |sum, x| *sum += x));
                by_position(result, &|v, count| *v /= count);
            }
            (false, PoolAlg::Max) => {
                result.fill(0.0);
                self.geometry.lines(|l| {
                    let tap = l.tap as f32;
                    scatter(run, l, result, (first, second), |gradient, index| if index == tap { gradient } else { 0.0 });
                });
            }
            (false, _) => {
                result.fill(0.0);
                extra.copy_from_slice(first);
                by_position(extra, &|v, count| *v /= count);
                self.geometry.lines(|l| scatter(run, l, result, (extra, extra), |gradient, _| gradient));
            }
        }
    }
}
