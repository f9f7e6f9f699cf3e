//! Element-wise operations and reductions over any layouts and types: one mechanism for eltwise, binary, prelu, sum, arithmetic reorders,
//! softmax, normalisations, reductions, and their post-ops.
//!
//! The positions of a tensor are [`Nest`]s of loops, cut into chunks. A chunk goes through a program: operands are loaded into registers of
//! [`CHUNK`] elements, formulas run over whole registers, registers are stored or folded. A chunk is loaded before it is stored, so the
//! destination may be a source of the same layout. Branches on types and formulas are taken once a chunk. A [`Builder`] builds programs. If
//! layouts allow it, a [`Program`] is the same as generated code.

mod copy;
mod fold;
mod generated;
mod nest;
mod operand;
mod pipeline;
mod planes;
mod program;
mod random;
mod results;
mod tables;

pub use copy::{Copies, Zeros, clear, cleared};
pub use fold::FoldOp;
pub use generated::{Codes, Program, Taken};
pub use nest::{CHUNK, Chunk, Chunks, Counts, Nest, OPERANDS, Place, Run};
pub use operand::{Kind, Memory};
pub use pipeline::Pipeline;
pub use planes::{Planes, Sides, Window, Windows};
pub use program::{Builder, IN_ALL, Over, Split, Sums, Table, skips_lines};
pub use results::{Results, Stores};
pub use tables::{Factors, LookedUp, Tables};

use oxidnn_runtime::Executor;

/// Positions of a task, if each is moved or takes an instruction or two; a constant, so that tasks depend on the problem alone.
pub const GRAIN: i64 = 32 * 1024;
/// Up to this number of tasks there are a power of two of them, which divides evenly among two or four workers.
const MAX_POWER_OF_TWO_TASKS: u64 = 16;
/// A multiple of all cache lines and of bytes of bits, in positions of any type.
const LINE: u64 = 64;

/// Tasks that are enough for all workers, at any cost of each.
const MIN_TASKS_FOR_BALANCE: u64 = 64;

/// Positions of a task of `volume` positions, each of which costs as much as moving `weight` elements: in whole lines. If there are many
/// tasks anyway, the cost does not make more of them.
fn grain(volume: i64, weight: i64) -> i64 {
    let tasks = |positions: i64| (positions.max(1) as u64).div_ceil(GRAIN as u64);
    let tasks = tasks(volume.saturating_mul(weight)).min(tasks(volume).max(MIN_TASKS_FOR_BALANCE));
    let tasks = if tasks <= MAX_POWER_OF_TWO_TASKS { tasks.next_power_of_two() } else { tasks };
    (volume.max(1) as u64).div_ceil(tasks).next_multiple_of(LINE) as i64
}

/// Tasks up to which unequal ones leave workers idle for long.
const FEW_TASKS: usize = 4;

/// Items of a task of `all` items, up to `most`; few tasks are equal, and a power of two.
pub fn evenly(all: usize, most: usize) -> usize {
    let (most, tasks) = (most.max(1), all.div_ceil(most.max(1)));
    if tasks <= FEW_TASKS { all.div_ceil(tasks.next_power_of_two()).max(1) } else { most }
}

/// Rows of a task of `rows` rows, by the same rule.
pub fn grain_rows(rows: i64, row: i64, weight: i64) -> i64 {
    (grain(rows.saturating_mul(row), weight) / row.max(1)).max(1)
}

/// Rows of a task that adds up its rows, of `rows` rows: enough that a line of sums costs little beside them, and no more than f32 can add
/// accurately.
pub fn summed_rows(rows: i64, row: i64, weight: i64) -> i64 {
    grain_rows(rows, row, weight).clamp(8, 1024).min(rows)
}

/// Runs `body` for ranges of `grain` of the positions `0..volume`; few positions are one task.
pub fn split(executor: &dyn Executor, volume: i64, grain: i64, body: &(dyn Fn(std::ops::Range<i64>) + Sync)) {
    let tasks = (volume.max(0) as u64).div_ceil(grain.max(1) as u64) as usize;
    executor.run(executor.threads(), tasks, &|_, task| {
        let start = task as i64 * grain;
        body(start..start.saturating_add(grain).min(volume));
    });
}
