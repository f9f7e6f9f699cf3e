//! The checker's threads, locks and atomics, by the names of `src/sync.rs`, and faults in them.

use std::sync::LazyLock;
use std::time::Duration;

pub use loom::hint::spin_loop;
pub use loom::sync::{Mutex, MutexGuard};

/// Names the fault of a run.
pub const FAULT: &str = "OXIDNN_MODEL_FAULT";

/// What is wrong with what a protocol rests on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Fences do nothing.
    Fences,
    /// All atomic operations are relaxed.
    Orders,
    /// Additions are a load and a store.
    Updates,
    /// Nobody hears a condition variable.
    Signals,
    /// Memory does not remember who was given work on it.
    Forgets,
}

/// The fault of this run.
pub fn fault() -> Fault {
    static HERE: LazyLock<Fault> = LazyLock::new(|| match std::env::var(FAULT).as_deref() {
        Err(_) => Fault::None,
        Ok("fences") => Fault::Fences,
        Ok("orders") => Fault::Orders,
        Ok("updates") => Fault::Updates,
        Ok("signals") => Fault::Signals,
        Ok("forgets") => Fault::Forgets,
        Ok(other) => panic!("no fault is called {other}"),
    });
    *HERE
}

pub mod thread {
    pub use loom::thread::{Builder, JoinHandle, Thread, current, park, spawn, yield_now};

    /// Others go first.
    pub fn sleep(_: super::Duration) {
        yield_now();
    }
}

#[allow(dead_code, reason = "not every type is asked for everything")]
pub mod atomic {
    use super::{Fault, fault};
    pub use std::sync::atomic::Ordering;

    pub fn fence(order: Ordering) {
        if fault() != Fault::Fences {
            loom::sync::atomic::fence(order);
        }
    }

    fn now(order: Ordering) -> Ordering {
        if fault() == Fault::Orders { Ordering::Relaxed } else { order }
    }

    macro_rules! atomic {
        ($name:ident of $value:ty) => {
            #[derive(Debug, Default)]
            pub struct $name(loom::sync::atomic::$name);

            impl $name {
                pub fn new(value: $value) -> $name {
                    $name(loom::sync::atomic::$name::new(value))
                }
                pub fn load(&self, order: Ordering) -> $value {
                    self.0.load(now(order))
                }
                pub fn store(&self, value: $value, order: Ordering) {
                    self.0.store(value, now(order));
                }
                pub fn swap(&self, value: $value, order: Ordering) -> $value {
                    if fault() == Fault::Updates {
                        let old = self.load(order_of_load(order));
                        self.store(value, order_of_store(order));
                        return old;
                    }
                    self.0.swap(value, now(order))
                }
                pub fn compare_exchange(&self, old: $value, new: $value, done: Ordering, not: Ordering) -> Result<$value, $value> {
                    self.0.compare_exchange(old, new, now(done), now(not))
                }
            }
        };
    }

    macro_rules! number {
        ($name:ident of $value:ty) => {
            atomic!($name of $value);

            impl $name {
                pub fn compare_exchange_weak(&self, old: $value, new: $value, done: Ordering, not: Ordering) -> Result<$value, $value> {
                    self.0.compare_exchange_weak(old, new, now(done), now(not))
                }
                pub fn try_update(&self, done: Ordering, not: Ordering, to: impl FnMut($value) -> Option<$value>) -> Result<$value, $value> {
                    self.0.try_update(now(done), now(not), to)
                }
                fn update(&self, order: Ordering, to: impl Fn($value) -> $value, whole: impl Fn() -> $value) -> $value {
                    if fault() == Fault::Updates {
                        let old = self.load(order_of_load(order));
                        self.store(to(old), order_of_store(order));
                        return old;
                    }
                    whole()
                }
                pub fn fetch_add(&self, more: $value, order: Ordering) -> $value {
                    self.update(order, |v| v.wrapping_add(more), || self.0.fetch_add(more, now(order)))
                }
                pub fn fetch_sub(&self, less: $value, order: Ordering) -> $value {
                    self.update(order, |v| v.wrapping_sub(less), || self.0.fetch_sub(less, now(order)))
                }
                pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                    self.update(order, |v| v.max(value), || self.0.fetch_max(value, now(order)))
                }
            }
        };
    }

    fn order_of_load(order: Ordering) -> Ordering {
        if matches!(order, Ordering::AcqRel | Ordering::SeqCst) { Ordering::Acquire } else { Ordering::Relaxed }
    }
    fn order_of_store(order: Ordering) -> Ordering {
        if matches!(order, Ordering::AcqRel | Ordering::SeqCst) { Ordering::Release } else { Ordering::Relaxed }
    }

    atomic!(AtomicBool of bool);
    number!(AtomicU32 of u32);
    number!(AtomicU64 of u64);
    number!(AtomicUsize of usize);
}

/// As the standard library's; the checker does not see what it does.
pub struct OnceLock<T>(std::sync::OnceLock<T>);

impl<T> OnceLock<T> {
    pub fn new() -> OnceLock<T> {
        OnceLock(std::sync::OnceLock::new())
    }
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }
    pub fn set(&self, value: T) -> Result<(), T> {
        self.0.set(value)
    }
    pub fn wait(&self) -> &T {
        loop {
            match self.0.get() {
                Some(value) => return value,
                None => loom::thread::yield_now(),
            }
        }
    }
}

pub struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub fn new() -> Condvar {
        Condvar(loom::sync::Condvar::new())
    }
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> std::sync::LockResult<MutexGuard<'a, T>> {
        self.0.wait(guard)
    }
    pub fn notify_one(&self) {
        if fault() != Fault::Signals {
            self.0.notify_one();
        }
    }
    pub fn notify_all(&self) {
        if fault() != Fault::Signals {
            self.0.notify_all();
        }
    }
}

/// Time stands still, so that a model does the same each time.
#[derive(Clone, Copy, Debug)]
pub struct Instant;

impl Instant {
    pub fn now() -> Instant {
        Instant
    }
    pub fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

impl std::ops::Sub for Instant {
    type Output = Duration;
    fn sub(self, _: Instant) -> Duration {
        Duration::ZERO
    }
}

/// As `src/sync.rs` has it.
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(loom::cell::UnsafeCell::new(value))
    }
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.0.with(read)
    }
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.0.with_mut(write)
    }
}

macro_rules! of_threads {
    ($(#[$about:meta])* static $name:ident: $value:ty = const { $init:expr };) => {
        loom::thread_local! { $(#[$about])* static $name: $value = $init; }
    };
}
pub(crate) use of_threads as thread_local;
