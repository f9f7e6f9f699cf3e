//! How a product on AMX is cut into tasks: blocks of tiles by groups of panels, for which the busiest worker is predicted to end first.

use super::cost::{Cycles, TASK_CYCLES};
use super::macrokernel::Shape;
use crate::hardware::KBlockBytes;
use oxidnn_jit::kernels::tiles::LINES;

/// Tasks for every worker, if there are several.
const TASKS_PER_WORKER: usize = 4;
/// Predicted cycles that make a task worthwhile, and those that make another worker worthwhile.
const MIN_TASK_CYCLES: f64 = 16e3;
const MIN_WORKER_CYCLES: f64 = 6e3;
/// The ratio of predicted times from which on more groups are preferred.
const WORTHWHILE: f64 = 1.125;

/// What is divided: panels and tiles of rows, with the bytes of K blocks.
pub(super) struct Division<'s> {
    pub(super) shape: &'s Shape,
    pub(super) cycles: Cycles,
    pub(super) k: KBlockBytes,
    /// Pieces of rows, and rows.
    pub(super) rows: [f64; 2],
    /// Bytes of the sums that stay in a cache.
    pub(super) sums: usize,
    /// Fewest tiles for which a panel is read.
    pub(super) least: usize,
    /// Whether every group gathers its rows again.
    pub(super) gathers: bool,
}

impl Division<'_> {
    /// The workers that are worthwhile, and all tasks: several for each worker only if `many`.
    pub(super) fn tasks(&self, threads: usize, many: bool) -> [usize; 2] {
        let work = self.cycles.of_rows(self.rows, self.shape.columns.div_ceil(LINES)) * self.shape.units as f64;
        let workers = ((work / MIN_WORKER_CYCLES) as usize).clamp(1, threads);
        let most = if many && workers == threads { TASKS_PER_WORKER } else { 1 };
        [workers, workers * ((work / MIN_TASK_CYCLES) as usize / workers).clamp(1, most)]
    }

    /// Panels of a group and tiles of a block for about `tasks` tasks, and panels of up to `bytes` bytes: as few groups as rows allow that
    /// read panels often enough, or more if workers then end together.
    pub(super) fn cut(&self, bytes: usize, [workers, tasks]: [usize; 2]) -> [usize; 2] {
        let (all, panels, units) = (self.k.tiles, self.k.panels, self.shape.units);
        let (nc, wanted) = (self.k.blocks([bytes, self.sums]).nc, tasks.div_ceil(units.max(1)));
        let of = |groups: usize| {
            let group = nc.min(panels.div_ceil(groups));
            [group, all.div_ceil(wanted.div_ceil(panels.div_ceil(group))).max(1).min(self.k.mc(group, self.sums))]
        };
        // The busiest worker reads every panel and gathers every row of its tasks once.
        let longest = |[group, block]: [usize; 2]| {
            let columns = self.shape.columns.min(group * self.shape.panel);
            let tasks = units * panels.div_ceil(group) * all.div_ceil(block);
            let gathering = if self.gathers { self.cycles.of(block, 1) } else { 0.0 };
            tasks.div_ceil(workers) as f64
                * (self.cycles.of(block, columns) + self.cycles.of(self.least, columns) + gathering + TASK_CYCLES)
        };
        let fewest = wanted.div_ceil((all / self.least).max(1)).min(panels);
        let most = if workers > 1 { wanted.min(panels) } else { fewest };
        let predicted = |groups: usize| longest(of(groups)) * if groups > fewest { WORTHWHILE } else { 1.0 };
        of((fewest..=most).min_by(|a, b| predicted(*a).total_cmp(&predicted(*b))).unwrap_or(fewest))
    }
}
