//! Everything between a face and a kernel: engines, streams, memory, primitive descriptors, primitives, caches, scratch, threads,
//! knobs and verbose lines.
//!
//! **Create**: a validated `Problem` -> [`PrimitiveDesc::new`] asks the engine's [`Device`] for the first row that takes it, and keeps the
//! row's [`Plan`], the answers to every query, and each [`Skip`] before it -> [`Primitive::new`] takes the ready [`Exec`] from the [`cache`], or
//! builds it there once.
//!
//! **Execute**: [`Primitive::execute`] binds [`Memory`] to the operands and checks everything, borrows the memory, leases [`scratch`], and
//! submits to the stream's [`Queue`] -> `exec.run` with a [`Ctx`]: arguments, scratch, and an [`Executor`] for its parallel loops ([`threads`]).
//!
//! A device brings rows and, where its memory is not the host's, a few functions for memory and queues; nothing here knows an instruction set
//! or an operation. Unsafe code is in `buf`, `exec`, `memory::{alloc, map, raw}` and `threads::pool`, and nowhere else.

mod borrows;
mod buf;
pub mod cache;
mod check;
mod code;
mod desc;
mod device;
mod engine;
mod exec;
mod execute;
pub mod knobs;
mod memory;
mod plan;
mod primitive;
pub mod scratch;
pub mod threads;
pub mod verbose;

pub use buf::{Buf, Element};
pub use desc::{PrimitiveDesc, Verdict};
pub use device::{Device, EngineKind, Immediate, Queue, Refused, plan_rows};
pub use engine::{Engine, Stream};
pub use exec::{Bound, Ctx, Executor, Inline};
pub use memory::{ALIGNMENT, Allocation, Mapped, MappedMut, Memory, Native};
pub use plan::{Choose, Exec, Impl, Plan, Planned, Skip};
pub use primitive::Primitive;
pub use threads::Threads;
