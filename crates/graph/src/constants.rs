//! The cache of constant tensors: values that a compiled partition computes from constant inputs alone (weights in a kernel's own layout,
//! scales in another type) are computed once, as long as all of them together stay within a capacity. The default capacity is 0.

use crate::Error;
use crate::program::{Program, bytes};
use oxidnn_runtime::fork::{self, Locked};
use oxidnn_runtime::{DeviceId, Engine, EngineKind, Memory, knobs};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, Weak};

/// Capacity and use in bytes, of the CPU's tensors and of a GPU's.
struct Budget {
    capacity: [usize; 2],
    used: [usize; 2],
    /// Grows when the capacity is set, which drops everything kept before.
    generation: [u64; 2],
}

static BUDGET: LazyLock<Mutex<Budget>> =
    LazyLock::new(|| Mutex::new(Budget { capacity: knobs::get().constant_tensor_cache_capacity, used: [0; 2], generation: [0; 2] }));

fn budget() -> Locked<'static, Budget> {
    let _inside = fork::enter();
    fork::lock(&BUDGET)
}

/// Bytes of constant tensors that are kept at most, on engines of a kind.
pub fn constant_capacity(kind: EngineKind) -> usize {
    budget().capacity[kind as usize]
}

/// Changes [`constant_capacity`], and drops everything kept.
pub fn set_constant_capacity(kind: EngineKind, bytes: usize) {
    let mut budget = budget();
    let kind = kind as usize;
    budget.capacity[kind] = bytes;
    budget.used[kind] = 0;
    budget.generation[kind] += 1;
}

/// Room in the account; given back when dropped.
#[derive(Debug)]
struct Reservation {
    kind: usize,
    bytes: usize,
    generation: u64,
}

impl Reservation {
    /// Room for `bytes`, if there is.
    fn take(kind: EngineKind, bytes: usize) -> Option<Reservation> {
        let mut budget = budget();
        let kind = kind as usize;
        let used = budget.used[kind].checked_add(bytes).filter(|&u| u <= budget.capacity[kind])?;
        budget.used[kind] = used;
        Some(Reservation { kind, bytes, generation: budget.generation[kind] })
    }

    fn is_current(&self) -> bool {
        budget().generation[self.kind] == self.generation
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut budget = budget();
        if budget.generation[self.kind] == self.generation {
            budget.used[self.kind] -= self.bytes;
        }
    }
}

/// The constants of one compiled partition, shared with compilations of the same partition for other sizes that prepare the same ones.
#[derive(Debug, Default)]
pub(crate) struct ConstantCache(Mutex<Option<(Reservation, Arc<Memory<'static>>)>>);

/// The caches of live partitions, by partition and by preparation.
type Caches = HashMap<(DeviceId, usize, String), Weak<ConstantCache>>;

static CACHES: LazyLock<Mutex<Caches>> = LazyLock::new(|| Mutex::new(Caches::new()));

/// The cache for the constants of `program`, of the partition with this number.
pub(crate) fn shared(engine: &Engine, partition: usize, program: &Program) -> Arc<ConstantCache> {
    let fresh = Arc::new(ConstantCache::default());
    let Some(prepared) = program.prepared() else { return fresh };
    let _inside = fork::enter();
    let mut caches = fork::lock(&CACHES);
    caches.retain(|_, cached| cached.strong_count() > 0);
    let slot = caches.entry((engine.id(), partition, prepared)).or_default();
    if let Some(cached) = slot.upgrade() {
        return cached;
    }
    *slot = Arc::downgrade(&fresh);
    fresh
}

impl ConstantCache {
    /// The cached constants, computed by `fill` if they are not there yet; `None` if there are none or the budget is used up.
    pub(crate) fn get(
        &self,
        engine: &Engine,
        program: &Program,
        fill: impl FnOnce(&Memory<'static>) -> Result<(), Error>,
    ) -> Result<Option<Arc<Memory<'static>>>, Error> {
        let size = program.constant_bytes();
        if size == 0 {
            return Ok(None);
        }
        let mut slot = fork::lock(&self.0);
        if let Some((reservation, memory)) = &*slot {
            if reservation.is_current() {
                return Ok(Some(memory.clone()));
            }
            *slot = None;
        }
        let Some(reservation) = Reservation::take(engine.kind(), size) else { return Ok(None) };
        let memory = Memory::new(engine, bytes(size)?)?;
        fill(&memory)?;
        let memory = Arc::new(memory.lasting()?);
        *slot = Some((reservation, memory.clone()));
        Ok(Some(memory))
    }
}
