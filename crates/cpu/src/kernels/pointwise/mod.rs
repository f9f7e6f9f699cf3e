//! Element by element work and reductions over any layouts and types: one mechanism for eltwise, binary, prelu, sum, arithmetic reorders,
//! softmax, normalisations, reductions, and their post-ops.
//!
//! The positions of a tensor are [`Nest`]s of loops, cut into chunks. A chunk goes through a program: operands are loaded into registers
//! of [`CHUNK`] elements, formulas run over whole registers, registers are stored or folded. A chunk is loaded before it is stored, so that the
//! destination may lie over a source of the same layout. What is chosen, is chosen once a chunk. A [`Builder`] puts programs together. Where
//! operands lie well, a [`Program`] is the same as generated code.

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

pub use copy::{Copies, Squared};
pub use fold::FoldOp;
pub use generated::{Codes, Program};
pub use nest::{CHUNK, Chunk, Chunks, Nest, OPERANDS, Place, Run, Tile};
pub use operand::{Kind, Memory};
pub use pipeline::Pipeline;
pub use planes::{Planes, Sides, Window, Windows};
pub use program::{Builder, IN_ALL, Over, Split, Sums, Table};
pub use results::{Results, Stores};
pub use tables::{Factors, LookedUp, Tables};

use oxidnn_runtime::Executor;

/// Positions that a task treats, where each is moved or takes an instruction or two: a function of nothing but the problem.
pub const GRAIN: i64 = 32 * 1024;
/// Tasks up to which there are a power of two of them: as many for each of two workers, or four.
const EVEN: u64 = 16;
/// Positions of whole lines and bytes, whatever their type.
const LINE: u64 = 64;

/// Tasks that are enough for all workers, whatever each takes.
const MANY: u64 = 64;

/// Positions of a task of `volume` of them, each of which costs as much as `weight` that are moved: in whole lines. Where there are many tasks anyway,
/// costs make no more of them.
fn grain(volume: i64, weight: i64) -> i64 {
    let tasks = |positions: i64| (positions.max(1) as u64).div_ceil(GRAIN as u64);
    let tasks = tasks(volume.saturating_mul(weight)).min(tasks(volume).max(MANY));
    let tasks = if tasks <= EVEN { tasks.next_power_of_two() } else { tasks };
    (volume.max(1) as u64).div_ceil(tasks).next_multiple_of(LINE) as i64
}

/// Rows of a task of `rows` of them, as `grain` has it.
pub fn grain_rows(rows: i64, row: i64, weight: i64) -> i64 {
    (grain(rows.saturating_mul(row), weight) / row.max(1)).max(1)
}

/// Rows of a task that adds them up, of `rows` of them: enough that a line of sums costs little beside them, and no more than are added in f32.
pub fn summed_rows(rows: i64, row: i64, weight: i64) -> i64 {
    grain_rows(rows, row, weight).clamp(8, 1024).min(rows)
}

/// Runs `body` for ranges of `grain` of the positions `0..volume`; few positions make one task.
pub fn split(executor: &dyn Executor, volume: i64, grain: i64, body: &(dyn Fn(std::ops::Range<i64>) + Sync)) {
    let tasks = (volume.max(0) as u64).div_ceil(grain.max(1) as u64) as usize;
    executor.run(executor.threads(), tasks, &|_, task| {
        let start = task as i64 * grain;
        body(start..start.saturating_add(grain).min(volume));
    });
}
