//! Allocations: zeroed, 64-byte aligned host memory, or memory that a device hands out. One of the files with unsafe code.

use crate::Buf;
use oxidnn_spec::Error;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::fmt;

/// Alignment of owned memory and scratch, in bytes.
pub const ALIGNMENT: usize = 64;

/// Owned memory; freed when dropped.
pub struct Allocation {
    buf: Buf,
    owner: Owner,
}

enum Owner {
    Host(Layout),
    Device { _memory: Box<dyn Any + Send + Sync> },
    Nobody,
}

impl Allocation {
    /// `bytes` of zeroed host memory, 64-byte aligned.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn host(bytes: usize) -> Result<Allocation, Error> {
        if bytes == 0 {
            return Ok(Allocation { buf: Buf::empty(), owner: Owner::Nobody });
        }
        let oom = || Error::OutOfMemory { bytes, what: "memory".into() };
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| oom())?;
        // SAFETY: the layout's size is not zero.
        let ptr = unsafe { alloc_zeroed(layout) };
        if ptr.is_null() {
            return Err(oom());
        }
        // SAFETY: the region was just allocated and is this value's own until it is dropped; who hands it out guards its use.
        Ok(Allocation { buf: unsafe { Buf::new(ptr, bytes) }, owner: Owner::Host(layout) })
    }

    /// Device memory at `buf` that dropping `memory` frees.
    ///
    /// # Safety
    /// The region must be valid and unshared until `memory` is dropped: for the host, or, of a device whose `host_visible` is false, for the device.
    pub unsafe fn device(buf: Buf, memory: Box<dyn Any + Send + Sync>) -> Allocation {
        Allocation { buf, owner: Owner::Device { _memory: memory } }
    }

    /// The region.
    pub fn buf(&self) -> Buf {
        self.buf
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Owner::Host(layout) = self.owner {
            // SAFETY: allocated by `host` with this layout, freed once.
            unsafe { dealloc(self.buf.as_ptr(), layout) }
        }
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocation({} bytes)", self.buf.len())
    }
}
