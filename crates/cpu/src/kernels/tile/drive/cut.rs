//! How a product is cut into tasks: pieces of equal weight of one long line.
//!
//! The line goes through the units, in a unit through groups of panels, in a group through the tiles of rows. A task is a piece of it, wherever
//! groups end: so many tasks as workers want are equally long, however few panels and tiles there are (five panels for two workers are two
//! and a half for either). A worker's tasks follow each other, so that only a panel where one worker ends and another begins is read by both.

use super::Part;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Bytes of panels that stay in the second cache.
const PANELS: usize = 384 << 10;
/// Tasks that a large product is cut into, so that nobody waits long for the last.
const TASKS: usize = 32;
/// Multiply-adds that are worth a task of their own, and those that are worth another worker.
const WORTH: usize = 1 << 20;
const WORKER: usize = 256 << 10;
/// Tiles that a task has at least, for panels within and beyond [`STAYS`] bytes.
const TILES: usize = 4;
const FAR_TILES: usize = 24;
/// Bytes of a panel that stays in the second cache from one task to the next.
const STAYS: usize = 512 << 10;

/// What is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'s> {
    pub(super) units: usize,
    /// Rows of a unit, and the tiles that they are.
    pub(super) rows: usize,
    pub(super) tiles: usize,
    /// Columns of a unit and of a panel, in vectors.
    pub(super) vectors: usize,
    pub(super) panel: usize,
    /// Bytes of a vector of `B`.
    pub(super) vector: usize,
    /// Bytes of `A` that all rows meet together.
    pub(super) source: usize,
    pub(super) parts: &'s [Part],
    pub(super) workers: usize,
}

/// The tasks of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    tiles: usize,
    vectors: usize,
    panel: usize,
    /// Groups of panels of a unit.
    pub(super) groups: usize,
    units: usize,
    pub(super) tasks: usize,
}

/// A block of rows by a group of panels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) unit: usize,
    pub(super) tiles: Range<usize>,
    pub(super) panels: Range<usize>,
}

impl Line<'_> {
    /// Bytes of a panel in a part.
    fn bytes(&self, part: &Part) -> usize {
        part.taps * (part.steps + usize::from(part.partial > 0)) * self.panel * self.vector
    }

    /// Bytes of a panel in all parts.
    pub(super) fn all_bytes(&self) -> usize {
        self.parts.iter().map(|p| self.bytes(p)).sum()
    }

    /// Tasks that are wanted and worth it: one for each worker, or a multiple of that.
    fn wanted(&self) -> usize {
        let steps: usize = self.parts.iter().map(|p| p.taps * (p.steps + 1)).sum();
        let work = [self.rows, self.vectors * self.vector / 4, steps].into_iter().fold(self.units, usize::saturating_mul);
        let few = (work / WORKER).clamp(1, self.workers.max(1));
        if few < self.workers { few } else { (work / WORTH).clamp(1, TASKS.max(few)).next_multiple_of(few) }
    }
}

impl Cut {
    /// Decides about a product.
    pub(super) fn new(line: Line<'_>) -> Cut {
        let panels = line.vectors.div_ceil(line.panel).max(1);
        let widest = line.parts.iter().map(|p| line.bytes(p)).max().unwrap_or(0).max(1);
        let wanted = line.wanted();
        // Of rows and panels the smaller is read by every worker, the larger once.
        let most = if line.source < line.all_bytes() * panels { panels.div_ceil(wanted) } else { panels };
        let groups = panels.div_ceil((PANELS / widest).clamp(1, most));
        let workers = wanted.min(line.workers.max(1));
        let (all, least) = (line.units * groups, if line.all_bytes() > STAYS { FAR_TILES } else { TILES });
        let fits = |whole: bool| {
            let cut = move |t: &usize| if whole { all.is_multiple_of(*t) && t / workers > 2 } else { t * least <= all * line.tiles };
            (1..=wanted / workers).rev().map(|n| n * workers).find(cut)
        };
        let tasks = fits(true).or_else(|| fits(false)).unwrap_or(workers);
        Cut { tiles: line.tiles, vectors: line.vectors, panel: line.panel, groups, units: line.units, tasks }
    }

    fn panels(&self) -> usize {
        self.vectors.div_ceil(self.panel)
    }

    /// The panels of a group.
    pub(super) fn group(&self, group: usize) -> Range<usize> {
        let first = |i: usize| i * self.panels() / self.groups;
        first(group)..first(group + 1)
    }

    /// The panels of the group behind one.
    pub(super) fn behind(&self, panels: &Range<usize>) -> Range<usize> {
        let next = (0..self.groups).find(|g| self.group(*g).start == panels.end);
        next.map_or(0..0, |g| self.group(g))
    }

    /// Most panels of a group.
    pub(super) fn most_panels(&self) -> usize {
        self.panels().div_ceil(self.groups)
    }

    /// Tiles of all pieces that have the same panels, on average.
    pub(super) fn blocks(&self) -> usize {
        self.tasks.div_ceil(self.units * self.groups)
    }

    /// Where a task begins: units and groups before it, tiles of its first group.
    fn start(&self, task: usize) -> (usize, usize) {
        let unit_weight = self.vectors * self.tiles;
        let at = (task as u128 * (self.units * unit_weight) as u128 / self.tasks as u128) as usize;
        let (unit, rest) = (at / unit_weight.max(1), at % unit_weight.max(1));
        let end = |group: usize| (self.group(group).end * self.panel).min(self.vectors);
        let group = (0..self.groups).find(|g| rest < end(*g) * self.tiles).unwrap_or(0);
        let before = self.group(group).start * self.panel;
        let weight = (end(group) - before).max(1);
        (unit * self.groups + group, (rest - before * self.tiles + weight / 2) / weight)
    }

    /// The pieces of a task.
    pub(super) fn pieces(&self, task: usize) -> impl Iterator<Item = Piece> + use<> {
        let (cut, first, end) = (*self, self.start(task), self.start(task + 1));
        (first.0..=end.0).filter_map(move |at| {
            let tiles = if at == first.0 { first.1 } else { 0 }..if at == end.0 { end.1 } else { cut.tiles };
            (!tiles.is_empty()).then(|| Piece { unit: at / cut.groups, tiles, panels: cut.group(at % cut.groups) })
        })
    }
}
