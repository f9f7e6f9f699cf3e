//! Errors: the request, the argument, what it got and what it needs.

use crate::Arg;
use std::fmt;

/// Why a request failed; the specification's statuses with their reasons.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The request is wrong, whatever the engine.
    #[error("{0}")]
    InvalidArguments(Invalid),
    /// The request is legal, but no implementation takes it.
    #[error("{0}")]
    Unimplemented(Refusal),
    /// Memory could not be had.
    #[error("out of memory: {bytes} bytes for {what} could not be allocated")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
        /// Their purpose.
        what: String,
    },
    /// An implementation failed while it was made or run.
    #[error("runtime error: {0}")]
    Runtime(String),
    /// The iterator over implementations is exhausted.
    #[error("there is no further implementation of this problem")]
    LastImplReached,
}

/// A wrong request: the argument, what it got, what it needs, and the problem that reproduces it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    /// The argument or parameter, `weights`, `padding_l`, `--dt` for example.
    pub argument: String,
    /// The wrong value.
    pub got: String,
    /// The required value.
    pub expected: String,
    /// The line that reproduces the request with `oxidnn verify`, where one can be written.
    pub problem: Option<String>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid {}: got {}, expected {}", self.argument, self.got, self.expected)?;
        match &self.problem {
            Some(p) => write!(f, "\n  problem: {p}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Invalid {}

/// A legal request that every implementation row refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The problem line; empty if there is no problem yet, or none that can be written.
    pub problem: String,
    /// Each row's name and its reason.
    pub rows: Vec<(String, String)>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no implementation takes this problem")?;
        if !self.problem.is_empty() {
            write!(f, "\n  problem: {}", self.problem)?;
        }
        for (row, why) in &self.rows {
            write!(f, "\n  {row}: {why}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl Error {
    /// An [`Error::InvalidArguments`] for the execution argument `arg`.
    pub fn arg(arg: Arg, got: impl fmt::Display, expected: impl fmt::Display) -> Error {
        Error::invalid(arg, got, expected)
    }

    /// An [`Error::InvalidArguments`] that names a parameter, what it got and what it needs.
    pub fn invalid(argument: impl fmt::Display, got: impl fmt::Display, expected: impl fmt::Display) -> Error {
        Error::InvalidArguments(Invalid {
            argument: argument.to_string(),
            got: got.to_string(),
            expected: expected.to_string(),
            problem: None,
        })
    }

    /// An [`Error::Unimplemented`] for omissions of the specification itself: who refuses, and what.
    pub fn unimplemented(who: impl fmt::Display, what: impl fmt::Display) -> Error {
        Error::Unimplemented(Refusal { problem: String::new(), rows: vec![(who.to_string(), what.to_string())] })
    }

    /// The same error, its argument told to belong to `whole`: `dims` within `src` becomes `src dims`.
    pub fn within(mut self, whole: impl fmt::Display) -> Error {
        if let Error::InvalidArguments(i) = &mut self {
            i.argument = format!("{whole} {}", i.argument);
        }
        self
    }

    /// The same error, with the problem line that reproduces it (kept if one is there already).
    pub fn with_problem(mut self, problem: impl fmt::Display) -> Error {
        match &mut self {
            Error::InvalidArguments(i) => drop(i.problem.get_or_insert_with(|| problem.to_string())),
            Error::Unimplemented(r) if r.problem.is_empty() => r.problem = problem.to_string(),
            _ => {}
        }
        self
    }
}
