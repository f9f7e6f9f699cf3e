//! The caller's own thread pool behind [`Executor`].

use super::panics::{FirstPanic, resume};
use crate::{Executor, Inline};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread pool that the application brings.
pub trait CallerPool: Send + Sync {
    /// Number of threads that [`CallerPool::parallel_for`] may use.
    fn threads(&self) -> usize;

    /// True when called from within [`CallerPool::parallel_for`]: the library then works on the calling thread.
    fn in_parallel(&self) -> bool;

    /// Calls `body(i)` for every `i` in `0..n`, on as many threads as it likes, and returns when all calls have returned.
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync));
}

/// Runs tasks on a [`CallerPool`]. Nothing is taken on trust: worker numbers are given out here, and tasks that the pool left are done here.
pub(super) struct Adapter(Box<dyn CallerPool>);

impl Adapter {
    pub(super) fn new(pool: impl CallerPool + 'static) -> Adapter {
        Adapter(Box::new(pool))
    }
}

/// Each worker takes about this many pieces of the work: few enough to count them quickly, and so many that nobody waits long for the last.
const PIECES: usize = 32;

impl Executor for Adapter {
    fn threads(&self) -> usize {
        self.0.threads().max(1)
    }

    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        let workers = workers.min(self.threads()).min(tasks);
        if workers <= 1 || self.0.in_parallel() {
            return Inline.run(1, tasks, body);
        }
        let piece = (tasks / (workers * PIECES)).max(1);
        let (next, ids, panic) = (AtomicUsize::new(0), AtomicUsize::new(0), FirstPanic::default());
        let work = |worker: usize| {
            loop {
                let from = next.fetch_add(piece, Ordering::Relaxed);
                if from >= tasks {
                    return;
                }
                panic.guard(|| (from..tasks.min(from + piece)).for_each(|t| body(worker, t)));
            }
        };
        self.0.parallel_for(workers, &|_| {
            let worker = ids.fetch_add(1, Ordering::Relaxed);
            if worker < workers {
                work(worker);
            }
        });
        work(0);
        resume(panic.take());
    }
}
