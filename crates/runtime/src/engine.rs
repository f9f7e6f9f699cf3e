//! Engines and streams.
//!
//! An engine is a device that memory and primitives belong to; its identity is the object, not the hardware: two engines over the same
//! processor do not mix. A stream puts executions in order; the CPU's computes on the calling thread and the stream's threads, and is
//! done when `execute` returns, but nothing here relies on it (see [`Queue`]).

use crate::Executor;
use crate::device::{Device, EngineKind, Queue};
use crate::threads::Threads;
use oxidnn_spec::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A device in use; a cheap handle. Equal only to its clones.
#[derive(Clone)]
pub struct Engine(Arc<EngineState>);

struct EngineState {
    id: u64,
    device: Box<dyn Device>,
}

impl Engine {
    /// An engine over `device`.
    pub fn new(device: impl Device) -> Engine {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Engine(Arc::new(EngineState { id: NEXT.fetch_add(1, Ordering::Relaxed), device: Box::new(device) }))
    }

    /// A number that no other engine of this process has or had.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// CPU or GPU.
    pub fn kind(&self) -> EngineKind {
        self.0.device.kind()
    }

    /// The device behind it.
    pub fn device(&self) -> &dyn Device {
        &*self.0.device
    }
}

impl PartialEq for Engine {
    fn eq(&self, o: &Engine) -> bool {
        Arc::ptr_eq(&self.0, &o.0)
    }
}
impl Eq for Engine {}

/// `cpu#1(avx2)`: kind, number, device.
impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}({})", self.kind(), self.id(), self.device().name())
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Engine({self})")
    }
}

/// An in-order queue of executions on an engine; a cheap handle that several threads may use at once.
#[derive(Clone)]
pub struct Stream(Arc<StreamState>);

struct StreamState {
    engine: Engine,
    threads: Threads,
    queue: Box<dyn Queue>,
}

impl Stream {
    /// A stream on the process-wide thread pool.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device cannot make a queue.
    pub fn new(engine: &Engine) -> Result<Stream, Error> {
        Stream::with_threads(engine, Threads::default())
    }

    /// A stream whose executions use `threads`.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device cannot make a queue.
    pub fn with_threads(engine: &Engine, threads: Threads) -> Result<Stream, Error> {
        let queue = engine.device().queue()?;
        Ok(Stream(Arc::new(StreamState { engine: engine.clone(), threads, queue })))
    }

    /// The engine it belongs to.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The threads that executions run on.
    pub fn executor(&self) -> &dyn Executor {
        self.0.threads.executor()
    }

    /// Returns when everything executed on the stream is done.
    ///
    /// # Errors
    /// The first failure of an asynchronous execution since the last wait.
    pub fn wait(&self) -> Result<(), Error> {
        self.0.queue.wait()
    }

    pub(crate) fn queue(&self) -> &dyn Queue {
        &*self.0.queue
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({}, {} threads)", self.engine(), self.executor().threads())
    }
}
