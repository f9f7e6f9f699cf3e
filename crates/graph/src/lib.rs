//! The graph extension: operations over logical tensors, made into partitions that are compiled and executed as one.
//!
//! [`Op`]s are checked against their [`schema`](OpKind::schema), a table, when [`Graph::add_op`] takes them. [`Graph::filter`] makes
//! [`Partition`]s by a table of patterns: sets of operations that are computed together. [`Partition::compile`] infers shapes, resolves
//! layouts, and lowers the operations to a [`CompiledPartition`]: primitives of the runtime, with as much as possible in their post-ops,
//! scales and views, and with the intermediate tensors between them in one block of scratch. The crate has no kernels and defines no
//! operation a second time: an operation computes what its problems compute.
//!
//! To the primitives, formats of tensors are strides: data with channels last, weights in any order, transposed operands and reshapes are
//! views of the caller's memory. Tensors are copied only where a primitive wants another layout.
#![forbid(unsafe_code)]

mod attr;
mod compiled;
mod constants;
mod dump;
mod error;
mod graph;
mod infer;
mod lower;
mod op;
mod open;
mod partition;
mod pattern;
mod program;
mod schema;
mod tensor;

pub use attr::{AttrId, AttrValue};
pub use compiled::{CompiledPartition, cache_capacity, set_cache_capacity};
pub use constants::{constant_capacity, set_constant_capacity};
pub use dump::{DumpMode, set_dump_mode};
pub use error::Error;
pub use graph::Graph;
pub use op::Op;
pub use partition::Partition;
pub use pattern::{Explanation, Policy, patterns};
pub use schema::{AttrRule, Counts, Need, OpKind, Ports, Schema};
pub use tensor::{LayoutType, LogicalTensor, Property, UNKNOWN};
