//! Mapping: the host's access to the bytes of a memory, as long as a guard lives. One of the files with unsafe code.

use super::{Access, Guard, Memory, Origin};
use crate::queue::Work;
use crate::{Buf, Engine, Region};
use oxidnn_spec::Error;
use std::ops::{Deref, DerefMut};

/// The bytes of one buffer for reading; others may read meanwhile.
#[derive(Debug)]
pub struct Mapped<'m> {
    bytes: Bytes<'m, &'m [u8]>,
    _guard: Guard,
}

/// The bytes of one buffer for reading and writing; nobody else uses them meanwhile. Device memory is written back when dropped.
#[derive(Debug)]
pub struct MappedMut<'m> {
    bytes: Bytes<'m, &'m mut [u8]>,
    _guard: Guard,
}

#[derive(Debug)]
enum Bytes<'m, S> {
    Host(S),
    /// The host's copy of a region of the engine's.
    Copy {
        bytes: Vec<u8>,
        region: Region<'m>,
        engine: Engine,
    },
}

impl<'a> Memory<'a> {
    /// Takes the memory for the host's own access, when the work that was submitted before is done.
    fn guard(&self, access: Access) -> Result<Guard, Error> {
        if access == Access::Write && self.is_read_only() {
            return Err(Error::invalid("map", "memory that may only be read", "memory that may be written"));
        }
        let counted = (self.origin != Origin::Unchecked).then_some(access);
        let guard = Guard::take(&self.storage, counted)
            .ok_or_else(|| Error::invalid("map", self.storage.uses.state(), "memory that no execution or mapping uses"))?;
        self.storage.uses.settle(access)?;
        Ok(guard)
    }

    fn region(&self, index: usize) -> Result<Region<'_>, Error> {
        let regions = self.regions.as_slice();
        let count = regions.len();
        regions.get(index).copied().ok_or_else(|| Error::invalid("buffer index", index, format!("below {count}")))
    }

    /// The host's copy of a region that it cannot address.
    fn copied<'m, S>(&self, region: Region<'m>) -> Result<Bytes<'m, S>, Error> {
        let engine = self.engine.clone().ok_or_else(|| Error::Runtime("memory of a device without an engine".into()))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(region.len()).map_err(|_| Error::OutOfMemory { bytes: region.len(), what: "a mapping".into() })?;
        bytes.resize(region.len(), 0);
        copy(&engine, region, Region::host(super::raw::of_slice_mut(&mut bytes)))?;
        Ok(Bytes::Copy { bytes, region, engine })
    }

    /// The bytes of buffer `index` (0 for dense tensors) for reading: no bytes where the tensor is empty or its address null. Waits for work
    /// that was submitted to write it.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a wrong index, or while another thread executes or maps it for writing; a failure of the work that
    /// was waited for.
    pub fn map(&self, index: usize) -> Result<Mapped<'_>, Error> {
        let (region, guard) = (self.region(index)?, self.guard(Access::Read)?);
        let bytes = match region.bytes() {
            // SAFETY: the guard keeps writers out while the mapping lives (or the maker of the memory promised to).
            Some(buf) => Bytes::Host(unsafe { bytes_of(buf) }),
            None => self.copied(region)?,
        };
        Ok(Mapped { bytes, _guard: guard })
    }

    /// Replaces the first bytes of buffer `index` without reading a device's bytes first. Waits for submitted work that uses it.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a wrong index, more bytes than the buffer has, memory over a `&` slice, or while another thread
    /// executes on it or maps it; a failure of the awaited work, or of the device.
    pub fn replace(&self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let (region, _guard) = (self.region(index)?, self.guard(Access::Write)?);
        if bytes.len() > region.len() {
            let got = format!("{} bytes", bytes.len());
            return Err(Error::invalid("bytes of a buffer", got, format!("at most {}", region.len())));
        }
        match (region.bytes(), &self.engine) {
            (Some(buf), _) => buf.write(0, bytes),
            (None, Some(engine)) => copy(engine, Region::host(super::raw::of_slice(bytes)), region.part(0, bytes.len()))?,
            (None, None) => return Err(Error::Runtime("memory of a device without an engine".into())),
        }
        Ok(())
    }

    /// The bytes of buffer `index` for reading and writing. Waits for work that was submitted to use it.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a wrong index, for memory over a `&` slice, or while another thread executes or maps it; a failure
    /// of the work that was waited for.
    pub fn map_mut(&self, index: usize) -> Result<MappedMut<'_>, Error> {
        let (region, guard) = (self.region(index)?, self.guard(Access::Write)?);
        let bytes = match region.bytes() {
            // SAFETY: the guard keeps everybody else out while the mapping lives (or the maker of the memory promised to).
            Some(buf) => Bytes::Host(unsafe { bytes_mut_of(buf) }),
            None => self.copied(region)?,
        };
        Ok(MappedMut { bytes, _guard: guard })
    }
}

/// Copies between a device and the host; done on return.
fn copy(engine: &Engine, from: Region<'_>, to: Region<'_>) -> Result<(), Error> {
    if from.is_empty() {
        return Ok(());
    }
    let queue = engine.service()?;
    // SAFETY: the caller borrows both until this returns, after the copy.
    queue.wait_until(unsafe { queue.submit(Work::Copy { from, to }.into()) }?)
}

impl Deref for Mapped<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Host(b) => b,
            Bytes::Copy { bytes, .. } => bytes,
        }
    }
}

impl Deref for MappedMut<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Host(b) => b,
            Bytes::Copy { bytes, .. } => bytes,
        }
    }
}

impl DerefMut for MappedMut<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.bytes {
            Bytes::Host(b) => b,
            Bytes::Copy { bytes, .. } => bytes,
        }
    }
}

impl MappedMut<'_> {
    /// Ends the mapping; device memory is written back.
    ///
    /// # Errors
    /// [`Error::Runtime`] when the device fails (dropping the guard instead hides it).
    pub fn unmap(mut self) -> Result<(), Error> {
        self.write_back()
    }

    fn write_back(&mut self) -> Result<(), Error> {
        match &mut self.bytes {
            Bytes::Host(_) => Ok(()),
            Bytes::Copy { bytes, region, engine } => {
                let bytes = std::mem::take(bytes);
                if bytes.is_empty() { Ok(()) } else { copy(engine, Region::host(super::raw::of_slice(&bytes)), *region) }
            }
        }
    }
}

impl Drop for MappedMut<'_> {
    fn drop(&mut self) {
        let _ = self.write_back();
    }
}

/// The bytes of a host region for reading.
///
/// # Safety
/// Nobody writes to it while the slice lives.
unsafe fn bytes_of<'a>(buf: Buf<'a>) -> &'a [u8] {
    // SAFETY: bytes are always aligned; the rest is the caller's promise.
    unsafe { buf.slice() }.unwrap_or(&[])
}

/// The bytes of a host region for writing.
///
/// # Safety
/// Nobody else reads or writes it while the slice lives.
unsafe fn bytes_mut_of<'a>(buf: Buf<'a>) -> &'a mut [u8] {
    // SAFETY: bytes are always aligned; the rest is the caller's promise.
    unsafe { buf.slice_mut(0, buf.len()) }.unwrap_or(&mut [])
}
