use super::*;
use crate::{Ctx, Exec, rounds};
use oxidnn_spec::op::Shuffle;
use oxidnn_spec::{Attr, DataType, Op, Prop, Tensor};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

struct Sized(usize);
impl Exec for Sized {
    fn run(&self, _ctx: &Ctx<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn footprint(&self) -> usize {
        self.0 - size_of::<Key>()
    }
}

fn code(bytes: usize) -> Result<Code, Error> {
    Ok(Code::new(Arc::new(Sized(bytes))))
}

fn key(n: i64) -> Arc<Key> {
    let src = Tensor::plain([n + 1, 2], DataType::F32).unwrap();
    let op = Op::from(Shuffle { prop: Prop::ForwardInference, dst: src.clone(), src, axis: 1, group_size: 1 });
    Key::new([None; 2], 0, Problem { op, attr: Attr::default() })
}

fn get(cache: &Cache, n: i64, bytes: usize) -> (Arc<Code>, bool) {
    cache.get(&key(n), || code(bytes)).unwrap()
}

const MIB: usize = 1 << 20;

#[test]
fn the_same_key_gives_the_same_code() {
    let cache = Cache::new(10, 100 * MIB);
    let (a, hit_a) = get(&cache, 1, MIB);
    let (b, hit_b) = get(&cache, 1, MIB);
    assert!(Arc::ptr_eq(&a, &b) && !hit_a && hit_b);
    assert!(!get(&cache, 2, MIB).1);
    let s = cache.stats();
    assert_eq!((s.hits, s.misses, s.entries, s.bytes, s.evictions), (1, 2, 2, 2 * MIB, 0));
}

#[test]
fn the_oldest_entries_go_first() {
    let cache = Cache::new(3, 100 * MIB);
    for n in [1, 2, 3, 1, 4] {
        get(&cache, n, MIB);
    }
    assert!(get(&cache, 1, MIB).1 && get(&cache, 3, MIB).1 && get(&cache, 4, MIB).1);
    assert!(!get(&cache, 2, MIB).1, "2 was used longest ago");
    cache.limit(|_, b| (1, b));
    assert_eq!(cache.stats().entries, 1);
    assert!(get(&cache, 2, MIB).1);
}

#[test]
fn bytes_are_limited_too() {
    let cache = Cache::new(100, 10 * MIB);
    for n in 0..5 {
        get(&cache, n, 3 * MIB);
    }
    assert_eq!((cache.stats().entries, cache.stats().bytes), (3, 9 * MIB));
    get(&cache, 9, 11 * MIB);
    assert_eq!(cache.stats().entries, 3, "what alone is too large is not kept");
    assert!(get(&cache, 4, MIB).1);
}

#[test]
fn capacity_zero_keeps_nothing() {
    let cache = Cache::new(0, MIB);
    assert!(!get(&cache, 1, 1000).1 && !get(&cache, 1, 1000).1);
    assert_eq!(cache.stats().entries, 0);
}

#[test]
fn code_is_made_once_however_many_ask() {
    for _ in 0..rounds(20) {
        let (cache, made) = (Cache::new(10, 100 * MIB), AtomicUsize::new(0));
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    cache.get(&key(7), || {
                        made.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(1));
                        code(MIB)
                    })
                });
            }
        });
        assert_eq!((made.load(Ordering::SeqCst), cache.stats().hits, cache.stats().misses), (1, 7, 1));
    }
}

#[test]
fn failures_reach_all_and_are_not_kept() {
    let cache = Cache::new(10, 100 * MIB);
    let fail = || -> Result<Code, Error> {
        std::thread::sleep(Duration::from_millis(5));
        Err(Error::Runtime("no".into()))
    };
    std::thread::scope(|s| (0..4).for_each(|_| _ = s.spawn(|| assert!(cache.get(&key(1), fail).is_err()))));
    let panics = std::panic::AssertUnwindSafe(|| cache.get(&key(1), || panic!("while making")));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert!(!get(&cache, 1, MIB).1);
}

#[test]
fn descriptions_that_differ_have_other_hashes() {
    let hash = |dims: [i64; 3], row: usize, axis: usize| {
        let src = Tensor::plain(dims, DataType::F32).unwrap();
        let op = Op::from(Shuffle { prop: Prop::ForwardInference, dst: src.clone(), src, axis, group_size: 1 });
        Key::new([None; 2], row, Problem { op, attr: Attr::default() }).hash
    };
    let sizes = 0..if cfg!(miri) { 6 } else { 30 };
    let sizes = sizes.clone().flat_map(|a| sizes.clone().flat_map(move |b| (1..6).map(move |c| [a, b, c])));
    let hashes: Vec<u64> = sizes.flat_map(|dims| (0..4).map(move |i| hash(dims, i / 2, i % 2))).collect();
    let distinct: std::collections::HashSet<u64> = hashes.iter().copied().collect();
    assert_eq!(distinct.len(), hashes.len());
    // Every bit is set in about half of them.
    for bit in 0..u64::BITS {
        let set = hashes.iter().filter(|h| *h >> bit & 1 == 1).count();
        assert!((hashes.len() * 2 / 5..hashes.len() * 3 / 5).contains(&set), "bit {bit} is set in {set} of {}", hashes.len());
    }
}
