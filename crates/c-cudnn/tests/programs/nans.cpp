// Both modes of cudnnNanPropagation_t: pooling, activations, pointwise operations and reductions of data with NaN, forward and backward.
#include "check.hpp"

#include <algorithm>

namespace {
const auto types = {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16, CUDNN_DATA_DOUBLE};
const auto formats = {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC};
const auto modes = {CUDNN_NOT_PROPAGATE_NAN, CUDNN_PROPAGATE_NAN};
const double INF = std::numeric_limits<double>::infinity();

// Random values, every fifth of which is NaN.
void some(Tensor &t, unsigned seed, size_t first = 1) {
    t.buffer.random(seed);
    for (size_t i = first; i < t.volume(); i += 5) t.set(t.position(i), NAN);
}

// max(v, 0), or min(max(v, 0), c): NaN becomes 0, or stays NaN.
double relu(double v, double c, bool propagates) { return std::isnan(v) ? (propagates ? NAN : 0) : std::min(std::max(v, 0.0), c); }

void activations() {
    cudnnActivationDescriptor_t desc = nullptr;
    OK(cudnnCreateActivationDescriptor(&desc));
    for (auto type : types)
        for (auto format : formats)
            for (auto nan : modes)
                for (auto mode : {CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_CLIPPED_RELU})
                    for (int scaled = 0; scaled < 2; scaled++) {
                        const double ceiling = 0.5, c = mode == CUDNN_ACTIVATION_RELU ? INF : ceiling, alpha = scaled ? 2 : 1, beta = scaled ? 0.5 : 0;
                        OK(cudnnSetActivationDescriptor(desc, mode, nan, ceiling));
                        Tensor x(type, {2, 3, 4, 5}, format), y(type, x.dims, format), dy(type, x.dims, format), dx(type, x.dims, format);
                        some(x, 1);
                        x.set({0, 0, 0, 0}, INF);
                        dy.buffer.random(2);
                        y.buffer.fill(NAN), dx.buffer.fill(NAN);
                        if (scaled) y.buffer.random(3), dx.buffer.random(4);
                        Buffer old = y.buffer, older = dx.buffer;
                        Factor a(alpha, type), b(beta, type), one(1, type), zero(0, type);
                        auto blend = [&](double v, double before) { return alpha * v + (scaled ? beta * before : 0); };
                        for (int again = 0; again < 3; again++) { // the third is a remembered call
                            y.buffer = old;
                            OK(cudnnActivationForward(handle(), desc, a.data(), x.desc, x.data(), b.data(), y.desc, y.data()));
                        }
                        compare(y, [&](auto &at) { return blend(relu(x.get(at), c, nan), old.get(y.at(at))); }, "activation of NaN");
                        OK(cudnnActivationForward(handle(), desc, one.data(), x.desc, x.data(), zero.data(), y.desc, y.data()));
                        // dy is NaN where ReLU blocks it.
                        for (size_t i = 0; i < x.volume(); i++)
                            if (x.get(x.position(i)) < -0.5) dy.set(dy.position(i), NAN);
                        OK(cudnnActivationBackward(handle(), desc, a.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(), b.data(), dx.desc, dx.data()));
                        for (size_t i = 0; i < x.volume(); i++) {
                            auto at = x.position(i);
                            double v = y.get(at), slope = std::isnan(v) ? NAN : v > 0 && v < c ? dy.get(at) : v == INF ? dy.get(at) : 0;
                            if (nan && std::isnan(dy.get(at))) continue;
                            double wanted = blend(slope, older.get(dx.at(at)));
                            if (!close(dx.get(at), wanted, type)) {
                                std::string text = "gradient at NaN: " + std::to_string(dx.get(at)) + ", not " + std::to_string(wanted) + " for y " + std::to_string(v) + ", mode " + std::to_string(mode) + ", nan " + std::to_string(nan);
                                check(false, text.c_str(), __FILE__, __LINE__);
                                break;
                            }
                        }
                        check(true, "gradient at NaN", __FILE__, __LINE__);
                    }
    OK(cudnnDestroyActivationDescriptor(desc));
}
Area a("nan_activations", activations);

// A convolution followed by ReLU, of a source with NaN.
void convolution() {
    cudnnActivationDescriptor_t relu_desc = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    cudnnFilterDescriptor_t filter = nullptr;
    OK(cudnnCreateActivationDescriptor(&relu_desc));
    OK(cudnnCreateConvolutionDescriptor(&conv));
    OK(cudnnCreateFilterDescriptor(&filter));
    for (auto type : types)
        for (auto nan : modes) {
            OK(cudnnSetActivationDescriptor(relu_desc, CUDNN_ACTIVATION_RELU, nan, 0));
            OK(cudnnSetConvolution2dDescriptor(conv, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT));
            OK(cudnnSetFilter4dDescriptor(filter, type, CUDNN_TENSOR_NCHW, 4, 3, 1, 1));
            Tensor x(type, {2, 3, 4, 5}), y(type, {2, 4, 4, 5}), bias(type, {1, 4, 1, 1});
            Buffer w(type, 12);
            some(x, 1), w.random(2), bias.buffer.random(3);
            Factor one(1, type), zero(0, type);
            size_t bytes = 0;
            const auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
            OK(cudnnGetConvolutionForwardWorkspaceSize(handle(), x.desc, filter, conv, y.desc, algo, &bytes));
            Workspace space(bytes);
            for (int again = 0; again < 3; again++) {
                y.buffer.fill(NAN);
                OK(cudnnConvolutionBiasActivationForward(handle(), one.data(), x.desc, x.data(), filter, w.data(), conv, algo, space.data(), bytes, zero.data(), y.desc,
                                                         y.data(), bias.desc, bias.data(), relu_desc, y.desc, y.data()));
                compare(y, [&](auto &at) {
                    double sum = bias.buffer.get(at[1]);
                    for (int c = 0; c < 3; c++) sum += x.get({at[0], c, at[2], at[3]}) * w.get(at[1] * 3 + c);
                    return relu(sum, INF, nan);
                }, "convolution of NaN", 3);
            }
        }
    OK(cudnnDestroyFilterDescriptor(filter));
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyActivationDescriptor(relu_desc));
}
Area b("nan_convolution", convolution);

void pooling() {
    cudnnPoolingDescriptor_t desc = nullptr;
    OK(cudnnCreatePoolingDescriptor(&desc));
    for (auto type : types)
        for (auto format : formats)
            for (auto nan : modes)
                for (auto mode : {CUDNN_POOLING_MAX, CUDNN_POOLING_MAX_DETERMINISTIC})
                    for (int scaled = 0; scaled < 2; scaled++) {
                        OK(cudnnSetPooling2dDescriptor(desc, mode, nan, 3, 2, 1, 0, 2, 1));
                        Tensor x(type, {2, 3, 7, 5}, format), y(type, {2, 3, 4, 4}, format), dy(type, y.dims, format), dx(type, x.dims, format);
                        some(x, 1), dy.buffer.random(2);
                        x.set({0, 0, 0, 0}, INF), x.set({0, 0, 0, 2}, -INF);
                        const double alpha = scaled ? 2 : 1, beta = scaled ? 0.5 : 0;
                        y.buffer.fill(NAN), dx.buffer.fill(NAN);
                        if (scaled) y.buffer.random(3), dx.buffer.random(4);
                        Buffer old = y.buffer, older = dx.buffer;
                        Factor a(alpha, type), b(beta, type), one(1, type), zero(0, type);
                        // The maximum of a window: the first of the largest values; with propagation, the first NaN or infinity.
                        auto chosen = [&](const std::vector<int> &at) {
                            std::vector<int> best;
                            double most = NAN;
                            for (int i = 0; i < 3; i++)
                                for (int j = 0; j < 2; j++) {
                                    std::vector<int> p = {at[0], at[1], at[2] * 2 - 1 + i, at[3] + j};
                                    if (p[2] < 0 || p[2] >= 7 || p[3] >= 5) continue;
                                    double v = x.get(p);
                                    if (nan && std::isnan(v)) v = INF;
                                    if (best.empty() || (std::isnan(most) && !std::isnan(v)) || v > most) best = p, most = v;
                                }
                            return best;
                        };
                        auto result = [&](const std::vector<int> &at) {
                            bool none = false;
                            for (int i = 0; i < 3; i++)
                                for (int j = 0; j < 2; j++) {
                                    int h = at[2] * 2 - 1 + i, w = at[3] + j;
                                    if (h >= 0 && h < 7 && w < 5) none = none || std::isnan(x.get({at[0], at[1], h, w}));
                                }
                            return nan && none ? NAN : x.get(chosen(at));
                        };
                        OK(cudnnPoolingForward(handle(), desc, a.data(), x.desc, x.data(), b.data(), y.desc, y.data()));
                        compare(y, [&](auto &at) { return alpha * result(at) + (scaled ? beta * old.get(y.at(at)) : 0); }, "maxima of NaN");
                        OK(cudnnPoolingForward(handle(), desc, one.data(), x.desc, x.data(), zero.data(), y.desc, y.data()));
                        OK(cudnnPoolingBackward(handle(), desc, a.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(), b.data(), dx.desc, dx.data()));
                        std::vector<double> sums(x.volume(), 0);
                        for (size_t i = 0; i < y.volume(); i++) {
                            auto at = y.position(i), from = chosen(at);
                            sums[((from[0] * 3 + from[1]) * 7 + from[2]) * 5 + from[3]] += dy.get(at);
                        }
                        compare(dx, [&](auto &at) {
                            return alpha * sums[((at[0] * 3 + at[1]) * 7 + at[2]) * 5 + at[3]] + (scaled ? beta * older.get(dx.at(at)) : 0);
                        }, "gradient of maxima of NaN", 2);
                    }
    OK(cudnnDestroyPoolingDescriptor(desc));
}
Area c("nan_pooling", pooling);

void sums() {
    cudnnOpTensorDescriptor_t desc = nullptr;
    OK(cudnnCreateOpTensorDescriptor(&desc));
    for (auto type : types)
        for (auto nan : modes)
            for (auto op : {CUDNN_OP_TENSOR_MIN, CUDNN_OP_TENSOR_MAX})
                for (int variant = 0; variant < 2; variant++) {
                    OK(cudnnSetOpTensorDescriptor(desc, op, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, nan));
                    Tensor x(type, {2, 3, 4, 5}), z(type, variant ? std::vector<int>{1, 3, 1, 1} : x.dims), y(type, x.dims, CUDNN_TENSOR_NHWC);
                    some(x, 1), some(z, 2, 0);
                    const double alpha = variant ? 2 : 1, beta = variant ? 0.5 : 0;
                    y.buffer.fill(NAN);
                    if (variant) y.buffer.random(3);
                    Buffer old = y.buffer;
                    OK(cudnnOpTensor(handle(), desc, Factor(alpha, type).data(), x.desc, x.data(), Factor(1, type).data(), z.desc, z.data(), Factor(beta, type).data(), y.desc,
                                     y.data()));
                    compare(y, [&](auto &at) {
                        double v = alpha * x.get(at), w = variant ? z.buffer.get(at[1]) : z.get(at);
                        double r = std::isnan(v) ? w : std::isnan(w) ? v : op == CUDNN_OP_TENSOR_MIN ? std::min(v, w) : std::max(v, w);
                        if (nan && (std::isnan(v) || std::isnan(w))) r = NAN;
                        return r + (variant ? beta * old.get(y.at(at)) : 0);
                    }, "extrema of two tensors with NaN", 2);
                }
    OK(cudnnDestroyOpTensorDescriptor(desc));
}
Area d("nan_sums", sums);

void reductions() {
    cudnnReduceTensorDescriptor_t desc = nullptr;
    OK(cudnnCreateReduceTensorDescriptor(&desc));
    for (auto type : types)
        for (auto format : formats)
            for (auto nan : modes)
                for (auto op : {CUDNN_REDUCE_TENSOR_MIN, CUDNN_REDUCE_TENSOR_MAX, CUDNN_REDUCE_TENSOR_AMAX}) {
                    OK(cudnnSetReduceTensorDescriptor(desc, op, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, nan, CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
                                                      CUDNN_32BIT_INDICES));
                    Tensor x(type, {2, 3, 4, 5}, format), y(type, {2, 1, 4, 1}, format);
                    some(x, 1, 0);
                    for (int c = 0; c < 3; c++)
                        for (int w = 0; w < 5; w++) x.set({1, c, 2, w}, 0.25 * (c + 1) - w); // one without NaN
                    y.buffer.fill(NAN);
                    size_t bytes = 0;
                    OK(cudnnGetReductionIndicesSize(handle(), desc, x.desc, y.desc, &bytes));
                    std::vector<uint32_t> indices(bytes / 4, 77);
                    OK(cudnnReduceTensor(handle(), desc, indices.data(), bytes, nullptr, 0, Factor(1, type).data(), x.desc, x.data(), Factor(0, type).data(), y.desc, y.data()));
                    for (int n = 0; n < 2; n++)
                        for (int h = 0; h < 4; h++) {
                            double best = NAN;
                            uint32_t where = 0, i = 0, first = 0;
                            bool none = false;
                            for (int c = 0; c < 3; c++)
                                for (int w = 0; w < 5; w++, i++) {
                                    double v = x.get({n, c, h, w});
                                    if (op == CUDNN_REDUCE_TENSOR_AMAX) v = std::fabs(v);
                                    if (std::isnan(v)) {
                                        if (!none) first = i;
                                        none = true;
                                    } else if (std::isnan(best) || (op == CUDNN_REDUCE_TENSOR_MIN ? v < best : v > best)) {
                                        best = v, where = i;
                                    }
                                }
                            if (nan && none) best = NAN, where = first;
                            CHECK(close(y.get({n, 0, h, 0}), best, type));
                            CHECK(indices[n * 4 + h] == where);
                        }
                }
    OK(cudnnDestroyReduceTensorDescriptor(desc));
}
Area e("nan_reductions", reductions);
} // namespace
