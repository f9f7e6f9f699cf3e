//! Status codes: the error type of a function's body, and the guard around the body.

use oxidnn_runtime::verbose;
use oxidnn_spec::Error;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(test)]
mod tests;

pub use oxidnn_c_common::Status;

/// A status other than success, with its reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The status to return.
    pub status: Status,
    /// What was wrong, for the verbose line; empty if the status is not an error.
    pub message: String,
}

impl Failure {
    /// `invalid_arguments`: the parameter, its value, the required value.
    pub fn invalid(name: impl Display, got: impl Display, expected: impl Display) -> Failure {
        Error::invalid(name, got, expected).into()
    }

    /// `invalid_arguments` for a null pointer.
    pub fn null(name: &str) -> Failure {
        Failure::invalid(name, "a null pointer", "an address")
    }

    /// `unimplemented`: the missing feature.
    pub fn unimplemented(what: impl Display) -> Failure {
        Failure { status: Status::Unimplemented, message: format!("unimplemented: {what}") }
    }

    /// A status that is not an error and has no verbose line: `not_required`, `last_impl_reached`...
    pub fn answer(status: Status) -> Failure {
        Failure { status, message: String::new() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match &error {
            Error::InvalidArguments(_) => Status::InvalidArguments,
            Error::Unimplemented(_) => Status::Unimplemented,
            Error::OutOfMemory { .. } => Status::OutOfMemory,
            Error::Runtime(_) => Status::RuntimeError,
            Error::LastImplReached => return Failure::answer(Status::LastImplReached),
        };
        Failure { status, message: error.to_string() }
    }
}

/// Runs `body`, the body of `function`, and returns its status.
pub fn guard(function: &'static str, body: impl FnOnce() -> Result<(), Failure>) -> Status {
    match caught(body) {
        Ok(()) => Status::Success,
        Err(failure) => {
            report(function, &failure);
            failure.status
        }
    }
}

/// As [`guard`], for functions without which a program cannot continue: any failure is an error, which verbose lines report unless they are
/// switched off.
pub fn guard_error(function: &'static str, body: impl FnOnce() -> Result<(), Failure>) -> Status {
    match caught(body) {
        Ok(()) => Status::Success,
        Err(failure) => {
            verbose::face(verbose::ERROR, "error", function, &failure.message);
            failure.status
        }
    }
}

/// Runs `body`, for functions that return no status; returns `otherwise` if it fails.
pub fn guard_value<T>(function: &'static str, otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    caught(body).unwrap_or_else(|failure| {
        report(function, &failure);
        otherwise
    })
}

fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Failure { status: Status::RuntimeError, message: format!("runtime error: {}", text.unwrap_or("a panic")) })
    })
}

fn report(function: &str, failure: &Failure) {
    if failure.message.is_empty() {
        return;
    }
    let (flag, state) = match failure.status {
        Status::Unimplemented => (verbose::DISPATCH, "dispatch"),
        Status::OutOfMemory | Status::RuntimeError => (verbose::ERROR, "error"),
        _ => (verbose::CHECK, "check"),
    };
    verbose::face(flag, state, function, &failure.message);
}
