//! `nchw1x1:jit`: 1x1 convolution of NCHW tensors in place.
//!
//! `result[c, p] = sum over k of weights[c, k] * source[k, p]`. Pixels are the columns of the product: a line of its right operand is a
//! stretch of a source channel, a row of its result a stretch of a result channel. Its rows are result channels; their weights are read
//! along a column of the panels that channels-last convolution uses. A task has some panels of pixels, which stay in L2 while all channels
//! are computed from them, and prefetches those of the next task. Panels that many tiles of channels read are packed first: where they lie,
//! each line is in a page of its own, or vectors cross cache lines. Sums start with the bias.

use super::tiles;
use super::window::{self, Setup};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::Core;
use crate::kernels::access::View;
use crate::kernels::chain::Chain;
use crate::kernels::microkernel::epilogue::{Epilogue, EpilogueRequest};
use crate::kernels::microkernel::layout::panel_columns;
use crate::kernels::microkernel::pack::{self, PanelLayout, PlainMatrix};
use crate::kernels::microkernel::runs;
use crate::kernels::microkernel::{
    AddressList, DotType, EpilogueArgs, InitialSums, LineStride, MOST_ROWS, Microkernel, MicrokernelCall, MicrokernelKey, Panels, Prefetch,
    PrefetchMode, Stride, TileStrip, max_tile_rows,
};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Lens, Scratch, for_workers, lend};
use crate::ops::support;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Error, MAX_NDIMS, PostOp, Problem, Tensor};
use std::ops::Range;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Tasks for every worker, if there are several workers.
const TASKS_PER_WORKER: usize = 8;
/// Channels whose distance is a multiple of this many bytes map to the same cache sets; and the number of channels for which that does no
/// harm.
const L1_ALIAS_BYTES: i64 = 4096;
const MAX_ALIASED_CHANNELS: i64 = 8;
/// Most bytes of the starting values of sums.
const MAX_START_BYTES: usize = 16 << 10;
/// Lines of a panel that all tiles of channels read, from which on packing it takes less time than it saves, unless they are whole lines of
/// memory in the same few pages. Measured on Zen 3 and Sapphire Rapids.
const MIN_LINES_FOR_PACKING: usize = 4096;
/// Panels in half of L1 from which on each channel is written in long runs.
const MIN_NEAR_PANELS: usize = 8;
/// Words of the tiles that are listed for a call.
const LIST_WORDS: usize = 128;

/// The addresses of a tensor's elements: bytes to the first, and between images and between channels.
#[derive(Clone, Copy, Debug)]
struct Plane {
    start: usize,
    image: usize,
    channel: usize,
}

/// A planned problem.
#[derive(Debug)]
struct Nchw1x1 {
    attr: Attr,
    isa: Isa,
    /// Source and result.
    args: [Arg; 2],
    biased: bool,
    images: usize,
    groups: usize,
    /// Source and result channels of a group.
    depth: usize,
    channels: usize,
    pixels: usize,
    from: Plane,
    to: Plane,
    /// Columns of a panel of weights, the byte offset of the first.
    width: usize,
    weights: usize,
    /// Pixels of a panel, panels of a task and of a call.
    panel: usize,
    each: usize,
    call: usize,
    /// Whether a tile of channels is multiplied by all panels of a call before the next; and whether panels of pixels are packed.
    runs: bool,
    packs: bool,
    workers: usize,
    far: bool,
    epilogue: Epilogue,
    /// Operands of the epilogue are shared; workers have the starting values of sums.
    scratch: Lens,
}

/// The kernels by rows; for all panels but the last, and for the last, which has fewer columns.
type Tiles = Vec<[Option<Microkernel>; 2]>;

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    super::dense(problem)?;
    let s = Setup::of(&problem.op)?;
    let pixels = s.result.1.dims()[2..].iter().fold(4i64, |bytes, n| bytes.wrapping_mul(*n));
    if pixels % L1_ALIAS_BYTES == 0 && [s.sizes.ic, s.sizes.oc].iter().any(|channels| *channels > MAX_ALIASED_CHANNELS) {
        return Err(Skip::Shape("channels whole pages apart, which meet in the same sets of the caches"));
    }
    check(&s)?;
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let [pixels, taken] = taken(s.result.1, isa);
    let open = s.source.1.layout.is_any() || s.result.1.layout.is_any();
    if pixels * 32 < taken * 31 && (open || super::copies_are_sooner(problem, target, plan_any)) {
        return Err(Skip::Shape("pixels that leave much of a vector"));
    }
    plan_any(problem, target)
}

/// Pixels of an image, and those of the vectors that they take.
pub(super) fn taken(t: &Tensor, isa: Isa) -> [i64; 2] {
    let pixels = t.dims()[2..].iter().fold(1i64, |all, n| all.saturating_mul(*n)).clamp(0, i64::MAX / 64);
    [pixels, (pixels as usize).next_multiple_of(isa.width().lanes()) as i64]
}

/// Plans `problem` even if its channels map to the same cache sets, or pixels leave much of a vector idle.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_any(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    check(&Setup::of(&problem.op)?)?;
    let mut problem = problem.clone();
    window::resolve_planes(&mut problem, isa)?;
    let s = Setup::of(&problem.op)?;
    let places = [Plane::of(s.source.1)?, Plane::of(s.result.1)?];
    let tag = tiles::weights_tag(&s, isa, DotType::F32);
    let problem = window::resolved(&problem, ["abx", &tag])?;
    let s = Setup::of(&problem.op)?;
    window::check_weights(s.weights, &tag)?;
    let kernel = Nchw1x1::new(&s, &problem.attr, places, (isa, target))?;
    RowPlan::of(problem, target, kernel.scratch.bytes(), kernel)
}

/// Refuses other than 1x1 windows.
fn check(s: &Setup<'_>) -> Result<(), Skip> {
    let (from, to) = (s.source.1, s.result.1);
    if [from, to, s.weights].iter().any(|t| t.dtype != DataType::F32) {
        return Err(Skip::DataType("other than f32 in place".into()));
    }
    if [from, to].iter().any(|t| t.dims().has_runtime() || t.is_empty()) {
        return Err(Skip::Shape("empty, or given at execution"));
    }
    if window::is_pointwise(&s.sizes) { Ok(()) } else { Err(Skip::Shape("windows of several pixels, strides or padding")) }
}

/// The epilogue, if its only operands are tensors of the result's size: others would be read by pixel, not by channel.
fn epilogue(s: &Setup<'_>, attr: &Attr) -> Result<Epilogue, Skip> {
    let dims = s.result.1.dims();
    let fits = |op: &PostOp| match op {
        PostOp::Binary { src1, .. } => src1.dims() == dims,
        PostOp::Prelu { .. } => false,
        _ => true,
    };
    if !attr.scales.is_empty() || !attr.zero_points.is_empty() || !attr.post_ops.iter().all(fits) {
        return Err(Skip::Attr("scales, zero points, or operands of other sizes than the result's".into()));
    }
    Epilogue::plan(&EpilogueRequest {
        attr,
        dst: s.result.1,
        columns: dims.len() - 1,
        batch: 0,
        compensated: false,
        scaled: false,
        biased: false,
    })
}

impl Plane {
    fn of(tensor: &Tensor) -> Result<Plane, Skip> {
        let no = || Skip::Layout("pixels that are not closest".into());
        let (dims, b) = (tensor.dims(), tensor.blocking().filter(|b| b.is_plain()).ok_or_else(no)?);
        if support::pixel_distance(tensor) != Some(1) || b.strides[1] < dims[2..].iter().product() {
            return Err(no());
        }
        Ok(Plane { start: b.offset as usize * 4, image: b.strides[0] as usize * 4, channel: b.strides[1] as usize * 4 })
    }
}

impl Nchw1x1 {
    fn new(s: &Setup<'_>, attr: &Attr, [from, to]: [Plane; 2], (isa, target): (Isa, &CpuTarget)) -> Result<Nchw1x1, Skip> {
        let (workers, budget) = (target.threads, target.caches.budget(false));
        let (groups, dims) = (s.sizes.g as usize, s.result.1.dims());
        let [depth, channels] = [s.source.1, s.result.1].map(|t| t.dims()[1] as usize / groups);
        let (images, pixels) = (dims[0] as usize, dims[2..].iter().product::<i64>() as usize);
        let (panel, epilogue) = (panel_columns(isa, pixels), epilogue(s, attr)?);
        let panels = pixels.div_ceil(panel);
        // Of little depth, tiles of channels are multiplied by all panels, since writing takes longest.
        let near = budget.l1_panel / 2 / (depth * panel * 4);
        let runs = near >= MIN_NEAR_PANELS;
        let mut each = if runs { near } else { budget.plain / (depth * panel * 4) }.clamp(1, panels);
        if workers > 1 {
            each = each.min(panels * images * groups / (workers * TASKS_PER_WORKER)).max(1);
        }
        let column = usize::from(s.weights.dims().len() > dims.len()) + s.result_channel;
        let width = panel_columns(isa, s.weights.dims()[column] as usize);
        let call = if s.biased { (MAX_START_BYTES / (width * panel * 4)).clamp(1, each) } else { each };
        let sums = if s.biased { width.saturating_mul(panel * call) } else { 0 };
        let tall = max_tile_rows(isa, DotType::F32, panel.div_ceil(isa.width().lanes()));
        let spread = from.channel as i64 > L1_ALIAS_BYTES || !from.channel.is_multiple_of(target.caches.line);
        let packs = spread && channels.div_ceil(tall).saturating_mul(depth) >= MIN_LINES_FOR_PACKING;
        let packed = if packs { (each * panel).saturating_mul(depth) } else { 0 };
        let workers_len = for_workers(workers, sums.saturating_add(packed));
        let scratch = epilogue.scratch(pixels).zip(workers_len).map(|(shared, workers)| Lens { shared, workers });
        Ok(Nchw1x1 {
            attr: attr.clone(),
            isa,
            args: [s.source.0, s.result.0],
            biased: s.biased,
            images,
            groups,
            depth,
            channels,
            pixels,
            from,
            to,
            width,
            weights: s.weights.blocking().map_or(0, |b| b.offset as usize * 4),
            panel,
            each,
            call,
            runs,
            packs,
            workers,
            far: images * groups * depth * pixels * 4 > budget.far,
            epilogue,
            scratch: scratch.ok_or(TOO_LARGE)?,
        })
    }

    fn panels(&self) -> usize {
        self.pixels.div_ceil(self.panel)
    }

    /// Rows of the tallest tile over `pixels` pixels.
    fn tall(&self, pixels: usize) -> usize {
        max_tile_rows(self.isa, DotType::F32, pixels.div_ceil(self.isa.width().lanes()))
    }

    /// The result channels of each panel of a group's weights.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.channels).step_by(self.width).map(|first| self.block(first))
    }

    /// The channels of the panel that begins with channel `first`.
    fn block(&self, first: usize) -> Range<usize> {
        first..self.channels.min(first + self.width)
    }

    /// Pixels of a panel, and whether it is the shorter last one.
    fn size(&self, panel: usize) -> (usize, bool) {
        let pixels = self.panel.min(self.pixels - panel * self.panel);
        (pixels, pixels < self.panel)
    }

    fn spec(&self, rows: usize, pixels: usize) -> MicrokernelKey {
        let lanes = self.isa.width().lanes();
        MicrokernelKey {
            line: LineStride::Strided,
            a_step: Stride::Across,
            start: if self.biased { InitialSums::Load } else { InitialSums::Zero },
            epilogue: Some(Arc::new(self.epilogue.clone())),
            masked: !pixels.is_multiple_of(lanes),
            prefetch: PrefetchMode::given_if(self.far),
            ..MicrokernelKey::new(DotType::F32, rows, pixels.div_ceil(lanes))
        }
    }
}

impl Generated for Nchw1x1 {
    type Code = Tiles;

    fn decision(&self, problem: &Problem) -> Decision {
        let (lanes, panel, depth, tall) = (self.isa.width().lanes(), self.panel * 4, self.depth, self.tall(self.panel));
        How::new("product of weights and pixels", Core::host().rate(lanes, 1), self.workers)
            .registers(format!("sums of {tall} channels by {} pixels", self.panel), tall * panel)
            .block(format!("{tall} channels of weights of depth {depth}"), tall * depth * 4)
            .block(format!("a panel of {} pixels of depth {depth}, which all channels meet", self.panel), panel * depth)
            .block(format!("nc = {} of {} panels", self.each, self.panels()), self.each * panel * depth)
            .padding(padding(self.pixels, lanes))
            .decision(problem)
    }

    fn build(&self) -> Result<Tiles, Error> {
        let mut tiles = vec![[const { None }; 2]; MOST_ROWS + 1];
        for panel in [0, self.panels() - 1] {
            let (pixels, narrow) = self.size(panel);
            // All blocks but the last have equally many channels.
            let last = (self.channels - 1) / self.width * self.width;
            for (_, rows, _) in [0, last].into_iter().flat_map(|first| runs(self.block(first), self.tall(pixels))) {
                let tile = &mut tiles[rows][usize::from(narrow)];
                if tile.is_none() {
                    *tile = Some(Microkernel::get(self.isa, &self.spec(rows, pixels))?);
                }
            }
        }
        Ok(tiles)
    }

    fn run(&self, tiles: &Tiles, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let lines = scratch.take(self.scratch.shared)?.into_slice();
        let mut sums = scratch.take(self.scratch.workers)?;
        let chain = Chain::new(simd, ctx, &self.attr, self.args[1])?;
        let bound = Bound {
            plan: self,
            tiles,
            simd,
            source: ctx.buf(self.args[0])?,
            input: ctx.input(self.args[0]).filter(|_| self.packs),
            weights: ctx.buf(Arg::WEIGHTS)?,
            result: ctx.buf(self.args[1])?,
            bias: View::optional(simd, ctx, Arg::BIAS)?,
            epilogue: self.epilogue.args(&chain, chain.dst().dims().len() - 1, &[], lines)?,
        };
        let chunks = self.panels().div_ceil(self.each);
        sums.work(ctx.executor(), self.workers, self.images * self.groups * chunks, &|task, sums| {
            let first = task % chunks * self.each;
            bound.task(task / chunks, first..self.panels().min(first + self.each), sums);
        });
        Ok(())
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Nchw1x1,
    tiles: &'a [[Option<Microkernel>; 2]],
    simd: Simd,
    source: Buf<'a>,
    /// The source, if it is packed: nobody writes to it.
    input: Option<&'a [u8]>,
    weights: Buf<'a>,
    result: Buf<'a>,
    bias: Option<View<'a>>,
    epilogue: EpilogueArgs<'a>,
}

/// Panels of pixels of a group of an image.
struct Pixels<'a> {
    unit: usize,
    memory: Buf<'a>,
    /// The first panel, its byte offset, and bytes to the next panel and from channel to channel.
    first: usize,
    at: usize,
    step: usize,
    channel: usize,
}

impl Bound<'_> {
    /// The panels of a task, packed to `to` if they are to be.
    fn pixels<'p>(&'p self, unit: usize, panels: &Range<usize>, to: &'p mut [f32]) -> Pixels<'p> {
        let (p, at) = (self.plan, self.from(unit));
        let Some(bytes) = self.input else {
            let step = p.panel * 4;
            return Pixels { unit, memory: self.source, first: panels.start, at: at + panels.start * step, step, channel: p.from.channel };
        };
        let form = PanelLayout { size: 4, vnni: 1, width: p.panel };
        let columns = panels.start * p.panel..p.pixels.min(panels.end * p.panel);
        pack::panels(self.simd, &PlainMatrix { bytes: &bytes[at..], depth: p.from.channel, column: 4 }, 0..p.depth, columns, form, to);
        Pixels { unit, memory: lend(to), first: panels.start, at: 0, step: form.panel(p.depth), channel: form.line() }
    }

    /// Some panels of pixels of a group of an image.
    fn task(&self, unit: usize, panels: Range<usize>, scratch: &mut [f32]) {
        let p = self.plan;
        let (packed, sums) = scratch.split_at_mut(if p.packs { p.each * p.depth * p.panel } else { 0 });
        let pixels = self.pixels(unit, &panels, packed);
        let whole = panels.start..panels.end - usize::from(p.size(panels.end - 1).1);
        // Sums that start with a bias exist for a block of channels at a time.
        let channels = if p.biased { p.width } else { p.channels };
        for start in (0..p.channels).step_by(channels) {
            let channels = start..p.channels.min(start + channels);
            if let Some(bias) = &self.bias {
                for (channel, line) in channels.clone().zip(sums.chunks_exact_mut(p.panel * p.call)) {
                    let mut pos = [0; MAX_NDIMS];
                    pos[0] = (unit % p.groups * p.channels + channel) as i64;
                    line.fill(bias.get(&pos));
                }
            }
            let mut prefetch = if start == 0 { self.next(unit, &panels) } else { Prefetch::default() };
            let narrow = whole.end..panels.end;
            for first in whole.clone().step_by(p.call).chain(narrow) {
                let some = if first < whole.end { first..whole.end.min(first + p.call) } else { first..first + 1 };
                let bytes = some.len() * prefetch.panel;
                self.tiles(&pixels, some, channels.clone(), sums, prefetch);
                prefetch.at = prefetch.at.wrapping_add(bytes);
            }
        }
    }

    /// Byte offset of a group's first source channel.
    fn from(&self, unit: usize) -> usize {
        let p = self.plan;
        p.from.start + unit / p.groups * p.from.image + unit % p.groups * p.depth * p.from.channel
    }

    /// What to prefetch: the panels of pixels behind these, or the first ones of the next group.
    fn next(&self, unit: usize, panels: &Range<usize>) -> Prefetch {
        let p = self.plan;
        let (unit, first) = if panels.end < p.panels() { (unit, panels.end) } else { (unit + 1, 0) };
        if !p.far || unit == p.images * p.groups {
            return Prefetch::default();
        }
        Prefetch { at: self.source.as_ptr().addr() + self.from(unit) + first * p.panel * 4, step: p.from.channel, panel: p.panel * 4 }
    }

    /// All tiles of some whole blocks of channels and some panels of pixels: those of equal height in one call.
    fn tiles(&self, from: &Pixels<'_>, panels: Range<usize>, channels: Range<usize>, sums: &mut [f32], mut pending: Prefetch) {
        let p = self.plan;
        let (image, group, panel) = (from.unit / p.groups, from.unit % p.groups, panels.start);
        let (pixels, narrow) = p.size(panel);
        let mut run_tiles = |tile: &Microkernel, list: &AddressList<'_>, prefetch: Prefetch| {
            tile.run(MicrokernelCall {
                strips: list.strips(),
                steps: p.depth,
                a: self.weights,
                a_from: 0,
                zeros: Buf::empty(),
                b: from.memory,
                panels: Panels { at: from.at + (panel - from.first) * from.step, step: from.step, count: panels.len(), outer: !p.runs },
                c: self.result,
                column: panel * p.panel,
                epilogue_column: panel * p.panel,
                epilogue: Some(&self.epilogue),
                sums: if p.biased { &mut *sums } else { &mut [] },
                sums_row: p.panel * p.call,
                a_step: p.width * 4,
                b_row: from.channel,
                last: (p.pixels - 1) % p.isa.width().lanes() + 1,
                prefetch,
            });
        };
        let mut words = [0; LIST_WORDS];
        for (rows, tile) in self.tiles.iter().enumerate().rev() {
            let Some(tile) = &tile[usize::from(narrow)] else { continue };
            let mut list = AddressList::across(&mut words, rows);
            let blocks = p.blocks().filter(|block| channels.contains(&block.start));
            for (channel, _, tiles) in blocks.flat_map(|block| runs(block, p.tall(pixels))).filter(|run| run.1 == rows) {
                // Each request is for a channel. The first tiles prefetch, as long as there are no more requests than channels.
                let asking = pending.step > 0 && tiles * (p.depth / 4) <= p.depth;
                if asking || !list.has_room(1) {
                    run_tiles(tile, &list, Prefetch::default());
                    list.restart(rows);
                }
                let (block, row) = (channel / p.width, channel % p.width);
                let weights = p.weights + ((group * p.channels.div_ceil(p.width) + block) * p.depth * p.width + row) * 4;
                let to = p.to.start + image * p.to.image + (group * p.channels + channel) * p.to.channel;
                let to = (self.result.as_ptr().addr() + to, &std::array::from_fn(|i| i * p.to.channel));
                list.strip(TileStrip { tiles, sums: row * p.panel * p.call * 4, a_row: 4, c_row: p.to.channel, to });
                list.tap(0, self.weights.as_ptr().addr() + weights, &[0; MOST_ROWS]);
                if asking {
                    run_tiles(tile, &list, std::mem::take(&mut pending));
                    list.restart(rows);
                }
            }
            run_tiles(tile, &list, Prefetch::default());
        }
    }
}
