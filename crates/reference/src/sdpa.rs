//! Scaled dot-product attention: `softmax(scale(q k) + mask) v` for every query.

#[cfg(test)]
mod tests;

use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_spec::op::{Sdpa, SdpaMask, SdpaScale};
use oxidnn_spec::{Arg, Attr, Error, RUNTIME};

/// Scratch for [`run`]: the scores of one query, and one row of results.
pub(crate) fn scratch_len(op: &Sdpa) -> usize {
    let (keys, values) = (op.k.dims().get(3), op.v.dims().get(3));
    [keys, values].into_iter().flatten().filter(|&&d| d != RUNTIME).sum::<i64>() as usize
}

/// What one execution reads.
struct Attention<'a> {
    q: View<'a>,
    k: View<'a>,
    v: View<'a>,
    mask: Option<View<'a>>,
    kind: SdpaMask,
    factor: f64,
    tail: Epilogue<'a>,
}

/// Computes attention.
pub(crate) fn run<'a>(op: &Sdpa, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let scale = match op.scale_kind {
        SdpaScale::None => 1.0,
        _ => View::of(args, Arg::SCALE)?.get(&[]),
    };
    let attention = Attention {
        q: View::of(args, Arg::SRC)?,
        k: View::of(args, Arg::SRC_1)?,
        v: View::of(args, Arg::SRC_2)?,
        mask: if op.mask_kind == SdpaMask::Buffer { Some(View::of(args, Arg::SRC_3)?) } else { None },
        kind: op.mask_kind,
        factor: if op.scale_kind == SdpaScale::Divide { 1.0 / scale } else { scale },
        tail: Epilogue::new(attr, args, Arg::DST)?,
    };
    let dst = attention.tail.dst();
    let (scores, row) = scratch.split_at_mut(attention.k.dims()[3] as usize);
    for_each_position(&dst.dims()[..3], |query| attention.query(query, scores, &mut row[..dst.dims()[3] as usize]));
    dst.zero_padding();
    Ok(())
}

impl Attention<'_> {
    /// The result for the query at `[batch, head, position]`.
    fn query(&self, query: &[i64], scores: &mut [f64], row: &mut [f64]) {
        let &[b, head, i] = query else { return };
        let kv_head = head * self.k.dims()[1] / self.q.dims()[1];
        for (j, score) in (0..).zip(scores.iter_mut()) {
            *score = self.score([b, head, i, j], kv_head);
        }
        weigh(scores);
        row.fill(0.0);
        for (j, &weight) in (0..).zip(scores.iter()).filter(|s| *s.1 != 0.0) {
            for (c, sum) in (0..).zip(row.iter_mut()) {
                *sum += weight * self.v.get(&[b, kv_head, j, c]);
            }
        }
        for (c, &value) in (0..).zip(row.iter()) {
            self.tail.finish(&[b, head, i, c], value);
        }
    }

    /// The scaled and masked score of a query and a key; negative infinity for a key masked out.
    fn score(&self, pos: [i64; 4], kv_head: i64) -> f64 {
        let [b, head, i, j] = pos;
        let last = match self.kind {
            SdpaMask::CausalTopLeft => i,
            SdpaMask::CausalBottomRight => i + self.k.dims()[3] - self.q.dims()[2],
            SdpaMask::None | SdpaMask::Buffer => i64::MAX,
        };
        if j > last {
            return f64::NEG_INFINITY;
        }
        let product: f64 = (0..self.q.dims()[3]).map(|c| self.q.get(&[b, head, i, c]) * self.k.get(&[b, kv_head, c, j])).sum();
        product * self.factor + self.mask.map_or(0.0, |m| m.get(&pos))
    }
}

/// Softmax in place; zeros where every score is negative infinity.
fn weigh(scores: &mut [f64]) {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY && !scores.iter().any(|s| s.is_nan()) {
        return scores.fill(0.0);
    }
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - largest).exp();
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
}
