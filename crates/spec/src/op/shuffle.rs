//! Channel shuffle.

use super::{Prop, operands};
use crate::check::types::{DATA, F64, Pass, TypeTable, same};
use crate::check::{self, Checked, ensure};
use crate::{Arg, RUNTIME, Tensor};

/// Views the axis as `(D / group_size) x group_size` and transposes; backward is the inverse. With [`Prop::BackwardData`]
/// `src` and `dst` are the gradients.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shuffle {
    /// Forward kinds or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Source (gradient).
    pub src: Tensor,
    /// Destination (gradient).
    pub dst: Tensor,
    /// The axis.
    pub axis: usize,
    /// Size of a group; divides the axis' size.
    pub group_size: i64,
}

operands!(Shuffle { prop, src, dst }, o => {
    if prop.is_forward() {
        o.input(Arg::SRC, src);
        o.output(Arg::DST, dst);
    } else {
        o.input(Arg::DIFF_DST, dst);
        o.output(Arg::DIFF_SRC, src);
    }
});

/// Data types.
pub(super) const TYPES: TypeTable =
    TypeTable { columns: &["src", "dst"], rows: &[same(Pass::Every, &[DATA, DATA]), same(Pass::Every, &[F64, F64])] };

impl Shuffle {
    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::DATA_PROPS)?;
        let dims = self.src.dims();
        check::dims(if self.prop.is_forward() { Arg::DST } else { Arg::DIFF_DST }, &self.dst, dims)?;
        ensure(self.axis < dims.len(), "axis", self.axis, format_args!("less than {}", dims.len()))?;
        let size = dims[self.axis];
        let divides = self.group_size >= 1 && (size == RUNTIME || size % self.group_size == 0);
        ensure(divides, "group_size", self.group_size, format_args!("a divisor of {size}"))?;
        TYPES.check(Some(self.prop), &[Some(self.src.dtype), Some(self.dst.dtype)])
    }
}
