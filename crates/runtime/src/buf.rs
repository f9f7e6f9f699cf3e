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

/// Elements of some memory in rows: the first, the number of rows and that of elements of a row, and steps from row to row and along them.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The first element.
    pub at: usize,
    /// Rows, and elements of each.
    pub counts: [usize; 2],
    /// Elements from one row to the next, and from one of its elements to the next.
    pub steps: [usize; 2],
}

impl Grid {
    /// Its loops, with steps in it and in contiguous elements.
    fn loops(&self, steps: fn(usize, usize) -> [usize; 2]) -> [Loop; 3] {
        let ([rows, run], [row, step]) = (self.counts, self.steps);
        [Loop::ONCE, Loop { count: rows, steps: steps(row, run) }, Loop { count: run, steps: steps(step, 1) }]
    }
}

/// A loop over elements: its iterations, and the elements from one to the next in destination and source.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// Iterations.
    pub count: usize,
    /// Elements from one to the next in destination and source.
    pub steps: [usize; 2],
}

impl Loop {
    /// A single iteration.
    pub const ONCE: Loop = Loop { count: 1, steps: [0; 2] };
}

/// Pairs of places of elements, each in one of two regions, and the farthest of these.
#[derive(Clone, Debug)]
pub struct Pairs {
    all: Vec<[u32; 2]>,
    most: [usize; 2],
}

impl Pairs {
    /// The pairs in this order.
    pub fn new(all: Vec<[u32; 2]>) -> Pairs {
        let most = std::array::from_fn(|t| all.iter().map(|pair| pair[t] as usize).max().unwrap_or(0));
        Pairs { all, most }
    }

    /// All pairs.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.all
    }
}

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

    /// Writes `f` of the element at each multiple of `from_step` bytes of `from` to the same multiple of `to_step` bytes here, `count` times. Bounds are checked once.
    #[inline(always)]
    pub fn map_at<T: Element>(&self, from: &Buf<'_>, [to_step, from_step]: [usize; 2], count: usize, f: impl Fn(T) -> T) {
        let end = |step: usize| count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(step)?.checked_add(size_of::<T>()));
        for (buf, step) in [(self, to_step), (from, from_step)] {
            if end(step).is_none_or(|end| end > buf.len) {
                outside("map_at", [step, count, buf.len]);
            }
        }
        let [mut to, mut from] = [self.ptr, from.ptr];
        for _ in 0..count {
            // SAFETY: the last element ends within each region, readable and writable by `new`'s promise.
            unsafe { to.cast::<T>().write_unaligned(f(from.cast::<T>().read_unaligned())) };
            (to, from) = (to.wrapping_add(to_step), from.wrapping_add(from_step));
        }
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

    /// Copies the elements of a grid to `out`, row by row.
    ///
    /// # Panics
    /// If they are not inside the region, or `out` has not their bytes.
    pub fn gather<T: Element>(&self, grid: Grid, out: &mut [u8]) {
        // SAFETY: the slice is ours, and nobody else uses it.
        let to = unsafe { Buf::new(out.as_mut_ptr(), out.len()) };
        to.copy_loops::<T>(0, (self, grid.at), grid.loops(|own, dense| [dense, own]));
    }

    /// Copies `values`, row by row, to the elements of a grid.
    ///
    /// # Panics
    /// If they are not inside the region, or there are not as many values.
    pub fn scatter<T: Element>(&self, grid: Grid, values: &[u8]) {
        // SAFETY: the slice is only read.
        let from = unsafe { Buf::new(values.as_ptr().cast_mut(), values.len()) };
        self.copy_loops::<T>(grid.at, (&from, 0), grid.loops(|own, dense| [own, dense]));
    }

    /// Copies elements of `from`, from `start` on, to those from `first` on, in three loops.
    ///
    /// # Panics
    /// If elements are not inside their regions.
    pub fn copy_loops<T: Element>(&self, first: usize, (from, start): (&Buf<'_>, usize), loops: [Loop; 3]) {
        if loops.iter().any(|l| l.count == 0) {
            return;
        }
        let reach = |t: usize| {
            let mut spans = loops.iter().map(|l| (l.count - 1).checked_mul(l.steps[t]));
            spans.try_fold(1usize, |all, span| all.checked_add(span?)).unwrap_or(usize::MAX)
        };
        let (to, from) = (self.at::<T>(first, reach(0)), from.at::<T>(start, reach(1)));
        // SAFETY: all elements are inside their regions; those that are written are ours by `new`'s promise.
        unsafe { each(loops, to, from) }
    }

    /// Element `first` plus each first place becomes what `change` makes of element `start` of `from` plus the second place.
    ///
    /// # Panics
    /// If elements are not inside their regions.
    #[inline(always)]
    pub fn copy_places<T: Element, U: Element>(
        &self,
        first: usize,
        (from, start): (&Buf<'_>, usize),
        places: &Pairs,
        change: impl Fn(U) -> T,
    ) {
        if places.all.is_empty() {
            return;
        }
        let (to, from) = (self.at::<T>(first, places.most[0] + 1), from.at::<U>(start, places.most[1] + 1));
        for [t, f] in &places.all {
            // SAFETY: the farthest places are inside their regions, and what is written is ours by `new`'s promise.
            unsafe { to.wrapping_add(*t as usize).write_unaligned(change(from.wrapping_add(*f as usize).read_unaligned())) }
        }
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

/// Iterations of the innermost loop before the next iteration of the loop around it: their cache lines stay in L1 on both sides.
const PIECE: usize = 64;
/// Elements that are copied without a branch.
const TOGETHER: usize = 4;

/// Copies elements in three loops. The longest is the innermost, so that short ones cost no more than long ones. It is cut into pieces, for each of which the
/// loop with the shorter steps is repeated, whose iterations share cache lines.
///
/// # Safety
/// All elements must be valid, those of the destination for writes; they need not be aligned.
unsafe fn each<T: Element>(mut loops: [Loop; 3], to: *mut T, from: *const T) {
    let near = |l: &Loop| l.steps[0].min(l.steps[1]);
    loops.sort_unstable_by_key(|l| (l.count, std::cmp::Reverse(near(l))));
    let [mut outer, mut middle, inner] = loops;
    if near(&outer) < near(&middle) {
        std::mem::swap(&mut outer, &mut middle);
    }
    let pieces = Loop { count: inner.count.div_ceil(PIECE), steps: inner.steps.map(|step| step * PIECE) };
    for (i, piece) in (0..outer.count).flat_map(|i| (0..pieces.count).map(move |piece| (i, piece))) {
        let at = |t: usize| i * outer.steps[t] + piece * pieces.steps[t];
        let count = PIECE.min(inner.count - piece * PIECE);
        for j in 0..middle.count {
            let (mut to, mut from) = (to.wrapping_add(at(0) + j * middle.steps[0]), from.wrapping_add(at(1) + j * middle.steps[1]));
            // SAFETY: an element, by the caller's promise.
            let copy = |k: usize, to: *mut T, from: *const T| unsafe {
                to.wrapping_add(k * inner.steps[0]).write_unaligned(from.wrapping_add(k * inner.steps[1]).read_unaligned());
            };
            for _ in 0..count / TOGETHER {
                (0..TOGETHER).for_each(|k| copy(k, to, from));
                (to, from) = (to.wrapping_add(TOGETHER * inner.steps[0]), from.wrapping_add(TOGETHER * inner.steps[1]));
            }
            (0..count % TOGETHER).for_each(|k| copy(k, to, from));
        }
    }
}

/// Panics with the first element, the count and the bytes of the region of an access outside of it. By value, so that loops keep all of it
/// in registers.
#[cold]
#[inline(never)]
fn outside(what: &str, [first, count, len]: [usize; 3]) -> ! {
    panic!("{what} {first}+{count} of a buffer of {len} bytes")
}
