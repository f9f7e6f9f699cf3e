//! How the steps of a layer are cut into tasks. Steps depend on each other; samples and directions are independent.

use super::persistent::{self, Persistent, Task};
use super::sizes::Sizes;
use crate::CpuTarget;
use crate::kernels::scratch::Part;
use oxidnn_runtime::Executor;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Most rows of a slice of the batch: their gates for a panel stay in L1.
const MAX_SLICE_ROWS: usize = 48;
/// Rows that fill a tile.
const TILE_ROWS: usize = 6;
/// Multiply-adds of a step that make a fork worthwhile.
const MIN_FORK_MULTIPLY_ADDS: usize = 128 << 10;

/// What a single step reads once comes from beyond L2 if it is so much smaller than what stays there from step to step.
const ONCE: usize = 2;

/// The cut of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Partition {
    /// Samples.
    pub(super) batch: usize,
    /// Slices of the batch.
    pub(super) slices: usize,
    /// Whether a task is a slice of a direction with all its steps; otherwise it is a panel of a slice in one step.
    pub(super) whole: bool,
    /// Whether the recurrent weights come from beyond L2 in every step.
    pub(super) far: bool,
    directions: usize,
    workers: usize,
}

impl Partition {
    /// That of a single row, for products without steps.
    pub(super) const ROW: Partition = Partition { batch: 1, slices: 1, whole: true, far: false, directions: 1, workers: 1 };

    /// The cut for a processor, `panels` panels, and `weights` bytes of recurrent weights of a direction. It decides who computes what, not
    /// how.
    pub(super) fn new(z: &Sizes, target: &CpuTarget, panels: usize, weights: usize) -> Partition {
        let workers = target.threads;
        let least = z.batch.div_ceil(MAX_SLICE_ROWS);
        let most = (z.batch / TILE_ROWS).max(1);
        let step = [z.batch, z.sic, z.gates, z.dhc].into_iter().fold(z.directions, usize::saturating_mul);
        let slices = |tasks: usize| least.max(workers.div_ceil(tasks).min(most));
        let whole = workers == 1
            || step <= MIN_FORK_MULTIPLY_ADDS
            || z.directions * least >= workers
            || weights <= target.caches.budget(false).recurrent && z.directions * slices(z.directions) >= workers;
        Partition {
            batch: z.batch,
            slices: slices(if whole { z.directions } else { z.directions * panels }),
            whole,
            far: weights > target.caches.budget(false).far / if z.time == 1 { ONCE } else { 1 },
            directions: z.directions,
            workers,
        }
    }

    /// The samples of a slice; `slice / slices` of all samples are before it.
    pub(super) fn rows(&self, slice: usize) -> Range<usize> {
        let (each, rest) = (self.batch / self.slices, self.batch % self.slices);
        let begin = |slice: usize| slice * each + slice * rest / self.slices;
        begin(slice)..begin(slice + 1)
    }

    /// Rows of the smallest and of the largest slices; all slices have one of these numbers.
    pub(super) fn heights(&self) -> [usize; 2] {
        [self.batch / self.slices, self.tallest()]
    }

    /// Rows of the largest slice.
    pub(super) fn tallest(&self) -> usize {
        self.batch.div_ceil(self.slices)
    }

    /// Calls `task` for all panels of both phases of all steps, with the worker's scratch; a phase begins when the one before is done.
    /// `phases` are the panels of each phase of a step.
    pub(super) fn run(
        &self,
        executor: &dyn Executor,
        (steps, phases): (usize, [usize; 2]),
        work: &mut Part<'_>,
        task: &(dyn Fn(&PanelTask, &mut [f32]) + Sync),
    ) {
        let Partition { workers, directions, .. } = *self;
        let threads = workers.min(executor.threads());
        if self.whole || threads <= 1 {
            return work.work(executor, workers, directions * self.slices, &|index, share| {
                let (d, slice) = (index / self.slices, index % self.slices);
                for step in 0..steps {
                    for (phase, panels) in phases.into_iter().enumerate() {
                        for index in 0..panels {
                            let panel = persistent::serpentine(0..panels, step, index);
                            task(&PanelTask { d, rows: self.rows(slice), step, phase, panel }, share);
                        }
                    }
                }
            });
        }
        let persistent = Persistent::new(threads, steps, phases.map(|panels| directions * self.slices * panels));
        work.work(executor, workers, persistent.threads(), &|thread, share| {
            persistent.run(thread, &mut |Task { step, phase, index }| {
                let (panel, rest) = (index % phases[phase], index / phases[phase]);
                let place = PanelTask { d: rest / self.slices, rows: self.rows(rest % self.slices), step, phase, panel };
                task(&place, share);
            });
        });
    }
}

/// A panel of a slice in a phase of a step.
#[derive(Clone, Debug)]
pub(super) struct PanelTask {
    pub(super) d: usize,
    pub(super) rows: Range<usize>,
    pub(super) step: usize,
    pub(super) phase: usize,
    pub(super) panel: usize,
}
