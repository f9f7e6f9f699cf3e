//! Streams and events.

use super::{Context, CudaError, Current, check};
use cudarc::driver::sys::{self, CUevent, CUresult, CUstream, CUstreamCaptureStatus};
use std::sync::Arc;

/// A CUDA stream: our own, or the user's.
#[derive(Debug)]
pub struct Stream {
    raw: CUstream,
    owned: bool,
    context: Arc<Context>,
}

// SAFETY: a stream is a handle that any thread may use; the driver locks.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A new stream that does not synchronise with the null stream.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn new(context: &Arc<Context>) -> Result<Stream, CudaError> {
        let _current = Current::of(context)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes a handle; a context is current.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut raw, 1) })?;
        Ok(Stream { raw, owned: true, context: Arc::clone(context) })
    }

    /// The user's stream: a `CUstream`, or null or 1 (legacy default stream) or 2 (per-thread default stream).
    ///
    /// # Safety
    /// The stream belongs to the context and lives longer than the result.
    pub unsafe fn of_user(context: &Arc<Context>, raw: *mut std::ffi::c_void) -> Stream {
        Stream { raw: raw.cast(), owned: false, context: Arc::clone(context) }
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The handle, for calls of the driver.
    pub fn raw(&self) -> *mut std::ffi::c_void {
        self.raw.cast()
    }

    pub(crate) fn handle(&self) -> CUstream {
        self.raw
    }

    /// Waits until all its work has completed.
    ///
    /// # Errors
    /// [`CudaError::Call`], also for work that failed.
    pub fn synchronise(&self) -> Result<(), CudaError> {
        let _current = Current::of(&self.context)?;
        // SAFETY: the stream lives.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    /// Whether it is being captured into a graph; its context is current.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn is_capturing(&self, _: &Current) -> Result<bool, CudaError> {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: writes a status; the stream lives.
        check("cuStreamIsCapturing", unsafe { sys::cuStreamIsCapturing(self.raw, &raw mut status) })?;
        Ok(status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// Makes later work wait for the event.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn wait(&self, event: &Event) -> Result<(), CudaError> {
        let _current = Current::of(&self.context)?;
        // SAFETY: both live.
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.raw, event.raw, 0) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.owned
            && let Ok(_current) = Current::of(&self.context)
        {
            // SAFETY: made by `new`, destroyed once; the driver finishes its work first.
            unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// A CUDA event.
#[derive(Debug)]
pub struct Event {
    raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: an event is a handle that any thread may use; the driver locks.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// An event; `timed` ones measure time.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn new(context: &Arc<Context>, timed: bool) -> Result<Event, CudaError> {
        let _current = Current::of(context)?;
        let mut raw = std::ptr::null_mut();
        let flags = if timed { 0 } else { 2 };
        // SAFETY: writes a handle; a context is current.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut raw, flags) })?;
        Ok(Event { raw, context: Arc::clone(context) })
    }

    /// Records the event behind the stream's work so far.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        let _current = Current::of(&self.context)?;
        // SAFETY: both live.
        check("cuEventRecord", unsafe { sys::cuEventRecord(self.raw, stream.handle()) })
    }

    /// Whether the work before it has completed.
    ///
    /// # Errors
    /// [`CudaError::Call`], also for work that failed.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        let _current = Current::of(&self.context)?;
        // SAFETY: the event lives.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            status => check("cuEventQuery", status).map(|()| true),
        }
    }

    /// Waits until the work before it has completed.
    ///
    /// # Errors
    /// [`CudaError::Call`], also for work that failed.
    pub fn synchronise(&self) -> Result<(), CudaError> {
        let _current = Current::of(&self.context)?;
        // SAFETY: the event lives.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    /// Milliseconds from this event to a later one, both timed and completed.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn milliseconds_to(&self, later: &Event) -> Result<f32, CudaError> {
        let _current = Current::of(&self.context)?;
        let mut ms = 0.0;
        // SAFETY: writes one number; both live.
        check("cuEventElapsedTime", unsafe { sys::cuEventElapsedTime_v2(&raw mut ms, self.raw, later.raw) })?;
        Ok(ms)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_current) = Current::of(&self.context) {
            // SAFETY: made by `new`, destroyed once.
            unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
