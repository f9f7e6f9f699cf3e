//! The asynchronous queue of a host device: a thread of its own takes submissions in order and runs them on the queue's [`Threads`]. One of the
//! files with unsafe code: what was submitted is kept beyond the call.

use super::immediate::HostMark;
use super::{Immediate, Mark, Queue, ScratchSource, Submission, Ticket, Work};
use crate::{Bound, Exec, Executor, Region, Threads};
use oxidnn_spec::{Arg, Error, Tensor, Use};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Submissions that may wait before [`Queue::throttle`] blocks.
const BACKLOG: usize = 1024;

/// Runs work in order on a thread of its own.
pub struct Asynchronous {
    shared: Arc<Shared>,
    worker: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Work came, or the queue ends.
    arrived: Condvar,
    /// Work was done.
    done: Condvar,
    inner: Immediate,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    submitted: u64,
    done: u64,
    failure: Option<(Ticket, Error)>,
    ends: bool,
}

struct Job {
    task: Task,
    /// Released after the work.
    held: Option<Box<dyn Any + Send>>,
}

enum Task {
    Run { exec: Arc<dyn Exec>, args: Vec<Argument>, scratch: ScratchSource<'static> },
    Copy { from: Region<'static>, to: Region<'static> },
    Fill { to: Region<'static>, byte: u8 },
    Wait { other: Arc<dyn Queue>, ticket: Ticket },
    Mark(Arc<HostMark>),
}

/// An argument that outlives the call that submitted it.
struct Argument {
    arg: Arg,
    usage: Use,
    tensor: Tensor,
    regions: Box<[Region<'static>]>,
}

impl Argument {
    /// # Safety
    /// The memory of its regions outlives the argument.
    unsafe fn kept(b: &Bound<'_>) -> Argument {
        // SAFETY: the caller's promise.
        let regions = b.regions.iter().map(|r| unsafe { r.outlive() }).collect();
        Argument { arg: b.arg, usage: b.usage, tensor: b.tensor.clone(), regions }
    }

    fn bound(&self) -> Bound<'_> {
        Bound { arg: self.arg, usage: self.usage, tensor: &self.tensor, regions: &self.regions }
    }
}

impl Asynchronous {
    /// A queue whose executions use `threads`.
    ///
    /// # Errors
    /// [`Error::Runtime`] when its thread cannot be started.
    pub fn new(threads: Threads) -> Result<Asynchronous, Error> {
        let inner = Immediate::new(threads);
        let shared = Arc::new(Shared { state: Mutex::default(), arrived: Condvar::new(), done: Condvar::new(), inner });
        let worker = std::thread::Builder::new().name("oxidnn-stream".into()).spawn({
            let shared = shared.clone();
            move || shared.work()
        });
        let worker = worker.map_err(|e| Error::Runtime(format!("the thread of an asynchronous stream cannot be started: {e}")))?;
        Ok(Asynchronous { shared, worker: Some(worker) })
    }

    /// Puts the task that `make` makes of its ticket behind the others; what else `make` returns is returned.
    fn push<T>(&self, held: Option<Box<dyn Any + Send>>, make: impl FnOnce(Ticket) -> (Task, T)) -> T {
        let mut state = self.shared.lock();
        state.submitted += 1;
        let (task, made) = make(Ticket(state.submitted));
        state.jobs.push_back(Job { task, held });
        drop(state);
        self.shared.arrived.notify_one();
        made
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits while `condition` holds.
    fn wait_while(&self, condition: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        self.done.wait_while(self.lock(), |s| condition(s)).unwrap_or_else(|e| e.into_inner())
    }

    /// The thread: takes jobs until the queue ends and nothing is left.
    fn work(&self) {
        loop {
            let mut state = self.arrived.wait_while(self.lock(), |s| s.jobs.is_empty() && !s.ends).unwrap_or_else(|e| e.into_inner());
            let Some(job) = state.jobs.pop_front() else { return };
            drop(state);
            let Job { task, held } = job;
            let result = catch_unwind(AssertUnwindSafe(|| self.perform(&task)));
            let result = result.unwrap_or_else(|panic| Err(Error::Runtime(format!("an execution panicked: {}", words(&*panic)))));
            drop(task);
            drop(held);
            let mut state = self.lock();
            state.done += 1;
            if let Err(e) = result {
                let ticket = Ticket(state.done);
                state.failure.get_or_insert((ticket, e));
            }
            drop(state);
            self.done.notify_all();
        }
    }

    fn perform(&self, task: &Task) -> Result<(), Error> {
        let work = match task {
            Task::Run { exec, args, scratch } => {
                let args: Vec<Bound<'_>> = args.iter().map(Argument::bound).collect();
                // SAFETY: whoever submitted keeps the memory until the ticket is done, and the inner queue is done when it returns.
                return unsafe { self.inner.submit(Work::Run { exec, args: &args, scratch: *scratch }.into()) }.map(drop);
            }
            Task::Copy { from, to } => Work::Copy { from: *from, to: *to },
            Task::Fill { to, byte } => Work::Fill { to: *to, byte: *byte },
            Task::Wait { other, ticket } => {
                let _ = other.wait_until(*ticket);
                return Ok(());
            }
            Task::Mark(mark) => {
                mark.reach();
                return Ok(());
            }
        };
        // SAFETY: as above.
        unsafe { self.inner.submit(work.into()) }.map(drop)
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

impl Queue for Asynchronous {
    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Ticket, Error> {
        let task = match submission.work {
            Work::Run { exec, args, scratch } => {
                // SAFETY: the submitter keeps the memory until the task is done.
                let args = args.iter().map(|b| unsafe { Argument::kept(b) }).collect();
                let scratch = match scratch {
                    ScratchSource::Lease(bytes) => ScratchSource::Lease(bytes),
                    // SAFETY: as above.
                    ScratchSource::Given(region) => ScratchSource::Given(unsafe { region.outlive() }),
                };
                Task::Run { exec: exec.clone(), args, scratch }
            }
            // SAFETY: as above.
            Work::Copy { from, to } => unsafe { Task::Copy { from: from.outlive(), to: to.outlive() } },
            // SAFETY: as above.
            Work::Fill { to, byte } => Task::Fill { to: unsafe { to.outlive() }, byte },
        };
        Ok(self.push(submission.held, |ticket| (task, ticket)))
    }

    fn is_done(&self, ticket: Ticket) -> Result<bool, Error> {
        Ok(self.shared.lock().done >= ticket.0)
    }

    fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        match &self.shared.wait_while(|s| s.done < ticket.0).failure {
            Some((at, e)) if *at <= ticket => Err(e.clone()),
            _ => Ok(()),
        }
    }

    fn wait(&self) -> Result<(), Error> {
        let last = self.shared.lock().submitted;
        match self.shared.wait_while(|s| s.done < last).failure.take() {
            Some((_, e)) => Err(e),
            None => Ok(()),
        }
    }

    fn wait_for(&self, other: &Arc<dyn Queue>, ticket: Ticket) -> Result<(), Error> {
        if !other.is_done(ticket)? {
            self.push(None, |_| (Task::Wait { other: other.clone(), ticket }, ()));
        }
        Ok(())
    }

    fn mark(&self) -> Result<Arc<dyn Mark>, Error> {
        Ok(self.push(None, |ticket| {
            let mark = Arc::new(HostMark::new(ticket));
            (Task::Mark(mark.clone()), mark)
        }))
    }

    fn throttle(&self) {
        drop(self.shared.wait_while(|s| s.jobs.len() > BACKLOG));
    }

    fn executor(&self) -> &dyn Executor {
        self.shared.inner.executor()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Asynchronous {
    /// Drains the queue. What a job held may be the last to own the queue: then its thread ends it, which must not wait for itself.
    fn drop(&mut self) {
        self.shared.lock().ends = true;
        self.shared.arrived.notify_all();
        if let Some(worker) = self.worker.take().filter(|w| w.thread().id() != std::thread::current().id()) {
            let _ = worker.join();
        }
    }
}
