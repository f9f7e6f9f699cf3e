//! Concatenation.

use crate::op::{Operand, Use};
use crate::{Arg, Tensor};

/// Puts the sources one after the other along an axis.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Concat {
    /// The axis.
    pub axis: usize,
    /// Sources; dims equal but for the axis.
    pub srcs: Vec<Tensor>,
    /// Destination.
    pub dst: Tensor,
}

impl Concat {
    /// The tensors with their execution arguments.
    pub fn operands(&self) -> Vec<Operand<&Tensor>> {
        let srcs = self.srcs.iter().enumerate();
        srcs.map(|(i, tensor)| Operand { arg: Arg::multiple_src(i), usage: Use::In, tensor })
            .chain([Operand { arg: Arg::DST, usage: Use::Out, tensor: &self.dst }])
            .collect()
    }
    /// The same, to resolve layouts in.
    pub fn operands_mut(&mut self) -> Vec<Operand<&mut Tensor>> {
        let srcs = self.srcs.iter_mut().enumerate();
        srcs.map(|(i, tensor)| Operand { arg: Arg::multiple_src(i), usage: Use::In, tensor })
            .chain([Operand { arg: Arg::DST, usage: Use::Out, tensor: &mut self.dst }])
            .collect()
    }
}
