// What only oxidnn has, as its own header declares it: hints for sizes that change, explanations, the cache's budget and counters.
#include "common.hpp"
#include "oxidnn_dnnl.h"

namespace {

matmul::primitive_desc make(const primitive_attr &attr = primitive_attr()) {
    return matmul::primitive_desc(the_engine(), plain({24, 40}), plain({40, 32}), plain({24, 32}), attr);
}

void check_product(const matmul::primitive_desc &pd) {
    const values a = integers(24 * 40, 1, 3), b = integers(40 * 32, 2, 3);
    values want(24 * 32, 0);
    for (int m = 0; m < 24; m++)
        for (int n = 0; n < 32; n++)
            for (int k = 0; k < 40; k++)
                want[m * 32 + n] += a[m * 40 + k] * b[k * 32 + n];
    NEAR_ALL(run_for(matmul(pd), {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)}}, DNNL_ARG_DST,
                     pd.dst_desc()),
            want, 1e-6, "matmul with a hint");
}

void reusable_kernels() {
    primitive_attr attr;
    bool hint = true;
    OK(dnnl_primitive_attr_get_hint_reusable_kernels(attr.get(), &hint));
    CHECK(!hint);
    OK(dnnl_primitive_attr_set_hint_reusable_kernels(attr.get(), true));
    OK(dnnl_primitive_attr_get_hint_reusable_kernels(attr.get(), &hint));
    CHECK(hint);
    INVALID(dnnl_primitive_attr_set_hint_reusable_kernels(nullptr, true));
    INVALID(dnnl_primitive_attr_get_hint_reusable_kernels(attr.get(), nullptr));
    const auto pd = make(attr);
    CHECK(std::string(pd.impl_info_str()).find(":reusable") != std::string::npos);
    CHECK(std::string(make().impl_info_str()).find(":reusable") == std::string::npos);
    check_product(pd);
    dnnl_primitive_attr_t copy = nullptr;
    OK(dnnl_primitive_attr_clone(&copy, attr.get()));
    hint = false;
    OK(dnnl_primitive_attr_get_hint_reusable_kernels(copy, &hint));
    CHECK(hint);
    OK(dnnl_primitive_attr_destroy(copy));
}

void dynamic_sizes() {
    primitive_attr attr;
    const dnnl_dim_t examples[] = {1, 24, 128}, *got = nullptr;
    int count = 0;
    OK(oxidnn_primitive_attr_get_dynamic_dim(attr.get(), DNNL_ARG_SRC, 0, &count, &got));
    CHECK(count < 0);
    OK(oxidnn_primitive_attr_set_dynamic_dim(attr.get(), DNNL_ARG_SRC, 0, 3, examples));
    OK(oxidnn_primitive_attr_get_dynamic_dim(attr.get(), DNNL_ARG_SRC, 0, &count, &got));
    EQUAL(count, 3);
    CHECK(got && got[0] == 1 && got[1] == 24 && got[2] == 128);
    check_product(make(attr));
    OK(oxidnn_primitive_attr_set_dynamic_dim(attr.get(), DNNL_ARG_SRC, 0, -1, nullptr));
    OK(oxidnn_primitive_attr_get_dynamic_dim(attr.get(), DNNL_ARG_SRC, 0, &count, &got));
    CHECK(count < 0);
    INVALID(oxidnn_primitive_attr_set_dynamic_dim(nullptr, DNNL_ARG_SRC, 0, 0, nullptr));
    INVALID(oxidnn_primitive_attr_set_dynamic_dim(attr.get(), DNNL_ARG_SRC, 0, 2, nullptr));
}

// One primitive for images of all sizes and numbers, and one for rows of any length; sizes that contradict each other are refused.
void sizes_at_run_time() {
    const memory::dim r = DNNL_RUNTIME_DIM_VAL, ic = 16, oc = 32;
    auto image = [](memory::dim n, memory::dim c, memory::dim h, memory::dim w) { return md({n, c, h, w}, dt::f32, tag::nhwc); };
    convolution_forward::primitive_desc pd(the_engine(), prop_kind::forward_inference, algorithm::convolution_direct, image(r, ic, r, r),
            open({oc, ic, 3, 3}), plain({oc}), image(r, oc, r, r), {1, 1}, {1, 1}, {1, 1});
    convolution_forward any(pd);
    const values w = integers(oc * ic * 9, 1, 3), b = integers(oc, 2, 4);
    const memory weights = put(pd.weights_desc(), w), bias = put(plain({oc}), b);
    for (const dims &size : {dims {1, 5, 7}, dims {3, 14, 14}, dims {1, 5, 7}, dims {2, 1, 30}}) {
        const md src = image(size[0], ic, size[1], size[2]), dst = image(size[0], oc, size[1], size[2]);
        const values a = integers(volume({size[0], ic, size[1], size[2]}), 3, 3);
        convolution_forward fixed({the_engine(), prop_kind::forward_inference, algorithm::convolution_direct, src, pd.weights_desc(),
                plain({oc}), dst, {1, 1}, {1, 1}, {1, 1}});
        const arguments args = {{DNNL_ARG_SRC, put(src, a)}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, bias}};
        NEAR_ALL(run_for(any, args, DNNL_ARG_DST, dst), run_for(fixed, args, DNNL_ARG_DST, dst), 0, "convolution of sizes known at run time");
    }
    const md src = image(1, ic, 5, 5);
    THROWS(dnnl_invalid_arguments, run_for(any, {{DNNL_ARG_SRC, put(src, integers(ic * 25, 1, 3))}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, bias}},
            DNNL_ARG_DST, image(1, oc, 5, 6)));

    md rows({r, r}, dt::f32, dims {r, 1});
    softmax_forward normalise({the_engine(), prop_kind::forward_inference, algorithm::softmax_accurate, rows, rows, 1});
    for (memory::dim n : {3, 100}) {
        const values got = run_for(normalise, {{DNNL_ARG_SRC, put(plain({2, n}), values(2 * n, 1.0))}}, DNNL_ARG_DST, plain({2, n}));
        NEAR_ALL(got, values(2 * n, 1.0 / double(n)), 1e-6, "softmax of rows whose length is known at run time");
    }
}

void explanations() {
    const auto pd = make();
    const char *text = nullptr;
    OK(oxidnn_primitive_desc_explain(pd.get(), &text));
    CHECK(text && std::strstr(text, "matmul") && std::strstr(text, "24x40:40x32"));
    INVALID(oxidnn_primitive_desc_explain(nullptr, &text));
    INVALID(oxidnn_primitive_desc_explain(pd.get(), nullptr));
}

void cache() {
    oxidnn_primitive_cache_statistics_t before = {}, after = {};
    OK(oxidnn_get_primitive_cache_statistics(&before));
    matmul first(make()), second(make());
    OK(oxidnn_get_primitive_cache_statistics(&after));
    CHECK(after.hits > before.hits && after.entries > 0);
    INVALID(oxidnn_get_primitive_cache_statistics(nullptr));
    size_t bytes = 0, now = 0;
    OK(oxidnn_get_primitive_cache_bytes(&bytes));
    CHECK(bytes > 0);
    OK(oxidnn_set_primitive_cache_bytes(bytes / 2));
    OK(oxidnn_get_primitive_cache_bytes(&now));
    EQUAL(now, bytes / 2);
    OK(oxidnn_set_primitive_cache_bytes(bytes));
    INVALID(oxidnn_get_primitive_cache_bytes(nullptr));
}

} // namespace

void area_extensions() {
    reusable_kernels();
    dynamic_sizes();
    sizes_at_run_time();
    explanations();
    cache();
}
