//! Rows of inner product.

mod jit;
mod packed;
mod weights;

use crate::CpuTarget;
use crate::ops::{fallback, staged};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::{Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl { name: "packed:amx", plan: jit::plan_amx },
    Impl { name: "packed:jit", plan: jit::plan },
    Impl { name: "bwd_weights:jit", plan: weights::plan },
    Impl { name: "staged:jit", plan: staged },
    Impl { name: "packed:portable", plan: packed::plan },
    fallback::ROW,
];

/// The rows that [`staged`] makes copies for.
const GENERATED: &[Choose<CpuTarget>] = &[jit::plan_amx, jit::plan, weights::plan];

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    if problem.op.prop() == Some(Prop::BackwardWeights) {
        weights::resolve(&mut problem, target)?;
    }
    staged::plan(&problem, target, GENERATED, staged::types(&problem))
}
