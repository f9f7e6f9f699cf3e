//! `--peer LIB`: problems on another oneDNN library, to check it against the reference or to race it.

mod check;

pub(crate) use check::verify;

use anyhow::{Context, Result};
use oxidnn_peer::{Peer, PeerError};
use oxidnn_spec::Problem;
use oxidnn_spec::text::FillHints;
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
