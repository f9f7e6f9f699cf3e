//! The caller's own thread pool behind [`Executor`].

use super::float::{Adopted, FloatMode};
use super::panics::{FirstPanic, resume};
use crate::{Executor, Inline};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A thread pool that the application brings.
pub trait CallerPool: Send + Sync {
    /// Number of threads that [`CallerPool::parallel_for`] may use.
    fn threads(&self) -> usize;

    /// True when called from within [`CallerPool::parallel_for`]: the library then works on the calling thread.
    fn in_parallel(&self) -> bool;

    /// Calls `body(i)` for every `i` in `0..n`, on as many threads as it likes, and returns when all calls have returned.
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync));
}

/// Runs tasks on a [`CallerPool`]. Nothing is taken on trust: worker numbers are given out once each, and tasks that the pool left are done here.
///
/// The tasks are cut evenly into ranges. A worker takes its own range first and then the rest of the others': consecutive jobs on the same
/// tensors give a worker the same part of them, which its caches hold.
pub(super) struct Adapter(Box<dyn CallerPool>);

impl Adapter {
    pub(super) fn new(pool: impl CallerPool + 'static) -> Adapter {
        Adapter(Box::new(pool))
    }
}

/// About how many chunks each worker claims: few, so that claims cost little, and enough to balance the load at the end.
const CHUNKS_PER_WORKER: usize = 32;
/// Most ranges; more workers help with those of others.
const RANGES: usize = 64;

/// Tasks from here on to `end` that nobody has taken.
#[repr(align(64))]
#[derive(Default)]
struct Tasks {
    next: AtomicUsize,
    end: usize,
    /// Whether the worker of this number is at work.
    is_entered: AtomicBool,
}

// SAFETY: `run` gives each worker's number to one call of the pool, and number 0 again when the pool has returned; chunks of ranges are claimed
// atomically; what the pool borrows it cannot keep.
unsafe impl Executor for Adapter {
    fn threads(&self) -> usize {
        self.0.threads().max(1)
    }

    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        let workers = workers.min(self.threads()).min(tasks);
        if workers <= 1 || self.0.in_parallel() {
            return Inline.run(1, tasks, body);
        }
        let chunk = (tasks / (workers * CHUNKS_PER_WORKER)).max(1);
        let (panic, more, count) = (FirstPanic::default(), AtomicUsize::new(RANGES), workers.min(RANGES));
        let start = |i: usize| tasks / count * i + tasks % count * i / count;
        let ranges: [Tasks; RANGES] = std::array::from_fn(|i| match i < count {
            true => Tasks { next: AtomicUsize::new(start(i)), end: start(i + 1), is_entered: AtomicBool::new(false) },
            false => Tasks::default(),
        });
        let ranges = &ranges[..count];
        let mode = FloatMode::current();
        let work = |worker: usize| {
            let _adopted = Adopted::new(mode);
            for i in 0..count {
                let range = &ranges[(worker + i) % count];
                loop {
                    let from = range.next.fetch_add(chunk, Ordering::Relaxed);
                    if from >= range.end {
                        break;
                    }
                    panic.guard(|| (from..range.end.min(from + chunk)).for_each(|t| body(worker, t)));
                }
            }
        };
        self.0.parallel_for(workers, &|call| {
            let (worker, is_new) = match ranges.get(call) {
                Some(range) => (call, !range.is_entered.swap(true, Ordering::Relaxed)),
                None => (more.fetch_add(1, Ordering::Relaxed), true),
            };
            if is_new && worker < workers {
                work(worker);
            }
        });
        work(0);
        resume(panic.take());
    }
}
