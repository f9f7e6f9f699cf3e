//! The single flight of the primitive cache.

#[path = "../../src/cache/lru.rs"]
#[allow(dead_code, reason = "models use a part of what the table can")]
mod lru;
#[path = "../../src/cache/single.rs"]
#[allow(dead_code, reason = "models use a part of what the cache can")]
mod single;

use crate::check;
use crate::sync::thread;
use lru::Lru;
use oxidnn_spec::Error;
use single::{CacheWeight, Single};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A value that says how many were made before it.
struct Made(u32);

impl CacheWeight for Made {
    fn weight(&self) -> Option<usize> {
        Some(1)
    }
}

#[derive(Default)]
struct Maker(AtomicU32);

impl Maker {
    /// Makes a value, while others may come.
    fn make(&self) -> Made {
        thread::yield_now();
        Made(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[test]
fn a_value_is_made_once() {
    check(3, || {
        let shared = Arc::new((Single::new(2, 10), Maker::default()));
        let ask = |(cache, maker): &(Single<u32, Made>, Maker)| {
            let (value, _) = cache.get(&Arc::new(7), || Ok(maker.make())).unwrap();
            assert_eq!(value.0, 0);
        };
        let other = shared.clone();
        let asks = thread::spawn(move || ask(&other));
        ask(&shared);
        asks.join().unwrap();
        let stats = shared.0.stats();
        assert_eq!((stats.hits, stats.misses, stats.entries), (1, 1, 1));
    });
}

#[test]
fn failures_reach_who_waits_and_are_not_kept() {
    check(3, || {
        let cache = Arc::new(Single::<u32, Made>::new(1, 10));
        let fail = |cache: &Single<u32, Made>| {
            let failed = cache.get(&Arc::new(7), || {
                thread::yield_now();
                Err(Error::Runtime("as told".into()))
            });
            assert!(failed.is_err());
        };
        let other = cache.clone();
        let fails = thread::spawn(move || fail(&other));
        fail(&cache);
        fails.join().unwrap();
        assert!(!cache.get(&Arc::new(7), || Ok(Made(0))).unwrap().1);
    });
}

#[test]
fn what_is_forgotten_is_made_again() {
    check(2, || {
        let shared = Arc::new((Single::new(1, 10), Maker::default()));
        let ask = |(cache, maker): &(Single<u32, Made>, Maker), key| {
            cache.get(&Arc::new(key), || Ok(maker.make())).unwrap();
        };
        let other = shared.clone();
        let asks = thread::spawn(move || ask(&other, 1));
        ask(&shared, 2);
        ask(&shared, 1);
        asks.join().unwrap();
        let stats = shared.0.stats();
        assert_eq!((stats.entries, stats.misses), (1, u64::from(shared.1.0.load(Ordering::Relaxed))));
        assert_eq!(stats.evictions, stats.misses - 1);
    });
}
