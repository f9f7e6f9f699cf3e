//! `Device`: what an engine must bring. Everything above it (descriptors, primitives, caches, streams) is the same for all engines.
//!
//! A device knows how to allocate and copy, which implementation rows an operation has, and how to plan a problem with them.
//! Most of it has a default that serves a device whose memory is the host's; a CPU writes `kind`, `name`, `rows` and `plan`.

use crate::memory::Allocation;
use crate::plan::Planned;
use crate::{Buf, Ctx, Exec, Impl, Skip};
use oxidnn_spec::{Error, Problem};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

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

/// Every row that was asked, and why it declined.
pub type Refused = Vec<(&'static str, Skip)>;

/// One kind of hardware: memory, queues of work, and the rows that implement operations on it.
pub trait Device: Send + Sync + 'static {
    /// Which kind of engine it is.
    fn kind(&self) -> EngineKind;

    /// The hardware's name as verbose lines give it: the instruction set of a CPU, the model of a GPU.
    fn name(&self) -> String;

    /// Names of the rows that implement the problem's operation, best first.
    fn rows(&self, problem: &Problem) -> Vec<&'static str>;

    /// The first row from index `from_row` on that takes the problem; usually one line with [`plan_rows`].
    ///
    /// # Errors
    /// The reasons of all rows from `from_row` on, when none takes it.
    fn plan(&self, problem: &Problem, from_row: usize) -> Result<Planned, Refused>;

    /// Lines for the head of verbose output: comma-separated fields such as `cpu,isa:avx512_core`.
    fn verbose_info(&self) -> Vec<String> {
        vec![format!("{},isa:{}", self.kind(), self.name())]
    }

    /// True when the host reads and writes the device's memory at the same addresses.
    fn host_visible(&self) -> bool {
        true
    }

    /// `bytes` of zeroed device memory, at least 64-byte aligned.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn allocate(&self, bytes: usize) -> Result<Allocation, Error> {
        Allocation::host(bytes)
    }

    /// Copies the device's bytes at `from` to the host's `to` (as long as `from`), after all work on it is done.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    fn read(&self, from: Buf, to: &mut [u8]) -> Result<(), Error> {
        from.read(0, to);
        Ok(())
    }

    /// Copies the host's bytes to the device's at `to`.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    fn write(&self, from: &[u8], to: Buf) -> Result<(), Error> {
        to.write(0, from);
        Ok(())
    }

    /// A new queue of work, for a stream.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    fn queue(&self) -> Result<Box<dyn Queue>, Error> {
        Ok(Box::new(Immediate))
    }
}

/// Where a stream's executions go, in order.
pub trait Queue: Send + Sync {
    /// Runs `exec`, or puts it behind what was submitted before.
    ///
    /// # Errors
    /// What the execution or the submission reports.
    fn submit(&self, exec: &Arc<dyn Exec>, ctx: &Ctx<'_>) -> Result<(), Error>;

    /// Returns when everything submitted is done.
    ///
    /// # Errors
    /// The first failure since the last wait.
    fn wait(&self) -> Result<(), Error>;

    /// True when [`Queue::submit`] returns only after the work is done.
    fn is_synchronous(&self) -> bool {
        true
    }

    /// Keeps `held` (memory, scratch and code of the execution submitted last) until that execution is done. Until the queue lets go of it,
    /// the memory counts as in use.
    /// Called only where [`Queue::is_synchronous`] is false.
    fn retain(&self, held: Box<dyn Any + Send>) {
        drop(held);
    }
}

/// The queue of a device that computes on the calling thread (and its executor): done when submitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Immediate;

impl Queue for Immediate {
    fn submit(&self, exec: &Arc<dyn Exec>, ctx: &Ctx<'_>) -> Result<(), Error> {
        exec.run(ctx)
    }
    fn wait(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The first of `rows`, from index `from_row` on, that takes the problem: the body of [`Device::plan`] for a device whose operations
/// have tables of rows.
///
/// # Errors
/// The reason of every row asked, when none takes it.
pub fn plan_rows<T>(rows: &[Impl<T>], problem: &Problem, target: &T, from_row: usize) -> Result<Planned, Refused> {
    let mut skipped = Vec::new();
    for (row, imp) in rows.iter().enumerate().skip(from_row) {
        match (imp.plan)(problem, target) {
            Ok(plan) => return Ok(Planned { row, name: imp.name, plan, skipped }),
            Err(why) => skipped.push((imp.name, why)),
        }
    }
    Err(skipped)
}
