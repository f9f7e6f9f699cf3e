//! CUDA graphs: work of a stream, captured once and launched as a whole.

use super::{CudaError, Current, Stream, check};
use cudarc::driver::sys::{self, CUgraph, CUgraphExec, CUstreamCaptureMode as Mode};
use std::sync::Arc;

/// Puts the thread into relaxed capture mode while it lives: calls such as loading modules and allocating are allowed during a capture.
#[derive(Debug)]
pub(crate) struct Relaxed(Mode);

impl Relaxed {
    pub(crate) fn new() -> Relaxed {
        let mut mode = Mode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: exchanges one value of the thread.
        unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        Relaxed(mode)
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: exchanges one value of the thread.
        unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut self.0) };
    }
}

/// An executable graph.
#[derive(Debug)]
pub struct Graph {
    raw: CUgraphExec,
    stream: Arc<Stream>,
}

// SAFETY: a graph is a handle that any thread may use, one at a time.
unsafe impl Send for Graph {}

impl Graph {
    /// Captures what `work` enqueues on the stream; nothing of it runs.
    ///
    /// # Errors
    /// [`CudaError::Call`] if the driver cannot capture it; the error of `work`.
    pub fn capture<E: From<CudaError>>(stream: &Arc<Stream>, work: impl FnOnce() -> Result<(), E>) -> Result<Graph, E> {
        let current = Current::of(stream.context())?;
        let mode = Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives.
        check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(stream.handle(), mode) })?;
        let result = current.outside(work);
        let mut graph: CUgraph = std::ptr::null_mut();
        // SAFETY: writes a handle; the capture was begun above.
        let ended = check("cuStreamEndCapture", unsafe { sys::cuStreamEndCapture(stream.handle(), &raw mut graph) });
        let mut raw = std::ptr::null_mut();
        let made = match (&result, &ended) {
            // SAFETY: writes a handle; the graph lives.
            (Ok(()), Ok(())) => check("cuGraphInstantiate", unsafe { sys::cuGraphInstantiateWithFlags(&raw mut raw, graph, 0) }),
            _ => Ok(()),
        };
        if !graph.is_null() {
            // SAFETY: made above, destroyed once.
            unsafe { sys::cuGraphDestroy(graph) };
        }
        result?;
        ended?;
        made?;
        Ok(Graph { raw, stream: Arc::clone(stream) })
    }

    /// Enqueues the graph on its stream.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    ///
    /// # Safety
    /// What the captured work uses is valid until it has completed.
    pub unsafe fn launch(&self) -> Result<(), CudaError> {
        let _current = Current::of(self.stream.context())?;
        // SAFETY: graph and stream live; that the memory does is the caller's promise.
        check("cuGraphLaunch", unsafe { sys::cuGraphLaunch(self.raw, self.stream.handle()) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Ok(_current) = Current::of(self.stream.context()) {
            // SAFETY: made by `capture`, destroyed once.
            unsafe { sys::cuGraphExecDestroy(self.raw) };
        }
    }
}
