//! The first panic among parallel tasks, carried to the caller.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Keeps the first panic; once there is one, further tasks are not begun.
#[derive(Default)]
pub(super) struct FirstPanic {
    any: AtomicBool,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl FirstPanic {
    /// Runs `task`, unless one panicked before.
    #[inline]
    pub(super) fn guard(&self, task: impl FnOnce()) {
        if self.any.load(Ordering::Relaxed) {
            return;
        }
        if let Err(payload) = catch_unwind(AssertUnwindSafe(task)) {
            let mut first = self.payload.lock().unwrap_or_else(|e| e.into_inner());
            first.get_or_insert(payload);
            self.any.store(true, Ordering::Relaxed);
        }
    }

    /// Takes the panic, if there was one, and is ready for the next job. All tasks must be done.
    #[inline]
    pub(super) fn take(&self) -> Option<Box<dyn Any + Send>> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.any.store(false, Ordering::Relaxed);
        self.payload.lock().unwrap_or_else(|e| e.into_inner()).take()
    }
}

/// Goes on with a panic that was taken.
pub(super) fn resume(payload: Option<Box<dyn Any + Send>>) {
    if let Some(p) = payload {
        resume_unwind(p);
    }
}
