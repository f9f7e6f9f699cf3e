use super::*;
use crate::rounds;

const MIB: usize = 1 << 20;

#[test]
fn blocks_are_aligned_and_used_again() {
    let arena = Arena::new(100 * MIB);
    let first = arena.lease(1000).unwrap();
    let address = first.buf().as_ptr();
    assert_eq!((first.buf().len(), address.addr() % 64), (1000, 0));
    let second = arena.lease(1000).unwrap();
    assert!(!first.buf().overlaps(&second.buf()));
    drop(first);
    for bytes in [1, 64, 1000, 4096] {
        assert_eq!(arena.lease(bytes).unwrap().buf().as_ptr(), address);
    }
    assert_eq!(arena.stats().allocations, 2);
    assert!(arena.lease(0).unwrap().buf().is_empty());
}

#[test]
fn a_larger_block_replaces_a_smaller_one() {
    let arena = Arena::new(100 * MIB);
    for mib in [1, 2, 3, 8, 5] {
        drop(arena.lease(mib * MIB).unwrap());
    }
    let s = arena.stats();
    assert_eq!((s.idle, s.leased, s.allocations), (8 * MIB, 0, 4));
    assert_eq!(s.peak, 8 * MIB);
}

#[test]
fn idle_memory_stays_within_the_budget() {
    let arena = Arena::new(4 * MIB);
    let leases: Vec<_> = (0..6).map(|_| arena.lease(MIB).unwrap()).collect();
    assert_eq!(arena.stats().leased, 6 * MIB);
    drop(leases);
    assert_eq!((arena.stats().idle, arena.stats().leased), (4 * MIB, 0));
    drop(arena.lease(16 * MIB).unwrap());
    assert!(arena.stats().idle <= 4 * MIB);
    arena.set_budget(MIB);
    assert!(arena.stats().idle <= MIB);
    arena.trim(0);
    assert_eq!(arena.stats().idle, 0);
}

#[test]
fn threads_take_each_others_idle_blocks() {
    let arena = Arena::new(100 * MIB);
    drop(arena.lease(MIB).unwrap());
    std::thread::scope(|s| _ = s.spawn(|| drop(arena.lease(MIB).unwrap())).join());
    assert_eq!(arena.stats().allocations, 1);
}

#[test]
fn leases_of_many_threads_never_overlap() {
    let arena = Arena::new(2 * MIB);
    std::thread::scope(|s| {
        for t in 0..8u8 {
            let arena = &arena;
            s.spawn(move || {
                for i in 0..rounds(500) {
                    let lease = arena.lease(1 + i * 997 % rounds(100_000)).unwrap();
                    lease.buf().fill(t);
                    std::thread::yield_now();
                    let mut bytes = vec![0u8; lease.buf().len()];
                    lease.buf().read(0, &mut bytes);
                    assert!(bytes.iter().all(|&b| b == t));
                }
            });
        }
    });
    assert_eq!(arena.stats().leased, 0);
    assert!(arena.stats().idle <= 2 * MIB);
}
