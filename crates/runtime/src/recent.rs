//! Recent answers by request, so that repeated requests are answered at once.
//!
//! Two generations: an answer that is asked for again moves to the young one; when that is full, the old one is dropped. The capacity is
//! that of the primitive cache; with capacity 0 nothing is kept.

use crate::{cache, fork};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

/// A table of answers. The request holds everything that the answer depends on, devices included.
pub struct Recent<K, V> {
    generations: Mutex<Option<Generations<K, V>>>,
}

struct Generations<K, V> {
    young: HashMap<K, Arc<V>>,
    old: HashMap<K, Arc<V>>,
}

impl<K: Hash + Eq, V> Generations<K, V> {
    fn get(&mut self, request: &K, capacity: usize) -> Option<Arc<V>> {
        if let Some(answer) = self.young.get(request) {
            return Some(answer.clone());
        }
        let (request, answer) = self.old.remove_entry(request)?;
        self.put(request, answer.clone(), capacity);
        Some(answer)
    }

    fn put(&mut self, request: K, answer: Arc<V>, capacity: usize) {
        if self.young.len() >= capacity.div_ceil(2) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(request, answer);
    }
}

impl<K: Hash + Eq + Clone, V> Recent<K, V> {
    /// A table without answers.
    pub const fn new() -> Recent<K, V> {
        Recent { generations: Mutex::new(None) }
    }

    /// The answer to `request`, made by `make` unless it is known; kept where `lasts` says so.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get<E>(&self, request: K, make: impl FnOnce(&K) -> Result<V, E>, lasts: impl FnOnce(&V) -> bool) -> Result<Arc<V>, E> {
        let capacity = cache::capacity();
        if capacity == 0 {
            let evicted = fork::lock(&self.generations).take();
            drop(evicted);
            return make(&request).map(Arc::new);
        }
        if let Some(answer) = fork::lock(&self.generations).as_mut().and_then(|g| g.get(&request, capacity)) {
            return Ok(answer);
        }
        let answer = Arc::new(make(&request)?);
        if lasts(&answer) {
            let empty = || Generations { young: HashMap::new(), old: HashMap::new() };
            fork::lock(&self.generations).get_or_insert_with(empty).put(request, answer.clone(), capacity);
        }
        Ok(answer)
    }
}

impl<K: Hash + Eq + Clone, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent::new()
    }
}

impl<K, V> fmt::Debug for Recent<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").finish_non_exhaustive()
    }
}
