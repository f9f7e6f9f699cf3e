//! Streams, which are names, and events, which are points in time.

use crate::error::{Error, guard};
use crate::memory::Address;
use crate::pointers::Out;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

/// A number that looks like an address and is none.
pub(crate) fn number() -> Address {
    std::ptr::null_mut::<u8>().wrapping_add(NEXT.fetch_add(64, Ordering::Relaxed)).cast()
}

/// Streams that were made and not destroyed.
static STREAMS: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
/// When events were recorded, if they were.
static EVENTS: Mutex<BTreeMap<usize, Option<Instant>>> = Mutex::new(BTreeMap::new());

fn streams() -> MutexGuard<'static, BTreeSet<usize>> {
    STREAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn events() -> MutexGuard<'static, BTreeMap<usize, Option<Instant>>> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The null stream, the legacy one, that of the thread, and those that were made.
pub(crate) fn known(stream: Address) -> Result<(), Error> {
    if stream.addr() <= 2 || streams().contains(&stream.addr()) { Ok(()) } else { Err(Error::INVALID_RESOURCE_HANDLE) }
}

fn create(stream: Out<'_, Address>) -> Error {
    guard(|| {
        let made = number();
        streams().insert(made.addr());
        stream.set(made)
    })
}

/// `cudaStreamCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreate(stream: Out<'_, Address>) -> Error {
    create(stream)
}

/// `cudaStreamCreateWithFlags`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreateWithFlags(stream: Out<'_, Address>, _flags: u32) -> Error {
    create(stream)
}

/// `cudaStreamCreateWithPriority`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreateWithPriority(stream: Out<'_, Address>, _flags: u32, _priority: i32) -> Error {
    create(stream)
}

/// `cudaStreamDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamDestroy(stream: Address) -> Error {
    guard(|| if streams().remove(&stream.addr()) { Ok(()) } else { Err(Error::INVALID_RESOURCE_HANDLE) })
}

/// `cudaStreamSynchronize`: work is done already.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamSynchronize(stream: Address) -> Error {
    guard(|| known(stream))
}

/// `cudaStreamQuery`: work is done already.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamQuery(stream: Address) -> Error {
    guard(|| known(stream))
}

/// `cudaStreamWaitEvent`: what the event is behind is done already.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamWaitEvent(stream: Address, event: Address, _flags: u32) -> Error {
    guard(|| {
        known(stream)?;
        events().get(&event.addr()).map(drop).ok_or(Error::INVALID_RESOURCE_HANDLE)
    })
}

fn create_event(event: Out<'_, Address>) -> Error {
    guard(|| {
        let made = number();
        events().insert(made.addr(), None);
        event.set(made)
    })
}

/// `cudaEventCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventCreate(event: Out<'_, Address>) -> Error {
    create_event(event)
}

/// `cudaEventCreateWithFlags`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventCreateWithFlags(event: Out<'_, Address>, _flags: u32) -> Error {
    create_event(event)
}

/// `cudaEventDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventDestroy(event: Address) -> Error {
    guard(|| events().remove(&event.addr()).map(drop).ok_or(Error::INVALID_RESOURCE_HANDLE))
}

/// `cudaEventRecord`: now.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecord(event: Address, stream: Address) -> Error {
    guard(|| {
        known(stream)?;
        *events().get_mut(&event.addr()).ok_or(Error::INVALID_RESOURCE_HANDLE)? = Some(Instant::now());
        Ok(())
    })
}

/// `cudaEventSynchronize`: it is reached already.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventSynchronize(event: Address) -> Error {
    guard(|| events().get(&event.addr()).map(drop).ok_or(Error::INVALID_RESOURCE_HANDLE))
}

/// `cudaEventQuery`: it is reached already.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventQuery(event: Address) -> Error {
    cudaEventSynchronize(event)
}

/// `cudaEventElapsedTime`: milliseconds between two records.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventElapsedTime(milliseconds: Out<'_, f32>, start: Address, end: Address) -> Error {
    guard(|| {
        let events = events();
        let at = |event: Address| events.get(&event.addr()).copied().flatten().ok_or(Error::INVALID_RESOURCE_HANDLE);
        let (start, end) = (at(start)?, at(end)?);
        let passed = end.saturating_duration_since(start).as_secs_f64() - start.saturating_duration_since(end).as_secs_f64();
        milliseconds.set((passed * 1e3) as f32)
    })
}
