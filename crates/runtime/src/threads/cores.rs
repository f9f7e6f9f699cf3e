//! The cores that a process may use: not those alone of the thread that asks first, which may be pinned to one.

use std::sync::OnceLock;

/// How many cores the process might use when this was first asked (affinity and quota respected): asking the system takes 0.1 ms.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *crate::fork::once(&CORES, system::cores)
}

/// The most threads of a pool: more gain nothing, and exhaust the system's limits.
pub fn most_threads() -> usize {
    (4 * cores()).max(LEAST_MOST)
}

/// As many may be asked for on any machine.
pub(crate) const LEAST_MOST: usize = 1024;

/// Lets the calling thread, which inherited its creator's cores, run on all cores of the process.
pub(super) fn use_all_cores() {
    system::use_all_cores();
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
    use std::thread::{self, available_parallelism};

    /// The cores of the process's first thread, which tools like `taskset` set, and those of the calling thread; `None` if the two are the
    /// same, or if the system does not tell.
    fn process_cores() -> Option<CpuSet> {
        let own = sched_getaffinity(None).ok()?;
        let mut all = sched_getaffinity(Pid::from_raw(i32::try_from(std::process::id()).ok()?)).ok()?;
        (0..CpuSet::MAX_CPU).filter(|&core| own.is_set(core)).for_each(|core| all.set(core));
        (all != own).then_some(all)
    }

    pub(super) fn use_all_cores() {
        if let Some(all) = process_cores() {
            // Where the system refuses, the thread stays where it was started.
            let _ = sched_setaffinity(None, &all);
        }
    }

    pub(super) fn cores() -> usize {
        let ask = || available_parallelism().map_or(1, usize::from);
        match process_cores() {
            None => ask(),
            // Asked by a thread that has them all, since the answer is for the thread that asks, and counts quotas too.
            Some(_) => thread::Builder::new()
                .spawn(move || {
                    use_all_cores();
                    ask()
                })
                .ok()
                .and_then(|asking| asking.join().ok())
                .unwrap_or_else(ask),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn use_all_cores() {}

    pub(super) fn cores() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
