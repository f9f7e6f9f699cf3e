//! Wrappers of the CUDA driver API, which is loaded when it is first needed: contexts, streams, events, memory, modules, launches, graphs, TMA descriptors. The
//! files here have unsafe code.

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
use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

/// Loads and initialises the driver, once.
///
/// # Errors
/// [`CudaError::Missing`] without a driver, [`CudaError::Call`] if it cannot be initialised.
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

/// Driver calls of a background thread: process exit, which shuts the driver down, waits for them.
pub(crate) struct Calls {
    _one: MutexGuard<'static, ()>,
}

/// Held during [`Calls`].
static CALLS: Mutex<()> = Mutex::new(());
/// The process is exiting.
static ENDED: AtomicBool = AtomicBool::new(false);
/// The process that registered `end`; a forked child has no background threads.
static PROCESS: OnceLock<u32> = OnceLock::new();

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// At exit: lets no more [`Calls`] begin and waits for those in progress, up to a second.
extern "C" fn end() {
    ENDED.store(true, Ordering::SeqCst);
    let is_ours = PROCESS.get() == Some(&std::process::id());
    // Loading a module takes less than a millisecond.
    let mut tries = if is_ours { 1000 } else { 0 };
    while tries > 0 && matches!(CALLS.try_lock(), Err(TryLockError::WouldBlock)) {
        std::thread::sleep(Duration::from_millis(1));
        tries -= 1;
    }
}

impl Calls {
    /// Registers the wait at process exit. The driver has been initialised before, so its own exit handler runs later.
    pub(crate) fn announce() {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            PROCESS.get_or_init(std::process::id);
            // SAFETY: the function lives as long as this code.
            unsafe { atexit(end) };
        });
    }

    /// Begins driver calls; `None` if the process is exiting.
    pub(crate) fn enter() -> Option<Calls> {
        let one = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        (!ENDED.load(Ordering::SeqCst)).then_some(Calls { _one: one })
    }
}

/// Converts the status of a driver function.
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
