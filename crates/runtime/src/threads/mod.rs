//! Threads: the process-wide pool, pools of one's own, the caller's pool, or none.
//!
//! An execution computes the same bits for every choice: how work is split is a function of the problem, and an executor only decides who
//! does which task.

mod caller;
mod cores;
mod end;
mod float;
mod panics;
mod place;
mod pool;
#[cfg(test)]
mod tests;

pub use caller::CallerPool;
pub(crate) use cores::LEAST_MOST;
pub use cores::{cores, most_threads};
pub use pool::ForkJoin;

use crate::{Executor, Inline, fork, knobs};
use caller::Adapter;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Where the threads of a stream come from; a cheap handle.
#[derive(Clone, Default)]
pub struct Threads(Source);

#[derive(Clone, Default)]
enum Source {
    #[default]
    Global,
    Pool(Arc<ForkJoin>),
    Given(Arc<dyn Executor>),
    Limited(Limited),
    Inline,
}

/// The process-wide pool, as many of its threads as somebody allows at the time.
#[derive(Clone, Copy)]
struct Limited(fn() -> usize);

// SAFETY: as the executor it limits; or one worker that runs everything before it returns.
unsafe impl Executor for Limited {
    fn threads(&self) -> usize {
        default_threads().min((self.0)()).max(1)
    }
    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        match workers.min(self.threads()).min(tasks) {
            0 | 1 => Inline.run(1, tasks, body),
            workers => global().run(workers, tasks, body),
        }
    }
}

impl Threads {
    /// The process-wide pool, which is started when it is first used.
    pub fn global() -> Threads {
        Threads(Source::Global)
    }

    /// The process-wide pool, but no more threads than `most` says whenever it is asked: another library's setting for the calling thread.
    pub fn within(most: fn() -> usize) -> Threads {
        Threads(Source::Limited(Limited(most)))
    }

    /// A pool of `threads`, the calling one included.
    pub fn new(threads: usize) -> Threads {
        Threads(Source::Pool(Arc::new(ForkJoin::new(threads, spin()))))
    }

    /// A pool that may be shared by several streams.
    pub fn pool(pool: Arc<ForkJoin>) -> Threads {
        Threads(Source::Pool(pool))
    }

    /// The caller's own pool.
    pub fn caller(pool: impl CallerPool + 'static) -> Threads {
        Threads::over(Arc::new(Adapter::new(pool)))
    }

    /// An executor of the caller's own.
    pub fn over(executor: Arc<dyn Executor>) -> Threads {
        Threads(Source::Given(executor))
    }

    /// None: everything runs on the calling thread.
    pub const fn inline() -> Threads {
        Threads(Source::Inline)
    }

    /// The threads that executions run on.
    pub fn executor(&self) -> &dyn Executor {
        match &self.0 {
            Source::Global => global(),
            Source::Pool(p) => &**p,
            Source::Given(e) => &**e,
            Source::Limited(l) => l,
            Source::Inline => &Inline,
        }
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Source::Global => "global",
            Source::Pool(_) => "pool",
            Source::Given(_) => "caller",
            Source::Limited(_) => "limited",
            Source::Inline => "inline",
        };
        write!(f, "Threads({kind})")
    }
}

/// The process-wide pool: as many threads as the knob `NUM_THREADS` says, else as the process may use cores.
pub fn global() -> &'static ForkJoin {
    static POOL: OnceLock<ForkJoin> = OnceLock::new();
    fork::once(&POOL, || ForkJoin::of_process(default_threads(), spin()))
}

/// Number of threads of the process-wide pool, if the system gives as many.
pub fn default_threads() -> usize {
    knobs::get().num_threads.unwrap_or_else(cores)
}

fn spin() -> Duration {
    Duration::from_micros(knobs::get().spin_microseconds)
}
