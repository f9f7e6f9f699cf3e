//! Rules of operations over several ports or attributes.

use crate::{AttrId, AttrValue, LogicalTensor, Op};
use oxidnn_spec::{DataType, Dims};

/// `Err` holds the reason.
pub(crate) type Check = fn(&Op) -> Result<(), String>;

fn ensure(ok: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if ok { Ok(()) } else { Err(why()) }
}

fn dtype(lt: &LogicalTensor) -> Option<DataType> {
    lt.dtype
}

/// Padding is not negative.
pub(super) fn pads(op: &Op) -> Result<(), String> {
    [AttrId::PadsBegin, AttrId::PadsEnd].into_iter().try_for_each(|id| {
        let pads = op.s64s(id);
        ensure(pads.iter().all(|&p| p >= 0), || format!("{} is {pads:?}, expected numbers of at least 0", id.name()))
    })
}

/// As many dilations as kernel sizes; the default stands for any number.
pub(super) fn dilations(op: &Op) -> Result<(), String> {
    let (dilations, kernel) = (op.s64s(AttrId::Dilations), op.s64s(AttrId::Kernel));
    ensure(dilations.len() == kernel.len() || dilations == [1; 12], || {
        format!("dilations are {dilations:?}, expected {} numbers", kernel.len())
    })
}

/// A shape comes as the input after `inputs` others, or as an attribute.
fn shape(op: &Op, inputs: usize, id: AttrId) -> Result<(), String> {
    ensure(op.inputs.len() > inputs || op.s64s(id) != [0; 12], || format!("neither a shape as input nor attribute {}", id.name()))
}

pub(super) fn src_shape(op: &Op) -> Result<(), String> {
    shape(op, 1, AttrId::SrcShape)
}

pub(super) fn dst_shape(op: &Op) -> Result<(), String> {
    shape(op, 2, AttrId::DstShape)
}

pub(super) fn weights_shape(op: &Op) -> Result<(), String> {
    shape(op, 2, AttrId::WeightsShape)
}

/// Parameters and statistics of a normalisation are bf16 only where the data are.
pub(super) fn norm_types(op: &Op) -> Result<(), String> {
    let src = op.inputs.first().and_then(dtype);
    let others = op.inputs.iter().skip(1).chain(op.outputs.iter().skip(1)).filter_map(dtype);
    let mut small = others.filter(|&d| d == DataType::Bf16);
    ensure(src == Some(DataType::Bf16) || small.next().is_none(), || {
        "bf16 parameters or statistics, expected f32 unless src is bf16".into()
    })
}

/// The product is of its operands' type, or f32.
pub(super) fn matmul_types(op: &Op) -> Result<(), String> {
    same_or_f32(op, "src")
}

/// A gradient is of the type of the one before, or f32.
pub(super) fn softmax_gradient(op: &Op) -> Result<(), String> {
    same_or_f32(op, "diff_dst")
}

fn same_or_f32(op: &Op, first: &str) -> Result<(), String> {
    let (src, dst) = (dtype(&op.inputs[0]), dtype(&op.outputs[0]));
    ensure(src == dst || dst == Some(DataType::F32), || format!("the output's type is neither f32 nor that of {first}"))
}

/// Source and destination differ only where one of them is f32.
pub(super) fn softmax_types(op: &Op) -> Result<(), String> {
    let types = [dtype(&op.inputs[0]), dtype(&op.outputs[0])];
    ensure(types[0] == types[1] || types.contains(&Some(DataType::F32)), || "src and dst differ, and none is f32".into())
}

/// A cast changes the type, and one of the two is f32.
pub(super) fn cast_types(op: &Op) -> Result<(), String> {
    let types = [dtype(&op.inputs[0]), dtype(&op.outputs[0])];
    ensure(types[0] != types[1] && types.contains(&Some(DataType::F32)), || "expected f32 to or from another type".into())
}

/// Exactly one of sizes and scales; sizes may come as an input.
pub(super) fn sizes_or_scales(op: &Op) -> Result<(), String> {
    let backward = usize::from(op.kind != crate::OpKind::Interpolate);
    let sizes = !op.s64s(AttrId::Sizes).is_empty() || op.inputs.len() > 1 + backward;
    let scales = !op.f32s(AttrId::Scales).is_empty();
    ensure(sizes != scales, || "expected either sizes or scales".into())
}

/// Statistics that are kept come out.
pub(super) fn statistics(op: &Op) -> Result<(), String> {
    ensure(!op.flag(AttrId::KeepStats) || op.outputs.len() == 3, || format!("{} outputs, expected 3 with keep_stats", op.outputs.len()))
}

/// Gradients of the parameters come out where there are parameters.
pub(super) fn affine_gradients(op: &Op) -> Result<(), String> {
    ensure(!op.flag(AttrId::UseAffine) || op.outputs.len() == 3, || format!("{} outputs, expected 3 with use_affine", op.outputs.len()))
}

/// Axes come as an attribute: the attribute has a default, so an input of axes is one too many.
pub(super) fn axes(op: &Op) -> Result<(), String> {
    ensure(op.inputs.len() == 1, || "axes as input and as attribute, expected the attribute".into())
}

/// One scale a tensor; as many zero points as scales, and none for floats.
pub(super) fn scales(op: &Op) -> Result<(), String> {
    let (scales, zero_points) = (op.f32s(AttrId::Scales).len(), op.s64s(AttrId::Zps).len());
    let per_tensor = op.text(AttrId::Qtype) == "per_tensor";
    ensure(!per_tensor || scales == 1, || format!("{scales} scales, expected 1 per tensor"))?;
    let given = op.attrs.contains_key(&AttrId::Zps);
    ensure(!given || zero_points == scales, || format!("{zero_points} zero points, expected {scales} as scales"))?;
    let float = |lt: &LogicalTensor| lt.dtype.is_some_and(DataType::is_f8);
    let shifted = op.s64s(AttrId::Zps).iter().any(|&z| z != 0);
    ensure(!shifted || !op.inputs.iter().chain(&op.outputs).any(float), || "zero points of a floating-point tensor, expected 0".into())
}

/// Sizes of scales and zero points, as far as they are known.
pub(super) fn dynamic_scales(op: &Op) -> Result<(), String> {
    let known = |i: usize| op.inputs.get(i).and_then(LogicalTensor::known_dims);
    let (scales, zero_points) = (known(1), known(2));
    let count = |d: Dims| d.volume().unwrap_or(0);
    let one = |d: Option<Dims>| d.is_none_or(|d| count(d) == 1);
    match op.text(AttrId::Qtype) {
        "per_tensor" => ensure(one(scales) && one(zero_points), || "expected one scale and one zero point per tensor".into()),
        "per_channel" => ensure(one(zero_points) || scales.is_none() || zero_points.map(count) == scales.map(count), || {
            "expected one zero point, or as many as scales".into()
        }),
        _ => {
            let deep = known(0).is_none_or(|d| d.len() >= 2);
            ensure(deep, || "expected at least 2 dimensions for groups".into())?;
            ensure(scales.is_none() || zero_points.is_none() || scales == zero_points, || "scales and zero points of other sizes".into())?;
            ensure(op.attrs.get(&AttrId::GroupShape).is_some_and(|v| matches!(v, AttrValue::S64s(_))), || "expected group_shape".into())
        }
    }
}
