//! Memory for generated code, with its bounds. One of the few files with unsafe code, which lends slices to kernels.
//!
//! Kernels know addresses and strides. Every address that a kernel is called with comes from a [`Read`] or a [`Written`], which give it
//! away only together with the number of bytes that the call reaches from there ([`reach`]), and refuse if these are not all inside. Tiles
//! and AMX blocks, which take lists of addresses, check these against the bounds of their buffers instead.

use oxidnn_runtime::{Buf, Element};
use std::fmt::Debug;

#[cfg(test)]
mod tests;

/// Bytes from the first to the end of the last that nested loops reach. Each loop is a number of positions and a stride in bytes; `len`
/// bytes are accessed at every position. `None` if a loop has no position, or on overflow.
#[inline]
pub fn reach(loops: &[(usize, usize)], len: usize) -> Option<usize> {
    loops.iter().try_fold(len, |end, (count, step)| end.checked_add(count.checked_sub(1)?.checked_mul(*step)?))
}

/// The address of byte `first` of a buffer, which must have `reach` bytes from there on.
#[inline]
fn address(buf: &Buf<'_>, operand: impl Debug, first: usize, reach: Option<usize>) -> *mut u8 {
    let inside = reach.and_then(|reach| first.checked_add(reach)).is_some_and(|end| end <= buf.len());
    assert!(inside, "generated code would leave its memory: {operand:?}, {reach:?} bytes from {first} of {}", buf.len());
    buf.as_ptr().wrapping_add(first)
}

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Reads a byte of each cache line of those `bytes` bytes from `first` on that are inside a buffer, in order: hardware prefetchers
/// recognise reads as a stream, which they do not do with software prefetches.
#[inline]
fn check_reads(buf: &Buf<'_>, first: usize, bytes: usize) {
    for byte in (first..first.saturating_add(bytes).min(buf.len())).step_by(LINE) {
        // SAFETY: the byte is inside the buffer, which may be read while it is borrowed.
        unsafe { buf.as_ptr().wrapping_add(byte).read_volatile() };
    }
}

/// Memory that a call reads.
#[derive(Clone, Copy, Debug)]
pub struct Read<'a>(Buf<'a>);

/// Memory that a call writes, and may read.
#[derive(Debug)]
pub struct Written<'a>(Buf<'a>);

impl Read<'_> {
    /// The address of byte `first`, from which the call reads at most `reach` bytes.
    ///
    /// # Panics
    /// If these are not all inside the memory, or `reach` is `None`.
    #[inline]
    pub fn at(&self, operand: impl Debug, first: usize, reach: Option<usize>) -> *const u8 {
        address(&self.0, operand, first, reach)
    }

    /// Reads ahead bytes that a later call reads, as the next part of a stream from memory.
    #[inline]
    pub fn check_reads(&self, first: usize, bytes: usize) {
        check_reads(&self.0, first, bytes);
    }
}

impl Written<'_> {
    /// The address of byte `first`, from which the call writes and reads at most `reach` bytes.
    ///
    /// # Panics
    /// If these are not all inside the memory, or `reach` is `None`.
    #[inline]
    pub fn at(&self, operand: impl Debug, first: usize, reach: Option<usize>) -> *mut u8 {
        address(&self.0, operand, first, reach)
    }
}

impl<'a> From<Buf<'a>> for Read<'a> {
    fn from(buf: Buf<'a>) -> Self {
        Read(buf)
    }
}

impl<'a, T: Element> From<&'a [T]> for Read<'a> {
    fn from(numbers: &'a [T]) -> Self {
        // SAFETY: the region is borrowed as long as this lives, and is only read through it.
        Read(unsafe { Buf::new(numbers.as_ptr().cast_mut().cast(), size_of_val(numbers)) })
    }
}

impl<'a> From<Buf<'a>> for Written<'a> {
    fn from(buf: Buf<'a>) -> Self {
        Written(buf)
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Written<'a> {
    fn from(numbers: &'a mut [T]) -> Self {
        // SAFETY: the region is borrowed exclusively as long as this lives.
        Written(unsafe { Buf::new(numbers.as_mut_ptr().cast(), size_of_val(numbers)) })
    }
}
