//! The code behind a primitive, which a better one may replace while primitives use it.
//!
//! Tiers form a chain: a replacement is appended, and an execution takes the last link. So reading costs one load a tier, takes no lock and
//! no reference count, and what runs stays valid while it runs. A chain has as many links as there are tiers: two or three.

use crate::Exec;
use std::sync::{Arc, OnceLock};

/// Ready code of one problem and row, shared by all primitives of it.
pub(crate) struct Code {
    first: Tier,
    stopgap: bool,
}

struct Tier {
    exec: Arc<dyn Exec>,
    next: OnceLock<Box<Tier>>,
}

impl Tier {
    fn new(exec: Arc<dyn Exec>) -> Tier {
        Tier { exec, next: OnceLock::new() }
    }
}

impl Code {
    pub(crate) fn new(exec: Arc<dyn Exec>) -> Code {
        Code { first: Tier::new(exec), stopgap: false }
    }

    /// Code that stands in for what could not be made: the next primitive tries again.
    pub(crate) fn stopgap(exec: Arc<dyn Exec>) -> Code {
        Code { stopgap: true, ..Code::new(exec) }
    }

    /// Whether it stands in for what could not be made.
    pub(crate) fn is_stopgap(&self) -> bool {
        self.stopgap
    }

    fn last(&self) -> &Tier {
        let mut tier = &self.first;
        while let Some(next) = tier.next.get() {
            tier = next;
        }
        tier
    }

    /// The best code there is now.
    pub(crate) fn exec(&self) -> &Arc<dyn Exec> {
        &self.last().exec
    }

    /// Makes `exec` the code of executions from now on.
    pub(crate) fn replace(&self, exec: Arc<dyn Exec>) {
        let mut tier = Box::new(Tier::new(exec));
        while let Err(back) = self.last().next.set(tier) {
            tier = back;
        }
    }
}
