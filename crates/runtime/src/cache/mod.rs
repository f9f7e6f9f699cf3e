//! The primitive cache: ready code by engine, problem and implementation row.
//!
//! One cache serves the process. It holds a number of entries and of bytes, forgets what was used longest ago, and makes each entry once: who
//! asks for code that another thread is making waits for it. Code that primitives still use lives on when the cache forgets it. What a plan
//! depends on besides the problem (instruction sets, cores) belongs to the engine, so the device's identity stands for it in the key.

mod lru;
mod step;
#[cfg(test)]
mod tests;

pub use lru::Lru;

use crate::code::Code;
use crate::fork::{self, Locked};
use crate::{DeviceId, PrimitiveDesc, family, knobs};
use oxidnn_spec::{Error, Problem};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Condvar, Mutex, OnceLock};

/// What an entry is found by; the hash is made once.
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

    pub(crate) fn new(devices: [Option<DeviceId>; 2], row: usize, problem: Problem) -> Key {
        let mut hasher = DefaultHasher::new();
        (devices, row, &problem).hash(&mut hasher);
        Key { hash: hasher.finish(), devices, row, problem }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// What the cache holds, and what it was asked for since the process began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CacheStats {
    /// Requests that found code, or waited for another thread that was making it.
    pub hits: u64,
    /// Requests that made code.
    pub misses: u64,
    /// Entries that were forgotten for others.
    pub evictions: u64,
    /// Entries now.
    pub entries: usize,
    /// Bytes of code and tables of the entries, as the implementations report them, keys included.
    pub bytes: usize,
}

pub(crate) struct Cache {
    state: Mutex<State>,
}

struct State {
    entries: Lru<Arc<Key>, Arc<Code>>,
    flights: HashMap<Arc<Key>, Arc<Flight>>,
    hits: u64,
    misses: u64,
    evictions: u64,
}

/// Code that a thread is making.
#[derive(Default)]
struct Flight {
    landed: Mutex<Option<Result<Arc<Code>, Error>>>,
    signal: Condvar,
}

impl Flight {
    fn land(&self, result: Result<Arc<Code>, Error>) {
        *self.landed.lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
        self.signal.notify_all();
    }
    fn wait(&self) -> Result<Arc<Code>, Error> {
        let mut landed = self.landed.lock().unwrap_or_else(|e| e.into_inner());
        loop {
            if let Some(result) = &*landed {
                return result.clone();
            }
            landed = self.signal.wait(landed).unwrap_or_else(|e| e.into_inner());
        }
    }
}

/// Lands a flight whatever happens to the thread that makes the code.
struct Maker<'a> {
    cache: &'a Cache,
    key: &'a Arc<Key>,
    flight: Arc<Flight>,
    made: Option<Result<Arc<Code>, Error>>,
}

impl Drop for Maker<'_> {
    fn drop(&mut self) {
        let result = self.made.take().unwrap_or_else(|| Err(Error::Runtime("making the implementation panicked".into())));
        self.cache.landed(self.key, &result);
        self.flight.land(result);
    }
}

impl Cache {
    pub(crate) fn new(capacity: usize, bytes: usize) -> Cache {
        let (entries, flights) = (Lru::new(capacity, bytes), HashMap::new());
        Cache { state: Mutex::new(State { entries, flights, hits: 0, misses: 0, evictions: 0 }) }
    }

    fn lock(&self) -> Locked<'_, State> {
        fork::lock(&self.state)
    }

    /// The code of `key`, made by `make` unless it is there; true when it was.
    pub(crate) fn get(&self, key: &Arc<Key>, make: impl FnOnce() -> Result<Code, Error>) -> Result<(Arc<Code>, bool), Error> {
        // Nobody forks while code is made: a child would wait for its maker.
        let _inside = fork::enter();
        let flight = {
            let mut state = self.lock();
            if let Some(code) = state.entries.get(key).cloned() {
                state.hits += 1;
                return Ok((code, true));
            }
            if state.entries.capacity() == 0 {
                state.misses += 1;
                drop(state);
                return Ok((Arc::new(make()?), false));
            }
            if let Some(flight) = state.flights.get(key).cloned() {
                state.hits += 1;
                drop(state);
                return Ok((flight.wait()?, true));
            }
            state.misses += 1;
            let flight = Arc::<Flight>::default();
            state.flights.insert(key.clone(), flight.clone());
            flight
        };
        let mut maker = Maker { cache: self, key, flight, made: None };
        let made = make().map(Arc::new);
        maker.made = Some(made.clone());
        drop(maker);
        Ok((made?, false))
    }

    /// Ends a flight: code becomes an entry.
    fn landed(&self, key: &Arc<Key>, result: &Result<Arc<Code>, Error>) {
        let mut state = self.lock();
        state.flights.remove(key);
        if let Some(code) = result.as_ref().ok().filter(|code| !code.is_stopgap()) {
            let weight = size_of::<Key>() + code.exec().footprint();
            let gone = state.entries.insert(key.clone(), code.clone(), weight);
            state.evictions += gone.len() as u64;
            drop(state);
            drop(gone);
        }
    }

    pub(crate) fn limit(&self, limits: impl FnOnce(usize, usize) -> (usize, usize)) {
        let mut state = self.lock();
        let (capacity, budget) = limits(state.entries.capacity(), state.entries.budget());
        let gone = state.entries.limit(capacity, budget);
        state.evictions += gone.len() as u64;
        drop(state);
        drop(gone);
    }

    pub(crate) fn stats(&self) -> CacheStats {
        let state = self.lock();
        let State { entries, hits, misses, evictions, .. } = &*state;
        CacheStats { hits: *hits, misses: *misses, evictions: *evictions, entries: entries.len(), bytes: entries.weight() }
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
    cache().get(desc.key(), || step::build(desc))
}

/// Whether the cache holds the code of `desc`.
pub fn contains(desc: &PrimitiveDesc) -> bool {
    cache().lock().entries.get(desc.key()).is_some()
}

/// What the process's cache holds.
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

/// Limits the cache, and what executions remember of sizes that come with them.
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
