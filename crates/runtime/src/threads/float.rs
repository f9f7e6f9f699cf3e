//! How floating-point numbers are computed: rounding, subnormals and traps are settings of a thread. One of the files with unsafe code.
//!
//! A thread that computes a part of a job uses the settings of the thread that asked for the job, so that results do not depend on who
//! computes. Nothing here computes on the x87, so its settings do not matter.

/// A thread's settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FloatMode(u32);

/// All of the register `MXCSR` but the exception flags.
#[cfg(target_arch = "x86_64")]
const SETTINGS: u32 = !0x3f;

impl FloatMode {
    /// Those of the calling thread.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    pub(super) fn current() -> FloatMode {
        let mut mxcsr = 0_u32;
        // SAFETY: stores four bytes to a place of four bytes.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
        FloatMode(mxcsr & SETTINGS)
    }

    /// Makes them those of the calling thread.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    pub(super) fn adopt(self) {
        if FloatMode::current() != self {
            // SAFETY: loads four bytes that `current` read from the register, so no unsupported bit is set. Settings other than the default
            // are the program's own choice for the thread that asked; values that the compiler has computed before are unchanged.
            unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const self.0, options(nostack, preserves_flags, readonly)) };
        }
    }

    /// Those of the calling thread: other processors' are not looked at.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn current() -> FloatMode {
        FloatMode(0)
    }

    /// Makes them those of the calling thread.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn adopt(self) {}
}

/// Computes with other settings until it is dropped.
pub(super) struct Adopted(FloatMode);

impl Adopted {
    pub(super) fn new(mode: FloatMode) -> Adopted {
        let before = FloatMode::current();
        mode.adopt();
        Adopted(before)
    }
}

impl Drop for Adopted {
    fn drop(&mut self) {
        self.0.adopt();
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::Executor;
    use crate::threads::{CallerPool, ForkJoin, Threads};
    use std::sync::Mutex;
    use std::time::Duration;

    /// Flushes subnormals, as `MXCSR` says it in bits 6 and 15.
    const FLUSH: u32 = 0x8040;

    /// The modes that workers had for a job of the calling thread.
    fn seen(executor: &dyn Executor) -> Vec<FloatMode> {
        let seen = Mutex::new(Vec::new());
        executor.run(executor.threads(), 64, &|_, _| {
            std::thread::sleep(Duration::from_micros(100));
            seen.lock().unwrap().push(FloatMode::current());
        });
        seen.into_inner().unwrap()
    }

    /// New threads for every job, which began with a mode of their own.
    struct Flushing;

    impl CallerPool for Flushing {
        fn threads(&self) -> usize {
            3
        }
        fn in_parallel(&self) -> bool {
            false
        }
        fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
            let run = |i: usize| {
                let own = FloatMode(FloatMode::current().0 ^ FLUSH);
                own.adopt();
                body(i);
                assert_eq!(FloatMode::current(), own, "a thread of the caller's has its own mode again");
            };
            std::thread::scope(|s| (0..n).for_each(|i| _ = s.spawn(move || run(i))));
        }
    }

    #[test]
    fn workers_compute_as_the_caller_does() {
        let usual = FloatMode::current();
        let flushing = FloatMode(usual.0 | FLUSH);
        let (pool, callers) = (ForkJoin::new(3, Duration::from_micros(20)), Threads::caller(Flushing));
        for executor in [&pool as &dyn Executor, callers.executor()] {
            for mode in [usual, flushing, flushing, usual] {
                let seen = {
                    let _adopted = Adopted::new(mode);
                    seen(executor)
                };
                assert_eq!((seen.len(), seen.iter().filter(|m| **m != mode).count()), (64, 0));
                assert_eq!(FloatMode::current(), usual);
            }
        }
    }
}
