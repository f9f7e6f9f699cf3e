//! Softmax.

use super::{Prop, operands};
use crate::check::types::{F8, F64, FP, Pass, TypeTable, X8, row};
use crate::check::{self, Checked, ensure};
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

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["dst", "src", "diff_src", "diff_dst"],
    rows: &[
        row(Pass::Forward, &[FP.or(X8).or(F8), FP.or(X8).or(F8)]),
        row(Pass::Backward, &[FP, FP, FP, FP]),
        row(Pass::Every, &[F64, F64, F64, F64]),
    ],
};

impl Softmax {
    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::DATA_PROPS)?;
        let n = self.dst.dims().len();
        ensure(self.axis < n, "axis", self.axis, format_args!("less than {n}"))?;
        for (tensor, arg, forward) in
            [(&self.src, Arg::SRC, true), (&self.diff_src, Arg::DIFF_SRC, false), (&self.diff_dst, Arg::DIFF_DST, false)]
        {
            check::presence(arg, tensor, self.prop.is_forward() == forward)?;
            check::dims_if(arg, tensor, self.dst.dims())?;
        }
        let dtype = |t: &Option<Tensor>| t.as_ref().map(|t| t.dtype);
        TYPES.check(Some(self.prop), &[Some(self.dst.dtype), dtype(&self.src), dtype(&self.diff_src), dtype(&self.diff_dst)])
    }
}
