// Convolutions through the graphs of cudnn-frontend: forward with bias and ReLU, both gradients, serialised plans, autotuning.
#pragma once
#include "common.hpp"

namespace convolutions_area {

static const Ints XD = {2, 4, 6, 5}, WD = {8, 4, 3, 3}, YD = {2, 8, 6, 5};

namespace {

struct Reference {
    Floats x = numbers(240, 1), w = numbers(288, 2), y = Floats(480), dy = numbers(480, 3), dx = Floats(240), dw = Floats(288);
    Reference() {
        Ints xs = channels_last(XD), ws = channels_last(WD), ys = channels_last(YD);
        for (int n = 0; n < 2; n++)
            for (int k = 0; k < 8; k++)
                for (int oh = 0; oh < 6; oh++)
                    for (int ow = 0; ow < 5; ow++)
                        for (int c = 0; c < 4; c++)
                            for (int r = 0; r < 3; r++)
                                for (int s = 0; s < 3; s++) {
                                    int h = oh - 1 + r, v = ow - 1 + s;
                                    if (h < 0 || h > 5 || v < 0 || v > 4) continue;
                                    int64_t xi = n * xs[0] + c * xs[1] + h * xs[2] + v * xs[3], wi = k * ws[0] + c * ws[1] + r * ws[2] + s * ws[3],
                                            yi = n * ys[0] + k * ys[1] + oh * ys[2] + ow * ys[3];
                                    y[yi] += x[xi] * w[wi], dx[xi] += dy[yi] * w[wi], dw[wi] += x[xi] * dy[yi];
                                }
    }
};

static fe::graph::Graph forward(Tensor t[4]) {
    auto g = float_graph();
    t[0] = input(g, "x", XD, channels_last(XD)), t[1] = input(g, "w", WD, channels_last(WD)), t[2] = input(g, "b", {1, 8, 1, 1}, {8, 1, 8, 8});
    t[0]->set_uid(1), t[1]->set_uid(2), t[2]->set_uid(3);
    auto conv = g.conv_fprop(t[0], t[1], fe::graph::Conv_fprop_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
    auto sum = g.pointwise(conv, t[2], fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
    t[3] = g.pointwise(sum, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD));
    t[3]->set_output(true).set_uid(4);
    return g;
}

}  // namespace

void convolutions(cudnnHandle_t handle) {
    Reference r;
    Floats bias = numbers(8, 4), fused(480);
    for (int i = 0; i < 480; i++) fused[i] = std::max(0.0f, r.y[i] + bias[i % 8]);
    Device x(r.x), w(r.w), b(bias), y(480 * 4), dy(r.dy), dx(240 * 4), dw(288 * 4);
    Tensor t[4];
    auto g = forward(t);
    run(handle, "conv, bias, relu", g, {{t[0], x.p}, {t[1], w.p}, {t[2], b.p}, {t[3], y.p}}, [&](const std::string &what) {
        close_to(what, y.floats(), fused);
        cudaMemset(y.p, 0xff, y.bytes);
    });
    // Autotuning measures all plans and takes the fastest.
    std::unordered_map<int64_t, void *> by_number = {{1, x.p}, {2, w.p}, {3, b.p}, {4, y.p}};
    Device workspace(g.get_autotune_workspace_size());
    good(g.autotune(handle, by_number, workspace.p), "autotune");
    good(g.execute(handle, by_number, workspace.p), "execute the fastest");
    close_to("the fastest plan", y.floats(), fused);
    // The serialised plan, in another graph.
    std::vector<uint8_t> text;
    good(g.serialize(text), "serialize");
    fe::graph::Graph other;
    if (good(other.deserialize(handle, text), "deserialize")) {
        cudaMemset(y.p, 0xff, y.bytes);
        Device room(other.get_workspace_size());
        good(other.execute(handle, by_number, room.p), "execute the plan from text");
        close_to("the plan from text", y.floats(), fused);
    }
    auto d = float_graph();
    auto tdy = input(d, "dy", YD, channels_last(YD)), tw = input(d, "w", WD, channels_last(WD));
    auto tdx = d.conv_dgrad(tdy, tw, fe::graph::Conv_dgrad_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
    tdx->set_output(true).set_dim(XD).set_stride(channels_last(XD));
    run(handle, "data gradient", d, {{tdy, dy.p}, {tw, w.p}, {tdx, dx.p}}, [&](const std::string &what) { close_to(what, dx.floats(), r.dx); });
    auto v = float_graph();
    auto vdy = input(v, "dy", YD, channels_last(YD)), vx = input(v, "x", XD, channels_last(XD));
    auto tdw = v.conv_wgrad(vdy, vx, fe::graph::Conv_wgrad_attributes().set_padding({1, 1}).set_stride({1, 1}).set_dilation({1, 1}));
    tdw->set_output(true).set_dim(WD).set_stride(channels_last(WD));
    run(handle, "filter gradient", v, {{vdy, dy.p}, {vx, x.p}, {tdw, dw.p}}, [&](const std::string &what) { close_to(what, dw.floats(), r.dw); });
}
}  // namespace convolutions_area
