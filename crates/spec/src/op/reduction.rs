//! Reduction.

use super::operands;
use crate::check::types::{DATA, F64, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Real, Tensor};

/// The reduction of elements; with `a = sum(|x|^p)` for the norms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReductionAlg {
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Their sum.
    Sum,
    /// Their product.
    Mul,
    /// Their mean.
    Mean,
    /// `max(a, eps)^(1/p)`.
    NormLpMax,
    /// `(a + eps)^(1/p)`.
    NormLpSum,
    /// `max(a, eps)`.
    NormLpPowerPMax,
    /// `a + eps`.
    NormLpPowerPSum,
}

/// Reduces every dimension that `dst` has as 1 and `src` does not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reduction {
    /// Algorithm.
    pub alg: ReductionAlg,
    /// Source.
    pub src: Tensor,
    /// Destination, each dim 1 or the source's.
    pub dst: Tensor,
    /// Exponent of the norms, at least 1.
    pub p: Real,
    /// Lower bound or offset of the norms.
    pub eps: Real,
}

operands!(Reduction { src, dst }, o => {
    o.input(Arg::SRC, src);
    o.output(Arg::DST, dst);
});

/// Data types.
pub(super) const TYPES: TypeTable =
    TypeTable { columns: &["src", "dst"], rows: &[row(Pass::Every, &[DATA, DATA]), row(Pass::Every, &[F64, F64])] };

impl ReductionAlg {
    /// True for the norms, which have the parameters `p` and `eps`.
    pub const fn is_norm(self) -> bool {
        use ReductionAlg::*;
        matches!(self, NormLpMax | NormLpSum | NormLpPowerPMax | NormLpPowerPSum)
    }
}

impl Reduction {
    pub(super) fn check(&self) -> Checked {
        let (s, d) = (self.src.dims(), self.dst.dims());
        let ok = s.len() == d.len() && d.iter().zip(s.iter()).all(|(&d, &s)| d == 1 || d == s);
        ensure(ok, Arg::DST, d, format_args!("each size 1 or that of {s}"))?;
        ensure(s != d, Arg::DST, d, format_args!("at least one size of {s} reduced to 1"))?;
        if self.alg.is_norm() {
            let (p, eps) = (self.p.get(), self.eps.get());
            ensure(p >= 1.0 && p.is_finite(), "p", p, "a finite number of at least 1")?;
            ensure(!eps.is_nan(), "eps", eps, "a number")?;
            ensure(!self.src.dtype.is_integral(), "data types", self.src.dtype, "a floating-point source for a norm")?;
        }
        check::types::TypeTable::check(&TYPES, None, &[Some(self.src.dtype), Some(self.dst.dtype)])
    }
}
