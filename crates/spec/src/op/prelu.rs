//! Parametric ReLU.

use super::{Prop, operands};
use crate::{Arg, Tensor};

/// `dst = src > 0 ? src : src * weights`, weights' dims 1 or the source's (at most 5 dims).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Prelu {
    /// Forward kinds or [`Prop::Backward`].
    pub prop: Prop,
    /// Source.
    pub src: Tensor,
    /// Weights.
    pub weights: Tensor,
    /// Destination (forward).
    pub dst: Option<Tensor>,
    /// Gradient of the source (backward).
    pub diff_src: Option<Tensor>,
    /// Gradient of the weights (backward), summed over the broadcast dims.
    pub diff_weights: Option<Tensor>,
    /// Gradient of the destination (backward).
    pub diff_dst: Option<Tensor>,
}

operands!(Prelu { src, weights, dst, diff_src, diff_weights, diff_dst }, o => {
    o.input(Arg::SRC, src);
    o.input(Arg::WEIGHTS, weights);
    o.input(Arg::DIFF_DST, diff_dst);
    o.output(Arg::DST, dst);
    o.output(Arg::DIFF_SRC, diff_src);
    o.output(Arg::DIFF_WEIGHTS, diff_weights);
});
