//! Why the other library gives no result.

use std::fmt;

/// A status that a C function returned instead of success.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// Memory could not be had.
    OutOfMemory,
    /// The request is wrong.
    InvalidArguments,
    /// The request is legal, but no implementation takes it.
    Unimplemented,
    /// No further implementation.
    LastImplReached,
    /// An implementation failed.
    RuntimeError,
    /// A query that does not apply.
    NotRequired,
    /// A number that the specification does not know, or knows for graphs only.
    Other(i32),
}

impl Status {
    /// The status behind a number other than 0.
    pub(crate) fn new(number: i32) -> Status {
        match number {
            1 => Status::OutOfMemory,
            2 => Status::InvalidArguments,
            3 => Status::Unimplemented,
            4 => Status::LastImplReached,
            5 => Status::RuntimeError,
            6 => Status::NotRequired,
            n => Status::Other(n),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::OutOfMemory => f.write_str("out of memory"),
            Status::InvalidArguments => f.write_str("invalid arguments"),
            Status::Unimplemented => f.write_str("unimplemented"),
            Status::LastImplReached => f.write_str("last implementation reached"),
            Status::RuntimeError => f.write_str("runtime error"),
            Status::NotRequired => f.write_str("not required"),
            Status::Other(n) => write!(f, "status {n}"),
        }
    }
}

/// What went wrong between us and the other library.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PeerError {
    /// The library could not be opened.
    #[error("cannot load {path}: {why}")]
    Load {
        /// The file.
        path: String,
        /// What the loader said.
        why: String,
    },
    /// The library does not export a function that the problem needs.
    #[error("the library has no {0}")]
    Missing(&'static str),
    /// A function answered something else than success.
    #[error("{what}: {status}")]
    Refused {
        /// The function, or what was asked of it.
        what: String,
        /// Its answer.
        status: Status,
    },
    /// The C interface has no words for the problem.
    #[error("the C interface cannot say it: {0}")]
    Inexpressible(String),
    /// A call of ours does not fit the table of signatures.
    #[error("{name} takes ({wanted}), the call passes ({passed})")]
    Signature {
        /// The function.
        name: &'static str,
        /// Its parameters in the letters of the table.
        wanted: String,
        /// Those of the call.
        passed: String,
    },
    /// A tensor takes fewer bytes in the library than in ours.
    #[error("{arg} takes {theirs} bytes in the library, {ours} in ours")]
    Size {
        /// The argument.
        arg: String,
        /// The library's answer.
        theirs: usize,
        /// Ours.
        ours: usize,
    },
    /// Our own side failed: the problem has no truth to compare with.
    #[error("{0}")]
    Ours(String),
}

impl PeerError {
    /// The status that the library answered, where it answered.
    pub fn status(&self) -> Option<Status> {
        match self {
            PeerError::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Names what was being made when the library refused.
    pub(crate) fn during(self, what: impl fmt::Display) -> PeerError {
        match self {
            PeerError::Refused { what: function, status } => PeerError::Refused { what: format!("{what} ({function})"), status },
            other => other,
        }
    }
}

impl From<oxidnn_spec::Error> for PeerError {
    fn from(e: oxidnn_spec::Error) -> PeerError {
        PeerError::Ours(e.to_string())
    }
}
