//! Mapping: the bytes of a memory for the host, as long as a guard lives. One of the files with unsafe code.

use super::{Access, Guard, Memory, Origin};
use crate::{Buf, Engine};
use oxidnn_spec::Error;
use std::ops::{Deref, DerefMut};

/// The bytes of one buffer for reading; others may read meanwhile.
#[derive(Debug)]
pub struct Mapped<'m> {
    bytes: Bytes<&'m [u8]>,
    _guard: Guard,
}

/// The bytes of one buffer for reading and writing; nobody else uses them meanwhile. Device memory is written back when dropped.
#[derive(Debug)]
pub struct MappedMut<'m> {
    bytes: Bytes<&'m mut [u8]>,
    _guard: Guard,
}

#[derive(Debug)]
enum Bytes<S> {
    Host(S),
    Copy { bytes: Vec<u8>, buf: Buf, engine: Engine },
}

impl<'a> Memory<'a> {
    /// Takes the memory for the host's own access.
    fn guard(&self, access: Access) -> Result<Guard, Error> {
        if access == Access::Write && self.origin == Origin::ReadOnly {
            return Err(Error::invalid("map", "memory over a slice that may only be read", "memory that may be written"));
        }
        let counted = (self.origin != Origin::Unchecked).then_some(access);
        Guard::take(&self.storage, counted)
            .ok_or_else(|| Error::invalid("map", self.storage.borrow.state(), "memory that no execution or mapping uses"))
    }

    fn buf(&self, index: usize) -> Result<Buf, Error> {
        let bufs = self.bufs.as_slice();
        let count = bufs.len();
        bufs.get(index).copied().ok_or_else(|| Error::invalid("buffer index", index, format!("below {count}")))
    }

    /// The engine whose memory the host cannot address, if it is such a one.
    fn remote(&self) -> Option<&Engine> {
        self.engine.as_ref().filter(|e| !e.device().host_visible())
    }

    /// The bytes of buffer `index` (0 for dense tensors) for reading: no bytes where the tensor is empty or its address null.
    /// Work submitted to asynchronous streams must have been waited for.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a wrong index, or while an execution or mapping writes it.
    pub fn map(&self, index: usize) -> Result<Mapped<'_>, Error> {
        let (buf, guard) = (self.buf(index)?, self.guard(Access::Read)?);
        let bytes = match self.remote() {
            // SAFETY: the guard keeps writers out while the mapping lives (or the maker of the memory promised to).
            None => Bytes::Host(unsafe { bytes_of(buf) }),
            Some(engine) => {
                let mut bytes = vec![0; buf.len()];
                engine.device().read(buf, &mut bytes)?;
                Bytes::Copy { bytes, buf, engine: engine.clone() }
            }
        };
        Ok(Mapped { bytes, _guard: guard })
    }

    /// The bytes of buffer `index` for reading and writing.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a wrong index, for memory over a `&` slice, or while an execution or mapping uses it.
    pub fn map_mut(&self, index: usize) -> Result<MappedMut<'_>, Error> {
        let (buf, guard) = (self.buf(index)?, self.guard(Access::Write)?);
        let bytes = match self.remote() {
            // SAFETY: the guard keeps everybody else out while the mapping lives (or the maker of the memory promised to).
            None => Bytes::Host(unsafe { bytes_mut_of(buf) }),
            Some(engine) => {
                let mut bytes = vec![0; buf.len()];
                engine.device().read(buf, &mut bytes)?;
                Bytes::Copy { bytes, buf, engine: engine.clone() }
            }
        };
        Ok(MappedMut { bytes, _guard: guard })
    }
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
            Bytes::Copy { bytes, buf, engine } => {
                let bytes = std::mem::take(bytes);
                if bytes.is_empty() { Ok(()) } else { engine.device().write(&bytes, *buf) }
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
unsafe fn bytes_of<'a>(buf: Buf) -> &'a [u8] {
    // SAFETY: bytes are always aligned; the rest is the caller's promise.
    unsafe { buf.slice() }.unwrap_or(&[])
}

/// The bytes of a host region for writing.
///
/// # Safety
/// Nobody else reads or writes it while the slice lives.
unsafe fn bytes_mut_of<'a>(buf: Buf) -> &'a mut [u8] {
    // SAFETY: bytes are always aligned; the rest is the caller's promise.
    unsafe { buf.slice_mut(0, buf.len()) }.unwrap_or(&mut [])
}
