//! Elements that move, change type, or are put together, but are not computed with.

use super::value::Scaled;
use super::{Lowering, Value};
use crate::infer::{axis, transpose_order};
use crate::{AttrId, Error, Op, OpKind};
use oxidnn_spec::op::Concat;
use oxidnn_spec::{Arg, DataType, Dims, Tensor};

/// Makes the operation's output a view of its input, if that needs no computation and the output does not leave the partition: elements in
/// another order or other dimensions, bytes with another quantisation.
pub(super) fn alias(l: &mut Lowering<'_>) -> Result<bool, Error> {
    let op = l.op;
    let movement = matches!(op.kind, OpKind::StaticReshape | OpKind::StaticTranspose | OpKind::Reorder | OpKind::TypeCast);
    let standing = matches!(op.kind, OpKind::Dequantize | OpKind::DynamicDequantize);
    if !movement && !standing || l.leaves(op.outputs[0].id) {
        return Ok(false);
    }
    let (value, out) = (l.operand(0)?, op.outputs[0]);
    let dims = out.known_dims().unwrap_or_default();
    let seen = match op.kind {
        OpKind::StaticReshape => value.reshaped(&dims).ok(),
        OpKind::StaticTranspose => Some(value.permuted(&transpose_order(op, value.dims().len())?)?),
        OpKind::Reorder if value.scaled.is_none() => Some(value),
        OpKind::TypeCast => value.scaled.clone().zip(out.dtype).map(|(s, dtype)| {
            let scaled = Some(Box::new(Scaled { dtype, ..*s }));
            Value { scaled, ..value }
        }),
        _ if standing && value.scaled.is_none() => {
            let scaled = Some(Box::new(self::standing(l, op, &value.dims().clone())?));
            Some(Value { scaled, ..value })
        }
        _ => None,
    };
    let found = seen.is_some();
    l.values.extend(seen.map(|v| (out.id, v)));
    Ok(found)
}

pub(super) fn concat(l: &mut Lowering<'_>) -> Result<(), Error> {
    let count = l.op.inputs.len();
    let all = (0..count).map(|i| l.source(i)).collect::<Result<Vec<_>, _>>()?;
    let mut dst = l.output(0)?;
    dst.scaled = l.folded.scaled.take();
    let at = axis(l.op.s64(AttrId::Axis), dst.dims().len())?;
    let srcs: Vec<&Value> = all.iter().filter(|v| v.dims()[at] > 0).collect();
    if dst.scaled.is_some() || srcs.iter().any(|v| v.scaled.is_some()) {
        return parts(l, &srcs, &dst, at);
    }
    let problem = Concat { axis: at, srcs: srcs.iter().map(|v| v.tensor.clone()).collect(), dst: dst.tensor.clone() };
    let args: Vec<(Arg, &Value)> = srcs.iter().enumerate().map(|(i, v)| (Arg::multiple_src(i), *v)).chain([(Arg::DST, &dst)]).collect();
    l.main(problem, &args)
}

/// Each source brought into its part of the destination, with the numbers that its bytes stand for there.
fn parts(l: &mut Lowering<'_>, srcs: &[&Value], dst: &Value, at: usize) -> Result<(), Error> {
    let mut offsets = Dims::filled(dst.dims().len(), 0);
    for src in srcs {
        let mut part = dst.clone();
        part.tensor.layout = dst.tensor.layout.submemory(src.dims(), &offsets)?;
        offsets[at] += src.dims()[at];
        let common = |v: &Value| v.scaled.as_ref().map(|s| (s.common, v.dtype()));
        match (common(src), common(dst)) {
            (Some((Some(a), x)), Some((Some(b), y))) if a == b && x == y => l.reorder(&src.raw(), &part.raw())?,
            _ => l.requantise(src, &part)?,
        }
    }
    l.folded = Default::default();
    Ok(())
}

/// A copy, which may change type and layout.
pub(super) fn copy(l: &mut Lowering<'_>) -> Result<(), Error> {
    let src = l.source(0)?;
    let mut dst = l.output(0)?;
    dst.scaled = l.folded.scaled.take();
    l.folded = Default::default();
    l.requantise(&src, &dst)
}

/// One of the two is seen with the other's sizes.
pub(super) fn reshape(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    match dst.reshaped(src.dims()) {
        Ok(seen) => l.reorder(&src, &seen),
        Err(_) => {
            let src = l.reshaped(&src, dst.dims())?;
            l.reorder(&src, &dst)
        }
    }
}

pub(super) fn transpose(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    let src = src.permuted(&transpose_order(l.op, src.dims().len())?)?;
    l.reorder(&src, &dst)
}

/// Whether a quantisation has the same numbers for the whole tensor, which are known.
pub(super) fn is_common(op: &Op) -> bool {
    op.text(AttrId::Qtype) == "per_tensor" && op.f32s(AttrId::Scales).len() == 1
}

/// The quantisation of bytes of sizes `dims` that `op` reads or writes.
pub(super) fn standing(l: &mut Lowering<'_>, op: &Op, dims: &Dims) -> Result<Scaled, Error> {
    match op.kind {
        OpKind::Quantize | OpKind::Dequantize => fixed(l, op, dims),
        _ => given(l, op, dims),
    }
}

/// How many numbers there are along each dimension.
fn counts(op: &Op, dims: &Dims) -> Result<Dims, Error> {
    let n = dims.len();
    match op.text(AttrId::Qtype) {
        "per_tensor" => Ok(Dims::filled(n, 1)),
        "per_channel" => {
            let at = axis(op.s64(AttrId::Axis), n)?;
            Ok(Dims::from_fn(n, |d| if d == at { dims[d] } else { 1 }))
        }
        _ => {
            let shape = op.s64s(AttrId::GroupShape);
            let last = n.saturating_sub(2);
            if shape.len() != n || shape[..last].iter().any(|&g| g != 1) || shape.iter().any(|&g| g < 1) {
                return Err(Error::shape("group_shape", format_args!("{shape:?}"), format_args!("{n} numbers, 1 but for the last two")));
            }
            Ok(Dims::from_fn(n, |d| (dims[d] / shape[d]).saturating_add(i64::from(dims[d] % shape[d] > 0))))
        }
    }
}

/// Scales and zero points that are attributes.
fn fixed(l: &mut Lowering<'_>, op: &Op, dims: &Dims) -> Result<Scaled, Error> {
    let counts = counts(op, dims)?;
    let (scales, zero_points) = (op.f32s(AttrId::Scales), op.s64s(AttrId::Zps));
    let expected = counts.volume().unwrap_or(0);
    if scales.len() as i64 != expected {
        return Err(Error::shape("scales", scales.len(), expected));
    }
    let scale = l.numbers(Tensor::plain(counts, DataType::F32)?, |i| f64::from(scales[i].get()))?;
    let zero = match zero_points.iter().any(|&z| z != 0) {
        true => Some(l.numbers(Tensor::plain(counts, DataType::S32)?, |i| zero_points[i] as f64)?),
        false => None,
    };
    let common = (scales.len() == 1).then(|| (scales[0].get(), zero_points.first().map_or(0.0, |&z| z as f32)));
    let number = if op.kind == OpKind::Quantize { &op.inputs[0] } else { &op.outputs[0] };
    Ok(Scaled { scale, zero, common, dtype: number.dtype.unwrap_or(DataType::F32) })
}

/// Scales and zero points that are inputs.
fn given(l: &mut Lowering<'_>, op: &Op, dims: &Dims) -> Result<Scaled, Error> {
    let counts = counts(op, dims)?;
    let arranged = |l: &mut Lowering<'_>, i: usize, dtype: Option<DataType>| -> Result<Value, Error> {
        let value = l.values.get(&op.inputs[i].id).cloned();
        let value = value.ok_or_else(|| Error::argument("scales", "nothing", "what was computed before"))?;
        let value = l.cast(&value, dtype.unwrap_or(value.dtype()))?;
        l.reshaped(&value, &counts)
    };
    let scale = arranged(l, 1, None)?;
    // A destination's zero points are s32.
    let wide = (op.kind == OpKind::DynamicQuantize).then_some(DataType::S32);
    let zero = if op.inputs.len() > 2 { Some(arranged(l, 2, wide)?) } else { None };
    Ok(Scaled { scale, zero, common: None, dtype: op.outputs[0].dtype.unwrap_or(DataType::F32) })
}

/// Numbers to bytes, or bytes to numbers.
pub(super) fn quantize(l: &mut Lowering<'_>) -> Result<(), Error> {
    let to_bytes = matches!(l.op.kind, OpKind::Quantize | OpKind::DynamicQuantize);
    let mut src = if to_bytes { l.source(0)? } else { l.input(0)? };
    let mut dst = l.output(0)?;
    let scaled = Some(Box::new(standing(l, l.op, &dst.dims().clone())?));
    if to_bytes {
        dst.scaled = scaled;
    } else {
        src.scaled = scaled;
    }
    l.requantise(&src, &dst)
}

/// The index along an axis: a constant row, repeated.
pub(super) fn index(l: &mut Lowering<'_>) -> Result<(), Error> {
    let dst = l.output(0)?;
    let dims = *dst.dims();
    let at = axis(l.op.s64(AttrId::Axis), dims.len())?;
    let row = Dims::from_fn(dims.len(), |d| if d == at { dims[d] } else { 1 });
    let row = l.numbers(Tensor::plain(row, DataType::S32)?, |i| i as f64)?;
    let row = row.spread(&dims)?;
    l.reorder(&row, &dst)
}
