//! Error codes, their names, and a thread's last error.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `cudaError_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Error(pub i32);

impl Error {
    /// `cudaSuccess`.
    pub const SUCCESS: Error = Error(0);
    /// `cudaErrorInvalidValue`.
    pub const INVALID_VALUE: Error = Error(1);
    /// `cudaErrorMemoryAllocation`.
    pub const MEMORY_ALLOCATION: Error = Error(2);
    /// `cudaErrorInvalidDevice`.
    pub const INVALID_DEVICE: Error = Error(101);
    /// `cudaErrorInvalidMemcpyDirection`.
    pub const INVALID_DIRECTION: Error = Error(21);
    /// `cudaErrorInvalidResourceHandle`.
    pub const INVALID_RESOURCE_HANDLE: Error = Error(400);
    /// `cudaErrorNotReady`.
    pub const NOT_READY: Error = Error(600);
    /// `cudaErrorLaunchFailure`.
    pub const LAUNCH_FAILURE: Error = Error(719);
    /// `cudaErrorNotSupported`.
    pub const NOT_SUPPORTED: Error = Error(801);
    /// `cudaErrorStreamCaptureUnsupported`.
    pub const STREAM_CAPTURE_UNSUPPORTED: Error = Error(900);
    /// `cudaErrorStreamCaptureImplicit`.
    pub const STREAM_CAPTURE_IMPLICIT: Error = Error(906);
    /// `cudaErrorUnknown`.
    pub const UNKNOWN: Error = Error(999);
}

/// Codes, names and messages.
const TEXTS: &[(i32, &CStr, &CStr)] = &[
    (0, c"cudaSuccess", c"no error"),
    (1, c"cudaErrorInvalidValue", c"an argument is not what the function takes"),
    (2, c"cudaErrorMemoryAllocation", c"out of memory"),
    (21, c"cudaErrorInvalidMemcpyDirection", c"no direction of cudaMemcpyKind"),
    (101, c"cudaErrorInvalidDevice", c"there is one device, 0: the host"),
    (400, c"cudaErrorInvalidResourceHandle", c"a stream, event or graph that was not made here, or was destroyed"),
    (600, c"cudaErrorNotReady", c"not ready"),
    (719, c"cudaErrorLaunchFailure", c"work of a stream failed"),
    (801, c"cudaErrorNotSupported", c"the CUDA runtime on the host does not have this"),
    (
        900,
        c"cudaErrorStreamCaptureUnsupported",
        c"the null stream cannot be captured, and nobody waits for a stream or asks for its state while it is",
    ),
    (906, c"cudaErrorStreamCaptureImplicit", c"the null stream would wait for a stream that is being captured"),
    (999, c"cudaErrorUnknown", c"a defect of the CUDA runtime on the host"),
];

fn text(error: Error) -> (&'static CStr, &'static CStr) {
    let known = TEXTS.iter().find(|t| t.0 == error.0);
    known.map_or((c"unrecognized error code", c"unrecognized error code"), |t| (t.1, t.2))
}

thread_local! {
    static LAST: Cell<Error> = const { Cell::new(Error::SUCCESS) };
}

/// Runs `body`, the body of an exported function; an error becomes the thread's last error. A panic is an unknown error.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Error>) -> Error {
    match catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Error::UNKNOWN)) {
        Ok(()) => Error::SUCCESS,
        Err(error) => {
            LAST.set(error);
            error
        }
    }
}

/// `cudaGetErrorString`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(error: Error) -> *const c_char {
    text(error).1.as_ptr()
}

/// `cudaGetErrorName`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(error: Error) -> *const c_char {
    text(error).0.as_ptr()
}

/// `cudaGetLastError`: returns and clears it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> Error {
    LAST.replace(Error::SUCCESS)
}

/// `cudaPeekAtLastError`.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> Error {
    LAST.get()
}
