//! Workers leave the core of the thread that woke them.
//!
//! A KVM guest takes a sleeping core for one that its host has taken away, and wakes threads on the waker's core instead. Then a worker
//! waits for the end of the caller's time slice, or the two alternate on the core, so that a job on two threads takes as long as on one,
//! until the system spreads them after tens of milliseconds. Waking a thread on another core costs the caller 20 us there, and the thread
//! starts 60 us later, so short jobs are better left alone: a worker is sent to another core if it has not started after so long.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The core that workers were last woken from, and one more; 0 where that is not known.
#[derive(Default)]
pub(super) struct Waker(AtomicUsize);

impl Waker {
    /// This thread is about to wake workers.
    pub(super) fn is_me(&self) {
        self.0.store(system::core().map_or(0, |core| core + 1), Ordering::Relaxed);
    }

    /// Moves this thread, a worker, to another core if it is on that one. Where the system refuses, it stays.
    pub(super) fn leave_core(&self, me: &Sleeper) {
        if let Some(core) = system::core().filter(|core| core + 1 == self.0.load(Ordering::Relaxed)) {
            me.0.leave(core);
        }
    }
}

/// A worker that sleeps now and then.
#[derive(Default)]
pub(super) struct Sleeper(system::Thread);

impl Sleeper {
    /// This thread is the worker.
    pub(super) fn is_me(&self) {
        self.0.is_me();
    }

    /// Migrates the worker, which is runnable, from this thread's core to another. Where the system refuses, it stays.
    pub(super) fn migrate(&self) {
        if let Some(core) = system::core() {
            self.0.leave(core);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) fn core() -> Option<usize> {
        Some(sched_getcpu())
    }

    /// A thread.
    #[derive(Default)]
    pub(super) struct Thread {
        id: OnceLock<Pid>,
        /// A thread is changing its cores. No other thread does so meanwhile, since it would take the changed set for the original one.
        leaving: AtomicBool,
    }

    impl Thread {
        pub(super) fn is_me(&self) {
            let _ = self.id.set(gettid());
        }

        /// May not run on a core for a moment. Which cores it may run on is asked for now, and again before it gets them back: they are the program's to
        /// change at any time.
        pub(super) fn leave(&self, core: usize) {
            let Some(&id) = self.id.get().filter(|_| core < CpuSet::MAX_CPU && !self.leaving.swap(true, Ordering::Acquire)) else { return };
            if let Ok(cores) = sched_getaffinity(Some(id)) {
                let mut others = cores;
                others.unset(core);
                let has_left = others.count() > 0 && others != cores && sched_setaffinity(Some(id), &others).is_ok();
                if has_left && sched_getaffinity(Some(id)).is_ok_and(|now| now == others) {
                    let _ = sched_setaffinity(Some(id), &cores);
                }
            }
            self.leaving.store(false, Ordering::Release);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Sleeper, Waker};
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    #[test]
    fn who_leaves_may_go_where_he_might_before() {
        let before = sched_getaffinity(None).unwrap();
        let (waker, worker) = (Waker::default(), Sleeper::default());
        worker.migrate();
        waker.leave_core(&worker);
        worker.is_me();
        waker.is_me();
        waker.leave_core(&worker);
        worker.migrate();
        worker.0.leave(usize::MAX);
        assert!(sched_getaffinity(None).unwrap() == before);
    }

    #[test]
    fn cores_that_a_worker_was_given_meanwhile_are_kept() {
        let before = sched_getaffinity(None).unwrap();
        let Some(core) = (0..CpuSet::MAX_CPU).find(|&core| before.is_set(core)) else { return };
        let worker = Sleeper::default();
        worker.is_me();
        let mut one = CpuSet::new();
        one.set(core);
        sched_setaffinity(None, &one).unwrap();
        worker.migrate();
        worker.0.leave(core);
        assert!(sched_getaffinity(None).unwrap() == one);
        sched_setaffinity(None, &before).unwrap();
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn core() -> Option<usize> {
        None
    }

    /// Nothing is known of it.
    #[derive(Default)]
    pub(super) struct Thread;

    impl Thread {
        pub(super) fn is_me(&self) {}
        pub(super) fn leave(&self, _: usize) {}
    }
}
