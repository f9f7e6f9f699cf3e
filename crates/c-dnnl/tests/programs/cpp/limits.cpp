// What is legal and not done, by both libraries: programs try it, see the refusal and do it another way. And answers that follow from sizes
// and layouts alone.
#include "common.hpp"

namespace {

constexpr prop_kind inference = prop_kind::forward_inference;

void scales_belong_to_bytes() {
    primitive_attr attr;
    attr.set_scales_mask(DNNL_ARG_SRC, 0);
    auto convolve = [&](dt src, dt weights) {
        convolution_forward::primitive_desc(the_engine(), inference, algorithm::convolution_direct, open({2, 16, 4, 4}, src),
                open({16, 16, 3, 3}, weights), open({2, 16, 2, 2}), {1, 1}, {0, 0}, {0, 0}, attr);
    };
    THROWS(dnnl_unimplemented, convolve(dt::f32, dt::f32));
    THROWS(dnnl_success, convolve(dt::u8, dt::s8));
    auto multiply = [&](dt src, dt weights) {
        inner_product_forward::primitive_desc(the_engine(), inference, open({2, 16}, src), open({16, 16}, weights), open({2, 16}), attr);
    };
    THROWS(dnnl_unimplemented, multiply(dt::f32, dt::f32));
    THROWS(dnnl_success, multiply(dt::s8, dt::s8));
    auto normalize = [&](dt dst) {
        layer_normalization_forward::primitive_desc(
                the_engine(), inference, plain({2, 16}), plain({2, 16}, dst), 1e-4f, normalization_flags::none, attr);
    };
    THROWS(dnnl_unimplemented, normalize(dt::f32));
    THROWS(dnnl_success, normalize(dt::s8));
    auto normalize_groups = [&](dt src, dt dst) {
        const md from({2, 16, 4, 4}, src, tag::nchw), to({2, 16, 4, 4}, dst, tag::nchw);
        group_normalization_forward::primitive_desc(the_engine(), inference, from, to, 4, 1e-4f, normalization_flags::none, attr);
    };
    THROWS(dnnl_unimplemented, normalize_groups(dt::f32, dt::s8));
    THROWS(dnnl_success, normalize_groups(dt::s8, dt::f32));
    THROWS(dnnl_unimplemented,
            softmax_forward::primitive_desc(the_engine(), inference, algorithm::softmax_accurate, plain({2, 16}), plain({2, 16}), 1, attr));
    THROWS(dnnl_success, matmul::primitive_desc(the_engine(), plain({2, 16}), plain({16, 3}), plain({2, 3}), attr));
    convolution_forward::primitive_desc empty(the_engine(), inference, algorithm::convolution_direct, open({2, 16, 4, 4}),
            open({16, 16, 3, 3}), open({2, 16, 2, 2}), {1, 1}, {0, 0}, {0, 0}, attr, true);
    CHECK(empty.get(true) == nullptr);
}

void scales_of_products_differ_by_row_and_column() {
    auto multiply = [](int mask) {
        primitive_attr attr;
        attr.set_scales_mask(DNNL_ARG_DST, mask);
        matmul::primitive_desc(the_engine(), open({2, 5, 10, 64}, dt::u8), open({2, 5, 64, 20}, dt::s8), open({2, 5, 10, 20}), attr);
    };
    for (int mask : {0, 8, 12})
        THROWS(dnnl_success, multiply(mask));
    for (int mask : {1, 3, 15})
        THROWS(dnnl_unimplemented, multiply(mask));
}

void scales_of_sources_are_one_or_one_a_row_of_bytes() {
    auto multiply = [](dt src, dt weights, int mask) {
        primitive_attr attr;
        attr.set_scales_mask(DNNL_ARG_SRC, mask);
        matmul::primitive_desc(the_engine(), open({10, 64}, src), open({64, 20}, weights), open({10, 20}), attr);
    };
    for (int mask : {0, 1})
        THROWS(dnnl_success, multiply(dt::u8, dt::s8, mask));
    for (int mask : {2, 3})
        THROWS(dnnl_unimplemented, multiply(dt::u8, dt::s8, mask));
    THROWS(dnnl_success, multiply(dt::f32, dt::f32, 0));
    for (int mask : {1, 2, 3})
        THROWS(dnnl_unimplemented, multiply(dt::f32, dt::f32, mask));
}

void results_of_convolutions_have_one_scale() {
    for (int mask : {0, 2}) {
        primitive_attr attr;
        attr.set_scales_mask(DNNL_ARG_DST, mask);
        THROWS(mask ? dnnl_unimplemented : dnnl_success,
                convolution_forward::primitive_desc(the_engine(), inference, algorithm::convolution_direct, open({2, 16, 4, 4}, dt::u8),
                        open({16, 16, 3, 3}, dt::s8), open({2, 16, 2, 2}, dt::u8), {1, 1}, {0, 0}, {0, 0}, attr));
    }
}

void reorders_convert_between_some_types() {
    auto convert = [](dt from, dt to) {
        const md src({16, 16}, from, tag::ab), dst({16, 16}, to, tag::ab);
        reorder::primitive_desc(the_engine(), src, the_engine(), dst);
    };
    for (auto pair : {std::make_pair(dt::f32, dt::f16), {dt::s32, dt::bf16}, {dt::bf16, dt::u8}, {dt::f16, dt::f32}})
        THROWS(dnnl_success, convert(pair.first, pair.second));
    for (auto pair : {std::make_pair(dt::f16, dt::bf16), {dt::bf16, dt::f16}, {dt::f16, dt::s32}})
        THROWS(dnnl_unimplemented, convert(pair.first, pair.second));
}

void a_mean_is_described_where_none_is_kept() {
    const md src({2, 3, 16}, dt::f32, tag::abc);
    layer_normalization_forward::primitive_desc pd(
            the_engine(), prop_kind::forward_training, src, src, 1e-4f, normalization_flags::rms_norm);
    CHECK(pd.query_md(query::exec_arg_md, DNNL_ARG_MEAN) == pd.mean_desc());
    CHECK(pd.query_md(query::exec_arg_md, DNNL_ARG_VARIANCE) == pd.variance_desc());
}

void networks_have_the_channels_of_their_weights() {
    auto network = [](memory::dim channels) {
        const md weights({1, 1, 5, 4, 5}, dt::f32, tag::ldigo);
        lstm_forward::primitive_desc(the_engine(), inference, rnn_direction::unidirectional_left2right,
                md({4, 3, channels}, dt::f32, tag::tnc), md(), md(), weights, weights, md({1, 1, 4, 5}, dt::f32, tag::ldgo), md({4, 3, 5}, dt::f32, tag::tnc), md(), md());
    };
    THROWS(dnnl_success, network(5));
    for (memory::dim channels : {3, 6, 9})
        THROWS(dnnl_invalid_arguments, network(channels));
}

void winograds_algorithm_is_for_small_windows() {
    for (memory::dim k : {1, 5}) {
        THROWS(dnnl_unimplemented,
                convolution_forward::primitive_desc(the_engine(), inference, algorithm::convolution_winograd, open({2, 16, 8, 8}),
                        open({16, 16, k, k}), open({2, 16, 9 - k, 9 - k}), {1, 1}, {0, 0}, {0, 0}));
    }
}

void results_lie_as_sources_do() {
    const dims d = {2, 16, 4, 4};
    const md nchw(d, dt::f32, tag::nchw), nhwc(d, dt::f32, tag::nhwc), other(d, dt::bf16, tag::nchw);
    for (const md &dst : {nchw, nhwc, other, open(d)}) {
        const dnnl_status_t want = dst == nchw || dst == open(d) ? dnnl_success : dnnl_unimplemented;
        const float alpha = 0;
        THROWS(want, eltwise_forward::primitive_desc(the_engine(), inference, algorithm::eltwise_relu, nchw, dst, alpha, alpha));
        THROWS(want, lrn_forward::primitive_desc(the_engine(), inference, algorithm::lrn_across_channels, nchw, dst, 5, 1e-4f, 0.75f, 1.f));
        THROWS(want, prelu_forward::primitive_desc(the_engine(), inference, nchw, nchw, dst));
        THROWS(want, batch_normalization_forward::primitive_desc(the_engine(), inference, nchw, dst, 1e-4f, normalization_flags::none));
        THROWS(want, shuffle_forward::primitive_desc(the_engine(), inference, nchw, dst, 1, 4));
    }
    const md one_pixel({2, 16, 1, 1}, dt::f32, tag::nchw), the_same({2, 16, 1, 1}, dt::f32, tag::nhwc);
    THROWS(dnnl_success, prelu_forward::primitive_desc(the_engine(), inference, one_pixel, one_pixel, the_same));
}

void sums_have_terms() {
    auto multiply = [](memory::dim n, memory::dim ic, memory::dim oc) {
        inner_product_forward::primitive_desc(the_engine(), inference, open({n, ic}), open({oc, ic}), open({n, oc}));
    };
    THROWS(dnnl_success, multiply(0, 3, 4));
    THROWS(dnnl_invalid_arguments, multiply(2, 0, 4));
    THROWS(dnnl_invalid_arguments, multiply(2, 3, 0));
    THROWS(dnnl_invalid_arguments,
            convolution_forward::primitive_desc(the_engine(), inference, algorithm::convolution_direct, open({2, 0, 4, 4}),
                    open({8, 0, 3, 3}), open({2, 8, 2, 2}), {1, 1}, {0, 0}, {0, 0}));
}

void statistics_lie_as_sources_do() {
    const struct {
        tag layout;
        dims strides;
    } cases[] = {{tag::abcd, {12, 4, 1}}, {tag::bacd, {4, 8, 1}}, {tag::acdb, {12, 1, 3}}, {tag::cabd, {3, 1, 6}}};
    for (const auto &c : cases) {
        const md src({2, 3, 4, 5}, dt::f32, c.layout);
        layer_normalization_forward::primitive_desc pd(
                the_engine(), prop_kind::forward_training, src, src, 1e-4f, normalization_flags::none);
        CHECK(pd.mean_desc().get_strides() == c.strides);
        CHECK(pd.variance_desc() == pd.mean_desc());
    }
}

void answers_follow_from_sizes() {
    resampling_forward::primitive_desc pd(
            the_engine(), inference, algorithm::resampling_nearest, std::vector<float> {1.99f, 1.99f}, md({2, 16, 7, 7}, dt::f32, tag::nchw));
    for (float factor : pd.get_factors())
        CHECK(factor == 13.f / 7.f);
}

void one_learnt_parameter_comes_first() {
    const md d({2, 16, 4, 4}, dt::f32, tag::nchw);
    for (auto flag : {normalization_flags::use_scale, normalization_flags::use_shift}) {
        batch_normalization_forward::primitive_desc forward(the_engine(), prop_kind::forward_training, d, d, 1e-4f, flag);
        batch_normalization_backward::primitive_desc pd(the_engine(), prop_kind::backward, d, d, d, 1e-4f, flag, forward);
        const int arg = flag == normalization_flags::use_scale ? DNNL_ARG_DIFF_SCALE : DNNL_ARG_DIFF_SHIFT;
        CHECK(pd.diff_weights_desc() == pd.query_md(query::exec_arg_md, arg));
        CHECK(pd.diff_weights_desc() == md({16}, dt::f32, tag::a));
    }
}

void a_depthwise_post_op_may_have_a_bias_of_bytes() {
    post_ops ops;
    ops.append_dw(dt::s8, dt::s8, dt::s8, 3, 1, 1);
    primitive_attr attr;
    attr.set_post_ops(ops);
    const md data({2, 16, 3, 3}, dt::s8, tag::nchw), weights({16, 16, 1, 1}, dt::s8, tag::nchw);
    THROWS(dnnl_success,
            convolution_forward::primitive_desc(
                    the_engine(), inference, algorithm::convolution_auto, data, weights, data, {1, 1}, {0, 0}, {0, 0}, attr));
}

void few_cells_take_bytes() {
    const md data({3, 2, 16}, dt::u8, tag::tnc), weights = open({1, 1, 16, 3, 16}, dt::s8), bias({1, 1, 3, 16}, dt::f32, tag::ldgo);
    const md more_bias({1, 1, 4, 16}, dt::f32, tag::ldgo), one_gate = open({1, 1, 16, 1, 16}, dt::s8), its_bias({1, 1, 1, 16}, dt::f32, tag::ldgo);
    const auto way = rnn_direction::unidirectional_left2right;
    THROWS(dnnl_success, gru_forward::primitive_desc(the_engine(), inference, way, data, md(), weights, weights, bias, data, md()));
    THROWS(dnnl_unimplemented,
            lbr_gru_forward::primitive_desc(the_engine(), inference, way, data, md(), weights, weights, more_bias, data, md()));
    THROWS(dnnl_unimplemented,
            vanilla_rnn_forward::primitive_desc(
                    the_engine(), inference, algorithm::eltwise_tanh, way, data, md(), one_gate, one_gate, its_bias, data, md()));
}

void gradients_lie_as_the_forward_pass_did() {
    const dims wide = {2, 16, 8, 8}, narrow = {2, 16, 4, 4}, two = {2, 2}, none = {0, 0};
    const md src(wide, dt::f32, tag::nhwc), dst(narrow, dt::f32, tag::nhwc);
    for (auto alg : {algorithm::pooling_max, algorithm::pooling_avg_include_padding}) {
        pooling_forward::primitive_desc forward(the_engine(), prop_kind::forward_training, alg, src, dst, two, two, none, none, none);
        pooling_backward::primitive_desc pd(the_engine(), alg, open(wide), open(narrow), two, two, none, none, none, forward);
        CHECK(pd.diff_src_desc() == src);
        CHECK(pd.diff_dst_desc() == dst);
    }
    prelu_forward::primitive_desc forward(the_engine(), prop_kind::forward_training, src, src, src);
    prelu_backward::primitive_desc pd(the_engine(), src, src, open(wide), open(wide), open(wide), forward);
    CHECK(pd.diff_src_desc() == src);
    CHECK(pd.diff_weights_desc() == src);
}

void pooling_converts_in_every_forward_pass() {
    const dims wide = {1, 8, 4, 4}, narrow = {1, 8, 2, 2}, two = {2, 2}, none = {0, 0};
    const std::vector<dt> types = {dt::f32, dt::s32, dt::s8, dt::u8};
    for (auto prop : {prop_kind::forward_training, inference})
        for (auto alg : {algorithm::pooling_max, algorithm::pooling_avg_include_padding})
            for (auto from : types)
                for (auto to : types) {
                    pooling_forward::primitive_desc pd(
                            the_engine(), prop, alg, plain(wide, from), plain(narrow, to), two, two, none, none, none);
                    arguments args = {{DNNL_ARG_SRC, put(plain(wide, from), values(128, 3))}};
                    if (pd.workspace_desc().get_size() > 0) args[DNNL_ARG_WORKSPACE] = memory(pd.workspace_desc(), the_engine());
                    NEAR_ALL(run_for(pooling_forward(pd), args, DNNL_ARG_DST, pd.dst_desc()), values(32, 3), 0, "pooling that converts");
                }
}

void arguments_without_a_meaning_are_ignored() {
    const md data = plain({2, 3}), bytes({2, 3}, dt::s8, tag::ab);
    THROWS(dnnl_success, binary::primitive_desc(the_engine(), algorithm::binary_add, data, data, bytes, data));
    THROWS(dnnl_success,
            eltwise_forward::primitive_desc(the_engine(), inference, algorithm::eltwise_relu_use_dst_for_bwd, bytes, bytes, 0.f, 0.f));
}

void masks_of_reorders_may_name_all_dimensions() {
    primitive_attr attr;
    attr.set_scales(DNNL_ARG_SRC, (1 << DNNL_MAX_NDIMS) - 1, {8, 1}, dt::f32);
    const dims d = {1, 32, 128, 32};
    THROWS(dnnl_success, reorder::primitive_desc(the_engine(), md(d, dt::s4, tag::abdc), the_engine(), md(d, dt::f32, tag::abcd), attr));
}

void conditions_are_repeated_as_operands_are() {
    const md tall = plain({5, 1}), wide = plain({1, 7}), all = plain({5, 7});
    for (const dims &condition : {dims {5, 1}, dims {1, 7}, dims {1, 1}, dims {5, 7}})
        THROWS(dnnl_success,
                binary::primitive_desc(the_engine(), algorithm::binary_select, tall, wide, md(condition, dt::s8, tag::ab), all));
}

} // namespace

void area_limits() {
    scales_belong_to_bytes();
    scales_of_products_differ_by_row_and_column();
    winograds_algorithm_is_for_small_windows();
    results_lie_as_sources_do();
    sums_have_terms();
    statistics_lie_as_sources_do();
    answers_follow_from_sizes();
    one_learnt_parameter_comes_first();
    a_depthwise_post_op_may_have_a_bias_of_bytes();
    few_cells_take_bytes();
    gradients_lie_as_the_forward_pass_did();
    pooling_converts_in_every_forward_pass();
    arguments_without_a_meaning_are_ignored();
    masks_of_reorders_may_name_all_dimensions();
    conditions_are_repeated_as_operands_are();
    scales_of_sources_are_one_or_one_a_row_of_bytes();
    results_of_convolutions_have_one_scale();
    reorders_convert_between_some_types();
    a_mean_is_described_where_none_is_kept();
    networks_have_the_channels_of_their_weights();
}
