//! Products of matrices with the operations after them, of floating-point numbers and of bytes.

use super::super::Row;
use super::super::matcher::{Pat, alt, many, one, opt, seq};
use super::{
    LONGEST, bias, binary, cast, dequantize, dequantize_cast, quantize, residual, row, source, source_cast, unary, weights, weights_cast,
};
use crate::OpKind::{Add, Dropout, MatMul, Reorder, Select, StaticReshape, StaticTranspose, TypeCast};
use crate::{Op, OpKind};

fn of_bytes() -> Pat {
    one(&[MatMul]).forks().input(0, source()).input(1, weights())
}

fn of_cast_bytes() -> Pat {
    one(&[MatMul]).forks().input(0, source_cast()).input(1, weights_cast())
}

fn chain() -> Pat {
    seq([many(alt([unary(), binary()]), 0, LONGEST), opt(one(&[Select]))])
}

/// The result as heads of attention, or back.
fn heads() -> Pat {
    seq([one(&[StaticReshape]), one(&[StaticTranspose]), opt(one(&[StaticReshape]))])
}

fn transposed() -> Pat {
    seq([one(&[StaticTranspose]), opt(one(&[Reorder, StaticReshape]))])
}

/// The same of bytes: numbers stay numbers only where they are reordered.
fn transposed_bytes(end: Pat) -> Pat {
    alt([seq([transposed(), end]), seq([one(&[StaticTranspose]), one(&[Reorder])])])
}

/// As numbers of f32, with a mask that is added to these.
fn cast_quantize() -> Pat {
    seq([cast(), opt(one(&[Add])), opt(quantize())])
}

/// Functions after the product may read its source, choices may not.
fn chosen_source(ops: &[&Op]) -> Option<String> {
    let source = |id: usize| ops.iter().any(|op| matches!(op.kind, OpKind::Dequantize | OpKind::TypeCast) && op.outputs[0].id == id);
    let mut chosen = ops.iter().filter(|op| op.kind == Select).flat_map(|op| &op.inputs);
    chosen.find(|lt| source(lt.id)).map(|lt| format!("Select reads the source of the product (logical tensor {})", lt.id))
}

pub(super) const ROWS: &[Row] = &[
    row("fp_matmul_post_ops", 8.8, || seq([one(&[MatMul]).forks(), bias(), chain(), cast()])),
    row("fp_matmul_dropout", 8.9, || seq([one(&[MatMul]), bias(), chain(), one(&[Dropout]).by(0)])),
    row("fp_matmul_reshape_transpose_reshape", 9.0, || seq([one(&[MatMul]), bias(), heads()])),
    row("fp_matmul_transpose_reorder", 9.1, || seq([one(&[MatMul]), bias(), transposed()])),
    Row { refuse: chosen_source, ..row("x8x8x_matmul_post_ops", 9.9, || seq([of_bytes(), bias(), chain(), opt(quantize())])) },
    row("x8x8x8_matmul_add_post_ops_cpu", 10.0, || seq([of_bytes(), bias(), residual(dequantize()), quantize()])),
    Row { refuse: chosen_source, ..row("x8x8x_tc_matmul_post_ops", 10.4, || seq([of_cast_bytes(), bias(), chain(), cast_quantize()])) },
    row("x8x8x8_tc_matmul_add_post_ops_cpu", 10.5, || {
        seq([of_cast_bytes(), bias(), residual(dequantize_cast()), one(&[TypeCast]), quantize()])
    }),
    row("x8x8x8_matmul_reshape_transpose_reshape", 10.0, || seq([of_bytes(), bias(), heads(), quantize()])),
    row("x8x8x8_tc_matmul_reshape_transpose_reshape", 10.5, || seq([of_cast_bytes(), bias(), heads(), one(&[TypeCast]), quantize()])),
    row("x8x8x_matmul_transpose_reorder", 10.0, || seq([of_bytes(), bias(), transposed_bytes(quantize())])),
    row("x8x8x_tc_matmul_transpose_reorder", 10.5, || {
        seq([of_cast_bytes(), bias(), transposed_bytes(seq([one(&[TypeCast]), quantize()]))])
    }),
];
