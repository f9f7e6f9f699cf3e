//! Errors of the CUDA driver and NVRTC.

use oxidnn_spec::Error;

/// An error of NVIDIA's libraries or of the kernel store.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CudaError {
    /// The library is not installed.
    #[error(
        "{library} was not found; looked for {names} where the system's loader looks (LD_LIBRARY_PATH, the cache of ldconfig); {advice}"
    )]
    Missing {
        /// The library.
        library: &'static str,
        /// The file names that were tried.
        names: String,
        /// How to install it.
        advice: &'static str,
    },
    /// A function of a library failed.
    #[error("{function} failed: {name} ({text})")]
    Call {
        /// The function of the library.
        function: &'static str,
        /// The name of its status.
        name: String,
        /// The library's description of the status.
        text: String,
    },
    /// A kernel does not compile.
    #[error("the kernel `{kernel}` does not compile for {architecture}:\n{log}")]
    Compile {
        /// The kernel's file.
        kernel: &'static str,
        /// The architecture.
        architecture: String,
        /// The compiler's log.
        log: String,
    },
    /// A kernel cannot be stored.
    #[error("the kernel store does not take a kernel: {why}")]
    Store {
        /// The reason.
        why: String,
    },
    /// There is no such GPU.
    #[error("there is no GPU {ordinal}: this machine has {count}")]
    NoDevice {
        /// The ordinal.
        ordinal: usize,
        /// The number of GPUs.
        count: usize,
    },
    /// The memory of a GPU, or its budget, is exhausted.
    #[error("no {bytes} bytes of GPU memory are left")]
    OutOfMemory {
        /// The requested bytes.
        bytes: usize,
    },
}

impl From<CudaError> for Error {
    fn from(e: CudaError) -> Error {
        match e {
            CudaError::OutOfMemory { bytes } => Error::OutOfMemory { bytes, what: "GPU memory".into() },
            e => Error::Runtime(e.to_string()),
        }
    }
}
