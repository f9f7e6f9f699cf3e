// Pooling and local response normalisation.
#include "check.hpp"

#include <algorithm>

namespace {
void pooling_of(cudnnDataType_t type, cudnnTensorFormat_t format, cudnnPoolingMode_t mode, std::vector<int> dims, std::vector<int> window,
                std::vector<int> pad, std::vector<int> stride, double alpha, double beta) {
    cudnnPoolingDescriptor_t desc = nullptr;
    OK(cudnnCreatePoolingDescriptor(&desc));
    int n = int(window.size());
    OK(cudnnSetPoolingNdDescriptor(desc, mode, CUDNN_PROPAGATE_NAN, n, window.data(), pad.data(), stride.data()));
    Tensor x(type, dims, format), dx(type, dims, format);
    std::vector<int> out(dims.size());
    OK(cudnnGetPoolingNdForwardOutputDim(desc, x.desc, n + 2, out.data()));
    Tensor y(type, out, format), dy(type, out, format);
    x.buffer.random(1);
    dy.buffer.random(2);
    y.buffer.random(3);
    dx.buffer.random(4);
    if (beta == 0) y.buffer.fill(NAN), dx.buffer.fill(NAN);
    Buffer oldy = y.buffer, olddx = dx.buffer;
    std::vector<double> gradient(dx.buffer.size(), 0);
    bool maximum = mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    std::vector<double> right(y.buffer.size(), 0);
    for (size_t i = 0; i < y.volume(); i++) {
        auto to = y.position(i);
        int taps = 1, inside = 0;
        for (int w : window) taps *= w;
        double best = -INFINITY, sum = 0;
        std::vector<int> where;
        std::vector<std::vector<int>> all;
        for (int t = 0; t < taps; t++) {
            auto from = to;
            int rest = t;
            bool in = true;
            for (int d = n; d-- > 0;) {
                from[d + 2] = to[d + 2] * stride[d] - pad[d] + rest % window[d];
                rest /= window[d];
                in = in && from[d + 2] >= 0 && from[d + 2] < dims[d + 2];
            }
            if (!in) continue;
            inside++;
            double v = x.get(from);
            sum += v;
            all.push_back(from);
            if (v > best) best = v, where = from;
        }
        double share = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? 1.0 / taps : 1.0 / inside;
        right[y.at(to)] = maximum ? best : sum * share;
        if (maximum) gradient[dx.at(where)] += dy.get(to);
        else
            for (auto &p : all) gradient[dx.at(p)] += dy.get(to) * share;
    }
    Factor a(alpha, type), b(beta, type);
    OK(cudnnPoolingForward(handle(), desc, a.data(), x.desc, x.data(), b.data(), y.desc, y.data()));
    compare(y, [&](auto &at) { return alpha * right[y.at(at)] + (beta == 0 ? 0 : beta * oldy.get(y.at(at))); }, "pooling", 2);
    OK(cudnnPoolingBackward(handle(), desc, a.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(), b.data(), dx.desc, dx.data()));
    compare(dx, [&](auto &at) { return alpha * gradient[dx.at(at)] + (beta == 0 ? 0 : beta * olddx.get(dx.at(at))); }, "gradient of pooling", 4);
    OK(cudnnDestroyPoolingDescriptor(desc));
}

void pooling() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE, CUDNN_DATA_BFLOAT16}) {
        for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
            for (auto mode : {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
                              CUDNN_POOLING_MAX_DETERMINISTIC}) {
                pooling_of(type, format, mode, {2, 3, 9, 8}, {3, 2}, {1, 0}, {2, 2}, 1, 0);
                pooling_of(type, format, mode, {2, 4, 7, 7}, {2, 2}, {0, 0}, {2, 2}, 2, 0.5);
                if (format == CUDNN_TENSOR_NCHW) pooling_of(type, format, mode, {1, 2, 5, 6, 7}, {2, 3, 2}, {1, 1, 0}, {1, 2, 2}, 1, 0);
            }
        }
    }
    cudnnPoolingDescriptor_t desc = nullptr;
    OK(cudnnCreatePoolingDescriptor(&desc));
    OK(cudnnSetPooling2dDescriptor(desc, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 3, 2, 1, 0, 2, 1));
    cudnnPoolingMode_t mode;
    cudnnNanPropagation_t nan;
    int v[6], n = 0, window[2], pad[2], stride[2];
    OK(cudnnGetPooling2dDescriptor(desc, &mode, &nan, v, v + 1, v + 2, v + 3, v + 4, v + 5));
    const int wanted[6] = {3, 2, 1, 0, 2, 1};
    CHECK(std::memcmp(v, wanted, sizeof v) == 0 && mode == CUDNN_POOLING_MAX && nan == CUDNN_NOT_PROPAGATE_NAN);
    OK(cudnnGetPoolingNdDescriptor(desc, 2, &mode, &nan, &n, window, pad, stride));
    CHECK(n == 2 && window[0] == 3 && pad[1] == 0 && stride[0] == 2);
    Tensor x(CUDNN_DATA_FLOAT, {2, 3, 9, 8});
    OK(cudnnGetPooling2dForwardOutputDim(desc, x.desc, v, v + 1, v + 2, v + 3));
    CHECK(v[0] == 2 && v[1] == 3 && v[2] == 5 && v[3] == 7);
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetPooling2dDescriptor(desc, CUDNN_POOLING_MAX, nan, 0, 2, 1, 0, 2, 1));
    OK(cudnnDestroyPoolingDescriptor(desc));
}
Area a("pooling", pooling);

void lrn() {
    cudnnLRNDescriptor_t desc = nullptr;
    OK(cudnnCreateLRNDescriptor(&desc));
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF}) {
        for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
            OK(cudnnSetLRNDescriptor(desc, 5, 0.5, 0.75, 2));
            Tensor x(type, {2, 7, 3, 4}, format), y(type, x.dims, format), dy(type, x.dims, format), dx(type, x.dims, format);
            x.buffer.random(1);
            dy.buffer.random(2);
            auto one = Factor(1, type), zero = Factor(0, type);
            auto value = [&](const std::vector<int> &at) {
                double sum = 0;
                for (int c = std::max(0, at[1] - 2); c <= std::min(6, at[1] + 2); c++) {
                    auto p = at;
                    p[1] = c;
                    sum += x.get(p) * x.get(p);
                }
                return x.get(at) * std::pow(2 + 0.5 / 5 * sum, -0.75);
            };
            OK(cudnnLRNCrossChannelForward(handle(), desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, one.data(), x.desc, x.data(), zero.data(), y.desc, y.data()));
            compare(y, value, "lrn");
            OK(cudnnLRNCrossChannelBackward(handle(), desc, CUDNN_LRN_CROSS_CHANNEL_DIM1, one.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(),
                                            zero.data(), dx.desc, dx.data()));
            if (type == CUDNN_DATA_DOUBLE)
                compare_gradient(dx.buffer, x.buffer, [&] {
                    double loss = 0;
                    for (size_t i = 0; i < x.volume(); i++) loss += value(x.position(i)) * dy.get(x.position(i));
                    return loss;
                }, "gradient of lrn");
            // Divisive normalisation, with means.
            Tensor means(type, x.dims, format), dm(type, x.dims, format), t1(type, x.dims, format), t2(type, x.dims, format);
            means.buffer.random(3);
            OK(cudnnSetLRNDescriptor(desc, 3, 0.5, 0.75, 1));
            auto divisive = [&](const std::vector<int> &at) {
                double sum = 0;
                for (int h = std::max(0, at[2] - 1); h <= std::min(2, at[2] + 1); h++)
                    for (int w = std::max(0, at[3] - 1); w <= std::min(3, at[3] + 1); w++) {
                        std::vector<int> p = {at[0], at[1], h, w};
                        sum += std::pow(x.get(p) - means.get(p), 2);
                    }
                return (x.get(at) - means.get(at)) * std::pow(1 + 0.5 / 9 * sum, -0.75);
            };
            OK(cudnnDivisiveNormalizationForward(handle(), desc, CUDNN_DIVNORM_PRECOMPUTED_MEANS, one.data(), x.desc, x.data(), means.data(), t1.data(),
                                                 t2.data(), zero.data(), y.desc, y.data()));
            compare(y, divisive, "divisive normalisation");
            OK(cudnnDivisiveNormalizationBackward(handle(), desc, CUDNN_DIVNORM_PRECOMPUTED_MEANS, one.data(), x.desc, x.data(), means.data(), dy.data(),
                                                  t1.data(), t2.data(), zero.data(), dx.desc, dx.data(), dm.data()));
            if (type == CUDNN_DATA_DOUBLE) {
                auto loss = [&] {
                    double all = 0;
                    for (size_t i = 0; i < x.volume(); i++) all += divisive(x.position(i)) * dy.get(x.position(i));
                    return all;
                };
                compare_gradient(dx.buffer, x.buffer, loss, "gradient of divisive normalisation");
                compare_gradient(dm.buffer, means.buffer, loss, "gradient of its means");
            }
        }
    }
    unsigned n = 0;
    double alpha = 0, beta = 0, k = 0;
    OK(cudnnGetLRNDescriptor(desc, &n, &alpha, &beta, &k));
    CHECK(n == 3 && alpha == 0.5 && beta == 0.75 && k == 1);
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetLRNDescriptor(desc, 0, 1, 1, 1));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetLRNDescriptor(desc, 3, 1, 1, 0));
    OK(cudnnDestroyLRNDescriptor(desc));
}
Area b("lrn", lrn);
} // namespace
