//! The enumerators that correspond to our enums: a table per enum, used in both directions.

use oxidnn_spec::op::{BinaryAlg, ConvAlg, EltwiseAlg, LrnAlg, NormFlags, PoolAlg, Prop, ReductionAlg, ResamplingAlg};
use oxidnn_spec::op::{RnnActivation, RnnCell, RnnDirection, SoftmaxAlg};
use oxidnn_spec::{Accumulation, DataType, FpMathMode, QuantMode, Rounding, ScratchpadMode};

#[cfg(test)]
mod tests;

/// `dnnl_engine_kind_t` of the CPU.
pub const CPU: i32 = 1;
/// `dnnl_engine_kind_t` of a GPU.
pub const GPU: i32 = 2;
/// A stream flag, the default: executions in order.
pub const IN_ORDER: u32 = 1;
/// A stream's flag: executions in any order.
pub const OUT_OF_ORDER: u32 = 2;
/// A stream's flag: executions are timed.
pub const PROFILING: u32 = 4;
/// `dnnl_profiling_data_kind_t` of nanoseconds.
pub const PROFILED_TIME: i32 = 1;
/// A stream flag of `oxidnn_dnnl.h`: executions are asynchronous, on a CPU too.
pub const ASYNCHRONOUS: u32 = 1 << 16;
/// The format tag `undef`.
pub const TAG_UNDEF: i32 = 0;
/// The format tag `any`.
pub const TAG_ANY: i32 = 1;

/// A value and the number that stands for it.
pub type Pair<T> = (T, i32);

/// The enumerators of one enum: a name for messages, and pairs. A value may have several enumerators ([`Numbers::of`] returns the first), and an
/// enumerator several values ([`Numbers::value`] returns the first).
#[derive(Debug)]
pub struct Numbers<T: 'static> {
    /// The type's name in the C interface.
    pub name: &'static str,
    pairs: &'static [Pair<T>],
}

impl<T: Copy + PartialEq> Numbers<T> {
    /// The enumerator of `value`; 0, "undefined" in the interface, if it has none.
    pub fn of(&self, value: T) -> i32 {
        self.pairs.iter().find(|p| p.0 == value).map_or(0, |p| p.1)
    }

    /// The value of the enumerator `number`.
    pub fn value(&self, number: i32) -> Option<T> {
        self.pairs.iter().find(|p| p.1 == number).map(|p| p.0)
    }

    /// All pairs.
    pub fn pairs(&self) -> &'static [Pair<T>] {
        self.pairs
    }
}

const fn numbers<T>(name: &'static str, pairs: &'static [Pair<T>]) -> Numbers<T> {
    Numbers { name, pairs }
}

/// Data types.
pub const DATA_TYPE: Numbers<DataType> = numbers(
    "dnnl_data_type_t",
    &[
        (DataType::F16, 1),
        (DataType::Bf16, 2),
        (DataType::F32, 3),
        (DataType::S32, 4),
        (DataType::S8, 5),
        (DataType::U8, 6),
        (DataType::F64, 7),
        (DataType::Boolean, 8),
        (DataType::F8E5m2, 9),
        (DataType::F8E4m3, 10),
        (DataType::S4, 11),
        (DataType::U4, 12),
        (DataType::E8m0, 13),
        (DataType::F4E2m1, 14),
        (DataType::F4E3m0, 15),
        (DataType::S64, 16),
    ],
);

/// Propagation kinds; `backward_bias` is a backward pass of the weights.
pub const PROP: Numbers<Prop> = numbers(
    "dnnl_prop_kind_t",
    &[
        (Prop::ForwardTraining, 64),
        (Prop::ForwardInference, 96),
        (Prop::Backward, 128),
        (Prop::BackwardData, 160),
        (Prop::BackwardWeights, 192),
        (Prop::BackwardWeights, 193),
    ],
);

/// Algorithms of a convolution.
pub const CONV: Numbers<ConvAlg> =
    numbers("algorithm of a convolution", &[(ConvAlg::Direct, 1), (ConvAlg::Winograd, 2), (ConvAlg::Auto, 3)]);

/// Algorithms of a deconvolution, which has no `auto`.
pub const DECONV: Numbers<ConvAlg> =
    numbers("algorithm of a deconvolution", &[(ConvAlg::Direct, 10), (ConvAlg::Winograd, 11), (ConvAlg::Auto, 10)]);

/// Algorithms of an eltwise.
pub const ELTWISE: Numbers<EltwiseAlg> = numbers(
    "algorithm of an eltwise",
    &[
        (EltwiseAlg::Relu, 32),
        (EltwiseAlg::Tanh, 33),
        (EltwiseAlg::Elu, 34),
        (EltwiseAlg::Square, 35),
        (EltwiseAlg::Abs, 36),
        (EltwiseAlg::Sqrt, 37),
        (EltwiseAlg::Linear, 38),
        (EltwiseAlg::SoftRelu, 39),
        (EltwiseAlg::HardSigmoid, 40),
        (EltwiseAlg::Logistic, 41),
        (EltwiseAlg::Exp, 42),
        (EltwiseAlg::GeluTanh, 43),
        (EltwiseAlg::Swish, 44),
        (EltwiseAlg::Log, 45),
        (EltwiseAlg::Clip, 46),
        (EltwiseAlg::ClipV2, 47),
        (EltwiseAlg::Pow, 48),
        (EltwiseAlg::GeluErf, 49),
        (EltwiseAlg::Round, 50),
        (EltwiseAlg::Mish, 51),
        (EltwiseAlg::HardSwish, 52),
        (EltwiseAlg::ReluDst, 256),
        (EltwiseAlg::TanhDst, 257),
        (EltwiseAlg::EluDst, 258),
        (EltwiseAlg::SqrtDst, 259),
        (EltwiseAlg::LogisticDst, 260),
        (EltwiseAlg::ExpDst, 261),
        (EltwiseAlg::ClipV2Dst, 262),
    ],
);

/// Algorithms of a binary.
pub const BINARY: Numbers<BinaryAlg> = numbers(
    "algorithm of a binary",
    &[
        (BinaryAlg::Add, 131_056),
        (BinaryAlg::Mul, 131_057),
        (BinaryAlg::Max, 131_058),
        (BinaryAlg::Min, 131_059),
        (BinaryAlg::Div, 131_060),
        (BinaryAlg::Sub, 131_061),
        (BinaryAlg::Ge, 131_062),
        (BinaryAlg::Gt, 131_063),
        (BinaryAlg::Le, 131_064),
        (BinaryAlg::Lt, 131_065),
        (BinaryAlg::Eq, 131_066),
        (BinaryAlg::Ne, 131_067),
        (BinaryAlg::Select, 131_068),
    ],
);

/// Algorithms of a pooling.
pub const POOL: Numbers<PoolAlg> =
    numbers("algorithm of a pooling", &[(PoolAlg::Max, 511), (PoolAlg::AvgIncludePadding, 767), (PoolAlg::AvgExcludePadding, 1023)]);

/// Algorithms of a local response normalisation.
pub const LRN: Numbers<LrnAlg> = numbers("algorithm of an LRN", &[(LrnAlg::AcrossChannels, 2815), (LrnAlg::WithinChannel, 3071)]);

/// Algorithms of a reduction.
pub const REDUCTION: Numbers<ReductionAlg> = numbers(
    "algorithm of a reduction",
    &[
        (ReductionAlg::Max, 196_594),
        (ReductionAlg::Min, 196_595),
        (ReductionAlg::Sum, 196_596),
        (ReductionAlg::Mul, 196_597),
        (ReductionAlg::Mean, 196_598),
        (ReductionAlg::NormLpMax, 196_599),
        (ReductionAlg::NormLpSum, 196_600),
        (ReductionAlg::NormLpPowerPMax, 196_601),
        (ReductionAlg::NormLpPowerPSum, 196_602),
    ],
);

/// Algorithms of a resampling.
pub const RESAMPLING: Numbers<ResamplingAlg> =
    numbers("algorithm of a resampling", &[(ResamplingAlg::Nearest, 196_592), (ResamplingAlg::Linear, 196_593)]);

/// Algorithms of a softmax; the last is not in the public headers, but clients pass it.
pub const SOFTMAX: Numbers<SoftmaxAlg> =
    numbers("algorithm of a softmax", &[(SoftmaxAlg::Accurate, 196_608), (SoftmaxAlg::Log, 196_609), (SoftmaxAlg::InfAsZero, 4098)]);

/// Kinds of recurrent cells.
pub const CELL: Numbers<RnnCell> = numbers(
    "kind of a recurrent cell",
    &[
        (RnnCell::Vanilla, 8191),
        (RnnCell::Lstm, 12287),
        (RnnCell::Gru, 16383),
        (RnnCell::LbrGru, 20479),
        (RnnCell::Augru, 24575),
        (RnnCell::LbrAugru, 28671),
    ],
);

/// Activations of a vanilla recurrent cell, which are eltwise algorithms.
pub const ACTIVATION: Numbers<RnnActivation> =
    numbers("activation of a recurrent cell", &[(RnnActivation::Relu, 32), (RnnActivation::Tanh, 33), (RnnActivation::Logistic, 41)]);

/// Directions of a recurrent network.
pub const DIRECTION: Numbers<RnnDirection> = numbers(
    "dnnl_rnn_direction_t",
    &[
        (RnnDirection::Left2Right, 1),
        (RnnDirection::Right2Left, 2),
        (RnnDirection::BidirectionalConcat, 3),
        (RnnDirection::BidirectionalSum, 4),
    ],
);

/// Floating-point math modes.
pub const FPMATH: Numbers<FpMathMode> = numbers(
    "dnnl_fpmath_mode_t",
    &[(FpMathMode::Strict, 0), (FpMathMode::Bf16, 1), (FpMathMode::F16, 2), (FpMathMode::Any, 3), (FpMathMode::Tf32, 4)],
);

/// Accumulation modes.
pub const ACCUMULATION: Numbers<Accumulation> = numbers(
    "dnnl_accumulation_mode_t",
    &[
        (Accumulation::Strict, 0),
        (Accumulation::Relaxed, 1),
        (Accumulation::Any, 2),
        (Accumulation::S32, 3),
        (Accumulation::F32, 4),
        (Accumulation::F16, 5),
    ],
);

/// Scratchpad modes.
pub const SCRATCHPAD: Numbers<ScratchpadMode> =
    numbers("dnnl_scratchpad_mode_t", &[(ScratchpadMode::Library, 0), (ScratchpadMode::User, 1)]);

/// Rounding modes.
pub const ROUNDING: Numbers<Rounding> = numbers("dnnl_rounding_mode_t", &[(Rounding::Environment, 0), (Rounding::Stochastic, 1)]);

/// Quantisation modes.
pub const QUANT_MODE: Numbers<QuantMode> =
    numbers("dnnl_quantization_mode_t", &[(QuantMode::Static, 1), (QuantMode::DynamicMx, 2), (QuantMode::DynamicFp, 3)]);

/// The bits of a normalisation's flags, lowest first.
fn flag_bits(f: &mut NormFlags) -> [&mut bool; 6] {
    [&mut f.use_global_stats, &mut f.use_scale, &mut f.use_shift, &mut f.fuse_relu, &mut f.fuse_add_relu, &mut f.rms]
}

/// Flags of a normalisation as a bit set.
pub fn norm_flags(mut flags: NormFlags) -> u32 {
    flag_bits(&mut flags).into_iter().enumerate().map(|(bit, on)| u32::from(*on) << bit).sum()
}

/// Flags of a normalisation; `None` if a bit is unknown.
pub fn to_norm_flags(number: u32) -> Option<NormFlags> {
    let mut flags = NormFlags::default();
    let bits = flag_bits(&mut flags);
    if number >> bits.len() != 0 {
        return None;
    }
    for (bit, on) in bits.into_iter().enumerate() {
        *on = number >> bit & 1 == 1;
    }
    Some(flags)
}

/// `dnnl_primitive_kind_t` by the specification's names; a sum of tensors and a sum post-op have the same.
pub const KIND: Numbers<&str> = numbers(
    "dnnl_primitive_kind_t",
    &[
        ("reorder", 1),
        ("shuffle", 2),
        ("concat", 3),
        ("sum", 4),
        ("convolution", 5),
        ("deconvolution", 6),
        ("eltwise", 7),
        ("lrn", 8),
        ("batch_normalization", 9),
        ("inner_product", 10),
        ("rnn", 11),
        ("gemm", 12),
        ("binary", 13),
        ("matmul", 14),
        ("resampling", 15),
        ("pooling", 16),
        ("reduction", 17),
        ("prelu", 18),
        ("softmax", 19),
        ("layer_normalization", 20),
        ("group_normalization", 21),
    ],
);
