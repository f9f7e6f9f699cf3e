//! The queue of a host device that computes on the calling thread and its executor: done when submitted.

use super::{Mark, Queue, ScratchSource, Submission, Ticket, Work};
use crate::{Ctx, Executor, Region, Threads, scratch};
use oxidnn_spec::Error;
use std::any::Any;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Runs work where it is submitted.
#[derive(Clone, Debug, Default)]
pub struct Immediate {
    threads: Threads,
}

impl Immediate {
    /// A queue whose executions use `threads`.
    pub fn new(threads: Threads) -> Immediate {
        Immediate { threads }
    }

    /// A queue that runs everything on the calling thread, for work within parallel parts of an execution.
    pub fn inline() -> &'static Immediate {
        static INLINE: Immediate = Immediate { threads: Threads::inline() };
        &INLINE
    }
}

fn host<'a>(region: &Region<'a>) -> Result<crate::Buf<'a>, Error> {
    region.bytes().ok_or_else(|| Error::invalid("memory", "a device's memory", "memory of the host, on a queue of the host"))
}

impl Queue for Immediate {
    #[inline]
    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Ticket, Error> {
        match submission.work {
            Work::Run { exec, args, scratch } => {
                let lease;
                let scratch = match scratch {
                    ScratchSource::Lease(0) => Region::empty(),
                    ScratchSource::Lease(bytes) => {
                        lease = scratch::arena().lease(bytes)?;
                        Region::host(lease.buf())
                    }
                    ScratchSource::Given(region) => Region::host(host(&region)?),
                };
                exec.run(&Ctx { args, scratch, queue: self })?;
            }
            Work::Copy { from, to } => host(&to)?.copy::<u8>(0, &host(&from)?, 0, from.len()),
            Work::Fill { to, byte } => host(&to)?.fill(byte),
        }
        Ok(Ticket::default())
    }

    fn is_done(&self, _: Ticket) -> Result<bool, Error> {
        Ok(true)
    }

    fn wait_until(&self, _: Ticket) -> Result<(), Error> {
        Ok(())
    }

    fn wait(&self) -> Result<(), Error> {
        Ok(())
    }

    fn mark(&self) -> Result<Arc<dyn Mark>, Error> {
        let mark = HostMark::new(Ticket::default());
        mark.reach();
        Ok(Arc::new(mark))
    }

    fn is_synchronous(&self) -> bool {
        true
    }

    #[inline]
    fn executor(&self) -> &dyn Executor {
        self.threads.executor()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A point in a queue of the host.
#[derive(Debug)]
pub(super) struct HostMark {
    ticket: Ticket,
    reached: OnceLock<Instant>,
}

impl HostMark {
    pub(super) fn new(ticket: Ticket) -> HostMark {
        HostMark { ticket, reached: OnceLock::new() }
    }

    pub(super) fn reach(&self) {
        let _ = self.reached.set(Instant::now());
    }
}

impl Mark for HostMark {
    fn ticket(&self) -> Ticket {
        self.ticket
    }

    fn since(&self, earlier: &dyn Mark) -> Result<Duration, Error> {
        let earlier = earlier.as_any().downcast_ref::<HostMark>();
        let earlier = earlier.ok_or_else(|| Error::invalid("event", "an event of another kind of device", "one of the same device"))?;
        match (self.reached.get(), earlier.reached.get()) {
            (Some(end), Some(begin)) => Ok(end.saturating_duration_since(*begin)),
            _ => Err(Error::invalid("event", "one that is not reached", "events that were waited for")),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
