//! Everything between a face and a kernel: engines, streams, memory, primitive descriptors, primitives, caches, scratch, threads,
//! knobs and verbose lines.

mod buf;
mod exec;
mod plan;

pub use buf::{Buf, Element};
pub use exec::{Bound, Ctx, Executor, Inline};
pub use plan::{Exec, Impl, Plan, Skip};
