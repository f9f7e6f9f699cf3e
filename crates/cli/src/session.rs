//! The engine and streams that the commands use.

use anyhow::Result;
use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_runtime::{Engine, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::{Error, Problem};

/// The CPU engine.
pub(crate) fn engine() -> Engine {
    oxidnn_cpu::engine()
}

/// A stream on `threads` workers, of an engine that plans for as many; or on the process-wide pool.
pub(crate) fn stream(threads: Option<usize>) -> Result<Stream> {
    let Some(threads) = threads else { return Ok(Stream::new(&engine())?) };
    let target = CpuTarget { threads, ..*CpuDevice::host().target() };
    Ok(Stream::with_threads(&Engine::new(CpuDevice::new(target)), Threads::new(threads))?)
}

/// The first implementation of `problem`, or the first whose name contains `row`.
pub(crate) fn describe(engine: &Engine, problem: &Problem, row: Option<&str>) -> Result<PrimitiveDesc, Error> {
    match row {
        Some(row) => PrimitiveDesc::with_filter(engine, problem.clone(), row),
        None => PrimitiveDesc::new(engine, problem.clone()),
    }
}
