//! The operations of the graph extension as data: ports with their type variables, attributes with defaults and legal values, and the rules
//! that tables cannot say. Rows stand in the order of the specification's numbers.

use super::attrs::*;
use super::checks;
use super::{Counts, OpKind, Ports, Schema};
use OpKind::*;
use oxidnn_spec::DataType as D;
use oxidnn_spec::op::Types;

const fn row(kind: OpKind, name: &'static str, inputs: Ports, outputs: Ports, types: &'static [Types]) -> Schema {
    Schema { kind, name, inputs, outputs, types, attrs: &[], checks: &[] }
}

/// Exactly these ports; the number is that of a type variable.
const fn all(list: &'static [(&'static str, usize)]) -> Ports {
    Ports { counts: Counts::All, list }
}

/// The first of these ports, one of `counts` in number.
const fn some(counts: &'static [usize], list: &'static [(&'static str, usize)]) -> Ports {
    Ports { counts: Counts::OneOf(counts), list }
}

const SRC: Ports = all(&[("src", 0)]);
const DST: Ports = all(&[("dst", 0)]);
const DIFF_SRC: Ports = all(&[("diff_src", 0)]);
const SRC_DIFF_DST: Ports = all(&[("src", 0), ("diff_dst", 0)]);
const DATA_DIFF_DST: Ports = all(&[("src/dst", 0), ("diff_dst", 0)]);
const DIFF_DST_DST: Ports = all(&[("diff_dst", 0), ("dst", 0)]);
const TWO: Ports = all(&[("src_0", 0), ("src_1", 0)]);
const TWO_TYPES: Ports = all(&[("src_0", 0), ("src_1", 1)]);
const WEIGHTED: Ports = some(&[2, 3], &[("src", 0), ("weights", 0), ("bias", 0)]);
const SRC_AXES: Ports = some(&[1, 2], &[("src", 0), ("axes", 1)]);
const SRC_GAMMA_BETA: Ports = some(&[1, 3], &[("src", 0), ("gamma", 1), ("beta", 1)]);
const DST_STATS: Ports = some(&[1, 3], &[("dst", 0), ("mean", 1), ("variance", 1)]);

/// f64 is for clients in Rust that want to measure rounding errors: no row of the specification has it.
const FP: Types = Types::of(&[D::F32, D::Bf16, D::F16, D::F64]);
const FP1: &[Types] = &[FP];
const FP_S32: Types = FP.or(S32);
const F32: Types = Types::of(&[D::F32]);
const F32_F64: Types = Types::of(&[D::F32, D::F64]);
const F32_BF16: Types = Types::of(&[D::F32, D::Bf16]);
const S32: Types = Types::of(&[D::S32]);
const S64: Types = Types::of(&[D::S64]);
const U8: Types = Types::of(&[D::U8]);
const X8: Types = Types::of(&[D::U8, D::S8]);
const X8_S32: Types = X8.or(S32);
const INTEGERS: Types = X8.or(Types::of(&[D::S4, D::U4]));
const ZERO_POINTS: Types = INTEGERS.or(S32);
const QUANTISED: Types = X8.or(Types::of(&[D::F8E5m2, D::F8E4m3]));
const ENDED: Types = FP.or(X8_S32);
const BOOLEAN: Types = Types::of(&[D::Boolean]);

/// The schema of every operation.
pub(super) static TABLE: [Schema; 88] = [
    row(Abs, "Abs", SRC, DST, FP1),
    row(AbsBackward, "AbsBackward", SRC_DIFF_DST, DIFF_SRC, FP1),
    Schema { attrs: &[AUTO_BROADCAST], ..row(Add, "Add", TWO_TYPES, all(&[("dst", 2)]), &[FP_S32, FP_S32, FP_S32]) },
    Schema {
        attrs: &[STRIDES, PADS_BEGIN, PADS_END, EXCLUDE_PAD, KERNEL, DATA_FORMAT, ROUNDING_TYPE, AUTO_PAD],
        checks: &[checks::pads],
        ..row(AvgPool, "AvgPool", SRC, DST, FP1)
    },
    Schema {
        attrs: &[STRIDES, PADS_BEGIN, PADS_END, EXCLUDE_PAD, KERNEL, AUTO_PAD, DATA_FORMAT, SRC_SHAPE],
        checks: &[checks::src_shape, checks::pads],
        ..row(AvgPoolBackward, "AvgPoolBackward", some(&[1, 2], &[("diff_dst", 0), ("src_shape", 1)]), DIFF_SRC, &[FP, S32])
    },
    Schema {
        attrs: &[EPSILON, DATA_FORMAT],
        checks: &[checks::norm_types],
        ..row(
            BatchNormTrainingBackward,
            "BatchNormTrainingBackward",
            some(&[4, 5], &[("src", 0), ("diff_dst", 0), ("mean", 1), ("variance", 1), ("gamma", 1)]),
            some(&[1, 2, 3], &[("diff_src", 0), ("diff_gamma", 1), ("diff_beta", 1)]),
            &[FP, F32_BF16],
        )
    },
    Schema {
        attrs: &[EPSILON, MOMENTUM, DATA_FORMAT],
        checks: &[checks::norm_types],
        ..row(
            BatchNormForwardTraining,
            "BatchNormForwardTraining",
            some(&[3, 4, 5], &[("src", 0), ("mean", 1), ("variance", 1), ("gamma", 1), ("beta", 1)]),
            all(&[("dst", 0), ("running_mean", 1), ("running_variance", 1), ("batch_mean", 1), ("batch_variance", 1)]),
            &[FP, F32_BF16],
        )
    },
    Schema {
        attrs: &[EPSILON, DATA_FORMAT],
        checks: &[checks::norm_types],
        ..row(
            BatchNormInference,
            "BatchNormInference",
            all(&[("src", 0), ("gamma", 1), ("beta", 1), ("mean", 1), ("variance", 1)]),
            DST,
            &[FP, F32_BF16],
        )
    },
    Schema { attrs: &[DATA_FORMAT], ..row(BiasAdd, "BiasAdd", all(&[("src", 0), ("bias", 0)]), DST, FP1) },
    Schema { attrs: &[DATA_FORMAT], ..row(BiasAddBackward, "BiasAddBackward", all(&[("diff_dst", 0)]), all(&[("diff_bias", 0)]), FP1) },
    Schema { attrs: &[MIN, MAX], ..row(Clamp, "Clamp", SRC, DST, FP1) },
    Schema { attrs: &[MIN, MAX, USE_DST], ..row(ClampBackward, "ClampBackward", DATA_DIFF_DST, DIFF_SRC, FP1) },
    Schema { attrs: &[AXIS], ..row(Concat, "Concat", Ports { counts: Counts::Between(1, 64), list: &[("src_i", 0)] }, DST, FP1) },
    Schema {
        attrs: &[STRIDES, PADS_BEGIN, PADS_END, DILATIONS, AUTO_PAD, GROUPS_1, DATA_FORMAT, WEIGHTS_XIO],
        checks: &[checks::pads],
        ..row(Convolution, "Convolution", WEIGHTED, DST, FP1)
    },
    Schema {
        attrs: &[OUTPUT_PADDING, DST_SHAPE, STRIDES, PADS_BEGIN, PADS_END, DILATIONS, AUTO_PAD, GROUPS_1, DATA_FORMAT, WEIGHTS_XIO],
        checks: &[checks::dst_shape, checks::pads],
        ..row(
            ConvolutionBackwardData,
            "ConvolutionBackwardData",
            some(&[2, 3], &[("diff_dst", 0), ("weights", 0), ("dst_shape", 1)]),
            DIFF_SRC,
            &[FP, S32],
        )
    },
    Schema {
        attrs: &[WEIGHTS_SHAPE, STRIDES, PADS_BEGIN, PADS_END, DILATIONS, AUTO_PAD, GROUPS_1, DATA_FORMAT, WEIGHTS_XIO],
        checks: &[checks::weights_shape, checks::pads],
        ..row(
            ConvolutionBackwardWeights,
            "ConvolutionBackwardWeights",
            some(&[2, 3], &[("src", 0), ("diff_dst", 0), ("weights_shape", 1)]),
            all(&[("diff_weights", 0)]),
            &[FP, S32],
        )
    },
    Schema {
        attrs: &[OUTPUT_PADDING, STRIDES, PADS_BEGIN, PADS_END, DILATIONS, AUTO_PAD, GROUPS_1, DATA_FORMAT, WEIGHTS_XOI],
        checks: &[checks::pads],
        ..row(ConvTranspose, "ConvTranspose", WEIGHTED, DST, FP1)
    },
    Schema {
        attrs: &[STRIDES, PADS_BEGIN, PADS_END, DILATIONS, AUTO_PAD, GROUPS_1, DATA_FORMAT, WEIGHTS_XOI],
        checks: &[checks::pads],
        ..row(ConvTransposeBackwardData, "ConvTransposeBackwardData", all(&[("diff_dst", 0), ("weights", 0)]), DIFF_SRC, FP1)
    },
    Schema {
        attrs: &[WEIGHTS_SHAPE, STRIDES, PADS_BEGIN, PADS_END, DILATIONS, AUTO_PAD, GROUPS_1, DATA_FORMAT, WEIGHTS_XOI],
        checks: &[checks::weights_shape, checks::pads],
        ..row(
            ConvTransposeBackwardWeights,
            "ConvTransposeBackwardWeights",
            some(&[2, 3], &[("src", 0), ("diff_dst", 0), ("weights_shape", 1)]),
            all(&[("diff_weights", 0)]),
            &[FP, S32],
        )
    },
    Schema {
        attrs: &[QTYPE, AXIS_1, SCALES, ZPS],
        checks: &[checks::scales],
        ..row(Dequantize, "Dequantize", SRC, all(&[("dst", 1)]), &[QUANTISED, F32_F64])
    },
    Schema { attrs: &[AUTO_BROADCAST], ..row(Divide, "Divide", TWO_TYPES, all(&[("dst", 2)]), &[FP, FP, FP]) },
    Schema {
        attrs: &[QTYPE, AXIS_1, GROUP_SHAPE],
        checks: &[checks::dynamic_scales],
        ..row(
            DynamicDequantize,
            "DynamicDequantize",
            some(&[2, 3], &[("src", 0), ("scales", 1), ("zps", 2)]),
            all(&[("dst", 1)]),
            &[INTEGERS, FP, ZERO_POINTS],
        )
    },
    Schema {
        attrs: &[QTYPE, AXIS_1],
        checks: &[checks::dynamic_scales],
        ..row(
            DynamicQuantize,
            "DynamicQuantize",
            some(&[2, 3], &[("src", 0), ("scales", 0), ("zps", 1)]),
            all(&[("dst", 2)]),
            &[F32, X8_S32, X8],
        )
    },
    Schema { attrs: &[ALPHA], ..row(Elu, "Elu", SRC, DST, FP1) },
    Schema { attrs: &[ALPHA, USE_DST], ..row(EluBackward, "EluBackward", DATA_DIFF_DST, DIFF_SRC, FP1) },
    row(End, "End", SRC, all(&[]), &[ENDED]),
    row(Exp, "Exp", SRC, DST, FP1),
    Schema { attrs: &[GELU_MODE], ..row(Gelu, "GELU", SRC, DST, FP1) },
    Schema { attrs: &[GELU_MODE], ..row(GeluBackward, "GELUBackward", SRC_DIFF_DST, DIFF_SRC, FP1) },
    row(HardSwish, "HardSwish", SRC, DST, FP1),
    row(HardSwishBackward, "HardSwishBackward", SRC_DIFF_DST, DIFF_SRC, FP1),
    Schema {
        attrs: &[INTERPOLATE_MODE, SIZES, FACTORS, COORDINATES, DATA_FORMAT],
        checks: &[checks::sizes_or_scales],
        ..row(Interpolate, "Interpolate", some(&[1, 2], &[("src", 0), ("sizes", 1)]), DST, &[FP, S32])
    },
    Schema {
        attrs: &[INTERPOLATE_MODE, COORDINATES, SIZES, FACTORS, DATA_FORMAT],
        checks: &[checks::sizes_or_scales],
        ..row(InterpolateBackward, "InterpolateBackward", some(&[2, 3], &[("src", 0), ("diff_dst", 0), ("sizes", 1)]), DIFF_SRC, &[FP, S32])
    },
    Schema {
        attrs: &[KEEP_STATS, BEGIN_NORM_AXIS, USE_AFFINE, EPSILON_1E5],
        checks: &[checks::norm_types, checks::statistics],
        ..row(LayerNorm, "LayerNorm", SRC_GAMMA_BETA, DST_STATS, &[FP, F32_BF16])
    },
    Schema {
        attrs: &[BEGIN_NORM_AXIS, USE_AFFINE, EPSILON_1E5],
        checks: &[checks::norm_types, checks::affine_gradients],
        ..row(
            LayerNormBackward,
            "LayerNormBackward",
            some(&[4, 5, 6], &[("src", 0), ("diff_dst", 0), ("mean", 1), ("variance", 1), ("gamma", 1), ("beta", 1)]),
            some(&[1, 3], &[("diff_src", 0), ("diff_gamma", 1), ("diff_beta", 1)]),
            &[FP, F32_BF16],
        )
    },
    Schema { attrs: &[ALPHA], ..row(LeakyRelu, "LeakyReLU", SRC, DST, FP1) },
    row(Log, "Log", SRC, DST, FP1),
    Schema { attrs: &[AXIS_LAST], ..row(LogSoftmax, "LogSoftmax", SRC, DST, FP1) },
    Schema { attrs: &[AXIS_LAST], ..row(LogSoftmaxBackward, "LogSoftmaxBackward", DIFF_DST_DST, DIFF_SRC, FP1) },
    Schema {
        attrs: &[TRANSPOSE_A, TRANSPOSE_B, ACCUMULATION_MODE],
        checks: &[checks::matmul_types],
        ..row(MatMul, "MatMul", WEIGHTED, all(&[("dst", 1)]), &[FP, FP])
    },
    Schema { attrs: &[AUTO_BROADCAST], ..row(Maximum, "Maximum", TWO, DST, FP1) },
    Schema {
        attrs: &[STRIDES, PADS_BEGIN, PADS_END, KERNEL, DILATIONS_1, DATA_FORMAT, ROUNDING_TYPE, AUTO_PAD],
        checks: &[checks::pads, checks::dilations],
        ..row(MaxPool, "MaxPool", SRC, DST, FP1)
    },
    Schema {
        attrs: &[STRIDES, PADS_BEGIN, PADS_END, KERNEL, AUTO_PAD, DILATIONS_1, DATA_FORMAT],
        checks: &[checks::pads, checks::dilations],
        ..row(MaxPoolBackward, "MaxPoolBackward", SRC_DIFF_DST, DIFF_SRC, FP1)
    },
    Schema { attrs: &[AUTO_BROADCAST], ..row(Minimum, "Minimum", TWO, DST, FP1) },
    row(Mish, "Mish", SRC, DST, FP1),
    row(MishBackward, "MishBackward", SRC_DIFF_DST, DIFF_SRC, FP1),
    Schema { attrs: &[AUTO_BROADCAST], ..row(Multiply, "Multiply", TWO_TYPES, all(&[("dst", 2)]), &[FP, FP, FP]) },
    Schema { attrs: &[DATA_FORMAT, PER_CHANNEL_BROADCAST], ..row(Prelu, "PReLU", all(&[("src", 0), ("slope", 0)]), DST, FP1) },
    Schema {
        attrs: &[DATA_FORMAT],
        ..row(
            PreluBackward,
            "PReLUBackward",
            all(&[("src", 0), ("slope", 0), ("diff_dst", 0)]),
            all(&[("diff_src", 0), ("diff_slope", 0)]),
            FP1,
        )
    },
    Schema {
        attrs: &[QTYPE, AXIS_1, SCALES, ZPS],
        checks: &[checks::scales],
        ..row(Quantize, "Quantize", SRC, all(&[("dst", 1)]), &[F32_F64, QUANTISED])
    },
    row(Reciprocal, "Reciprocal", SRC, DST, FP1),
    Schema { attrs: &[AXES, KEEP_DIMS], checks: &[checks::axes], ..row(ReduceL1, "ReduceL1", SRC_AXES, DST, &[FP, S32]) },
    Schema { attrs: &[AXES, KEEP_DIMS], checks: &[checks::axes], ..row(ReduceL2, "ReduceL2", SRC_AXES, DST, &[FP, S32]) },
    Schema { attrs: &[AXES, KEEP_DIMS], checks: &[checks::axes], ..row(ReduceMax, "ReduceMax", SRC_AXES, DST, &[FP, S32]) },
    Schema { attrs: &[AXES, KEEP_DIMS], checks: &[checks::axes], ..row(ReduceMean, "ReduceMean", SRC_AXES, DST, &[FP, S32]) },
    Schema { attrs: &[AXES, KEEP_DIMS], checks: &[checks::axes], ..row(ReduceMin, "ReduceMin", SRC_AXES, DST, &[FP, S32]) },
    Schema { attrs: &[AXES, KEEP_DIMS], checks: &[checks::axes], ..row(ReduceProd, "ReduceProd", SRC_AXES, DST, &[FP, S32]) },
    Schema { attrs: &[AXES, KEEP_DIMS], checks: &[checks::axes], ..row(ReduceSum, "ReduceSum", SRC_AXES, DST, &[FP, S32]) },
    row(Relu, "ReLU", SRC, DST, FP1),
    Schema { attrs: &[USE_DST], ..row(ReluBackward, "ReLUBackward", DATA_DIFF_DST, DIFF_SRC, FP1) },
    row(Reorder, "Reorder", SRC, DST, FP1),
    row(Round, "Round", SRC, DST, FP1),
    row(Sigmoid, "Sigmoid", SRC, DST, FP1),
    Schema { attrs: &[USE_DST], ..row(SigmoidBackward, "SigmoidBackward", DATA_DIFF_DST, DIFF_SRC, FP1) },
    Schema {
        attrs: &[AXIS_1, SOFTMAX_MODE],
        checks: &[checks::softmax_types],
        ..row(SoftMax, "SoftMax", SRC, some(&[1, 2], &[("dst", 1), ("stats", 2)]), &[FP, FP, F32])
    },
    Schema {
        attrs: &[AXIS_1],
        checks: &[checks::softmax_gradient],
        ..row(SoftMaxBackward, "SoftMaxBackward", DIFF_DST_DST, all(&[("diff_src", 1)]), &[FP, FP])
    },
    Schema { attrs: &[BETA_1], ..row(SoftPlus, "SoftPlus", SRC, DST, FP1) },
    Schema { attrs: &[BETA_1], ..row(SoftPlusBackward, "SoftPlusBackward", SRC_DIFF_DST, DIFF_SRC, FP1) },
    row(Sqrt, "Sqrt", SRC, DST, FP1),
    Schema { attrs: &[USE_DST], ..row(SqrtBackward, "SqrtBackward", DATA_DIFF_DST, DIFF_SRC, FP1) },
    row(Square, "Square", SRC, DST, FP1),
    Schema { attrs: &[AUTO_BROADCAST], ..row(SquaredDifference, "SquaredDifference", TWO, DST, FP1) },
    Schema { attrs: &[SHAPE, SPECIAL_ZERO], ..row(StaticReshape, "StaticReshape", SRC, DST, FP1) },
    Schema { attrs: &[ORDER], ..row(StaticTranspose, "StaticTranspose", SRC, DST, FP1) },
    Schema { attrs: &[AUTO_BROADCAST], ..row(Subtract, "Subtract", TWO_TYPES, all(&[("dst", 2)]), &[FP_S32, FP_S32, FP_S32]) },
    row(Tanh, "Tanh", SRC, DST, FP1),
    Schema { attrs: &[USE_DST], ..row(TanhBackward, "TanhBackward", DATA_DIFF_DST, DIFF_SRC, FP1) },
    Schema { checks: &[checks::cast_types], ..row(TypeCast, "TypeCast", SRC, all(&[("dst", 1)]), &[FP, FP]) },
    row(
        Wildcard,
        "Wildcard",
        Ports { counts: Counts::Between(0, usize::MAX), list: &[("src", 0)] },
        Ports { counts: Counts::Between(0, usize::MAX), list: &[("dst", 0)] },
        &[],
    ),
    Schema { attrs: &[ALPHA, BETA], ..row(HardSigmoid, "HardSigmoid", SRC, DST, FP1) },
    Schema { attrs: &[ALPHA, BETA], ..row(HardSigmoidBackward, "HardSigmoidBackward", SRC_DIFF_DST, DIFF_SRC, FP1) },
    Schema {
        attrs: &[AUTO_BROADCAST],
        ..row(Select, "Select", all(&[("cond", 0), ("src_0", 1), ("src_1", 1)]), all(&[("dst", 1)]), &[BOOLEAN, FP])
    },
    Schema { attrs: &[BETA], ..row(Pow, "Pow", SRC, DST, FP1) },
    Schema {
        attrs: &[KEEP_STATS, GROUPS_NEEDED, USE_AFFINE, EPSILON_1E5, DATA_FORMAT],
        checks: &[checks::norm_types, checks::statistics],
        ..row(GroupNorm, "GroupNorm", SRC_GAMMA_BETA, DST_STATS, &[FP, F32_BF16])
    },
    Schema { attrs: &[AXIS], ..row(GenIndex, "GenIndex", SRC, all(&[("dst", 1)]), &[FP, S32]) },
    Schema { attrs: &[AUTO_BROADCAST], ..row(GreaterEqual, "GreaterEqual", TWO, all(&[("dst", 1)]), &[FP_S32, BOOLEAN]) },
    Schema {
        attrs: &[BEGIN_NORM_AXIS, EPSILON_1E5],
        checks: &[checks::norm_types],
        ..row(RmsNorm, "RMSNorm", some(&[1, 2], &[("src", 0), ("gamma", 1)]), DST, &[FP, FP])
    },
    row(
        Dropout,
        "Dropout",
        all(&[("src", 0), ("seed", 1), ("offset", 2), ("probability", 3)]),
        some(&[1, 2], &[("dst", 0), ("mask", 4)]),
        &[FP, S64, S64, F32, U8],
    ),
];
