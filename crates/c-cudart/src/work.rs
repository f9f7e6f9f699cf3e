//! Work: what is done on a stream, now, later on the stream's thread, or whenever a graph is launched that has it.
//!
//! Without more a stream does its work when it is asked to. `OXIDNN_CUDART_ASYNC=1` gives every stream that a program makes a thread of its own, so that
//! programs meet the order that they have on a GPU; the null stream then comes after all the others, and they after it.

use crate::error::Error;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// Something to do, once or as often as a graph is launched.
pub(crate) type Work = Arc<dyn Fn() + Send + Sync>;

/// Asks for threads of streams.
const VARIABLE: &str = "OXIDNN_CUDART_ASYNC";

/// What streams that are captured together were asked to do, in order.
#[derive(Default)]
pub(crate) struct Capture {
    work: Mutex<Vec<Work>>,
}

/// A stream that was made.
pub(crate) struct Stream {
    /// While its work is recorded.
    capture: Mutex<Option<Arc<Capture>>>,
    line: Arc<Line>,
    has_thread: bool,
}

/// Work that waits for a thread.
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

/// Streams by their numbers.
static STREAMS: Mutex<BTreeMap<usize, Arc<Stream>>> = Mutex::new(BTreeMap::new());

/// Takes a lock; what a thread that panicked left is as good as any.
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

    /// Does what comes until the line ends.
    fn serve(&self) {
        let mut state = lock(&self.state);
        loop {
            match state.waiting.pop_front() {
                Some(work) => {
                    drop(state);
                    // What panics has said so, and is done.
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

    /// Returns when all that was given so far is done.
    fn settle(&self) {
        let mut state = lock(&self.state);
        let last = state.given;
        while state.done < last {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Stream {
    /// Registers a new stream under `number`.
    ///
    /// # Errors
    /// `cudaErrorMemoryAllocation` where its thread cannot be started.
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

    /// Ends a stream, whose work is still done.
    ///
    /// # Errors
    /// `cudaErrorInvalidResourceHandle` for no stream.
    pub(crate) fn destroy(number: usize) -> Result<(), Error> {
        let stream = lock(&STREAMS).remove(&number).ok_or(Error::INVALID_RESOURCE_HANDLE)?;
        lock(&stream.line.state).ends = true;
        stream.line.changed.notify_all();
        Ok(())
    }

    /// The stream of a number; `None` for those that are always there: the null stream, the legacy one, that of the thread.
    ///
    /// # Errors
    /// `cudaErrorInvalidResourceHandle` for no stream.
    pub(crate) fn find(number: usize) -> Result<Option<Arc<Stream>>, Error> {
        if number <= 2 {
            return Ok(None);
        }
        lock(&STREAMS).get(&number).cloned().map(Some).ok_or(Error::INVALID_RESOURCE_HANDLE)
    }

    /// What is recorded of it, if anything is.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        lock(&self.capture).clone()
    }

    /// Records it from now on, together with all that `with` records.
    pub(crate) fn join(&self, with: Arc<Capture>) {
        *lock(&self.capture) = Some(with);
    }

    /// Whether work that it is given now may be done later.
    pub(crate) fn defers(&self) -> bool {
        self.has_thread || lock(&self.capture).is_some()
    }

    /// Returns when its work is done.
    ///
    /// # Errors
    /// `cudaErrorStreamCaptureUnsupported` while it is recorded.
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

/// Does `work` on the stream of a number, in its order.
///
/// # Errors
/// `cudaErrorInvalidResourceHandle` for no stream.
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

/// Returns when the work of all streams is done.
pub(crate) fn settle_all() {
    let all: Vec<Arc<Stream>> = lock(&STREAMS).values().filter(|stream| stream.has_thread).cloned().collect();
    all.iter().for_each(|stream| stream.line.settle());
}

/// The recording that the stream of a number began, which ends for all that joined it.
///
/// # Errors
/// `cudaErrorInvalidValue` where it began none.
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
