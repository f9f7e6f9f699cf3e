//! Products on tiles of AMX: the loops of the [nest] around kernels of 32 rows.
//!
//! A product is cut into tasks of a block of rows by a group of panels, and walks the reduction in parts, as there. A tile is up to 32 rows, in two
//! halves that lie each at a constant distance: rows of a plain matrix, and pixels of a line under a window. A half that does not, whose pixels
//! are of two lines or some of which are padding, is gathered for each tap, as are rows that do not end with a whole step; that
//! is two instructions for 64 bytes, which meet all panels of the group. Sums leave through memory that stays in L1, and the
//! tail is that of the other tiles: a kernel without taps that begins with what is there.
//!
//! Depths that are no multiple of 16 steps become equal blocks of fewer, where that does not take more of them, or a second round of other shapes.

mod accumulate;
mod block;
mod cost;
mod lines;

use super::nest::{self, Block as Sums, Nest, Operands, Packed, Part, Right, Rows, Shape};
use super::scratch::{for_workers, lend};
use super::tile::list::Kept;
use super::tile::wide::Wide;
use super::tile::{Ahead, Call as TailCall, List, MOST_ROWS, Panels, Product, Spec, Start, Strip, Tile};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::{Core, KBlock};
pub use accumulate::{Accumulate, Addend};
pub use block::Held;
use block::{Block, Call, Gatherer, Registers};
pub use cost::is_faster;
pub use lines::{Half, Lines};
use oxidnn_expr::number;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::{Reuse, TileProduct};
use oxidnn_jit::kernels::tiles::{self, LINES, ROWS, TAP, Tiles};
use oxidnn_runtime::{Buf, Skip};
use oxidnn_spec::{DataType, Error};
use std::ops::Range;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Elements of a row of sums that stay in L1 until the tail has finished them.
const NEAR: usize = 128;
/// Tasks for every worker.
const TASKS: usize = 4;
/// Steps of all rows and columns that are worth a task of their own.
const WORTH: usize = 256 << 10;
/// Tiles that a block of rows is to have where panels do not stay in L2 from one block to the next.
const LEAST: usize = 8;
/// Elements between two rows of sums beyond those of their panels: keeps rows off each other's cache sets.
const SKEW: usize = 16;
/// Rows of a piece of a line, at least; of shorter lines several make a piece.
const SHORT: usize = 11;
/// Rows of a tile that the tail finishes at a time.
const TAIL: usize = 4;
/// Elements that the tail finishes before the unit that multiplies tiles gets something to do: one that only converts, and any other.
const IDLE: [usize; 2] = [4096, 2048];
/// Most blocks of a K block beyond the fewest that are multiplied to have all of one length: a block of other length takes other shapes of registers, and all
/// sums from memory and back.
const MORE: usize = 2;
/// Bytes of a row of `A` from which on panels drive rows out of L1, unless they pass by it.
const LONG: usize = 256;
/// Most bytes of gathered rows.
const GATHERED: usize = 4 << 20;

/// A product either on vectors or on tiles of AMX.
#[derive(Clone, Debug)]
pub enum Loops {
    /// On vectors.
    Vectors(Arc<Nest>),
    /// On tiles.
    Tiles(Arc<Drive>),
}

/// The same with its kernels.
#[derive(Debug)]
pub enum ReadyLoops {
    /// On vectors.
    Vectors(Box<nest::Ready>),
    /// On tiles.
    Tiles(Box<Ready>),
}

impl Loops {
    /// Tiles where instructions and types allow them. Rows of a stretch lie in lines of equal length, at one distance within each.
    pub fn new(isa: Isa, shape: Shape, lines: &[usize], target: &CpuTarget) -> Loops {
        match tiles::product(shape.product).filter(|_| isa.amx) {
            Some(product) => Loops::Tiles(Arc::new(Drive::new((isa, product), shape, lines, target))),
            None => Loops::Vectors(Arc::new(Nest::new(isa, shape, target))),
        }
    }

    /// What it computes.
    pub fn shape(&self) -> &Shape {
        match self {
            Loops::Vectors(nest) => nest.shape(),
            Loops::Tiles(drive) => &drive.shape,
        }
    }

    /// Elements of scratch for `workers` workers; `None` on overflow, or where tiles would need too much.
    pub fn scratch_len(&self, workers: usize) -> Option<usize> {
        match self {
            Loops::Vectors(nest) => nest.scratch_len(workers),
            Loops::Tiles(drive) => drive.scratch_len(workers),
        }
    }

    /// How all of `A` is to be widened before, where it is.
    pub fn widens(&self) -> Option<&Wide> {
        match self {
            Loops::Vectors(nest) => nest.widens(),
            Loops::Tiles(_) => None,
        }
    }

    /// Makes the kernels, and lists by a provider, if there is one, whose operands begin at address 0 and whose padding is at
    /// [`PADDING`](super::nest::PADDING).
    ///
    /// # Errors
    /// [`Error::Runtime`] where a kernel cannot be made.
    pub fn build<W: Rows>(&self, rows: Option<&W>) -> Result<ReadyLoops, Error> {
        Ok(match self {
            Loops::Vectors(nest) => ReadyLoops::Vectors(Box::new(nest.build(rows)?)),
            Loops::Tiles(drive) => ReadyLoops::Tiles(Box::new(drive.build()?)),
        })
    }

    /// What is kept where, and how fast it multiplies.
    pub fn how(&self) -> How {
        match self {
            Loops::Vectors(nest) => nest.how(),
            Loops::Tiles(drive) => drive.how(),
        }
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        match self {
            Loops::Vectors(nest) => nest.tasks(),
            Loops::Tiles(drive) => drive.tasks(),
        }
    }
}

impl ReadyLoops {
    /// Computes a task with scratch of a worker's share.
    pub fn task<W: Rows + Lines>(&self, task: usize, share: &mut [f32], on: &Operands<'_, W>) {
        match self {
            ReadyLoops::Vectors(ready) => ready.task(task, share, on),
            ReadyLoops::Tiles(ready) => ready.task(task, share, on),
        }
    }
}

/// The instructions of a row on tiles of AMX.
///
/// # Errors
/// The processor's lack of them.
pub fn isa(jit: Option<Isa>) -> Result<Isa, Skip> {
    jit.filter(|isa| isa.amx).ok_or(Skip::Isa("amx, or executable memory"))
}

/// Whether tiles multiply these types.
///
/// # Errors
/// The types, where they do not.
pub fn check(product: Product) -> Result<(), Skip> {
    tiles::product(product).map(|_| ()).ok_or_else(|| Skip::DataType(format!("{product:?}, which tiles do not multiply")))
}

/// A planned product on tiles.
#[derive(Debug)]
pub struct Drive {
    isa: Isa,
    product: TileProduct,
    shape: Shape,
    /// How each part of the reduction is taken.
    rounds: Vec<Vec<Round>>,
    stretches: Vec<Stretch>,
    /// Tiles of a unit, and of a block.
    all: usize,
    block: usize,
    /// Panels of a group.
    group: usize,
    /// Whether a task packs the panels of its group, K block by K block: no other task meets them.
    packs: bool,
}

/// Blocks of a part that have the same number of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Round {
    /// Steps before them.
    before: usize,
    steps: usize,
    blocks: usize,
}

/// Rows that are cut into tiles together. Pieces of up to 16 rows do not cross lines, unless these are short; a tile is two pieces.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first_tile: usize,
    first_row: usize,
    /// Rows of a line, and its pieces, in which they are cut evenly.
    line: usize,
    pieces: usize,
    /// Pieces of all lines.
    all: usize,
}

impl Stretch {
    fn new((first_tile, first_row): (usize, usize), rows: usize, line: usize) -> Stretch {
        // Gathered rows of two lines cost less than tiles that are nearly half empty.
        let kept = line > 0 && rows.is_multiple_of(line) && line / line.div_ceil(LINES) >= SHORT;
        let line = if kept { line } else { rows };
        let pieces = line.div_ceil(LINES).max(1);
        Stretch { first_tile, first_row, line, pieces, all: rows / line.max(1) * pieces }
    }

    fn tiles(&self) -> usize {
        self.all.div_ceil(2)
    }

    /// The first row of a piece and the one behind its last.
    fn piece(&self, piece: usize) -> (usize, usize) {
        let (line, i) = (piece / self.pieces, piece % self.pieces);
        let start = |i: usize| self.first_row + line * self.line + i * self.line / self.pieces;
        (start(i), start(i + 1))
    }

    /// Whether tiles of all their rows, `tall` of them, may have so many that `test` holds.
    fn may(&self, tall: usize, test: impl Fn(usize) -> bool) -> bool {
        let (least, most) = (self.line / self.pieces, self.line.div_ceil(self.pieces));
        let exists = if tall == 2 { self.all > 1 } else { !self.all.is_multiple_of(2) };
        exists && (tall * least..=tall * most).any(test)
    }
}

/// A product with its kernels.
#[derive(Debug)]
pub struct Ready {
    drive: Arc<Drive>,
    registers: Registers,
    /// By tiles of rows, by whether the panel has fewer columns than the others, by what sums begin with.
    blocks: [Option<Block>; 8],
    /// By part.
    gathers: Vec<Gatherer>,
    /// By whether a tile has one row, by whether the panel has fewer columns.
    tails: [Option<Tile>; 4],
}

impl Round {
    /// Blocks of `steps` steps, equal ones where these are at most `more` beyond the fewest; of no steps, a block over whose no taps sums are zero: tiles
    /// have at least one.
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

impl Drive {
    /// Decides how to cut a product.
    pub fn new((isa, product): (Isa, TileProduct), shape: Shape, lines: &[usize], target: &CpuTarget) -> Drive {
        let budget = target.caches.budget(true);
        let mut stretches = Vec::with_capacity(shape.rows.len());
        let (mut all, mut rows) = (0, 0);
        for (&n, &line) in shape.rows.iter().zip(lines) {
            let stretch = Stretch::new((all, rows), n, line);
            (all, rows) = (all + stretch.tiles(), rows + n);
            stretches.push(stretch);
        }
        let panels = shape.columns.div_ceil(shape.panel).max(1);
        let bytes = |p: &Part| p.taps * p.all_steps() * shape.panel * 4;
        let (widest, total) = (shape.most(&bytes).max(1), shape.parts.iter().map(bytes).sum::<usize>());
        let k = KBlock { panel: widest, panels, width: shape.panel, tall: ROWS, tiles: all, carries: shape.carries() };
        let steps: usize = shape.parts.iter().map(|p| p.taps * p.all_steps()).sum();
        let work = shape.units.saturating_mul(rows).saturating_mul(panels * shape.panel).saturating_mul(steps);
        // As many tasks as are wanted and worth it: by rows as far as panels are read often enough, by panels, by rows again.
        let wanted = (work / WORTH).clamp(1, TASKS * target.threads.max(1)).div_ceil(shape.units.max(1));
        let most = (all / if total * panels > budget.panels { LEAST } else { 1 }).max(1);
        let cut = |bytes: usize| {
            let group = k.blocks([bytes, budget.sums]).nc.min(panels.div_ceil(wanted.div_ceil(most).min(panels)));
            (group, all.div_ceil(wanted.div_ceil(panels.div_ceil(group))).max(1).min(k.mc(group, budget.sums)))
        };
        let packing = (shape.right != Right::Panels).then(|| cut(budget.plain)).filter(|(_, block)| *block >= all);
        let (packs, (group, block)) = (packing.is_some(), packing.unwrap_or_else(|| cut(budget.panels)));
        let rounds = shape.parts.iter().map(|p| Round::all(p.all_steps(), MORE).collect()).collect();
        Drive { isa, product, shape, rounds, stretches, all, block, group, packs }
    }

    /// Whether tasks pack their panels; else these are there, or packed before.
    pub fn packs(&self) -> bool {
        self.packs
    }

    /// Elements of the panels that a task packs at a time; `None` on overflow.
    fn packed_len(&self) -> Option<usize> {
        let panel = self.shape.most(&Part::all_steps).checked_mul(self.shape.panel)?;
        if self.packs { panel.checked_mul(self.group)?.checked_next_multiple_of(LINES) } else { Some(0) }
    }

    /// When the lines of a panel are wanted again, beside the rows of a tile, which all panels of a group meet.
    fn reuse(&self) -> Reuse {
        if self.shape.most(&|p| p.taps * p.all_steps() * 4) >= LONG { Reuse::Far } else { Reuse::Near }
    }

    /// Words of the addresses of all taps.
    fn taps_len(&self) -> Option<usize> {
        self.shape.most(&|p| p.taps).checked_mul(TAP)
    }

    /// Elements of the gathered rows of a tile.
    fn gathered_len(&self) -> Option<usize> {
        let part = |p: &Part| p.taps.checked_mul(Gatherer::row(p.all_steps()))?.checked_mul(ROWS);
        let most = self.shape.parts.iter().map(part).try_fold(0, |most, len| Some(most.max(len?)))?;
        Some(most).filter(|n| *n <= GATHERED / 4)
    }

    /// Words of a list that the tail walks over.
    fn list_len() -> usize {
        List::words(ROWS / TAIL + TAIL, [TAIL, 0], 0).unwrap_or(0)
    }

    /// Panels whose sums a tile leaves in memory before they are finished: all of a task where sums are carried.
    fn near(&self) -> usize {
        if self.shape.carries() { self.group } else { (NEAR / self.shape.panel).clamp(1, self.group) }
    }

    /// Rows of a tile whose sums the tail finishes before the unit gets something to do.
    fn rows_at_a_time(&self) -> usize {
        let most = IDLE[usize::from(!self.shape.tail.as_ref().is_some_and(|tail| tail.converts_only()))];
        (most / (self.near() * self.shape.panel)).max(1).next_multiple_of(TAIL)
    }

    /// Distance of two rows of sums.
    fn sums_row(&self) -> usize {
        self.near() * self.shape.panel + SKEW
    }

    fn sums_len(&self) -> usize {
        ROWS * self.sums_row() * if self.shape.carries() { self.block.min(self.all) } else { 1 }
    }

    /// Elements of scratch for `workers` workers; `None` on overflow, or where rows would need too much.
    pub fn scratch_len(&self, workers: usize) -> Option<usize> {
        let words = self.taps_len()?.checked_add(Drive::list_len())?.checked_mul(2)?.checked_next_multiple_of(LINES)?;
        let sums = self.sums_len().checked_mul(if self.shape.tail.is_none() { 2 } else { 1 })?;
        for_workers(workers, words.checked_add(self.gathered_len()?)?.checked_add(self.packed_len()?)?.checked_add(sums)?)
    }

    /// First row of a tile of a unit, and the rows of its halves.
    fn tile(&self, tile: usize) -> (usize, [usize; 2]) {
        let s = &self.stretches[self.stretches.partition_point(|s| s.first_tile + s.tiles() <= tile)];
        let piece = 2 * (tile - s.first_tile);
        let ((first, end), lower) = (s.piece(piece), piece + 1);
        (first, [end - first, if lower < s.all { s.piece(lower).1 - end } else { 0 }])
    }

    /// Columns of panels by whether they have fewer than the others.
    fn kinds(&self, panels: &Range<usize>) -> impl Iterator<Item = (bool, Range<usize>)> + use<> {
        let whole = (self.shape.columns / self.shape.panel).clamp(panels.start, panels.end);
        [(false, panels.start..whole), (true, whole..panels.end)].into_iter().filter(|(_, panels)| !panels.is_empty())
    }

    fn columns(&self, narrow: bool) -> usize {
        if narrow { self.shape.columns % self.shape.panel } else { self.shape.panel }
    }

    /// Makes the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] where a kernel cannot be made.
    pub fn build(self: &Arc<Self>) -> Result<Ready, Error> {
        let shape = &self.shape;
        let size = 4 / shape.product.depth();
        let gathers = shape.parts.iter().map(|p| Gatherer::get(self.isa, p.partial * size as u8)).collect::<Result<_, _>>()?;
        let registers = Registers::get(self.isa, self.product)?;
        let mut ready = Ready { drive: Arc::clone(self), registers, blocks: [const { None }; 8], gathers, tails: [const { None }; 4] };
        let may = |tall: usize, test: fn(usize) -> bool| self.stretches.iter().any(|s| s.may(tall, test));
        let begins = [true, self.rounds.len() > 1 || self.rounds.iter().any(|r| r.len() > 1)];
        for (narrow, _) in self.kinds(&(0..self.shape.panels())) {
            for tall in [1, 2].into_iter().filter(|tall| may(*tall, |_| true)) {
                for (load, _) in begins.into_iter().enumerate().filter(|(_, wanted)| *wanted) {
                    let start = if load == 1 { Start::Load } else { Start::Zero };
                    let (vectors, line) = (self.columns(narrow).div_ceil(LINES) as u8, (shape.panel / LINES) as u8);
                    let kernel = Tiles { product: self.product, tall: tall as u8, vectors, line, start, panels: self.reuse() };
                    ready.blocks[index(tall, narrow, load == 1)] = Some(Block::get(self.isa, kernel)?);
                }
            }
            for (single, rows) in [(false, TAIL), (true, 1)] {
                let wanted = [1, 2].into_iter().any(|tall| may(tall, if single { |rows| rows % TAIL > 0 } else { |rows| rows >= TAIL }));
                if wanted && shape.tail.is_some() {
                    ready.tails[2 * usize::from(single) + usize::from(narrow)] = Some(Tile::get(self.isa, &self.tail(rows, narrow))?);
                }
            }
        }
        Ok(ready)
    }

    /// The kernel that finishes sums.
    fn tail(&self, rows: usize, narrow: bool) -> Spec {
        let columns = self.columns(narrow);
        Spec {
            start: Start::Load,
            tail: self.shape.tail.clone(),
            masked: !columns.is_multiple_of(LINES),
            ..Spec::new(self.shape.product, rows, columns.div_ceil(LINES))
        }
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
        let (rate, padding) = (Core::host().tile_rate(shape.product.depth()), padding(shape.columns, LINES));
        How { registers, blocks, rate, padding, cores: self.tasks(), ..How::default() }
    }

    /// Blocks of rows, and groups of panels.
    fn cuts(&self) -> [usize; 2] {
        [self.all.div_ceil(self.block), self.shape.panels().div_ceil(self.group)]
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.cuts().into_iter().fold(self.shape.units, |n, count| n * count)
    }
}

impl Ready {
    /// Computes a task with scratch of a worker's share.
    pub fn task<W: Lines>(&self, task: usize, share: &mut [f32], on: &Operands<'_, W>) {
        let (drive, [blocks, groups]) = (&*self.drive, self.drive.cuts());
        let (block, rest) = (task % blocks, task / blocks);
        let (group, unit) = (rest % groups, rest / groups);
        let panels = group * drive.group..drive.shape.panels().min((group + 1) * drive.group);
        let tiles = block * drive.block..drive.all.min((block + 1) * drive.block);
        let b_at = (on.b_unit)(unit);
        Task { drive, kernels: self, on, unit, b_at, tiles, panels }.run(share);
    }
}

/// Most pieces of the rows of a tile that the tail takes one after the other: those of [`TAIL`] rows, and single ones.
const PIECES: usize = ROWS / TAIL + 1;

/// The rows of a tile as the tail takes them: lists of pieces, and their number.
struct Listed<'l> {
    list: List<'l>,
    pieces: [Kept; PIECES],
    count: usize,
}

impl Listed<'_> {
    /// Lists rows that go to these addresses, at most so many at a time.
    fn set(&mut self, to: &[usize], most: usize, row_bytes: usize) {
        let whole = to.len() / TAIL * TAIL;
        self.list.restart(TAIL);
        self.count = 0;
        let pieces = (0..whole).step_by(most).map(|row| (TAIL, row..whole.min(row + most)));
        for (each, rows) in pieces.chain((whole < to.len()).then_some((1, whole..to.len()))) {
            self.list.begin(each);
            strips(&mut self.list, to, rows.clone(), row_bytes);
            self.pieces[self.count] = self.list.keep(rows);
            self.count += 1;
        }
    }
}

/// Lists some of the rows of a tile, whose sums are so many bytes apart: those that follow each other at one distance are a strip.
fn strips(list: &mut List<'_>, to: &[usize], rows: Range<usize>, row_bytes: usize) {
    let (each, mut row) = (list.rows(), rows.start);
    while row < rows.end {
        let distance = |i: usize| to[i].wrapping_sub(to[i - 1]);
        let end = (row + 2..rows.end).find(|i| distance(*i) != distance(row + 1)).unwrap_or(rows.end);
        // What follows may lie before.
        let tiles = if end > row + 1 && distance(row + 1) <= isize::MAX as usize { ((end - row) / each).max(1) } else { 1 };
        let c_row = if tiles > 1 { distance(row + 1) } else { 0 };
        let mut addresses = [0; MOST_ROWS];
        addresses[..each].copy_from_slice(&to[row..row + each]);
        list.strip(Strip { tiles, sums: row * row_bytes, a_row: 0, c_row, to: (0, &addresses) });
        row += tiles * each;
    }
}

/// Adds the products of a row of bf16, from a byte of its memory on, and the columns of a panel in a part of the reduction.
fn add_pairs([(a, row), (b, panel)]: [(Buf, usize); 2], part: &Part, sums: &mut [f32]) {
    let value = |half: u16| number::decode(DataType::Bf16, u64::from(half)) as f32;
    let width = sums.len();
    for step in 0..part.all_steps() {
        let mut pair = [0_u8; 4];
        let bytes = if step < part.steps { 4 } else { 2 * usize::from(part.partial) };
        a.read(row + step * 4, &mut pair[..bytes]);
        let factors = [[pair[0], pair[1]], [pair[2], pair[3]]].map(|half| value(u16::from_ne_bytes(half)));
        for (column, sum) in sums.iter_mut().enumerate() {
            let mut pair = [0_u8; 4];
            b.read(panel + (step * width + column) * 4, &mut pair);
            for (i, half) in [[pair[0], pair[1]], [pair[2], pair[3]]].into_iter().enumerate().take(bytes / 2) {
                *sum += factors[i] * value(u16::from_ne_bytes(half));
            }
        }
    }
}

/// Where a kernel is among all.
const fn index(tall: usize, narrow: bool, load: bool) -> usize {
    (tall - 1) * 4 + 2 * narrow as usize + load as usize
}

/// A block of rows by a group of panels.
struct Task<'t, 'a, W> {
    drive: &'t Drive,
    kernels: &'t Ready,
    on: &'t Operands<'a, W>,
    unit: usize,
    /// Byte of `B` where the unit's panels begin.
    b_at: usize,
    tiles: Range<usize>,
    panels: Range<usize>,
}

/// A tile whose addresses are known.
struct At<'s> {
    rows: [usize; 2],
    taps: &'s [usize],
    gathered: &'s [f32],
    group: &'s Group<'s>,
    part: usize,
    /// The first of its sums.
    sums: usize,
}

/// Where the panels of a task are in a part of the reduction: the byte of the first in memory, and bytes from one to the next.
struct Group<'g> {
    b: Buf<'g>,
    at: usize,
    step: usize,
}

impl<W: Lines> Task<'_, '_, W> {
    /// The panels of a part, packed where they are to be.
    fn group<'g>(&'g self, part: &Part, packed: &'g mut [f32]) -> Group<'g> {
        let (shape, on, panels) = (&self.drive.shape, self.on, &self.panels);
        if !self.drive.packs {
            let at = self.b_at + panels.start * on.b_panel + part.first * shape.panel * 4;
            return Group { b: on.b, at, step: on.b_panel };
        }
        let (each, form) = (shape.product.depth(), shape.form());
        let depth = part.first * each..(part.first + part.steps) * each + usize::from(part.partial);
        let columns = panels.start * shape.panel..shape.columns.min(panels.end * shape.panel);
        let step = form.panel(depth.len());
        on.packs.panels(on.simd, Packed { at: self.b_at, depth, columns }, form, packed);
        Group { b: lend(packed), at: 0, step }
    }

    fn run(&self, share: &mut [f32]) {
        let drive = self.drive;
        let taps_len = drive.taps_len().unwrap_or(0);
        let (words, share) = share.split_at_mut((2 * (taps_len + Drive::list_len())).next_multiple_of(LINES));
        let (gathered, share) = share.split_at_mut(drive.gathered_len().unwrap_or(0));
        let (packed, share) = share.split_at_mut(drive.packed_len().unwrap_or(0));
        let (sums, spare) = share.split_at_mut(drive.sums_len());
        let (taps, words) = bytemuck::cast_slice_mut::<f32, usize>(words).split_at_mut(taps_len);
        let mut listed = Listed { list: List::new(words, TAIL), pieces: Default::default(), count: 0 };
        let most = drive.rows_at_a_time();
        let mut held = self.kernels.registers.hold();
        let first = drive.tile(self.tiles.start).0;
        let mut end = first;
        for (index, part) in drive.shape.parts.iter().enumerate() {
            let mut walk = self.on.work.walk(self.unit, first);
            let group = self.group(part, packed);
            for tile in self.tiles.clone() {
                let (row, rows) = drive.tile(tile);
                end = row + rows[0] + rows[1];
                let mut to = [0; ROWS];
                let (mut count, mut padded) = (0, false);
                for (i, n) in rows.into_iter().enumerate().filter(|(_, n)| *n > 0) {
                    // What is behind the last row is overwritten, or not looked at.
                    let Some(to) = to[i * rows[0]..].first_chunk_mut() else { continue };
                    let mut half = Half {
                        rows: n,
                        to,
                        padded: false,
                        index: i,
                        part,
                        gatherer: &self.kernels.gathers[index],
                        held: &held,
                        memory: [self.on.a, self.on.zeros],
                        taps: &mut *taps,
                        count: 0,
                        gathered: &mut *gathered,
                    };
                    self.on.work.lines(&mut walk, &mut half);
                    count = half.count;
                    padded |= half.padded;
                }
                let at = At {
                    rows,
                    taps: &taps[..count * TAP],
                    gathered,
                    group: &group,
                    part: index,
                    sums: if drive.shape.carries() { (row - first) * drive.sums_row() } else { 0 },
                };
                let last = index + 1 == drive.shape.parts.len();
                let (ends, padded) = (last && drive.shape.tail.is_some(), last && padded && !drive.shape.product.is_whole());
                if ends {
                    listed.set(&to[..rows[0] + rows[1]], most, drive.sums_row() * 4);
                }
                for near in self.panels.clone().step_by(drive.near()) {
                    let panels = near..self.panels.end.min(near + drive.near());
                    self.products(&mut held, &at, (tile, &panels), sums);
                    if padded {
                        self.without_padding(row..row + rows[0] + rows[1], &panels, &mut sums[at.sums..]);
                    }
                    if ends {
                        self.finish(&held, &listed, &panels, &mut sums[at.sums..]);
                    }
                }
            }
        }
        drop(held);
        if drive.shape.tail.is_none() {
            let columns = self.panels.start * drive.shape.panel..drive.shape.columns.min(self.panels.end * drive.shape.panel);
            self.on.work.store(Sums { unit: self.unit, rows: first..end, columns, sums, spare, step: drive.sums_row() });
        }
    }

    /// The sums of a part of a tile by some panels.
    fn products(&self, held: &mut block::Held<'_>, at: &At<'_>, (tile, panels): (usize, &Range<usize>), sums: &mut [f32]) {
        let (drive, on) = (self.drive, self.on);
        let panel = drive.shape.panel;
        for (i, round) in drive.rounds[at.part].iter().enumerate() {
            held.set(tiles::Shape { rows: at.rows, steps: round.steps });
            for (narrow, some) in drive.kinds(panels) {
                let tall = if at.rows[1] > 0 { 2 } else { 1 };
                let block = self.kernels.blocks[index(tall, narrow, at.part + i > 0)].as_ref();
                let block = block.unwrap_or_else(|| panic!("no kernel of {tall} tiles was made"));
                block.run(
                    held,
                    Call {
                        taps: at.taps,
                        blocks: round.blocks,
                        from: round.before * 4,
                        source: on.a,
                        gathered: at.gathered,
                        b: at.group.b,
                        b_at: at.group.at + (some.start - self.panels.start) * at.group.step + round.before * panel * 4,
                        b_panel: at.group.step,
                        panels: some.len(),
                        sums: &mut sums[at.sums + (some.start - panels.start) * panel..],
                        sums_row: drive.sums_row(),
                        ahead: if narrow || i > 0 { Ahead::default() } else { self.ahead(at, (tile, some.start), round.blocks) },
                    },
                );
            }
        }
    }

    /// Sums rows again that came out as no numbers, without padding: its zeros are none beside a weight that is no finite number.
    #[cold]
    fn without_padding(&self, rows: Range<usize>, panels: &Range<usize>, sums: &mut [f32]) {
        let (drive, on, width) = (self.drive, self.on, self.drive.shape.panel);
        for (row, line) in rows.zip(sums.chunks_mut(drive.sums_row())) {
            let line = &mut line[..panels.len() * width];
            if !line.iter().fold(false, |any, sum| any | sum.is_nan()) {
                continue;
            }
            line.fill(0.0);
            let mut walk = on.work.walk(self.unit, row);
            on.work.inside(&mut walk, &mut |b, address| {
                let from = address.wrapping_sub(on.a.as_ptr().addr());
                for part in drive.shape.parts.iter().filter(|part| part.takes(b)) {
                    for (panel, sums) in panels.clone().zip(line.chunks_exact_mut(width)) {
                        let first = self.b_at + panel * on.b_panel + part.first * width * 4 + b;
                        add_pairs([(on.a, from + part.first * 4), (on.b, first)], part, sums);
                    }
                }
            });
        }
    }

    /// What a tile asks for from a panel on, with so many blocks of every tap: the next group's panels, evenly over all tiles of the task, or the rows
    /// of the next tile. Where there are several parts, either is in many pieces, and nothing is asked for.
    fn ahead(&self, at: &At<'_>, (tile, panel): (usize, usize), blocks: usize) -> Ahead {
        let (drive, on) = (self.drive, self.on);
        let &[_, first, distance, ..] = at.taps else { return Ahead::default() };
        if drive.shape.parts.len() > 1 {
            return Ahead::default();
        }
        let passes = drive.shape.panel.div_ceil(if at.rows[1] > 0 { ROWS } else { 4 * LINES });
        let each = (at.taps.len() / TAP * passes * blocks).max(1);
        let (all, done) = (each * self.panels.len(), each * (panel - self.panels.start));
        if !drive.packs && self.tiles.end == drive.all && self.panels.end < drive.shape.panels() {
            let next = drive.group.min(drive.shape.panels() - self.panels.end) * on.b_panel;
            let step = next.div_ceil(self.tiles.len() * all).min(tiles::AHEAD);
            let before = ((tile - self.tiles.start) * all + done) * step;
            return Ahead { at: on.b.as_ptr().addr().wrapping_add(self.b_at + self.panels.end * on.b_panel + before), step, panel: 0 };
        }
        let bytes = (at.rows[0] + at.rows[1]) * distance;
        let step = bytes.div_ceil(all).min(tiles::AHEAD);
        let is_next = tile + 1 < self.tiles.end && first.wrapping_sub(on.a.as_ptr().addr()) < on.a.len();
        if is_next { Ahead { at: first.wrapping_add(bytes + done * step), step, panel: 0 } } else { Ahead::default() }
    }

    /// Finishes the sums of a tile by some panels, so many at a time that the unit does not go to sleep.
    fn finish(&self, held: &block::Held<'_>, listed: &Listed<'_>, panels: &Range<usize>, sums: &mut [f32]) {
        let (drive, on) = (self.drive, self.on);
        let Some((tail, column)) = on.tail else { return };
        let first = column(self.unit);
        for piece in &listed.pieces[..listed.count] {
            for (narrow, some) in drive.kinds(panels) {
                let (strips, each) = listed.list.strips_of(piece);
                let tile = self.kernels.tails[2 * usize::from(each == 1) + usize::from(narrow)].as_ref();
                let tile = tile.unwrap_or_else(|| panic!("no tail of {each} rows was made"));
                let column = some.start * drive.shape.panel;
                let sums = (&mut sums[(some.start - panels.start) * drive.shape.panel..], drive.sums_row());
                tile.run(TailCall {
                    c: on.c,
                    column,
                    tail_column: first + column,
                    tail: Some(tail),
                    last: (drive.shape.columns - 1) % LINES + 1,
                    ..TailCall::raw(strips, 0, Panels { count: some.len(), ..Panels::one(0) }, sums)
                });
            }
            held.stay_awake();
        }
    }
}
