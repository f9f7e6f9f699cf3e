//! Who uses a memory right now: any number of readers, or one writer.
//!
//! Executions take memories by shared reference, so the compiler cannot tell a reader from a writer. This state does at run time: an
//! execution (or a mapping) that conflicts with one under way is refused with an error instead of racing with it.

use super::Storage;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Readers and writers of one region of memory, shared by all memory objects over it.
#[derive(Debug, Default)]
pub(crate) struct Borrow(AtomicU32);

const WRITER: u32 = u32::MAX;

/// What a borrow allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

impl Borrow {
    /// Takes it for `access`; false when somebody uses it in a way that conflicts.
    #[inline]
    pub(crate) fn try_take(&self, access: Access) -> bool {
        match access {
            Access::Write => self.0.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok(),
            Access::Read => {
                self.0.try_update(Ordering::Acquire, Ordering::Relaxed, |n| if n >= WRITER - 1 { None } else { Some(n + 1) }).is_ok()
            }
        }
    }

    /// Gives back what [`Borrow::try_take`] took.
    #[inline]
    pub(crate) fn release(&self, access: Access) {
        match access {
            Access::Write => self.0.store(0, Ordering::Release),
            Access::Read => _ = self.0.fetch_sub(1, Ordering::Release),
        }
    }

    /// What it is used for, in words.
    pub(crate) fn state(&self) -> &'static str {
        match self.0.load(Ordering::Relaxed) {
            0 => "not in use",
            WRITER => "memory that is being written",
            _ => "memory that is being read",
        }
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
        access.is_none_or(|a| storage.borrow.try_take(a)).then(|| Guard::adopt(storage, access))
    }

    /// Takes over what [`Borrow::try_take`] took already.
    pub(crate) fn adopt(storage: &Arc<Storage>, access: Option<Access>) -> Guard {
        Guard { storage: storage.clone(), access }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(a) = self.access {
            self.storage.borrow.release(a);
        }
    }
}
