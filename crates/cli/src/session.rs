//! The engine and streams that the commands use.

use anyhow::Result;
use oxidnn_runtime::{Engine, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::{Error, Problem};

/// The CPU engine.
pub(crate) fn engine() -> Engine {
    oxidnn_cpu::engine()
}

/// A stream on `threads` workers, or on the process-wide pool.
pub(crate) fn stream(engine: &Engine, threads: Option<usize>) -> Result<Stream> {
    Ok(match threads {
        None => Stream::new(engine)?,
        Some(n) => Stream::with_threads(engine, Threads::new(n))?,
    })
}

/// The first implementation of `problem`, or the first whose name contains `row`.
pub(crate) fn describe(engine: &Engine, problem: &Problem, row: Option<&str>) -> Result<PrimitiveDesc, Error> {
    match row {
        Some(row) => PrimitiveDesc::with_filter(engine, problem.clone(), row),
        None => PrimitiveDesc::new(engine, problem.clone()),
    }
}
