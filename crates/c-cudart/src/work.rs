//! Work submitted to streams: it runs at once, later on the stream's thread, or at every launch of a graph that captured it.
//!
//! By default a stream runs its work at once. With `OXIDNN_CUDART_ASYNC=1` every stream that a program creates has a thread of its own, so programs see the
//! asynchrony of a GPU; the null stream then waits for all others and runs its work at once.

use crate::error::Error;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// An operation that runs once, or at every launch of a graph.
pub(crate) type Work = Arc<dyn Fn() + Send + Sync>;

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
                    // A panic has printed its message; the work counts as done.
                    let _ = catch_unwind(AssertUnwindSafe(|| work()));
                    drop(work);
                    state = lock(&self.state);
                    state.done += 1;
                    self.changed.notify_all();
                }
                None if state.ends => return,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Waits for the work submitted so far.
    fn settle(&self) {
        let mut state = lock(&self.state);
        let last = state.given;
        while state.done < last {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Stream {
    /// Registers a new stream under the handle `number`.
    ///
    /// # Errors
    /// `cudaErrorMemoryAllocation` if its thread cannot be started.
    pub(crate) fn create(number: usize) -> Result<(), Error> {
        static THREADS: LazyLock<bool> = LazyLock::new(|| std::env::var(VARIABLE).is_ok_and(|v| v != "0" && !v.is_empty()));
        let line = Arc::<Line>::default();
        if *THREADS {
            let served = line.clone();
            let started = std::thread::Builder::new().name("oxidnn-cudart".into()).spawn(move || served.serve());
            started.map_err(|_| Error::MEMORY_ALLOCATION)?;
        }
        lock(&STREAMS).insert(number, Arc::new(Stream { capture: Mutex::new(None), line, has_thread: *THREADS }));
        Ok(())
    }

    /// Destroys a stream; submitted work still runs.
    ///
    /// # Errors
    /// `cudaErrorInvalidResourceHandle` if there is no such stream.
    pub(crate) fn destroy(number: usize) -> Result<(), Error> {
        let stream = lock(&STREAMS).remove(&number).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        lock(&stream.line.state).ends = true;
        stream.line.changed.notify_all();
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
    /// `cudaErrorStreamCaptureUnsupported` while it is captured.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        if self.capture().is_some() {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        self.line.settle();
        Ok(())
    }

    /// Whether its work is done.
    pub(crate) fn is_done(&self) -> bool {
        let state = lock(&self.line.state);
        state.done == state.given
    }

    fn give(&self, work: Work) {
        match self.capture() {
            Some(capture) => lock(&capture.work).push(work),
            None if self.has_thread => self.line.push(work),
            None => work(),
        }
    }
}

/// Submits `work` to the stream of a handle.
///
/// # Errors
/// `cudaErrorInvalidResourceHandle` if there is no such stream.
pub(crate) fn submit(number: usize, work: Work) -> Result<(), Error> {
    match Stream::find(number)? {
        Some(stream) => stream.give(work),
        None => {
            settle_all();
            work();
        }
    }
    Ok(())
}

/// Waits for the work of all streams.
pub(crate) fn settle_all() {
    let all: Vec<Arc<Stream>> = lock(&STREAMS).values().filter(|stream| stream.has_thread).cloned().collect();
    all.iter().for_each(|stream| stream.line.settle());
}

/// Ends the capture of the stream of a handle, for all streams that joined it, and returns the work.
///
/// # Errors
/// `cudaErrorInvalidValue` if it is not captured.
pub(crate) fn end_capture(number: usize) -> Result<Vec<Work>, Error> {
    let stream = Stream::find(number)?.ok_or(Error::INVALID_VALUE)?;
    let capture = stream.capture().ok_or(Error::INVALID_VALUE)?;
    let all: Vec<Arc<Stream>> = lock(&STREAMS).values().cloned().collect();
    for other in all {
        let mut joined = lock(&other.capture);
        if joined.as_ref().is_some_and(|c| Arc::ptr_eq(c, &capture)) {
            *joined = None;
        }
    }
    Ok(std::mem::take(&mut lock(&capture.work)))
}
