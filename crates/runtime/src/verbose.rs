//! Verbose lines.

use crate::{Engine, PrimitiveDesc};
use oxidnn_spec::Error;

pub(crate) const PROFILE_EXEC: u32 = 1;

pub(crate) fn on(_what: u32) -> bool {
    false
}
pub(crate) fn head(_engine: &Engine) {}
pub(crate) fn failed(_desc: &PrimitiveDesc, _error: &Error) {}
pub(crate) fn timed_exec(_desc: &PrimitiveDesc, run: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    run()
}
