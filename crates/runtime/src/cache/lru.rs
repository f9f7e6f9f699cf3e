//! A map that drops the least recently used entries: a hash table into a slab of nodes, which form a list in the order of use.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

const NONE: usize = usize::MAX;

struct Node<K, V> {
    key: K,
    value: V,
    weight: usize,
    newer: usize,
    older: usize,
}

/// Entries, at most `capacity` of them, of together at most `budget` weight.
pub struct Lru<K, V> {
    index: HashMap<K, usize>,
    nodes: Vec<Option<Node<K, V>>>,
    free: Vec<usize>,
    newest: usize,
    oldest: usize,
    weight: usize,
    capacity: usize,
    budget: usize,
}

impl<K, V> fmt::Debug for Lru<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lru({} of {} entries)", self.index.len(), self.capacity)
    }
}

impl<K: Hash + Eq + Clone, V> Lru<K, V> {
    /// A map without entries.
    pub fn new(capacity: usize, budget: usize) -> Lru<K, V> {
        let (index, nodes, free) = (HashMap::new(), Vec::new(), Vec::new());
        Lru { index, nodes, free, newest: NONE, oldest: NONE, weight: 0, capacity, budget }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.index.len()
    }
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
    /// Weight of all entries.
    pub fn weight(&self) -> usize {
        self.weight
    }
    /// The largest number of entries.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
    /// The largest weight of all entries.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// The value of `key`, which becomes the newest.
    pub fn get(&mut self, key: &K) -> Option<&V> {
        let i = *self.index.get(key)?;
        if self.newest != i {
            self.unlink(i);
            self.link(i);
        }
        self.nodes[i].as_ref().map(|n| &n.value)
    }

    /// Adds an entry that is not there yet; returns the entries dropped for it: the oldest ones, or the entry itself if it alone exceeds
    /// the limits.
    pub fn insert(&mut self, key: K, value: V, weight: usize) -> Vec<V> {
        if self.capacity == 0 || weight > self.budget {
            return vec![value];
        }
        let node = Some(Node { key: key.clone(), value, weight, newer: NONE, older: NONE });
        let i = match self.free.pop() {
            Some(i) => {
                self.nodes[i] = node;
                i
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.link(i);
        self.weight += weight;
        self.index.insert(key, i);
        self.shrink()
    }

    /// Forgets the entry of `key`.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let i = self.index.remove(key)?;
        self.unlink(i);
        let node = self.nodes[i].take()?;
        self.free.push(i);
        self.weight -= node.weight;
        Some(node.value)
    }

    /// Changes the limits; returns the entries that no longer fit.
    pub fn limit(&mut self, capacity: usize, budget: usize) -> Vec<V> {
        (self.capacity, self.budget) = (capacity, budget);
        self.shrink()
    }

    /// Changes the number of entries without forgetting any now.
    pub(super) fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    fn shrink(&mut self) -> Vec<V> {
        let mut evicted = Vec::new();
        while self.len() > self.capacity || self.weight > self.budget {
            let Some(key) = self.node(self.oldest).map(|node| node.key.clone()) else { break };
            evicted.extend(self.remove(&key));
        }
        evicted
    }

    fn node(&mut self, i: usize) -> Option<&mut Node<K, V>> {
        self.nodes.get_mut(i)?.as_mut()
    }

    fn unlink(&mut self, i: usize) {
        let Some((newer, older)) = self.node(i).map(|n| (n.newer, n.older)) else { return };
        match self.node(newer) {
            Some(n) => n.older = older,
            None => self.newest = older,
        }
        match self.node(older) {
            Some(n) => n.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link(&mut self, i: usize) {
        let older = std::mem::replace(&mut self.newest, i);
        if let Some(n) = self.node(i) {
            (n.newer, n.older) = (NONE, older);
        }
        match self.node(older) {
            Some(n) => n.newer = i,
            None => self.oldest = i,
        }
    }
}
