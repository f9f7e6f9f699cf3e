//! Rows of recurrent networks.

mod backward;
mod cell;
mod cut;
mod forward;
mod parameters;
mod quantised;
mod relay;
mod sides;
mod sizes;
mod skinny;
mod states;
mod step;
mod sweep;
mod weights;

use crate::CpuTarget;
use crate::ops::fallback;
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::{Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl::new("packed:amx", plan_amx), Impl::new("packed:jit", plan), fallback::ROW];

fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::Backward) => backward::plan_amx(problem, target),
        _ => forward::plan_amx(problem, target),
    }
}

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::Backward) => backward::plan(problem, target),
        _ => forward::plan(problem, target),
    }
}
