//! Rows of inner product.

mod jit;
mod packed;
mod weights;

use crate::CpuTarget;
use crate::ops::matmul::columns;
use crate::ops::{fallback, staged, support};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::{Op, Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("few_columns:jit", few_columns).for_some_shapes(),
    Impl::new("packed:amx", jit::plan_amx),
    Impl::new("packed:jit", jit::plan),
    Impl::new("bwd_weights:jit", weights::plan),
    Impl::new("staged:jit", staged),
    Impl::new("packed:portable", packed::plan),
    fallback::ROW,
];

/// The rows that [`staged`] makes copies for.
const GENERATED: &[Choose<CpuTarget>] = &[jit::plan_amx, jit::plan, weights::plan];

/// Products of few columns; weights of layout `any` are contiguous along the depth, and the source is in their order.
fn few_columns(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    if !op.prop.is_forward() {
        return Err(Skip::Op("this propagation kind"));
    }
    let sides = |inner: Vec<usize>| columns::Sides { depth: [inner.clone(), inner], row: [0; 2], column: [0, 1], batch: 0 };
    columns::check([&op.src, &op.weights, &op.dst], &sides((1..op.src.dims().len()).collect()))?;
    let mut problem = problem.clone();
    if let Op::InnerProduct(op) = &mut problem.op {
        let spatial = op.weights.dims().len() > 2;
        support::resolve(&mut op.weights, if spatial { "axb" } else { "ab" })?;
        packed::resolve(op, target)?;
    }
    problem.resolve();
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    let [src, weights, dst] = [op.src.clone(), op.weights.clone(), op.dst.clone()];
    let inner = packed::inner(&weights);
    columns::plan(problem, [&src, &weights, &dst], sides(inner), target)
}

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    if problem.op.prop() == Some(Prop::BackwardWeights) {
        weights::resolve(&mut problem, target)?;
    }
    staged::plan(&problem, target, GENERATED, staged::types(&problem))
}
