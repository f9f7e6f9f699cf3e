//! Enumerators of `cudnn_adv.h`, `cudnn_subquadratic_ops.h` and `cudnn_gnn_ops.h`.

use super::enumerators;

enumerators! {
    cudnnRNNAlgo_t {
        CUDNN_RNN_ALGO_STANDARD = 0,
        CUDNN_RNN_ALGO_PERSIST_STATIC = 1,
        CUDNN_RNN_ALGO_PERSIST_DYNAMIC = 2,
        CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H = 3,
        CUDNN_RNN_ALGO_COUNT = 4,
    }
    cudnnForwardMode_t {
        CUDNN_FWD_MODE_INFERENCE = 0,
        CUDNN_FWD_MODE_TRAINING = 1,
    }
    cudnnRNNMode_t {
        CUDNN_RNN_RELU = 0,
        CUDNN_RNN_TANH = 1,
        CUDNN_LSTM = 2,
        CUDNN_GRU = 3,
    }
    cudnnRNNBiasMode_t {
        CUDNN_RNN_NO_BIAS = 0,
        CUDNN_RNN_SINGLE_INP_BIAS = 1,
        CUDNN_RNN_DOUBLE_BIAS = 2,
        CUDNN_RNN_SINGLE_REC_BIAS = 3,
    }
    cudnnDirectionMode_t {
        CUDNN_UNIDIRECTIONAL = 0,
        CUDNN_BIDIRECTIONAL = 1,
    }
    cudnnRNNInputMode_t {
        CUDNN_LINEAR_INPUT = 0,
        CUDNN_SKIP_INPUT = 1,
    }
    cudnnRNNClipMode_t {
        CUDNN_RNN_CLIP_NONE = 0,
        CUDNN_RNN_CLIP_MINMAX = 1,
    }
    cudnnRNNDataLayout_t {
        CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED = 0,
        CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED = 1,
        CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED = 2,
    }
    cudnnSeqDataAxis_t {
        CUDNN_SEQDATA_TIME_DIM = 0,
        CUDNN_SEQDATA_BATCH_DIM = 1,
        CUDNN_SEQDATA_BEAM_DIM = 2,
        CUDNN_SEQDATA_VECT_DIM = 3,
    }
    cudnnMultiHeadAttnWeightKind_t {
        CUDNN_MH_ATTN_Q_WEIGHTS = 0,
        CUDNN_MH_ATTN_K_WEIGHTS = 1,
        CUDNN_MH_ATTN_V_WEIGHTS = 2,
        CUDNN_MH_ATTN_O_WEIGHTS = 3,
        CUDNN_MH_ATTN_Q_BIASES = 4,
        CUDNN_MH_ATTN_K_BIASES = 5,
        CUDNN_MH_ATTN_V_BIASES = 6,
        CUDNN_MH_ATTN_O_BIASES = 7,
    }
    cudnnWgradMode_t {
        CUDNN_WGRAD_MODE_ADD = 0,
        CUDNN_WGRAD_MODE_SET = 1,
    }
    cudnnLossNormalizationMode_t {
        CUDNN_LOSS_NORMALIZATION_NONE = 0,
        CUDNN_LOSS_NORMALIZATION_SOFTMAX = 1,
    }
    cudnnCausalConv1dActivation_t {
        CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY = 0,
        CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU = 1,
    }
    cudnnGnnAggOp_t {
        CUDNN_GNN_AGG_SUM = 0,
        CUDNN_GNN_AGG_MEAN = 1,
        CUDNN_GNN_AGG_MAX = 2,
        CUDNN_GNN_AGG_MIN = 3,
    }
}
