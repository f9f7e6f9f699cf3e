//! How a product is cut into tasks: pieces of equal weight of one linear order.
//!
//! The order runs through the units; in a unit through blocks of rows that stay in L3; in a block through groups of panels; in a group
//! through the tiles of rows. Units whose rows are side by side in memory, as in a grouped convolution, are instead ordered by blocks of
//! rows if all of them together exceed L2: then a cache line is fetched once for all units that have a part of it. A task is a piece of the
//! order, not necessarily of whole groups, so tasks are equally long for any number of workers, however few panels and tiles there are
//! (five panels for two workers are two and a half for each). A worker's tasks are consecutive, so two workers read the same panel only
//! where one worker's tasks end and the other's begin.

use super::KBlock;
use crate::hardware::Budget;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Tasks of each worker if there are several, so that nobody waits long for the last one. More would cost more than they save, since a task
/// begins with a few hundred cycles for addresses.
const TASKS_PER_WORKER: usize = 4;
/// Multiply-adds that make a task worthwhile, and those that make another worker worthwhile.
const MIN_TASK_MULTIPLY_ADDS: usize = 1 << 20;
const MIN_WORKER_MULTIPLY_ADDS: usize = 128 << 10;
/// Rows whose products with a panel take as long as packing it, or as reading it.
const ROWS_PER_PANEL: usize = 8;
/// Fewest tiles of a task: if panels stay in L2 from one task to the next, and if not.
const MIN_TASK_TILES: usize = 4;
const MIN_TASK_TILES_BEYOND_L2: usize = 24;
/// Fewest tiles of a block of rows if units are side by side, and the steps of all its tiles from which on the time to find blocks does not
/// matter.
const MIN_BLOCK_TILES_INTERLEAVED: usize = 4;
const MIN_BLOCK_STEPS_INTERLEAVED: usize = 256;

/// The product to cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workload<'s> {
    pub(super) units: usize,
    /// Rows of a unit, and number of tiles of these.
    pub(super) rows: usize,
    pub(super) tiles: usize,
    /// Columns of a unit and of a panel, in vectors.
    pub(super) vectors: usize,
    pub(super) panel: usize,
    /// Bytes of a vector of `B` for one step, and whether panels are packed.
    pub(super) vector: usize,
    pub(super) packs: bool,
    /// Bytes of `A` that all rows use together.
    pub(super) source: usize,
    /// Bytes of a row of all units in both operands, if these are side by side; else 0.
    pub(super) joint_row_bytes: usize,
    pub(super) parts: &'s [KBlock],
    pub(super) workers: usize,
    /// Bytes of the panels of a K block that stay in L2.
    pub(super) panels: usize,
    pub(super) budget: &'s Budget,
}

/// The tasks of a product.
#[derive(Clone, Debug)]
pub(super) struct Partition {
    /// Tiles of a unit and of a block of rows; blocks of a unit.
    tiles: usize,
    block: usize,
    blocks: usize,
    /// Units that are interleaved block by block; 1 if units follow each other.
    units: usize,
    groups: PanelGroups,
    /// Where each task begins and where the last one ends: number of groups before it, over all blocks, and tiles before it in its first
    /// group.
    starts: Vec<(usize, usize)>,
}

/// The panels of a unit, in groups of as equal sizes as possible.
#[derive(Clone, Copy, Debug)]
struct PanelGroups {
    panels: usize,
    count: usize,
}

impl PanelGroups {
    /// The first panel of a group, or the end of the last one.
    fn start(&self, group: usize) -> usize {
        let (each, more) = (self.panels / self.count, self.panels % self.count);
        let rest = match group.checked_mul(more) {
            Some(product) => product / self.count,
            None => (group as u128 * more as u128 / self.count as u128) as usize,
        };
        group * each + rest
    }

    /// The first group for which `reached` holds (it then holds for all later ones); the number of groups if there is none.
    fn first(&self, reached: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if reached(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }
}

/// A block of rows by a group of panels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) unit: usize,
    pub(super) tiles: Range<usize>,
    pub(super) panels: Range<usize>,
}

impl Workload<'_> {
    /// Bytes of a panel in a K block.
    fn bytes(&self, part: &KBlock) -> usize {
        part.taps * (part.steps + usize::from(part.k_tail > 0)) * self.panel * self.vector
    }

    /// Bytes of a panel in all K blocks.
    pub(super) fn all_bytes(&self) -> usize {
        self.parts.iter().map(|p| self.bytes(p)).sum()
    }

    /// The number of tasks aimed at: one for each worker or a multiple of that, as far as the work justifies.
    fn wanted(&self) -> usize {
        let steps: usize = self.parts.iter().map(|p| p.taps * (p.steps + 1)).sum();
        let rows = self.rows.max(ROWS_PER_PANEL) + if self.packs { ROWS_PER_PANEL } else { 0 };
        let work = [rows, self.vectors * self.vector / 4, steps].into_iter().fold(self.units, usize::saturating_mul);
        let few = (work / MIN_WORKER_MULTIPLY_ADDS).clamp(1, self.workers.max(1));
        if few < self.workers || few == 1 { few } else { few * (work / MIN_TASK_MULTIPLY_ADDS / few).clamp(1, TASKS_PER_WORKER) }
    }

    /// Tiles of a block of rows whose rows of `A` in a K block stay in L3 for all groups of panels.
    fn block(&self, groups: usize) -> usize {
        let tile = self.source / (self.units * self.tiles * self.parts.len()).max(1);
        let fits = (self.budget.rows / tile.max(1)).max(MIN_TASK_TILES_BEYOND_L2);
        if groups > 1 && fits < self.tiles { self.tiles.div_ceil(self.tiles.div_ceil(fits)) } else { self.tiles.max(1) }
    }

    /// Tiles of a block of rows if units are interleaved by blocks; `None` if units follow each other.
    fn interleaved_block(&self) -> Option<usize> {
        let tile = self.joint_row_bytes.saturating_mul(self.rows.div_ceil(self.tiles.max(1)));
        let far = self.units > 1 && tile.saturating_mul(self.tiles) > self.budget.far;
        let steps = self.parts.iter().fold(0usize, |sum, p| sum.saturating_add(p.taps.saturating_mul(p.steps)));
        let block = (self.budget.far / tile.max(1)).clamp(MIN_BLOCK_TILES_INTERLEAVED, self.tiles.max(MIN_BLOCK_TILES_INTERLEAVED));
        (far && steps.saturating_mul(block) >= MIN_BLOCK_STEPS_INTERLEAVED).then_some(block)
    }

    /// Where task `task` of `tasks` begins: number of groups before it, over all blocks, and tiles before it in its first group. `units`
    /// units are interleaved.
    fn start(&self, (groups, block, units): (&PanelGroups, usize, usize), task: usize, tasks: usize) -> (usize, usize) {
        let all = self.units * self.vectors * self.tiles;
        let at = all / tasks * task + all % tasks * task / tasks;
        let weight = (units * self.vectors * self.tiles).max(1);
        let (first, rest) = (at / weight * units, at % weight);
        let weight = (units * self.vectors * block).max(1);
        let (index, rest) = (rest / weight, rest % weight);
        let tiles = block.min(self.tiles - index * block);
        let weight = (self.vectors * tiles).max(1);
        let (unit, rest) = (rest / weight, rest % weight);
        let end = |group: usize| (groups.start(group + 1) * self.panel).min(self.vectors);
        let group = Some(groups.first(|g| rest < end(g) * tiles)).filter(|g| *g < groups.count).unwrap_or(0);
        let before = groups.start(group) * self.panel;
        let weight = (end(group) - before).max(1);
        let blocks = self.tiles.div_ceil(block);
        let before_it = first * blocks + index * units + unit;
        (before_it * groups.count + group, (rest - before * tiles + weight / 2) / weight)
    }
}

impl Partition {
    /// Cuts a product.
    pub(super) fn new(line: Workload<'_>) -> Partition {
        let panels = line.vectors.div_ceil(line.panel).max(1);
        let widest = line.parts.iter().map(|p| line.bytes(p)).max().unwrap_or(0).max(1);
        let wanted = line.wanted();
        // Of rows and panels, all workers read the smaller one, and the larger one is split.
        let most = if line.source < line.all_bytes() * panels { panels.div_ceil(wanted) } else { panels };
        let groups = panels.div_ceil((line.panels / widest).clamp(1, most));
        let workers = wanted.min(line.workers.max(1));
        let (all, least) =
            (line.units * groups, if line.all_bytes() > line.budget.far { MIN_TASK_TILES_BEYOND_L2 } else { MIN_TASK_TILES });
        let fits = |whole: bool| {
            let cut = move |t: &usize| if whole { all.is_multiple_of(*t) && t / workers > 2 } else { t * least <= all * line.tiles };
            (1..=wanted / workers).rev().map(|n| n * workers).find(cut)
        };
        let tasks = fits(true).or_else(|| fits(false)).unwrap_or(workers);
        let groups = PanelGroups { panels, count: groups };
        let interleaved = line.interleaved_block();
        let (block, units) = interleaved.map_or_else(|| (line.block(groups.count), 1), |block| (block, line.units));
        let starts = (0..=tasks).map(|task| line.start((&groups, block, units), task, tasks)).collect();
        Partition { tiles: line.tiles, block, blocks: line.tiles.div_ceil(block).max(1), units, groups, starts }
    }

    /// Tiles of a block of rows.
    pub(super) fn block(&self) -> usize {
        self.block
    }

    /// Number of tasks.
    pub(super) fn tasks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of groups of a unit.
    pub(super) fn groups(&self) -> usize {
        self.groups.count
    }

    /// The panels of a group.
    pub(super) fn group(&self, group: usize) -> Range<usize> {
        if self.groups.count == 1 { 0..self.groups.panels } else { self.groups.start(group)..self.groups.start(group + 1) }
    }

    /// The panels of the group after `panels`.
    pub(super) fn behind(&self, panels: &Range<usize>) -> Range<usize> {
        let next = self.groups.first(|group| self.groups.start(group) >= panels.end);
        if next < self.groups() { self.group(next) } else { 0..0 }
    }

    /// Most panels of a group.
    pub(super) fn most_panels(&self) -> usize {
        self.groups.panels.div_ceil(self.groups.count)
    }

    /// The groups, over all blocks, of which a task has tiles.
    pub(super) fn span(&self, task: usize) -> Range<usize> {
        let (first, end) = (self.starts[task], self.starts[task + 1]);
        first.0..end.0 + usize::from(end.1 > 0)
    }

    /// The part of a group of a block that belongs to a task; `None` if there is none.
    #[inline]
    pub(super) fn piece(&self, task: usize, at: usize) -> Option<Piece> {
        let (first, end) = (self.starts[task], self.starts[task + 1]);
        let (index, group) = if self.groups() == 1 { (at, 0) } else { (at / self.groups(), at % self.groups()) };
        let (unit, block) = match (self.blocks, self.units) {
            (1, _) => (index, 0),
            (blocks, 1) => (index / blocks, index % blocks),
            (blocks, units) => (index / (blocks * units) * units + index % units, index / units % blocks),
        };
        let start = block * self.block;
        let from = if at == first.0 { first.1 } else { 0 };
        let to = if at == end.0 { end.1 } else { self.block };
        let tiles = start + from..self.tiles.min(start + to);
        (!tiles.is_empty()).then(|| Piece { unit, tiles, panels: self.group(group) })
    }

    /// The pieces of a task.
    pub(super) fn pieces(&self, task: usize) -> impl Iterator<Item = Piece> {
        self.span(task).filter_map(move |at| self.piece(task, at))
    }
}
