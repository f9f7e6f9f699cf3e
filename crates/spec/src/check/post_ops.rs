//! Rules of post-ops.

use super::attr::PostOps;
use super::types::{BF16, DATA, F8, F16, F32, F64, Pass, S8, S32, TypeTable, X8, row};
use super::{Checked, broadcasts, ensure};
use crate::op::{BinaryAlg, EltwiseAlg, Op};
use crate::{Arg, Attr, DataType, Dims, Error, MAX_POST_OPS, PostOp, Tensor};

/// Types of a depthwise convolution by the result of the convolution before.
const DEPTHWISE: TypeTable = TypeTable {
    columns: &["dst", "depthwise weights", "depthwise bias", "depthwise dst"],
    rows: &[
        row(Pass::Every, &[X8, S8, F32.or(S32).or(X8), X8.or(S32).or(F32)]),
        row(Pass::Every, &[F32, F32, F32, F32]),
        row(Pass::Every, &[BF16, BF16, F32.or(BF16), BF16.or(F32)]),
        row(Pass::Every, &[F16, F16, F32.or(F16), F16.or(F32)]),
    ],
};

pub(crate) fn check(op: &Op, attr: &Attr, allowed: PostOps) -> Checked {
    let list = &attr.post_ops;
    ensure(list.len() <= MAX_POST_OPS, "post-ops", list.len(), format_args!("at most {MAX_POST_OPS}"))?;
    let Some(result) = op.result() else { return Ok(()) };
    let depthwise = attr.depthwise_index();
    let mut sum_type = None;
    for (i, post_op) in list.iter().enumerate() {
        let (name, taken) = kind(post_op, allowed);
        let what = format!("post-op {i} ({name})");
        ensure(taken, &what, name, format_args!("none such for {} in this pass", op.kind()))?;
        let before = depthwise.filter(|&d| i <= d).and_then(|_| op.intermediate());
        let dst = before.unwrap_or(result);
        match post_op {
            PostOp::Sum { zero_point, dtype, .. } => {
                ensure(depthwise.is_none(), &what, "a depthwise post-op too", "one of the two")?;
                let dtype = dtype.unwrap_or(dst.dtype);
                sum(op, dtype, *zero_point, dst.dtype).map_err(|e| e.within(&what))?;
                let first = *sum_type.get_or_insert(dtype);
                ensure(first == dtype, &what, dtype, format_args!("{first}, as the sum before"))
            }
            PostOp::Eltwise { alg, alpha, beta } => {
                let relu = !matches!(op, Op::BatchNorm(_)) || *alg == EltwiseAlg::Relu && list.len() == 1;
                ensure(relu, &what, alg.name(), "a single relu after batch normalisation")?;
                crate::op::check_eltwise(*alg, alpha.get(), beta.get()).map_err(|e| e.within(&what))
            }
            PostOp::Binary { alg, src1, src2 } => binary(*alg, src1, src2.as_ref(), dst.dims()).map_err(|e| e.within(&what)),
            PostOp::Prelu { mask } => {
                let n = dst.dims().len();
                ensure(*mask < 1 << n, &what, format_args!("mask {mask}"), format_args!("bits of {n} dimensions"))
            }
            PostOp::Depthwise { .. } => {
                ensure(depthwise == Some(i), &what, "a second one", "one")?;
                self::depthwise(op, post_op).map_err(|e| e.within(&what))
            }
        }?;
    }
    ensure(depthwise.is_some() || !op.has_depthwise(), "depthwise tensors", "some", "none without a depthwise post-op")
}

fn kind(post_op: &PostOp, allowed: PostOps) -> (&'static str, bool) {
    match post_op {
        PostOp::Sum { .. } => ("sum", allowed.sum),
        PostOp::Eltwise { .. } => ("eltwise", allowed.eltwise),
        PostOp::Binary { .. } => ("binary", allowed.binary),
        PostOp::Prelu { .. } => ("prelu", allowed.prelu),
        PostOp::Depthwise { .. } => ("depthwise", allowed.depthwise),
    }
}

fn sum(op: &Op, dtype: DataType, zero_point: i32, dst: DataType) -> Checked {
    ensure(dtype.bits() == dst.bits(), "data type", dtype, format_args!("a type of {} bits, as the destination's {dst}", dst.bits()))?;
    let integral = op.operands().first().is_some_and(|o| o.tensor.dtype.is_x8()) && dtype.is_integral();
    ensure(zero_point == 0 || integral, "zero point", zero_point, "0 but for an 8-bit source and an integral destination")
}

fn binary(alg: BinaryAlg, src1: &Tensor, src2: Option<&Tensor>, dst: &Dims) -> Checked {
    let wanted = alg == BinaryAlg::Select;
    ensure(src2.is_some() == wanted, "src2", if wanted { "none" } else { "a tensor" }, "a condition for select, none otherwise")?;
    for (name, t) in [("src1", Some(src1)), ("src2", src2)] {
        let Some(t) = t else { continue };
        t.layout.check().map_err(|e| e.within(name))?;
        ensure(!t.layout.has_runtime(), name, t.dims(), "sizes known now")?;
        ensure(t.layout.is_any() || t.blocking().is_some(), name, "an opaque or sparse tensor", "strides and blocks")?;
        broadcasts(name, t, dst)?;
    }
    ensure(DATA.or(F8).or(F64).contains(src1.dtype), "src1", src1.dtype, DATA.or(F8).or(F64))?;
    ensure(src2.is_none_or(|t| t.dtype == DataType::S8), "src2", src2.map_or(DataType::S8, |t| t.dtype), DataType::S8)
}

/// A depthwise convolution follows a 2-D convolution with a 1x1 kernel; its windows begin inside the image.
fn depthwise(op: &Op, post_op: &PostOp) -> Checked {
    let (Op::Conv(conv), PostOp::Depthwise { weights, bias, dst, kernel, stride, padding }) = (op, post_op) else {
        return Err(Error::invalid("depthwise post-op", op.kind(), "a convolution"));
    };
    let kernel_dims = &conv.weights.dims()[conv.weights.dims().len() - 2..];
    let pointwise = conv.src.dims().len() == 4 && *kernel_dims == [1, 1];
    ensure(pointwise, "weights", conv.weights.dims(), "a 2-D convolution with a 1x1 kernel")?;
    ensure((1..=1 << 20).contains(kernel), "kernel", kernel, "1 to 2^20")?;
    ensure((1..=1 << 20).contains(stride), "stride", stride, "1 to 2^20")?;
    ensure(*padding >= 0 && *padding < *kernel, "padding", padding, "at least 0 and less than the kernel")?;
    DEPTHWISE.check(None, &[Some(conv.dst.dtype), Some(*weights), *bias, Some(*dst)])?;
    let sizes = conv.dst.dims();
    let (oc, last) = (sizes[1], [sizes[0], sizes[1], (sizes[2] - 1).div_euclid(*stride) + 1, (sizes[3] - 1).div_euclid(*stride) + 1]);
    super::dims_if(Arg::depthwise(Arg::WEIGHTS), &conv.depthwise_weights, &[oc, 1, 1, *kernel, *kernel])?;
    super::dims_if(Arg::depthwise(Arg::BIAS), &conv.depthwise_bias, &[oc])?;
    super::dims_if(Arg::DST, &conv.depthwise_dst, &last)?;
    super::presence(Arg::depthwise(Arg::BIAS), &conv.depthwise_bias, bias.is_some())
}
