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
    Impl::new("packed:amx", jit::plan_amx),
    Impl::new("packed:jit", jit::plan),
    Impl::new("bwd_weights:jit", weights::plan),
    Impl::new("staged:jit", staged),
    Impl::new("packed:portable", packed::plan),
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
