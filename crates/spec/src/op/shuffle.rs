//! Channel shuffle.

use super::{Prop, operands};
use crate::{Arg, Tensor};

/// Views the axis as `group_size x (D / group_size)` and transposes; backward is the inverse. With [`Prop::BackwardData`]
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
    /// Number of groups; divides the axis' size.
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
