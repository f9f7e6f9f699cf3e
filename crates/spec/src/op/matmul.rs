//! Matrix multiplication.

use super::operands;
use crate::{Arg, Tensor};

/// `dst[..,m,n] = bias[..] + sum_k(src[..,m,k] * weights[..,k,n])`; batch dimensions broadcast 1 against n on either operand.
/// All tensors have the same number of dimensions (2 to 12); M, N, K and batch sizes may be [`crate::RUNTIME`]. `src` or `weights`
/// (not both) may be sparse.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Matmul {
    /// `.. x M x K`.
    pub src: Tensor,
    /// `.. x K x N`.
    pub weights: Tensor,
    /// Each dim 1 or the destination's.
    pub bias: Option<Tensor>,
    /// `.. x M x N`.
    pub dst: Tensor,
}

operands!(Matmul { src, weights, bias, dst }, o => {
    o.input(Arg::SRC, src);
    o.input(Arg::WEIGHTS, weights);
    o.input(Arg::BIAS, bias);
    o.output(Arg::DST, dst);
});
