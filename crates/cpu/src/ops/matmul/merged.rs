//! `merged:jit`: batches that share their weights as one product of more rows, so that weights are read, unpacked or packed once.

use super::IMPLS;
use crate::CpuTarget;
use crate::ops::{staged, support};
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, Attr, Dims, Op, PostOp, Problem, Tensor};

/// Index in `IMPLS` of the first row that is asked for the merged product.
const FIRST_MERGED_IMPL: usize = 1;

/// Takes products whose weights do not vary along a batch dimension that can be merged with the rows, by the first generated row that takes
/// the merged product.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    let row = op.dst.dims().len() - 2;
    let is_shared = |op: &Matmul, d: usize| op.dst.dims()[d] > 1 && op.weights.dims()[d] == 1;
    if !(0..row).any(|d| is_shared(op, d)) {
        return Err(Skip::Shape("no batch that shares its weights"));
    }
    support::known(problem)?;
    if problem.operands().iter().any(|o| o.tensor.is_empty()) {
        return Err(Skip::Shape("empty"));
    }
    let mut resolved = support::resolved(problem);
    if let Op::Matmul(own) = &mut resolved.op {
        own.weights = op.weights.clone();
    }
    let mut merged = resolved.clone();
    for d in (0..row).rev().filter(|d| is_shared(op, *d)) {
        let with = [[d, row], [row, d]].into_iter().find_map(|order| join(&merged, [d, row], order));
        merged = with.unwrap_or(merged);
    }
    if merged == resolved {
        return Err(Skip::Layout("rows that do not follow each other from product to product".into()));
    }
    let rows = IMPLS[FIRST_MERGED_IMPL..].iter().filter(support::is_generated);
    let inner = rows.filter_map(|row| (row.plan)(&merged, target).ok()).next().ok_or(Skip::Op("what generated code takes merged"))?;
    if let (Op::Matmul(own), Op::Matmul(chosen)) = (&mut resolved.op, &inner.problem().op) {
        own.weights = chosen.weights.clone();
    }
    staged::viewed(resolved, inner, target)
}

/// The problem with batch dimension `d` merged with the rows in the given order (slower one first), if every operand has one stride for
/// both.
fn join(problem: &Problem, [d, row]: [usize; 2], order: [usize; 2]) -> Option<Problem> {
    let Op::Matmul(op) = &problem.op else { return None };
    let (attr, sizes) = (&problem.attr, order.map(|d| op.dst.dims()[d]));
    if !is_alike(attr, [d, row]) {
        return None;
    }
    let together = |t: &Tensor| together(t, row, order, sizes);
    let post_op = |post_op: &PostOp| {
        let mut joined = post_op.clone();
        match &mut joined {
            PostOp::Sum { .. } | PostOp::Eltwise { .. } => {}
            PostOp::Binary { src1, src2: None, .. } => *src1 = together(src1)?,
            PostOp::Prelu { mask } => *mask = slopes(*mask, &op.dst, [d, row], order)?,
            _ => return None,
        }
        Some(joined)
    };
    let post_ops = attr.post_ops.iter().map(post_op).collect::<Option<_>>()?;
    let bias = match &op.bias {
        Some(bias) => Some(together(bias)?),
        None => None,
    };
    let op = Matmul { src: together(&op.src)?, weights: op.weights.clone(), bias, dst: together(&op.dst)? };
    Some(Problem { op: Op::Matmul(op), attr: Attr { post_ops, ..attr.clone() } })
}

/// The mask of a PReLU's slopes once dimension `d` of the result is merged with its rows, if the slopes can be merged as well.
fn slopes(mask: u32, dst: &Tensor, [d, row]: [usize; 2], order: [usize; 2]) -> Option<u32> {
    let sizes = order.map(|d| dst.dims()[d]);
    let joined = together(&PostOp::slopes(mask, dst.dims())?, row, order, sizes)?;
    let rows = joined.dims()[row];
    let mask = mask & !(1 << d | 1 << row) | u32::from(rows > 1) << row;
    let dims = Dims::from_fn(dst.dims().len(), |i| match i {
        _ if i == d => 1,
        _ if i == row => sizes[0] * sizes[1],
        _ => dst.dims()[i],
    });
    let own = PostOp::slopes(mask, &dims)?;
    (rows == 1 || own.blocking()?.strides[row] == joined.blocking()?.strides[row]).then_some(mask)
}

/// Whether the attributes do not vary along the dimensions.
fn is_alike(attr: &Attr, dims: [usize; 2]) -> bool {
    let mut quants = attr.scales.iter().chain(&attr.zero_points).filter(|(arg, _)| **arg != Arg::WEIGHTS);
    let random = attr.dropout.is_some() || !attr.rounding.is_empty() || !attr.precomputed_reductions.is_empty();
    !random && quants.all(|(_, quant)| dims.iter().all(|d| quant.mask >> d & 1 == 0))
}

/// The tensor with two dimensions merged into rows, slower one first; `sizes` are theirs in the result. `None` if they do not have one
/// stride, or if the tensor is broadcast along one of them.
fn together(t: &Tensor, row: usize, [slow, fast]: [usize; 2], sizes: [i64; 2]) -> Option<Tensor> {
    let own = [t.dims()[slow], t.dims()[fast]];
    if own == [1, 1] {
        return Some(t.clone());
    }
    let b = t.blocking().filter(|b| b.is_plain())?;
    if own != sizes || own[1] > 1 && b.strides[slow] != b.strides[fast] * own[1] {
        return None;
    }
    let stride = if own[1] == 1 { b.strides[slow] } else { b.strides[fast] };
    let (mut dims, mut strides) = (*t.dims(), b.strides);
    (dims[slow], dims[fast]) = (1, 1);
    (dims[row], strides[row]) = (own[0] * own[1], stride);
    let mut joined = Tensor::with_strides(dims, t.dtype, Some(strides)).ok()?;
    joined.layout.blocking_mut()?.offset = b.offset;
    Some(joined)
}
