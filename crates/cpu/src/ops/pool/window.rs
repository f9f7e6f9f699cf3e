//! Portable pooling of planes, line by line of the last spatial dimension.

use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Planes, Window};
use oxidnn_expr::number;
use oxidnn_spec::op::{Pool, PoolAlg};
use std::ops::Range;

/// Most kernel elements that are listed; further ones are computed for every gradient.
const MAX_TAPS: i64 = 1 << 12;

/// One spatial dimension.
#[derive(Clone, Copy, Debug)]
struct Axis {
    inputs: i64,
    outputs: i64,
    kernel: i64,
    stride: i64,
    /// The dilation: distance of kernel elements.
    step: i64,
    padding: i64,
}

/// The kernel's geometry by depth, height and width; leading dimensions may have size 1.
#[derive(Clone, Copy, Debug)]
struct Geometry([Axis; 3]);

/// Outputs of a line for which one kernel element is inside the input.
#[derive(Clone, Copy)]
struct Line {
    /// First output.
    out: usize,
    /// Its input index.
    inp: usize,
    /// Inputs from one output to the next.
    step: usize,
    /// Number of outputs.
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
    /// For gradients of maxima, [`tap`] of the first kernel elements.
    taps: Vec<[i64; 3]>,
    /// The divisor of sums if padding counts.
    volume: f32,
    /// The result of a window that is all padding.
    lowest: f32,
}

impl Axis {
    /// The kernel elements that are inside for output `o`.
    fn seen(&self, o: i64) -> Range<i64> {
        let first = o * self.stride - self.padding;
        self.meeting(-first, self.inputs - first)
    }

    /// The kernel elements that are inside for any output.
    fn taps(&self) -> Range<i64> {
        self.meeting(self.padding - (self.outputs - 1) * self.stride, self.inputs + self.padding)
    }

    /// The kernel elements whose offset from the window's begin is in a range.
    fn meeting(&self, from: i64, to: i64) -> Range<i64> {
        let elements = |distance: i64| if distance > 0 { (distance - 1) / self.step + 1 } else { 0 };
        elements(from).min(self.kernel)..elements(to).min(self.kernel)
    }

    /// Number of inputs in the window of output `o`.
    fn count(&self, o: i64) -> i64 {
        let seen = self.seen(o);
        (seen.end - seen.start).max(0)
    }

    /// The outputs whose windows are inside the input altogether.
    fn within(&self) -> Range<i64> {
        let room = self.inputs + self.padding - (self.kernel - 1) * self.step;
        let begin = |distance: i64| if distance > 0 { (distance - 1) / self.stride + 1 } else { 0 };
        begin(self.padding).min(self.outputs)..begin(room).min(self.outputs)
    }

    /// False if some window may be all padding.
    fn is_met(&self) -> bool {
        let reaches = (self.kernel - 1) * self.step >= self.padding;
        reaches && self.step <= self.inputs && (self.outputs - 1) * self.stride - self.padding < self.inputs
    }
}

impl Geometry {
    /// Calls `f` for every line: outputs in order, and for each the kernel elements in order.
    fn lines(&self, mut f: impl FnMut(Line)) {
        let [d, h, w] = self.0;
        for (od, oh) in (0..d.outputs).flat_map(|od| (0..h.outputs).map(move |oh| (od, oh))) {
            for (kd, kh) in d.seen(od).flat_map(|kd| h.seen(oh).map(move |kh| (kd, kh))) {
                let id = od * d.stride - d.padding + kd * d.step;
                let ih = oh * h.stride - h.padding + kh * h.step;
                for kw in w.taps() {
                    // Output `back / stride` has input 0.
                    let back = w.padding - kw * w.step;
                    let low = if back > 0 { (back - 1) / w.stride + 1 } else { 0 };
                    let last = w.inputs - 1 + back;
                    let high = if last < 0 { 0 } else { (last / w.stride + 1).min(w.outputs) };
                    if low < high {
                        f(Line {
                            out: ((od * h.outputs + oh) * w.outputs + low) as usize,
                            inp: ((id * h.inputs + ih) * w.inputs + low * w.stride - back) as usize,
                            step: w.stride as usize,
                            len: (high - low) as usize,
                            tap: ((kd * h.kernel + kh) * w.kernel + kw) as usize,
                        });
                    }
                }
            }
        }
    }

    /// Calls `f` with the elements of an output plane, in runs with equal numbers of inputs, and that number.
    fn by_count(&self, run: usize, plane: &mut [f32], mut f: impl FnMut(&mut [f32], f32)) {
        let [d, h, w] = self.0;
        let within = w.within();
        let mut rest = plane;
        for (od, oh) in (0..d.outputs).flat_map(|od| (0..h.outputs).map(move |oh| (od, oh))) {
            let lines = d.count(od) * h.count(oh);
            let mut ow = 0;
            while ow < w.outputs {
                let next = if within.contains(&ow) { within.end } else { ow + 1 };
                let (same, behind) = std::mem::take(&mut rest).split_at_mut((next - ow) as usize * run);
                f(same, (lines * w.count(ow)) as f32);
                (rest, ow) = (behind, next);
            }
        }
    }
}

impl Pooling {
    /// The pooling of `op`.
    pub(super) fn new(op: &Pool) -> Pooling {
        let (window, n) = (&op.window, op.kernel.len());
        let axis = |i: usize| match (i + n).checked_sub(3) {
            None => Axis { inputs: 1, outputs: 1, kernel: 1, stride: 1, step: 1, padding: 0 },
            Some(d) => Axis {
                inputs: op.src.dims()[2 + d],
                outputs: op.dst.dims()[2 + d],
                kernel: op.kernel[d],
                stride: window.strides[d],
                step: window.dilations[d] + 1,
                padding: window.padding_l[d],
            },
        };
        let (forward, axes) = (op.prop.is_forward(), std::array::from_fn(axis));
        let listed = if !forward && op.alg == PoolAlg::Max { elements(&axes).min(MAX_TAPS) } else { 0 };
        let taps = (0..listed).map(|k| tap(&axes, k)).collect();
        Pooling {
            alg: op.alg,
            forward,
            indices: op.workspace.is_some(),
            geometry: Geometry(axes),
            taps,
            volume: op.kernel.iter().product::<i64>() as f32,
            lowest: number::lowest(op.dst.dtype) as f32,
        }
    }
}

/// Calls `f` with the elements of a line in three planes: two by output, one by input.
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

/// The same with one plane by output, one by input.
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

/// Adds the elements of a line in a plane by output to those of one by input.
#[inline(always)]
fn scatter(run: usize, l: Line, inp: &mut [f32], out: &[f32]) {
    let (out, inp) = (&out[l.out * run..][..l.len * run], &mut inp[l.inp * run..]);
    if l.step == 1 {
        return inp.iter_mut().zip(out).for_each(|(x, g)| *x += g);
    }
    for (i, out) in out.chunks_exact(run).enumerate() {
        let (x16, x) = inp[i * l.step * run..][..run].as_chunks_mut::<16>();
        let (g16, g) = out.as_chunks::<16>();
        for (x, g) in x16.iter_mut().zip(g16) {
            *x = std::array::from_fn(|j| x[j] + g[j]);
        }
        x.iter_mut().zip(g).for_each(|(x, g)| *x += g);
    }
}

/// The operation of a line.
enum Act<'a> {
    /// The larger of result and input becomes the result.
    Largest(&'a mut [f32], &'a [f32]),
    /// The same, and the kernel element becomes the index.
    Index(&'a mut [f32], &'a mut [f32], &'a [f32]),
    /// Adds the input to the result.
    Sum(&'a mut [f32], &'a [f32]),
    /// Adds the gradient to the input's.
    Spread(&'a mut [f32], &'a [f32]),
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
            Act::Spread(inp, gradient) => scatter(run, line, inp, gradient),
        }
    }
}

impl Pooling {
    /// Divides sums, or the gradients of means, by the number of elements.
    fn divide(&self, run: usize, plane: &mut [f32]) {
        match self.alg {
            PoolAlg::AvgIncludePadding => plane.iter_mut().for_each(|v| *v /= self.volume),
            _ => self.geometry.by_count(run, plane, |same, count| same.iter_mut().for_each(|v| *v /= count.max(1.0))),
        }
    }
}

/// Elements of the kernel.
fn elements(axes: &[Axis; 3]) -> i64 {
    axes.iter().fold(1, |n, axis| n.saturating_mul(axis.kernel))
}

/// Inputs by depth, height and width from the first of a window to a kernel element.
fn tap([d, h, w]: &[Axis; 3], k: i64) -> [i64; 3] {
    [k / w.kernel / h.kernel * d.step, k / w.kernel % h.kernel * h.step, k % w.kernel * w.step]
}

impl Pooling {
    /// The same, looked up if it is listed; `None` behind the last element.
    fn tap(&self, k: i64) -> Option<[i64; 3]> {
        let axes = &self.geometry.0;
        self.taps.get(k as usize).copied().or_else(|| (0..elements(axes)).contains(&k).then(|| tap(axes, k)))
    }

    /// Adds each gradient to that of the input which its place says.
    fn choose(&self, run: usize, result: &mut [f32], (gradient, places): (&[f32], &[f32])) {
        let [d, h, w] = self.geometry.0;
        let begin = |axis: &Axis, output: i64| output * axis.stride - axis.padding;
        let mut all = gradient.iter().zip(places);
        for (od, oh) in (0..d.outputs).flat_map(|od| (0..h.outputs).map(move |oh| (od, oh))) {
            let (d0, h0) = (begin(&d, od), begin(&h, oh));
            for ow in 0..w.outputs {
                let w0 = begin(&w, ow);
                for (r, (x, place)) in (0..run).zip(&mut all) {
                    let Some([kd, kh, kw]) = self.tap(*place as i64) else { continue };
                    let [id, ih, iw] = [d0 + kd, h0 + kh, w0 + kw];
                    if (0..d.inputs).contains(&id) && (0..h.inputs).contains(&ih) && (0..w.inputs).contains(&iw) {
                        result[((id * h.inputs + ih) * w.inputs + iw) as usize * run + r] += x;
                    }
                }
            }
        }
    }
}

impl Window for Pooling {
    fn table_bytes(&self) -> usize {
        size_of_val(&*self.taps)
    }

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
                if !self.geometry.0.iter().all(Axis::is_met) {
                    self.geometry.by_count(run, result, |same, count| {
                        if count == 0.0 {
                            same.fill(self.lowest);
                        }
                    });
                }
            }
            (true, _) => {
                self.geometry.lines(|l| simd.run(OneLine(run, l, Act::Sum(result, first))));
                self.divide(run, result);
            }
            (false, PoolAlg::Max) => self.choose(run, result, (first, second)),
            (false, _) => {
                extra.copy_from_slice(first);
                self.divide(run, extra);
                self.geometry.lines(|l| simd.run(OneLine(run, l, Act::Spread(result, extra))));
            }
        }
    }
}
