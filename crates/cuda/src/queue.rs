//! `CudaQueue`: a CUDA stream as a queue of the runtime. One of the files with unsafe code.
//!
//! Launches go behind each other on the stream; nothing waits for them here. Scratch is one block a stream, which grows where an execution needs more:
//! the stream's order keeps executions from meeting in it. What a submission holds is let go once its event is reached, when the queue is next asked.

use crate::device::CudaDevice;
use crate::driver::{Block, CudaError, Event, Stream};
use oxidnn_runtime::queue::{Mark, ScratchSource, Ticket};
use oxidnn_runtime::{Bound, Ctx, Exec, Queue, Region, Submission, Work};
use oxidnn_spec::Error;
use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Submissions that may wait before the host does.
const WAITING: usize = 1024;

thread_local! {
    /// The queue in whose execution this thread is: what the execution submits belongs to it.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// A stream with what its work holds.
#[derive(Debug)]
pub struct CudaQueue {
    device: CudaDevice,
    stream: Arc<Stream>,
    /// Held for the launches of one execution, which share the scratch.
    order: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    scratch: Option<Block>,
    pending: VecDeque<Pending>,
    /// Events to be used again.
    spare: Vec<Arc<Event>>,
}

/// A submission that may not be done.
struct Pending {
    ticket: Ticket,
    event: Arc<Event>,
    _held: Option<Box<dyn Any + Send>>,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({:?})", self.ticket)
    }
}

/// A point in a stream, with its time.
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

    /// A queue on a stream that is there.
    pub fn over(device: &CudaDevice, stream: Arc<Stream>) -> CudaQueue {
        CudaQueue { device: device.clone(), stream, order: Mutex::new(()), state: Mutex::default() }
    }

    /// The stream.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least `bytes` of scratch.
    fn scratch(&self, bytes: usize) -> Result<Region<'static>, CudaError> {
        let mut state = self.lock();
        if bytes == 0 {
            return Ok(Region::empty());
        }
        if state.scratch.as_ref().is_none_or(|b| b.bytes() < bytes) {
            // The old block is freed in the stream's order, behind the work that uses it.
            state.scratch = None;
            state.scratch = Some(self.device.pool.allocate(bytes.next_power_of_two(), Some(&self.stream))?);
        }
        Ok(state.scratch.as_ref().map_or(Region::empty(), |b| self.device.region(b)))
    }

    fn execute(&self, exec: &dyn Exec, args: &[Bound<'_>], source: ScratchSource<'_>) -> Result<(), Error> {
        let scratch = match source {
            ScratchSource::Given(region) => region,
            ScratchSource::Lease(bytes) => self.scratch(bytes)?,
        };
        exec.run(&Ctx { args, scratch, queue: self })
    }

    fn copy(&self, from: Region<'_>, to: Region<'_>) -> Result<(), Error> {
        let len = from.len().min(to.len());
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

    fn work(&self, work: Work<'_>) -> Result<(), Error> {
        match work {
            Work::Run { exec, args, scratch } => self.execute(&**exec, args, scratch),
            Work::Copy { from, to } => self.copy(from, to),
            Work::Fill { to, byte } => match to.bytes() {
                Some(_) => Err(Error::Runtime("a fill of the host's memory on a queue of a GPU".into())),
                // SAFETY: the runtime lends the region to this submission and keeps it until it is done.
                None => unsafe { self.stream.fill(to.address(), byte, to.len()) }.map_err(Error::from),
            },
        }
    }

    /// Lets go of what finished submissions hold.
    fn reap(&self) -> Result<(), Error> {
        let mut done = Vec::new();
        let mut state = self.lock();
        while let Some(first) = state.pending.front() {
            if !first.event.is_done()? {
                break;
            }
            done.extend(state.pending.pop_front());
        }
        drop(state);
        // What they hold is dropped outside of the lock; an event that nobody waits for is used again.
        let events: Vec<Arc<Event>> = done.into_iter().map(|p| p.event).filter(|e| Arc::strong_count(e) == 1).collect();
        self.lock().spare.extend(events);
        Ok(())
    }

    /// The end of what was submitted, as an event.
    fn finish(&self, held: Option<Box<dyn Any + Send>>) -> Result<Ticket, Error> {
        let mut state = self.lock();
        state.next += 1;
        let ticket = Ticket(state.next);
        let event = match state.spare.pop() {
            Some(event) => event,
            None => Arc::new(Event::new(&self.device.context, false)?),
        };
        event.record(&self.stream)?;
        state.pending.push_back(Pending { ticket, event, _held: held });
        Ok(ticket)
    }

    /// Calls `f` with the first event that is not before `ticket`, where it is not known to be done.
    fn with_event<T>(&self, ticket: Ticket, f: impl FnOnce(&Event) -> Result<T, CudaError>) -> Result<Option<T>, Error> {
        let found = self.lock().pending.iter().find(|p| p.ticket >= ticket).map(|p| Arc::clone(&p.event));
        Ok(found.map(|event| f(&event)).transpose()?)
    }
}

impl Queue for CudaQueue {
    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Ticket, Error> {
        let Submission { work, held } = submission;
        let me = std::ptr::from_ref(self).addr();
        if INSIDE.get() == me {
            self.work(work)?;
            return Ok(Ticket(self.lock().next + 1));
        }
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let outer = INSIDE.replace(me);
        let result = self.work(work);
        INSIDE.set(outer);
        // Where the work failed half-way, what it began still uses what it holds.
        let ticket = self.finish(held)?;
        result.map(|()| ticket)
    }

    fn is_done(&self, ticket: Ticket) -> Result<bool, Error> {
        self.reap()?;
        Ok(self.with_event(ticket, Event::is_done)?.unwrap_or(true))
    }

    fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        self.with_event(ticket, Event::synchronise)?;
        self.reap()
    }

    fn wait(&self) -> Result<(), Error> {
        self.stream.synchronise()?;
        self.reap()
    }

    fn wait_for(&self, other: &Arc<dyn Queue>, ticket: Ticket) -> Result<(), Error> {
        match other.as_any().downcast_ref::<CudaQueue>() {
            Some(other) => other.with_event(ticket, |event| self.stream.wait(event)).map(drop),
            None => {
                // Failures of the other queue's work are that queue's.
                let _ = other.wait_until(ticket);
                Ok(())
            }
        }
    }

    fn mark(&self) -> Result<Arc<dyn Mark>, Error> {
        let event = Event::new(&self.device.context, true)?;
        event.record(&self.stream)?;
        Ok(Arc::new(CudaMark { ticket: self.finish(None)?, event }))
    }

    fn throttle(&self) {
        let oldest = {
            let state = self.lock();
            (state.pending.len() > WAITING).then(|| state.pending[state.pending.len() - WAITING].ticket)
        };
        match oldest {
            Some(ticket) => {
                let _ = self.wait_until(ticket);
            }
            None => {
                let _ = self.reap();
            }
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
