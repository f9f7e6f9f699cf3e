//! The fork-join pool.

#[path = "../../src/threads/panics.rs"]
mod panics;
#[path = "../../src/threads/pool.rs"]
#[allow(dead_code, reason = "models use a part of what the pool can")]
mod pool;

mod cores {
    pub(super) fn cores() -> usize {
        8
    }
    pub(super) fn most_threads() -> usize {
        8
    }
    pub(super) fn use_all_cores() {}
}

/// Workers sleep until they are woken.
mod end {
    pub(super) struct Counted;
    impl Counted {
        pub(super) fn new() -> Counted {
            Counted
        }
    }
    pub(super) struct Parking;
    impl Parking {
        pub(super) fn new(_: bool) -> Parking {
            Parking
        }
        pub(super) fn park(&mut self, _: impl Fn() -> bool) -> bool {
            crate::sync::thread::park();
            false
        }
    }
}

mod float {
    #[derive(Clone, Copy)]
    pub(super) struct FloatMode;
    impl FloatMode {
        pub(super) fn current() -> FloatMode {
            FloatMode
        }
        pub(super) fn adopt(self) {}
    }
}

mod place {
    #[derive(Default)]
    pub(super) struct Waker(());
    impl Waker {
        pub(super) fn is_me(&self) {}
        pub(super) fn leave_core(&self, _: &Sleeper) {}
    }
    #[derive(Default)]
    pub(super) struct Sleeper(());
    impl Sleeper {
        pub(super) fn is_me(&self) {}
        pub(super) fn migrate(&self) {}
    }
}

use crate::{Executor, Shared, check};
use pool::ForkJoin;
use std::sync::Arc;
use std::time::Duration;

/// A job whose tasks each write a place of their own, which the caller reads when it is done.
fn job(pool: &ForkJoin, workers: usize, tasks: usize) {
    let places: Vec<Shared> = (0..tasks).map(|_| Shared::default()).collect();
    pool.run(workers, tasks, &|_, task| places[task].set(places[task].get() + 1));
    assert!(places.iter().all(|place| place.get() == 1), "each task is run once");
}

#[test]
fn tasks_run_once_and_are_done_for_the_caller() {
    check(2, || {
        let pool = ForkJoin::new(2, Duration::ZERO);
        job(&pool, 2, 2);
        job(&pool, 2, 3);
    });
}

#[test]
fn three_threads_help_each_other() {
    check(1, || job(&ForkJoin::new(3, Duration::ZERO), 3, 3));
}

#[test]
fn two_callers_share_a_pool() {
    check(2, || {
        let pool = Arc::new(ForkJoin::new(2, Duration::ZERO));
        let other = pool.clone();
        let caller = crate::sync::thread::spawn(move || job(&other, 2, 2));
        job(&pool, 2, 2);
        caller.join().unwrap();
    });
}
