//! Convolutions and deconvolutions with the operations after them, of floating-point numbers and of bytes.

use super::super::Row;
use super::super::matcher::{Pat, alt, one, opt, seq};
use super::{
    bias, binary, chain, dequantize, dequantize_cast, quantize, residual, row, shared, source, source_cast, swish, unary, weights,
    weights_cast,
};
use crate::OpKind::{BatchNormInference, ConvTranspose, Convolution, StaticReshape, TypeCast};
use crate::{Op, OpKind};
use oxidnn_spec::DataType;

/// The kernel of a convolution, where it is known.
fn kernel(op: &Op) -> Option<Vec<i64>> {
    let dims = op.inputs.get(1)?.known_dims()?;
    let (_, _, kernel) = crate::infer::weights(op, &dims).ok()?;
    Some(kernel.to_vec())
}

/// A window of one pixel over images.
fn pointwise(op: &Op) -> bool {
    kernel(op).is_some_and(|k| k == [1, 1])
}

/// A 3x3 window. oneDNN means depthwise convolutions, but does not check for them.
fn depthwise(op: &Op) -> bool {
    kernel(op).is_some_and(|k| k == [3, 3])
}

fn convolution() -> Pat {
    one(&[Convolution])
}

/// Of bytes by bytes.
fn of_bytes(kinds: &'static [OpKind]) -> Pat {
    one(kinds).forks().input(0, source()).input(1, weights())
}

/// Bytes by bytes, dequantised to a type smaller than f32.
fn of_cast_bytes(kinds: &'static [OpKind]) -> Pat {
    one(kinds).forks().input(0, source_cast()).input(1, weights_cast())
}

/// A conversion to f32.
fn widened() -> Pat {
    opt(one(&[TypeCast]).when(|op| op.outputs[0].dtype == Some(DataType::F32)))
}

/// Weights of single channels, which become bytes in another shape.
fn reshaped_weights() -> Pat {
    seq([one(&[StaticReshape]), quantize(), dequantize(), one(&[StaticReshape])])
}

fn norm() -> Pat {
    opt(one(&[BatchNormInference]).by(0).forks())
}

pub(super) const ROWS: &[Row] = &[
    row("fp_conv_post_ops", 9.8, || seq([convolution().forks(), bias(), norm(), opt(swish()), chain(0), widened()])),
    row("fp_conv_post_ops_swish_post_ops", 9.9, || {
        // Behind another function the result is not widened.
        seq([convolution(), alt([unary(), binary()]), swish(), shared(), chain(0)])
    }),
    row("fp_conv_depthwise_postops_cpu", 10.3, || {
        let first = seq([convolution().when(pointwise).forks(), bias(), chain(0), shared()]);
        seq([first, convolution().by(0).when(depthwise).forks(), bias(), chain(0)])
    }),
    row("x8x8x_conv_post_ops", 10.5, || seq([of_bytes(&[Convolution]), bias(), chain(0), opt(quantize())])),
    row("x8x8x8_conv_add_post_ops_cpu", 10.6, || seq([of_bytes(&[Convolution]), bias(), residual(dequantize()), quantize()])),
    row("x8s8x_conv_reshape_post_ops", 10.6, || {
        seq([one(&[Convolution]).forks().input(0, source()).input(1, reshaped_weights()), bias(), chain(0), opt(quantize())])
    }),
    row("x8s8x_tc_conv_post_ops", 10.5, || {
        seq([of_cast_bytes(&[Convolution]), bias(), chain(0), opt(seq([one(&[TypeCast]), quantize()]))])
    }),
    row("x8s8x_tc_conv_add_post_ops_cpu", 10.6, || {
        seq([of_cast_bytes(&[Convolution]), bias(), residual(dequantize_cast()), one(&[TypeCast]), quantize()])
    }),
    row("fp_convtranspose_post_ops", 10.4, || seq([one(&[ConvTranspose]).forks(), bias(), chain(0)])),
    row("x8s8x8_convtranspose_post_ops_cpu", 10.5, || seq([of_bytes(&[ConvTranspose]), bias(), chain(0), opt(quantize())])),
    row("x8s8x8_convtranspose_add_post_ops_cpu", 10.6, || seq([of_bytes(&[ConvTranspose]), bias(), residual(dequantize()), quantize()])),
];
