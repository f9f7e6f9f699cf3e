//! Executing a planned [`Window`].

use super::window::{Part, Window, place, place_tap, spatial};
use crate::CpuTarget;
use crate::decision::{How, PORTABLE, padding};
use crate::hardware::Core;
use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::dot::sums::Accumulator;
use crate::kernels::dot::{Block, Rows, Tap, accumulate};
use crate::kernels::epilogue::{Epilogue, Run, Sums};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::ops::support;
use crate::row::Kernel;
use oxidnn_runtime::{Ctx, Decision};
use oxidnn_spec::{Arg, Error, MAX_NDIMS, Problem};

/// A window bound to its arguments.
struct Bound<'a> {
    plan: &'a Window,
    simd: Simd,
    source: Source<'a>,
    weights: &'a [f32],
    tail: Epilogue<'a>,
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

/// The source pixels of a box: in place or copied.
struct Pixels<'s> {
    data: &'s [f32],
    start: usize,
    /// Strides of neighbouring pixels.
    strides: [usize; 3],
    taps: &'s [Tap],
}

impl Kernel for Window {
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
        let of = |part: &Part| size_of_val(&*part.taps) + size_of_val(&*part.copied) + size_of_val(&*part.placed);
        self.parts.iter().map(|part| size_of::<Part>() + of(part)).sum()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let source = |arg: Arg| Source::shifted(simd, ctx, &self.attr, arg);
        let (from, by, dst) = (source(self.source)?, source(Arg::WEIGHTS)?, View::of(simd, ctx, self.result)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let by_weights = || super::window::weight_scale(ctx, &self.attr, &by.view, (self.dims, self.result_channel, self.channels));
        let before = Before::by_channel(ctx, &self.attr, self.source, &from.view, by_weights)?;
        let tail = Epilogue::new(Chain::new(simd, ctx, &self.attr, self.result)?.with(&before))?;
        let exact = support::exact_depth([&from, &by], &self.attr);
        let panels = scratch.take(self.scratch.shared)?;
        let mut workers = scratch.take(self.scratch.workers)?;
        let weights = if self.panels.in_place {
            let unaligned = || Error::arg(Arg::WEIGHTS, "memory that is not aligned, or is written", "weights aligned to their type");
            by.floats.ok_or_else(unaligned)?
        } else {
            panels.fill(ctx.executor(), self.panels.panel, &|panel, out| self.pack(&by, panel, out))
        };
        let bound = Bound { plan: self, simd, source: from, weights, tail, exact };
        let tasks = self.images * self.groups * self.channel_blocks * self.boxes;
        workers.work(ctx.executor(), self.workers, tasks, &|task, scratch| bound.task(task, scratch));
        Ok(())
    }
}

impl Window {
    /// Writes panel `index` (of all groups) of the weights.
    fn pack(&self, weights: &Source<'_>, index: usize, out: &mut [f32]) {
        let dims = weights.view.dims();
        let grouped = usize::from(dims.len() == self.dims + 1);
        let (n_dim, c_dim) = (grouped + self.result_channel, grouped + 1 - self.result_channel);
        let panels = self.channels.div_ceil(self.width);
        let (group, panel) = (index / panels, index % panels);
        let first = panel * self.width;
        let columns = Axis::new(&[n_dim], dims);
        let depth = Axis::new(&[c_dim], dims);
        let mut pos: Pos = [0; MAX_NDIMS];
        if grouped == 1 {
            pos[0] = group as i64;
        }
        let tap = self.depth * self.width;
        for k in 0..self.kernel.iter().product::<i64>() as usize {
            place_tap(&mut pos, (dims.len(), 2 + grouped), k, self.kernel);
            let columns = Span { axis: &columns, first, count: self.width.min(self.channels - first) };
            let depth = Span { axis: &depth, first: 0, count: self.depth };
            pack::panels(weights, &pos, columns, depth, &mut out[k * tap..][..tap], self.width);
        }
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
        self.compute(&task, scratch);
    }

    fn compute(&self, task: &Task<'_>, scratch: &mut [f32]) {
        let p = self.plan;
        let step = task.channels.next_multiple_of(p.width);
        let (block, copy) = scratch.split_at_mut(p.sums);
        let in_place = self.in_place(task);
        let mut sums = self.sums(task, (&in_place, &mut *copy), &mut *block, false);
        // Padding is zeros, and zero times an infinite or NaN weight is NaN. Such sums are computed again without the taps on padding.
        if in_place.is_none() && self.exact.is_none() && sums.data.iter().fold(false, |any, sum| any | sum.is_nan()) {
            sums = self.sums(task, (&in_place, copy), block, true);
        }
        let (data, exact) = sums.finish();
        let block = Sums { data, exact, step, columns: task.channels, dim: 1 };
        self.tail.store(block, self.runs(task));
    }

    /// Computes the sums of a box in `block`; with `inside`, one result at a time, without the taps on padding.
    fn sums<'s>(
        &self,
        task: &Task<'_>,
        (in_place, copy): (&Option<Pixels<'_>>, &mut [f32]),
        block: &'s mut [f32],
        inside: bool,
    ) -> Accumulator<'s> {
        let p = self.plan;
        let (rows, step): (usize, _) = (task.count.iter().product(), task.channels.next_multiple_of(p.width));
        let mut sums = Accumulator::new(block, rows * step, self.exact);
        let (mut c, most) = (0, if in_place.is_some() { p.depth } else { p.depth_each }.min(self.exact.unwrap_or(usize::MAX)));
        while c < p.depth && !task.part.taps.is_empty() {
            let depth = most.min(p.depth - c);
            let pixels = match in_place {
                Some(x) => Pixels { start: x.start + c, ..*x },
                None => self.copy(task, c, depth, copy),
            };
            if inside {
                self.multiply_inside(task, &pixels, c..c + depth, sums.data, step);
            } else {
                self.multiply(task, &pixels, (c, depth), &mut sums, step);
            }
            c += depth;
        }
        sums
    }

    /// The weights of a task's first panel, from source channel `c` on.
    fn panels(&self, task: &Task<'_>, c: usize) -> &[f32] {
        let p = self.plan;
        let panel = task.first / p.width * p.panels.panel;
        &self.weights[p.panels.offset + task.group * p.panels.group + panel + c * p.panels.row..]
    }

    /// Adds the products of a range of source channels, leaving out taps on padding.
    fn multiply_inside(&self, task: &Task<'_>, pixels: &Pixels<'_>, channels: std::ops::Range<usize>, sums: &mut [f32], step: usize) {
        let (p, part) = (self.plan, task.part);
        let (c, depth) = (channels.start, channels.len());
        let rows: usize = task.count.iter().product();
        let [_, height, width] = task.count;
        let [_, taps_h, taps_w] = [0, 1, 2].map(|i| part.phases[i].taps.len());
        let per_line = if part.merged { 1 } else { taps_w };
        for (n, sums) in sums.chunks_exact_mut(step).enumerate().take(rows) {
            let at = [n / (height * width), n / width % height, n % width];
            let start = pixels.start + (0..3).map(|i| at[i] * p.lines[i].stride as usize * pixels.strides[i]).sum::<usize>();
            let is_inside = |i: usize, tap: usize| {
                let pixel = (task.start[i] + at[i]) as i64 * p.lines[i].stride + part.phases[i].taps[tap].1;
                (0..p.lines[i].source).contains(&pixel)
            };
            for i in 0..part.taps.len() {
                let [d, h, w] = [i / (taps_h * taps_w), i / taps_w % taps_h, i % taps_w];
                if !(is_inside(0, d) && is_inside(1, h) && is_inside(2, w)) {
                    continue;
                }
                let line = &pixels.taps[(d * taps_h + h) * per_line..];
                // A merged tap covers neighbouring pixels; their channels follow each other in the source and in the weights.
                let tap = if part.merged { Tap { a: line[0].a + w * depth, b: line[0].b + w * depth * p.panels.row } } else { line[w] };
                let block = Block {
                    a: pixels.data,
                    rows: Rows::At(&[start]),
                    b: self.panels(task, c),
                    width: p.width,
                    b_step: p.panels.row,
                    panel: p.panels.panel,
                    columns: task.channels,
                    taps: &[tap],
                    depth,
                };
                accumulate(self.simd, &block, sums, step);
            }
        }
    }

    /// Adds the products of `depth` source channels from `c` on.
    fn multiply(&self, task: &Task<'_>, pixels: &Pixels<'_>, (c, depth): (usize, usize), sums: &mut Accumulator<'_>, step: usize) {
        let (p, part) = (self.plan, task.part);
        let mut rows = [0; super::window::MAX_BOX_PIXELS];
        // The stride of a dimension of size 1 is never used and may be any number.
        let strides: [usize; 3] = std::array::from_fn(|i| pixels.strides[i].wrapping_mul(p.lines[i].stride as usize));
        let mut n = 0;
        for d in 0..task.count[0] {
            for h in 0..task.count[1] {
                for w in 0..task.count[2] {
                    rows[n] = pixels.start + d * strides[0] + h * strides[1] + w * strides[2];
                    n += 1;
                }
            }
        }
        let b = self.panels(task, c);
        let joint = if part.merged { part.phases[2].taps.len() * depth } else { depth };
        let group = self.exact.map_or(usize::MAX, |e| (e / joint.max(1)).max(1));
        for taps in pixels.taps.chunks(group) {
            sums.reserve(taps.len() * joint);
            let block = Block {
                a: pixels.data,
                rows: Rows::At(&rows[..n]),
                b,
                width: p.width,
                b_step: p.panels.row,
                panel: p.panels.panel,
                columns: task.channels,
                taps,
                depth: joint,
            };
            accumulate(self.simd, &block, sums.data, step);
        }
    }

    /// The pixels in place, if the source allows it and the box reads no padding.
    fn in_place<'s>(&'s self, task: &Task<'s>) -> Option<Pixels<'s>> {
        let (p, part, data) = (self.plan, task.part, self.source.floats?);
        if part.placed.is_empty() {
            return None;
        }
        for i in 0..3 {
            let (low, high) = part.phases[i].reach(p.lines[i].stride, task.start[i], task.count[i])?;
            if low < 0 || high >= p.lines[i].source {
                return None;
            }
        }
        let (view, n) = (&self.source.view, self.source.view.dims().len());
        let strides = std::array::from_fn(|i| spatial(i, n, 2).map_or(0, |d| view.blocking().strides[d] as usize));
        Some(Pixels { data, start: view.offset(&self.corner(task, 0, task.low)), strides, taps: &part.placed })
    }

    /// Position of channel `c` of the task's group and image at `at`.
    fn corner(&self, task: &Task<'_>, c: usize, at: [i64; 3]) -> Pos {
        let mut pos: Pos = [0; MAX_NDIMS];
        pos[0] = task.image as i64;
        pos[1] = (task.group * self.plan.depth + c) as i64;
        place(&mut pos, self.source.view.dims().len(), at);
        pos
    }

    /// Copies the pixels of the box, with zeros for padding.
    fn copy<'s>(&self, task: &Task<'s>, c: usize, depth: usize, out: &'s mut [f32]) -> Pixels<'s> {
        let (p, part) = (self.plan, task.part);
        let pixel = part.pixel(p.depth_each);
        let [_, eh, ew] = part.extent;
        let dims = self.source.view.dims();
        let last = dims.len() - 1;
        let (across, channel) = (Axis::new(&[last], dims), Axis::new(&[1], dims));
        let extent: [usize; 3] = std::array::from_fn(|i| part.extent[i] - (part.each[i] - task.count[i]) * p.lines[i].stride as usize);
        let x0 = (-task.low[2]).clamp(0, extent[2] as i64) as usize;
        let x1 = (p.lines[2].source - task.low[2]).clamp(x0 as i64, extent[2] as i64) as usize;
        for d in 0..extent[0] {
            for h in 0..extent[1] {
                let row = &mut out[(d * eh + h) * ew * pixel..][..extent[2] * pixel];
                let at = [task.low[0] + d as i64, task.low[1] + h as i64, 0];
                if (0..2).any(|i| at[i] < 0 || at[i] >= p.lines[i].source) {
                    row.fill(0.0);
                    continue;
                }
                row[..x0 * pixel].fill(0.0);
                row[x1 * pixel..].fill(0.0);
                let pos = self.corner(task, 0, at);
                let pixels = Span { axis: &across, first: (task.low[2] + x0 as i64).max(0) as usize, count: x1 - x0 };
                // The axis counts from the position, which already is at the group's first channel.
                let channels = Span { axis: &channel, first: c, count: depth };
                pack::rows(&self.source, &pos, pixels, channels, &mut row[x0 * pixel..], pixel);
            }
        }
        Pixels { data: out, start: 0, strides: [eh * ew * pixel, ew * pixel, pixel], taps: &part.copied }
    }

    /// The rows of the task's block of sums.
    fn runs(&self, task: &Task<'_>) -> impl Iterator<Item = Run> {
        let (p, n) = (self.plan, self.tail.dst().dims().len());
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
