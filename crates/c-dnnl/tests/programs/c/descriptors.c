/* Every creator but those of the recurrent cells, with arguments it takes and with none at all. */
#include "descriptors.h"

int add_made(struct made made[MADE_MAX], int count, const char *name, dnnl_status_t status, dnnl_primitive_desc_t pd,
        dnnl_primitive_kind_t kind, dnnl_prop_kind_t prop) {
    count_status(status, dnnl_success, name, __FILE__, __LINE__);
    if (status != dnnl_success) return count;
    made[count] = (struct made) {name, pd, kind, prop};
    return count + 1;
}

/* Creates, checks and keeps; `pd` is the new descriptor in the arguments. */
#define MAKE(kind_, prop_, function, ...) \
    do { \
        dnnl_primitive_desc_t pd = NULL; \
        dnnl_status_t status = function(&pd, __VA_ARGS__); \
        count = add_made(made, count, #function, status, pd, kind_, prop_); \
        last = pd; \
    } while (0)

static dnnl_memory_desc_t data, weights, bias, filter, out, vector, any_out, half, matrix_a, matrix_b, matrix_c, channel;

static void make_operands(void) {
    data = tagged(4, DIMS(2, 8, 6, 6), dnnl_f32, dnnl_nchw);
    half = tagged(4, DIMS(2, 8, 3, 3), dnnl_f32, dnnl_nchw);
    filter = tagged(4, DIMS(8, 8, 3, 3), dnnl_f32, dnnl_oihw);
    any_out = tagged(4, DIMS(2, 8, 6, 6), dnnl_f32, dnnl_format_tag_any);
    bias = tagged(1, DIMS(8), dnnl_f32, dnnl_a);
    weights = tagged(4, DIMS(4, 8, 6, 6), dnnl_f32, dnnl_oihw);
    vector = tagged(1, DIMS(4), dnnl_f32, dnnl_a);
    out = tagged(2, DIMS(2, 4), dnnl_f32, dnnl_nc);
    matrix_a = tagged(2, DIMS(3, 5), dnnl_f32, dnnl_ab);
    matrix_b = tagged(2, DIMS(5, 4), dnnl_f32, dnnl_ab);
    matrix_c = tagged(2, DIMS(3, 4), dnnl_f32, dnnl_ab);
    channel = tagged(4, DIMS(1, 8, 1, 1), dnnl_f32, dnnl_nchw);
}

static int products(struct made made[MADE_MAX], int count, dnnl_engine_t e) {
    dnnl_primitive_desc_t last = NULL, forward;
    const dnnl_dim_t *one = DIMS(1, 1), *none = DIMS(0, 0);
    MAKE(dnnl_convolution, dnnl_forward_training, dnnl_convolution_forward_primitive_desc_create, e, dnnl_forward_training,
            dnnl_convolution_direct, data, filter, bias, data, one, none, one, one, NULL);
    forward = last;
    MAKE(dnnl_convolution, dnnl_backward_data, dnnl_convolution_backward_data_primitive_desc_create, e, dnnl_convolution_direct, data,
            filter, data, one, none, one, one, forward, NULL);
    MAKE(dnnl_convolution, dnnl_backward_weights, dnnl_convolution_backward_weights_primitive_desc_create, e, dnnl_convolution_direct, data,
            filter, bias, data, one, none, one, one, forward, NULL);
    MAKE(dnnl_deconvolution, dnnl_forward_training, dnnl_deconvolution_forward_primitive_desc_create, e, dnnl_forward_training,
            dnnl_deconvolution_direct, data, filter, bias, data, one, none, one, one, NULL);
    forward = last;
    MAKE(dnnl_deconvolution, dnnl_backward_data, dnnl_deconvolution_backward_data_primitive_desc_create, e, dnnl_deconvolution_direct, data,
            filter, data, one, none, one, one, forward, NULL);
    MAKE(dnnl_deconvolution, dnnl_backward_weights, dnnl_deconvolution_backward_weights_primitive_desc_create, e, dnnl_deconvolution_direct,
            data, filter, bias, data, one, none, one, one, forward, NULL);
    MAKE(dnnl_inner_product, dnnl_forward_training, dnnl_inner_product_forward_primitive_desc_create, e, dnnl_forward_training, data,
            weights, vector, out, NULL);
    forward = last;
    MAKE(dnnl_inner_product, dnnl_backward_data, dnnl_inner_product_backward_data_primitive_desc_create, e, data, weights, out, forward,
            NULL);
    MAKE(dnnl_inner_product, dnnl_backward_weights, dnnl_inner_product_backward_weights_primitive_desc_create, e, data, weights, vector,
            out, forward, NULL);
    MAKE(dnnl_matmul, dnnl_prop_kind_undef, dnnl_matmul_primitive_desc_create, e, matrix_a, matrix_b, NULL, matrix_c, NULL);
    return count;
}

static int elementwise(struct made made[MADE_MAX], int count, dnnl_engine_t e) {
    dnnl_primitive_desc_t last = NULL, forward;
    dnnl_memory_desc_t condition = tagged(4, DIMS(2, 8, 6, 6), dnnl_s8, dnnl_nchw);
    MAKE(dnnl_eltwise, dnnl_forward_training, dnnl_eltwise_forward_primitive_desc_create, e, dnnl_forward_training, dnnl_eltwise_elu, data,
            any_out, 0.5f, 0, NULL);
    forward = last;
    MAKE(dnnl_eltwise, dnnl_backward_data, dnnl_eltwise_backward_primitive_desc_create, e, dnnl_eltwise_elu, data, data, data, 0.5f, 0,
            forward, NULL);
    MAKE(dnnl_softmax, dnnl_forward_training, dnnl_softmax_forward_primitive_desc_create, e, dnnl_forward_training, dnnl_softmax_log, data,
            any_out, 1, NULL);
    forward = last;
    MAKE(dnnl_softmax, dnnl_backward_data, dnnl_softmax_backward_primitive_desc_create, e, dnnl_softmax_log, data, data, data, 1, forward,
            NULL);
    MAKE(dnnl_prelu, dnnl_forward_training, dnnl_prelu_forward_primitive_desc_create, e, dnnl_forward_training, data, channel, data, NULL);
    forward = last;
    MAKE(dnnl_prelu, dnnl_backward, dnnl_prelu_backward_primitive_desc_create, e, data, channel, data, channel, data, forward, NULL);
    MAKE(dnnl_shuffle, dnnl_forward_training, dnnl_shuffle_forward_primitive_desc_create, e, dnnl_forward_training, data, data, 1, 4, NULL);
    forward = last;
    MAKE(dnnl_shuffle, dnnl_backward_data, dnnl_shuffle_backward_primitive_desc_create, e, data, data, 1, 4, forward, NULL);
    MAKE(dnnl_binary, dnnl_prop_kind_undef, dnnl_binary_primitive_desc_create, e, dnnl_binary_max, data, channel, any_out, NULL);
    MAKE(dnnl_binary, dnnl_prop_kind_undef, dnnl_binary_primitive_desc_create_v2, e, dnnl_binary_select, data, data, condition, any_out,
            NULL);
    MAKE(dnnl_reduction, dnnl_prop_kind_undef, dnnl_reduction_primitive_desc_create, e, dnnl_reduction_norm_lp_sum, data, channel, 2.0f,
            0.25f, NULL);
    const_dnnl_memory_desc_t pair[] = {data, data};
    const float scales[] = {1, 2};
    MAKE(dnnl_concat, dnnl_prop_kind_undef, dnnl_concat_primitive_desc_create, e, NULL, 2, 1, pair, NULL);
    MAKE(dnnl_sum, dnnl_prop_kind_undef, dnnl_sum_primitive_desc_create, e, NULL, 2, scales, pair, NULL);
    dnnl_memory_desc_t last_channels = tagged(4, DIMS(2, 8, 6, 6), dnnl_bf16, dnnl_nhwc);
    MAKE(dnnl_reorder, dnnl_prop_kind_undef, dnnl_reorder_primitive_desc_create, data, e, last_channels, e, NULL);
    OK(dnnl_memory_desc_destroy(last_channels));
    OK(dnnl_memory_desc_destroy(condition));
    return count;
}

static int windows(struct made made[MADE_MAX], int count, dnnl_engine_t e) {
    dnnl_primitive_desc_t last = NULL, forward;
    const dnnl_dim_t *two = DIMS(2, 2), *none = DIMS(0, 0);
    MAKE(dnnl_pooling, dnnl_forward_training, dnnl_pooling_forward_primitive_desc_create, e, dnnl_forward_training, dnnl_pooling_max, data,
            half, two, two, none, none, none, NULL);
    forward = last;
    MAKE(dnnl_pooling, dnnl_backward_data, dnnl_pooling_backward_primitive_desc_create, e, dnnl_pooling_max, data, half, two, two, none,
            none, none, forward, NULL);
    MAKE(dnnl_lrn, dnnl_forward_training, dnnl_lrn_forward_primitive_desc_create, e, dnnl_forward_training, dnnl_lrn_across_channels, data,
            data, 5, 1e-4f, 0.75f, 2.0f, NULL);
    forward = last;
    MAKE(dnnl_lrn, dnnl_backward_data, dnnl_lrn_backward_primitive_desc_create, e, dnnl_lrn_across_channels, data, data, data, 5, 1e-4f,
            0.75f, 2.0f, forward, NULL);
    const float factors[] = {0.5f, 0.5f};
    MAKE(dnnl_resampling, dnnl_forward_training, dnnl_resampling_forward_primitive_desc_create, e, dnnl_forward_training,
            dnnl_resampling_linear, factors, data, half, NULL);
    forward = last;
    MAKE(dnnl_resampling, dnnl_backward_data, dnnl_resampling_backward_primitive_desc_create, e, dnnl_resampling_linear, factors, data,
            half, forward, NULL);
    return count;
}

static int norms(struct made made[MADE_MAX], int count, dnnl_engine_t e) {
    dnnl_primitive_desc_t last = NULL, forward;
    dnnl_memory_desc_t stat = tagged(3, DIMS(2, 8, 6), dnnl_f32, dnnl_abc);
    const unsigned flags = dnnl_use_scale | dnnl_use_shift;
    MAKE(dnnl_batch_normalization, dnnl_forward_training, dnnl_batch_normalization_forward_primitive_desc_create, e, dnnl_forward_training,
            data, data, 0.125f, flags | dnnl_fuse_norm_relu, NULL);
    forward = last;
    MAKE(dnnl_batch_normalization, dnnl_backward, dnnl_batch_normalization_backward_primitive_desc_create, e, dnnl_backward, data, data,
            data, 0.125f, flags | dnnl_fuse_norm_relu, forward, NULL);
    MAKE(dnnl_group_normalization, dnnl_forward_training, dnnl_group_normalization_forward_primitive_desc_create, e, dnnl_forward_training,
            data, data, 4, 0.125f, flags, NULL);
    forward = last;
    MAKE(dnnl_group_normalization, dnnl_backward, dnnl_group_normalization_backward_primitive_desc_create, e, dnnl_backward, data, data,
            data, 4, 0.125f, flags, forward, NULL);
    MAKE(dnnl_layer_normalization, dnnl_forward_training, dnnl_layer_normalization_forward_primitive_desc_create, e, dnnl_forward_training,
            data, data, stat, 0.125f, flags, NULL);
    forward = last;
    MAKE(dnnl_layer_normalization, dnnl_backward, dnnl_layer_normalization_backward_primitive_desc_create, e, dnnl_backward, data, data,
            data, stat, 0.125f, flags, forward, NULL);
    MAKE(dnnl_layer_normalization, dnnl_forward_training, dnnl_layer_normalization_forward_primitive_desc_create_v2, e,
            dnnl_forward_training, data, data, NULL, dnnl_f32, 0.125f, flags, NULL);
    forward = last;
    MAKE(dnnl_layer_normalization, dnnl_backward, dnnl_layer_normalization_backward_primitive_desc_create_v2, e, dnnl_backward, data, data,
            data, NULL, dnnl_f32, dnnl_f32, 0.125f, flags, forward, NULL);
    OK(dnnl_memory_desc_destroy(stat));
    return count;
}

int make_descriptors(struct made made[MADE_MAX]) {
    make_operands();
    dnnl_engine_t e = the_engine();
    int count = products(made, 0, e);
    count = elementwise(made, count, e);
    count = windows(made, count, e);
    count = norms(made, count, e);
    dnnl_memory_desc_t all[] = {data, weights, bias, filter, out, vector, any_out, half, matrix_a, matrix_b, matrix_c, channel};
    for (int i = 0; i < COUNT_OF(all); i++)
        OK(dnnl_memory_desc_destroy(all[i]));
    return make_rnn_descriptors(made, count);
}

/* Nothing given: an answer, never a crash. */
void area_creators_of_nothing(void) {
    INVALID(dnnl_reorder_primitive_desc_create(NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_concat_primitive_desc_create(NULL, NULL, NULL, 0, 0, NULL, NULL));
    INVALID(dnnl_sum_primitive_desc_create(NULL, NULL, NULL, 0, NULL, NULL, NULL));
    INVALID(dnnl_binary_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL));
    INVALID(dnnl_binary_primitive_desc_create_v2(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_convolution_forward_primitive_desc_create(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_convolution_backward_data_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_convolution_backward_weights_primitive_desc_create(
            NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_deconvolution_forward_primitive_desc_create(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_deconvolution_backward_data_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_deconvolution_backward_weights_primitive_desc_create(
            NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_shuffle_forward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, 0, 0, NULL));
    INVALID(dnnl_shuffle_backward_primitive_desc_create(NULL, NULL, NULL, NULL, 0, 0, NULL, NULL));
    INVALID(dnnl_eltwise_forward_primitive_desc_create(NULL, NULL, 0, 0, NULL, NULL, 0, 0, NULL));
    INVALID(dnnl_eltwise_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, NULL, NULL));
    INVALID(dnnl_softmax_forward_primitive_desc_create(NULL, NULL, 0, 0, NULL, NULL, 0, NULL));
    INVALID(dnnl_softmax_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL));
    INVALID(dnnl_pooling_forward_primitive_desc_create(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_pooling_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_prelu_forward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL));
    INVALID(dnnl_prelu_backward_primitive_desc_create(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_lrn_forward_primitive_desc_create(NULL, NULL, 0, 0, NULL, NULL, 0, 0, 0, 0, NULL));
    INVALID(dnnl_lrn_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL));
    INVALID(dnnl_batch_normalization_forward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, 0, 0, NULL));
    INVALID(dnnl_batch_normalization_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, NULL, NULL));
    INVALID(dnnl_group_normalization_forward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, 0, 0, 0, NULL));
    INVALID(dnnl_group_normalization_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL, NULL));
    INVALID(dnnl_layer_normalization_forward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, NULL));
    INVALID(dnnl_layer_normalization_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL));
    INVALID(dnnl_layer_normalization_forward_primitive_desc_create_v2(NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, NULL));
    INVALID(dnnl_layer_normalization_backward_primitive_desc_create_v2(NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL));
    INVALID(dnnl_inner_product_forward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_inner_product_backward_data_primitive_desc_create(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_inner_product_backward_weights_primitive_desc_create(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_matmul_primitive_desc_create(NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_resampling_forward_primitive_desc_create(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL));
    INVALID(dnnl_resampling_backward_primitive_desc_create(NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL));
    INVALID(dnnl_reduction_primitive_desc_create(NULL, NULL, 0, NULL, NULL, 0, 0, NULL));
}
