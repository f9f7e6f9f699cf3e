//! Streams: in-order queues of work on an engine, and events to order them with each other and with the host.

use crate::device::QueueSpec;
use crate::queue::{Mark, Queue};
use crate::{Engine, Executor, Threads};
use oxidnn_spec::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// An in-order queue of executions on an engine; a cheap handle that several threads may use at once. Dropping the last handle first waits
/// for the submitted work.
#[derive(Clone)]
pub struct Stream(Arc<StreamState>);

struct StreamState {
    engine: Engine,
    queue: Arc<dyn Queue>,
    /// The queue's constant properties.
    is_synchronous: bool,
}

impl Stream {
    /// A stream on the process-wide thread pool. On a CPU it is synchronous, that is, work is done when `execute` returns, unless the knob
    /// `ASYNCHRONOUS_STREAMS` says otherwise.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device cannot make a queue.
    pub fn new(engine: &Engine) -> Result<Stream, Error> {
        Stream::with(engine, &QueueSpec::default())
    }

    /// A stream whose executions use `threads`.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device cannot make a queue.
    pub fn with_threads(engine: &Engine, threads: Threads) -> Result<Stream, Error> {
        Stream::with(engine, &QueueSpec { threads, ..QueueSpec::default() })
    }

    /// A stream whose `execute` returns at once, on any engine: a CPU computes on a thread of the stream and its executor. Work is in order;
    /// mapping memory waits for it.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device cannot make a queue.
    pub fn asynchronous(engine: &Engine) -> Result<Stream, Error> {
        Stream::with(engine, &QueueSpec { asynchronous: true, ..QueueSpec::default() })
    }

    /// A stream as `spec` says.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device cannot make a queue.
    pub fn with(engine: &Engine, spec: &QueueSpec) -> Result<Stream, Error> {
        Ok(Stream::over(engine, engine.device().queue(spec)?))
    }

    /// A stream over a queue of the engine's device, such as one that wraps the caller's own.
    pub fn over(engine: &Engine, queue: Arc<dyn Queue>) -> Stream {
        let is_synchronous = queue.is_synchronous();
        Stream(Arc::new(StreamState { engine: engine.clone(), queue, is_synchronous }))
    }

    /// The engine it belongs to.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The host's threads that executions run on.
    pub fn executor(&self) -> &dyn Executor {
        self.0.queue.executor()
    }

    /// True when work is done as soon as `execute` returns.
    pub fn is_synchronous(&self) -> bool {
        self.0.is_synchronous
    }

    /// Returns when everything executed on the stream is done.
    ///
    /// # Errors
    /// The first failure of an asynchronous execution since the last wait.
    pub fn wait(&self) -> Result<(), Error> {
        self.0.queue.wait()
    }

    /// An event after everything that was executed on the stream.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    pub fn record(&self) -> Result<Event, Error> {
        Ok(Event { queue: self.0.queue.clone(), mark: self.0.queue.mark()? })
    }

    /// Orders later executions on the stream after `event`, of any engine.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        if Arc::ptr_eq(&self.0.queue, &event.queue) {
            return Ok(());
        }
        self.0.queue.wait_for(&event.queue, event.mark.ticket())
    }

    /// The queue behind it.
    pub fn queue(&self) -> &Arc<dyn Queue> {
        &self.0.queue
    }
}

impl Drop for StreamState {
    fn drop(&mut self) {
        let _ = self.queue.wait();
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({}, {} threads)", self.engine(), self.executor().threads())
    }
}

/// A point in a stream, made by [`Stream::record`].
#[derive(Clone)]
pub struct Event {
    queue: Arc<dyn Queue>,
    mark: Arc<dyn Mark>,
}

impl Event {
    /// Whether the stream has reached it.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    pub fn is_done(&self) -> Result<bool, Error> {
        self.queue.is_done(self.mark.ticket())
    }

    /// Returns when the stream has reached it.
    ///
    /// # Errors
    /// A failure of work before it that no [`Stream::wait`] has shown yet.
    pub fn wait(&self) -> Result<(), Error> {
        self.queue.wait_until(self.mark.ticket())
    }

    /// Time between `earlier` and this event as the device measures it. Both must have been waited for.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when one is not reached yet or is of another kind of device.
    pub fn since(&self, earlier: &Event) -> Result<Duration, Error> {
        self.mark.since(&*earlier.mark)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?})", self.mark.ticket())
    }
}
