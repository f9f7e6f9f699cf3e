//! Decisions by request, so that clients that describe the same primitive again and again are answered at once.
//!
//! Two generations: what is asked for again moves to the young one, and when that is full, the old one is forgotten. The capacity is the
//! primitive cache's; with none, nothing is kept.

use crate::primitive_desc::Decision;
use crate::status::Failure;
use oxidnn_cpu::kernels::code;
use oxidnn_runtime::{DeviceId, cache, fork};
use oxidnn_spec::{Attr, Op};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// What is asked for: on which devices, the source's and the destination's, what and how.
pub(super) type Request = ([DeviceId; 2], Op, Attr);

type Requests = HashMap<Request, Arc<Decision>>;

#[derive(Default)]
struct Generations {
    young: Requests,
    old: Requests,
}

impl Generations {
    fn get(&mut self, request: &Request, capacity: usize) -> Option<Arc<Decision>> {
        if let Some(decision) = self.young.get(request) {
            return Some(decision.clone());
        }
        let (request, decision) = self.old.remove_entry(request)?;
        self.put(request, decision.clone(), capacity);
        Some(decision)
    }

    fn put(&mut self, request: Request, decision: Arc<Decision>, capacity: usize) {
        if self.young.len() >= capacity.div_ceil(2) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(request, decision);
    }
}

/// The decision for a request, made by `decide` unless it is known.
pub(super) fn get(request: Request, decide: impl FnOnce(Op, Attr) -> Result<Decision, Failure>) -> Result<Arc<Decision>, Failure> {
    static KNOWN: LazyLock<Mutex<Generations>> = LazyLock::new(Mutex::default);
    let known = || {
        let _inside = fork::enter();
        fork::lock(&KNOWN)
    };
    let capacity = cache::capacity();
    if capacity == 0 {
        *known() = Generations::default();
        return decide(request.1, request.2).map(Arc::new);
    }
    if let Some(decision) = known().get(&request, capacity) {
        return Ok(decision);
    }
    let decision = Arc::new(decide(request.1.clone(), request.2.clone())?);
    // What was decided without room for generated code is decided anew.
    if !code::is_full() {
        known().put(request, decision.clone(), capacity);
    }
    Ok(decision)
}
