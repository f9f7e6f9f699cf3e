//! Workers leave the core of the thread that woke them.
//!
//! A guest of KVM takes a core that sleeps for one that its host has taken away, and wakes threads on the core of who wakes them instead. Worker and
//! caller have it by turns then, so that a job on two threads takes as long as on one, until the system spreads them after tens of milliseconds.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The core that workers were last woken from, and one more; 0 where that is not known.
#[derive(Default)]
pub(super) struct Waker(AtomicUsize);

impl Waker {
    /// This thread is about to wake workers.
    pub(super) fn is_me(&self) {
        self.0.store(system::core().map_or(0, |core| core + 1), Ordering::Relaxed);
    }

    /// Moves this thread to another core if it is on that one. Where the system refuses, it stays.
    pub(super) fn part(&self) {
        if let Some(core) = system::core().filter(|core| core + 1 == self.0.load(Ordering::Relaxed)) {
            system::leave(core);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

    pub(super) fn core() -> Option<usize> {
        Some(sched_getcpu())
    }

    /// May not run on a core for a moment.
    pub(super) fn leave(core: usize) {
        let Some(all) = sched_getaffinity(None).ok().filter(|all| core < CpuSet::MAX_CPU && all.count() > 1) else { return };
        let mut others = all;
        others.unset(core);
        if sched_setaffinity(None, &others).is_ok() {
            let _ = sched_setaffinity(None, &all);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Waker, system};
    use rustix::thread::sched_getaffinity;

    #[test]
    fn who_parts_may_go_where_he_might_before() {
        let before = sched_getaffinity(None).unwrap();
        let waker = Waker::default();
        waker.part();
        waker.is_me();
        waker.part();
        system::leave(usize::MAX);
        assert!(sched_getaffinity(None).unwrap() == before);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn core() -> Option<usize> {
        None
    }

    pub(super) fn leave(_: usize) {}
}
