//! The arena's shards of idle blocks, and leases.

use crate::Buf;
use crate::fork;
use crate::memory::Allocation;
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use oxidnn_spec::Error;
use std::cell::Cell;

const SHARDS: usize = 16;

/// A pool of blocks; the process has one ([`super::arena`]).
#[derive(Debug)]
pub struct Arena {
    shards: [Mutex<Vec<Allocation>>; SHARDS],
    budget: AtomicUsize,
    /// Bytes of all blocks; those that are not leased are idle.
    total: AtomicUsize,
    leased: AtomicUsize,
    peak: AtomicUsize,
    allocations: AtomicU64,
}

/// The contents of an arena, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScratchStats {
    /// Bytes in use by executions.
    pub leased: usize,
    /// Bytes kept for the next ones.
    pub idle: usize,
    /// The most bytes that were in use at once.
    pub peak: usize,
    /// Idle bytes that are kept at most.
    pub budget: usize,
    /// Blocks allocated so far.
    pub allocations: u64,
}

/// The shard of the calling thread.
fn own_shard() -> usize {
    static THREADS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    thread_local!(static OWN_SHARD: Cell<Option<usize>> = const { Cell::new(None) });
    OWN_SHARD.with(|h| {
        h.get().unwrap_or_else(|| {
            let n = THREADS.fetch_add(1, Ordering::Relaxed) % SHARDS;
            h.set(Some(n));
            n
        })
    })
}

/// Sizes grow in steps of an eighth, whole pages at least, so that similar requests share blocks.
fn rounded(bytes: usize) -> usize {
    let step = bytes.checked_next_power_of_two().map_or(1, |p| (p / 8).max(4096));
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

impl Arena {
    /// An arena that keeps at most `budget` idle bytes.
    pub fn new(budget: usize) -> Arena {
        Arena {
            shards: std::array::from_fn(|_| Mutex::default()),
            budget: AtomicUsize::new(budget),
            total: AtomicUsize::new(0),
            leased: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            allocations: AtomicU64::new(0),
        }
    }

    /// A block of at least `bytes`, 64-byte aligned, contents undefined; given back when the lease is dropped.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn lease(&self, bytes: usize) -> Result<Lease<'_>, Error> {
        let block = match bytes {
            0 => None,
            _ => Some(self.find(bytes).map_or_else(|| self.grow(bytes), Ok)?),
        };
        Ok(Lease { arena: self, block, len: bytes })
    }

    /// Counts a block as leased.
    fn count(&self, block: &Allocation) {
        let now = self.leased.fetch_add(block.buf().len(), Ordering::Relaxed) + block.buf().len();
        if now > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(now, Ordering::Relaxed);
        }
    }

    fn idle(&self) -> usize {
        self.total.load(Ordering::Relaxed).saturating_sub(self.leased.load(Ordering::Relaxed))
    }

    /// A shard, where it does not stay locked.
    fn shard(&self, i: usize) -> Option<MutexGuard<'_, Vec<Allocation>>> {
        fork::try_lock(&self.shards[i % SHARDS])
    }

    /// The smallest idle block that is large enough, of the thread's shard or else of another.
    fn find(&self, bytes: usize) -> Option<Allocation> {
        let own = own_shard();
        (own..own + SHARDS).find_map(|i| {
            let mut blocks = self.shard(i)?;
            let fit = |(_, b): &(usize, &Allocation)| b.buf().len() >= bytes;
            let (at, _) = blocks.iter().enumerate().rev().filter(fit).min_by_key(|(_, b)| b.buf().len())?;
            let block = blocks.swap_remove(at);
            self.count(&block);
            Some(block)
        })
    }

    fn grow(&self, bytes: usize) -> Result<Allocation, Error> {
        let outgrown = self.shard(own_shard()).and_then(|mut blocks| {
            let largest = blocks.iter().enumerate().max_by_key(|(_, b)| b.buf().len()).map(|(i, _)| i);
            largest.map(|i| blocks.swap_remove(i))
        });
        if let Some(block) = &outgrown {
            self.total.fetch_sub(block.buf().len(), Ordering::Relaxed);
        }
        drop(outgrown);
        let oom = |_| Error::OutOfMemory { bytes, what: "scratch".into() };
        let block = Allocation::host(rounded(bytes)).map_err(oom)?;
        self.allocations.fetch_add(1, Ordering::Relaxed);
        self.count(&block);
        self.total.fetch_add(block.buf().len(), Ordering::Relaxed);
        Ok(block)
    }

    fn give_back(&self, block: Allocation) {
        let (size, own) = (block.buf().len(), own_shard());
        let Some(mut blocks) = (own..own + SHARDS).find_map(|i| self.shard(i)) else {
            self.total.fetch_sub(size, Ordering::Relaxed);
            self.leased.fetch_sub(size, Ordering::Relaxed);
            return;
        };
        blocks.push(block);
        self.leased.fetch_sub(size, Ordering::Relaxed);
        drop(blocks);
        let budget = self.budget.load(Ordering::Relaxed);
        if self.idle() > budget {
            self.trim(budget);
        }
    }

    /// Frees idle blocks, the oldest of each shard first, until at most `bytes` are idle.
    pub fn trim(&self, bytes: usize) {
        let own = own_shard();
        for i in own + 1..own + 1 + SHARDS {
            while self.idle() > bytes {
                let Some(mut blocks) = self.shard(i) else { break };
                if blocks.is_empty() {
                    break;
                }
                let block = blocks.remove(0);
                self.total.fetch_sub(block.buf().len(), Ordering::Relaxed);
            }
        }
    }

    /// Keeps at most `bytes` idle from now on.
    pub fn set_budget(&self, bytes: usize) {
        self.budget.store(bytes, Ordering::Relaxed);
        self.trim(bytes);
    }

    /// Its present contents, counted.
    pub fn stats(&self) -> ScratchStats {
        ScratchStats {
            leased: self.leased.load(Ordering::Relaxed),
            idle: self.idle(),
            peak: self.peak.load(Ordering::Relaxed),
            budget: self.budget.load(Ordering::Relaxed),
            allocations: self.allocations.load(Ordering::Relaxed),
        }
    }
}

/// A block in use; none where no bytes were asked for.
#[derive(Debug)]
pub struct Lease<'a> {
    arena: &'a Arena,
    block: Option<Allocation>,
    /// The first bytes of the block, as many as requested.
    len: usize,
}

impl Lease<'_> {
    /// The bytes; valid as long as the lease.
    ///
    /// ```compile_fail,E0505
    /// let lease = oxidnn_runtime::scratch::arena().lease(64).unwrap();
    /// let buf = lease.buf();
    /// drop(lease);
    /// buf.set(0, 1.0f32); // the lease is gone, and with it the memory
    /// ```
    #[inline]
    pub fn buf(&self) -> Buf<'_> {
        self.block.as_ref().map_or(Buf::empty(), |b| b.buf().part(0, self.len))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.arena.give_back(block);
        }
    }
}
