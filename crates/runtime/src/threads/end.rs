//! The end of a process whose first thread has ended alone (`pthread_exit`): it ends with the last thread, which must not be a worker that waits for jobs
//! that nobody is there to give.

use crate::fork;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Workers of all pools, below the number of the process that they belong to.
static WORKERS: AtomicU64 = AtomicU64::new(0);

fn workers(known: u64) -> u64 {
    if known >> 32 == fork::process() { known & u64::from(u32::MAX) } else { 0 }
}

/// A worker, as long as it lives.
pub(super) struct Counted;

impl Counted {
    pub(super) fn new() -> Counted {
        let more = |known| Some(fork::process() << 32 | (workers(known) + 1));
        let _ = WORKERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        WORKERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long a worker sleeps before it looks whether anybody is left. Only one of a pool looks, after one second without a job, then after two, four, and so
/// on: 20 us each time, six times in the first minute and once a minute then.
pub(super) struct Parking(Option<Duration>);

const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_TIMEOUT: Duration = Duration::from_secs(64);

impl Parking {
    /// Of a worker that looks, or of one that only sleeps.
    pub(super) fn new(checks: bool) -> Parking {
        Parking(checks.then_some(FIRST_TIMEOUT))
    }

    /// Parks the thread; true when nobody but workers is left. `sleeps` says whether nobody woke it.
    pub(super) fn park(&mut self, sleeps: impl Fn() -> bool) -> bool {
        let Some(time) = self.0 else {
            thread::park();
            return false;
        };
        thread::park_timeout(time);
        self.0 = Some((time * 2).min(MAX_TIMEOUT));
        sleeps() && is_over(workers(WORKERS.load(Ordering::Relaxed)))
    }
}

/// Whether the process's first thread has ended, and all others are `workers`.
fn is_over(workers: u64) -> bool {
    cfg!(target_os = "linux") && std::fs::read_to_string("/proc/self/stat").is_ok_and(|stat| has_only(&stat, workers))
}

/// The same, as the system tells it (`proc_pid_stat(5)`): after the name in brackets comes the state, `Z` of a first thread that has ended, and 17 words
/// later the number of threads, that one included.
fn has_only(stat: &str, workers: u64) -> bool {
    let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    words.next() == Some("Z") && words.nth(16).and_then(|n| n.parse().ok()) == Some(workers + 1)
}

#[cfg(test)]
mod tests {
    use super::has_only;

    #[test]
    fn a_process_is_over_when_only_workers_are_left() {
        let stat = |state: &str, threads: u64| format!("7 (a) R 1 (b) {state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 {threads} 0 99");
        assert!(has_only(&stat("Z", 3), 2));
        assert!(!has_only(&stat("Z", 4), 2) && !has_only(&stat("S", 3), 2) && !has_only("", 0));
        let own = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        assert!(!has_only(&own, 0));
    }
}
