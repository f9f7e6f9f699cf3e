//! Work submitted to streams: it runs at once, later on the stream's thread, or at every launch of a graph that captured it.
//!
//! By default a stream runs its work at once. With `OXIDNN_CUDART_ASYNC=1` every stream that a program creates has a thread of its own, so programs see the
//! asynchrony of a GPU; the null stream then waits for all others and runs its work at once.

use crate::error::Error;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// An operation that runs once, or at every launch of a graph.
pub(crate) type Work = Arc<dyn Fn() -> Result<(), Error> + Send + Sync>;

/// Environment variable that gives streams threads.
const VARIABLE: &str = "OXIDNN_CUDART_ASYNC";

/// The work of streams that are captured together, in order of submission.
#[derive(Default)]
pub(crate) struct Capture {
    work: Mutex<Vec<Work>>,
}

/// A stream that the program created.
pub(crate) struct Stream {
    /// Set while the stream is captured.
    capture: Mutex<Option<Arc<Capture>>>,
    line: Arc<Line>,
    has_thread: bool,
    /// The null stream waits for it, and it for the null stream.
    blocking: bool,
}

/// The queue of a stream's thread.
#[derive(Default)]
struct Line {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Work>,
    given: u64,
    done: u64,
    /// The first error since the last wait.
    failed: Option<Error>,
    ends: bool,
}

/// Streams by their handles.
static STREAMS: Mutex<BTreeMap<usize, Arc<Stream>>> = Mutex::new(BTreeMap::new());

/// Takes a lock, even if a thread panicked while holding it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn push(&self, work: Work) {
        let mut state = lock(&self.state);
        state.given += 1;
        state.waiting.push_back(work);
        self.changed.notify_all();
    }

    /// The thread's loop: runs work until the stream is destroyed.
    fn serve(&self) {
        let mut state = lock(&self.state);
        loop {
            match state.waiting.pop_front() {
                Some(work) => {
                    drop(state);
                    // A panic has printed its message.
                    let result = catch_unwind(AssertUnwindSafe(|| work())).unwrap_or(Err(Error::UNKNOWN));
                    drop(work);
                    state = lock(&self.state);
                    state.failed = state.failed.or(result.err());
                    state.done += 1;
                    self.changed.notify_all();
                }
                None if state.ends => return,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits for the work submitted so far; the first error of what was done since the last wait.
    fn settle(&self) -> Result<(), Error> {
        let mut state = lock(&self.state);
        let last = state.given;
        while state.done < last {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.take().map_or(Ok(()), Err)
    }

    /// Ends the thread after the work submitted so far.
    fn end(&self) {
        lock(&self.state).ends = true;
        self.changed.notify_all();
    }
}

impl Stream {
    /// Registers a new stream under the handle `number`; if `blocking`, the null stream waits for it.
    ///
    /// # Errors
    /// `cudaErrorMemoryAllocation` if its thread cannot be started.
    pub(crate) fn create(number: usize, blocking: bool) -> Result<(), Error> {
        static THREADS: LazyLock<bool> = LazyLock::new(|| std::env::var(VARIABLE).is_ok_and(|v| v != "0" && !v.is_empty()));
        let line = Arc::<Line>::default();
        if *THREADS {
            let served = line.clone();
            let started = std::thread::Builder::new().name("oxidnn-cudart".into()).spawn(move || served.serve());
            started.map_err(|_| Error::MEMORY_ALLOCATION)?;
        }
        lock(&STREAMS).insert(number, Arc::new(Stream { capture: Mutex::new(None), line, has_thread: *THREADS, blocking }));
        Ok(())
    }

    /// Destroys a stream; submitted work still runs.
    ///
    /// # Errors
    /// `cudaErrorInvalidResourceHandle` if there is no such stream.
    pub(crate) fn destroy(number: usize) -> Result<(), Error> {
        let stream = lock(&STREAMS).remove(&number).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        stream.line.end();
        Ok(())
    }

    /// The stream of a handle; `None` for the predefined ones: null, `cudaStreamLegacy`, `cudaStreamPerThread`.
    ///
    /// # Errors
    /// `cudaErrorInvalidResourceHandle` if there is no such stream.
    pub(crate) fn find(number: usize) -> Result<Option<Arc<Stream>>, Error> {
        if number <= 2 {
            return Ok(None);
        }
        lock(&STREAMS).get(&number).cloned().map(Some).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// Its capture, while it is captured.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        lock(&self.capture).clone()
    }

    /// Captures it from now on, as part of `with`.
    pub(crate) fn join(&self, with: Arc<Capture>) {
        *lock(&self.capture) = Some(with);
    }

    /// Whether work submitted now may run later.
    pub(crate) fn defers(&self) -> bool {
        self.has_thread || lock(&self.capture).is_some()
    }

    /// Waits for its work.
    ///
    /// # Errors
    /// `cudaErrorStreamCaptureUnsupported` while it is captured; the first error of its work.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        if self.capture().is_some() {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        self.line.settle()
    }

    /// Whether its work is done.
    ///
    /// # Errors
    /// `cudaErrorStreamCaptureUnsupported` while it is captured.
    pub(crate) fn is_done(&self) -> Result<bool, Error> {
        if self.capture().is_some() {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        let state = lock(&self.line.state);
        Ok(state.done == state.given)
    }

    fn give(&self, work: Work) -> Result<(), Error> {
        match self.capture() {
            Some(capture) => lock(&capture.work).push(work),
            None if self.has_thread => self.line.push(work),
            None => return work(),
        }
        Ok(())
    }
}

/// The handle `cudaStreamPerThread`.
const PER_THREAD: usize = 2;

/// Submits `work` to the stream of a handle.
///
/// # Errors
/// `cudaErrorInvalidResourceHandle` if there is no such stream; `cudaErrorStreamCaptureImplicit` for the null stream while one is captured that it waits
/// for; the error of work that is done at once.
pub(crate) fn submit(number: usize, work: Work) -> Result<(), Error> {
    match Stream::find(number)? {
        Some(stream) => stream.give(work),
        None if disturbs_capture(number) => Err(Error::STREAM_CAPTURE_IMPLICIT),
        None => {
            let before = settle_all();
            work().and(before)
        }
    }
}

/// Whether work of a predefined stream would wait for one that is being captured.
pub(crate) fn disturbs_capture(number: usize) -> bool {
    number != PER_THREAD && all().iter().any(|s| s.blocking && s.capture().is_some())
}

fn all() -> Vec<Arc<Stream>> {
    lock(&STREAMS).values().cloned().collect()
}

/// Whether a stream is being captured.
pub(crate) fn is_any_captured() -> bool {
    all().iter().any(|stream| stream.capture().is_some())
}

/// Waits for the work of all streams.
///
/// # Errors
/// The first error of that work.
pub(crate) fn settle_all() -> Result<(), Error> {
    let results: Vec<_> = all().iter().filter(|stream| stream.has_thread).map(|stream| stream.line.settle()).collect();
    results.into_iter().collect()
}

/// Destroys all streams.
pub(crate) fn end_all() {
    let gone = std::mem::take(&mut *lock(&STREAMS));
    gone.values().for_each(|stream| stream.line.end());
}

/// Ends the capture of the stream of a handle, for all streams that joined it, and returns the work.
///
/// # Errors
/// `cudaErrorInvalidValue` if it is not captured.
pub(crate) fn end_capture(number: usize) -> Result<Vec<Work>, Error> {
    let stream = Stream::find(number)?.ok_or(Error::INVALID_VALUE)?;
    let capture = stream.capture().ok_or(Error::INVALID_VALUE)?;
    for other in all() {
        let mut joined = lock(&other.capture);
        if joined.as_ref().is_some_and(|c| Arc::ptr_eq(c, &capture)) {
            *joined = None;
        }
    }
    Ok(std::mem::take(&mut lock(&capture.work)))
}
