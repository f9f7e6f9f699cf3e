//! The door between threads that are inside and a thread that forks.

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::thread;
use std::time::Duration;

/// The time between two looks of a waiting thread.
pub(super) const PAUSE: Duration = Duration::from_micros(20);

/// Either threads are inside, or one forks. Each announces itself before it looks for the other, by changing a number that the other
/// changes or reads later: the second change of `inside` sees the first, and with it everything before it.
pub(super) struct Door {
    /// Threads that are inside.
    pub(super) inside: AtomicUsize,
    /// Threads that are about to fork: nobody goes inside.
    pub(super) forking: AtomicUsize,
}

impl Door {
    /// Goes inside, when nobody forks.
    pub(super) fn enter(&self) {
        loop {
            self.inside.fetch_add(1, Ordering::AcqRel);
            if self.forking.load(Ordering::Acquire) == 0 {
                return;
            }
            self.inside.fetch_sub(1, Ordering::AcqRel);
            while self.forking.load(Ordering::Acquire) > 0 {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Comes out.
    pub(super) fn leave(&self) {
        self.inside.fetch_sub(1, Ordering::AcqRel);
    }

    /// Closes the door, and returns when all threads inside have left; at once if the calling thread is inside itself.
    pub(super) fn close(&self, is_inside: bool) {
        self.forking.fetch_add(1, Ordering::AcqRel);
        while !is_inside && self.inside.fetch_add(0, Ordering::AcqRel) > 0 {
            thread::sleep(PAUSE);
        }
    }

    /// Lets others inside again.
    pub(super) fn open(&self) {
        self.forking.fetch_sub(1, Ordering::AcqRel);
    }

    /// In a child, whose one thread alone may be inside.
    pub(super) fn begin_anew(&self, is_inside: bool) {
        self.inside.store(usize::from(is_inside), Ordering::Release);
        self.forking.store(0, Ordering::Release);
    }
}
