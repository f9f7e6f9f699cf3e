//! Element-wise functions of one operand.

use super::{Prop, operands};
use crate::check::types::{DATA, F8, F64, FP, Pass, TypeTable, same};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Error, Real, Tensor};
use std::fmt;
use std::str::FromStr;

/// The functions; formulas in `oxidnn-expr`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the specification's names; formulas are in oxidnn-expr")]
pub enum EltwiseAlg {
    Relu,
    Tanh,
    Elu,
    Square,
    Abs,
    Sqrt,
    Linear,
    SoftRelu,
    HardSigmoid,
    Logistic,
    Exp,
    GeluTanh,
    GeluErf,
    Swish,
    Log,
    Clip,
    ClipV2,
    Pow,
    Round,
    Mish,
    HardSwish,
    ReluDst,
    TanhDst,
    EluDst,
    SqrtDst,
    LogisticDst,
    ExpDst,
    ClipV2Dst,
}

impl EltwiseAlg {
    /// Every function with its name in the grammar of problems.
    pub const NAMES: [(EltwiseAlg, &'static str); 28] = [
        (EltwiseAlg::Relu, "relu"),
        (EltwiseAlg::Tanh, "tanh"),
        (EltwiseAlg::Elu, "elu"),
        (EltwiseAlg::Square, "square"),
        (EltwiseAlg::Abs, "abs"),
        (EltwiseAlg::Sqrt, "sqrt"),
        (EltwiseAlg::Linear, "linear"),
        (EltwiseAlg::SoftRelu, "soft_relu"),
        (EltwiseAlg::HardSigmoid, "hardsigmoid"),
        (EltwiseAlg::Logistic, "logistic"),
        (EltwiseAlg::Exp, "exp"),
        (EltwiseAlg::GeluTanh, "gelu_tanh"),
        (EltwiseAlg::GeluErf, "gelu_erf"),
        (EltwiseAlg::Swish, "swish"),
        (EltwiseAlg::Log, "log"),
        (EltwiseAlg::Clip, "clip"),
        (EltwiseAlg::ClipV2, "clip_v2"),
        (EltwiseAlg::Pow, "pow"),
        (EltwiseAlg::Round, "round"),
        (EltwiseAlg::Mish, "mish"),
        (EltwiseAlg::HardSwish, "hardswish"),
        (EltwiseAlg::ReluDst, "relu_dst"),
        (EltwiseAlg::TanhDst, "tanh_dst"),
        (EltwiseAlg::EluDst, "elu_dst"),
        (EltwiseAlg::SqrtDst, "sqrt_dst"),
        (EltwiseAlg::LogisticDst, "logistic_dst"),
        (EltwiseAlg::ExpDst, "exp_dst"),
        (EltwiseAlg::ClipV2Dst, "clip_v2_dst"),
    ];

    /// The name in the grammar of problems.
    pub fn name(self) -> &'static str {
        EltwiseAlg::NAMES[self as usize].1
    }

    /// True when backward takes the destination instead of the source.
    pub const fn uses_dst(self) -> bool {
        use EltwiseAlg::*;
        matches!(self, ReluDst | TanhDst | EluDst | SqrtDst | LogisticDst | ExpDst | ClipV2Dst)
    }
}

impl fmt::Display for EltwiseAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EltwiseAlg {
    type Err = Error;
    fn from_str(s: &str) -> Result<EltwiseAlg, Error> {
        let known = || EltwiseAlg::NAMES.map(|(_, name)| name).join(", ");
        let found = EltwiseAlg::NAMES.iter().find(|(_, name)| *name == s);
        found.map(|(alg, _)| *alg).ok_or_else(|| Error::invalid("algorithm", s, format!("one of {}", known())))
    }
}

/// `dst = alg(src)`, any number of dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Eltwise {
    /// Forward kinds or [`Prop::BackwardData`].
    pub prop: Prop,
    /// The function.
    pub alg: EltwiseAlg,
    /// Its first parameter.
    pub alpha: Real,
    /// Its second parameter.
    pub beta: Real,
    /// Source (forward); in backward the data that the gradient depends on: the source, or the destination with a `Dst` algorithm.
    pub src: Tensor,
    /// Destination (forward).
    pub dst: Option<Tensor>,
    /// Gradient of the source (backward).
    pub diff_src: Option<Tensor>,
    /// Gradient of the destination (backward).
    pub diff_dst: Option<Tensor>,
}

operands!(Eltwise { prop, alg, src, dst, diff_src, diff_dst }, o => {
    o.input(if !prop.is_forward() && alg.uses_dst() { Arg::DST } else { Arg::SRC }, src);
    o.input(Arg::DIFF_DST, diff_dst);
    o.output(Arg::DST, dst);
    o.output(Arg::DIFF_SRC, diff_src);
});

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "dst", "diff_src", "diff_dst"],
    rows: &[
        same(Pass::Forward, &[DATA.or(F8), DATA.or(F8)]),
        same(Pass::Backward, &[FP.or(F8), FP.or(F8), FP.or(F8), FP.or(F8)]),
        same(Pass::Every, &[F64, F64, F64, F64]),
    ],
};

/// Rules of operations from one tensor to one of equal sizes: in forward a destination and no gradients, in backward two gradients and no
/// destination; `rest` is the destination, the source's gradient, the destination's.
pub(super) fn check_pairs(prop: Prop, src: &Tensor, rest: [&Option<Tensor>; 3], types: &TypeTable) -> Checked {
    for (tensor, arg, forward) in [(rest[0], Arg::DST, true), (rest[1], Arg::DIFF_SRC, false), (rest[2], Arg::DIFF_DST, false)] {
        check::presence(arg, tensor, prop.is_forward() == forward)?;
        check::dims_if(arg, tensor, src.dims())?;
    }
    let dtype = |t: &Option<Tensor>| t.as_ref().map(|t| t.dtype);
    types.check(Some(prop), &[Some(src.dtype), dtype(rest[0]), dtype(rest[1]), dtype(rest[2])])
}

/// Parameters that make a function of it.
pub(crate) fn check_eltwise(alg: EltwiseAlg, alpha: f32, beta: f32) -> Checked {
    match alg {
        EltwiseAlg::Clip | EltwiseAlg::ClipV2 | EltwiseAlg::ClipV2Dst => {
            ensure(beta >= alpha, "beta", beta, format_args!("at least alpha = {alpha}"))
        }
        EltwiseAlg::ReluDst | EltwiseAlg::EluDst => ensure(alpha >= 0.0, "alpha", alpha, format_args!("at least 0 for {}", alg.name())),
        _ => Ok(()),
    }
}

impl Eltwise {
    /// A forward pass; its parameters are `alpha` and `beta`.
    pub fn forward(prop: Prop, alg: EltwiseAlg, [alpha, beta]: [f32; 2], src: Tensor, dst: Tensor) -> Eltwise {
        Eltwise { prop, alg, alpha: Real::new(alpha), beta: Real::new(beta), src, dst: Some(dst), diff_src: None, diff_dst: None }
    }

    /// A backward pass; `data` is the source, or the destination with a `Dst` algorithm.
    pub fn backward(alg: EltwiseAlg, [alpha, beta]: [f32; 2], data: Tensor, diff: super::Diff) -> Eltwise {
        let (alpha, beta) = (Real::new(alpha), Real::new(beta));
        Eltwise { prop: Prop::BackwardData, alg, alpha, beta, src: data, dst: None, diff_src: Some(diff.src), diff_dst: Some(diff.dst) }
    }

    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::DATA_PROPS)?;
        check_eltwise(self.alg, self.alpha.get(), self.beta.get())?;
        if self.alg == EltwiseAlg::Round {
            ensure(self.prop.is_forward(), "propagation kind", self.prop.name(), "a forward kind for round")?;
            ensure(self.src.dtype == crate::DataType::F32, "data types", self.src.dtype, "f32 for round")?;
        }
        check_pairs(self.prop, &self.src, [&self.dst, &self.diff_src, &self.diff_dst], &TYPES)
    }
}
