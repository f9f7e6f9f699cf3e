/* What primitive descriptors and primitives answer, to right and to wrong questions. */
#include "descriptors.h"

/* The queries of an operation's parameters that each kind answers; all others are unimplemented. */
static const struct {
    dnnl_primitive_kind_t kind;
    dnnl_query_t answers[8];
} parameters[] = {
        {dnnl_reorder, {dnnl_query_reorder_src_engine, dnnl_query_reorder_dst_engine}},
        {dnnl_shuffle, {dnnl_query_prop_kind, dnnl_query_axis_s32, dnnl_query_group_size_s64}},
        {dnnl_concat, {0}},
        {dnnl_sum, {0}},
        {dnnl_matmul, {0}},
        {dnnl_convolution,
                {dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_strides, dnnl_query_dilations, dnnl_query_padding_l,
                        dnnl_query_padding_r}},
        {dnnl_deconvolution,
                {dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_strides, dnnl_query_dilations, dnnl_query_padding_l,
                        dnnl_query_padding_r}},
        {dnnl_eltwise, {dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_alpha_f32, dnnl_query_beta_f32}},
        {dnnl_softmax, {dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_axis_s32}},
        {dnnl_pooling,
                {dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_strides, dnnl_query_dilations, dnnl_query_padding_l,
                        dnnl_query_padding_r, dnnl_query_kernel}},
        {dnnl_lrn,
                {dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_alpha_f32, dnnl_query_beta_f32, dnnl_query_local_size_s64,
                        dnnl_query_k_f32}},
        {dnnl_batch_normalization, {dnnl_query_prop_kind, dnnl_query_epsilon_f32, dnnl_query_flags}},
        {dnnl_layer_normalization, {dnnl_query_prop_kind, dnnl_query_epsilon_f32, dnnl_query_flags}},
        {dnnl_group_normalization, {dnnl_query_prop_kind, dnnl_query_epsilon_f32, dnnl_query_flags, dnnl_query_group_size_s64}},
        {dnnl_inner_product, {dnnl_query_prop_kind}},
        {dnnl_prelu, {dnnl_query_prop_kind}},
        {dnnl_binary, {dnnl_query_alg_kind}},
        {dnnl_reduction, {dnnl_query_alg_kind, dnnl_query_epsilon_f32, dnnl_query_p_f32}},
        {dnnl_resampling, {dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_factors}},
        {dnnl_rnn, {dnnl_query_prop_kind, dnnl_query_alpha_f32, dnnl_query_cell_kind, dnnl_query_direction, dnnl_query_activation_kind}},
};

static bool is_answered(dnnl_primitive_kind_t kind, dnnl_query_t what) {
    static const dnnl_query_t always[] = {dnnl_query_engine, dnnl_query_primitive_kind, dnnl_query_num_of_inputs_s32,
            dnnl_query_num_of_outputs_s32, dnnl_query_memory_consumption_s64, dnnl_query_impl_info_str, dnnl_query_cache_blob_id_size_s64,
            dnnl_query_cache_blob_id};
    for (int i = 0; i < COUNT_OF(always); i++)
        if (always[i] == what) return true;
    for (int i = 0; i < COUNT_OF(parameters); i++)
        for (int j = 0; parameters[i].kind == kind && j < 8; j++)
            if (parameters[i].answers[j] == what) return true;
    return false;
}

/* "creator: what 14", for a failed check. */
static const char *about(const struct made *m, const char *what, int number) {
    static char text[128];
    snprintf(text, sizeof text, "%s: %s %d", m->name, what, number);
    return text;
}

static void answers(const struct made *m) {
    for (int what = dnnl_query_engine; what <= dnnl_query_group_size_s64; what++) {
        double room[32] = {0};
        dnnl_status_t want = is_answered(m->kind, (dnnl_query_t)what) ? dnnl_success : dnnl_unimplemented;
        count_status(dnnl_primitive_desc_query(m->pd, (dnnl_query_t)what, 0, room), want, about(m, "query", what), __FILE__, __LINE__);
    }
    dnnl_engine_t engine = NULL;
    dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
    dnnl_prop_kind_t prop = dnnl_prop_kind_undef;
    const char *implementation = NULL;
    dnnl_dim_t bytes = -1;
    OK(dnnl_primitive_desc_query(m->pd, dnnl_query_engine, 0, &engine));
    CHECK(engine == the_engine());
    OK(dnnl_primitive_desc_query(m->pd, dnnl_query_primitive_kind, 0, &kind));
    EQUAL(kind, m->kind);
    if (m->prop != dnnl_prop_kind_undef) OK(dnnl_primitive_desc_query(m->pd, dnnl_query_prop_kind, 0, &prop));
    EQUAL(prop, m->prop);
    OK(dnnl_primitive_desc_query(m->pd, dnnl_query_impl_info_str, 0, &implementation));
    CHECK(implementation && implementation[0]);
    OK(dnnl_primitive_desc_query(m->pd, dnnl_query_memory_consumption_s64, 0, &bytes));
    CHECK(bytes >= 0);
    OK(dnnl_primitive_desc_query(m->pd, dnnl_query_cache_blob_id_size_s64, 0, &bytes));
    EQUAL(bytes, 0);
}

/* Inputs, outputs, and the number of dimensions of each descriptor by kind and index: "41" is two, the second of one dimension. */
struct shape_of_arguments {
    int inputs, outputs;
    const char *ndims[6];
};

static void arguments(const struct made *m, const struct shape_of_arguments *want) {
    count_equal(dnnl_primitive_desc_query_s32(m->pd, dnnl_query_num_of_inputs_s32, 0), want->inputs, m->name, __FILE__, __LINE__);
    count_equal(dnnl_primitive_desc_query_s32(m->pd, dnnl_query_num_of_outputs_s32, 0), want->outputs, m->name, __FILE__, __LINE__);
    for (int what = 0; what < 6; what++) {
        char got[5] = {0};
        for (int index = 0; index < 4; index++) {
            const_dnnl_memory_desc_t desc = dnnl_primitive_desc_query_md(m->pd, (dnnl_query_t)(dnnl_query_src_md + what), index);
            long long ndims = query_s32(desc, dnnl_query_ndims_s32);
            if (ndims > 0) got[index] = (char)('0' + ndims);
        }
        count_text(got, want->ndims[what], about(m, "descriptors of query", dnnl_query_src_md + what), __FILE__, __LINE__);
    }
    const_dnnl_memory_desc_t desc = NULL;
    OK(dnnl_primitive_desc_query(m->pd, dnnl_query_scratchpad_md, 0, &desc));
    EQUAL(query_s32(desc, dnnl_query_ndims_s32), 0);
    INVALID(dnnl_primitive_desc_query(m->pd, dnnl_query_scratchpad_md, 1, &desc));
    INVALID(dnnl_primitive_desc_query(m->pd, dnnl_query_workspace_md, 1, &desc));
    CHECK(dnnl_primitive_desc_query_md(m->pd, dnnl_query_workspace_md, 1) == NULL);
}

/* In the order of make_descriptors: src, diff_src, weights, diff_weights, dst, diff_dst. */
static const struct shape_of_arguments shapes[] = {
        {3, 1, {"4", "", "41", "", "4", ""}},
        {2, 1, {"", "4", "4", "", "", "4"}},
        {2, 2, {"4", "", "", "41", "", "4"}},
        {3, 1, {"4", "", "41", "", "4", ""}},
        {2, 1, {"", "4", "4", "", "", "4"}},
        {2, 2, {"4", "", "", "41", "", "4"}},
        {3, 1, {"4", "", "41", "", "2", ""}},
        {2, 1, {"", "4", "4", "", "", "2"}},
        {2, 2, {"4", "", "", "41", "", "2"}},
        {2, 1, {"2", "", "2", "", "2", ""}},
        {1, 1, {"4", "", "", "", "4", ""}},
        {2, 1, {"4", "4", "", "", "", "4"}},
        {1, 1, {"4", "", "", "", "4", ""}},
        {2, 1, {"", "4", "", "", "4", "4"}},
        {2, 1, {"4", "", "4", "", "4", ""}},
        {3, 2, {"4", "4", "4", "4", "", "4"}},
        {1, 1, {"4", "", "", "", "4", ""}},
        {1, 1, {"", "4", "", "", "", "4"}},
        {2, 1, {"44", "", "", "", "4", ""}},
        {3, 1, {"444", "", "", "", "4", ""}},
        {1, 1, {"4", "", "", "", "4", ""}},
        {2, 1, {"44", "", "", "", "4", ""}},
        {2, 1, {"44", "", "", "", "4", ""}},
        {1, 1, {"4", "", "", "", "4", ""}},
        {1, 2, {"4", "", "", "", "4", ""}},
        {2, 1, {"", "4", "", "", "", "4"}},
        {1, 1, {"4", "", "", "", "4", ""}},
        {2, 1, {"4", "4", "", "", "", "4"}},
        {1, 1, {"4", "", "", "", "4", ""}},
        {1, 1, {"", "4", "", "", "", "4"}},
        {3, 4, {"4", "", "11", "", "411", ""}},
        {6, 3, {"411", "4", "1", "11", "", "4"}},
        {3, 3, {"4", "", "11", "", "422", ""}},
        {5, 3, {"422", "4", "1", "11", "", "4"}},
        {3, 3, {"4", "", "11", "", "433", ""}},
        {5, 3, {"433", "4", "1", "11", "", "4"}},
        {3, 3, {"4", "", "11", "", "433", ""}},
        {5, 3, {"433", "4", "1", "11", "", "4"}},
        {5, 3, {"34", "", "554", "", "34", ""}},
        {10, 5, {"34", "34", "554", "554", "34", "34"}},
        {7, 4, {"344", "", "5544", "", "344", ""}},
        {14, 7, {"344", "344", "5544", "5544", "344", "344"}},
        {5, 3, {"34", "", "554", "", "34", ""}},
        {10, 5, {"34", "34", "554", "554", "34", "34"}},
        {5, 3, {"34", "", "554", "", "34", ""}},
        {10, 5, {"34", "34", "554", "554", "34", "34"}},
        {6, 3, {"34", "", "554", "", "34", ""}},
        {11, 6, {"34", "34", "554", "554", "34", "34"}},
        {6, 3, {"34", "", "554", "", "34", ""}},
        {11, 6, {"34", "34", "554", "554", "34", "34"}},
};

static void wrong_questions(dnnl_primitive_desc_t pd) {
    double room[32];
    dnnl_primitive_desc_t copy = NULL;
    const_dnnl_primitive_attr_t attr = NULL;
    STATUS(dnnl_unimplemented, dnnl_primitive_desc_query(pd, (dnnl_query_t)9999, 0, room));
    STATUS(dnnl_unimplemented, dnnl_primitive_desc_query(pd, dnnl_query_undef, 0, room));
    INVALID(dnnl_primitive_desc_query(pd, dnnl_query_engine, 0, NULL));
    INVALID(dnnl_primitive_desc_query(NULL, dnnl_query_engine, 0, room));
    CHECK(dnnl_primitive_desc_query_md(NULL, dnnl_query_src_md, 0) == NULL);
    CHECK(dnnl_primitive_desc_query_md(pd, dnnl_query_engine, 0) == NULL);
    EQUAL(query_s32(dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, DNNL_ARG_WEIGHTS), dnnl_query_ndims_s32), 4);
    EQUAL(query_s32(dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, 777), dnnl_query_ndims_s32), 0);
    EQUAL(dnnl_primitive_desc_query_s32(pd, dnnl_query_engine, 0), 0);
    EQUAL(dnnl_primitive_desc_query_s32(NULL, dnnl_query_num_of_inputs_s32, 0), 0);

    INVALID(dnnl_primitive_desc_clone(NULL, pd));
    INVALID(dnnl_primitive_desc_clone(&copy, NULL));
    INVALID(dnnl_primitive_desc_get_attr(NULL, &attr));
    INVALID(dnnl_primitive_desc_get_attr(pd, NULL));
    OK(dnnl_primitive_desc_get_attr(pd, &attr));
    OK(dnnl_primitive_desc_clone(&copy, pd));
    STATUS(dnnl_last_impl_reached, dnnl_primitive_desc_next_impl(copy));
    EQUAL(dnnl_primitive_desc_query_s32(copy, dnnl_query_num_of_inputs_s32, 0), 3);
    OK(dnnl_primitive_desc_destroy(copy));
    OK(dnnl_primitive_desc_destroy(NULL));
}

static void primitives(dnnl_primitive_desc_t pd) {
    dnnl_primitive_t primitive = NULL, none = NULL;
    const_dnnl_primitive_desc_t own = NULL;
    uint8_t blob[16] = {0};
    size_t size = 99;
    INVALID(dnnl_primitive_create(NULL, pd));
    INVALID(dnnl_primitive_create(&none, NULL));
    OK(dnnl_primitive_create(&primitive, pd));
    OK(dnnl_primitive_get_primitive_desc(primitive, &own));
    EQUAL(dnnl_primitive_desc_query_s32(own, dnnl_query_num_of_inputs_s32, 0), 3);
    INVALID(dnnl_primitive_get_primitive_desc(NULL, &own));
    INVALID(dnnl_primitive_get_primitive_desc(primitive, NULL));
    STATUS(dnnl_unimplemented, dnnl_primitive_get_cache_blob(primitive, &size, NULL));
    STATUS(dnnl_unimplemented, dnnl_primitive_get_cache_blob(primitive, &size, blob));
    INVALID(dnnl_primitive_get_cache_blob(primitive, NULL, NULL));
    INVALID(dnnl_primitive_get_cache_blob(NULL, &size, NULL));
    STATUS(dnnl_unimplemented, dnnl_primitive_create_from_cache_blob(&none, pd, sizeof blob, blob));
    INVALID(dnnl_primitive_create_from_cache_blob(&none, pd, 0, NULL));
    INVALID(dnnl_primitive_execute(NULL, the_stream(), 0, NULL));
    INVALID(dnnl_primitive_execute(primitive, NULL, 0, NULL));
    INVALID(dnnl_primitive_execute(primitive, the_stream(), 0, NULL));
    INVALID(dnnl_primitive_execute(primitive, the_stream(), -1, NULL));
    INVALID(dnnl_primitive_execute(primitive, the_stream(), 3, NULL));

    /* The next implementations, until there is none; the primitive made before keeps its own. */
    dnnl_status_t status;
    do {
        const char *implementation = NULL;
        OK(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &implementation));
        CHECK(implementation && implementation[0]);
        status = dnnl_primitive_desc_next_impl(pd);
    } while (status == dnnl_success);
    EQUAL(status, dnnl_last_impl_reached);
    STATUS(dnnl_last_impl_reached, dnnl_primitive_desc_next_impl(pd));
    INVALID(dnnl_primitive_desc_next_impl(NULL));
    OK(dnnl_primitive_destroy(primitive));
    OK(dnnl_primitive_destroy(NULL));
}

void area_descriptor_queries(void) {
    struct made made[MADE_MAX];
    int count = make_descriptors(made);
    EQUAL(count, COUNT_OF(shapes));
    for (int i = 0; i < count; i++) {
        answers(&made[i]);
        if (count == COUNT_OF(shapes)) arguments(&made[i], &shapes[i]);
    }
    wrong_questions(made[0].pd);
    primitives(made[0].pd);
    for (int i = 0; i < count; i++)
        OK(dnnl_primitive_desc_destroy(made[i].pd));
}
