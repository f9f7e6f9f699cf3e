//! The cache of constant tensors: values that a compiled partition computes from constant inputs alone (weights in a kernel's own layout,
//! scales in another type) are computed once, as long as all of them together stay within a capacity. The default capacity is 0.

use crate::Error;
use crate::program::{Program, bytes};
use oxidnn_runtime::fork::{self, Locked};
use oxidnn_runtime::{DeviceId, Engine, EngineKind, Memory, knobs};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, Weak};

/// Capacity and use in bytes, of the CPU's tensors and of a GPU's.
struct Account {
    capacity: [usize; 2],
    used: [usize; 2],
    /// Grows when the capacity is set, which drops everything kept before.
    generation: [u64; 2],
}

static ACCOUNT: LazyLock<Mutex<Account>> =
    LazyLock::new(|| Mutex::new(Account { capacity: knobs::get().constant_tensor_cache_capacity, used: [0; 2], generation: [0; 2] }));

fn account() -> Locked<'static, Account> {
    let _inside = fork::enter();
    fork::lock(&ACCOUNT)
}

/// Bytes of constant tensors that are kept at most, on engines of a kind.
pub fn constant_capacity(kind: EngineKind) -> usize {
    account().capacity[kind as usize]
}

/// Changes [`constant_capacity`], and drops everything kept.
pub fn set_constant_capacity(kind: EngineKind, bytes: usize) {
    let mut account = account();
    let kind = kind as usize;
    account.capacity[kind] = bytes;
    account.used[kind] = 0;
    account.generation[kind] += 1;
}

/// Room in the account; given back when dropped.
#[derive(Debug)]
struct Room {
    kind: usize,
    bytes: usize,
    generation: u64,
}

impl Room {
    /// Room for `bytes`, if there is.
    fn take(kind: EngineKind, bytes: usize) -> Option<Room> {
        let mut account = account();
        let kind = kind as usize;
        let used = account.used[kind].checked_add(bytes).filter(|&u| u <= account.capacity[kind])?;
        account.used[kind] = used;
        Some(Room { kind, bytes, generation: account.generation[kind] })
    }

    fn is_current(&self) -> bool {
        account().generation[self.kind] == self.generation
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut account = account();
        if account.generation[self.kind] == self.generation {
            account.used[self.kind] -= self.bytes;
        }
    }
}

/// The constants of one compiled partition, shared with compilations of the same partition for other sizes that prepare the same ones.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Option<(Room, Arc<Memory<'static>>)>>);

/// The constants kept so far, by partition and by preparation.
type Known = HashMap<(DeviceId, usize, String), Weak<Kept>>;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(|| Mutex::new(Known::new()));

/// The place for the constants of `program`, of the partition with this number.
pub(crate) fn shared(engine: &Engine, partition: usize, program: &Program) -> Arc<Kept> {
    let fresh = Arc::new(Kept::default());
    let Some(prepared) = program.prepared() else { return fresh };
    let _inside = fork::enter();
    let mut known = fork::lock(&KNOWN);
    known.retain(|_, kept| kept.strong_count() > 0);
    let slot = known.entry((engine.id(), partition, prepared)).or_default();
    if let Some(kept) = slot.upgrade() {
        return kept;
    }
    *slot = Arc::downgrade(&fresh);
    fresh
}

impl Kept {
    /// The kept constants, computed by `fill` if they are not there yet; `None` if there are none or no room for them.
    pub(crate) fn get(
        &self,
        engine: &Engine,
        program: &Program,
        fill: impl FnOnce(&Memory<'static>) -> Result<(), Error>,
    ) -> Result<Option<Arc<Memory<'static>>>, Error> {
        let size = program.kept_bytes();
        if size == 0 {
            return Ok(None);
        }
        let mut slot = fork::lock(&self.0);
        if let Some((room, memory)) = &*slot {
            if room.is_current() {
                return Ok(Some(memory.clone()));
            }
            *slot = None;
        }
        let Some(room) = Room::take(engine.kind(), size) else { return Ok(None) };
        let memory = Memory::new(engine, bytes(size)?)?;
        fill(&memory)?;
        let memory = Arc::new(memory.lasting()?);
        *slot = Some((room, memory.clone()));
        Ok(Some(memory))
    }
}
