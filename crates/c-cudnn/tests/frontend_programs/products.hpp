// Matrix products with epilogues, chains of pointwise operations, reductions.
#pragma once
#include "common.hpp"

namespace products_area {

void products(cudnnHandle_t handle) {
    const int b = 2, m = 5, k = 6, n = 7;
    Floats A = numbers(b * m * k, 1), W = numbers(b * k * n, 2), bias = numbers(n, 3), C(b * m * n), r(C.size()), sums(b * m), rs(b * m);
    for (int i = 0; i < b * m * n; i++) {
        double sum = bias[i % n];
        for (int j = 0; j < k; j++) sum += (double)A[i / n * k + j] * W[(i / n / m * k + j) * n + i % n];
        r[i] = (float)(0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0))));
        rs[i / n] += r[i];
    }
    Device da(A), dw(W), db(bias), dc(C.size() * 4), ds(sums.size() * 4);
    auto g = float_graph();
    auto ta = input(g, "a", {b, m, k}), tw = input(g, "w", {b, k, n}), tb = input(g, "bias", {1, 1, n});
    auto product = g.matmul(ta, tw, fe::graph::Matmul_attributes());
    auto sum = g.pointwise(product, tb, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
    auto tc = g.pointwise(sum, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::GELU_FWD));
    tc->set_output(true);
    run(handle, "matmul, bias, gelu", g, {{ta, da.p}, {tw, dw.p}, {tb, db.p}, {tc, dc.p}}, [&](const std::string &what) {
        close_to(what, dc.floats(), r);
        cudaMemset(dc.p, 0xff, dc.bytes);
    });
    auto c = float_graph();
    auto tx = input(c, "x", {b, m, n}), ty = input(c, "y", {b, m, n});
    auto product2 = c.pointwise(tx, ty, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::MUL));
    auto exponent = c.pointwise(product2, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::EXP));
    auto least = c.pointwise(exponent, tx, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::MIN));
    auto total = c.reduction(least, fe::graph::Reduction_attributes().set_mode(fe::ReductionMode_t::ADD));
    total->set_output(true).set_dim({b, m, 1}).set_stride({m, 1, 1});
    Floats x = numbers(b * m * n, 4), y = numbers(b * m * n, 5), expected(b * m);
    for (int i = 0; i < b * m * n; i++) expected[i / n] += std::min(std::exp(x[i] * y[i]), x[i]);
    Device dx(x), dy(y);
    run(handle, "a chain and a sum", c, {{tx, dx.p}, {ty, dy.p}, {total, ds.p}}, [&](const std::string &what) { close_to(what, ds.floats(), expected); });
}
}  // namespace products_area
