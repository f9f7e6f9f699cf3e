//! Reduction.

use super::operands;
use crate::{Arg, Real, Tensor};

/// What elements are reduced to; with `a = sum(|x|^p)` for the norms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReductionAlg {
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Their sum.
    Sum,
    /// Their product.
    Mul,
    /// Their mean.
    Mean,
    /// `max(a, eps)^(1/p)`.
    NormLpMax,
    /// `(a + eps)^(1/p)`.
    NormLpSum,
    /// `max(a, eps)`.
    NormLpPowerPMax,
    /// `a + eps`.
    NormLpPowerPSum,
}

/// Reduces every dimension that `dst` has as 1 and `src` does not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reduction {
    /// Algorithm.
    pub alg: ReductionAlg,
    /// Source.
    pub src: Tensor,
    /// Destination, each dim 1 or the source's.
    pub dst: Tensor,
    /// Exponent of the norms, at least 1.
    pub p: Real,
    /// Lower bound or offset of the norms.
    pub eps: Real,
}

operands!(Reduction { src, dst }, o => {
    o.input(Arg::SRC, src);
    o.output(Arg::DST, dst);
});
