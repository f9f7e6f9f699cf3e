//! What is done before anybody asks for it, by a thread that lives as long as there is something to do.

use crate::driver::Calls;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, current};

/// What is done for a family, a piece at a time; the iterator's items are pieces that are done.
type Work = Box<dyn Fn(&'static str) -> Box<dyn Iterator<Item = ()>> + Send + Sync>;

/// Families of kernels, and the thread that prepares one after the other.
pub(super) struct Ahead {
    shared: Arc<Shared>,
}

struct Shared {
    work: Work,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
struct Jobs {
    /// Families that were asked for.
    known: HashSet<&'static str>,
    /// Those that wait, the next one last.
    waiting: Vec<&'static str>,
    /// It ends when nothing waits.
    running: bool,
    thread: Option<JoinHandle<()>>,
    ended: bool,
}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ahead")
    }
}

impl Shared {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The family to prepare now; with none the thread ends.
    fn next(&self) -> Option<&'static str> {
        let mut jobs = self.jobs();
        let next = if jobs.ended { None } else { jobs.waiting.pop() };
        jobs.running = next.is_some();
        next
    }

    fn run(&self) {
        while let Some(family) = self.next() {
            let mut pieces = (self.work)(family);
            // Between two calls nothing of the driver is in use, so a process may end there.
            while let Some(_calls) = Calls::enter().filter(|_| !self.jobs().ended) {
                if pieces.next().is_none() {
                    break;
                }
            }
        }
    }
}

impl Ahead {
    pub(super) fn new(work: Work) -> Ahead {
        Ahead { shared: Arc::new(Shared { work, jobs: Mutex::default() }) }
    }

    /// Somebody uses a kernel of `family`: others of it are likely to follow. Returns at once; a family is prepared once.
    pub(super) fn prepare(&self, family: &'static str) {
        let mut jobs = self.shared.jobs();
        if !jobs.known.insert(family) {
            return;
        }
        jobs.waiting.insert(0, family);
        if !jobs.running {
            let shared = Arc::clone(&self.shared);
            jobs.thread = Builder::new().name("oxidnn-kernels".into()).spawn(move || shared.run()).ok();
            jobs.running = jobs.thread.is_some();
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let thread = {
            let mut jobs = self.shared.jobs();
            jobs.ended = true;
            jobs.thread.take()
        };
        if let Some(thread) = thread.filter(|t| t.thread().id() != current().id()) {
            let _ = thread.join();
        }
    }
}
