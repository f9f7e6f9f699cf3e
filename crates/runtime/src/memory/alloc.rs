//! Allocations: zeroed, 64-byte aligned host memory, or memory that a device hands out. One of the files with unsafe code.

use crate::{Buf, Region};
use oxidnn_spec::Error;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::fmt;

/// Alignment of owned memory and scratch, in bytes.
pub const ALIGNMENT: usize = 64;

/// Owned memory; freed when dropped.
pub struct Allocation {
    /// Lent only for as long as the allocation lives.
    region: Region<'static>,
    owner: Owner,
}

enum Owner {
    Host { start: *mut u8, layout: Layout },
    Device { _memory: Box<dyn Any + Send + Sync> },
    Nobody,
}

// SAFETY: the value owns the memory, which belongs to no thread.
unsafe impl Send for Owner {}
// SAFETY: the address is used only to free the memory, with the value gone.
unsafe impl Sync for Owner {}

/// The allocator's natural alignment. For a larger one the allocator writes the zeros itself, touching every page; at this one it takes
/// pages that the system has zeroed, which cost nothing before they are used.
const NATURAL: usize = 16;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// Asks the system for huge pages if `memory` has room for one. They need a thousandth as many page-table entries. And whether accesses at
/// strides of a power of two conflict in the caches then depends on their addresses alone, not on the pages that the process happened to
/// get.
pub fn huge_pages(memory: &[u8]) {
    let first = memory.as_ptr().addr().next_multiple_of(HUGE);
    let pages = (memory.as_ptr().addr() + memory.len()).saturating_sub(first) / HUGE;
    if pages == 0 {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let start = memory.as_ptr().with_addr(first).cast_mut().cast();
        // SAFETY: the advice, about whole pages of borrowed memory, changes how these are mapped, and nothing that they hold. A system that cannot
        // follow it goes on with the pages that it has.
        let _ = unsafe { rustix::mm::madvise(start, pages * HUGE, rustix::mm::Advice::LinuxHugepage) };
    }
}

impl Allocation {
    /// `bytes` of zeroed host memory, 64-byte aligned.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn host(bytes: usize) -> Result<Allocation, Error> {
        if bytes == 0 {
            return Ok(Allocation { region: Region::empty(), owner: Owner::Nobody });
        }
        let oom = || Error::OutOfMemory { bytes, what: "memory".into() };
        let room = bytes.checked_add(ALIGNMENT - NATURAL).ok_or_else(oom)?;
        let layout = Layout::from_size_align(room, NATURAL).map_err(|_| oom())?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return Err(oom());
        }
        let skip = start.addr().next_multiple_of(ALIGNMENT) - start.addr();
        // SAFETY: the bytes were just allocated, and are zeros.
        huge_pages(unsafe { std::slice::from_raw_parts(start, room) });
        // SAFETY: the region was just allocated with room for what is skipped, and is this value's own until it is dropped; who hands it out guards its use.
        let buf = unsafe { Buf::new(start.add(skip), bytes) };
        Ok(Allocation { region: Region::host(buf), owner: Owner::Host { start, layout } })
    }

    /// Memory at `region` that dropping `memory` frees.
    ///
    /// # Safety
    /// The region must be valid and unshared until `memory` is dropped: for the host, or for the device whose it is.
    pub unsafe fn device(region: Region<'static>, memory: Box<dyn Any + Send + Sync>) -> Allocation {
        Allocation { region, owner: Owner::Device { _memory: memory } }
    }

    /// Where it is.
    pub fn region(&self) -> Region<'_> {
        self.region
    }

    /// Bytes that the host may use; none of a device's memory.
    pub(crate) fn buf(&self) -> Buf<'_> {
        self.region.bytes().unwrap_or(Buf::empty())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Owner::Host { start, layout } = self.owner {
            // SAFETY: allocated by `host` with this layout, freed once.
            unsafe { dealloc(start, layout) }
        }
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocation({} bytes)", self.region.len())
    }
}
