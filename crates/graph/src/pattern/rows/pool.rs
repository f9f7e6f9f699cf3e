//! Pooling and the operations after it.

use super::super::Row;
use super::super::matcher::{Pat, one, seq};
use super::{chain, dequantize, quantize, residual, row, source};
use crate::OpKind::{AvgPool, MaxPool, StaticReshape, StaticTranspose};

fn pool() -> Pat {
    one(&[AvgPool, MaxPool])
}

fn bytes() -> Pat {
    pool().forks().input(0, source())
}

pub(super) const ROWS: &[Row] = &[
    row("fp_pool_post_ops", 9.9, || seq([pool().forks(), chain(1)])),
    row("x8_pool_reshape_transpose", 10.0, || seq([bytes(), one(&[StaticReshape, StaticTranspose]), quantize()])),
    row("x8_pool_post_ops", 10.0, || seq([bytes(), chain(0), quantize()])),
    row("x8_pool_add_post_ops_cpu", 10.1, || seq([bytes(), residual(dequantize()), quantize()])),
];
