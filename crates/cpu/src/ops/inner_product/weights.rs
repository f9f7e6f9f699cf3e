//! `bwd_weights:jit` and `bwd_weights:amx`: gradients of the weights of inner product: the gradient of a convolution whose images have one pixel. Channels and pixels of
//! a source that has several are one dimension, in the order in which they are neighbours in source and gradient.

use super::packed::{is_one_column, one_column};
use crate::CpuTarget;
use crate::kernels::access::Axis;
use crate::kernels::tile::layout::{panel_columns, panel_tag, together};
use crate::kernels::{amx, epilogue};
use crate::ops::conv::weights::side::{Dim, Roles};
use crate::ops::conv::weights::tiled::{self, Gradient, Task};
use crate::ops::{staged, support};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::{InnerProduct, Prop};
use oxidnn_spec::{Arg, Op, Problem, Tensor};

/// Takes gradients of the weights on vectors.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?.without_amx())
}

/// Takes those that tiles of AMX multiply.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, amx::isa(target.jit)?)
}

fn plan_on(problem: &Problem, target: &CpuTarget, isa: Isa) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    resolve(&mut problem, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    for t in [&op.src, &op.dst] {
        support::operand_type(t.dtype)?;
    }
    epilogue::check(&problem.attr, &op.weights)?;
    let n = op.weights.dims().len();
    if n > 2 {
        let flat =
            Problem::new(flat(op)?, problem.attr.clone()).map_err(|_| Skip::Shape("channels and pixels beyond the address space"))?;
        return staged::viewed(problem, plan_on(&flat, target, isa)?, target);
    }
    let task = task([&op.src, &op.dst], &op.weights);
    if isa.amx {
        tiled::check_amx(&task, [&op.src, &op.dst], isa)?;
    }
    let gradient = Gradient::new(&task, [&op.src, &op.dst], &problem.attr, (isa, target));
    tiled::finish(problem.clone(), gradient, target)
}

/// Gives tensors of layout `any` those that tiles read, and the weights' gradient the one that the forward pass takes.
///
/// # Errors
/// Where there is no generated code for the target.
pub(super) fn resolve(problem: &mut Problem, target: &CpuTarget) -> Result<(), Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let Op::InnerProduct(op) = &mut problem.op else { return Err(Skip::Op("anything but inner product")) };
    if op.prop != Prop::BackwardWeights {
        return Err(Skip::Op("this propagation kind"));
    }
    let n = op.weights.dims().len();
    let depth: Vec<usize> = (2..n).chain([1]).collect();
    let width = panel_columns(isa, op.weights.dims()[0].max(0) as usize);
    let panels = || panel_tag(n, &depth, 0, width, together(op.weights.dtype).unwrap_or(1));
    let tag = if is_one_column(op) { one_column(op).to_string() } else { panels() };
    support::resolve(&mut op.weights, &tag)?;
    support::resolve(&mut op.src, if n > 2 { "axb" } else { "ab" })?;
    support::resolve(&mut op.dst, "ab")
}

/// The same with channels and pixels as one dimension.
///
/// # Errors
/// The layout, where they are no neighbours in one order.
pub(super) fn flat(op: &InnerProduct) -> Result<InnerProduct, Skip> {
    let n = op.weights.dims().len();
    // The place of every dimension: channels last, and as they are.
    let orders: [Vec<usize>; 2] = [[0, n - 1].into_iter().chain(1..n - 1).collect(), (0..n).collect()];
    let merged = |t: &Tensor, order: &[usize]| {
        let rest = t.dims()[1..].iter().try_fold(1i64, |all, size| all.checked_mul(*size))?;
        let layout = t.layout.permute(order).and_then(|l| l.reshape(&[t.dims()[0], rest])).ok()?;
        Some(Tensor { dtype: t.dtype, layout })
    };
    let found = orders.iter().find_map(|order| Some((merged(&op.src, order)?, merged(&op.weights, order)?)));
    let (src, weights) =
        found.ok_or_else(|| Skip::Layout("of source and gradient: channels and pixels no neighbours in one order".into()))?;
    Ok(InnerProduct { src, weights, ..op.clone() })
}

/// The gradient, whose columns are the channels that lie together in it.
fn task([src, dst]: [&Tensor; 2], weights: &Tensor) -> Task {
    let plain = weights.blocking().is_some_and(|b| b.is_plain() && b.strides[1] == 1);
    let size = |d: i64| d.max(0) as usize;
    let roles = |channels: Axis| Roles { image: Some(0), pixel: [None; 3], channels };
    Task {
        groups: 1,
        images: size(src.dims()[0]),
        window: [Dim::of_places(1); 3],
        args: [Arg::SRC, Arg::DIFF_DST],
        channels: [size(src.dims()[1]), size(dst.dims()[1])],
        roles: [roles(Axis::new(&[1], src.dims())), roles(Axis::new(&[1], dst.dims()))],
        x_columns: plain,
        column_dim: if plain { 1 } else { 0 },
        row_dim: if plain { 0 } else { 1 },
        grouped: false,
    }
}
