//! Reorder: change of layout, type and scale.

use super::operands;
use crate::check::types::{ALL, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, DataType, Tensor};

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

impl Reorder {
    pub(super) fn check(&self) -> Checked {
        check::dims(Arg::DST, &self.dst, self.src.dims())?;
        ensure(!self.src.layout.is_any(), Arg::SRC, "the layout any", "a known layout")?;
        let compensated = self.dst.blocking().is_some_and(|b| b.compensation.is_some());
        ensure(!compensated || self.dst.dtype == DataType::S8, Arg::DST, self.dst.dtype, "s8 with compensation")
    }
}
