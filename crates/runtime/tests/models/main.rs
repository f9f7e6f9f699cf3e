//! Models: the protocols between threads of this crate, run by a checker ([loom]) under the orders that C11's memory model allows.
//!
//! The modules here compile the very files of `src` (`#[path]`), against the checker's [`sync`] in place of the standard library's. What a protocol
//! does not consist of is left out: forks (models never fork), cores and floating-point modes. Where orders are too many, only those are run in which
//! threads are interrupted at most so often as [`check`] is told.
//!
//! A model that cannot fail shows nothing: each is also run with a [`Fault`](sync::Fault) in what its protocol rests on, and must find it.
//!
//! [loom]: https://docs.rs/loom

#![allow(unreachable_pub, missing_docs, reason = "modules of the library stand here in a program")]

mod cache;
mod fork;
mod memory;
mod queue;
mod scratch;
mod sync;
mod threads;

pub use oxidnn_runtime::{Buf, Executor, Inline};

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `model` under all orders in which threads are interrupted at most `interruptions` times.
fn check(interruptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.max_branches = 10_000;
    let orders = Arc::new(AtomicUsize::new(0));
    let counted = orders.clone();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    println!("{} orders", orders.load(Ordering::Relaxed));
}

/// What threads share without atomics; the checker fails where a protocol lets two use it in conflict.
#[derive(Default)]
struct Shared(sync::UnsafeCell<u32>);

// SAFETY: the checker runs one thread at a time, and ends the test before an access that conflicts with another.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn get(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
    fn set(&self, to: u32) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value = to });
    }
}

/// Models by name, a fault that each must find, and what it says of it.
const FAULTS: &[(&str, &str, &str)] = &[
    ("threads::tasks_run_once_and_are_done_for_the_caller", "fences", "Causality violation"),
    ("threads::tasks_run_once_and_are_done_for_the_caller", "orders", "Causality violation"),
    ("threads::two_callers_share_a_pool", "updates", "Causality violation"),
    ("fork::nobody_is_inside_while_one_forks", "orders", "Causality violation"),
    ("fork::nobody_is_inside_while_one_forks", "updates", "Causality violation"),
    ("queue::jobs_are_done_in_order_and_waited_for", "signals", "deadlock"),
    ("memory::work_on_two_queues_is_ordered_by_its_memory", "forgets", "assertion"),
    ("memory::work_on_two_queues_is_ordered_by_its_memory", "signals", "deadlock"),
    ("memory::borrows_of_two_threads_exclude_each_other", "orders", "Causality violation"),
    ("cache::a_value_is_made_once", "signals", "deadlock"),
    ("scratch::leases_of_two_threads_are_apart", "updates", "assertion"),
];

#[test]
fn every_model_finds_a_fault() {
    for &(model, fault, says) in FAULTS {
        let program = std::env::current_exe().unwrap();
        let run = Command::new(program).args([model, "--exact"]).env(sync::FAULT, fault).env_remove("RUST_BACKTRACE").output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(text.contains("running 1 test"), "no model {model}: {text}");
        assert!(!run.status.success() && text.contains(says), "{model} does not find the fault {fault}: {text}");
    }
}
