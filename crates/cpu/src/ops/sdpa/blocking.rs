//! How attention is cut into tasks and blocks. This depends on sizes alone, so results depend neither on the number of workers nor on their
//! order.
//!
//! A *unit* is the queries of one head or, if they are few, of all heads that share keys and values. A task is a block of a unit's rows and
//! all keys or, if that gives too few tasks, a part of the keys; the parts' results are combined after all tasks. A task processes its keys
//! in blocks: scores, the block's panels and the results of the rows stay in L2.

use super::products::{MAX_ROWS, Products};
use oxidnn_spec::op::{Sdpa, SdpaMask};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Elements of a block's keys or values in panels.
const MAX_PANEL_ELEMENTS: usize = 32 << 10;
/// Most keys of a block.
const MAX_BLOCK_KEYS: usize = 256;
/// Most rows of a task.
const MAX_TASK_ROWS: usize = 192;
/// The same if keys after a query are masked: fewer scores are computed in vain.
const MAX_CAUSAL_TASK_ROWS: usize = 96;
/// Queries from which on a head is a unit of its own.
const MIN_UNIT_QUERIES: usize = 64;
/// The number of tasks aimed at, for processors with many cores.
const TARGET_TASKS: usize = 64;
/// Fewest keys of a part.
const MIN_PART_KEYS: usize = 512;

/// Sizes, blocks and tasks.
#[derive(Clone, Debug)]
pub(super) struct Blocking {
    /// Batch, heads of queries, heads of keys.
    pub(super) heads: [usize; 3],
    /// Queries, keys.
    pub(super) queries: usize,
    pub(super) keys: usize,
    /// Elements of a query and of a key; of a value and of a result.
    pub(super) depth: usize,
    pub(super) values: usize,
    mask: SdpaMask,
    /// Heads of a unit.
    together: usize,
    /// Rows of a task (the last of a unit may have fewer); tasks of a unit.
    pub(super) rows: usize,
    blocks: usize,
    /// Keys of a block and of a part; number of parts.
    pub(super) block: usize,
    part: usize,
    pub(super) parts: usize,
}

/// The rows of a task: their batch index and heads.
#[derive(Clone, Debug)]
pub(super) struct RowBlock {
    pub(super) batch: usize,
    /// Index of the head of the keys.
    pub(super) shared: usize,
    /// Rows, counted over all heads of the batch.
    pub(super) rows: Range<usize>,
    pub(super) keys: Range<usize>,
}

impl Blocking {
    pub(super) fn new(op: &Sdpa, products: &Products) -> Blocking {
        let size = |t: &oxidnn_spec::Tensor, d: usize| t.dims()[d].max(0) as usize;
        let heads = [size(&op.q, 0), size(&op.q, 1), size(&op.k, 1)];
        let [queries, keys, depth, values] = [size(&op.q, 2), size(&op.k, 3), size(&op.q, 3), size(&op.v, 3)];
        let group = heads[1] / heads[2].max(1);
        let together = if queries < MIN_UNIT_QUERIES { group.max(1) } else { 1 };
        let causal = matches!(op.mask_kind, SdpaMask::CausalTopLeft | SdpaMask::CausalBottomRight);
        let all = together.saturating_mul(queries).max(1);
        let tall = if causal { MAX_CAUSAL_TASK_ROWS } else { MAX_TASK_ROWS }.min(MAX_ROWS);
        let rows = all.div_ceil(all.div_ceil(tall));
        let blocks = all.div_ceil(rows);
        let width = products.width(keys);
        let most = (MAX_PANEL_ELEMENTS / depth.max(values).max(1)).clamp(width, MAX_BLOCK_KEYS.max(width));
        let block = keys.min(most / width * width).max(1);
        let tasks = (heads[0].saturating_mul(heads[1]) / together).saturating_mul(blocks).max(1);
        let parts = TARGET_TASKS.div_ceil(tasks).min(keys / MIN_PART_KEYS).max(1);
        let part = keys.div_ceil(parts).next_multiple_of(block);
        let parts = keys.div_ceil(part).max(1);
        Blocking { heads, queries, keys, depth, values, mask: op.mask_kind, together, rows, blocks, block, part, parts }
    }

    /// Number of blocks of rows of all units.
    pub(super) fn row_blocks(&self) -> usize {
        self.heads[0] * (self.heads[1] / self.together) * self.blocks
    }

    /// The numbers of rows that tasks have.
    pub(super) fn heights(&self) -> [usize; 2] {
        let last = self.together * self.queries - (self.blocks - 1) * self.rows;
        [self.rows, last]
    }

    /// A block of rows by a part of the keys.
    pub(super) fn place(&self, row_block: usize, part: usize) -> RowBlock {
        let units = self.heads[1] / self.together;
        let (unit, block) = (row_block / self.blocks, row_block % self.blocks);
        let (batch, head) = (unit / units, unit % units * self.together);
        let (first, all) = (head * self.queries, self.together * self.queries);
        let rows = first + block * self.rows..first + ((block + 1) * self.rows).min(all);
        let keys = part * self.part..((part + 1) * self.part).min(self.keys);
        RowBlock { batch, shared: head * self.heads[2] / self.heads[1].max(1), rows, keys }
    }

    /// How many keys, from the first on, the query of a row may attend to.
    #[inline(always)]
    pub(super) fn visible(&self, row: usize) -> usize {
        let query = || row % self.queries;
        match self.mask {
            SdpaMask::None | SdpaMask::Buffer => self.keys,
            SdpaMask::CausalTopLeft => (query() + 1).min(self.keys),
            SdpaMask::CausalBottomRight => (query() + 1 + self.keys).saturating_sub(self.queries).min(self.keys),
        }
    }

    /// Blocks of a part.
    pub(super) fn key_blocks(&self) -> usize {
        self.part.min(self.keys).div_ceil(self.block)
    }

    /// The end of the keys that any of the rows may attend to.
    pub(super) fn reach(&self, rows: &Range<usize>) -> usize {
        let crosses = rows.len() > 1 && rows.start / self.queries != (rows.end - 1) / self.queries;
        self.visible(if crosses { self.queries - 1 } else { rows.end - 1 })
    }
}

/// Most words of panels that a worker keeps: keys and values of a head, in L3 if L2 is too small.
const MAX_KEPT_WORDS: usize = 2 << 20;
/// Tasks that a worker should have, so that the work balances.
const TASKS_PER_WORKER: usize = 4;

/// Groups of blocks of rows that become one task, which processes them one after the other with the same panels of keys and values. They
/// decide only how often these are packed, so they may depend on the number of workers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    /// Blocks of rows with the same keys.
    shared: usize,
    /// Groups of these, and blocks of a group (the last may have fewer).
    groups: usize,
    pub(super) each: usize,
}

impl Groups {
    /// The groups for `workers` workers, if the panels of a part take `words` words.
    pub(super) fn new(blocking: &Blocking, workers: usize, words: usize) -> Groups {
        let (units, workers) = ((blocking.heads[0] * blocking.heads[2]).max(1), workers.max(1));
        let shared = blocking.row_blocks() / units;
        let fits = |groups: &usize| {
            let tasks = units * groups * blocking.parts;
            // The last round of tasks must not leave many workers idle.
            workers == 1 || tasks >= TASKS_PER_WORKER * workers && tasks.next_multiple_of(workers) * 16 <= tasks * 17
        };
        let groups = if words > MAX_KEPT_WORDS { shared } else { (1..shared).find(fits).unwrap_or(shared) };
        let each = shared.div_ceil(groups.max(1)).max(1);
        Groups { shared, groups: shared.div_ceil(each), each }
    }

    /// Whether panels are kept from one block of rows to the next.
    pub(super) fn keep(&self) -> bool {
        self.each > 1
    }

    /// Number of all groups.
    pub(super) fn count(&self, blocking: &Blocking) -> usize {
        blocking.heads[0] * blocking.heads[2] * self.groups
    }

    /// The blocks of rows of a group.
    pub(super) fn blocks(&self, group: usize) -> Range<usize> {
        let (unit, group) = (group / self.groups, group % self.groups);
        let from = |group: usize| unit * self.shared + (group * self.each).min(self.shared);
        from(group)..from(group + 1)
    }

    /// The group of a block of rows, and the block's index in it.
    pub(super) fn of(&self, row_block: usize) -> (usize, usize) {
        let (unit, block) = (row_block / self.shared, row_block % self.shared);
        (unit * self.groups + block / self.each, block % self.each)
    }
}

/// Elements of a block's keys or values in panels, of gradients.
const MAX_BACKWARD_PANEL_ELEMENTS: usize = 16 << 10;
/// Most rows and keys of a block of gradients: twice as much must stay in L2 as in a forward pass.
const MAX_BACKWARD_BLOCK: usize = 128;
/// The number of tasks aimed at: each has memory for gradients of queries.
const BACKWARD_TARGET_TASKS: usize = 32;
/// Most parts of the keys of a head.
const MAX_BACKWARD_PARTS: usize = 4;

/// How gradients are cut: a unit is a head of keys with all queries that attend to it, a task is a part of its keys.
#[derive(Clone, Debug)]
pub(super) struct BackwardBlocking {
    batch: usize,
    /// Heads of keys.
    pub(super) heads: usize,
    pub(super) queries: usize,
    pub(super) keys: usize,
    pub(super) depth: usize,
    pub(super) values: usize,
    forward: Blocking,
    /// Rows of a unit and of a block; number of blocks.
    pub(super) all_rows: usize,
    pub(super) rows: usize,
    pub(super) blocks: usize,
    /// Keys of a block and of a part; number of parts.
    pub(super) block: usize,
    part: usize,
    pub(super) parts: usize,
}

impl BackwardBlocking {
    pub(super) fn new(op: &Sdpa, products: &Products) -> BackwardBlocking {
        let forward = Blocking::new(op, products);
        let &Blocking { heads: [batch, heads, shared], queries, keys, depth, values, .. } = &forward;
        let all_rows = heads / shared.max(1) * queries;
        let rows = all_rows.div_ceil(all_rows.div_ceil(MAX_BACKWARD_BLOCK).max(1)).max(1);
        let width = products.width(keys).max(1);
        let most = (MAX_BACKWARD_PANEL_ELEMENTS / depth.max(values).max(1)).clamp(width, MAX_BACKWARD_BLOCK.max(width));
        let block = keys.min(most / width * width).max(1);
        let parts =
            BACKWARD_TARGET_TASKS.div_ceil(batch.saturating_mul(shared).max(1)).min(keys / MIN_PART_KEYS).clamp(1, MAX_BACKWARD_PARTS);
        let part = keys.div_ceil(parts).next_multiple_of(block).max(block);
        let parts = keys.div_ceil(part).max(1);
        let blocks = all_rows.div_ceil(rows);
        BackwardBlocking { batch, heads: shared, queries, keys, depth, values, forward, all_rows, rows, blocks, block, part, parts }
    }

    pub(super) fn units(&self) -> usize {
        self.batch * self.heads
    }

    pub(super) fn tasks(&self) -> usize {
        self.units() * self.parts
    }

    /// The keys of a part.
    pub(super) fn part(&self, part: usize) -> Range<usize> {
        part * self.part..((part + 1) * self.part).min(self.keys)
    }

    /// The rows of a block, counted from the first of the unit.
    pub(super) fn block_rows(&self, block: usize) -> Range<usize> {
        block * self.rows..((block + 1) * self.rows).min(self.all_rows)
    }

    /// Batch index and first row of a unit, counted over all heads of the batch.
    pub(super) fn first_row(&self, unit: usize) -> (usize, usize) {
        (unit / self.heads, unit % self.heads * self.all_rows)
    }

    /// The numbers of rows that blocks have.
    pub(super) fn heights(&self) -> [usize; 2] {
        [self.rows, self.all_rows - self.blocks.saturating_sub(1) * self.rows]
    }

    /// The numbers of keys that blocks have.
    pub(super) fn key_heights(&self) -> [usize; 2] {
        [self.block.min(self.keys), self.keys - self.keys.saturating_sub(1) / self.block * self.block]
    }

    /// How many keys, from the first on, the query of a row of a unit may attend to.
    #[inline(always)]
    pub(super) fn visible(&self, row: usize) -> usize {
        self.forward.visible(row)
    }
}
