use super::door::PAUSE;
use super::*;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc;

/// Serialises the tests, which share the process's counters.
static ONE: Mutex<()> = Mutex::new(());

#[test]
fn who_forks_waits_for_who_is_inside_and_others_wait_at_the_door() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (entered, left, forked) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let (go, come) = mpsc::channel();
    let (entered, left, forked) = (&entered, &left, &forked);
    std::thread::scope(|s| {
        s.spawn(move || {
            let _outer = enter();
            let _inner = enter();
            entered.store(true, Ordering::SeqCst);
            come.recv().unwrap();
            left.store(true, Ordering::SeqCst);
        });
        while !entered.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        s.spawn(|| {
            before();
            assert!(left.load(Ordering::SeqCst), "a fork while another thread was inside");
            std::thread::sleep(PAUSE * 50);
            forked.store(true, Ordering::SeqCst);
            in_parent();
        });
        while DOOR.forking.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        s.spawn(|| {
            drop(enter());
            assert!(forked.load(Ordering::SeqCst), "somebody went inside during a fork");
        });
        std::thread::sleep(PAUSE * 50);
        go.send(()).unwrap();
    });
    assert_eq!((DOOR.forking.load(Ordering::SeqCst), DEPTH.get()), (0, 0));
}

#[test]
fn who_is_inside_forks_at_once() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let _inside = enter();
    before();
    in_parent();
}

#[test]
fn locks_and_cells_are_used_inside() {
    let (mutex, cell) = (Mutex::new(1), OnceLock::new());
    *lock(&mutex) += 1;
    let value = *once(&cell, || {
        assert!(DEPTH.get() > 0);
        *lock(&mutex)
    });
    assert_eq!((value, *once(&cell, || 7), DEPTH.get()), (2, 2, 0));
}

#[test]
fn a_child_makes_its_own_once() {
    let made = AtomicU32::new(0);
    let make = |_: &u32| made.fetch_add(1, Ordering::SeqCst) + 10;
    // As a fork of a fork finds it: a value of this process's forebear, and of the one before.
    let mut own = Own::new(1);
    own.process = u64::MAX;
    assert_eq!([*own.get(make), *own.get(make)], [10, 10]);
    own.of_child.get_mut().unwrap().process = u64::MAX - 1;
    assert_eq!([*own.get(make), *own.get(make)], [11, 11]);
    assert_eq!(*Own::new(1).get(make), 1);
}
