//! `packed:portable`: convolution, its gradient with respect to the source, and deconvolution, through the dot kernel.
//!
//! A task is a box of result pixels of one image and group by a block of result channels. The source pixels that the box reads are copied to
//! scratch as channels-last `f32` with zeros for the padding, so a tap of the window is an entry of the address list. Weights are packed into
//! panels once an execution.

use super::geometry::{self, Line, Phase};
use super::window::{Setup, check_quantisation, cut, place, place_tap, resolved, sizes_of, weight_scale};
use crate::CpuTarget;
use crate::decision::{How, PORTABLE, padding};
use crate::hardware::Core;
use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::dot::sums::Accumulator;
use crate::kernels::dot::{Block, Rows, Tap, accumulate, panel_width};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{self, PortableEpilogue, Run, Sums};
use crate::kernels::scratch::{Lens, Scratch, for_workers};
use crate::ops::support;
use crate::row::{Kernel, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Ctx, Decision, Plan, Skip};
use oxidnn_spec::{Arg, Attr, Error, MAX_NDIMS, Problem};
use std::ops::Range;

/// Largest number of result pixels of a box.
const MAX_BOX_PIXELS: usize = 240;
/// Largest number of sums of a block.
const MAX_BLOCK_SUMS: usize = 240 * 128;
/// Largest number of result channels of a block.
const MAX_BLOCK_CHANNELS: usize = 256;
/// Elements of a copied box above which source channels are split.
const MAX_COPY_ELEMENTS: usize = 96 * 1024;
/// Padding between copied pixels, so that they do not map to the same cache sets.
const SKEW: usize = 16;

/// One combination of phases: results with the same taps.
#[derive(Debug)]
struct Part {
    phases: [Phase; 3],
    /// Source coordinate of the first pixel of a box at `j = 0`.
    low: [i64; 3],
    /// Results of a box in each dimension, and number of boxes.
    each: [usize; 3],
    boxes: [usize; 3],
    /// Source pixels of a full box in each dimension.
    extent: [usize; 3],
    /// First task of the part within an image, group and block of channels.
    first_box: usize,
    /// Every tap: source coordinates relative to the first pixel of a box, and addresses in the copy and in a panel.
    taps: Vec<([i64; 3], Tap)>,
    list: Vec<Tap>,
}

/// A planned problem.
#[derive(Debug)]
struct Portable {
    attr: Attr,
    source: Arg,
    result: Arg,
    lines: [Line; 3],
    parts: Vec<Part>,
    groups: usize,
    images: usize,
    /// Source and result channels of a group.
    depth: usize,
    channels: usize,
    /// Source channels that are copied at a time.
    depth_each: usize,
    channels_each: usize,
    channel_blocks: usize,
    boxes: usize,
    /// Columns of a panel.
    width: usize,
    result_channel: usize,
    kernel: [i64; 3],
    workers: usize,
    /// Packed weights are shared; each worker has sums and a copied box.
    scratch: Lens,
    /// Elements of sums in a worker's scratch.
    sums: usize,
    /// Dimensions of the source.
    dims: usize,
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let s = Setup::of(&problem.op)?;
    let grouped = s.weights.dims().len() > s.source.1.dims().len();
    let problem = resolved(problem, ["axb", &support::window_tag(s.weights, grouped, s.result_channel, target.isa)])?;
    let setup = Setup::of(&problem.op)?;
    let (source, result) = (setup.source, setup.result);
    for t in [source.1, setup.weights] {
        support::operand_type(t.dtype)?;
    }
    portable_epilogue::check(&problem.attr, result.1)?;
    check_quantisation(&problem.attr, &setup)?;
    let lines = geometry::lines(setup.direction, &setup.sizes, [result.1, source.1].map(sizes_of))?;
    let portable = Portable::new(&setup, &problem.attr, lines, target).ok_or(TOO_LARGE)?;
    RowPlan::of(problem, target, portable.scratch.bytes(), portable)
}

impl Part {
    /// The part of a combination of phases, in boxes of at most `rows` results.
    fn new(lines: &[Line; 3], index: [usize; 3], rows: usize) -> Part {
        let phases: [Phase; 3] = std::array::from_fn(|i| lines[i].phases[index[i]].clone());
        let mut each = [0; 3];
        let mut boxes = [0; 3];
        let mut left = rows;
        for i in (0..3).rev() {
            (each[i], boxes[i]) = cut(phases[i].count, left, 1);
            left = (left / each[i]).max(1);
        }
        let low = std::array::from_fn(|i| phases[i].taps.iter().map(|t| t.1).min().unwrap_or(0));
        let extent = std::array::from_fn(|i| phases[i].reach(lines[i].stride, 0, each[i]).map_or(0, |(l, h)| (h - l + 1) as usize));
        Part { phases, low, each, boxes, extent, first_box: 0, taps: Vec::new(), list: Vec::new() }
    }

    /// Elements from a pixel of the copy to the next, in each dimension, with `pixel` elements for each.
    fn strides(&self, pixel: usize) -> [usize; 3] {
        [self.extent[1] * self.extent[2] * pixel, self.extent[2] * pixel, pixel]
    }

    /// Lists the taps, for pixels of `pixel` elements and taps of a panel of `tap` elements.
    fn list(&mut self, pixel: usize, tap: usize, [_, kh, kw]: [i64; 3]) {
        let ([d, h, w], strides, low) = (&self.phases, self.strides(pixel), self.low);
        let all = d.taps.iter().flat_map(|d| h.taps.iter().flat_map(move |h| w.taps.iter().map(move |w| [*d, *h, *w])));
        self.taps = all
            .map(|taps| {
                let at: [i64; 3] = std::array::from_fn(|i| taps[i].1 - low[i]);
                let a = at.iter().zip(strides).map(|(x, stride)| *x as usize * stride).sum();
                (at, Tap { a, b: ((taps[0].0 * kh + taps[1].0) * kw + taps[2].0) as usize * tap })
            })
            .collect();
        self.list = self.taps.iter().map(|t| t.1).collect();
    }

    fn boxes(&self) -> usize {
        self.boxes.iter().product()
    }
}

impl Portable {
    /// Decides everything for a problem whose layouts are resolved.
    fn new(setup: &Setup<'_>, attr: &Attr, lines: [Line; 3], target: &CpuTarget) -> Option<Portable> {
        let s = &setup.sizes;
        let (channels, depth) = if setup.result_channel == 0 { (s.oc, s.ic) } else { (s.ic, s.oc) };
        let (channels, depth) = (channels as usize, depth as usize);
        let width = panel_width(target.isa, channels);
        let (channels_each, channel_blocks) = cut(channels, MAX_BLOCK_CHANNELS, width);
        let rows = MAX_BOX_PIXELS.min(MAX_BLOCK_SUMS / channels_each.max(1)).max(1);
        let mut parts = Vec::new();
        for d in 0..lines[0].phases.len() {
            for h in 0..lines[1].phases.len() {
                for w in 0..lines[2].phases.len() {
                    parts.push(Part::new(&lines, [d, h, w], rows));
                }
            }
        }
        let pixels = parts.iter().map(|p| p.extent.iter().fold(1, |n: usize, size| n.saturating_mul(*size))).max().unwrap_or(0);
        let split = depth > 64 && pixels.checked_mul(depth + SKEW)? > MAX_COPY_ELEMENTS;
        let depth_each = if split { cut(depth, (MAX_COPY_ELEMENTS / pixels).saturating_sub(SKEW).max(32), 16).0.min(depth) } else { depth };
        let sums = 2 * MAX_BLOCK_SUMS.max(rows * channels_each);
        // That the copy has a length bounds the offsets in it.
        let workers = for_workers(target.threads, pixels.checked_mul(depth_each + SKEW)?.checked_add(sums)?)?;
        let mut first_box = 0;
        for part in &mut parts {
            part.list(depth_each + SKEW, depth.checked_mul(width)?, s.k);
            part.first_box = first_box;
            first_box += part.boxes();
        }
        let taps = s.k.iter().product::<i64>() as usize;
        let shared = [width, taps, channels.div_ceil(width), s.g as usize].into_iter().try_fold(depth, usize::checked_mul)?;
        Some(Portable {
            attr: attr.clone(),
            source: setup.source.0,
            result: setup.result.0,
            lines,
            parts,
            groups: s.g as usize,
            images: s.mb as usize,
            depth,
            channels,
            depth_each,
            channels_each,
            channel_blocks,
            boxes: first_box,
            width,
            result_channel: setup.result_channel,
            kernel: s.k,
            workers: target.threads,
            scratch: Lens { shared, workers },
            sums,
            dims: setup.source.1.dims().len(),
        })
    }

    /// Elements of a panel.
    fn panel(&self) -> usize {
        self.depth * self.width * self.kernel.iter().product::<i64>() as usize
    }

    /// Writes panel `index` (of all groups) of the weights.
    fn pack(&self, weights: &Source<'_>, index: usize, out: &mut [f32]) {
        let dims = weights.view.dims();
        let grouped = usize::from(dims.len() == self.dims + 1);
        let (n_dim, c_dim) = (grouped + self.result_channel, grouped + 1 - self.result_channel);
        let panels = self.channels.div_ceil(self.width);
        let (group, first) = (index / panels, index % panels * self.width);
        let (columns, depth) = (Axis::new(&[n_dim], dims), Axis::new(&[c_dim], dims));
        let columns = Span { axis: &columns, first, count: self.width.min(self.channels - first) };
        let depth = Span { axis: &depth, first: 0, count: self.depth };
        let mut pos: Pos = [0; MAX_NDIMS];
        if grouped == 1 {
            pos[0] = group as i64;
        }
        for (k, tap) in out.chunks_exact_mut((self.depth * self.width).max(1)).enumerate() {
            place_tap(&mut pos, (dims.len(), 2 + grouped), k, self.kernel);
            pack::panels(weights, &pos, columns, depth, tap, self.width);
        }
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Portable,
    simd: Simd,
    source: Source<'a>,
    weights: &'a [f32],
    epilogue: PortableEpilogue<'a>,
    /// For integers, the longest part of a reduction whose sums are exact in `f32`.
    exact: Option<usize>,
}

/// The work of a task.
struct Task<'p> {
    part: &'p Part,
    image: usize,
    group: usize,
    /// First result channel within the group, and their number.
    first: usize,
    channels: usize,
    /// First result of the box in each dimension, and their numbers.
    start: [usize; 3],
    count: [usize; 3],
    /// Source coordinates of the first pixel.
    low: [i64; 3],
}

impl Kernel for Portable {
    fn decision(&self, problem: &Problem) -> Decision {
        let lanes = CpuTarget::host().isa.lanes();
        let copy = (self.scratch.workers / self.workers.max(1)).saturating_sub(self.sums) * 4;
        How::new(
            "products of copied boxes of pixels and panels of weights, in portable code",
            Core::host().rate(lanes, 1) / PORTABLE,
            self.workers,
        )
        .registers(format!("sums of {} columns", self.width), self.width * 4)
        .block(format!("a box of pixels of {} of {} source channels", self.depth_each, self.depth), copy)
        .block(format!("sums of a box, {} of {} channels", self.channels_each, self.channels), self.sums * 4)
        .padding(padding(self.channels, self.width))
        .copies(self.scratch.shared * 4)
        .decision(problem)
    }

    fn table_bytes(&self) -> usize {
        self.parts.iter().map(|part| size_of::<Part>() + size_of_val(&*part.taps) + size_of_val(&*part.list)).sum()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let source = |arg: Arg| Source::shifted(simd, ctx, &self.attr, arg);
        let (from, by, dst) = (source(self.source)?, source(Arg::WEIGHTS)?, View::of(simd, ctx, self.result)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let by_weights = || weight_scale(ctx, &self.attr, &by.view, (self.dims, self.result_channel, self.channels));
        let before = Before::by_channel(ctx, &self.attr, self.source, &from.view, by_weights)?;
        let epilogue = PortableEpilogue::new(Chain::new(simd, ctx, &self.attr, self.result)?.with(&before))?;
        let exact = support::exact_depth([&from, &by], &self.attr);
        let panels = scratch.take(self.scratch.shared)?;
        let mut workers = scratch.take(self.scratch.workers)?;
        let weights = panels.fill(ctx.executor(), self.panel(), &|panel, out| self.pack(&by, panel, out));
        let bound = Bound { plan: self, simd, source: from, weights, epilogue, exact };
        let tasks = self.images * self.groups * self.channel_blocks * self.boxes;
        workers.work(ctx.executor(), self.workers, tasks, &|task, scratch| bound.task(task, scratch));
        Ok(())
    }
}

impl<'a> Bound<'a> {
    fn task(&self, task: usize, scratch: &mut [f32]) {
        let p = self.plan;
        let (index, rest) = (task % p.boxes, task / p.boxes);
        let (block, rest) = (rest % p.channel_blocks, rest / p.channel_blocks);
        let (group, image) = (rest % p.groups, rest / p.groups);
        let Some(part) = p.parts.iter().rev().find(|part| part.first_box <= index && part.boxes() > 0) else { return };
        let index = index - part.first_box;
        let [_, bh, bw] = part.boxes;
        let at = [index / (bh * bw), index / bw % bh, index % bw];
        let start: [usize; 3] = std::array::from_fn(|i| at[i] * part.each[i]);
        let task = Task {
            part,
            image,
            group,
            first: block * p.channels_each,
            channels: p.channels_each.min(p.channels - block * p.channels_each),
            start,
            count: std::array::from_fn(|i| part.each[i].min(part.phases[i].count - start[i])),
            low: std::array::from_fn(|i| start[i] as i64 * p.lines[i].stride + part.low[i]),
        };
        let (block, copy) = scratch.split_at_mut(p.sums);
        let mut sums = self.sums(&task, copy, &mut *block, false);
        // Padding is zeros, and zero times an infinite or NaN weight is NaN. Such sums are computed again without the taps on padding.
        if self.exact.is_none() && sums.data.iter().fold(false, |any, sum| any | sum.is_nan()) {
            sums = self.sums(&task, copy, block, true);
        }
        let (data, exact) = sums.finish();
        let step = task.channels.next_multiple_of(p.width);
        self.epilogue.store(Sums { data, exact, step, columns: task.channels, dim: 1 }, self.runs(&task));
    }

    /// Computes the sums of a box in `block`; with `inside` without the taps on padding.
    fn sums<'s>(&self, task: &Task<'_>, copy: &mut [f32], block: &'s mut [f32], inside: bool) -> Accumulator<'s> {
        let p = self.plan;
        let len = task.count.iter().product::<usize>() * task.channels.next_multiple_of(p.width);
        let mut sums = Accumulator::new(block, len, self.exact);
        let most = p.depth_each.min(self.exact.unwrap_or(usize::MAX));
        for c in (0..p.depth).step_by(most.max(1)).filter(|_| !task.part.taps.is_empty()) {
            let depth = most.min(p.depth - c);
            self.copy(task, (c, depth), copy);
            self.multiply(task, copy, c..c + depth, &mut sums, inside);
        }
        sums
    }

    /// Adds the products of some source channels; with `inside`, one result at a time, without the taps on padding.
    fn multiply(&self, task: &Task<'_>, a: &[f32], channels: Range<usize>, sums: &mut Accumulator<'_>, inside: bool) {
        let (p, part, depth) = (self.plan, task.part, channels.len());
        let (strides, [_, height, width]) = (part.strides(p.depth_each + SKEW), task.count);
        let (count, step) = (task.count.iter().product(), task.channels.next_multiple_of(p.width));
        // Result `n` of the box, as source coordinates relative to the first pixel.
        let at = |n: usize| {
            let at = [n / (height * width), n / width % height, n % width];
            std::array::from_fn::<usize, 3, _>(|i| at[i] * p.lines[i].stride as usize)
        };
        let mut rows = [0; MAX_BOX_PIXELS];
        rows[..count].iter_mut().enumerate().for_each(|(n, row)| *row = at(n).iter().zip(strides).map(|(x, s)| x * s).sum());
        let panel = p.panel();
        let first = (task.group * p.channels.div_ceil(p.width) + task.first / p.width) * panel;
        let block = Block {
            a,
            rows: Rows::At(&rows[..count]),
            b: &self.weights[first + channels.start * p.width..],
            width: p.width,
            b_step: p.width,
            panel,
            columns: task.channels,
            taps: &[],
            depth,
        };
        if !inside {
            for taps in part.list.chunks(self.exact.map_or(usize::MAX, |exact| (exact / depth).max(1))) {
                sums.reserve(taps.len() * depth);
                accumulate(self.simd, &Block { taps, ..block }, sums.data, step);
            }
            return;
        }
        for (n, sums) in sums.data.chunks_exact_mut(step).enumerate() {
            let at = at(n);
            let meets = |tap: &[i64; 3]| (0..3).all(|i| (0..p.lines[i].source).contains(&(task.low[i] + at[i] as i64 + tap[i])));
            for (_, tap) in part.taps.iter().filter(|(offset, _)| meets(offset)) {
                accumulate(self.simd, &Block { rows: Rows::At(&rows[n..=n]), taps: &[*tap], ..block }, sums, step);
            }
        }
    }

    /// Position of the task's group and image at `at`.
    fn corner(&self, task: &Task<'_>, at: [i64; 3]) -> Pos {
        let mut pos: Pos = [0; MAX_NDIMS];
        (pos[0], pos[1]) = (task.image as i64, (task.group * self.plan.depth) as i64);
        place(&mut pos, self.source.view.dims().len(), at);
        pos
    }

    /// Copies some channels of the pixels of the box, with zeros for padding.
    fn copy(&self, task: &Task<'_>, (c, depth): (usize, usize), out: &mut [f32]) {
        let (p, part, pixel) = (self.plan, task.part, self.plan.depth_each + SKEW);
        let [plane, line, _] = part.strides(pixel);
        let dims = self.source.view.dims();
        let (across, channel) = (Axis::new(&[dims.len() - 1], dims), Axis::new(&[1], dims));
        let extent: [usize; 3] = std::array::from_fn(|i| part.extent[i] - (part.each[i] - task.count[i]) * p.lines[i].stride as usize);
        let x0 = (-task.low[2]).clamp(0, extent[2] as i64) as usize;
        let x1 = (p.lines[2].source - task.low[2]).clamp(x0 as i64, extent[2] as i64) as usize;
        for (d, h) in (0..extent[0]).flat_map(|d| (0..extent[1]).map(move |h| (d, h))) {
            let row = &mut out[d * plane + h * line..][..extent[2] * pixel];
            let at = [task.low[0] + d as i64, task.low[1] + h as i64, 0];
            if (0..2).any(|i| at[i] < 0 || at[i] >= p.lines[i].source) {
                row.fill(0.0);
                continue;
            }
            row[..x0 * pixel].fill(0.0);
            row[x1 * pixel..].fill(0.0);
            let pixels = Span { axis: &across, first: (task.low[2] + x0 as i64).max(0) as usize, count: x1 - x0 };
            // The axis counts from the position, which already is at the group's first channel.
            let channels = Span { axis: &channel, first: c, count: depth };
            pack::rows(&self.source, &self.corner(task, at), pixels, channels, &mut row[x0 * pixel..], pixel);
        }
    }

    /// The rows of the task's block of sums.
    fn runs(&self, task: &Task<'_>) -> impl Iterator<Item = Run> {
        let (p, n) = (self.plan, self.epilogue.dst().dims().len());
        let channel = (task.group * p.channels + task.first) as i64;
        let first: [i64; 3] = std::array::from_fn(|i| task.part.phases[i].first + task.start[i] as i64 * p.lines[i].step);
        let (image, count) = (task.image as i64, task.count);
        (0..count[0]).flat_map(move |d| {
            (0..count[1]).map(move |h| {
                let mut pos: Pos = [0; MAX_NDIMS];
                (pos[0], pos[1]) = (image, channel);
                place(&mut pos, n, [first[0] + d as i64 * p.lines[0].step, first[1] + h as i64 * p.lines[1].step, first[2]]);
                Run { pos, dim: n - 1, step: p.lines[2].step, count: count[2] }
            })
        })
    }
}
