//! The arena.

#[path = "../../src/scratch/arena.rs"]
#[allow(dead_code, reason = "models use a part of what the arena can")]
mod arena;

use crate::check;
use crate::sync::thread;
use arena::{Arena, Lease};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Blocks that are in use; no part of what is modelled.
#[derive(Default)]
struct InUse(Mutex<BTreeSet<usize>>);

/// Uses a block.
fn hold<'a>((arena, in_use): &'a (Arena, InUse), bytes: usize) -> Lease<'a> {
    let lease = arena.lease(bytes).unwrap();
    let is_new = in_use.0.lock().unwrap().insert(lease.buf().as_ptr().addr());
    assert!(is_new, "two threads lease a block");
    lease
}

fn let_go((_, in_use): &(Arena, InUse), lease: Lease<'_>) {
    in_use.0.lock().unwrap().remove(&lease.buf().as_ptr().addr());
    drop(lease);
}

#[test]
fn leases_of_two_threads_are_apart() {
    // Two interruptions make 577,618 orders, which pass and take a minute.
    check(1, || {
        let shared = Arc::new((Arena::new(10_000), InUse::default()));
        let other = shared.clone();
        let uses = thread::spawn(move || {
            let_go(&other, hold(&other, 100));
            let_go(&other, hold(&other, 5000));
        });
        let (one, two) = (hold(&shared, 100), hold(&shared, 100));
        let_go(&shared, one);
        let_go(&shared, two);
        uses.join().unwrap();
        let (arena, _) = &*shared;
        assert_eq!(arena.stats().leased, 0);
        arena.trim(0);
        assert_eq!(arena.stats().idle, 0, "the blocks that are kept are those that are counted");
    });
}
