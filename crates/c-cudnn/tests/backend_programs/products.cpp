// Products of matrices, fused chains, reductions.
#include "raw.hpp"

static D matmul(const D &a, const D &b, const D &c) {
    D p(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    p.kind(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    D op(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_MATMUL_DESC, p).with(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a).with(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    op.with(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c).done();
    return op;
}

static D pointwise(int mode, const D &x, const D *b, const D &y) {
    D p(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    p.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    p.kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    D op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b) op.with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).done();
    return op;
}

// B x H x M x K by B x Hb x K x N, where Hb divides H; the second one column-major.
static Floats reference(const Floats &a, const Floats &b, const Ints &s, int64_t hb) {
    int64_t B = s[0], H = s[1], M = s[2], K = s[3], N = s[4];
    Floats c(B * H * M * N);
    for (int64_t i = 0; i < B * H; i++)
        for (int64_t m = 0; m < M; m++)
            for (int64_t n = 0; n < N; n++) {
                double sum = 0;
                int64_t j = i / H * hb + i % H / (H / hb);
                for (int64_t k = 0; k < K; k++) sum += (double)a[(i * M + m) * K + k] * b[(j * N + n) * K + k];
                c[(i * M + m) * N + n] = (float)sum;
            }
    return c;
}

void products(cudnnHandle_t handle) {
    for (int64_t hb : {4, 2, 1}) {
        Ints s = {2, 4, 5, 6, 7};
        Floats a = numbers(2 * 4 * 5 * 6, 1), b = numbers(2 * hb * 6 * 7, 2), c(2 * 4 * 5 * 7, NOTHING), bias = numbers(7, 3), gate = numbers(c.size(), 4);
        D ta = tensor(1, {2, 4, 5, 6}), tb = tensor(2, {2, hb, 6, 7}, {CUDNN_DATA_FLOAT, false, {hb * 42, 42, 1, 6}, false, 0, 1}),
          tc = tensor(3, {2, 4, 5, 7});
        Floats r = reference(a, b, s, hb);
        D op = matmul(ta, tb, tc);
        run(handle, "matmul", {&op}, {{1, a.data()}, {2, b.data()}, {3, c.data()}}, [&](const std::string &what) {
            close_to(what, c, r, 1e-4);
            c.assign(c.size(), NOTHING);
        });
        // gelu(a b + bias) * gate.
        D v = between(10, {2, 4, 5, 7}), u = between(11, {2, 4, 5, 7}), w = between(12, {2, 4, 5, 7});
        D tbias = tensor(4, {1, 1, 1, 7}), tgate = tensor(5, {2, 4, 5, 7});
        D first = matmul(ta, tb, v), second = pointwise(CUDNN_POINTWISE_ADD, v, &tbias, u), third = pointwise(CUDNN_POINTWISE_GELU_FWD, u, nullptr, w),
          fourth = pointwise(CUDNN_POINTWISE_MUL, w, &tgate, tc);
        Floats chain(r.size());
        for (size_t i = 0; i < r.size(); i++) {
            double t = (double)r[i] + bias[i % 7];
            chain[i] = (float)(0.5 * t * (1 + std::erf(t / std::sqrt(2.0))) * gate[i]);
        }
        run(handle, "matmul, bias, gelu, gate", {&first, &second, &third, &fourth},
            {{1, a.data()}, {2, b.data()}, {3, c.data()}, {4, bias.data()}, {5, gate.data()}}, [&](const std::string &what) {
                close_to(what, c, chain, 1e-4);
                c.assign(c.size(), NOTHING);
            });
    }
    // Sizes per batch: elements beyond them are not read, and are the padding value in the result.
    Floats a = numbers(2 * 4 * 3, 5), b = numbers(2 * 3 * 4, 6), c(2 * 4 * 4, NOTHING), r(2 * 4 * 4, -1);
    std::vector<int32_t> m = {2, 4}, k = {1, 3};
    a[1] = NOTHING, b[4] = NOTHING;
    for (int i = 0; i < 2; i++)
        for (int y = 0; y < m[i]; y++)
            for (int x = 0; x < 4; x++) {
                double sum = 0;
                for (int j = 0; j < k[i]; j++) sum += (double)a[i * 12 + y * 3 + j] * b[i * 12 + j * 4 + x];
                r[i * 16 + y * 4 + x] = (float)sum;
            }
    D ta = tensor(1, {2, 4, 3}), tb = tensor(2, {2, 3, 4}), tc = tensor(3, {2, 4, 4});
    TensorOf whole{CUDNN_DATA_INT32, false, {}, false, 0, 1};
    D tm = tensor(4, {2, 1, 1}, whole), tk = tensor(5, {2, 1, 1}, whole), p(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    p.kind(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).real(CUDNN_ATTR_MATMUL_PADDING_VALUE, -1).done();
    D op(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_MATMUL_DESC, p).with(CUDNN_ATTR_OPERATION_MATMUL_ADESC, ta).with(CUDNN_ATTR_OPERATION_MATMUL_BDESC, tb);
    op.with(CUDNN_ATTR_OPERATION_MATMUL_CDESC, tc).with(CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, tm);
    op.with(CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, tk).done();
    run(handle, "matmul with lengths", {&op}, {{1, a.data()}, {2, b.data()}, {3, c.data()}, {4, m.data()}, {5, k.data()}}, [&](const std::string &what) {
        close_to(what, c, r);
        c.assign(c.size(), NOTHING);
    });
}

void reductions(cudnnHandle_t handle) {
    Ints xd = {2, 3, 4, 5}, yd = {2, 1, 4, 1};
    Floats x = numbers(120, 1), y(8, NOTHING);
    for (size_t i = 0; i < x.size(); i += 7) x[i] = 0;
    D tx = tensor(1, xd), ty = tensor(2, yd);
    for (int mode = CUDNN_REDUCE_TENSOR_ADD; mode <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS; mode++) {
        D p(CUDNN_BACKEND_REDUCTION_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
        p.kind(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, mode);
        p.kind(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
        op.with(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, tx).with(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, ty);
        op.with(CUDNN_ATTR_OPERATION_REDUCTION_DESC, p).done();
        Floats r(8);
        for (int n = 0; n < 2; n++)
            for (int h = 0; h < 4; h++) {
                double sum = 0, mul = 1, mn = 1e9, mx = -1e9, amax = 0, one = 0, square = 0, others = 1;
                for (int c = 0; c < 3; c++)
                    for (int w = 0; w < 5; w++) {
                        double v = x[((n * 3 + c) * 4 + h) * 5 + w];
                        sum += v, mul *= v, mn = std::min(mn, v), mx = std::max(mx, v), amax = std::max(amax, std::fabs(v));
                        one += std::fabs(v), square += v * v, others *= v == 0 ? 1 : v;
                    }
                double all[] = {sum, mul, mn, mx, amax, sum / 15, one, std::sqrt(square), others};
                r[n * 4 + h] = (float)all[mode];
            }
        run(handle, "reduction " + std::to_string(mode), {&op}, {{1, x.data()}, {2, y.data()}}, [&](const std::string &what) {
            close_to(what, y, r, 1e-4);
            y.assign(8, NOTHING);
        });
    }
}
