//! `packed:jit` and `packed:amx`: inner product forward and backward by data on generated tiles, as matrix products.

use super::packed::{check_scales, inner, resolve};
use crate::CpuTarget;
use crate::kernels::tile::layout::{panel_columns, panel_tag};
use crate::kernels::{amx, epilogue};
use crate::ops::matmul::tiled::{Matrix, Request, product};
use crate::ops::support;
use crate::row::RowPlan;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::{InnerProduct, Prop};
use oxidnn_spec::{Arg, Op, Problem};
use std::sync::Arc;

/// Takes both passes in the types that vectors multiply.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    plan_on(problem, target, isa.without_amx())
}

/// Takes both passes in the types that tiles of AMX multiply.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, amx::isa(target.jit)?)
}

fn plan_on(problem: &Problem, target: &CpuTarget, isa: Isa) -> Result<Box<dyn Plan>, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    let backward = op.prop == Prop::BackwardData;
    let product = match op.prop {
        Prop::BackwardWeights => return Err(Skip::Op("gradients of weights")),
        Prop::BackwardData => product(op.dst.dtype, op.weights.dtype)?,
        _ => product(op.src.dtype, op.weights.dtype)?,
    };
    if isa.amx {
        amx::check(product)?;
    }
    if [&op.src, &op.weights, &op.dst].iter().any(|t| t.is_empty()) {
        return Err(Skip::Shape("empty"));
    }
    check_scales(&problem.attr)?;
    let mut problem = problem.clone();
    if let Op::InnerProduct(op) = &mut problem.op {
        resolve_weights(op, isa, product.together())?;
        resolve(op, target)?;
    }
    problem.resolve();
    support::dense(&problem)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    epilogue::check(&problem.attr, if backward { &op.src } else { &op.dst })?;
    let inner = inner(&op.weights);
    let (src, dst) = if backward { (Arg::DIFF_SRC, Arg::DIFF_DST) } else { (Arg::SRC, Arg::DST) };
    let src = Matrix { arg: src, tensor: &op.src, rows: &[0], columns: &inner };
    let dst = Matrix { arg: dst, tensor: &op.dst, rows: &[0], columns: &[1] };
    let (a, b, c) = if backward {
        (dst, Matrix { arg: Arg::WEIGHTS, tensor: &op.weights, rows: &[0], columns: &inner }, src)
    } else {
        (src, Matrix { arg: Arg::WEIGHTS, tensor: &op.weights, rows: &inner, columns: &[0] }, dst)
    };
    let request = Request {
        attr: &problem.attr,
        isa,
        target,
        a,
        b,
        c,
        batch: 0,
        bias: op.bias.as_ref().filter(|_| !backward),
        scales: if backward { &[] } else { &[None, Some(0)] },
    };
    let (kernel, scratch_bytes) = request.plan()?;
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(kernel) }))
}

/// Gives weights of layout `any` panels of the result's columns, where those are one dimension. Channels that end within a step would leave holes
/// between pixels: such weights are contiguous along the depth, and packed for each execution.
pub(super) fn resolve_weights(op: &mut InnerProduct, isa: Isa, together: usize) -> Result<(), Skip> {
    let n = op.weights.dims().len();
    let panels = |depth: &[usize], column: usize| {
        let width = panel_columns(isa, op.weights.dims()[column].max(0) as usize);
        panel_tag(n, depth, column, width, together)
    };
    let tag = match op.prop {
        Prop::BackwardData if n > 2 => return Ok(()),
        Prop::BackwardData => panels(&[0], 1),
        _ if op.weights.dims()[2..].iter().any(|size| *size != 1) && op.weights.dims()[1] % together as i64 != 0 => "axb".into(),
        _ => panels(&(2..n).chain([1]).collect::<Vec<_>>(), 0),
    };
    support::resolve(&mut op.weights, &tag)
}
