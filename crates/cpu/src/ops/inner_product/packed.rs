//! `packed:portable`: inner product, all three passes, as a matrix product in which the source's channels and pixels are one dimension, in
//! the order of the weights.

use crate::CpuTarget;
use crate::kernels::dot::panel_width;
use crate::kernels::microkernel::layout::panel_tag;
use crate::kernels::portable_epilogue;
use crate::ops::matmul::few;
use crate::ops::matmul::packed::Packed;
use crate::ops::matmul::tiled::Matrix;
use crate::ops::support;
use crate::row::RowPlan;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::{InnerProduct, Prop};
use oxidnn_spec::{Arg, Attr, Dims, Op, Problem, Tensor};

/// Takes products of all types up to 32 bits.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    let Op::InnerProduct(op) = &mut problem.op else { return Err(Skip::Op("anything but inner product")) };
    let (inputs, output) = match op.prop {
        Prop::BackwardData => ([&op.dst, &op.weights], &op.src),
        Prop::BackwardWeights => ([&op.src, &op.dst], &op.weights),
        _ => ([&op.src, &op.weights], &op.dst),
    };
    for t in inputs {
        support::operand_type(t.dtype)?;
    }
    portable_epilogue::check(&problem.attr, output)?;
    check_scales(&problem.attr)?;
    resolve(op, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let Op::InnerProduct(op) = &problem.op else { return Err(Skip::Op("anything but inner product")) };
    // The side that is contiguous in the gradient gives the columns.
    let by_column = op.weights.blocking().is_some_and(|b| b.inner.iter().last().is_some_and(|b| b.0 == 0));
    let scales = if op.prop.is_forward() { vec![None, Some(0)] } else { Vec::new() };
    let (kernel, scratch_bytes) = Packed::new(&problem.attr, sides(op, &inner(&op.weights), by_column), (0, scales), target)?;
    RowPlan::of(problem, target, Some(scratch_bytes), kernel)
}

/// The operands of a pass as matrices: left and right operand, and the result. `inner` are the dimensions of the source that are merged;
/// the gradient of weights is that of their transposition if `by_column`.
pub(super) fn sides<'p>(op: &'p InnerProduct, inner: &'p [usize], by_column: bool) -> [Matrix<'p>; 3] {
    let of = |arg: Arg, tensor: &'p Tensor, rows: &'p [usize], columns: &'p [usize]| Matrix { arg, tensor, rows, columns };
    let [x, w, y] = [&op.src, &op.weights, &op.dst];
    match op.prop {
        Prop::BackwardWeights if by_column => {
            [of(Arg::SRC, x, inner, &[0]), of(Arg::DIFF_DST, y, &[0], &[1]), of(Arg::DIFF_WEIGHTS, w, inner, &[0])]
        }
        Prop::BackwardWeights => [of(Arg::DIFF_DST, y, &[1], &[0]), of(Arg::SRC, x, &[0], inner), of(Arg::DIFF_WEIGHTS, w, &[0], inner)],
        Prop::BackwardData => [of(Arg::DIFF_DST, y, &[0], &[1]), of(Arg::WEIGHTS, w, &[0], inner), of(Arg::DIFF_SRC, x, &[0], inner)],
        _ => [of(Arg::SRC, x, &[0], inner), of(Arg::WEIGHTS, w, inner, &[0]), of(Arg::DST, y, &[0], &[1])],
    }
}

/// Refuses scales that vary along K.
pub(super) fn check_scales(attr: &Attr) -> Result<(), Skip> {
    let mask = |arg: Arg| attr.scales.get(&arg).map_or(0, |q| q.mask);
    let grouped = attr.scales.values().any(|q| !q.groups.is_empty());
    match mask(Arg::SRC) == 0 && mask(Arg::WEIGHTS) <= 1 && !grouped && attr.zero_points.keys().all(|a| *a == Arg::DST) {
        true => Ok(()),
        false => Err(Skip::Attr("quantisation that differs along the reduction".into())),
    }
}

/// Whether the channels of a tensor, or of panels, have larger strides than its pixels.
pub(super) fn channels_first(t: &Tensor) -> bool {
    let farther = |strides: &Dims| (2..t.dims().len()).all(|d| t.dims()[d] == 1 || strides[1] > strides[d]);
    t.blocking().is_some_and(|b| b.inner.iter().all(|(d, _)| d != 1) && farther(&b.strides))
}

/// Whether weights of open layout stay plain, because the result has so few channels.
pub(super) fn stay_plain(op: &InnerProduct, target: &CpuTarget) -> bool {
    let dims = op.weights.dims();
    let depth = dims[1..].iter().fold(1, |all: usize, n| all.saturating_mul((*n).max(0) as usize));
    few::stay_plain(op.src.dtype, &op.weights, [dims[0].max(0) as usize, depth], target)
}

/// The layout of weights that are not in panels, in the order of the source.
pub(super) fn plain_tag(op: &InnerProduct) -> &'static str {
    if op.src.dims().len() > 2 && !channels_first(&op.src) { "axb" } else { "abx" }
}

/// Dimensions of K of weights in panels whose words have `together` elements, slowest first: in the order of the source, if its lines are
/// whole words.
pub(super) fn depth(op: &InnerProduct, vnni: usize) -> Vec<usize> {
    let n = op.src.dims().len();
    if n > 2 && channels_first(&op.src) && op.src.dims()[n - 1] % vnni as i64 == 0 { (1..n).collect() } else { (2..n).chain([1]).collect() }
}

/// Resolves open layouts: weights to panels of the result's columns, data to the order of the weights.
pub(super) fn resolve(op: &mut InnerProduct, target: &CpuTarget) -> Result<(), Skip> {
    let n = op.weights.dims().len();
    let spatial = n > 2;
    let panels = |weights: &Tensor, depth: &[usize], column: usize| {
        let width = panel_width(target.isa, weights.dims()[column].max(0) as usize);
        panel_tag(n, depth, column, width, 1)
    };
    let tag = match op.prop {
        Prop::BackwardData if spatial => plain_tag(op).to_string(),
        Prop::BackwardData => panels(&op.weights, &[0], 1),
        _ if stay_plain(op, target) => plain_tag(op).to_string(),
        _ => panels(&op.weights, &depth(op, 1), 0),
    };
    support::resolve(&mut op.weights, &tag)?;
    let tag = if channels_first(&op.weights) || !spatial { "abx" } else { "axb" };
    support::resolve(&mut op.src, tag)?;
    support::resolve(&mut op.dst, "ab")
}

/// The dimensions behind the first of weights, in memory order if that is one of the two usual ones.
pub(super) fn inner(weights: &Tensor) -> Vec<usize> {
    let n = weights.dims().len();
    if channels_first(weights) { (1..n).collect() } else { (2..n).chain([1]).collect() }
}
