// Convolutions of all kinds against loops.
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
    D x = tensor(1, xd, {CUDNN_DATA_FLOAT, false, xs, false, 0}), w = tensor(2, wd, {CUDNN_DATA_FLOAT, false, ws, false, 0}),
      y = tensor(3, yd, {CUDNN_DATA_FLOAT, false, ys, false, 0});
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

void convolutions(cudnnHandle_t handle) {
    one(handle, {2, 1, 3, 4, 6, 5, 3, 3, 1, 1, 1, 1, false, false, 1, 0});
    one(handle, {2, 1, 3, 4, 6, 5, 3, 3, 1, 1, 1, 1, false, true, 1, 0});
    one(handle, {1, 2, 2, 3, 7, 7, 3, 2, 2, 1, 1, 1, false, false, 1, 0});
    one(handle, {1, 2, 2, 3, 7, 7, 3, 2, 2, 0, 1, 2, false, true, 2.5f, 0.5f});
    one(handle, {1, 1, 2, 3, 5, 5, 3, 2, 1, 0, 0, 1, true, false, 1, 0});
    one(handle, {1, 2, 2, 2, 5, 5, 3, 2, 1, 1, 1, 1, true, true, 2, 1.5f});
    one(handle, {1, 4, 1, 1, 5, 5, 3, 3, 1, 1, 1, 1, false, false, 1, 0});
}
