//! The code behind a primitive.

use crate::Exec;
use std::sync::Arc;

/// Ready code of one problem and row, shared by all primitives of it.
pub(crate) struct Code {
    pub(crate) exec: Arc<dyn Exec>,
    /// Whether this stands in for code that could not be made: the next primitive tries again.
    pub(crate) is_fallback: bool,
}

impl Code {
    pub(crate) fn new(exec: Arc<dyn Exec>) -> Code {
        Code { exec, is_fallback: false }
    }
}
