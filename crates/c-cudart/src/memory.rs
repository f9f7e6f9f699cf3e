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

/// An allocated block.
#[derive(Clone, Copy)]
struct Block {
    layout: Layout,
    /// `cudaMallocAsync` made it, so `cudaDeviceReset` leaves it.
    pooled: bool,
}

/// The allocated blocks, by address.
static BLOCKS: Mutex<BTreeMap<usize, Block>> = Mutex::new(BTreeMap::new());

fn blocks() -> MutexGuard<'static, BTreeMap<usize, Block>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates a block of `bytes`; null for 0 bytes.
fn allocate(place: Out<'_, Address>, bytes: usize, pooled: bool) -> Error {
    guard(|| {
        if bytes == 0 {
            return place.set(std::ptr::null_mut());
        }
        let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| Error::MEMORY_ALLOCATION)?;
        // SAFETY: the layout has at least one byte.
        let block = unsafe { alloc_zeroed(layout) };
        if block.is_null() {
            return Err(Error::MEMORY_ALLOCATION);
        }
        blocks().insert(block.expose_provenance(), Block { layout, pooled });
        place.set(block.cast())
    })
}

/// Frees a block after waiting for all streams; null is allowed.
fn release(block: Address) -> Error {
    guard(|| {
        if block.is_null() {
            return Ok(());
        }
        let done = settle_all();
        let found = blocks().remove(&block.addr()).ok_or(Error::INVALID_VALUE)?;
        free(block.addr(), found);
        done
    })
}

/// Frees a block that is registered no more.
fn free(address: usize, block: Block) {
    // SAFETY: the block was registered, so it was allocated here with this layout and not freed yet.
    unsafe { dealloc(std::ptr::with_exposed_provenance_mut(address), block.layout) };
}

/// Frees all blocks but those of `cudaMallocAsync`.
pub(crate) fn clear() {
    let gone: Vec<_> = blocks().extract_if(.., |_, block| !block.pooled).collect();
    gone.into_iter().for_each(|(address, block)| free(address, block));
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
        Ok(())
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
        Ok(())
    }))
}

/// Runs work now, after waiting for all streams.
fn now(work: Result<Work, Error>) -> Error {
    guard(|| submit(0, work?))
}

/// The work of copying in a direction that `cudaMemcpyKind` has.
fn directed(to: Address, from: *const c_void, bytes: usize, kind: i32) -> Result<Work, Error> {
    if (0..=4).contains(&kind) { copying(to, from, bytes) } else { Err(Error::INVALID_DIRECTION) }
}

/// Submits work to a stream.
fn on(stream: Address, work: Result<Work, Error>) -> Error {
    guard(|| submit(stream.addr(), work?))
}

/// `cudaMalloc`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMalloc(place: Out<'_, Address>, bytes: usize) -> Error {
    allocate(place, bytes, false)
}

/// `cudaMallocManaged`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocManaged(place: Out<'_, Address>, bytes: usize, _flags: u32) -> Error {
    allocate(place, bytes, false)
}

/// `cudaMallocHost`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocHost(place: Out<'_, Address>, bytes: usize) -> Error {
    allocate(place, bytes, false)
}

/// `cudaHostAlloc`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaHostAlloc(place: Out<'_, Address>, bytes: usize, _flags: u32) -> Error {
    allocate(place, bytes, false)
}

/// `cudaMallocAsync`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMallocAsync(place: Out<'_, Address>, bytes: usize, _stream: Address) -> Error {
    allocate(place, bytes, true)
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
pub extern "C" fn cudaMemcpy(to: Address, from: *const c_void, bytes: usize, kind: i32) -> Error {
    now(directed(to, from, bytes, kind))
}

/// `cudaMemcpyAsync`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaMemcpyAsync(to: Address, from: *const c_void, bytes: usize, kind: i32, stream: Address) -> Error {
    on(stream, directed(to, from, bytes, kind))
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
        let inside = blocks().range(..=at.addr()).next_back().is_some_and(|(start, block)| at.addr() < start + block.layout.size());
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
        let used: usize = blocks().values().map(|block| block.layout.size()).sum();
        free.set(ALL.saturating_sub(used))?;
        total.set(ALL)
    })
}
