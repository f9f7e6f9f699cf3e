//! Local response normalisation.

use super::{Prop, operands};
use crate::check::types::{F64, FP, Pass, TypeTable, same};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Real, Tensor};

/// The neighbourhood of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LrnAlg {
    /// Channels around it.
    AcrossChannels,
    /// Spatial positions around it.
    WithinChannel,
}

/// `dst = src * (k + alpha / n * sum(src^2 over the neighbourhood))^-beta`, `n` = `local_size` (across) or `local_size^spatial dims` (within).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lrn {
    /// Forward kinds or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Neighbourhood.
    pub alg: LrnAlg,
    /// Source, 2 to 5 dims.
    pub src: Tensor,
    /// Destination (forward).
    pub dst: Option<Tensor>,
    /// Gradient of the source (backward).
    pub diff_src: Option<Tensor>,
    /// Gradient of the destination (backward).
    pub diff_dst: Option<Tensor>,
    /// Size of the neighbourhood along each of its dimensions.
    pub local_size: i64,
    /// Factor of the sum.
    pub alpha: Real,
    /// Exponent.
    pub beta: Real,
    /// Offset.
    pub k: Real,
}

operands!(Lrn { src, dst, diff_src, diff_dst }, o => {
    o.input(Arg::SRC, src);
    o.input(Arg::DIFF_DST, diff_dst);
    o.output(Arg::DST, dst);
    o.output(Arg::DIFF_SRC, diff_src);
});

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "dst", "diff_src", "diff_dst"],
    rows: &[same(Pass::Every, &[FP, FP, FP, FP]), same(Pass::Every, &[F64, F64, F64, F64])],
};

impl Lrn {
    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::DATA_PROPS)?;
        check::rank(Arg::SRC, &self.src, 2..=5)?;
        ensure(self.local_size >= 1, "local_size", self.local_size, "at least 1")?;
        super::eltwise::check_pairs(self.prop, &self.src, [&self.dst, &self.diff_src, &self.diff_dst], &TYPES)
    }
}
