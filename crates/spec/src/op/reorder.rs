//! Reorder: change of layout, type and scale.

use super::operands;
use crate::check::types::{ALL, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, DataType, Real, RnnQuant, Tensor};

/// Copies a tensor into another layout and type, with scales, zero points and a sum post-op.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reorder {
    /// Source.
    pub src: Tensor,
    /// Destination of the same dims.
    pub dst: Tensor,
}

operands!(Reorder { src, dst }, o => {
    o.input(Arg::SRC, src);
    o.output(Arg::DST, dst);
});

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable { columns: &["src", "dst"], rows: &[row(Pass::Every, &[ALL, ALL])] };

/// Quantisation for an int8 recurrent network: `scale * x + shift`, with scales over the dimensions in a mask, row-major.
#[derive(Clone, Copy, Debug)]
pub struct RnnScaling<'a> {
    /// The dimensions that have scales of their own.
    pub mask: u32,
    /// The scales.
    pub scales: &'a [Real],
    /// The shift.
    pub shift: Real,
}

impl Reorder {
    /// The effect of a recurrent network's quantisation on this reorder: layer and iteration weights have five dimensions, projections
    /// four, and both are s8; data have three or four.
    pub fn rnn_scaling<'a>(&self, quant: &'a RnnQuant) -> Option<RnnScaling<'a>> {
        let (rank, dtype) = (self.dst.dims().len(), self.dst.dtype);
        if self.src.dtype.is_integral() {
            return None;
        }
        let weights =
            |q: &'a Option<(u32, Vec<Real>)>| q.as_ref().map(|(mask, s)| RnnScaling { mask: *mask, scales: s, shift: Real::new(0.0) });
        let data = || quant.data.as_ref().map(|d| RnnScaling { mask: 0, scales: std::slice::from_ref(&d.0), shift: d.1 });
        match (rank, dtype) {
            (5, DataType::S8) => weights(&quant.weights),
            (4, DataType::S8) => weights(&quant.projection).or_else(data),
            (3 | 4, DataType::S8 | DataType::U8) => data(),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Checked {
        check::dims(Arg::DST, &self.dst, self.src.dims())?;
        ensure(!self.src.layout.is_any(), Arg::SRC, "the layout any", "a known layout")?;
        let compensated = self.dst.blocking().is_some_and(|b| b.compensation.is_some());
        ensure(!compensated || self.dst.dtype == DataType::S8, Arg::DST, self.dst.dtype, "s8 with compensation")
    }
}
