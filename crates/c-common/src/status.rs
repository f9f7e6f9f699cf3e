//! `dnnl_status_t`.

/// What every function of the interface returns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(i32)]
#[must_use]
pub enum Status {
    /// All is well.
    Success = 0,
    /// Memory could not be had.
    OutOfMemory = 1,
    /// The request is wrong.
    InvalidArguments = 2,
    /// The request is legal, but nothing takes it.
    Unimplemented = 3,
    /// The iterator over implementations is exhausted.
    LastImplReached = 4,
    /// A failure while running.
    RuntimeError = 5,
    /// The query does not apply.
    NotRequired = 6,
    /// The graph is not one.
    InvalidGraph = 7,
    /// An operation of a graph is not one.
    InvalidGraphOp = 8,
    /// Shapes of a graph do not fit.
    InvalidShape = 9,
    /// Data types of a graph do not fit.
    InvalidDataType = 10,
}
