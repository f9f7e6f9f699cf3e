//! Attributes of convolution, products, element by element operations, reductions, pooling, statistics and normalisation.

use super::{Count::*, Descriptor, Need::*, Of::*, REAL, Row, Type::*, row};
use crate::enums::*;

pub(super) static DESCRIPTORS: &[Descriptor] = &[
    Descriptor { id: 10, name: "OPERATION_CONVOLUTION_FORWARD", rows: OPERATION_CONVOLUTION_FORWARD },
    Descriptor { id: 12, name: "OPERATION_CONVOLUTION_BACKWARD_DATA", rows: OPERATION_CONVOLUTION_BACKWARD_DATA },
    Descriptor { id: 11, name: "OPERATION_CONVOLUTION_BACKWARD_FILTER", rows: OPERATION_CONVOLUTION_BACKWARD_FILTER },
    Descriptor { id: 13, name: "OPERATION_POINTWISE", rows: OPERATION_POINTWISE },
    Descriptor { id: 14, name: "OPERATION_GEN_STATS", rows: OPERATION_GEN_STATS },
    Descriptor { id: 19, name: "OPERATION_MATMUL", rows: OPERATION_MATMUL },
    Descriptor { id: 20, name: "OPERATION_BN_FINALIZE_STATISTICS", rows: OPERATION_BN_FINALIZE_STATISTICS },
    Descriptor { id: 22, name: "OPERATION_REDUCTION", rows: OPERATION_REDUCTION },
    Descriptor { id: 23, name: "OPERATION_BN_BWD_WEIGHTS", rows: OPERATION_BN_BWD_WEIGHTS },
    Descriptor { id: 25, name: "OPERATION_RESAMPLE_FWD", rows: OPERATION_RESAMPLE_FWD },
    Descriptor { id: 26, name: "OPERATION_RESAMPLE_BWD", rows: OPERATION_RESAMPLE_BWD },
    Descriptor { id: 27, name: "OPERATION_CONCAT", rows: OPERATION_CONCAT },
    Descriptor { id: 28, name: "OPERATION_SIGNAL", rows: OPERATION_SIGNAL },
    Descriptor { id: 29, name: "OPERATION_NORM_FORWARD", rows: OPERATION_NORM_FORWARD },
    Descriptor { id: 30, name: "OPERATION_NORM_BACKWARD", rows: OPERATION_NORM_BACKWARD },
    Descriptor { id: 31, name: "OPERATION_RESHAPE", rows: OPERATION_RESHAPE },
    Descriptor { id: 33, name: "OPERATION_RNG", rows: OPERATION_RNG },
];

const OPERATION_CONVOLUTION_FORWARD: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, "OPERATION_CONVOLUTION_FORWARD_ALPHA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, "OPERATION_CONVOLUTION_FORWARD_BETA", REAL, One, Optional, Value),
    row(
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
        "OPERATION_CONVOLUTION_FORWARD_CONV_DESC",
        &[BackendDescriptor],
        One,
        Required,
        Descriptor(1),
    ),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, "OPERATION_CONVOLUTION_FORWARD_W", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, "OPERATION_CONVOLUTION_FORWARD_X", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, "OPERATION_CONVOLUTION_FORWARD_Y", &[BackendDescriptor], One, Required, Output),
];

const OPERATION_CONVOLUTION_BACKWARD_DATA: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, "OPERATION_CONVOLUTION_BWD_DATA_ALPHA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, "OPERATION_CONVOLUTION_BWD_DATA_BETA", REAL, One, Optional, Value),
    row(
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
        "OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC",
        &[BackendDescriptor],
        One,
        Required,
        Descriptor(1),
    ),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, "OPERATION_CONVOLUTION_BWD_DATA_W", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, "OPERATION_CONVOLUTION_BWD_DATA_DX", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, "OPERATION_CONVOLUTION_BWD_DATA_DY", &[BackendDescriptor], One, Required, Input),
];

const OPERATION_CONVOLUTION_BACKWARD_FILTER: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, "OPERATION_CONVOLUTION_BWD_FILTER_ALPHA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, "OPERATION_CONVOLUTION_BWD_FILTER_BETA", REAL, One, Optional, Value),
    row(
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
        "OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC",
        &[BackendDescriptor],
        One,
        Required,
        Descriptor(1),
    ),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, "OPERATION_CONVOLUTION_BWD_FILTER_DW", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, "OPERATION_CONVOLUTION_BWD_FILTER_X", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, "OPERATION_CONVOLUTION_BWD_FILTER_DY", &[BackendDescriptor], One, Required, Input),
];

const OPERATION_POINTWISE: &[Row] = &[
    row(
        CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
        "OPERATION_POINTWISE_PW_DESCRIPTOR",
        &[BackendDescriptor],
        One,
        Required,
        Descriptor(0),
    ),
    row(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, "OPERATION_POINTWISE_XDESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, "OPERATION_POINTWISE_BDESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, "OPERATION_POINTWISE_YDESC", &[BackendDescriptor], One, Optional, Output),
    row(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, "OPERATION_POINTWISE_ALPHA1", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, "OPERATION_POINTWISE_ALPHA2", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, "OPERATION_POINTWISE_DXDESC", &[BackendDescriptor], One, Optional, Output),
    row(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, "OPERATION_POINTWISE_DYDESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, "OPERATION_POINTWISE_TDESC", &[BackendDescriptor], One, Optional, Input),
];

const OPERATION_GEN_STATS: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_GENSTATS_MODE, "OPERATION_GENSTATS_MODE", &[GenstatsMode], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, "OPERATION_GENSTATS_MATH_PREC", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, "OPERATION_GENSTATS_XDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, "OPERATION_GENSTATS_SUMDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, "OPERATION_GENSTATS_SQSUMDESC", &[BackendDescriptor], One, Required, Output),
];

const OPERATION_MATMUL: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_MATMUL_ADESC, "OPERATION_MATMUL_ADESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_MATMUL_BDESC, "OPERATION_MATMUL_BDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_MATMUL_CDESC, "OPERATION_MATMUL_CDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_MATMUL_DESC, "OPERATION_MATMUL_DESC", &[BackendDescriptor], One, Required, Descriptor(18)),
    row(
        CUDNN_ATTR_OPERATION_MATMUL_IRREGULARLY_STRIDED_BATCH_COUNT,
        "OPERATION_MATMUL_IRREGULARLY_STRIDED_BATCH_COUNT",
        &[Int64],
        One,
        Optional,
        Value,
    ),
    row(
        CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC,
        "OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC,
        "OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC,
        "OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
];

const OPERATION_BN_FINALIZE_STATISTICS: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, "OPERATION_BN_FINALIZE_STATS_MODE", &[BnFinalizeStatsMode], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC, "OPERATION_BN_FINALIZE_MATH_PREC", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC, "OPERATION_BN_FINALIZE_Y_SUM_DESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC, "OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC, "OPERATION_BN_FINALIZE_SCALE_DESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC, "OPERATION_BN_FINALIZE_BIAS_DESC", &[BackendDescriptor], One, Optional, Input),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC,
        "OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC,
        "OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC,
        "OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC,
        "OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC,
        "OPERATION_BN_FINALIZE_SAVED_MEAN_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC,
        "OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, "OPERATION_BN_FINALIZE_EQ_SCALE_DESC", &[BackendDescriptor], One, Optional, Output),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, "OPERATION_BN_FINALIZE_EQ_BIAS_DESC", &[BackendDescriptor], One, Optional, Output),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC,
        "OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC",
        &[BackendDescriptor],
        One,
        Required,
        Input,
    ),
    row(CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC, "OPERATION_BN_FINALIZE_EPSILON_DESC", &[BackendDescriptor], One, Required, Input),
    row(
        CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC,
        "OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
];

const OPERATION_REDUCTION: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, "OPERATION_REDUCTION_XDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, "OPERATION_REDUCTION_YDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_REDUCTION_DESC, "OPERATION_REDUCTION_DESC", &[BackendDescriptor], One, Required, Descriptor(21)),
    row(
        CUDNN_ATTR_OPERATION_REDUCTION_GROUP_OFFSET_DESC,
        "OPERATION_REDUCTION_GROUP_OFFSET_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(CUDNN_ATTR_OPERATION_REDUCTION_DIMS, "OPERATION_REDUCTION_DIMS", &[Int64], Many, Optional, Value),
    row(CUDNN_ATTR_OPERATION_REDUCTION_INIT_VALUES, "OPERATION_REDUCTION_INIT_VALUES", &[BackendDescriptor], Many, Optional, Input),
    row(CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH, "OPERATION_REDUCTION_SUBGRAPH", &[BackendDescriptor], One, Optional, Descriptor(15)),
    row(
        CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH_ACCUMULATOR_UIDS,
        "OPERATION_REDUCTION_SUBGRAPH_ACCUMULATOR_UIDS",
        &[Int64],
        Many,
        Optional,
        Value,
    ),
    row(CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH_CURRENT_UIDS, "OPERATION_REDUCTION_SUBGRAPH_CURRENT_UIDS", &[Int64], Many, Optional, Value),
    row(CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH_OUTPUT_UIDS, "OPERATION_REDUCTION_SUBGRAPH_OUTPUT_UIDS", &[Int64], Many, Optional, Value),
    row(
        CUDNN_ATTR_OPERATION_REDUCTION_SUBGRAPH_COMPUTE_TYPES,
        "OPERATION_REDUCTION_SUBGRAPH_COMPUTE_TYPES",
        &[DataType],
        Many,
        Optional,
        Value,
    ),
];

const OPERATION_BN_BWD_WEIGHTS: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, "OPERATION_BN_BWD_WEIGHTS_MATH_PREC", &[DataType], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, "OPERATION_BN_BWD_WEIGHTS_MEAN_DESC", &[BackendDescriptor], One, Required, Input),
    row(
        CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC,
        "OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC",
        &[BackendDescriptor],
        One,
        Required,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC,
        "OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC",
        &[BackendDescriptor],
        One,
        Required,
        Input,
    ),
    row(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, "OPERATION_BN_BWD_WEIGHTS_X_DESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, "OPERATION_BN_BWD_WEIGHTS_DY_DESC", &[BackendDescriptor], One, Required, Input),
    row(
        CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC,
        "OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC,
        "OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC,
        "OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(
        CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC,
        "OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, "OPERATION_BN_BWD_WEIGHTS_EQ_BIAS", &[BackendDescriptor], One, Optional, Output),
];

const OPERATION_RESAMPLE_FWD: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, "OPERATION_RESAMPLE_FWD_XDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, "OPERATION_RESAMPLE_FWD_YDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, "OPERATION_RESAMPLE_FWD_IDXDESC", &[BackendDescriptor], One, Optional, Output),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, "OPERATION_RESAMPLE_FWD_ALPHA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA, "OPERATION_RESAMPLE_FWD_BETA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, "OPERATION_RESAMPLE_FWD_DESC", &[BackendDescriptor], One, Required, Descriptor(24)),
];

const OPERATION_RESAMPLE_BWD: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, "OPERATION_RESAMPLE_BWD_DXDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, "OPERATION_RESAMPLE_BWD_DYDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, "OPERATION_RESAMPLE_BWD_IDXDESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, "OPERATION_RESAMPLE_BWD_ALPHA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA, "OPERATION_RESAMPLE_BWD_BETA", REAL, One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, "OPERATION_RESAMPLE_BWD_DESC", &[BackendDescriptor], One, Required, Descriptor(24)),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, "OPERATION_RESAMPLE_BWD_XDESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC, "OPERATION_RESAMPLE_BWD_YDESC", &[BackendDescriptor], One, Optional, Input),
];

const OPERATION_CONCAT: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_CONCAT_AXIS, "OPERATION_CONCAT_AXIS", &[Int64], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS, "OPERATION_CONCAT_INPUT_DESCS", &[BackendDescriptor], Many, Required, Input),
    row(CUDNN_ATTR_OPERATION_CONCAT_INPLACE_INDEX, "OPERATION_CONCAT_INPLACE_INDEX", &[Int64], One, Optional, Value),
    row(CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, "OPERATION_CONCAT_OUTPUT_DESC", &[BackendDescriptor], One, Required, Output),
];

const OPERATION_SIGNAL: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_SIGNAL_MODE, "OPERATION_SIGNAL_MODE", &[SignalMode], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_SIGNAL_FLAGDESC, "OPERATION_SIGNAL_FLAGDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_SIGNAL_VALUE, "OPERATION_SIGNAL_VALUE", &[Int64], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_SIGNAL_XDESC, "OPERATION_SIGNAL_XDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_SIGNAL_YDESC, "OPERATION_SIGNAL_YDESC", &[BackendDescriptor], One, Optional, Output),
];

const OPERATION_NORM_FORWARD: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, "OPERATION_NORM_FWD_MODE", &[NormMode], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, "OPERATION_NORM_FWD_PHASE", &[NormPhase], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, "OPERATION_NORM_FWD_XDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, "OPERATION_NORM_FWD_MEAN_DESC", &[BackendDescriptor], One, Optional, Output),
    row(
        CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC,
        "OPERATION_NORM_FWD_INV_VARIANCE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, "OPERATION_NORM_FWD_SCALE_DESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, "OPERATION_NORM_FWD_BIAS_DESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, "OPERATION_NORM_FWD_EPSILON_DESC", &[BackendDescriptor], One, Optional, Input),
    row(
        CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC,
        "OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC,
        "OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC,
        "OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(
        CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC,
        "OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(
        CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC,
        "OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Output,
    ),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, "OPERATION_NORM_FWD_YDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS, "OPERATION_NORM_FWD_PEER_STAT_DESCS", &[BackendDescriptor], Many, Optional, Input),
];

const OPERATION_NORM_BACKWARD: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, "OPERATION_NORM_BWD_MODE", &[NormMode], One, Required, Value),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, "OPERATION_NORM_BWD_XDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, "OPERATION_NORM_BWD_MEAN_DESC", &[BackendDescriptor], One, Optional, Input),
    row(
        CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC,
        "OPERATION_NORM_BWD_INV_VARIANCE_DESC",
        &[BackendDescriptor],
        One,
        Optional,
        Input,
    ),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, "OPERATION_NORM_BWD_DYDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, "OPERATION_NORM_BWD_SCALE_DESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, "OPERATION_NORM_BWD_EPSILON_DESC", &[BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, "OPERATION_NORM_BWD_DSCALE_DESC", &[BackendDescriptor], One, Optional, Output),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, "OPERATION_NORM_BWD_DBIAS_DESC", &[BackendDescriptor], One, Optional, Output),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, "OPERATION_NORM_BWD_DXDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS, "OPERATION_NORM_BWD_PEER_STAT_DESCS", &[BackendDescriptor], Many, Optional, Input),
];

const OPERATION_RESHAPE: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, "OPERATION_RESHAPE_XDESC", &[BackendDescriptor], One, Required, Input),
    row(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, "OPERATION_RESHAPE_YDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_RESHAPE_MODE, "OPERATION_RESHAPE_MODE", &[ReshapeMode], One, Optional, Value),
];

const OPERATION_RNG: &[Row] = &[
    row(CUDNN_ATTR_OPERATION_RNG_YDESC, "OPERATION_RNG_YDESC", &[BackendDescriptor], One, Required, Output),
    row(CUDNN_ATTR_OPERATION_RNG_SEED, "OPERATION_RNG_SEED", &[Int64, BackendDescriptor], One, Optional, Input),
    row(CUDNN_ATTR_OPERATION_RNG_DESC, "OPERATION_RNG_DESC", &[BackendDescriptor], One, Required, Descriptor(32)),
    row(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, "OPERATION_RNG_OFFSET_DESC", &[BackendDescriptor], One, Optional, Input),
];
