//! The threads that executions use: OpenMP's if the process has them, else those of the process-wide pool, limited by OpenMP's settings, by which programs
//! linked with oneDNN choose their number.

use crate::omp;
use oxidnn_runtime::threads::default_threads;
use oxidnn_runtime::{Threads, fork};
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// The threads of streams without a pool.
pub fn of_process() -> Threads {
    omp::find();
    omp::threads(default_threads()).map_or_else(|| Threads::within(allowed), Threads::caller)
}

/// OpenMP's limit for the calling thread: from the library if the process has one, else from the environment.
fn allowed() -> usize {
    omp::max_threads().unwrap_or_else(environment)
}

/// `OMP_NUM_THREADS` at its first use; no limit if it is not set.
fn environment() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *fork::once(&LIMIT, || std::env::var("OMP_NUM_THREADS").ok().and_then(|v| first(&v)).unwrap_or(usize::MAX))
}

/// The number for the outermost level of a list such as `4,2`.
fn first(list: &str) -> Option<usize> {
    list.split(',').next()?.trim().parse().ok().filter(|n| *n > 0)
}
