//! Products on copies of their operands in another type: these products are so much faster that they pay for a pass over each operand,
//! unless the product is thin. Results and gradients keep their types.
//!
//! `rounded:amx`: f32 that may be computed in bf16 (`fpmath` modes `bf16` and `any`), by weights of 8 or 4 bits, too: AMX tiles do 16 times as many multiply-adds of bf16 a
//! cycle as vectors do of f32. `widened:jit`: f16 as f32, on processors with two vector multiply-adds a cycle: converting every element for
//! every row of tiles would take the same execution ports for as long again.

use super::staged;
use super::support;
use crate::CpuTarget;
use crate::hardware::Core;
use crate::kernels::amx;
use oxidnn_runtime::{Choose, Plan, Skip};
use oxidnn_spec::op::Operand;
use oxidnn_spec::{Arg, DataType, FpMathMode, Problem, Prop, Tensor};

/// Factors of products.
const FACTORS: [Arg; 3] = [Arg::SRC, Arg::WEIGHTS, Arg::DIFF_DST];
/// The copies, and their cost.
struct Copies {
    /// Types of the factors and of their copies.
    types: [DataType; 2],
    /// Whether copies of the weights keep the weights' layout, if a row takes that.
    weights_in_place: bool,
    /// Multiply-adds in the time that it takes to copy an element of a factor, in the time that sums of an element of a gradient of weights
    /// take in memory, and in the time of what does not depend on sizes.
    each: f64,
    gradient: f64,
    once: f64,
}
const ROUNDED: Copies =
    Copies { types: [DataType::F32, DataType::Bf16], weights_in_place: false, each: 20.0, gradient: 40.0, once: 200_000.0 };
const WIDENED: Copies =
    Copies { types: [DataType::F16, DataType::F32], weights_in_place: true, each: 40.0, gradient: 0.0, once: 250_000.0 };
/// Multiply-adds of f32 a cycle with two vectors of 512 bits.
const TWO_VECTORS: f64 = 32.0;

/// Plans `problem` by the first of `rows` that takes it with factors of bf16.
///
/// # Errors
/// Problems that may not be rounded, are too small, or are taken by no row so.
pub(super) fn plan(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    amx::isa(target.jit)?;
    if !matches!(problem.attr.fpmath.mode, FpMathMode::Bf16 | FpMathMode::Any) {
        return Err(Skip::Attr("f32 that stays f32".into()));
    }
    let compressed = |o: &Operand<&Tensor>| o.arg == Arg::WEIGHTS && o.tensor.dtype.bits() <= 8;
    if problem.op.operands().iter().any(|o| o.tensor.dtype != DataType::F32 && !compressed(o)) {
        return Err(Skip::DataType("anything but f32".into()));
    }
    on_copies(problem, target, rows, &ROUNDED)
}

/// The same for f16 with factors of f32.
///
/// # Errors
/// Problems that are too small, or are taken by no row so.
pub(super) fn widened(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    if Core::host().rate(isa.width().lanes(), 1) < TWO_VECTORS {
        return Err(Skip::Isa("two products of 512-bit vectors in a cycle"));
    }
    on_copies(problem, target, rows, &WIDENED)
}

fn on_copies(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>], copies: &Copies) -> Result<Box<dyn Plan>, Skip> {
    let [from, to] = copies.types;
    support::known(problem)?;
    let operands = problem.op.operands();
    let written = if problem.op.prop() == Some(Prop::BackwardWeights) { Arg::DIFF_WEIGHTS } else { Arg::WEIGHTS };
    let factors: Vec<(Arg, &Tensor)> = operands
        .iter()
        .filter(|o| FACTORS.contains(&o.arg) && o.arg != written || o.arg == Arg::WEIGHTS)
        .filter(|o| o.tensor.dtype.bits() > 8)
        .map(|o| (o.arg, o.tensor))
        .collect();
    if factors.iter().any(|(_, t)| t.dtype != from) {
        return Err(Skip::DataType(format!("factors of anything but {from}")));
    }
    let copied: i64 = factors.iter().filter_map(|(_, t)| t.dims().volume()).sum();
    let gradient = problem.op.tensor(Arg::DIFF_WEIGHTS).and_then(|t| t.dims().volume()).unwrap_or(0);
    if problem.flops() / 2.0 < copies.once + copies.each * copied as f64 + copies.gradient * gradient as f64 {
        return Err(Skip::Shape("few products of every element, which is sooner multiplied than copied"));
    }
    let none = || Skip::Layout("of the operands, nor any that they could be copied to".into());
    let attempt = |in_place: bool| {
        let mut other = problem.clone();
        for (arg, tensor) in &factors {
            let layout = if in_place && (*arg != Arg::WEIGHTS || copies.weights_in_place) {
                tensor.layout.clone()
            } else {
                Tensor::any(*tensor.dims(), to).layout
            };
            *other.op.tensor_mut(*arg)? = Tensor { dtype: to, layout };
        }
        staged::copied(problem, rows.iter().find_map(|row| row(&other, target).ok())?, target)
    };
    attempt(true).or_else(|| attempt(false)).ok_or_else(none)
}
