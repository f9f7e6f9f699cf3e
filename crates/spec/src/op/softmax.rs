//! Softmax.

use super::{Prop, operands};
use crate::{Arg, Tensor};

/// Variants of softmax.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SoftmaxAlg {
    /// `exp(x - max) / sum(exp(x - max))`.
    Accurate,
    /// Its logarithm.
    Log,
    /// As accurate, but a row of only -inf gives zeros.
    InfAsZero,
}

/// Softmax along one axis, any number of dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Softmax {
    /// Forward kinds or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Variant.
    pub alg: SoftmaxAlg,
    /// Source (forward).
    pub src: Option<Tensor>,
    /// Destination: output of forward, input of backward.
    pub dst: Tensor,
    /// Gradient of the source (backward).
    pub diff_src: Option<Tensor>,
    /// Gradient of the destination (backward).
    pub diff_dst: Option<Tensor>,
    /// The axis.
    pub axis: usize,
}

operands!(Softmax { prop, src, dst, diff_src, diff_dst }, o => {
    o.input(Arg::SRC, src);
    o.put(Arg::DST, if prop.is_forward() { super::Use::Out } else { super::Use::In }, dst);
    o.input(Arg::DIFF_DST, diff_dst);
    o.output(Arg::DIFF_SRC, diff_src);
});
