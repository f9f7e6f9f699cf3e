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
use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

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

/// Calls of a thread that the program does not know of: the driver must not end under them, as it does with the process.
pub(crate) struct Calls {
    _one: MutexGuard<'static, ()>,
}

/// Locked during [`Calls`].
static CALLS: Mutex<()> = Mutex::new(());
/// The process ends.
static ENDED: AtomicBool = AtomicBool::new(false);
/// The process whose end it is; a child of a fork has no such threads.
static PROCESS: OnceLock<u32> = OnceLock::new();

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// Waits for [`Calls`], and lets no more begin.
extern "C" fn end() {
    ENDED.store(true, Ordering::SeqCst);
    let is_ours = PROCESS.get() == Some(&std::process::id());
    // Code loads in less than a millisecond.
    let mut tries = if is_ours { 1000 } else { 0 };
    while tries > 0 && matches!(CALLS.try_lock(), Err(TryLockError::WouldBlock)) {
        std::thread::sleep(Duration::from_millis(1));
        tries -= 1;
    }
}

impl Calls {
    /// A thread will have some: the end of the process waits for them from now on. The driver was started before, so that its own end comes after that.
    pub(crate) fn announce() {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            PROCESS.get_or_init(std::process::id);
            // SAFETY: the function lives as long as this code.
            unsafe { atexit(end) };
        });
    }

    /// Begins some; `None` where the process ends.
    pub(crate) fn enter() -> Option<Calls> {
        let one = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        (!ENDED.load(Ordering::SeqCst)).then_some(Calls { _one: one })
    }
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
