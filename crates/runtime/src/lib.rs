//! Everything between a face and a kernel: engines, streams, memory, primitive descriptors, primitives, caches, scratch, threads,
//! knobs and verbose lines.

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
