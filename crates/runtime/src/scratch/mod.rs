//! Scratch: blocks of memory leased for the time of one execution.
//!
//! One arena serves the process. A block belongs to nobody while it is idle, so any primitive runs on any thread, and memory stays at what
//! executions needed at once. The idle blocks are kept in a few shards, a thread's own first, so that threads rarely contend; in a steady
//! state the thread's last block is found again and nothing is allocated. A request that no idle block satisfies replaces the largest
//! idle block of its shard by one that does. Idle blocks beyond the budget are freed.

mod arena;
#[cfg(test)]
mod tests;
pub(crate) mod user;

pub use arena::{Arena, Lease, ScratchStats};

use crate::{fork, knobs};
use std::sync::OnceLock;

/// The process's arena; its budget is the knob `SCRATCH_BUDGET`.
pub fn arena() -> &'static Arena {
    static ARENA: OnceLock<Arena> = OnceLock::new();
    fork::once(&ARENA, || Arena::new(knobs::get().scratch_budget))
}
