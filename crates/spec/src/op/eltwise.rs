//! Element-wise functions of one operand.

use super::{Prop, operands};
use crate::{Arg, Real, Tensor};

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
