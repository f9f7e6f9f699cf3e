//! Trials: plans are timed on the library's own memory.

use super::engine::Engine;
use super::json;
use super::pack::Pack;
use super::plan;
use super::program::Program;
use crate::handle::Handle;
use crate::host_runtime::Sink;
use crate::logging;
use crate::loops::view::store;
use crate::measured::{self, Times, Way};
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::Memory;
use oxidnn_spec::{DataType, Tensor};
use std::cell::LazyCell;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a trial, at most.
const MOST: usize = 1 << 30;

impl Engine {
    /// The engine among the ways to compute its graph.
    pub(super) fn way(&self) -> Way {
        [self.index, self.row as i64]
    }
}

/// The times of the engines for the graph of `engine`, where they were measured; of others than `candidates` they are not taken.
pub(super) fn known(engine: &Engine, candidates: impl FnOnce() -> Vec<Engine>) -> Option<Times> {
    let ways = LazyCell::new(|| candidates().iter().map(Engine::way).collect::<Vec<Way>>());
    measured::known(&problem(engine), |way| ways.contains(&way))
}

/// The times of `candidates`, all of one graph: measured before, or now. `None` if a trial would be meaningless.
pub(super) fn times(candidates: &[Engine]) -> Times {
    let before = candidates.first().and_then(|first| known(first, || candidates.to_vec()));
    let before = before.filter(|times| candidates.iter().all(|e| times.of(e.way()).is_some()));
    before.unwrap_or_else(|| {
        measure(candidates).unwrap_or_else(|why| {
            logging::told(|| format!("engines in the order that is expected, none is measured: {}", why.message));
            Times::default()
        })
    })
}

/// The graph as text, which is the same for all of its engines.
fn problem(engine: &Engine) -> String {
    json::key(&Engine { index: 0, row: 0, ..engine.clone() })
}

fn measure(candidates: &[Engine]) -> Result<Times, Failure> {
    let Some(first) = candidates.first() else { return Ok(Times::default()) };
    check(first)?;
    let handle = Handle::of_stream(Data::NULL)?;
    let mut times = Times::default();
    for engine in candidates {
        times.set(engine.way(), once(handle, engine, &plan::program(engine)?)?);
    }
    measured::keep(&problem(first), &times);
    Ok(times)
}

/// Refuses graphs whose time depends on data: lengths, positions, pages.
fn check(engine: &Engine) -> Result<(), Failure> {
    let graph = &engine.graph;
    if graph.tensors.values().any(|t| t.ragged.is_some()) {
        return Err(Failure::unsupported("a trial of a graph with ragged batches"));
    }
    for uid in graph.nodes.iter().flat_map(|n| &n.reads) {
        let tensor = graph.tensors.get(uid).filter(|t| !t.is_virtual && !t.is_by_value && t.constant.is_none());
        if let Some(dtype) = tensor.map(|t| t.real_type()).transpose()?
            && matches!(dtype, DataType::S32 | DataType::S64)
        {
            return Err(Failure::unsupported(format_args!("a trial of a graph that reads whole numbers of {dtype}")));
        }
    }
    Ok(())
}

/// Times an execution of the program.
fn once(handle: &Handle, engine: &Engine, program: &Arc<Program>) -> Result<Duration, Failure> {
    let tensors = program.uids.iter().map(|uid| engine.graph.tensors[uid].tensor()).collect::<Result<Vec<Tensor>, Failure>>()?;
    let workspace = usize::try_from(program.workspace()).unwrap_or(usize::MAX);
    let bytes = tensors.iter().try_fold(workspace, |all, t| all.checked_add(t.bytes())).filter(|&all| all <= MOST);
    bytes.ok_or_else(|| Failure::unsupported(format_args!("a trial that takes more than {MOST} bytes")))?;
    let memory = |bytes: usize| -> Result<Memory<'static>, Failure> {
        Ok(Memory::new(handle.engine(), Tensor::plain([i64::try_from(bytes.max(1)).unwrap_or(i64::MAX)], DataType::U8)?)?)
    };
    // A scalar passed by value is on the host; 1 is valid everywhere.
    let numbers: Vec<Vec<u8>> = tensors.iter().zip(&program.by_value).map(|(t, &bytes)| one(t.dtype, bytes)).collect();
    let held = tensors.iter().map(|t| memory(t.bytes())).collect::<Result<Vec<_>, Failure>>()?;
    let places = numbers.iter().zip(&held).map(|(number, held)| if number.is_empty() { Data::at(held) } else { Data::of_bytes(number) });
    let scratch = memory(workspace)?;
    let pack = Pack::of(program.uids.iter().copied().zip(places).collect(), Data::at(&scratch));
    let time = measured::time(handle, || program.run(handle, Sink::Now, &pack))?;
    handle.stream().wait()?;
    Ok(time)
}

/// `bytes` bytes of elements with value 1.
fn one(dtype: DataType, bytes: usize) -> Vec<u8> {
    let mut number = vec![0; bytes];
    let width = dtype.bits() / 8;
    if width > 0 {
        number.chunks_exact_mut(width).for_each(|element| store(dtype, element, 1.0));
    }
    number
}
