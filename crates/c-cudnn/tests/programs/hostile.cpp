// Random calls with hostile values: errors, never panics or crashes. Memory is null, so nothing is computed.
#include "check.hpp"

#include <set>

namespace {
uint64_t state = 88172645463325252ull;
uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

int number() {
    static const int odd[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 32, 64, 100, 1000, 65535, 65536, 1 << 20, 1 << 30, INT32_MAX, -1, -2, INT32_MIN};
    return next() % 3 ? int(next() % 6) : odd[next() % (sizeof odd / sizeof *odd)];
}

void hostile() {
    cudnnTensorDescriptor_t t[4];
    cudnnFilterDescriptor_t f[2];
    cudnnConvolutionDescriptor_t c = nullptr;
    cudnnPoolingDescriptor_t p = nullptr;
    cudnnActivationDescriptor_t a = nullptr;
    cudnnReduceTensorDescriptor_t r = nullptr;
    cudnnRNNDescriptor_t rnn = nullptr;
    cudnnRNNDataDescriptor_t data = nullptr;
    cudnnTensorTransformDescriptor_t pad = nullptr;
    cudnnLRNDescriptor_t lrn = nullptr;
    cudnnAttnDescriptor_t attention = nullptr;
    cudnnSeqDataDescriptor_t sequences = nullptr;
    // The descriptors that describe a folded convolution.
    cudnnTensorDescriptor_t thick[2];
    cudnnFilterDescriptor_t thin = nullptr;
    cudnnConvolutionDescriptor_t flat = nullptr;
    cudnnTensorTransformDescriptor_t folds_to[4];
    for (auto &d : thick) OK(cudnnCreateTensorDescriptor(&d));
    for (auto &d : folds_to) OK(cudnnCreateTensorTransformDescriptor(&d));
    OK(cudnnCreateFilterDescriptor(&thin));
    OK(cudnnCreateConvolutionDescriptor(&flat));
    OK(cudnnCreateAttnDescriptor(&attention));
    OK(cudnnCreateSeqDataDescriptor(&sequences));
    void *address = nullptr;
    for (auto &d : t) OK(cudnnCreateTensorDescriptor(&d));
    for (auto &d : f) OK(cudnnCreateFilterDescriptor(&d));
    OK(cudnnCreateConvolutionDescriptor(&c));
    OK(cudnnCreatePoolingDescriptor(&p));
    OK(cudnnCreateActivationDescriptor(&a));
    OK(cudnnCreateReduceTensorDescriptor(&r));
    OK(cudnnCreateRNNDescriptor(&rnn));
    OK(cudnnCreateRNNDataDescriptor(&data));
    OK(cudnnCreateTensorTransformDescriptor(&pad));
    OK(cudnnCreateLRNDescriptor(&lrn));
    float one = 1, zero = 0;
    std::set<cudnnStatus_t> seen;
    int dims[12], strides[12], out[12], count = 0;
    uint32_t folds[12];
    size_t size = 0, other = 0;
    cudnnConvolutionFwdAlgoPerf_t perf[8];
    for (int i = 0; i < 60000; i++) {
        for (int d = 0; d < 12; d++) dims[d] = number(), strides[d] = number(), folds[d] = uint32_t(number());
        auto x = t[next() % 4], y = t[next() % 4], z = t[next() % 4];
        auto w = f[next() % 2];
        auto type = [] { return cudnnDataType_t(number() % 25); };
        auto format = [] { return cudnnTensorFormat_t(number() % 4); };
        cudnnStatus_t s = CUDNN_STATUS_SUCCESS;
        switch (next() % 30) {
        case 0: s = cudnnSetTensorNdDescriptor(x, type(), number(), dims, strides); break;
        case 1: s = cudnnSetTensorNdDescriptorEx(x, format(), type(), number(), dims); break;
        case 2: s = cudnnSetTensor4dDescriptor(x, format(), type(), number(), number(), number(), number()); break;
        case 3: s = cudnnSetFilterNdDescriptor(w, type(), format(), number(), dims); break;
        case 4: s = cudnnSetConvolutionNdDescriptor(c, number(), dims, strides, dims + 4, cudnnConvolutionMode_t(number() % 3), type()); break;
        case 5: s = cudnnSetConvolutionGroupCount(c, number()); break;
        case 6: s = cudnnSetPoolingNdDescriptor(p, cudnnPoolingMode_t(number() % 5), CUDNN_PROPAGATE_NAN, number(), dims, strides, dims + 4); break;
        case 7: s = cudnnSetActivationDescriptor(a, cudnnActivationMode_t(number() % 8), CUDNN_PROPAGATE_NAN, number()); break;
        case 8: s = cudnnGetConvolutionNdForwardOutputDim(c, x, w, number(), out); break;
        case 9: s = cudnnGetPoolingNdForwardOutputDim(p, x, number(), out); break;
        case 10: s = cudnnGetConvolutionForwardWorkspaceSize(handle(), x, w, c, y, cudnnConvolutionFwdAlgo_t(number() % 9), &size); break;
        case 11: s = cudnnGetConvolutionBackwardDataWorkspaceSize(handle(), w, y, c, x, cudnnConvolutionBwdDataAlgo_t(number() % 7), &size); break;
        case 12: s = cudnnGetConvolutionBackwardFilterWorkspaceSize(handle(), x, y, c, w, cudnnConvolutionBwdFilterAlgo_t(number() % 8), &size); break;
        case 13: s = cudnnGetConvolutionForwardAlgorithm_v7(handle(), x, w, c, y, number() % 9, &count, perf); break;
        case 14: s = cudnnGetTensorSizeInBytes(x, &size); break;
        case 15: s = cudnnActivationForward(handle(), a, &one, x, nullptr, &zero, y, nullptr); break;
        case 16: s = cudnnPoolingBackward(handle(), p, &one, y, nullptr, z, nullptr, x, nullptr, &zero, x, nullptr); break;
        case 17: s = cudnnDeriveBNTensorDescriptor(y, x, cudnnBatchNormMode_t(number() % 4)); break;
        case 18: s = cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle(), cudnnBatchNormMode_t(number() % 4), cudnnBatchNormOps_t(number() % 4), a, x, &size); break;
        case 19:
            s = cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, cudnnRNNMode_t(number() % 5), cudnnRNNBiasMode_t(number() % 5), cudnnDirectionMode_t(number() % 3),
                                         CUDNN_LINEAR_INPUT, type(), CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, number(), number(), number(), number() % 9, nullptr, 0);
            break;
        case 20: {
            int lengths[64];
            for (int &l : lengths) l = number();
            int batch = number();
            s = cudnnSetRNNDataDescriptor(data, type(), cudnnRNNDataLayout_t(number() % 4), number(), batch > 64 ? 64 : batch, number(), lengths, nullptr);
            break;
        }
        case 21: s = cudnnGetRNNTempSpaceSizes(handle(), rnn, CUDNN_FWD_MODE_TRAINING, data, &size, &other); break;
        case 22: s = cudnnGetRNNWeightSpaceSize(handle(), rnn, &size); break;
        case 23: {
            int lengths[64], sizes[4] = {number(), number(), number(), number()};
            for (int &l : lengths) l = number();
            cudnnSeqDataAxis_t axes[4] = {CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM, cudnnSeqDataAxis_t(2 + number() % 2)};
            int64_t all = int64_t(sizes[1]) * sizes[2];
            s = cudnnSetSeqDataDescriptor(sequences, type(), 4, sizes, axes, all < 0 || all > 64 ? 64 : size_t(all), lengths, nullptr);
            break;
        }
        case 24:
            s = cudnnSetAttnDescriptor(attention, unsigned(number()) % 5, number(), number(), type(), CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, nullptr, nullptr, number(),
                                       number(), number(), number(), number(), number(), number(), number(), number(), number(), number());
            break;
        case 25: s = cudnnGetMultiHeadAttnBuffers(handle(), attention, &size, &other, &size); break;
        case 26:
            s = cudnnGetMultiHeadAttnWeights(handle(), attention, cudnnMultiHeadAttnWeightKind_t(number() % 9), ~size_t(0), dims, x, &address);
            break;
        case 27:
            s = cudnnMultiHeadAttnForward(handle(), attention, number(), dims, dims, nullptr, nullptr, sequences, nullptr, nullptr, sequences, nullptr, sequences,
                                          nullptr, sequences, nullptr, 0, nullptr, 0, nullptr, 0, nullptr);
            break;
        case 28:
            s = cudnnGetFoldedConvBackwardDataDescriptors(handle(), w, y, c, x, format(), thin, thick[0], flat, thick[1], folds_to[0], folds_to[1],
                                                          folds_to[2], folds_to[3]);
            break;
        default:
            s = cudnnSetTensorTransformDescriptor(pad, uint32_t(number()), format(), dims, strides, folds, cudnnFoldingDirection_t(number() % 3));
            if (s == CUDNN_STATUS_SUCCESS) s = cudnnInitTransformDest(pad, x, y, &size);
        }
        seen.insert(s);
        if (s / 1000 == 4) {
            check(false, last_error().c_str(), __FILE__, __LINE__);
        }
    }
    CHECK(seen.size() > 5);
    for (auto d : t) OK(cudnnDestroyTensorDescriptor(d));
    for (auto d : f) OK(cudnnDestroyFilterDescriptor(d));
    OK(cudnnDestroyConvolutionDescriptor(c));
    OK(cudnnDestroyPoolingDescriptor(p));
    OK(cudnnDestroyActivationDescriptor(a));
    OK(cudnnDestroyReduceTensorDescriptor(r));
    OK(cudnnDestroyRNNDescriptor(rnn));
    OK(cudnnDestroyRNNDataDescriptor(data));
    OK(cudnnDestroyTensorTransformDescriptor(pad));
    OK(cudnnDestroyLRNDescriptor(lrn));
    for (auto d : thick) OK(cudnnDestroyTensorDescriptor(d));
    for (auto d : folds_to) OK(cudnnDestroyTensorTransformDescriptor(d));
    OK(cudnnDestroyFilterDescriptor(thin));
    OK(cudnnDestroyConvolutionDescriptor(flat));
    OK(cudnnDestroyAttnDescriptor(attention));
    OK(cudnnDestroySeqDataDescriptor(sequences));
}
Area a("hostile", hostile);
} // namespace
