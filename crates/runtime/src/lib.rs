//! Everything between a face and a kernel: engines, streams, memory, primitive descriptors, primitives, caches, scratch, threads,
//! knobs and verbose lines.
//!
//! **Create**: a validated `Problem` -> [`PrimitiveDesc::new`] asks the engine's [`Device`] for the first row that takes it, and keeps the
//! row's [`Plan`], the answers to every query, and each [`Skip`] before it -> [`PrimitiveDesc::create`] takes the ready [`Exec`] from the [`cache`], or
//! builds it there once.
//!
//! **Execute**: [`Primitive::execute`] binds [`Memory`] to the operands, checks everything, orders the work after whatever uses the memory, and
//! submits it to the stream's [`Queue`], which leases [`scratch`] -> `exec.run` with a [`Ctx`]: arguments, scratch, the queue, and an [`Executor`]
//! for its parallel loops ([`threads`]).
//!
//! **Order**: a queue is in order. A region of memory remembers the work that will write and read it by queue and [`queue::Ticket`]; other queues
//! and the host wait for it. Nothing above a device assumes that work is done when `execute` returns.
//!
//! A device brings rows and, where its memory is not the host's, allocation and queues; nothing here knows an instruction set
//! or an operation.
//!
//! **Sound by type**: [`Buf`] and [`Region`] carry the lifetime of their memory. [`Executor`] is an unsafe trait and [`Queue::submit`] an
//! unsafe function, because kernels rely on their promises. Unsafe code is in the files that `xtask check` names, and nowhere else.

mod borrows;
mod buf;
pub mod cache;
mod check;
mod code;
mod decision;
mod desc;
mod device;
mod engine;
mod exec;
mod execute;
mod family;
pub mod fork;
pub mod knobs;
mod memory;
mod mixer;
mod plan;
mod primitive;
pub mod queue;
mod recent;
mod region;
pub mod scratch;
pub mod stack;
pub mod store;
mod stream;
mod sync;
pub mod threads;
mod transfer;
pub mod verbose;

pub use buf::{Buf, Element, Grid, Loop, Pairs};
pub use decision::{Blocked, Decision, Level};
pub use desc::{PrimitiveDesc, Verdict};
pub use device::{Device, DeviceId, EngineKind, Properties, QueueSpec, Refused, plan_rows};
pub use engine::Engine;
pub use exec::{Bound, Ctx, Executor, Inline};
pub use memory::{ALIGNMENT, Allocation, Mapped, MappedMut, Memory, Native, Notes, huge_pages};
pub use mixer::Mixer;
pub use plan::{Choose, Exec, Impl, Plan, Planned, Skip, Tier};
pub use primitive::Primitive;
pub use queue::{Queue, Submission, Work};
pub use recent::Recent;
pub use region::{Region, Space};
pub use stream::{Event, Stream};
pub use threads::Threads;

/// The number of rounds, bytes or sizes that a test runs: `usual`, or fewer under Miri, which is some thousand times slower.
#[cfg(test)]
const fn rounds(usual: usize) -> usize {
    if cfg!(miri) { usual.div_ceil(100) } else { usual }
}
