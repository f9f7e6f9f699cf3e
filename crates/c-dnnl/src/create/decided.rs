//! A cache of decisions by request, for clients that describe the same primitive repeatedly.

use crate::primitive_desc::Decision;
use crate::status::Failure;
use oxidnn_runtime::{DeviceId, Recent};
use oxidnn_spec::{Attr, Op};
use std::sync::Arc;

/// A request: the devices of source and destination, the operation and its attributes.
pub(super) type Request = ([DeviceId; 2], Op, Attr);

/// The decision for a request, from the cache or by `decide`.
pub(super) fn get(request: Request, decide: impl FnOnce(Op, Attr) -> Result<Decision, Failure>) -> Result<Arc<Decision>, Failure> {
    static KNOWN: Recent<Request, Decision> = Recent::new();
    let make = |(_, op, attr): &Request| decide(op.clone(), attr.clone());
    // A decision made when there was no room for generated code is not reused.
    KNOWN.get(request, make, |decision| !decision.runtime().engine().device().is_short_of_code())
}
