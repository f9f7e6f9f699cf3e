// The calls of PyTorch's wrappers, with their arguments: each operator compared with loops. (Convolutions through plans, and attention, are programs of
// cudnn-frontend.)
#include "check.hpp"

#include <algorithm>

namespace {
// The parameters of a convolution in PyTorch.
struct Geometry {
    std::vector<int> input, weight, padding, stride, dilation;
    int groups;
};

// Descriptors as aten/src/ATen/native/cudnn sets them: at least 4 dimensions, the strides of the tensor itself.
struct Conv {
    Geometry g;
    cudnnDataType_t type;
    bool last;
    std::vector<int> out;
    Tensor x, y;
    Buffer w;
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t desc = nullptr;

    static std::vector<int> result(const Geometry &g) {
        std::vector<int> out = {g.input[0], g.weight[0]};
        for (size_t d = 2; d < g.input.size(); d++)
            out.push_back((g.input[d] + 2 * g.padding[d - 2] - g.dilation[d - 2] * (g.weight[d] - 1) - 1) / g.stride[d - 2] + 1);
        return out;
    }
    Conv(const Geometry &g, cudnnDataType_t type, bool last)
        : g(g), type(type), last(last), out(result(g)), x(type, g.input, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW),
          y(type, out, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW), w(type, volume(g.weight)) {
        OK(cudnnCreateFilterDescriptor(&filter));
        OK(cudnnSetFilterNdDescriptor(filter, type, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, int(g.weight.size()), g.weight.data()));
        OK(cudnnCreateConvolutionDescriptor(&desc));
        auto compute = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
        OK(cudnnSetConvolutionNdDescriptor(desc, int(g.padding.size()), g.padding.data(), g.stride.data(), g.dilation.data(), CUDNN_CROSS_CORRELATION, compute));
        OK(cudnnSetConvolutionGroupCount(desc, g.groups));
        OK(cudnnSetConvolutionMathType(desc, CUDNN_DEFAULT_MATH));
        if (type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16) OK(cudnnSetConvolutionMathType(desc, CUDNN_TENSOR_OP_MATH));
        if (type == CUDNN_DATA_FLOAT) OK(cudnnSetConvolutionMathType(desc, CUDNN_FMA_MATH));
        x.buffer.random(1), w.random(2), y.buffer.random(3);
    }
    ~Conv() {
        OK(cudnnDestroyConvolutionDescriptor(desc));
        OK(cudnnDestroyFilterDescriptor(filter));
    }
    static size_t volume(const std::vector<int> &dims) {
        size_t all = 1;
        for (int d : dims) all *= size_t(d);
        return all;
    }
    size_t tap(const std::vector<int> &at) const {
        size_t index = size_t(at[0]);
        if (!last) index = index * g.weight[1] + at[1];
        for (size_t d = 2; d < at.size(); d++) index = index * g.weight[d] + at[d];
        return last ? index * g.weight[1] + at[1] : index;
    }
    // Calls `f` with the positions of source, filter and result of each product.
    template <class F> void each(F f) const {
        size_t rank = g.input.size();
        int channels = g.weight[1], per = g.weight[0] / g.groups;
        std::vector<int> to(rank, 0), tap(rank, 0), from(rank, 0);
        for (size_t i = 0; i < y.volume(); i++) {
            to = y.position(i);
            for (size_t j = 0; j < volume(g.weight) / g.weight[0]; j++) {
                size_t rest = j;
                for (size_t d = rank; d-- > 1; rest /= g.weight[d]) tap[d] = int(rest % g.weight[d]);
                tap[0] = to[1], from[0] = to[0], from[1] = to[1] / per * channels + tap[1];
                bool inside = true;
                for (size_t d = 2; d < rank; d++) {
                    from[d] = to[d] * g.stride[d - 2] - g.padding[d - 2] + tap[d] * g.dilation[d - 2];
                    inside &= from[d] >= 0 && from[d] < g.input[d];
                }
                if (inside) f(from, tap, to);
            }
        }
    }
};

// The entries that remain: successes, with `deterministic` only deterministic ones.
template <class Perf> std::vector<Perf> valid(const Perf *results, int count, bool deterministic) {
    std::vector<Perf> kept;
    for (int i = 0; i < count; i++)
        if (results[i].status == CUDNN_STATUS_SUCCESS && (!deterministic || results[i].determinism == CUDNN_DETERMINISTIC)) kept.push_back(results[i]);
    CHECK(!kept.empty() && count > 0);
    return kept;
}

void convolution(const Geometry &g, cudnnDataType_t type, bool last, bool benchmark, bool deterministic) {
    Conv c(g, type, last);
    double one_wide = 1, zero_wide = 0;
    float one_single = 1, zero_single = 0;
    const void *one = type == CUDNN_DATA_DOUBLE ? static_cast<const void *>(&one_wide) : &one_single;
    const void *zero = type == CUDNN_DATA_DOUBLE ? static_cast<const void *>(&zero_wide) : &zero_single;
    Buffer dy = c.y.buffer;
    std::vector<double> y(c.y.buffer.size(), 0), dx(c.x.buffer.size(), 0), dw(c.w.size(), 0);
    c.each([&](auto &from, auto &tap, auto &to) {
        size_t s = c.x.at(from), f = c.tap(tap), d = c.y.at(to);
        y[d] += c.x.buffer.get(s) * c.w.get(f);
        dx[s] += dy.get(d) * c.w.get(f);
        dw[f] += dy.get(d) * c.x.buffer.get(s);
    });
    auto same = [&](const Buffer &got, const std::vector<double> &wanted, const char *what) {
        bool right = true;
        for (size_t i = 0; i < wanted.size(); i++) right &= close(got.get(i), wanted[i], type, 16);
        check(right, what, __FILE__, __LINE__);
    };
    OK(cudnnSetStream(handle(), nullptr));
    {
        const cudnnConvolutionFwdAlgo_t all[] = {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_FFT, CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING,
                                                 CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                                                 CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, CUDNN_CONVOLUTION_FWD_ALGO_DIRECT};
        size_t most = 0, size = 0;
        for (auto algo : all)
            if (cudnnGetConvolutionForwardWorkspaceSize(handle(), c.x.desc, c.filter, c.desc, c.y.desc, algo, &size) == CUDNN_STATUS_SUCCESS) most = std::max(most, size);
        cudnnConvolutionFwdAlgoPerf_t perf[8];
        int count = 0;
        Workspace space(most);
        if (benchmark)
            OK(cudnnFindConvolutionForwardAlgorithmEx(handle(), c.x.desc, c.x.data(), c.filter, c.w.data(), c.desc, c.y.desc, c.y.data(), 8, &count, perf, space.data(), most));
        else
            OK(cudnnGetConvolutionForwardAlgorithm_v7(handle(), c.x.desc, c.filter, c.desc, c.y.desc, 8, &count, perf));
        for (auto &p : valid(perf, count, deterministic)) {
            Workspace mine(p.memory);
            c.y.buffer.fill(NAN);
            OK(cudnnSetConvolutionMathType(c.desc, p.mathType));
            OK(cudnnConvolutionForward(handle(), one, c.x.desc, c.x.data(), c.filter, c.w.data(), c.desc, p.algo, mine.data(), p.memory, zero, c.y.desc, c.y.data()));
            same(c.y.buffer, y, "convolution by PyTorch's calls");
        }
    }
    {
        cudnnConvolutionBwdDataAlgoPerf_t perf[6];
        int count = 0;
        size_t most = 0, size = 0;
        for (int algo = 0; algo < CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT; algo++)
            if (cudnnGetConvolutionBackwardDataWorkspaceSize(handle(), c.filter, c.y.desc, c.desc, c.x.desc, cudnnConvolutionBwdDataAlgo_t(algo), &size) == CUDNN_STATUS_SUCCESS)
                most = std::max(most, size);
        Workspace space(most);
        Buffer scratch(type, c.x.buffer.size());
        if (benchmark)
            OK(cudnnFindConvolutionBackwardDataAlgorithmEx(handle(), c.filter, c.w.data(), c.y.desc, dy.data(), c.desc, c.x.desc, scratch.data(), 6, &count, perf, space.data(), most));
        else
            OK(cudnnGetConvolutionBackwardDataAlgorithm_v7(handle(), c.filter, c.y.desc, c.desc, c.x.desc, 6, &count, perf));
        for (auto &p : valid(perf, count, deterministic)) {
            Workspace mine(p.memory);
            Buffer got(type, c.x.buffer.size());
            OK(cudnnSetConvolutionMathType(c.desc, p.mathType));
            OK(cudnnConvolutionBackwardData(handle(), one, c.filter, c.w.data(), c.y.desc, dy.data(), c.desc, p.algo, mine.data(), p.memory, zero, c.x.desc, got.data()));
            same(got, dx, "its gradient by data, which a transposed convolution is");
        }
    }
    cudnnConvolutionBwdFilterAlgoPerf_t perf[7];
    int count = 0;
    size_t most = 0, size = 0;
    for (int algo = 0; algo < CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT; algo++)
        if (cudnnGetConvolutionBackwardFilterWorkspaceSize(handle(), c.x.desc, c.y.desc, c.desc, c.filter, cudnnConvolutionBwdFilterAlgo_t(algo), &size) == CUDNN_STATUS_SUCCESS)
            most = std::max(most, size);
    Workspace space(most);
    Buffer scratch(type, c.w.size());
    if (benchmark)
        OK(cudnnFindConvolutionBackwardFilterAlgorithmEx(handle(), c.x.desc, c.x.data(), c.y.desc, dy.data(), c.desc, c.filter, scratch.data(), 7, &count, perf, space.data(), most));
    else
        OK(cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle(), c.x.desc, c.y.desc, c.desc, c.filter, 7, &count, perf));
    for (auto &p : valid(perf, count, deterministic)) {
        Workspace mine(p.memory);
        Buffer got(type, c.w.size());
        OK(cudnnSetConvolutionMathType(c.desc, p.mathType));
        OK(cudnnConvolutionBackwardFilter(handle(), one, c.x.desc, c.x.data(), c.y.desc, dy.data(), c.desc, p.algo, mine.data(), p.memory, zero, c.filter, got.data()));
        same(got, dw, "its gradient by weights");
    }
}

void convolutions() {
    const Geometry all[] = {
        {{2, 4, 1, 9}, {6, 4, 1, 3}, {0, 1}, {1, 2}, {1, 1}, 1}, // one-dimensional: a height of 1
        {{2, 4, 7, 6}, {6, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
        {{1, 3, 9, 8}, {4, 3, 3, 2}, {2, 0}, {2, 1}, {2, 1}, 1},
        {{2, 4, 5, 5}, {4, 1, 3, 3}, {1, 1}, {2, 2}, {1, 1}, 4},
        {{1, 2, 4, 5, 6}, {4, 2, 2, 3, 3}, {0, 1, 1}, {1, 1, 2}, {1, 1, 1}, 1},
    };
    for (const auto &g : all)
        for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16})
            for (bool last : {false, true}) convolution(g, type, last, type == CUDNN_DATA_FLOAT && !last, last);
}
Area a("torch-convolution", convolutions);

// cudnn_convolution_relu, whose `z` is the result with a factor of 0, and cudnn_convolution_add_relu: unbounded ReLU, a bias of the same rank.
void fused() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF})
        for (bool last : {false, true})
            for (bool adds : {false, true}) {
                Conv c({{2, 4, 7, 6}, {6, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1}, type, last);
                Tensor z(type, c.out, c.y.strides), bias(type, {1, 6, 1, 1});
                z.buffer.random(4), bias.buffer.random(5);
                std::vector<double> y(c.y.buffer.size(), 0);
                c.each([&](auto &from, auto &tap, auto &to) { y[c.y.at(to)] += c.x.buffer.get(c.x.at(from)) * c.w.get(c.tap(tap)); });
                cudnnActivationDescriptor_t relu = nullptr;
                OK(cudnnCreateActivationDescriptor(&relu));
                OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, std::numeric_limits<double>::max()));
                cudnnConvolutionFwdAlgoPerf_t perf[8];
                int count = 0;
                OK(cudnnGetConvolutionForwardAlgorithm_v7(handle(), c.x.desc, c.filter, c.desc, c.y.desc, 8, &count, perf));
                const float one = 1, alpha = adds ? 0.75f : 0;
                for (auto &p : valid(perf, count, false)) {
                    Workspace mine(p.memory);
                    c.y.buffer.fill(NAN);
                    OK(cudnnSetConvolutionMathType(c.desc, p.mathType));
                    OK(cudnnConvolutionBiasActivationForward(handle(), &one, c.x.desc, c.x.data(), c.filter, c.w.data(), c.desc, p.algo, mine.data(), p.memory, &alpha,
                                                             adds ? z.desc : c.y.desc, adds ? z.data() : c.y.data(), bias.desc, bias.data(), relu, c.y.desc, c.y.data()));
                    compare(c.y, [&](auto &at) {
                        return std::max(0.0, y[c.y.at(at)] + (adds ? alpha * z.get(at) : 0) + bias.buffer.get(at[1]));
                    }, "convolution, sum and ReLU by PyTorch's calls", 16);
                }
                OK(cudnnDestroyActivationDescriptor(relu));
            }
}
Area e("torch-fused-convolution", fused);

// What torch.backends.cudnn and the handle pool call first, and how descriptors are printed in errors.
void loaded() {
    int numbers[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++) OK(cudnnGetProperty(libraryPropertyType(i), numbers + i));
    CHECK(cudnnGetVersion() == size_t(numbers[0] * 10000 + numbers[1] * 100 + numbers[2]));
    // The headers' major version and at least their minor version; a runtime of the same major version.
    CHECK(numbers[0] == CUDNN_MAJOR && numbers[1] >= CUDNN_MINOR && cudnnGetCudartVersion() / 1000 == 13);
    CHECK(std::string(cudnnGetErrorString(CUDNN_STATUS_NOT_SUPPORTED)) == "CUDNN_STATUS_NOT_SUPPORTED");
    cudnnHandle_t pooled[2] = {nullptr, nullptr};
    for (auto &h : pooled) OK(cudnnCreate(&h));
    cudaStream_t stream = nullptr;
    OK(cudnnSetStream(pooled[1], nullptr));
    OK(cudnnGetStream(pooled[1], &stream));
    CHECK(pooled[0] != pooled[1] && stream == nullptr);
    OK(cudnnDestroy(pooled[1]));
    Conv c({{2, 4, 7, 6}, {6, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1}, CUDNN_DATA_HALF, true);
    int count = 0, dims[8], strides[8];
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    OK(cudnnGetTensorNdDescriptor(c.x.desc, 8, &type, &count, dims, strides));
    CHECK(type == CUDNN_DATA_HALF && count == 4 && std::equal(dims, dims + 4, c.x.dims.begin()) && std::equal(strides, strides + 4, c.x.strides.begin()));
    OK(cudnnGetFilterNdDescriptor(c.filter, 8, &type, &format, &count, dims));
    CHECK(type == CUDNN_DATA_HALF && format == CUDNN_TENSOR_NHWC && count == 4 && std::equal(dims, dims + 4, c.g.weight.begin()));
    char text[256];
    IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, cudnnSetStream(nullptr, nullptr));
    cudnnGetLastErrorString(text, sizeof text);
    CHECK(std::string(text).find("cudnnSetStream") == 0);
}
Area f("torch-loaded", loaded);

// cudnn_batch_norm and its backward pass: float alpha, beta and statistics for halves, no activation descriptor, running statistics that may be null.
void batch_norm() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF}) {
        for (bool last : {false, true}) {
            for (bool tracks : {true, false}) {
                const int N = 3, C = 4, H = 3, W = 5;
                Tensor x(type, {N, C, H, W}, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW), y(type, x.dims, x.strides), dy(type, x.dims, x.strides), dx(type, x.dims, x.strides);
                Tensor stats(CUDNN_DATA_FLOAT, {1, C, 1, 1});
                auto vector = [](unsigned seed) { return Buffer(CUDNN_DATA_FLOAT, 4).random(seed); };
                Buffer weight = vector(1), bias = vector(2), running = vector(3), variance = vector(4), mean = vector(5), inverse = vector(6), dweight = vector(7), dbias = vector(8);
                Buffer running_before = running, variance_before = variance;
                x.buffer.random(9), dy.buffer.random(10);
                auto mode = last ? CUDNN_BATCHNORM_SPATIAL_PERSISTENT : CUDNN_BATCHNORM_SPATIAL;
                auto op = CUDNN_BATCHNORM_OPS_BN;
                size_t work = 0, kept = 0;
                OK(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(handle(), mode, op, x.desc, x.desc, x.desc, stats.desc, nullptr, &work));
                OK(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle(), mode, op, nullptr, x.desc, &kept));
                Workspace space(work), reserve(kept);
                float one = 1, zero = 0;
                OK(cudnnBatchNormalizationForwardTrainingEx(handle(), mode, op, &one, &zero, x.desc, x.data(), nullptr, nullptr, y.desc, y.data(), stats.desc,
                                                            weight.data(), bias.data(), 0.1, tracks ? running.data() : nullptr, tracks ? variance.data() : nullptr, 1e-5,
                                                            mean.data(), inverse.data(), nullptr, space.data(), work, reserve.data(), kept));
                OK(cudnnGetBatchNormalizationBackwardExWorkspaceSize(handle(), mode, op, x.desc, x.desc, x.desc, nullptr, x.desc, stats.desc, nullptr, &work));
                Workspace again(work);
                OK(cudnnBatchNormalizationBackwardEx(handle(), mode, op, &one, &zero, &one, &zero, x.desc, x.data(), nullptr, nullptr, x.desc, dy.data(), nullptr, nullptr,
                                                     x.desc, dx.data(), stats.desc, weight.data(), nullptr, dweight.data(), dbias.data(), 1e-5, mean.data(),
                                                     inverse.data(), nullptr, again.data(), work, reserve.data(), kept));
                const double count = N * H * W;
                std::vector<double> m(C, 0), v(C, 0), g(C, 0), b(C, 0);
                auto all = [&](auto f) {
                    for (size_t i = 0; i < x.volume(); i++) f(x.position(i));
                };
                all([&](auto at) { m[at[1]] += x.get(at) / count; });
                all([&](auto at) { v[at[1]] += std::pow(x.get(at) - m[at[1]], 2) / count; });
                auto hat = [&](const std::vector<int> &at) { return (x.get(at) - m[at[1]]) / std::sqrt(v[at[1]] + 1e-5); };
                all([&](auto at) { g[at[1]] += dy.get(at) * hat(at), b[at[1]] += dy.get(at); });
                compare(y, [&](auto &at) { return hat(at) * weight.get(at[1]) + bias.get(at[1]); }, "batch normalisation by PyTorch's calls", 4);
                compare(dx, [&](auto &at) {
                    return weight.get(at[1]) / std::sqrt(v[at[1]] + 1e-5) * (dy.get(at) - b[at[1]] / count - hat(at) * g[at[1]] / count);
                }, "its gradient", 4);
                for (int c = 0; c < C; c++) {
                    CHECK(close(dweight.get(c), g[c], type, 16) && close(dbias.get(c), b[c], type, 16));
                    CHECK(close(mean.get(c), m[c], CUDNN_DATA_FLOAT) && close(inverse.get(c), 1 / std::sqrt(v[c] + 1e-5), CUDNN_DATA_FLOAT, 4));
                    CHECK(close(running.get(c), tracks ? 0.9 * running_before.get(c) + 0.1 * m[c] : running_before.get(c), CUDNN_DATA_FLOAT));
                    CHECK(close(variance.get(c), tracks ? 0.9 * variance_before.get(c) + 0.1 * v[c] * count / (count - 1) : variance_before.get(c), CUDNN_DATA_FLOAT));
                }
            }
        }
    }
}
Area b("torch-batch-norm", batch_norm);

// cudnn_batch_norm in evaluation mode: float parameters with halves, doubles with doubles.
void batch_norm_evaluated() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE})
        for (bool last : {false, true})
            for (const std::vector<int> &dims : {std::vector<int>{3, 4, 3, 5}, {2, 4, 3, 2, 3}}) {
                const bool wide = type == CUDNN_DATA_DOUBLE;
                std::vector<int> ones(dims.size(), 1);
                ones[1] = dims[1];
                Tensor x(type, dims, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW), y(type, dims, x.strides), stats(wide ? type : CUDNN_DATA_FLOAT, ones);
                auto vector = [&](unsigned seed) { return Buffer(stats.buffer.type, 4).random(seed); };
                Buffer weight = vector(1), bias = vector(2), mean = vector(3), variance = vector(4);
                for (size_t i = 0; i < 4; i++) variance.set(i, 0.5 + std::fabs(variance.get(i)) / 3), mean.set(i, mean.get(i) / 3);
                x.buffer.random(9);
                Factor one(1, type), zero(0, type);
                OK(cudnnBatchNormalizationForwardInference(handle(), last ? CUDNN_BATCHNORM_SPATIAL_PERSISTENT : CUDNN_BATCHNORM_SPATIAL, one.data(), zero.data(), x.desc, x.data(),
                                                           y.desc, y.data(), stats.desc, weight.data(), bias.data(), mean.data(), variance.data(), 1e-5));
                compare(y, [&](auto &at) {
                    return (x.get(at) - mean.get(at[1])) / std::sqrt(variance.get(at[1]) + 1e-5) * weight.get(at[1]) + bias.get(at[1]);
                }, "batch normalisation in evaluation", 4);
            }
}
Area g("torch-batch-norm-evaluated", batch_norm_evaluated);

// quantized_max_pool2d: 8-bit NHWC.
void quantized() {
    for (auto type : {CUDNN_DATA_INT8, CUDNN_DATA_UINT8}) {
        Tensor x(type, {2, 8, 7, 6}, CUDNN_TENSOR_NHWC), y(type, {2, 8, 4, 3}, CUDNN_TENSOR_NHWC);
        for (size_t i = 0; i < x.buffer.size(); i++) x.buffer.set(i, double((i * 37 + i / 7) % 251) - (type == CUDNN_DATA_INT8 ? 125 : 0));
        cudnnPoolingDescriptor_t desc = nullptr;
        OK(cudnnCreatePoolingDescriptor(&desc));
        OK(cudnnSetPooling2dDescriptor(desc, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 3, 2, 1, 0, 2, 2));
        float one = 1, zero = 0;
        OK(cudnnPoolingForward(handle(), desc, &one, x.desc, x.data(), &zero, y.desc, y.data()));
        compare(y, [&](auto &at) {
            double most = -1000;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 2; s++) {
                    int h = at[2] * 2 - 1 + r, v = at[3] * 2 + s;
                    if (h >= 0 && h < 7 && v < 6) most = std::max(most, x.get({at[0], at[1], h, v}));
                }
            return most;
        }, "maxima of bytes");
        OK(cudnnDestroyPoolingDescriptor(desc));
    }
}
Area c("torch-quantized-pooling", quantized);

// _cudnn_init_dropout_state, and restoring from a copy at another address.
void states() {
    cudnnDropoutDescriptor_t desc = nullptr, other = nullptr;
    size_t size = 0;
    OK(cudnnCreateDropoutDescriptor(&desc)), OK(cudnnCreateDropoutDescriptor(&other));
    OK(cudnnDropoutGetStatesSize(handle(), &size));
    Workspace state(size);
    OK(cudnnSetDropoutDescriptor(desc, handle(), 0.25f, state.data(), size, 1234));
    Workspace copy = state;
    OK(cudnnRestoreDropoutDescriptor(other, handle(), 0.25f, copy.data(), size, 0));
    Tensor x(CUDNN_DATA_FLOAT, {1, 1, 1, 256}), y(CUDNN_DATA_FLOAT, x.dims), z(CUDNN_DATA_FLOAT, x.dims);
    x.buffer.fill(1);
    size_t bytes = 0;
    OK(cudnnDropoutGetReserveSpaceSize(x.desc, &bytes));
    Workspace reserve(bytes);
    OK(cudnnDropoutForward(handle(), desc, x.desc, x.data(), y.desc, y.data(), reserve.data(), bytes));
    OK(cudnnDropoutForward(handle(), other, x.desc, x.data(), z.desc, z.data(), reserve.data(), bytes));
    CHECK(y.buffer.bytes == z.buffer.bytes);
    int zeros = 0;
    for (size_t i = 0; i < 256; i++) zeros += y.buffer.get(i) == 0;
    CHECK(zeros > 32 && zeros < 104);
    OK(cudnnDestroyDropoutDescriptor(desc)), OK(cudnnDestroyDropoutDescriptor(other));
}
Area d("torch-dropout-states", states);
} // namespace
