//! Weighted sum of tensors.

use super::operands;
use crate::check::types::{ALL, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
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

operands!(Sum { srcs, dst }, o => {
    o.sources(srcs);
    o.output(Arg::DST, dst);
});

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
