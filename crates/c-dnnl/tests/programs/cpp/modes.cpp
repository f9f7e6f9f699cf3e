// Modes by what they compute: how sums are kept, how results are rounded, and weights packed without their zeros.
#include "common.hpp"

namespace {

values product(const values &a, const values &b, int m, int n, int k) {
    values c(size_t(m) * n, 0);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                c[i * n + j] += a[i * k + l] * b[l * n + j];
    return c;
}

void accumulation() {
    const int m = 5, n = 7, k = 70;
    const values a = integers(m * k, 1, 4), b = integers(k * n, 2, 4), want = product(a, b, m, n, k);
    const struct {
        accumulation_mode mode;
        dt type;
    } cases[] = {{accumulation_mode::strict, dt::f32}, {accumulation_mode::relaxed, dt::bf16}, {accumulation_mode::any, dt::f16},
            {accumulation_mode::f32, dt::f32}, {accumulation_mode::s32, dt::s8}, {accumulation_mode::any, dt::s8}};
    for (const auto &c : cases) {
        primitive_attr attr;
        attr.set_accumulation_mode(c.mode);
        matmul::primitive_desc pd(the_engine(), plain({m, k}, c.type), plain({k, n}, c.type), plain({m, n}), attr);
        CHECK(pd.get_primitive_attr().get_accumulation_mode() == c.mode);
        arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)}};
        NEAR_ALL(run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc()), want, 0, "matmul with sums of a chosen type");
    }
}

// One and a quarter of the way to the next bf16: a quarter of the results are the next one.
void stochastic_rounding() {
    const int m = 64, n = 64;
    const double next = 1 + 1.0 / 128;
    values a(m * 2), b(2 * n, 1);
    for (int i = 0; i < m; i++) {
        a[i * 2] = 1;
        a[i * 2 + 1] = 1.0 / 512;
    }
    primitive_attr attr;
    attr.set_rounding_mode(DNNL_ARG_DST, rounding_mode::stochastic);
    matmul::primitive_desc pd(the_engine(), plain({m, 2}, dt::bf16), plain({2, n}, dt::bf16), plain({m, n}, dt::bf16), attr);
    auto rounded = [&](int32_t seed) {
        memory s({{1}, dt::s32, tag::a}, the_engine());
        poke(s, seed);
        arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), b)},
                {DNNL_ARG_ATTR_ROUNDING_SEED, s}};
        return run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc());
    };
    const values first = rounded(1);
    int up = 0;
    for (double v : first) {
        CHECK(v == 1 || v == next);
        up += v == next;
    }
    CHECK(up > 4096 / 5 && up < 4096 * 3 / 10);
    CHECK(rounded(1) == first);
    CHECK(rounded(2) != first);
}

void packed_weights() {
    const int m = 4, n = 32, k = 64;
    const values a = integers(m * k, 1, 5);
    values b = integers(k * n, 2, 5);
    int stored = 0;
    for (size_t i = 0; i < b.size(); i++) {
        if (i % 3) b[i] = 0;
        stored += b[i] != 0;
    }
    const md dense = plain({k, n}, dt::s8);
    matmul::primitive_desc pd(the_engine(), plain({m, k}, dt::s8), md::packed({k, n}, dt::s8, stored), plain({m, n}, dt::s32));
    const md packed = pd.weights_desc();
    CHECK(packed.get_sparse_encoding() == memory::sparse_encoding::packed && packed.get_nnz() == stored);
    memory weights(packed, the_engine()), from = put(dense, b);
    reorder(from, weights).execute(the_stream(), from, weights);
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), a)}, {DNNL_ARG_WEIGHTS, weights}};
    NEAR_ALL(run_for(matmul(pd), args, DNNL_ARG_DST, pd.dst_desc()), product(a, b, m, n, k), 0, "matmul of packed weights");
}

} // namespace

void area_modes() {
    accumulation();
    stochastic_rounding();
    packed_weights();
}
