//! Scaled dot-product attention.

use super::operands;
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
