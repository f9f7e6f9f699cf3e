//! Element-wise functions of two operands.

use super::operands;
use crate::check::types::{DATA, F64, Pass, S8, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Error, Tensor};
use std::fmt;
use std::str::FromStr;

/// The functions; comparisons give 1 or 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the specification's names")]
pub enum BinaryAlg {
    Add,
    Mul,
    Max,
    Min,
    Div,
    Sub,
    Ge,
    Gt,
    Le,
    Lt,
    Eq,
    Ne,
    /// `src2 != 0 ? src0 : src1`.
    Select,
}

impl BinaryAlg {
    /// Every function with its name in the grammar of problems.
    pub const NAMES: [(BinaryAlg, &'static str); 13] = [
        (BinaryAlg::Add, "add"),
        (BinaryAlg::Mul, "mul"),
        (BinaryAlg::Max, "max"),
        (BinaryAlg::Min, "min"),
        (BinaryAlg::Div, "div"),
        (BinaryAlg::Sub, "sub"),
        (BinaryAlg::Ge, "ge"),
        (BinaryAlg::Gt, "gt"),
        (BinaryAlg::Le, "le"),
        (BinaryAlg::Lt, "lt"),
        (BinaryAlg::Eq, "eq"),
        (BinaryAlg::Ne, "ne"),
        (BinaryAlg::Select, "select"),
    ];

    /// The name in the grammar of problems.
    pub fn name(self) -> &'static str {
        BinaryAlg::NAMES[self as usize].1
    }
}

impl fmt::Display for BinaryAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BinaryAlg {
    type Err = Error;
    fn from_str(s: &str) -> Result<BinaryAlg, Error> {
        let known = || BinaryAlg::NAMES.map(|(_, name)| name).join(", ");
        let found = BinaryAlg::NAMES.iter().find(|(_, name)| *name == s);
        found.map(|(alg, _)| *alg).ok_or_else(|| Error::invalid("algorithm", s, format!("one of {}", known())))
    }
}

/// `dst = alg(src0, src1)`, each operand's dims 1 or the destination's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Binary {
    /// The function.
    pub alg: BinaryAlg,
    /// First operand.
    pub src0: Tensor,
    /// Second operand.
    pub src1: Tensor,
    /// Condition of a select, s8; broadcast as the operands are.
    pub src2: Option<Tensor>,
    /// Destination.
    pub dst: Tensor,
}

operands!(Binary { src0, src1, src2, dst }, o => {
    o.input(Arg::SRC, src0);
    o.input(Arg::SRC_1, src1);
    o.input(Arg::SRC_2, src2);
    o.output(Arg::DST, dst);
});

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "src1", "dst", "src2"],
    rows: &[row(Pass::Every, &[DATA, DATA, DATA, S8]), row(Pass::Every, &[F64, F64, F64, S8])],
};

impl Binary {
    pub(super) fn check(&self) -> Checked {
        let Binary { alg, src0, src1, src2, dst } = self;
        let (a, b, d) = (src0.dims(), src1.dims(), dst.dims());
        let n = a.len();
        check::rank(Arg::SRC_1, src1, n..=n)?;
        check::rank(Arg::DST, dst, n..=n)?;
        for i in 0..n {
            ensure(
                a[i] == b[i] || a[i] == 1 || b[i] == 1,
                Arg::SRC_1,
                b,
                format_args!("each size equal to that of {a}, or one of the two 1"),
            )?;
            let full = if a[i] == 1 { b[i] } else { a[i] };
            ensure(d[i] == full, Arg::DST, d, format_args!("the sizes of {a} and {b} together"))?;
        }
        check::presence(Arg::SRC_2, src2, *alg == BinaryAlg::Select)?;
        src2.as_ref().map_or(Ok(()), |t| check::broadcasts(Arg::SRC_2, t, d))?;
        TYPES.check(None, &[Some(src0.dtype), Some(src1.dtype), Some(dst.dtype), src2.as_ref().map(|t| t.dtype)])
    }
}
