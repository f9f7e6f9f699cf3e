//! Status codes: the error type of a function's body, the guard around the body, and a thread's last error.

use crate::enums::*;
use crate::host_runtime;
use crate::logging;
use crate::snippet;
use oxidnn_spec::{Error, Op};
use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(test)]
mod tests;

/// `cudnnStatus_t`: one of the enumerators `CUDNN_STATUS_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Status(pub i32);

impl Status {
    /// `CUDNN_STATUS_SUCCESS`.
    pub const SUCCESS: Status = Status(CUDNN_STATUS_SUCCESS);
    /// `CUDNN_STATUS_BAD_PARAM`.
    pub const BAD_PARAM: Status = Status(CUDNN_STATUS_BAD_PARAM);
    /// `CUDNN_STATUS_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: Status = Status(CUDNN_STATUS_NOT_SUPPORTED);

    /// The enumerator's name, `CUDNN_STATUS_UNRECOGNIZED` for other values.
    pub fn name(self) -> &'static str {
        all().find(|e| e.0 == "cudnnStatus_t" && e.2 == self.0).map_or("CUDNN_STATUS_UNRECOGNIZED", |e| e.1)
    }
}

/// A status other than success, with its reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The status to return.
    pub status: Status,
    /// What was wrong, and what would be right.
    pub message: String,
}

impl Failure {
    /// A status with its reason.
    pub fn new(status: i32, message: impl Display) -> Failure {
        Failure { status: Status(status), message: message.to_string() }
    }

    /// `BAD_PARAM`: the parameter, its value, the required value.
    pub fn invalid(name: impl Display, got: impl Display, expected: impl Display) -> Failure {
        Failure::new(CUDNN_STATUS_BAD_PARAM, format_args!("{name}: got {got}, expected {expected}"))
    }

    /// `BAD_PARAM_NULL_POINTER`.
    pub fn null(name: impl Display) -> Failure {
        Failure::new(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, format_args!("{name}: got a null pointer, expected an address"))
    }

    /// `BAD_PARAM_SHAPE_MISMATCH`: sizes that do not match.
    pub fn shape(name: impl Display, got: impl Display, expected: impl Display) -> Failure {
        Failure::new(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, format_args!("{name}: got {got}, expected {expected}"))
    }

    /// `BAD_PARAM_SIZE_INSUFFICIENT`: a buffer that is too small.
    pub fn small(name: impl Display, got: usize, needed: usize) -> Failure {
        Failure::new(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, format_args!("{name}: got {got} bytes, needed {needed}"))
    }

    /// `NOT_SUPPORTED`: the missing feature.
    pub fn unsupported(what: impl Display) -> Failure {
        Failure::new(CUDNN_STATUS_NOT_SUPPORTED, format_args!("not supported: {what}"))
    }

    /// Adds the line of Python that reproduces the problem, if there is one.
    pub(crate) fn reproduced(self, op: &Op) -> Failure {
        match snippet::torch(op).filter(|_| !self.message.contains(TORCH)) {
            Some(line) => Failure { message: format!("{}\n  {TORCH}{line}", self.message), ..self },
            None => self,
        }
    }

    /// Adds context.
    pub fn within(self, what: impl Display) -> Failure {
        Failure { message: format!("{what}: {}", self.message), ..self }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match &error {
            Error::InvalidArguments(_) => CUDNN_STATUS_BAD_PARAM,
            Error::Unimplemented(_) | Error::LastImplReached => CUDNN_STATUS_NOT_SUPPORTED,
            Error::OutOfMemory { .. } => CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
            Error::Runtime(_) => CUDNN_STATUS_EXECUTION_FAILED,
        };
        Failure::new(status, error)
    }
}

/// What precedes a line of Python in a message.
const TORCH: &str = "in PyTorch: ";

thread_local! {
    /// The text for [`take_last_error`].
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Takes the message of the thread's last failure.
pub fn take_last_error() -> String {
    LAST.take()
}

/// Runs `body`, the body of `function`, and returns its status.
pub fn guard(function: &'static str, body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let result = caught(body);
    host_runtime::forget();
    match result {
        Ok(()) => Status::SUCCESS,
        Err(failure) => {
            let text = format!("{function}: {}: {}", failure.status.name(), failure.message);
            logging::failed(function, failure.status, &text);
            LAST.set(text);
            failure.status
        }
    }
}

/// Runs `body`, for functions that return no status; returns `otherwise` if it panics.
pub fn guard_value<T>(function: &'static str, otherwise: T, body: impl FnOnce() -> T) -> T {
    let mut result = otherwise;
    guard(function, || {
        result = body();
        Ok(())
    });
    result
}

/// Runs `body`; a panic is an internal error.
pub(crate) fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Failure::new(CUDNN_STATUS_INTERNAL_ERROR, format_args!("a panic, which is a defect of oxidnn: {}", text.unwrap_or("no text"))))
    })
}
