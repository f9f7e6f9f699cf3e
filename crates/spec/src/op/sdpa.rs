//! Scaled dot-product attention.

use super::operands;
use crate::check::types::{FP, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Tensor};

/// What is masked out before the softmax.
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

/// `dst = softmax(scale(q k) + mask) v` over the last axis of the scores; a row masked out wholly gives zeros.
///
/// `q` B x H x Sq x D, `k` B x Hkv x D x Sk, `v` B x Hkv x Sk x Dv, `dst` B x H x Sq x Dv; Hkv divides H (grouped queries).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sdpa {
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
    /// Destination.
    pub dst: Tensor,
    /// Kind of mask.
    pub mask_kind: SdpaMask,
    /// Kind of scale.
    pub scale_kind: SdpaScale,
}

operands!(Sdpa { q, k, v, mask, scale, dst }, o => {
    o.input(Arg::SRC, q);
    o.input(Arg::SRC_1, k);
    o.input(Arg::SRC_2, v);
    o.input(Arg::SRC_3, mask);
    o.input(Arg::SCALE, scale);
    o.output(Arg::DST, dst);
});

/// Data types.
pub(super) const TYPES: TypeTable =
    TypeTable { columns: &["q", "k", "v", "dst", "mask", "scale"], rows: &[row(Pass::Every, &[FP, FP, FP, FP, FP, FP])] };

impl Sdpa {
    pub(super) fn check(&self) -> Checked {
        let Sdpa { q, k, v, mask, scale, dst, mask_kind, scale_kind } = self;
        for (arg, t) in [(Arg::SRC, q), (Arg::SRC_1, k), (Arg::SRC_2, v)] {
            check::rank(arg, t, 4..=4)?;
        }
        let [batch, heads, queries, size] = [q.dims()[0], q.dims()[1], q.dims()[2], q.dims()[3]];
        let (kv_heads, keys, values) = (k.dims()[1], k.dims()[3], v.dims()[3]);
        let shared = kv_heads == heads || kv_heads >= 1 && heads % kv_heads == 0;
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
        TYPES.check(None, &[Some(q.dtype), Some(k.dtype), Some(v.dtype), Some(dst.dtype), dtype(mask), dtype(scale)])
    }
}
