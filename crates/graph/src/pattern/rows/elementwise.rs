//! Chains that begin with functions of elements, reductions, normalisations, softmax, movements.

use super::super::Row;
use super::super::matcher::{alt, many, one, opt, seq};
use super::{BINARY, LONGEST, binary, cast, chain, dequantize, quantize, row, shared, single_output, swish, unary};
use crate::OpKind::*;
use crate::{AttrId, Op};
use oxidnn_spec::DataType;

/// A product of f32.
fn of_f32(op: &Op) -> bool {
    op.inputs.iter().all(|lt| lt.dtype == Some(DataType::F32))
}

fn to_f32(op: &Op) -> bool {
    op.outputs[0].dtype == Some(DataType::F32)
}

/// A conversion from f32.
fn narrows(op: &Op) -> bool {
    op.inputs[0].dtype == Some(DataType::F32)
}

/// Nothing is broadcast.
fn of_one_size(op: &Op) -> bool {
    op.text(AttrId::AutoBroadcast) == "none"
}

/// Bytes are put together only where they stand for the same numbers before and after.
fn other_numbers(ops: &[&Op]) -> Option<String> {
    let numbers = |op: &Op| (op.f32s(AttrId::Scales).to_vec(), op.s64s(AttrId::Zps).to_vec());
    let mut all = ops.iter().filter(|op| matches!(op.kind, Dequantize | Quantize)).map(|op| numbers(op));
    let first = all.next()?;
    all.any(|n| n != first).then(|| "scales and zero points differ".into())
}

pub(super) const ROWS: &[Row] = &[
    row("fp_reciprocal_multiply", 8.2, || seq([one(&[Reciprocal]), one(&[Multiply])])),
    row("fp_binary_post_ops", 8.3, || seq([one(BINARY).forks(), chain(1)])),
    row("sum_fusion", 8.1, || seq([one(&[Add]), many(one(&[Add]), 1, LONGEST)])),
    row("fp_eltwise_binary", 8.2, || seq([unary(), many(binary(), 1, LONGEST)])),
    row("fp_eltwise_dropout", 8.3, || seq([unary(), many(binary(), 0, LONGEST), one(&[Dropout]).by(0)])),
    row("typecast_quantize_fusion", 8.1, || seq([one(&[TypeCast]), quantize()])),
    row("shuffle_fusion", 8.2, || seq([one(&[StaticReshape]), one(&[StaticTranspose]), one(&[StaticReshape])])),
    row("fp_interpolate_post_ops", 8.4, || seq([one(&[Interpolate]).forks(), chain(1)])),
    row("fp_reduction_post_ops", 8.4, || {
        seq([one(&[ReduceL1, ReduceL2, ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum]).forks(), chain(1)])
    }),
    row("fp_softmax_post_ops", 8.2, || {
        let end = alt([one(&[TypeCast]).when(narrows), quantize()]);
        seq([one(&[SoftMax]).when(|op| single_output(op) && to_f32(op)), chain(0), opt(end)])
    }),
    row("layernorm_post_ops_fusion_cpu", 8.2, || seq([one(&[LayerNorm]), cast(), chain(0), opt(quantize())])),
    row("groupnorm_post_ops_fusion", 8.4, || {
        let functions = || seq([opt(swish()), chain(0)]);
        seq([one(&[GroupNorm]).forks(), functions(), shared(), cast(), functions(), opt(quantize())])
    }),
    row("fp_bnorm_relu", 8.8, || seq([one(&[BatchNormInference]), one(&[Relu])])),
    row("fp_bnorm_bwd_relu_bwd", 8.8, || seq([one(&[ReluBackward]), one(&[BatchNormTrainingBackward]).by(0)])),
    row("s8f32s8_bnorm", 9.0, || {
        let from = dequantize().when(|op| op.inputs[0].dtype == Some(DataType::S8));
        let to = quantize().when(|op| op.outputs[0].dtype == Some(DataType::S8));
        seq([one(&[BatchNormInference]).input(0, from), opt(one(&[Relu])), to])
    }),
    Row { refuse: other_numbers, ..row("int8_concat_fusion", 8.2, || seq([one(&[Concat]).every(dequantize()), quantize()])) },
    row("fp_reorder_sum", 10.1, || seq([one(&[Reorder]), one(&[Add]).when(of_one_size)])),
    row("x8_reorder", 10.1, || seq([one(&[Reorder]).input(0, dequantize()), quantize()])),
    row("x8_reorder_sum_cpu", 10.2, || {
        seq([one(&[Reorder]).input(0, dequantize()), one(&[Add]).other(dequantize()).when(of_one_size), quantize()])
    }),
    row("float_bmb", 19.5, || {
        let product = || one(&[MatMul]).by(0).forks();
        let either = alt([product().when(of_f32), seq([one(&[TypeCast]).when(narrows).forks(), product()])]);
        seq([one(BINARY).forks(), many(binary(), 0, LONGEST - 1), shared(), either, many(binary(), 0, LONGEST), cast()])
    }),
];
