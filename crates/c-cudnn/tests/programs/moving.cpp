// Transforms that pad and crop, im2col, reordered filters, causal convolutions.
#include "check.hpp"

namespace {
void transforms() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE}) {
        for (double beta : {0.0, 1.0, 0.5}) {
            cudnnTensorTransformDescriptor_t desc = nullptr;
            OK(cudnnCreateTensorTransformDescriptor(&desc));
            const int32_t before[4] = {0, 1, -1, 2}, after[4] = {0, 0, 1, -2};
            OK(cudnnSetTensorTransformDescriptor(desc, 4, CUDNN_TENSOR_NHWC, before, after, nullptr, CUDNN_TRANSFORM_FOLD));
            Tensor x(type, {2, 3, 5, 6}), y(type, {2, 4, 5, 6}, CUDNN_TENSOR_NHWC);
            cudnnTensorDescriptor_t made = nullptr;
            OK(cudnnCreateTensorDescriptor(&made));
            size_t size = 0;
            OK(cudnnInitTransformDest(desc, x.desc, made, &size));
            cudnnDataType_t told;
            int n = 0, dims[4], strides[4];
            OK(cudnnGetTensorNdDescriptor(made, 4, &told, &n, dims, strides));
            CHECK(size == y.buffer.bytes.size() && y.dims == std::vector<int>(dims, dims + 4) && y.strides == std::vector<int>(strides, strides + 4));
            OK(cudnnDestroyTensorDescriptor(made));
            x.buffer.random(1);
            if (beta != 0) y.buffer.random(2);
            Buffer old = y.buffer;
            OK(cudnnTransformTensorEx(handle(), desc, Factor(2, type).data(), x.desc, x.data(), Factor(beta, type).data(), y.desc, y.data()));
            compare(y, [&](auto &at) {
                std::vector<int> from(4);
                bool inside = true;
                for (int d = 0; d < 4; d++) {
                    from[d] = at[d] - before[d];
                    inside = inside && from[d] >= 0 && from[d] < x.dims[d];
                }
                return (inside ? 2 * x.get(from) : 0) + (beta == 0 ? 0 : beta * old.get(y.at(at)));
            }, "transform", 3);
            cudnnTensorFormat_t format;
            int32_t b[4], a[4];
            uint32_t folds[2];
            cudnnFoldingDirection_t direction;
            OK(cudnnGetTensorTransformDescriptor(desc, 4, &format, b, a, folds, &direction));
            CHECK(std::memcmp(a, after, sizeof a) == 0 && std::memcmp(b, before, sizeof b) == 0 && folds[0] == 1 && format == CUDNN_TENSOR_NHWC);
            const uint32_t two[2] = {2, 2};
            OK(cudnnSetTensorTransformDescriptor(desc, 4, CUDNN_TENSOR_NCHW, nullptr, nullptr, two, CUDNN_TRANSFORM_FOLD));
            IS(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, cudnnTransformTensorEx(handle(), desc, Factor(2, type).data(), x.desc, x.data(), Factor(beta, type).data(), y.desc,
                                                                  y.data()));
            OK(cudnnDestroyTensorTransformDescriptor(desc));
        }
    }
}
Area a("transforms", transforms);

void columns() {
    for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
        Tensor x(CUDNN_DATA_FLOAT, {2, 3, 5, 6}, format);
        x.buffer.random(1);
        cudnnFilterDescriptor_t w = nullptr;
        cudnnConvolutionDescriptor_t conv = nullptr;
        OK(cudnnCreateFilterDescriptor(&w));
        OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, format, 4, 3, 3, 2));
        OK(cudnnCreateConvolutionDescriptor(&conv));
        OK(cudnnSetConvolution2dDescriptor(conv, 1, 1, 2, 1, 1, 2, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
        int n = 0, c = 0, h = 0, wd = 0;
        OK(cudnnGetConvolution2dForwardOutputDim(conv, x.desc, w, &n, &c, &h, &wd));
        CHECK(n == 2 && c == 4 && h == 3 && wd == 6);
        Buffer col(CUDNN_DATA_FLOAT, size_t(3) * 6 * n * h * wd);
        OK(cudnnIm2Col(handle(), x.desc, x.data(), w, conv, col.data()));
        bool right = true;
        size_t i = 0;
        for (int ci = 0; ci < 3; ci++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 2; s++)
                    for (int b = 0; b < n; b++)
                        for (int oh = 0; oh < h; oh++)
                            for (int ow = 0; ow < wd; ow++, i++) {
                                int ih = oh * 2 - 1 + r, iw = ow - 1 + s * 2;
                                double v = ih >= 0 && ih < 5 && iw >= 0 && iw < 6 ? x.get({b, ci, ih, iw}) : 0;
                                right = right && col.get(i) == v;
                            }
        CHECK(right);
        Buffer from(CUDNN_DATA_FLOAT, 72), to(CUDNN_DATA_FLOAT, 72), bias(CUDNN_DATA_FLOAT, 4), moved(CUDNN_DATA_FLOAT, 4);
        from.random(2);
        bias.random(3);
        OK(cudnnReorderFilterAndBias(handle(), w, CUDNN_DEFAULT_REORDER, from.data(), to.data(), 1, bias.data(), moved.data()));
        CHECK(from.bytes == to.bytes && bias.bytes == moved.bytes);
        // A filter, padded.
        cudnnFilterDescriptor_t larger = nullptr;
        cudnnTensorTransformDescriptor_t pad = nullptr;
        OK(cudnnCreateFilterDescriptor(&larger));
        OK(cudnnSetFilter4dDescriptor(larger, CUDNN_DATA_FLOAT, format, 4, 4, 3, 2));
        OK(cudnnCreateTensorTransformDescriptor(&pad));
        const int32_t after[4] = {0, 1, 0, 0};
        OK(cudnnSetTensorTransformDescriptor(pad, 4, format, nullptr, after, nullptr, CUDNN_TRANSFORM_FOLD));
        Buffer padded(CUDNN_DATA_FLOAT, 96);
        float one = 1, zero = 0;
        OK(cudnnTransformFilter(handle(), pad, &one, w, from.data(), &zero, larger, padded.data()));
        double sum = 0, all = 0;
        for (size_t k = 0; k < 96; k++) sum += padded.get(k);
        for (size_t k = 0; k < 72; k++) all += from.get(k);
        CHECK(std::fabs(sum - all) < 1e-5 && padded.get(format == CUDNN_TENSOR_NCHW ? 23 : 3) == 0);
        OK(cudnnDestroyTensorTransformDescriptor(pad));
        OK(cudnnDestroyFilterDescriptor(larger));
        OK(cudnnDestroyFilterDescriptor(w));
        OK(cudnnDestroyConvolutionDescriptor(conv));
    }
}
Area b("columns", columns);
} // namespace

#include <cudnn_subquadratic_ops.h>

namespace {
void causal() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_BFLOAT16}) {
        for (bool silu : {false, true}) {
            for (bool last : {false, true}) {
                const int N = 2, C = 3, L = 7, K = 4;
                auto wide = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
                auto mode = silu ? CUDNN_CAUSAL_CONV1D_ACTIVATION_SILU : CUDNN_CAUSAL_CONV1D_ACTIVATION_IDENTITY;
                Buffer x(type, N * C * L), w(type, C * K), bias(type, C), y(type, N * C * L), dy(type, N * C * L), dx(type, N * C * L);
                Buffer dw(wide, C * K), db(wide, C);
                x.random(1), w.random(2), bias.random(3), dy.random(4);
                dw.fill(1), db.fill(1);
                auto at = [&](int n, int c, int t) { return last ? (n * L + t) * C + c : (n * C + c) * L + t; };
                auto tap = [&](int c, int k) { return last ? k * C + c : c * K + k; };
                auto value = [&](int n, int c, int t) {
                    double s = bias.get(c);
                    for (int j = 0; j < K && j <= t; j++) s += x.get(at(n, c, t - j)) * w.get(tap(c, K - 1 - j));
                    return silu ? s / (1 + std::exp(-s)) : s;
                };
                auto forward = last ? cudnnCausalConv1dNwhForward : cudnnCausalConv1dForward;
                auto backward = last ? cudnnCausalConv1dNwhBackward : cudnnCausalConv1dBackward;
                OK(forward(nullptr, x.data(), w.data(), bias.data(), y.data(), N, C, L, K, type, mode));
                OK(backward(nullptr, x.data(), w.data(), bias.data(), dy.data(), dx.data(), dw.data(), db.data(), N, C, L, K, type, wide, mode));
                bool right = true;
                for (int n = 0; n < N; n++)
                    for (int c = 0; c < C; c++)
                        for (int t = 0; t < L; t++) right = right && close(y.get(at(n, c, t)), value(n, c, t), type, 2);
                CHECK(right);
                if (type == CUDNN_DATA_DOUBLE) {
                    auto loss = [&] {
                        double all = 0;
                        for (int n = 0; n < N; n++)
                            for (int c = 0; c < C; c++)
                                for (int t = 0; t < L; t++) all += value(n, c, t) * dy.get(at(n, c, t));
                        return all;
                    };
                    for (size_t i = 0; i < dw.size(); i++) dw.set(i, dw.get(i) - 1);
                    for (size_t i = 0; i < db.size(); i++) db.set(i, db.get(i) - 1);
                    compare_gradient(dx, x, loss, "gradient of a causal convolution");
                    compare_gradient(dw, w, loss, "gradient of its weights");
                    compare_gradient(db, bias, loss, "gradient of its bias");
                }
                IS(CUDNN_STATUS_BAD_PARAM, forward(nullptr, x.data(), w.data(), bias.data(), y.data(), 0, C, L, K, type, mode));
            }
        }
    }
}
Area c("causal", causal);

// Filters whose first tap is now.
void reversed() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE}) {
        const int N = 2, C = 3, L = 8, K = 8;
        Buffer x(type, N * C * L), w(type, C * K), y(type, x.size()), dy(type, x.size()), dx(type, x.size()), dw(type, w.size());
        x.random(1), w.random(2), dy.random(3);
        auto value = [&](size_t row, int t) {
            double s = 0;
            for (int j = 0; j < K && j <= t; j++) s += x.get(row * L + t - j) * w.get(row % C * K + j);
            return s;
        };
        auto loss = [&] {
            double all = 0;
            for (size_t i = 0; i < x.size(); i++) all += value(i / L, int(i % L)) * dy.get(i);
            return all;
        };
        size_t space = 1, kept = 0;
        OK(cudnnLongFFTCausalConv1dGetBufferSizes(N, C, L, K, type, &space, &kept));
        CHECK(space == 0);
        Workspace reserve(kept);
        for (bool longer : {false, true}) {
            y.fill(NAN), dx.fill(NAN), dw.fill(NAN);
            if (longer) {
                OK(cudnnLongFFTCausalConv1dForward(nullptr, x.data(), w.data(), y.data(), N, C, L, K, type, nullptr, 0, reserve.data(), kept));
                OK(cudnnLongFFTCausalConv1dBackward(nullptr, dy.data(), dx.data(), dw.data(), N, C, L, K, type, nullptr, 0, reserve.data(), kept));
                IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, cudnnLongFFTCausalConv1dForward(nullptr, x.data(), w.data(), y.data(), N, C, L, K, type, nullptr, 0,
                                                                                            reserve.data(), kept - 1));
            } else {
                OK(cudnnFFTCausalConv1dForward(nullptr, x.data(), w.data(), y.data(), N, C, L, K, type));
                OK(cudnnFFTCausalConv1dBackward(nullptr, x.data(), w.data(), dy.data(), dx.data(), dw.data(), N, C, L, K, type));
            }
            bool right = true;
            for (size_t i = 0; i < y.size(); i++) right = right && close(y.get(i), value(i / L, int(i % L)), type, K);
            CHECK(right);
            if (type == CUDNN_DATA_DOUBLE) {
                compare_gradient(dx, x, loss, "gradient of a reversed causal convolution");
                compare_gradient(dw, w, loss, "gradient of its weights");
            }
        }
    }
}
Area d("reversed", reversed);
} // namespace
