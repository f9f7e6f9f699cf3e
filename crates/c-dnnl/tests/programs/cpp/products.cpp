// Matrix multiplication and inner product: shapes, broadcasts, run-time sizes, types, scales, sparse and packed operands.
#include "common.hpp"

namespace {

// Matrices of `batch` x M x K by batch x K x N; operands of batch 1 are repeated.
struct shape {
    memory::dim batch_a, batch_b, m, n, k;
    dims a() const { return {batch_a, m, k}; }
    dims b() const { return {batch_b, k, n}; }
    dims c() const { return {std::max(batch_a, batch_b), m, n}; }
};

values product(const shape &s, const values &a, const values &b) {
    values c(volume(s.c()), 0);
    each(s.c(), [&](const dims &at) {
        double sum = 0;
        for (memory::dim k = 0; k < s.k; k++)
            sum += a[offset(s.a(), {s.batch_a == 1 ? 0 : at[0], at[1], k})] * b[offset(s.b(), {s.batch_b == 1 ? 0 : at[0], k, at[2]})];
        c[offset(s.c(), at)] = sum;
    });
    return c;
}

const shape shapes[] = {{1, 1, 4, 5, 6}, {3, 3, 2, 7, 4}, {3, 1, 4, 4, 8}, {1, 2, 1, 16, 5}, {2, 2, 17, 33, 20}, {1, 1, 64, 48, 64}};

void shapes_and_types() {
    for (const auto &s : shapes) {
        const values a = integers(volume(s.a()), 1, 4), b = integers(volume(s.b()), 2, 4), bias = integers(s.n, 3, 5);
        values want = product(s, a, b);
        for (size_t i = 0; i < want.size(); i++)
            want[i] += bias[i % s.n];
        for (dt type : {dt::f32, dt::bf16}) {
            matmul::primitive_desc pd(the_engine(), open(s.a(), type), open(s.b(), type), open({1, 1, s.n}), open(s.c()));
            arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)},
                    {DNNL_ARG_BIAS, put(pd.bias_desc(), bias)}};
            NEAR_ALL(run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, 1e-5, "matmul");
        }
        // Transposed operands by strides.
        md at(s.a(), dt::f32, tag::acb), bt(s.b(), dt::f32, tag::acb), ct(s.c(), dt::f32, tag::acb);
        matmul::primitive_desc pd(the_engine(), at, bt, ct);
        NEAR_ALL(run_for(matmul(pd), {{DNNL_ARG_SRC, put(at, a)}, {DNNL_ARG_WEIGHTS, put(bt, b)}}, DNNL_ARG_DST, ct), product(s, a, b),
                1e-5, "matmul of transposed operands");
    }
}

// One primitive for all numbers of rows, and one that knows no size before it is executed.
void sizes_at_run_time() {
    const memory::dim r = DNNL_RUNTIME_DIM_VAL;
    md any_m({2, r, 6}, dt::f32, dims {r, 6, 1}), weights({1, 6, 5}, dt::f32, tag::abc), any_dst({2, r, 5}, dt::f32, dims {r, 5, 1});
    matmul::primitive_desc pd(the_engine(), any_m, weights, any_dst);
    matmul m(pd);
    for (memory::dim rows : {1, 3, 16}) {
        shape s = {2, 1, rows, 5, 6};
        const values a = integers(volume(s.a()), int(rows), 4), b = integers(volume(s.b()), 2, 4);
        NEAR_ALL(run_for(m, {{DNNL_ARG_SRC, put(plain(s.a()), a)}, {DNNL_ARG_WEIGHTS, put(weights, b)}}, DNNL_ARG_DST, plain(s.c())),
                product(s, a, b), 1e-5, "matmul of sizes known at run time");
    }
    md all({r, r}, dt::f32, dims {r, 1});
    matmul everything(matmul::primitive_desc(the_engine(), all, all, all));
    shape s = {1, 1, 3, 4, 5};
    const values a = integers(15, 1, 4), b = integers(20, 2, 4);
    NEAR_ALL(run_for(everything, {{DNNL_ARG_SRC, put(plain({3, 5}), a)}, {DNNL_ARG_WEIGHTS, put(plain({5, 4}), b)}}, DNNL_ARG_DST,
                     plain({3, 4})),
            product(s, a, b), 1e-5, "matmul that knows no size");
}

memory scalar_s32(int value) {
    memory m({{1}, dt::s32, tag::a}, the_engine());
    poke(m, value);
    return m;
}

void quantised() {
    const shape s = {1, 1, 6, 8, 16};
    const dims da = {6, 16}, db = {16, 8}, dc = {6, 8};
    values a = integers(96, 1, 20), b = integers(128, 2, 20), scale_b;
    for (auto &v : a)
        v += 20;
    for (int n = 0; n < 8; n++)
        scale_b.push_back(0.125 * (1 + n % 4));
    primitive_attr attr;
    attr.set_scales_mask(DNNL_ARG_SRC, 0);
    attr.set_scales_mask(DNNL_ARG_WEIGHTS, 2);
    attr.set_scales_mask(DNNL_ARG_DST, 0);
    attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
    attr.set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);
    attr.set_zero_points_mask(DNNL_ARG_DST, 0);
    values centred_a = a, centred_b = b;
    for (auto &v : centred_a)
        v -= 9;
    for (auto &v : centred_b)
        v -= 2;
    const values sums = product(s, centred_a, centred_b);
    values bytes(sums.size()), floats(sums.size());
    for (size_t i = 0; i < sums.size(); i++) {
        floats[i] = sums[i] * 0.5 * scale_b[i % 8] / 64 - 3;
        bytes[i] = std::min(127.0, std::max(-128.0, std::nearbyint(floats[i])));
    }
    matmul::primitive_desc pd(the_engine(), open(da, dt::u8), open(db, dt::s8), open(dc, dt::s8), attr);
    const arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, put(plain({1}), {0.5})},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, put(plain({8}), scale_b)},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, put(plain({1}), {64})}, {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, scalar_s32(9)},
            {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, scalar_s32(2)}, {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, scalar_s32(-3)}};
    NEAR_ALL(run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc()), bytes, 0, "quantised matmul");
    const md weights = pd.weights_desc();
    matmul::primitive_desc as_floats(the_engine(), open(da, dt::u8), weights, open(dc), attr);
    NEAR_ALL(run_for(matmul(as_floats), args, DNNL_ARG_DST, as_floats.dst_desc()), floats, 1e-6, "quantised matmul to f32");

    // Exact sums of integers.
    matmul::primitive_desc exact(the_engine(), plain(da, dt::u8), plain(db, dt::s8), plain(dc, dt::s32));
    NEAR_ALL(run_for(matmul(exact), {{DNNL_ARG_SRC, put(plain(da, dt::u8), a)}, {DNNL_ARG_WEIGHTS, put(plain(db, dt::s8), b)}},
                     DNNL_ARG_DST, plain(dc, dt::s32)),
            product(s, a, b), 0, "integer matmul");
}

// Weights stored as integers with a scale for every group of 16 rows, multiplied in floating point.
void compressed_weights() {
    const shape s = {1, 1, 3, 4, 32};
    const values a = integers(96, 1, 4), b = integers(128, 2, 7), scales = {0.5, 1, 2, 0.25, 1, 0.5, 0.5, 2};
    primitive_attr attr;
    attr.set_fpmath_mode(fpmath_mode::bf16, true);
    attr.set_scales(DNNL_ARG_WEIGHTS, 3, {16, 1}, dt::f32);
    values decoded = b;
    for (size_t i = 0; i < decoded.size(); i++)
        decoded[i] *= scales[i / 64 * 4 + i % 4];
    matmul::primitive_desc pd(the_engine(), plain({3, 32}), plain({32, 4}, dt::s8), plain({3, 4}), attr);
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, put(plain({2, 4}), scales)}};
    NEAR_ALL(run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc()), product(s, a, decoded), 1e-2, "matmul of compressed weights");
}

// A scale that is a number of the host, not a tensor.
void host_scale() {
    const shape s = {1, 1, 2, 3, 4};
    const values a = integers(8, 1, 4), b = integers(12, 2, 4);
    primitive_attr attr;
    attr.set_host_scale(DNNL_ARG_SRC, dt::f32);
    attr.set_host_zero_point(DNNL_ARG_SRC, dt::s32);
    values shifted = a;
    for (auto &v : shifted)
        v = (v - 2) * 0.5;
    matmul::primitive_desc pd(the_engine(), plain({2, 4}, dt::s8), plain({4, 3}, dt::s8), plain({2, 3}), attr, true);
    CHECK(bool(pd));
    if (!pd) return;
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, memory(md::host_scalar(dt::f32), 0.5f)},
            {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, memory(md::host_scalar(dt::s32), int32_t(2))}};
    NEAR_ALL(run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc()), product(s, shifted, b), 1e-6, "matmul with a host scale");
}

// CSR and COO sources against the dense product.
// Copies numbers to a buffer of a memory that has several.
template <typename T>
void fill(const memory &m, int buffer, const std::vector<T> &numbers) {
    T *data = m.map_data<T>(buffer);
    std::copy(numbers.begin(), numbers.end(), data);
    m.unmap_data(data, buffer);
}

void sparse() {
    const shape s = {1, 1, 4, 3, 6};
    const values b = some(18, 2);
    std::vector<float> stored = {1, -2, 3, 0.5f, 4};
    std::vector<int32_t> columns = {0, 4, 2, 5, 1}, pointers = {0, 2, 2, 3, 5}, rows = {0, 0, 2, 3, 3};
    values a(24, 0);
    for (int i = 0; i < 5; i++)
        a[rows[i] * 6 + columns[i]] = stored[i];
    const md csr = md::csr({4, 6}, dt::f32, 5, dt::s32, dt::s32), coo = md::coo({4, 6}, dt::f32, 5, dt::s32);
    CHECK(csr.get_sparse_encoding() == memory::sparse_encoding::csr && csr.get_nnz() == 5 && csr.get_num_handles() == 3);
    memory in_rows(csr, the_engine()), in_pairs(coo, the_engine());
    fill(in_rows, 0, stored), fill(in_rows, 1, columns), fill(in_rows, 2, pointers);
    fill(in_pairs, 0, stored), fill(in_pairs, 1, rows), fill(in_pairs, 2, columns);
    for (const auto &source : {in_rows, in_pairs}) {
        matmul::primitive_desc pd(the_engine(), source.get_desc(), plain({6, 3}), plain({4, 3}));
        NEAR_ALL(run_for(matmul(pd), {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, put(plain({6, 3}), b)}}, DNNL_ARG_DST, plain({4, 3})),
                product(s, a, b), 1e-6, "sparse matmul");
    }
}

void post_operations() {
    const shape s = {1, 1, 4, 6, 5};
    const values a = integers(20, 1, 4), b = integers(30, 2, 4), extra = some(24, 3), column = some(4, 4), condition = integers(24, 5, 1);
    primitive_attr attr;
    post_ops ops;
    ops.append_eltwise(algorithm::eltwise_relu, 0.5f, 0);
    ops.append_binary(algorithm::binary_add, open({4, 6}));
    ops.append_binary(algorithm::binary_max, plain({4, 1}));
    ops.append_binary(algorithm::binary_select, plain({4, 6}), plain({4, 6}, dt::s8));
    attr.set_post_ops(ops);
    matmul::primitive_desc pd(the_engine(), plain({4, 5}), open({5, 6}), plain({4, 6}), attr, true);
    CHECK(bool(pd));
    if (!pd) return;
    const md added = pd.query_md(query::exec_arg_md, DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1);
    CHECK(added.get_format_kind() == memory::format_kind::blocked);
    values want = product(s, a, b);
    for (size_t i = 0; i < want.size(); i++) {
        double v = std::max((want[i] > 0 ? want[i] : want[i] * 0.5) + extra[i], column[i / 6]);
        want[i] = condition[i] != 0 ? v : extra[i];
    }
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)},
            {DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1, put(added, extra)},
            {DNNL_ARG_ATTR_MULTIPLE_POST_OP(2) | DNNL_ARG_SRC_1, put(plain({4, 1}), column)},
            {DNNL_ARG_ATTR_MULTIPLE_POST_OP(3) | DNNL_ARG_SRC_1, put(plain({4, 6}), extra)},
            {DNNL_ARG_ATTR_MULTIPLE_POST_OP(3) | DNNL_ARG_SRC_2, put(plain({4, 6}, dt::s8), condition)}};
    NEAR_ALL(run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, 1e-5, "matmul with post-ops");
}

void refused() {
    using pd_t = matmul::primitive_desc;
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain({4, 5}), plain({6, 3}), plain({4, 3})));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain({4, 5}), plain({5, 3}), plain({4, 4})));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain({2, 4, 5}), plain({5, 3}), plain({2, 4, 3})));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain({2, 4, 5}), plain({3, 5, 3}), plain({2, 4, 3})));
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain({4, 5}), plain({5, 3}), plain({2}), plain({4, 3})));
    THROWS(dnnl_unimplemented, pd_t(the_engine(), plain({4, 5}, dt::s8), plain({5, 3}, dt::s8), plain({4, 3}, dt::e8m0)));
    primitive_attr attr;
    attr.set_scales_mask(DNNL_ARG_WEIGHTS, 64);
    THROWS(dnnl_invalid_arguments, pd_t(the_engine(), plain({4, 5}, dt::s8), plain({5, 3}, dt::s8), plain({4, 3}), attr));
}

// Training of an inner product over a plane and over vectors.
void inner(const dims &src_dims, memory::dim oc, dt type, double tolerance) {
    const memory::dim mb = src_dims[0], ic = volume(src_dims) / mb;
    dims weights_dims = src_dims;
    weights_dims[0] = oc;
    const values x = integers(mb * ic, 1, 4), w = integers(oc * ic, 2, 3), b = integers(oc, 3, 4), dy = integers(mb * oc, 4, 3);
    values y(mb * oc), dx(x.size(), 0), dw(w.size(), 0), dbias(oc, 0);
    for (memory::dim n = 0; n < mb; n++)
        for (memory::dim o = 0; o < oc; o++) {
            y[n * oc + o] = b[o];
            dbias[o] += dy[n * oc + o];
            for (memory::dim i = 0; i < ic; i++) {
                y[n * oc + o] += x[n * ic + i] * w[o * ic + i];
                dx[n * ic + i] += dy[n * oc + o] * w[o * ic + i];
                dw[o * ic + i] += dy[n * oc + o] * x[n * ic + i];
            }
        }
    md src = open(src_dims, type), weights = open(weights_dims, type), dst = open({mb, oc}, type);
    inner_product_forward::primitive_desc fwd(the_engine(), prop_kind::forward_training, src, weights, open({oc}, type), dst);
    memory mx = put(fwd.src_desc(), x), mw = put(fwd.weights_desc(), w);
    arguments args = {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, mw}, {DNNL_ARG_BIAS, put(fwd.bias_desc(), b)}};
    NEAR_ALL(run_for(inner_product_forward(fwd), args, DNNL_ARG_DST, fwd.dst_desc()), y, tolerance, "inner product forward");
    inner_product_backward_data::primitive_desc by_data(the_engine(), src, weights, dst, fwd);
    args = {{DNNL_ARG_DIFF_DST, put(by_data.diff_dst_desc(), dy)}, {DNNL_ARG_WEIGHTS, as(mw, by_data.weights_desc())}};
    NEAR_ALL(run_for(inner_product_backward_data(by_data), args, DNNL_ARG_DIFF_SRC, by_data.diff_src_desc()), dx, tolerance,
            "inner product by data");
    inner_product_backward_weights::primitive_desc by_weights(the_engine(), src, open(weights_dims), open({oc}), dst, fwd);
    memory db(by_weights.diff_bias_desc(), the_engine());
    args = {{DNNL_ARG_DIFF_DST, put(by_weights.diff_dst_desc(), dy)}, {DNNL_ARG_SRC, as(mx, by_weights.src_desc())},
            {DNNL_ARG_DIFF_BIAS, db}};
    NEAR_ALL(run_for(inner_product_backward_weights(by_weights), args, DNNL_ARG_DIFF_WEIGHTS, by_weights.diff_weights_desc()), dw,
            tolerance, "inner product by weights");
    NEAR_ALL(get(db), dbias, tolerance, "inner product by bias");
}

} // namespace

void area_products() {
    shapes_and_types();
    sizes_at_run_time();
    quantised();
    compressed_weights();
    host_scale();
    sparse();
    post_operations();
    refused();
    inner({3, 5}, 4, dt::f32, 1e-5);
    inner({2, 3, 4, 4}, 6, dt::f32, 1e-5);
    inner({2, 2, 3, 2, 3}, 17, dt::f32, 1e-5);
    inner({4, 32}, 16, dt::bf16, 1e-2);
}
