//! Elements that move, change type, or are put together, but are not computed with.

use super::{Lowering, Value};
use crate::infer::{axis, transpose_order};
use crate::{AttrId, Error, OpKind};
use oxidnn_spec::op::{Concat, Reorder};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Quant, Tensor};
use std::collections::BTreeMap;

pub(super) fn concat(l: &mut Lowering<'_>) -> Result<(), Error> {
    let all = (0..l.op.inputs.len()).map(|i| l.input(i)).collect::<Result<Vec<_>, _>>()?;
    let dst = l.output(0)?;
    let at = axis(l.op.s64(AttrId::Axis), dst.dims().len())?;
    let srcs: Vec<&Value> = all.iter().filter(|v| v.dims()[at] > 0).collect();
    let problem = Concat { axis: at, srcs: srcs.iter().map(|v| v.tensor.clone()).collect(), dst: dst.tensor.clone() };
    let args: Vec<(Arg, &Value)> = srcs.iter().enumerate().map(|(i, v)| (Arg::multiple_src(i), *v)).chain([(Arg::DST, &dst)]).collect();
    l.step(problem, &args)
}

pub(super) fn copy(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    l.reorder(&src, &dst)
}

/// One of the two is seen with the other's sizes.
pub(super) fn reshape(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    match dst.tensor.layout.reshape(src.dims()) {
        Ok(layout) => l.reorder(&src, &dst.with(layout)),
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

/// The mask of the dimensions that have scales of their own.
fn mask(l: &Lowering<'_>, rank: usize) -> Result<u32, Error> {
    Ok(if l.op.text(AttrId::Qtype) == "per_tensor" { 0 } else { 1 << axis(l.op.s64(AttrId::Axis), rank)? })
}

/// A reorder with scales and zero points: the destination's when it quantises, else the source's.
fn scaled(l: &mut Lowering<'_>, scales: (Quant, Value), zero_points: Option<(Quant, Value)>) -> Result<(), Error> {
    let (src, dst) = (l.input(0)?, l.output(0)?);
    let quantises = matches!(l.op.kind, OpKind::Quantize | OpKind::DynamicQuantize);
    let side = if quantises { Arg::DST } else { Arg::SRC };
    let mut attr = Attr { scales: BTreeMap::from([(side, scales.0)]), ..l.attr.clone() };
    let mut args = vec![(Arg::SRC, &src), (Arg::DST, &dst)];
    let scale = scales.1;
    args.push((Arg::scale(side), &scale));
    let mut shift = None;
    if let Some((quant, value)) = zero_points {
        attr.zero_points.insert(side, quant);
        args.push((Arg::zero_point(side), shift.insert(value)));
    }
    l.step_with(Reorder { src: src.tensor.clone(), dst: dst.tensor.clone() }, attr, &args)
}

/// Scales and zero points that are attributes.
pub(super) fn quantize(l: &mut Lowering<'_>) -> Result<(), Error> {
    let op = l.op;
    let dims = *l.output(0)?.dims();
    let mask = mask(l, dims.len())?;
    let (scales, zero_points) = (op.f32s(AttrId::Scales), op.s64s(AttrId::Zps));
    let (scale, shift) = (Quant::per(mask, DataType::F32), Quant::per(mask, DataType::S32));
    let expected = scale.dims(&dims).volume().unwrap_or(0);
    if scales.len() as i64 != expected {
        return Err(Error::shape("scales", scales.len(), expected));
    }
    let value = l.constant(Tensor::plain(scale.dims(&dims), DataType::F32)?, |i| f64::from(scales[i].get()))?;
    let zero_points = match zero_points.iter().any(|&z| z != 0) {
        true => Some((shift.clone(), l.constant(Tensor::plain(shift.dims(&dims), DataType::S32)?, |i| zero_points[i] as f64)?)),
        false => None,
    };
    scaled(l, (scale, value), zero_points)
}

/// Scales and zero points that are inputs.
pub(super) fn dynamic_quantize(l: &mut Lowering<'_>) -> Result<(), Error> {
    let dims = *l.output(0)?.dims();
    let n = dims.len();
    let (mut mask, mut groups) = (mask(l, n)?, Dims::default());
    if l.op.text(AttrId::Qtype) == "per_group" {
        let shape = l.op.s64s(AttrId::GroupShape);
        let last = n.saturating_sub(2);
        if shape.len() != n || shape[..last].iter().any(|&g| g != 1) {
            return Err(Error::shape("group_shape", format_args!("{shape:?}"), format_args!("{n} numbers, 1 but for the last two")));
        }
        (mask, groups) = ((1 << n) - 1, Dims::new(&shape[last..]).unwrap_or_default());
    }
    let quant = |dtype| Quant { groups, ..Quant::per(mask, dtype) };
    let arranged = |l: &mut Lowering<'_>, i: usize, dtype: Option<DataType>| -> Result<(Quant, Value), Error> {
        let value = l.input(i)?;
        let value = l.cast(&value, dtype.unwrap_or(value.dtype()))?;
        let quant = quant(value.dtype());
        let value = l.reshaped(&value, &quant.dims(&dims))?;
        // The numbers stand in a row-major array.
        let plain = Tensor::plain(*value.dims(), value.dtype())?;
        if value.tensor == plain {
            return Ok((quant, value));
        }
        let dense = l.temporary(plain, value.constant);
        l.reorder(&value, &dense)?;
        Ok((quant, dense))
    };
    let scales = arranged(l, 1, None)?;
    // A destination's zero points are s32.
    let wide = (l.op.kind == OpKind::DynamicQuantize).then_some(DataType::S32);
    let zero_points = if l.op.inputs.len() > 2 { Some(arranged(l, 2, wide)?) } else { None };
    scaled(l, scales, zero_points)
}

/// The index along an axis: a constant row, repeated.
pub(super) fn index(l: &mut Lowering<'_>) -> Result<(), Error> {
    let dst = l.output(0)?;
    let dims = *dst.dims();
    let at = axis(l.op.s64(AttrId::Axis), dims.len())?;
    let row = Dims::from_fn(dims.len(), |d| if d == at { dims[d] } else { 1 });
    let row = l.constant(Tensor::plain(row, DataType::S32)?, |i| i as f64)?;
    let row = row.spread(&dims)?;
    l.reorder(&row, &dst)
}
