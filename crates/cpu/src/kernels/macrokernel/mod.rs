//! The macrokernel: the loops around microkernels of a matrix product whose rows come from a provider ([`RowProvider`]) and whose `B` is
//! in panels.
//!
//! The product is cut into tasks (`partition`), whose pieces are some row blocks by a group of panels; workers share the tasks. A piece iterates
//! over K blocks. In each of these a group's panels are in L2, in place or packed from a plain matrix (`panels`), while all tiles of rows
//! stream past; panels that fit L1 stay there for some tiles instead. Tiles come from address lists that were written before (`lists`), or
//! are listed now, as many as there is room for. Sums are carried from K block to K block in scratch. The tiles of the last K block finish
//! them in registers if the epilogue allows it; else the task hands sums to the provider, block by block.
//!
//! K blocks depend on K and on whether columns are few, so results depend neither on the worker that computes them nor on the number of rows.

mod batch;
mod lists;
mod panels;
mod partition;
mod shape;
#[cfg(test)]
mod tests;

use super::microkernel::list::KeptList;
use super::microkernel::upconvert::{self, Upconvert, Upconverted};
use super::microkernel::{
    AddressList, EpilogueArgs, InitialSums, ListedCall, Microkernel, MicrokernelCall, MicrokernelKey, ONE_STRIP, PREFETCH_BYTES, Panels,
    Prefetch, PrefetchQueue, max_tile_rows,
};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::{Budget, Core, KBlockBytes};
use crate::kernels::scratch::for_workers;
use lists::{AddressLists, ListedTiles, TileRun};
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::dot::{PrefetchMode, STREAM_LINES};
use oxidnn_spec::Error;
use panels::{Group, Memory, NextPanels};
use partition::{Partition, Piece};
pub use shape::{BLayout, KBlock, Operands, PADDING, Packing, PanelBlock, RowProvider, Shape, SumBlock};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Kernels by K block: the only one, the first, the last, others.
const PHASES: usize = 4;
/// Words of the strips that are listed for a call, unless a single strip has more.
const LIST_WORDS: usize = 4 << 10;
/// Vectors of sums that hide the latency of multiply-adds.
const LATENCY_VECTORS: usize = 16;
/// Vectors of sums that hide the latency of a multiply-add, and steps from which on several sets of them pay.
const MIN_SUMS: usize = 8;
const MIN_STEPS_OF_SETS: usize = 16;
/// Steps of a K block below which its results are more data than its panels.
const MIN_PANEL_BOUND_STEPS: usize = 64;
/// Most tiles of rows for which lines in place are prefetched as they are read, tiles for which they exceed the near caches once more, since
/// all but the first prefetch in vain, and fewest steps of a panel.
const MAX_STREAM_TILES: usize = 8;
const STREAM_TILES_PER_FAR: usize = 4;
const MIN_STREAM_STEPS: usize = 8 * STREAM_LINES;
/// Fewest steps of a call with a piece of a prefetch: with fewer, the call takes as long as its products.
const MIN_CALL_STEPS: usize = 256;
/// Bytes of panels that tiles read in the time that it takes to list others.
const PANEL_BYTES_PER_LISTING: usize = 16 << 10;

/// A planned product.
#[derive(Debug)]
pub struct VectorMacrokernel {
    isa: Isa,
    /// Which operand stays in which cache.
    budget: Budget,
    shape: Shape,
    /// Rows of the tallest tile.
    tall: usize,
    /// Tiles of a unit, and most that are computed together.
    all: usize,
    block: usize,
    cut: Partition,
    /// The prefetch of tiles.
    prefetch: Option<PrefetchTarget>,
    /// Whether bytes are multiplied by an instruction that is exact for weights of seven bits; and how bytes are widened for other weights,
    /// if they are.
    seven_bit_weights: bool,
    wide: Option<Upconvert>,
    facts: Facts,
    lens: Lens,
    /// Elements of a worker's scratch; `None` on overflow.
    share: Option<usize>,
}

/// The parameters of the shape that every task needs.
#[derive(Clone, Copy, Default, Debug)]
struct Facts {
    /// Whether rows have one tap.
    matrix: bool,
    /// Panels that have all their columns, and columns of the last vector of all.
    whole: usize,
    last: usize,
    /// Rows of a tile of the first stretch, and how many of its tiles, the first ones, have one more.
    rows: [usize; 2],
    /// Most tiles of a list.
    list_tiles: usize,
    /// Units whose tiles are one list; 1 if each has lists of its own.
    batch: usize,
}

/// Elements of a worker's scratch, by purpose.
#[derive(Clone, Copy, Default, Debug)]
struct Lens {
    /// Panels that are packed.
    packed: usize,
    /// A list of all taps, and one of the taps of a K block if that has only some.
    list: usize,
    taken: usize,
    /// Widened panels, and rows of `A` while they are widened.
    widened: usize,
    wide: usize,
    /// Sums, and their stride from row to row.
    sums: usize,
    step: usize,
}

/// A product with its kernels, and with the lists of its pieces that do not depend on an execution.
#[derive(Debug)]
pub struct Ready {
    macrokernel: Arc<VectorMacrokernel>,
    tiles: Microkernels,
    lists: AddressLists,
}

/// The prefetch of tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PrefetchTarget {
    /// The rows of `A` of the tiles that follow.
    Rows,
    /// The panels that follow a K block.
    Panels,
    /// Lines of panels in place that few tiles of rows read: each is in another page, where the hardware prefetcher starts again.
    Stream,
}

/// Kernels by [factors](Factors), by rows, by whether the panel has fewer columns than the others, and by K block.
#[derive(Debug)]
struct Microkernels([Vec<Option<Microkernel>>; 4]);

/// What kernels multiply.
#[derive(Clone, Copy)]
enum Factors {
    /// Elements without conversion.
    AsIs,
    /// Bytes, with weights of seven bits.
    SevenBits,
    /// The same, with whole steps in place of a partial last one: `B` is zero there, so the bytes of `A` behind the row do not matter if
    /// they may be read.
    SevenBitsWhole,
    /// 16-bit words made of bytes.
    Words,
}

impl PrefetchTarget {
    /// The operand to prefetch, if any comes from beyond L2.
    fn of(line: &partition::Workload<'_>, cut: &Partition, shape: &Shape) -> Option<PrefetchTarget> {
        let panels = line.all_bytes() * line.vectors.div_ceil(line.panel);
        // The panels are read once for every block of rows, `A` once for every group of panels.
        let blocks = cut.tasks().div_ceil((line.units * cut.groups()).max(1));
        let deep = shape.most(&|p| p.taps * p.steps) >= MIN_STREAM_STEPS;
        let streams = shape.b_layout == BLayout::InPlace && line.tiles <= MAX_STREAM_TILES && line.panel * line.vector > PREFETCH_BYTES / 4;
        let far = line.budget.far * line.tiles.div_ceil(STREAM_TILES_PER_FAR);
        if streams && deep && panels.saturating_mul(line.units) > far {
            return Some(PrefetchTarget::Stream);
        }
        if shape.b_layout == BLayout::Decoded {
            return (line.source > line.budget.far).then_some(PrefetchTarget::Rows);
        }
        let by_rows = line.source.saturating_mul(cut.groups()) > panels.saturating_mul(blocks);
        match (line.source > line.budget.far, panels > line.budget.far) {
            (true, true) if by_rows && shape.b_layout == BLayout::Panels => Some(PrefetchTarget::Rows),
            // The taps of several panels, and channels of several taps, are in too many pieces.
            (_, true) => (line.parts.len() == 1 || shape.is_matrix() || cut.most_panels() == 1).then_some(PrefetchTarget::Panels),
            (true, false) => Some(PrefetchTarget::Rows),
            (false, false) => None,
        }
    }
}

/// Rows of the tallest tile. If rows have one stride and the panels stay in L1, all tiles get the same height if that keeps the multipliers
/// busy: tiles of one height are one list, and listing few rows takes as long as multiplying them.
fn height(isa: Isa, shape: &Shape, budget: &Budget) -> usize {
    let vectors = shape.panel / isa.width().lanes();
    let rows = shape.rows.iter().copied().max().unwrap_or(0);
    let tall = max_tile_rows(isa, shape.product, vectors).min(rows).max(1);
    if !shape.even || shape.k_blocks.len() > 1 || shape.panel_bytes.saturating_mul(shape.panels()) > budget.l1_panel {
        return tall;
    }
    let extra = |height: usize| (rows / height - rows.div_ceil(tall)) * shape.panel_bytes * shape.panels();
    let lowest = LATENCY_VECTORS.div_ceil(vectors);
    (lowest..=tall).rev().find(|height| rows.is_multiple_of(*height) && extra(*height) <= PANEL_BYTES_PER_LISTING).unwrap_or(tall)
}

impl VectorMacrokernel {
    /// Decides how to cut a product for a processor.
    pub fn new(isa: Isa, shape: Shape, target: &CpuTarget) -> VectorMacrokernel {
        let budget = target.caches.budget(false);
        let lanes = isa.width().lanes();
        let tall = height(isa, &shape, &budget);
        let all: usize = shape.rows.iter().map(|r| r.div_ceil(tall)).sum();
        let line = partition::Workload {
            units: shape.units,
            rows: shape.rows.iter().sum(),
            tiles: all,
            vectors: shape.columns.div_ceil(lanes),
            panel: shape.panel / lanes,
            vector: lanes * 4,
            packs: shape.packs(),
            source: shape.source,
            joint_row_bytes: shape.joint_row_bytes,
            parts: &shape.k_blocks,
            workers: target.threads,
            panels: shape.group_bytes(&budget),
            budget: &budget,
        };
        let cut = Partition::new(line);
        let k = KBlockBytes { panel: 0, panels: 0, width: shape.panel, tall, tiles: all, carries: shape.carries() };
        let block = k.mc(cut.most_panels(), if shape.is_matrix() { budget.sums } else { budget.window_sums });
        let (far, wide) = (PrefetchTarget::of(&line, &cut, &shape), shape.wide(isa, (tall, all)));
        let rows = if shape.is_matrix() { tall.saturating_mul(all) } else { usize::MAX };
        let seven_bits = upconvert::asks_for_seven_bits(isa, shape.product, shape.line(isa), rows);
        let (facts, lens) = (Facts::default(), Lens::default());
        let mut macrokernel = VectorMacrokernel {
            isa,
            budget,
            tall,
            all,
            block,
            cut,
            prefetch: far,
            seven_bit_weights: seven_bits,
            wide,
            shape,
            facts,
            lens,
            share: None,
        };
        let last = macrokernel.shape.columns.saturating_sub(1) % lanes + 1;
        let first = macrokernel.shape.rows.first().copied().unwrap_or(0);
        let count = first.div_ceil(tall).max(1);
        let (matrix, whole) = (macrokernel.shape.is_matrix(), macrokernel.shape.whole());
        macrokernel.facts =
            Facts { matrix, whole, last, rows: [first / count, first % count], list_tiles: macrokernel.most_tiles(), batch: 1 };
        macrokernel.facts.batch = macrokernel.batch();
        (macrokernel.lens, macrokernel.share) = macrokernel.lens().map_or((Lens::default(), None), |lens| (lens, macrokernel.share(&lens)));
        macrokernel
    }

    /// The product.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Elements of scratch for `workers` workers; `None` on overflow.
    pub fn scratch_len(&self, workers: usize) -> Option<usize> {
        for_workers(workers, self.share?)
    }

    /// Elements of a worker's scratch; `None` on overflow.
    fn share(&self, lens: &Lens) -> Option<usize> {
        let Lens { packed, list, taken, widened, wide, sums, .. } = *lens;
        let spare = if self.shape.epilogue.is_none() { sums } else { 0 };
        [list, taken, widened, wide, sums, spare].into_iter().try_fold(packed, usize::checked_add)
    }

    /// Elements of a worker's scratch by purpose; `None` on overflow.
    fn lens(&self) -> Option<Lens> {
        let (panels, width) = (self.cut.most_panels(), self.shape.panel);
        let words = AddressList::words(1, [self.tall; 2], self.shape.strip_taps())?.max(LIST_WORDS);
        let list = words.checked_mul(size_of::<usize>() / size_of::<f32>())?.checked_next_multiple_of(16)?;
        let step = panels.checked_mul(width)?;
        Some(Lens {
            packed: self.packed_len()?,
            list: if self.shape.even { 0 } else { list },
            taken: if self.shape.is_by_taps() { list } else { 0 },
            widened: if self.wide.is_some() { panels.checked_mul(self.shape.panel_bytes / 2)? } else { 0 },
            wide: self.wide.map_or(Some(0), |w| w.scratch_len())?,
            sums: if self.shape.carries() { self.block.checked_mul(self.tall)?.checked_mul(step)? } else { 0 },
            step,
        })
    }

    /// How all of `A` is to be widened before tasks that were left run again.
    pub fn widens(&self) -> Option<&Upconvert> {
        self.wide.as_ref().filter(|w| w.is_whole())
    }

    /// Whether all tiles are multiplied by a panel before the next one. That is so if a panel of the K block fits into L1, but not all
    /// panels do. With a small K the results are more data than the panels, and long runs of them are written instead.
    fn is_outer(&self, part: &KBlock, panels: usize, words: bool) -> bool {
        let panel = part.taps * part.steps * self.shape.panel * if words { 8 } else { 4 };
        part.taps * part.steps >= MIN_PANEL_BOUND_STEPS && panel <= self.budget.l1_panel && panel * panels > self.budget.l1_panel
    }

    /// Most tiles of a list, for use with the panels of a group.
    fn most_tiles(&self) -> usize {
        let (steps, panels) = (self.shape.most(&|p| p.taps * (p.steps + 1)), self.cut.most_panels());
        if self.shape.k_blocks.iter().all(|p| self.is_outer(p, panels, self.wide.is_some())) {
            (self.budget.strip / (steps * self.tall * 4)).max(1)
        } else {
            usize::MAX
        }
    }

    /// Generates the kernels, and writes lists by a provider whose operands begin at address 0 and whose padding is at [`PADDING`], if one
    /// is given.
    ///
    /// # Errors
    /// [`Error::Runtime`] if a kernel cannot be generated.
    pub fn build<W: RowProvider>(self: &Arc<Self>, rows: Option<&W>) -> Result<Ready, Error> {
        let mut tiles = [(); 4].map(|()| vec![None; self.tall * 2 * PHASES]);
        let kinds = [(false, self.shape.whole() > 0), (true, self.shape.panels() > self.shape.whole())];
        let last = self.shape.k_blocks.len() - 1;
        for tall in self.heights() {
            for narrow in kinds.into_iter().filter(|(_, used)| *used).map(|(narrow, _)| narrow) {
                for part in [0, last / 2, last] {
                    for (tiles, spec) in tiles.iter_mut().zip(self.specs(tall, narrow, part)) {
                        tiles[self.index(tall, narrow, part)] = spec.map(|spec| Microkernel::get(self.isa, &spec)).transpose()?;
                    }
                }
            }
        }
        let lists = rows.map_or_else(AddressLists::default, |rows| AddressLists::new(self, rows));
        Ok(Ready { macrokernel: Arc::clone(self), tiles: Microkernels(tiles), lists })
    }

    /// Index of a kernel: by rows, by whether its panel has fewer columns, by whether its K block is the first and the last one.
    fn index(&self, rows: usize, narrow: bool, part: usize) -> usize {
        let phase = 2 * usize::from(part > 0) + usize::from(part + 1 == self.shape.k_blocks.len());
        ((rows - 1) * 2 + usize::from(narrow)) * PHASES + phase
    }

    /// The kernels' keys by factors.
    fn specs(&self, rows: usize, narrow: bool, part: usize) -> [Option<MicrokernelKey>; 4] {
        let lanes = self.isa.width().lanes();
        let columns = if narrow { self.shape.columns % self.shape.panel } else { self.shape.panel };
        let ends = part + 1 == self.shape.k_blocks.len();
        let spec = MicrokernelKey {
            product: self.shape.product,
            rows: rows as u8,
            vectors: columns.div_ceil(lanes) as u8,
            line: self.shape.line(self.isa),
            a_step: self.shape.a_step,
            k_tail: self.shape.k_blocks[part].k_tail,
            sets: self.sets(),
            start: if part == 0 && !self.shape.begins { InitialSums::Zero } else { InitialSums::Load },
            epilogue: self.shape.epilogue.clone().filter(|_| ends),
            masked: !columns.is_multiple_of(lanes),
            prefetch: if self.prefetch == Some(PrefetchTarget::Stream) {
                PrefetchMode::Panels
            } else {
                PrefetchMode::given_if(self.prefetch.is_some())
            },
        };
        let seven_bits = self.seven_bit_weights.then(|| upconvert::seven_bits(spec.clone()));
        let whole = seven_bits.clone().filter(|s| s.k_tail > 0).map(|s| MicrokernelKey { k_tail: 0, ..s });
        let words = self.wide.is_some().then(|| upconvert::words(spec.clone()));
        let as_is = words.is_none().then_some(spec);
        [as_is, seven_bits, whole, words]
    }

    /// Sets of sums of real numbers, which hide the latency of multiply-adds. All tiles have as many, for the same results.
    fn sets(&self) -> u8 {
        let long = self.shape.most(&|p| p.taps * p.all_steps()) >= MIN_STEPS_OF_SETS;
        let sums = self.tall * self.shape.panel / self.isa.width().lanes();
        if long && !self.shape.product.is_integer() { (MIN_SUMS / sums).clamp(1, 4) as u8 } else { 1 }
    }

    /// All heights of tiles.
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

    /// Bytes of `A` of a block of rows, if a unit's rows are its own; windows share theirs.
    fn rows_bytes(&self, steps: usize) -> usize {
        let each = self.shape.source / (self.shape.units * self.shape.k_blocks.len()).max(1);
        let unit = if each > 0 { each } else { self.shape.rows.iter().sum::<usize>() * steps * 4 };
        unit / self.all.max(1) * self.cut.block()
    }

    /// Blocks and the caches they stay in, and the predicted speed.
    pub fn how(&self) -> How {
        let (shape, panels, tall) = (&self.shape, self.cut.most_panels(), self.tall);
        let (steps, lanes) = (shape.most(&|p| p.taps * p.all_steps()), self.isa.width().lanes());
        let (width, all) = (shape.panel, shape.panels());
        let mut blocks = vec![
            (format!("a panel of {width} columns in a K block of {steps} steps, which tiles of {tall} rows meet"), steps * width * 4),
            (format!("nc = {panels} of {all} panels in a K block"), panels * steps * width * 4),
            (format!("rows of {} of {} tiles, which all panels meet", self.cut.block(), self.all), self.rows_bytes(steps)),
        ];
        if shape.carries() {
            blocks.push((format!("sums of mc = {} tiles by nc panels", self.block), self.block * tall * panels * width * 4));
        }
        let registers = (format!("sums of a tile of {tall} rows by {width} columns"), tall * width * 4);
        let (rate, padding) = (Core::host().rate(lanes, shape.product.step_depth()), padding(shape.columns, lanes));
        How { registers, blocks, rate, padding, cores: self.cut.tasks(), ..How::default() }
    }
}

impl Ready {
    /// Computes a task with scratch of a worker's share.
    pub fn task<W: RowProvider>(&self, task: usize, share: &mut [f32], on: &Operands<'_, W>) {
        let macrokernel = &*self.macrokernel;
        let lens = &macrokernel.lens;
        let (packed, share) = share.split_at_mut(lens.packed);
        let (joins, mut units) = (self.joins(on), 0..0);
        for at in macrokernel.cut.span(task) {
            let Some(Piece { unit, tiles, panels }) = macrokernel.cut.piece(task, at) else { continue };
            if joins && tiles.len() == macrokernel.all {
                units = if units.is_empty() { unit } else { units.start }..unit + 1;
                continue;
            }
            let (b_at, epilogue) = ((on.b_unit)(unit), on.epilogue.map(|(args, column)| (args, column(unit))));
            let mut b = macrokernel.group(on, b_at, &panels, packed);
            let seven_bits = macrokernel.seven_bit_weights && matches!(&b, Group::InMemory(b) if macrokernel.fits(on, b, panels.len()));
            let wide = macrokernel.wide.as_ref().filter(|_| !seven_bits);
            // Tasks that need widened sources are left; they run alone once the sources are widened.
            if wide.is_some_and(Upconvert::is_whole) != on.sources.is_some() {
                on.left.fetch_or(on.sources.is_none(), Ordering::Relaxed);
                continue;
            }
            let mut task =
                Task { macrokernel, ready: self, lens, seven_bits, wide, on, unit, b_at, epilogue, tiles: tiles.clone(), panels };
            while task.tiles.start < tiles.end {
                task.tiles.end = tiles.end.min(task.tiles.start + macrokernel.block);
                task.run(&mut b, share);
                task.tiles.start = task.tiles.end;
            }
        }
        self.units(units, packed, on);
    }
}

/// Scratch of a task besides its list.
struct Rest<'s> {
    /// The list of a K block.
    taken: &'s mut [usize],
    space: Space<'s>,
}

/// The data that calls of kernels need.
struct Space<'s> {
    /// Rows of `A` while they are widened, and the widened panels.
    wide: &'s mut [f32],
    panels: &'s [f32],
    sums: &'s mut [f32],
}

/// A block of rows and a group of panels.
struct Task<'t, 'a, W> {
    macrokernel: &'t VectorMacrokernel,
    ready: &'t Ready,
    lens: &'t Lens,
    /// Whether the panels' elements have seven bits; else how bytes are widened, if they are.
    seven_bits: bool,
    wide: Option<&'t Upconvert>,
    on: &'t Operands<'a, W>,
    unit: usize,
    /// Byte offset of the unit in `B`; and the operands of the epilogue with the unit's first column.
    b_at: usize,
    epilogue: Option<(&'t EpilogueArgs<'a>, usize)>,
    tiles: Range<usize>,
    panels: Range<usize>,
}

/// K blocks of the panels of a task, and the prefetch during the products with them, if that is in many pieces.
struct Round<'m> {
    parts: Range<usize>,
    b: Memory<'m>,
    next: PrefetchQueue,
}

/// Panels of equal width that a call multiplies with the tiles of a list.
struct PanelRange {
    panels: Range<usize>,
    /// Whether all tiles are multiplied by a panel before the next one.
    outer: bool,
    prefetch: Prefetch,
}

impl<W: RowProvider> Task<'_, '_, W> {
    fn run(&self, b: &mut Group<'_>, share: &mut [f32]) {
        let (macrokernel, shape) = (self.macrokernel, &self.macrokernel.shape);
        let (words, share) = share.split_at_mut(self.lens.list);
        let (taken, share) = share.split_at_mut(self.lens.taken);
        let (panels, share) = share.split_at_mut(self.lens.widened);
        let (wide, sums) = share.split_at_mut(self.lens.wide);
        if let (Some(_), Group::InMemory(b)) = (self.wide, &*b) {
            self.widen(b, panels);
        }
        let mut list = AddressList::new(bytemuck::cast_slice_mut(words), 0);
        let mut rest = Rest { taken: bytemuck::cast_slice_mut(taken), space: Space { wide, panels, sums } };
        let listed = if self.wide.is_none() { self.ready.lists.of(&self.tiles) } else { None };
        let even = macrokernel.even(&self.tiles);
        let rows = match listed {
            Some((rows, _)) => rows.clone(),
            None if shape.even => lists::rows(&even),
            None => macrokernel.rows(&self.tiles),
        };
        let columns = self.panels.start * shape.panel..shape.columns.min(self.panels.end * shape.panel);
        if shape.begins {
            let (sums, spare) = rest.space.sums.split_at_mut(self.lens.sums);
            self.on.rows.begin(SumBlock {
                unit: self.unit,
                rows: rows.clone(),
                columns: columns.clone(),
                sums,
                spare,
                step: self.lens.step,
            });
        }
        // The rows of a matrix are listed again for each K block, so that all of them use its panels while these are in L2.
        let each = if macrokernel.facts.matrix { 1 } else { shape.k_blocks.len() };
        for first in (0..shape.k_blocks.len()).step_by(each) {
            let parts = first..first + each;
            let b = match b {
                Group::InMemory(b) => *b,
                Group::Packs(to) => macrokernel.pack(self.on, self.b_at, (&self.panels, parts.clone()), to),
            };
            let next = if each == 1 { self.next(first) } else { PrefetchQueue::default() };
            let mut round = Round { parts, b, next };
            match listed {
                None if shape.even => self.strips(&even, &mut round, &mut rest),
                None => self.run_unlisted(&mut macrokernel.runs(&self.tiles), (rows.start, &mut round), &mut list, &mut rest),
                Some((_, batches)) => {
                    let base = self.on.rows.base(self.unit);
                    for batch in batches {
                        match batch {
                            ListedTiles::Fixed { list, tiles } => {
                                self.lists(std::iter::once((list.at(base), tiles.clone())), &mut round, &mut rest);
                            }
                            ListedTiles::Unlisted(run) => {
                                self.run_unlisted(&mut std::iter::once(run.clone()), (rows.start, &mut round), &mut list, &mut rest);
                            }
                        }
                    }
                }
            }
        }
        if shape.epilogue.is_none() {
            let (sums, spare) = rest.space.sums.split_at_mut(self.lens.sums);
            self.on.rows.store(SumBlock { unit: self.unit, rows, columns, sums, spare, step: self.lens.step });
        }
    }

    /// Lists the tiles, whose rows have one stride, strip by strip, and computes them.
    fn strips(&self, runs: &[(usize, usize, Range<usize>)], round: &mut Round<'_>, rest: &mut Rest<'_>) {
        let (mut words, row) = ([0; ONE_STRIP], runs[0].0);
        for (first, rows, tiles) in runs.iter().filter(|run| !run.2.is_empty()) {
            let (mut cursor, mut done) = (self.on.rows.cursor(self.unit, *first), tiles.start);
            while done < tiles.end {
                let mut list = AddressList::new(&mut words, *rows);
                let sums = (first + (done - tiles.start) * rows - row) * self.lens.step * 4;
                let end = done + self.on.rows.strip(&mut cursor, sums, self.max_list_tiles(round).min(tiles.end - done), &mut list);
                let here = done - self.tiles.start..end - self.tiles.start;
                self.list((round.parts.start, &mut *round), &list.listed(), here, rest);
                done = end;
            }
        }
    }

    /// Most tiles of a list.
    fn max_list_tiles(&self, round: &Round<'_>) -> usize {
        let list_tiles = self.macrokernel.facts.list_tiles;
        if round.next.is_left() { list_tiles.min(self.tiles_per_prefetch(round)) } else { list_tiles }
    }

    /// Lists runs of tiles, of which the first begins at row `row`, and computes them.
    fn run_unlisted(
        &self,
        runs: &mut dyn Iterator<Item = TileRun>,
        (row, round): (usize, &mut Round<'_>),
        list: &mut AddressList<'_>,
        rest: &mut Rest<'_>,
    ) {
        let list_tiles = self.max_list_tiles(round);
        let found = &mut |all: &AddressList<'_>, lists: &[KeptList]| {
            self.lists(lists.iter().map(|l| (all.kept(l), l.tiles.clone())), round, rest);
            true
        };
        self.macrokernel.list(self.on.rows, (self.unit, row), (runs, list_tiles), list, found);
    }

    /// Number of tiles whose products with one panel are enough to prefetch a piece.
    fn tiles_per_prefetch(&self, round: &Round<'_>) -> usize {
        let part = &self.macrokernel.shape.k_blocks[round.parts.start];
        round.next.piece().div_ceil((part.steps / 4).max(1)).max(1)
    }

    /// The prefetch during a K block, if it is in many pieces.
    fn next(&self, part: usize) -> PrefetchQueue {
        match if self.macrokernel.prefetch == Some(PrefetchTarget::Panels) && self.wide.is_none() { self.next_panels(part) } else { None } {
            Some(NextPanels::Grid(next)) => next,
            _ => PrefetchQueue::default(),
        }
    }

    /// The prefetch of the tiles of a list, which are some of the task's, while they are multiplied by `panels` panels in a K block.
    fn prefetch(&self, part: usize, list: &ListedCall<'_>, (tiles, panels): (Range<usize>, usize)) -> Prefetch {
        let Some(far) = self.macrokernel.prefetch else { return Prefetch::default() };
        let steps = self.macrokernel.shape.k_blocks[part].steps / 4;
        let asks = (list.all_taps() * panels * steps).max(1);
        match (far, list.source()) {
            // The prefetch is spread evenly over all tiles of the task.
            (PrefetchTarget::Panels, _) => {
                let Some(NextPanels::Run(bytes)) = self.next_panels(part) else { return Prefetch::default() };
                let [first, end] = [tiles.start, tiles.end].map(|tile| bytes.len() * tile / self.tiles.len());
                let at = self.on.b.as_ptr().addr().wrapping_add(bytes.start + first);
                Prefetch { at, step: (end - first).div_ceil(asks).min(PREFETCH_BYTES), panel: 0 }
            }
            // The rows of the tiles that come two tiles later, at the speed of the products.
            (PrefetchTarget::Rows, Some((first, row))) => {
                let tile = list.rows() * row;
                let before = self.macrokernel.shape.a_from(&self.macrokernel.shape.k_blocks[part], self.on);
                Prefetch { at: first.wrapping_add(before + 2 * tile), step: tile * tiles.len() / asks, panel: 0 }
            }
            (PrefetchTarget::Rows, None) | (PrefetchTarget::Stream, _) => Prefetch::default(),
        }
    }

    /// Multiplies the tiles of some lists, which are some of the task's, by all panels: all tiles do a K block before the next one.
    fn lists<'l>(&self, lists: impl Iterator<Item = (ListedCall<'l>, Range<usize>)> + Clone, round: &mut Round<'_>, rest: &mut Rest<'_>) {
        for part in round.parts.clone() {
            lists.clone().for_each(|(list, tiles)| self.list((part, &mut *round), &list, tiles, rest));
        }
    }

    /// Multiplies the tiles of a list by all panels, in a K block.
    fn list(
        &self,
        (index, round): (usize, &mut Round<'_>),
        list: &ListedCall<'_>,
        tiles: Range<usize>,
        Rest { taken, space }: &mut Rest<'_>,
    ) {
        let (macrokernel, shape) = (self.macrokernel, &self.macrokernel.shape);
        let (part, ends) = (&shape.k_blocks[index], index + 1 == shape.k_blocks.len());
        let whole = self.panels.start..self.panels.end.min(macrokernel.facts.whole);
        let narrow = whole.end.max(self.panels.start)..self.panels.end;
        let some = part.taken.map(|[first, end]| list.taken(first..end, index == 0 || ends, taken));
        let list = some.as_ref().unwrap_or(list);
        if round.next.is_left() {
            // A few panels a call, each with a piece of the prefetch.
            let each = MIN_CALL_STEPS.div_ceil((part.steps * tiles.len()).max(1));
            for first in whole.clone().step_by(each) {
                let panels = first..whole.end.min(first + each);
                let prefetch = round.next.take(part.steps / 4 * tiles.len() * panels.len());
                let range = PanelRange { panels, outer: false, prefetch };
                self.panels((index, &round.b), list, range, space);
            }
        } else if !whole.is_empty() {
            let outer = macrokernel.is_outer(part, whole.len(), self.wide.is_some());
            let prefetch = self.prefetch(index, list, (tiles.clone(), if outer { 1 } else { whole.len() }));
            self.panels((index, &round.b), list, PanelRange { panels: whole, outer, prefetch }, space);
        }
        if !narrow.is_empty() {
            let prefetch = if macrokernel.facts.whole > 0 { Prefetch::default() } else { self.prefetch(index, list, (tiles, 1)) };
            self.panels((index, &round.b), list, PanelRange { panels: narrow, outer: false, prefetch }, space);
        }
    }

    /// Multiplies the tiles of a list by some panels, in a K block.
    fn panels(&self, (index, b): (usize, &Memory<'_>), list: &ListedCall<'_>, range: PanelRange, space: &mut Space<'_>) {
        let PanelRange { panels, outer, prefetch } = range;
        let (on, macrokernel, shape) = (self.on, self.macrokernel, &self.macrokernel.shape);
        let (part, epilogue) = (&shape.k_blocks[index], self.epilogue.filter(|_| index + 1 == shape.k_blocks.len()));
        let narrow = panels.end > macrokernel.facts.whole;
        let made = |factors: Factors| self.ready.tiles.0[factors as usize][macrokernel.index(list.rows(), narrow, index)].as_ref();
        let kernel = |factors| made(factors).unwrap_or_else(|| panic!("no kernel of {} rows was made", list.rows()));
        let (column, first) = (panels.start * shape.panel, panels.start - self.panels.start);
        let at = Panels { at: b.at(first, part), step: b.step, count: panels.len(), outer };
        let sums = (space.sums.get_mut(first * shape.panel..).unwrap_or_default(), self.lens.step);
        let mut call = MicrokernelCall {
            a: on.a,
            a_from: shape.a_from(part, on),
            zeros: on.zeros,
            b: b.buf,
            c: on.c,
            column,
            epilogue_column: epilogue.map_or(0, |t| t.1) + column,
            a_step: on.a_step,
            b_row: on.b_row,
            last: macrokernel.facts.last,
            epilogue: epilogue.map(|t| t.0),
            prefetch,
            ..MicrokernelCall::raw(&[], part.steps, at, sums)
        };
        if let Some(wide) = self.wide {
            let at = first * shape.panel_bytes + part.first * 4 * shape.panel;
            let widened = Panels { at: 2 * at, step: 2 * shape.panel_bytes, count: panels.len(), outer };
            let call = MicrokernelCall { strips: list.words, panels: widened, prefetch: Prefetch::default(), ..call };
            let sources = on.sources.filter(|_| wide.is_whole());
            let before = Upconverted { panels: space.panels, sources, k_tail: part.k_tail };
            return wide.run((on.simd, &mut *space.wide), kernel(Factors::Words), call, before);
        }
        if !self.seven_bits {
            return kernel(Factors::AsIs).run_list(list, call);
        }
        if let Some(tile) = made(Factors::SevenBitsWhole) {
            call.steps += 1;
            if tile.takes(list, &call) {
                return tile.run_list(list, call);
            }
            call.steps -= 1;
        }
        kernel(Factors::SevenBits).run_list(list, call);
    }
}
