use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Test programs of Rust have no OpenMP library unless something else of the process brought one.
#[test]
fn looking_for_a_library_that_is_not_there_finds_none() {
    find();
    find();
    assert_eq!(max_threads().is_some(), FOUND.get().is_some());
}

#[test]
fn threads_of_openmp_make_every_call_once() {
    // SAFETY: GCC's OpenMP library starts nothing when it is loaded.
    let Ok(_library) = (unsafe { libloading::Library::new("libgomp.so.1") }) else {
        return eprintln!("skipped: no libgomp.so.1");
    };
    find();
    let threads = threads(8).expect("GCC's library has regions");
    let calls = [const { AtomicUsize::new(0) }; 100];
    threads.parallel_for(calls.len(), &|i| {
        calls[i].fetch_add(1, Ordering::Relaxed);
    });
    assert!(calls.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    assert!((1..=8).contains(&threads.threads()) && !threads.in_parallel());
}
