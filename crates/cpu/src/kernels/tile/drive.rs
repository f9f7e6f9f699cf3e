//! The loops around tiles: a matrix product whose rows of `A` are wherever a [`Work`] says, and whose `B` comes in panels.
//!
//! The product is cut into tasks (`cut`), pieces of which are a block of rows by a group of panels, and workers share them. A piece takes its tiles
//! from lists that were made before (`lists`), or lists as many as there is room for, and walks the reduction in parts: a part of a group of panels
//! stays in the L2 while every tile of the list meets it. Sums go from part to part through scratch. The last part's tiles finish them in
//! registers where the tail can do it; else the task hands the sums to the work, a block at a time.
//!
//! How a reduction is cut is a function of the product's sizes, so that results do not depend on who computes what.

use super::list::Kept;
use super::wide::{self, Before, Sources, Wide};
use super::{AHEAD, Ahead, Call, Line, List, Listed, Panels, Product, Spec, Start, Stride, Tail, TailArgs, Tile, tallest};
use crate::CpuTarget;
use crate::hardware::{Budget, KBlock};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::for_workers;
use oxidnn_jit::Isa;
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The address of padding for a [`Work`] that begins at address 0: none is so far from another.
pub const PADDING: usize = 1 << 63;

mod cut;
mod lists;
#[cfg(test)]
mod tests;

use cut::{Cut, Piece};
use lists::{Batch, Lists, Run};

/// Words of the strips that are listed at a time, unless one has more.
const LISTED: usize = 4 << 10;
/// A part of the reduction. All its taps have the same depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Most taps that a tile has in it.
    pub taps: usize,
    /// Whole steps of every tap.
    pub steps: usize,
    /// Numbers of a last step that is not whole, 0 if there is none.
    pub partial: u8,
    /// Bytes of a row of `A` and of a tap of `B` before it.
    pub before: [usize; 2],
    /// Its taps: those whose lines of `B` begin in these bytes of a panel, which are no others'; `None` for all taps.
    pub taken: Option<[usize; 2]>,
}

/// A product as the loops see it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Independent products of the same sizes: images, groups, batches.
    pub units: usize,
    /// Rows of each, in stretches: no tile has rows of two.
    pub rows: Vec<usize>,
    /// Columns of each.
    pub columns: usize,
    /// Columns of a panel.
    pub panel: usize,
    /// Bytes of a panel with all its taps.
    pub panel_bytes: usize,
    /// Bytes of all memory of `A` where rows begin with whole steps, else 0.
    pub memory: usize,
    /// The reduction.
    pub parts: Vec<Part>,
    /// Bytes of `A` that all rows meet together.
    pub source: usize,
    /// Types.
    pub product: Product,
    /// How the lines of `B` lie.
    pub line: Line,
    /// How the steps of `A` lie.
    pub a_step: Stride,
    /// What finishes sums in registers; without it [`Work::store`] gets them.
    pub tail: Option<Arc<Tail>>,
}

/// Where the operands of a product are, and where its results go.
pub trait Work: Sync {
    /// A place among the rows of a unit.
    type Walk;

    /// The place of `row`.
    fn walk(&self, unit: usize, row: usize) -> Self::Walk;

    /// Lists a strip of tiles of the next rows, `most` at most, whose first sum lies at byte `sums`: its taps over the whole reduction, and the
    /// addresses of the unit's first column in the destination. Goes on behind these rows, and says how many tiles they are. The rows do not cross
    /// a stretch.
    fn strip(&self, walk: &mut Self::Walk, sums: usize, most: usize, list: &mut List<'_>) -> usize;

    /// What is added to addresses of a unit of `A` and of the destination, where lists were made by a work that begins at 0.
    fn base(&self, unit: usize) -> [usize; 2];

    /// Finishes and stores a block of raw sums; called only where there is no tail.
    fn store(&self, block: Block<'_>);
}

/// Raw sums of a block of rows and columns.
#[derive(Debug)]
pub struct Block<'s> {
    /// The unit.
    pub unit: usize,
    /// Its rows.
    pub rows: Range<usize>,
    /// Its columns.
    pub columns: Range<usize>,
    /// The sums, `f32` or the bits of 32-bit integers.
    pub sums: &'s mut [f32],
    /// As many numbers of scratch.
    pub spare: &'s mut [f32],
    /// Distance of two rows.
    pub step: usize,
}

/// The memory of a product.
pub struct Operands<'a, W> {
    /// Instructions of what is not generated.
    pub simd: Simd,
    /// Where tables and destinations come from.
    pub work: &'a W,
    /// Memory of `A`.
    pub a: Buf<'a>,
    /// Memory of the rows of `A` that stand for padding.
    pub zeros: Buf<'a>,
    /// Both widened, for the tasks that were left without.
    pub sources: Option<Sources<'a>>,
    /// Becomes true where tasks are left, to be run again with `sources`; only [`Drive::widens`] says so.
    pub left: &'a AtomicBool,
    /// Memory of `B`.
    pub b: Buf<'a>,
    /// Byte of `B` where a unit's panels begin, as a function of the unit.
    pub b_unit: &'a (dyn Fn(usize) -> usize + Sync),
    /// Distance of two panels in bytes.
    pub b_panel: usize,
    /// Distance of two lines in bytes where the kernel does not know it.
    pub b_row: usize,
    /// Distance of two steps of `A` in bytes where the kernel does not know it.
    pub a_step: usize,
    /// Memory of the destination.
    pub c: Buf<'a>,
    /// Operands of the tail, with the column of a unit's first one as a function of the unit.
    pub tail: Option<(&'a TailArgs<'a>, &'a (dyn Fn(usize) -> usize + Sync))>,
}

/// A planned product.
#[derive(Debug)]
pub struct Drive {
    isa: Isa,
    /// What stays in which cache.
    budget: Budget,
    shape: Shape,
    /// Rows of the tallest tile.
    tall: usize,
    /// Tiles of a unit, and most that are computed together.
    all: usize,
    block: usize,
    cut: Cut,
    /// What tiles ask for.
    far: Option<Far>,
    /// Whether bytes are multiplied by an instruction that takes weights of seven bits, and whether and how they are widened for others.
    seven_bits: bool,
    wide: Option<Wide>,
}

/// A product with its kernels, and with the lists of its pieces that do not depend on an execution.
#[derive(Debug)]
pub struct Ready {
    drive: Arc<Drive>,
    tiles: Tiles,
    lists: Lists,
}

/// What tiles ask for ahead of its use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Far {
    /// The rows of `A` of the tiles that follow.
    Rows,
    /// What of the panels follows a part.
    Panels,
}

/// Kernels by [factors](Factors), and by rows, by whether the panel has fewer columns than the others, and by part.
#[derive(Debug)]
struct Tiles([Vec<Option<Tile>>; 4]);

/// What kernels multiply.
#[derive(Clone, Copy)]
enum Factors {
    /// Numbers as they are.
    AsIs,
    /// Bytes by weights of seven bits.
    SevenBits,
    /// The same, with whole steps in place of a last one that is not: `B` has zeros for what follows in `A`, where that may be read.
    SevenBitsWhole,
    /// Words made of bytes.
    Words,
}

impl Far {
    /// What comes from afar and lies in few pieces.
    fn of(line: &cut::Line<'_>, cut: &Cut) -> Option<Far> {
        let panels = line.all_bytes() * line.vectors.div_ceil(line.panel);
        // The panels are read once for every block of rows, `A` once for every group of panels.
        let blocks = cut.tasks().div_ceil((line.units * cut.groups()).max(1));
        let by_rows = line.source.saturating_mul(cut.groups()) > panels.saturating_mul(blocks);
        match (line.source > line.budget.far, panels > line.budget.far) {
            (true, true) if by_rows => Some(Far::Rows),
            // What follows a part of the depth is in many pieces.
            (_, true) => (line.parts.len() == 1 || cut.most_panels() == 1 && by_taps(line.parts)).then_some(Far::Panels),
            (true, false) => Some(Far::Rows),
            (false, false) => None,
        }
    }
}

impl Drive {
    /// Decides how to cut a product for a processor.
    pub fn new(isa: Isa, shape: Shape, target: &CpuTarget) -> Drive {
        let budget = target.caches.budget(false);
        let lanes = isa.width().lanes();
        let tall = tallest(isa, shape.product, shape.panel / lanes).min(shape.rows.iter().copied().max().unwrap_or(0)).max(1);
        let all: usize = shape.rows.iter().map(|r| r.div_ceil(tall)).sum();
        let line = cut::Line {
            units: shape.units,
            rows: shape.rows.iter().sum(),
            tiles: all,
            vectors: shape.columns.div_ceil(lanes),
            panel: shape.panel / lanes,
            vector: lanes * 4,
            source: shape.source,
            parts: &shape.parts,
            workers: target.threads,
            budget: &budget,
        };
        let cut = Cut::new(line);
        let k = KBlock { panel: 0, panels: 0, width: shape.panel, tall, tiles: all, carries: shape.carries() };
        let block = k.mc(cut.most_panels(), budget.window_sums);
        let (far, wide) = (Far::of(&line, &cut), shape.wide(isa, (tall, all)));
        let seven_bits = wide::asks_for_seven_bits(isa, shape.product, shape.line);
        Drive { isa, budget, tall, all, block, cut, far, seven_bits, wide, shape }
    }

    /// What it computes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Numbers of scratch for `workers` workers; `None` on overflow.
    pub fn scratch_len(&self, workers: usize) -> Option<usize> {
        let lists = self.list_len()?.checked_mul(self.lists())?;
        let wide = self.wide.map_or(Some(0), |w| w.scratch_len())?.checked_add(self.widened_len()?)?;
        for_workers(workers, lists.checked_add(wide)?.checked_add(self.sums_len().checked_mul(2)?)?)
    }

    /// How all of `A` is to be widened before tasks that are left run again.
    pub fn widens(&self) -> Option<&Wide> {
        self.wide.as_ref().filter(|w| w.is_whole())
    }

    /// Numbers of the widened panels of a group; `None` on overflow.
    fn widened_len(&self) -> Option<usize> {
        if self.wide.is_some() { self.cut.most_panels().checked_mul(self.shape.panel_bytes / 2) } else { Some(0) }
    }

    /// Whether all tiles meet a panel before the next one: a panel of the part stays in L1 from tile to tile, and so many of them do
    /// not.
    fn is_outer(&self, part: &Part, panels: usize, words: bool) -> bool {
        let panel = part.taps * part.steps * self.shape.panel * if words { 8 } else { 4 };
        panel <= self.budget.l1_panel && panel * panels > self.budget.l1_panel
    }

    /// Most tiles in a list by so many panels.
    fn most_tiles(&self, panels: usize, words: bool) -> usize {
        let steps = self.shape.most(&|p| p.taps * (p.steps + 1));
        if self.shape.parts.iter().all(|p| self.is_outer(p, panels, words)) {
            (self.budget.strip / (steps * self.tall * 4)).max(1)
        } else {
            usize::MAX
        }
    }

    /// Numbers of scratch that hold a list; `None` on overflow.
    fn list_len(&self) -> Option<usize> {
        let words = List::words(1, [self.tall; 2], self.shape.strip_taps())?.max(LISTED);
        words.checked_mul(size_of::<usize>() / size_of::<f32>())?.checked_next_multiple_of(16)
    }

    /// Lists at a time: one of all taps, and one of those of a part.
    fn lists(&self) -> usize {
        1 + usize::from(self.shape.is_by_taps())
    }

    fn sums_len(&self) -> usize {
        if self.shape.carries() { self.block * self.tall * self.step() } else { 0 }
    }

    /// Distance of two rows of sums.
    fn step(&self) -> usize {
        self.cut.most_panels() * self.shape.panel
    }

    fn panels(&self) -> usize {
        self.shape.columns.div_ceil(self.shape.panel)
    }

    /// Panels that have all their columns.
    fn whole(&self) -> usize {
        self.shape.columns / self.shape.panel
    }

    /// Makes the kernels, and lists by `work`, whose operands begin at address 0 and whose padding is at [`PADDING`].
    ///
    /// # Errors
    /// [`Error::Runtime`] where a kernel cannot be made.
    pub fn build<W: Work>(self: &Arc<Self>, work: &W) -> Result<Ready, Error> {
        let mut tiles = [(); 4].map(|()| vec![None; self.tall * 2 * self.shape.parts.len()]);
        let kinds = [(false, self.whole() > 0), (true, self.panels() > self.whole())];
        for rows in self.heights() {
            for narrow in kinds.into_iter().filter(|(_, used)| *used).map(|(narrow, _)| narrow) {
                for part in 0..self.shape.parts.len() {
                    for (tiles, spec) in tiles.iter_mut().zip(self.specs(rows, narrow, part)) {
                        tiles[self.index(rows, narrow, part)] = spec.map(|spec| Tile::get(self.isa, &spec)).transpose()?;
                    }
                }
            }
        }
        Ok(Ready { drive: Arc::clone(self), tiles: Tiles(tiles), lists: Lists::new(self, work) })
    }

    fn index(&self, rows: usize, narrow: bool, part: usize) -> usize {
        ((rows - 1) * 2 + usize::from(narrow)) * self.shape.parts.len() + part
    }

    /// The kernels by factors.
    fn specs(&self, rows: usize, narrow: bool, part: usize) -> [Option<Spec>; 4] {
        let lanes = self.isa.width().lanes();
        let columns = if narrow { self.shape.columns % self.shape.panel } else { self.shape.panel };
        let ends = part + 1 == self.shape.parts.len();
        let spec = Spec {
            product: self.shape.product,
            rows: rows as u8,
            vectors: columns.div_ceil(lanes) as u8,
            line: self.shape.line,
            a_step: self.shape.a_step,
            partial: self.shape.parts[part].partial,
            start: if part == 0 { Start::Zero } else { Start::Load },
            tail: self.shape.tail.clone().filter(|_| ends),
            masked: !columns.is_multiple_of(lanes),
            ahead: self.far.is_some(),
        };
        let seven_bits = self.seven_bits.then(|| wide::seven_bits(spec.clone()));
        let whole = seven_bits.clone().filter(|s| s.partial > 0).map(|s| Spec { partial: 0, ..s });
        let words = self.wide.is_some().then(|| wide::words(spec.clone()));
        let as_is = words.is_none().then_some(spec);
        [as_is, seven_bits, whole, words]
    }

    /// All numbers of rows that tiles have.
    fn heights(&self) -> impl Iterator<Item = usize> {
        (1..=self.tall).filter(|rows| {
            self.shape.rows.iter().filter(|n| **n > 0).any(|n| {
                let tiles = n.div_ceil(self.tall);
                *rows == n / tiles || *rows == n.div_ceil(tiles)
            })
        })
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.cut.tasks()
    }

    /// Whether bytes can be multiplied as they are by these panels of a unit, whose panels begin at byte `b_at` of `B`.
    fn fits<W>(&self, on: &Operands<'_, W>, b_at: usize, panels: &Range<usize>) -> bool {
        panels.clone().all(|panel| wide::fits(on.simd, on.b.part(b_at + panel * on.b_panel, self.shape.panel_bytes)))
    }
}

impl Ready {
    /// Computes a task with scratch of a worker's share.
    pub fn task<W: Work>(&self, task: usize, share: &mut [f32], on: &Operands<'_, W>) {
        let drive = &*self.drive;
        for Piece { unit, tiles, panels } in drive.cut.pieces(task) {
            let (b_at, tail) = ((on.b_unit)(unit), on.tail.map(|(args, column)| (args, column(unit))));
            let seven_bits = drive.seven_bits && drive.fits(on, b_at, &panels);
            let wide = drive.wide.as_ref().filter(|_| !seven_bits);
            // What waits for sources is left, and runs alone once they are there.
            if wide.is_some_and(Wide::is_whole) != on.sources.is_some() {
                on.left.fetch_or(on.sources.is_none(), Ordering::Relaxed);
                continue;
            }
            for start in tiles.clone().step_by(drive.block) {
                let tiles = start..tiles.end.min(start + drive.block);
                Task { drive, ready: self, seven_bits, wide, on, unit, b_at, tail, tiles, panels: panels.clone() }.run(share);
            }
        }
    }
}

/// Scratch of a task beside its list.
struct Rest<'s> {
    /// The list of a part.
    taken: &'s mut [usize],
    /// What widens rows of `A`, and the panels that were widened.
    wide: &'s mut [f32],
    panels: &'s [f32],
    sums: &'s mut [f32],
}

/// A block of rows by a group of panels.
struct Task<'t, 'a, W> {
    drive: &'t Drive,
    ready: &'t Ready,
    /// Whether the panels' numbers have seven bits; else how bytes are widened, if they are.
    seven_bits: bool,
    wide: Option<&'t Wide>,
    on: &'t Operands<'a, W>,
    unit: usize,
    /// Byte of `B` where the unit's panels begin, and the tail with the unit's first column.
    b_at: usize,
    tail: Option<(&'t TailArgs<'a>, usize)>,
    tiles: Range<usize>,
    panels: Range<usize>,
}

impl<W: Work> Task<'_, '_, W> {
    fn run(&self, share: &mut [f32]) {
        let Drive { shape, .. } = self.drive;
        let len = self.drive.list_len().unwrap_or(0);
        let (words, share) = share.split_at_mut(len * self.drive.lists());
        let (panels, share) = share.split_at_mut(self.drive.widened_len().unwrap_or(0));
        let (wide, sums) = share.split_at_mut(self.drive.wide.and_then(|w| w.scratch_len()).unwrap_or(0));
        if self.wide.is_some() {
            self.widen(panels);
        }
        let (words, taken) = words.split_at_mut(len);
        let mut list = List::new(bytemuck::cast_slice_mut(words), 0);
        let mut rest = Rest { taken: bytemuck::cast_slice_mut(taken), wide, panels, sums };
        let listed = if self.wide.is_none() { self.ready.lists.of(&self.tiles) } else { None };
        let rows = listed.map_or_else(|| self.drive.rows(&self.tiles), |(rows, _)| rows.clone());
        let near = self.drive.most_tiles(self.panels.len(), self.wide.is_some());
        let mut walked = |runs: &mut dyn Iterator<Item = Run>, rest: &mut Rest<'_>| {
            let found = &mut |all: &List<'_>, lists: &[Kept]| {
                self.lists(lists.iter().map(|l| (all.kept(l), l.tiles.clone())), rest);
                true
            };
            self.drive.list(self.on.work, (self.unit, rows.start), (runs, near), &mut list, found);
        };
        match listed {
            None => walked(&mut self.drive.runs(&self.tiles), &mut rest),
            Some((_, batches)) => {
                let base = self.on.work.base(self.unit);
                for batch in batches {
                    match batch {
                        Batch::Fixed { list, tiles } => self.lists(std::iter::once((list.at(base), tiles.clone())), &mut rest),
                        Batch::Walked(run) => walked(&mut std::iter::once(run.clone()), &mut rest),
                    }
                }
            }
        }
        if shape.tail.is_none() {
            let columns = self.panels.start * shape.panel..shape.columns.min(self.panels.end * shape.panel);
            let (sums, spare) = rest.sums.split_at_mut(self.drive.sums_len());
            self.on.work.store(Block { unit: self.unit, rows, columns, sums, spare, step: self.drive.step() });
        }
    }

    /// Widens the panels.
    fn widen(&self, to: &mut [f32]) {
        let (bytes, panel) = (self.drive.shape.panel_bytes, self.drive.shape.panel);
        for (panel_at, to) in self.panels.clone().zip(to.chunks_exact_mut((bytes / 2).max(1))) {
            let from = self.on.b.part(self.b_at + panel_at * self.on.b_panel, bytes);
            wide::panels(self.on.simd, from, panel * 4, to);
        }
    }

    /// The bytes of `B` behind those of a part: of the next part of the same panels, or of the first one of those that are met next.
    fn behind(&self, part: usize) -> Option<Range<usize>> {
        let (drive, parts) = (self.drive, &self.drive.shape.parts);
        let (panels, part) = if part + 1 < parts.len() {
            (self.panels.clone(), part + 1)
        } else if self.tiles.end < drive.all {
            (self.panels.clone(), 0)
        } else {
            (drive.cut.behind(&self.panels), 0)
        };
        let at = self.b_at + panels.start * self.on.b_panel;
        match parts[part].taken {
            None => (panels != self.panels && !panels.is_empty()).then(|| at..at + panels.len() * self.on.b_panel),
            Some([first, end]) => (!panels.is_empty()).then(|| at + first..at + end),
        }
    }

    /// What the tiles of a list, which are some of the task's, ask for while they meet so many panels in a part.
    fn ahead(&self, part: usize, list: &Listed<'_>, (tiles, panels): (Range<usize>, usize)) -> Ahead {
        let steps = self.drive.shape.parts[part].steps / 4;
        let asks = (list.all_taps() * panels * steps).max(1);
        match (self.drive.far, list.source()) {
            // Evenly over all tiles of the task.
            (Some(Far::Panels), _) => {
                let Some(wanted) = self.behind(part) else { return Ahead::default() };
                let [first, end] = [tiles.start, tiles.end].map(|tile| wanted.len() * tile / self.tiles.len());
                let at = self.on.b.as_ptr().addr().wrapping_add(wanted.start + first);
                Ahead { at, step: (end - first).div_ceil(asks).min(AHEAD), panel: 0 }
            }
            // The rows of the tiles that follow, as fast as these go on, two tiles before them.
            (Some(Far::Rows), Some((first, row))) => {
                let tile = list.rows() * row;
                let before = self.drive.shape.parts[part].before[0];
                Ahead { at: first.wrapping_add(before + 2 * tile), step: tile * tiles.len() / asks, panel: 0 }
            }
            _ => Ahead::default(),
        }
    }

    /// The tiles of some lists, which are some of the task's, by all panels: all of them meet a part of the reduction before the next one.
    fn lists<'l>(&self, lists: impl Iterator<Item = (Listed<'l>, Range<usize>)> + Clone, rest: &mut Rest<'_>) {
        for part in 0..self.drive.shape.parts.len() {
            lists.clone().for_each(|(list, tiles)| self.list(part, &list, tiles, rest));
        }
    }

    /// The tiles of a list by all panels, in a part.
    fn list(&self, index: usize, list: &Listed<'_>, tiles: Range<usize>, rest: &mut Rest<'_>) {
        let (on, drive, shape) = (self.on, self.drive, &self.drive.shape);
        let (part, ends) = (&shape.parts[index], index + 1 == shape.parts.len());
        let whole = self.panels.start..self.panels.end.min(drive.whole());
        let kinds = [(false, whole.clone()), (true, whole.end.max(self.panels.start)..self.panels.end)];
        let taken = part.taken.map(|[first, end]| list.taken(first..end, index == 0 || ends, rest.taken));
        let list = taken.as_ref().unwrap_or(list);
        let tail = self.tail.filter(|_| ends);
        for (narrow, panels) in kinds.iter().filter(|(_, panels)| !panels.is_empty()) {
            let made = |factors: Factors| self.ready.tiles.0[factors as usize][drive.index(list.rows(), *narrow, index)].as_ref();
            let kernel = |factors| made(factors).unwrap_or_else(|| panic!("no kernel of {} rows was made", list.rows()));
            let (column, outer) = (panels.start * shape.panel, drive.is_outer(part, panels.len(), self.wide.is_some()));
            let mut call = Call {
                strips: &[],
                steps: part.steps,
                a: on.a,
                a_from: part.before[0],
                zeros: on.zeros,
                b: on.b,
                panels: Panels { at: self.b_at + panels.start * on.b_panel + part.before[1], step: on.b_panel, count: panels.len(), outer },
                c: on.c,
                column,
                tail_column: tail.map_or(0, |t| t.1) + column,
                a_step: on.a_step,
                b_row: on.b_row,
                last: (shape.columns - 1) % drive.isa.width().lanes() + 1,
                tail: tail.map(|t| t.0),
                sums: rest.sums.get_mut((panels.start - self.panels.start) * shape.panel..).unwrap_or_default(),
                sums_row: drive.step(),
                ahead: self.ahead(index, list, (tiles.clone(), if outer { 1 } else { panels.len() })),
            };
            let Some(wide) = self.wide else {
                if let Some(tile) = made(Factors::SevenBitsWhole).filter(|_| self.seven_bits) {
                    call.steps += 1;
                    if tile.takes(list, &call) {
                        tile.run_list(list, call);
                        continue;
                    }
                    call.steps -= 1;
                }
                kernel(if self.seven_bits { Factors::SevenBits } else { Factors::AsIs }).run_list(list, call);
                continue;
            };
            let tile = kernel(Factors::Words);
            let at = (panels.start - self.panels.start) * shape.panel_bytes + part.before[1];
            let widened = Panels { at: 2 * at, step: 2 * shape.panel_bytes, count: panels.len(), outer };
            let call = Call { strips: list.words, panels: widened, ahead: Ahead::default(), ..call };
            wide.run(
                (on.simd, &mut *rest.wide),
                tile,
                call,
                Before { panels: rest.panels, sources: on.sources.filter(|_| wide.is_whole()), partial: part.partial },
            );
        }
    }
}

/// Whether parts of a reduction are taps, not depth.
fn by_taps(parts: &[Part]) -> bool {
    parts.iter().any(|p| p.taken.is_some())
}

impl Part {
    /// Steps of a tap, with the one that is not whole.
    fn all_steps(&self) -> usize {
        self.steps + usize::from(self.partial > 0)
    }
}

impl Shape {
    /// Whether and how bytes are widened for tiles of up to so many rows, and so many of them.
    fn wide(&self, isa: Isa, (tall, tiles): (usize, usize)) -> Option<Wide> {
        let spec = Spec { line: self.line, a_step: self.a_step, ..Spec::new(self.product, tall, 1) };
        let parts: Vec<[usize; 2]> = self.parts.iter().map(|p| [p.taps, p.all_steps()]).collect();
        let panels = self.columns.div_ceil(self.panel);
        let source = if self.parts.iter().all(|p| p.partial == 0) { self.memory } else { 0 };
        Wide::new(&wide::About { isa, spec: &spec, tiles, panels, source, parts: &parts })
    }

    /// The most that a part has of something.
    fn most(&self, of: &dyn Fn(&Part) -> usize) -> usize {
        self.parts.iter().map(of).max().unwrap_or(0)
    }

    /// Most taps of a strip, which has those of the whole reduction.
    fn strip_taps(&self) -> usize {
        if self.is_by_taps() { self.parts.iter().map(|p| p.taps).sum() } else { self.most(&|p| p.taps) }
    }

    /// Whether parts of the reduction are taps, not depth.
    fn is_by_taps(&self) -> bool {
        by_taps(&self.parts)
    }

    /// Whether sums pass through scratch.
    fn carries(&self) -> bool {
        self.parts.len() > 1 || self.tail.is_none()
    }
}
