//! `blocked1x1:jit`: windows of one pixel over images in blocks of a vector of channels, in place.
//!
//! Pixels are the rows of a product, and a block of result channels is a panel of its columns: a tile of one vector stores whole pixels of a block. Blocks of
//! source channels are taps. A task takes some pixels, whose channels stay in L2 while they are multiplied by all weights, a panel of which stays in L1.

use super::columns::{self, Plane, Tiles};
use super::tiles;
use super::window::{self, Setup};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::Core;
use crate::kernels::access::View;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Lens, Scratch, for_workers};
use crate::kernels::tile::layout::panel_columns;
use crate::kernels::tile::runs;
use crate::kernels::tile::tail::{About, Tail};
use crate::kernels::tile::{Call, Line, List, MOST_ROWS, Panels, Product, Spec, Strip, TailArgs, Tile, tallest};
use crate::ops::support;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::{Arg, Attr, Error, Problem};
use std::ops::Range;
use std::sync::Arc;

/// Tasks for every worker, where there are several.
const TASKS: usize = 8;
/// Bytes of a number, and of a word of a list.
const NUMBER: usize = 4;

/// A planned problem.
#[derive(Debug)]
struct Blocked {
    attr: Attr,
    isa: Isa,
    /// Source and result.
    args: [Arg; 2],
    images: usize,
    pixels: usize,
    /// Blocks of source channels, and result channels.
    depth: usize,
    channels: usize,
    from: Plane,
    to: Plane,
    /// Columns of a panel of weights, and the byte where the first begins.
    width: usize,
    weights: usize,
    /// Pixels of a task.
    each: usize,
    workers: usize,
    tail: Arc<Tail>,
    /// Operands of the tail are shared; workers have lists.
    scratch: Lens,
}

/// Plans `problem`.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let planned = in_place(problem, target)?;
    if target.jit.is_some_and(|isa| !isa.avx512) && super::copies_are_sooner(problem, target, in_place) {
        return Err(Skip::Shape("so many products that wider tiles of copies to channels last are faster"));
    }
    Ok(planned)
}

fn in_place(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?.without_amx();
    let s = Setup::of(&problem.op)?;
    check(&s, isa)?;
    support::known(problem)?;
    let (tag, weights_tag) = (format!("aBx{}b", isa.width().lanes()), tiles::weights_tag(&s, isa, Product::F32));
    let problem = window::resolved(problem, [&tag, &weights_tag])?;
    let s = Setup::of(&problem.op)?;
    window::check_weights(s.weights, &weights_tag)?;
    let lanes = isa.width().lanes() as i64;
    let places = [Plane::of_blocks(s.source.1, lanes)?, Plane::of_blocks(s.result.1, lanes)?];
    let blocked = Blocked::new(&s, &problem.attr, places, (isa, target))?;
    RowPlan::of(problem, target, blocked.scratch.bytes(), blocked)
}

/// Whether this is a window of one pixel whose source or result is given in blocks.
fn check(s: &Setup<'_>, isa: Isa) -> Result<(), Skip> {
    columns::check(s)?;
    let (from, to) = (s.source.1, s.result.1);
    if [from, to].iter().all(|t| t.blocking().is_none_or(|b| b.is_plain())) {
        return Err(Skip::Layout("without blocks of channels".into()));
    }
    if s.sizes.g != 1 || s.weights.dims().len() != from.dims().len() || from.dims()[1] % isa.width().lanes() as i64 != 0 {
        return Err(Skip::Shape("groups, or source channels that end within a block"));
    }
    Ok(())
}

impl Blocked {
    fn new(s: &Setup<'_>, attr: &Attr, [from, to]: [Plane; 2], (isa, target): (Isa, &CpuTarget)) -> Result<Blocked, Skip> {
        let (workers, lanes, dims) = (target.threads, isa.width().lanes(), s.result.1.dims());
        let (images, channels) = (dims[0] as usize, dims[1] as usize);
        let (depth, pixels) = (s.source.1.dims()[1] as usize / lanes, dims[2..].iter().product::<i64>() as usize);
        let about = About { attr, dst: s.result.1, columns: 1, compensated: false, scaled: false, biased: s.biased };
        if !attr.scales.is_empty() || !attr.zero_points.is_empty() {
            return Err(Skip::Attr("scales, or zero points".into()));
        }
        let tail = Arc::new(Tail::of(&about)?);
        let tall = tallest(isa, Product::F32, 1);
        let near = (target.caches.l2 / 4 / (depth * lanes * NUMBER) / tall).max(1) * tall;
        let shares = if workers > 1 { (workers * TASKS).div_ceil(images) } else { 1 };
        let list = List::words(2, [MOST_ROWS; 2], depth).and_then(|words| words.checked_mul(size_of::<usize>() / NUMBER));
        let list = list.and_then(|n| n.checked_next_multiple_of(lanes)).and_then(|n| for_workers(workers, n));
        let scratch = tail.scratch(channels).zip(list).map(|(shared, workers)| Lens { shared, workers });
        Ok(Blocked {
            attr: attr.clone(),
            isa,
            args: [s.source.0, s.result.0],
            images,
            pixels,
            depth,
            channels,
            from,
            to,
            width: panel_columns(isa, channels),
            weights: s.weights.blocking().map_or(0, |b| b.offset as usize * NUMBER),
            each: near.min(pixels.div_ceil(shares).next_multiple_of(tall)),
            workers,
            tail,
            scratch: scratch.ok_or(TOO_LARGE)?,
        })
    }

    fn lanes(&self) -> usize {
        self.isa.width().lanes()
    }

    /// Tasks of an image.
    fn tasks(&self) -> usize {
        self.pixels.div_ceil(self.each)
    }

    /// The pixels of a task of an image.
    fn task(&self, task: usize) -> Range<usize> {
        task * self.each..self.pixels.min((task + 1) * self.each)
    }

    fn spec(&self, rows: usize, masked: bool) -> Spec {
        let line = Line::Packed((self.width / self.lanes()) as u8);
        Spec { line, tail: Some(Arc::clone(&self.tail)), masked, ..Spec::new(Product::F32, rows, 1) }
    }
}

impl Generated for Blocked {
    type Code = Tiles;

    fn decision(&self, problem: &Problem) -> Decision {
        let (lanes, tall) = (self.lanes(), tallest(self.isa, Product::F32, 1));
        let (panel, pixel) = (self.depth * lanes * lanes * NUMBER, self.depth * lanes * NUMBER);
        // Without broadcasts in multiply-adds, a tile of one vector loads two numbers for each. Measured on Zen 3, beside tiles of copies.
        let rate = Core::host().rate(lanes, 1) / if self.isa.avx512 { 1.0 } else { 1.2 };
        How::new("product of pixels and weights, channels in blocks where they lie", rate, self.workers)
            .registers(format!("sums of {tall} pixels by {lanes} channels"), tall * lanes * NUMBER)
            .block(format!("the weights of {lanes} channels, which all pixels of a task meet"), panel)
            .block(format!("{} pixels of all source channels, which all weights meet", self.each), self.each * pixel)
            .padding(padding(self.channels, lanes))
            .decision(problem)
    }

    fn build(&self) -> Result<Tiles, Error> {
        let (tall, lanes) = (tallest(self.isa, Product::F32, 1), self.lanes());
        let mut tiles = vec![[const { None }; 2]; MOST_ROWS + 1];
        let kinds = [(false, self.channels >= lanes), (true, !self.channels.is_multiple_of(lanes))];
        for (_, rows, _) in [0, self.tasks() - 1].into_iter().flat_map(|task| runs(self.task(task), tall)) {
            for (masked, _) in kinds.into_iter().filter(|(_, used)| *used) {
                let tile = &mut tiles[rows][usize::from(masked)];
                if tile.is_none() {
                    *tile = Some(Tile::get(self.isa, &self.spec(rows, masked))?);
                }
            }
        }
        Ok(tiles)
    }

    fn run(&self, tiles: &Tiles, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let lines = scratch.take(self.scratch.shared)?.into_slice();
        let mut lists = scratch.take(self.scratch.workers)?;
        let bias = View::optional(simd, ctx, Arg::BIAS)?.map(|bias| Broadcast::along(bias, 1));
        let before = Before { factors: None, bias };
        let chain = Chain::new(simd, ctx, &self.attr, self.args[1])?.with(&before);
        chain.dst().zero_padding();
        let bound = Bound {
            plan: self,
            tiles,
            source: ctx.buf(self.args[0])?,
            weights: ctx.buf(Arg::WEIGHTS)?,
            result: ctx.buf(self.args[1])?,
            tail: self.tail.args(&chain, 1, &[], lines)?,
        };
        lists.work(ctx.executor(), self.workers, self.images * self.tasks(), &|task, words| {
            bound.task(task / self.tasks(), self.task(task % self.tasks()), bytemuck::cast_slice_mut(words));
        });
        Ok(())
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Blocked,
    tiles: &'a [[Option<Tile>; 2]],
    source: Buf<'a>,
    weights: Buf<'a>,
    result: Buf<'a>,
    tail: TailArgs<'a>,
}

impl Bound<'_> {
    /// Some pixels of an image, by all weights.
    fn task(&self, image: usize, pixels: Range<usize>, words: &mut [usize]) {
        let (p, lanes) = (self.plan, self.plan.lanes());
        let (line, pixel) = (p.width * NUMBER, lanes * NUMBER);
        let offsets: [usize; MOST_ROWS] = std::array::from_fn(|i| i * pixel);
        for (first, rows, tiles) in runs(pixels, tallest(p.isa, Product::F32, 1)) {
            let source = self.source.as_ptr().addr() + p.from.start + image * p.from.image + first * pixel;
            for block in 0..p.channels.div_ceil(lanes) {
                let left = p.channels - block * lanes;
                let Some(tile) = &self.tiles[rows][usize::from(left < lanes)] else { panic!("no kernel of {rows} rows was made") };
                let to = self.result.as_ptr().addr() + p.to.start + image * p.to.image + block * p.to.channel + first * pixel;
                let mut list = List::new(words, rows);
                list.strip(Strip { tiles, sums: 0, a_row: pixel, c_row: pixel, to: (to, &offsets) });
                (0..p.depth).for_each(|tap| list.tap(tap * lanes * line, source + tap * p.from.channel, &offsets));
                let (panel, column) = (block * lanes / p.width, block * lanes % p.width);
                let at = p.weights + panel * p.depth * lanes * line + column * NUMBER;
                tile.run(Call {
                    a: self.source,
                    b: self.weights,
                    c: self.result,
                    tail_column: block * lanes,
                    tail: Some(&self.tail),
                    last: left.min(lanes),
                    ..Call::raw(list.strips(), lanes, Panels::one(at), (&mut [], 0))
                });
            }
        }
    }
}
