//! The arithmetic of a reorder (types, scales and zero points) in the form that kernels take.

use crate::kernels::code::elem;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::transpose::{Factor, Factors};
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Blocking, Blocks, DataType, Dims, Error, Quant, QuantMode};

/// The element types of destination and source; raw bits if elements are not changed.
///
/// # Errors
/// Types and attributes that need more arithmetic.
pub(super) fn types(op: &Reorder, attr: &Attr) -> Result<[Elem; 2], Skip> {
    let types = [op.dst.dtype, op.src.dtype];
    if !(Attr { scales: Default::default(), zero_points: Default::default(), scratchpad: Default::default(), ..attr.clone() }).is_default()
    {
        return Err(Skip::Attr("other than scales and zero points".into()));
    }
    if attr.zero_points.values().any(|q| Quant { on_host: false, ..q.clone() } != Quant::per(0, DataType::S32)) {
        return Err(Skip::Attr("zero points: not one of s32 for all elements".into()));
    }
    super::check_adjusted(op)?;
    if types[0] != types[1] || !attr.scales.is_empty() || !attr.zero_points.is_empty() {
        return numbers(op);
    }
    match types[0].bits() {
        8 => Ok([Elem::Low8; 2]),
        16 => Ok([Elem::Low16; 2]),
        32 => Ok([Elem::F32; 2]),
        _ => Err(Skip::DataType(format!("{}, not of 8, 16 or 32 bits", types[0]))),
    }
}

/// The element types of destination and source as numbers.
///
/// # Errors
/// Types that generated code does not have.
pub(super) fn numbers(op: &Reorder) -> Result<[Elem; 2], Skip> {
    let types = [op.dst.dtype, op.src.dtype];
    let known = |t: DataType| elem(t).ok_or_else(|| Skip::DataType(format!("{} to {}", types[1], types[0])));
    Ok([known(types[0])?, known(types[1])?])
}

/// The scales of `arg` as a tensor with stride 0 along the dimensions that they do not vary by; without scales 0 along all.
///
/// # Errors
/// Scales that are not f32, one for each index.
pub(super) fn scales(arg: Arg, attr: &Attr, dims: &Dims) -> Result<Blocking, Skip> {
    let n = dims.len();
    let mut place = still(dims);
    let Some(quant) = attr.scales.get(&arg) else { return Ok(place) };
    if quant.mode != QuantMode::Static || quant.dtype != DataType::F32 || !quant.groups.is_empty() {
        return Err(Skip::Attr(format!("scales of {arg}: in groups, not f32, or computed by the library")));
    }
    let mut stride = 1;
    for d in (0..n).rev().filter(|d| quant.mask >> d & 1 == 1) {
        place.strides[d] = stride;
        stride *= dims[d];
    }
    Ok(place)
}

/// The factors with the zero points of a reorder, one each for all elements.
pub(super) fn with_zero_points(attr: &Attr, [by, over]: [Factor; 2]) -> Factors {
    let zero_point = |arg: Arg| if attr.zero_points.contains_key(&arg) { Factor::Same } else { Factor::None };
    [zero_point(Arg::SRC), by, over, zero_point(Arg::DST)]
}

/// The zero points of source and destination; zero without any.
///
/// # Errors
/// Executions without memory for them.
pub(super) fn zero_points(kinds: &Factors, ctx: &Ctx<'_>) -> Result<[f32; 2], Error> {
    let mut numbers = [0.0; 2];
    for (number, (arg, kind)) in numbers.iter_mut().zip([(Arg::SRC, kinds[0]), (Arg::DST, kinds[3])]) {
        if kind != Factor::None {
            *number = ctx.buf(Arg::zero_point(arg))?.get::<i32>(0) as f32;
        }
    }
    Ok(numbers)
}

/// A tensor with stride 0 along all dimensions.
pub(super) fn still(dims: &Dims) -> Blocking {
    let zeros = Dims::filled(dims.len(), 0);
    Blocking { padded_dims: *dims, padded_offsets: zeros, offset: 0, strides: zeros, inner: Blocks::default(), compensation: None }
}
