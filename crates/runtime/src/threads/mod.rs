//! Threads: the process-wide pool, a caller's pool, or none.

use crate::{Executor, Inline};
use std::sync::Arc;

/// Where the threads of a stream come from.
#[derive(Clone, Default)]
pub enum Threads {
    /// None: everything runs on the calling thread.
    #[default]
    Inline,
    /// The caller's pool.
    Caller(Arc<dyn Executor>),
}

impl Threads {
    /// The executor behind it.
    pub fn executor(&self) -> &dyn Executor {
        match self {
            Threads::Inline => &Inline,
            Threads::Caller(e) => &**e,
        }
    }
}
