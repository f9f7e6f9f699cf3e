/* A small network trained for a step, in C: convolution, relu, pooling, inner product, and back; every layout but the user's left to the
 * library, reorders only where descriptors differ, every gradient against plain loops. */
#include <math.h>

#include "helpers.h"

enum { MB = 2, IC = 3, OC = 8, SIDE = 6, HALF = 3, CLASSES = 4 };
enum { PLANE = SIDE * SIDE, POOLED = HALF * HALF, FEATURES = OC * POOLED };

/* What plain loops say. */
static struct {
    float x[MB * IC * PLANE], w[OC * IC * 9], v[CLASSES * FEATURES], dz[MB * CLASSES];
    double y[MB * OC * PLANE], p[MB * FEATURES], z[MB * CLASSES];
    double dv[CLASSES * FEATURES], dy[MB * OC * PLANE], dx[MB * IC * PLANE], dw[OC * IC * 9];
} e;

/* Visits the products of the convolution with padding 1: `forward` adds to y, else to the gradients. */
static void convolve(bool forward) {
    for (int n = 0; n < MB; n++)
        for (int o = 0; o < OC; o++)
            for (int at = 0; at < PLANE; at++)
                for (int i = 0; i < IC; i++)
                    for (int k = 0; k < 9; k++) {
                        int h = at / SIDE + k / 3 - 1, w = at % SIDE + k % 3 - 1;
                        if (h < 0 || h >= SIDE || w < 0 || w >= SIDE) continue;
                        int x = (n * IC + i) * PLANE + h * SIDE + w, f = (o * IC + i) * 9 + k, y = (n * OC + o) * PLANE + at;
                        if (forward) {
                            e.y[y] += (double)e.x[x] * e.w[f];
                        } else {
                            e.dx[x] += e.dy[y] * e.w[f];
                            e.dw[f] += e.dy[y] * e.x[x];
                        }
                    }
}

static void expect(void) {
    memset(&e, 0, sizeof e);
    fill(e.x, MB * IC * PLANE, 1);
    fill(e.w, OC * IC * 9, 2);
    fill(e.v, CLASSES * FEATURES, 3);
    fill(e.dz, MB * CLASSES, 4);
    convolve(true);
    int best[MB * FEATURES];
    for (int c = 0; c < MB * FEATURES; c++) {
        int plane = c / POOLED, h = c % POOLED / HALF, w = c % HALF;
        e.p[c] = -1;
        for (int k = 0; k < 4; k++) {
            int at = plane * PLANE + (2 * h + k / 2) * SIDE + 2 * w + k % 2;
            double relu = fmax(e.y[at], 0);
            if (relu > e.p[c]) {
                e.p[c] = relu;
                best[c] = at;
            }
        }
    }
    for (int n = 0; n < MB; n++)
        for (int c = 0; c < CLASSES; c++)
            for (int f = 0; f < FEATURES; f++) {
                e.z[n * CLASSES + c] += e.p[n * FEATURES + f] * e.v[c * FEATURES + f];
                e.dv[c * FEATURES + f] += e.dz[n * CLASSES + c] * e.p[n * FEATURES + f];
                int from = best[n * FEATURES + f];
                if (e.y[from] > 0) e.dy[from] += e.dz[n * CLASSES + c] * e.v[c * FEATURES + f];
            }
    convolve(false);
}

static void compare(dnnl_memory_t memory, const double *want, int count, const char *what, int line) {
    float *got = dense_values(memory);
    double worst = 0;
    for (int i = 0; i < count; i++)
        worst = fmax(worst, fabs(got[i] - want[i]) / fmax(1, fabs(want[i])));
    count_near(worst, 0, 1e-5, what, __FILE__, line);
    free(got);
}
#define COMPARE(memory, want) compare(memory, want, COUNT_OF(want), #memory, __LINE__)

/* Runs a primitive of `pd` with the given arguments. */
static void execute(dnnl_primitive_desc_t pd, int count, const dnnl_exec_arg_t *args) {
    dnnl_primitive_t primitive = NULL;
    OK(dnnl_primitive_create(&primitive, pd));
    OK(dnnl_primitive_execute(primitive, the_stream(), count, args));
    OK(dnnl_stream_wait(the_stream()));
    OK(dnnl_primitive_destroy(primitive));
}
#define EXECUTE(pd, ...) \
    do { \
        const dnnl_exec_arg_t args[] = {__VA_ARGS__}; \
        execute(pd, COUNT_OF(args), args); \
    } while (0)

static const_dnnl_memory_desc_t of(dnnl_primitive_desc_t pd, dnnl_query_t what) { return dnnl_primitive_desc_query_md(pd, what, 0); }

void area_training(void) {
    expect();
    dnnl_engine_t eng = the_engine();
    const dnnl_prop_kind_t training = dnnl_forward_training;
    const dnnl_dim_t *one = DIMS(1, 1), *two = DIMS(2, 2), *none = DIMS(0, 0);
    dnnl_memory_desc_t user_x = tagged(4, DIMS(MB, IC, SIDE, SIDE), dnnl_f32, dnnl_nchw),
                       user_w = tagged(4, DIMS(OC, IC, 3, 3), dnnl_f32, dnnl_oihw);
    dnnl_memory_desc_t user_v = tagged(4, DIMS(CLASSES, OC, HALF, HALF), dnnl_f32, dnnl_oihw),
                       user_z = tagged(2, DIMS(MB, CLASSES), dnnl_f32, dnnl_nc);
    dnnl_memory_desc_t any_x = tagged(4, DIMS(MB, IC, SIDE, SIDE), dnnl_f32, dnnl_format_tag_any),
                       any_w = tagged(4, DIMS(OC, IC, 3, 3), dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_t any_y = tagged(4, DIMS(MB, OC, SIDE, SIDE), dnnl_f32, dnnl_format_tag_any),
                       any_p = tagged(4, DIMS(MB, OC, HALF, HALF), dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_t any_v = tagged(4, DIMS(CLASSES, OC, HALF, HALF), dnnl_f32, dnnl_format_tag_any);

    dnnl_primitive_desc_t conv, relu, pool, ip, ip_data, ip_weights, pool_data, relu_data, conv_data, conv_weights;
    OK(dnnl_convolution_forward_primitive_desc_create(
            &conv, eng, training, dnnl_convolution_direct, any_x, any_w, NULL, any_y, one, none, one, one, NULL));
    const_dnnl_memory_desc_t y_desc = of(conv, dnnl_query_dst_md);
    OK(dnnl_eltwise_forward_primitive_desc_create(&relu, eng, training, dnnl_eltwise_relu, y_desc, y_desc, 0, 0, NULL));
    OK(dnnl_pooling_forward_primitive_desc_create(&pool, eng, training, dnnl_pooling_max, y_desc, any_p, two, two, none, none, none, NULL));
    OK(dnnl_inner_product_forward_primitive_desc_create(&ip, eng, training, any_p, any_v, NULL, user_z, NULL));
    dnnl_memory_t x = memory_with(user_x, e.x), w = memory_with(user_w, e.w), v = memory_with(user_v, e.v), dz = memory_with(user_z, e.dz);
    dnnl_memory_t conv_x = reordered(x, of(conv, dnnl_query_src_md)), conv_w = reordered(w, of(conv, dnnl_query_weights_md));
    dnnl_memory_t y = memory_of(y_desc), r = memory_of(y_desc), p = memory_of(of(pool, dnnl_query_dst_md)),
                  workspace = memory_of(of(pool, dnnl_query_workspace_md));
    EXECUTE(conv, {DNNL_ARG_SRC, conv_x}, {DNNL_ARG_WEIGHTS, conv_w}, {DNNL_ARG_DST, y});
    COMPARE(y, e.y);
    EXECUTE(relu, {DNNL_ARG_SRC, y}, {DNNL_ARG_DST, r});
    EXECUTE(pool, {DNNL_ARG_SRC, r}, {DNNL_ARG_DST, p}, {DNNL_ARG_WORKSPACE, workspace});
    COMPARE(p, e.p);
    dnnl_memory_t ip_p = reordered(p, of(ip, dnnl_query_src_md)), ip_v = reordered(v, of(ip, dnnl_query_weights_md)), z = memory_of(user_z);
    EXECUTE(ip, {DNNL_ARG_SRC, ip_p}, {DNNL_ARG_WEIGHTS, ip_v}, {DNNL_ARG_DST, z});
    COMPARE(z, e.z);

    OK(dnnl_inner_product_backward_data_primitive_desc_create(&ip_data, eng, any_p, any_v, user_z, ip, NULL));
    OK(dnnl_inner_product_backward_weights_primitive_desc_create(&ip_weights, eng, any_p, any_v, NULL, user_z, ip, NULL));
    dnnl_memory_t dp = memory_of(of(ip_data, dnnl_query_diff_src_md)), dv = memory_of(of(ip_weights, dnnl_query_diff_weights_md));
    dnnl_memory_t back_v = reordered(v, of(ip_data, dnnl_query_weights_md)), back_p = reordered(p, of(ip_weights, dnnl_query_src_md));
    EXECUTE(ip_data, {DNNL_ARG_DIFF_DST, dz}, {DNNL_ARG_WEIGHTS, back_v}, {DNNL_ARG_DIFF_SRC, dp});
    EXECUTE(ip_weights, {DNNL_ARG_DIFF_DST, dz}, {DNNL_ARG_SRC, back_p}, {DNNL_ARG_DIFF_WEIGHTS, dv});
    COMPARE(dv, e.dv);
    OK(dnnl_pooling_backward_primitive_desc_create(
            &pool_data, eng, dnnl_pooling_max, y_desc, any_p, two, two, none, none, none, pool, NULL));
    OK(dnnl_eltwise_backward_primitive_desc_create(&relu_data, eng, dnnl_eltwise_relu, y_desc, y_desc, y_desc, 0, 0, relu, NULL));
    dnnl_memory_t pool_dp = reordered(dp, of(pool_data, dnnl_query_diff_dst_md)), dr = memory_of(of(pool_data, dnnl_query_diff_src_md)),
                  dy = memory_of(y_desc);
    EXECUTE(pool_data, {DNNL_ARG_DIFF_DST, pool_dp}, {DNNL_ARG_WORKSPACE, workspace}, {DNNL_ARG_DIFF_SRC, dr});
    EXECUTE(relu_data, {DNNL_ARG_DIFF_DST, dr}, {DNNL_ARG_SRC, y}, {DNNL_ARG_DIFF_SRC, dy});
    COMPARE(dy, e.dy);
    OK(dnnl_convolution_backward_data_primitive_desc_create(
            &conv_data, eng, dnnl_convolution_direct, any_x, any_w, any_y, one, none, one, one, conv, NULL));
    OK(dnnl_convolution_backward_weights_primitive_desc_create(
            &conv_weights, eng, dnnl_convolution_direct, any_x, any_w, NULL, any_y, one, none, one, one, conv, NULL));
    dnnl_memory_t dx = memory_of(of(conv_data, dnnl_query_diff_src_md)), dw = memory_of(of(conv_weights, dnnl_query_diff_weights_md));
    dnnl_memory_t data_dy = reordered(dy, of(conv_data, dnnl_query_diff_dst_md)),
                  data_w = reordered(w, of(conv_data, dnnl_query_weights_md));
    dnnl_memory_t weights_dy = reordered(dy, of(conv_weights, dnnl_query_diff_dst_md)),
                  weights_x = reordered(x, of(conv_weights, dnnl_query_src_md));
    EXECUTE(conv_data, {DNNL_ARG_DIFF_DST, data_dy}, {DNNL_ARG_WEIGHTS, data_w}, {DNNL_ARG_DIFF_SRC, dx});
    EXECUTE(conv_weights, {DNNL_ARG_DIFF_DST, weights_dy}, {DNNL_ARG_SRC, weights_x}, {DNNL_ARG_DIFF_WEIGHTS, dw});
    COMPARE(dx, e.dx);
    COMPARE(dw, e.dw);
    dnnl_primitive_desc_t pds[] = {conv, relu, pool, ip, ip_data, ip_weights, pool_data, relu_data, conv_data, conv_weights};
    for (int i = 0; i < COUNT_OF(pds); i++)
        OK(dnnl_primitive_desc_destroy(pds[i]));
    dnnl_memory_desc_t descs[] = {user_x, user_w, user_v, user_z, any_x, any_w, any_y, any_p, any_v};
    for (int i = 0; i < COUNT_OF(descs); i++)
        OK(dnnl_memory_desc_destroy(descs[i]));
}
