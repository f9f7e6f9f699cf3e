//! Inner product (fully connected layer).

use super::{Prop, operands};
use crate::{Arg, Tensor};

/// `dst[n,oc] = bias[oc] + sum(src[n,ic,..] * weights[oc,ic,..])`; `src` 2 to 5 dims, `weights` the same number, `dst` N x OC.
/// Gradients stand in the same fields as for [`super::Conv`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct InnerProduct {
    /// Which pass; not [`Prop::Backward`].
    pub prop: Prop,
    /// Source (gradient).
    pub src: Tensor,
    /// Weights (gradient).
    pub weights: Tensor,
    /// Bias (gradient).
    pub bias: Option<Tensor>,
    /// Destination (gradient).
    pub dst: Tensor,
}

operands!(InnerProduct { prop, src, weights, bias, dst }, o => {
    match prop {
        Prop::BackwardData => {
            o.input(Arg::DIFF_DST, dst);
            o.input(Arg::WEIGHTS, weights);
            o.output(Arg::DIFF_SRC, src);
        }
        Prop::BackwardWeights => {
            o.input(Arg::SRC, src);
            o.input(Arg::DIFF_DST, dst);
            o.output(Arg::DIFF_WEIGHTS, weights);
            o.output(Arg::DIFF_BIAS, bias);
        }
        _ => {
            o.input(Arg::SRC, src);
            o.input(Arg::WEIGHTS, weights);
            o.input(Arg::BIAS, bias);
            o.output(Arg::DST, dst);
        }
    }
});
