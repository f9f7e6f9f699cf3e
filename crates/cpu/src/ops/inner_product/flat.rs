//! `flat:jit`: inner products of blocked sources with weights of the same blocked order: channels and pixels are one dimension, in any
//! order.

use super::IMPLS;
use crate::CpuTarget;
use crate::ops::staged;
use crate::ops::support::{self, is_generated};
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::InnerProduct;
use oxidnn_spec::{Dims, Op, Problem, Tensor};

/// Rows for each column of weights of open layout: with fewer rows, panels are better, although the source is copied for them.
const ROWS: i64 = 2;

/// Rows and columns up to which a walk along the columns takes less than the copy and a panel that is mostly padding.
const FEW: [i64; 2] = [4, 16];

/// Plans `problem`.
///
/// # Errors
/// Sources without blocks, weights of another order, and problems that no row takes.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut resolved = problem.clone();
    let Op::InnerProduct(op) = &mut resolved.op else { return Err(Skip::Op("anything but inner product")) };
    support::known(problem)?;
    let unlike = || Skip::Layout("of source and weights: not in the same blocks".into());
    let inner = *op.src.blocking().filter(|b| !b.is_plain()).map(|b| &b.inner).ok_or_else(unlike)?;
    if op.weights.layout.is_any() {
        let (rows, columns) = (op.src.dims()[0], op.weights.dims()[0]);
        if op.prop.is_forward() && columns.saturating_mul(ROWS) > rows && (rows > FEW[0] || columns > FEW[1]) {
            return Err(Skip::Shape("enough columns for panels"));
        }
        op.weights.layout = op.src.layout.resized(*op.weights.dims());
    }
    support::resolve(&mut op.dst, "ab")?;
    let [src, weights] = [&op.src, &op.weights].map(|t| rows(t).ok_or_else(unlike));
    let strides = |t: &Tensor| t.blocking().map(|b| (b.inner, Dims::from_fn(t.dims().len() - 1, |d| b.strides[d + 1])));
    if strides(&op.src) != strides(&op.weights) || inner.iter().any(|(d, _)| d == 0) {
        return Err(unlike());
    }
    let flat = InnerProduct { src: src?, weights: weights?, ..op.clone() };
    let flat = Problem::new(flat, problem.attr.clone()).map_err(|e| Skip::Layout(e.to_string()))?;
    let chosen = IMPLS.iter().filter(is_generated).find_map(|row| (row.plan)(&flat, target).ok()).ok_or_else(unlike)?;
    // Operands of post-ops get the layouts that the chosen row prefers.
    resolved.attr = chosen.problem().attr.clone();
    staged::viewed(resolved, chosen, target)
}

/// The tensor as rows, if all behind its first dimension is dense.
fn rows(t: &Tensor) -> Option<Tensor> {
    let (dims, b) = (t.dims(), t.blocking()?);
    let all = dims.iter().skip(1).try_fold(1i64, |n, size| n.checked_mul(*size))?;
    let outer = (1..dims.len()).map(|d| (dims[d] / b.inner.of(d) - 1) * b.strides[d]).sum::<i64>();
    let block = b.inner.iter().map(|(_, size)| size).product::<i64>();
    let dense = b.padded_dims == *dims && b.offset == 0 && b.compensation.is_none() && outer + block == all;
    let stride = if dims[0] > 1 { b.strides[0] } else { all };
    Tensor::with_strides([dims[0], all], t.dtype, Some(Dims::from_fn(2, |d| [stride, 1][d]))).ok().filter(|_| dense && stride >= all)
}
