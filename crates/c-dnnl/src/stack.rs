//! Runs deep calls on a sufficiently large stack, unless memory has run out.

use crate::reserve;
use oxidnn_runtime::stack;
use oxidnn_spec::Error;

pub(crate) use stack::{is_deep, is_short};

/// Runs `body` on a sufficiently large stack, unless memory has run out.
///
/// # Errors
/// [`Error::OutOfMemory`], and those of `body`.
pub(crate) fn deep<T, E: From<Error>>(body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    reserve::replenished()?;
    stack::deep(body)
}
