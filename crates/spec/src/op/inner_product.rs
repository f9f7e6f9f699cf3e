//! Inner product (fully connected layer).

use super::{Prop, operands};
use crate::check::types::{BF16, DATA, F8, F16, F32, F64, FP, Pass, S8, TypeTable, X8, row};
use crate::check::{self, Checked, ensure};
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
    o.product(*prop, src, weights, bias, dst);
});

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "weights", "dst", "bias"],
    rows: &[
        row(Pass::Forward, &[F32, F32, F32, F32]),
        row(Pass::Forward, &[F16, F16, F16.or(F32).or(X8), F16.or(F32)]),
        row(Pass::Forward, &[BF16, BF16, BF16.or(F32), BF16.or(F32)]),
        row(Pass::Forward, &[F8, F8, F8.or(FP), F8.or(FP)]),
        row(Pass::Forward, &[X8, S8, DATA, DATA]),
        row(Pass::BackwardData, &[F32, F32, F32]),
        row(Pass::BackwardData, &[BF16.or(F32), BF16, BF16]),
        row(Pass::BackwardData, &[F16.or(F32), F16, F16]),
        row(Pass::BackwardWeights, &[F32, F32, F32, F32]),
        row(Pass::BackwardWeights, &[BF16, BF16.or(F32), BF16, BF16.or(F32)]),
        row(Pass::BackwardWeights, &[F16, F16.or(F32), F16, F16.or(F32)]),
        row(Pass::Every, &[F64, F64, F64, F64]),
    ],
};

impl InnerProduct {
    pub(super) fn check(&self) -> Checked {
        let InnerProduct { prop, src, weights, bias, dst } = self;
        check::prop(*prop, check::WEIGHTS_PROPS)?;
        let (src_arg, weights_arg, dst_arg) = match prop {
            Prop::BackwardData => (Arg::DIFF_SRC, Arg::WEIGHTS, Arg::DIFF_DST),
            Prop::BackwardWeights => (Arg::SRC, Arg::DIFF_WEIGHTS, Arg::DIFF_DST),
            _ => (Arg::SRC, Arg::WEIGHTS, Arg::DST),
        };
        check::rank(src_arg, src, 2..=5)?;
        check::rank(dst_arg, dst, 2..=2)?;
        let mut expected = *src.dims();
        expected[0] = dst.dims()[1];
        check::dims(weights_arg, weights, &expected)?;
        let (batch, oc) = (src.dims()[0], dst.dims()[1]);
        check::dims(dst_arg, dst, &[batch, oc])?;
        ensure(*prop != Prop::BackwardData || bias.is_none(), Arg::BIAS, "a tensor", "none")?;
        check::dims_if(Arg::BIAS, bias, &[oc])?;
        TYPES.check(Some(*prop), &[Some(src.dtype), Some(weights.dtype), Some(dst.dtype), bias.as_ref().map(|b| b.dtype)])
    }
}
