/* The twelve creators of the recurrent cells: a cell each, forward for training and its backward. */
#include "descriptors.h"

enum { STEPS = 3, BATCH = 2, SIZE = 4 };

/* Operands of a cell of `gates` gates; backward takes layouts that were left open. */
struct operands {
    dnnl_memory_desc_t layer, iter, cell, attention, weights, weights_open, bias, peephole;
};

static struct operands make_operands(int gates, int biases) {
    return (struct operands) {
            .layer = tagged(3, DIMS(STEPS, BATCH, SIZE), dnnl_f32, dnnl_tnc),
            .iter = tagged(4, DIMS(1, 1, BATCH, SIZE), dnnl_f32, dnnl_ldnc),
            .cell = tagged(4, DIMS(1, 1, BATCH, SIZE), dnnl_f32, dnnl_ldnc),
            .attention = tagged(3, DIMS(STEPS, BATCH, 1), dnnl_f32, dnnl_tnc),
            .weights = tagged(5, DIMS(1, 1, SIZE, gates, SIZE), dnnl_f32, dnnl_ldigo),
            .weights_open = tagged(5, DIMS(1, 1, SIZE, gates, SIZE), dnnl_f32, dnnl_format_tag_any),
            .bias = tagged(4, DIMS(1, 1, biases, SIZE), dnnl_f32, dnnl_ldgo),
            .peephole = tagged(4, DIMS(1, 1, 3, SIZE), dnnl_f32, dnnl_ldgo),
    };
}

static void drop(struct operands *o) {
    dnnl_memory_desc_t all[] = {o->layer, o->iter, o->cell, o->attention, o->weights, o->weights_open, o->bias, o->peephole};
    for (int i = 0; i < COUNT_OF(all); i++)
        OK(dnnl_memory_desc_destroy(all[i]));
}

static int add_pair(struct made made[MADE_MAX], int count, const char *name, dnnl_status_t forward_status, dnnl_primitive_desc_t forward,
        dnnl_status_t backward_status, dnnl_primitive_desc_t backward) {
    count = add_made(made, count, name, forward_status, forward, dnnl_rnn, dnnl_forward_training);
    return add_made(made, count, name, backward_status, backward, dnnl_rnn, dnnl_backward);
}

static const dnnl_rnn_direction_t along = dnnl_unidirectional_left2right;

static int vanilla(struct made made[MADE_MAX], int count, dnnl_engine_t e) {
    struct operands o = make_operands(1, 1);
    dnnl_primitive_desc_t fwd = NULL, bwd = NULL;
    dnnl_status_t f = dnnl_vanilla_rnn_forward_primitive_desc_create(&fwd, e, dnnl_forward_training, dnnl_eltwise_relu, along, o.layer,
            o.iter, o.weights_open, o.weights_open, o.bias, o.layer, o.iter, 0, 0.25f, 0, NULL);
    dnnl_status_t b = dnnl_vanilla_rnn_backward_primitive_desc_create(&bwd, e, dnnl_backward, dnnl_eltwise_relu, along, o.layer, o.iter,
            o.weights_open, o.weights_open, o.bias, o.layer, o.iter, o.layer, o.iter, o.weights_open, o.weights_open, o.bias, o.layer,
            o.iter, 0, 0.25f, 0, fwd, NULL);
    drop(&o);
    return add_pair(made, count, "vanilla_rnn", f, fwd, b, bwd);
}

static int lstm(struct made made[MADE_MAX], int count, dnnl_engine_t e) {
    struct operands o = make_operands(4, 4);
    dnnl_primitive_desc_t fwd = NULL, bwd = NULL;
    dnnl_status_t f = dnnl_lstm_forward_primitive_desc_create(&fwd, e, dnnl_forward_training, along, o.layer, o.iter, o.cell,
            o.weights_open, o.weights_open, o.peephole, NULL, o.bias, o.layer, o.iter, o.cell, 0, NULL);
    dnnl_status_t b = dnnl_lstm_backward_primitive_desc_create(&bwd, e, dnnl_backward, along, o.layer, o.iter, o.cell, o.weights_open,
            o.weights_open, o.peephole, NULL, o.bias, o.layer, o.iter, o.cell, o.layer, o.iter, o.cell, o.weights_open, o.weights_open,
            o.peephole, NULL, o.bias, o.layer, o.iter, o.cell, dnnl_rnn_flags_diff_weights_overwrite, fwd, NULL);
    drop(&o);
    return add_pair(made, count, "lstm", f, fwd, b, bwd);
}

typedef dnnl_status_t gru_forward(dnnl_primitive_desc_t *, dnnl_engine_t, dnnl_prop_kind_t, dnnl_rnn_direction_t, const_dnnl_memory_desc_t,
        const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t,
        const_dnnl_memory_desc_t, unsigned, const_dnnl_primitive_attr_t);
typedef dnnl_status_t gru_backward(dnnl_primitive_desc_t *, dnnl_engine_t, dnnl_prop_kind_t, dnnl_rnn_direction_t, const_dnnl_memory_desc_t,
        const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t,
        const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t,
        const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, unsigned, const_dnnl_primitive_desc_t,
        const_dnnl_primitive_attr_t);

static int gru(struct made made[MADE_MAX], int count, dnnl_engine_t e, const char *name, int biases, gru_forward *forward,
        gru_backward *backward) {
    struct operands o = make_operands(3, biases);
    dnnl_primitive_desc_t fwd = NULL, bwd = NULL;
    dnnl_status_t f = forward(
            &fwd, e, dnnl_forward_training, along, o.layer, o.iter, o.weights_open, o.weights_open, o.bias, o.layer, o.iter, 0, NULL);
    dnnl_status_t b = backward(&bwd, e, dnnl_backward, along, o.layer, o.iter, o.weights_open, o.weights_open, o.bias, o.layer, o.iter,
            o.layer, o.iter, o.weights_open, o.weights_open, o.bias, o.layer, o.iter, 0, fwd, NULL);
    drop(&o);
    return add_pair(made, count, name, f, fwd, b, bwd);
}

static int augru(struct made made[MADE_MAX], int count, dnnl_engine_t e, bool linear_before_reset) {
    struct operands o = make_operands(3, linear_before_reset ? 4 : 3);
    dnnl_primitive_desc_t fwd = NULL, bwd = NULL;
    dnnl_status_t f, b;
    if (linear_before_reset) {
        f = dnnl_lbr_augru_forward_primitive_desc_create(&fwd, e, dnnl_forward_training, along, o.layer, o.iter, o.attention,
                o.weights_open, o.weights_open, o.bias, o.layer, o.iter, 0, NULL);
        b = dnnl_lbr_augru_backward_primitive_desc_create(&bwd, e, dnnl_backward, along, o.layer, o.iter, o.attention, o.weights_open,
                o.weights_open, o.bias, o.layer, o.iter, o.layer, o.iter, o.attention, o.weights_open, o.weights_open, o.bias, o.layer,
                o.iter, 0, fwd, NULL);
    } else {
        f = dnnl_augru_forward_primitive_desc_create(&fwd, e, dnnl_forward_training, along, o.layer, o.iter, o.attention, o.weights_open,
                o.weights_open, o.bias, o.layer, o.iter, 0, NULL);
        b = dnnl_augru_backward_primitive_desc_create(&bwd, e, dnnl_backward, along, o.layer, o.iter, o.attention, o.weights_open,
                o.weights_open, o.bias, o.layer, o.iter, o.layer, o.iter, o.attention, o.weights_open, o.weights_open, o.bias, o.layer,
                o.iter, 0, fwd, NULL);
    }
    drop(&o);
    return add_pair(made, count, linear_before_reset ? "lbr_augru" : "augru", f, fwd, b, bwd);
}

int make_rnn_descriptors(struct made made[MADE_MAX], int count) {
    dnnl_engine_t e = the_engine();
    count = vanilla(made, count, e);
    count = lstm(made, count, e);
    count = gru(made, count, e, "gru", 3, dnnl_gru_forward_primitive_desc_create, dnnl_gru_backward_primitive_desc_create);
    count = gru(made, count, e, "lbr_gru", 4, dnnl_lbr_gru_forward_primitive_desc_create, dnnl_lbr_gru_backward_primitive_desc_create);
    count = augru(made, count, e, false);
    return augru(made, count, e, true);
}

void area_cells_of_nothing(void) {
#define NO7 NULL, NULL, NULL, NULL, NULL, NULL, NULL
    INVALID(dnnl_vanilla_rnn_forward_primitive_desc_create(NULL, NULL, 0, 0, 0, NO7, 0, 0, 0, NULL));
    INVALID(dnnl_vanilla_rnn_backward_primitive_desc_create(NULL, NULL, 0, 0, 0, NO7, NO7, 0, 0, 0, NULL, NULL));
    INVALID(dnnl_lstm_forward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NULL, NULL, NULL, NULL, 0, NULL));
    INVALID(dnnl_lstm_backward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NO7, NO7, NULL, 0, NULL, NULL));
    INVALID(dnnl_gru_forward_primitive_desc_create(NULL, NULL, 0, 0, NO7, 0, NULL));
    INVALID(dnnl_gru_backward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NO7, 0, NULL, NULL));
    INVALID(dnnl_lbr_gru_forward_primitive_desc_create(NULL, NULL, 0, 0, NO7, 0, NULL));
    INVALID(dnnl_lbr_gru_backward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NO7, 0, NULL, NULL));
    INVALID(dnnl_augru_forward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NULL, 0, NULL));
    INVALID(dnnl_augru_backward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NO7, NULL, NULL, 0, NULL, NULL));
    INVALID(dnnl_lbr_augru_forward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NULL, 0, NULL));
    INVALID(dnnl_lbr_augru_backward_primitive_desc_create(NULL, NULL, 0, 0, NO7, NO7, NULL, NULL, 0, NULL, NULL));
#undef NO7
}
