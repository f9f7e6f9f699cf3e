//! Errors of graphs; one kind for each of the specification's statuses.

use std::fmt::Display;

/// Why a request failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// A request that is wrong by itself: an argument out of range, a logical tensor that is not a port.
    #[error("{0}")]
    InvalidArguments(String),
    /// A graph that is used in the wrong order, or whose logical tensors contradict each other.
    #[error("invalid graph: {0}")]
    InvalidGraph(String),
    /// An operation that does not follow its schema.
    #[error("invalid graph operation: {0}")]
    InvalidOp(String),
    /// Shapes that do not fit each other.
    #[error("invalid shape: {0}")]
    InvalidShape(String),
    /// Data types that do not fit each other.
    #[error("invalid data type: {0}")]
    InvalidDataType(String),
    /// Something legal that this library does not compute.
    #[error("unimplemented: {0}")]
    Unimplemented(String),
    /// A problem that an operation was lowered to, or its execution, was refused.
    #[error(transparent)]
    Problem(#[from] oxidnn_spec::Error),
}

impl Error {
    /// An [`Error::InvalidArguments`] in the words of [`oxidnn_spec::Error::invalid`].
    pub(crate) fn argument(what: impl Display, got: impl Display, expected: impl Display) -> Error {
        Error::InvalidArguments(format!("invalid {what}: got {got}, expected {expected}"))
    }

    /// An [`Error::InvalidShape`].
    pub(crate) fn shape(what: impl Display, got: impl Display, expected: impl Display) -> Error {
        Error::InvalidShape(format!("{what}: got {got}, expected {expected}"))
    }
}
