//! Memory objects: a tensor description and the bytes behind it.
//!
//! The bytes are owned (zeroed, 64-byte aligned), borrowed from the user's slice for `'a`, or at addresses that the user vouches for
//! (unsafe). A sparse tensor has several buffers: values first, then its index arrays.
//!
//! **Soundness.** Executions take `&Memory`, so each region counts its users: inputs are borrowed shared, outputs exclusively, while the
//! execution lasts, and a conflict is a typed error. Views of one region share its count. Memory made from raw addresses is not counted:
//! its maker promised.

mod access;
mod alloc;
mod map;
mod notes;
mod raw;
#[cfg(test)]
mod tests;
mod uses;

pub use access::Native;
pub use alloc::{ALIGNMENT, Allocation, huge_pages};
pub use map::{Mapped, MappedMut};
pub use notes::Notes;
pub(crate) use uses::{Access, Guard, Uses};

use crate::scratch::{self, Lease};
use crate::{Element, Engine, Region};
use oxidnn_spec::{DataType, Error, Format, Tensor, Use};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A tensor in memory, on an engine (host scalars: on the host).
pub struct Memory<'a> {
    tensor: Tensor,
    engine: Option<Engine>,
    regions: Regions<'a>,
    origin: Origin,
    storage: Arc<Storage>,
    fits: Fits,
    /// Of bytes that no longer change, see [`Memory::lasting`].
    notes: Option<Notes>,
}

/// The operands that the memory last passed the checks of, one for reading and one for writing: their stamps
/// ([`crate::PrimitiveDesc::stamp`]), which are never used twice. An execution that finds its own stamp here has nothing to check:
/// descriptions, engines and buffers never change, except for addresses.
#[derive(Default)]
struct Fits([AtomicU64; 2]);

/// Keeps the bytes alive and counts their users.
#[derive(Debug, Default)]
pub(crate) struct Storage {
    pub(crate) uses: Uses,
    owned: Vec<Allocation>,
    lease: Option<Lease<'static>>,
    /// Nothing writes the bytes any more.
    lasts: AtomicBool,
}

impl Storage {
    /// Whether it keeps nothing, neither bytes nor submitted work.
    fn is_blank(&mut self) -> bool {
        self.owned.is_empty() && self.lease.is_none() && !self.uses.is_pending() && !*self.lasts.get_mut()
    }

    /// The bytes that it keeps: one region an allocation.
    fn regions(&self) -> impl Iterator<Item = Region<'_>> {
        self.lease.iter().map(|l| Region::host(l.buf())).chain(self.owned.iter().map(Allocation::region))
    }
}

/// The origin of the bytes, which determines the allowed uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Allocated here.
    Owned,
    /// The user's `&mut` slice.
    Borrowed,
    /// The user's `&` slice.
    ReadOnly,
    /// Addresses that the user vouches for.
    Unchecked,
}

/// One buffer nearly always; several for sparse tensors.
#[derive(Clone)]
enum Regions<'a> {
    One(Region<'a>),
    Many(Box<[Region<'a>]>),
}

impl<'a> Regions<'a> {
    fn new(mut regions: impl Iterator<Item = Region<'a>>) -> Regions<'a> {
        match (regions.next(), regions.next()) {
            (Some(only), None) => Regions::One(only),
            (first, second) => Regions::Many(first.into_iter().chain(second).chain(regions).collect()),
        }
    }
    #[inline]
    fn as_slice(&self) -> &[Region<'a>] {
        match self {
            Regions::One(r) => std::slice::from_ref(r),
            Regions::Many(r) => r,
        }
    }
}

/// Bytes of buffer `index`, for a tensor that memory can be made of.
fn needed(tensor: &Tensor, index: usize) -> Result<usize, Error> {
    let expected = "a layout with all sizes and strides given";
    if tensor.layout.is_any() {
        return Err(Error::invalid("memory descriptor", "the layout `any`", expected));
    }
    tensor.buffer_bytes(index).ok_or_else(|| {
        let got = if tensor.layout.has_runtime() { "runtime sizes".to_string() } else { format!("{} that overflow", tensor.dims()) };
        Error::invalid("memory descriptor", got, expected)
    })
}

impl Memory<'static> {
    /// Zeroed memory for `tensor`, owned, 64-byte aligned.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for `any` or runtime layouts and host scalars, [`Error::OutOfMemory`].
    pub fn new(engine: &Engine, tensor: Tensor) -> Result<Memory<'static>, Error> {
        not_scalar(&tensor)?;
        let bytes = (0..tensor.buffers()).map(|i| needed(&tensor, i)).collect::<Result<Vec<_>, _>>()?;
        let owned = bytes.into_iter().map(|b| engine.device().allocate(b)).collect::<Result<Vec<_>, _>>()?;
        Ok(Memory::owned(Some(engine.clone()), tensor, Storage { owned, ..Storage::default() }))
    }

    /// `bytes` of the process's scratch in one dimension, contents undefined, for a time: given back when the memory is dropped.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn scratch(engine: &Engine, bytes: usize) -> Result<Memory<'static>, Error> {
        let tensor = Tensor::plain([i64::try_from(bytes).unwrap_or(i64::MAX)], DataType::U8)?;
        if !engine.host_visible() {
            return Memory::new(engine, tensor);
        }
        let lease = scratch::arena().lease(bytes)?;
        Ok(Memory::owned(Some(engine.clone()), tensor, Storage { lease: Some(lease), ..Storage::default() }))
    }

    /// One number on the host, of `T`'s data type; needs no engine.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn host_scalar<T: Native>(value: T) -> Result<Memory<'static>, Error> {
        Memory::host_scalar_of(T::DTYPE, bytemuck::bytes_of(&value))
    }

    /// One number on the host, of any data type, by its bytes.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for another number of bytes than the type has, [`Error::OutOfMemory`].
    pub fn host_scalar_of(dtype: DataType, value: &[u8]) -> Result<Memory<'static>, Error> {
        if dtype.bytes(1) != Some(value.len()) {
            return Err(Error::invalid("host scalar", format_args!("{} bytes", value.len()), format_args!("those of one {dtype}")));
        }
        let owned = Allocation::host(value.len())?;
        owned.buf().write(0, value);
        Ok(Memory::owned(None, Tensor::host_scalar(dtype), Storage { owned: vec![owned], ..Storage::default() }))
    }
}

impl<'a> Memory<'a> {
    fn over(engine: &Engine, tensor: Tensor, regions: Regions<'a>, origin: Origin) -> Memory<'a> {
        Memory { tensor, engine: Some(engine.clone()), regions, origin, storage: Arc::default(), fits: Fits::default(), notes: None }
    }

    /// Memory over the user's slice, which executions may write.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the slice is shorter than the tensor, for layouts without one buffer of known size, and for engines
    /// whose memory is not the host's.
    pub fn from_slice_mut<T: Element>(engine: &Engine, tensor: Tensor, data: &'a mut [T]) -> Result<Memory<'a>, Error> {
        let region = Region::host(raw::of_slice_mut(data));
        Memory::borrowed(engine, tensor, region, Origin::Borrowed)
    }

    /// Memory over the user's slice, for reading only: as an output it is refused.
    ///
    /// # Errors
    /// As [`Memory::from_slice_mut`].
    pub fn from_slice<T: Element>(engine: &Engine, tensor: Tensor, data: &'a [T]) -> Result<Memory<'a>, Error> {
        let region = Region::host(raw::of_slice(data));
        Memory::borrowed(engine, tensor, region, Origin::ReadOnly)
    }

    fn borrowed(engine: &Engine, tensor: Tensor, region: Region<'a>, origin: Origin) -> Result<Memory<'a>, Error> {
        not_scalar(&tensor)?;
        if !engine.host_visible() {
            return Err(Error::invalid("memory", "a host slice", format!("memory of {engine}")));
        }
        if tensor.buffers() != 1 {
            return Err(Error::invalid("memory", "one slice", format!("{} buffers", tensor.buffers())));
        }
        let need = needed(&tensor, 0)?;
        if region.len() < need {
            return Err(Error::invalid("memory", format!("a slice of {} bytes", region.len()), format!("at least {need} bytes")));
        }
        Ok(Memory::over(engine, tensor, Regions::One(region.part(0, need)), origin))
    }

    /// The same bytes under another description: a reshape, a permutation, a submemory. Both count readers and writers together.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the new description needs more bytes, or either has more than one buffer.
    pub fn view(&self, tensor: Tensor) -> Result<Memory<'a>, Error> {
        self.view_at(0, tensor)
    }

    /// As [`Memory::view`], of the bytes from `start` on.
    ///
    /// # Errors
    /// As [`Memory::view`].
    pub fn view_at(&self, start: usize, tensor: Tensor) -> Result<Memory<'a>, Error> {
        let (need, region) = (needed(&tensor, 0)?, self.regions.as_slice()[0]);
        let single = tensor.buffers() == 1 && self.regions.as_slice().len() == 1;
        if !single || matches!(tensor.layout.format, Format::HostScalar) || start.checked_add(need).is_none_or(|end| end > region.len()) {
            let got = format!("a description of {need} bytes from byte {start} in {} buffer(s)", tensor.buffers());
            return Err(Error::invalid("view", got, format!("one buffer of at most {} bytes", region.len())));
        }
        let regions = Regions::One(region.part(start, need));
        let (engine, storage, notes) = (self.engine.clone(), self.storage.clone(), self.notes.clone());
        Ok(Memory { tensor, engine, regions, origin: self.origin, storage, fits: Fits::default(), notes })
    }

    /// The same memory, which is only read from now on, views of it included: kernels keep notes about its bytes instead of inspecting them
    /// again. Work that was submitted to write it still does, before any reader.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for memory at raw addresses, which others may write.
    pub fn lasting(self) -> Result<Memory<'a>, Error> {
        if !self.is_checked() {
            return Err(Error::invalid("memory", "memory at a raw address", "memory that executions and mappings alone write"));
        }
        self.storage.lasts.store(true, Ordering::Relaxed);
        let notes = self.regions().first().and_then(Region::bytes).map(Notes::new);
        Ok(Memory { notes, ..self })
    }

    /// Returns when all work that was submitted on its bytes is done.
    ///
    /// # Errors
    /// A failure of that work which its stream has not shown yet.
    pub fn wait(&self) -> Result<(), Error> {
        self.storage.uses.settle(Access::Write)
    }

    /// Its description.
    #[inline]
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// The engine it belongs to; `None` for a host scalar.
    #[inline]
    pub fn engine(&self) -> Option<&Engine> {
        self.engine.as_ref()
    }

    /// Number of buffers: 1, or more for sparse tensors.
    pub fn buffers(&self) -> usize {
        self.regions.as_slice().len()
    }

    /// Address of buffer `index` in the engine's address space; `None` without such a buffer. Null where the user gave null.
    pub fn data_handle(&self, index: usize) -> Option<*mut u8> {
        self.regions.as_slice().get(index).map(Region::as_ptr)
    }

    #[inline]
    pub(crate) fn regions(&self) -> &[Region<'_>] {
        self.regions.as_slice()
    }

    /// Whether readers and writers are counted.
    #[inline]
    pub(crate) fn is_checked(&self) -> bool {
        self.origin != Origin::Unchecked
    }

    /// Whether it may only be read.
    #[inline]
    pub(crate) fn is_read_only(&self) -> bool {
        self.origin == Origin::ReadOnly || self.storage.lasts.load(Ordering::Relaxed)
    }

    /// Notes about its bytes.
    #[inline]
    pub(crate) fn notes(&self) -> Option<&Notes> {
        self.notes.as_ref()
    }

    /// Whether the bytes live as long as the storage, whatever happens to the memory object.
    pub(crate) fn outlives_borrow(&self) -> bool {
        matches!(self.origin, Origin::Owned | Origin::Unchecked)
    }

    /// Whether both count their users together.
    #[inline]
    pub(crate) fn aliases(&self, o: &Memory<'_>) -> bool {
        Arc::ptr_eq(&self.storage, &o.storage)
    }

    /// Whether the two, of counted memory, share a byte. The bytes before a view's first element do not belong to the view.
    pub(crate) fn overlaps(&self, o: &Memory<'_>) -> bool {
        self.aliases(o) && self.used().any(|a| o.used().any(|b| a.overlaps(&b)))
    }

    fn used(&self) -> impl Iterator<Item = Region<'_>> {
        let before = self.tensor.blocking().and_then(|b| usize::try_from(b.offset).ok()).unwrap_or(0);
        let before = before.saturating_mul(self.tensor.dtype.bits()) / 8;
        self.regions().iter().map(move |b| b.part(before.min(b.len()), b.len().saturating_sub(before)))
    }

    /// Whether each element of one is the same element of the other.
    pub(crate) fn is_same_place(&self, o: &Memory<'_>) -> bool {
        self.tensor == o.tensor && self.regions().first().map(Region::as_ptr) == o.regions().first().map(Region::as_ptr)
    }

    #[inline]
    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Whether it was found to fit the operand of this stamp, which uses it so.
    #[inline]
    pub(crate) fn is_known_to_fit(&self, usage: Use, stamp: u64) -> bool {
        self.fits.0[usage as usize].load(Ordering::Relaxed) == stamp
    }

    /// Remembers that it fits the operand of this stamp, which uses it so.
    pub(crate) fn remember_fit(&self, usage: Use, stamp: u64) {
        self.fits.0[usage as usize].store(stamp, Ordering::Relaxed);
    }
}

fn not_scalar(tensor: &Tensor) -> Result<(), Error> {
    if matches!(tensor.layout.format, Format::HostScalar) {
        return Err(Error::invalid("memory descriptor", "a host scalar", "a tensor on an engine"));
    }
    Ok(())
}

impl fmt::Debug for Memory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({}, {:?})", self.tensor, self.origin)
    }
}
