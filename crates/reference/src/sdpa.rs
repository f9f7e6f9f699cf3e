//! Scaled dot-product attention: `softmax(scale(q k) + mask) v` for every query, and its gradients.

#[cfg(test)]
mod tests;

use crate::region::lease;
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, Error, RUNTIME, Tensor};

/// Scratch for [`run`]: the scores of one query and one row of results; in backward the scores and their gradients, one row of the gradient of
/// queries, and the gradients of a head of keys and of values.
pub(crate) fn scratch_len(op: &Sdpa) -> usize {
    let size = |t: &Tensor, d: usize| t.dims().get(d).copied().filter(|&d| d != RUNTIME).unwrap_or(0);
    let (depth, keys, values) = (size(&op.k, 2), size(&op.k, 3), size(&op.v, 3));
    let len = if op.prop.is_forward() { keys + values } else { keys * (2 + depth + values) + depth };
    len as usize
}

/// A tensor with its quantisation.
struct Side<'a> {
    view: View<'a>,
    scale: Factor<'a>,
    zero_point: Factor<'a>,
}

impl<'a> Side<'a> {
    fn of(attr: &Attr, args: &'a dyn Args, arg: Arg) -> Result<Side<'a>, Error> {
        let view = View::of(args, arg)?;
        let (scale, zero_point) = (Factor::scale(attr, args, arg, view.dims())?, Factor::zero_point(attr, args, arg, view.dims())?);
        Ok(Side { view, scale, zero_point })
    }

    fn get(&self, pos: &[i64]) -> f64 {
        (self.view.get(pos) - self.zero_point.at(pos)) * self.scale.at(pos)
    }
}

/// What one execution reads.
struct Attention<'a> {
    q: View<'a>,
    k: Side<'a>,
    v: Side<'a>,
    mask: Option<View<'a>>,
    kind: SdpaMask,
    factor: f64,
}

/// Computes attention, or its gradients.
pub(crate) fn run<'a>(op: &Sdpa, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let scale = match op.scale_kind {
        SdpaScale::None => 1.0,
        _ => View::of(args, Arg::SCALE)?.get(&[]),
    };
    let attention = Attention {
        q: View::of(args, Arg::SRC)?,
        k: Side::of(attr, args, Arg::SRC_1)?,
        v: Side::of(attr, args, Arg::SRC_2)?,
        mask: if op.mask_kind == SdpaMask::Buffer { Some(View::of(args, Arg::SRC_3)?) } else { None },
        kind: op.mask_kind,
        factor: if op.scale_kind == SdpaScale::Divide { 1.0 / scale } else { scale },
    };
    if op.prop.is_forward() { attention.forward(attr, args, scratch) } else { attention.backward(attr, args, scratch) }
}

impl Attention<'_> {
    fn forward<'a>(&self, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
        let (tail, statistics) = (Epilogue::new(attr, args, Arg::DST)?, View::optional(args, Arg::WORKSPACE)?);
        let [keys, values] = [self.v.view.dims()[2], self.v.view.dims()[3]];
        let (scores, row) = lease(scratch, keys + values)?.split_at_mut(keys as usize);
        for_each_position(&tail.dst().dims()[..3], |query| {
            let sum = self.query(query, scores, row);
            if let Some(statistics) = &statistics {
                statistics.set(query, sum);
            }
            let &[b, head, i] = query else { return };
            for (c, &value) in (0..).zip(row.iter()) {
                tail.finish(&[b, head, i, c], value);
            }
        });
        tail.dst().zero_padding();
        Ok(())
    }

    /// The head of keys and values that a head of queries attends to.
    fn shared(&self, head: i64) -> i64 {
        head * self.k.view.dims()[1] / self.q.dims()[1]
    }

    /// The result for the query at `[batch, head, position]`; returns the logarithm of the sum of exponentials.
    fn query(&self, query: &[i64], scores: &mut [f64], row: &mut [f64]) -> f64 {
        let &[b, head, i] = query else { return f64::NAN };
        let kv_head = self.shared(head);
        for (j, score) in (0..).zip(scores.iter_mut()) {
            *score = self.score([b, head, i, j], kv_head);
        }
        let sum = weigh(scores);
        row.fill(0.0);
        for (j, &weight) in (0..).zip(scores.iter()).filter(|s| *s.1 != 0.0) {
            for (c, sum) in (0..).zip(row.iter_mut()) {
                *sum += weight * self.v.get(&[b, kv_head, j, c]);
            }
        }
        sum
    }

    /// The scaled and masked score of a query and a key; negative infinity for a key masked out.
    fn score(&self, pos: [i64; 4], kv_head: i64) -> f64 {
        let [b, head, i, j] = pos;
        let last = match self.kind {
            SdpaMask::CausalTopLeft => i,
            SdpaMask::CausalBottomRight => i + self.k.view.dims()[3] - self.q.dims()[2],
            SdpaMask::None | SdpaMask::Buffer => i64::MAX,
        };
        if j > last {
            return f64::NEG_INFINITY;
        }
        let product: f64 = (0..self.q.dims()[3]).map(|c| self.q.get(&[b, head, i, c]) * self.k.get(&[b, kv_head, c, j])).sum();
        product * self.factor + self.mask.map_or(0.0, |m| m.get(&pos))
    }

    /// The gradients of queries, keys and values, one head of keys after the other.
    fn backward<'a>(&self, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
        let given =
            Given { dst: View::of(args, Arg::DST)?, diff_dst: View::of(args, Arg::DIFF_DST)?, statistics: View::of(args, Arg::WORKSPACE)? };
        let tails = [Arg::DIFF_SRC, Arg::DIFF_SRC_1, Arg::DIFF_SRC_2].map(|arg| Epilogue::new(attr, args, arg));
        let [diff_q, diff_k, diff_v] = tails;
        let (diff_q, diff_k, diff_v) = (diff_q?, diff_k?, diff_v?);
        let [batch, kv_heads, depth, keys] = [0, 1, 2, 3].map(|d| self.k.view.dims()[d]);
        let values = self.v.view.dims()[3];
        let (queries, group) = (self.q.dims()[2], self.q.dims()[1] / kv_heads.max(1));
        let scratch = lease(scratch, keys * (2 + depth + values) + depth)?;
        let (query, shared) = scratch.split_at_mut((2 * keys + depth) as usize);
        for_each_position(&[batch, kv_heads], |at| {
            let &[b, kv_head] = at else { return };
            shared.fill(0.0);
            for_each_position(&[group, queries], |of| {
                let pos = [b, kv_head * group + of[0], of[1]];
                let (sums_k, sums_v) = shared.split_at_mut((depth * keys) as usize);
                self.gradients(pos, &given, query, [&mut *sums_k, sums_v]);
                for (c, &value) in (0..).zip(&query[2 * keys as usize..]) {
                    diff_q.finish(&[pos[0], pos[1], pos[2], c], value);
                }
            });
            let (sums_k, sums_v) = shared.split_at((depth * keys) as usize);
            for_each_position(&[depth, keys], |p| diff_k.finish(&[b, kv_head, p[0], p[1]], sums_k[(p[0] * keys + p[1]) as usize]));
            for_each_position(&[keys, values], |p| diff_v.finish(&[b, kv_head, p[0], p[1]], sums_v[(p[0] * values + p[1]) as usize]));
        });
        [diff_q, diff_k, diff_v].iter().for_each(|tail| tail.dst().zero_padding());
        Ok(())
    }

    /// What a query adds to the gradients of keys and values, and its own gradient after the scratch of two rows of scores.
    fn gradients(&self, [b, head, i]: [i64; 3], given: &Given<'_>, query: &mut [f64], [diff_k, diff_v]: [&mut [f64]; 2]) {
        let (kv_head, keys, values) = (self.shared(head), self.k.view.dims()[3], self.v.view.dims()[3]);
        let (scores, rest) = query.split_at_mut(keys as usize);
        let (changes, diff_q) = rest.split_at_mut(keys as usize);
        let change = |c: i64| given.diff_dst.get(&[b, head, i, c]);
        let statistics = given.statistics.get(&[b, head, i]);
        let own: f64 = (0..values).map(|c| given.dst.get(&[b, head, i, c]) * change(c)).sum();
        for (j, (score, ds)) in (0..).zip(scores.iter_mut().zip(changes.iter_mut())) {
            let weight = if statistics == f64::NEG_INFINITY { 0.0 } else { (self.score([b, head, i, j], kv_head) - statistics).exp() };
            let product: f64 = (0..values).map(|c| change(c) * self.v.get(&[b, kv_head, j, c])).sum();
            *score = weight;
            *ds = if weight == 0.0 { 0.0 } else { weight * (product - own) * self.factor };
        }
        diff_q.fill(0.0);
        for (j, (&weight, &ds)) in (0..).zip(scores.iter().zip(changes.iter())).filter(|s| *s.1.0 != 0.0) {
            for (c, sum) in (0..).zip(diff_q.iter_mut()) {
                *sum += ds * self.k.get(&[b, kv_head, c, j]);
                diff_k[(c * keys + j) as usize] += ds * self.q.get(&[b, head, i, c]);
            }
            for c in 0..values {
                diff_v[(j * values + c) as usize] += weight * change(c);
            }
        }
    }
}

/// What the backward pass reads of the forward pass and of its gradient.
struct Given<'a> {
    dst: View<'a>,
    diff_dst: View<'a>,
    statistics: View<'a>,
}

/// Softmax in place; zeros where every score is negative infinity. Returns the logarithm of the sum of exponentials.
fn weigh(scores: &mut [f64]) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY && !scores.iter().any(|s| s.is_nan()) {
        scores.fill(0.0);
        return f64::NEG_INFINITY;
    }
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - largest).exp();
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
    largest + sum.ln()
}
