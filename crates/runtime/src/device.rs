//! `Device`: the interface that an engine implements. Everything above it (descriptors, primitives, caches, streams) is the same for all
//! engines.
//!
//! A device says which hardware it is, allocates its memory, makes queues of work, and plans problems with its rows. Where its memory is
//! the host's, `kind`, `name`, `fingerprint` and `plan` are enough.

use crate::memory::Allocation;
use crate::plan::Planned;
use crate::queue::{Asynchronous, Immediate, Queue};
use crate::{Impl, Skip, Threads, fork, knobs};
use oxidnn_spec::{Error, Problem};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// Kinds of engines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum EngineKind {
    /// The processor.
    Cpu,
    /// A graphics processor.
    Gpu,
}

impl EngineKind {
    /// The name in verbose lines, `cpu` or `gpu`.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Cpu => "cpu",
            EngineKind::Gpu => "gpu",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which device: equal for engines over the same hardware with the same facts, which share code, caches and memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DeviceId(u32);

impl DeviceId {
    /// The identity of the device that `fingerprint` tells from every other one of this process.
    pub fn of(fingerprint: &str) -> DeviceId {
        static KNOWN: OnceLock<Mutex<HashMap<String, u32>>> = OnceLock::new();
        let mut known = fork::lock(fork::once(&KNOWN, Mutex::default));
        let next = known.len() as u32 + 1;
        DeviceId(*known.entry(fingerprint.to_owned()).or_insert(next))
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Facts about a device, by which callers choose one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Properties {
    /// Index among the devices of its kind.
    pub ordinal: usize,
    /// True when the host reads and writes the device's memory at the same addresses.
    pub host_visible: bool,
    /// Bytes of memory of its own; `None` where it is the host's.
    pub memory_bytes: Option<u64>,
    /// Cores or multiprocessors.
    pub units: usize,
}

/// The properties of a stream's queue.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// Where a host device takes threads from.
    pub threads: Threads,
    /// Whether submissions may return before the work is done. Devices whose queues always do, ignore it.
    pub asynchronous: bool,
}

impl Default for QueueSpec {
    /// The process-wide pool, synchronous unless the knob `ASYNCHRONOUS_STREAMS` says otherwise.
    fn default() -> QueueSpec {
        QueueSpec { threads: Threads::default(), asynchronous: knobs::asynchronous_streams() }
    }
}

/// Every row that was asked, and why it declined.
pub type Refused = Vec<(&'static str, Skip)>;

/// One kind of hardware: memory, queues of work, and the rows that implement operations on it.
pub trait Device: Send + Sync + 'static {
    /// Which kind of engine it is.
    fn kind(&self) -> EngineKind;

    /// The hardware's name as verbose lines give it: the instruction set of a CPU, the model of a GPU.
    fn name(&self) -> String;

    /// Everything that code, plans and memory of this device depend on, in words that are the same for equal devices only.
    fn fingerprint(&self) -> String;

    /// The first row from index `from_row` on that takes the problem; usually one line with [`plan_rows`].
    ///
    /// # Errors
    /// The reasons of all rows from `from_row` on, when none takes it.
    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused>;

    /// Whether plans made now lack rows for want of room for code, so that it is worth while to plan anew later.
    fn is_short_of_code(&self) -> bool {
        false
    }

    /// Lines for the head of verbose output: comma-separated fields such as `cpu,isa:avx512_core`.
    fn verbose_info(&self) -> Vec<String> {
        vec![format!("{},isa:{}", self.kind(), self.name())]
    }

    /// What it is.
    fn properties(&self) -> Properties {
        Properties { ordinal: 0, host_visible: true, memory_bytes: None, units: 1 }
    }

    /// `bytes` of zeroed device memory, at least 64-byte aligned.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn allocate(&self, bytes: usize) -> Result<Allocation, Error> {
        Allocation::host(bytes)
    }

    /// A new queue of work, for a stream.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    fn queue(&self, spec: &QueueSpec) -> Result<Arc<dyn Queue>, Error> {
        Ok(match spec.asynchronous {
            true => Arc::new(Asynchronous::new(spec.threads.clone())?),
            false => Arc::new(Immediate::new(spec.threads.clone())),
        })
    }
}

/// The first of `rows`, from index `from_row` on, that takes the problem: the body of [`Device::plan`] for a device whose operations
/// have tables of rows. Of neighbours that are ordered by time ([`Impl::by_time`]) those that decline come first, then the others by what
/// they predict.
///
/// # Errors
/// The reason of every row asked, when none takes it.
pub fn plan_rows<T>(rows: &[Impl<T>], problem: &Problem, target: &T, from_row: usize) -> Result<Planned, Refused> {
    let (mut skipped, mut first) = (Vec::new(), 0);
    for neighbours in rows.chunk_by(|a, b| a.by_time && b.by_time) {
        let past = from_row.saturating_sub(first).min(neighbours.len());
        first += neighbours.len();
        if past == neighbours.len() {
            continue;
        }
        let (mut taken, mut declined) = (Vec::with_capacity(neighbours.len()), Refused::new());
        for imp in neighbours {
            match (imp.plan)(problem, target) {
                Ok(plan) => taken.push((imp.name, plan)),
                Err(why) => declined.push((imp.name, why)),
            }
        }
        let faster = past.saturating_sub(declined.len());
        skipped.extend(declined.into_iter().skip(past));
        if neighbours.len() > 1 {
            taken.sort_by_cached_key(|(_, plan)| plan.seconds().map_or(u64::MAX, f64::to_bits));
        }
        let row = first - taken.len() + faster;
        if let Some((name, plan)) = taken.into_iter().nth(faster) {
            return Ok(Planned { row, name, plan, skipped });
        }
    }
    Err(skipped)
}
