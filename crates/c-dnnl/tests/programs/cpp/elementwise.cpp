// Eltwise, binary, prelu, softmax, dropout: every algorithm forward, its derivative backward, and types.
#include "common.hpp"

namespace {

struct activation {
    algorithm alg;
    double alpha, beta;
    std::function<double(double)> f;
    double least; // the smallest argument that is tried
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(x)); }

// The formulas of the specification.
const std::vector<activation> &activations() {
    using a = algorithm;
    static const std::vector<activation> all = {
            {a::eltwise_relu, 0.25, 0, [](double x) { return x > 0 ? x : 0.25 * x; }, -9},
            {a::eltwise_tanh, 0, 0, [](double x) { return std::tanh(x); }, -9},
            {a::eltwise_elu, 0.5, 0, [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); }, -9},
            {a::eltwise_square, 0, 0, [](double x) { return x * x; }, -9},
            {a::eltwise_abs, 0, 0, [](double x) { return std::fabs(x); }, -9},
            {a::eltwise_sqrt, 0, 0, [](double x) { return std::sqrt(x); }, 0.1},
            {a::eltwise_linear, 2, 0.5, [](double x) { return 2 * x + 0.5; }, -9},
            {a::eltwise_soft_relu, 2, 0, [](double x) { return softplus(2 * x) / 2; }, -9},
            {a::eltwise_hardsigmoid, 0.5, 0.3, [](double x) { return std::max(0.0, std::min(1.0, 0.5 * x + 0.3)); }, -9},
            {a::eltwise_logistic, 0, 0, sigmoid, -9},
            {a::eltwise_exp, 0, 0, [](double x) { return std::exp(x); }, -9},
            {a::eltwise_gelu_tanh, 0, 0,
                    [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -9},
            {a::eltwise_swish, 1.5, 0, [](double x) { return x * sigmoid(1.5 * x); }, -9},
            {a::eltwise_log, 0, 0, [](double x) { return std::log(x); }, 0.1},
            {a::eltwise_clip, -0.7, 0.8, [](double x) { return std::min(0.8, std::max(-0.7, x)); }, -9},
            {a::eltwise_clip_v2, -0.7, 0.8, [](double x) { return std::min(0.8, std::max(-0.7, x)); }, -9},
            {a::eltwise_pow, 2, 3, [](double x) { return 2 * x * x * x; }, -9},
            {a::eltwise_gelu_erf, 0, 0, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, -9},
            {a::eltwise_mish, 0, 0, [](double x) { return x * std::tanh(softplus(x)); }, -9},
            {a::eltwise_hardswish, 0.5, 0.3, [](double x) { return x * std::max(0.0, std::min(1.0, 0.5 * x + 0.3)); }, -9},
    };
    return all;
}

// Variants whose backward takes the destination.
const std::vector<std::pair<algorithm, algorithm>> by_destination = {{algorithm::eltwise_relu, algorithm::eltwise_relu_use_dst_for_bwd},
        {algorithm::eltwise_tanh, algorithm::eltwise_tanh_use_dst_for_bwd},
        {algorithm::eltwise_elu, algorithm::eltwise_elu_use_dst_for_bwd},
        {algorithm::eltwise_sqrt, algorithm::eltwise_sqrt_use_dst_for_bwd},
        {algorithm::eltwise_logistic, algorithm::eltwise_logistic_use_dst_for_bwd},
        {algorithm::eltwise_exp, algorithm::eltwise_exp_use_dst_for_bwd},
        {algorithm::eltwise_clip_v2, algorithm::eltwise_clip_v2_use_dst_for_bwd}};

void train(const activation &a, algorithm alg, bool from_destination) {
    const dims d = {2, 3, 4, 5};
    const std::string name = dnnl_alg_kind2str(convert_to_c(alg));
    values x = some(volume(d), 1), dy = some(volume(d), 2), y, dx;
    for (size_t i = 0; i < x.size(); i++) {
        x[i] = std::max(std::fabs(x[i]) < 0.02 ? 0.3 : x[i], a.least);
        y.push_back(a.f(x[i]));
        dx.push_back(dy[i] * (a.f(x[i] + 1e-6) - a.f(x[i] - 1e-6)) / 2e-6);
    }
    eltwise_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, alg, plain(d), open(d), float(a.alpha), float(a.beta));
    CHECK(fwd.get_algorithm() == alg && fwd.get_alpha() == float(a.alpha) && fwd.get_beta() == float(a.beta));
    eltwise_backward::primitive_desc bwd(the_engine(), alg, open(d), open(d), plain(d), float(a.alpha), float(a.beta), fwd);
    NEAR_ALL(run_for(eltwise_forward(fwd), {{DNNL_ARG_SRC, put(plain(d), x)}}, DNNL_ARG_DST, fwd.dst_desc()), y, 1e-5, name + " forward");
    const int data = from_destination ? DNNL_ARG_DST : DNNL_ARG_SRC;
    arguments args = {{DNNL_ARG_DIFF_DST, put(bwd.diff_dst_desc(), dy)}, {data, put(plain(d), from_destination ? y : x)}};
    NEAR_ALL(run_for(eltwise_backward(bwd), args, DNNL_ARG_DIFF_SRC, bwd.diff_src_desc()), dx, 1e-4, name + " backward");
}

void activations_of_all_kinds() {
    for (const auto &a : activations()) {
        train(a, a.alg, false);
        for (const auto &pair : by_destination)
            if (pair.first == a.alg) train(a, pair.second, true);
    }
    const dims d = {11};
    const values x = {-2.5, -1.5, -0.5, -0.2, 0, 0.3, 0.5, 1.5, 2.5, 3.2, 4.75}, rounded = {-2, -2, 0, 0, 0, 0, 0, 2, 2, 3, 5};
    eltwise_forward::primitive_desc round(the_engine(), prop_kind::forward_inference, algorithm::eltwise_round, plain(d), plain(d));
    NEAR_ALL(run_for(eltwise_forward(round), {{DNNL_ARG_SRC, put(plain(d), x)}}, DNNL_ARG_DST, plain(d)), rounded, 0, "eltwise_round");
}

// In place, integers, blocked layouts, binary post-ops.
void unusual_activations() {
    const dims d = {2, 20, 3, 3};
    const values x = integers(volume(d), 1, 100), factor = integers(20, 2, 3);
    auto relu = [](const values &v) {
        values r = v;
        for (auto &e : r)
            e = std::max(e, 0.0);
        return r;
    };
    for (const md &desc : {plain(d, dt::s8), plain(d, dt::s32), plain(d, dt::bf16), md(d, dt::f32, tag::aBcd16b)}) {
        eltwise_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::eltwise_relu, desc, desc);
        memory both = put(desc, x);
        run(eltwise_forward(pd), {{DNNL_ARG_SRC, both}, {DNNL_ARG_DST, both}});
        NEAR_ALL(get(both), relu(x), 0, "relu in place");
    }
    primitive_attr attr;
    post_ops ops;
    ops.append_binary(algorithm::binary_mul, plain({1, 20, 1, 1}));
    attr.set_post_ops(ops);
    eltwise_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::eltwise_relu, plain(d), plain(d), attr);
    values want = relu(x);
    for (size_t i = 0; i < want.size(); i++)
        want[i] *= factor[i / 9 % 20];
    arguments args = {
            {DNNL_ARG_SRC, put(plain(d), x)}, {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, put(plain({1, 20, 1, 1}), factor)}};
    NEAR_ALL(run_for(eltwise_forward(pd), args, DNNL_ARG_DST, plain(d)), want, 0, "relu with a binary post-op");
    using pd_t = eltwise_forward::primitive_desc;
    const auto inference = prop_kind::forward_inference;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), inference, algorithm::eltwise_clip, plain(d), plain(d), 2.0f, 1.0f));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), inference, algorithm::binary_add, plain(d), plain(d)));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), inference, algorithm::eltwise_relu, plain(d), plain({2, 20, 3, 4})));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), inference, algorithm::eltwise_relu_use_dst_for_bwd, plain(d), plain(d), -1.0f));
}

double pair_of(algorithm alg, double a, double b) {
    switch (alg) {
        case algorithm::binary_add: return a + b;
        case algorithm::binary_sub: return a - b;
        case algorithm::binary_mul: return a * b;
        case algorithm::binary_div: return a / b;
        case algorithm::binary_max: return std::max(a, b);
        case algorithm::binary_min: return std::min(a, b);
        case algorithm::binary_ge: return a >= b;
        case algorithm::binary_gt: return a > b;
        case algorithm::binary_le: return a <= b;
        case algorithm::binary_lt: return a < b;
        case algorithm::binary_eq: return a == b;
        default: return a != b;
    }
}

void binaries() {
    using a = algorithm;
    const dims d = {2, 3, 4, 5};
    const dims seconds[] = {{2, 3, 4, 5}, {1, 3, 1, 1}, {2, 1, 4, 1}, {1, 1, 1, 1}};
    const values x = integers(volume(d), 1, 3);
    for (auto alg : {a::binary_add, a::binary_sub, a::binary_mul, a::binary_div, a::binary_max, a::binary_min, a::binary_ge, a::binary_gt,
                 a::binary_le, a::binary_lt, a::binary_eq, a::binary_ne})
        for (const auto &d1 : seconds) {
            values y = integers(volume(d1), 2, 3), want(x.size());
            for (auto &v : y)
                if (alg == a::binary_div && v == 0) v = 4;
            each(d, [&](const dims &at) {
                dims from = at;
                for (size_t i = 0; i < from.size(); i++)
                    if (d1[i] == 1) from[i] = 0;
                want[offset(d, at)] = pair_of(alg, x[offset(d, at)], y[offset(d1, from)]);
            });
            binary::primitive_desc pd(the_engine(), alg, plain(d), plain(d1), open(d));
            arguments args = {{DNNL_ARG_SRC_0, put(plain(d), x)}, {DNNL_ARG_SRC_1, put(plain(d1), y)}};
            NEAR_ALL(run_for(binary(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, 1e-6, dnnl_alg_kind2str(convert_to_c(alg)));
        }
    const values y = integers(volume(d), 2, 3), condition = integers(volume(d), 3, 1);
    values want(x.size());
    for (size_t i = 0; i < want.size(); i++)
        want[i] = condition[i] != 0 ? x[i] : y[i];
    binary::primitive_desc select(the_engine(), a::binary_select, plain(d), plain(d), plain(d, dt::s8), open(d));
    arguments args = {
            {DNNL_ARG_SRC_0, put(plain(d), x)}, {DNNL_ARG_SRC_1, put(plain(d), y)}, {DNNL_ARG_SRC_2, put(plain(d, dt::s8), condition)}};
    NEAR_ALL(run_for(binary(select), args, DNNL_ARG_DST, select.dst_desc()), want, 0, "binary_select");

    primitive_attr attr;
    attr.set_scales_mask(DNNL_ARG_SRC_0, 0);
    attr.set_scales_mask(DNNL_ARG_SRC_1, 0);
    binary::primitive_desc scaled(the_engine(), a::binary_add, plain(d, dt::s8), plain(d, dt::u8), plain(d, dt::f32), attr);
    for (size_t i = 0; i < want.size(); i++)
        want[i] = 0.5 * x[i] + 3 * std::fabs(y[i]);
    values positive = y;
    for (auto &v : positive)
        v = std::fabs(v);
    args = {{DNNL_ARG_SRC_0, put(plain(d, dt::s8), x)}, {DNNL_ARG_SRC_1, put(plain(d, dt::u8), positive)},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_0, put(plain({1}), {0.5})}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_1, put(plain({1}), {3})}};
    NEAR_ALL(run_for(binary(scaled), args, DNNL_ARG_DST, plain(d)), want, 1e-6, "binary_add with scales");
    using pd_t = binary::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), a::binary_add, plain(d), plain({2, 2, 4, 5}), plain(d)));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), a::eltwise_relu, plain(d), plain(d), plain(d)));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), a::binary_add, plain(d), plain({3, 4, 5}), plain(d)));
}

void prelus() {
    const dims d = {2, 3, 2, 4};
    const values x = some(volume(d), 1), dy = some(volume(d), 2);
    for (const dims &dw : {dims {2, 3, 2, 4}, dims {1, 3, 1, 1}, dims {1, 1, 1, 1}, dims {2, 3, 1, 1}}) {
        const values w = some(volume(dw), 3);
        values y(x.size()), dx(x.size()), dweights(w.size(), 0);
        each(d, [&](const dims &at) {
            dims from = at;
            for (size_t i = 0; i < from.size(); i++)
                if (dw[i] == 1) from[i] = 0;
            const memory::dim i = offset(d, at), k = offset(dw, from);
            y[i] = x[i] > 0 ? x[i] : x[i] * w[k];
            dx[i] = dy[i] * (x[i] > 0 ? 1 : w[k]);
            if (x[i] <= 0) dweights[k] += dy[i] * x[i];
        });
        prelu_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, plain(d), open(dw), open(d));
        memory mx = put(plain(d), x), mw = put(fwd.weights_desc(), w);
        NEAR_ALL(run_for(prelu_forward(fwd), {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, mw}}, DNNL_ARG_DST, fwd.dst_desc()), y, 1e-6,
                "prelu forward");
        prelu_backward::primitive_desc bwd(the_engine(), plain(d), open(dw), open(d), open(dw), open(d), fwd);
        memory dm(bwd.diff_weights_desc(), the_engine());
        arguments args = {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, as(mw, bwd.weights_desc())},
                {DNNL_ARG_DIFF_DST, put(bwd.diff_dst_desc(), dy)}, {DNNL_ARG_DIFF_WEIGHTS, dm}};
        NEAR_ALL(run_for(prelu_backward(bwd), args, DNNL_ARG_DIFF_SRC, bwd.diff_src_desc()), dx, 1e-6, "prelu by data");
        NEAR_ALL(get(dm), dweights, 1e-5, "prelu by weights");
    }
}

values softmax(const dims &d, int axis, bool logarithm, const values &x) {
    values y(x.size());
    dims lines = d;
    lines[axis] = 1;
    each(lines, [&](const dims &line) {
        double sum = 0;
        dims at = line;
        for (at[axis] = 0; at[axis] < d[axis]; at[axis]++)
            sum += std::exp(x[offset(d, at)]);
        for (at[axis] = 0; at[axis] < d[axis]; at[axis]++)
            y[offset(d, at)] = logarithm ? x[offset(d, at)] - std::log(sum) : std::exp(x[offset(d, at)]) / sum;
    });
    return y;
}

void softmaxes() {
    const dims d = {2, 5, 3};
    const values x = some(volume(d), 1), dy = some(volume(d), 2);
    for (auto alg : {algorithm::softmax_accurate, algorithm::softmax_log})
        for (int axis = 0; axis < 3; axis++) {
            auto forward = [&](const values &v) { return softmax(d, axis, alg == algorithm::softmax_log, v); };
            softmax_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, alg, plain(d), open(d), axis);
            CHECK(fwd.get_axis() == axis && fwd.get_algorithm() == alg);
            NEAR_ALL(run_for(softmax_forward(fwd), {{DNNL_ARG_SRC, put(plain(d), x)}}, DNNL_ARG_DST, fwd.dst_desc()), forward(x), 1e-5,
                    "softmax forward");
            softmax_backward::primitive_desc bwd(the_engine(), alg, open(d), open(d), fwd.dst_desc(), axis, fwd);
            arguments args = {{DNNL_ARG_DST, put(bwd.dst_desc(), forward(x))}, {DNNL_ARG_DIFF_DST, put(bwd.diff_dst_desc(), dy)}};
            NEAR_ALL(run_for(softmax_backward(bwd), args, DNNL_ARG_DIFF_SRC, bwd.diff_src_desc()), gradient(forward, x, dy), 1e-4,
                    "softmax backward");
        }
    primitive_attr attr;
    attr.set_scales_mask(DNNL_ARG_DST, 0);
    softmax_forward::primitive_desc pd(
            the_engine(), prop_kind::forward_inference, algorithm::softmax_accurate, plain(d), plain(d, dt::u8), 1, attr);
    values want = softmax(d, 1, false, x);
    for (auto &v : want)
        v = std::nearbyint(v * 128);
    arguments args = {{DNNL_ARG_SRC, put(plain(d), x)}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, put(plain({1}), {1.0 / 128})}};
    NEAR_ALL(run_for(softmax_forward(pd), args, DNNL_ARG_DST, plain(d, dt::u8)), want, 0, "softmax to u8");
    using pd_t = softmax_forward::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), prop_kind::forward_inference, algorithm::softmax_accurate, plain(d), plain(d), 3));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), prop_kind::forward_inference, algorithm::softmax_accurate, plain(d), plain(d), -1));
}

// The mask says which elements stay; those are scaled by 1 / (1 - p); the same seed gives the same mask.
void dropout() {
    const dims d = {4, 64};
    const values x = some(volume(d), 1);
    const md mask_desc = plain(d, dt::u8);
    primitive_attr attr;
    attr.set_dropout(mask_desc);
    eltwise_forward::primitive_desc pd(
            the_engine(), prop_kind::forward_training, algorithm::eltwise_linear, plain(d), plain(d), 1.0f, 0.0f, attr);
    CHECK(pd.query_md(query::exec_arg_md, DNNL_ARG_ATTR_DROPOUT_MASK) == mask_desc);
    memory seed({{1}, dt::s32, tag::a}, the_engine()), probability = put(plain({1}), {0.25});
    values masks[2];
    for (auto &mask : masks) {
        poke(seed, 1234);
        memory m(mask_desc, the_engine());
        arguments args = {{DNNL_ARG_SRC, put(plain(d), x)}, {DNNL_ARG_ATTR_DROPOUT_MASK, m}, {DNNL_ARG_ATTR_DROPOUT_SEED, seed},
                {DNNL_ARG_ATTR_DROPOUT_PROBABILITY, probability}};
        const values y = run_for(eltwise_forward(pd), args, DNNL_ARG_DST, plain(d));
        mask = get(m);
        values want(x.size());
        for (size_t i = 0; i < want.size(); i++)
            want[i] = mask[i] != 0 ? x[i] / 0.75 : 0;
        NEAR_ALL(y, want, 1e-6, "dropout");
    }
    CHECK(masks[0] == masks[1]);
    double kept = 0;
    for (double v : masks[0])
        kept += v;
    CHECK(kept > 150 && kept < 230);
}

} // namespace

void area_elementwise() {
    activations_of_all_kinds();
    unusual_activations();
    binaries();
    prelus();
    softmaxes();
    dropout();
}
