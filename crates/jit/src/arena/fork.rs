//! How often this process was forked, counted before every fork, in the parent and the child alike.
//!
//! Memory files stay shared between the two; a chunk remembers the count at its making, and no one writes to it once the count is another.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static FORKS: AtomicU64 = AtomicU64::new(0);

/// Forks so far.
pub(super) fn count() -> u64 {
    FORKS.load(Ordering::Acquire)
}

extern "C" fn before_fork() {
    FORKS.fetch_add(1, Ordering::AcqRel);
}

/// Counts a fork that did not happen.
#[cfg(test)]
pub(super) fn forked() {
    before_fork();
}

/// Begins to count.
pub(super) fn watch() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(|| {
        #[cfg(target_os = "linux")]
        register();
        #[cfg(not(target_os = "linux"))]
        let _ = before_fork;
    });
}

#[cfg(target_os = "linux")]
fn register() {
    type Handler = extern "C" fn();
    unsafe extern "C" {
        fn pthread_atfork(prepare: Option<Handler>, parent: Option<Handler>, child: Option<Handler>) -> i32;
    }
    // SAFETY: the C library's function; the handler does nothing but an atomic addition, which is allowed around a fork. Should the
    // registration fail for want of memory, forks are not noticed, as in any program without it.
    let _ = unsafe { pthread_atfork(Some(before_fork), None, None) };
}
