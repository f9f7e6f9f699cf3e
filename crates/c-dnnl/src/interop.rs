//! Interoperability with CUDA (`oxidnn_dnnl.h`): engines over the caller's contexts, streams over the caller's streams. Device memory comes from
//! `dnnl_memory_create`, which takes device addresses. One of the files with unsafe code.

use crate::engine::Engine;
use crate::handle::{Data, In, New, Out};
use crate::status::{Failure, Status, guard};
use crate::stream::Stream;
use oxidnn_cuda::driver::{self, Context, CudaError};
use oxidnn_cuda::{CudaDevice, CudaQueue};
use oxidnn_runtime as runtime;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The GPU of a context.
fn device(context: Data) -> Result<CudaDevice, CudaError> {
    // SAFETY: the caller promised a `CUcontext` that outlives everything created with it.
    let context = unsafe { Context::of_user(context.address().cast()) }?;
    let ordinal = context.ordinal()?;
    CudaDevice::over(context, ordinal)
}

/// `oxidnn_engine_create_cuda`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_engine_create_cuda(engine: New<'_, Engine>, context: Data) -> Status {
    guard("oxidnn_engine_create_cuda", || {
        engine.check("engine")?;
        if context.is_null() {
            return Err(Failure::null("context"));
        }
        let device = device(context).map_err(|why| Failure::invalid("context", why, "a CUcontext of a GPU that this process can use"))?;
        engine.share("engine", Engine::gpu((device.clone(), runtime::Engine::new(device))))
    })
}

/// `oxidnn_engine_get_cuda_context`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_engine_get_cuda_context(engine: In<'_, Engine>, context: Out<'_, *mut u8>) -> Status {
    guard("oxidnn_engine_get_cuda_context", || context.set("context", engine.get("engine")?.cuda()?.context().raw().cast()))
}

/// `oxidnn_stream_create_cuda`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_stream_create_cuda(stream: New<'_, Stream>, engine: In<'_, Engine>, cuda_stream: Data) -> Status {
    guard("oxidnn_stream_create_cuda", || {
        stream.check("stream")?;
        let engine = engine.share("engine")?;
        let device = engine.cuda()?;
        // SAFETY: the caller promised a `CUstream` of the engine's context that outlives the stream.
        let over = unsafe { driver::Stream::of_user(device.context(), cuda_stream.address().cast()) };
        let queue = Arc::new(CudaQueue::over(device, Arc::new(over)));
        let made = runtime::Stream::over(engine.runtime(), queue);
        stream.own("stream", Stream::over(engine, made))
    })
}

/// `oxidnn_stream_get_cuda_stream`.
#[unsafe(no_mangle)]
pub extern "C" fn oxidnn_stream_get_cuda_stream(stream: In<'_, Stream>, cuda_stream: Out<'_, *mut u8>) -> Status {
    guard("oxidnn_stream_get_cuda_stream", || {
        let stream = stream.get("stream")?;
        stream.engine().cuda()?;
        let queue = stream.runtime().queue().as_any().downcast_ref::<CudaQueue>();
        let queue = queue.ok_or_else(|| Failure::invalid("stream", "a stream without a CUstream", "one of a GPU"))?;
        cuda_stream.set("cuda_stream", queue.stream().raw().cast())
    })
}
