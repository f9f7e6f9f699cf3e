//! CUDA graphs: streams can be captured, so that programs which warm up that way go on; what they do meanwhile is done at once, and nothing is
//! recorded. So a graph can be made and destroyed, but not instantiated.

use crate::error::{Error, guard};
use crate::memory::Address;
use crate::pointers::Out;
use crate::stream::{known, number};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

static CAPTURED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn captured() -> MutexGuard<'static, BTreeSet<usize>> {
    CAPTURED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `cudaStreamBeginCapture`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamBeginCapture(stream: Address, _mode: i32) -> Error {
    guard(|| {
        known(stream)?;
        if captured().insert(stream.addr()) { Ok(()) } else { Err(Error::INVALID_VALUE) }
    })
}

/// `cudaStreamEndCapture`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamEndCapture(stream: Address, graph: Out<'_, Address>) -> Error {
    guard(|| {
        if !captured().remove(&stream.addr()) {
            return Err(Error::INVALID_VALUE);
        }
        graph.set(number())
    })
}

/// `cudaStreamIsCapturing`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaStreamIsCapturing(stream: Address, status: Out<'_, i32>) -> Error {
    guard(|| status.set(i32::from(captured().contains(&stream.addr()))))
}

/// `cudaStreamGetCaptureInfo` of CUDA 13. A stream that is being captured has no graph yet.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "CUDA's interface")]
pub extern "C" fn cudaStreamGetCaptureInfo(
    stream: Address,
    status: Out<'_, i32>,
    id: Out<'_, u64>,
    graph: Out<'_, Address>,
    dependencies: Out<'_, Address>,
    edges: Out<'_, Address>,
    count: Out<'_, usize>,
) -> Error {
    guard(|| {
        status.set(i32::from(captured().contains(&stream.addr())))?;
        id.set_optional(0);
        graph.set_optional(std::ptr::null_mut());
        dependencies.set_optional(std::ptr::null_mut());
        edges.set_optional(std::ptr::null_mut());
        count.set_optional(0);
        Ok(())
    })
}

/// `cudaThreadExchangeStreamCaptureMode`: all modes are one.
#[unsafe(no_mangle)]
pub extern "C" fn cudaThreadExchangeStreamCaptureMode(_mode: Address) -> Error {
    Error::SUCCESS
}

/// `cudaGraphCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphCreate(graph: Out<'_, Address>, _flags: u32) -> Error {
    guard(|| graph.set(number()))
}

/// `cudaGraphDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGraphDestroy(_graph: Address) -> Error {
    Error::SUCCESS
}

/// Writes functions that the host has nothing for.
macro_rules! unsupported {
    ($($name:ident)*) => {
        $(#[doc = concat!("`", stringify!($name), "`: not supported.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Error {
            guard(|| Err(Error::NOT_SUPPORTED))
        })*
    };
}

unsupported! {
    cudaGraphInstantiate
    cudaGraphLaunch
    cudaGraphExecDestroy
    cudaGraphExecUpdate
    cudaGraphGetNodes
    cudaGraphGetRootNodes
    cudaGraphNodeGetDependencies
    cudaGraphNodeGetDependentNodes
    cudaGraphAddChildGraphNode
    cudaGraphChildGraphNodeGetGraph
    cudaGraphExecChildGraphNodeSetParams
    cudaGraphAddMemcpyNode1D
    cudaGraphAddMemsetNode
    cudaGraphMemcpyNodeSetParams1D
    cudaGraphMemsetNodeSetParams
    cudaGraphRetainUserObject
    cudaUserObjectCreate
    cudaUserObjectRelease
    cudaLaunchKernel
    cudaLaunchKernelExC
    cudaKernelSetAttributeForDevice
    cudaLibraryGetKernel
    cudaLibraryLoadData
    cudaLibraryUnload
}
