//! How a product is cut into tasks: by its sizes alone, so that results do not depend on the number of threads.

use super::Request;
use super::weights::WeightOrder;
use oxidnn_jit::kernels::gemv::Gemv;
use oxidnn_jit::kernels::unpack::Decode;

/// Fewest bytes of weights in a task, if there are enough: memory delivers long streams faster.
const TASK_BYTES: usize = 128 << 10;
/// The same of panels and columns: each block is finished on its own, which takes as long as some KiB from L2.
const FINISHED_TASK_BYTES: usize = 256 << 10;
/// Most tasks of a product.
const TASKS: usize = 64;
/// Number of tasks below which K is cut as well.
const FEW_TASKS: usize = 16;
/// Columns that are finished together.
const COLUMNS: usize = 256;
/// Sums that stay in L1 while rows of weights are read.
const SUMS: usize = 8 << 10;
/// Fewest rows of weights in a slice: its sums are written, and read again to be added.
const LINES: usize = 64;
/// Fewest columns of a block of rows of weights that is cut for the sake of more tasks.
const LEAST_COLUMNS: usize = 512;

/// The parts of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    /// Columns of a block.
    pub(super) block: usize,
    /// Blocks of a task.
    pub(super) each: usize,
    /// Tasks along the columns.
    pub(super) tasks: usize,
    /// Elements of K in a slice.
    pub(super) slice: usize,
    /// Slices of K, whose sums are added at the end.
    pub(super) slices: usize,
    /// Columns that a kernel takes at a time, unless weights are stored by rows.
    pub(super) taken: usize,
}

impl Cut {
    /// Cuts a product; slices are multiples of `unit`.
    pub(super) fn new(request: &Request, decode: Decode, unit: usize) -> Cut {
        let Request { isa, weights, rows, grouped, .. } = *request;
        let (bytes, n) = (weights.bytes(), weights.n);
        let each = if matches!(weights.order, WeightOrder::Rows { .. }) { TASK_BYTES } else { FINISHED_TASK_BYTES };
        // Rows take turns with decoded elements.
        let work = if weights.stored.bits() <= 8 { bytes.saturating_mul(1 + rows) / 2 } else { bytes };
        let want = (work / each).clamp(1, TASKS);
        let most = if grouped.is_some() { Gemv::scaled_columns(isa, decode, rows) } else { Gemv::columns(isa, decode, rows) };
        let (taken, block) = match weights.order {
            WeightOrder::Panels { columns, .. } => {
                let taken = Gemv::panels(isa, decode, rows, columns / isa.width().lanes()).min(n.div_ceil(columns)) * columns;
                (taken, (n / want).clamp(taken, COLUMNS.max(taken)) / taken * taken)
            }
            _ => {
                let taken = taken(n, most);
                (taken, (n / want).clamp(1, COLUMNS / rows).next_multiple_of(taken))
            }
        };
        let (block, slices) = match weights.order {
            WeightOrder::Panels { .. } | WeightOrder::Columns { .. } => (block, slices(n.div_ceil(block), bytes / each)),
            WeightOrder::Rows { .. } => {
                let vector = isa.width().lanes() * decode.in_lane();
                let most = (SUMS / rows / vector * vector).max(vector);
                let slices = (bytes / (2 * TASK_BYTES)).min(weights.k / LINES).clamp(1, TASKS / 2 / rows.min(8));
                let blocks = n.div_ceil(most).max(want.min(FEW_TASKS).div_ceil(slices).min(n / LEAST_COLUMNS));
                (n.div_ceil(blocks).next_multiple_of(vector), slices)
            }
        };
        let blocks = n.div_ceil(block);
        let each = blocks.div_ceil(want);
        let slice = weights.k.div_ceil(slices).next_multiple_of(unit);
        Cut { block, each, tasks: blocks.div_ceil(each), slice, slices: weights.k.div_ceil(slice), taken }
    }

    /// Columns of a task.
    pub(super) fn columns(&self) -> usize {
        self.block * self.each
    }
}

/// Columns that a kernel takes at a time, chosen for the fewest calls: the remaining columns are taken one by one.
fn taken(columns: usize, most: usize) -> usize {
    (1..=most).rev().min_by_key(|taken| columns / taken + columns % taken).unwrap_or(1)
}

/// Slices of K if there are few blocks of columns, for at most `most` tasks.
fn slices(blocks: usize, most: usize) -> usize {
    if blocks >= FEW_TASKS { 1 } else { (FEW_TASKS / blocks).min(most / blocks).max(1) }
}
