//! Memory: host blocks, registered by address. **The only unsafe code of this crate.**

use crate::error::{Error, guard};
use crate::pointers::Out;
use crate::work::{Stream, Work, settle_all, submit};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An address that C passes.
pub type Address = *mut c_void;

/// The alignment that `cudaMalloc` guarantees.
const ALIGNMENT: usize = 256;

/// Sizes of the allocated blocks, by address.
static BLOCKS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn blocks() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn layout(bytes: usize) -> Result<Layout, Error> {
    Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| Error::MEMORY_ALLOCATION)
}

/// Allocates a block of `bytes`; null for 0 bytes.
fn allocate(place: Out<'_, Address>, bytes: usize) -> Error {
    guard(|| {
        if bytes == 0 {
            return place.set(std::ptr::null_mut());
        }
        let layout = layout(bytes)?;
        // SAFETY: the layout has at least one byte.
        let block = unsafe { alloc_zeroed(layout) };
        if block.is_null() {
            return Err(Error::MEMORY_ALLOCATION);
        }
        blocks().insert(block.addr(), bytes);
        place.set(block.cast())
    })
}

/// Frees a block after waiting for all streams; null is allowed.
fn release(block: Address) -> Error {
    guard(|| {
        if block.is_null() {
            return Ok(());
        }
        settle_all();
        let bytes = blocks().remove(&block.addr()).ok_or(Error::INVALID_VALUE)?;
        let layout = layout(bytes)?;
        // SAFETY: the block was registered, so it was allocated here with this layout and not freed yet.
        unsafe { dealloc(block.cast(), layout) };
        Ok(())
    })
}

/// Work that copies bytes; the ranges may overlap.
///
/// # Errors
/// `cudaErrorInvalidValue` for null.
pub(crate) fn copying(to: Address, from: *const c_void, bytes: usize) -> Result<Work, Error> {
    if bytes > 0 && (to.is_null() || from.is_null()) {
        return Err(Error::INVALID_VALUE);
    }
    let (to, from) = (to.expose_provenance(), from.expose_provenance());
    Ok(Arc::new(move || {
        let (to, from) = (std::ptr::with_exposed_provenance_mut::<u8>(to), std::ptr::with_exposed_provenance::<u8>(from));
        if bytes > 0 {
            // SAFETY: the caller of the C function promised that both addresses are valid for as many bytes until the stream gets here.
            unsafe { std::ptr::copy(from, to, bytes) };
        }
    }))
}

/// Work that fills bytes.
///
/// # Errors
/// `cudaErrorInvalidValue` for null.
fn filling(to: Address, value: i32, bytes: usize) -> Result<Work, Error> {
    if bytes > 0 && to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let to = to.expose_provenance();
    Ok(Arc::new(move || {
        if bytes > 0 {
            // SAFETY: the caller of the C function promised that the address is valid for as many bytes until the stream gets here.
            unsafe { std::ptr::write_bytes(std::ptr::with_exposed_provenance_mut::<u8>(to), value as u8, bytes) };
        }
    }))
}

/// Runs work now, after waiting for all streams.
fn now(work: Result<Work, Error>) -> Error {
    guard(|| {
        let work = work?;
        settle_all();
        work();
        Ok(())
    })
}

/// Submits work to a stream.
fn on(stream: Address, work: Result<Work, Error>) -> Error {
    guard(|| submit(stream.addr(), work?))
}

/// `cudaMalloc`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMalloc(place: Out<'_, Address>, bytes: usize) -> Error {
    allocate(place, bytes)
}

/// `cudaMallocManaged`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocManaged(place: Out<'_, Address>, bytes: usize, _flags: u32) -> Error {
    allocate(place, bytes)
}

/// `cudaMallocHost`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocHost(place: Out<'_, Address>, bytes: usize) -> Error {
    allocate(place, bytes)
}

/// `cudaHostAlloc`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostAlloc(place: Out<'_, Address>, bytes: usize, _flags: u32) -> Error {
    allocate(place, bytes)
}

/// `cudaMallocAsync`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocAsync(place: Out<'_, Address>, bytes: usize, _stream: Address) -> Error {
    allocate(place, bytes)
}

/// `cudaFree`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFree(block: Address) -> Error {
    release(block)
}

/// `cudaFreeHost`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeHost(block: Address) -> Error {
    release(block)
}

/// `cudaFreeAsync`: waits for all streams; refused while the stream is captured, since the graph's launches would use the block.
#[unsafe(no_mangle)]
pub extern "C" fn cudaFreeAsync(block: Address, stream: Address) -> Error {
    match Stream::find(stream.addr()) {
        Ok(Some(stream)) if stream.capture().is_some() => guard(|| Err(Error::STREAM_CAPTURE_UNSUPPORTED)),
        Ok(_) => release(block),
        Err(wrong) => guard(|| Err(wrong)),
    }
}

/// `cudaMemcpy`, whatever the direction.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpy(to: Address, from: *const c_void, bytes: usize, _kind: i32) -> Error {
    now(copying(to, from, bytes))
}

/// `cudaMemcpyAsync`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyAsync(to: Address, from: *const c_void, bytes: usize, _kind: i32, stream: Address) -> Error {
    on(stream, copying(to, from, bytes))
}

/// `cudaMemset`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemset(to: Address, value: i32, bytes: usize) -> Error {
    now(filling(to, value, bytes))
}

/// `cudaMemsetAsync`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemsetAsync(to: Address, value: i32, bytes: usize, stream: Address) -> Error {
    on(stream, filling(to, value, bytes))
}

/// `struct cudaPointerAttributes`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PointerAttributes {
    kind: i32,
    device: i32,
    device_pointer: Address,
    host_pointer: Address,
    reserved: [i64; 8],
}

/// `cudaPointerGetAttributes`: managed memory inside a block, else unregistered.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPointerGetAttributes(attributes: Out<'_, PointerAttributes>, at: Address) -> Error {
    guard(|| {
        let inside = blocks().range(..=at.addr()).next_back().is_some_and(|(start, bytes)| at.addr() < start + bytes);
        let (kind, device) = if inside { (3, 0) } else { (0, -2) };
        let device_pointer = if inside { at } else { std::ptr::null_mut() };
        attributes.set(PointerAttributes { kind, device, device_pointer, host_pointer: at, reserved: [0; 8] })
    })
}

/// `cudaMemGetInfo`: pretends to have one TiB, less what is allocated.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemGetInfo(free: Out<'_, usize>, total: Out<'_, usize>) -> Error {
    guard(|| {
        const ALL: usize = 1 << 40;
        let used: usize = blocks().values().sum();
        free.set(ALL.saturating_sub(used))?;
        total.set(ALL)
    })
}
