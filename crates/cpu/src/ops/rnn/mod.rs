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
use crate::kernels::amx;
use crate::ops::fallback;
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Rnn;
use oxidnn_spec::{Op, Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] =
    &[Impl::new("packed:amx", |p, t| plan(p, t, true)), Impl::new("packed:jit", |p, t| plan(p, t, false)), fallback::ROW];

/// The network of a problem.
fn network(problem: &Problem) -> Result<&Rnn, Skip> {
    match &problem.op {
        Op::Rnn(op) => Ok(op),
        _ => Err(Skip::Op("anything but a recurrent network")),
    }
}

fn plan(problem: &Problem, target: &CpuTarget, on_amx: bool) -> Result<Box<dyn Plan>, Skip> {
    let vectors = || target.jit.map(oxidnn_jit::Isa::without_amx).ok_or(Skip::Isa("avx2, or executable memory"));
    let isa = if on_amx { amx::isa(target.jit)? } else { vectors()? };
    match network(problem)?.prop {
        Prop::Backward => backward::plan(problem, target, isa),
        _ => forward::plan(problem, target, isa),
    }
}
