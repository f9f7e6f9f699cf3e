//! Queues: where the work of a stream goes, in order.
//!
//! A submission is an execution, a copy or a fill. It gets a [`Ticket`], and work submitted later to the same queue begins after it. Other
//! queues and the host wait by queue and ticket ([`Queue::wait_for`], [`Queue::wait_until`]). The queue's next [`Queue::wait`] reports a
//! failure of submitted work; the resources of failed work are released, too.

mod asynchronous;
mod backlog;
mod immediate;

pub use asynchronous::Asynchronous;
pub use immediate::Immediate;

use crate::{Bound, Exec, Executor, Inline, Region};
use oxidnn_spec::Error;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The place of a submission in its queue; later submissions have larger ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Ticket(pub u64);

/// Where an execution's scratch comes from.
#[derive(Clone, Copy, Debug)]
pub enum ScratchSource<'a> {
    /// The queue's device: at least this many bytes, for the time that the work runs.
    Lease(usize),
    /// The caller.
    Given(Region<'a>),
}

/// The work.
#[derive(Clone, Copy)]
pub enum Work<'a> {
    /// An execution.
    Run {
        /// The code.
        exec: &'a Arc<dyn Exec>,
        /// Its arguments, checked.
        args: &'a [Bound<'a>],
        /// Its scratch.
        scratch: ScratchSource<'a>,
    },
    /// Bytes from one region to another of the same length. One of them is the device's, or both are; they do not overlap.
    Copy {
        /// The source.
        from: Region<'a>,
        /// The destination.
        to: Region<'a>,
    },
    /// The same byte everywhere in a region.
    Fill {
        /// The destination.
        to: Region<'a>,
        /// The value of each byte.
        byte: u8,
    },
}

/// Work, and the resources that must live until it is done.
pub struct Submission<'a> {
    /// The work.
    pub work: Work<'a>,
    /// Memory, code and whatever else the work uses; a queue that is done when it returns needs none.
    pub held: Option<Box<dyn Any + Send>>,
}

impl<'a> From<Work<'a>> for Submission<'a> {
    fn from(work: Work<'a>) -> Submission<'a> {
        Submission { work, held: None }
    }
}

impl fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.work {
            Work::Run { args, scratch, .. } => f.debug_struct("Run").field("args", args).field("scratch", scratch).finish_non_exhaustive(),
            Work::Copy { from, to } => f.debug_struct("Copy").field("from", from).field("to", to).finish(),
            Work::Fill { to, byte } => f.debug_struct("Fill").field("to", to).field("byte", byte).finish(),
        }
    }
}

/// An in-order queue of work on a device.
pub trait Queue: Send + Sync + 'static {
    /// Appends work. A queue that runs the work after the call takes over the resources.
    ///
    /// # Errors
    /// The submission's error; for a synchronous queue also the work's.
    ///
    /// # Safety
    /// Until the work is done its memory is valid and nobody else uses it in conflict: `held` owns it, or the caller waits for the ticket.
    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Ticket, Error>;

    /// Whether the work of `ticket` and all before it is done.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    fn is_done(&self, ticket: Ticket) -> Result<bool, Error>;

    /// Returns when the work of `ticket` and all before it is done.
    ///
    /// # Errors
    /// A failure of this work that no [`Queue::wait`] has shown yet; it stays to be shown there.
    fn wait_until(&self, ticket: Ticket) -> Result<(), Error>;

    /// Returns when everything submitted is done.
    ///
    /// # Errors
    /// The first failure since the last wait.
    fn wait(&self) -> Result<(), Error>;

    /// Orders later submissions after the work of `ticket` on `other`. A device that cannot wait for the other queue by itself has the
    /// host wait.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails. Failures of the other queue's work are that queue's.
    fn wait_for(&self, other: &Arc<dyn Queue>, ticket: Ticket) -> Result<(), Error> {
        let _ = other.wait_until(ticket);
        Ok(())
    }

    /// A point after all that was submitted, with the time at which the device reaches it.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails.
    fn mark(&self) -> Result<Arc<dyn Mark>, Error>;

    /// True when [`Queue::submit`] returns only after the work is done: of a queue always, or never.
    fn is_synchronous(&self) -> bool {
        false
    }

    /// Blocks while more work is waiting than a queue should hold. Called after submissions, outside of all locks.
    fn throttle(&self) {}

    /// The host's threads that executions use.
    fn executor(&self) -> &dyn Executor {
        &Inline
    }

    /// The queue itself, for the kernels of its device.
    fn as_any(&self) -> &dyn Any;
}

/// A point in a queue.
pub trait Mark: Send + Sync + 'static {
    /// Done when the point is reached.
    fn ticket(&self) -> Ticket;

    /// Time between the moments at which the device reached `earlier` and this point.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when one is not reached yet or is of another kind of device.
    fn since(&self, earlier: &dyn Mark) -> Result<Duration, Error>;

    /// The mark itself, for the device that made it.
    fn as_any(&self) -> &dyn Any;
}
