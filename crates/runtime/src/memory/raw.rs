//! Memory over addresses: the user's slices, which the compiler vouches for, and raw addresses, which the user does. One of the files with
//! unsafe code.

use super::{Fits, Memory, Origin, Regions, Storage, needed, not_scalar};
use crate::{Buf, Element, Engine, Region};
use oxidnn_spec::{Error, Tensor};
use std::sync::Arc;

impl<'a> Memory<'a> {
    /// Memory at addresses of the engine's address space, one a buffer (values, then index arrays). A null address is legal until an
    /// execution needs the bytes.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for `any` and runtime layouts, host scalars, and a wrong number of addresses.
    ///
    /// # Safety
    /// While the memory object is in use, each non-null address must be valid for the bytes of its buffer, and the caller ensures that
    /// executions and others do not write while somebody reads or writes; nothing is checked.
    pub unsafe fn from_raw(engine: &Engine, tensor: Tensor, addresses: &[*mut u8]) -> Result<Memory<'a>, Error> {
        not_scalar(&tensor)?;
        if addresses.len() != tensor.buffers() {
            let expected = format!("{}", tensor.buffers());
            return Err(Error::invalid("number of buffers", addresses.len(), expected));
        }
        let mut regions = Vec::with_capacity(addresses.len());
        for (i, &p) in addresses.iter().enumerate() {
            // SAFETY: the caller promised that the address is null or valid for these bytes.
            regions.push(unsafe { of_address(engine, p, needed(&tensor, i)?) });
        }
        Ok(Memory::over(engine, tensor, Regions::new(regions.into_iter()), Origin::Unchecked))
    }

    /// Points buffer `index` at `address`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for host scalars and an index without a buffer.
    ///
    /// # Safety
    /// As [`Memory::from_raw`]; the memory is not counted from now on.
    pub unsafe fn set_data_handle(&mut self, index: usize, address: *mut u8) -> Result<(), Error> {
        not_scalar(&self.tensor)?;
        let count = self.regions.as_slice().len();
        let Some(engine) = &self.engine else { return Err(Error::invalid("memory", "memory without an engine", "memory of an engine")) };
        // SAFETY: the caller promised that the address is null or valid for these bytes.
        let new = unsafe { of_address(engine, address, needed(&self.tensor, index)?) };
        let slot = match &mut self.regions {
            Regions::One(r) => (index == 0).then_some(r),
            Regions::Many(r) => r.get_mut(index),
        };
        *slot.ok_or_else(|| Error::invalid("buffer index", index, format!("below {count}")))? = new;
        // Storage that nobody else holds, that owns no bytes and has no pending work, can serve the new address.
        if !Arc::get_mut(&mut self.storage).is_some_and(Storage::is_blank) {
            self.storage = Arc::default();
        }
        self.origin = Origin::Unchecked;
        self.notes = None;
        // Another address with as many bytes passes the same checks.
        if address.is_null() {
            self.fits = Fits::default();
        }
        Ok(())
    }
}

impl Memory<'static> {
    /// Memory that owns its bytes, in storage that has some.
    pub(super) fn owned(engine: Option<Engine>, tensor: Tensor, storage: Storage) -> Memory<'static> {
        // SAFETY: the storage lives as long as the memory and its views, which lend the regions for no longer than they are borrowed, and
        // counts its users.
        let regions = Regions::new(storage.regions().map(|r| unsafe { r.outlive() }));
        Memory { tensor, engine, regions, origin: Origin::Owned, storage: Arc::new(storage), fits: Fits::default(), notes: None }
    }
}

/// The user's slice, which the caller's lifetime keeps valid and unshared.
pub(super) fn of_slice_mut<T: Element>(data: &mut [T]) -> Buf<'_> {
    // SAFETY: a unique slice; the memory object made of it lives no longer than the borrow and guards its use.
    unsafe { Buf::new(data.as_mut_ptr().cast(), size_of_val(data)) }
}

/// The user's slice, which is only read.
pub(super) fn of_slice<T: Element>(data: &[T]) -> Buf<'_> {
    // SAFETY: a shared slice; the memory object made of it lives no longer than the borrow and refuses to be written.
    unsafe { Buf::new(data.as_ptr().cast_mut().cast(), size_of_val(data)) }
}

/// `bytes` at `address` of the engine's memory, or nothing at null.
///
/// # Safety
/// As [`Buf::new`], where the address is not null.
pub(super) unsafe fn of_address<'a>(engine: &Engine, address: *mut u8, bytes: usize) -> Region<'a> {
    let bytes = if address.is_null() { 0 } else { bytes };
    match engine.host_visible() {
        // SAFETY: the caller's promise; a region of no bytes is valid anywhere.
        true => Region::host(unsafe { Buf::new(address, bytes) }),
        false => Region::device(engine.id(), address.addr() as u64, bytes),
    }
}
