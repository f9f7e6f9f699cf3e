//! Attention as one problem: two products with a softmax between them, where a row of the engine takes that. Everything else is lowered step by
//! step. A row of scores that are all masked out gives zeros here, whatever the mode of the softmax.

use super::Lowering;
use super::fold::{before, readers};
use super::value::Value;
use crate::infer::axis;
use crate::{AttrId, Error, Op, OpKind};
use oxidnn_spec::Arg;
use oxidnn_spec::op::{Prop, Sdpa, SdpaMask, SdpaScale};

/// The operations of an attention by their places, and its operands.
struct Found {
    ops: Vec<usize>,
    scale: Option<(SdpaScale, usize)>,
    mask: Option<usize>,
    values: usize,
    /// Operations that move what it computes.
    moved: Vec<usize>,
}

/// The only operation that reads what operation `i` writes, and by which input; none where it leaves the partition.
fn only_reader(l: &Lowering<'_>, i: usize) -> Option<(usize, usize)> {
    let out = l.ops[i].outputs.first()?;
    match readers(l.ops, out.id)[..] {
        [reader] if !l.leaves(out.id) => Some(reader),
        _ => None,
    }
}

/// The attention that begins with product `first`.
fn found(l: &Lowering<'_>, first: usize) -> Option<Found> {
    let ops = l.ops;
    let plain = |op: &Op| op.kind == OpKind::MatMul && op.inputs.len() == 2 && !op.flag(AttrId::TransposeA);
    if !plain(&ops[first]) {
        return None;
    }
    let mut found = Found { ops: vec![first], scale: None, mask: None, values: 0, moved: Vec::new() };
    let (mut i, mut port) = only_reader(l, first)?;
    let other = |i: usize, port: usize| ops[i].inputs.get(1 - port.min(1)).map(|lt| lt.id);
    let single = |id: usize| l.values.get(&id).is_some_and(|v| v.dims().volume() == Some(1));
    let kind = match ops[i].kind {
        OpKind::Multiply => Some(SdpaScale::Multiply),
        OpKind::Divide if port == 0 => Some(SdpaScale::Divide),
        _ => None,
    };
    if let Some(kind) = kind {
        let factor = other(i, port).filter(|&id| single(id))?;
        found.scale = Some((kind, factor));
        found.ops.push(i);
        (i, port) = only_reader(l, i)?;
    }
    if ops[i].kind == OpKind::Add {
        found.mask = Some(other(i, port).filter(|id| l.values.contains_key(id))?);
        found.ops.push(i);
        (i, port) = only_reader(l, i)?;
    }
    let rank = ops[i].inputs[0].dims?.len();
    let last = axis(ops[i].s64(AttrId::Axis), rank).ok()? + 1 == rank;
    if ops[i].kind != OpKind::SoftMax || ops[i].outputs.len() != 1 || !last || port != 0 {
        return None;
    }
    found.ops.push(i);
    (i, port) = only_reader(l, i)?;
    if !plain(&ops[i]) || port != 0 || !l.values.contains_key(&ops[i].inputs[1].id) {
        return None;
    }
    found.ops.push(i);
    found.values = i;
    while let Some((next, 0)) = only_reader(l, i) {
        if !matches!(ops[next].kind, OpKind::StaticTranspose | OpKind::StaticReshape | OpKind::Reorder) {
            break;
        }
        found.moved.push(next);
        i = next;
    }
    Some(found)
}

/// Batch, heads and matrices: of five dimensions the second and third are groups of heads and the heads of each.
fn four(value: &Value) -> Result<Value, Error> {
    let d = *value.dims();
    match d.len() {
        4 => Ok(value.clone()),
        5 => value.reshaped(&[d[0], d[1] * d[2], d[3], d[4]]),
        n => Err(Error::shape("rank of attention", n, "4 or 5")),
    }
}

fn turned(value: &Value, turn: bool) -> Result<Value, Error> {
    let n = value.dims().len();
    let mut order: Vec<usize> = (0..n).collect();
    if turn && n >= 2 {
        order.swap(n - 2, n - 1);
    }
    value.permuted(&order)
}

fn operand(l: &mut Lowering<'_>, id: usize) -> Result<Value, Error> {
    let value = l.values.get(&id).cloned();
    let value = value.ok_or_else(|| Error::argument(format_args!("logical tensor {id}"), "nothing", "one that was computed before"))?;
    l.plain(value)
}

fn problem(l: &mut Lowering<'_>, found: &Found, moved: &[usize]) -> Result<(), Error> {
    let (first, second) = (&l.ops[found.ops[0]], &l.ops[found.values]);
    let rank = first.outputs[0].dims.map_or(0, |d| d.len());
    let q = four(&operand(l, first.inputs[0].id)?.at_rank(rank)?)?;
    let k = operand(l, first.inputs[1].id)?.at_rank(rank)?;
    let k = four(&turned(&k, first.flag(AttrId::TransposeB))?)?;
    let v = operand(l, second.inputs[1].id)?.at_rank(rank)?;
    let v = four(&turned(&v, second.flag(AttrId::TransposeB))?)?;
    let mask = found.mask.map(|id| four(&operand(l, id)?.at_rank(rank)?)).transpose()?;
    let scale = match found.scale {
        Some((kind, id)) => Some((kind, operand(l, id)?.reshaped(&[1])?)),
        None => None,
    };
    let last = moved.last().copied().unwrap_or(found.values);
    let mut dst = l.room(&l.ops[last].outputs[0])?;
    for &i in moved.iter().rev() {
        dst = before(&l.ops[i], &dst)?;
    }
    let dst = four(&dst)?;
    let tensor = |v: &Option<Value>| v.as_ref().map(|v| v.tensor.clone());
    let problem = Sdpa {
        prop: Prop::ForwardInference,
        q: q.tensor.clone(),
        k: k.tensor.clone(),
        v: v.tensor.clone(),
        mask: tensor(&mask),
        scale: scale.as_ref().map(|s| s.1.tensor.clone()),
        dst: dst.tensor.clone(),
        diff: None,
        workspace: None,
        mask_kind: if mask.is_some() { SdpaMask::Buffer } else { SdpaMask::None },
        scale_kind: scale.as_ref().map_or(SdpaScale::None, |s| s.0),
    };
    let mut args = vec![(Arg::SRC, &q), (Arg::SRC_1, &k), (Arg::SRC_2, &v)];
    args.extend(mask.as_ref().map(|m| (Arg::SRC_3, m)));
    args.extend(scale.as_ref().map(|s| (Arg::SCALE, &s.1)));
    args.push((Arg::DST, &dst));
    l.fast = true;
    l.main(problem, &args)
}

/// Lowers the attention that begins with product `first`, if there is one that a row of the engine takes; returns its operations.
pub(super) fn lower(l: &mut Lowering<'_>, first: usize) -> Vec<usize> {
    let Some(found) = found(l, first) else { return Vec::new() };
    let mark = l.mark();
    for count in (0..=found.moved.len()).rev() {
        let moved = &found.moved[..count];
        match problem(l, &found, moved) {
            Ok(()) => {
                let all: Vec<usize> = found.ops.iter().chain(moved).copied().collect();
                let names: Vec<&str> = all.iter().map(|&i| l.ops[i].kind.name()).collect();
                l.notes.push(format!("{} as one attention", names.join(" + ")));
                return all;
            }
            Err(_) => l.reset(&mark),
        }
        l.fast = false;
    }
    Vec::new()
}
