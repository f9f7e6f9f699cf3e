//! Reorder: change of layout, type and scale.

use super::operands;
use crate::{Arg, Tensor};

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
