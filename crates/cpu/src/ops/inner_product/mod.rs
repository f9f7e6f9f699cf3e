//! Rows of inner product.

mod jit;
mod packed;
mod weights;

use crate::CpuTarget;
use crate::ops::fallback;
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::{Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl { name: "packed:amx", plan: jit::plan_amx },
    Impl { name: "packed:jit", plan: tiles },
    Impl { name: "packed:portable", plan: packed::plan },
    fallback::ROW,
];

fn tiles(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::BackwardWeights) => weights::plan(problem, target),
        _ => jit::plan(problem, target),
    }
}
