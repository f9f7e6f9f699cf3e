//! Streams. Executions on the CPU are done when they return, unless the caller asks for an asynchronous stream.

use crate::engine::Engine;
use crate::handle::{Data, Handle, In, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::threads;
use oxidnn_c_common::numbers;
use oxidnn_runtime::{self as runtime, QueueSpec};
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// What `dnnl_stream_t` points to.
#[derive(Debug)]
pub struct Stream {
    engine: Arc<Engine>,
    runtime: runtime::Stream,
    /// The caller's pool, null where there is none.
    pool: Data,
}

impl Owned for Stream {}

impl Stream {
    /// A stream of `engine` whose executions use `threads`.
    ///
    /// # Errors
    /// `runtime_error` when the device cannot make a queue.
    pub fn new(engine: Arc<Engine>, threads: runtime::Threads) -> Result<Stream, Failure> {
        Stream::with(engine, &QueueSpec { threads, ..QueueSpec::default() })
    }

    /// A stream of `engine` as `spec` says.
    ///
    /// # Errors
    /// `runtime_error` when the device cannot make a queue.
    fn with(engine: Arc<Engine>, spec: &QueueSpec) -> Result<Stream, Failure> {
        let runtime = runtime::Stream::with(engine.runtime(), spec)?;
        Ok(Stream { engine, runtime, pool: Data::NULL })
    }

    /// The same stream, known to run on the caller's pool at this address.
    pub fn with_pool(self, pool: Data) -> Stream {
        Stream { pool, ..self }
    }

    /// The caller's pool, null where there is none.
    pub fn pool(&self) -> Data {
        self.pool
    }

    /// What primitives are executed on.
    pub fn runtime(&self) -> &runtime::Stream {
        &self.runtime
    }

    /// The engine it was made with.
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
        check_flags(flags)?;
        let spec = QueueSpec { threads: threads::of_process(), ..QueueSpec::default() };
        let spec = QueueSpec { asynchronous: spec.asynchronous || flags & numbers::ASYNCHRONOUS != 0, ..spec };
        stream.own("stream", Stream::with(engine, &spec)?)
    })
}

/// Other flags than that for profiling change nothing here.
fn check_flags(flags: u32) -> Result<(), Failure> {
    if flags & numbers::PROFILING != 0 {
        return Err(Failure::unimplemented("profiling of a CPU stream"));
    }
    Ok(())
}

/// `dnnl_stream_get_engine`: the address that the stream was made with.
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

/// `dnnl_reset_profiling`: there is no profiling of a CPU stream.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_reset_profiling(stream: In<'_, Stream>) -> Status {
    guard("dnnl_reset_profiling", || {
        stream.get("stream")?;
        Err(Failure::unimplemented("profiling of a CPU stream"))
    })
}

/// `dnnl_query_profiling_data`: there is no profiling of a CPU stream.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_query_profiling_data(stream: In<'_, Stream>, _kind: i32, _entries: Out<'_, i32>, _data: Data) -> Status {
    guard("dnnl_query_profiling_data", || {
        stream.get("stream")?;
        Err(Failure::unimplemented("profiling of a CPU stream"))
    })
}

/// `dnnl_impl_notify_profiling_complete`, which no public header declares.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_impl_notify_profiling_complete(stream: In<'_, Stream>) -> Status {
    guard("dnnl_impl_notify_profiling_complete", || {
        stream.get("stream")?;
        Err(Failure::unimplemented("profiling of a CPU stream"))
    })
}
