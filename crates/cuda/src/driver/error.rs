//! What goes wrong between the host and the GPU.

use oxidnn_spec::Error;

/// An error of NVIDIA's libraries, or their absence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CudaError {
    /// The library is not there.
    #[error(
        "{library} was not found; looked for {names} where the system's loader looks (LD_LIBRARY_PATH, the cache of ldconfig); {advice}"
    )]
    Missing {
        /// What it is.
        library: &'static str,
        /// The file names that were tried.
        names: String,
        /// What to do.
        advice: &'static str,
    },
    /// A function failed.
    #[error("{function} failed: {name} ({text})")]
    Call {
        /// The function of the library.
        function: &'static str,
        /// The name of its status.
        name: String,
        /// What the library says of it.
        text: String,
    },
    /// A kernel does not compile.
    #[error("the kernel `{kernel}` does not compile for {architecture}:\n{log}")]
    Compile {
        /// The kernel's file.
        kernel: &'static str,
        /// For what.
        architecture: String,
        /// What the compiler says.
        log: String,
    },
    /// Code cannot be kept.
    #[error("the kernel store does not take a kernel: {why}")]
    Store {
        /// What the store says.
        why: String,
    },
    /// There is no such GPU.
    #[error("there is no GPU {ordinal}: this machine has {count}")]
    NoDevice {
        /// Its number.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The memory of a GPU, or the budget for it, is used up.
    #[error("no {bytes} bytes of GPU memory are left")]
    OutOfMemory {
        /// What was asked for.
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
