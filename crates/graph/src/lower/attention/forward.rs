//! Attention forward: scores, softmax, the product with the values, and movements of the result; training keeps the softmax's statistics.

use super::scores::{Scores, only_consumer, past_casts};
use super::{four, is_product, mask, matrices, scale};
use crate::infer::axis;
use crate::lower::fold::before;
use crate::lower::{Lowering, softmax};
use crate::{AttrId, Error, OpKind};
use oxidnn_spec::op::{Prop, Sdpa, SdpaScale};
use oxidnn_spec::{Arg, DataType};

/// The operations after the scores, by their places.
struct Tail {
    ops: Vec<usize>,
    softmax: usize,
    values: usize,
    /// Operations that move the result.
    moved: Vec<usize>,
}

fn tail(l: &Lowering<'_>, scores: &Scores) -> Option<Tail> {
    let (softmax, _) = scores.then;
    let op = &l.ops[softmax];
    let rank = op.inputs[0].dims?.len();
    if axis(op.s64(AttrId::Axis), rank).ok()? + 1 != rank {
        return None;
    }
    let mut ops = vec![softmax];
    let (values, port) = past_casts(l, &mut ops, softmax)?;
    let product = &l.ops[values];
    if !is_product(product) || port != 0 || product.flag(AttrId::TransposeA) || !l.values.contains_key(&product.inputs[1].id) {
        return None;
    }
    ops.push(values);
    let (mut moved, mut i) = (Vec::new(), values);
    while let Some((next, 0)) = only_consumer(l, i) {
        if !matches!(l.ops[next].kind, OpKind::StaticTranspose | OpKind::StaticReshape | OpKind::Reorder | OpKind::TypeCast) {
            break;
        }
        moved.push(next);
        i = next;
    }
    Some(Tail { ops, softmax, values, moved })
}

/// Appends the problem with the first `count` movements of the result; with `raw`, keys and values of few bits are not dequantised first.
fn problem(l: &mut Lowering<'_>, scores: &Scores, tail: &Tail, count: usize, raw: bool) -> Result<(), Error> {
    let (first, second) = (&l.ops[scores.ops[0]], &l.ops[tail.values]);
    let q = matrices(l, first, 0, false)?;
    let (k, v) = (matrices(l, first, 1, raw)?, matrices(l, second, 1, raw)?);
    let rank = first.outputs[0].dims.map_or(0, |d| d.len());
    let sizes = [q.size(2)?, k.size(3)?];
    let mask = mask::of(l, scores, rank, sizes)?;
    let scale = scale(l, scores)?;
    let moved = &tail.moved[..count];
    let last = moved.last().copied().unwrap_or(tail.values);
    let mut dst = l.buffer(&l.ops[last].outputs[0])?;
    for &i in moved.iter().rev() {
        dst = before(&l.ops[i], &dst)?;
    }
    let dst = four(&dst)?;
    let statistics = l.ops[tail.softmax].outputs.get(1).map(|lt| l.buffer(lt)).transpose()?;
    let saved = statistics.as_ref().map(|s| l.output_or_temporary(s, &[q.size(0)?, q.size(1)?, sizes[0]], DataType::F32)).transpose()?;
    let problem = Sdpa {
        prop: if saved.is_some() { Prop::ForwardTraining } else { Prop::ForwardInference },
        q: q.tensor.clone(),
        k: k.tensor.clone(),
        v: v.tensor.clone(),
        mask: mask.numbers.as_ref().map(|m| m.tensor.clone()),
        scale: scale.as_ref().map(|s| s.1.tensor.clone()),
        dst: dst.tensor.clone(),
        diff: None,
        workspace: None,
        mask_kind: mask.kind,
        scale_kind: scale.as_ref().map_or(SdpaScale::None, |s| s.0),
    };
    let mut args = vec![(Arg::SRC, &q), (Arg::SRC_1, &k), (Arg::SRC_2, &v)];
    args.extend(mask.numbers.as_ref().map(|m| (Arg::SRC_3, m)));
    args.extend(scale.as_ref().map(|s| (Arg::SCALE, &s.1)));
    args.push((Arg::DST, &dst));
    args.extend(saved.as_ref().map(|k| (Arg::WORKSPACE, k)));
    l.fast = true;
    l.main(problem, &args)?;
    if let (Some(saved), Some(out)) = (saved, statistics) {
        l.op = &l.ops[tail.softmax];
        if softmax::counts_nothing(l) {
            softmax::finite(l, &saved)?;
        }
        l.copy_out(&saved, &out)?;
    }
    Ok(())
}

/// Lowers the attention of these scores; returns its operations, none where no row takes it.
pub(super) fn lower(l: &mut Lowering<'_>, scores: &Scores) -> Vec<usize> {
    let Some(tail) = tail(l, scores) else { return Vec::new() };
    let few = [l.ops[scores.ops[0]].inputs[1].id, l.ops[tail.values].inputs[1].id];
    let few = few.iter().any(|id| l.values.get(id).is_some_and(|v| v.scaled.is_some()));
    let (checkpoint, op) = (l.checkpoint(), l.op);
    for raw in [true, false].into_iter().filter(|raw| few || !raw) {
        for count in (0..=tail.moved.len()).rev() {
            let done = problem(l, scores, &tail, count, raw);
            (l.op, l.fast) = (op, false);
            match done {
                Ok(()) => return scores.ops.iter().chain(&tail.ops).chain(&tail.moved[..count]).copied().collect(),
                Err(_) => l.rollback(&checkpoint),
            }
        }
    }
    Vec::new()
}
