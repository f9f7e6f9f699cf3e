//! Another oneDNN library, loaded at run time, so that problems can be run on it and on ours side by side.
//!
//! [`Peer::load`] opens the library. [`Peer::create`] turns a [`oxidnn_spec::Problem`] into its C calls: memory descriptors from tensors, the
//! primitive descriptor from the operation and its attributes, reorders from the layouts that the harness fills to those that the library
//! chose. What comes back is a [`Prepared`], which executes on memory of the library's own.
//!
//! [`Peer::partitions`] gives the library a graph, and [`Peer::graph`] compiles its partitions into a [`GraphRun`].
//!
//! All unsafe code is in `call`, which checks every call against a table of C signatures (`signatures`), and in `handle` and `graph::handle`,
//! which own what the library gives out. The rest says which numbers and descriptors stand for a problem, and is safe: a call that does not fit its
//! signature is an error, not undefined behaviour.

mod attr;
mod call;
mod create;
mod describe;
mod error;
mod forward;
mod graph;
mod handle;
mod run;
mod signatures;
#[cfg(test)]
mod tests;

pub use error::{PeerError, Status};
pub use graph::{GraphRun, Partition};
pub use run::{Created, Peer, Prepared};
