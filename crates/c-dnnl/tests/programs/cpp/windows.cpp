// Pooling, resampling and reduction.
#include "common.hpp"

namespace {

struct window {
    const char *name;
    dims in, kernel, strides, dilation, padding_l, padding_r;
    dims out() const {
        dims o;
        for (size_t i = 0; i < in.size(); i++)
            o.push_back((in[i] + padding_l[i] + padding_r[i] - (kernel[i] - 1) * (dilation[i] + 1) - 1) / strides[i] + 1);
        return o;
    }
};

const window windows[] = {
        {"1d", {9}, {3}, {2}, {0}, {1}, {1}},
        {"2d", {6, 5}, {2, 3}, {2, 1}, {0, 0}, {0, 1}, {0, 1}},
        {"2d dilated", {8, 8}, {2, 2}, {1, 2}, {1, 2}, {0, 0}, {0, 0}},
        {"3d", {4, 4, 5}, {2, 2, 3}, {2, 2, 1}, {0, 0, 0}, {0, 1, 1}, {0, 1, 1}},
};

dims with(memory::dim mb, memory::dim c, const dims &spatial) {
    dims d = {mb, c};
    d.insert(d.end(), spatial.begin(), spatial.end());
    return d;
}

values pooled(const window &w, algorithm alg, const dims &src, const dims &dst, const values &x) {
    values y(volume(dst));
    each(dst, [&](const dims &o) {
        double sum = 0, most = -1e30;
        int inside = 0;
        each(w.kernel, [&](const dims &k) {
            dims s = {o[0], o[1]};
            for (size_t i = 0; i < k.size(); i++) {
                const memory::dim at = o[2 + i] * w.strides[i] - w.padding_l[i] + k[i] * (w.dilation[i] + 1);
                if (at < 0 || at >= w.in[i]) return;
                s.push_back(at);
            }
            inside++;
            sum += x[offset(src, s)];
            most = std::max(most, x[offset(src, s)]);
        });
        const double count = alg == algorithm::pooling_avg_include_padding ? double(volume(w.kernel)) : inside;
        y[offset(dst, o)] = alg == algorithm::pooling_max ? most : sum / count;
    });
    return y;
}

void pools() {
    for (const auto &w : windows)
        for (auto alg : {algorithm::pooling_max, algorithm::pooling_avg_include_padding, algorithm::pooling_avg_exclude_padding}) {
            const dims src = with(2, 3, w.in), dst = with(2, 3, w.out());
            const std::string name = std::string(dnnl_alg_kind2str(convert_to_c(alg))) + " " + w.name;
            values x(volume(src)), dy = some(volume(dst), 2);
            for (size_t i = 0; i < x.size(); i++) // no two equal, so that a maximum is one element
                x[i] = double((i * 7919) % x.size()) / 16;
            auto forward = [&](const values &v) { return pooled(w, alg, src, dst, v); };
            pooling_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, alg, plain(src), open(dst), w.strides, w.kernel,
                    w.dilation, w.padding_l, w.padding_r);
            CHECK(fwd.get_kernel() == w.kernel && fwd.get_strides() == w.strides && fwd.get_dilations() == w.dilation);
            CHECK((fwd.workspace_desc().get_size() > 0) == (alg == algorithm::pooling_max));
            memory workspace(fwd.workspace_desc(), the_engine());
            arguments args = {{DNNL_ARG_SRC, put(plain(src), x)}, {DNNL_ARG_WORKSPACE, workspace}};
            NEAR_ALL(run_for(pooling_forward(fwd), args, DNNL_ARG_DST, fwd.dst_desc()), forward(x), 1e-6, name + " forward");
            pooling_backward::primitive_desc bwd(
                    the_engine(), alg, open(src), open(dst), w.strides, w.kernel, w.dilation, w.padding_l, w.padding_r, fwd);
            CHECK(bwd.workspace_desc() == fwd.workspace_desc());
            args = {{DNNL_ARG_DIFF_DST, put(bwd.diff_dst_desc(), dy)}, {DNNL_ARG_WORKSPACE, workspace}};
            NEAR_ALL(run_for(pooling_backward(bwd), args, DNNL_ARG_DIFF_SRC, bwd.diff_src_desc()), gradient(forward, x, dy), 1e-5,
                    name + " backward");
        }
    const window &w = windows[1];
    const dims src = with(1, 16, w.in), dst = with(1, 16, w.out());
    const values x = integers(volume(src), 1, 100);
    for (const md &desc : {plain(src, dt::s8), md(src, dt::f32, tag::aBcd16b), md(src, dt::bf16, tag::acdb)}) {
        pooling_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::pooling_max, desc,
                open(dst, desc.get_data_type()), w.strides, w.kernel, w.dilation, w.padding_l, w.padding_r);
        CHECK(pd.workspace_desc().get_size() == 0);
        NEAR_ALL(run_for(pooling_forward(pd), {{DNNL_ARG_SRC, put(desc, x)}}, DNNL_ARG_DST, pd.dst_desc()),
                pooled(w, algorithm::pooling_max, src, dst, x), 0, "max pooling of another type or layout");
    }
    using pd_t = pooling_forward::primitive_desc;
    const auto inference = prop_kind::forward_inference;
    const auto max = algorithm::pooling_max;
    THROWS(dnnl_invalid_arguments,
            pd_t(the_engine(), inference, max, plain(src), plain(dst), {0, 1}, w.kernel, w.dilation, w.padding_l, w.padding_r));
    THROWS(dnnl_invalid_arguments,
            pd_t(the_engine(), inference, max, plain(src), plain(src), w.strides, w.kernel, w.dilation, w.padding_l, w.padding_r));
    THROWS(dnnl_invalid_arguments,
            pd_t(the_engine(), inference, algorithm::lrn_across_channels, plain(src), plain(dst), w.strides, w.kernel, w.dilation,
                    w.padding_l, w.padding_r));
}

// Nearest or linear interpolation at centres of pixels, of a 2d image.
values resampled(bool linear, const dims &src, const dims &dst, const values &x) {
    values y(volume(dst));
    each(dst, [&](const dims &o) {
        memory::dim low[2], high[2];
        double part[2];
        for (int i = 0; i < 2; i++) {
            const double centre = (o[2 + i] + 0.5) * double(src[2 + i]) / double(dst[2 + i]);
            const double at = centre - 0.5;
            low[i] = std::max<memory::dim>(memory::dim(std::floor(at)), 0);
            high[i] = std::min<memory::dim>(memory::dim(std::ceil(at)), src[2 + i] - 1);
            part[i] = at - std::floor(at);
            if (!linear) {
                low[i] = high[i] = memory::dim(std::floor(centre));
                part[i] = 0;
            }
        }
        auto pixel = [&](memory::dim h, memory::dim w) { return x[offset(src, {o[0], o[1], h, w})]; };
        const double top = pixel(low[0], low[1]) * (1 - part[1]) + pixel(low[0], high[1]) * part[1];
        const double bottom = pixel(high[0], low[1]) * (1 - part[1]) + pixel(high[0], high[1]) * part[1];
        y[offset(dst, o)] = top * (1 - part[0]) + bottom * part[0];
    });
    return y;
}

void resamples() {
    const dims src = {2, 3, 4, 6};
    for (auto alg : {algorithm::resampling_nearest, algorithm::resampling_linear})
        for (const dims &dst : {dims {2, 3, 8, 12}, dims {2, 3, 2, 3}, dims {2, 3, 7, 5}}) {
            const values x = some(volume(src), 1), dy = some(volume(dst), 2);
            auto forward = [&](const values &v) { return resampled(alg == algorithm::resampling_linear, src, dst, v); };
            resampling_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, alg, plain(src), open(dst));
            NEAR_ALL(run_for(resampling_forward(fwd), {{DNNL_ARG_SRC, put(plain(src), x)}}, DNNL_ARG_DST, fwd.dst_desc()), forward(x), 1e-5,
                    "resampling forward");
            resampling_backward::primitive_desc bwd(the_engine(), alg, open(src), open(dst), fwd);
            NEAR_ALL(run_for(resampling_backward(bwd), {{DNNL_ARG_DIFF_DST, put(bwd.diff_dst_desc(), dy)}}, DNNL_ARG_DIFF_SRC,
                             bwd.diff_src_desc()),
                    gradient(forward, x, dy), 1e-4, "resampling backward");
        }
    resampling_forward::primitive_desc by_factors(
            the_engine(), prop_kind::forward_inference, algorithm::resampling_nearest, std::vector<float> {2, 0.5f}, plain(src));
    CHECK((by_factors.dst_desc().get_dims() == dims {2, 3, 8, 3}));
    CHECK((by_factors.get_factors() == std::vector<float> {2, 0.5f}));
    using pd_t = resampling_forward::primitive_desc;
    THROWS(dnnl_invalid_arguments,
            pd_t(the_engine(), prop_kind::forward_inference, algorithm::resampling_linear, plain(src), plain({2, 4, 8, 12})));
}

double folded(algorithm alg, const values &line, double p, double eps) {
    using a = algorithm;
    double sum = 0, product = 1, most = line[0], least = line[0], powers = 0;
    for (double v : line) {
        sum += v;
        product *= v;
        most = std::max(most, v);
        least = std::min(least, v);
        powers += std::pow(std::fabs(v), p);
    }
    switch (alg) {
        case a::reduction_max: return most;
        case a::reduction_min: return least;
        case a::reduction_sum: return sum;
        case a::reduction_mul: return product;
        case a::reduction_mean: return sum / double(line.size());
        case a::reduction_norm_lp_max: return std::pow(std::max(powers, eps), 1 / p);
        case a::reduction_norm_lp_sum: return std::pow(powers + eps, 1 / p);
        case a::reduction_norm_lp_power_p_max: return std::max(powers, eps);
        default: return powers + eps;
    }
}

void reductions() {
    using a = algorithm;
    const dims src = {2, 3, 4, 5};
    const values x = some(volume(src), 1);
    for (auto alg : {a::reduction_max, a::reduction_min, a::reduction_sum, a::reduction_mul, a::reduction_mean, a::reduction_norm_lp_max,
                 a::reduction_norm_lp_sum, a::reduction_norm_lp_power_p_max, a::reduction_norm_lp_power_p_sum})
        for (const dims &dst : {dims {2, 1, 4, 5}, dims {2, 3, 1, 1}, dims {1, 1, 1, 1}, dims {1, 3, 1, 5}}) {
            std::vector<values> lines(volume(dst));
            each(src, [&](const dims &at) {
                dims to = at;
                for (size_t i = 0; i < to.size(); i++)
                    if (dst[i] == 1) to[i] = 0;
                lines[offset(dst, to)].push_back(x[offset(src, at)]);
            });
            values want;
            for (const auto &line : lines)
                want.push_back(folded(alg, line, 2, 0.5));
            reduction::primitive_desc pd(the_engine(), alg, plain(src), open(dst), 2.0f, 0.5f);
            CHECK(pd.get_p() == 2.0f && pd.get_epsilon() == 0.5f && pd.get_algorithm() == alg);
            NEAR_ALL(run_for(reduction(pd), {{DNNL_ARG_SRC, put(plain(src), x)}}, DNNL_ARG_DST, pd.dst_desc()), want, 1e-5,
                    dnnl_alg_kind2str(convert_to_c(alg)));
        }
    using pd_t = reduction::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), a::reduction_sum, plain(src), plain(src), 0, 0));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), a::reduction_sum, plain(src), plain({2, 2, 4, 5}), 0, 0));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), a::reduction_norm_lp_sum, plain(src), plain({2, 1, 4, 5}), 0.5f, 0));
}

} // namespace

void area_windows() {
    pools();
    resamples();
    reductions();
}
