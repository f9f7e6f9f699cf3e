//! `CudaQueue`: a CUDA stream as a queue of the runtime. One of the files with unsafe code.
//!
//! Submissions are enqueued on the stream in order and asynchronously. Scratch is one allocation per stream, which grows when an execution needs more; executions
//! share it because the stream orders them. The resources that a submission holds (memory, code) are released after an event behind it has completed,
//! the next time the queue is used. Events are recorded only where somebody waits, and every `EVERY` submissions.
//!
//! While the stream is captured into a graph, submissions become nodes of the graph, and the queue holds what they use as long as it lives, which is
//! longer than the graph. Waiting, and copies from or to the host, are errors then.

use crate::device::CudaDevice;
use crate::driver::{Block, CudaError, Current, Event, Graph, Stream};
use crate::exec::{Launches, Places};
use oxidnn_runtime::queue::{Mark, ScratchSource, Ticket};
use oxidnn_runtime::{Bound, Ctx, Exec, Queue, Region, Submission, Work};
use oxidnn_spec::Error;
use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pending submissions beyond which the host waits (`throttle`), and submissions from one event to the next.
const WAITING: usize = 1024;
const EVERY: usize = 32;

thread_local! {
    /// The queue whose execution this thread is in: nested submissions run as part of that execution.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// A stream and the resources that its pending work holds.
#[derive(Debug)]
pub struct CudaQueue {
    device: CudaDevice,
    stream: Arc<Stream>,
    /// Held while an execution enqueues its launches: they must be adjacent on the stream, because executions share the scratch.
    order: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    scratch: Option<Block>,
    /// A captured graph uses the scratch.
    is_captured: bool,
    pending: VecDeque<Pending>,
    /// Pending submissions after the last event.
    unmarked: usize,
    /// Events for reuse.
    spare: Vec<Arc<Event>>,
    /// Scratch and other resources that captured graphs use.
    blocks: Vec<Block>,
    captured: Vec<Box<dyn Any + Send>>,
}

/// A submission that may not have completed.
struct Pending {
    ticket: Ticket,
    /// The event behind it, if one was recorded.
    event: Option<Arc<Event>>,
    _held: Option<Box<dyn Any + Send>>,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({:?})", self.ticket)
    }
}

/// Executions of a queue, captured as a CUDA graph. Its launches are enqueued on the queue's stream; tickets do not cover them, so other queues cannot wait for
/// them.
#[derive(Debug)]
pub struct Captured<'q> {
    graph: Graph,
    /// Holds the resources of the graph.
    _queue: &'q CudaQueue,
}

impl Captured<'_> {
    /// Enqueues the graph on the queue's stream.
    ///
    /// # Errors
    /// [`Error::Runtime`] if the driver fails.
    pub fn launch(&self) -> Result<(), Error> {
        // SAFETY: the queue holds memory, scratch and code of what it captured as long as it lives.
        unsafe { self.graph.launch() }?;
        Ok(())
    }
}

/// A timed event in a stream.
struct CudaMark {
    ticket: Ticket,
    event: Event,
}

impl CudaQueue {
    /// A queue on a new stream.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn new(device: &CudaDevice) -> Result<CudaQueue, CudaError> {
        let stream = Arc::new(Stream::new(&device.context)?);
        Ok(CudaQueue::over(device, stream))
    }

    /// A queue on an existing stream.
    pub fn over(device: &CudaDevice, stream: Arc<Stream>) -> CudaQueue {
        CudaQueue { device: device.clone(), stream, order: Mutex::new(()), state: Mutex::default() }
    }

    /// Its GPU.
    pub fn device(&self) -> &CudaDevice {
        &self.device
    }

    /// The stream.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Captures what `work` submits to this queue into a graph; nothing of it runs now.
    ///
    /// # Errors
    /// Those of `work`; [`Error::Runtime`] if the driver cannot capture it.
    pub fn capture(&self, work: impl FnOnce() -> Result<(), Error>) -> Result<Captured<'_>, Error> {
        Ok(Captured { graph: Graph::capture(&self.stream, work)?, _queue: self })
    }

    /// Enqueues launches that belong to no primitive and use no scratch.
    ///
    /// # Errors
    /// [`Error::Runtime`].
    ///
    /// # Safety
    /// That of [`Launches::launch`].
    pub unsafe fn launch(&self, launches: &Arc<Launches>, places: &dyn Places) -> Result<(), Error> {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let current = Current::of(&self.device.context)?;
        let capturing = self.stream.is_capturing(&current)?;
        // SAFETY: the caller's promise; the code is held until the work is done.
        let result = unsafe { launches.launch(&self.stream, places) };
        self.finish(Some(Box::new(Arc::clone(launches))), capturing)?;
        result
    }

    /// Whether the stream is being captured.
    fn is_capturing(&self) -> Result<bool, CudaError> {
        self.stream.is_capturing(&Current::of(&self.device.context)?)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leases at least `bytes` of scratch.
    fn scratch(&self, bytes: usize, capturing: bool) -> Result<Region<'static>, CudaError> {
        if bytes == 0 {
            return Ok(Region::empty());
        }
        let mut state = self.lock();
        if state.scratch.as_ref().is_none_or(|b| b.bytes() < bytes) {
            // The old block is freed in stream order, after the work that uses it, or kept for the graphs that use it.
            let old = state.scratch.take();
            if std::mem::take(&mut state.is_captured) {
                state.blocks.extend(old);
            } else {
                drop(old);
            }
            let stream = Some(&self.stream).filter(|_| !capturing);
            state.scratch = Some(self.device.pool.allocate(bytes.next_power_of_two(), stream)?);
        }
        state.is_captured |= capturing;
        Ok(state.scratch.as_ref().map_or(Region::empty(), |b| self.device.region(b)))
    }

    fn execute(&self, exec: &dyn Exec, args: &[Bound<'_>], source: ScratchSource<'_>, capturing: bool) -> Result<(), Error> {
        let scratch = match source {
            ScratchSource::Given(region) => region,
            ScratchSource::Lease(bytes) => self.scratch(bytes, capturing)?,
        };
        exec.run(&Ctx { args, scratch, queue: self })
    }

    fn copy(&self, from: Region<'_>, to: Region<'_>, capturing: bool) -> Result<(), Error> {
        let len = from.len().min(to.len());
        if capturing && (from.bytes().is_some() || to.bytes().is_some()) {
            return Err(Error::Runtime(
                "a copy between host and GPU while the stream is captured into a graph: make it before or after".into(),
            ));
        }
        match (from.bytes(), to.bytes()) {
            (Some(bytes), None) => {
                let mut staged = vec![0; len];
                bytes.read(0, &mut staged);
                // SAFETY: the runtime lends the destination to this submission.
                unsafe { self.stream.upload(&staged, to.address())? };
            }
            (None, Some(bytes)) => {
                let mut staged = vec![0; len];
                // SAFETY: the runtime lends the source to this submission.
                unsafe { self.stream.download(from.address(), &mut staged)? };
                bytes.write(0, &staged);
            }
            // SAFETY: the runtime lends both to this submission and keeps them until it is done.
            (None, None) => unsafe { self.stream.copy(from.address(), to.address(), len)? },
            (Some(_), Some(_)) => return Err(Error::Runtime("a copy within the host's memory on a queue of a GPU".into())),
        }
        Ok(())
    }

    fn work(&self, work: Work<'_>, capturing: bool) -> Result<(), Error> {
        match work {
            Work::Run { exec, args, scratch } => self.execute(&**exec, args, scratch, capturing),
            Work::Copy { from, to } => self.copy(from, to, capturing),
            Work::Fill { to, byte } => match to.bytes() {
                Some(_) => Err(Error::Runtime("a fill of the host's memory on a queue of a GPU".into())),
                // SAFETY: the runtime lends the region to this submission and keeps it until it is done.
                None => unsafe { self.stream.fill(to.address(), byte, to.len()) }.map_err(Error::from),
            },
        }
    }

    /// Releases the resources of completed submissions.
    fn reap(&self) -> Result<(), Error> {
        let mut done = Vec::new();
        let mut state = self.lock();
        while let Some(marked) = state.pending.iter().position(|p| p.event.is_some()) {
            let is_done = state.pending[marked].event.as_ref().is_some_and(|e| e.is_done().unwrap_or(true));
            if !is_done {
                break;
            }
            done.extend(state.pending.drain(..=marked));
        }
        drop(state);
        self.let_go(done);
        Ok(())
    }

    /// Drops the resources of submissions without holding the lock; events that nobody else holds are reused.
    fn let_go(&self, done: Vec<Pending>) {
        let events: Vec<Arc<Event>> = done.into_iter().filter_map(|p| p.event).filter(|e| Arc::strong_count(e) == 1).collect();
        if !events.is_empty() {
            self.lock().spare.extend(events);
        }
    }

    /// Records an event behind the last pending submission.
    fn mark_end(&self, state: &mut State) -> Result<(), CudaError> {
        let event = match state.spare.pop() {
            Some(event) => event,
            None => Arc::new(Event::new(&self.device.context, false)?),
        };
        event.record(&self.stream)?;
        state.unmarked = 0;
        if let Some(last) = state.pending.back_mut() {
            last.event = Some(event);
        }
        Ok(())
    }

    /// Assigns a ticket to a submission and keeps its resources.
    fn finish(&self, held: Option<Box<dyn Any + Send>>, capturing: bool) -> Result<Ticket, Error> {
        let mut state = self.lock();
        state.next += 1;
        let ticket = Ticket(state.next);
        if capturing {
            state.captured.extend(held);
            return Ok(ticket);
        }
        state.pending.push_back(Pending { ticket, event: None, _held: held });
        state.unmarked += 1;
        if state.unmarked >= EVERY {
            self.mark_end(&mut state)?;
        }
        Ok(ticket)
    }

    /// Calls `f` with an event at or after `ticket`; `None` if the submission is known to be done.
    fn with_event<T>(&self, ticket: Ticket, f: impl FnOnce(&Event) -> Result<T, CudaError>) -> Result<Option<T>, Error> {
        let found = {
            let mut state = self.lock();
            if state.pending.back().is_some_and(|last| last.ticket >= ticket && last.event.is_none()) {
                let marked = state.pending.iter().any(|p| p.ticket >= ticket && p.event.is_some());
                if !marked {
                    if self.is_capturing()? {
                        return Err(Error::Runtime(
                            "the stream is captured into a graph: what it did before is waited for before or after".into(),
                        ));
                    }
                    self.mark_end(&mut state)?;
                }
            }
            state.pending.iter().find(|p| p.ticket >= ticket && p.event.is_some()).and_then(|p| p.event.clone())
        };
        Ok(found.map(|event| f(&event)).transpose()?)
    }
}

impl Queue for CudaQueue {
    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Ticket, Error> {
        let Submission { work, held } = submission;
        let me = std::ptr::from_ref(self).addr();
        if INSIDE.get() == me {
            self.work(work, self.is_capturing()?)?;
            return Ok(Ticket(self.lock().next + 1));
        }
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        // Once, for all driver calls below.
        let current = Current::of(&self.device.context)?;
        let capturing = self.stream.is_capturing(&current)?;
        let outer = INSIDE.replace(me);
        let result = self.work(work, capturing);
        INSIDE.set(outer);
        // If the work failed half-way, the launches that were enqueued still use its resources.
        let ticket = self.finish(held, capturing)?;
        result.map(|()| ticket)
    }

    fn is_done(&self, ticket: Ticket) -> Result<bool, Error> {
        self.reap()?;
        Ok(self.with_event(ticket, Event::is_done)?.unwrap_or(true))
    }

    fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        // Once, for all driver calls below.
        let current = Current::of(&self.device.context)?;
        // For the last submission, synchronising the stream is the same as waiting for an event.
        let is_last = self.lock().pending.back().is_some_and(|p| p.ticket <= ticket && p.event.is_none());
        if is_last && !self.stream.is_capturing(&current)? {
            return self.wait();
        }
        self.with_event(ticket, Event::synchronise)?;
        self.reap()
    }

    fn wait(&self) -> Result<(), Error> {
        let all = self.lock().next;
        self.stream.synchronise()?;
        let mut state = self.lock();
        let count = state.pending.iter().take_while(|p| p.ticket.0 <= all).count();
        let done = state.pending.drain(..count).collect();
        state.unmarked = state.pending.len().min(state.unmarked);
        drop(state);
        self.let_go(done);
        Ok(())
    }

    fn wait_for(&self, other: &Arc<dyn Queue>, ticket: Ticket) -> Result<(), Error> {
        match other.as_any().downcast_ref::<CudaQueue>() {
            Some(other) => other.with_event(ticket, |event| self.stream.wait(event)).map(drop),
            None => {
                // Errors of the other queue's work are reported by that queue.
                let _ = other.wait_until(ticket);
                Ok(())
            }
        }
    }

    fn mark(&self) -> Result<Arc<dyn Mark>, Error> {
        let event = Event::new(&self.device.context, true)?;
        event.record(&self.stream)?;
        Ok(Arc::new(CudaMark { ticket: self.finish(None, self.is_capturing()?)?, event }))
    }

    fn throttle(&self) {
        let (count, oldest) = {
            let state = self.lock();
            let count = state.pending.len();
            (count, (count > WAITING).then(|| state.pending[count - WAITING].ticket))
        };
        match oldest {
            Some(ticket) => {
                let _ = self.wait_until(ticket);
            }
            None if count >= 2 * EVERY && count % EVERY == 0 => {
                let _ = self.reap();
            }
            None => {}
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CudaQueue {
    fn drop(&mut self) {
        let _ = self.stream.synchronise();
    }
}

impl Mark for CudaMark {
    fn ticket(&self) -> Ticket {
        self.ticket
    }

    fn since(&self, earlier: &dyn Mark) -> Result<Duration, Error> {
        let Some(earlier) = earlier.as_any().downcast_ref::<CudaMark>() else {
            return Err(Error::invalid("mark", "one of another kind of device", "one of a GPU"));
        };
        let ms = earlier.event.milliseconds_to(&self.event)?;
        Ok(Duration::from_secs_f64(f64::from(ms).max(0.0) / 1e3))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
