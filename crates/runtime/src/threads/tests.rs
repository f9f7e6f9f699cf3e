use super::*;
use crate::rounds;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

/// Runs a job and checks that every task ran once and that no worker ran two at a time.
fn check(executor: &dyn Executor, workers: usize, tasks: usize) {
    let ran: Vec<AtomicU32> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
    let busy: Vec<AtomicU32> = (0..workers.max(1)).map(|_| AtomicU32::new(0)).collect();
    executor.run(workers, tasks, &|worker, task| {
        assert_eq!(busy[worker].fetch_add(1, Ordering::SeqCst), 0, "worker {worker} twice at once");
        ran[task].fetch_add(1, Ordering::SeqCst);
        busy[worker].fetch_sub(1, Ordering::SeqCst);
    });
    assert!(ran.iter().all(|r| r.load(Ordering::SeqCst) == 1), "{workers} workers, {tasks} tasks");
}

/// Fewer under Miri, which takes a minute a pool and test.
fn pools() -> Vec<ForkJoin> {
    let spins = [Duration::ZERO, Duration::from_micros(20)];
    let sizes: &[usize] = if cfg!(miri) { &[1, 3] } else { &[1, 2, 3, 7] };
    sizes.iter().flat_map(|&n| spins.map(|s| ForkJoin::new(n, s))).collect()
}

#[test]
fn every_task_runs_once_whatever_the_pool() {
    for pool in pools() {
        for workers in [0, 1, 2, 3, 7, 100] {
            for tasks in [0, 1, 2, 3, 8, 100, 1000].into_iter().filter(|&tasks| tasks <= rounds(1000)) {
                check(&pool, workers, tasks);
            }
        }
    }
}

#[test]
fn jobs_back_to_back_and_with_pauses() {
    for pool in pools() {
        for i in 0..rounds(3000) {
            check(&pool, pool.threads(), 1 + i % 9);
            if i % 500 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

#[test]
fn many_callers_share_a_pool() {
    let pool = ForkJoin::new(3, Duration::from_micros(20));
    std::thread::scope(|s| {
        for caller in 0..8 {
            let pool = &pool;
            s.spawn(move || (0..rounds(2000)).for_each(|i| check(pool, 3, 1 + (i + caller) % 13)));
        }
    });
}

#[test]
fn many_pools_start_work_and_end() {
    for i in 0..rounds(60) {
        let pool = ForkJoin::new(1 + i % 5, Duration::from_micros(i as u64));
        check(&pool, 5, i);
    }
}

#[test]
fn nested_calls_run_inline() {
    let pool = ForkJoin::new(3, Duration::from_micros(50));
    let sum = AtomicUsize::new(0);
    pool.run(3, 6, &|_, _| {
        let here = std::thread::current().id();
        pool.run(3, 10, &|worker, task| {
            assert_eq!((worker, std::thread::current().id()), (0, here));
            sum.fetch_add(task, Ordering::SeqCst);
        });
    });
    assert_eq!(sum.load(Ordering::SeqCst), 6 * 45);
}

#[test]
fn panics_reach_the_caller_and_the_pool_lives_on() {
    for pool in pools() {
        for bad in [0, 7, 15] {
            let run = std::panic::AssertUnwindSafe(|| pool.run(pool.threads(), 16, &|_, t| assert!(t != bad, "task {t}")));
            let payload = std::panic::catch_unwind(run).unwrap_err();
            assert_eq!(payload.downcast_ref::<String>().unwrap(), &format!("task {bad}"));
            check(&pool, 7, 50);
        }
    }
}

#[test]
fn work_is_shared_when_one_worker_is_slow() {
    let pool = ForkJoin::new(2, Duration::from_micros(200));
    if pool.threads() > cores() {
        return;
    }
    for _ in 0..rounds(20) {
        let (done, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pool.run(2, 64, &|_, task| {
            if task > 0 {
                done.fetch_add(1, Ordering::SeqCst);
                return;
            }
            // Until the other worker has done more than its half, or a minute has passed.
            let begin = Instant::now();
            while done.load(Ordering::SeqCst) <= 32 && begin.elapsed() < Duration::from_secs(60) {
                std::thread::yield_now();
            }
            taken.store(done.load(Ordering::SeqCst), Ordering::SeqCst);
        });
        assert!(taken.load(Ordering::SeqCst) > 32, "the other worker took over {taken:?} tasks");
    }
}

/// A pool that runs on plain threads, and lies in the ways that a careless one may.
struct Careless {
    skip_last: bool,
    repeat: bool,
}

impl CallerPool for Careless {
    fn threads(&self) -> usize {
        4
    }
    fn in_parallel(&self) -> bool {
        false
    }
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|s| {
            for i in 0..if self.skip_last { n - 1 } else { n } {
                s.spawn(move || body(i));
                if self.repeat {
                    s.spawn(move || body(i));
                }
            }
        });
    }
}

#[test]
fn callers_pools_are_not_trusted() {
    for (skip_last, repeat) in [(false, false), (true, false), (false, true)] {
        let threads = Threads::caller(Careless { skip_last, repeat });
        assert_eq!(threads.executor().threads(), 4);
        for tasks in [0, 1, 3, 40, 1000].into_iter().filter(|&tasks| tasks <= rounds(4000)) {
            check(threads.executor(), 4, tasks);
        }
        let run = std::panic::AssertUnwindSafe(|| threads.executor().run(4, 16, &|_, t| assert!(t != 9, "nine")));
        assert!(std::panic::catch_unwind(run).is_err());
    }
}

#[test]
fn workers_of_callers_begin_with_parts_of_their_own() {
    let threads = Threads::caller(Careless { skip_last: false, repeat: false });
    for _ in 0..rounds(20) {
        let first = [const { AtomicUsize::new(usize::MAX) }; 4];
        let all = std::sync::Barrier::new(4);
        threads.executor().run(4, 400, &|worker, task| {
            if first[worker].compare_exchange(usize::MAX, task, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                all.wait();
            }
        });
        assert_eq!(first.map(AtomicUsize::into_inner), [0, 100, 200, 300]);
    }
}

#[test]
fn claims_survive_the_wrap_of_their_tags() {
    let pool = ForkJoin::new(3, Duration::from_micros(20));
    pool.skip_to(u64::from(u32::MAX) - 3);
    for tasks in [5, 6, 7, 8, 9, 10] {
        check(&pool, 3, tasks);
    }
}

#[test]
fn late_workers_are_sent_for_long_jobs_only() {
    let spent = Duration::from_micros(60);
    assert!(pool::is_worth_migrating(spent, 1, 16));
    assert!(!pool::is_worth_migrating(spent, 1, 2));
    assert!(!pool::is_worth_migrating(spent, 20, 16));
    assert!(!pool::is_worth_migrating(Duration::from_micros(20), 1, 1000));
}

#[test]
#[cfg_attr(miri, ignore = "Miri takes minutes to start a thousand threads")]
fn absurd_numbers_of_threads_are_bounded() {
    let pool = ForkJoin::new(100_000, Duration::ZERO);
    assert!((2..=most_threads()).contains(&pool.threads()), "{pool:?}");
    check(&pool, 100_000, 5000);
}

#[test]
#[cfg(target_os = "linux")]
fn a_pinned_thread_s_pool_stays_with_it_and_the_process_s_does_not() {
    use std::collections::HashSet;
    use std::sync::{Barrier, Mutex};
    if cores() < 2 {
        return;
    }
    let places = |pool: &ForkJoin| {
        let (seen, both) = (Mutex::new(HashSet::new()), Barrier::new(2));
        pool.run(2, 2, &|_, _| {
            both.wait();
            seen.lock().unwrap().insert(allowed());
        });
        seen.into_inner().unwrap()
    };
    let (own, process) = std::thread::spawn(move || {
        pin_to(0);
        (places(&ForkJoin::new(2, Duration::ZERO)), places(&ForkJoin::of_process(2, Duration::ZERO)))
    })
    .join()
    .unwrap();
    assert_eq!(own, HashSet::from([Some(1)]));
    assert!(process.iter().any(|cores| *cores != Some(1)), "{process:?}");
}

#[cfg(target_os = "linux")]
fn pin_to(core: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let all = sched_getaffinity(None).unwrap();
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)).nth(core).unwrap());
    sched_setaffinity(None, &one).unwrap();
}

/// How many cores the calling thread may run on.
#[cfg(target_os = "linux")]
fn allowed() -> Option<u32> {
    rustix::thread::sched_getaffinity(None).ok().map(|set| set.count())
}
