//! `bwd_weights:jit` and `bwd_weights:amx`: gradients of the weights of inner product, as those of a convolution with images of one pixel.
//! A source's channels and pixels are one dimension, in the order in which they are contiguous in source and gradient. And
//! `transposed:jit`: plain gradients as matrix products; with 16-bit elements the left operand is transposed, to be contiguous along the
//! batch.

use super::jit;
use super::packed::{channels_first, inner};
use crate::CpuTarget;
use crate::kernels::access::Axis;
use crate::kernels::microkernel::DotType;
use crate::kernels::{amx, portable_epilogue};
use crate::ops::conv::weights::cost;
use crate::ops::conv::weights::side::{Dim, Roles};
use crate::ops::conv::weights::tiled::{self, Engine, Gradient, Task};
use crate::ops::matmul::tiled::product;
use crate::ops::{staged, support};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::{InnerProduct, Prop};
use oxidnn_spec::{Arg, DataType, Op, Problem, Tensor};

/// Takes gradients of the weights on vectors.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, support::isa(target)?.without_amx())
}

/// Takes those that AMX multiplies.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, amx::isa(target.jit)?)
}

fn plan_on(problem: &Problem, target: &CpuTarget, isa: Isa) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    resolve(&mut problem)?;
    problem.resolve();
    support::dense(&problem)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    for t in [&op.src, &op.dst] {
        support::operand_type(t.dtype)?;
    }
    if op.weights.dtype != DataType::F32 {
        return Err(Skip::DataType(format!("{} of the weights", op.weights.dtype)));
    }
    portable_epilogue::check(&problem.attr, &op.weights)?;
    if op.weights.dims().len() > 2 {
        return flattened(problem, target, |flat, target| plan_on(flat, target, isa));
    }
    let task = task([&op.src, &op.dst], &op.weights);
    if isa.amx {
        if task.images < MIN_AMX_IMAGES {
            return Err(Skip::Shape("so few images: one side of the product is sooner transposed"));
        }
        cost::check_amx(&task, [&op.src, &op.dst], isa)?;
    }
    let gradient = Gradient::new(&task, [&op.src, &op.dst], &problem.attr, (Engine::of(isa), target));
    tiled::finish(problem.clone(), gradient, target)
}

/// Images below which AMX spends more time moving sums through memory than multiplying: 6 times as long as `transposed:jit` for 16 of them,
/// twice as long for 64, on Sapphire Rapids.
const MIN_AMX_IMAGES: usize = 128;

/// Takes plain gradients on a transposed copy of the result's gradient; or of the source, if the weights are contiguous along the result's
/// channels.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan_transposed(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    if op.prop != Prop::BackwardWeights {
        return Err(Skip::Op("this propagation kind"));
    }
    if product(op.dst.dtype, op.src.dtype)? == DotType::F32 {
        return Err(Skip::DataType("f32, which is read down its columns".into()));
    }
    let mut problem = problem.clone();
    resolve(&mut problem)?;
    staged::plan(&problem, target, &[transposed], &[&[]])
}

/// The product, with open layouts as it multiplies them.
fn transposed(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    let Op::InnerProduct(op) = &mut problem.op else { return Err(Skip::Op("anything but inner product")) };
    let by_column = op.weights.blocking().is_some_and(|b| b.strides[0] == 1) && op.weights.dims()[0] > 1;
    if by_column {
        let inner: String = inner(&op.weights).into_iter().map(|d| (b'a' + d as u8) as char).collect();
        support::resolve(&mut op.src, &format!("{inner}a"))?;
    } else {
        support::resolve(&mut op.dst, "ba")?;
    }
    jit::plan_amx(&problem, target).or_else(|_| jit::plan(&problem, target))
}

/// Resolves open layouts to plain ones: a matrix product stores rows. The larger side of the weights gives the columns.
///
/// # Errors
/// Other problems.
pub(super) fn resolve(problem: &mut Problem) -> Result<(), Skip> {
    let Op::InnerProduct(op) = &mut problem.op else { return Err(Skip::Op("anything but inner product")) };
    if op.prop != Prop::BackwardWeights {
        return Err(Skip::Op("this propagation kind"));
    }
    let n = op.weights.dims().len();
    let given = if op.src.layout.is_any() { &op.weights } else { &op.src };
    let tag = if n > 2 && !channels_first(given) { "axb" } else { "abx" };
    support::resolve(&mut op.src, tag)?;
    let letters: String = (2..n).map(|d| (b'a' + d as u8) as char).collect();
    let [outer, inner] = [&op.weights.dims()[..1], &op.weights.dims()[1..]].map(|d| d.iter().fold(1i64, |all, n| all.saturating_mul(*n)));
    let by_column = if tag == "axb" { format!("{letters}ba") } else { format!("b{letters}a") };
    support::resolve(&mut op.weights, if outer > inner { &by_column } else { tag })?;
    support::resolve(&mut op.dst, "ab")
}

/// The plan of a problem, whose layouts are resolved, by that of `row` for the problem with channels and pixels merged.
///
/// # Errors
/// Layouts whose channels and pixels have no common order, and problems that the row does not take.
pub(super) fn flattened<F>(problem: Problem, target: &CpuTarget, row: F) -> Result<Box<dyn Plan>, Skip>
where
    F: FnOnce(&Problem, &CpuTarget) -> Result<Box<dyn Plan>, Skip>,
{
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    let flat = Problem::new(flat(op)?, problem.attr.clone()).map_err(|_| Skip::Shape("channels and pixels beyond the address space"))?;
    staged::viewed(problem, row(&flat, target)?, target)
}

/// The problem with channels and pixels merged.
fn flat(op: &InnerProduct) -> Result<InnerProduct, Skip> {
    let n = op.weights.dims().len();
    // The position of every dimension: channels last, and in their own order.
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

/// The gradient; its columns are the channels that are contiguous in it.
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
        merged: false,
        column_dim: if plain { 1 } else { 0 },
        row_dim: if plain { 0 } else { 1 },
        grouped: false,
    }
}
