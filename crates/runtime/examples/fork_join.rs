//! Latency of the fork-join pool: the time that a job takes beyond its tasks, back to back and after a rest, median and 99th percentile.
//!
//! `cargo run --release -p oxidnn-runtime --example fork_join [THREADS]...`

use oxidnn_runtime::Executor;
use oxidnn_runtime::threads::ForkJoin;
use std::time::{Duration, Instant};

fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    if counts.is_empty() {
        counts = [1, 2, 4, 8, 16, 32].into_iter().filter(|&n| n <= cores).collect();
    }
    println!("{:>8} {:>8} {:>12} {:>10} {:>10} {:>12} {:>10}", "threads", "tasks", "work/task", "p50 ns", "p99 ns", "overhead ns", "idle");
    for n in counts {
        let pool = ForkJoin::new(n, Duration::from_micros(100));
        for (each, work, idle) in [(1, 0, 0), (1, 5_000, 0), (1, 20_000, 0), (1, 5_000, 1_000_000), (8, 200_000, 3_000_000)] {
            let (p50, p99) = measure(&pool, each * n, Duration::from_nanos(work), Duration::from_nanos(idle));
            let overhead = p50 as i64 - (each as u64 * work) as i64;
            println!("{n:>8} {:>8} {work:>12} {p50:>10} {p99:>10} {overhead:>12} {idle:>10}", each * n);
        }
    }
}

/// Nanoseconds of a job whose tasks each spin for `work`, `idle` after the last.
fn measure(pool: &ForkJoin, tasks: usize, work: Duration, idle: Duration) -> (u128, u128) {
    let jobs = if idle.is_zero() { 20_000 } else { 300 };
    let mut times: Vec<u128> = (0..jobs)
        .map(|_| {
            std::thread::sleep(idle);
            let start = Instant::now();
            pool.run(pool.threads(), tasks, &|_, _| {
                let begin = Instant::now();
                while begin.elapsed() < work {
                    std::hint::spin_loop();
                }
            });
            start.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    (times[jobs / 2], times[jobs * 99 / 100])
}
