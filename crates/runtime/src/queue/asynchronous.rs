//! The asynchronous queue of a host device: a thread of its own takes submissions in order and runs them on the queue's [`Threads`]. One of the
//! files with unsafe code: what was submitted is kept beyond the call.
//!
//! A forked child has no such thread, and starts one when it first uses the queue. What its parent's thread had not done by then is not done in the child:
//! memory that it would have written is a copy of what was there, and the next wait says so.

use super::immediate::HostMark;
use super::{Immediate, Mark, Queue, ScratchSource, Submission, Ticket, Work};
use crate::fork::{self, Own};
use crate::{Bound, Exec, Executor, Region, Threads};
use oxidnn_spec::{Arg, Error, Tensor, Use};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Submissions that may wait before [`Queue::throttle`] blocks.
const BACKLOG: usize = 1024;

/// Runs work in order on a thread of its own.
pub struct Asynchronous {
    worker: Own<Worker>,
    /// Tickets given so far, by this process and those that it was forked from.
    tickets: AtomicU64,
    threads: Threads,
}

/// The queue of one process, and its thread.
struct Worker {
    shared: Arc<Shared>,
    /// None where a child could start none: what submits does the work.
    thread: Option<JoinHandle<()>>,
    process: u64,
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
        let worker = Worker::start(threads.clone(), State::default());
        let worker = worker.map_err(|(_, e)| Error::Runtime(format!("the thread of an asynchronous stream cannot be started: {e}")))?;
        Ok(Asynchronous { worker: Own::new(worker), tickets: AtomicU64::new(0), threads })
    }

    fn worker(&self) -> &Worker {
        self.worker.get(|forebear| {
            let last = self.tickets.load(Ordering::Relaxed);
            let left = Error::Runtime("the process was forked while work of this stream was under way, which its parent alone does".into());
            let failure = (!forebear.is_idle()).then_some((Ticket(last), left));
            let state = State { submitted: last, done: last, failure, ..State::default() };
            Worker::start(self.threads.clone(), state).unwrap_or_else(|(worker, _)| worker)
        })
    }

    fn shared(&self) -> &Shared {
        &self.worker().shared
    }

    /// Puts the task that `make` makes of its ticket behind the others; what else `make` returns is returned.
    fn push<T>(&self, held: Option<Box<dyn Any + Send>>, make: impl FnOnce(Ticket) -> (Task, T)) -> T {
        let worker = self.worker();
        let mut state = worker.shared.lock();
        state.submitted += 1;
        self.tickets.store(state.submitted, Ordering::Relaxed);
        let (task, made) = make(Ticket(state.submitted));
        state.jobs.push_back(Job { task, held });
        drop(state);
        worker.shared.arrived.notify_one();
        if worker.thread.is_none() {
            worker.shared.work(|_| true);
        }
        made
    }
}

impl Worker {
    /// The worker, and where it has no thread why.
    fn start(threads: Threads, state: State) -> Result<Worker, (Worker, std::io::Error)> {
        let inner = Immediate::new(threads);
        let shared = Arc::new(Shared { state: Mutex::new(state), arrived: Condvar::new(), done: Condvar::new(), inner });
        let started = std::thread::Builder::new().name("oxidnn-stream".into()).spawn({
            let shared = shared.clone();
            move || shared.work(|s| s.ends)
        });
        let process = fork::process();
        match started {
            Ok(thread) => Ok(Worker { shared, thread: Some(thread), process }),
            Err(e) => Err((Worker { shared, thread: None, process }, e)),
        }
    }

    /// Whether nothing was under way when a child was forked that looks now: not where its lock was held.
    fn is_idle(&self) -> bool {
        self.shared.state.try_lock().is_ok_and(|s| s.done == s.submitted)
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

    /// Takes jobs and does them, and waits for more, until `ends`.
    fn work(&self, ends: impl Fn(&State) -> bool) {
        loop {
            let state = self.arrived.wait_while(self.lock(), |s| s.jobs.is_empty() && !ends(s));
            let mut state = state.unwrap_or_else(|e| e.into_inner());
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
        Ok(self.shared().lock().done >= ticket.0)
    }

    fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        match &self.shared().wait_while(|s| s.done < ticket.0).failure {
            Some((at, e)) if *at <= ticket => Err(e.clone()),
            _ => Ok(()),
        }
    }

    fn wait(&self) -> Result<(), Error> {
        let shared = self.shared();
        let last = shared.lock().submitted;
        match shared.wait_while(|s| s.done < last).failure.take() {
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
        drop(self.shared().wait_while(|s| s.jobs.len() > BACKLOG));
    }

    fn executor(&self) -> &dyn Executor {
        self.shared().inner.executor()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Worker {
    /// Drains the queue. What a job held may be the last to own the queue: then its thread ends it, which must not wait for itself. A child leaves its
    /// parent's as it is.
    fn drop(&mut self) {
        if self.process != fork::process() {
            std::mem::forget((self.thread.take(), self.shared.clone()));
            return;
        }
        self.shared.lock().ends = true;
        self.shared.arrived.notify_all();
        if let Some(thread) = self.thread.take().filter(|t| t.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}
