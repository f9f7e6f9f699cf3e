// Fused operations, folded convolutions, chained causal convolutions, and neighbours in graphs, against loops.
#include "check.hpp"

#include <cudnn_gnn_ops.h>
#include <cudnn_subquadratic_ops.h>

#include <algorithm>

namespace {
const int N = 2, C = 3, H = 5, K = 4, R = 3;

struct Pack {
    cudnnFusedOps_t ops;
    cudnnFusedOpsConstParamPack_t constants = nullptr;
    cudnnFusedOpsVariantParamPack_t variants = nullptr;
    cudnnFusedOpsPlan_t plan = nullptr;
    explicit Pack(cudnnFusedOps_t ops) : ops(ops) {
        OK(cudnnCreateFusedOpsConstParamPack(&constants, ops));
        OK(cudnnCreateFusedOpsVariantParamPack(&variants, ops));
        OK(cudnnCreateFusedOpsPlan(&plan, ops));
    }
    ~Pack() {
        OK(cudnnDestroyFusedOpsPlan(plan));
        OK(cudnnDestroyFusedOpsVariantParamPack(variants));
        OK(cudnnDestroyFusedOpsConstParamPack(constants));
    }
    void set(cudnnFusedOpsConstParamLabel_t label, const void *param) { OK(cudnnSetFusedOpsConstParamPackAttribute(constants, label, param)); }
    void at(cudnnFusedOpsConstParamLabel_t place, cudnnFusedOpsVariantParamLabel_t label, void *data) {
        cudnnFusedOpsPointerPlaceHolder_t there = CUDNN_PTR_ELEM_ALIGNED;
        set(place, &there);
        OK(cudnnSetFusedOpsVariantParamPackAttribute(variants, label, data));
    }
    void number(cudnnFusedOpsVariantParamLabel_t label, double value) { OK(cudnnSetFusedOpsVariantParamPackAttribute(variants, label, &value)); }
    void run() {
        size_t bytes = 0;
        OK(cudnnMakeFusedOpsPlan(handle(), plan, constants, &bytes));
        Workspace space(bytes);
        OK(cudnnSetFusedOpsVariantParamPackAttribute(variants, CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &bytes));
        OK(cudnnSetFusedOpsVariantParamPackAttribute(variants, CUDNN_PTR_WORKSPACE, space.data()));
        OK(cudnnFusedOpsExecute(handle(), plan, variants));
        if (bytes > 0) {
            size_t less = bytes - 1;
            OK(cudnnSetFusedOpsVariantParamPackAttribute(variants, CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES, &less));
            IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, cudnnFusedOpsExecute(handle(), plan, variants));
        }
    }
};

// A 3x3 convolution with padding 1 and its fused operations.
struct Layer {
    cudnnDataType_t type;
    Tensor x, y, z, eq, stats;
    Buffer w, scale, bias, sum, squares;
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    cudnnActivationDescriptor_t relu = nullptr;
    explicit Layer(cudnnDataType_t type, int channels)
        : type(type), x(type, {N, C, H, H}, CUDNN_TENSOR_NHWC), y(type, {N, K, H, H}, CUDNN_TENSOR_NHWC), z(type, {N, K, H, H}, CUDNN_TENSOR_NHWC),
          eq(type, {1, channels, 1, 1}, CUDNN_TENSOR_NHWC), stats(CUDNN_DATA_FLOAT, {1, K, 1, 1}), w(type, K * C * R * R), scale(type, channels),
          bias(type, channels), sum(CUDNN_DATA_FLOAT, K), squares(CUDNN_DATA_FLOAT, K) {
        x.buffer.random(1), w.random(2), scale.random(3), bias.random(4), z.buffer.random(5);
        int pad[2] = {1, 1}, one[2] = {1, 1}, dims[4] = {K, C, R, R};
        OK(cudnnCreateFilterDescriptor(&filter));
        OK(cudnnSetFilterNdDescriptor(filter, type, CUDNN_TENSOR_NHWC, 4, dims));
        OK(cudnnCreateConvolutionDescriptor(&conv));
        OK(cudnnSetConvolutionNdDescriptor(conv, 2, pad, one, one, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
        OK(cudnnCreateActivationDescriptor(&relu));
        OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    }
    ~Layer() {
        OK(cudnnDestroyActivationDescriptor(relu));
        OK(cudnnDestroyConvolutionDescriptor(conv));
        OK(cudnnDestroyFilterDescriptor(filter));
    }
    double source(int n, int c, int h, int v, bool prologue) const {
        if (h < 0 || v < 0 || h >= H || v >= H) return 0;
        double value = x.get({n, c, h, v});
        return prologue ? std::max(0.0, value * scale.get(c) + bias.get(c)) : value;
    }
    double convolved(const std::vector<int> &at, bool prologue) const {
        double sum = 0;
        for (int c = 0; c < C; c++)
            for (int r = 0; r < R; r++)
                for (int s = 0; s < R; s++)
                    sum += source(at[0], c, at[2] + r - 1, at[3] + s - 1, prologue) * w.get(((size_t(at[1]) * R + r) * R + s) * C + c);
        return sum;
    }
};

void convolutions() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF}) {
        for (bool prologue : {true, false}) {
            Layer l(type, C);
            Pack p(CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS);
            p.set(CUDNN_PARAM_XDESC, l.x.desc), p.set(CUDNN_PARAM_YDESC, l.y.desc), p.set(CUDNN_PARAM_WDESC, l.filter), p.set(CUDNN_PARAM_CONV_DESC, l.conv);
            p.set(CUDNN_PARAM_YSTATS_DESC, l.stats.desc);
            if (prologue) {
                p.set(CUDNN_PARAM_BN_EQSCALEBIAS_DESC, l.eq.desc), p.set(CUDNN_PARAM_ACTIVATION_DESC, l.relu);
                p.at(CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, CUDNN_PTR_BN_EQSCALE, l.scale.data());
                p.at(CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, CUDNN_PTR_BN_EQBIAS, l.bias.data());
            }
            p.at(CUDNN_PARAM_XDATA_PLACEHOLDER, CUDNN_PTR_XDATA, l.x.data());
            p.at(CUDNN_PARAM_WDATA_PLACEHOLDER, CUDNN_PTR_WDATA, l.w.data());
            p.at(CUDNN_PARAM_YDATA_PLACEHOLDER, CUDNN_PTR_YDATA, l.y.data());
            p.at(CUDNN_PARAM_YSUM_PLACEHOLDER, CUDNN_PTR_YSUM, l.sum.data());
            p.at(CUDNN_PARAM_YSQSUM_PLACEHOLDER, CUDNN_PTR_YSQSUM, l.squares.data());
            p.run();
            compare(l.y, [&](auto &at) { return l.convolved(at, prologue); }, "scale, bias, activation, convolution", 8);
            for (int k = 0; k < K; k++) {
                double sum = 0, squares = 0;
                for (int n = 0; n < N; n++)
                    for (int h = 0; h < H; h++)
                        for (int v = 0; v < H; v++) sum += l.y.get({n, k, h, v}), squares += l.y.get({n, k, h, v}) * l.y.get({n, k, h, v});
                CHECK(close(l.sum.get(k), sum, type, 32) && close(l.squares.get(k), squares, type, 64));
            }
            // The same source, and the gradient of the filter.
            Pack g(CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD);
            Buffer dw(type, l.w.size());
            g.set(CUDNN_PARAM_XDESC, l.x.desc), g.set(CUDNN_PARAM_DYDESC, l.y.desc), g.set(CUDNN_PARAM_DWDESC, l.filter), g.set(CUDNN_PARAM_CONV_DESC, l.conv);
            if (prologue) {
                g.set(CUDNN_PARAM_BN_EQSCALEBIAS_DESC, l.eq.desc), g.set(CUDNN_PARAM_ACTIVATION_DESC, l.relu);
                g.at(CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, CUDNN_PTR_BN_EQSCALE, l.scale.data());
                g.at(CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, CUDNN_PTR_BN_EQBIAS, l.bias.data());
            }
            g.at(CUDNN_PARAM_XDATA_PLACEHOLDER, CUDNN_PTR_XDATA, l.x.data());
            g.at(CUDNN_PARAM_DYDATA_PLACEHOLDER, CUDNN_PTR_DYDATA, l.z.data());
            g.at(CUDNN_PARAM_DWDATA_PLACEHOLDER, CUDNN_PTR_DWDATA, dw.data());
            g.run();
            for (int k = 0; k < K; k++)
                for (int c = 0; c < C; c++)
                    for (int r = 0; r < R; r++)
                        for (int s = 0; s < R; s++) {
                            double sum = 0;
                            for (int n = 0; n < N; n++)
                                for (int h = 0; h < H; h++)
                                    for (int v = 0; v < H; v++) sum += l.z.get({n, k, h, v}) * l.source(n, c, h + r - 1, v + s - 1, prologue);
                            CHECK(close(dw.get(((size_t(k) * R + r) * R + s) * C + c), sum, type, 16));
                        }
        }
        Layer l(type, K);
        Pack p(CUDNN_FUSED_CONV_SCALE_BIAS_ADD_ACTIVATION);
        p.set(CUDNN_PARAM_XDESC, l.x.desc), p.set(CUDNN_PARAM_YDESC, l.y.desc), p.set(CUDNN_PARAM_WDESC, l.filter), p.set(CUDNN_PARAM_CONV_DESC, l.conv);
        p.set(CUDNN_PARAM_ZDESC, l.z.desc), p.set(CUDNN_PARAM_BN_EQSCALEBIAS_DESC, l.eq.desc), p.set(CUDNN_PARAM_ACTIVATION_DESC, l.relu);
        p.at(CUDNN_PARAM_XDATA_PLACEHOLDER, CUDNN_PTR_XDATA, l.x.data());
        p.at(CUDNN_PARAM_WDATA_PLACEHOLDER, CUDNN_PTR_WDATA, l.w.data());
        p.at(CUDNN_PARAM_YDATA_PLACEHOLDER, CUDNN_PTR_YDATA, l.y.data());
        p.at(CUDNN_PARAM_ZDATA_PLACEHOLDER, CUDNN_PTR_ZDATA, l.z.data());
        p.at(CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, CUDNN_PTR_BN_EQSCALE, l.scale.data());
        p.at(CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, CUDNN_PTR_BN_EQBIAS, l.bias.data());
        p.run();
        auto wanted = [&](auto &at) { return std::max(0.0, l.convolved(at, false) * l.scale.get(at[1]) + l.bias.get(at[1]) + l.z.get(at)); };
        compare(l.y, wanted, "convolution, scale, bias, sum, activation", 8);
    }
}
Area a("fused-convolutions", convolutions);

void statistics() {
    Tensor vector(CUDNN_DATA_FLOAT, {1, K, 1, 1}), eq(CUDNN_DATA_HALF, {1, K, 1, 1});
    auto buffer = [](unsigned seed) { return Buffer(CUDNN_DATA_FLOAT, K).random(seed); };
    Buffer sum = buffer(1), squares = buffer(2), scale = buffer(3), bias = buffer(4), mean = buffer(5), inverse = buffer(6), running = buffer(7), variance = buffer(8);
    for (int k = 0; k < K; k++) squares.set(k, 3 + squares.get(k)), variance.set(k, 2 + variance.get(k));
    Buffer running_before = running, variance_before = variance, eq_scale(CUDNN_DATA_HALF, K), eq_bias(CUDNN_DATA_HALF, K);
    int64_t count = 10;
    for (bool training : {true, false}) {
        Pack p(training ? CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING : CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE);
        cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL_PERSISTENT;
        p.set(CUDNN_PARAM_BN_MODE, &mode), p.set(CUDNN_PARAM_YSTATS_DESC, vector.desc), p.set(CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC, vector.desc);
        p.set(CUDNN_PARAM_BN_EQSCALEBIAS_DESC, eq.desc);
        if (training) {
            p.at(CUDNN_PARAM_YSUM_PLACEHOLDER, CUDNN_PTR_YSUM, sum.data()), p.at(CUDNN_PARAM_YSQSUM_PLACEHOLDER, CUDNN_PTR_YSQSUM, squares.data());
            p.at(CUDNN_PARAM_BN_SAVED_MEAN_PLACEHOLDER, CUDNN_PTR_BN_SAVED_MEAN, mean.data());
            p.at(CUDNN_PARAM_BN_SAVED_INVSTD_PLACEHOLDER, CUDNN_PTR_BN_SAVED_INVSTD, inverse.data());
        }
        p.at(CUDNN_PARAM_BN_SCALE_PLACEHOLDER, CUDNN_PTR_BN_SCALE, scale.data()), p.at(CUDNN_PARAM_BN_BIAS_PLACEHOLDER, CUDNN_PTR_BN_BIAS, bias.data());
        p.at(CUDNN_PARAM_BN_RUNNING_MEAN_PLACEHOLDER, CUDNN_PTR_BN_RUNNING_MEAN, running.data());
        p.at(CUDNN_PARAM_BN_RUNNING_VAR_PLACEHOLDER, CUDNN_PTR_BN_RUNNING_VAR, variance.data());
        p.at(CUDNN_PARAM_BN_EQSCALE_PLACEHOLDER, CUDNN_PTR_BN_EQSCALE, eq_scale.data()), p.at(CUDNN_PARAM_BN_EQBIAS_PLACEHOLDER, CUDNN_PTR_BN_EQBIAS, eq_bias.data());
        OK(cudnnSetFusedOpsVariantParamPackAttribute(p.variants, CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT, &count));
        p.number(CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR, 0.25), p.number(CUDNN_SCALAR_DOUBLE_BN_EPSILON, 1e-3);
        p.run();
        for (int k = 0; k < K; k++) {
            double m = running.get(k), v = variance.get(k);
            if (training) {
                m = sum.get(k) / 10, v = squares.get(k) / 10 - m * m;
                CHECK(close(running.get(k), 0.75 * running_before.get(k) + 0.25 * m, CUDNN_DATA_FLOAT));
                CHECK(close(variance.get(k), 0.75 * variance_before.get(k) + 0.25 * v * 10 / 9, CUDNN_DATA_FLOAT));
                CHECK(close(mean.get(k), m, CUDNN_DATA_FLOAT) && close(inverse.get(k), 1 / std::sqrt(v + 1e-3), CUDNN_DATA_FLOAT));
            }
            double s = scale.get(k) / std::sqrt(v + 1e-3);
            CHECK(close(eq_scale.get(k), s, CUDNN_DATA_HALF) && close(eq_bias.get(k), bias.get(k) - m * s, CUDNN_DATA_HALF));
        }
    }
    // Values of a pack can be read back, and a plan reports what is missing.
    Pack p(CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS);
    p.set(CUDNN_PARAM_XDESC, vector.desc);
    Tensor other(CUDNN_DATA_FLOAT, {2, 2});
    int is_null = 7, rank = 0, dims[4], strides[4];
    size_t bytes = 0;
    cudnnDataType_t type;
    OK(cudnnGetFusedOpsConstParamPackAttribute(p.constants, CUDNN_PARAM_XDESC, other.desc, &is_null));
    OK(cudnnGetTensorNdDescriptor(other.desc, 4, &type, &rank, dims, strides));
    CHECK(is_null == 0 && rank == 4 && dims[1] == K);
    OK(cudnnGetFusedOpsConstParamPackAttribute(p.constants, CUDNN_PARAM_YDESC, other.desc, &is_null));
    CHECK(is_null == 1);
    IS(CUDNN_STATUS_BAD_PARAM, cudnnMakeFusedOpsPlan(handle(), p.plan, p.constants, &bytes));
    CHECK(last_error().find("CUDNN_PARAM_WDESC") != std::string::npos);
    IS(CUDNN_STATUS_BAD_PARAM, cudnnFusedOpsExecute(handle(), p.plan, p.variants));
    void *back = nullptr;
    OK(cudnnSetFusedOpsVariantParamPackAttribute(p.variants, CUDNN_PTR_XDATA, dims));
    OK(cudnnGetFusedOpsVariantParamPackAttribute(p.variants, CUDNN_PTR_XDATA, &back));
    CHECK(back == dims);
    Pack reserved(CUDNN_FUSED_DACTIVATION_FORK_DBATCHNORM);
    IS(CUDNN_STATUS_NOT_SUPPORTED, cudnnMakeFusedOpsPlan(handle(), reserved.plan, reserved.constants, &bytes));
}
Area b("fused-statistics", statistics);

// The folded gradient of a strided convolution equals the gradient itself.
void folded() {
    const int cases[][5] = {{7, 3, 2, 1, 1}, {8, 3, 2, 1, 1}, {9, 4, 3, 0, 1}, {6, 5, 2, 2, 2}, {7, 2, 3, 1, 1}};
    for (auto &given : cases) {
        int size = given[0], taps = given[1], stride = given[2], pad = given[3], groups = given[4];
        cudnnFilterDescriptor_t filter, thin;
        cudnnConvolutionDescriptor_t conv, flat;
        cudnnTensorTransformDescriptor_t fold_filter, pad_diff, fold_grad, unfold_grad;
        OK(cudnnCreateFilterDescriptor(&filter)), OK(cudnnCreateFilterDescriptor(&thin));
        OK(cudnnCreateConvolutionDescriptor(&conv)), OK(cudnnCreateConvolutionDescriptor(&flat));
        for (auto *t : {&fold_filter, &pad_diff, &fold_grad, &unfold_grad}) OK(cudnnCreateTensorTransformDescriptor(t));
        OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, 3, taps, taps));
        OK(cudnnSetConvolution2dDescriptor(conv, pad, pad, stride, stride, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
        OK(cudnnSetConvolutionGroupCount(conv, groups));
        int out = (size + 2 * pad - taps) / stride + 1;
        Tensor dx(CUDNN_DATA_FLOAT, {2, 3 * groups, size, size}), dy(CUDNN_DATA_FLOAT, {2, 4, out, out}), again(CUDNN_DATA_FLOAT, dx.dims);
        Tensor wide(CUDNN_DATA_FLOAT, {1, 1}), thick(CUDNN_DATA_FLOAT, {1, 1});
        Buffer w(CUDNN_DATA_FLOAT, 4 * 3 * taps * taps);
        w.random(1), dy.buffer.random(2);
        float one = 1, zero = 0;
        OK(cudnnConvolutionBackwardData(handle(), &one, filter, w.data(), dy.desc, dy.data(), conv, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, nullptr, 0, &zero,
                                        dx.desc, dx.data()));
        OK(cudnnGetFoldedConvBackwardDataDescriptors(handle(), filter, dy.desc, conv, dx.desc, CUDNN_TENSOR_NCHW, thin, wide.desc, flat, thick.desc,
                                                     fold_filter, pad_diff, fold_grad, unfold_grad));
        size_t filter_bytes, diff_bytes, grad_bytes;
        OK(cudnnGetFilterSizeInBytes(thin, &filter_bytes));
        OK(cudnnGetTensorSizeInBytes(wide.desc, &diff_bytes));
        OK(cudnnGetTensorSizeInBytes(thick.desc, &grad_bytes));
        Workspace w2(filter_bytes), dy2(diff_bytes), dx2(grad_bytes);
        OK(cudnnTransformFilter(handle(), fold_filter, &one, filter, w.data(), &zero, thin, w2.data()));
        OK(cudnnTransformTensorEx(handle(), pad_diff, &one, dy.desc, dy.data(), &zero, wide.desc, dy2.data()));
        OK(cudnnConvolutionBackwardData(handle(), &one, thin, w2.data(), wide.desc, dy2.data(), flat, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, nullptr, 0, &zero,
                                        thick.desc, dx2.data()));
        OK(cudnnTransformTensorEx(handle(), unfold_grad, &one, thick.desc, dx2.data(), &zero, again.desc, again.data()));
        compare(again, [&](auto &at) { return dx.get(at); }, "gradient of a folded convolution", 8);
        // Folding and unfolding returns the elements that the folded tensor has.
        Tensor back(CUDNN_DATA_FLOAT, dx.dims);
        OK(cudnnTransformTensorEx(handle(), fold_grad, &one, dx.desc, dx.data(), &zero, thick.desc, dx2.data()));
        OK(cudnnTransformTensorEx(handle(), unfold_grad, &one, thick.desc, dx2.data(), &zero, back.desc, back.data()));
        int seen = (out + (taps + stride - 1) / stride - 1) * stride - pad;
        compare(back, [&](auto &at) { return at[2] < seen && at[3] < seen ? dx.get(at) : 0; }, "folded and back");
        OK(cudnnSetConvolution2dDescriptor(conv, pad, pad, stride, stride, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
        IS(CUDNN_STATUS_NOT_SUPPORTED, cudnnGetFoldedConvBackwardDataDescriptors(handle(), filter, dy.desc, conv, dx.desc, CUDNN_TENSOR_NCHW, thin, wide.desc,
                                                                               flat, thick.desc, fold_filter, pad_diff, fold_grad, unfold_grad));
        for (auto t : {fold_filter, pad_diff, fold_grad, unfold_grad}) OK(cudnnDestroyTensorTransformDescriptor(t));
        OK(cudnnDestroyConvolutionDescriptor(conv)), OK(cudnnDestroyConvolutionDescriptor(flat));
        OK(cudnnDestroyFilterDescriptor(filter)), OK(cudnnDestroyFilterDescriptor(thin));
    }
}
Area c("folded", folded);

void chained() {
    for (auto type : {CUDNN_DATA_DOUBLE, CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}) {
        const int B = 2, D = 3, L = 6, P = 3, M = 4;
        auto wide = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
        Buffer x(type, B * D * 3 * L), wp(type, D * 3 * P), wm(type, D * M), skip(type, D), y(type, B * D * L), gated(type, B * D * L), dy(type, B * D * L);
        Buffer dx(type, x.size()), dwp(wide, wp.size()), dwm(wide, wm.size()), dskip(wide, D);
        x.random(1), wp.random(2), wm.random(3), skip.random(4), dy.random(5);
        auto projected = [&](int row, int i, int t) {
            double sum = 0;
            for (int j = 0; j < P && j <= t; j++) sum += x.get((size_t(row) * 3 + i) * L + t - j) * wp.get((row % D * 3 + i) * P + P - 1 - j);
            return sum;
        };
        auto z = [&](int row, int t) { return projected(row, 1, t) * projected(row, 2, t); };
        auto mixed = [&](int row, int t) {
            double sum = skip.get(row % D) * z(row, t);
            for (int j = 0; j < M && j <= t; j++) sum += z(row, t - j) * wm.get(row % D * M + M - 1 - j);
            return sum;
        };
        OK(cudnnB2BCausalConv1dForward(nullptr, x.data(), wp.data(), wm.data(), skip.data(), y.data(), gated.data(), B, D, L, P, M, type));
        OK(cudnnB2BCausalConv1dBackward(nullptr, x.data(), wp.data(), wm.data(), skip.data(), y.data(), dy.data(), dx.data(), dwp.data(), dwm.data(), dskip.data(),
                                        B, D, L, P, M, type, wide));
        bool right = true;
        for (int row = 0; row < B * D; row++)
            for (int t = 0; t < L; t++) {
                right &= close(y.get(row * L + t), mixed(row, t), type, 4);
                right &= close(gated.get(row * L + t), mixed(row, t) * projected(row, 0, t), type, 4);
            }
        CHECK(right);
        if (type == CUDNN_DATA_DOUBLE) {
            auto loss = [&] {
                double all = 0;
                for (int row = 0; row < B * D; row++)
                    for (int t = 0; t < L; t++) all += mixed(row, t) * projected(row, 0, t) * dy.get(row * L + t);
                return all;
            };
            compare_gradient(dx, x, loss, "gradient of chained convolutions");
            compare_gradient(dwp, wp, loss, "gradient of the projection");
            compare_gradient(dwm, wm, loss, "gradient of the mixer");
            compare_gradient(dskip, skip, loss, "gradient of what goes around");
        }
        IS(CUDNN_STATUS_BAD_PARAM, cudnnB2BCausalConv1dForward(nullptr, x.data(), wp.data(), wm.data(), skip.data(), y.data(), gated.data(), B, 0, L, P, M, type));
    }
}
Area d("chained", chained);

template <class Index> void neighbours(cudnnDataType_t index_type) {
    const int S = 4, T = 3, E = 6, F = 2, G = 3, P = 2;
    Index offsets[] = {0, 3, 3, 6}, sources[] = {0, 3, 1, 3, 3, 2}, edges[] = {5, 4, 3, 2, 1, 0};
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}) {
        for (auto op : {CUDNN_GNN_AGG_SUM, CUDNN_GNN_AGG_MEAN, CUDNN_GNN_AGG_MAX, CUDNN_GNN_AGG_MIN}) {
            for (bool mapped : {false, true}) {
                cudnnGnnCscGraph_t graph = {offsets, sources, mapped ? edges : nullptr, nullptr, S, T, E, index_type};
                bool extremum = op == CUDNN_GNN_AGG_MAX || op == CUDNN_GNN_AGG_MIN;
                const int row = F + G + P;
                Buffer nodes(type, S * F), links(type, E * G), passed(type, T * P), out(type, T * row), gradient(type, T * row);
                nodes.random(1), links.random(2), passed.random(3), gradient.random(4);
                std::vector<Index> positions(T * (F + G), 77);
                OK(cudnnGnnAggSimpleForward(nullptr, &graph, nodes.data(), links.data(), passed.data(), out.data(), extremum ? positions.data() : nullptr, F, G, P,
                                            type, op));
                Buffer dnodes(type, S * F), dlinks(type, E * G), dpassed(type, T * P), wn(CUDNN_DATA_DOUBLE, S * F), wl(CUDNN_DATA_DOUBLE, E * G);
                dnodes.fill(0), dlinks.fill(0), wn.fill(0), wl.fill(0);
                OK(cudnnGnnAggSimpleBackward(nullptr, &graph, gradient.data(), extremum ? positions.data() : nullptr, dnodes.data(), dlinks.data(), dpassed.data(),
                                             F, G, P, type, op));
                bool right = true;
                for (int t = 0; t < T; t++) {
                    for (int c = 0; c < F + G; c++) {
                        double best = 0, sum = 0;
                        int where = -1, first = int(offsets[t]), end = int(offsets[t + 1]);
                        auto at = [&](int e) { return c < F ? int(sources[e]) * F + c : (mapped ? int(edges[e]) : e) * G + c - F; };
                        auto value = [&](int e) { return c < F ? nodes.get(at(e)) : links.get(at(e)); };
                        for (int e = first; e < end; e++) {
                            sum += value(e);
                            if (where < 0 || (op == CUDNN_GNN_AGG_MAX ? value(e) > best : value(e) < best)) best = value(e), where = e;
                        }
                        double share = gradient.get(t * row + c);
                        double wanted = op == CUDNN_GNN_AGG_SUM ? sum : op == CUDNN_GNN_AGG_MEAN ? sum / std::max(1, end - first) : best;
                        right &= close(out.get(t * row + c), where < 0 ? 0 : wanted, type, 2);
                        auto &to = c < F ? wn : wl;
                        for (int e = first; e < end; e++) {
                            if (extremum && e != where) continue;
                            to.set(at(e), to.get(at(e)) + (op == CUDNN_GNN_AGG_MEAN ? share / (end - first) : share));
                        }
                    }
                    for (int c = 0; c < P; c++) {
                        right &= out.get(t * row + F + G + c) == passed.get(t * P + c);
                        right &= dpassed.get(t * P + c) == gradient.get(t * row + F + G + c);
                    }
                }
                for (size_t i = 0; i < wn.size(); i++) right &= close(dnodes.get(i), wn.get(i), type, 3);
                for (size_t i = 0; i < wl.size(); i++) right &= close(dlinks.get(i), wl.get(i), type, 3);
                CHECK(right);
                if (extremum) IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, cudnnGnnAggSimpleForward(nullptr, &graph, nodes.data(), links.data(), passed.data(), out.data(), nullptr, F, G, P, type, op));
            }
        }
    }
    Index outside[] = {0, 3, 1, 9, 3, 2};
    Buffer nodes(CUDNN_DATA_FLOAT, S * F), out(CUDNN_DATA_FLOAT, T * F);
    cudnnGnnCscGraph_t wrong = {offsets, outside, nullptr, nullptr, S, T, E, index_type};
    IS(CUDNN_STATUS_BAD_PARAM, cudnnGnnAggSimpleForward(nullptr, &wrong, nodes.data(), nullptr, nullptr, out.data(), nullptr, F, 0, 0, CUDNN_DATA_FLOAT, CUDNN_GNN_AGG_SUM));
}
void graphs() {
    neighbours<int32_t>(CUDNN_DATA_INT32);
    neighbours<int64_t>(CUDNN_DATA_INT64);
}
Area e("neighbours", graphs);
} // namespace
