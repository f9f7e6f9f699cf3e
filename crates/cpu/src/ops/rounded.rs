//! `rounded:amx`: products of f32 that may be computed in bf16 (`fpmath` modes `bf16` and `any`), on copies of their factors in bf16 and tiles of AMX.
//!
//! Tiles multiply 16 times as many bf16 pairs in a cycle as vectors multiply f32, so that the copies, a pass over either factor, pay for all but thin
//! products. Results and gradients stay f32.

use super::staged;
use super::support;
use crate::CpuTarget;
use crate::kernels::amx;
use oxidnn_runtime::{Choose, Plan, Skip};
use oxidnn_spec::{Arg, DataType, FpMathMode, Problem, Prop, Tensor};

/// Factors of products.
const FACTORS: [Arg; 3] = [Arg::SRC, Arg::WEIGHTS, Arg::DIFF_DST];
/// Multiply-adds of vectors in the time in which an element of a factor is copied, and in that of all that does not depend on sizes.
const COPY: f64 = 20.0;
const ONCE: f64 = 200_000.0;

/// Plans `problem` by the first of `rows` that takes it with factors of bf16.
///
/// # Errors
/// What may not be rounded, is not worth it, and what no row takes so.
pub(super) fn plan(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    amx::isa(target.jit)?;
    if !matches!(problem.attr.fpmath.mode, FpMathMode::Bf16 | FpMathMode::Any) {
        return Err(Skip::Attr("f32 that stays f32".into()));
    }
    support::known(problem)?;
    let operands = problem.op.operands();
    if operands.iter().any(|o| o.tensor.dtype != DataType::F32) {
        return Err(Skip::DataType("anything but f32".into()));
    }
    if problem.op.tensor(Arg::DIFF_BIAS).is_some() {
        return Err(Skip::Op("gradients of a bias, which would be sums of rounded elements"));
    }
    let written = if problem.op.prop() == Some(Prop::BackwardWeights) { Arg::DIFF_WEIGHTS } else { Arg::WEIGHTS };
    let factors: Vec<(Arg, &Tensor)> = operands
        .iter()
        .filter(|o| FACTORS.contains(&o.arg) && o.arg != written || o.arg == Arg::WEIGHTS)
        .map(|o| (o.arg, o.tensor))
        .collect();
    let copied: i64 = factors.iter().filter_map(|(_, t)| t.dims().volume()).sum();
    if problem.flops() / 2.0 < ONCE + COPY * copied as f64 {
        return Err(Skip::Shape("few products of every element, which is sooner multiplied than copied"));
    }
    let none = || Skip::Layout("of the operands, nor any that they could be copied to".into());
    let attempt = |lies: bool| {
        let mut rounded = problem.clone();
        for (arg, tensor) in &factors {
            let layout =
                if lies && *arg != Arg::WEIGHTS { tensor.layout.clone() } else { Tensor::any(*tensor.dims(), DataType::Bf16).layout };
            *rounded.op.tensor_mut(*arg)? = Tensor { dtype: DataType::Bf16, layout };
        }
        staged::copied(problem, rows.iter().find_map(|row| row(&rounded, target).ok())?, target)
    };
    attempt(true).or_else(|| attempt(false)).ok_or_else(none)
}
