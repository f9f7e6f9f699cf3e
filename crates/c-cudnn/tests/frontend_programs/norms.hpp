// Normalisations through the graphs of cudnn-frontend.
#pragma once
#include "common.hpp"

namespace norms_area {

namespace {

const int N = 3, C = 8;
const float EPSILON = 1e-3f;

struct Rows {
    Floats x = numbers(N * C, 1), scale = numbers(C, 2), bias = numbers(C, 3), dy = numbers(N * C, 4);
    Floats y, mean, inverse, dx, dscale, dbias;
    explicit Rows(bool rms) : y(N * C), mean(N), inverse(N), dx(N * C), dscale(C), dbias(C) {
        for (int n = 0; n < N; n++) {
            double m = 0, v = 0, g1 = 0, g2 = 0;
            for (int c = 0; c < C; c++) m += rms ? 0 : x[n * C + c] / C;
            for (int c = 0; c < C; c++) v += (x[n * C + c] - m) * (x[n * C + c] - m) / C;
            double inv = 1 / std::sqrt(v + EPSILON);
            mean[n] = (float)m, inverse[n] = (float)inv;
            for (int c = 0; c < C; c++) {
                double hat = (x[n * C + c] - m) * inv, d = dy[n * C + c];
                y[n * C + c] = (float)(hat * scale[c] + (rms ? 0 : bias[c]));
                dscale[c] += (float)(d * hat), dbias[c] += (float)d, g1 += d * scale[c] / C, g2 += d * scale[c] * hat / C;
            }
            for (int c = 0; c < C; c++) {
                double hat = (x[n * C + c] - m) * inv;
                dx[n * C + c] = (float)(inv * (dy[n * C + c] * scale[c] - (rms ? 0 : g1) - hat * g2));
            }
        }
    }
};

const Ints XD = {N, C, 1, 1}, PD = {1, C, 1, 1}, SD = {N, 1, 1, 1};

void layer(cudnnHandle_t handle, bool rms) {
    Rows r(rms);
    Device x(r.x), scale(r.scale), bias(r.bias), dy(r.dy), mean(r.mean), inverse(r.inverse), y(N * C * 4), m(N * 4), v(N * 4), dx(N * C * 4), ds(C * 4), db(C * 4);
    std::string name = rms ? "rms norm" : "layer norm";
    auto g = float_graph();
    auto tx = input(g, "x", XD), ts = input(g, "scale", PD), te = g.tensor(EPSILON);
    Bound bound = {{tx, x.p}, {ts, scale.p}};
    Tensor ty, tm, tv, tb;
    if (rms) {
        auto made = g.rmsnorm(tx, ts, fe::graph::Rmsnorm_attributes().set_forward_phase(fe::NormFwdPhase_t::TRAINING).set_epsilon(te));
        ty = made[0], tv = made[1];
    } else {
        tb = input(g, "bias", PD);
        auto made = g.layernorm(tx, ts, tb, fe::graph::Layernorm_attributes().set_forward_phase(fe::NormFwdPhase_t::TRAINING).set_epsilon(te));
        ty = made[0], tm = made[1], tv = made[2];
        tm->set_output(true), bound[tm] = m.p, bound[tb] = bias.p;
    }
    ty->set_output(true), tv->set_output(true);
    bound[ty] = y.p, bound[tv] = v.p;
    run(handle, name, g, bound, [&](const std::string &what) {
        close_to(what, y.floats(), r.y, 1e-3), close_to(what + ": deviation", v.floats(), r.inverse, 1e-3);
        if (!rms) close_to(what + ": mean", m.floats(), r.mean, 1e-3);
    });
    auto b = float_graph();
    auto bdy = input(b, "dy", XD), bx = input(b, "x", XD), bs = input(b, "scale", PD), bi = input(b, "inverse", SD);
    Bound back = {{bdy, dy.p}, {bx, x.p}, {bs, scale.p}, {bi, inverse.p}};
    std::array<Tensor, 3> d;
    if (rms) {
        d = b.rmsnorm_backward(bdy, bx, bs, bi, fe::graph::Rmsnorm_backward_attributes().has_dbias(false));
    } else {
        auto bm = input(b, "mean", SD);
        back[bm] = mean.p;
        d = b.layernorm_backward(bdy, bx, bs, fe::graph::Layernorm_backward_attributes().set_saved_mean_and_inv_variance(bm, bi));
        d[2]->set_output(true), back[d[2]] = db.p;
    }
    d[0]->set_output(true), d[1]->set_output(true);
    back[d[0]] = dx.p, back[d[1]] = ds.p;
    run(handle, name + " gradient", b, back, [&](const std::string &what) {
        close_to(what, dx.floats(), r.dx, 1e-3), close_to(what + ": scale", ds.floats(), r.dscale, 1e-3);
        if (!rms) close_to(what + ": bias", db.floats(), r.dbias, 1e-3);
    });
}

void batch(cudnnHandle_t handle) {
    const int n = 4, c = 3, h = 2, count = n * h * h;
    Ints xd = {n, c, h, h}, pd = {1, c, 1, 1};
    Floats x = numbers(n * c * h * h, 1), scale = numbers(c, 2), bias = numbers(c, 3), rm = numbers(c, 4), rv = numbers(c, 5), dy = numbers(x.size(), 6);
    Floats y(x.size()), mean(c), inverse(c), nm(c), nv(c), dx(x.size()), ds(c), db(c);
    const float factor = 0.1f;
    for (int k = 0; k < c; k++) {
        double m = 0, v = 0, sum = 0, along = 0;
        auto each = [&](const std::function<void(int)> &f) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < h * h; j++) f((i * c + k) * h * h + j);
        };
        each([&](int i) { m += x[i] / (double)count; });
        each([&](int i) { v += (x[i] - m) * (x[i] - m) / count; });
        double inv = 1 / std::sqrt(v + EPSILON);
        mean[k] = (float)m, inverse[k] = (float)inv, nm[k] = (float)(0.9 * rm[k] + 0.1 * m), nv[k] = (float)(0.9 * rv[k] + 0.1 * v * count / (count - 1));
        each([&](int i) { y[i] = (float)((x[i] - m) * inv * scale[k] + bias[k]), sum += dy[i], along += dy[i] * (x[i] - m) * inv; });
        ds[k] = (float)along, db[k] = (float)sum;
        each([&](int i) { dx[i] = (float)(scale[k] * inv * (dy[i] - sum / count - (x[i] - m) * inv * along / count)); });
    }
    Device X(x), S(scale), B(bias), RM(rm), RV(rv), DY(dy), M(mean), I(inverse), Y(x.size() * 4), m(c * 4), v(c * 4), om(c * 4), ov(c * 4), DX(x.size() * 4), DS(c * 4), DB(c * 4);
    auto g = float_graph();
    auto tx = input(g, "x", xd), ts = input(g, "scale", pd), tb = input(g, "bias", pd), tm = input(g, "running mean", pd), tv = input(g, "running variance", pd);
    auto te = g.tensor(EPSILON), tf = g.tensor(factor);
    auto options = fe::graph::Batchnorm_attributes().set_epsilon(te).set_previous_running_stats(tm, tv, tf);
    auto made = g.batchnorm(tx, ts, tb, options);
    Bound bound = {{tx, X.p}, {ts, S.p}, {tb, B.p}, {tm, RM.p}, {tv, RV.p}, {made[0], Y.p}, {made[1], m.p}, {made[2], v.p}, {made[3], om.p}, {made[4], ov.p}};
    for (auto &t : made) t->set_output(true);
    run(handle, "batch norm", g, bound, [&](const std::string &what) {
        close_to(what, Y.floats(), y, 1e-3), close_to(what, m.floats(), mean, 1e-3), close_to(what, v.floats(), inverse, 1e-3);
        close_to(what + ": running", om.floats(), nm, 1e-3), close_to(what + ": running", ov.floats(), nv, 1e-3);
    });
    auto b = float_graph();
    auto bdy = input(b, "dy", xd), bx = input(b, "x", xd), bs = input(b, "scale", pd), bm = input(b, "mean", pd), bi = input(b, "inverse", pd);
    auto d = b.batchnorm_backward(bdy, bx, bs, fe::graph::Batchnorm_backward_attributes().set_saved_mean_and_inv_variance(bm, bi));
    for (auto &t : d) t->set_output(true);
    d[0]->set_dim(xd).set_stride(packed(xd));
    run(handle, "batch norm gradient", b, {{bdy, DY.p}, {bx, X.p}, {bs, S.p}, {bm, M.p}, {bi, I.p}, {d[0], DX.p}, {d[1], DS.p}, {d[2], DB.p}}, [&](const std::string &what) {
        close_to(what, DX.floats(), dx, 1e-3), close_to(what + ": scale", DS.floats(), ds, 1e-3), close_to(what + ": bias", DB.floats(), db, 1e-3);
    });
}

}  // namespace

void norms(cudnnHandle_t handle) {
    layer(handle, false);
    layer(handle, true);
    batch(handle);
}
}  // namespace norms_area
