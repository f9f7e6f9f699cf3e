//! Data movement: reshape, transpose, slice, concatenation.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::{Dims, Tensor};

pub(super) fn reshape(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let (x, y) = (l.read(op, CUDNN_ATTR_OPERATION_RESHAPE_XDESC)?, l.output(op, CUDNN_ATTR_OPERATION_RESHAPE_YDESC)?);
    let elements = |v: &Val| v.tensor.layout.elements();
    if elements(&x) != elements(&y) {
        return Err(misfit("YDESC", y.dims(), format_args!("as many elements as {}", x.dims())));
    }
    let view_only = op.int(CUDNN_ATTR_OPERATION_RESHAPE_MODE) != Some(i64::from(CUDNN_RESHAPE_LOGICAL));
    let both_dense = x.tensor.layout.is_dense(false) && y.tensor.layout.is_dense(false);
    if view_only && both_dense {
        // The elements in memory order stay, only sizes and strides change.
        let count = elements(&x).unwrap_or(0);
        let (flat_x, flat_y) = (flat(&x, count)?, flat(&y, count)?);
        return l.reorder(&flat_x, &flat_y);
    }
    let x = l.reshaped(&x, y.dims())?;
    l.reorder(&x, &y)
}

/// All elements in memory order, as one dimension.
fn flat(v: &Val, count: i64) -> Result<Val, Failure> {
    Ok(Val { tensor: Tensor::plain([count], v.dtype())?, ..v.clone() })
}

pub(super) fn transpose(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let (x, y) = (l.read(op, CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC)?, l.output(op, CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC)?);
    let order = op.ints(CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION);
    let order: Option<Vec<usize>> = order.iter().map(|&d| usize::try_from(d).ok()).collect();
    let order = order.filter(|o| o.len() == x.rank()).ok_or_else(|| misfit("PERMUTATION", "other numbers", "each dimension once"))?;
    let x = x.permuted(&order)?;
    equal(&x, &y)?;
    l.reorder(&x, &y)
}

fn equal(x: &Val, y: &Val) -> Result<(), Failure> {
    if x.dims() == y.dims() { Ok(()) } else { Err(misfit("YDESC", y.dims(), x.dims())) }
}

pub(super) fn slice(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let (x, y) = (l.read(op, CUDNN_ATTR_OPERATION_SLICE_XDESC)?, l.output(op, CUDNN_ATTR_OPERATION_SLICE_YDESC)?);
    let n = x.rank();
    let list = |id| Dims::new(op.ints(id)).filter(|v| v.len() == n).ok_or_else(|| misfit("indices", "another number of them", n));
    let (from, to) = (list(CUDNN_ATTR_OPERATION_SLICE_START_INDICES)?, list(CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES)?);
    let steps = if op.has(CUDNN_ATTR_OPERATION_SLICE_STRIDES) { list(CUDNN_ATTR_OPERATION_SLICE_STRIDES)? } else { Dims::filled(n, 1) };
    if let Some(d) = (0..n).find(|&d| from[d] < 0 || to[d] <= from[d] || to[d] > x.dims()[d] || steps[d] < 1) {
        let got = format_args!("{} to {} by {} of dimension {d}", from[d], to[d], steps[d]);
        return Err(misfit("indices", got, format_args!("inside 0..{}", x.dims()[d])));
    }
    let size = |d: usize| (to[d] - from[d] - 1) / steps[d] + 1;
    let part = x.part(&Dims::from_fn(n, |d| to[d] - from[d]), &from)?;
    let mut layout = part.tensor.layout.clone();
    if let Some(b) = layout.blocking_mut().filter(|_| steps.iter().any(|&s| s > 1)) {
        if !b.is_plain() {
            return Err(unsupported("every so many elements of vectors"));
        }
        for d in 0..n {
            b.strides[d] *= steps[d];
            b.padded_dims[d] = size(d);
        }
        layout.dims = Dims::from_fn(n, size);
    }
    let part = part.with(layout);
    equal(&part, &y)?;
    l.reorder(&part, &y)
}

pub(super) fn concat(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let y = l.output(op, CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC)?;
    let axis = op.int(CUDNN_ATTR_OPERATION_CONCAT_AXIS).and_then(|a| usize::try_from(a).ok()).filter(|&a| a < y.rank());
    let axis = axis.ok_or_else(|| misfit("CONCAT_AXIS", "no dimension", format_args!("0 to {}", y.rank() - 1)))?;
    let in_place = op.int(CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX).unwrap_or(-1);
    let mut at = 0;
    for (i, input) in op.objects(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS).iter().enumerate() {
        let uid = input.as_tensor().map(|t| t.uid).unwrap_or(-1);
        let tensor = l.graph.tensors.get(&uid).cloned().ok_or_else(|| unsupported("an input that the graph does not know"))?;
        if tensor.is_bits() {
            return Err(unsupported("joining truth values of a bit each (BOOLEAN): use BYTE_BOOLEAN"));
        }
        let x = l.value(&tensor)?;
        let size = x.dims().get(axis).copied().unwrap_or(0);
        if at + size > y.dims()[axis] {
            return Err(misfit("OUTPUT_DESC", y.dims(), "the sizes of all inputs together"));
        }
        let part = y.along(axis, at, size)?;
        equal(&x, &part)?;
        at += size;
        // A result computed in place is already there: both tensors have the same address.
        if i64::try_from(i) != Ok(in_place) || tensor.is_virtual {
            l.reorder(&x, &part)?;
        }
    }
    if at == y.dims()[axis] { Ok(()) } else { Err(misfit("OUTPUT_DESC", y.dims(), "the sizes of all inputs together")) }
}
