//! Rows of attention: blocks of queries by blocks of keys, with scores in L2 only.

mod backward;
mod blocking;
mod decode;
mod forward;
mod operands;
mod products;
mod softmax;

use crate::ops::{fallback, support};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Sdpa;
use oxidnn_spec::{Op, Problem};
use products::Products;

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl::new("flash:jit", generated), Impl::new("flash:portable", portable), fallback::ROW];

fn generated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    plan(problem, target, Products::generated(isa.without_amx(), target.caches.budget(false).l1_panel))
}

fn portable(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan(problem, target, Products::portable(target.isa))
}

fn plan(problem: &Problem, target: &CpuTarget, products: Products) -> Result<Box<dyn Plan>, Skip> {
    support::known(problem)?;
    let Op::Sdpa(op) = &problem.op else { return Err(Skip::Op("anything but attention")) };
    if [&op.q, &op.k, &op.v].iter().any(|t| t.is_empty()) {
        return Err(Skip::Shape("empty"));
    }
    if op.prop.is_forward() {
        return RowPlan::resolved(problem, target, |problem| {
            forward::Forward::new(resolved(problem)?, &problem.attr, products, target.threads)
        });
    }
    RowPlan::resolved(problem, target, |problem| backward::Backward::new(resolved(problem)?, &problem.attr, products, target.threads))
}

/// The operation, its layouts resolved.
fn resolved(problem: &Problem) -> Result<&Sdpa, Skip> {
    support::dense(problem)?;
    match &problem.op {
        Op::Sdpa(op) => Ok(op),
        _ => Err(Skip::Op("anything but attention")),
    }
}
