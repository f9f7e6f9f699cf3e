//! The CUDA driver, loaded when it is first needed: contexts, streams, events, memory, modules, launches. The files here and `compile::nvrtc` are the only
//! ones of this crate with unsafe code.

mod context;
mod error;
mod graph;
mod memory;
mod module;
mod stream;
mod tensor_map;

pub use context::{Context, Current, count};
pub use error::CudaError;
pub use graph::Graph;
pub(crate) use graph::Relaxed;
pub use memory::{Block, Pool};
pub use module::{Function, LaunchShape, Module};
pub use stream::{Event, Stream};
pub use tensor_map::EncodedMap;

use cudarc::driver::sys::{self, CUresult};
use std::ffi::CStr;
use std::sync::OnceLock;

/// Loads the driver, once.
///
/// # Errors
/// [`CudaError::Missing`] without a driver, [`CudaError::Call`] where it does not start.
pub fn load() -> Result<(), CudaError> {
    static LOADED: OnceLock<Result<(), CudaError>> = OnceLock::new();
    LOADED
        .get_or_init(|| {
            // SAFETY: asks the loader for a library; its initialisers are the driver's own.
            if !unsafe { sys::is_culib_present() } {
                return Err(CudaError::Missing {
                    library: "the CUDA driver",
                    names: "libcuda.so and libcuda.so.1".into(),
                    advice: "install the driver of an NVIDIA GPU",
                });
            }
            // SAFETY: the library is there; the function takes no pointers.
            check("cuInit", unsafe { sys::cuInit(0) })
        })
        .clone()
}

/// The status of a function as a result.
pub(crate) fn check(function: &'static str, status: CUresult) -> Result<(), CudaError> {
    if status == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let text = |f: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
        let mut p = std::ptr::null();
        // SAFETY: the function writes a pointer to a constant string, or leaves null.
        unsafe {
            f(status, &raw mut p);
            if p.is_null() { format!("{status:?}") } else { CStr::from_ptr(p).to_string_lossy().into_owned() }
        }
    };
    Err(CudaError::Call { function, name: text(sys::cuGetErrorName), text: text(sys::cuGetErrorString) })
}
