//! Attention as one problem, if a row of the engine takes it: two products with a softmax between them, and their gradients. Everything
//! else is lowered step by step. A row of scores that are all masked out gives zeros here, whatever the mode of the softmax.

mod backward;
mod forward;
mod mask;
mod scores;

use super::Lowering;
use super::value::Value;
use crate::program::{Guard, Place};
use crate::{AttrId, Error, Op, OpKind};
use oxidnn_spec::op::SdpaScale;
use scores::Scores;

/// Batch, heads and matrices: of five dimensions the second and third are groups of heads and the heads of each.
fn four(value: &Value) -> Result<Value, Error> {
    let d = *value.dims();
    match d.len() {
        3 => value.at_rank(4),
        4 => Ok(value.clone()),
        5 => value.reshaped(&[d[0], d[1] * d[2], d[3], d[4]]),
        n => Err(Error::shape("rank of attention", n, "3 to 5")),
    }
}

/// The matrices transposed, where `turn` says so.
fn turned(value: &Value, turn: bool) -> Result<Value, Error> {
    let n = value.dims().len();
    let mut order: Vec<usize> = (0..n).collect();
    if turn && n >= 2 {
        order.swap(n - 2, n - 1);
    }
    value.permuted(&order)
}

/// The value of a tensor's number; with `raw`, in its memory representation.
fn operand(l: &mut Lowering<'_>, id: usize, raw: bool) -> Result<Value, Error> {
    let value = l.values.get(&id).cloned();
    let value = value.ok_or_else(|| Error::argument(format_args!("logical tensor {id}"), "nothing", "one that was computed before"))?;
    if raw { Ok(value) } else { l.plain(value) }
}

/// An operand of product `op`: matrices of `rank` dimensions, transposed where the product says so, with batch and heads before them.
fn matrices(l: &mut Lowering<'_>, op: &Op, input: usize, raw: bool) -> Result<Value, Error> {
    let rank = op.outputs[0].dims.map_or(0, |d| d.len());
    let flag = if input == 0 { AttrId::TransposeA } else { AttrId::TransposeB };
    let value = operand(l, op.inputs[input].id, raw)?.at_rank(rank)?;
    four(&turned(&value, op.flag(flag))?)
}

/// The scale of the scores.
fn scale(l: &mut Lowering<'_>, scores: &Scores) -> Result<Option<(SdpaScale, Value)>, Error> {
    let Some((kind, id)) = scores.scale else { return Ok(None) };
    if scores.masked_first {
        let input = given(l, id).ok_or_else(|| Error::Unimplemented("attention with a scale of masked scores that is computed".into()))?;
        l.assume(Guard::Positive(input))?;
    }
    Ok(Some((kind, operand(l, id, false)?.reshaped(&[1])?)))
}

/// Whether an operation is a product of two operands.
fn is_product(op: &Op) -> bool {
    op.kind == OpKind::MatMul && op.inputs.len() == 2
}

/// The partition's input that is this single number, unconverted.
fn given(l: &Lowering<'_>, id: usize) -> Option<usize> {
    let value = l.values.get(&id).filter(|v| v.dims().volume() == Some(1) && v.scaled.is_none())?;
    if let Place::In(i) = value.place { Some(i) } else { None }
}

/// Lowers the attention that begins with product `first`, if there is one that a row of the engine takes; returns its operations.
pub(super) fn lower(l: &mut Lowering<'_>, first: usize) -> Vec<usize> {
    if !is_product(&l.ops[first]) {
        return Vec::new();
    }
    let Some(scores) = scores::found(l, first) else { return Vec::new() };
    let ops = match scores.then {
        (i, 0) if l.ops[i].kind == OpKind::SoftMax => forward::lower(l, &scores),
        (i, 0) if l.ops[i].kind == OpKind::Subtract => backward::lower(l, &scores),
        _ => Vec::new(),
    };
    if !ops.is_empty() {
        let names: Vec<&str> = ops.iter().map(|&i| l.ops[i].kind.name()).collect();
        l.notes.push(format!("{} as one attention", names.join(" + ")));
    }
    ops
}
