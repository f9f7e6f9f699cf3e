//! Scores: a product, an optional scale, optional masks, up to their readers.

use crate::OpKind;
use crate::infer::axis;
use crate::lower::Lowering;
use crate::lower::fold::consumers;
use crate::{AttrId, Op};
use oxidnn_spec::op::SdpaScale;

/// A mask on scores, with the numbers of its tensors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Masking {
    /// A tensor is added.
    Added(usize),
    /// Where the condition does not hold, another number stands.
    Chosen { condition: usize, other: usize, causal: Option<Causal> },
}

/// The condition is that keys are not behind the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Causal {
    /// The terms added to and subtracted from a query's position.
    pub(super) offsets: Option<[usize; 2]>,
}

/// The operations of scores by their places, and their effects.
#[derive(Debug)]
pub(super) struct Scores {
    pub(super) ops: Vec<usize>,
    pub(super) scale: Option<(SdpaScale, usize)>,
    /// Scores are masked before they are scaled, which is the same for factors above 0.
    pub(super) masked_first: bool,
    pub(super) masks: Vec<Masking>,
    /// The reader of the scores, and the input by which it reads them.
    pub(super) then: (usize, usize),
}

/// The only operation that reads the first result of operation `i`, and by which input; none where that leaves the partition.
pub(super) fn only_consumer(l: &Lowering<'_>, i: usize) -> Option<(usize, usize)> {
    let out = l.ops[i].outputs.first()?;
    match consumers(l.ops, out.id)[..] {
        [reader] if !l.leaves(out.id) => Some(reader),
        _ => None,
    }
}

/// As [`only_consumer`], past conversions of the type, which are added to `ops`.
pub(super) fn past_casts(l: &Lowering<'_>, ops: &mut Vec<usize>, i: usize) -> Option<(usize, usize)> {
    let mut next = only_consumer(l, i)?;
    while l.ops[next.0].kind == OpKind::TypeCast {
        ops.push(next.0);
        next = only_consumer(l, next.0)?;
    }
    Some(next)
}

/// The scale by a single number that operation `i` is.
pub(super) fn scaling(l: &Lowering<'_>, (i, port): (usize, usize)) -> Option<(SdpaScale, usize)> {
    let op = &l.ops[i];
    let kind = match op.kind {
        OpKind::Multiply => SdpaScale::Multiply,
        OpKind::Divide if port == 0 => SdpaScale::Divide,
        _ => return None,
    };
    let factor = op.inputs.get(1 - port.min(1))?.id;
    l.values.get(&factor).filter(|v| v.dims().volume() == Some(1)).map(|_| (kind, factor))
}

/// The operation that writes a tensor.
pub(super) fn producer<'a>(l: &Lowering<'a>, id: usize) -> Option<&'a Op> {
    l.ops.iter().find(|op| op.outputs.iter().any(|lt| lt.id == id))
}

/// Whether the operation gives indices along dimension `back` from the last.
fn counts(op: &Op, back: usize) -> bool {
    let rank = op.inputs.first().and_then(|lt| lt.dims).map_or(0, |d| d.len());
    op.kind == OpKind::GenIndex && axis(op.s64(AttrId::Axis), rank).is_ok_and(|a| a + 1 + back == rank)
}

/// The condition as a comparison of positions.
fn causal(l: &Lowering<'_>, condition: usize) -> Option<Causal> {
    let compared = producer(l, condition).filter(|op| op.kind == OpKind::GreaterEqual)?;
    if !counts(producer(l, compared.inputs[1].id)?, 0) {
        return None;
    }
    let row = producer(l, compared.inputs[0].id)?;
    if counts(row, 1) {
        return Some(Causal { offsets: None });
    }
    let add = Some(row).filter(|op| op.kind == OpKind::Subtract).and_then(|op| producer(l, op.inputs[0].id))?;
    let begin = Some(add).filter(|op| op.kind == OpKind::Add).and_then(|op| producer(l, op.inputs[0].id))?;
    counts(begin, 1).then(|| Causal { offsets: Some([add.inputs[1].id, row.inputs[1].id]) })
}

fn masking(l: &Lowering<'_>, (i, port): (usize, usize)) -> Option<Masking> {
    let op = &l.ops[i];
    match op.kind {
        OpKind::Add => {
            let mask = op.inputs.get(1 - port.min(1))?.id;
            l.values.contains_key(&mask).then_some(Masking::Added(mask))
        }
        OpKind::Select if port == 1 => {
            let (condition, other) = (op.inputs[0].id, op.inputs[2].id);
            let causal = causal(l, condition);
            (causal.is_some() || l.values.contains_key(&condition)).then_some(Masking::Chosen { condition, other, causal })
        }
        _ => None,
    }
}

/// The scores that product `first` begins.
pub(super) fn found(l: &Lowering<'_>, first: usize) -> Option<Scores> {
    let mut ops = vec![first];
    let mut then = past_casts(l, &mut ops, first)?;
    let (mut scale, mut masks, mut masked_first) = (None, Vec::new(), false);
    loop {
        let chosen = masks.iter().all(|m| matches!(m, Masking::Chosen { .. }));
        if let Some(mask) = masking(l, then) {
            masks.push(mask);
        } else if let Some(scaling) = scaling(l, then).filter(|_| scale.is_none() && chosen) {
            (scale, masked_first) = (Some(scaling), !masks.is_empty());
        } else {
            return Some(Scores { ops, scale, masked_first, masks, then });
        }
        ops.push(then.0);
        then = past_casts(l, &mut ops, then.0)?;
    }
}
