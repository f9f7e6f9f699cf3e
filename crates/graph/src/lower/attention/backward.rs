//! The gradients of attention. With recomputed scores `s`, the kept logarithms `l` of the sums and `p = e^(s - l)`: `dv = p^T do`,
//! `ds = p * (do v^T - sum(o * do))`, `dq = scale(ds k)`, `dk = scale(ds^T q)`.

use super::scores::{Scores, only_consumer, past_casts, producer, scaling};
use super::{four, is_product, mask, matrices, operand, scale, turned};
use crate::lower::fold::consumers;
use crate::lower::{Lowering, Value};
use crate::{AttrId, Error, LogicalTensor, Op, OpKind};
use oxidnn_spec::Arg;
use oxidnn_spec::op::{Prop, Sdpa, SdpaDiff, SdpaScale};

/// The operations after the scores by their places, and the tensors they are about.
struct Tail {
    ops: Vec<usize>,
    statistics: usize,
    /// The forward pass's result and its gradient.
    result: usize,
    gradient: usize,
    /// The product with the values, backward.
    values: usize,
    /// Where the gradients of queries, keys and values go.
    out: [usize; 3],
}

fn place(l: &Lowering<'_>, op: &Op) -> Option<usize> {
    l.ops.iter().position(|o| o.id == op.id)
}

/// The two operations that read a tensor which stays inside, that of kind `first` first.
fn two(l: &Lowering<'_>, id: usize, first: impl Fn(usize, usize) -> bool) -> Option<[usize; 2]> {
    match consumers(l.ops, id)[..] {
        [(a, p), (b, q)] if !l.leaves(id) => {
            if first(a, p) {
                Some([a, b])
            } else {
                first(b, q).then_some([b, a])
            }
        }
        _ => None,
    }
}

/// `sum(o * do)` along the rows: the other factor than the gradient.
fn summed(l: &Lowering<'_>, id: usize, gradient: usize, ops: &mut Vec<usize>) -> Option<usize> {
    let sum = producer(l, id).filter(|op| op.kind == OpKind::ReduceSum && op.flag(AttrId::KeepDims))?;
    let rank = sum.inputs[0].dims?.len() as i64;
    if !matches!(sum.s64s(AttrId::Axes), [a] if *a == -1 || *a == rank - 1) {
        return None;
    }
    let product = producer(l, sum.inputs[0].id).filter(|op| op.kind == OpKind::Multiply)?;
    ops.extend([place(l, sum)?, place(l, product)?]);
    let other = product.inputs.iter().position(|lt| lt.id == gradient)?;
    Some(product.inputs[1 - other.min(1)].id)
}

/// The product that made a tensor, past conversions of the type.
fn product<'a>(l: &Lowering<'a>, mut id: usize, ops: &mut Vec<usize>) -> Option<&'a Op> {
    loop {
        let op = producer(l, id)?;
        ops.push(place(l, op)?);
        match op.kind {
            OpKind::TypeCast => id = op.inputs[0].id,
            _ => return is_product(op).then_some(op),
        }
    }
}

/// The last of the conversions after product `i`, and the sum over heads that share keys, if they do.
fn end(l: &Lowering<'_>, ops: &mut Vec<usize>, mut i: usize, shared: bool) -> Option<usize> {
    ops.push(i);
    let mut summed = !shared;
    while let Some((next, 0)) = only_consumer(l, i) {
        let op = &l.ops[next];
        match op.kind {
            OpKind::TypeCast => {}
            OpKind::ReduceSum if !summed && matches!(op.s64s(AttrId::Axes), [2 | -3]) && op.flag(AttrId::KeepDims) => summed = true,
            _ => break,
        }
        ops.push(next);
        i = next;
    }
    summed.then_some(i)
}

fn tail(l: &Lowering<'_>, scores: &Scores) -> Option<Tail> {
    let ops = l.ops;
    let (subtract, _) = scores.then;
    let statistics = ops[subtract].inputs[1].id;
    let (exp, _) = only_consumer(l, subtract).filter(|(i, _)| ops[*i].kind == OpKind::Exp)?;
    let mut taken = vec![subtract, exp];
    // Probabilities, perhaps in another type for the product.
    let transposed = |i: usize, port: usize| is_product(&ops[i]) && port == 0 && ops[i].flag(AttrId::TransposeA);
    let mut p = exp;
    if let [(cast, _)] = consumers(ops, ops[exp].outputs[0].id)[..]
        && ops[cast].kind == OpKind::TypeCast
    {
        taken.push(cast);
        p = cast;
    }
    let cast_product = |i: usize, port: usize| {
        transposed(i, port) || ops[i].kind == OpKind::TypeCast && only_consumer(l, i).is_some_and(|(i, port)| transposed(i, port))
    };
    let [mut dv, multiply] = two(l, ops[p].outputs[0].id, cast_product)?;
    if ops[dv].kind == OpKind::TypeCast {
        taken.push(dv);
        dv = only_consumer(l, dv)?.0;
    }
    if ops[multiply].kind != OpKind::Multiply {
        return None;
    }
    taken.push(multiply);
    let gradient = ops[dv].inputs[1].id;
    let of_scores = |lt: &&LogicalTensor| lt.id != ops[p].outputs[0].id;
    let difference = producer(l, ops[multiply].inputs.iter().find(of_scores)?.id).filter(|op| op.kind == OpKind::Subtract)?;
    taken.push(place(l, difference)?);
    let result = summed(l, difference.inputs[1].id, gradient, &mut taken)?;
    let weights = product(l, difference.inputs[0].id, &mut taken)?;
    let values = place(l, weights)?;
    if weights.inputs[0].id != gradient || weights.flag(AttrId::TransposeA) {
        return None;
    }
    let mut ds = multiply;
    if let Some(scale) = scores.scale {
        let (i, port) = past_casts(l, &mut taken, multiply)?;
        if scaling(l, (i, port)) != Some(scale) {
            return None;
        }
        taken.push(i);
        ds = i;
    }
    while let [(cast, _)] = consumers(ops, ops[ds].outputs[0].id)[..]
        && ops[cast].kind == OpKind::TypeCast
    {
        taken.push(cast);
        ds = cast;
    }
    let [dk, dq] = two(l, ops[ds].outputs[0].id, transposed)?;
    let first = &ops[scores.ops[0]];
    let same = |op: &Op, id: usize| is_product(op) && op.inputs[1].id == id;
    let turns = |op: &Op| op.flag(AttrId::TransposeB);
    // The keys of scores and of the queries' gradient are the same tensor, once transposed and once not.
    if !same(&ops[dk], first.inputs[0].id) || turns(&ops[dk]) || turns(&ops[dv]) || first.flag(AttrId::TransposeA) {
        return None;
    }
    if !same(&ops[dq], first.inputs[1].id) || ops[dq].flag(AttrId::TransposeA) || turns(&ops[dq]) == turns(first) {
        return None;
    }
    let wide = |lt: &LogicalTensor| lt.dims.filter(|d| d.len() == 5).map_or(1, |d| d[2]);
    let shared = wide(&first.inputs[0]) != wide(&first.inputs[1]);
    let out = [end(l, &mut taken, dq, false)?, end(l, &mut taken, dk, shared)?, end(l, &mut taken, dv, shared)?];
    Some(Tail { ops: taken, statistics, result, gradient, values, out })
}

fn problem(l: &mut Lowering<'_>, scores: &Scores, tail: &Tail) -> Result<(), Error> {
    let (first, second) = (&l.ops[scores.ops[0]], &l.ops[tail.values]);
    let rank = first.outputs[0].dims.map_or(0, |d| d.len());
    let (q, k) = (matrices(l, first, 0, false)?, matrices(l, first, 1, false)?);
    // Backward the values are transposed where they were not forward.
    let v = turned(&matrices(l, second, 1, false)?, true)?;
    let sizes = [q.size(2)?, k.size(3)?];
    let mask = mask::of(l, scores, rank, sizes)?;
    let scale = scale(l, scores)?;
    let mut read = |id: usize| -> Result<Value, Error> { four(&operand(l, id, false)?.at_rank(rank)?) };
    let (dst, gradient) = (read(tail.result)?, read(tail.gradient)?);
    let statistics = operand(l, tail.statistics, false)?;
    let saved = l.reshaped(&statistics, &[q.size(0)?, q.size(1)?, sizes[0]])?;
    let gradients = tail.out.map(|i| l.buffer(&l.ops[i].outputs[0]));
    let [dq, dk, dv] = gradients;
    let (dq, dk, dv) = (four(&dq?)?, turned(&four(&dk?)?, true)?, four(&dv?)?);
    let tensor = |v: &Value| v.tensor.clone();
    let diff = SdpaDiff { q: tensor(&dq), k: tensor(&dk), v: tensor(&dv), dst: tensor(&gradient) };
    let problem = Sdpa {
        prop: Prop::Backward,
        q: tensor(&q),
        k: tensor(&k),
        v: tensor(&v),
        mask: mask.numbers.as_ref().map(tensor),
        scale: scale.as_ref().map(|s| tensor(&s.1)),
        dst: tensor(&dst),
        diff: Some(diff),
        workspace: None,
        mask_kind: mask.kind,
        scale_kind: scale.as_ref().map_or(SdpaScale::None, |s| s.0),
    };
    let mut args = vec![(Arg::SRC, &q), (Arg::SRC_1, &k), (Arg::SRC_2, &v), (Arg::DST, &dst), (Arg::WORKSPACE, &saved)];
    args.extend(mask.numbers.as_ref().map(|m| (Arg::SRC_3, m)));
    args.extend(scale.as_ref().map(|s| (Arg::SCALE, &s.1)));
    args.extend([(Arg::DIFF_DST, &gradient), (Arg::DIFF_SRC, &dq), (Arg::DIFF_SRC_1, &dk), (Arg::DIFF_SRC_2, &dv)]);
    l.fast = true;
    l.main(problem, &args)
}

/// Lowers the gradients of the attention with these scores; returns its operations, none where no row takes it.
pub(super) fn lower(l: &mut Lowering<'_>, scores: &Scores) -> Vec<usize> {
    let Some(tail) = tail(l, scores) else { return Vec::new() };
    let known = [tail.statistics, tail.result, tail.gradient].iter().all(|id| l.values.contains_key(id));
    if !known {
        return Vec::new();
    }
    let checkpoint = l.checkpoint();
    let done = problem(l, scores, &tail);
    l.fast = false;
    match done {
        Ok(()) => {
            let mut ops: Vec<usize> = scores.ops.iter().chain(&tail.ops).copied().collect();
            ops.sort_unstable();
            ops.dedup();
            ops
        }
        Err(_) => {
            l.rollback(&checkpoint);
            Vec::new()
        }
    }
}
