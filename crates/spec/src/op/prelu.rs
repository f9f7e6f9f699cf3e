//! Parametric ReLU.

use super::{Prop, operands};
use crate::check::types::{DATA, F64, Pass, TypeTable, row};
use crate::check::{self, Checked};
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

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "weights", "dst", "diff_src", "diff_weights", "diff_dst"],
    rows: &[row(Pass::Every, &[DATA, DATA, DATA, DATA, DATA, DATA]), row(Pass::Every, &[F64, F64, F64, F64, F64, F64])],
};

impl Prelu {
    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, &[Prop::ForwardTraining, Prop::ForwardInference, Prop::Backward])?;
        check::rank(Arg::SRC, &self.src, 1..=5)?;
        check::broadcasts(Arg::WEIGHTS, &self.weights, self.src.dims())?;
        let backward = !self.prop.is_forward();
        let rest = [
            (Arg::DST, &self.dst, !backward, &self.src),
            (Arg::DIFF_SRC, &self.diff_src, backward, &self.src),
            (Arg::DIFF_WEIGHTS, &self.diff_weights, backward, &self.weights),
            (Arg::DIFF_DST, &self.diff_dst, backward, &self.src),
        ];
        for (arg, tensor, wanted, like) in rest {
            check::presence(arg, tensor, wanted)?;
            check::dims_if(arg, tensor, like.dims())?;
        }
        let dtypes = rest.map(|r| r.1.as_ref().map(|t| t.dtype));
        TYPES.check(Some(self.prop), &[Some(self.src.dtype), Some(self.weights.dtype), dtypes[0], dtypes[1], dtypes[2], dtypes[3]])
    }
}
