/* Primitive attributes: defaults, what was set comes back, what is not allowed is refused. */
#include "helpers.h"

static dnnl_primitive_attr_t attr;

static void modes(void) {
    dnnl_fpmath_mode_t fpmath = dnnl_fpmath_mode_any;
    int flag = -1;
    OK(dnnl_primitive_attr_get_fpmath_mode_v2(attr, &fpmath, &flag));
    EQUAL(fpmath, dnnl_fpmath_mode_strict);
    EQUAL(flag, 0);
    OK(dnnl_primitive_attr_set_fpmath_mode_v2(attr, dnnl_fpmath_mode_bf16, 1));
    OK(dnnl_primitive_attr_get_fpmath_mode_v2(attr, &fpmath, &flag));
    EQUAL(fpmath, dnnl_fpmath_mode_bf16);
    EQUAL(flag, 1);
    OK(dnnl_primitive_attr_set_fpmath_mode(attr, dnnl_fpmath_mode_tf32));
    OK(dnnl_primitive_attr_get_fpmath_mode(attr, &fpmath));
    EQUAL(fpmath, dnnl_fpmath_mode_tf32);
    INVALID(dnnl_primitive_attr_set_fpmath_mode(attr, (dnnl_fpmath_mode_t)99));
    INVALID(dnnl_primitive_attr_set_fpmath_mode(NULL, dnnl_fpmath_mode_any));
    INVALID(dnnl_primitive_attr_get_fpmath_mode(NULL, &fpmath));
    INVALID(dnnl_primitive_attr_get_fpmath_mode(attr, NULL));

    dnnl_accumulation_mode_t accumulation = dnnl_accumulation_mode_any;
    OK(dnnl_primitive_attr_get_accumulation_mode(attr, &accumulation));
    EQUAL(accumulation, dnnl_accumulation_mode_strict);
    for (int mode = dnnl_accumulation_mode_strict; mode <= dnnl_accumulation_mode_f16; mode++) {
        OK(dnnl_primitive_attr_set_accumulation_mode(attr, (dnnl_accumulation_mode_t)mode));
        OK(dnnl_primitive_attr_get_accumulation_mode(attr, &accumulation));
        EQUAL(accumulation, mode);
    }
    INVALID(dnnl_primitive_attr_set_accumulation_mode(attr, (dnnl_accumulation_mode_t)99));
    INVALID(dnnl_primitive_attr_get_accumulation_mode(attr, NULL));

    int deterministic = -1;
    OK(dnnl_primitive_attr_get_deterministic(attr, &deterministic));
    EQUAL(deterministic, 0);
    OK(dnnl_primitive_attr_set_deterministic(attr, 1));
    OK(dnnl_primitive_attr_get_deterministic(attr, &deterministic));
    EQUAL(deterministic, 1);
    INVALID(dnnl_primitive_attr_set_deterministic(NULL, 1));
    INVALID(dnnl_primitive_attr_get_deterministic(attr, NULL));

    dnnl_scratchpad_mode_t scratchpad = dnnl_scratchpad_mode_user;
    OK(dnnl_primitive_attr_get_scratchpad_mode(attr, &scratchpad));
    EQUAL(scratchpad, dnnl_scratchpad_mode_library);
    OK(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user));
    OK(dnnl_primitive_attr_get_scratchpad_mode(attr, &scratchpad));
    EQUAL(scratchpad, dnnl_scratchpad_mode_user);
    INVALID(dnnl_primitive_attr_set_scratchpad_mode(attr, (dnnl_scratchpad_mode_t)99));
    INVALID(dnnl_primitive_attr_get_scratchpad_mode(NULL, &scratchpad));

    dnnl_rounding_mode_t rounding = dnnl_rounding_mode_stochastic;
    OK(dnnl_primitive_attr_get_rounding(attr, DNNL_ARG_DST, &rounding));
    EQUAL(rounding, dnnl_rounding_mode_environment);
    OK(dnnl_primitive_attr_set_rounding(attr, DNNL_ARG_DST, dnnl_rounding_mode_stochastic));
    OK(dnnl_primitive_attr_get_rounding(attr, DNNL_ARG_DST, &rounding));
    EQUAL(rounding, dnnl_rounding_mode_stochastic);
    INVALID(dnnl_primitive_attr_set_rounding(NULL, DNNL_ARG_DST, dnnl_rounding_mode_stochastic));
    INVALID(dnnl_primitive_attr_get_rounding(attr, DNNL_ARG_DST, NULL));
}

static void dropout(void) {
    const_dnnl_memory_desc_t mask = NULL;
    dnnl_data_type_t seed = dnnl_data_type_undef;
    int offset = -1, host = -1;
    dnnl_memory_desc_t bytes = tagged(2, DIMS(3, 4), dnnl_u8, dnnl_ab), wrong = tagged(2, DIMS(3, 4), dnnl_f32, dnnl_ab);
    OK(dnnl_primitive_attr_get_dropout(attr, &mask));
    EQUAL(query_s32(mask, dnnl_query_ndims_s32), 0);
    OK(dnnl_primitive_attr_set_dropout(attr, bytes));
    OK(dnnl_primitive_attr_get_dropout(attr, &mask));
    EQUAL(dnnl_memory_desc_equal(mask, bytes), 1);
    OK(dnnl_primitive_attr_set_dropout_v2(attr, bytes, dnnl_s64, 1, 1));
    OK(dnnl_primitive_attr_get_dropout_v2(attr, &mask, &seed, &offset, &host));
    EQUAL(dnnl_memory_desc_equal(mask, bytes), 1);
    EQUAL(seed, dnnl_s64);
    EQUAL(offset, 1);
    EQUAL(host, 1);
    INVALID(dnnl_primitive_attr_set_dropout(NULL, bytes));
    OK(dnnl_primitive_attr_get_dropout(attr, NULL));
    INVALID(dnnl_primitive_attr_get_dropout(NULL, &mask));
    INVALID(dnnl_primitive_attr_set_dropout(attr, wrong));
    INVALID(dnnl_primitive_attr_set_dropout_v2(attr, bytes, dnnl_f32, 0, 0));
    OK(dnnl_memory_desc_destroy(bytes));
    OK(dnnl_memory_desc_destroy(wrong));
}

/* (argument, mask, group_ndims, groups, type, on_host) of scales and of zero points. */
struct quantisation {
    int arg, mask, group_ndims;
    dnnl_dims_t groups;
    dnnl_data_type_t type;
    int on_host;
    dnnl_status_t status;
};

/* A status of row `i` of a table. */
static void row_status(dnnl_status_t got, dnnl_status_t want, const char *function, int i, int line) {
    char what[64];
    snprintf(what, sizeof what, "%s, row %d", function, i);
    count_status(got, want, what, __FILE__, line);
}

static void scales(void) {
    static const struct quantisation rows[] = {
            {DNNL_ARG_SRC, 0, 0, {0}, dnnl_f32, 0, dnnl_success},
            {DNNL_ARG_WEIGHTS, 1, 0, {0}, dnnl_bf16, 0, dnnl_success},
            {DNNL_ARG_WEIGHTS, 3, 2, {16, 1}, dnnl_f16, 0, dnnl_success},
            {DNNL_ARG_WEIGHTS, 3, 2, {32, 1}, dnnl_e8m0, 0, dnnl_success},
            {DNNL_ARG_DST, 0, 0, {0}, dnnl_f32, 1, dnnl_success},
            {DNNL_ARG_SRC, -1, 0, {0}, dnnl_f32, 0, dnnl_invalid_arguments},
            {DNNL_ARG_SRC, 0, 0, {0}, dnnl_s32, 0, dnnl_invalid_arguments},
            {DNNL_ARG_SRC, 0, 0, {0}, dnnl_e8m0, 0, dnnl_invalid_arguments},
            {DNNL_ARG_SRC, 0, -1, {0}, dnnl_f32, 0, dnnl_invalid_arguments},
            {DNNL_ARG_SRC, 0, 2, {16, 1}, dnnl_f32, 0, dnnl_invalid_arguments},
            {DNNL_ARG_SRC, 2, 0, {0}, dnnl_f32, 1, dnnl_invalid_arguments},
            {DNNL_ARG_BIAS, 0, 0, {0}, dnnl_f32, 0, dnnl_invalid_arguments},
            {DNNL_ARG_WORKSPACE, 0, 0, {0}, dnnl_f32, 0, dnnl_invalid_arguments},
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        const struct quantisation *r = &rows[i];
        row_status(dnnl_primitive_attr_set_scales_v2(attr, r->arg, r->mask, r->group_ndims, r->groups, r->type, r->on_host), r->status,
                "scales_v2", i, __LINE__);
        if (!r->on_host)
            row_status(dnnl_primitive_attr_set_scales(attr, r->arg, r->mask, r->group_ndims, r->groups, r->type), r->status, "scales", i,
                    __LINE__);
    }
    OK(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, 0));
    INVALID(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, -1));
    INVALID(dnnl_primitive_attr_set_scales_mask(NULL, DNNL_ARG_SRC, 0));
    OK(dnnl_primitive_attr_set_scales_v3(attr, DNNL_ARG_SRC, 0, 0, NULL, dnnl_f32, 0, dnnl_quantization_mode_static_sazp));
    OK(dnnl_primitive_attr_set_scales_v3(attr, DNNL_ARG_DST, 3, 2, DIMS(1, 32), dnnl_e8m0, 0, dnnl_quantization_mode_dynamic_mx));
    INVALID(dnnl_primitive_attr_set_scales_v3(attr, DNNL_ARG_DST, 0, 2, DIMS(1, 32), dnnl_e8m0, 0, dnnl_quantization_mode_dynamic_mx));
}

static void zero_points(void) {
    static const struct quantisation rows[] = {
            {DNNL_ARG_SRC, 0, 0, {0}, dnnl_s32, 0, dnnl_success},
            {DNNL_ARG_WEIGHTS, 3, 2, {16, 1}, dnnl_u4, 0, dnnl_success},
            {DNNL_ARG_WEIGHTS, 0, 0, {0}, dnnl_s8, 0, dnnl_success},
            {DNNL_ARG_DST, 0, 0, {0}, dnnl_s32, 1, dnnl_success},
            {DNNL_ARG_SRC, -1, 0, {0}, dnnl_s32, 0, dnnl_invalid_arguments},
            {DNNL_ARG_SRC, 0, 0, {0}, dnnl_f32, 0, dnnl_invalid_arguments},
            {DNNL_ARG_DST, 0, 0, {0}, dnnl_s8, 0, dnnl_invalid_arguments},
            {DNNL_ARG_BIAS, 0, 0, {0}, dnnl_s32, 0, dnnl_invalid_arguments},
    };
    for (int i = 0; i < COUNT_OF(rows); i++) {
        const struct quantisation *r = &rows[i];
        row_status(dnnl_primitive_attr_set_zero_points_v2(attr, r->arg, r->mask, r->group_ndims, r->groups, r->type, r->on_host), r->status,
                "zero_points_v2", i, __LINE__);
        if (!r->on_host)
            row_status(dnnl_primitive_attr_set_zero_points(attr, r->arg, r->mask, r->group_ndims, r->groups, r->type), r->status,
                    "zero_points", i, __LINE__);
    }
    OK(dnnl_primitive_attr_set_zero_points_mask(attr, DNNL_ARG_SRC, 0));
    INVALID(dnnl_primitive_attr_set_zero_points_mask(attr, DNNL_ARG_SRC, -1));
    INVALID(dnnl_primitive_attr_set_zero_points_mask(NULL, DNNL_ARG_SRC, 0));
    OK(dnnl_primitive_attr_set_precomputed_reductions(attr, DNNL_ARG_SRC, 3, 2, DIMS(1, 16), dnnl_s32));
    INVALID(dnnl_primitive_attr_set_precomputed_reductions(attr, DNNL_ARG_SRC, 3, 2, DIMS(1, 16), dnnl_f32));
    INVALID(dnnl_primitive_attr_set_precomputed_reductions(attr, DNNL_ARG_DST, 3, 2, DIMS(1, 16), dnnl_s32));
    INVALID(dnnl_primitive_attr_set_precomputed_reductions(NULL, DNNL_ARG_SRC, 3, 2, DIMS(1, 16), dnnl_s32));
}

static void rnn(void) {
    float scale = 0, shift = 0;
    OK(dnnl_primitive_attr_get_rnn_data_qparams(attr, &scale, &shift));
    NEAR(scale, 1, 0);
    NEAR(shift, 0, 0);
    OK(dnnl_primitive_attr_set_rnn_data_qparams(attr, 64.0f, 128.0f));
    OK(dnnl_primitive_attr_get_rnn_data_qparams(attr, &scale, &shift));
    NEAR(scale, 64, 0);
    NEAR(shift, 128, 0);
    INVALID(dnnl_primitive_attr_set_rnn_data_qparams(NULL, 1.0f, 0.0f));

    static const float many[] = {1, 2, 3, 4};
    dnnl_dim_t count = 0;
    int mask = -1;
    const float *got = NULL;
    OK(dnnl_primitive_attr_set_rnn_weights_qparams(attr, 4, 24, many));
    OK(dnnl_primitive_attr_get_rnn_weights_qparams(attr, &count, &mask, &got));
    EQUAL(count, 4);
    EQUAL(mask, 24);
    CHECK(got && memcmp(got, many, sizeof many) == 0);
    OK(dnnl_primitive_attr_set_rnn_weights_projection_qparams(attr, 1, 0, many + 1));
    OK(dnnl_primitive_attr_get_rnn_weights_projection_qparams(attr, &count, &mask, &got));
    EQUAL(count, 1);
    EQUAL(mask, 0);
    NEAR(got[0], 2, 0);
    INVALID(dnnl_primitive_attr_set_rnn_weights_qparams(attr, 0, 0, many));
    INVALID(dnnl_primitive_attr_set_rnn_weights_qparams(attr, 4, -1, many));
    INVALID(dnnl_primitive_attr_set_rnn_weights_qparams(attr, 4, 24, NULL));
    INVALID(dnnl_primitive_attr_set_rnn_weights_projection_qparams(attr, 4, 24, NULL));
}

/* A clone keeps what was set and lives on its own. */
static void clones(void) {
    dnnl_primitive_attr_t copy = NULL;
    dnnl_scratchpad_mode_t scratchpad;
    dnnl_post_ops_t ops = NULL;
    const_dnnl_post_ops_t got = NULL;
    OK(dnnl_post_ops_create(&ops));
    OK(dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0.5f, 0));
    OK(dnnl_primitive_attr_set_post_ops(attr, ops));
    OK(dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef));
    OK(dnnl_primitive_attr_get_post_ops(attr, &got));
    EQUAL(dnnl_post_ops_len(got), 1);
    OK(dnnl_post_ops_destroy(ops));
    INVALID(dnnl_primitive_attr_set_post_ops(attr, NULL));
    INVALID(dnnl_primitive_attr_get_post_ops(attr, NULL));
    INVALID(dnnl_primitive_attr_get_post_ops(NULL, &got));

    OK(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user));
    OK(dnnl_primitive_attr_clone(&copy, attr));
    OK(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_library));
    OK(dnnl_primitive_attr_get_scratchpad_mode(copy, &scratchpad));
    EQUAL(scratchpad, dnnl_scratchpad_mode_user);
    OK(dnnl_primitive_attr_get_post_ops(copy, &got));
    EQUAL(dnnl_post_ops_len(got), 1);
    OK(dnnl_primitive_attr_destroy(copy));
    INVALID(dnnl_primitive_attr_clone(NULL, attr));
    INVALID(dnnl_primitive_attr_clone(&copy, NULL));
    INVALID(dnnl_primitive_attr_create(NULL));
}

void area_attributes(void) {
    static void (*const parts[])(void) = {modes, dropout, scales, zero_points, rnn, clones};
    for (int i = 0; i < COUNT_OF(parts); i++) {
        OK(dnnl_primitive_attr_create(&attr));
        parts[i]();
        OK(dnnl_primitive_attr_destroy(attr));
    }
    OK(dnnl_primitive_attr_destroy(NULL));
}

static void every_post_op(dnnl_post_ops_t ops, dnnl_memory_desc_t row, dnnl_memory_desc_t condition) {
    OK(dnnl_post_ops_append_sum(ops, 0.5f, 3, dnnl_s8));
    OK(dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_clip, -1.0f, 6.0f));
    OK(dnnl_post_ops_append_dw(ops, dnnl_f32, dnnl_f32, dnnl_f32, 3, 2, 1));
    OK(dnnl_post_ops_append_binary(ops, dnnl_binary_mul, row));
    OK(dnnl_post_ops_append_binary_v2(ops, dnnl_binary_select, row, condition));
    OK(dnnl_post_ops_append_prelu(ops, 2));
    static const dnnl_primitive_kind_t kinds[] = {dnnl_sum, dnnl_eltwise, dnnl_convolution, dnnl_binary, dnnl_binary, dnnl_prelu};
    EQUAL(dnnl_post_ops_len(ops), COUNT_OF(kinds));
    for (int i = 0; i < COUNT_OF(kinds); i++)
        EQUAL(dnnl_post_ops_get_kind(ops, i), kinds[i]);
    EQUAL(dnnl_post_ops_get_kind(ops, -1), dnnl_undefined_primitive);
    EQUAL(dnnl_post_ops_get_kind(ops, 6), dnnl_undefined_primitive);
}

static void post_op_values(dnnl_post_ops_t ops, dnnl_memory_desc_t row, dnnl_memory_desc_t condition) {
    float a = 0, b = 0;
    int32_t zero_point = 0;
    dnnl_data_type_t types[3];
    dnnl_dim_t sizes[3];
    dnnl_alg_kind_t alg = dnnl_alg_kind_undef;
    const_dnnl_memory_desc_t src1 = NULL, src2 = NULL;
    int mask = -1;
    OK(dnnl_post_ops_get_params_sum(ops, 0, &a, &zero_point, &types[0]));
    NEAR(a, 0.5, 0);
    EQUAL(zero_point, 3);
    EQUAL(types[0], dnnl_s8);
    OK(dnnl_post_ops_get_params_eltwise(ops, 1, &alg, &a, &b));
    EQUAL(alg, dnnl_eltwise_clip);
    NEAR(a, -1, 0);
    NEAR(b, 6, 0);
    OK(dnnl_post_ops_get_params_dw(ops, 2, &types[0], &types[1], &types[2], &sizes[0], &sizes[1], &sizes[2]));
    EQUAL(types[2], dnnl_f32);
    CHECK(same_dims(sizes, DIMS(3, 2, 1), 3));
    OK(dnnl_post_ops_get_params_binary(ops, 3, &alg, &src1));
    EQUAL(alg, dnnl_binary_mul);
    EQUAL(dnnl_memory_desc_equal(src1, row), 1);
    OK(dnnl_post_ops_get_params_binary_v2(ops, 4, &alg, &src1, &src2));
    EQUAL(alg, dnnl_binary_select);
    EQUAL(dnnl_memory_desc_equal(src2, condition), 1);
    OK(dnnl_post_ops_get_params_prelu(ops, 5, &mask));
    EQUAL(mask, 2);
    INVALID(dnnl_post_ops_get_params_sum(ops, 1, &a, &zero_point, &types[0]));
    INVALID(dnnl_post_ops_get_params_eltwise(ops, 0, &alg, &a, &b));
    INVALID(dnnl_post_ops_get_params_dw(ops, 7, &types[0], &types[1], &types[2], &sizes[0], &sizes[1], &sizes[2]));
    INVALID(dnnl_post_ops_get_params_binary(ops, 0, &alg, &src1));
    INVALID(dnnl_post_ops_get_params_prelu(ops, -1, &mask));
}

void area_post_ops(void) {
    dnnl_post_ops_t ops = NULL, copy = NULL;
    dnnl_memory_desc_t row = tagged(4, DIMS(1, 8, 1, 1), dnnl_f32, dnnl_nchw), condition = tagged(4, DIMS(1, 8, 1, 1), dnnl_s8, dnnl_nchw);
    INVALID(dnnl_post_ops_create(NULL));
    OK(dnnl_post_ops_create(&ops));
    EQUAL(dnnl_post_ops_len(ops), 0);
    EQUAL(dnnl_post_ops_len(NULL), 0);
    every_post_op(ops, row, condition);
    post_op_values(ops, row, condition);
    OK(dnnl_post_ops_clone(&copy, ops));
    OK(dnnl_post_ops_destroy(ops));
    post_op_values(copy, row, condition);
    INVALID(dnnl_post_ops_clone(NULL, copy));
    INVALID(dnnl_post_ops_clone(&ops, NULL));

    INVALID(dnnl_post_ops_append_sum(NULL, 1, 0, dnnl_f32));
    INVALID(dnnl_post_ops_append_eltwise(copy, dnnl_binary_add, 0, 0));
    INVALID(dnnl_post_ops_append_eltwise(NULL, dnnl_eltwise_relu, 0, 0));
    INVALID(dnnl_post_ops_append_binary(copy, dnnl_eltwise_relu, row));
    GUARDED(dnnl_post_ops_append_binary(copy, dnnl_binary_add, NULL));
    GUARDED(dnnl_post_ops_append_binary_v2(copy, dnnl_binary_select, row, NULL));
    INVALID(dnnl_post_ops_append_dw(copy, dnnl_f32, dnnl_f32, dnnl_data_type_undef, 3, 1, 1));
    INVALID(dnnl_post_ops_append_dw(copy, dnnl_f32, dnnl_f32, dnnl_f32, 3, 1, 3));
    INVALID(dnnl_post_ops_append_prelu(NULL, 0));
    for (int i = dnnl_post_ops_len(copy); i < 32; i++)
        OK(dnnl_post_ops_append_eltwise(copy, dnnl_eltwise_abs, 0, 0));
    STATUS(dnnl_out_of_memory, dnnl_post_ops_append_eltwise(copy, dnnl_eltwise_abs, 0, 0));
    EQUAL(dnnl_post_ops_len(copy), 32);
    OK(dnnl_post_ops_destroy(copy));
    OK(dnnl_post_ops_destroy(NULL));
    OK(dnnl_memory_desc_destroy(row));
    OK(dnnl_memory_desc_destroy(condition));
}
