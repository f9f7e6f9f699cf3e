//! `pixels:jit`: windows of pixels on generated code, with channels last or in blocks of a vector.
//!
//! A window is a product of windows along each dimension, so sums over it are separable. A task has some slices of a vector of channels of
//! an image. It sums their rows along the width, then along the height if the tensor is a volume, and along the outermost dimension where
//! responses are computed. Slices of another task that its windows read are summed again. Backward does the same once more with the terms
//! of the gradient. Each step reads what the step before has just written.

use super::generated::{self, Code, Formula, Lanes};
use crate::CpuTarget;
use crate::kernels::multiversion::Simd;
use crate::kernels::responses::{Call, MOST, Pass, Plane, Responses};
use crate::kernels::scratch::{Scratch, for_workers};
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::{Lrn, LrnAlg};
use oxidnn_spec::{Error, Problem};
use std::ops::Range;

/// Elements of rows that are summed together, which stay in L1.
const L1_ELEMENTS: usize = 2 * 1024;
/// Elements of the sums of a task, which stay in L2; and the most that they may be.
const L2_TASK_SUMS: usize = 48 * 1024;
const MAX_TASK_SUMS: usize = 8 << 20;

/// Plans a normalisation.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    generated::plan(problem, target, Within::new, |within| within.space.end)
}

/// A dimension: its size, and elements of a window on each side.
#[derive(Clone, Copy, Debug)]
struct Axis {
    len: usize,
    half: usize,
}

/// The layout of a worker's scratch, in elements.
#[derive(Clone, Copy, Default, Debug)]
struct Space {
    /// Rows with zeros around them; and a slice of a volume, summed along the width, with rows of zeros around it.
    rows: usize,
    slice: usize,
    /// Slices of sums of squares, with slices of zeros outside; the same of terms; factors.
    squares: usize,
    terms: usize,
    factors: usize,
    end: usize,
}

#[derive(Debug)]
struct Within {
    of: Formula,
    images: usize,
    channels: usize,
    /// The outermost dimension, and those of a slice.
    outer: Axis,
    inner: [Axis; 2],
    /// Slices that are summed together, and those of a task.
    group: usize,
    each: usize,
    space: Space,
}

impl Within {
    fn new(op: &Lrn, workers: usize, jit: Isa) -> Result<Within, Skip> {
        if op.alg == LrnAlg::AcrossChannels {
            return Err(Skip::Op("windows of channels"));
        }
        let dims = op.src.dims();
        let of = Formula::new(op, (op.local_size as f32).powi(dims.len() as i32 - 2), (workers, jit))?;
        if of.places.iter().flatten().any(|p| p.lanes != Lanes::Channels) {
            return Err(Skip::Layout("of src or dst: channels that are not in vectors".into()));
        }
        let [images, channels] = [dims[0], dims[1]].map(|n| n as usize);
        // A longer window includes no more elements.
        let axis = |len: usize| Axis { len, half: ((op.local_size as usize - 1) / 2).min(len - 1) };
        let mut sizes = dims[2..].iter().map(|n| *n as usize).filter(|n| *n != 1).rev();
        let mut next = || sizes.next().unwrap_or(1);
        let [w, h, d, more] = [next(), next(), next(), next()];
        if more != 1 {
            return Err(Skip::Shape("more than three dimensions of pixels"));
        }
        if images * channels * w * h * d == 0 || [w, h, d].iter().any(|n| 2 * axis(*n).half + 1 > MOST) {
            return Err(Skip::Shape("no elements, or a long window"));
        }
        // The outermost dimension is the first of size greater than 1.
        let (outer, inner) = match (h, d) {
            (1, 1) => (axis(w), [axis(1), axis(1)]),
            (_, 1) => (axis(h), [axis(1), axis(w)]),
            _ => (axis(d), [axis(h), axis(w)]),
        };
        let channels = of.channels(channels);
        let mut within = Within { of, images, channels, outer, inner, group: 1, each: 1, space: Space::default() };
        within.cut(op.prop.is_forward())?;
        within.of.check_masks(within.is_masked())?;
        Ok(within)
    }

    /// Decides slices and scratch.
    fn cut(&mut self, forward: bool) -> Result<(), Skip> {
        let (lanes, slice, [height, width]) = (self.lanes(), self.slice(), self.inner);
        let sums = if forward { 1 } else { 3 };
        let around = (if forward { 2 } else { 4 }) * self.outer.half;
        let most = (L2_TASK_SUMS / (sums * slice)).max(4 * self.outer.half).clamp(1, self.outer.len);
        self.each = self.outer.len.div_ceil(self.outer.len.div_ceil(most));
        let row = height.len * self.bordered();
        // A slice of a volume is summed on its own.
        self.group = if height.len > 1 { 1 } else { (L1_ELEMENTS / row).clamp(1, self.outer.len) };
        if (self.each + around).checked_mul(slice).is_none_or(|n| n > MAX_TASK_SUMS) {
            return Err(Skip::Shape("large slices"));
        }
        let mut space = Space { slice: self.group * row, ..Space::default() };
        let volume = if height.len > 1 { (height.len + 2 * height.half) * width.len * lanes } else { 0 };
        space.squares = space.slice + volume;
        space.terms = space.squares + (self.each + around) * slice;
        (space.factors, space.end) = (space.terms, space.terms);
        if !forward {
            space.factors = space.terms + (self.each + 2 * self.outer.half) * slice;
            space.end = space.factors + (self.each + 2 * self.outer.half) * slice;
        }
        self.space = space;
        Ok(())
    }

    fn lanes(&self) -> usize {
        self.of.lanes()
    }

    /// Elements of a slice, and of one of its rows with what is around it.
    fn slice(&self) -> usize {
        self.inner[0].len * self.inner[1].len * self.lanes()
    }

    fn bordered(&self) -> usize {
        (self.inner[1].len + 2 * self.inner[1].half) * self.lanes()
    }

    fn is_masked(&self) -> bool {
        !self.channels.is_multiple_of(self.lanes())
    }
}

/// A task: some slices of a vector of channels of an image.
struct Task<'t> {
    plan: &'t Within,
    code: &'t Code,
    /// Kernels for sums along height and width.
    sums: &'t [Responses; 2],
    bufs: &'t [Buf<'t>; 3],
    image: usize,
    vector: usize,
    /// The slices that it computes.
    made: Range<usize>,
    space: &'t mut [f32],
}

impl Task<'_> {
    /// The slices that it computes and `more` on each side, as far as they exist.
    fn around(&self, more: usize) -> Range<usize> {
        self.made.start.saturating_sub(more)..(self.made.end + more).min(self.plan.outer.len)
    }

    /// The offset of slice `at` in `first`, the offset of the slice `more` before the first computed one.
    fn kept(&self, first: usize, more: usize, at: usize) -> Plane {
        let slice = self.plan.slice();
        let row = self.plan.inner[1].len * self.plan.lanes();
        Plane { first: first + (at + more - self.made.start) * slice, row, near: slice }
    }

    /// Runs a kernel over slices of the tensors; `planes` are in scratch, as rows of vectors.
    fn pass(&mut self, kernel: &Responses, planes: [Plane; 3], slices: Range<usize>) -> f32 {
        let p = self.plan;
        let (lanes, [height, width]) = (p.lanes(), p.inner.map(|axis| axis.len));
        let bytes = lanes * p.of.elem.bytes();
        let first = slices.start * height * width;
        let rows = slices.len() * height;
        let channels = (p.channels - self.vector * lanes).min(lanes);
        let side = |i: usize, pixel: usize| {
            p.of.places[i].map(|place| {
                let mut side = place.side(self.bufs[i], self.image, pixel, bytes);
                side.at += self.vector * place.channel;
                (side, place.pixel)
            })
        };
        if channels == lanes {
            let tensors = std::array::from_fn(|i| {
                side(i, first).map(|(mut side, pixel)| {
                    (side.row, side.vector) = (width * pixel, pixel);
                    side
                })
            });
            return kernel.run(&mut Call { tensors, space: self.space, planes, sizes: [rows, width * lanes], numbers: p.of.numbers });
        }
        (0..rows)
            .map(|row| {
                let tensors = std::array::from_fn(|i| side(i, first + row * width).map(|(side, _)| side));
                let planes = planes.map(|plane| Plane { first: plane.first + row * plane.row, row: lanes, ..plane });
                kernel.run(&mut Call { tensors, space: self.space, planes, sizes: [width, channels], numbers: p.of.numbers })
            })
            .sum()
    }

    /// Where rows of some slices are written before they are summed to `to`.
    fn rows(&self, to: Plane) -> Plane {
        let half = self.plan.inner[1].half;
        let lanes = self.plan.lanes();
        if half > 0 { Plane { first: self.plan.space.rows + half * lanes, row: self.plan.bordered(), near: lanes } } else { to }
    }

    /// Sums rows of some slices along their inner dimensions.
    fn sum(&mut self, slices: usize, to: Plane) {
        let p = self.plan;
        let [height, width] = p.inner;
        if width.half == 0 {
            return;
        }
        let row = width.len * p.lanes();
        let mut run = |kernel: &Responses, from: Plane, to: Plane, sizes: [usize; 2]| {
            let planes = [from, to, Plane::default()];
            kernel.run(&mut Call { tensors: [None; 3], space: self.space, planes, sizes, numbers: p.of.numbers });
        };
        let from = Plane { first: p.space.rows + width.half * p.lanes(), row: p.bordered(), near: p.lanes() };
        if height.half == 0 {
            return run(&self.sums[1], from, to, [slices * height.len, row]);
        }
        let between = Plane { first: p.space.slice + height.half * row, row, near: row };
        run(&self.sums[1], from, between, [height.len, row]);
        run(&self.sums[0], between, to, [1, height.len * row]);
    }

    /// Zeroes what is around rows that are summed.
    fn surround(&mut self) {
        let p = self.plan;
        let (slice, lanes, [height, width], space) = (p.slice(), p.lanes(), p.inner, p.space);
        let border = width.half * lanes;
        for row in self.space[space.rows..space.slice].chunks_exact_mut(p.bordered()).filter(|_| border > 0) {
            let end = row.len() - border;
            row[..border].fill(0.0);
            row[end..].fill(0.0);
        }
        let (between, rows) = (&mut self.space[space.slice..space.squares], height.half * width.len * lanes);
        let end = between.len() - rows;
        between[..rows].fill(0.0);
        between[end..].fill(0.0);
        let half = p.outer.half;
        let steps: &[(usize, usize)] =
            if p.of.is_forward() { &[(space.squares, half)] } else { &[(space.squares, 2 * half), (space.terms, half)] };
        for (first, more) in steps {
            let there = self.around(*more);
            let before = (there.start + more - self.made.start) * slice;
            let end = (there.end + more - self.made.start) * slice;
            let all = (self.made.len() + 2 * more) * slice;
            self.space[*first..first + before].fill(0.0);
            self.space[first + end..first + all].fill(0.0);
        }
    }

    fn run(mut self) {
        let (p, code) = (self.plan, self.code);
        let (half, forward, space) = (p.outer.half, p.of.is_forward(), p.space);
        self.surround();
        let more = if forward { half } else { 2 * half };
        let squares = self.around(more);
        let terms = if forward { self.made.clone() } else { self.around(half) };
        let [mut squared, mut termed, mut combined] = [squares.start, terms.start, self.made.start];
        let mut total = 0.0;
        // At the end of the outermost dimension there is nothing to wait for.
        let ready = |done: usize, last: usize| if done == p.outer.len { last } else { done.saturating_sub(half).min(last) };
        while squared < squares.end {
            let next = (squared + p.group).min(squares.end);
            let to = self.kept(space.squares, more, squared);
            let rows = self.rows(to);
            total += self.pass(&code.squares, [rows; 3], squared..next);
            self.sum(next - squared, to);
            squared = next;
            let powers = &code.powers[usize::from(p.of.is_usual(total))];
            let end = ready(squared, terms.end);
            if forward && termed < end {
                self.pass(powers, [self.kept(space.squares, more, termed); 3], termed..end);
                termed = end;
            }
            let Some(combine) = code.combine.as_ref().filter(|_| !forward) else { continue };
            while termed < end {
                let next = (termed + p.group).min(end);
                let (sums, to) = (self.kept(space.squares, more, termed), self.kept(space.terms, half, termed));
                self.pass(powers, [sums, self.rows(to), self.kept(space.factors, half, termed)], termed..next);
                self.sum(next - termed, to);
                termed = next;
            }
            let end = ready(termed, self.made.end);
            if combined < end {
                let planes = [self.kept(space.terms, half, combined), self.kept(space.factors, half, combined)];
                self.pass(combine, [planes[0], planes[0], planes[1]], combined..end);
                combined = end;
            }
        }
    }
}

impl Generated for Within {
    /// All kernels, and those for sums along height and width.
    type Code = (Code, [Responses; 2]);

    fn build(&self) -> Result<Self::Code, Error> {
        let window = |axis: Axis| 2 * axis.half as u8 + 1;
        let [height, width] = self.inner.map(|axis| self.of.kernel(Pass::Sums, window(axis), (true, false)));
        Ok((self.of.code(window(self.outer), self.is_masked())?, [height?, width?]))
    }

    fn run(&self, (code, sums): &Self::Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (bufs, workers) = (&self.of.bufs(ctx)?, self.of.workers);
        let (vectors, bands) = (self.channels.div_ceil(self.lanes()), self.outer.len.div_ceil(self.each));
        let mut space = scratch.take(for_workers(workers, self.space.end).unwrap_or(0))?;
        space.work(ctx.executor(), workers, self.images * bands * vectors, &|task, space| {
            let (vector, band, image) = (task % vectors, task / vectors % bands, task / vectors / bands);
            let made = band * self.each..self.outer.len.min((band + 1) * self.each);
            Task { plan: self, code, sums, bufs, image, vector, made, space: &mut space[..self.space.end] }.run();
        });
        self.of.finish(simd, ctx)
    }
}
