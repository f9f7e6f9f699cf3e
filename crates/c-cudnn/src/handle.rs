//! Handles: an engine, a stream on it, and the CUDA stream that the program named.

use crate::enums::*;
use crate::pointers::{self, Data, In, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_runtime::{self as runtime, fork};
use std::sync::{Mutex, OnceLock};

/// Chooses the engine: `cpu`, or `cuda`.
const VARIABLE: &str = "OXIDNN_CUDNN_ENGINE";

/// What `cudnnHandle_t` points to.
#[derive(Debug)]
pub struct Handle {
    stream: runtime::Stream,
    /// What `cudnnSetStream` was given: a key that is handed back. Work of the CPU engine is in order whatever it is.
    given: Mutex<Data>,
}

impl Owned for Handle {}

impl Handle {
    /// A handle on the engine that the environment asks for.
    ///
    /// # Errors
    /// `NOT_SUPPORTED` for an engine that is not there.
    pub(crate) fn new() -> Result<Handle, Failure> {
        Ok(Handle { stream: runtime::Stream::new(engine()?)?, given: Mutex::new(Data::NULL) })
    }

    /// What primitives are made on.
    pub(crate) fn engine(&self) -> &runtime::Engine {
        self.stream.engine()
    }

    /// What primitives are executed on. It may be asynchronous: nothing may assume that work is done when a call returns.
    pub(crate) fn stream(&self) -> &runtime::Stream {
        &self.stream
    }

    /// The address that `cudnnSetStream` was given.
    pub(crate) fn given_stream(&self) -> Data {
        *fork::lock(&self.given)
    }
}

/// The process's engine. Descriptors and plans can be made on it before there is a handle.
///
/// # Errors
/// `NOT_SUPPORTED` for an engine that is not there.
pub(crate) fn engine() -> Result<&'static runtime::Engine, Failure> {
    static ENGINE: OnceLock<Result<runtime::Engine, Failure>> = OnceLock::new();
    let engine = fork::once(&ENGINE, || match std::env::var(VARIABLE).as_deref() {
        Ok("cuda") => Err(Failure::unsupported(format_args!(
            "{VARIABLE}=cuda: this build of libcudnn.so.9 computes on the CPU engine only; unset it, or say cpu"
        ))),
        Ok(other) if !other.is_empty() && other != "cpu" => Err(Failure::invalid(VARIABLE, other, "cpu or cuda")),
        _ => Ok(runtime::Engine::new(CpuDevice::new(CpuTarget::host()))),
    });
    engine.as_ref().map_err(Clone::clone)
}

/// `cudnnCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreate(handle: New<'_, Handle>) -> Status {
    guard("cudnnCreate", || handle.own("handle", Handle::new))
}

/// `cudnnDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroy(handle: pointers::Handle<Handle>) -> Status {
    guard("cudnnDestroy", || {
        handle.destroy();
        Ok(())
    })
}

/// `cudnnSetStream`: any value, the legacy and per-thread ones too.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetStream(handle: In<'_, Handle>, stream: Data) -> Status {
    guard("cudnnSetStream", || {
        *fork::lock(&handle.get("handle")?.given) = stream;
        Ok(())
    })
}

/// `cudnnGetStream`: what `cudnnSetStream` was given, null before.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetStream(handle: In<'_, Handle>, stream: Out<'_, Data>) -> Status {
    guard("cudnnGetStream", || stream.set("streamId", handle.get("handle")?.given_stream()))
}

/// `cudnnGetBackdoor`, which no header declares: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetBackdoor() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}

/// `cudnnSetBackdoor`, which no header declares: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetBackdoor() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}

/// `cudnnSetBackdoorEx`, which no header declares: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetBackdoorEx() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}

/// `cudnnGetRNNDropoutLocationsInternal`, which no header declares.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetRNNDropoutLocationsInternal() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}
