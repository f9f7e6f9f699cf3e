//! Streams and events.

use crate::error::{Error, guard};
use crate::memory::Address;
use crate::pointers::Out;
use crate::work::{Capture, Stream, lock, settle_all, submit};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

/// A new handle: it looks like an address, but is none.
pub(crate) fn number() -> Address {
    std::ptr::null_mut::<u8>().wrapping_add(NEXT.fetch_add(64, Ordering::Relaxed)).cast()
}

/// A point in a stream: when it was reached.
#[derive(Default)]
struct Point {
    at: Mutex<Option<Instant>>,
    reached: Condvar,
}

/// The point at which an event was last recorded.
#[derive(Clone, Default)]
struct Event {
    point: Option<Arc<Point>>,
    /// The capture of the stream at that time; streams that wait for the event join it.
    capture: Option<Arc<Capture>>,
}

static EVENTS: Mutex<BTreeMap<usize, Event>> = Mutex::new(BTreeMap::new());

impl Point {
    fn reach(&self) {
        *lock(&self.at) = Some(Instant::now());
        self.reached.notify_all();
    }

    fn wait(&self) {
        let mut at = lock(&self.at);
        while at.is_none() {
            at = self.reached.wait(at).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn time(&self) -> Option<Instant> {
        *lock(&self.at)
    }
}

fn event(number: Address) -> Result<Event, Error> {
    lock(&EVENTS).get(&number.addr()).cloned().ok_or(Error::INVALID_RESOURCE_HANDLE)
}

/// Destroys all events.
pub(crate) fn clear() {
    let gone = std::mem::take(&mut *lock(&EVENTS));
    drop(gone);
}

/// `cudaStreamNonBlocking`.
const NON_BLOCKING: u32 = 1;

fn create(stream: Out<'_, Address>, flags: u32) -> Error {
    guard(|| {
        if flags > NON_BLOCKING {
            return Err(Error::INVALID_VALUE);
        }
        let made = number();
        Stream::create(made.addr(), flags != NON_BLOCKING)?;
        stream.set(made)
    })
}

/// `cudaStreamCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreate(stream: Out<'_, Address>) -> Error {
    create(stream, 0)
}

/// `cudaStreamCreateWithFlags`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreateWithFlags(stream: Out<'_, Address>, flags: u32) -> Error {
    create(stream, flags)
}

/// `cudaStreamCreateWithPriority`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamCreateWithPriority(stream: Out<'_, Address>, flags: u32, _priority: i32) -> Error {
    create(stream, flags)
}

/// `cudaStreamDestroy`: submitted work still runs.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamDestroy(stream: Address) -> Error {
    guard(|| Stream::destroy(stream.addr()))
}

/// `cudaStreamSynchronize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamSynchronize(stream: Address) -> Error {
    guard(|| match Stream::find(stream.addr())? {
        Some(stream) => stream.settle(),
        None => settle_all(),
    })
}

/// `cudaStreamQuery`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamQuery(stream: Address) -> Error {
    guard(|| match Stream::find(stream.addr())? {
        Some(stream) if !stream.is_done()? => Err(Error::NOT_READY),
        _ => Ok(()),
    })
}

/// `cudaStreamWaitEvent`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamWaitEvent(stream: Address, event: Address, _flags: u32) -> Error {
    guard(|| {
        let event = self::event(event)?;
        match (Stream::find(stream.addr())?, event.capture, event.point) {
            // A stream that waits for an event of a captured stream joins the capture. The order of submission respects all dependencies.
            (Some(stream), Some(capture), _) => stream.join(capture),
            (None, Some(_), _) => return Err(Error::STREAM_CAPTURE_UNSUPPORTED),
            (_, None, Some(point)) => {
                let waits = move || {
                    point.wait();
                    Ok(())
                };
                submit(stream.addr(), Arc::new(waits))?;
            }
            (_, None, None) => {}
        }
        Ok(())
    })
}

/// `cudaLaunchHostFunc`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaLaunchHostFunc(stream: Address, function: Option<extern "C" fn(Address)>, data: Address) -> Error {
    guard(|| {
        let (function, data) = (function.ok_or(Error::INVALID_VALUE)?, data.expose_provenance());
        let call = move || {
            function(std::ptr::with_exposed_provenance_mut(data));
            Ok(())
        };
        submit(stream.addr(), Arc::new(call))
    })
}

fn create_event(place: Out<'_, Address>) -> Error {
    guard(|| {
        let made = number();
        lock(&EVENTS).insert(made.addr(), Event::default());
        place.set(made)
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
    guard(|| lock(&EVENTS).remove(&event.addr()).map(drop).ok_or(Error::INVALID_RESOURCE_HANDLE))
}

/// `cudaEventRecord`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventRecord(event: Address, stream: Address) -> Error {
    guard(|| {
        self::event(event)?;
        let point = Arc::<Point>::default();
        let capture = Stream::find(stream.addr())?.and_then(|s| s.capture());
        let reached = point.clone();
        let reach = move || {
            reached.reach();
            Ok(())
        };
        submit(stream.addr(), Arc::new(reach))?;
        lock(&EVENTS).insert(event.addr(), Event { point: Some(point), capture });
        Ok(())
    })
}

/// `cudaEventSynchronize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventSynchronize(event: Address) -> Error {
    guard(|| match self::event(event)? {
        Event { capture: Some(_), point: Some(point) } if point.time().is_none() => Err(Error::STREAM_CAPTURE_UNSUPPORTED),
        Event { point, .. } => {
            point.inspect(|p| p.wait());
            Ok(())
        }
    })
}

/// `cudaEventQuery`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventQuery(event: Address) -> Error {
    guard(|| match self::event(event)? {
        Event { capture: Some(_), point: Some(point) } if point.time().is_none() => Err(Error::STREAM_CAPTURE_UNSUPPORTED),
        Event { point: Some(point), .. } if point.time().is_none() => Err(Error::NOT_READY),
        _ => Ok(()),
    })
}

/// `cudaEventElapsedTime`: milliseconds between two events.
#[unsafe(no_mangle)]
pub extern "C" fn cudaEventElapsedTime(milliseconds: Out<'_, f32>, start: Address, end: Address) -> Error {
    guard(|| {
        let at = |number: Address| event(number)?.point.ok_or(Error::INVALID_RESOURCE_HANDLE)?.time().ok_or(Error::NOT_READY);
        let (start, end) = (at(start)?, at(end)?);
        let passed = end.saturating_duration_since(start).as_secs_f64() - start.saturating_duration_since(end).as_secs_f64();
        milliseconds.set((passed * 1e3) as f32)
    })
}
