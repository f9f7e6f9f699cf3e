// Graphs of the kinds that cudnn-frontend's samples have: fused convolutions in each direction, statistics and normalisations around them, products of
// mixed types, reductions, movements, comparisons of indices, and pooling with indices.
#pragma once
#include "attention.hpp"
#include "common.hpp"

namespace samples_area {
namespace {

using attention_area::floats;
using attention_area::half_graph;
using attention_area::halves;
using Mode = fe::PointwiseMode_t;

Tensor apply(fe::graph::Graph &g, Mode mode, const Tensor &a, const Tensor &b = nullptr) {
    auto options = fe::graph::Pointwise_attributes().set_mode(mode).set_compute_data_type(fe::DataType_t::FLOAT);
    return b ? g.pointwise(a, b, options) : g.pointwise(a, options);
}

Floats rounded(const Floats &v) { return floats(halves(v)); }

// 2 images of 4 channels of 6 x 5, channels last; 8 filters of 3 x 3, with padding.
const int N = 2, C = 4, K = 8, H = 6, W = 5;
const Ints XD = {N, C, H, W}, WD = {K, C, 3, 3}, YD = {N, K, H, W}, CD = {1, C, 1, 1}, KD = {1, K, 1, 1};

// Calls f(x, w, y) with the places of all products.
void products(const std::function<void(int, int, int)> &f) {
    for (int n = 0; n < N; n++)
        for (int p = 0; p < H * W; p++)
            for (int t = 0; t < 9; t++) {
                int h = p / W + t / 3 - 1, w = p % W + t % 3 - 1;
                if (h < 0 || h >= H || w < 0 || w >= W) continue;
                for (int k = 0; k < K; k++)
                    for (int c = 0; c < C; c++) f(((n * H + h) * W + w) * C + c, (k * 9 + t) * C + c, (n * H * W + p) * K + k);
            }
}

template <typename Options> Options around() { return Options().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}); }

// Convolution, scale, bias, ReLU in half precision.
void scaled_convolution(cudnnHandle_t handle) {
    Floats x = rounded(numbers(N * C * H * W, 1)), w = rounded(numbers(K * C * 9, 2)), s = rounded(numbers(K, 3)), b = rounded(numbers(K, 4)), r(N * K * H * W);
    products([&](int i, int j, int k) { r[k] += x[i] * w[j]; });
    for (size_t i = 0; i < r.size(); i++) r[i] = std::max(0.0f, r[i] * s[i % K] + b[i % K]);
    auto hx = halves(x), hw = halves(w), hs = halves(s), hb = halves(b), hy = halves(r);
    auto g = half_graph();
    auto tx = input(g, "x", XD, channels_last(XD)), tw = input(g, "w", WD, channels_last(WD)), ts = input(g, "s", KD, channels_last(KD)), tb = input(g, "b", KD, channels_last(KD));
    auto conv = g.conv_fprop(tx, tw, around<fe::graph::Conv_fprop_attributes>());
    conv->set_dim(YD).set_stride(channels_last(YD));
    auto y = apply(g, Mode::RELU_FWD, apply(g, Mode::ADD, apply(g, Mode::MUL, conv, ts), tb));
    y->set_output(true);
    run(handle, "convolution, scale, bias, ReLU", g, {{tx, hx.data()}, {tw, hw.data()}, {ts, hs.data()}, {tb, hb.data()}, {y, hy.data()}}, [&](const std::string &what) {
        close_to(what, floats(hy), r, 4e-3);
        std::fill(hy.begin(), hy.end(), __float2half(-77));
    });
}

// Gradient of data, gradient of ReLU, its sums over everything but channels, and a second sum with another factor.
void masked_gradient(cudnnHandle_t handle) {
    Floats dy = numbers(N * K * H * W, 1), w = numbers(K * C * 9, 2), before = numbers(N * C * H * W, 3), other = numbers(N * C * H * W, 4), r(before.size()), sums(C), along(C);
    products([&](int i, int j, int k) { r[i] += dy[k] * w[j]; });
    for (size_t i = 0; i < r.size(); i++) r[i] = before[i] > 0 ? r[i] : 0, sums[i % C] += r[i], along[i % C] += r[i] * other[i];
    Floats dx(r.size()), got(C), second(C);
    auto g = float_graph();
    auto tdy = input(g, "dy", YD, channels_last(YD)), tw = input(g, "w", WD, channels_last(WD)), tb = input(g, "before", XD, channels_last(XD)), to = input(g, "other", XD, channels_last(XD));
    auto made = g.conv_dgrad(tdy, tw, around<fe::graph::Conv_dgrad_attributes>());
    made->set_dim(XD).set_stride(channels_last(XD));
    auto tdx = apply(g, Mode::RELU_BWD, made, tb);
    tdx->set_output(true).set_dim(XD).set_stride(channels_last(XD));
    auto sum = [&](const Tensor &t) {
        auto s = g.reduction(t, fe::graph::Reduction_attributes().set_mode(fe::ReductionMode_t::ADD));
        s->set_output(true).set_dim(CD).set_stride(channels_last(CD));
        return s;
    };
    auto t1 = sum(tdx), t2 = sum(apply(g, Mode::MUL, tdx, to));
    run(handle, "gradient of data, of ReLU, and two of biases", g, {{tdy, dy.data()}, {tw, w.data()}, {tb, before.data()}, {to, other.data()}, {tdx, dx.data()}, {t1, got.data()}, {t2, second.data()}},
        [&](const std::string &what) { close_to(what, dx, r), close_to(what + ": sums", got, sums), close_to(what + ": products", second, along); });
}

// The gradient of weights of a source that is scaled, shifted and bent before the convolution.
void gradient_of_bent(cudnnHandle_t handle) {
    Floats x = numbers(N * C * H * W, 1), s = numbers(C, 2), b = numbers(C, 3), dy = numbers(N * K * H * W, 4), bent(x.size()), r(K * C * 9), dw(r.size());
    for (size_t i = 0; i < x.size(); i++) bent[i] = std::max(0.0f, x[i] * s[i % C] + b[i % C]);
    products([&](int i, int j, int k) { r[j] += bent[i] * dy[k]; });
    auto g = float_graph();
    auto tx = input(g, "x", XD, channels_last(XD)), ts = input(g, "s", CD, channels_last(CD)), tb = input(g, "b", CD, channels_last(CD)), tdy = input(g, "dy", YD, channels_last(YD));
    auto made = apply(g, Mode::RELU_FWD, apply(g, Mode::ADD, apply(g, Mode::MUL, tx, ts), tb));
    auto tdw = g.conv_wgrad(tdy, made, around<fe::graph::Conv_wgrad_attributes>());
    tdw->set_output(true).set_dim(WD).set_stride(channels_last(WD));
    run(handle, "scale, bias, ReLU, gradient of weights", g, {{tx, x.data()}, {ts, s.data()}, {tb, b.data()}, {tdy, dy.data()}, {tdw, dw.data()}}, [&](const std::string &what) { close_to(what, dw, r, 1e-3); });
}

// The same prologue, a convolution, and the sums of its result; and what batch normalisation makes of those sums.
void statistics(cudnnHandle_t handle) {
    Floats x = numbers(N * C * H * W, 1), s = numbers(C, 2), b = numbers(C, 3), w = numbers(K * C * 9, 4), r(N * K * H * W), sum(K), squares(K);
    products([&](int i, int j, int k) { r[k] += std::max(0.0f, x[i] * s[i % C] + b[i % C]) * w[j]; });
    for (size_t i = 0; i < r.size(); i++) sum[i % K] += r[i], squares[i % K] += r[i] * r[i];
    Floats y(r.size()), got(K), second(K);
    auto g = float_graph();
    auto tx = input(g, "x", XD, channels_last(XD)), ts = input(g, "s", CD, channels_last(CD)), tb = input(g, "b", CD, channels_last(CD)), tw = input(g, "w", WD, channels_last(WD));
    auto made = apply(g, Mode::RELU_FWD, apply(g, Mode::ADD, apply(g, Mode::MUL, tx, ts), tb));
    auto ty = g.conv_fprop(made, tw, around<fe::graph::Conv_fprop_attributes>());
    ty->set_output(true).set_dim(YD).set_stride(channels_last(YD));
    auto [t1, t2] = g.genstats(ty, fe::graph::Genstats_attributes().set_compute_data_type(fe::DataType_t::FLOAT));
    t1->set_output(true).set_data_type(fe::DataType_t::FLOAT), t2->set_output(true).set_data_type(fe::DataType_t::FLOAT);
    run(handle, "convolution and statistics", g, {{tx, x.data()}, {ts, s.data()}, {tb, b.data()}, {tw, w.data()}, {ty, y.data()}, {t1, got.data()}, {t2, second.data()}},
        [&](const std::string &what) { close_to(what, y, r, 1e-3), close_to(what + ": sums", got, sum, 1e-3), close_to(what + ": squares", second, squares, 1e-3); });

    const float epsilon = 1e-3f, momentum = 0.1f, count = (float)(N * H * W);
    Floats scale = numbers(K, 5), bias = numbers(K, 6), rm = numbers(K, 7), rv = numbers(K, 8), e1(K), e2(K), mean(K), inverse(K), nm(K), nv(K), o[6];
    for (int k = 0; k < K; k++) {
        mean[k] = sum[k] / count;
        float variance = squares[k] / count - mean[k] * mean[k];
        inverse[k] = 1 / std::sqrt(variance + epsilon);
        e1[k] = scale[k] * inverse[k], e2[k] = bias[k] - mean[k] * e1[k];
        nm[k] = 0.9f * rm[k] + 0.1f * mean[k], nv[k] = 0.9f * rv[k] + 0.1f * variance * count / (count - 1);
    }
    for (auto &v : o) v.resize(K);
    auto f = float_graph();
    auto f1 = input(f, "sum", KD), f2 = input(f, "squares", KD), fs = input(f, "scale", KD), fb = input(f, "bias", KD), fm = input(f, "mean", KD), fv = input(f, "variance", KD);
    auto fe_ = f.tensor(epsilon), fp = f.tensor(momentum), fc = f.tensor((int64_t)(N * H * W));
    auto options = fe::graph::BN_finalize_attributes().set_previous_running_stats(fm, fv, fp);
    auto done = f.bn_finalize(f1, f2, fs, fb, fe_, fc, options);
    Bound bound = {{f1, sum.data()}, {f2, squares.data()}, {fs, scale.data()}, {fb, bias.data()}, {fm, rm.data()}, {fv, rv.data()}};
    for (int i = 0; i < 6; i++) done[i]->set_output(true), bound[done[i]] = o[i].data();
    run(handle, "finalized statistics", f, bound, [&](const std::string &what) {
        const Floats *wanted[] = {&e1, &e2, &mean, &inverse, &nm, &nv};
        for (int i = 0; i < 6; i++) close_to(what + ": output " + std::to_string(i), o[i], *wanted[i], 2e-3);
    });
}

// Batch normalisation in training, a residual and ReLU, and all of it backward; inference by given statistics.
void residual(cudnnHandle_t handle) {
    const int count = N * H * W;
    const float epsilon = 1e-3f;
    Floats x = numbers(count * C, 1), z = numbers(count * C, 2), scale = numbers(C, 3), bias = numbers(C, 4), dy = numbers(count * C, 5);
    Floats y(x.size()), mean(C), inverse(C), masked(x.size()), dx(x.size()), ds(C), db(C);
    for (size_t i = 0; i < x.size(); i++) mean[i % C] += x[i] / count;
    for (size_t i = 0; i < x.size(); i++) inverse[i % C] += (x[i] - mean[i % C]) * (x[i] - mean[i % C]) / count;
    for (auto &v : inverse) v = 1 / std::sqrt(v + epsilon);
    for (size_t i = 0; i < x.size(); i++) {
        float hat = (x[i] - mean[i % C]) * inverse[i % C];
        y[i] = std::max(0.0f, hat * scale[i % C] + bias[i % C] + z[i]);
        masked[i] = y[i] > 0 ? dy[i] : 0;
        ds[i % C] += masked[i] * hat, db[i % C] += masked[i];
    }
    for (size_t i = 0; i < x.size(); i++) {
        int c = i % C;
        dx[i] = scale[c] * inverse[c] * (masked[i] - db[c] / count - (x[i] - mean[c]) * inverse[c] * ds[c] / count);
    }
    Floats gy(x.size()), gm(C), gi(C), gx(x.size()), gz(x.size()), gs(C), gb(C);
    auto g = float_graph();
    auto tx = input(g, "x", XD, channels_last(XD)), tz = input(g, "z", XD, channels_last(XD)), ts = input(g, "s", CD, channels_last(CD)), tb = input(g, "b", CD, channels_last(CD)), te = g.tensor(epsilon);
    auto made = g.batchnorm(tx, ts, tb, fe::graph::Batchnorm_attributes().set_epsilon(te));
    auto ty = apply(g, Mode::RELU_FWD, apply(g, Mode::ADD, made[0], tz));
    ty->set_output(true), made[1]->set_output(true), made[2]->set_output(true);
    run(handle, "batch norm, add, ReLU", g, {{tx, x.data()}, {tz, z.data()}, {ts, scale.data()}, {tb, bias.data()}, {ty, gy.data()}, {made[1], gm.data()}, {made[2], gi.data()}},
        [&](const std::string &what) { close_to(what, gy, y, 1e-3), close_to(what, gm, mean, 1e-3), close_to(what, gi, inverse, 1e-3); });
    auto b = float_graph();
    auto bdy = input(b, "dy", XD, channels_last(XD)), by = input(b, "y", XD, channels_last(XD)), bx = input(b, "x", XD, channels_last(XD)), bs = input(b, "s", CD, channels_last(CD)),
         bm = input(b, "m", CD, channels_last(CD)), bi = input(b, "i", CD, channels_last(CD));
    auto dz = apply(b, Mode::RELU_BWD, bdy, by);
    dz->set_output(true);
    auto d = b.batchnorm_backward(dz, bx, bs, fe::graph::Batchnorm_backward_attributes().set_saved_mean_and_inv_variance(bm, bi));
    for (auto &t : d) t->set_output(true);
    run(handle, "gradient of ReLU, add, batch norm", b,
        {{bdy, dy.data()}, {by, y.data()}, {bx, x.data()}, {bs, scale.data()}, {bm, mean.data()}, {bi, inverse.data()}, {dz, gz.data()}, {d[0], gx.data()}, {d[1], gs.data()}, {d[2], gb.data()}},
        [&](const std::string &what) { close_to(what, gz, masked), close_to(what, gx, dx, 1e-3), close_to(what, gs, ds, 1e-3), close_to(what, gb, db, 1e-3); });
    auto f = float_graph();
    auto fx = input(f, "x", XD, channels_last(XD)), fm = input(f, "m", CD, channels_last(CD)), fi = input(f, "i", CD, channels_last(CD)), fs = input(f, "s", CD, channels_last(CD)), fb = input(f, "b", CD, channels_last(CD)),
         fz = input(f, "z", XD, channels_last(XD));
    auto fy = apply(f, Mode::RELU_FWD, apply(f, Mode::ADD, f.batchnorm_inference(fx, fm, fi, fs, fb, fe::graph::Batchnorm_inference_attributes()), fz));
    fy->set_output(true);
    run(handle, "inference, add, ReLU", f, {{fx, x.data()}, {fm, mean.data()}, {fi, inverse.data()}, {fs, scale.data()}, {fb, bias.data()}, {fz, z.data()}, {fy, gy.data()}}, [&](const std::string &what) { close_to(what, gy, y, 1e-3); });
}

// Gradients of a batch normalisation's weights, and the factors with which its gradient of data is computed in the next graph.
void weights_of_norm(cudnnHandle_t handle) {
    const int count = N * H * W;
    Floats x = numbers(count * C, 1), dy = numbers(count * C, 2), mean = numbers(C, 3), inverse = numbers(C, 4), scale = numbers(C, 5), ds(C), db(C), dx(x.size()), o[5];
    for (auto &v : inverse) v = std::fabs(v) + 0.1f;
    for (size_t i = 0; i < x.size(); i++) ds[i % C] += dy[i] * (x[i] - mean[i % C]) * inverse[i % C], db[i % C] += dy[i];
    for (size_t i = 0; i < x.size(); i++) {
        int c = i % C;
        dx[i] = scale[c] * inverse[c] * (dy[i] - db[c] / count - (x[i] - mean[c]) * inverse[c] * ds[c] / count);
    }
    for (auto &v : o) v.resize(C);
    auto g = float_graph();
    auto tdy = input(g, "dy", XD, channels_last(XD)), tx = input(g, "x", XD, channels_last(XD)), tm = input(g, "m", CD, channels_last(CD)), ti = input(g, "i", CD, channels_last(CD)), ts = input(g, "s", CD, channels_last(CD));
    auto d = g.dbn_weight(tdy, tx, tm, ti, ts, fe::graph::DBN_weight_attributes());
    Bound bound = {{tdy, dy.data()}, {tx, x.data()}, {tm, mean.data()}, {ti, inverse.data()}, {ts, scale.data()}};
    for (int i = 0; i < 5; i++) d[i]->set_output(true), bound[d[i]] = o[i].data();
    run(handle, "gradients of a norm's weights", g, bound, [&](const std::string &what) {
        close_to(what + ": scale", o[0], ds, 1e-3), close_to(what + ": bias", o[1], db, 1e-3);
        Floats made(x.size());
        for (size_t i = 0; i < x.size(); i++) made[i] = dy[i] * o[3][i % C] + x[i] * o[2][i % C] + o[4][i % C];
        Floats turned(x.size());
        for (size_t i = 0; i < x.size(); i++) turned[i] = dy[i] * o[2][i % C] + x[i] * o[3][i % C] + o[4][i % C];
        auto far = [&](const Floats &v) {
            double most = 0;
            for (size_t i = 0; i < v.size(); i++) most = std::max(most, (double)std::fabs(v[i] - dx[i]));
            return most;
        };
        check(std::min(far(made), far(turned)) < 2e-2, what + ": the gradient of data");
    });
}

// Instance normalisation forward and backward; adaptive layer normalisation, whose scale and bias are those of a row.
void other_norms(cudnnHandle_t handle) {
    const float epsilon = 1e-3f;
    Floats x = numbers(N * C * H * W, 1), scale = numbers(C, 2), bias = numbers(C, 3), dy = numbers(x.size(), 4);
    Floats y(x.size()), mean(N * C), inverse(N * C), dx(x.size()), ds(C), db(C), gy(x.size()), gm(N * C), gi(N * C), gx(x.size()), gs(C), gb(C);
    for (int p = 0; p < N * C; p++) {
        double m = 0, v = 0, s = 0, t = 0;
        const int size = H * W, c = p % C;
        for (int i = 0; i < size; i++) m += x[p * size + i] / (double)size;
        for (int i = 0; i < size; i++) v += (x[p * size + i] - m) * (x[p * size + i] - m) / size;
        double inv = 1 / std::sqrt(v + epsilon);
        for (int i = 0; i < size; i++) {
            double hat = (x[p * size + i] - m) * inv;
            y[p * size + i] = (float)(hat * scale[c] + bias[c]), s += dy[p * size + i], t += dy[p * size + i] * hat;
        }
        for (int i = 0; i < size; i++) dx[p * size + i] = (float)(scale[c] * inv * (dy[p * size + i] - s / size - (x[p * size + i] - m) * inv * t / size));
        mean[p] = (float)m, inverse[p] = (float)inv, ds[c] += (float)t, db[c] += (float)s;
    }
    const Ints PD = {N, C, 1, 1};
    auto g = float_graph();
    auto tx = input(g, "x", XD), ts = input(g, "s", CD), tb = input(g, "b", CD), te = g.tensor(epsilon);
    auto made = g.instancenorm(tx, ts, tb, fe::graph::Instancenorm_attributes().set_forward_phase(fe::NormFwdPhase_t::TRAINING).set_epsilon(te));
    for (auto &t : made) t->set_output(true);
    run(handle, "instance norm", g, {{tx, x.data()}, {ts, scale.data()}, {tb, bias.data()}, {made[0], gy.data()}, {made[1], gm.data()}, {made[2], gi.data()}},
        [&](const std::string &what) { close_to(what, gy, y, 1e-3), close_to(what, gm, mean, 1e-3), close_to(what, gi, inverse, 1e-3); });
    auto b = float_graph();
    auto bdy = input(b, "dy", XD), bx = input(b, "x", XD), bs = input(b, "s", CD), bm = input(b, "m", PD), bi = input(b, "i", PD);
    auto d = b.instancenorm_backward(bdy, bx, bs, fe::graph::Instancenorm_backward_attributes().set_saved_mean_and_inv_variance(bm, bi));
    for (auto &t : d) t->set_output(true);
    d[0]->set_dim(XD).set_stride(packed(XD));
    run(handle, "gradient of instance norm", b, {{bdy, dy.data()}, {bx, x.data()}, {bs, scale.data()}, {bm, mean.data()}, {bi, inverse.data()}, {d[0], gx.data()}, {d[1], gs.data()}, {d[2], gb.data()}},
        [&](const std::string &what) { close_to(what, gx, dx, 1e-3), close_to(what + ": scale", gs, ds, 1e-3), close_to(what + ": bias", gb, db, 1e-3); });

    const int B = 3, S = 4, D = 8;
    const Ints RD = {B, S, D}, AD = {B, 1, D}, MD = {B, S, 1};
    Floats ax = numbers(B * S * D, 5), as = numbers(B * D, 6), ab = numbers(B * D, 7), ay(ax.size()), am(B * S), ai(B * S), gay(ax.size()), gam(B * S), gai(B * S);
    for (int r = 0; r < B * S; r++) {
        double m = 0, v = 0;
        for (int i = 0; i < D; i++) m += ax[r * D + i] / (double)D;
        for (int i = 0; i < D; i++) v += (ax[r * D + i] - m) * (ax[r * D + i] - m) / D;
        am[r] = (float)m, ai[r] = (float)(1 / std::sqrt(v + epsilon));
        for (int i = 0; i < D; i++) ay[r * D + i] = (ax[r * D + i] - am[r]) * ai[r] * as[r / S * D + i] + ab[r / S * D + i];
    }
    auto a = float_graph();
    auto aax = input(a, "x", RD), aas = input(a, "s", AD), aab = input(a, "b", AD), aae = a.tensor(epsilon);
    auto out = a.adalayernorm(aax, aas, aab, fe::graph::AdaLayernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::TRAINING).set_epsilon(aae));
    for (auto &t : out) t->set_output(true);
    run(handle, "adaptive layer norm", a, {{aax, ax.data()}, {aas, as.data()}, {aab, ab.data()}, {out[0], gay.data()}, {out[1], gam.data()}, {out[2], gai.data()}},
        [&](const std::string &what) { close_to(what, gay, ay, 1e-3), close_to(what, gam, am, 1e-3), close_to(what, gai, ai, 1e-3); });
}

// A product of bytes converted to half precision with a half matrix that all batches share, plus a bias by row, then swish; and f8 operands by value of their scales.
void mixed_product(cudnnHandle_t handle) {
    const int B = 3, M = 5, L = 16, P = 8;
    std::vector<int8_t> a(B * M * L);
    Floats raw = numbers(B * M * L, 1), w = rounded(numbers(L * P, 2)), bias = numbers(M, 3), r(B * M * P), y(r.size());
    for (size_t i = 0; i < a.size(); i++) a[i] = (int8_t)std::lround(raw[i] * 10);
    for (int i = 0; i < B * M * P; i++) {
        double sum = bias[i / P % M];
        for (int l = 0; l < L; l++) sum += (double)a[i / P * L + l] * w[l * P + i % P];
        r[i] = (float)(sum / (1 + std::exp(-sum)));
    }
    auto hw = halves(w);
    auto g = half_graph();
    auto ta = input(g, "a", {B, M, L}), tw = input(g, "w", {1, L, P}), tb = input(g, "bias", {1, M, 1});
    ta->set_data_type(fe::DataType_t::INT8), tb->set_data_type(fe::DataType_t::FLOAT);
    auto cast = apply(g, Mode::IDENTITY, ta);
    cast->set_data_type(fe::DataType_t::HALF);
    auto product = g.matmul(cast, tw, fe::graph::Matmul_attributes().set_compute_data_type(fe::DataType_t::FLOAT));
    auto ty = apply(g, Mode::SWISH_FWD, apply(g, Mode::ADD, product, tb));
    ty->set_output(true).set_data_type(fe::DataType_t::FLOAT);
    run(handle, "bytes by half precision, bias of rows, swish", g, {{ta, a.data()}, {tw, hw.data()}, {tb, bias.data()}, {ty, y.data()}}, [&](const std::string &what) { close_to(what, y, r, 1e-3); });
}

void reductions(cudnnHandle_t handle) {
    using R = fe::ReductionMode_t;
    const int A = 4, B = 6, D = 5;
    Floats x = numbers(A * B * D, 1), y(A * D);
    x[7] = 0;
    for (auto mode : {R::ADD, R::MUL, R::MIN, R::MAX, R::AMAX, R::AVG, R::NORM1, R::NORM2, R::MUL_NO_ZEROS}) {
        Floats r(A * D);
        for (int i = 0; i < A * D; i++) {
            double sum = 0, product = 1, least = 1e9, most = -1e9, largest = 0, sizes = 0, squares = 0, some = 1;
            for (int j = 0; j < B; j++) {
                double v = x[(i / D * B + j) * D + i % D];
                sum += v, product *= v, least = std::min(least, v), most = std::max(most, v), largest = std::max(largest, std::fabs(v)), sizes += std::fabs(v), squares += v * v;
                if (v != 0) some *= v;
            }
            r[i] = (float)(mode == R::ADD ? sum : mode == R::MUL ? product : mode == R::MIN ? least : mode == R::MAX ? most : mode == R::AMAX ? largest : mode == R::AVG ? sum / B
                           : mode == R::NORM1 ? sizes : mode == R::NORM2 ? std::sqrt(squares) : some);
        }
        auto g = float_graph();
        auto tx = input(g, "x", {A, B, D});
        auto ty = g.reduction(tx, fe::graph::Reduction_attributes().set_mode(mode));
        ty->set_output(true).set_dim({A, 1, D}).set_stride({D, D, 1});
        run(handle, "reduction " + std::to_string((int)mode), g, {{tx, x.data()}, {ty, y.data()}}, [&](const std::string &what) { close_to(what, y, r); });
    }
}

// A slice with steps of a transposed view, joined with another tensor, scaled, and read as a matrix of a product.
void movements(cudnnHandle_t handle) {
    Floats x = numbers(2 * 6 * 8, 1), z = numbers(2 * 4 * 3, 2), w = numbers(2 * 6 * 5, 3), r(2 * 8 * 5), y(r.size());
    auto g = float_graph();
    auto tx = input(g, "x", {2, 6, 8}), tz = input(g, "z", {2, 4, 3}), tw = input(g, "w", {2, 6, 5});
    auto turned = g.transpose(tx, fe::graph::Transpose_attributes().set_permutation({0, 2, 1}).set_name("turn").set_compute_data_type(fe::DataType_t::FLOAT));
    turned->set_output(true).set_dim({2, 8, 6}).set_stride({48, 6, 1});
    Floats t(96), rt(96);
    for (int i = 0; i < 96; i++) rt[i] = x[i / 48 * 48 + i % 6 * 8 + i / 6 % 8];
    run(handle, "transposition", g, {{tx, x.data()}, {turned, t.data()}}, [&](const std::string &what) { close_to(what, t, rt, 0); });

    auto h = float_graph();
    auto hx = input(h, "x", {2, 8, 6});
    auto part = h.slice(hx, fe::graph::Slice_attributes().set_slices({{0, 2}, {2, 8}, {0, 6}}).set_name("part"));
    auto bent = apply(h, Mode::ABS, part);
    bent->set_output(true).set_dim({2, 6, 6}).set_stride({36, 6, 1});
    Floats rs(2 * 6 * 6), s(rs.size());
    for (int i = 0; i < 72; i++) rs[i] = std::fabs(rt[i / 36 * 48 + (i / 6 % 6 + 2) * 6 + i % 6]);
    run(handle, "slice and magnitude", h, {{hx, rt.data()}, {bent, s.data()}}, [&](const std::string &what) { close_to(what, s, rs, 0); });

    auto k = float_graph();
    auto kx = input(k, "x", {2, 4, 3}), kz = input(k, "z", {2, 4, 3});
    auto joined = k.concatenate({kx, kz}, fe::graph::Concatenate_attributes().set_axis(2).set_name("join"));
    joined->set_output(true);
    Floats rj(48), j(48);
    for (int i = 0; i < 48; i++) rj[i] = i % 6 < 3 ? x[i / 6 * 3 + i % 6] : z[i / 6 * 3 + i % 6 - 3];
    run(handle, "concatenation", k, {{kx, x.data()}, {kz, z.data()}, {joined, j.data()}}, [&](const std::string &what) { close_to(what, j, rj, 0); });

    auto m = float_graph();
    auto ma = input(m, "a", {2, 8, 6}), mw = input(m, "w", {2, 6, 5});
    auto flat = m.reshape(m.matmul(ma, mw, fe::graph::Matmul_attributes()), fe::graph::Reshape_attributes().set_name("flat"));
    flat->set_output(true).set_dim({2, 2, 20}).set_stride({40, 20, 1});
    for (int i = 0; i < 80; i++) {
        r[i] = 0;
        for (int l = 0; l < 6; l++) r[i] += rt[i / 5 * 6 + l] * w[i / 40 * 30 + l * 5 + i % 5];
    }
    run(handle, "product and reshape", m, {{ma, rt.data()}, {mw, w.data()}, {flat, y.data()}}, [&](const std::string &what) { close_to(what, y, r); });
}

// Scores above the diagonal replaced, by indices that the graph makes, as a mask is; broadcast along rows and columns.
void indices(cudnnHandle_t handle) {
    const Ints D = {2, 3, 4, 5};
    Floats x = numbers(120, 1), row = numbers(5, 2), column = numbers(12, 3), r(120), y(120);
    float low = -100;
    for (int i = 0; i < 120; i++) r[i] = i / 5 % 4 >= i % 5 ? (x[i] + row[i % 5]) * column[i / 5 % 12] : low;
    auto g = float_graph();
    auto tx = input(g, "x", D), tr = input(g, "row", {1, 1, 1, 5}), tc = input(g, "column", {1, 3, 4, 1});
    auto tl = g.tensor(fe::graph::Tensor_attributes().set_name("low").set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_is_pass_by_value(true).set_data_type(fe::DataType_t::FLOAT));
    auto score = apply(g, Mode::MUL, apply(g, Mode::ADD, tx, tr), tc);
    auto index = [&](int64_t axis) {
        auto made = g.pointwise(score, fe::graph::Pointwise_attributes().set_mode(Mode::GEN_INDEX).set_axis(axis).set_compute_data_type(fe::DataType_t::INT32));
        made->set_data_type(fe::DataType_t::INT32);
        return made;
    };
    auto rows = index(2), columns = index(3);
    auto inside = g.pointwise(rows, columns, fe::graph::Pointwise_attributes().set_mode(Mode::CMP_GE).set_compute_data_type(fe::DataType_t::BOOLEAN));
    inside->set_data_type(fe::DataType_t::BOOLEAN);
    auto ty = g.pointwise(score, tl, inside, fe::graph::Pointwise_attributes().set_mode(Mode::BINARY_SELECT).set_compute_data_type(fe::DataType_t::FLOAT));
    ty->set_output(true);
    run(handle, "a mask by indices", g, {{tx, x.data()}, {tr, row.data()}, {tc, column.data()}, {tl, &low}, {ty, y.data()}}, [&](const std::string &what) { close_to(what, y, r); });
}

// Pooling after a convolution's epilogue: maxima with the places of each, averages that count padding or not.
void pooling(cudnnHandle_t handle) {
    const int P = 3, Q = 3;
    const Ints ID = {N, C, H, W}, OD = {N, C, P, Q};
    Floats x = numbers(N * C * H * W, 1), bias = numbers(C, 2), z(x.size());
    for (size_t i = 0; i < x.size(); i++) z[i] = std::max(0.0f, x[i] + bias[i % C]);
    using Resample = fe::ResampleMode_t;
    for (auto mode : {Resample::MAXPOOL, Resample::AVGPOOL_INCLUDE_PADDING, Resample::AVGPOOL_EXCLUDE_PADDING}) {
        Floats r(N * C * P * Q), y(r.size());
        for (int n = 0; n < N; n++)
            for (int o = 0; o < P * Q; o++)
                for (int c = 0; c < C; c++) {
                    float most = -1e30f, sum = 0;
                    int inside = 0;
                    for (int t = 0; t < 9; t++) {
                        int h = o / Q * 2 - 1 + t / 3, w = o % Q * 2 - 1 + t % 3;
                        if (h < 0 || h >= H || w < 0 || w >= W) continue;
                        float v = z[((n * H + h) * W + w) * C + c];
                        most = std::max(most, v), sum += v, inside++;
                    }
                    r[(n * P * Q + o) * C + c] = mode == Resample::MAXPOOL ? most : sum / (float)(mode == Resample::AVGPOOL_INCLUDE_PADDING ? 9 : inside);
                }
        bool most = mode == Resample::MAXPOOL;
        auto g = float_graph();
        auto tx = input(g, "x", ID, channels_last(ID)), tb = input(g, "b", CD, channels_last(CD));
        auto bent = apply(g, Mode::RELU_FWD, apply(g, Mode::ADD, tx, tb));
        auto options = fe::graph::Resample_attributes().set_resampling_mode(mode).set_padding_mode(most ? fe::PaddingMode_t::NEG_INF_PAD : fe::PaddingMode_t::ZERO_PAD);
        options.set_window(Ints{3, 3}).set_stride(Ints{2, 2}).set_pre_padding(Ints{1, 1}).set_post_padding(Ints{1, 1}).set_generate_index(most).set_is_inference(!most);
        auto [ty, ti] = g.resample(bent, options);
        ty->set_output(true);
        std::vector<int8_t> places(r.size(), -1);
        Bound bound = {{tx, x.data()}, {tb, bias.data()}, {ty, y.data()}};
        if (most) ti->set_output(true).set_data_type(fe::DataType_t::INT8), bound[ti] = places.data();
        run(handle, "pooling " + std::to_string((int)mode), g, bound, [&](const std::string &what) {
            close_to(what, y, r);
            for (size_t i = 0; most && i < r.size(); i++) {
                int n = (int)i / C / (P * Q), o = (int)i / C % (P * Q), c = (int)i % C, t = places[i], h = o / Q * 2 - 1 + t / 3, w = o % Q * 2 - 1 + t % 3;
                if (t < 0 || t > 8 || h < 0 || h >= H || w < 0 || w >= W || z[((n * H + h) * W + w) * C + c] != r[i]) return check(false, what + ": place " + std::to_string(i) + " is " + std::to_string(t));
            }
            std::fill(y.begin(), y.end(), -7.0f);
        });
    }
}

}  // namespace

void samples(cudnnHandle_t handle) {
    scaled_convolution(handle);
    masked_gradient(handle);
    gradient_of_bent(handle);
    statistics(handle);
    residual(handle);
    weights_of_norm(handle);
    other_norms(handle);
    mixed_product(handle);
    reductions(handle);
    movements(handle);
    indices(handle);
    pooling(handle);
}
}  // namespace samples_area
