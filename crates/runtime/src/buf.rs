//! `Buf`: a region of memory that an execution reads or writes. One of the few places with unsafe code: kernels build on it without any.
//!
//! The promise is made where a `Buf` is created ([`Buf::new`]): the region is valid for the lifetime `'a`, nobody outside the execution writes to
//! it meanwhile, and the parallel parts of the execution write disjoint elements. Copies carry the same lifetime, so none outlives the memory.
//! Every access is checked against the length.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::size_of;

/// A plain number in its memory format.
pub trait Element: bytemuck::Pod + Send + Sync {}
impl<T: bytemuck::Pod + Send + Sync> Element for T {}

/// A region of memory that is valid for `'a`, shared by the parallel parts of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Buf<'a> {
    ptr: *mut u8,
    len: usize,
    life: PhantomData<&'a [Cell<u8>]>,
}

// SAFETY: a `Buf` is a pointer and a length; `Buf::new` demands that concurrent accesses through it are disjoint.
unsafe impl Send for Buf<'_> {}
// SAFETY: as above.
unsafe impl Sync for Buf<'_> {}

impl<'a> Buf<'a> {
    /// The `len` bytes at `ptr`, which may be null when `len` is 0.
    ///
    /// # Safety
    /// For `'a` the region must be valid for reads and writes (reads only, if it is only read), nobody else may write to it while the `Buf` or a
    /// copy is in use, and parallel parts of an execution must not write to an element that another part reads or writes.
    pub const unsafe fn new(ptr: *mut u8, len: usize) -> Buf<'a> {
        Buf { ptr, len, life: PhantomData }
    }

    /// A region of no bytes.
    #[inline]
    pub const fn empty() -> Buf<'a> {
        Buf { ptr: std::ptr::without_provenance_mut(64), len: 0, life: PhantomData }
    }

    /// `len` bytes at an address of another address space, which must never be dereferenced.
    pub(crate) const fn elsewhere(address: usize, len: usize) -> Buf<'a> {
        Buf { ptr: std::ptr::without_provenance_mut(address), len, life: PhantomData }
    }

    /// The same bytes for any lifetime.
    ///
    /// # Safety
    /// The promise of [`Buf::new`] must hold for `'b`: the caller keeps the memory as long as the result.
    #[inline]
    pub(crate) const unsafe fn outlive<'b>(self) -> Buf<'b> {
        Buf { ptr: self.ptr, len: self.len, life: PhantomData }
    }

    /// Length in bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no bytes.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first byte.
    #[inline]
    pub const fn as_ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// True when the two regions share a byte.
    #[inline]
    pub fn overlaps(&self, o: &Buf<'_>) -> bool {
        let (a, b) = (self.ptr.addr(), o.ptr.addr());
        self.len > 0 && o.len > 0 && a < b + o.len && b < a + self.len
    }

    /// The part of `len` bytes that begins at byte `start`.
    ///
    /// # Panics
    /// When it is not inside the region.
    #[inline]
    pub fn part(&self, start: usize, len: usize) -> Buf<'a> {
        if start > self.len || len > self.len - start {
            outside("part", [start, len, self.len]);
        }
        Buf { ptr: self.ptr.wrapping_add(start), len, life: PhantomData }
    }

    #[inline(always)]
    fn at<T: Element>(&self, index: usize, count: usize) -> *mut T {
        let end = index.checked_add(count).and_then(|e| e.checked_mul(size_of::<T>()));
        if end.is_none_or(|e| e > self.len) {
            outside("element", [index, count, self.len]);
        }
        self.ptr.cast::<T>().wrapping_add(index)
    }

    /// Element `index` of the region seen as an array of `T` (no alignment needed).
    #[inline(always)]
    pub fn get<T: Element>(&self, index: usize) -> T {
        // SAFETY: `at` checked the bounds; the region is readable by `new`'s promise.
        unsafe { self.at::<T>(index, 1).read_unaligned() }
    }

    /// Writes element `index`.
    #[inline(always)]
    pub fn set<T: Element>(&self, index: usize, value: T) {
        // SAFETY: `at` checked the bounds; the region is writable and the element ours by `new`'s promise.
        unsafe { self.at::<T>(index, 1).write_unaligned(value) }
    }

    /// Copies elements `index..index + out.len()` into `out`.
    #[inline(always)]
    pub fn read<T: Element>(&self, index: usize, out: &mut [T]) {
        let from = self.at::<T>(index, out.len()).cast::<u8>();
        // SAFETY: bounds checked by `at`; `out` is a distinct Rust slice, so the regions cannot overlap.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().cast::<u8>(), size_of_val(out)) }
    }

    /// Copies `values` to elements `index..`.
    #[inline(always)]
    pub fn write<T: Element>(&self, index: usize, values: &[T]) {
        let to = self.at::<T>(index, values.len()).cast::<u8>();
        // SAFETY: bounds checked by `at`; the elements are ours by `new`'s promise and distinct from the slice.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), to, size_of_val(values)) }
    }

    /// Copies `len` elements of `from`, from its element `index` on, to elements `to..`; the regions may overlap.
    #[inline]
    pub fn copy<T: Element>(&self, to: usize, from: &Buf<'_>, index: usize, len: usize) {
        let (to, from) = (self.at::<T>(to, len).cast::<u8>(), from.at::<T>(index, len).cast::<u8>());
        // SAFETY: bounds checked by `at`; the elements are ours by `new`'s promise.
        unsafe { std::ptr::copy(from, to, len * size_of::<T>()) }
    }

    /// Fills the region with `byte`.
    pub fn fill(&self, byte: u8) {
        // SAFETY: the whole region is writable and ours by `new`'s promise.
        unsafe { self.ptr.write_bytes(byte, self.len) }
    }

    /// The region as a slice that nobody writes to during the execution; `None` when it is not aligned for `T`.
    ///
    /// # Safety
    /// No part of the region may be written while the slice lives: not for a tensor that is source and destination in place.
    #[inline]
    pub unsafe fn slice<T: Element>(&self) -> Option<&'a [T]> {
        if self.ptr.is_null() {
            return Some(&[]);
        }
        if !self.ptr.addr().is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: aligned, inside the region, not written by the caller's promise.
        Some(unsafe { std::slice::from_raw_parts(self.ptr.cast::<T>(), self.len / size_of::<T>()) })
    }

    /// Elements `index..index + count` as a slice that only this part of the execution uses; `None` if it is not aligned for `T`.
    ///
    /// # Safety
    /// Nobody else may read or write these elements while the slice lives.
    #[inline]
    pub unsafe fn slice_mut<T: Element>(&self, index: usize, count: usize) -> Option<&'a mut [T]> {
        let p = self.at::<T>(index, count);
        if p.is_null() {
            return Some(&mut []);
        }
        if !p.addr().is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: aligned, inside the region, unshared by the caller's promise.
        Some(unsafe { std::slice::from_raw_parts_mut(p, count) })
    }

    /// The bytes as shared cells, for single-threaded use with overlapping arguments.
    pub fn cells(&self) -> &'a [Cell<u8>] {
        if self.ptr.is_null() {
            return &[];
        }
        // SAFETY: valid by `new`'s promise; `Cell<u8>` has `u8`'s layout and allows overlapping slices; `&[Cell]` cannot leave the thread.
        unsafe { std::slice::from_raw_parts(self.ptr.cast::<Cell<u8>>(), self.len) }
    }
}

/// Panics with the first element, the count and the bytes of the region of an access outside of it. By value, so that loops keep all of it
/// in registers.
#[cold]
#[inline(never)]
fn outside(what: &str, [first, count, len]: [usize; 3]) -> ! {
    panic!("{what} {first}+{count} of a buffer of {len} bytes")
}
