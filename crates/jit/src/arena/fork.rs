//! Forks, counted in the parent and the child alike, and apart from that in the child alone.
//!
//! Parent and child run the same code in the same memory files, which the parent alone writes to.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static FORKS: AtomicU64 = AtomicU64::new(0);
static PROCESS: AtomicU64 = AtomicU64::new(0);

/// Forks so far.
pub(super) fn count() -> u64 {
    FORKS.load(Ordering::Acquire)
}

/// The number of this process among its forebears: another one in a child.
pub(super) fn process() -> u64 {
    PROCESS.load(Ordering::Relaxed)
}

extern "C" fn before_fork() {
    FORKS.fetch_add(1, Ordering::AcqRel);
}

extern "C" fn in_child() {
    PROCESS.fetch_add(1, Ordering::AcqRel);
}

/// Counts a fork that did not happen.
#[cfg(test)]
pub(super) fn forked() {
    before_fork();
}

/// Begins to count.
pub(super) fn watch() {
    static WATCHING: AtomicBool = AtomicBool::new(false);
    if !WATCHING.swap(true, Ordering::AcqRel) {
        #[cfg(target_os = "linux")]
        register();
        #[cfg(not(target_os = "linux"))]
        let _ = [before_fork, in_child] as [extern "C" fn(); 2];
    }
}

#[cfg(target_os = "linux")]
fn register() {
    type Handler = extern "C" fn();
    unsafe extern "C" {
        fn pthread_atfork(prepare: Option<Handler>, parent: Option<Handler>, child: Option<Handler>) -> i32;
    }
    // SAFETY: the C library's function; the handlers do nothing but an atomic addition, which is allowed around a fork. Should the
    // registration fail for want of memory, forks are not noticed, as in any program without it.
    let _ = unsafe { pthread_atfork(Some(before_fork), None, Some(in_child)) };
}
