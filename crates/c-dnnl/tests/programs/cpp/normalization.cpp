// Batch, layer, group normalisation and local response: forward by plain loops, backward by differences of them.
#include "common.hpp"

namespace {

const float epsilon = 0.125f;

// Mean and variance over the elements that share a statistic, then scale and shift of a channel.
struct rule {
    dims d;
    memory::dim statistics, channels;
    std::function<memory::dim(const dims &)> statistic, channel;
};

rule batch_rule(const dims &d) {
    auto channel = [](const dims &at) { return at[1]; };
    return {d, d[1], d[1], channel, channel};
}

rule group_rule(const dims &d, memory::dim groups) {
    const memory::dim size = d[1] / groups;
    return {d, d[0] * groups, d[1], [=](const dims &at) { return at[0] * groups + at[1] / size; }, [](const dims &at) { return at[1]; }};
}

rule layer_rule(const dims &d) {
    const memory::dim last = d.back();
    return {d, volume(d) / last, last, [=](const dims &at) { return offset(d, at) / last; }, [](const dims &at) { return at.back(); }};
}

struct statistics {
    values mean, variance;
};

statistics of(const rule &r, const values &x) {
    statistics s {values(r.statistics, 0), values(r.statistics, 0)};
    const double n = double(volume(r.d)) / double(r.statistics);
    each(r.d, [&](const dims &at) { s.mean[r.statistic(at)] += x[offset(r.d, at)] / n; });
    each(r.d, [&](const dims &at) {
        const double centred = x[offset(r.d, at)] - s.mean[r.statistic(at)];
        s.variance[r.statistic(at)] += centred * centred / n;
    });
    return s;
}

values normalised(const rule &r, const statistics &s, const values &x, const values &scale, const values &shift) {
    values y(x.size());
    each(r.d, [&](const dims &at) {
        const memory::dim i = offset(r.d, at), k = r.statistic(at), c = r.channel(at);
        y[i] = (x[i] - s.mean[k]) / std::sqrt(s.variance[k] + epsilon) * scale[c] + shift[c];
    });
    return y;
}

// The gradients of a normalisation whose statistics follow the data, or are given.
struct gradients {
    values src, scale, shift;
};

gradients expected(const rule &r, const values &x, const values &scale, const values &shift, const values &dy, const statistics *given) {
    auto forward = [&](const values &v, const values &g, const values &b) { return normalised(r, given ? *given : of(r, v), v, g, b); };
    return {gradient([&](const values &v) { return forward(v, scale, shift); }, x, dy),
            gradient([&](const values &g) { return forward(x, g, shift); }, scale, dy),
            gradient([&](const values &b) { return forward(x, scale, b); }, shift, dy)};
}

const auto with_both = normalization_flags::use_scale | normalization_flags::use_shift;

// A training step of any of the three; `make_*` differ in their creators only.
template <typename forward_t, typename backward_t>
void train(const std::string &name, const rule &r, bool global, const typename forward_t::primitive_desc &fwd,
        const typename backward_t::primitive_desc &bwd, double tolerance) {
    const values x = some(volume(r.d), 1), scale = some(r.channels, 2), shift = some(r.channels, 3), dy = some(volume(r.d), 4);
    statistics s = of(r, x);
    if (global)
        for (auto &v : s.variance)
            v += 0.5;
    memory mean(fwd.mean_desc(), the_engine()), variance(fwd.variance_desc(), the_engine());
    if (global) {
        mean = put(fwd.mean_desc(), s.mean);
        variance = put(fwd.variance_desc(), s.variance);
    }
    memory mx = put(fwd.src_desc(), x), mg = put(plain({r.channels}), scale), mb = put(plain({r.channels}), shift);
    arguments args = {{DNNL_ARG_SRC, mx}, {DNNL_ARG_SCALE, mg}, {DNNL_ARG_SHIFT, mb}, {DNNL_ARG_MEAN, mean}, {DNNL_ARG_VARIANCE, variance}};
    NEAR_ALL(run_for(forward_t(fwd), args, DNNL_ARG_DST, fwd.dst_desc()), normalised(r, s, x, scale, shift), tolerance, name + " forward");
    NEAR_ALL(get(mean), s.mean, tolerance, name + " mean");
    NEAR_ALL(get(variance), s.variance, tolerance, name + " variance");

    const gradients want = expected(r, x, scale, shift, dy, global ? &s : nullptr);
    memory dscale(plain({r.channels}), the_engine()), dshift(plain({r.channels}), the_engine());
    args = {{DNNL_ARG_SRC, as(mx, bwd.src_desc())}, {DNNL_ARG_DIFF_DST, put(bwd.diff_dst_desc(), dy)}, {DNNL_ARG_SCALE, mg},
            {DNNL_ARG_MEAN, mean}, {DNNL_ARG_VARIANCE, variance}, {DNNL_ARG_DIFF_SCALE, dscale}, {DNNL_ARG_DIFF_SHIFT, dshift}};
    NEAR_ALL(run_for(backward_t(bwd), args, DNNL_ARG_DIFF_SRC, bwd.diff_src_desc()), want.src, 1e-4, name + " by data");
    NEAR_ALL(get(dscale), want.scale, 1e-4, name + " by scale");
    NEAR_ALL(get(dshift), want.shift, 1e-4, name + " by shift");
}

void batch(const dims &d, tag layout, bool global) {
    const auto flags = global ? with_both | normalization_flags::use_global_stats : with_both;
    const md desc(d, dt::f32, layout);
    batch_normalization_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, desc, open(d), epsilon, flags);
    CHECK(fwd.get_flags() == flags && fwd.get_epsilon() == epsilon && fwd.dst_desc() == desc);
    batch_normalization_backward::primitive_desc bwd(the_engine(), prop_kind::backward, open(d), open(d), desc, epsilon, flags, fwd);
    train<batch_normalization_forward, batch_normalization_backward>("batch normalisation", batch_rule(d), global, fwd, bwd, 1e-5);
}

// relu fused into training: its mask travels in the workspace.
void batch_with_relu() {
    const dims d = {2, 8, 3, 3};
    const rule r = batch_rule(d);
    const auto flags = with_both | normalization_flags::fuse_norm_relu;
    const values x = some(volume(d), 1), scale = some(8, 2), shift = some(8, 3), dy = some(volume(d), 4);
    batch_normalization_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, plain(d), plain(d), epsilon, flags);
    CHECK(fwd.workspace_desc().get_size() > 0);
    batch_normalization_backward::primitive_desc bwd(the_engine(), prop_kind::backward, plain(d), plain(d), plain(d), epsilon, flags, fwd);
    CHECK(bwd.workspace_desc() == fwd.workspace_desc());
    memory mean(fwd.mean_desc(), the_engine()), variance(fwd.variance_desc(), the_engine()), workspace(fwd.workspace_desc(), the_engine());
    memory mx = put(plain(d), x), mg = put(plain({8}), scale), mb = put(plain({8}), shift), dscale(plain({8}), the_engine()),
           dshift(plain({8}), the_engine());
    arguments args = {{DNNL_ARG_SRC, mx}, {DNNL_ARG_SCALE, mg}, {DNNL_ARG_SHIFT, mb}, {DNNL_ARG_MEAN, mean}, {DNNL_ARG_VARIANCE, variance},
            {DNNL_ARG_WORKSPACE, workspace}};
    values y = normalised(r, of(r, x), x, scale, shift), masked = dy;
    for (size_t i = 0; i < y.size(); i++) {
        if (y[i] <= 0) masked[i] = 0;
        y[i] = std::max(y[i], 0.0);
    }
    NEAR_ALL(run_for(batch_normalization_forward(fwd), args, DNNL_ARG_DST, fwd.dst_desc()), y, 1e-5, "batch normalisation with relu");
    const gradients want = expected(r, x, scale, shift, masked, nullptr);
    args = {{DNNL_ARG_SRC, mx}, {DNNL_ARG_DIFF_DST, put(plain(d), dy)}, {DNNL_ARG_SCALE, mg}, {DNNL_ARG_MEAN, mean},
            {DNNL_ARG_VARIANCE, variance}, {DNNL_ARG_WORKSPACE, workspace}, {DNNL_ARG_DIFF_SCALE, dscale}, {DNNL_ARG_DIFF_SHIFT, dshift}};
    NEAR_ALL(run_for(batch_normalization_backward(bwd), args, DNNL_ARG_DIFF_SRC, bwd.diff_src_desc()), want.src, 1e-4,
            "batch normalisation with relu by data");
    NEAR_ALL(get(dscale), want.scale, 1e-4, "batch normalisation with relu by scale");
    NEAR_ALL(get(dshift), want.shift, 1e-4, "batch normalisation with relu by shift");
}

void layer(const dims &d, bool global) {
    const auto flags = global ? with_both | normalization_flags::use_global_stats : with_both;
    layer_normalization_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, plain(d), plain(d), epsilon, flags);
    layer_normalization_backward::primitive_desc bwd(the_engine(), prop_kind::backward, plain(d), plain(d), plain(d), epsilon, flags, fwd);
    CHECK(fwd.mean_desc().get_dims() == dims(d.begin(), d.end() - 1));
    train<layer_normalization_forward, layer_normalization_backward>("layer normalisation", layer_rule(d), global, fwd, bwd, 1e-5);
}

// Divides by the root of the mean of squares; takes no mean.
void root_mean_square() {
    const dims d = {3, 8};
    const values x = some(24, 1), scale = some(8, 2);
    layer_normalization_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, plain(d), plain(d), epsilon,
            normalization_flags::use_scale | normalization_flags::rms_norm);
    values want(24);
    for (int row = 0; row < 3; row++) {
        double squares = 0;
        for (int i = 0; i < 8; i++)
            squares += x[row * 8 + i] * x[row * 8 + i] / 8;
        for (int i = 0; i < 8; i++)
            want[row * 8 + i] = x[row * 8 + i] / std::sqrt(squares + epsilon) * scale[i];
    }
    NEAR_ALL(run_for(layer_normalization_forward(pd), {{DNNL_ARG_SRC, put(plain(d), x)}, {DNNL_ARG_SCALE, put(plain({8}), scale)}},
                     DNNL_ARG_DST, plain(d)),
            want, 1e-5, "root mean square normalisation");
}

void group(const dims &d, memory::dim groups, bool global) {
    const auto flags = global ? with_both | normalization_flags::use_global_stats : with_both;
    group_normalization_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, plain(d), plain(d), groups, epsilon, flags);
    CHECK(fwd.get_group_size() == groups);
    group_normalization_backward::primitive_desc bwd(
            the_engine(), prop_kind::backward, plain(d), plain(d), plain(d), groups, epsilon, flags, fwd);
    train<group_normalization_forward, group_normalization_backward>("group normalisation", group_rule(d, groups), global, fwd, bwd, 1e-5);
}

values local_response(const dims &d, bool across, int size, double alpha, double beta, double k, const values &x) {
    values y(x.size());
    const int half = size / 2;
    each(d, [&](const dims &at) {
        double sum = 0;
        int count = size;
        if (across) {
            for (memory::dim c = std::max<memory::dim>(at[1] - half, 0); c <= std::min(at[1] + half, d[1] - 1); c++) {
                const double v = x[offset(d, {at[0], c, at[2], at[3]})];
                sum += v * v;
            }
        } else {
            count = size * size;
            for (memory::dim h = std::max<memory::dim>(at[2] - half, 0); h <= std::min(at[2] + half, d[2] - 1); h++)
                for (memory::dim w = std::max<memory::dim>(at[3] - half, 0); w <= std::min(at[3] + half, d[3] - 1); w++) {
                    const double v = x[offset(d, {at[0], at[1], h, w})];
                    sum += v * v;
                }
        }
        y[offset(d, at)] = x[offset(d, at)] * std::pow(k + alpha * sum / count, -beta);
    });
    return y;
}

void local_responses() {
    const dims d = {2, 7, 4, 3};
    const values x = some(volume(d), 1), dy = some(volume(d), 2);
    for (auto alg : {algorithm::lrn_across_channels, algorithm::lrn_within_channel}) {
        const bool across = alg == algorithm::lrn_across_channels;
        const float alpha = 0.5f, beta = 0.75f, k = 1.5f;
        const int size = across ? 5 : 3;
        lrn_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, alg, plain(d), plain(d), size, alpha, beta, k);
        CHECK(fwd.get_alpha() == alpha && fwd.get_beta() == beta && fwd.get_k() == k && fwd.get_local_size() == size);
        lrn_backward::primitive_desc bwd(the_engine(), alg, plain(d), plain(d), plain(d), size, alpha, beta, k, fwd);
        memory workspace(fwd.workspace_desc(), the_engine()), mx = put(plain(d), x);
        auto forward = [&](const values &v) { return local_response(d, across, size, alpha, beta, k, v); };
        NEAR_ALL(run_for(lrn_forward(fwd), {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WORKSPACE, workspace}}, DNNL_ARG_DST, plain(d)), forward(x), 1e-5,
                "lrn forward");
        arguments args = {{DNNL_ARG_SRC, mx}, {DNNL_ARG_DIFF_DST, put(plain(d), dy)}, {DNNL_ARG_WORKSPACE, workspace}};
        NEAR_ALL(run_for(lrn_backward(bwd), args, DNNL_ARG_DIFF_SRC, plain(d)), gradient(forward, x, dy), 1e-4, "lrn backward");
    }
}

void refused() {
    const dims d = {2, 8, 3, 3};
    using batch_t = batch_normalization_forward::primitive_desc;
    using group_t = group_normalization_forward::primitive_desc;
    THROWS(dnnl_invalid_arguments, batch_t(the_engine(), prop_kind::backward, plain(d), plain(d), epsilon, with_both));
    THROWS(dnnl_invalid_arguments, batch_t(the_engine(), prop_kind::forward_training, plain(d), plain({2, 8, 3, 4}), epsilon, with_both));
    THROWS(dnnl_invalid_arguments, group_t(the_engine(), prop_kind::forward_training, plain(d), plain(d), 3, epsilon, with_both));
    batch_t training(the_engine(), prop_kind::forward_training, plain(d), plain(d), epsilon, with_both);
    using back_t = batch_normalization_backward::primitive_desc;
    THROWS(dnnl_invalid_arguments,
            back_t(the_engine(), prop_kind::forward_training, plain(d), plain(d), plain(d), epsilon, with_both, training));
}

} // namespace

void area_normalization() {
    for (bool global : {false, true}) {
        batch({4, 5, 3, 2}, tag::abcd, global);
        batch({2, 16, 3, 3}, tag::aBcd16b, global);
        batch({2, 6, 3, 3}, tag::acdb, global);
        batch({5, 6}, tag::ab, global);
        layer({3, 8}, global);
        layer({2, 3, 16}, global);
        group({2, 6, 3, 2}, 3, global);
        group({2, 4, 5}, 1, global);
    }
    batch_with_relu();
    root_mean_square();
    local_responses();
    refused();
}
