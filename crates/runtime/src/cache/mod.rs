//! The primitive cache: ready code by engine, problem and implementation row.
//!
//! One cache serves the process. It is limited in entries and in bytes, drops the least recently used entries, and makes each entry once: a
//! thread that asks for code that another thread is making waits for it. Code that primitives still use outlives its entry. A plan depends
//! on the problem and on the engine (instruction sets, cores), so the key holds the device's identity.

mod lru;
mod single;
mod step;
#[cfg(test)]
mod tests;

pub use lru::Lru;
pub use single::CacheStats;

use crate::code::Code;
use crate::{DeviceId, Mixer, PrimitiveDesc, family, fork, knobs};
use oxidnn_spec::{Error, Problem};
use single::{CacheWeight, Single};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The key of an entry; its hash is computed once.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Key {
    pub(crate) hash: u64,
    /// The engine's device, and that of a foreign argument.
    devices: [Option<DeviceId>; 2],
    row: usize,
    pub(crate) problem: Problem,
}

impl Key {
    /// In place of the row, of code that asks all rows at execution.
    pub(crate) const BEST: usize = usize::MAX;

    #[inline]
    pub(crate) fn new(devices: [Option<DeviceId>; 2], row: usize, problem: Problem) -> Arc<Key> {
        let mut hasher = Mixer::default();
        (devices, row, &problem).hash(&mut hasher);
        Arc::new(Key { hash: hasher.finish(), devices, row, problem })
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// The cache of ready code.
pub(crate) type Cache = Single<Key, Code>;

impl CacheWeight for Code {
    fn weight(&self) -> Option<usize> {
        (!self.is_fallback).then(|| size_of::<Key>() + self.exec.footprint())
    }
}

fn cache() -> &'static Cache {
    static CACHE: OnceLock<Cache> = OnceLock::new();
    fork::once(&CACHE, || {
        let knobs = knobs::now();
        Cache::new(knobs.cache_capacity, knobs.cache_bytes)
    })
}

/// The code of `desc`; true when it was there.
pub(crate) fn code(desc: &PrimitiveDesc) -> Result<(Arc<Code>, bool), Error> {
    cache().get(desc.key(), || desc.plan().build().map(Code::new).or_else(|why| step::down(desc, why)))
}

/// Whether the cache holds the code of `desc`.
pub fn contains(desc: &PrimitiveDesc) -> bool {
    cache().lock().entries.get(desc.key()).is_some()
}

/// The contents of the process's cache, counted.
pub fn stats() -> CacheStats {
    cache().stats()
}

/// Entries that are kept at most; at first the knob `PRIMITIVE_CACHE_CAPACITY`.
pub fn capacity() -> usize {
    cache().lock().entries.capacity()
}

/// Keeps at most `entries` from now on, the ones used last; 0 turns the cache off.
pub fn set_capacity(entries: usize) {
    limit(|_, bytes| (entries, bytes));
}

/// As [`set_capacity`], but entries that are too many stay until others are added.
pub fn set_capacity_later(entries: usize) {
    cache().lock().entries.set_capacity(entries);
}

/// Bytes that entries take at most; at first the knob `PRIMITIVE_CACHE_BYTES`.
pub fn byte_budget() -> usize {
    cache().lock().entries.budget()
}

/// Keeps at most `bytes` of entries from now on.
pub fn set_byte_budget(bytes: usize) {
    limit(|entries, _| (entries, bytes));
}

/// Limits the cache, and the table of members of problems with open sizes.
fn limit(limits: impl FnOnce(usize, usize) -> (usize, usize)) {
    cache().limit(limits);
    family::limit(capacity(), byte_budget());
}

/// How many sets of sizes that came with executions are remembered, and their bytes: at most as many as the cache may have of entries and bytes.
pub fn remembered_sizes() -> (usize, usize) {
    family::remembered()
}

/// Forgets every entry.
pub fn clear() {
    let (capacity, budget) = (capacity(), byte_budget());
    limit(|_, b| (0, b));
    limit(|_, _| (capacity, budget));
}
