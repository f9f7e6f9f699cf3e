//! Runs deep calls on a stack with room, unless memory has run out.

use crate::reserve;
use oxidnn_runtime::stack;
use oxidnn_spec::Error;

pub(crate) use stack::{is_deep, is_short};

/// Makes something by `body`, where there is room on the stack, and unless memory has run out.
///
/// # Errors
/// [`Error::OutOfMemory`], and those of `body`.
pub(crate) fn deep<T, E: From<Error>>(body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    reserve::replenished()?;
    stack::deep(body)
}
