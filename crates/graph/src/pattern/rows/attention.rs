//! Scaled dot-product attention: scores, their scale and mask, softmax, the product with the values, and movements of the result's heads.

use super::super::Row;
use super::super::matcher::{Pat, alt, one, opt, seq};
use super::{cast, dequantize, dequantize_cast, quantize, row};
use crate::OpKind::*;

/// The mark of the scaled scores, which a mask of positions reads several times.
const SCORES: usize = 0;
/// The marks of the softmax's weights, and of the gradient of the scores.
const SOFTENED: usize = 1;
const GRADIENT: usize = 2;
/// The marks of queries, keys and the gradient of the result, which gradients read again.
const QUERIES: usize = 3;
const KEYS: usize = 4;
const RESULT: usize = 5;

fn scale() -> Pat {
    opt(one(&[Multiply, Divide]))
}

/// Keys behind the query: positions are compared, and scores chosen by the comparison.
fn causal() -> Pat {
    let position = || seq([Pat::At(SCORES), one(&[GenIndex])]);
    let query = seq([position(), opt(one(&[Add]).by(0)), opt(one(&[Subtract]).by(0))]);
    let compared = one(&[GreaterEqual]).by(0).input(1, position());
    seq([Pat::Mark(SCORES), one(&[Select]).by(1).input(0, seq([query, compared]))])
}

/// A tensor that is added, a choice by another.
fn given() -> Pat {
    seq([opt(one(&[Add])), opt(one(&[Select]))])
}

fn mask() -> Pat {
    alt([causal(), given()])
}

fn softmax() -> Pat {
    one(&[SoftMax]).open()
}

fn dropout() -> Pat {
    opt(seq([opt(one(&[Multiply])), one(&[Dropout]).by(0)]))
}

/// Heads to their places.
fn moved() -> Pat {
    seq([one(&[StaticTranspose]), one(&[StaticReshape, Reorder])])
}

/// From the scores to the values; `inputs` constrains the operands of the two products.
fn forward(scores: Pat, values: Pat) -> Pat {
    seq([scores, scale(), mask(), softmax(), dropout(), values.by(0), opt(moved())])
}

fn plain() -> Pat {
    one(&[MatMul])
}

/// Scores times a bound, after a hyperbolic tangent.
fn capped() -> Pat {
    let cap = seq([one(&[Divide]), one(&[Tanh]), one(&[Multiply])]);
    seq([plain(), scale(), cap, opt(one(&[Select]).by(1)), softmax(), plain().by(0), opt(moved())])
}

/// Of queries and keys that share heads: reshaped to a dimension more, and back.
fn grouped() -> Pat {
    let split = || one(&[StaticReshape]);
    let scores = one(&[MatMul]).input(0, split()).input(1, split());
    let values = one(&[MatMul]).by(0).input(1, split());
    seq([scores, one(&[Multiply, Divide]), opt(one(&[Select]).by(1)), softmax(), cast(), values, split(), opt(moved())])
}

/// With a mask by choice before the scale, and one that is added after it.
fn gpt(scores: Pat, between: Pat, values: Pat, end: Pat) -> Pat {
    seq([scores, one(&[Select]), one(&[Divide]), one(&[Add]), softmax(), between, values.by(0), moved(), end])
}

fn plain_gpt() -> Pat {
    gpt(plain(), Pat::Seq(Vec::new()), plain(), Pat::Seq(Vec::new()))
}

fn gpt_of_bytes(operand: fn() -> Pat) -> Pat {
    let [scores, values] = bytes(operand);
    gpt(scores, seq([cast(), quantize(), one(&[Dequantize]), cast()]), values, opt(seq([cast(), quantize()])))
}

/// The gradients of queries, keys and values, from recomputed scores and the softmax statistics that forward kept. `summed`: the sum over
/// heads that share keys and values.
fn backward(summed: fn() -> Pat) -> Pat {
    let scores = plain().same(0, QUERIES).same(1, KEYS);
    let softened = seq([scores, scale(), mask(), one(&[Subtract]), one(&[Exp]), cast(), Pat::Mark(SOFTENED)]);
    let values = seq([plain().by(0).same(1, RESULT), summed()]);
    // The sum of the products of result and gradient is subtracted from the gradient of the weights.
    let sum = seq([one(&[Multiply]).same(1, RESULT), one(&[ReduceSum])]);
    let differences = one(&[Subtract]).by(0).input(1, sum);
    let gradient = one(&[Multiply]).other(seq([plain().same(0, RESULT), cast(), differences]));
    let keys = seq([plain().by(0).same(1, QUERIES), summed()]);
    let operands = seq([Pat::Mark(GRADIENT), keys, Pat::At(GRADIENT), plain().by(0).same(1, KEYS)]);
    seq([softened, values, Pat::At(SOFTENED), gradient, one(&[Multiply, Divide]), cast(), operands])
}

/// Heads after tokens: the softmax's weights are brought into another order, and are the second operand of the product with the values.
fn jax() -> Pat {
    let turned = seq([one(&[StaticTranspose]), one(&[Reorder])]);
    seq([plain(), one(&[Multiply, Divide]), one(&[Add]), one(&[SoftMax]), turned, plain().by(1), moved()])
}

/// The same where heads share keys and values; queries are scaled before.
fn jax_shared() -> Pat {
    let heads = [one(&[StaticReshape]), one(&[StaticTranspose])];
    let back = [one(&[StaticTranspose]), one(&[StaticReshape])];
    seq([plain(), seq(heads), one(&[Add]), one(&[SoftMax]), seq(back), plain().by(1)])
}

fn bytes(operand: fn() -> Pat) -> [Pat; 2] {
    let scores = one(&[MatMul]).input(0, operand()).input(1, operand());
    [scores, one(&[MatMul]).input(1, operand())]
}

/// Queries, keys, values and weights of the softmax as bytes.
fn quantised(operand: fn() -> Pat, moved: Pat) -> Pat {
    let [scores, values] = bytes(operand);
    let back = seq([quantize(), one(&[Dequantize])]);
    let softened = alt([seq([one(&[TypeCast]), back.clone(), one(&[TypeCast])]), back]);
    let end = seq([cast(), quantize()]);
    seq([scores, scale(), given(), softmax(), softened, values.by(0), moved, end])
}

/// Keys, values or both in few bits with scales of groups.
fn compressed(keys: bool, values: bool) -> Pat {
    let few = || seq([one(&[DynamicDequantize]), cast()]);
    let scores = if keys { one(&[MatMul]).input(1, few()) } else { plain() };
    let last = if values { one(&[MatMul]).input(1, few()) } else { plain() };
    seq([scores, cast(), scale(), mask(), softmax(), cast(), last.by(0), cast(), opt(moved())])
}

pub(super) const ROWS: &[Row] = &[
    row("float_sdp_fusion", 21.0, || forward(plain(), plain())),
    row("float_sdp_gemma_fusion_cpu", 21.0, capped),
    row("float_sdp_backward_fusion", 21.0, || backward(|| Pat::Seq(Vec::new()))),
    row("float_sdp_jax_fusion", 21.0, jax),
    row("float_mqa_jax_fusion", 21.0, jax_shared),
    row("float_gqa_fusion", 21.1, grouped),
    row("float_gqa_backward_fusion", 21.1, || backward(|| one(&[ReduceSum]))),
    row("float_gpt_sdp", 22.0, plain_gpt),
    row("bfloat16_gpt_sdp", 22.0, plain_gpt),
    row("int8_fp32_gpt_sdp", 22.0, || gpt_of_bytes(dequantize)),
    row("int8_bf16_gpt_sdp", 22.0, || gpt_of_bytes(dequantize_cast)),
    row("x8_sdpa_fusion", 22.0, || quantised(dequantize, opt(moved()))),
    row("int8_bf16_sdp_fusion", 22.0, || quantised(dequantize_cast, moved())),
    row("sdp_with_compressed_kv_fusion", 22.0, || compressed(true, true)),
    row("sdp_with_compressed_v_fusion", 22.0, || compressed(false, true)),
    row("sdp_with_compressed_k_fusion", 22.0, || compressed(true, false)),
];
