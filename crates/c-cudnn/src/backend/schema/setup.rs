//! Attributes of parameters, tensors, graphs, engines and plans.

use super::{Count::*, Descriptor, Need::*, Of::*, REAL, Row, SIZES, Type::*, row};
use crate::enums::*;

pub(super) static DESCRIPTORS: &[Descriptor] = &[
    Descriptor { id: 0, name: "POINTWISE", rows: POINTWISE },
    Descriptor { id: 1, name: "CONVOLUTION", rows: CONVOLUTION },
    Descriptor { id: 18, name: "MATMUL", rows: MATMUL },
    Descriptor { id: 21, name: "REDUCTION", rows: REDUCTION },
    Descriptor { id: 24, name: "RESAMPLE", rows: RESAMPLE },
    Descriptor { id: 32, name: "RNG", rows: RNG },
    Descriptor { id: 17, name: "TENSOR", rows: TENSOR },
    Descriptor { id: 15, name: "OPERATIONGRAPH", rows: OPERATIONGRAPH },
    Descriptor { id: 2, name: "ENGINE", rows: ENGINE },
    Descriptor { id: 3, name: "ENGINECFG", rows: ENGINECFG },
    Descriptor { id: 4, name: "ENGINEHEUR", rows: ENGINEHEUR },
    Descriptor { id: 5, name: "EXECUTION_PLAN", rows: EXECUTION_PLAN },
    Descriptor { id: 6, name: "INTERMEDIATE_INFO", rows: INTERMEDIATE_INFO },
    Descriptor { id: 7, name: "KNOB_CHOICE", rows: KNOB_CHOICE },
    Descriptor { id: 8, name: "KNOB_INFO", rows: KNOB_INFO },
    Descriptor { id: 9, name: "LAYOUT_INFO", rows: LAYOUT_INFO },
    Descriptor { id: 16, name: "VARIANT_PACK", rows: VARIANT_PACK },
    Descriptor { id: 34, name: "KERNEL_CACHE", rows: KERNEL_CACHE },
    Descriptor { id: 38, name: "DEVICEPROP", rows: DEVICEPROP },
];

const POINTWISE: &[Row] = &[
    row(CUDNN_ATTR_POINTWISE_MODE, "POINTWISE_MODE", &[PointwiseMode], One, Required, Value),
    row(CUDNN_ATTR_POINTWISE_MATH_PREC, "POINTWISE_MATH_PREC", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, "POINTWISE_NAN_PROPAGATION", &[NanPropagation], One, Optional, Value),
    row(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, "POINTWISE_RELU_LOWER_CLIP", REAL, One, Optional, Value),
    row(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, "POINTWISE_RELU_UPPER_CLIP", REAL, One, Optional, Value),
    row(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, "POINTWISE_RELU_LOWER_CLIP_SLOPE", REAL, One, Optional, Value),
    row(CUDNN_ATTR_POINTWISE_ELU_ALPHA, "POINTWISE_ELU_ALPHA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, "POINTWISE_SOFTPLUS_BETA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_POINTWISE_SWISH_BETA, "POINTWISE_SWISH_BETA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_POINTWISE_AXIS, "POINTWISE_AXIS", &[Int64], One, Optional, Value),
];

const CONVOLUTION: &[Row] = &[
    row(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, "CONVOLUTION_COMP_TYPE", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_CONVOLUTION_CONV_MODE, "CONVOLUTION_CONV_MODE", &[ConvolutionMode], One, Required, Value),
    row(CUDNN_ATTR_CONVOLUTION_DILATIONS, "CONVOLUTION_DILATIONS", &[Int64], Dims, Required, Value),
    row(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, "CONVOLUTION_FILTER_STRIDES", &[Int64], Dims, Required, Value),
    row(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, "CONVOLUTION_POST_PADDINGS", &[Int64], Dims, Required, Value),
    row(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, "CONVOLUTION_PRE_PADDINGS", &[Int64], Dims, Required, Value),
    row(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, "CONVOLUTION_SPATIAL_DIMS", &[Int64], One, Required, Value),
];

const MATMUL: &[Row] = &[
    row(CUDNN_ATTR_MATMUL_COMP_TYPE, "MATMUL_COMP_TYPE", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_MATMUL_PADDING_VALUE, "MATMUL_PADDING_VALUE", &[Double], One, Optional, Value),
];

const REDUCTION: &[Row] = &[
    row(CUDNN_ATTR_REDUCTION_OPERATOR, "REDUCTION_OPERATOR", &[ReductionOperator], One, Required, Value),
    row(CUDNN_ATTR_REDUCTION_COMP_TYPE, "REDUCTION_COMP_TYPE", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, "REDUCTION_IS_DETERMINISTIC", &[Boolean], One, Optional, Value),
];

const RESAMPLE: &[Row] = &[
    row(CUDNN_ATTR_RESAMPLE_MODE, "RESAMPLE_MODE", &[ResampleMode], One, Required, Value),
    row(CUDNN_ATTR_RESAMPLE_COMP_TYPE, "RESAMPLE_COMP_TYPE", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, "RESAMPLE_SPATIAL_DIMS", &[Int64], One, Required, Value),
    row(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, "RESAMPLE_POST_PADDINGS", SIZES, Dims, Required, Value),
    row(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, "RESAMPLE_PRE_PADDINGS", SIZES, Dims, Required, Value),
    row(CUDNN_ATTR_RESAMPLE_STRIDES, "RESAMPLE_STRIDES", SIZES, Dims, Required, Value),
    row(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, "RESAMPLE_WINDOW_DIMS", SIZES, Dims, Required, Value),
    row(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, "RESAMPLE_NAN_PROPAGATION", &[NanPropagation], One, Optional, Value),
    row(CUDNN_ATTR_RESAMPLE_PADDING_MODE, "RESAMPLE_PADDING_MODE", &[PaddingMode], One, Optional, Value),
];

const RNG: &[Row] = &[
    row(CUDNN_ATTR_RNG_DISTRIBUTION, "RNG_DISTRIBUTION", &[RngDistribution], One, Optional, Value),
    row(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, "RNG_NORMAL_DIST_MEAN", &[Double], One, Optional, Value),
    row(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, "RNG_NORMAL_DIST_STANDARD_DEVIATION", &[Double], One, Optional, Value),
    row(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, "RNG_UNIFORM_DIST_MAXIMUM", &[Double], One, Optional, Value),
    row(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, "RNG_UNIFORM_DIST_MINIMUM", &[Double], One, Optional, Value),
    row(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, "RNG_BERNOULLI_DIST_PROBABILITY", &[Double], One, Optional, Value),
];

const TENSOR: &[Row] = &[
    row(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, "TENSOR_BYTE_ALIGNMENT", &[Int64], One, Required, Value),
    row(CUDNN_ATTR_TENSOR_DATA_TYPE, "TENSOR_DATA_TYPE", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_TENSOR_DIMENSIONS, "TENSOR_DIMENSIONS", &[Int64], Dims, Required, Value),
    row(CUDNN_ATTR_TENSOR_STRIDES, "TENSOR_STRIDES", &[Int64], Dims, Required, Value),
    row(CUDNN_ATTR_TENSOR_VECTOR_COUNT, "TENSOR_VECTOR_COUNT", &[Int64], One, Optional, Value),
    row(CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, "TENSOR_VECTORIZED_DIMENSION", &[Int64], One, Optional, Value),
    row(CUDNN_ATTR_TENSOR_UNIQUE_ID, "TENSOR_UNIQUE_ID", &[Int64], One, Required, Value),
    row(CUDNN_ATTR_TENSOR_IS_VIRTUAL, "TENSOR_IS_VIRTUAL", &[Boolean], One, Optional, Value),
    row(CUDNN_ATTR_TENSOR_IS_BY_VALUE, "TENSOR_IS_BY_VALUE", &[Boolean], One, Optional, Value),
    row(CUDNN_ATTR_TENSOR_REORDERING_MODE, "TENSOR_REORDERING_MODE", &[TensorReorderingMode], One, Optional, Value),
    row(CUDNN_ATTR_TENSOR_CONSTANT_VALUE, "TENSOR_CONSTANT_VALUE", &[VoidPtr], One, Optional, Value),
    row(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, "TENSOR_RAGGED_OFFSET_DESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, "TENSOR_RAGGED_OFFSET_MULTIPLIER", &[Int64], One, Optional, Value),
];

const OPERATIONGRAPH: &[Row] = &[
    row(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, "OPERATIONGRAPH_HANDLE", &[Handle], One, Optional, Value),
    row(CUDNN_ATTR_OPERATIONGRAPH_OPS, "OPERATIONGRAPH_OPS", &[BackendDescriptor], Many, Required, Operation),
    row(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, "OPERATIONGRAPH_ENGINE_GLOBAL_COUNT", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED, "OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED", &[Boolean], One, Optional, Value),
    row(CUDNN_ATTR_OPERATIONGRAPH_IS_SAME_TOPOLOGY, "OPERATIONGRAPH_IS_SAME_TOPOLOGY", &[Boolean], One, Optional, Value),
    row(CUDNN_ATTR_OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED, "OPERATIONGRAPH_IS_OVERRIDE_SHAPE_ENABLED", &[Boolean], One, Optional, Value),
    row(CUDNN_ATTR_OPERATIONGRAPH_MODE, "OPERATIONGRAPH_MODE", &[OperationGraphMode], One, Optional, Value),
];

const ENGINE: &[Row] = &[
    row(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, "ENGINE_OPERATION_GRAPH", &[BackendDescriptor], One, Required, Descriptor(15)),
    row(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, "ENGINE_GLOBAL_INDEX", &[Int64], One, Required, Value),
    row(CUDNN_ATTR_ENGINE_KNOB_INFO, "ENGINE_KNOB_INFO", &[BackendDescriptor], Many, ReadOnly, Descriptor(8)),
    row(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, "ENGINE_NUMERICAL_NOTE", &[NumericalNote], Many, ReadOnly, Value),
    row(CUDNN_ATTR_ENGINE_LAYOUT_INFO, "ENGINE_LAYOUT_INFO", &[BackendDescriptor], Many, ReadOnly, Descriptor(9)),
    row(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, "ENGINE_BEHAVIOR_NOTE", &[BehaviorNote], Many, ReadOnly, Value),
    row(CUDNN_ATTR_ENGINE_SM_COUNT_TARGET, "ENGINE_SM_COUNT_TARGET", &[Int32], One, Optional, Value),
    row(CUDNN_ATTR_ENGINE_DEVICEPROP, "ENGINE_DEVICEPROP", &[BackendDescriptor], One, Optional, Descriptor(38)),
    row(CUDNN_ATTR_ENGINE_DISABLE_CLUSTER_COOPERATIVE, "ENGINE_DISABLE_CLUSTER_COOPERATIVE", &[Int32], One, Optional, Value),
    row(CUDNN_ATTR_ENGINE_SHARED_MEMORY_LIMIT, "ENGINE_SHARED_MEMORY_LIMIT", &[Int32], One, Optional, Value),
];

const ENGINECFG: &[Row] = &[
    row(CUDNN_ATTR_ENGINECFG_ENGINE, "ENGINECFG_ENGINE", &[BackendDescriptor], One, Required, Descriptor(2)),
    row(CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO, "ENGINECFG_INTERMEDIATE_INFO", &[BackendDescriptor], One, ReadOnly, Descriptor(6)),
    row(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, "ENGINECFG_KNOB_CHOICES", &[BackendDescriptor], Many, Optional, Descriptor(7)),
    row(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, "ENGINECFG_WORKSPACE_SIZE", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED, "ENGINECFG_SHARED_MEMORY_USED", &[Int32], One, ReadOnly, Value),
];

const ENGINEHEUR: &[Row] = &[
    row(CUDNN_ATTR_ENGINEHEUR_MODE, "ENGINEHEUR_MODE", &[HeurMode], One, Required, Value),
    row(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, "ENGINEHEUR_OPERATION_GRAPH", &[BackendDescriptor], One, Required, Descriptor(15)),
    row(CUDNN_ATTR_ENGINEHEUR_RESULTS, "ENGINEHEUR_RESULTS", &[BackendDescriptor], Many, ReadOnly, Descriptor(3)),
    row(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET, "ENGINEHEUR_SM_COUNT_TARGET", &[Int32], One, Optional, Value),
    row(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, "ENGINEHEUR_DEVICEPROP", &[BackendDescriptor], One, Optional, Descriptor(38)),
    row(CUDNN_ATTR_ENGINEHEUR_SHARED_MEMORY_LIMIT, "ENGINEHEUR_SHARED_MEMORY_LIMIT", &[Int32], One, Optional, Value),
];

const EXECUTION_PLAN: &[Row] = &[
    row(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, "EXECUTION_PLAN_HANDLE", &[Handle], One, Optional, Value),
    row(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, "EXECUTION_PLAN_ENGINE_CONFIG", &[BackendDescriptor], One, Optional, Descriptor(3)),
    row(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, "EXECUTION_PLAN_WORKSPACE_SIZE", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS, "EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS", &[Int64], Many, Optional, Value),
    row(CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS, "EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS", &[Int64], Many, Optional, Value),
    row(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, "EXECUTION_PLAN_JSON_REPRESENTATION", &[Char], Many, Optional, Value),
    row(CUDNN_ATTR_EXECUTION_PLAN_KERNEL_CACHE, "EXECUTION_PLAN_KERNEL_CACHE", &[BackendDescriptor], One, Optional, Descriptor(34)),
    row(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, "EXECUTION_PLAN_DEVICEPROP", &[BackendDescriptor], One, Optional, Descriptor(38)),
];

const INTERMEDIATE_INFO: &[Row] = &[
    row(CUDNN_ATTR_INTERMEDIATE_INFO_UNIQUE_ID, "INTERMEDIATE_INFO_UNIQUE_ID", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_INTERMEDIATE_INFO_SIZE, "INTERMEDIATE_INFO_SIZE", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_DATA_UIDS, "INTERMEDIATE_INFO_DEPENDENT_DATA_UIDS", &[Int64], Many, ReadOnly, Value),
    row(CUDNN_ATTR_INTERMEDIATE_INFO_DEPENDENT_ATTRIBUTES, "INTERMEDIATE_INFO_DEPENDENT_ATTRIBUTES", &[AttribName], Many, ReadOnly, Value),
];

const KNOB_CHOICE: &[Row] = &[
    row(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, "KNOB_CHOICE_KNOB_TYPE", &[KnobType], One, Required, Value),
    row(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, "KNOB_CHOICE_KNOB_VALUE", &[Int64], One, Required, Value),
];

const KNOB_INFO: &[Row] = &[
    row(CUDNN_ATTR_KNOB_INFO_TYPE, "KNOB_INFO_TYPE", &[KnobType], One, ReadOnly, Value),
    row(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, "KNOB_INFO_MAXIMUM_VALUE", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, "KNOB_INFO_MINIMUM_VALUE", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_KNOB_INFO_STRIDE, "KNOB_INFO_STRIDE", &[Int64], One, ReadOnly, Value),
];

const LAYOUT_INFO: &[Row] = &[
    row(CUDNN_ATTR_LAYOUT_INFO_TENSOR_UID, "LAYOUT_INFO_TENSOR_UID", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_LAYOUT_INFO_TYPES, "LAYOUT_INFO_TYPES", &[LayoutType], Many, ReadOnly, Value),
];

const VARIANT_PACK: &[Row] = &[
    row(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, "VARIANT_PACK_UNIQUE_IDS", &[Int64], Many, Optional, Value),
    row(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, "VARIANT_PACK_DATA_POINTERS", &[VoidPtr], Many, Optional, Value),
    row(CUDNN_ATTR_VARIANT_PACK_INTERMEDIATES, "VARIANT_PACK_INTERMEDIATES", &[VoidPtr], Many, Optional, Value),
    row(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, "VARIANT_PACK_WORKSPACE", &[VoidPtr], One, Optional, Value),
    row(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS, "VARIANT_PACK_OVERRIDE_UNIQUE_IDS", &[Int64], Many, Optional, Value),
    row(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES, "VARIANT_PACK_OVERRIDE_SHAPES", &[VoidPtr], Many, Optional, Value),
    row(CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES, "VARIANT_PACK_OVERRIDE_STRIDES", &[VoidPtr], Many, Optional, Value),
];

const KERNEL_CACHE: &[Row] = &[
    row(CUDNN_ATTR_KERNEL_CACHE_OPERATION_GRAPH, "KERNEL_CACHE_OPERATION_GRAPH", &[BackendDescriptor], One, Optional, Descriptor(15)),
    row(
        CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED,
        "KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED",
        &[BackendDescriptor],
        One,
        ReadOnly,
        Descriptor(3),
    ),
    row(CUDNN_ATTR_KERNEL_CACHE_JSON_REPRESENTATION, "KERNEL_CACHE_JSON_REPRESENTATION", &[Char], Many, Optional, Value),
    row(CUDNN_ATTR_KERNEL_CACHE_REVISION, "KERNEL_CACHE_REVISION", &[Int64], One, ReadOnly, Value),
    row(CUDNN_ATTR_KERNEL_CACHE_ENTRY_COUNT, "KERNEL_CACHE_ENTRY_COUNT", &[Int64], One, ReadOnly, Value),
];

const DEVICEPROP: &[Row] = &[
    row(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, "DEVICEPROP_DEVICE_ID", &[Int32], One, Optional, Value),
    row(CUDNN_ATTR_DEVICEPROP_HANDLE, "DEVICEPROP_HANDLE", &[Handle], One, Optional, Value),
    row(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, "DEVICEPROP_JSON_REPRESENTATION", &[Char], Many, Optional, Value),
];
