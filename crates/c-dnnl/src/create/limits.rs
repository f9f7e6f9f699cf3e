//! Refusals of problems that this library computes and oneDNN does not. Programs written for oneDNN take a refusal as a sign to choose
//! another way, and its tests expect it, so the C face refuses too; the Rust face does not.

use crate::memory_desc::derive::equal;
use crate::memory_desc::record;
use crate::status::Failure;
use oxidnn_runtime::PrimitiveDesc;
use oxidnn_spec::op::{ConvAlg, Op};
use oxidnn_spec::{Arg, Attr, DataType, Format, Problem, Tensor};

/// Fails if oneDNN refuses the problem.
///
/// # Errors
/// `invalid_arguments` or `unimplemented`, as oneDNN returns.
pub(super) fn keep(problem: &Problem) -> Result<(), Failure> {
    weights_have_numbers(&problem.op)?;
    one_layout(&problem.op)?;
    scales_of_bytes(&problem.op, &problem.attr)?;
    scales_of_products(&problem.op, &problem.attr)?;
    scales_of_windows(&problem.op, &problem.attr)?;
    symmetric_weights(&problem.op, &problem.attr)?;
    types_of_reorders(&problem.op)
}

/// Fails if a caller requests Winograd's algorithm and another one was chosen.
///
/// # Errors
/// `unimplemented`, as oneDNN returns.
pub(super) fn keep_algorithm(chosen: &PrimitiveDesc) -> Result<(), Failure> {
    let asked = match &chosen.problem().op {
        Op::Conv(x) => x.alg,
        Op::Deconv(x) => x.alg,
        _ => return Ok(()),
    };
    if asked != ConvAlg::Winograd || chosen.impl_name().contains("winograd") {
        return Ok(());
    }
    Err(Failure::unimplemented("Winograd's algorithm for this convolution"))
}

/// Convolutions and inner products over zero channels are empty sums, which oneDNN rejects as invalid.
fn weights_have_numbers(op: &Op) -> Result<(), Failure> {
    let weights = match op {
        Op::Conv(x) => &x.weights,
        Op::Deconv(x) => &x.weights,
        Op::InnerProduct(x) => &x.weights,
        _ => return Ok(()),
    };
    if weights.dims().contains(&0) { Err(Failure::invalid("weights", weights.dims(), "no size of 0")) } else { Ok(()) }
}

/// Operations whose result has the layout and the type of their source.
fn one_layout(op: &Op) -> Result<(), Failure> {
    let bound = matches!(op, Op::Eltwise(_) | Op::Lrn(_) | Op::Prelu(_) | Op::BatchNorm(_) | Op::Shuffle(_));
    let (true, Some(src), Some(dst)) = (bound, op.tensor(Arg::SRC), op.tensor(Arg::DST)) else { return Ok(()) };
    if op.prop().is_some_and(|p| !p.is_forward()) {
        return Ok(());
    }
    let like_src = Tensor { dtype: src.dtype, layout: dst.layout.clone() };
    if dst.dtype == src.dtype && (dst.layout.is_any() || equal(&record(src), &record(&like_src))) {
        return Ok(());
    }
    Err(Failure::unimplemented(format_args!("dst {} of another type or layout than src {}", dst.summary(), src.summary())))
}

/// Scales belong to operations on 8-bit tensors (in group normalisation to these tensors only), except for operations that take them for
/// all types.
fn scales_of_bytes(op: &Op, attr: &Attr) -> Result<(), Failure> {
    let only_bytes = matches!(op, Op::Conv(_) | Op::Deconv(_) | Op::InnerProduct(_) | Op::LayerNorm(_) | Op::GroupNorm(_) | Op::Softmax(_));
    let types = [Arg::SRC, Arg::DST].map(|a| op.tensor(a).map(|t| t.dtype));
    let bytes = |t: &DataType| t.bits() == 8;
    let of_others = |arg: &Arg| op.tensor(*arg).is_some_and(|t| !bytes(&t.dtype));
    let own = !matches!(op, Op::GroupNorm(_)) || !attr.scales.keys().any(of_others);
    if !only_bytes || attr.scales.is_empty() || own && types.iter().flatten().any(bytes) {
        return Ok(());
    }
    Err(Failure::unimplemented("scales of tensors that are not of 8-bit numbers"))
}

/// Scales of a product's result may vary by row and column, not by batch. An 8-bit source has one scale per row; scales vary along K in groups only.
fn scales_of_products(op: &Op, attr: &Attr) -> Result<(), Failure> {
    let Op::Matmul(product) = op else { return Ok(()) };
    let n = product.dst.dims().len();
    let (row, column) = (1 << n.saturating_sub(2), 1 << n.saturating_sub(1));
    let mask = |arg: Arg| attr.scales.get(&arg).filter(|scales| scales.groups.is_empty()).map_or(0, |scales| scales.mask);
    if mask(Arg::DST) & !(row | column) != 0 {
        return Err(Failure::unimplemented("scales of a product's result that differ by batch"));
    }
    let by_row = if product.src.dtype.bits() == 8 { row } else { 0 };
    if ![0, by_row].contains(&mask(Arg::SRC)) {
        return Err(Failure::unimplemented("scales of a product's source that differ by batch or along the sum, or by row of no bytes"));
    }
    Ok(())
}

/// A convolution's result has one scale.
fn scales_of_windows(op: &Op, attr: &Attr) -> Result<(), Failure> {
    let refused = matches!(op, Op::Conv(_)) && attr.scales.get(&Arg::DST).is_some_and(|scales| scales.mask != 0);
    if refused { Err(Failure::unimplemented("scales of a convolution's result that differ")) } else { Ok(()) }
}

/// Weights of convolutions have no zero points.
fn symmetric_weights(op: &Op, attr: &Attr) -> Result<(), Failure> {
    let refused = matches!(op, Op::Conv(_) | Op::Deconv(_)) && attr.zero_points.contains_key(&Arg::WEIGHTS);
    if refused { Err(Failure::unimplemented("zero points of a convolution's weights")) } else { Ok(()) }
}

/// Supported conversions of reorders.
const REORDERS: [(DataType, &[DataType]); 11] = {
    use DataType::*;
    [
        (F32, &[F64, F32, S32, S8, U8, F16, Bf16, F8E5m2, F8E4m3, S4, U4]),
        (S32, &[F32, S32, S8, U8, Bf16, S4, U4]),
        (S8, &[F32, S32, S8, U8, F16, Bf16, S4, U4]),
        (U8, &[F32, S32, S8, U8, Bf16, S4, U4]),
        (Bf16, &[F32, S32, S8, U8, Bf16, F8E5m2, F8E4m3, S4, U4]),
        (F16, &[F32, S8, U8, F16, F8E5m2, F8E4m3]),
        (F8E5m2, &[F32, F16, Bf16, F8E5m2]),
        (F8E4m3, &[F32, F16, Bf16, F8E4m3]),
        (S4, &[F32, F16, Bf16]),
        (U4, &[F32, F16, Bf16]),
        (F64, &[F64, F32]),
    ]
};

/// Reorders of dense tensors between types of [`REORDERS`].
fn types_of_reorders(op: &Op) -> Result<(), Failure> {
    let Op::Reorder(x) = op else { return Ok(()) };
    if [&x.src, &x.dst].iter().any(|t| !matches!(t.layout.format, Format::Blocked(_))) {
        return Ok(());
    }
    let row = |dtype: DataType| REORDERS.iter().find(|row| row.0 == dtype);
    match (row(x.src.dtype), row(x.dst.dtype)) {
        (Some(from), Some(to)) if !from.1.contains(&to.0) => {
            Err(Failure::unimplemented(format_args!("a reorder from {} to {}", x.src.dtype, x.dst.dtype)))
        }
        _ => Ok(()),
    }
}
