//! The primitives of protocols between threads: the standard library's. The files of these protocols (pool, door of forks, queues, uses of
//! memory, primitive cache, arena) use them only by these names, so that [`tests/models`](../tests/models/main.rs) can compile the files
//! against a checker's.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, atomic};
pub(crate) use std::time::Instant;
pub(crate) use std::{thread, thread_local};

/// A value that threads share by a protocol of their own; a checker sees every read and write of it, from beginning to end.
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
