//! Preloading of kernels in the background, by a thread that exists only while there is work.

use crate::driver::Calls;
use std::collections::HashSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Prepares a family (the kernels of a file) step by step; each item of the iterator is a completed step.
type Work = Box<dyn Fn(&'static str) -> Box<dyn Iterator<Item = ()>> + Send + Sync>;

/// A queue of families and the thread that prepares them one after the other.
pub(super) struct Ahead {
    shared: Arc<Shared>,
    /// The process that has the thread; a forked child does not.
    process: u32,
}

struct Shared {
    work: Work,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
struct Jobs {
    /// All families that were requested.
    known: HashSet<&'static str>,
    /// Families to prepare, the next one last.
    waiting: Vec<&'static str>,
    /// The thread is running; it ends when nothing is waiting.
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

    /// The family to prepare next; the thread ends without one.
    fn next(&self) -> Option<&'static str> {
        let mut jobs = self.jobs();
        let next = if jobs.ended { None } else { jobs.waiting.pop() };
        jobs.running = next.is_some();
        next
    }

    fn run(&self) {
        while let Some(family) = self.next() {
            // After a panic, which is reported, the rest of the family is loaded on demand.
            let _ = catch_unwind(AssertUnwindSafe(|| self.all_of(family)));
        }
    }

    fn all_of(&self, family: &'static str) {
        let mut pieces = (self.work)(family);
        // Between two steps no driver call is in progress, so the process may exit.
        while let Some(_calls) = Calls::enter().filter(|_| !self.jobs().ended) {
            if pieces.next().is_none() {
                break;
            }
        }
    }
}

impl Ahead {
    pub(super) fn new(work: Work) -> Ahead {
        Ahead { shared: Arc::new(Shared { work, jobs: Mutex::default() }), process: std::process::id() }
    }

    /// A kernel of `family` was used: prepares that family before all that are waiting.
    pub(super) fn hurry(&self, family: &'static str) {
        self.prepare(family);
        let waiting = &mut self.shared.jobs().waiting;
        if let Some(at) = waiting.iter().position(|&f| f == family) {
            waiting[at..].rotate_left(1);
        }
    }

    /// Queues `family` once; returns at once.
    pub(super) fn prepare(&self, family: &'static str) {
        let mut jobs = self.shared.jobs();
        if !jobs.known.insert(family) {
            return;
        }
        jobs.waiting.insert(0, family);
        if !jobs.running {
            Calls::announce();
            // The thread before this one has nothing left to do.
            join(jobs.thread.take());
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
        if self.process == std::process::id() {
            join(thread);
        }
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    // Panics have been reported.
    let _ = thread.map(JoinHandle::join);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::{from_fn, once_with, repeat_with};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    /// Says what it does, and fails at `bad`.
    fn reporting(to: Sender<&'static str>) -> Work {
        Box::new(move |family| {
            let to = to.clone();
            Box::new(once_with(move || {
                to.send(family).unwrap();
                assert_ne!(family, "bad", "as the test wants it");
            }))
        })
    }

    fn next(from: &Receiver<&'static str>) -> Option<&'static str> {
        from.recv_timeout(Duration::from_secs(60)).ok()
    }

    #[test]
    fn families_are_prepared_once_in_their_order_and_in_spite_of_panics() {
        let (to, from) = channel();
        let ahead = Ahead::new(reporting(to));
        for family in ["a", "a", "bad", "b", "a"] {
            ahead.prepare(family);
        }
        assert_eq!([next(&from), next(&from), next(&from)], [Some("a"), Some("bad"), Some("b")]);
        while ahead.shared.jobs().running {
            std::thread::yield_now();
        }
        for family in ["b", "c"] {
            ahead.prepare(family);
        }
        assert_eq!(next(&from), Some("c"), "by another thread");
        drop(ahead);
        assert_eq!(from.recv(), Err(std::sync::mpsc::RecvError), "the last thread ended");
    }

    #[test]
    fn a_family_that_is_used_comes_before_those_that_wait() {
        let (to, from) = channel();
        let (go, gone) = channel::<()>();
        let gone = Mutex::new(gone);
        let ahead = Ahead::new(Box::new(move |family| {
            let _ = gone.lock().unwrap().recv();
            to.send(family).unwrap();
            Box::new(std::iter::empty())
        }));
        ["a", "b", "c", "d"].into_iter().for_each(|family| ahead.prepare(family));
        // The thread has the first one.
        while ahead.shared.jobs().waiting.len() > 3 {
            std::thread::yield_now();
        }
        ahead.hurry("c");
        ahead.hurry("e");
        ahead.hurry("a");
        drop(go);
        let order: Vec<_> = from_fn(|| next(&from)).take(5).collect();
        assert_eq!(order, ["a", "e", "c", "b", "d"]);
    }

    #[test]
    fn what_is_dropped_ends_before_its_next_piece() {
        let (to, from) = channel();
        let ahead = Ahead::new(Box::new(move |_| {
            let to = to.clone();
            Box::new(repeat_with(move || to.send("piece").unwrap()))
        }));
        ahead.prepare("endless");
        ahead.prepare("never");
        assert_eq!(next(&from), Some("piece"));
        drop(ahead);
        assert_eq!(from_fn(|| from.recv().ok()).filter(|&p| p != "piece").count(), 0, "and its thread let go of all");
    }
}
