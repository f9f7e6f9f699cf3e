//! `dnnl_status_t`.

/// The status that every function of the interface returns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
#[must_use]
pub enum Status {
    /// Success.
    Success = 0,
    /// Memory allocation failed.
    OutOfMemory = 1,
    /// The request is invalid.
    InvalidArguments = 2,
    /// The request is valid, but no implementation supports it.
    Unimplemented = 3,
    /// The iterator over implementations is exhausted.
    LastImplReached = 4,
    /// A failure while running.
    RuntimeError = 5,
    /// The query does not apply.
    NotRequired = 6,
    /// The graph is invalid.
    InvalidGraph = 7,
    /// An operation of a graph is not one.
    InvalidGraphOp = 8,
    /// Shapes of a graph do not match.
    InvalidShape = 9,
    /// Data types of a graph do not match.
    InvalidDataType = 10,
}
