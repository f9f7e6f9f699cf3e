//! Executing gradients of weights: copies of operands, tiles, and storing the sums.

use super::copy::{Copy, Reader};
use super::prefetch::{Prefetches, Runs};
use super::side::{Places, Strides};
use super::store::Lines;
use super::tiled::{Code, Gradient, Side, TRANSPOSED_CHANNELS, Tiles};
use crate::kernels::amx::{Addend, Repeat, TileRegisters};
use crate::kernels::chain::Chain;
use crate::kernels::dot::{self, Tap, accumulate};
use crate::kernels::microkernel::{AddressList, EpilogueArgs, MOST_ROWS, MicrokernelCall, Panels, TileStrip};
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::PortableEpilogue;
use crate::kernels::scratch::{Scratch, lend};
use crate::kernels::transpose::{Matrix, RegisterTranspose};
use crate::row::Generated;
use oxidnn_jit::kernels::tiles::LINES;
use oxidnn_runtime::{Buf, Ctx, Decision};
use oxidnn_spec::{Arg, Error, Problem};
use std::ops::Range;

impl Generated for Gradient {
    type Code = Code;

    fn decision(&self, problem: &Problem) -> Decision {
        self.how().decision(problem)
    }

    fn build(&self) -> Result<Code, Error> {
        self.code()
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let epilogue = PortableEpilogue::new(Chain::new(simd, ctx, &self.attr, Arg::DIFF_WEIGHTS)?)?;
        let reader = |side: &Side| Reader::new(simd, ctx, side);
        let (rows, columns, lines) = (reader(&self.rows)?, reader(&self.columns)?, self.lines(&epilogue));
        let bound = Bound { plan: self, code, rows, columns, epilogue, lines };
        if lines == Lines::Any {
            bound.epilogue.dst().zero_padding();
        }
        if bound.epilogue.dst().dims().contains(&0) {
            return Ok(());
        }
        let lens = self.scratch().ok_or_else(|| Error::Runtime("scratch that was not booked".into()))?;
        let (sums, mut workers) = (scratch.take(lens.shared)?, scratch.take(lens.workers)?);
        if self.slices == 1 {
            workers.work(ctx.executor(), self.workers, self.blocks(), &|block, own| {
                let (sums, own) = own.split_at_mut(self.sums);
                bound.slice(block, 0, sums, own);
            });
            return Ok(());
        }
        let slice = |task: usize, sums: &mut [f32], own: &mut [f32]| bound.slice(task / self.slices, task % self.slices, sums, own);
        let sums = workers.work_on(sums, ctx.executor(), self.workers, (self.blocks() * self.slices, self.sums), &slice);
        sums.reduce(ctx.executor(), [self.slices, self.sums], &|block, sums| bound.store_all(block, sums));
        Ok(())
    }
}

/// A problem bound to its arguments.
pub(super) struct Bound<'a> {
    pub(super) plan: &'a Gradient,
    code: &'a Code,
    rows: Reader<'a>,
    columns: Reader<'a>,
    pub(super) epilogue: PortableEpilogue<'a>,
    pub(super) lines: Lines,
}

/// A block of the gradient: its group, and first channels and numbers of channels.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) group: usize,
    pub(super) rows: (usize, usize),
    pub(super) columns: (usize, usize),
}

/// A box of places for a block: a K block of the products.
struct Depth {
    at: Block,
    places: Places,
    /// Images, or pairs of them that share words: one after the other, and side by side.
    images: [usize; 2],
    /// Bytes from a copied panel to the next.
    panel: usize,
    /// Whether this is the first box of a slice, so that sums start with zero.
    fresh: bool,
    /// Whether this is the last box and there are no slices, so that sums are complete.
    done: bool,
    /// The next box and its block, if its operands are prefetched.
    next: Option<(Block, Places)>,
}

/// An operand of a K block as microkernels read it.
struct Operand<'a> {
    /// Its memory and the byte offset of the first pixel there, in place or in a copy; empty for portable code, which reads the copy as
    /// elements.
    memory: Buf<'a>,
    at: usize,
    copy: &'a [f32],
    /// Bytes from a panel to the next.
    panel: usize,
}

/// A K block with both operands: rows, and some of the block's panels.
struct Ready<'a> {
    depth: &'a Depth,
    rows: Operand<'a>,
    columns: Operand<'a>,
    panels: Range<usize>,
}

impl Ready<'_> {
    /// The byte offset of a panel from the first pixel of the columns on.
    fn panel(&self, panel: usize) -> usize {
        (panel - self.panels.start) * self.columns.panel
    }
}

/// Products of a panel: those of some taps of a window row, of which `tap` is the first.
#[derive(Clone, Copy)]
struct TapRun {
    panel: usize,
    tap: [usize; 3],
    count: usize,
}

/// What the tiles of a tap and panel need.
struct Work<'w, 'h> {
    /// Those of all taps and panels of the block; with a single box, of some panels.
    sums: &'w mut [f32],
    words: &'w mut [usize],
    prefetches: &'w mut Prefetches,
    /// The configured AMX tiles, on AMX.
    held: Option<&'w mut TileRegisters<'h>>,
}

/// The byte offset of a channel of an operand.
fn place(reader: &Reader<'_>, strides: &Strides, channel: usize) -> usize {
    (reader.first + strides.channel(channel)) * 4
}

impl Gradient {
    /// The products of `count` taps of a window row, of so many images side by side.
    fn repeat(&self, count: usize, side_by_side: usize) -> Repeat {
        let dim = &self.sliding().grid.dims[2];
        let pixels = self.taps_apart * dim.dilation / dim.stride * side_by_side;
        let [a, b] = if self.rows_slide { [pixels * 4, 0] } else { [0, pixels * self.line() * 4] };
        Repeat { times: count, a, b, sums: self.taps_apart * self.region() }
    }
}

impl<'a> Bound<'a> {
    pub(super) fn at(&self, block: usize) -> Block {
        let p = self.plan;
        let (r, rest) = (block % p.rows.blocks, block / p.rows.blocks);
        let (c, group) = (rest % p.columns.blocks, rest / p.columns.blocks);
        let part = |side: &Side, i: usize| (i * side.each, side.each.min(side.channels - i * side.each));
        Block { group, rows: part(&p.rows, r), columns: part(&p.columns, c) }
    }

    fn places(&self, index: usize) -> Places {
        let p = self.plan;
        let (mut i, mut at, mut pair_offset) = (index, [(0, 0); 4], [0; 4]);
        let dims = p.rows.grid.dims.map(|d| d.places);
        for d in (0..4).rev() {
            let n = if d == 0 { p.images.div_ceil(p.vnni * p.side_by_side) } else { dims[d - 1] };
            let (first, count, behind) = p.span(d, n, i % p.boxes[d]);
            (at[d], pair_offset[d]) = ((first, count), behind);
            i /= p.boxes[d];
        }
        let images = p.vnni * p.side_by_side;
        let first = at[0].0 * images;
        Places {
            images: (first, (at[0].1 * images).min(p.images - first)),
            at: [at[1], at[2], at[3]],
            pair_offset: [pair_offset[1], pair_offset[2], pair_offset[3]],
        }
    }

    /// The box after a box of a block, and its block: the same block as long as it has boxes.
    fn next(&self, block: usize, index: usize) -> Option<(Block, Places)> {
        let index = (index + 1) % self.plan.all_boxes();
        let block = if index == 0 { block + 1 } else { block };
        (block < self.plan.blocks()).then(|| (self.at(block), self.places(index)))
    }

    /// The sums of one slice of a block, with a worker's address table and copies.
    fn slice(&self, block: usize, slice: usize, sums: &mut [f32], own: &mut [f32]) {
        let p = self.plan;
        let at = self.at(block);
        let (words, copies) = own.split_at_mut(p.table);
        let words: &mut [usize] = bytemuck::cast_slice_mut(words);
        let (rows, columns) = copies.split_at_mut(p.rows.copy);
        let all = p.all_boxes();
        let boxes = slice * all / p.slices..(slice + 1) * all / p.slices;
        let panels = at.columns.1.div_ceil(p.panel);
        let mut held = if let Code::Amx(code) = self.code { Some(code.0.hold()) } else { None };
        for index in boxes.clone() {
            let places = self.places(index);
            let images = places.images.1.div_ceil(p.vnni);
            let images = if p.side_by_side > 1 { [1, images] } else { [images, 1] };
            let panel = p.columns.grid.all_pixels(images[0]).unwrap_or(0) * images[1] * p.line() * 4;
            let depth = Depth {
                at,
                places,
                images,
                panel,
                fresh: index == boxes.start,
                done: index + 1 == boxes.end && p.slices == 1,
                next: self.next(block, index).filter(|_| p.far),
            };
            self.pack(&p.rows, &depth, at.rows, rows);
            for first in (0..panels).step_by(p.panels_at_once) {
                let panels = first..panels.min(first + p.panels_at_once);
                let first = first * p.panel;
                let channels = (at.columns.0 + first, (panels.len() * p.panel).min(at.columns.1 - first));
                self.pack(&p.columns, &depth, channels, columns);
                let rows = self.operand(&p.rows, &depth, at.rows.0, rows);
                let columns = self.operand(&p.columns, &depth, channels.0, columns);
                self.multiply(&Ready { depth: &depth, rows, columns, panels }, sums, words, held.as_mut());
            }
        }
    }

    fn is_rows(&self, side: &Side) -> bool {
        std::ptr::eq(side, &raw const self.plan.rows)
    }

    fn reader(&self, side: &Side) -> &Reader<'a> {
        if self.is_rows(side) { &self.rows } else { &self.columns }
    }

    /// Packs a K block of an operand, of some channels of the group, unless it is read in place.
    fn pack(&self, side: &Side, depth: &Depth, (start, count): (usize, usize), copy: &mut [f32]) {
        if side.in_place {
            return;
        }
        let (channels, to) = ((depth.at.group * side.channels + start, count), lend(copy));
        let width = match self.code {
            Code::Amx(code) if self.is_rows(side) => return self.turn(&code.1, depth, channels, to),
            _ if self.is_rows(side) => self.plan.pitch(count),
            _ => self.plan.line(),
        };
        let (panel, images) = (depth.panel / 4, depth.images);
        Copy { plan: self.plan, side, reader: self.reader(side), channels, width, to, panel, images }.all(&depth.places);
    }

    /// An operand from a channel of the group on: in place, or its copy.
    fn operand<'c>(&self, side: &Side, depth: &Depth, start: usize, copy: &'c mut [f32]) -> Operand<'c>
    where
        'a: 'c,
    {
        if let Some(strides) = side.strides.filter(|_| side.in_place) {
            let (reader, panel) = (self.reader(side), if strides.is_plain() { self.plan.panel } else { strides.far } * 4);
            return Operand {
                memory: reader.view.buf(),
                at: place(reader, &strides, depth.at.group * side.channels + start),
                copy: &[],
                panel,
            };
        }
        let (memory, copy): (_, &[f32]) = if let Code::Portable = self.code { (Buf::empty(), copy) } else { (lend(copy), &[]) };
        Operand { memory, at: 0, copy, panel: depth.panel }
    }

    /// Transposes a box of rows, from channel `first` of the operand on.
    fn turn(&self, squares: &RegisterTranspose, depth: &Depth, (first, count): (usize, usize), to: Buf<'_>) {
        let (p, grid) = (self.plan, &self.plan.rows.grid);
        let (row, taps) = (p.transposed_row() * 4, p.rows_per_channel());
        let turned = p.rows.each * taps * row;
        let copied = to.part(turned, to.len() - turned);
        for done in (0..count).step_by(TRANSPOSED_CHANNELS) {
            let channels = TRANSPOSED_CHANNELS.min(count - done);
            let copy = Copy {
                plan: p,
                side: &p.rows,
                reader: &self.rows,
                channels: (first + done, channels),
                width: channels,
                panel: 0,
                to: copied,
                images: depth.images,
            };
            copy.all(&depth.places);
            let pixel = channels * 4;
            let turn = |[at, from_row]: [usize; 2], to_at: usize, count: usize| {
                let from = Matrix { buf: copied, at, row: from_row };
                squares.run(from, Matrix { buf: to, at: done * row + to_at * 4, row }, count, channels * taps);
            };
            let ((cells, lines), (places, _)) = (grid.lines(), grid.turned().lines());
            if grid.merged {
                (0..depth.images[0] * lines).for_each(|i| turn([i * cells * pixel, grid.dims[2].stride * pixel], i * places, places));
            } else {
                turn([0, pixel], 0, grid.all_pixels(depth.images[0]).unwrap_or(0) * depth.images[1]);
            }
        }
    }

    /// The products of a box: tap by tap, and in place, where panels are far, panel by panel.
    fn multiply(&self, ready: &Ready, sums: &mut [f32], words: &mut [usize], mut held: Option<&mut TileRegisters<'_>>) {
        let (p, at) = (self.plan, &ready.depth.at);
        let (pairs, words) = words.split_at_mut(p.pairs);
        for first in ready.panels.clone().step_by(if p.columns.in_place { 1 } else { p.panels_at_once }) {
            let panels = if p.columns.in_place { first..first + 1 } else { ready.panels.clone() };
            let mut prefetches = self.prefetches(ready, panels.end - 1);
            for (tap, count) in p.tap_runs() {
                let parts = Parts::new(p, ready, tap, pairs);
                for panel in panels.clone() {
                    let work = Work { sums: &mut *sums, words, prefetches: &mut prefetches, held: held.as_deref_mut() };
                    if self.taps(ready, &parts, TapRun { panel, tap, count }, work) || !ready.depth.done {
                        continue;
                    }
                    for tap in self.run_of(tap, count) {
                        self.store(at, (panel, tap), &mut sums[self.sums(at, (panel, tap))]);
                    }
                }
            }
        }
    }

    /// The taps of a call.
    fn run_of(&self, [d, h, w]: [usize; 3], count: usize) -> impl Iterator<Item = [usize; 3]> + use<> {
        let apart = self.plan.taps_apart;
        (0..count).map(move |i| [d, h, w + i * apart])
    }

    /// The sums of a tap and panel of a block.
    pub(super) fn sums(&self, at: &Block, (panel, [d, h, w]): (usize, [usize; 3])) -> Range<usize> {
        let (p, [_, th, tw], [panels, kept]) = (self.plan, self.plan.taps(), self.plan.kept);
        let index = panel % panels * kept + ((d * th + h) * tw + w) % kept;
        let start = index * p.region();
        start..start + at.rows.1 * p.rows_per_channel() * p.panel
    }

    /// The products of a call; true if they have stored their sums.
    fn taps(&self, ready: &Ready, parts: &Parts<'_>, TapRun { panel, tap, count }: TapRun, work: Work<'_, '_>) -> bool {
        let (p, at, fresh) = (self.plan, &ready.depth.at, ready.depth.fresh);
        let Work { sums: all, words, prefetches, held } = work;
        let (rows, columns) = (at.rows.1 * p.rows_per_channel(), p.panel.min(at.columns.1 - panel * p.panel));
        let stored = p.epilogue.is_some();
        if stored {
            let pos = self.position(at, (panel, tap));
            self.pad(pos, (rows, columns));
            if parts.pairs.is_empty() {
                self.zeros(pos, rows, 0..columns);
            }
        }
        if parts.pairs.is_empty() {
            let fills = self.run_of(tap, count).filter(|_| fresh && !stored);
            fills.for_each(|tap| all[self.sums(at, (panel, tap))].fill(0.0));
            return stored;
        }
        let sums = self.sums(at, (panel, tap));
        match (self.code, held) {
            (Code::Amx(code), Some(held)) => {
                let repeat = p.repeat(count, ready.depth.images[1]);
                let sums = &mut all[sums.start..sums.end + (count - 1) * repeat.sums];
                let addend = Addend {
                    parts: parts.pairs,
                    steps: parts.steps,
                    a: (ready.rows.memory, p.transposed_row() * 4),
                    b: (ready.columns.memory, ready.columns.at + ready.panel(panel), 0),
                    rows,
                    panels: 1,
                    repeat,
                    vectors: p.vectors(at.columns.0 + panel * p.panel),
                    fresh,
                };
                code.0.add(held, &addend, words, (sums, p.panel));
            }
            (Code::Vectors(tiles), _) => {
                let work = Work { sums: &mut all[sums], words, prefetches, held: None };
                self.tiles(tiles, ready, TapRun { panel, tap, count }, parts, work);
            }
            _ => {
                let sums = &mut all[sums];
                if fresh {
                    sums.fill(0.0);
                }
                self.dots(ready, panel, parts, sums);
            }
        }
        stored
    }

    /// Adds the products of a tap and panel in portable code.
    fn dots(&self, ready: &Ready, panel: usize, parts: &Parts<'_>, sums: &mut [f32]) {
        let width = self.plan.panel;
        let mut taps = [Tap { a: 0, b: 0 }; 64];
        for pairs in parts.pairs.chunks(taps.len()) {
            let from = ready.rows.memory.as_ptr().addr();
            taps.iter_mut().zip(pairs).for_each(|(tap, [b, a])| *tap = Tap { a: (a - from) / 4, b: b / 4 });
            let block = dot::Block {
                a: ready.rows.copy,
                rows: dot::Rows::Columns { count: sums.len() / width, step: parts.step / 4 },
                b: &ready.columns.copy[ready.panel(panel) / 4..],
                width,
                b_step: parts.line / 4,
                panel: 0,
                columns: width,
                taps: &taps[..pairs.len()],
                depth: parts.steps,
            };
            accumulate(self.epilogue.dst().simd(), &block, sums, width);
        }
    }

    /// The vector tiles of a tap and panel over the parts of a box.
    fn tiles(&self, tiles: &Tiles, ready: &Ready, TapRun { panel, tap, .. }: TapRun, parts: &Parts<'_>, work: Work<'_, '_>) {
        let (p, at, dst) = (self.plan, &ready.depth.at, self.epilogue.dst());
        let Work { sums, words, prefetches, .. } = work;
        let first = at.columns.0 + panel * p.panel;
        let (vectors, rows) = (p.vectors(first), at.rows.1 * p.rows_per_channel());
        let enough = prefetches.left().checked_sub(1).map_or(usize::MAX, |more| rows.div_ceil(MOST_ROWS * (more + 1)));
        // The first sum in the gradient, where tiles store.
        let to = p.epilogue.as_ref().map_or(0, |_| dst.offset(&self.position(at, (panel, tap))));
        let to = dst.buf().as_ptr().addr() + to * size_of::<f32>();
        let mut run_tiles = |list: &AddressList<'_>, count: usize| {
            if count == 0 {
                return;
            }
            tiles.get(list.rows(), vectors, !ready.depth.fresh || p.ends_within(first)).run(MicrokernelCall {
                strips: list.strips(),
                prefetch: prefetches.take(count * parts.pairs.len() * (parts.steps / 4)),
                steps: parts.steps,
                a: ready.rows.memory,
                a_from: 0,
                zeros: Buf::empty(),
                b: ready.columns.memory,
                panels: Panels::one(ready.columns.at + ready.panel(panel)),
                c: dst.buf(),
                column: 0,
                epilogue_column: 0,
                epilogue: p.epilogue.as_ref().map(|_| &EpilogueArgs::NONE),
                sums,
                sums_row: p.panel,
                a_step: parts.step,
                b_row: parts.line,
                last: (p.panel.min(p.columns.channels - first) - 1) % p.isa.width().lanes() + 1,
            });
        };
        let (mut list, mut listed) = (AddressList::across(words, 0), 0);
        let c_row = dst.blocking().strides[p.row_dim] as usize * 4;
        // Tiles of equal height are one call, or as many calls as there are runs to prefetch. Runs of contiguous rows are in this order.
        let heights = if p.is_contiguous(rows) { 1..=1 } else { 1..=MOST_ROWS };
        let any = heights == (1..=1);
        let runs = heights.rev().flat_map(|h| p.runs(rows, vectors).filter(move |run| any || run.1 == h));
        for (row, height, count) in runs {
            if height != list.rows() || listed >= enough || !list.has_room(parts.pairs.len()) {
                run_tiles(&list, listed);
                list.restart(height);
                listed = 0;
            }
            let to = (to + row * c_row, &std::array::from_fn(|i| i * c_row));
            list.strip(TileStrip { tiles: count, sums: row * p.panel * 4, a_row: 4, c_row, to });
            let far = [(p.row_offset(row) - p.row_offset(0)) * 4; MOST_ROWS];
            parts.pairs.iter().for_each(|[b, a]| list.tap(*b, *a, &far));
            listed += count;
        }
        run_tiles(&list, listed);
    }

    /// What the tiles of a panel prefetch: the next panel, or the begin of the next box.
    fn prefetches(&self, ready: &Ready, panel: usize) -> Prefetches {
        let (p, Depth { at, places: here, next, .. }) = (self.plan, ready.depth);
        if !p.far {
            return Prefetches::default();
        }
        let rows = |block: &Block, places: &Places| self.runs(&p.rows, places, block.group, block.rows);
        let columns = |block: &Block, places: &Places, panels: Range<usize>| {
            let (first, all) = (panels.start * p.panel, block.columns.1);
            self.runs(&p.columns, places, block.group, (block.columns.0 + first, (panels.end * p.panel).min(all) - first))
        };
        let together = if p.columns.in_place { 1 } else { p.panels_at_once };
        if !p.columns.in_place && panel + 1 < ready.panels.end {
            return Prefetches::default();
        }
        if (panel + 1) * p.panel < at.columns.1 {
            return Prefetches([Runs::default(), columns(at, here, panel + 1..panel + 1 + together)]);
        }
        let Some((block, places)) = next else { return Prefetches::default() };
        let same = block.rows == at.rows && block.group == at.group && places == here;
        Prefetches([if same { Runs::default() } else { rows(block, places) }, columns(block, places, 0..together)])
    }

    /// The memory of a box of an operand, from a channel of the group on.
    fn runs(&self, side: &Side, places: &Places, group: usize, (start, count): (usize, usize)) -> Runs {
        let reader = self.reader(side);
        let strides = side.strides.filter(|s| !s.is_plain());
        strides.map_or(Runs::default(), |s| {
            let at = place(reader, &s, group * side.channels + start);
            Runs::new(side, &s, places, reader.view.buf().as_ptr().addr() + at, count)
        })
    }
}

/// The parts of a tap's reduction over a box: runs of steps at constant strides.
struct Parts<'w> {
    /// The first line of the panel and the address of the first row's first step, for each part.
    pairs: &'w [[usize; 2]],
    steps: usize,
    /// Bytes from one step of the rows to the next, and of the columns.
    step: usize,
    line: usize,
}

impl Parts<'_> {
    /// Writes the pairs to `words`.
    fn new<'w>(p: &Gradient, ready: &Ready, tap: [usize; 3], words: &'w mut [usize]) -> Parts<'w> {
        let Depth { at, places, images: [images, side_by_side], .. } = ready.depth;
        let inside: [Range<usize>; 3] = std::array::from_fn(|i| p.sliding().grid.inside(i, tap[i], places));
        let [taps_r, taps_c] = if p.rows_slide { [tap, [0; 3]] } else { [[0; 3], tap] };
        let line = |side: &Side, tap: [usize; 3], width: usize| match side.strides.filter(|_| side.in_place) {
            Some(strides) => side.grid.placed(tap, places, &strides).scaled(4),
            None => {
                let grid = if p.is_on_amx() { side.grid.turned() } else { side.grid };
                grid.copied(tap, grid.pixels().unwrap_or(0)).scaled(side_by_side * width * 4)
            }
        };
        let width = p.pixel(if p.rows.grid.merged { p.rows.channels } else { at.rows.1 });
        let (rows, columns) = (line(&p.rows, taps_r, width), line(&p.columns, taps_c, p.line()));
        // Divisions take longer than the rest.
        let [mut step, mut column_step] = [rows.at[2], columns.at[2]].map(|s| if *side_by_side == 1 { s } else { s / side_by_side });
        let start = |line: &super::side::Line| {
            line.base + (0..3).map(|i| (inside[i].start as i64 - places.at[i].0 as i64) * line.at[i] as i64).sum::<i64>()
        };
        let (first_row, first_column) = (start(&rows), start(&columns));
        let mut counts = [*images, inside[0].len(), inside[1].len()];
        let mut steps = inside[2].len() * side_by_side;
        let distances = |i: usize| if i == 0 { [rows.image, columns.image] } else { [rows.at[i - 1], columns.at[i - 1]] };
        let padded = p.rows.grid.padded;
        // Padded rows are one part with the zeros between them where that takes fewer K blocks of tiles.
        let follows = |apart: [usize; 2], step: [usize; 2], [steps, count, i]: [usize; 3]| {
            if !padded {
                return apart == step.map(|step| step * steps);
            }
            let pitch = apart[0] / step[0];
            let fewer = (count.saturating_sub(1) * pitch + steps).div_ceil(LINES) < count * steps.div_ceil(LINES);
            apart[0] * step[1] == apart[1] * step[0] && (i == 2 || pitch <= steps + LINES) && fewer
        };
        for i in (0..3).rev() {
            if counts[i] != 1
                && steps == 1
                && (p.strided_lines || distances(i)[1] == p.panel * 4)
                && (!p.is_on_amx() || distances(i)[0] == 4)
            {
                [step, column_step] = distances(i);
            } else if counts[i] != 1 && !follows(distances(i), [step, column_step], [steps, counts[i], i]) {
                break;
            }
            let gaps = if padded { counts[i].saturating_sub(1) * (distances(i)[0] / step).saturating_sub(steps) } else { 0 };
            (steps, counts[i]) = (steps * counts[i] + gaps, 1);
        }
        if padded && steps > LINES && counts[1..] == [1, 1] {
            steps = steps.next_multiple_of(LINES);
        }
        let row_base = ready.rows.memory.as_ptr().addr() as i64 + ready.rows.at as i64 + first_row;
        let count = if steps == 0 { 0 } else { counts.iter().product() };
        let from = [first_column as usize, row_base as usize];
        let [images, depths, heights] = counts;
        let all = (0..images).flat_map(|i| (0..depths).flat_map(move |d| (0..heights).map(move |h| [i, d, h])));
        let distances = [0, 1, 2].map(distances);
        let pairs = &mut words.as_chunks_mut::<2>().0[..count];
        for (words, index) in pairs.iter_mut().zip(all) {
            let behind = |s: usize| index[0] * distances[0][s] + index[1] * distances[1][s] + index[2] * distances[2][s];
            *words = [from[0] + behind(1), from[1] + behind(0)];
        }
        Parts { pairs, steps, step, line: column_step }
    }
}
