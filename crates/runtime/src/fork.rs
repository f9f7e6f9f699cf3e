//! Forks: the state that a child finds of a library that other threads of its parent were using. One of the files with unsafe code.
//!
//! A child has one thread, a copy of the one that forked. It inherits the other threads' locks and half-made values, but not these threads,
//! and would wait for them for ever. Two rules prevent that:
//!
//! - **Nobody forks while another thread is [inside](enter).** Code that takes a lock of the process, or makes a value that others wait for
//!   (first uses, code of primitives), runs inside. A thread that forks waits until no thread is inside, and other threads wait at the door
//!   meanwhile. Threads inside wait only for threads inside, so this ends. A child finds all caches whole and warm.
//! - **Threads belong to a process, which [owns](Own) them.** A child makes its own pool when it first needs one, and leaves its parent's
//!   alone.
//!
//! Executions are not inside, which would cost them an atomic operation on a shared line. They share only atomics, and locks that they do
//! without if a try fails.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

mod door;
#[cfg(test)]
mod tests;

use door::Door;

/// Forks between the process that first used the library and this one.
static PROCESS: AtomicU64 = AtomicU64::new(0);
static DOOR: Door = Door { inside: AtomicUsize::new(0), forking: AtomicUsize::new(0) };

thread_local! {
    /// How often this thread went inside and has not come out.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The number of this process among its forebears that used the library: another one in a child.
#[inline]
pub fn process() -> u64 {
    PROCESS.load(Ordering::Relaxed)
}

/// As long as it lives, no other thread forks.
#[derive(Debug)]
pub struct Inside(PhantomData<*const ()>);

/// Enters the inside, where no other thread of the process forks; may be nested. For short times, and not for executions, because a fork
/// waits.
pub fn enter() -> Inside {
    let depth = DEPTH.get();
    if depth == 0 {
        watch();
        DOOR.enter();
    }
    DEPTH.set(depth + 1);
    Inside(PhantomData)
}

impl Drop for Inside {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            DOOR.leave();
        }
    }
}

/// A lock that is held inside.
#[derive(Debug)]
pub struct Locked<'a, T> {
    /// Given back before the thread comes out.
    guard: MutexGuard<'a, T>,
    _inside: Inside,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Takes a lock inside; the value that a panicked thread left is valid.
pub fn lock<T>(mutex: &Mutex<T>) -> Locked<'_, T> {
    let inside = enter();
    Locked { guard: mutex.lock().unwrap_or_else(|e| e.into_inner()), _inside: inside }
}

/// Attempts at a lock: some times as long as executions hold one.
const LOCK_ATTEMPTS: usize = 200;

/// Takes a lock of executions, which are not inside; `None` if it stays locked, as it does for ever if a thread held it while another
/// thread forked this process. The caller then does without.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    (0..LOCK_ATTEMPTS).find_map(|_| match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
        Err(TryLockError::WouldBlock) => {
            std::hint::spin_loop();
            None
        }
    })
}

/// The value of a cell, made inside where there is none yet.
#[inline]
pub fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(value) => value,
        None => {
            let _inside = enter();
            cell.get_or_init(make)
        }
    }
}

/// A value that every process has for itself: a child makes its own and leaves its parent's alone.
#[derive(Debug)]
pub struct Own<T> {
    process: u64,
    value: T,
    of_child: OnceLock<Box<Own<T>>>,
}

impl<T> Own<T> {
    /// The value of this process.
    pub fn new(value: T) -> Own<T> {
        watch();
        Own { process: process(), value, of_child: OnceLock::new() }
    }

    /// The value of this process, made by `make` of its forebear's in a child that has none yet.
    #[inline]
    pub fn get(&self, make: impl Fn(&T) -> T) -> &T {
        if self.process == process() { &self.value } else { self.get_in_child(make) }
    }

    #[cold]
    fn get_in_child(&self, make: impl Fn(&T) -> T) -> &T {
        let mut own = self;
        while own.process != process() {
            let child = || Box::new(Own { process: process(), value: make(&own.value), of_child: OnceLock::new() });
            own = once::<Box<Own<T>>>(&own.of_child, child);
        }
        &own.value
    }
}

/// Closes the door and waits until all threads inside have left. A thread that is inside itself, in a function of the program that was
/// called there, forks at once.
extern "C" fn before() {
    DOOR.close(DEPTH.get() > 0);
}

extern "C" fn in_parent() {
    DOOR.open();
}

extern "C" fn in_child() {
    PROCESS.fetch_add(1, Ordering::SeqCst);
    DOOR.begin_anew(DEPTH.get() > 0);
}

/// Has the C library call the functions above around forks, from the first use on.
fn watch() {
    static WATCHING: AtomicBool = AtomicBool::new(false);
    if !WATCHING.load(Ordering::Relaxed) && !WATCHING.swap(true, Ordering::AcqRel) {
        register();
    }
}

#[cfg(target_os = "linux")]
fn register() {
    type Handler = extern "C" fn();
    unsafe extern "C" {
        fn pthread_atfork(prepare: Option<Handler>, parent: Option<Handler>, child: Option<Handler>) -> i32;
    }
    // SAFETY: the C library's function; the handlers use atomics and sleep, which is allowed around a fork. Should the registration fail for
    // want of memory, forks are not noticed, as in any program without it.
    let _ = unsafe { pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

#[cfg(not(target_os = "linux"))]
fn register() {
    let _ = [before, in_parent, in_child] as [extern "C" fn(); 3];
}
