// Convolution and deconvolution: training in all shapes and groups, layouts left open, post-ops, quantisation.
#include "common.hpp"

namespace {

// A spatial problem of any rank; groups are part of the weights when there are more than one.
struct problem {
    const char *name;
    memory::dim mb, groups, ic, oc;
    dims in, kernel, strides, dilates, padding_l, padding_r;

    dims out() const {
        dims o;
        for (size_t i = 0; i < in.size(); i++)
            o.push_back((in[i] + padding_l[i] + padding_r[i] - (kernel[i] - 1) * (dilates[i] + 1) - 1) / strides[i] + 1);
        return o;
    }
    dims with(memory::dim a, memory::dim b, const dims &spatial) const {
        dims d = {a, b};
        d.insert(d.end(), spatial.begin(), spatial.end());
        return d;
    }
    dims src_dims() const { return with(mb, ic, in); }
    dims dst_dims() const { return with(mb, oc, out()); }
    dims weights_dims() const {
        dims d = with(oc / groups, ic / groups, kernel);
        if (groups > 1) d.insert(d.begin(), groups);
        return d;
    }
};

const problem problems[] = {
        {"1d", 2, 1, 3, 4, {7}, {3}, {1}, {0}, {1}, {1}},
        {"2d strided", 2, 1, 4, 5, {6, 5}, {3, 3}, {2, 1}, {0, 0}, {1, 1}, {1, 1}},
        {"2d dilated", 1, 1, 3, 2, {7, 7}, {2, 3}, {1, 1}, {1, 1}, {0, 2}, {1, 2}},
        {"2d grouped", 2, 2, 4, 6, {5, 5}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}},
        {"2d depthwise", 1, 6, 6, 6, {5, 4}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}},
        {"2d wide", 1, 1, 32, 48, {4, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}},
        {"3d", 1, 1, 2, 3, {3, 4, 4}, {2, 3, 3}, {1, 1, 1}, {0, 0, 0}, {0, 1, 1}, {1, 1, 1}},
};

// Visits (src position, weights position, dst position) of every product of a convolution.
void products(const problem &p, const std::function<void(memory::dim, memory::dim, memory::dim)> &visit) {
    const dims src = p.src_dims(), weights = p.weights_dims(), dst = p.dst_dims();
    const size_t lead = p.groups > 1 ? 1 : 0;
    const memory::dim ocg = p.oc / p.groups, icg = p.ic / p.groups;
    each(dst, [&](const dims &o) {
        each(p.with(icg, 1, p.kernel), [&](const dims &k) {
            dims s = {o[0], (o[1] / ocg) * icg + k[0]}, w;
            if (lead) w.push_back(o[1] / ocg);
            w.push_back(o[1] % ocg);
            w.push_back(k[0]);
            for (size_t i = 0; i < p.in.size(); i++) {
                memory::dim at = o[2 + i] * p.strides[i] - p.padding_l[i] + k[2 + i] * (p.dilates[i] + 1);
                if (at < 0 || at >= p.in[i]) return;
                s.push_back(at);
                w.push_back(k[2 + i]);
            }
            visit(offset(src, s), offset(weights, w), offset(dst, o));
        });
    });
}

struct flow {
    values src, weights, bias, dst, diff_dst, diff_src, diff_weights, diff_bias;
};

// Forward and all gradients by plain loops.
flow expected(const problem &p) {
    flow f;
    f.src = integers(volume(p.src_dims()), 1, 4);
    f.weights = integers(volume(p.weights_dims()), 2, 3);
    f.bias = integers(p.oc, 3, 5);
    f.diff_dst = integers(volume(p.dst_dims()), 4, 3);
    f.dst.assign(f.diff_dst.size(), 0);
    f.diff_src.assign(f.src.size(), 0);
    f.diff_weights.assign(f.weights.size(), 0);
    f.diff_bias.assign(p.oc, 0);
    const memory::dim area = volume(p.out());
    for (size_t i = 0; i < f.dst.size(); i++) {
        f.dst[i] = f.bias[(i / area) % p.oc];
        f.diff_bias[(i / area) % p.oc] += f.diff_dst[i];
    }
    products(p, [&](memory::dim s, memory::dim w, memory::dim d) {
        f.dst[d] += f.src[s] * f.weights[w];
        f.diff_src[s] += f.diff_dst[d] * f.weights[w];
        f.diff_weights[w] += f.diff_dst[d] * f.src[s];
    });
    return f;
}

void train(const problem &p, dt type, double tolerance) {
    const flow f = expected(p);
    const std::string name = std::string("convolution ") + p.name;
    const auto alg = algorithm::convolution_direct;
    md src = open(p.src_dims(), type), weights = open(p.weights_dims(), type), bias = open({p.oc}, type), dst = open(p.dst_dims(), type);
    convolution_forward::primitive_desc fwd(
            the_engine(), prop_kind::forward_training, alg, src, weights, bias, dst, p.strides, p.dilates, p.padding_l, p.padding_r);
    CHECK(fwd.src_desc().get_format_kind() != memory::format_kind::any);
    CHECK(fwd.get_prop_kind() == prop_kind::forward_training && fwd.get_algorithm() == alg);
    CHECK(fwd.get_strides() == p.strides && fwd.get_dilations() == p.dilates && fwd.get_padding_l() == p.padding_l
            && fwd.get_padding_r() == p.padding_r);
    memory x = put(fwd.src_desc(), f.src), w = put(fwd.weights_desc(), f.weights), b = put(fwd.bias_desc(), f.bias);
    arguments args = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_BIAS, b}};
    NEAR_ALL(run_for(convolution_forward(fwd), args, DNNL_ARG_DST, fwd.dst_desc()), f.dst, tolerance, name + " forward");

    convolution_backward_data::primitive_desc by_data(
            the_engine(), alg, src, weights, dst, p.strides, p.dilates, p.padding_l, p.padding_r, fwd);
    memory dy = put(fwd.dst_desc(), f.diff_dst);
    args = {{DNNL_ARG_DIFF_DST, as(dy, by_data.diff_dst_desc())}, {DNNL_ARG_WEIGHTS, as(w, by_data.weights_desc())}};
    NEAR_ALL(run_for(convolution_backward_data(by_data), args, DNNL_ARG_DIFF_SRC, by_data.diff_src_desc()), f.diff_src, tolerance,
            name + " by data");

    convolution_backward_weights::primitive_desc by_weights(
            the_engine(), alg, src, open(p.weights_dims()), open({p.oc}), dst, p.strides, p.dilates, p.padding_l, p.padding_r, fwd);
    memory db(by_weights.diff_bias_desc(), the_engine());
    args = {{DNNL_ARG_DIFF_DST, as(dy, by_weights.diff_dst_desc())}, {DNNL_ARG_SRC, as(x, by_weights.src_desc())},
            {DNNL_ARG_DIFF_BIAS, db}};
    NEAR_ALL(run_for(convolution_backward_weights(by_weights), args, DNNL_ARG_DIFF_WEIGHTS, by_weights.diff_weights_desc()), f.diff_weights,
            tolerance, name + " by weights");
    NEAR_ALL(get(db), f.diff_bias, tolerance, name + " by bias");
}

// A deconvolution is the convolution with source and destination exchanged; its weights count output channels first.
void train_transposed(const problem &p) {
    flow f = expected(p);
    const std::string name = std::string("deconvolution ") + p.name;
    const auto alg = algorithm::deconvolution_direct;
    dims weights_dims = p.weights_dims();
    const size_t lead = p.groups > 1 ? 1 : 0;
    std::swap(weights_dims[lead], weights_dims[lead + 1]);
    auto exchanged = [&](const values &v) {
        values r(v.size());
        each(p.weights_dims(), [&](const dims &at) {
            dims to = at;
            std::swap(to[lead], to[lead + 1]);
            r[offset(weights_dims, to)] = v[offset(p.weights_dims(), at)];
        });
        return r;
    };
    md src = open(p.dst_dims()), weights = open(weights_dims), bias = open({p.ic}), dst = open(p.src_dims());
    deconvolution_forward::primitive_desc fwd(
            the_engine(), prop_kind::forward_training, alg, src, weights, bias, dst, p.strides, p.dilates, p.padding_l, p.padding_r);
    const values b = integers(p.ic, 3, 5);
    values want = f.diff_src, want_bias(p.ic, 0);
    const memory::dim area = volume(p.in);
    for (size_t i = 0; i < want.size(); i++) {
        want[i] += b[(i / area) % p.ic];
        want_bias[(i / area) % p.ic] += f.src[i];
    }
    memory x = put(fwd.src_desc(), f.diff_dst), w = put(fwd.weights_desc(), exchanged(f.weights));
    arguments args = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_BIAS, put(fwd.bias_desc(), b)}};
    NEAR_ALL(run_for(deconvolution_forward(fwd), args, DNNL_ARG_DST, fwd.dst_desc()), want, 1e-5, name + " forward");

    deconvolution_backward_data::primitive_desc by_data(
            the_engine(), alg, src, weights, dst, p.strides, p.dilates, p.padding_l, p.padding_r, fwd);
    values without_bias = f.dst;
    for (size_t i = 0; i < without_bias.size(); i++)
        without_bias[i] -= f.bias[(i / volume(p.out())) % p.oc];
    args = {{DNNL_ARG_DIFF_DST, put(by_data.diff_dst_desc(), f.src)}, {DNNL_ARG_WEIGHTS, as(w, by_data.weights_desc())}};
    NEAR_ALL(run_for(deconvolution_backward_data(by_data), args, DNNL_ARG_DIFF_SRC, by_data.diff_src_desc()), without_bias, 1e-5,
            name + " by data");

    deconvolution_backward_weights::primitive_desc by_weights(
            the_engine(), alg, src, weights, bias, dst, p.strides, p.dilates, p.padding_l, p.padding_r, fwd);
    memory db(by_weights.diff_bias_desc(), the_engine());
    args = {{DNNL_ARG_DIFF_DST, put(by_weights.diff_dst_desc(), f.src)}, {DNNL_ARG_SRC, as(x, by_weights.src_desc())},
            {DNNL_ARG_DIFF_BIAS, db}};
    NEAR_ALL(run_for(deconvolution_backward_weights(by_weights), args, DNNL_ARG_DIFF_WEIGHTS, by_weights.diff_weights_desc()),
            exchanged(f.diff_weights), 1e-5, name + " by weights");
    NEAR_ALL(get(db), want_bias, 1e-5, name + " by bias");
}

// All kinds of post-ops after one another, in the order they were appended.
void post_operations() {
    const problem &p = problems[1];
    const flow f = expected(p);
    const dims d = p.dst_dims(), row = {1, p.oc, 1, 1};
    const values factor = integers(p.oc, 6, 2), slope = some(p.oc, 7), old = integers(volume(d), 8, 9);
    primitive_attr attr;
    post_ops ops;
    ops.append_sum(0.5f);
    ops.append_eltwise(algorithm::eltwise_linear, 2.0f, -3.0f);
    ops.append_binary(algorithm::binary_mul, plain(row));
    ops.append_prelu(2);
    attr.set_post_ops(ops);
    convolution_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::convolution_direct, plain(p.src_dims()),
            open(p.weights_dims()), plain({p.oc}), plain(d), p.strides, p.padding_l, p.padding_r, attr);
    memory dst = put(pd.dst_desc(), old);
    run(convolution_forward(pd),
            {{DNNL_ARG_SRC, put(pd.src_desc(), f.src)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), f.weights)},
                    {DNNL_ARG_BIAS, put(pd.bias_desc(), f.bias)}, {DNNL_ARG_DST, dst},
                    {DNNL_ARG_ATTR_MULTIPLE_POST_OP(2) | DNNL_ARG_SRC_1, put(plain(row), factor)},
                    {DNNL_ARG_ATTR_MULTIPLE_POST_OP(3) | DNNL_ARG_WEIGHTS, put(plain({p.oc}), slope)}});
    values want(f.dst.size());
    for (size_t i = 0; i < want.size(); i++) {
        const memory::dim c = (i / volume(p.out())) % p.oc;
        double v = ((f.dst[i] + 0.5 * old[i]) * 2 - 3) * factor[c];
        want[i] = v > 0 ? v : v * slope[c];
    }
    NEAR_ALL(get(dst), want, 1e-5, "convolution with post-ops");
    CHECK(pd.get_primitive_attr().get_post_ops().len() == 4);
}

// A depthwise convolution fused behind a 1x1 convolution.
void fused_depthwise() {
    const memory::dim c = 16;
    const problem point = {"1x1", 1, 1, 8, c, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}};
    problem depth = {"depthwise", 1, c, c, c, {6, 6}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {1, 1}};
    const flow first = expected(point);
    const values w = integers(volume(depth.weights_dims()), 5, 2), b = integers(c, 6, 4);
    primitive_attr attr;
    post_ops ops;
    ops.append_dw(dt::f32, dt::f32, dt::f32, 3, 1, 1);
    attr.set_post_ops(ops);
    convolution_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::convolution_direct,
            open(point.src_dims()), open(point.weights_dims()), open({c}), open(point.dst_dims()), {1, 1}, {0, 0}, {0, 0}, attr);
    const md dw = pd.query_md(query::exec_arg_md, DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_WEIGHTS);
    const md db = pd.query_md(query::exec_arg_md, DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_BIAS);
    values want(volume(depth.dst_dims()), 0);
    for (size_t i = 0; i < want.size(); i++)
        want[i] = b[i / 36];
    products(depth, [&](memory::dim s, memory::dim k, memory::dim d) { want[d] += first.dst[s] * w[k]; });
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), first.src)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), first.weights)},
            {DNNL_ARG_BIAS, put(pd.bias_desc(), first.bias)}, {DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_WEIGHTS, put(dw, w)},
            {DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_BIAS, put(db, b)}};
    NEAR_ALL(run_for(convolution_forward(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, 1e-5, "fused depthwise convolution");
}

// u8 x s8 with scales, zero points and saturation.
void quantised() {
    const problem &p = problems[1];
    flow f = expected(p);
    for (auto &v : f.src)
        v += 5;
    const double src_scale = 0.5, dst_scale = 4;
    const int src_zero = 3, dst_zero = 7;
    values weight_scales;
    for (memory::dim i = 0; i < p.oc; i++)
        weight_scales.push_back(0.25 * double(1 + i % 3));
    values want(f.dst.size(), 0);
    products(p, [&](memory::dim s, memory::dim w, memory::dim d) { want[d] += (f.src[s] - src_zero) * f.weights[w]; });
    for (size_t i = 0; i < want.size(); i++) {
        const memory::dim c = (i / volume(p.out())) % p.oc;
        double v = (want[i] * src_scale * weight_scales[c] + f.bias[c]) / dst_scale + dst_zero;
        want[i] = std::min(255.0, std::max(0.0, std::nearbyint(v)));
    }
    primitive_attr attr;
    attr.set_scales_mask(DNNL_ARG_SRC, 0);
    attr.set_scales_mask(DNNL_ARG_WEIGHTS, 1);
    attr.set_scales_mask(DNNL_ARG_DST, 0);
    attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
    attr.set_zero_points_mask(DNNL_ARG_DST, 0);
    convolution_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::convolution_direct,
            open(p.src_dims(), dt::u8), open(p.weights_dims(), dt::s8), open({p.oc}), open(p.dst_dims(), dt::u8), p.strides, p.padding_l,
            p.padding_r, attr);
    auto zero_point = [](int value) {
        memory m({{1}, dt::s32, tag::a}, the_engine());
        poke(m, value);
        return m;
    };
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), f.src)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), f.weights)},
            {DNNL_ARG_BIAS, put(pd.bias_desc(), f.bias)}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, put(plain({1}), {src_scale})},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, put(plain({p.oc}), weight_scales)},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, put(plain({1}), {dst_scale})},
            {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, zero_point(src_zero)},
            {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, zero_point(dst_zero)}};
    NEAR_ALL(run_for(convolution_forward(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, 0, "quantised convolution");
}

// Blocked layouts given by the user, and what must be refused.
void layouts_and_errors() {
    const problem &p = problems[5];
    const flow f = expected(p);
    md src(p.src_dims(), dt::f32, tag::nChw16c), weights(p.weights_dims(), dt::f32, tag::OIhw16i16o),
            dst(p.dst_dims(), dt::f32, tag::nChw16c);
    convolution_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::convolution_auto, src, weights,
            plain({p.oc}), dst, p.strides, p.padding_l, p.padding_r);
    CHECK(pd.src_desc() == src && pd.weights_desc() == weights && pd.dst_desc() == dst);
    arguments args = {
            {DNNL_ARG_SRC, put(src, f.src)}, {DNNL_ARG_WEIGHTS, put(weights, f.weights)}, {DNNL_ARG_BIAS, put(plain({p.oc}), f.bias)}};
    NEAR_ALL(run_for(convolution_forward(pd), args, DNNL_ARG_DST, dst), f.dst, 1e-5, "convolution of blocked layouts");

    using pd_t = convolution_forward::primitive_desc;
    const auto inference = prop_kind::forward_inference;
    const auto direct = algorithm::convolution_direct;
    THROWS(dnnl_invalid_arguments,
            pd_t(the_engine(), inference, direct, src, weights, md(p.src_dims(), dt::f32, tag::any), {1, 1}, {0, 0}, {0, 0}));
    THROWS(dnnl_invalid_arguments,
            pd_t(the_engine(), inference, direct, src, open({48, 31, 1, 1}), open(p.dst_dims()), {1, 1}, {0, 0}, {0, 0}));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), inference, direct, src, weights, open(p.dst_dims()), {0, 1}, {0, 0}, {0, 0}));
    THROWS(dnnl_invalid_arguments,
            pd_t(the_engine(), inference, direct, src, weights, open({7}), open(p.dst_dims()), {1, 1}, {0, 0}, {0, 0}));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), inference, algorithm::eltwise_relu, src, weights, dst, {1, 1}, {0, 0}, {0, 0}));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), prop_kind::backward_data, direct, src, weights, dst, {1, 1}, {0, 0}, {0, 0}));
    CHECK(!pd_t(the_engine(), inference, direct, src, open({48, 31, 1, 1}), open(p.dst_dims()), {1, 1}, {0, 0}, {0, 0}, primitive_attr(),
            true));
    primitive_attr per_channel;
    per_channel.set_scales_mask(DNNL_ARG_SRC, 2);
    THROWS(dnnl_unimplemented, pd_t(the_engine(), inference, direct, src, weights, dst, {1, 1}, {0, 0}, {0, 0}, per_channel));
}

} // namespace

void area_convolution() {
    for (const auto &p : problems) {
        train(p, dt::f32, 1e-5);
        train_transposed(p);
    }
    train(problems[1], dt::bf16, 1e-2);
    train(problems[3], dt::bf16, 1e-2);
    post_operations();
    fused_depthwise();
    quantised();
    layouts_and_errors();
}
