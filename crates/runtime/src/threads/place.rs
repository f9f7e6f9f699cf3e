//! Workers leave the core of the thread that woke them.
//!
//! A guest of KVM takes a core that sleeps for one that its host has taken away, and wakes threads on the core of who wakes them instead. There a worker
//! waits for the caller's time slice to end, or they have the core by turns, so that a job on two threads takes as long as on one, until the
//! system spreads them after tens of milliseconds. Waking a thread elsewhere costs the caller 20 us there, and the thread comes 60 us later, so that short
//! jobs are better off as they are: who was not there after so long is sent away.

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
    pub(super) fn part(&self, me: &Sleeper) {
        if let Some(core) = system::core().filter(|core| core + 1 == self.0.load(Ordering::Relaxed)) {
            me.note();
            me.0.leave(core);
        }
    }
}

/// A worker that sleeps now and then.
#[derive(Default)]
pub(super) struct Sleeper(system::Thread);

impl Sleeper {
    /// This thread is the worker, and is about to sleep or to part.
    pub(super) fn note(&self) {
        self.0.note();
    }

    /// Sends the worker, which waits to run, from this thread's core to another. Where the system refuses, it stays.
    pub(super) fn send_away(&self) {
        if let Some(core) = system::core() {
            self.0.leave(core);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    pub(super) fn core() -> Option<usize> {
        Some(sched_getcpu())
    }

    /// A thread, and the cores that it may run on: asked for and changed under the lock, so that nobody takes the change for what was before.
    #[derive(Default)]
    pub(super) struct Thread(Mutex<Option<(Pid, CpuSet)>>);

    impl Thread {
        fn lock(&self) -> MutexGuard<'_, Option<(Pid, CpuSet)>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(super) fn note(&self) {
            let mut own = self.lock();
            *own = sched_getaffinity(None).ok().map(|cores| (gettid(), cores));
        }

        /// May not run on a core for a moment.
        pub(super) fn leave(&self, core: usize) {
            let own = self.lock();
            let Some((id, cores)) = own.filter(|_| core < CpuSet::MAX_CPU) else { return };
            let mut others = cores;
            others.unset(core);
            if others.count() > 0 && sched_setaffinity(Some(id), &others).is_ok() {
                let _ = sched_setaffinity(Some(id), &cores);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Sleeper, Waker};
    use rustix::thread::sched_getaffinity;

    #[test]
    fn who_leaves_may_go_where_he_might_before() {
        let before = sched_getaffinity(None).unwrap();
        let (waker, worker) = (Waker::default(), Sleeper::default());
        worker.send_away();
        waker.part(&worker);
        waker.is_me();
        waker.part(&worker);
        worker.send_away();
        worker.0.leave(usize::MAX);
        assert!(sched_getaffinity(None).unwrap() == before);
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
        pub(super) fn note(&self) {}
        pub(super) fn leave(&self, _: usize) {}
    }
}
