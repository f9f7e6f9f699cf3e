//! The users of a region of memory: present ones, and work on asynchronous queues.
//!
//! Executions take memories by shared reference, so the compiler cannot tell a reader from a writer. A synchronous execution, a mapping, or
//! the act of submitting borrows the memory for several readers or one writer; a conflict with another thread's borrow is a race, and
//! refused. Work that is submitted and not done is no conflict: the region remembers its last writer and its readers since then by queue
//! and ticket, and the next use begins after them.

use super::Storage;
use crate::fork::{self, Locked};
use crate::queue::{Queue, Ticket};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use oxidnn_spec::Error;
use std::fmt;
use std::sync::Arc;

/// Users of one region of memory, shared by all memory objects over it.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    borrowed: AtomicU32,
    /// Whether any submitted work may not be done.
    is_pending: AtomicBool,
    pending: Mutex<Pending>,
}

const WRITER: u32 = u32::MAX;

/// The kind of a use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Submitted work that reads or writes the region.
#[derive(Clone)]
pub(crate) struct Submitted {
    queue: Arc<dyn Queue>,
    ticket: Ticket,
}

#[derive(Debug, Default)]
struct Pending {
    writer: Option<Submitted>,
    /// Those after the writer, the last of each queue.
    readers: Vec<Submitted>,
}

impl Uses {
    /// Borrows it for `access`; false when somebody works on it in a way that conflicts.
    #[inline]
    pub(crate) fn try_take(&self, access: Access) -> bool {
        match access {
            Access::Write => self.borrowed.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok(),
            Access::Read => {
                let more = |n| if n >= WRITER - 1 { None } else { Some(n + 1) };
                self.borrowed.try_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
            }
        }
    }

    /// Whether work was submitted that may not be done.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        self.is_pending.load(Ordering::Acquire)
    }

    /// Ends the borrow that [`Uses::try_take`] took.
    #[inline]
    pub(crate) fn release(&self, access: Access) {
        match access {
            Access::Write => self.borrowed.store(0, Ordering::Release),
            Access::Read => _ = self.borrowed.fetch_sub(1, Ordering::Release),
        }
    }

    /// Its purpose, in words.
    pub(crate) fn state(&self) -> &'static str {
        match self.borrowed.load(Ordering::Relaxed) {
            0 => "not in use",
            WRITER => "memory that is being written",
            _ => "memory that is being read",
        }
    }

    /// Nobody forks meanwhile: a child that uses the memory would wait for ever.
    fn lock(&self) -> Locked<'_, Pending> {
        fork::lock(&self.pending)
    }

    /// Submitted work that `access` comes after.
    fn before(&self, access: Access) -> Vec<Submitted> {
        let mut pending = self.lock();
        let done = pending.take_done();
        self.is_pending.store(pending.writer.is_some() || !pending.readers.is_empty(), Ordering::Relaxed);
        let readers = if access == Access::Write { &pending.readers[..] } else { &[] };
        let before = pending.writer.iter().chain(readers).cloned().collect();
        drop(pending);
        // Outside of the lock: this may be the last owner of a queue, whose thread is then waited for.
        drop(done);
        before
    }

    /// Waits on the host until `access` may begin.
    ///
    /// # Errors
    /// A failure of the work that was waited for, which its stream has not shown yet.
    #[inline]
    pub(crate) fn settle(&self, access: Access) -> Result<(), Error> {
        if !self.is_pending.load(Ordering::Acquire) {
            return Ok(());
        }
        self.before(access).iter().try_for_each(|p| p.queue.wait_until(p.ticket))
    }

    /// Orders the next submission to `queue` after the work that `access` must wait for.
    ///
    /// # Errors
    /// [`Error::Runtime`] when a device fails.
    pub(crate) fn order(&self, access: Access, queue: &Arc<dyn Queue>) -> Result<(), Error> {
        let elsewhere = |p: &&Submitted| !Arc::ptr_eq(&p.queue, queue);
        // A queue's own work is in order, and is not asked how far it is: on a GPU that would be calls of the driver.
        if !self.is_pending.load(Ordering::Acquire) || !self.lock().all().any(|p| elsewhere(&p)) {
            return Ok(());
        }
        self.before(access).iter().filter(elsewhere).try_for_each(|p| queue.wait_for(&p.queue, p.ticket))
    }

    /// Remembers work that was submitted.
    pub(crate) fn submitted(&self, access: Access, queue: &Arc<dyn Queue>, ticket: Ticket) {
        let mut pending = self.lock();
        if access == Access::Write {
            pending.readers.clear();
        }
        let known = match access {
            Access::Write => pending.writer.as_mut(),
            Access::Read => pending.readers.iter_mut().find(|p| Arc::ptr_eq(&p.queue, queue)),
        };
        match known.filter(|p| Arc::ptr_eq(&p.queue, queue)) {
            Some(known) => known.ticket = ticket,
            None if access == Access::Write => pending.writer = Some(Submitted { queue: queue.clone(), ticket }),
            None => pending.readers.push(Submitted { queue: queue.clone(), ticket }),
        }
        self.is_pending.store(true, Ordering::Release);
    }
}

impl Pending {
    fn all(&self) -> impl Iterator<Item = &Submitted> {
        self.writer.iter().chain(&self.readers)
    }

    /// Forgets work that is done and has not failed.
    fn take_done(&mut self) -> Vec<Submitted> {
        let is_done = |p: &mut Submitted| matches!(p.queue.is_done(p.ticket), Ok(true)) && p.queue.wait_until(p.ticket).is_ok();
        let mut done: Vec<Submitted> = self.readers.extract_if(.., is_done).collect();
        done.extend(self.writer.take_if(is_done));
        done
    }
}

impl fmt::Debug for Submitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ticket.fmt(f)
    }
}

/// A borrow that is given back when dropped; keeps the memory alive meanwhile.
#[derive(Debug)]
pub(crate) struct Guard {
    storage: Arc<Storage>,
    access: Option<Access>,
}

impl Guard {
    /// Takes the storage for `access` (`None`: keeps it alive only); `None` on conflict.
    pub(crate) fn take(storage: &Arc<Storage>, access: Option<Access>) -> Option<Guard> {
        access.is_none_or(|a| storage.uses.try_take(a)).then(|| Guard { storage: storage.clone(), access })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(a) = self.access {
            self.storage.uses.release(a);
        }
    }
}
