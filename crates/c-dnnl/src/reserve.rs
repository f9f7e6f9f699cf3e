//! A reserve of memory for when the system has none left. One of the files with unsafe code.
//!
//! Rust's collections end the process if a small allocation fails, but C callers expect `out_of_memory`. So allocations that the system
//! refuses come from a reserve, which is large enough for all small allocations of the current call (large ones, which depend on a
//! request's sizes, are made in a way that can fail). As long as some of the reserve is in use and the system still has no memory, nothing
//! new is begun ([`replenished`]).

use oxidnn_spec::Error;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(test)]
mod tests;

/// Several times what creating any primitive needs.
const RESERVE_BYTES: usize = 4 << 20;

/// Blocks that are larger do not come from the reserve.
const MAX_BLOCK_BYTES: usize = 256 << 10;

/// The allocator of this library's own objects.
pub(crate) struct Reserving<const N: usize> {
    /// Untouched, and therefore without physical pages, until it is needed.
    storage: Storage<N>,
    /// Upper 32 bits: number of blocks in use; lower 32 bits: offset of the free part. Everything is free again when no block is in use.
    used: AtomicU64,
}

/// One block in use.
const ONE_BLOCK: u64 = 1 << 32;
/// The offset of the free part.
const OFFSET_MASK: u64 = ONE_BLOCK - 1;

#[repr(align(4096))]
struct Storage<const N: usize>(UnsafeCell<[u8; N]>);

// SAFETY: each byte belongs to exactly one block, and `used` arbitrates who has a block.
unsafe impl<const N: usize> Sync for Storage<N> {}

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: Reserving<RESERVE_BYTES> = Reserving::new();
#[cfg(test)]
static ALLOCATOR: Reserving<RESERVE_BYTES> = Reserving::new();

/// Fails while the system has no memory and the reserve is in use.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[inline]
pub(crate) fn replenished() -> Result<(), Error> {
    if ALLOCATOR.is_unused() { Ok(()) } else { system_has_memory() }
}

#[cold]
fn system_has_memory() -> Result<(), Error> {
    let block = Layout::from_size_align(RESERVE_BYTES, 16).map_err(|e| Error::Runtime(e.to_string()))?;
    // SAFETY: the layout's size is not zero; the block is freed with the same layout at once.
    let found = unsafe {
        let start = System.alloc(block);
        if !start.is_null() {
            System.dealloc(start, block);
        }
        !start.is_null()
    };
    if found { Ok(()) } else { Err(Error::OutOfMemory { bytes: RESERVE_BYTES, what: "a new object".into() }) }
}

impl<const N: usize> Reserving<N> {
    const fn new() -> Reserving<N> {
        Reserving { storage: Storage(UnsafeCell::new([0; N])), used: AtomicU64::new(0) }
    }

    fn is_unused(&self) -> bool {
        self.used.load(Ordering::Relaxed) == 0
    }

    fn start(&self) -> *mut u8 {
        self.storage.0.get().cast()
    }

    fn holds(&self, block: *mut u8) -> bool {
        block.addr().wrapping_sub(self.start().addr()) < N
    }

    /// A block of the reserve; null if it does not fit.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        let base = self.start().addr();
        let place = |end: u64| {
            let start = (base + end as usize).checked_next_multiple_of(layout.align())? - base;
            let end = start.checked_add(layout.size()).filter(|end| *end <= N && layout.size() <= MAX_BLOCK_BYTES)?;
            Some((start, end as u64))
        };
        let allocated = |used: u64| place(used & OFFSET_MASK).map(|(_, end)| ((used & !OFFSET_MASK) + ONE_BLOCK) | end);
        match self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, allocated) {
            Ok(used) => place(used & OFFSET_MASK).map_or(std::ptr::null_mut(), |(start, _)| self.start().wrapping_add(start)),
            Err(_) => std::ptr::null_mut(),
        }
    }

    /// Frees a block; with the last one, the whole reserve is free.
    #[cold]
    fn left(&self) {
        let less = |used: u64| Some(if used >> 32 <= 1 { 0 } else { used - ONE_BLOCK });
        let _ = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }
}

// SAFETY: blocks are the system's, or disjoint parts of the reserve, aligned and of the requested size.
unsafe impl<const N: usize> GlobalAlloc for Reserving<N> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise of a layout that is not empty.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { self.take(layout) } else { block }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            return block;
        }
        let block = self.take(layout);
        if !block.is_null() {
            // SAFETY: the block was just allocated with this size; it may have been used before.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.holds(block) {
            return self.left();
        }
        // SAFETY: the caller's promise; the block is the system's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.holds(block) {
            // SAFETY: the caller's promise; the block is the system's.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promised that the size is not zero and fits the alignment; both blocks have the bytes that are copied.
        unsafe {
            let to = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !to.is_null() {
                std::ptr::copy_nonoverlapping(block, to, layout.size().min(size));
                self.dealloc(block, layout);
            }
            to
        }
    }
}
