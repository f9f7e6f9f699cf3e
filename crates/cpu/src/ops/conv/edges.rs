//! `edges:jit`: images so small that most windows read padding. Rows of a tile of `packed:jit` have the same taps, so its tiles would have
//! few rows there.
//!
//! So products are accumulated tap by tap (kn2row): the sums of an image stay in memory. The results of a line whose windows have a given
//! tap of the width inside the image are contiguous; each such stretch is a tile, to which the products of the taps of depth and height are
//! added. So each result gets each of its taps once, and none on padding. A task is some panels of an image and group.

use super::geometry::{self, Line as Dim};
use super::tiles::order::{self, Cut, Order};
use super::tiles::{self, Place};
use super::window::{self, Setup, check_quantisation, place, sizes_of};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::Core;
use crate::kernels::access::{Pos, View};
use crate::kernels::chain::{Before, Chain};
use crate::kernels::microkernel::layout::panel_columns;
use crate::kernels::microkernel::{
    AddressList, DotType, InitialSums, LineStride, MOST_ROWS, Microkernel, MicrokernelCall, MicrokernelKey, Panels, TileStrip,
    max_tile_rows, runs,
};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{self, PortableEpilogue, Run, Sums};
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::ops::strips::meeting;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::{Arg, Attr, Error, MAX_NDIMS, Problem};
use std::ops::Range;

/// Most results of an image, and most taps of a window.
const MAX_RESULTS: i64 = 256;
const MAX_TAPS: i64 = 512;
/// Words of the strips that are listed for a call, unless a single strip has more.
const LIST_WORDS: usize = 2048;

/// A stretch of results of a line, with the taps that all of them have inside the image.
#[derive(Debug)]
struct Stretch {
    /// Results.
    rows: usize,
    /// The first result's number in the image.
    result: usize,
    /// Taps: byte offset in a panel, and in the source from the image's first pixel to what the first result reads.
    taps: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Edges {
    attr: Attr,
    isa: Isa,
    product: DotType,
    source: Arg,
    result: Arg,
    result_channel: usize,
    from: Place,
    /// Bytes of the source from one result of a stretch to the next, and results of the image.
    column: usize,
    across: usize,
    /// Sorted by rows.
    stretches: Vec<Stretch>,
    results: [i64; 3],
    images: usize,
    groups: usize,
    depth: usize,
    channels: usize,
    /// Byte offset of the weights, bytes of a panel, columns of a panel, panels of a group and of a task.
    weights: usize,
    panel: usize,
    width: usize,
    panels: usize,
    each: usize,
    workers: usize,
    /// Elements of a worker's sums and address list.
    sums: usize,
    list: usize,
}

/// The kernels by rows: for whole panels, and for the last one, which may have fewer vectors.
type Tiles = Vec<[Option<Microkernel>; 2]>;

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    super::dense(problem)?;
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?.without_amx();
    let s = Setup::of(&problem.op)?;
    let product = tiles::product(&s)?;
    if product.is_integer() || product == DotType::Bf16 && !isa.bf16 {
        return Err(Skip::DataType(format!("{} by {}", s.source.1.dtype, s.weights.dtype)));
    }
    let results: i64 = s.result.1.dims()[2..].iter().fold(1, |n, size| n.saturating_mul(*size));
    let taps = s.sizes.k.iter().fold(1i64, |n, k| n.saturating_mul(*k));
    if !(1..=MAX_RESULTS).contains(&results) || !(2..=MAX_TAPS).contains(&taps) {
        return Err(Skip::Shape("many results of an image, or taps"));
    }
    let tag = tiles::weights_tag(&s, isa, product);
    let problem = window::resolved(problem, ["axb", &tag])?;
    let s = Setup::of(&problem.op)?;
    portable_epilogue::check(&problem.attr, s.result.1)?;
    check_quantisation(&problem.attr, &s)?;
    if !problem.attr.zero_points.is_empty() {
        return Err(Skip::Attr("zero points of real numbers".into()));
    }
    window::check_weights(s.weights, &tag)?;
    let edges = Edges::new(&s, &problem.attr, (product, isa), target)?;
    let scratch_bytes = edges.share().and_then(|each| booked(&[for_workers(edges.workers, each)?]));
    RowPlan::of(problem, target, scratch_bytes, edges)
}

/// A stretch of results of a line, and the taps of the width that all of them read.
struct Width {
    phase: usize,
    /// The first result within the phase, and their number.
    first: usize,
    count: usize,
    /// Weight coordinates, with the source coordinates that the first result reads.
    taps: Vec<(i64, i64)>,
}

/// The stretches of a width.
fn widths(line: &Dim) -> Vec<Width> {
    let mut all: Vec<Width> = Vec::new();
    for (i, phase) in line.phases.iter().enumerate() {
        for (k, at) in &phase.taps {
            let inside = |j: &usize| (0..line.source).contains(&(at + *j as i64 * line.stride));
            let Some(first) = (0..phase.count).find(inside) else { continue };
            let count = (first..phase.count).take_while(inside).count();
            let tap = (*k, at + first as i64 * line.stride);
            match all.iter_mut().find(|w| (w.phase, w.first, w.count) == (i, first, count)) {
                Some(alike) => alike.taps.push(tap),
                None => all.push(Width { phase: i, first, count, taps: vec![tap] }),
            }
        }
    }
    all
}

/// Strides of taps and pixels.
struct WindowStrides {
    from: Place,
    kernel: [i64; 3],
    /// Bytes of a tap of a panel.
    tap: usize,
    tall: usize,
}

/// All stretches of an image.
fn stretches(lines: &[Dim; 3], results: [i64; 3], window: &WindowStrides) -> Vec<Stretch> {
    let (widths, [_, kh, kw]) = (widths(&lines[2]), window.kernel);
    let mut all = Vec::new();
    for (d, h) in (0..results[0]).flat_map(|d| (0..results[1]).map(move |h| (d, h))) {
        // The taps that the result reads, as weight and source coordinates.
        let [depths, heights] = [(0, d), (1, h)].map(|(dim, at)| meeting(&lines[dim], at).collect::<Vec<_>>());
        for Width { phase, first, count, taps } in &widths {
            for (row, rows, tiles) in runs(0..*count, window.tall) {
                for row in (0..tiles).map(|i| row + i * rows) {
                    let at = |(kd, z): (i64, i64), (y_tap, y): (i64, i64), (x_tap, x): (i64, i64)| {
                        let pixel = [z, y, x + row as i64 * lines[2].stride].map(|at| at as usize);
                        let source = (0..3).map(|i| pixel[i] * window.from.strides[i]).sum();
                        (((kd * kh + y_tap) * kw + x_tap) as usize * window.tap, source)
                    };
                    let taps: Vec<(usize, usize)> =
                        depths.iter().flat_map(|z| heights.iter().flat_map(|y| taps.iter().map(|x| at(*z, *y, *x)))).collect();
                    let x = lines[2].phases[*phase].first + (first + row) as i64 * lines[2].step;
                    let result = ((d * results[1] + h) * results[2] + x) as usize;
                    if !taps.is_empty() {
                        all.push(Stretch { rows, result, taps });
                    }
                }
            }
        }
    }
    all.sort_by_key(|s| s.rows);
    all
}

impl Edges {
    fn new(s: &Setup<'_>, attr: &Attr, (product, isa): (DotType, Isa), target: &CpuTarget) -> Result<Edges, Skip> {
        let (source, result) = (s.source.1, s.result.1);
        let (channels, depth) = if s.result_channel == 0 { (s.sizes.oc, s.sizes.ic) } else { (s.sizes.ic, s.sizes.oc) };
        let (channels, depth) = (channels as usize, depth as usize);
        if depth == 0 || channels == 0 || !depth.is_multiple_of(product.step_depth()) {
            return Err(Skip::Shape("channels that are not whole steps"));
        }
        let (results, images, groups) = (sizes_of(result), s.sizes.mb as usize, s.sizes.g as usize);
        let lines = geometry::lines(s.direction, &s.sizes, [results, sizes_of(source)])?;
        let (width, size) = (panel_columns(isa, channels), source.dtype.bits() / 8);
        let tall = max_tile_rows(isa, product, width / isa.width().lanes());
        let window = WindowStrides { from: Place::new(source, depth, "source")?, kernel: s.sizes.k, tap: depth * size * width, tall };
        let stretches = stretches(&lines, results, &window);
        let here: usize = stretches.iter().map(|s| order::cost(s.rows, s.taps.len(), tall)).sum();
        let there = Order::new(&lines, Cut { images, rows: tall, on_amx: false, all_taps: false, exact: true }).cost(tall);
        if here.saturating_mul(images).saturating_mul(5) > there.saturating_mul(4) {
            return Err(Skip::Shape("images whose results meet the same taps, mostly"));
        }
        let panels = channels.div_ceil(width);
        let tasks = images * groups;
        let each = if target.threads > tasks { panels.div_ceil(target.threads.div_ceil(tasks.max(1))) } else { panels };
        let list = stretches.iter().filter_map(|s| AddressList::words(1, [s.rows, s.rows], s.taps.len())).max().unwrap_or(0);
        let rows = results.iter().product::<i64>() as usize;
        Ok(Edges {
            attr: attr.clone(),
            isa,
            product,
            source: s.source.0,
            result: s.result.0,
            result_channel: s.result_channel,
            column: window.from.strides[2].wrapping_mul(lines[2].stride as usize),
            across: lines[2].step as usize,
            stretches,
            results,
            images,
            groups,
            depth,
            channels,
            weights: s.weights.blocking().map_or(0, |b| b.offset as usize * size),
            panel: s.sizes.k.iter().product::<i64>() as usize * window.tap,
            from: window.from,
            width,
            panels,
            each,
            workers: target.threads,
            sums: rows.checked_mul(each).and_then(|n| n.checked_mul(width)).ok_or(TOO_LARGE)?,
            list: list.max(LIST_WORDS),
        })
    }

    /// Elements of a worker's scratch.
    fn share(&self) -> Option<usize> {
        self.list.checked_mul(size_of::<usize>() / size_of::<f32>())?.checked_add(self.sums)?.checked_next_multiple_of(16)
    }

    /// Vectors of the last panel.
    fn last(&self) -> usize {
        (self.channels - (self.panels - 1) * self.width).div_ceil(self.isa.width().lanes())
    }
}

impl Generated for Edges {
    type Code = Tiles;

    fn decision(&self, problem: &Problem) -> Decision {
        let lanes = self.isa.width().lanes();
        let rows = self.stretches.iter().map(|s| s.rows).max().unwrap_or(0);
        How::new(
            "product of windows and weights, stretch by stretch of lines whose results meet the same taps",
            Core::host().rate(lanes, self.product.step_depth()),
            self.workers,
        )
        .registers(format!("sums of a tile of {rows} rows by {} columns", self.width), rows * self.width * 4)
        .block(format!("sums of {} results of {} panels", self.sums / self.width / self.each, self.each), self.sums * 4)
        .block(format!("a panel of {} columns", self.width), self.panel)
        .padding(padding(self.channels, lanes))
        .decision(problem)
    }

    fn build(&self) -> Result<Tiles, Error> {
        let mut tiles: Tiles = vec![[None, None]; MOST_ROWS + 1];
        let (whole, last) = (self.width / self.isa.width().lanes(), self.last());
        for rows in self.stretches.iter().map(|s| s.rows) {
            for (tile, vectors) in tiles[rows].iter_mut().zip([whole, last]) {
                if tile.is_none() {
                    let line = LineStride::Packed(whole as u8);
                    let spec = MicrokernelKey { line, start: InitialSums::Add, ..MicrokernelKey::new(self.product, rows, vectors) };
                    *tile = Some(Microkernel::get(self.isa, &spec)?);
                }
            }
        }
        Ok(tiles)
    }

    fn table_bytes(&self) -> usize {
        self.stretches.iter().map(|s| size_of::<Stretch>() + size_of_val(&*s.taps)).sum()
    }

    fn run(&self, tiles: &Tiles, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let view = |arg: Arg| View::of(simd, ctx, arg);
        let (source, weights, dst) = (view(self.source)?, view(Arg::WEIGHTS)?, view(self.result)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let by_weights = || window::weight_scale(ctx, &self.attr, &weights, (source.dims().len(), self.result_channel, self.channels));
        let before = Before::by_channel(ctx, &self.attr, self.source, &source, by_weights)?;
        let epilogue = PortableEpilogue::new(Chain::new(simd, ctx, &self.attr, self.result)?.with(&before))?;
        let share = self.share().unwrap_or(0);
        let mut workers = scratch.take(for_workers(self.workers, share).unwrap_or(0))?;
        let bound = Bound { plan: self, tiles, source: source.buf(), weights: weights.buf(), epilogue };
        let tasks = self.images * self.groups * self.panels.div_ceil(self.each);
        workers.work(ctx.executor(), self.workers, tasks, &|task, scratch| bound.task(task, scratch));
        Ok(())
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Edges,
    tiles: &'a Tiles,
    source: Buf<'a>,
    weights: Buf<'a>,
    epilogue: PortableEpilogue<'a>,
}

impl Bound<'_> {
    /// Some panels of an image and group.
    fn task(&self, task: usize, scratch: &mut [f32]) {
        let p = self.plan;
        let chunks = p.panels.div_ceil(p.each);
        let (chunk, rest) = (task % chunks, task / chunks);
        let (group, image) = (rest % p.groups, rest / p.groups);
        let panels = chunk * p.each..p.panels.min((chunk + 1) * p.each);
        let (words, sums) = scratch.split_at_mut(p.list * (size_of::<usize>() / size_of::<f32>()));
        let step = panels.len() * p.width;
        let rows = p.results.iter().product::<i64>() as usize;
        let sums = &mut sums[..rows * step];
        sums.fill(0.0);
        let first = self.source.as_ptr().addr() + p.from.base + image * p.from.image + group * p.from.group;
        let mut list = AddressList::new(bytemuck::cast_slice_mut(words), 0);
        for stretch in &p.stretches {
            if stretch.rows != list.rows() || !list.has_room(stretch.taps.len()) {
                self.run(&list, group, &panels, sums);
                list.restart(stretch.rows);
            }
            list.strip(TileStrip { tiles: 1, sums: stretch.result * step * 4, a_row: 0, c_row: 0, to: (0, &[0; MOST_ROWS]) });
            let offsets = std::array::from_fn(|i| i.wrapping_mul(p.column));
            stretch.taps.iter().for_each(|(b, a)| list.tap(*b, first + a, &offsets));
        }
        self.run(&list, group, &panels, sums);
        let columns = step.min(p.channels - panels.start * p.width);
        let channel = (group * p.channels + panels.start * p.width) as i64;
        let n = self.epilogue.dst().dims().len();
        let runs = (0..p.results[0]).flat_map(|d| (0..p.results[1]).map(move |h| (d, h))).map(|(d, h)| {
            let mut pos: Pos = [0; MAX_NDIMS];
            (pos[0], pos[1]) = (image as i64, channel);
            place(&mut pos, n, [d, h, 0]);
            Run { pos, dim: n - 1, step: 1, count: p.results[2] as usize }
        });
        self.epilogue.store(Sums { data: sums, exact: None, step, columns, dim: 1 }, runs);
    }

    /// Adds the products of the listed tiles with some panels of a group.
    fn run(&self, list: &AddressList<'_>, group: usize, panels: &Range<usize>, sums: &mut [f32]) {
        let p = self.plan;
        let (at, row) = (p.weights + (group * p.panels + panels.start) * p.panel, panels.len() * p.width * p.across);
        if list.strips().is_empty() {
            return;
        }
        let fewer = panels.end == p.panels && p.last() * p.isa.width().lanes() < p.width;
        let whole = panels.len() - usize::from(fewer);
        let steps = p.depth / p.product.step_depth();
        let calls = [(0, whole, 0), (1, usize::from(fewer), whole)];
        for (tile, count, first) in calls.into_iter().filter(|call| call.1 > 0) {
            let panels = Panels { at: at + first * p.panel, step: p.panel, count, outer: true };
            let call = MicrokernelCall::raw(list.strips(), steps, panels, (&mut sums[first * p.width..], row));
            if let Some(tile) = &self.tiles[list.rows()][tile] {
                tile.run(MicrokernelCall { a: self.source, b: self.weights, ..call });
            }
        }
    }
}
