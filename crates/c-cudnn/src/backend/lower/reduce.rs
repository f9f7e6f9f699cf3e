//! Reductions.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, ReductionAlg};

pub(super) fn lower(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    if op.has(CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH) || op.has(CUDNN_ATTR_OPERATION_REDUCTION_INIT_VALUES) {
        return Err(unsupported("a reduction by a graph of its own (REDUCTION_SUBGRAPH)"));
    }
    if op.has(CUDNN_ATTR_OPERATION_REDUCTION_GROUP_OFFSET_DESC) {
        return Err(unsupported("groups that begin where a tensor says (REDUCTION_GROUP_OFFSET_DESC)"));
    }
    let parameters = op.object(CUDNN_ATTR_OPERATION_REDUCTION_DESC).ok_or_else(|| unsupported("no parameters"))?.clone();
    l.precision(&parameters, CUDNN_ATTR_REDUCTION_COMP_TYPE);
    let (x, output) = (l.read(op, CUDNN_ATTR_OPERATION_REDUCTION_XDESC)?, l.output(op, CUDNN_ATTR_OPERATION_REDUCTION_YDESC)?);
    let dims = *output.dims();
    let fits = dims.len() == x.rank() && dims.iter().zip(x.dims().iter()).all(|(&y, &x)| y >= 1 && x % y == 0);
    if !fits {
        return Err(misfit("YDESC", dims, format_args!("sizes that divide those of {}", x.dims())));
    }
    // Size x to size y: each y is reduced from x / y neighbours, which become a dimension of their own.
    let (mut split, mut to) = (Vec::new(), Vec::new());
    for (&y, &x) in dims.iter().zip(x.dims().iter()) {
        if y == 1 || y == x {
            split.push(x);
            to.push(y);
        } else {
            split.extend([y, x / y]);
            to.extend([y, 1]);
        }
    }
    if split.len() > oxidnn_spec::MAX_NDIMS {
        return Err(unsupported("a reduction of so many dimensions to several each"));
    }
    let x = l.reshaped(&x, &split)?;
    let y = reduce(l, parameters.int(CUDNN_ATTR_REDUCTION_OPERATOR).unwrap_or(0) as i32, &x, &to)?;
    let y = l.reshaped(&y, &dims)?;
    l.store(&y, &output)
}

fn reduce(l: &mut Lowering<'_>, operator: i32, x: &Val, dims: &[i64]) -> Result<Val, Failure> {
    match operator {
        CUDNN_REDUCE_TENSOR_ADD => l.reduced(ReductionAlg::Sum, x, dims),
        CUDNN_REDUCE_TENSOR_MUL => l.reduced(ReductionAlg::Mul, x, dims),
        CUDNN_REDUCE_TENSOR_MIN => l.reduced(ReductionAlg::Min, x, dims),
        CUDNN_REDUCE_TENSOR_MAX => l.reduced(ReductionAlg::Max, x, dims),
        CUDNN_REDUCE_TENSOR_AVG => l.reduced(ReductionAlg::Mean, x, dims),
        CUDNN_REDUCE_TENSOR_AMAX | CUDNN_REDUCE_TENSOR_NORM1 => {
            let size = l.one(EltwiseAlg::Abs, [0.0; 2], x)?;
            let alg = if operator == CUDNN_REDUCE_TENSOR_AMAX { ReductionAlg::Max } else { ReductionAlg::Sum };
            l.reduced(alg, &size, dims)
        }
        CUDNN_REDUCE_TENSOR_NORM2 => {
            let square = l.one(EltwiseAlg::Square, [0.0; 2], x)?;
            let sum = l.reduced(ReductionAlg::Sum, &square, dims)?;
            l.one(EltwiseAlg::Sqrt, [0.0; 2], &sum)
        }
        CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS => {
            let other = l.with_number(BinaryAlg::Ne, x, 0.0)?;
            let filled = l.select_or(&other, x, 1.0)?;
            l.reduced(ReductionAlg::Mul, &filled, dims)
        }
        other => Err(unsupported(format_args!("the operator {other}"))),
    }
}
