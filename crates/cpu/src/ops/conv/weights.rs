//! `packed:portable` for gradients of weights of convolution and deconvolution, through the dot kernel.
//!
//! `dW[y, x, k] = sum over images and pixels o of X[x, o * s - pl + k * d] * Y[y, o]`. The window slides over `X` (the source of a
//! convolution, the destination of a deconvolution); `Y` is the other tensor. A task has a block of `x` by `y` channels with all taps and
//! iterates over boxes of pixels: `X` is copied with its padding, `Y` is packed in panels, and every tap is a product whose depth is the
//! pixels of the box. With few blocks the boxes are split among several tasks, depending on the problem alone, and the parts are added in
//! order.

pub(crate) mod copy;
mod prefetch;
pub(crate) mod run;
pub(crate) mod side;
#[cfg(test)]
mod tests;
pub(crate) mod tiled;

use super::window::{cut, place, place_tap, sizes_of};
use crate::CpuTarget;
use crate::decision::{How, PORTABLE, padding};
use crate::hardware::Core;
use crate::kernels::access::{Axis, Pos};
use crate::kernels::chain::Chain;
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::dot::{Block, Rows, Tap, accumulate};
use crate::kernels::epilogue::{self, Epilogue, Run, Sums};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Lens, Scratch, for_workers};
use crate::ops::support;
use crate::row::{Kernel, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Ctx, Decision, Plan, Skip};
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Attr, Error, MAX_NDIMS, Op, Problem, Prop, Tensor};

/// Largest number of sums of a block.
const MAX_BLOCK_SUMS: usize = 64 * 1024;
/// Largest number of pixels of a box.
const MAX_BOX_PIXELS: usize = 256;
/// Largest number of pixel rows of a box.
const MAX_BOX_LINES: usize = 64;
/// Elements of the copy of `X` above which boxes are made smaller.
const MAX_COPY_ELEMENTS: usize = 64 * 1024;
/// Tasks that a problem is split into, if it has as many boxes.
const TARGET_TASKS: usize = 16;

/// A problem in the terms of this kernel.
pub(crate) struct Setup<'a> {
    /// The operation's sizes; the window's outputs are `o` and its inputs `i` for a convolution, the reverse for a deconvolution.
    pub(crate) sizes: ConvSizes,
    /// The tensor that the window slides over.
    pub(crate) x: (Arg, &'a Tensor),
    /// The other one.
    pub(crate) y: (Arg, &'a Tensor),
    /// The gradient of the weights.
    pub(crate) weights: &'a Tensor,
    /// Whether `x` is the first of the weights' channel dimensions (deconvolution).
    pub(crate) x_first: bool,
}

impl Setup<'_> {
    /// A convolution or deconvolution backward by weights: the window slides over a convolution's source, or over a deconvolution's
    /// destination.
    ///
    /// # Errors
    /// Other operations.
    pub(crate) fn of(op: &Op) -> Result<Setup<'_>, Skip> {
        if op.prop() != Some(Prop::BackwardWeights) {
            return Err(Skip::Op("this propagation kind"));
        }
        let (src, diff_dst) = (Arg::SRC, Arg::DIFF_DST);
        match op {
            Op::Conv(op) => {
                Ok(Setup { sizes: op.sizes(), x: (src, &op.src), y: (diff_dst, &op.dst), weights: &op.weights, x_first: false })
            }
            Op::Deconv(op) => {
                Ok(Setup { sizes: op.sizes(), x: (diff_dst, &op.dst), y: (src, &op.src), weights: &op.weights, x_first: true })
            }
            _ => Err(Skip::Op("anything but convolution")),
        }
    }
}

#[derive(Debug)]
struct Weights {
    attr: Attr,
    x: Arg,
    y: Arg,
    sizes: ConvSizes,
    /// Spatial sizes of `X` and `Y`.
    from: [i64; 3],
    over: [i64; 3],
    groups: usize,
    x_channels: usize,
    y_channels: usize,
    x_first: bool,
    grouped: bool,
    /// Channels of a block and numbers of blocks.
    x_each: usize,
    x_blocks: usize,
    y_each: usize,
    y_blocks: usize,
    /// Pixels of a box, and numbers of boxes.
    each: [usize; 3],
    boxes: [usize; 3],
    /// Parts that the boxes are split into.
    splits: usize,
    /// Whether the taps of a row are rows of one product.
    merged: bool,
    /// Stride of copied pixels.
    pixel: usize,
    extent: [usize; 3],
    width: usize,
    workers: usize,
    /// Elements of the sums of a block.
    sums: usize,
    /// Elements of the copy of a box.
    copy: usize,
    /// With several splits, the sums of all of them are shared; workers have their copies.
    scratch: Lens,
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    resolve(&mut problem, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let setup = Setup::of(&problem.op)?;
    for t in [setup.x.1, setup.y.1] {
        support::operand_type(t.dtype)?;
    }
    epilogue::check(&problem.attr, setup.weights)?;
    let weights = Weights::new(&setup, &problem.attr, target).ok_or(TOO_LARGE)?;
    RowPlan::of(problem, target, weights.scratch.bytes(), weights)
}

/// Resolves open layouts: data to channels last, the weights' gradient to the layout of the forward pass.
fn resolve(problem: &mut Problem, target: &CpuTarget) -> Result<(), Skip> {
    let s = Setup::of(&problem.op)?;
    let tag = support::window_tag(s.weights, s.weights.dims().len() > s.x.1.dims().len(), 0, target.isa);
    let data = [s.x.0, s.y.0];
    for o in problem.op.operands_mut() {
        if o.arg == Arg::DIFF_WEIGHTS {
            support::resolve(o.tensor, &tag)?;
        } else if data.contains(&o.arg) {
            support::resolve(o.tensor, "axb")?;
        }
    }
    Ok(())
}

impl Weights {
    fn new(setup: &Setup<'_>, attr: &Attr, target: &CpuTarget) -> Option<Weights> {
        let s = setup.sizes;
        let (from, over) = (sizes_of(setup.x.1), sizes_of(setup.y.1));
        let (x_channels, y_channels) = if setup.x_first { (s.oc, s.ic) } else { (s.ic, s.oc) };
        let (x_channels, y_channels) = (x_channels as usize, y_channels as usize);
        let taps = s.k.iter().fold(1usize, |n, k| n.saturating_mul(*k as usize));
        let width = 2 * target.isa.lanes();
        let (y_each, y_blocks) = cut(y_channels, if taps == 1 { 256 } else { 128 }, width);
        let most = (MAX_BLOCK_SUMS / taps.saturating_mul(y_each).max(1)).clamp(1, 240);
        let (x_each, x_blocks) = cut(x_channels, most, if most >= 12 { 12 } else { 1 });
        let x_each = x_each.min(x_channels.max(1));
        let merged = x_blocks == 1 && s.g == 1 && s.d[2] == 1 && x_channels < 16 && s.k[2] > 1;
        let pixel = if merged { x_each } else { x_each + 16 };
        let fit = |i: usize, left: usize| cut(over[i].max(0) as usize, left, 1);
        let reach = |i: usize, n: usize| (n.max(1) as i64 - 1) * s.s[i] + (s.k[i] - 1) * s.d[i] + 1;
        let (mut each, mut boxes) = ([1; 3], [1; 3]);
        (each[2], boxes[2]) = fit(2, MAX_BOX_PIXELS);
        let line = (reach(2, each[2]) as usize).checked_mul(pixel)?;
        let lines = (MAX_BOX_PIXELS / each[2]).min(MAX_BOX_LINES).min((MAX_COPY_ELEMENTS / line.max(1)).max(1)).max(1);
        (each[1], boxes[1]) = fit(1, lines);
        (each[0], boxes[0]) = fit(0, (lines / each[1]).clamp(1, 2));
        let extent = std::array::from_fn(|i| reach(i, each[i]) as usize);
        let blocks = s.g as usize * x_blocks * y_blocks;
        let all_boxes = s.mb as usize * boxes.iter().product::<usize>();
        let splits = TARGET_TASKS.div_ceil(blocks.max(1)).clamp(1, all_boxes.max(1));
        let sums = taps.checked_mul(x_each)?.checked_mul(y_each)?;
        let copy = extent.iter().try_fold(pixel, |a, e: &usize| a.checked_mul(*e))?;
        let own = copy.checked_add(each.iter().product::<usize>() * y_each)?;
        let (shared, own) = if splits == 1 { (0, own.checked_add(sums)?) } else { (sums.checked_mul(blocks)?.checked_mul(splits)?, own) };
        Some(Weights {
            attr: attr.clone(),
            x: setup.x.0,
            y: setup.y.0,
            sizes: s,
            from,
            over,
            groups: s.g as usize,
            x_channels,
            y_channels,
            x_first: setup.x_first,
            grouped: setup.weights.dims().len() > setup.x.1.dims().len(),
            x_each,
            x_blocks,
            y_each,
            y_blocks,
            each,
            boxes,
            splits,
            merged,
            pixel,
            extent,
            width,
            workers: target.threads,
            sums,
            copy,
            scratch: Lens { shared, workers: for_workers(target.threads, own)? },
        })
    }

    fn blocks(&self) -> usize {
        self.groups * self.x_blocks * self.y_blocks
    }
}

impl Kernel for Weights {
    fn decision(&self, problem: &Problem) -> Decision {
        let lanes = CpuTarget::host().isa.lanes();
        How::new("products of copied boxes of two images, in portable code", Core::host().rate(lanes, 1) / PORTABLE, self.workers)
            .registers(format!("sums of {} columns", self.width), self.width * 4)
            .block(format!("gradients of {} by {} channels at all taps", self.x_each, self.y_each), self.sums * 4)
            .block(format!("a box of {:?} pixels", self.each), self.copy * 4)
            .padding(padding(self.y_channels, self.width))
            .decision(problem)
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let tail = Epilogue::new(Chain::new(simd, ctx, &self.attr, Arg::DIFF_WEIGHTS)?)?;
        tail.dst().zero_padding();
        let (x, y) = (Source::plain(simd, ctx, self.x)?, Source::plain(simd, ctx, self.y)?);
        let bound = Bound { plan: self, simd, x, y, tail };
        if tail.dst().dims().contains(&0) {
            return Ok(());
        }
        let (splits, mut workers) = (scratch.take(self.scratch.shared)?, scratch.take(self.scratch.workers)?);
        if self.splits == 1 {
            workers.work(ctx.executor(), self.workers, self.blocks(), &|block, scratch| {
                let (sums, scratch) = scratch.split_at_mut(self.sums);
                bound.block(block, sums, scratch);
                bound.finish(block, sums);
            });
            return Ok(());
        }
        let tasks = self.blocks() * self.splits;
        let sums = workers
            .work_on(splits, ctx.executor(), self.workers, (tasks, self.sums), &|task, sums, scratch| bound.block(task, sums, scratch));
        // The parts of a block are neighbours; the first takes the total.
        sums.rework(ctx.executor(), self.splits * self.sums, &|block, parts| bound.finish(block, parts));
        Ok(())
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Weights,
    simd: Simd,
    x: Source<'a>,
    y: Source<'a>,
    tail: Epilogue<'a>,
}

/// A block of channels: group, first channel and number of both tensors.
#[derive(Clone, Copy)]
struct Channels {
    group: usize,
    x: (usize, usize),
    y: (usize, usize),
}

/// A box of pixels of an image.
struct Pixels {
    image: usize,
    start: [usize; 3],
    count: [usize; 3],
}

impl Bound<'_> {
    fn channels(&self, block: usize) -> Channels {
        let p = self.plan;
        let (x, rest) = (block % p.x_blocks, block / p.x_blocks);
        let (y, group) = (rest % p.y_blocks, rest / p.y_blocks);
        let (x, y) = (x * p.x_each, y * p.y_each);
        Channels { group, x: (x, p.x_each.min(p.x_channels - x)), y: (y, p.y_each.min(p.y_channels - y)) }
    }

    /// Sums of one part of the boxes for one block: `sums[tap][x][y]`.
    fn block(&self, task: usize, sums: &mut [f32], scratch: &mut [f32]) {
        let p = self.plan;
        let (part, block) = (task % p.splits, task / p.splits);
        let channels = self.channels(block);
        sums.fill(0.0);
        let per_image: usize = p.boxes.iter().product();
        let all = p.sizes.mb as usize * per_image;
        for index in part * all / p.splits..(part + 1) * all / p.splits {
            let (image, i) = (index / per_image, index % per_image);
            let at = [i / (p.boxes[1] * p.boxes[2]), i / p.boxes[2] % p.boxes[1], i % p.boxes[2]];
            let start: [usize; 3] = std::array::from_fn(|i| at[i] * p.each[i]);
            let count = std::array::from_fn(|i| p.each[i].min(p.over[i] as usize - start[i]));
            self.add(&channels, &Pixels { image, start, count }, sums, scratch);
        }
    }

    /// Adds the products of a box.
    fn add(&self, channels: &Channels, pixels: &Pixels, sums: &mut [f32], scratch: &mut [f32]) {
        let (p, s) = (self.plan, &self.plan.sizes);
        let (copy, packed) = scratch.split_at_mut(p.copy);
        self.copy_x(channels, pixels, copy);
        self.pack_y(channels, pixels, packed);
        let count = pixels.count;
        let [_, eh, ew] = p.extent;
        let dense = count[2] == ew && s.s[2] == 1 && s.s[1] == 1 && s.k[1] == 1;
        let lines = if dense { 1 } else { count[1] };
        let depth = if dense { count[1] * count[2] } else { count[2] };
        let mut taps = [Tap { a: 0, b: 0 }; MAX_BOX_LINES];
        let n = count[0] * lines;
        for (i, tap) in taps[..n].iter_mut().enumerate() {
            let (d, h) = (i / lines, i % lines);
            tap.a = ((d * s.s[0] as usize) * eh + h * s.s[1] as usize) * ew * p.pixel;
            tap.b = i * depth * p.width;
        }
        let rows = if p.merged { channels.x.1 * s.k[2] as usize } else { channels.x.1 };
        let step = p.y_each;
        let panel = count.iter().product::<usize>() * p.width;
        let per_row = if p.merged { 1 } else { s.k[2] };
        for k in 0..(s.k[0] * s.k[1] * per_row) as usize {
            let at = [k as i64 / (s.k[1] * per_row), k as i64 / per_row % s.k[1], k as i64 % per_row];
            let [d, h, w]: [usize; 3] = std::array::from_fn(|i| (at[i] * s.d[i]) as usize);
            let block = Block {
                a: &copy[((d * eh + h) * ew + w) * p.pixel..],
                rows: Rows::Columns { count: rows, step: s.s[2] as usize * p.pixel },
                b: packed,
                width: p.width,
                b_step: p.width,
                panel,
                columns: channels.y.1,
                taps: &taps[..n],
                depth,
            };
            accumulate(self.simd, &block, &mut sums[k * rows * step..], step);
        }
    }

    /// Copies the pixels of `X` that the box reads, with zeros for padding.
    fn copy_x(&self, channels: &Channels, pixels: &Pixels, out: &mut [f32]) {
        let (p, s, dims) = (self.plan, &self.plan.sizes, self.x.view.dims());
        let [_, eh, ew] = p.extent;
        let extent: [usize; 3] = std::array::from_fn(|i| p.extent[i] - (p.each[i] - pixels.count[i]) * s.s[i] as usize);
        let low: [i64; 3] = std::array::from_fn(|i| pixels.start[i] as i64 * s.s[i] - s.pl[i]);
        let x0 = (-low[2]).clamp(0, extent[2] as i64) as usize;
        let x1 = (p.from[2] - low[2]).clamp(x0 as i64, extent[2] as i64) as usize;
        let (across, channel) = (Axis::new(&[dims.len() - 1], dims), Axis::new(&[1], dims));
        for d in 0..extent[0] {
            for h in 0..extent[1] {
                let row = &mut out[(d * eh + h) * ew * p.pixel..][..extent[2] * p.pixel];
                let at = [low[0] + d as i64, low[1] + h as i64, 0];
                if (0..2).any(|i| at[i] < 0 || at[i] >= p.from[i]) {
                    row.fill(0.0);
                    continue;
                }
                row[..x0 * p.pixel].fill(0.0);
                row[x1 * p.pixel..].fill(0.0);
                let mut pos: Pos = [0; MAX_NDIMS];
                (pos[0], pos[1]) = (pixels.image as i64, (channels.group * p.x_channels) as i64);
                place(&mut pos, dims.len(), at);
                let line = Span { axis: &across, first: (low[2] + x0 as i64).max(0) as usize, count: x1 - x0 };
                let depth = Span { axis: &channel, first: channels.x.0, count: channels.x.1 };
                pack::rows(&self.x, &pos, line, depth, &mut row[x0 * p.pixel..], p.pixel);
            }
        }
    }

    /// Packs the box of `Y`: panels of channels by pixels.
    fn pack_y(&self, channels: &Channels, pixels: &Pixels, out: &mut [f32]) {
        let (p, dims, count) = (self.plan, self.y.view.dims(), pixels.count);
        let (across, channel) = (Axis::new(&[dims.len() - 1], dims), Axis::new(&[1], dims));
        let panel = count.iter().product::<usize>() * p.width;
        for i in 0..count[0] * count[1] {
            let (d, h) = (i / count[1], i % count[1]);
            let mut pos: Pos = [0; MAX_NDIMS];
            (pos[0], pos[1]) = (pixels.image as i64, (channels.group * p.y_channels) as i64);
            place(&mut pos, dims.len(), [(pixels.start[0] + d) as i64, (pixels.start[1] + h) as i64, 0]);
            let line = Span { axis: &across, first: pixels.start[2], count: count[2] };
            for first in (0..channels.y.1).step_by(p.width) {
                let columns = Span { axis: &channel, first: channels.y.0 + first, count: p.width.min(channels.y.1 - first) };
                let out = &mut out[first / p.width * panel + i * count[2] * p.width..][..count[2] * p.width];
                pack::panels(&self.y, &pos, columns, line, out, p.width);
            }
        }
    }

    /// Adds the parts of a block and stores the gradient.
    fn finish(&self, block: usize, parts: &mut [f32]) {
        let (p, s) = (self.plan, &self.plan.sizes);
        let (total, rest) = parts.split_at_mut(p.sums);
        for part in rest.chunks_exact(p.sums) {
            total.iter_mut().zip(part).for_each(|(t, x)| *t += x);
        }
        let channels = self.channels(block);
        let (first, n) = (usize::from(p.grouped), self.tail.dst().dims().len());
        let (x_dim, y_dim) = if p.x_first { (first, first + 1) } else { (first + 1, first) };
        let mut pos: Pos = [0; MAX_NDIMS];
        if p.grouped {
            pos[0] = channels.group as i64;
        }
        (pos[x_dim], pos[y_dim]) = (channels.x.0 as i64, channels.y.0 as i64);
        for k in 0..s.k.iter().product::<i64>() as usize {
            place_tap(&mut pos, (n, 2 + first), k, s.k);
            let data = &mut total[k * channels.x.1 * p.y_each..];
            let sums = Sums { data, exact: None, step: p.y_each, columns: channels.y.1, dim: y_dim };
            self.tail.store(sums, std::iter::once(Run { pos, dim: x_dim, step: 1, count: channels.x.1 }));
        }
    }
}
