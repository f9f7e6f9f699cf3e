// Convolutions of all kinds, compared with loops.
#include "raw.hpp"

struct Shape {
    int64_t n, g, c, k, h, w, r, s, stride, pad, post, dilation;
    bool flipped, channels_last;
    float alpha, beta;
};

static int64_t out(int64_t i, int64_t k, const Shape &p) { return (i + p.pad + p.post - ((k - 1) * p.dilation + 1)) / p.stride + 1; }

static Ints order(const Ints &d, bool last) {
    if (!last) return packed(d);
    return {d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]};
}

static void one(cudnnHandle_t handle, const Shape &p) {
    Ints xd = {p.n, p.g * p.c, p.h, p.w}, wd = {p.g * p.k, p.c, p.r, p.s}, yd = {p.n, p.g * p.k, out(p.h, p.r, p), out(p.w, p.s, p)};
    Ints xs = order(xd, p.channels_last), ws = order(wd, p.channels_last), ys = order(yd, p.channels_last);
    D conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    conv.kind(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    conv.kind(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, p.flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION);
    conv.ints(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2}).ints(CUDNN_ATTR_CONVOLUTION_DILATIONS, {p.dilation, p.dilation});
    conv.ints(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {p.stride, p.stride}).ints(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {p.pad, p.pad});
    conv.ints(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {p.post, p.post}).done();
    D x = tensor(1, xd, {CUDNN_DATA_FLOAT, false, xs, false, 0, 1}), w = tensor(2, wd, {CUDNN_DATA_FLOAT, false, ws, false, 0, 1}),
      y = tensor(3, yd, {CUDNN_DATA_FLOAT, false, ys, false, 0, 1});
    Floats X = numbers(product(xd), 1), W = numbers(product(wd), 2), Y = numbers(product(yd), 3);
    Floats y0 = Y, x0 = X, w0 = W, ry(Y.size()), rx(X.size()), rw(W.size());
    for (int64_t n = 0; n < p.n; n++)
        for (int64_t g = 0; g < p.g; g++)
            for (int64_t k = 0; k < p.k; k++)
                for (int64_t oh = 0; oh < yd[2]; oh++)
                    for (int64_t ow = 0; ow < yd[3]; ow++)
                        for (int64_t c = 0; c < p.c; c++)
                            for (int64_t r = 0; r < p.r; r++)
                                for (int64_t s = 0; s < p.s; s++) {
                                    int64_t ih = oh * p.stride - p.pad + r * p.dilation, iw = ow * p.stride - p.pad + s * p.dilation;
                                    if (ih < 0 || ih >= p.h || iw < 0 || iw >= p.w) continue;
                                    int64_t fr = p.flipped ? p.r - 1 - r : r, fs = p.flipped ? p.s - 1 - s : s;
                                    int64_t xi = n * xs[0] + (g * p.c + c) * xs[1] + ih * xs[2] + iw * xs[3];
                                    int64_t wi = (g * p.k + k) * ws[0] + c * ws[1] + fr * ws[2] + fs * ws[3];
                                    int64_t yi = n * ys[0] + (g * p.k + k) * ys[1] + oh * ys[2] + ow * ys[3];
                                    ry[yi] += x0[xi] * w0[wi];
                                    rx[xi] += y0[yi] * w0[wi];
                                    rw[wi] += x0[xi] * y0[yi];
                                }
    auto blend = [&](Floats &r, const Floats &old) {
        for (size_t i = 0; i < r.size(); i++) r[i] = p.alpha * r[i] + (p.beta == 0 ? 0 : p.beta * old[i]);
    };
    blend(ry, y0), blend(rx, x0), blend(rw, w0);
    auto again = [&](Floats &v, const Floats &old) { v = p.beta == 0 ? Floats(old.size(), NOTHING) : old; };
    D f(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    f.with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv).with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    f.with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w).with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    f.single(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, p.alpha).single(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, p.beta).done();
    again(Y, y0);
    run(handle, "convolution", {&f}, {{1, x0.data()}, {2, w0.data()}, {3, Y.data()}}, [&](const std::string &name) {
        close_to(name, Y, ry, 1e-4);
        again(Y, y0);
    });
    D b(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
    b.with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, conv).with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, x);
    b.with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, w).with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, y);
    b.single(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, p.alpha).single(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, p.beta).done();
    again(X, x0);
    run(handle, "data gradient", {&b}, {{1, X.data()}, {2, w0.data()}, {3, y0.data()}}, [&](const std::string &name) {
        close_to(name, X, rx, 1e-4);
        again(X, x0);
    });
    D v(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
    v.with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, conv).with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, x);
    v.with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, w).with(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, y);
    v.single(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, p.alpha).single(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, p.beta).done();
    again(W, w0);
    run(handle, "filter gradient", {&v}, {{1, x0.data()}, {2, W.data()}, {3, y0.data()}}, [&](const std::string &name) {
        close_to(name, W, rw, 1e-4);
        again(W, w0);
    });
}

// 8-bit vectors of channels, as in cudnn-frontend's samples: 32-bit sums, scaled by a host scalar, ReLU, rounded.
static void vectors(cudnnHandle_t handle, int count) {
    const int64_t C = 64, K = 64, H = 5, W = 6;
    auto kind = [&](int dtype, bool is_virtual = false) { return TensorOf{dtype, is_virtual, {}, false, 0, count}; };
    const Ints xd = {1, C / count, H, W}, yd = {1, K / count, H, W};
    D x = tensor(1, xd, kind(CUDNN_DATA_INT8)), w = tensor(2, {K, C / count, 3, 3}, kind(CUDNN_DATA_INT8)), sums = tensor(3, yd, kind(CUDNN_DATA_INT32, true));
    D factor = tensor(4, {1, 1, 1, 1}, {CUDNN_DATA_FLOAT, false, {}, true, 0, 1}), scaled = tensor(5, yd, kind(CUDNN_DATA_FLOAT, true)), y = tensor(6, yd, kind(CUDNN_DATA_INT8));
    D conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR), f(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    conv.kind(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_INT32).kind(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
    conv.ints(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2}).ints(CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1}).ints(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {1, 1});
    conv.ints(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {1, 1}).ints(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {1, 1}).done();
    f.with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv).with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    f.with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w).with(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, sums).done();
    D times(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), relu(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), product(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), last(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    times.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_MUL).kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    relu.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD).kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    product.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, times).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, sums);
    product.with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, factor).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, scaled).done();
    last.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, relu).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, scaled).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).done();
    std::vector<int8_t> X(C * H * W), F(K * C * 9), Y(K * H * W, 77);
    for (size_t i = 0; i < X.size(); i++) X[i] = int8_t(i * 37 % 23) - 11;
    for (size_t i = 0; i < F.size(); i++) F[i] = int8_t(i * 53 % 19) - 9;
    // Position of a channel and an element in it, of a sample or a filter.
    auto place = [&](int64_t channels, int64_t size, int64_t n, int64_t c, int64_t inner) { return ((n * (channels / count) + c / count) * size + inner) * count + c % count; };
    std::vector<int> right(Y.size());
    const float by = 0.0625f;
    for (int64_t k = 0; k < K; k++)
        for (int64_t h = 0; h < H; h++)
            for (int64_t v = 0; v < W; v++) {
                int sum = 0;
                for (int64_t c = 0; c < C; c++)
                    for (int64_t r = 0; r < 3; r++)
                        for (int64_t s = 0; s < 3; s++) {
                            int64_t i = h + r - 1, j = v + s - 1;
                            if (i >= 0 && i < H && j >= 0 && j < W) sum += X[place(C, H * W, 0, c, i * W + j)] * F[place(C, 9, k, c, r * 3 + s)];
                        }
                right[place(K, H * W, 0, k, h * W + v)] = std::min(127, int(std::nearbyint(std::max(0.0f, sum * by))));
            }
    run(handle, "vectors of " + std::to_string(count), {&f, &product, &last}, {{1, X.data()}, {2, F.data()}, {4, &by}, {6, Y.data()}}, [&](const std::string &what) {
        check(std::equal(Y.begin(), Y.end(), right.begin()), what);
        Y.assign(Y.size(), 77);
    });
}

void convolutions(cudnnHandle_t handle) {
    for (int count : {4, 32}) vectors(handle, count);
    one(handle, {2, 1, 3, 4, 6, 5, 3, 3, 1, 1, 1, 1, false, false, 1, 0});
    one(handle, {2, 1, 3, 4, 6, 5, 3, 3, 1, 1, 1, 1, false, true, 1, 0});
    one(handle, {1, 2, 2, 3, 7, 7, 3, 2, 2, 1, 1, 1, false, false, 1, 0});
    one(handle, {1, 2, 2, 3, 7, 7, 3, 2, 2, 0, 1, 2, false, true, 2.5f, 0.5f});
    one(handle, {1, 1, 2, 3, 5, 5, 3, 2, 1, 0, 0, 1, true, false, 1, 0});
    one(handle, {1, 2, 2, 2, 5, 5, 3, 2, 1, 1, 1, 1, true, true, 2, 1.5f});
    one(handle, {1, 4, 1, 1, 5, 5, 3, 3, 1, 1, 1, 1, false, false, 1, 0});
}
