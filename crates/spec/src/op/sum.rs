//! Weighted sum of tensors.

use crate::check::types::{ALL, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::op::{Operand, Use};
use crate::{Arg, Real, Tensor};

/// `dst = sum(scales[i] * srcs[i])`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sum {
    /// One factor a source.
    pub scales: Vec<Real>,
    /// Sources of equal dims.
    pub srcs: Vec<Tensor>,
    /// Destination.
    pub dst: Tensor,
}

impl Sum {
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

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable { columns: &["src", "dst"], rows: &[row(Pass::Every, &[ALL, ALL])] };

impl Sum {
    pub(super) fn check(&self) -> Checked {
        ensure((1..1024).contains(&self.srcs.len()), "sources", self.srcs.len(), "1 to 1023")?;
        ensure(self.scales.len() == self.srcs.len(), "scales", self.scales.len(), format_args!("{}, one a source", self.srcs.len()))?;
        for (i, src) in self.srcs.iter().enumerate() {
            check::dims(Arg::multiple_src(i), src, self.dst.dims())?;
        }
        Ok(())
    }
}
