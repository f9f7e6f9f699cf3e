//! The asynchronous queue of a host device: a thread of its own takes submissions in order and runs them on the queue's [`Threads`]. One of
//! the files with unsafe code: submissions outlive the call.
//!
//! A forked child has no such thread, and starts one when it first uses the queue. Work that its parent's thread had not done at the fork
//! is not done in the child: the memory keeps its old contents, and the next wait reports that.

use super::backlog::Backlog;
use super::immediate::HostMark;
use super::{Immediate, Mark, Queue, ScratchSource, Submission, Ticket, Work};
use crate::fork::{self, Own};
use crate::{Bound, Exec, Executor, Notes, Region, Threads};
use oxidnn_spec::{Arg, Error, Tensor, Use};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// None where a child could not start one: then the submitting thread does the work.
    thread: Option<JoinHandle<()>>,
    process: u64,
}

struct Shared {
    backlog: Backlog<Job>,
    inner: Immediate,
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
    notes: Option<Notes>,
}

impl Argument {
    /// # Safety
    /// The memory of its regions outlives the argument.
    unsafe fn kept(b: &Bound<'_>) -> Argument {
        // SAFETY: the caller's promise.
        let regions = b.regions.iter().map(|r| unsafe { r.outlive() }).collect();
        Argument { arg: b.arg, usage: b.usage, tensor: b.tensor.clone(), regions, notes: b.notes.cloned() }
    }

    fn bound(&self) -> Bound<'_> {
        Bound { arg: self.arg, usage: self.usage, tensor: &self.tensor, regions: &self.regions, notes: self.notes.as_ref() }
    }
}

impl Asynchronous {
    /// A queue whose executions use `threads`.
    ///
    /// # Errors
    /// [`Error::Runtime`] when its thread cannot be started.
    pub fn new(threads: Threads) -> Result<Asynchronous, Error> {
        let worker = Worker::start(threads.clone(), Backlog::after(Ticket(0), None));
        let worker = worker.map_err(|(_, e)| Error::Runtime(format!("the thread of an asynchronous stream cannot be started: {e}")))?;
        Ok(Asynchronous { worker: Own::new(worker), tickets: AtomicU64::new(0), threads })
    }

    fn worker(&self) -> &Worker {
        self.worker.get(|forebear| {
            let left =
                || Error::Runtime("the process was forked while work of this stream was under way, which its parent alone does".into());
            let failure = (!forebear.shared.backlog.is_idle()).then(left);
            let backlog = Backlog::after(Ticket(self.tickets.load(Ordering::Relaxed)), failure);
            Worker::start(self.threads.clone(), backlog).unwrap_or_else(|(worker, _)| worker)
        })
    }

    fn backlog(&self) -> &Backlog<Job> {
        &self.worker().shared.backlog
    }

    /// Appends the task that `make` makes from its ticket; passes on the other result of `make`.
    fn push<T>(&self, held: Option<Box<dyn Any + Send>>, make: impl FnOnce(Ticket) -> (Task, T)) -> T {
        let Worker { shared, thread, .. } = self.worker();
        let made = shared.backlog.push(|ticket| {
            self.tickets.store(ticket.0, Ordering::Relaxed);
            let (task, made) = make(ticket);
            (Job { task, held }, made)
        });
        if thread.is_none() {
            shared.backlog.catch_up(|job| shared.perform(job));
        }
        made
    }
}

impl Worker {
    /// The worker, and where it has no thread why.
    fn start(threads: Threads, backlog: Backlog<Job>) -> Result<Worker, (Worker, std::io::Error)> {
        let shared = Arc::new(Shared { backlog, inner: Immediate::new(threads) });
        let started = std::thread::Builder::new().name("oxidnn-stream".into()).spawn({
            let shared = shared.clone();
            move || shared.backlog.work(|job| shared.perform(job))
        });
        let process = fork::process();
        match started {
            Ok(thread) => Ok(Worker { shared, thread: Some(thread), process }),
            Err(e) => Err((Worker { shared, thread: None, process }, e)),
        }
    }
}

impl Shared {
    /// Does a job, and releases the resources that it held.
    fn perform(&self, Job { task, held }: Job) -> Result<(), Error> {
        let result = catch_unwind(AssertUnwindSafe(|| self.run(&task)));
        drop(task);
        drop(held);
        result.unwrap_or_else(|panic| Err(Error::Runtime(format!("an execution panicked: {}", words(&*panic)))))
    }

    fn run(&self, task: &Task) -> Result<(), Error> {
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

/// The message of a panic.
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
        Ok(self.backlog().is_done(ticket))
    }

    fn wait_until(&self, ticket: Ticket) -> Result<(), Error> {
        self.backlog().wait_until(ticket)
    }

    fn wait(&self) -> Result<(), Error> {
        self.backlog().wait()
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
        self.backlog().throttle(BACKLOG);
    }

    fn executor(&self) -> &dyn Executor {
        self.worker().shared.inner.executor()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Worker {
    /// Drains the queue. A job's resources may be the last owner of the queue: then its own thread ends it, which must not wait for itself.
    /// A child leaves its parent's thread alone.
    fn drop(&mut self) {
        if self.process != fork::process() {
            std::mem::forget((self.thread.take(), self.shared.clone()));
            return;
        }
        self.shared.backlog.end();
        if let Some(thread) = self.thread.take().filter(|t| t.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}
