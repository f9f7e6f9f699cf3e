//! `Region`: where an argument's bytes are, in the host's address space or in a device's.
//!
//! The host dereferences bytes only through [`Buf`], which only a region of the host gives. A device's region is an address for its kernels
//! and its copy engine, and nothing else. One of the files with unsafe code.

use crate::Buf;
use crate::device::DeviceId;

/// An address space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// The host's.
    Host,
    /// That of a device whose memory the host cannot address.
    Device(DeviceId),
}

/// `len` bytes at an address of a [`Space`], valid for `'a`.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    bytes: Buf<'a>,
    space: Space,
}

impl<'a> Region<'a> {
    /// Bytes that the host may use.
    pub const fn host(bytes: Buf<'a>) -> Region<'a> {
        Region { bytes, space: Space::Host }
    }

    /// `len` bytes at `address` of a device's memory.
    pub const fn device(device: DeviceId, address: u64, len: usize) -> Region<'a> {
        Region { bytes: Buf::elsewhere(address as usize, len), space: Space::Device(device) }
    }

    /// No bytes.
    pub const fn empty() -> Region<'a> {
        Region::host(Buf::empty())
    }

    /// Length in bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True if there are no bytes.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Address of the first byte, in its space.
    #[inline]
    pub const fn as_ptr(&self) -> *mut u8 {
        self.bytes.as_ptr()
    }

    /// The address as a number.
    #[inline]
    pub fn address(&self) -> u64 {
        self.as_ptr().addr() as u64
    }

    /// The address space.
    #[inline]
    pub const fn space(&self) -> Space {
        self.space
    }

    /// The bytes, where they are the host's.
    #[inline]
    pub fn bytes(&self) -> Option<Buf<'a>> {
        (self.space == Space::Host).then_some(self.bytes)
    }

    /// True when the two share a byte.
    #[inline]
    pub fn overlaps(&self, o: &Region<'_>) -> bool {
        self.space == o.space && self.bytes.overlaps(&o.bytes)
    }

    /// The part of `len` bytes that begins at byte `start`.
    ///
    /// # Panics
    /// When it is not inside the region.
    #[inline]
    pub fn part(&self, start: usize, len: usize) -> Region<'a> {
        Region { bytes: self.bytes.part(start, len), space: self.space }
    }

    /// The same region for any lifetime: for queues that keep work beyond the call that submits it.
    ///
    /// # Safety
    /// The caller keeps the memory as long as the result, and guards its use.
    #[inline]
    pub const unsafe fn outlive<'b>(self) -> Region<'b> {
        // SAFETY: the caller's promise.
        Region { bytes: unsafe { self.bytes.outlive() }, space: self.space }
    }
}
