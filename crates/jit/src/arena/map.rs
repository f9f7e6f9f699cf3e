//! Mappings of executable memory: the system calls of Linux.

use super::CodeError;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap};
use rustix::process::{Resource, getrlimit};
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::ptr::{NonNull, null_mut};

const TRAP: u8 = 0xcc;

/// `len` rounded up to pages.
pub(super) fn whole_pages(len: usize) -> usize {
    len.max(1).next_multiple_of(rustix::param::page_size())
}

fn refused(step: &'static str) -> impl Fn(Errno) -> CodeError {
    move |e| CodeError::Refused { step, reason: e.to_string() }
}

/// A mapping, unmapped when dropped.
#[derive(Debug)]
struct Map {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is an address range of the process, the same for every thread; `&mut` rules who may write.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    fn from_raw(start: *mut c_void, len: usize, step: &'static str) -> Result<Map, CodeError> {
        let start = NonNull::new(start.cast()).ok_or_else(|| CodeError::Refused { step, reason: "mapped at 0".into() })?;
        Ok(Map { start, len })
    }

    /// The view of a file that writes to it. Forked children do not have it.
    fn writable(fd: &OwnedFd, len: usize) -> Result<Map, CodeError> {
        let step = "mapping a memory file to write";
        // SAFETY: a new mapping at an address of the system's choice touches no memory that anyone uses.
        let start = unsafe { mmap(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, fd, 0) }.map_err(refused(step))?;
        let map = Map::from_raw(start, len, step)?;
        // SAFETY: the range is this mapping; in this process the advice changes nothing.
        unsafe { madvise(start, len, Advice::LinuxDontFork) }.map_err(refused("keeping a memory file from children"))?;
        Ok(map)
    }

    /// The executable view of a file: writes through the other view appear here. The mapping is private, so if somebody makes this view
    /// writable, writes through it go to a copy.
    fn executable(fd: &OwnedFd, len: usize) -> Result<Map, CodeError> {
        let step = "mapping a memory file to execute";
        // SAFETY: as above.
        let start = unsafe { mmap(null_mut(), len, ProtFlags::READ | ProtFlags::EXEC, MapFlags::PRIVATE, fd, 0) }.map_err(refused(step))?;
        Map::from_raw(start, len, step)
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset <= self.len && bytes.len() <= self.len - offset, "code lies within its mapping");
        // SAFETY: the mapping is writable (both callers map it so), holds the range, and `&mut` excludes other writers.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(offset), bytes.len()) }
    }

    fn fill(&mut self, offset: usize, len: usize, byte: u8) {
        assert!(offset <= self.len && len <= self.len - offset, "code lies within its mapping");
        // SAFETY: as in `write`.
        unsafe { std::ptr::write_bytes(self.start.as_ptr().add(offset), byte, len) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the range is ours alone and nobody uses it: code handles keep their chunk. Failure would leave it mapped, which harms nobody.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A memory file in two views: one to write, one to run.
#[derive(Debug)]
pub(super) struct DualMap {
    writable: Map,
    executable: Map,
}

impl DualMap {
    /// `len` bytes, whole pages, filled with traps as code replaces them.
    pub(super) fn new(len: usize) -> Result<DualMap, CodeError> {
        // Kernels before 6.3 do not know the flag that asks for an executable file, and give one without.
        let fd = memfd_create(c"oxidnn-code", MemfdFlags::CLOEXEC | MemfdFlags::EXEC)
            .or_else(|_| memfd_create(c"oxidnn-code", MemfdFlags::CLOEXEC))
            .map_err(refused("memfd_create"))?;
        // Beyond the limit the system sends a signal that ends the process.
        if let Some(limit) = getrlimit(Resource::Fsize).current.filter(|&limit| limit < len as u64) {
            return Err(CodeError::Refused {
                step: "sizing a memory file",
                reason: format!("files may have {limit} bytes (RLIMIT_FSIZE)"),
            });
        }
        ftruncate(&fd, len as u64).map_err(refused("sizing a memory file"))?;
        Ok(DualMap { writable: Map::writable(&fd, len)?, executable: Map::executable(&fd, len)? })
    }

    pub(super) fn len(&self) -> usize {
        self.executable.len
    }

    /// Where code runs.
    pub(super) fn address(&self) -> usize {
        self.executable.start.as_ptr() as usize
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.writable.write(offset, bytes);
    }

    pub(super) fn trap(&mut self, offset: usize, len: usize) {
        self.writable.fill(offset, len, TRAP);
    }
}

/// Anonymous pages of one kernel: written, then made executable.
#[derive(Debug)]
pub(super) struct Anonymous(Map);

impl Anonymous {
    pub(super) fn new(bytes: &[u8]) -> Result<Anonymous, CodeError> {
        let len = whole_pages(bytes.len());
        let step = "mapping anonymous memory";
        // SAFETY: a new mapping at an address of the system's choice touches no memory that anyone uses.
        let start = unsafe { mmap_anonymous(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
        let mut map = Map::from_raw(start.map_err(refused(step))?, len, step)?;
        map.fill(bytes.len(), len - bytes.len(), TRAP);
        map.write(0, bytes);
        // SAFETY: the range is this mapping; nobody writes to it from here on.
        unsafe { mprotect(map.start.as_ptr().cast(), len, MprotectFlags::READ | MprotectFlags::EXEC) }
            .map_err(refused("making anonymous memory executable"))?;
        Ok(Anonymous(map))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len
    }

    pub(super) fn address(&self) -> usize {
        self.0.start.as_ptr() as usize
    }
}
