// NaN in operations that compare, with POINTWISE_NAN_PROPAGATION and RESAMPLE_NAN_PROPAGATION.
#include "raw.hpp"

static const Ints DIMS = {2, 3, 4, 5};

struct Relu {
    double lower, upper, slope;
};

static Floats some(int64_t count, unsigned seed, int64_t first) {
    Floats v = numbers(count, seed);
    for (int64_t i = first; i < count; i += 5) v[i] = NAN;
    return v;
}

static D parameters(int mode, int nan, const Relu &relu = {0, INFINITY, 0}) {
    D p(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    p.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode).kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    p.kind(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, nan);
    if (relu.lower != 0) p.real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, relu.lower);
    if (relu.upper != INFINITY) p.real(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, relu.upper);
    if (relu.slope != 0) p.real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, relu.slope);
    p.done();
    return p;
}

// NaN becomes the lower bound, or stays NaN; with a slope it also stays NaN.
static double relu(double v, const Relu &r, int nan) {
    if (std::isnan(v)) return nan || r.slope != 0 ? NAN : r.lower;
    return v < r.lower ? r.lower + r.slope * (v - r.lower) : std::min(v, r.upper);
}

static void activation(cudnnHandle_t handle, const Relu &r, int nan) {
    D p = parameters(CUDNN_POINTWISE_RELU_FWD, nan, r), x = tensor(1, DIMS), y = tensor(2, DIMS), op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).done();
    Floats in = some(120, 1, 1), dy = numbers(120, 2), out(120, NOTHING), right, slopes;
    for (int i = 0; i < 120; i++) {
        right.push_back((float)relu(in[i], r, nan));
        double slope = in[i] > r.lower && in[i] < r.upper ? 1 : in[i] <= r.lower ? r.slope : 0;
        slopes.push_back(std::isnan(in[i]) ? (nan ? NAN : (float)(dy[i] * r.slope)) : (float)(dy[i] * slope));
    }
    std::string name = "relu of NaN, mode " + std::to_string(nan);
    run(handle, name, {&op}, {{1, in.data()}, {2, out.data()}}, [&](const std::string &what) {
        close_to(what, out, right);
        out.assign(120, NOTHING);
    });
    D q = parameters(CUDNN_POINTWISE_RELU_BWD, nan, r), tdy = tensor(3, DIMS), tdx = tensor(4, DIMS), back(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    back.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, q).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    back.with(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, tdy).with(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, tdx).done();
    run(handle, name + ", gradient", {&back}, {{1, in.data()}, {3, dy.data()}, {4, out.data()}}, [&](const std::string &what) {
        close_to(what, out, slopes);
        out.assign(120, NOTHING);
    });
}

static void extrema(cudnnHandle_t handle, int mode, int nan) {
    D p = parameters(mode, nan), a = tensor(1, DIMS), b = tensor(2, {1, 3, 1, 1}), y = tensor(3, DIMS), op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, a).with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).done();
    Floats in = some(120, 1, 1), other = {0.5f, NAN, -0.5f}, out(120, NOTHING), right;
    for (int i = 0; i < 120; i++) {
        float v = in[i], w = other[i / 20 % 3], r = std::isnan(v) ? w : std::isnan(w) ? v : mode == CUDNN_POINTWISE_MAX ? std::max(v, w) : std::min(v, w);
        right.push_back(nan && (std::isnan(v) || std::isnan(w)) ? NAN : r);
    }
    run(handle, "extrema of NaN, mode " + std::to_string(nan), {&op}, {{1, in.data()}, {2, other.data()}, {3, out.data()}}, [&](const std::string &what) {
        close_to(what, out, right);
        out.assign(120, NOTHING);
    });
}

// A product followed by ReLU, fused and separate.
static void fused(cudnnHandle_t handle, const Relu &r, int nan) {
    D p = parameters(CUDNN_POINTWISE_RELU_FWD, nan, r), m(CUDNN_BACKEND_MATMUL_DESCRIPTOR), a = tensor(1, {1, 4, 6}), b = tensor(2, {1, 6, 5}), v = between(3, {1, 4, 5});
    D y = tensor(4, {1, 4, 5}), product(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    m.kind(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    product.with(CUDNN_ATTR_OPERATION_MATMUL_DESC, m).with(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a).with(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    product.with(CUDNN_ATTR_OPERATION_MATMUL_CDESC, v).done();
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, v).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).done();
    Floats A = numbers(24, 1), B = numbers(30, 2), out(20, NOTHING), right;
    A[7] = NAN;
    for (int i = 0; i < 20; i++) {
        double sum = 0;
        for (int k = 0; k < 6; k++) sum += (double)A[i / 5 * 6 + k] * B[k * 5 + i % 5];
        right.push_back((float)relu(sum, r, nan));
    }
    run(handle, "product of NaN with relu, mode " + std::to_string(nan), {&product, &op}, {{1, A.data()}, {2, B.data()}, {4, out.data()}}, [&](const std::string &what) {
        close_to(what, out, right);
        out.assign(20, NOTHING);
    });
}

static void pool(cudnnHandle_t handle, int nan) {
    Ints xd = {2, 3, 6, 4}, yd = {2, 3, 3, 2};
    D p(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR), x = tensor(1, xd), y = tensor(2, yd), dy = tensor(3, yd), dx = tensor(4, xd);
    p.kind(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, CUDNN_RESAMPLE_MAXPOOL).kind(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    p.ints(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, {2}).kind(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, CUDNN_NEG_INF_PAD);
    p.kind(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, nan);
    p.ints(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, {2, 2}).ints(CUDNN_ATTR_RESAMPLE_STRIDES, {2, 2});
    p.ints(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, {0, 0}).ints(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, {0, 0}).done();
    Floats in = some(144, 1, 1), g = numbers(36, 2), out(36, NOTHING), back(144, NOTHING), right(36), slopes(144, 0);
    for (int i = 0; i < 36; i++) {
        int base = i / 6 * 24 + i / 2 % 3 * 8 + i % 2 * 2, best = -1;
        bool none = false;
        for (int at : {base, base + 1, base + 4, base + 5}) {
            float v = in[at];
            none = none || std::isnan(v);
            if (nan && std::isnan(v)) v = INFINITY;
            float most = best < 0 ? NAN : nan && std::isnan(in[best]) ? INFINITY : in[best];
            if (best < 0 || (std::isnan(most) && !std::isnan(v)) || v > most) best = at;
        }
        right[i] = nan && none ? NAN : in[best];
        slopes[best] += g[i];
    }
    D f(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR), b(CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR);
    f.with(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, p).with(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, x).with(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, y).done();
    run(handle, "maxima of NaN, mode " + std::to_string(nan), {&f}, {{1, in.data()}, {2, out.data()}}, [&](const std::string &what) {
        close_to(what, out, right);
        out.assign(36, NOTHING);
    });
    b.with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, p).with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, dx).with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, dy);
    b.with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, x).with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC, y).done();
    run(handle, "maxima of NaN, gradient, mode " + std::to_string(nan), {&b}, {{1, in.data()}, {2, right.data()}, {3, g.data()}, {4, back.data()}},
        [&](const std::string &what) {
            close_to(what, back, slopes);
            back.assign(144, NOTHING);
        });
}

void nans(cudnnHandle_t handle) {
    for (int nan : {CUDNN_NOT_PROPAGATE_NAN, CUDNN_PROPAGATE_NAN}) {
        for (const Relu &r : {Relu{0, INFINITY, 0}, Relu{0, 1, 0}, Relu{-0.5, 1, 0}, Relu{0, INFINITY, 0.25}, Relu{-0.5, 1, 0.25}}) {
            activation(handle, r, nan);
            fused(handle, r, nan);
        }
        extrema(handle, CUDNN_POINTWISE_MAX, nan);
        extrema(handle, CUDNN_POINTWISE_MIN, nan);
        pool(handle, nan);
    }
}
