// Attention as one operation in both directions, softmax, band masks, paged caches, rotary embedding, mixture of experts.
#include "raw.hpp"

static const int B = 2, H = 4, G = 2, S = 5, T = 7, E = 3;

struct Reference {
    Floats q = numbers(B * H * S * E, 1), k = numbers(B * G * T * E, 2), v = numbers(B * G * T * E, 3), dout = numbers(B * H * S * E, 4);
    Floats o, stats, dq, dk, dv;
    Reference(const int *lengths, float scale) : o(q.size()), stats(B * H * S), dq(q.size()), dk(k.size()), dv(v.size()) {
        for (int b = 0; b < B; b++)
            for (int h = 0; h < H; h++)
                for (int i = 0; i < S; i++) {
                    const float *Q = &q[((b * H + h) * S + i) * E], *dO = &dout[((b * H + h) * S + i) * E];
                    int base = (b * G + h / (H / G)) * T * E, n = lengths ? lengths[b] : T;
                    std::vector<double> p(T, 0), dp(T, 0);
                    double sum = 0, along = 0, max = -1e30;
                    for (int j = 0; j < n; j++) {
                        for (int d = 0; d < E; d++) p[j] += (double)Q[d] * k[base + j * E + d] * scale;
                        max = std::max(max, p[j]);
                    }
                    for (int j = 0; j < T; j++) p[j] = j < n ? std::exp(p[j] - max) : 0, sum += p[j];
                    stats[(b * H + h) * S + i] = (float)(max + std::log(sum));
                    for (int j = 0; j < n; j++) {
                        p[j] /= sum;
                        for (int d = 0; d < E; d++) {
                            o[((b * H + h) * S + i) * E + d] += (float)(p[j] * v[base + j * E + d]);
                            dp[j] += (double)dO[d] * v[base + j * E + d];
                            dv[base + j * E + d] += (float)(p[j] * dO[d]);
                        }
                        along += p[j] * dp[j];
                    }
                    for (int j = 0; j < n; j++)
                        for (int d = 0; d < E; d++) {
                            double slope = p[j] * (dp[j] - along) * scale;
                            dq[((b * H + h) * S + i) * E + d] += (float)(slope * k[base + j * E + d]);
                            dk[base + j * E + d] += (float)(slope * Q[d]);
                        }
                }
    }
};

static void whole(cudnnHandle_t handle, bool padded) {
    int lengths[] = {5, 7}, queries[] = {S, S};
    float scale = 0.5f;
    Reference r(padded ? lengths : nullptr, scale);
    Ints qd = {B, H, S, E}, kd = {B, G, T, E}, sd = {B, H, S, 1};
    TensorOf whole_numbers{CUDNN_DATA_INT32, false, {}, false, 0, 1}, value{CUDNN_DATA_FLOAT, false, {}, true, 0, 1};
    D q = tensor(1, qd), k = tensor(2, kd), v = tensor(3, kd), o = tensor(4, qd), st = tensor(5, sd), sc = tensor(6, {1, 1, 1, 1}, value);
    D lq = tensor(7, {B, 1, 1, 1}, whole_numbers), lk = tensor(8, {B, 1, 1, 1}, whole_numbers);
    D f(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    f.with(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q).with(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, k).with(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, v);
    f.with(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, o).with(CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, st).with(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, sc);
    Floats out(r.o.size(), NOTHING), stats(r.stats.size(), NOTHING);
    Bound bound = {{1, r.q.data()}, {2, r.k.data()}, {3, r.v.data()}, {4, out.data()}, {5, stats.data()}, {6, &scale}};
    if (padded) {
        f.with(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC, lq).with(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, lk);
        bound[7] = queries, bound[8] = lengths;
    }
    f.done();
    run(handle, "attention", {&f}, bound, [&](const std::string &what) {
        close_to(what, out, r.o), close_to(what + ": statistics", stats, r.stats);
        out.assign(out.size(), NOTHING);
    });
    D dq = tensor(10, qd), dk = tensor(11, kd), dv = tensor(12, kd), dout = tensor(13, qd), b(CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR);
    b.with(CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, q).with(CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, k).with(CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, v);
    b.with(CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, o).with(CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, st).with(CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC, sc);
    b.with(CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, dq).with(CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, dk).with(CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, dv);
    b.with(CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, dout);
    Floats gq(r.q.size(), NOTHING), gk(r.k.size(), NOTHING), gv(r.v.size(), NOTHING);
    Bound back = {{1, r.q.data()}, {2, r.k.data()}, {3, r.v.data()}, {4, r.o.data()}, {5, r.stats.data()}, {6, &scale},
                  {10, gq.data()}, {11, gk.data()}, {12, gv.data()}, {13, r.dout.data()}};
    if (padded) {
        b.with(CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC, lq).with(CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC, lk);
        back[7] = queries, back[8] = lengths;
    }
    b.done();
    run(handle, "attention gradient", {&b}, back, [&](const std::string &what) {
        close_to(what, gq, r.dq, 1e-4), close_to(what, gk, r.dk, 1e-4), close_to(what, gv, r.dv, 1e-4);
    });
}

static void rows(cudnnHandle_t handle) {
    Ints d = {2, 3, 4};
    Floats x = numbers(24, 1), y(24, NOTHING), stats(6, NOTHING), sums(6, NOTHING), maxima(6, NOTHING), ry(24), rst(6), rsum(6), rmax(6);
    for (int j = 0; j < 4; j++) x[j] = -INFINITY;
    for (int i = 0; i < 6; i++) {
        rmax[i] = -INFINITY;
        for (int j = 0; j < 4; j++) rmax[i] = std::max(rmax[i], x[i * 4 + j]);
        for (int j = 0; j < 4; j++) rsum[i] += i ? std::exp(x[i * 4 + j] - rmax[i]) : 0;
        rst[i] = rmax[i] + std::log(rsum[i]);
        for (int j = 0; j < 4; j++) ry[i * 4 + j] = i ? std::exp(x[i * 4 + j] - rmax[i]) / rsum[i] : 0;
    }
    D tx = tensor(1, d), ty = tensor(2, d), ts = tensor(3, {2, 3, 1}), tm = tensor(4, {2, 3, 1}), te = tensor(5, {2, 3, 1}), op(CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, tx).with(CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, ty).with(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, ts);
    op.with(CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC, tm).with(CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC, te).done();
    run(handle, "softmax", {&op}, {{1, x.data()}, {2, y.data()}, {3, stats.data()}, {4, maxima.data()}, {5, sums.data()}}, [&](const std::string &what) {
        close_to(what, y, ry), close_to(what, stats, rst), close_to(what, maxima, rmax), close_to(what, sums, rsum);
    });
}

static void masks(cudnnHandle_t handle) {
    Ints d = {1, 2, 4, 4};
    Floats x = numbers(32, 1), y(32, NOTHING), r(32);
    float low = -1e9f;
    int32_t window = 2;
    TensorOf value{CUDNN_DATA_FLOAT, false, {}, true, 0, 1}, whole_number{CUDNN_DATA_INT32, false, {}, true, 0, 1};
    D tx = tensor(1, d), ty = tensor(2, d), tb = tensor(3, {1, 1, 1, 1}, value), tw = tensor(4, {1, 1, 1, 1}, whole_number);
    for (bool left : {false, true}) {
        D op(CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR);
        op.with(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC, tx).with(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC, ty).with(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC, tb);
        op.kind(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE, CUDNN_TYPE_POINTWISE_MODE, left ? CUDNN_POINTWISE_CMP_GT : CUDNN_POINTWISE_CMP_GE);
        Bound bound = {{1, x.data()}, {2, y.data()}, {3, &low}};
        if (left) op.with(CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC, tw), bound[4] = &window;
        op.done();
        for (int i = 0; i < 32; i++) {
            int row = i / 4 % 4, column = i % 4;
            r[i] = (left ? column + window > row : row >= column) ? x[i] : low;
        }
        run(handle, "band mask", {&op}, bound, [&](const std::string &what) { close_to(what, y, r); });
    }
}

static void pages(cudnnHandle_t handle) {
    // Five pages of two positions, of which sequences use two or three; one page is unused and full of NaN.
    Floats c = numbers(5 * 2 * 2 * 3, 1), y(2 * 2 * 5 * 3, NOTHING), r(y.size());
    for (int i = 0; i < 12; i++) c[4 * 12 + i] = NOTHING;
    int32_t table[] = {3, 0, 1, 2, 3, 0}, lengths[] = {5, 5};
    for (int b = 0; b < 2; b++)
        for (int h = 0; h < 2; h++)
            for (int s = 0; s < 5; s++)
                for (int d = 0; d < 3; d++) r[((b * 2 + h) * 5 + s) * 3 + d] = c[((table[b * 3 + s / 2] * 2 + h) * 2 + s % 2) * 3 + d];
    TensorOf whole{CUDNN_DATA_INT32, false, {}, false, 0, 1};
    D tc = tensor(1, {5, 2, 2, 3}), tt = tensor(2, {2, 1, 3, 1}, whole), tl = tensor(3, {2, 1, 1, 1}, whole), ty = tensor(4, {2, 2, 5, 3});
    D op(CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC, tc).with(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC, tt);
    op.with(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC, tl).with(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC, ty).done();
    run(handle, "pages", {&op}, {{1, c.data()}, {2, table}, {3, lengths}, {4, y.data()}}, [&](const std::string &what) { close_to(what, y, r); });
}

static void rope(cudnnHandle_t handle) {
    const int s = 3, d = 8, w = 6, half = 3;
    Floats x = numbers(2 * s * d, 1), angles = numbers(s * w, 2), y(x.size(), NOTHING), back(x.size(), NOTHING), r(x.size());
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < s; i++)
            for (int j = 0; j < d; j++) {
                const float *X = &x[(h * s + i) * d], *A = &angles[i * w];
                int k = j - (d - w);
                double v = k < 0 ? X[j] : k < half ? X[j] * std::cos(A[k]) - X[j + half] * std::sin(A[k]) : X[j] * std::cos(A[k]) + X[j - half] * std::sin(A[k]);
                r[(h * s + i) * d + j] = (float)(2 * v);
            }
    Ints dims = {1, 2, s, d};
    D tx = tensor(1, dims), ty = tensor(2, dims), ta = tensor(3, {s, 1, 1, w}), op(CUDNN_BACKEND_OPERATION_ROPE_FWD_DESCRIPTOR);
    op.with(CUDNN_ATTR_OPERATION_ROPE_FWD_XDESC, tx).with(CUDNN_ATTR_OPERATION_ROPE_FWD_YDESC, ty).with(CUDNN_ATTR_OPERATION_ROPE_FWD_FREQSDESC, ta);
    op.single(CUDNN_ATTR_OPERATION_ROPE_FWD_OUTPUT_SCALE, 2).ints(CUDNN_ATTR_OPERATION_ROPE_FWD_ROPE_DIM, {w}).done();
    run(handle, "rotary embedding", {&op}, {{1, x.data()}, {2, y.data()}, {3, angles.data()}}, [&](const std::string &what) { close_to(what, y, r); });
    D tb = tensor(4, dims), b(CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR);
    b.with(CUDNN_ATTR_OPERATION_ROPE_BWD_DYDESC, ty).with(CUDNN_ATTR_OPERATION_ROPE_BWD_DXDESC, tb).with(CUDNN_ATTR_OPERATION_ROPE_BWD_FREQSDESC, ta);
    b.ints(CUDNN_ATTR_OPERATION_ROPE_BWD_ROPE_DIM, {w}).done();
    // The gradient is the adjoint: <y, g> = <x, back(g)> for every x.
    Floats g = numbers(x.size(), 5);
    run(handle, "rotary embedding gradient", {&b}, {{2, g.data()}, {3, angles.data()}, {4, back.data()}}, [&](const std::string &what) {
        double left = 0, right = 0;
        for (size_t i = 0; i < x.size(); i++) left += r[i] * g[i] / 2, right += x[i] * back[i];
        check(std::fabs(left - right) < 1e-3, what);
    });
}

static void experts(cudnnHandle_t handle) {
    Floats t = numbers(6 * 3, 1), w = numbers(3 * 3 * 4, 2), y(6 * 4, NOTHING), dw(36, NOTHING), dy = numbers(24, 3), r(24), rw(36);
    int32_t first[] = {0, 2, 2};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 3; k++) {
                int e = i < 2 ? 0 : 2;
                r[i * 4 + j] += t[i * 3 + k] * w[(e * 3 + k) * 4 + j], rw[(e * 3 + k) * 4 + j] += t[i * 3 + k] * dy[i * 4 + j];
            }
    TensorOf whole{CUDNN_DATA_INT32, false, {}, false, 0, 1};
    D tt = tensor(1, {1, 6, 3}), tw = tensor(2, {3, 3, 4}), tf = tensor(3, {3, 1, 1}, whole), ty = tensor(4, {1, 6, 4}), op(CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR);
    op.kind(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MODE, CUDNN_TYPE_MOE_GROUPED_MATMUL_MODE, CUDNN_MOE_GROUPED_MATMUL_MODE_NONE);
    op.kind(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_DESC, tt);
    op.with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_WEIGHT_DESC, tw).with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_FIRST_TOKEN_OFFSET_DESC, tf);
    op.with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_OUTPUT_DESC, ty).done();
    run(handle, "experts", {&op}, {{1, t.data()}, {2, w.data()}, {3, first}, {4, y.data()}}, [&](const std::string &what) { close_to(what, y, r); });
    D td = tensor(5, {3, 3, 4}), b(CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR);
    b.kind(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_TOKEN_DESC, tt);
    b.with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DWEIGHT_DESC, td).with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_FIRST_TOKEN_OFFSET_DESC, tf);
    b.with(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DOUTPUT_DESC, ty).done();
    run(handle, "experts' gradient", {&b}, {{1, t.data()}, {3, first}, {4, dy.data()}, {5, dw.data()}}, [&](const std::string &what) { close_to(what, dw, rw); });
}

void attention(cudnnHandle_t handle) {
    whole(handle, false);
    whole(handle, true);
    rows(handle);
    masks(handle);
    pages(handle);
    rope(handle);
    experts(handle);
}
