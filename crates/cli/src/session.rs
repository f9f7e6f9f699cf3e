//! The engine and streams that the commands use.

use anyhow::{Context, Result};
use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_runtime::{Engine, EngineKind, PrimitiveDesc, Stream, Threads};
use oxidnn_spec::{Error, Problem};
use std::str::FromStr;
use std::sync::OnceLock;

/// The engine that the user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// The processor.
    Cpu,
    /// The GPU with this number.
    Gpu(usize),
}

impl FromStr for Choice {
    type Err = String;
    fn from_str(s: &str) -> Result<Choice, String> {
        let number = |n: &str| n.parse().map(Choice::Gpu).map_err(|_| format!("`{n}` is not the number of a GPU"));
        match s.split_once(':') {
            None if s == "cpu" => Ok(Choice::Cpu),
            None if s == "gpu" => Ok(Choice::Gpu(0)),
            Some(("gpu", n)) => number(n),
            _ => Err("known engines: cpu, gpu, gpu:N".into()),
        }
    }
}

static GPU: OnceLock<Engine> = OnceLock::new();

/// Makes the engine that all commands use from now on.
pub(crate) fn choose(choice: Choice) -> Result<()> {
    if let Choice::Gpu(n) = choice {
        let engine = oxidnn_cuda::engine(n).with_context(|| format!("--engine=gpu:{n}"))?;
        GPU.get_or_init(|| engine);
    }
    Ok(())
}

/// The engine that was chosen.
pub(crate) fn engine() -> Engine {
    GPU.get().cloned().unwrap_or_else(oxidnn_cpu::engine)
}

/// A stream on `threads` workers, of an engine that plans for as many; or on the process-wide pool. A GPU has no use for either.
pub(crate) fn stream(threads: Option<usize>) -> Result<Stream> {
    let engine = engine();
    let Some(threads) = threads.filter(|_| engine.kind() == EngineKind::Cpu) else { return Ok(Stream::new(&engine)?) };
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
