//! The single-flight protocol of the primitive cache: a thread that asks for a value that another thread is making waits for it.

use super::Lru;
use crate::fork::{self, Locked};
use crate::sync::{Condvar, Mutex};
use oxidnn_spec::Error;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The contents of the cache, and its requests since the process began.
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

/// The bytes that an entry counts for; `None` for values that are not cached.
pub(crate) trait CacheWeight {
    fn weight(&self) -> Option<usize>;
}

/// Values by keys, each made once.
pub(crate) struct Single<K, V> {
    state: Mutex<State<K, V>>,
}

pub(super) struct State<K, V> {
    pub(super) entries: Lru<Arc<K>, Arc<V>>,
    flights: HashMap<Arc<K>, Arc<Flight<V>>>,
    hits: u64,
    misses: u64,
    evictions: u64,
}

/// A value that a thread is making.
struct Flight<V> {
    outcome: Mutex<Option<Result<Arc<V>, Error>>>,
    signal: Condvar,
}

impl<V> Flight<V> {
    fn new() -> Flight<V> {
        Flight { outcome: Mutex::new(None), signal: Condvar::new() }
    }
    fn land(&self, result: Result<Arc<V>, Error>) {
        *self.outcome.lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
        self.signal.notify_all();
    }
    fn wait(&self) -> Result<Arc<V>, Error> {
        let mut outcome = self.outcome.lock().unwrap_or_else(|e| e.into_inner());
        loop {
            if let Some(result) = &*outcome {
                return result.clone();
            }
            outcome = self.signal.wait(outcome).unwrap_or_else(|e| e.into_inner());
        }
    }
}

/// Lands a flight whatever happens to the thread that makes the value.
struct Maker<'a, K: Hash + Eq, V: CacheWeight> {
    cache: &'a Single<K, V>,
    key: &'a Arc<K>,
    flight: Arc<Flight<V>>,
    made: Option<Result<Arc<V>, Error>>,
}

impl<K: Hash + Eq, V: CacheWeight> Drop for Maker<'_, K, V> {
    fn drop(&mut self) {
        let result = self.made.take().unwrap_or_else(|| Err(Error::Runtime("making the implementation panicked".into())));
        self.cache.complete(self.key, &result);
        self.flight.land(result);
    }
}

impl<K: Hash + Eq, V: CacheWeight> Single<K, V> {
    pub(crate) fn new(capacity: usize, bytes: usize) -> Single<K, V> {
        let (entries, flights) = (Lru::new(capacity, bytes), HashMap::new());
        Single { state: Mutex::new(State { entries, flights, hits: 0, misses: 0, evictions: 0 }) }
    }

    pub(super) fn lock(&self) -> Locked<'_, State<K, V>> {
        fork::lock(&self.state)
    }

    /// The value of `key`, made by `make` unless it is there; true when it was.
    pub(crate) fn get(&self, key: &Arc<K>, make: impl FnOnce() -> Result<V, Error>) -> Result<(Arc<V>, bool), Error> {
        // Nobody forks while a value is made: a child would wait for its maker.
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
            let flight = Arc::new(Flight::new());
            state.flights.insert(key.clone(), flight.clone());
            flight
        };
        let mut maker = Maker { cache: self, key, flight, made: None };
        let made = make().map(Arc::new);
        maker.made = Some(made.clone());
        drop(maker);
        Ok((made?, false))
    }

    /// Ends a flight: the value becomes an entry.
    fn complete(&self, key: &Arc<K>, result: &Result<Arc<V>, Error>) {
        let mut state = self.lock();
        state.flights.remove(key);
        if let Ok(value) = result
            && let Some(weight) = value.weight()
        {
            let evicted = state.entries.insert(key.clone(), value.clone(), weight);
            state.evictions += evicted.len() as u64;
            drop(state);
            drop(evicted);
        }
    }

    pub(crate) fn limit(&self, limits: impl FnOnce(usize, usize) -> (usize, usize)) {
        let mut state = self.lock();
        let (capacity, budget) = limits(state.entries.capacity(), state.entries.budget());
        let evicted = state.entries.limit(capacity, budget);
        state.evictions += evicted.len() as u64;
        drop(state);
        drop(evicted);
    }

    pub(crate) fn stats(&self) -> CacheStats {
        let state = self.lock();
        let State { entries, hits, misses, evictions, .. } = &*state;
        CacheStats { hits: *hits, misses: *misses, evictions: *evictions, entries: entries.len(), bytes: entries.weight() }
    }
}
