// Attention through the graphs of cudnn-frontend, in both directions, with and without a causal mask.
#pragma once
#include "common.hpp"

namespace attention_area {

static const int B = 2, H = 4, G = 2, S = 6, T = 8, D = 16;
static const Ints QD = {B, H, S, D}, KD = {B, G, T, D}, OD = {B, H, S, D}, SD = {B, H, S, 1};

namespace {

struct Reference {
    Floats q = numbers(B * H * S * D, 1), k = numbers(B * G * T * D, 2), v = numbers(B * G * T * D, 3), dout = numbers(B * H * S * D, 4);
    Floats o, stats, dq, dk, dv;
    Reference(bool causal, float scale) : o(q.size()), stats(B * H * S), dq(q.size()), dk(k.size()), dv(v.size()) {
        for (int b = 0; b < B; b++)
            for (int h = 0; h < H; h++)
                for (int i = 0; i < S; i++) {
                    const float *Q = &q[((b * H + h) * S + i) * D], *dO = &dout[((b * H + h) * S + i) * D];
                    int base = (b * G + h / (H / G)) * T * D;
                    std::vector<double> p(T, 0), dp(T, 0);
                    double sum = 0, along = 0, max = -1e30;
                    for (int j = 0; j < T; j++) {
                        if (causal && j > i) continue;
                        for (int d = 0; d < D; d++) p[j] += (double)Q[d] * k[base + j * D + d] * scale;
                        max = std::max(max, p[j]);
                    }
                    for (int j = 0; j < T; j++) p[j] = causal && j > i ? 0 : std::exp(p[j] - max), sum += p[j];
                    stats[(b * H + h) * S + i] = (float)(max + std::log(sum));
                    for (int j = 0; j < T; j++) {
                        p[j] /= sum;
                        for (int d = 0; d < D; d++) {
                            o[((b * H + h) * S + i) * D + d] += (float)(p[j] * v[base + j * D + d]);
                            dp[j] += (double)dO[d] * v[base + j * D + d];
                            dv[base + j * D + d] += (float)(p[j] * dO[d]);
                        }
                        along += p[j] * dp[j];
                    }
                    for (int j = 0; j < T; j++)
                        for (int d = 0; d < D; d++) {
                            double slope = p[j] * (dp[j] - along) * scale;
                            dq[((b * H + h) * S + i) * D + d] += (float)(slope * k[base + j * D + d]);
                            dk[base + j * D + d] += (float)(slope * Q[d]);
                        }
                }
    }
};

// IEEE half precision, as the runtime's header converts it.
static std::vector<__half> halves(const Floats &v) {
    std::vector<__half> h(v.size());
    for (size_t i = 0; i < v.size(); i++) h[i] = __float2half(v[i]);
    return h;
}

static Floats floats(const std::vector<__half> &h) {
    Floats v(h.size());
    for (size_t i = 0; i < h.size(); i++) v[i] = __half2float(h[i]);
    return v;
}

static fe::graph::Graph half_graph() {
    fe::graph::Graph g;
    g.set_io_data_type(fe::DataType_t::HALF).set_intermediate_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
    return g;
}

// As PyTorch calls it: tensors in BSHD order, the scale as a tensor passed by value, a bias, one graph, heuristics A.
static void torch(cudnnHandle_t handle) {
    float scale = 0.25f;
    Reference r(false, scale);
    auto by_step = [](const Ints &d) { return Ints{d[1] * d[2] * d[3], d[3], d[1] * d[3], 1}; };
    auto moved = [&](const Floats &v, const Ints &d) {
        Floats to(v.size());
        auto s = by_step(d);
        for (int64_t i = 0; i < product(d); i++) to[i / (d[1] * d[2] * d[3]) * s[0] + i / (d[2] * d[3]) % d[1] * s[1] + i / d[3] % d[2] * s[2] + i % d[3]] = v[i];
        return to;
    };
    auto q = halves(moved(r.q, QD)), k = halves(moved(r.k, KD)), v = halves(moved(r.v, KD)), zero = halves(Floats(S * T, 0));
    std::vector<__half> o(q.size());
    Floats stats(B * H * S, -1);
    auto g = half_graph();
    auto tq = input(g, "Q", QD, by_step(QD)), tk = input(g, "K", KD, by_step(KD)), tv = input(g, "V", KD, by_step(KD)), tb = input(g, "bias", {1, 1, S, T});
    auto ts = g.tensor(fe::graph::Tensor_attributes().set_name("Attn_scale").set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_is_pass_by_value(true).set_data_type(fe::DataType_t::FLOAT));
    auto options = fe::graph::SDPA_attributes().set_name("CUDNN_SDPA").set_generate_stats(true).set_attn_scale(ts).set_bias(tb);
    auto [to, told] = g.sdpa(tq, tk, tv, options);
    to->set_output(true).set_dim(OD).set_stride(by_step(OD));
    told->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_dim(SD).set_stride(packed(SD));
    run(handle, "attention as PyTorch calls it", g, {{tq, q.data()}, {tk, k.data()}, {tv, v.data()}, {ts, &scale}, {tb, zero.data()}, {to, o.data()}, {told, stats.data()}},
        [&](const std::string &what) { close_to(what, floats(o), moved(r.o, OD), 4e-3), close_to(what + ": statistics", stats, r.stats, 4e-3); });
}

static void both(cudnnHandle_t handle, bool causal) {
    float scale = 0.25f;
    Reference r(causal, scale);
    auto q = halves(r.q), k = halves(r.k), v = halves(r.v), dout = halves(r.dout);
    std::vector<__half> o(q.size()), dq(q.size()), dk(k.size()), dv(v.size());
    Floats stats(B * H * S, -1);
    std::string name = causal ? "causal attention" : "attention";
    auto g = half_graph();
    auto tq = input(g, "q", QD), tk = input(g, "k", KD), tv = input(g, "v", KD);
    auto options = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(true).set_attn_scale(scale);
    if (causal) options.set_causal_mask(true);
    auto [to, ts] = g.sdpa(tq, tk, tv, options);
    to->set_output(true).set_dim(OD).set_stride(packed(OD));
    ts->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_dim(SD).set_stride(packed(SD));
    run(handle, name, g, {{tq, q.data()}, {tk, k.data()}, {tv, v.data()}, {to, o.data()}, {ts, stats.data()}}, [&](const std::string &what) {
        close_to(what, floats(o), r.o, 4e-3), close_to(what + ": statistics", stats, r.stats, 4e-3);
    });
    auto b = half_graph();
    auto bq = input(b, "q", QD), bk = input(b, "k", KD), bv = input(b, "v", KD), bo = input(b, "o", OD), bd = input(b, "do", OD), bs = input(b, "stats", SD);
    bs->set_data_type(fe::DataType_t::FLOAT);
    auto back = fe::graph::SDPA_backward_attributes().set_name("sdpa_backward").set_attn_scale(scale);
    if (causal) back.set_causal_mask(true);
    auto [tdq, tdk, tdv] = b.sdpa_backward(bq, bk, bv, bo, bd, bs, back);
    tdq->set_output(true).set_dim(QD).set_stride(packed(QD));
    tdk->set_output(true).set_dim(KD).set_stride(packed(KD));
    tdv->set_output(true).set_dim(KD).set_stride(packed(KD));
    auto half_o = halves(r.o);
    run(handle, name + " gradient", b,
        {{bq, q.data()}, {bk, k.data()}, {bv, v.data()}, {bo, half_o.data()}, {bd, dout.data()}, {bs, r.stats.data()}, {tdq, dq.data()}, {tdk, dk.data()}, {tdv, dv.data()}},
        [&](const std::string &what) {
            close_to(what + ": dq", floats(dq), r.dq, 1e-2), close_to(what + ": dk", floats(dk), r.dk, 1e-2), close_to(what + ": dv", floats(dv), r.dv, 1e-2);
        });
}

}  // namespace

void attention(cudnnHandle_t handle) {
    both(handle, false);
    both(handle, true);
    torch(handle);
}
}  // namespace attention_area
