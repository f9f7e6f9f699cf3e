//! What protocols between threads are made of: the standard library's, by the names that the files use which [`tests/models`](../tests/models/main.rs)
//! compiles against a checker's (pool, door of forks, queues, uses of memory, primitive cache, arena).

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, atomic};
pub(crate) use std::time::Instant;
pub(crate) use std::{thread, thread_local};

/// A value that threads share by a protocol of their own; a checker sees who reads and who writes it, and from when to when.
#[derive(Debug, Default)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Reads it: nobody writes meanwhile.
    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Writes it: nobody else uses it meanwhile.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
