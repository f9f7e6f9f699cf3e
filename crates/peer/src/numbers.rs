//! The numbers that stand for our enums in the C interface.

use oxidnn_spec::op::{BinaryAlg, ConvAlg, EltwiseAlg, LrnAlg, NormFlags, PoolAlg, Prop, ReductionAlg, ResamplingAlg};
use oxidnn_spec::op::{RnnActivation, RnnCell, RnnDirection, SoftmaxAlg};
use oxidnn_spec::{Accumulation, DataType, FpMathMode, QuantMode, Rounding, ScratchpadMode};

/// The CPU as an engine kind.
pub(crate) const CPU: i32 = 1;
/// A stream's default flags.
pub(crate) const IN_ORDER: i32 = 1;
/// The format tag `any`.
pub(crate) const TAG_ANY: i32 = 1;

/// `dnnl_data_type_t`.
pub(crate) const fn data_type(t: DataType) -> i32 {
    match t {
        DataType::F16 => 1,
        DataType::Bf16 => 2,
        DataType::F32 => 3,
        DataType::S32 => 4,
        DataType::S8 => 5,
        DataType::U8 => 6,
        DataType::F64 => 7,
        DataType::Boolean => 8,
        DataType::F8E5m2 => 9,
        DataType::F8E4m3 => 10,
        DataType::S4 => 11,
        DataType::U4 => 12,
        DataType::E8m0 => 13,
        DataType::F4E2m1 => 14,
        DataType::F4E3m0 => 15,
        DataType::S64 => 16,
    }
}

/// `dnnl_prop_kind_t`.
pub(crate) const fn prop(p: Prop) -> i32 {
    match p {
        Prop::ForwardTraining => 64,
        Prop::ForwardInference => 96,
        Prop::Backward => 128,
        Prop::BackwardData => 160,
        Prop::BackwardWeights => 192,
    }
}

/// Algorithm of a convolution.
pub(crate) const fn conv(a: ConvAlg) -> i32 {
    match a {
        ConvAlg::Direct => 1,
        ConvAlg::Winograd => 2,
        ConvAlg::Auto => 3,
    }
}

/// Algorithm of a deconvolution, which knows no `auto`.
pub(crate) const fn deconv(a: ConvAlg) -> i32 {
    match a {
        ConvAlg::Winograd => 11,
        _ => 10,
    }
}

/// Algorithm of an eltwise.
pub(crate) const fn eltwise(a: EltwiseAlg) -> i32 {
    match a {
        EltwiseAlg::Relu => 32,
        EltwiseAlg::Tanh => 33,
        EltwiseAlg::Elu => 34,
        EltwiseAlg::Square => 35,
        EltwiseAlg::Abs => 36,
        EltwiseAlg::Sqrt => 37,
        EltwiseAlg::Linear => 38,
        EltwiseAlg::SoftRelu => 39,
        EltwiseAlg::HardSigmoid => 40,
        EltwiseAlg::Logistic => 41,
        EltwiseAlg::Exp => 42,
        EltwiseAlg::GeluTanh => 43,
        EltwiseAlg::Swish => 44,
        EltwiseAlg::Log => 45,
        EltwiseAlg::Clip => 46,
        EltwiseAlg::ClipV2 => 47,
        EltwiseAlg::Pow => 48,
        EltwiseAlg::GeluErf => 49,
        EltwiseAlg::Round => 50,
        EltwiseAlg::Mish => 51,
        EltwiseAlg::HardSwish => 52,
        EltwiseAlg::ReluDst => 256,
        EltwiseAlg::TanhDst => 257,
        EltwiseAlg::EluDst => 258,
        EltwiseAlg::SqrtDst => 259,
        EltwiseAlg::LogisticDst => 260,
        EltwiseAlg::ExpDst => 261,
        EltwiseAlg::ClipV2Dst => 262,
    }
}

/// Algorithm of a binary.
pub(crate) const fn binary(a: BinaryAlg) -> i32 {
    131_056
        + match a {
            BinaryAlg::Add => 0,
            BinaryAlg::Mul => 1,
            BinaryAlg::Max => 2,
            BinaryAlg::Min => 3,
            BinaryAlg::Div => 4,
            BinaryAlg::Sub => 5,
            BinaryAlg::Ge => 6,
            BinaryAlg::Gt => 7,
            BinaryAlg::Le => 8,
            BinaryAlg::Lt => 9,
            BinaryAlg::Eq => 10,
            BinaryAlg::Ne => 11,
            BinaryAlg::Select => 12,
        }
}

/// Algorithm of a pooling.
pub(crate) const fn pool(a: PoolAlg) -> i32 {
    match a {
        PoolAlg::Max => 511,
        PoolAlg::AvgIncludePadding => 767,
        PoolAlg::AvgExcludePadding => 1023,
    }
}

/// Algorithm of a local response normalisation.
pub(crate) const fn lrn(a: LrnAlg) -> i32 {
    match a {
        LrnAlg::AcrossChannels => 2815,
        LrnAlg::WithinChannel => 3071,
    }
}

/// Algorithm of a reduction.
pub(crate) const fn reduction(a: ReductionAlg) -> i32 {
    196_594
        + match a {
            ReductionAlg::Max => 0,
            ReductionAlg::Min => 1,
            ReductionAlg::Sum => 2,
            ReductionAlg::Mul => 3,
            ReductionAlg::Mean => 4,
            ReductionAlg::NormLpMax => 5,
            ReductionAlg::NormLpSum => 6,
            ReductionAlg::NormLpPowerPMax => 7,
            ReductionAlg::NormLpPowerPSum => 8,
        }
}

/// Algorithm of a resampling.
pub(crate) const fn resampling(a: ResamplingAlg) -> i32 {
    match a {
        ResamplingAlg::Nearest => 196_592,
        ResamplingAlg::Linear => 196_593,
    }
}

/// Algorithm of a softmax; the last is not in the public headers, but the library knows it.
pub(crate) const fn softmax(a: SoftmaxAlg) -> i32 {
    match a {
        SoftmaxAlg::Accurate => 196_608,
        SoftmaxAlg::Log => 196_609,
        SoftmaxAlg::InfAsZero => 4098,
    }
}

/// Flags of a normalisation.
pub(crate) const fn norm_flags(f: NormFlags) -> i32 {
    f.use_global_stats as i32
        | (f.use_scale as i32) << 1
        | (f.use_shift as i32) << 2
        | (f.fuse_relu as i32) << 3
        | (f.fuse_add_relu as i32) << 4
        | (f.rms as i32) << 5
}

/// Activation of a vanilla recurrent cell, an eltwise algorithm.
pub(crate) const fn activation(a: RnnActivation) -> i32 {
    match a {
        RnnActivation::Relu => eltwise(EltwiseAlg::Relu),
        RnnActivation::Tanh => eltwise(EltwiseAlg::Tanh),
        RnnActivation::Logistic => eltwise(EltwiseAlg::Logistic),
    }
}

/// Direction of a recurrent network.
pub(crate) const fn direction(d: RnnDirection) -> i32 {
    match d {
        RnnDirection::Left2Right => 1,
        RnnDirection::Right2Left => 2,
        RnnDirection::BidirectionalConcat => 3,
        RnnDirection::BidirectionalSum => 4,
    }
}

/// Functions that make the forward and backward descriptors of a recurrent cell.
pub(crate) const fn rnn_creators(cell: RnnCell) -> [&'static str; 2] {
    match cell {
        RnnCell::Vanilla => ["dnnl_vanilla_rnn_forward_primitive_desc_create", "dnnl_vanilla_rnn_backward_primitive_desc_create"],
        RnnCell::Lstm => ["dnnl_lstm_forward_primitive_desc_create", "dnnl_lstm_backward_primitive_desc_create"],
        RnnCell::Gru => ["dnnl_gru_forward_primitive_desc_create", "dnnl_gru_backward_primitive_desc_create"],
        RnnCell::LbrGru => ["dnnl_lbr_gru_forward_primitive_desc_create", "dnnl_lbr_gru_backward_primitive_desc_create"],
        RnnCell::Augru => ["dnnl_augru_forward_primitive_desc_create", "dnnl_augru_backward_primitive_desc_create"],
        RnnCell::LbrAugru => ["dnnl_lbr_augru_forward_primitive_desc_create", "dnnl_lbr_augru_backward_primitive_desc_create"],
    }
}

/// `dnnl_fpmath_mode_t`.
pub(crate) const fn fpmath(m: FpMathMode) -> i32 {
    match m {
        FpMathMode::Strict => 0,
        FpMathMode::Bf16 => 1,
        FpMathMode::F16 => 2,
        FpMathMode::Any => 3,
        FpMathMode::Tf32 => 4,
    }
}

/// `dnnl_accumulation_mode_t`.
pub(crate) const fn accumulation(m: Accumulation) -> i32 {
    match m {
        Accumulation::Strict => 0,
        Accumulation::Relaxed => 1,
        Accumulation::Any => 2,
        Accumulation::S32 => 3,
        Accumulation::F32 => 4,
        Accumulation::F16 => 5,
    }
}

/// `dnnl_scratchpad_mode_t`.
pub(crate) const fn scratchpad(m: ScratchpadMode) -> i32 {
    match m {
        ScratchpadMode::Library => 0,
        ScratchpadMode::User => 1,
    }
}

/// `dnnl_rounding_mode_t`.
pub(crate) const fn rounding(m: Rounding) -> i32 {
    match m {
        Rounding::Environment => 0,
        Rounding::Stochastic => 1,
    }
}

/// `dnnl_quantization_mode_t`.
pub(crate) const fn quant_mode(m: QuantMode) -> i32 {
    match m {
        QuantMode::Static => 1,
        QuantMode::DynamicMx => 2,
        QuantMode::DynamicFp => 3,
    }
}
