//! `bwd_weights:jit`: gradients of the weights of inner product: the gradient of a convolution whose images have one pixel.

use crate::CpuTarget;
use crate::kernels::access::Axis;
use crate::kernels::epilogue;
use crate::kernels::tile::layout::{panel_columns, panel_tag, together};
use crate::ops::conv::weights::side::{Dim, Roles};
use crate::ops::conv::weights::tiled::{self, Gradient, Task};
use crate::ops::support;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::Prop;
use oxidnn_spec::{Arg, Op, Problem, Tensor};

/// Takes gradients of the weights.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
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
    let inner = Axis::new(&(1..n).collect::<Vec<_>>(), op.src.dims());
    let Some(row) = inner.single() else { return Err(Skip::Shape("sources with pixels")) };
    let task = task([&op.src, &op.dst], &op.weights, (inner, row));
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
    let tag = panel_tag(n, &depth, 0, width, together(op.weights.dtype).unwrap_or(1));
    support::resolve(&mut op.weights, &tag)?;
    support::resolve(&mut op.src, if n > 2 { "axb" } else { "ab" })?;
    support::resolve(&mut op.dst, "ab")
}

/// The gradient, whose columns are the channels that lie together in it.
fn task([src, dst]: [&Tensor; 2], weights: &Tensor, (inner, row): (Axis, usize)) -> Task {
    let plain = weights.blocking().is_some_and(|b| b.is_plain() && b.strides[row] == 1);
    let size = |d: i64| d.max(0) as usize;
    let roles = |channels: Axis| Roles { image: Some(0), pixel: [None; 3], channels };
    Task {
        groups: 1,
        images: size(src.dims()[0]),
        window: [Dim::of_places(1); 3],
        args: [Arg::SRC, Arg::DIFF_DST],
        channels: [size(src.dims()[row]), size(dst.dims()[1])],
        roles: [roles(inner), roles(Axis::new(&[1], dst.dims()))],
        x_columns: plain,
        column_dim: if plain { row } else { 0 },
        row_dim: if plain { 0 } else { row },
        grouped: false,
    }
}
