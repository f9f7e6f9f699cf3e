//! Gated perceptrons: one product is multiplied by a function of another, and their product by a third matrix.

use super::super::Row;
use super::super::matcher::{Pat, one, opt, seq};
use super::{cast, row, swish, unary};
use crate::OpKind::{DynamicDequantize, MatMul, Multiply, TypeCast};

fn plain() -> Pat {
    one(&[MatMul])
}

/// By weights of bytes or less.
fn compressed() -> Pat {
    one(&[MatMul]).input(1, seq([one(&[DynamicDequantize]), cast()]))
}

/// The function of the gate comes first in the chain: `act(x g) * (x u)`, then the product with the last matrix.
fn gated(gate: Pat, up: Pat, down: Pat) -> Pat {
    seq([gate, opt(one(&[TypeCast])), opt(unary()), one(&[Multiply]).other(up.own()), down.by(0)])
}

/// The same with a swish for the function.
fn gated_swish(gate: Pat, up: Pat, down: Pat) -> Pat {
    seq([gate, opt(one(&[TypeCast])), swish(), one(&[Multiply]).other(up.own()), down.by(0)])
}

pub(super) const ROWS: &[Row] = &[
    row("gated_mlp", 22.0, || gated(plain(), plain(), plain())),
    row("gated_mlp_v1", 22.05, || gated_swish(plain(), plain(), plain())),
    row("quantized_gated_mlp", 22.1, || gated(compressed(), compressed(), compressed())),
    row("quantized_gated_mlp_v1", 22.1, || gated_swish(compressed(), compressed(), compressed())),
];
