//! Scaled dot-product attention.

use super::{Prop, Use, operands};
use crate::check::types::{FP, INT4, Pass, TypeTable, X8, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, DataType, Dims, Tensor};

/// The scores that are masked out before the softmax.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SdpaMask {
    /// Nothing.
    None,
    /// Keys behind the query's position, counted from the top left corner.
    CausalTopLeft,
    /// Keys behind the query's position, counted from the bottom right corner.
    CausalBottomRight,
    /// A tensor is added, each dim 1 or that of the scores.
    Buffer,
}

/// How the scores are scaled by the one number in the `scale` argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SdpaScale {
    /// Not at all.
    None,
    /// Multiplied.
    Multiply,
    /// Divided.
    Divide,
}

/// Gradients of attention, each of the dims of its tensor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SdpaDiff {
    /// Of the queries.
    pub q: Tensor,
    /// Of the keys.
    pub k: Tensor,
    /// Of the values.
    pub v: Tensor,
    /// Of the destination, which the others follow from.
    pub dst: Tensor,
}

/// `dst = softmax(scale(q k) + mask) v` over the last axis of the scores; a row masked out wholly gives zeros.
///
/// `q` B x H x Sq x D, `k` B x Hkv x D x Sk, `v` B x Hkv x Sk x Dv, `dst` B x H x Sq x Dv; Hkv divides H (grouped queries). Integer keys
/// and values have scales and zero points as attributes of [`Arg::SRC_1`] and [`Arg::SRC_2`].
///
/// Training keeps `l = ln(sum over the keys of e^score)` for every query, -inf for a row that is all masked out. With `p = e^(score - l)`
/// and `d = sum(dst * diff_dst)` over a row, backward is `diff_v = p^T diff_dst`, `s = p * (diff_dst v^T - d)`, `diff_q = scale(s k^T)`,
/// `diff_k = scale(q^T s)`; the gradients of keys and values are sums over the heads that share them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sdpa {
    /// Forward kinds or [`Prop::Backward`].
    pub prop: Prop,
    /// Queries.
    pub q: Tensor,
    /// Keys, transposed.
    pub k: Tensor,
    /// Values.
    pub v: Tensor,
    /// Added to the scores with [`SdpaMask::Buffer`], broadcast to B x H x Sq x Sk.
    pub mask: Option<Tensor>,
    /// The scale: one element.
    pub scale: Option<Tensor>,
    /// Destination: output of forward, input of backward.
    pub dst: Tensor,
    /// Gradients (backward).
    pub diff: Option<SdpaDiff>,
    /// The workspace of training: B x H x Sq logarithms of sums in f32. Derived.
    pub workspace: Option<Tensor>,
    /// Kind of mask.
    pub mask_kind: SdpaMask,
    /// Kind of scale.
    pub scale_kind: SdpaScale,
}

operands!(Sdpa { prop, q, k, v, mask, scale, dst, diff, workspace }, o => {
    o.input(Arg::SRC, q);
    o.input(Arg::SRC_1, k);
    o.input(Arg::SRC_2, v);
    o.input(Arg::SRC_3, mask);
    o.input(Arg::SCALE, scale);
    let made = if prop.is_forward() { Use::Out } else { Use::In };
    o.put(Arg::DST, made, dst);
    o.put(Arg::WORKSPACE, made, workspace);
    if let Some(SdpaDiff { q, k, v, dst }) = diff {
        o.input(Arg::DIFF_DST, dst);
        o.output(Arg::DIFF_SRC, q);
        o.output(Arg::DIFF_SRC_1, k);
        o.output(Arg::DIFF_SRC_2, v);
    }
});

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["q", "k", "v", "dst", "mask", "scale"],
    rows: &[row(Pass::Forward, &[FP, FP.or(X8).or(INT4), FP.or(X8).or(INT4), FP, FP, FP]), row(Pass::Backward, &[FP, FP, FP, FP, FP, FP])],
};

impl Sdpa {
    /// The workspace of training and backward.
    pub(super) fn derive(&mut self) {
        let kept = self.prop != Prop::ForwardInference && self.q.dims().len() == 4;
        let dims = Dims::from_fn(3, |d| self.q.dims().get(d).copied().unwrap_or(0));
        self.workspace = if kept { Tensor::plain(dims, DataType::F32).ok() } else { None };
    }

    /// That there are gradients in backward, each like its tensor.
    fn check_gradients(&self) -> Checked {
        let backward = !self.prop.is_forward();
        let word = |there| if there { "some" } else { "none" };
        ensure(self.diff.is_some() == backward, "gradients", word(self.diff.is_some()), word(backward))?;
        let Some(SdpaDiff { q, k, v, dst }) = &self.diff else { return Ok(()) };
        for (arg, diff, of) in
            [(Arg::DIFF_SRC, q, &self.q), (Arg::DIFF_SRC_1, k, &self.k), (Arg::DIFF_SRC_2, v, &self.v), (Arg::DIFF_DST, dst, &self.dst)]
        {
            check::dims(arg, diff, of.dims())?;
        }
        TYPES.check(Some(self.prop), &[Some(q.dtype), Some(k.dtype), Some(v.dtype), Some(dst.dtype), None, None])
    }

    pub(super) fn check(&self) -> Checked {
        let Sdpa { prop, q, k, v, mask, scale, dst, mask_kind, scale_kind, .. } = self;
        check::prop(*prop, super::support::RNN_PROPS)?;
        for (arg, t) in [(Arg::SRC, q), (Arg::SRC_1, k), (Arg::SRC_2, v)] {
            check::rank(arg, t, 4..=4)?;
        }
        let [batch, heads, queries, size] = [q.dims()[0], q.dims()[1], q.dims()[2], q.dims()[3]];
        let (kv_heads, keys, values) = (k.dims()[1], k.dims()[3], v.dims()[3]);
        let shared = kv_heads == heads || check::open(heads, kv_heads) || kv_heads >= 1 && heads % kv_heads == 0;
        ensure(shared, Arg::SRC_1, format_args!("{kv_heads} heads"), format_args!("a divisor of {heads} heads"))?;
        check::dims(Arg::SRC_1, k, &[batch, kv_heads, size, keys])?;
        check::dims(Arg::SRC_2, v, &[batch, kv_heads, keys, values])?;
        check::dims(Arg::DST, dst, &[batch, heads, queries, values])?;
        check::presence(Arg::SRC_3, mask, *mask_kind == SdpaMask::Buffer)?;
        if let Some(mask) = mask {
            check::broadcasts(Arg::SRC_3, mask, &[batch, heads, queries, keys])?;
        }
        check::presence(Arg::SCALE, scale, *scale_kind != SdpaScale::None)?;
        if let Some(scale) = scale {
            ensure(scale.layout.elements() == Some(1), Arg::SCALE, scale.dims(), "one element")?;
        }
        let dtype = |t: &Option<Tensor>| t.as_ref().map(|t| t.dtype);
        self.check_gradients()?;
        TYPES.check(Some(*prop), &[Some(q.dtype), Some(k.dtype), Some(v.dtype), Some(dst.dtype), dtype(mask), dtype(scale)])
    }
}
