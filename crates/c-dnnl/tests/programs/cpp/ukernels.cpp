// Kernels of one block: C = sum over pairs of A x B, then scales and post-ops; packing of B.
#include "common.hpp"
#include "oneapi/dnnl/dnnl_ukernel.hpp"

namespace {

using ukernel::brgemm;
using ukernel::transform;

const memory::dim M = 6, N = 32, K = 16, PAIRS = 3;

struct operands {
    std::vector<float> a, b;
    std::vector<double> c;
    std::vector<std::pair<memory::dim, memory::dim>> offsets;
};

operands make() {
    operands o;
    const values x = integers(M * K * PAIRS, 1, 4), y = integers(K * N * PAIRS, 2, 4);
    o.a.assign(x.begin(), x.end());
    o.b.assign(y.begin(), y.end());
    o.c.assign(M * N, 0);
    for (memory::dim p = 0; p < PAIRS; p++) {
        o.offsets.emplace_back(p * M * K * memory::dim(sizeof(float)), p * K * N * memory::dim(sizeof(float)));
        for (memory::dim m = 0; m < M; m++)
            for (memory::dim n = 0; n < N; n++)
                for (memory::dim k = 0; k < K; k++)
                    o.c[m * N + n] += double(o.a[(p * M + m) * K + k]) * o.b[(p * K + k) * N + n];
    }
    return o;
}

void sums() {
    const operands o = make();
    brgemm g(M, N, K, PAIRS, K, N, N, dt::f32, dt::f32, dt::f32);
    g.set_add_C(false);
    CHECK(g.finalize());
    g.generate();
    std::vector<float> c(M * N, 1);
    std::vector<uint8_t> scratch(g.get_scratchpad_size() + 1);
    g.set_hw_context();
    g.execute(o.a.data(), o.b.data(), o.offsets, c.data(), scratch.data());
    NEAR_ALL(values(c.begin(), c.end()), o.c, 1e-6, "brgemm");

    brgemm more(M, N, K, PAIRS, K, N, N, dt::f32, dt::f32, dt::f32);
    more.set_add_C(true);
    CHECK(more.finalize());
    more.generate();
    more.execute(o.a.data(), o.b.data(), o.offsets, c.data(), scratch.data());
    brgemm::release_hw_context();
    values twice = o.c;
    for (auto &v : twice)
        v *= 2;
    NEAR_ALL(values(c.begin(), c.end()), twice, 1e-6, "brgemm added to what was there");
}

void post_operations() {
    const operands o = make();
    post_ops ops;
    ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
    ops.append_binary(algorithm::binary_add, plain({1, N}));
    brgemm g(M, N, K, PAIRS, K, N, N, dt::f32, dt::f32, dt::f32);
    g.set_A_scales(0);
    g.set_B_scales(2);
    g.set_D_scales(0);
    g.set_post_ops(N, dt::f32, ops);
    CHECK(g.finalize());
    g.generate();
    CHECK(g.is_execute_postops_valid());
    std::vector<float> c(M * N), d(M * N), row(N), scales(N);
    values want(M * N);
    for (memory::dim n = 0; n < N; n++) {
        row[n] = float(n) - 7;
        scales[n] = float(n % 3 + 1);
    }
    const float a_scale = 0.5f, d_scale = 2;
    for (memory::dim i = 0; i < M * N; i++)
        want[i] = (std::max(o.c[i] * 0.5 * scales[i % N], 0.0) + row[i % N]) / d_scale;
    const void *extra[] = {row.data()};
    ukernel::attr_params params;
    params.set_post_ops_args(extra);
    params.set_A_scales(&a_scale);
    params.set_B_scales(scales.data());
    params.set_D_scales(&d_scale);
    std::vector<uint8_t> scratch(g.get_scratchpad_size() + 1);
    g.execute(o.a.data(), o.b.data(), o.offsets, c.data(), d.data(), scratch.data(), params);
    NEAR_ALL(values(d.begin(), d.end()), want, 1e-5, "brgemm with scales and post-ops");
}

// f32 wants B as it is; a transposed B is turned by a transform.
void packing() {
    CHECK(brgemm::get_B_pack_type(dt::f32, dt::f32) == ukernel::pack_type::no_trans);
    CHECK(brgemm::get_B_pack_type(dt::u8, dt::s8) == ukernel::pack_type::pack32);
    std::vector<float> turned(K * N), straight(K * N, 0);
    for (memory::dim n = 0; n < N; n++)
        for (memory::dim k = 0; k < K; k++)
            turned[n * K + k] = float(n * 100 + k);
    transform t(K, N, ukernel::pack_type::trans, K, N, dt::f32, dt::f32, true);
    CHECK(bool(t));
    if (!t) return;
    t.generate();
    t.execute(turned.data(), straight.data());
    bool right = true;
    for (memory::dim k = 0; k < K; k++)
        for (memory::dim n = 0; n < N; n++)
            right = right && straight[k * N + n] == turned[n * K + k];
    CHECK(right);
}

void refused() {
    dnnl_brgemm_t g = nullptr;
    INVALID(dnnl_brgemm_create(nullptr, M, N, K, 1, K, N, N, dnnl_f32, dnnl_f32, dnnl_f32));
    INVALID(dnnl_brgemm_create(&g, -1, N, K, 1, K, N, N, dnnl_f32, dnnl_f32, dnnl_f32));
    INVALID(dnnl_brgemm_generate(nullptr));
    INVALID(dnnl_brgemm_finalize(nullptr));
    INVALID(dnnl_brgemm_get_B_pack_type(nullptr, dnnl_f32, dnnl_f32));
    OK(dnnl_brgemm_destroy(nullptr));
    OK(dnnl_transform_destroy(nullptr));
    OK(dnnl_ukernel_attr_params_destroy(nullptr));
}

} // namespace

void area_ukernels() {
    sums();
    post_operations();
    packing();
    refused();
}
