//! The macrokernel on AMX: the loops of that on [vectors](macrokernel) around kernels of 32 rows.
//!
//! As in the macrokernel, a product is cut into tasks of a block of rows by a group of panels, which iterate over K blocks. A tile is up to 32
//! rows, in two halves of constant stride: rows of a plain matrix, or pixels of a line under a window. Other halves, whose pixels are in
//! two lines or partly padding, are gathered for each tap, and so are rows that do not end with a whole step. Gathering takes two
//! instructions for 64 bytes, which are then multiplied by all panels of the group. Tiles at one stride are one call, of one line or of
//! several. Sums leave through memory that stays in L1, and are finished while the next ones are multiplied (`epilogue`). Rows on padding are
//! multiplied as zeros, which is right if weights are finite (`padding`).
//!
//! K that is not a multiple of 16 steps is cut into equal blocks of fewer steps, if that takes few more blocks, or gets a second round with
//! tiles of another shape.

mod accumulate;
mod block;
mod cost;
mod division;
mod epilogue;
mod lines;
mod padding;
mod stretch;

use super::macrokernel::{self, BLayout, KBlock, Operands, PanelBlock, RowProvider, Shape, SumBlock as Sums, VectorMacrokernel};
use super::microkernel::upconvert::Upconvert;
use super::microkernel::{DotType, InitialSums, MicrokernelCall as EpilogueCall, Panels, Prefetch};
use super::scratch::{for_workers, lend};
use crate::CpuTarget;
use crate::decision::How;
use crate::hardware::{Core, KBlockBytes};
pub use accumulate::{Accumulate, Addend, Repeat};
pub use block::TileRegisters;
use block::{Block, Call, Gatherer, TileConfig};
pub use cost::{is_faster, is_shallow, repays_copy, saved};
use division::Division;
use epilogue::{FusedKernel, FusedKey, LISTED, Pipeline, Results};
pub use lines::{HalfTile, HalfTileProvider, Run};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::{Reuse, TileProduct};
use oxidnn_jit::kernels::dot::PrefetchMode;
use oxidnn_jit::kernels::tiles::{self, LINES, ROWS, TAP_WORDS, Tiles};
use oxidnn_runtime::{Buf, Skip};
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::Arc;
use stretch::Stretch;

#[cfg(test)]
mod tests;

/// Most tiles of a unit for which small groups of panels from beyond L2 take less time than large ones.
const FEW_TILES: usize = 12;
/// Tiles that a block of rows should have if panels do not stay in L2 from one block to the next.
const MIN_BLOCK_TILES: usize = 8;
/// Elements between rows of sums, so that rows do not map to the same cache sets.
const SKEW: usize = 16;
/// Fewest rows of a piece of a line; of shorter lines several make a piece.
pub const SHORT: usize = 8;
/// Most additional blocks of a K block that are accepted to have all blocks of one length: a block of another length needs another tile
/// configuration, and moves all sums through memory.
const MAX_EXTRA_K_BLOCKS: usize = 2;
/// Steps of a reduction below which writing results takes longer than multiplying.
const MAX_STORE_BOUND_STEPS: usize = 4 * LINES;
/// Bytes of a row of `A` below which panels do not evict rows from L1, though they are many.
const MAX_L1_ROW_BYTES: usize = 256;
/// Bytes of the sums that pass through memory between rounds.
const MAX_SUMS_BYTES: usize = 64 << 10;
/// Most bytes of gathered rows.
const MAX_GATHERED_BYTES: usize = 4 << 20;

/// A product on vectors or on AMX.
#[derive(Clone, Debug)]
pub enum Macrokernel {
    /// On vectors.
    Vector(Arc<VectorMacrokernel>),
    /// On AMX.
    Amx(Arc<AmxMacrokernel>),
}

/// The same with kernels.
#[derive(Debug)]
pub enum ReadyMacrokernel {
    /// On vectors.
    Vector(Box<macrokernel::Ready>),
    /// On AMX.
    Amx(Box<Ready>),
}

impl Macrokernel {
    /// AMX, if instruction set and types allow it, else vectors. Rows of a stretch are in lines of equal length, with a constant stride in
    /// each; `lines` is empty if some rows may be padding.
    pub fn new(isa: Isa, shape: Shape, lines: &[usize], target: &CpuTarget) -> Macrokernel {
        match tiles::product(shape.product).filter(|_| isa.amx) {
            Some(product) => Macrokernel::Amx(Arc::new(AmxMacrokernel::new((isa, product), shape, lines, target))),
            None => Macrokernel::Vector(Arc::new(VectorMacrokernel::new(isa, shape, target))),
        }
    }

    /// The product.
    pub fn shape(&self) -> &Shape {
        match self {
            Macrokernel::Vector(macrokernel) => macrokernel.shape(),
            Macrokernel::Amx(macrokernel) => &macrokernel.shape,
        }
    }

    /// Elements of scratch for `workers` workers; `None` on overflow, or if AMX would need too much.
    pub fn scratch_len(&self, workers: usize) -> Option<usize> {
        match self {
            Macrokernel::Vector(macrokernel) => macrokernel.scratch_len(workers),
            Macrokernel::Amx(macrokernel) => macrokernel.scratch_len(workers),
        }
    }

    /// How all of `A` is to be widened ahead, if it is.
    pub fn widens(&self) -> Option<&Upconvert> {
        match self {
            Macrokernel::Vector(macrokernel) => macrokernel.widens(),
            Macrokernel::Amx(_) => None,
        }
    }

    /// Generates the kernels, and writes lists by a provider, if one is given, whose operands begin at address 0 and whose padding is at
    /// [`PADDING`](super::macrokernel::PADDING).
    ///
    /// # Errors
    /// [`Error::Runtime`] if a kernel cannot be generated.
    pub fn build<W: RowProvider>(&self, rows: Option<&W>) -> Result<ReadyMacrokernel, Error> {
        Ok(match self {
            Macrokernel::Vector(macrokernel) => ReadyMacrokernel::Vector(Box::new(macrokernel.build(rows)?)),
            Macrokernel::Amx(macrokernel) => ReadyMacrokernel::Amx(Box::new(macrokernel.build()?)),
        })
    }

    /// Blocks and the caches they stay in, and the predicted speed.
    pub fn how(&self) -> How {
        match self {
            Macrokernel::Vector(macrokernel) => macrokernel.how(),
            Macrokernel::Amx(macrokernel) => macrokernel.how(),
        }
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        match self {
            Macrokernel::Vector(macrokernel) => macrokernel.tasks(),
            Macrokernel::Amx(macrokernel) => macrokernel.tasks(),
        }
    }
}

impl ReadyMacrokernel {
    /// Computes a task with scratch of a worker's share.
    pub fn task<W: RowProvider + HalfTileProvider>(&self, task: usize, share: &mut [f32], on: &Operands<'_, W>) {
        match self {
            ReadyMacrokernel::Vector(ready) => ready.task(task, share, on),
            ReadyMacrokernel::Amx(ready) => ready.task(task, share, on),
        }
    }
}

/// The instruction set of a row on AMX.
///
/// # Errors
/// If the processor has no AMX.
pub fn isa(jit: Option<Isa>) -> Result<Isa, Skip> {
    jit.filter(|isa| isa.amx).ok_or(Skip::Isa("amx, or executable memory"))
}

/// Refuses types that AMX does not multiply.
///
/// # Errors
/// The types.
pub fn check(product: DotType) -> Result<(), Skip> {
    tiles::product(product).map(|_| ()).ok_or_else(|| Skip::DataType(format!("{product:?}, which tiles do not multiply")))
}

/// Whether all tiles of lines of `line` rows have the same number of rows, so that several lines can be one call.
pub fn has_equal_tiles(line: usize) -> bool {
    let stretch = Stretch::new((0, 0), 2 * line, line);
    stretch.each.is_none() || stretch.pieces == 2
}

/// The number of steps, at least `steps`, that takes the fewest K blocks `times` times; a second round counts as some blocks.
pub fn even_steps(steps: usize, times: usize) -> usize {
    let blocks = |steps: &usize| {
        let rounds = Round::all(steps.saturating_mul(times), MAX_EXTRA_K_BLOCKS);
        rounds.map(|round| round.blocks + MAX_EXTRA_K_BLOCKS + 1).sum::<usize>()
    };
    (steps..=steps.next_multiple_of(LINES)).min_by_key(blocks).unwrap_or(steps)
}

/// A planned product on AMX.
#[derive(Debug)]
pub struct AmxMacrokernel {
    isa: Isa,
    product: TileProduct,
    shape: Shape,
    /// The rounds of each K block.
    rounds: Vec<Vec<Round>>,
    stretches: Vec<Stretch>,
    /// Tiles of a unit, and of a block of rows.
    all: usize,
    block: usize,
    /// Panels of a group.
    group: usize,
    /// Units of a task: several if each is multiplied as a whole, so that only the last one's last block is finished without products.
    joined: usize,
    /// Whether a task packs the panels of its group, K block by K block: no other task uses them.
    packs: bool,
    /// Whether lines of the destination are prefetched into L1 before they are written: because results exceed L2 and there are few
    /// products in between.
    prefetches_destination: bool,
    /// Whether the panels of a group stay in L1.
    panels_in_l1: bool,
    /// What tiles prefetch: the next block of panels, if there is one tile of rows and panels may not stay in L2; else what comes from beyond.
    prefetch: PrefetchMode,
    /// Whether rows in padding are multiplied with it, and once more without if sums came out as non-finite.
    checks_sums: bool,
    /// Whether panels are inspected, because results cannot be computed once more: if all weights are finite, padding is harmless. Reading
    /// a panel from L2 takes as long as multiplying a tile of rows by it.
    checks_panels: bool,
}

/// K blocks of tile size with the same number of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Round {
    /// Steps before them.
    before: usize,
    steps: usize,
    blocks: usize,
}

/// A product with its kernels.
#[derive(Debug)]
pub struct Ready {
    macrokernel: Arc<AmxMacrokernel>,
    registers: TileConfig,
    /// By pieces of a tile, by whether the panel has fewer columns than the others, by the initial sums: kernels that leave sums in memory,
    /// and kernels that finish them.
    blocks: [Option<Block>; 8],
    finishers: [Option<FusedKernel>; 8],
    /// By K block.
    gathers: Vec<Gatherer>,
}

impl Round {
    /// Cuts `steps` steps into blocks: equal ones if these are at most `more` beyond the fewest. Without steps there is one block, over
    /// which sums without taps are zero: kernels need at least one.
    fn all(steps: usize, more: usize) -> impl Iterator<Item = Round> {
        let steps = steps.max(1);
        let fewest = steps.div_ceil(LINES);
        let even = (fewest..=fewest + more).find(|blocks| steps.is_multiple_of(*blocks));
        let (each, blocks) = even.map_or((LINES, steps / LINES), |blocks| (steps / blocks, blocks));
        let rest = steps - each * blocks;
        let rounds = [Round { before: 0, steps: each, blocks }, Round { before: each * blocks, steps: rest, blocks: 1 }];
        rounds.into_iter().take(if rest > 0 { 2 } else { 1 })
    }
}

impl AmxMacrokernel {
    /// Decides how to cut a product.
    pub fn new((isa, product): (Isa, TileProduct), shape: Shape, lines: &[usize], target: &CpuTarget) -> AmxMacrokernel {
        let budget = target.caches.budget(true);
        let mut stretches = Vec::with_capacity(shape.rows.len());
        let (mut all, mut rows) = (0, 0);
        for (&n, &line) in shape.rows.iter().zip(lines) {
            let stretch = Stretch::new((all, rows), n, line);
            (all, rows) = (all + stretch.tiles(), rows + n);
            stretches.push(stretch);
        }
        let panels = shape.columns.div_ceil(shape.panel).max(1);
        let bytes = |p: &KBlock| p.taps * p.all_steps() * shape.panel * 4;
        let (widest, total) = (shape.most(&bytes).max(1), shape.k_blocks.iter().map(bytes).sum::<usize>());
        let k = KBlockBytes { panel: widest, panels, width: shape.panel, tall: ROWS, tiles: all, carries: shape.carries() };
        let steps: usize = shape.k_blocks.iter().map(|p| p.taps * p.all_steps()).sum();
        let rounds: Vec<Vec<Round>> = shape.k_blocks.iter().map(|p| Round::all(p.all_steps(), MAX_EXTRA_K_BLOCKS).collect()).collect();
        // With more tasks a worker gathers rows again, and waits for its last block; they pay if larger blocks would not fit the caches.
        let windows = shape.most(&|p| p.taps) > 1;
        let in_one = target.threads <= 1 && !shape.carries() && (windows || total * panels <= budget.panels);
        let least = if total * panels > budget.panels { MIN_BLOCK_TILES } else { 1 };
        let pieces = [stretches.iter().map(|s| s.all).sum::<usize>() as f64, rows as f64];
        let cycles = of_k_blocks(&shape, &rounds);
        let division = Division { shape: &shape, cycles, k, rows: pieces, sums: budget.sums, least, gathers: windows };
        let tasks = division.tasks(target.threads.max(1), !in_one);
        let cut = |bytes: usize| division.cut(bytes, tasks);
        let packing = (shape.b_layout != BLayout::Panels).then(|| cut(budget.plain)).filter(|[_, block]| *block >= all);
        // While few rows meet a group, the next one comes from beyond L2: it must not evict the rest of this one. Rows that every group
        // gathers again want large groups.
        let in_place = !windows && !shape.carries() && shape.rows == lines;
        let few = all <= FEW_TILES && in_place && total.saturating_mul(panels) > target.caches.l2;
        let of_group = if few { budget.panels / 3 } else { budget.panels };
        let (packs, [group, block]) = (packing.is_some(), packing.unwrap_or_else(|| cut(of_group)));
        // Panels that stay in L1 with the rows of a tile and the sums of two blocks.
        let row = shape.most(&|p| p.taps * p.all_steps() * 4);
        let in_l1 = target.caches.l1.saturating_sub(row.saturating_mul(ROWS).saturating_add(epilogue::SUMS_BYTES)) / widest;
        let near = row < MAX_L1_ROW_BYTES || group <= in_l1;
        let weights = total.saturating_mul(panels).saturating_mul(shape.units);
        let streams = all == 1 && !packs && weights >= budget.far / 2;
        let far = target.threads > 1 || shape.source.saturating_add(weights) > budget.far;
        let ahead = if streams { PrefetchMode::NextBlock } else { PrefetchMode::given_if(far) };
        let results = rows.saturating_mul(shape.units).saturating_mul(shape.columns)
            * shape.epilogue.as_ref().map_or(0, |epilogue| epilogue.dst_size());
        let asks = results > budget.far && steps <= MAX_STORE_BOUND_STEPS;
        let reads_padding = shape.padded || windows && lines.contains(&0);
        let partial = shape.k_blocks.iter().any(|p| p.k_tail > 0);
        let epilogue = shape.epilogue.as_ref().filter(|_| !packs && !shape.product.is_integer());
        let watches = (reads_padding || partial) && epilogue.is_some_and(|epilogue| epilogue.is_repeatable());
        let inspects = reads_padding && !partial && !watches && epilogue.is_some() && all > 1;
        let whole = block >= all && group >= panels && shape.epilogue.is_some() && !inspects;
        let joined = if whole { shape.units.div_ceil(if target.threads <= 1 { 1 } else { tasks[1] }).max(1) } else { 1 };
        AmxMacrokernel {
            isa,
            product,
            shape,
            rounds,
            stretches,
            all,
            block,
            group,
            joined,
            packs,
            prefetches_destination: asks,
            panels_in_l1: near,
            prefetch: ahead,
            checks_sums: watches,
            checks_panels: inspects,
        }
    }

    /// Whether tasks pack their panels; otherwise panels are in place, or were packed before.
    pub fn packs(&self) -> bool {
        self.packs
    }

    /// Elements of the panels that a task packs at a time; `None` on overflow.
    fn packed_len(&self) -> Option<usize> {
        let panel = self.shape.most(&KBlock::all_steps).checked_mul(self.shape.panel)?;
        if self.packs { panel.checked_mul(self.group)?.checked_next_multiple_of(LINES) } else { Some(0) }
    }

    /// When the lines of a panel are used again, given that the rows of a tile are multiplied by all panels of a group.
    fn reuse(&self) -> Reuse {
        if self.panels_in_l1 { Reuse::Temporal } else { Reuse::NonTemporal }
    }

    /// Words of the address list of all taps.
    fn taps_len(&self) -> Option<usize> {
        self.shape.most(&|p| p.taps).checked_mul(TAP_WORDS)
    }

    /// Elements of the gathered rows of a tile.
    fn gathered_len(&self) -> Option<usize> {
        let part = |p: &KBlock| p.taps.checked_mul(Gatherer::row(p.all_steps()))?.checked_mul(ROWS);
        let most = self.shape.k_blocks.iter().map(part).try_fold(0, |most, len| Some(most.max(len?)))?;
        Some(most).filter(|n| *n <= MAX_GATHERED_BYTES / 4)
    }

    /// Whether sums of a tile over all panels of a group may be in memory: from K block to K block, from round to round, or to search them
    /// for NaN, see [`Task::without_padding`].
    fn keeps_sums(&self) -> bool {
        self.shape.carries() || self.rounds.iter().any(|rounds| rounds.len() > 1) || !self.shape.product.is_integer()
    }

    /// Stride of rows of sums.
    fn sums_row(&self) -> usize {
        self.group * self.shape.panel + SKEW
    }

    fn sums_len(&self) -> usize {
        let tiles = if self.shape.carries() { self.block.min(self.all) } else { self.batch() * usize::from(self.keeps_sums()) };
        ROWS * self.sums_row() * tiles
    }

    /// Tiles whose sums pass through memory between rounds at a time.
    fn batch(&self) -> usize {
        let rounds = self.rounds.iter().any(|rounds| rounds.len() > 1);
        if rounds { (MAX_SUMS_BYTES / (ROWS * self.sums_row() * 4)).clamp(1, LISTED) } else { 1 }
    }

    /// Elements of scratch for the pipeline.
    fn left_len(&self) -> usize {
        let nowhere = |size: usize| if self.shape.padded { (self.shape.columns * size).next_multiple_of(64) / 4 } else { 0 };
        self.shape.epilogue.as_ref().map_or(0, |epilogue| Pipeline::LEN + nowhere(epilogue.dst_size()))
    }

    /// Elements of scratch for `workers` workers; `None` on overflow, or if gathered rows would need too much.
    pub fn scratch_len(&self, workers: usize) -> Option<usize> {
        let words = self.taps_len()?.checked_mul(2)?.checked_next_multiple_of(LINES)?;
        let sums = self.sums_len().checked_mul(if self.shape.epilogue.is_none() { 2 } else { 1 })?.checked_add(self.left_len())?;
        for_workers(workers, words.checked_add(self.gathered_len()?)?.checked_add(self.packed_len()?)?.checked_add(sums)?)
    }

    /// A worker's scratch, by purpose.
    fn share<'s>(&self, share: &'s mut [f32]) -> Share<'s> {
        let (taps, share) = share.split_at_mut((2 * self.taps_len().unwrap_or(0)).next_multiple_of(LINES));
        let (gathered, share) = share.split_at_mut(self.gathered_len().unwrap_or(0));
        let (packed, share) = share.split_at_mut(self.packed_len().unwrap_or(0));
        let (left, share) = share.split_at_mut(self.left_len());
        let (sums, spare) = share.split_at_mut(self.sums_len());
        let nowhere = left.as_ptr().wrapping_add(Pipeline::LEN.min(left.len())).addr();
        Share { taps: bytemuck::cast_slice_mut(taps), gathered, packed, left: lend(left), nowhere, sums, spare, to: [0; LISTED * ROWS] }
    }

    /// The stretch of a tile.
    fn stretch(&self, tile: usize) -> &Stretch {
        &self.stretches[self.stretches.partition_point(|s| s.first_tile + s.tiles() <= tile)]
    }

    /// First row of a tile of a unit, and the rows of its halves.
    fn tile(&self, tile: usize) -> (usize, [usize; 2]) {
        let s = self.stretch(tile);
        let piece = 2 * (tile - s.first_tile);
        let ((first, end), lower) = (s.piece(piece), piece + 1);
        (first, [end - first, if lower < s.all { s.piece(lower).1 - end } else { 0 }])
    }

    /// First row of a tile of a unit, or the end of the last one.
    fn first_row(&self, tile: usize) -> usize {
        if tile < self.all { self.tile(tile).0 } else { self.shape.rows.iter().sum() }
    }

    /// Panels by whether they have fewer columns than the others.
    fn kinds(&self, panels: &Range<usize>) -> impl Iterator<Item = (bool, Range<usize>)> + use<> {
        let whole = (self.shape.columns / self.shape.panel).clamp(panels.start, panels.end);
        [(false, panels.start..whole), (true, whole..panels.end)].into_iter().filter(|(_, panels)| !panels.is_empty())
    }

    fn columns(&self, narrow: bool) -> usize {
        if narrow { self.shape.columns % self.shape.panel } else { self.shape.panel }
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] if a kernel cannot be generated.
    pub fn build(self: &Arc<Self>) -> Result<Ready, Error> {
        let shape = &self.shape;
        let size = 4 / shape.product.step_depth();
        let gathers = shape.k_blocks.iter().map(|p| Gatherer::get(self.isa, p.k_tail * size as u8)).collect::<Result<_, _>>()?;
        let registers = TileConfig::get(self.isa, self.product)?;
        let (blocks, finishers) = ([const { None }; 8], [const { None }; 8]);
        let mut ready = Ready { macrokernel: Arc::clone(self), registers, blocks, finishers, gathers };
        let starts = [InitialSums::Zero, InitialSums::Load].into_iter().filter(|start| *start == InitialSums::Zero || self.keeps_sums());
        for (narrow, _) in self.kinds(&(0..self.shape.panels())) {
            for tall in [1, 2].into_iter().filter(|tall| self.stretches.iter().any(|s| s.has(*tall))) {
                for start in starts.clone() {
                    let at = index(tall, narrow, start);
                    let (vectors, line) = (self.columns(narrow).div_ceil(LINES) as u8, (shape.panel / LINES) as u8);
                    let tiles = Tiles {
                        product: self.product,
                        tall: tall as u8,
                        vectors,
                        line,
                        start,
                        panels: self.reuse(),
                        prefetch: self.prefetch,
                    };
                    if self.keeps_sums() {
                        ready.blocks[at] = Some(Block::get(self.isa, tiles)?);
                    }
                    if let Some(epilogue) = shape.epilogue.clone() {
                        let masked = !self.columns(narrow).is_multiple_of(LINES);
                        ready.finishers[at] = Some(FusedKernel::get(
                            self.isa,
                            &FusedKey { tiles, epilogue, masked, asks: self.prefetches_destination, watches: self.checks_sums },
                        )?);
                    }
                }
            }
        }
        Ok(ready)
    }

    fn how(&self) -> How {
        let (shape, width, panels) = (&self.shape, self.shape.panel, self.shape.panels());
        let steps = shape.most(&|p| p.taps * p.all_steps());
        let blocks = vec![
            (format!("the {ROWS} rows of a tile in a K block of {steps} steps"), ROWS * steps * 4),
            (format!("nc = {} of {panels} panels of {width} columns in a K block", self.group), self.group * steps * width * 4),
            (format!("sums of mc = {} tiles by nc panels", self.block), self.block * ROWS * self.group * width * 4),
        ];
        let registers = (format!("sums of {ROWS} rows by {} columns, in registers of tiles", 2 * LINES), ROWS * 2 * LINES * 4);
        How { registers, blocks, rate: self.rate(), padding: 1.0, cores: self.tasks(), ..How::default() }
    }

    /// The predicted multiply-adds a cycle, those of padding not counted.
    fn rate(&self) -> f64 {
        let (shape, number) = (&self.shape, |n: usize| n as f64);
        let steps: usize = shape.k_blocks.iter().map(|p| p.taps * p.all_steps()).sum();
        let (rows, pieces) = (number(shape.rows.iter().sum()), number(self.stretches.iter().map(|s| s.all).sum()));
        let cycles = of_k_blocks(shape, &self.rounds).of_rows([pieces, rows], shape.columns.div_ceil(LINES));
        let multiply_adds = rows * number(shape.columns) * number(steps * shape.product.step_depth());
        (multiply_adds / cycles.max(1.0)).max(1.0).min(Core::host().tile_rate(shape.product.step_depth()))
    }

    /// Numbers of blocks of rows, and of groups of panels.
    fn cuts(&self) -> [usize; 2] {
        [self.all.div_ceil(self.block), self.shape.panels().div_ceil(self.group)]
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.cuts().into_iter().fold(self.shape.units.div_ceil(self.joined), |n, count| n * count)
    }
}

/// The predicted cycles of a product with these K blocks.
fn of_k_blocks(shape: &Shape, rounds: &[Vec<Round>]) -> cost::Cycles {
    let in_part = |(part, rounds): (&KBlock, &Vec<Round>)| part.taps * rounds.iter().map(|round| round.blocks).sum::<usize>();
    let blocks = shape.k_blocks.iter().zip(rounds).map(in_part).sum::<usize>();
    cost::Cycles { blocks: blocks as f64, result: cost::result_cycles(shape.epilogue.as_ref().map_or(0, |epilogue| epilogue.steps())) }
}

impl Ready {
    /// Computes a task with scratch of a worker's share.
    pub fn task<W: HalfTileProvider>(&self, task: usize, share: &mut [f32], on: &Operands<'_, W>) {
        let (macrokernel, [blocks, groups]) = (&*self.macrokernel, self.macrokernel.cuts());
        let (block, rest) = (task % blocks, task / blocks);
        let (group, unit) = (rest % groups, rest / groups);
        let panels = group * macrokernel.group..macrokernel.shape.panels().min((group + 1) * macrokernel.group);
        let tiles = block * macrokernel.block..macrokernel.all.min((block + 1) * macrokernel.block);
        let units = unit * macrokernel.joined..macrokernel.shape.units.min((unit + 1) * macrokernel.joined);
        let b_at = (on.b_unit)(units.start);
        Task { macrokernel, kernels: self, on, unit: units.start, b_at, tiles, panels }.run(share, units);
    }
}

/// Index of a kernel.
fn index(tall: usize, narrow: bool, start: InitialSums) -> usize {
    (tall - 1) * 4 + 2 * usize::from(narrow) + usize::from(start == InitialSums::Load)
}

/// A worker's scratch.
struct Share<'s> {
    /// The taps of a tile, and its gathered rows.
    taps: &'s mut [usize],
    gathered: &'s mut [f32],
    /// The panels that the task packs.
    packed: &'s mut [f32],
    /// The pipeline's, and an address for unwanted results behind it.
    left: Buf<'s>,
    nowhere: usize,
    sums: &'s mut [f32],
    spare: &'s mut [f32],
    /// Where the rows of tiles go.
    to: [usize; LISTED * ROWS],
}

/// A block of rows of a unit and a group of panels.
struct Task<'t, 'a, W> {
    macrokernel: &'t AmxMacrokernel,
    kernels: &'t Ready,
    on: &'t Operands<'a, W>,
    unit: usize,
    /// Byte offset of the unit's panels in `B`.
    b_at: usize,
    tiles: Range<usize>,
    panels: Range<usize>,
}

/// Tiles whose addresses are known.
struct At<'s> {
    /// The first one, its rows; how many tiles there are, and bytes from one to the next in the source and in the destination.
    tile: usize,
    rows: [usize; 2],
    run: usize,
    bytes: [usize; 2],
    /// How many times that is repeated, and bytes from one time to the next.
    lines: usize,
    line_bytes: [usize; 2],
    taps: &'s [usize],
    gathered: &'s [f32],
    group: &'s Group<'s>,
    part: usize,
}

impl At<'_> {
    /// Number of pieces of a tile.
    fn tall(&self) -> usize {
        if self.rows[1] > 0 { 2 } else { 1 }
    }
}

/// The panels of a task in a K block: byte offset of the first, and bytes from one to the next.
struct Group<'g> {
    b: Buf<'g>,
    at: usize,
    step: usize,
}

impl<'t, W: HalfTileProvider> Task<'t, '_, W> {
    /// The panels of a K block, packed if the task packs.
    fn group<'g>(&'g self, part: &KBlock, packed: &'g mut [f32]) -> Group<'g> {
        let (shape, on, panels) = (&self.macrokernel.shape, self.on, &self.panels);
        if !self.macrokernel.packs {
            let at = self.b_at + panels.start * on.b_panel + part.first * shape.panel * 4;
            return Group { b: on.b, at, step: on.b_panel };
        }
        let (each, form) = (shape.product.step_depth(), shape.form());
        let depth = part.first * each..(part.first + part.steps) * each + usize::from(part.k_tail);
        let columns = panels.start * shape.panel..shape.columns.min(panels.end * shape.panel);
        let step = form.panel(depth.len());
        on.packs.panels(on.simd, PanelBlock { at: self.b_at, depth, columns }, form, packed);
        Group { b: lend(packed), at: 0, step }
    }

    fn run(&self, share: &mut [f32], units: Range<usize>) {
        let watches = self.macrokernel.checks_sums && !self.on.a.overlaps(&self.on.c);
        let harmless = watches || self.macrokernel.checks_panels && self.are_weights_finite();
        if self.attempt(share, units.clone(), harmless) {
            self.attempt(share, units, false);
        }
    }

    /// The same block of rows and group of panels of another unit.
    fn of(&self, unit: usize) -> Self {
        Task { unit, b_at: (self.on.b_unit)(unit), tiles: self.tiles.clone(), panels: self.panels.clone(), ..*self }
    }

    /// The columns of the group.
    fn columns(&self) -> Range<usize> {
        let width = self.macrokernel.shape.panel;
        self.panels.start * width..self.macrokernel.shape.columns.min(self.panels.end * width)
    }

    /// Computes some units. The sums of rows on padding are checked before they are finished; or, if `watched`, afterwards or not at all:
    /// then returns true if a kernel that watches sums found one that may be wrong.
    fn attempt(&self, share: &mut [f32], units: Range<usize>, watched: bool) -> bool {
        let mut share = self.macrokernel.share(share);
        let mut held = self.kernels.registers.hold();
        let (mut pipeline, mut column) = (None, None);
        let (mut doubtful, mut found) = (false, false);
        for unit in units {
            let task = self.of(unit);
            let operands = self.on.epilogue.map(|(_, epilogue_column)| epilogue_column(unit));
            if pipeline.is_none() || operands != column {
                found |= pipeline.take().is_some_and(Pipeline::end);
                (pipeline, column) = (task.pipeline(share.left), operands);
            }
            doubtful |= task.unit(&mut share, &mut held, pipeline.as_mut(), watched);
        }
        if let Some(pipeline) = pipeline {
            return (pipeline.end() | found) && watched && doubtful;
        }
        drop(held);
        let (macrokernel, Share { sums, spare, .. }) = (self.macrokernel, share);
        let rows = macrokernel.tile(self.tiles.start).0..macrokernel.first_row(self.tiles.end);
        self.on.rows.store(Sums { unit: self.unit, rows, columns: self.columns(), sums, spare, step: macrokernel.sums_row() });
        false
    }

    /// Computes the task's unit; returns whether rows on padding were multiplied.
    fn unit<'p>(
        &self,
        share: &mut Share<'_>,
        held: &mut block::TileRegisters<'_>,
        mut pipeline: Option<&mut Pipeline<'p>>,
        watched: bool,
    ) -> bool
    where
        't: 'p,
    {
        let macrokernel = self.macrokernel;
        let Share { taps, gathered, packed, nowhere, sums, spare, to, .. } = share;
        let first = macrokernel.tile(self.tiles.start).0;
        let mut doubtful = false;
        self.begin(self.columns(), sums, spare);
        for (index, part) in macrokernel.shape.k_blocks.iter().enumerate() {
            let mut cursor = self.on.rows.cursor(self.unit, first);
            let group = self.group(part, packed);
            let mut tile = self.tiles.start;
            while tile < self.tiles.end {
                let (row, rows) = macrokernel.tile(tile);
                let all = rows[0] + rows[1];
                let tile_run = self.on.rows.run(&cursor, all);
                let (mut count, mut padded, mut gathers) = (0, false, false);
                for (i, n) in rows.into_iter().enumerate().filter(|(_, n)| *n > 0) {
                    // Further elements are overwritten, or not used.
                    let Some(to) = to[i * rows[0]..].first_chunk_mut() else { continue };
                    let mut half = HalfTile {
                        rows: n,
                        to,
                        nowhere: *nowhere,
                        padded: false,
                        passes: macrokernel.checks_sums || macrokernel.shape.product.is_integer(),
                        is_gathered: false,
                        index: i,
                        part,
                        gatherer: &self.kernels.gathers[index],
                        held,
                        memory: [self.on.a, self.on.zeros],
                        taps,
                        count: 0,
                        gathered,
                    };
                    self.on.rows.lines(&mut cursor, &mut half);
                    count = half.count;
                    padded |= half.padded && !macrokernel.shape.product.is_integer();
                    gathers |= half.is_gathered;
                }
                doubtful |= padded;
                padded &= !watched;
                let mut repeats = (1, 1, [0; 2]);
                if !(gathers || padded || count == 0) {
                    repeats = self.repeats((tile, rows), part, &taps[..count * TAP_WORDS], &tile_run);
                    match tile_run.listed {
                        true => self.list(&mut cursor, (rows, *nowhere), &mut to[all..repeats.0 * all]),
                        false => self.on.rows.skip(&mut cursor, (repeats.0 * repeats.1 - 1) * all),
                    }
                }
                let (run, lines, line_bytes) = repeats;
                let to = &to[..if tile_run.listed { run * all } else { all }];
                let at = At {
                    tile,
                    rows,
                    run,
                    bytes: tile_run.bytes,
                    lines,
                    line_bytes,
                    taps: &taps[..count * TAP_WORDS],
                    gathered,
                    group: &group,
                    part: index,
                };
                let sums = &mut sums[if macrokernel.shape.carries() { (row - first) * macrokernel.sums_row() } else { 0 }..];
                match pipeline.as_deref_mut().filter(|_| index + 1 == macrokernel.shape.k_blocks.len()) {
                    Some(pipeline) if count == 0 && !macrokernel.shape.carries() => self.finish_sums(pipeline, &at, to, None),
                    Some(pipeline) if count == 0 || padded => {
                        self.products(held, &at, 0..macrokernel.rounds[index].len(), sums);
                        if padded {
                            self.without_padding(row..row + run * lines * all, sums);
                        }
                        self.finish_sums(pipeline, &at, to, Some(sums));
                    }
                    Some(pipeline) => {
                        self.products(held, &at, 0..macrokernel.rounds[index].len() - 1, sums);
                        self.finish((pipeline, held), &at, to, sums);
                    }
                    None => self.products(held, &at, 0..macrokernel.rounds[index].len(), sums),
                }
                tile += run * lines;
            }
        }
        doubtful
    }

    /// Writes the initial sums of all rows, if they are not zero.
    fn begin(&self, columns: Range<usize>, sums: &mut [f32], spare: &mut [f32]) {
        let macrokernel = self.macrokernel;
        if macrokernel.shape.begins {
            let rows = macrokernel.tile(self.tiles.start).0..macrokernel.first_row(self.tiles.end);
            self.on.rows.begin(Sums { unit: self.unit, rows, columns, sums, spare, step: macrokernel.sums_row() });
        }
    }

    /// The number of tiles that a call computes, of which the first has the taps `taps`: the tiles of a run, the number of lines, and bytes
    /// from one line to the next.
    fn repeats(&self, (tile, rows): (usize, [usize; 2]), part: &KBlock, taps: &[usize], tile_run: &Run) -> (usize, usize, [usize; 2]) {
        let rounds = self.macrokernel.rounds.iter().any(|rounds| rounds.len() > 1);
        let most = match (rounds, tile_run.listed) {
            (true, _) => self.macrokernel.batch(),
            (_, true) => LISTED,
            _ => usize::MAX,
        };
        let within = self.run_within(part, taps, rows, (0, tile_run.bytes[0]));
        let run = self.run_of(tile, most.min(tile_run.tiles).min(within));
        let (lines, line_bytes) = if rounds { (1, [0; 2]) } else { self.lines_of(tile, rows, run, tile_run) };
        let within = self.run_within(part, taps, rows, ((run - 1) * tile_run.bytes[0], line_bytes[0]));
        (run, lines.min(within), line_bytes)
    }

    /// The result addresses of the tiles that follow a described one and have the same rows.
    fn list(&self, cursor: &mut W::Cursor, (rows, nowhere): ([usize; 2], usize), to: &mut [usize]) {
        let mut to = to;
        while !to.is_empty() {
            for rows in rows {
                let (half, rest) = to.split_at_mut(rows);
                self.on.rows.places(cursor, nowhere, half);
                to = rest;
            }
        }
    }

    /// How many times a run of tiles is repeated in further lines, and bytes from one time to the next.
    fn lines_of(&self, tile: usize, rows: [usize; 2], run: usize, tile_run: &Run) -> (usize, [usize; 2]) {
        let all = run * (rows[0] + rows[1]);
        if tile_run.line == 0
            || self.macrokernel.shape.carries()
            || self.macrokernel.shape.epilogue.is_none()
            || !all.is_multiple_of(tile_run.line)
        {
            return (1, [0; 2]);
        }
        let each = all / tile_run.line;
        let lines = self.run_of(tile, run * (tile_run.lines / each)) / run;
        (lines.max(1), tile_run.line_bytes.map(|bytes| bytes * each))
    }

    /// How many tiles, `tile` bytes apart, end inside the source if the first, with the taps `taps`, is moved by `before` bytes: partial
    /// steps are read as whole ones.
    fn run_within(&self, part: &KBlock, taps: &[usize], rows: [usize; 2], (before, tile): (usize, usize)) -> usize {
        if part.k_tail == 0 || tile == 0 {
            return usize::MAX;
        }
        let (end, steps) = (self.on.a.as_ptr().addr() + self.on.a.len(), (part.first + part.all_steps()) * 4);
        let last = |(first, distance): (usize, usize), rows: usize| if rows == 0 { 0 } else { first + distance * (rows - 1) + steps };
        let ends = taps.as_chunks::<TAP_WORDS>().0.iter().map(|tap| last((tap[1], tap[2]), rows[0]).max(last((tap[3], tap[4]), rows[1])));
        1 + end.saturating_sub(ends.max().unwrap_or(end) + before) / tile
    }

    /// Number of tiles from `tile` on, at most `most`, with equally many rows.
    fn run_of(&self, tile: usize, most: usize) -> usize {
        self.macrokernel.stretch(tile).equal_tiles(tile).min(most).min(self.tiles.end - tile)
    }

    /// The pipeline, if there is an epilogue in registers.
    fn pipeline<'p>(&self, left: Buf<'p>) -> Option<Pipeline<'p>>
    where
        't: 'p,
    {
        let (shape, on) = (&self.macrokernel.shape, self.on);
        let (epilogue, (args, epilogue_column)) = shape.epilogue.as_ref().zip(on.epilogue)?;
        let Range { start: column, end } = self.columns();
        let columns = end - column;
        let to = EpilogueCall {
            c: on.c,
            column,
            epilogue_column: epilogue_column(self.unit) + column,
            epilogue: Some(args),
            last: (shape.columns - 1) % LINES + 1,
            ..EpilogueCall::raw(&[], 0, Panels::one(0), (&mut [], 0))
        };
        Some(Pipeline::new(left, epilogue, columns, &to))
    }

    /// A call of a kernel for a round of a K block of a tile, by some panels.
    fn call<'c>(&self, at: &At<'c>, round: &Round, (panels, sums): (&Range<usize>, &'c mut [f32])) -> Call<'c>
    where
        Self: 'c,
    {
        let (macrokernel, width, before) = (self.macrokernel, self.macrokernel.shape.panel, panels.start - self.panels.start);
        let is_first = before == 0 && round.before == 0;
        let (prefetch, prefetch_line) = if is_first { self.prefetch(at, round.blocks) } else { (Prefetch::default(), 0) };
        Call {
            taps: at.taps,
            blocks: round.blocks,
            from: round.before * 4,
            source: self.on.a,
            gathered: at.gathered,
            b: at.group.b,
            b_at: at.group.at + before * at.group.step + round.before * width * 4,
            b_panel: at.group.step,
            panels: panels.len(),
            tiles: at.run,
            a_tile: at.bytes[0],
            b_tile: 0,
            sums_tile: at.rows.iter().sum::<usize>() * macrokernel.sums_row(),
            lines: at.lines,
            a_line: at.line_bytes[0],
            sums: sums.get_mut(before * width..).unwrap_or_default(),
            sums_row: macrokernel.sums_row(),
            prefetch,
            prefetch_line,
        }
    }

    /// The initial sums after `before` K blocks or rounds.
    fn start(&self, before: usize) -> InitialSums {
        if before > 0 || self.macrokernel.shape.begins { InitialSums::Load } else { InitialSums::Zero }
    }

    /// Computes some rounds of a K block of a tile, whose sums stay in memory.
    fn products(&self, held: &mut block::TileRegisters<'_>, at: &At<'_>, rounds: Range<usize>, sums: &mut [f32]) {
        for i in rounds {
            let round = &self.macrokernel.rounds[at.part][i];
            held.set(tiles::Shape { rows: at.rows, steps: round.steps });
            let start = self.start(at.part + i);
            for (narrow, panels) in self.macrokernel.kinds(&self.panels) {
                let block = self.kernels.blocks[index(at.tall(), narrow, start)].as_ref();
                let block = block.unwrap_or_else(|| panic!("no kernel of {} tiles was made", at.tall()));
                block.run(held, self.call(at, round, (&panels, sums)));
            }
        }
    }

    /// The kernel that finishes sums, for panels with all columns or with fewer.
    fn finisher(&self, at: &At<'_>, narrow: bool, start: InitialSums) -> &'t FusedKernel {
        let finisher = self.kernels.finishers[index(at.tall(), narrow, start)].as_ref();
        finisher.unwrap_or_else(|| panic!("no kernel of {} tiles was made", at.tall()))
    }

    /// Where results of tiles go, by the given panels.
    fn results<'r>(&self, at: &At<'_>, to: &'r [usize], panels: &Range<usize>) -> Results<'r> {
        let column = (panels.start - self.panels.start) * self.macrokernel.shape.panel;
        Results { each: at.rows[0] + at.rows[1], rows: to, tile: at.bytes[1], line: at.line_bytes[1], column }
    }

    /// Multiplies the last round of tiles, and finishes the results.
    fn finish<'p>(&self, (pipeline, held): (&mut Pipeline<'p>, &mut block::TileRegisters<'_>), at: &At<'_>, to: &[usize], sums: &mut [f32])
    where
        't: 'p,
    {
        let rounds = &self.macrokernel.rounds[at.part];
        let round = &rounds[rounds.len() - 1];
        held.set(tiles::Shape { rows: at.rows, steps: round.steps });
        let start = self.start(at.part + rounds.len() - 1);
        for (narrow, panels) in self.macrokernel.kinds(&self.panels) {
            let mut call = self.call(at, round, (&panels, sums));
            pipeline.run(self.finisher(at, narrow, start), held, &mut call, &self.results(at, to, &panels));
        }
    }

    /// Finishes the results of a tile whose sums are in memory, or all zero.
    fn finish_sums<'p>(&self, pipeline: &mut Pipeline<'p>, at: &At<'_>, to: &[usize], sums: Option<&[f32]>)
    where
        't: 'p,
    {
        for (narrow, panels) in self.macrokernel.kinds(&self.panels) {
            let results = self.results(at, to, &panels);
            let sums = sums.map(|sums| (&sums[results.column..], self.macrokernel.sums_row()));
            pipeline.finish(self.finisher(at, narrow, InitialSums::Zero), panels.len(), sums, &results);
        }
    }

    /// The prefetch of a tile with `blocks` blocks of every tap: the next group's panels, evenly over all tiles of the task, or the rows of
    /// the next tile; and bytes from there to the prefetch of the tiles of the next line. With several K blocks both are in many pieces,
    /// and nothing is prefetched.
    fn prefetch(&self, at: &At<'_>, blocks: usize) -> (Prefetch, usize) {
        let (macrokernel, on, nothing) = (self.macrokernel, self.on, (Prefetch::default(), 0));
        let &[_, first, distance, ..] = at.taps else { return nothing };
        if macrokernel.prefetch != PrefetchMode::Given {
            return nothing;
        }
        let passes = macrokernel.shape.panel.div_ceil(4 / at.tall() * LINES);
        let each = (at.taps.len() / TAP_WORDS * passes * blocks).max(1);
        let all = each * self.panels.len();
        if macrokernel.shape.k_blocks.len() > 1 {
            return nothing;
        }
        if !macrokernel.packs && self.tiles.end == macrokernel.all && self.panels.end < macrokernel.shape.panels() {
            let next = macrokernel.group.min(macrokernel.shape.panels() - self.panels.end) * on.b_panel;
            let step = next.div_ceil(self.tiles.len() * all).min(tiles::PREFETCH_BYTES);
            let before = (at.tile - self.tiles.start) * all * step;
            let first = on.b.as_ptr().addr().wrapping_add(self.b_at + self.panels.end * on.b_panel + before);
            return (Prefetch { at: first, step, panel: 0 }, at.run * all * step);
        }
        let bytes = (at.rows[0] + at.rows[1]) * distance;
        let step = bytes.div_ceil(all).min(tiles::PREFETCH_BYTES);
        let is_next = at.tile + 1 < self.tiles.end && first.wrapping_sub(on.a.as_ptr().addr()) < on.a.len();
        if is_next { (Prefetch { at: first.wrapping_add(bytes), step, panel: 0 }, at.line_bytes[0]) } else { nothing }
    }
}
