//! `--peer LIB`: problems on another oneDNN library, to check it against the reference or to race it.

mod check;
mod race;

pub(crate) use check::verify;
pub(crate) use race::bench;

use anyhow::{Context, Result};
use oxidnn_peer::{Peer, PeerError};
use oxidnn_spec::text::FillHints;
use oxidnn_spec::{DataType, Op, Problem};
use oxidnn_testing::concrete::concrete;
use std::path::Path;

/// Opens the library and says what it is.
fn load(library: &Path, threads: Option<usize>) -> Result<Peer> {
    let peer = Peer::load(library, threads).with_context(|| format!("--peer {}", library.display()))?;
    eprintln!("peer: {}", peer.describe());
    if !peer.threads_are_set() {
        eprintln!("peer: has no OpenMP runtime, so --threads does not reach it; bind the whole process to so many cores instead (taskset)");
    }
    Ok(peer)
}

/// The problem with every layout and size that was left open settled, as the reference and the filling of arguments need it.
fn resolved(problem: &Problem, fill: &FillHints) -> Result<Problem, PeerError> {
    let mut problem = problem.clone();
    problem.resolve();
    Ok(concrete(&problem, fill)?)
}

/// The type of the products of `op`, by which its peak is known.
fn product_type(op: &Op) -> DataType {
    op.operands().first().map_or(DataType::F32, |o| o.tensor.dtype)
}
