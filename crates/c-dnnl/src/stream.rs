//! Streams. Executions on the CPU are synchronous, unless the caller asks for an asynchronous stream; those on a GPU are asynchronous, and can be profiled.

use crate::engine::Engine;
use crate::handle::{Data, Handle, In, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::threads;
use oxidnn_c_common::numbers;
use oxidnn_runtime::{self as runtime, EngineKind, Event, QueueSpec, fork};
use oxidnn_spec::Arg;
use std::sync::{Arc, Mutex};

#[cfg(test)]
mod tests;

/// The object behind a `dnnl_stream_t`.
#[derive(Debug)]
pub struct Stream {
    engine: Arc<Engine>,
    runtime: runtime::Stream,
    /// The caller's pool, null if there is none.
    pool: Data,
    /// Start and end of every execution, if the stream was created with profiling.
    times: Option<Mutex<Vec<[Event; 2]>>>,
}

impl Owned for Stream {}

impl Stream {
    /// A stream of `engine` whose executions use `threads`.
    ///
    /// # Errors
    /// `runtime_error` if the device cannot create a queue.
    pub fn new(engine: Arc<Engine>, threads: runtime::Threads) -> Result<Stream, Failure> {
        Stream::with(engine, &QueueSpec { threads, ..QueueSpec::default() })
    }

    /// A stream of `engine` with the properties `spec`.
    ///
    /// # Errors
    /// `runtime_error` if the device cannot create a queue.
    fn with(engine: Arc<Engine>, spec: &QueueSpec) -> Result<Stream, Failure> {
        let runtime = runtime::Stream::with(engine.runtime(), spec)?;
        Ok(Stream::over(engine, runtime))
    }

    /// A stream over one of the runtime's.
    pub(crate) fn over(engine: Arc<Engine>, runtime: runtime::Stream) -> Stream {
        Stream { engine, runtime, pool: Data::NULL, times: None }
    }

    /// Executes a primitive, and records its start and end if the stream is profiled.
    ///
    /// # Errors
    /// Those of the execution.
    pub fn execute(&self, primitive: &runtime::Primitive, args: &[(Arg, &runtime::Memory<'static>)]) -> Result<(), Failure> {
        let Some(times) = &self.times else { return Ok(primitive.execute_bytes(&self.runtime, args)?) };
        let begin = self.runtime.record()?;
        primitive.execute_bytes(&self.runtime, args)?;
        let end = self.runtime.record()?;
        fork::lock(times).push([begin, end]);
        Ok(())
    }

    /// The times of executions; a stream that is not profiled has none.
    fn times(&self) -> Result<&Mutex<Vec<[Event; 2]>>, Failure> {
        let not = "one of a GPU made with dnnl_stream_profiling";
        self.times.as_ref().ok_or_else(|| Failure { status: Status::Unimplemented, ..Failure::invalid("stream", "one without times", not) })
    }

    /// The same stream, known to run on the caller's pool at this address.
    pub fn with_pool(self, pool: Data) -> Stream {
        Stream { pool, ..self }
    }

    /// The caller's pool, null if there is none.
    pub fn pool(&self) -> Data {
        self.pool
    }

    /// The runtime's stream.
    pub fn runtime(&self) -> &runtime::Stream {
        &self.runtime
    }

    /// Its engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}

/// `dnnl_stream_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_stream_create(stream: New<'_, Stream>, engine: In<'_, Engine>, flags: u32) -> Status {
    guard("dnnl_stream_create", || {
        stream.check("stream")?;
        let engine = engine.share("engine")?;
        let profiled = flags & numbers::PROFILING != 0;
        if profiled && engine.runtime().kind() == EngineKind::Cpu {
            return Err(Failure::unimplemented("profiling of a CPU stream"));
        }
        let spec = QueueSpec { threads: threads::of_process(), ..QueueSpec::default() };
        let spec = QueueSpec { asynchronous: spec.asynchronous || flags & numbers::ASYNCHRONOUS != 0, ..spec };
        let made = Stream::with(engine, &spec)?;
        stream.own("stream", Stream { times: profiled.then(Mutex::default), ..made })
    })
}

/// `dnnl_stream_get_engine`: the handle with which the stream was created.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_stream_get_engine(stream: In<'_, Stream>, engine: New<'_, Engine>) -> Status {
    guard("dnnl_stream_get_engine", || engine.lend("engine", stream.get("stream")?.engine()))
}

/// `dnnl_stream_wait`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_stream_wait(stream: In<'_, Stream>) -> Status {
    guard("dnnl_stream_wait", || Ok(stream.get("stream")?.runtime().wait()?))
}

/// `dnnl_stream_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_stream_destroy(stream: Handle<Stream>) -> Status {
    guard("dnnl_stream_destroy", || {
        stream.destroy();
        Ok(())
    })
}

/// `dnnl_reset_profiling`: discards the times so far.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_reset_profiling(stream: In<'_, Stream>) -> Status {
    guard("dnnl_reset_profiling", || {
        fork::lock(stream.get("stream")?.times()?).clear();
        Ok(())
    })
}

/// `dnnl_query_profiling_data`: waits for the stream; the number of executions since the last reset and, if `data` is not null, their nanoseconds in order.
/// The kind is ignored if it is null.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_query_profiling_data(stream: In<'_, Stream>, kind: i32, entries: Out<'_, i32>, data: Data) -> Status {
    guard("dnnl_query_profiling_data", || {
        let stream = stream.get("stream")?;
        let times = stream.times()?;
        if kind != numbers::PROFILED_TIME && !data.is_null() {
            return Err(Failure::invalid("data_kind", kind, format_args!("{}: time", numbers::PROFILED_TIME)));
        }
        stream.runtime().wait()?;
        let times = fork::lock(times).clone();
        entries.set("num_entries", i32::try_from(times.len()).unwrap_or(i32::MAX))?;
        if data.is_null() {
            return Ok(());
        }
        for (i, [begin, end]) in times.iter().enumerate() {
            let nanoseconds = u64::try_from(end.since(begin)?.as_nanos()).unwrap_or(u64::MAX);
            data.behind(i as i64 * size_of::<u64>() as i64).set("data", nanoseconds)?;
        }
        Ok(())
    })
}

/// `dnnl_impl_notify_profiling_complete`, which no public header declares.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_impl_notify_profiling_complete(stream: In<'_, Stream>) -> Status {
    guard("dnnl_impl_notify_profiling_complete", || {
        stream.get("stream")?.times()?;
        Ok(())
    })
}
