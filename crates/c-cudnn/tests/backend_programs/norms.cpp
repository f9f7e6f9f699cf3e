// Normalisations of all modes in both directions, and pooling.
#include "raw.hpp"

#include <memory>

struct Mode {
    const char *name;
    int mode;
    Ints stats, parameters;
    // The primitive that computes it, and the maximal number of steps of a plan, forward and backward.
    const char *primitive;
    int forward, backward;
};

static const Ints X = {3, 4, 2, 5};

// The position of an element's statistic or parameter; the channels of a group share one.
static int64_t place(const Ints &dims, const int64_t *at) {
    int64_t j = 0;
    for (size_t d = 0; d < dims.size(); d++) j = j * dims[d] + at[d] * dims[d] / X[d];
    return j;
}

template <typename F> static void each(F f) {
    int64_t i = 0;
    for (int64_t n = 0; n < X[0]; n++)
        for (int64_t c = 0; c < X[1]; c++)
            for (int64_t h = 0; h < X[2]; h++)
                for (int64_t w = 0; w < X[3]; w++, i++) {
                    int64_t at[] = {n, c, h, w};
                    f(i, at);
                }
}

static void one(cudnnHandle_t handle, const Mode &m) {
    bool rms = m.mode == CUDNN_RMS_NORM, batch = m.mode == CUDNN_BATCH_NORM;
    int64_t ns = product(m.stats), np = product(m.parameters), nx = product(X), each_mean = nx / ns;
    Floats x = numbers(nx, 1), scale = numbers(np, 2), bias = numbers(np, 3), dy = numbers(nx, 4);
    Floats running = numbers(ns, 5), variance = numbers(ns, 6);
    float epsilon = 1e-3f, factor = 0.25f;
    std::vector<double> mean(ns), var(ns), inv(ns), g1(ns), g2(ns);
    each([&](int64_t i, int64_t *at) { mean[place(m.stats, at)] += rms ? 0 : x[i] / (double)each_mean; });
    each([&](int64_t i, int64_t *at) { double v = x[i] - mean[place(m.stats, at)]; var[place(m.stats, at)] += v * v / (double)each_mean; });
    for (int64_t i = 0; i < ns; i++) inv[i] = 1 / std::sqrt(var[i] + epsilon);
    Floats ry(nx), rdx(nx), rds(np), rdb(np), rmean(mean.begin(), mean.end()), rinv(inv.begin(), inv.end()), rrm(ns), rrv(ns);
    each([&](int64_t i, int64_t *at) {
        int64_t s = place(m.stats, at), p = place(m.parameters, at);
        double hat = (x[i] - mean[s]) * inv[s];
        ry[i] = (float)(hat * scale[p] + (rms ? 0 : bias[p]));
        rds[p] += (float)(dy[i] * hat), rdb[p] += dy[i];
        g1[s] += dy[i] * scale[p] / (double)each_mean, g2[s] += dy[i] * scale[p] * hat / (double)each_mean;
    });
    each([&](int64_t i, int64_t *at) {
        int64_t s = place(m.stats, at), p = place(m.parameters, at);
        double hat = (x[i] - mean[s]) * inv[s];
        rdx[i] = (float)(inv[s] * (dy[i] * scale[p] - (rms ? 0 : g1[s]) - hat * g2[s]));
    });
    for (int64_t i = 0; i < ns; i++) {
        rrm[i] = (float)((1 - factor) * running[i] + factor * mean[i]);
        rrv[i] = (float)((1 - factor) * variance[i] + factor * var[i] * (double)each_mean / (double)(each_mean - 1));
    }
    D tx = tensor(1, X), ty = tensor(2, X), ts = tensor(3, m.parameters), tb = tensor(4, m.parameters), tm = tensor(5, m.stats), ti = tensor(6, m.stats);
    TensorOf value{CUDNN_DATA_FLOAT, false, {}, true, 0, 1};
    D te = tensor(7, {1, 1, 1, 1}, value), tf = tensor(8, {1, 1, 1, 1}, value);
    D r0 = tensor(9, m.stats), r1 = tensor(10, m.stats), r2 = tensor(11, m.stats), r3 = tensor(12, m.stats);
    D f(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    f.kind(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, m.mode);
    f.kind(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING);
    f.with(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, tx).with(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, ty).with(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, ts);
    f.with(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, te).with(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, ti);
    if (!rms) f.with(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, tb).with(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, tm);
    if (batch) {
        f.with(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, tf).with(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, r0);
        f.with(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, r1).with(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, r2);
        f.with(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, r3);
    }
    f.done();
    auto lowered = [&](const Told &told, int most, const char *direction) {
        std::string what = std::string(m.name) + " norm " + direction + " as one " + m.primitive + " in " + std::to_string(most) + " steps:\n" + told.text;
        check(told.has(m.primitive) && told.steps() <= most, what);
    };
    Floats y(nx, NOTHING), sm(ns, NOTHING), si(ns, NOTHING), nm(ns, NOTHING), nv(ns, NOTHING);
    Bound bound = {{1, x.data()}, {2, y.data()}, {3, scale.data()}, {6, si.data()}, {7, &epsilon}};
    if (!rms) bound[4] = bias.data(), bound[5] = sm.data();
    if (batch) bound[8] = &factor, bound[9] = running.data(), bound[10] = variance.data(), bound[11] = nm.data(), bound[12] = nv.data();
    auto told = std::make_unique<Told>();
    run(handle, std::string(m.name) + " norm", {&f}, bound, [&](const std::string &what) {
        close_to(what, y, ry, 1e-4), close_to(what + ": deviation", si, rinv, 1e-4);
        if (!rms) close_to(what + ": mean", sm, rmean, 1e-4);
        if (batch) close_to(what + ": running mean", nm, rrm, 1e-4), close_to(what + ": running variance", nv, rrv, 1e-4);
        for (auto v : {&y, &sm, &si, &nm, &nv}) v->assign(v->size(), NOTHING);
    });
    lowered(*told, m.forward, "forward");
    D tdy = tensor(20, X), tdx = tensor(21, X), tds = tensor(22, m.parameters), tdb = tensor(23, m.parameters);
    D b(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
    b.kind(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, m.mode).with(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, tx);
    b.with(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, tdy).with(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, ts).with(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, tdx);
    b.with(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, ti).with(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, tds);
    if (!rms) b.with(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, tm).with(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, tdb);
    b.done();
    Floats dx(nx, NOTHING), ds(np, NOTHING), db(np, NOTHING);
    Bound back = {{1, x.data()}, {20, dy.data()}, {3, scale.data()}, {6, rinv.data()}, {21, dx.data()}, {22, ds.data()}};
    if (!rms) back[5] = rmean.data(), back[23] = db.data();
    told = nullptr;
    told = std::make_unique<Told>();
    run(handle, std::string(m.name) + " norm gradient", {&b}, back, [&](const std::string &what) {
        close_to(what, dx, rdx, 1e-3), close_to(what + ": scale", ds, rds, 1e-3);
        if (!rms) close_to(what + ": bias", db, rdb, 1e-3);
        for (auto v : {&dx, &ds, &db}) v->assign(v->size(), NOTHING);
    });
    lowered(*told, m.backward, "backward");
}

// The three parts of batch normalisation: sums computed beside a convolution, values derived from them, gradients.
static void parts(cudnnHandle_t handle) {
    Ints xd = {2, 3, 4, 4}, c = {1, 3, 1, 1};
    Floats x = numbers(96, 1), sum(3, NOTHING), squares(3, NOTHING), rs(3), rq(3);
    for (int i = 0; i < 96; i++) rs[i / 16 % 3] += x[i], rq[i / 16 % 3] += x[i] * x[i];
    D tx = tensor(1, xd), ts = tensor(2, c), tq = tensor(3, c), op(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
    op.kind(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, CUDNN_GENSTATS_SUM_SQSUM);
    op.kind(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).with(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, tx);
    op.with(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, ts).with(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, tq).done();
    run(handle, "sums", {&op}, {{1, x.data()}, {2, sum.data()}, {3, squares.data()}}, [&](const std::string &what) {
        close_to(what, sum, rs, 1e-4), close_to(what, squares, rq, 1e-4);
    });
    D f(CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR);
    f.kind(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE, CUDNN_TYPE_BN_FINALIZE_STATS_MODE, CUDNN_BN_FINALIZE_STATISTICS_TRAINING);
    f.kind(CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    Ints one = {1, 1, 1, 1};
    TensorOf value{CUDNN_DATA_FLOAT, false, {}, true, 0, 1};
    TensorOf count{CUDNN_DATA_INT64, false, {}, true, 0, 1};
    D scale = tensor(4, c), bias = tensor(5, c), pm = tensor(6, c), pv = tensor(7, c), um = tensor(8, c), uv = tensor(9, c), sm = tensor(10, c), si = tensor(11, c),
      es = tensor(12, c), eb = tensor(13, c), n = tensor(14, one, count), e = tensor(15, one, value), a = tensor(16, one, value);
    const D *all[] = {&ts, &tq, &scale, &bias, &pm, &pv, &um, &uv, &sm, &si, &es, &eb, &n, &e, &a};
    for (int i = 0; i < 15; i++) f.with(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC + i, *all[i]);
    f.done();
    Floats s = numbers(3, 2), b = numbers(3, 3), m0 = numbers(3, 4), v0 = numbers(3, 5);
    std::vector<Floats> out(6, Floats(3, NOTHING));
    int64_t elements = 32;
    float epsilon = 1e-3f, factor = 0.1f;
    Bound bound = {{2, rs.data()}, {3, rq.data()}, {4, s.data()}, {5, b.data()}, {6, m0.data()}, {7, v0.data()}, {14, &elements}, {15, &epsilon}, {16, &factor}};
    for (int i = 0; i < 6; i++) bound[8 + i] = out[i].data();
    run(handle, "statistics", {&f}, bound, [&](const std::string &what) {
        for (int i = 0; i < 3; i++) {
            double mean = rs[i] / 32, var = rq[i] / 32 - mean * mean, inv = 1 / std::sqrt(var + epsilon);
            double expected[] = {0.9 * m0[i] + 0.1 * mean, 0.9 * v0[i] + 0.1 * var * 32 / 31, mean, inv, s[i] * inv, b[i] - s[i] * inv * mean};
            for (int j = 0; j < 6; j++) check(std::fabs(out[j][i] - expected[j]) < 1e-4 * (1 + std::fabs(expected[j])), what + " " + std::to_string(j));
        }
    });
    Floats dy = numbers(96, 7), mean(3), inv(3);
    for (int i = 0; i < 3; i++) mean[i] = rs[i] / 32, inv[i] = 1 / std::sqrt(rq[i] / 32 - mean[i] * mean[i] + epsilon);
    D w(CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR), tm = tensor(20, c), ti = tensor(21, c), tdy = tensor(22, xd), ds = tensor(23, c), db = tensor(24, c),
        ea = tensor(25, c), ex = tensor(26, c), ec = tensor(27, c);
    w.kind(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    const D *list[] = {&tm, &ti, &scale, &tx, &tdy, &ds, &db, &ea, &ex, &ec};
    for (int i = 0; i < 10; i++) w.with(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC + i, *list[i]);
    w.done();
    std::vector<Floats> g(5, Floats(3, NOTHING));
    Bound back = {{20, mean.data()}, {21, inv.data()}, {4, s.data()}, {1, x.data()}, {22, dy.data()}};
    for (int i = 0; i < 5; i++) back[23 + i] = g[i].data();
    run(handle, "statistics gradient", {&w}, back, [&](const std::string &what) {
        Floats rds(3), rdb(3), dx(96), rdx(96);
        for (int i = 0; i < 96; i++) rds[i / 16 % 3] += dy[i] * (x[i] - mean[i / 16 % 3]) * inv[i / 16 % 3], rdb[i / 16 % 3] += dy[i];
        for (int i = 0; i < 96; i++) {
            int k = i / 16 % 3;
            rdx[i] = s[k] * inv[k] * (dy[i] - rdb[k] / 32 - (x[i] - mean[k]) * inv[k] * rds[k] / 32);
            dx[i] = g[2][k] * dy[i] + g[3][k] * x[i] + g[4][k];
        }
        close_to(what, g[0], rds, 1e-3), close_to(what, g[1], rdb, 1e-3), close_to(what, dx, rdx, 1e-3);
    });
}

// One plan, executed with two epsilons, and with an invalid one.
static void epsilons(cudnnHandle_t handle) {
    Ints xd = {4, 6, 1, 1}, pd = {1, 6, 1, 1};
    Floats x = numbers(24, 1), scale = numbers(6, 2), bias = numbers(6, 3), y(24, NOTHING), right(24);
    D tx = tensor(1, xd), ty = tensor(2, xd), ts = tensor(3, pd), tb = tensor(4, pd), te = tensor(5, {1, 1, 1, 1}, {CUDNN_DATA_FLOAT, false, {}, true, 0, 1});
    D f(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    f.kind(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, CUDNN_LAYER_NORM);
    f.kind(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, CUDNN_NORM_FWD_INFERENCE);
    f.with(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, tx).with(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, ty).with(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, ts);
    f.with(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, tb).with(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, te).done();
    Told told;
    D g = graph(handle, {&f}), plan = plan_of(handle, g, 1);
    check(told.steps() == 1, "an inference is one primitive: " + told.text);
    float epsilon = 0;
    Bound bound = {{1, x.data()}, {2, y.data()}, {3, scale.data()}, {4, bias.data()}, {5, &epsilon}};
    for (float now : {1e-3f, 0.5f, 1e-3f}) {
        epsilon = now;
        for (int n = 0; n < 4; n++) {
            double mean = 0, variance = 0;
            for (int c = 0; c < 6; c++) mean += x[n * 6 + c] / 6.0;
            for (int c = 0; c < 6; c++) variance += (x[n * 6 + c] - mean) * (x[n * 6 + c] - mean) / 6;
            for (int c = 0; c < 6; c++) right[n * 6 + c] = (float)((x[n * 6 + c] - mean) / std::sqrt(variance + now) * scale[c] + bias[c]);
        }
        is(execute(handle, plan, bound), CUDNN_STATUS_SUCCESS, "an epsilon");
        close_to("epsilon " + std::to_string(now), y, right);
    }
    for (float bad : {-1.0f, NOTHING}) {
        epsilon = bad;
        is(execute(handle, plan, bound), CUDNN_STATUS_BAD_PARAM, "an epsilon that is none");
    }
}

// Batch normalisation of bfloat16 followed by ReLU, with statistics and intermediate results in single precision.
static void narrow(cudnnHandle_t handle) {
    Ints xd = {3, 4, 2, 5}, c = {1, 4, 1, 1};
    Floats wide = numbers(120, 1), scale = numbers(4, 2), bias = numbers(4, 3), right(120), mean(4, NOTHING), inverse(4, NOTHING), rm(4), ri(4);
    auto half = [](float v) {
        uint32_t bits;
        memcpy(&bits, &v, 4);
        return (uint16_t)(bits >> 16);
    };
    auto full = [](uint16_t v) {
        uint32_t bits = (uint32_t)v << 16;
        float r;
        memcpy(&r, &bits, 4);
        return r;
    };
    std::vector<uint16_t> x, y(120, 0xffff);
    for (auto &v : wide) x.push_back(half(v)), v = full(x.back());
    float epsilon = 1e-2f;
    for (int k = 0; k < 4; k++) {
        double m = 0, v = 0;
        for (int i = 0; i < 120; i++) m += i / 10 % 4 == k ? wide[i] / 30.0 : 0;
        for (int i = 0; i < 120; i++) v += i / 10 % 4 == k ? (wide[i] - m) * (wide[i] - m) / 30 : 0;
        rm[k] = (float)m, ri[k] = (float)(1 / std::sqrt(v + epsilon));
        for (int i = 0; i < 120; i++)
            if (i / 10 % 4 == k) right[i] = (float)std::max(0.0, (wide[i] - m) * ri[k] * scale[k] + bias[k]);
    }
    D tx = tensor(1, xd, {CUDNN_DATA_BFLOAT16, false, {}, false, 0, 1}), tv = between(2, xd), ty = tensor(3, xd, {CUDNN_DATA_BFLOAT16, false, {}, false, 0, 1});
    D ts = tensor(4, c), tb = tensor(5, c), tm = tensor(6, c), ti = tensor(7, c), te = tensor(8, {1, 1, 1, 1}, {CUDNN_DATA_FLOAT, false, {}, true, 0, 1});
    D f(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR), p(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    f.kind(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, CUDNN_BATCH_NORM);
    f.kind(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING);
    f.with(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, tx).with(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, tv).with(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, ts);
    f.with(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, tb).with(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, tm).with(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, ti);
    f.with(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, te).done();
    p.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD);
    p.kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    op.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tv).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, ty).done();
    Told told;
    run(handle, "batch norm of bfloat16", {&f, &op},
        {{1, x.data()}, {3, y.data()}, {4, scale.data()}, {5, bias.data()}, {6, mean.data()}, {7, inverse.data()}, {8, &epsilon}}, [&](const std::string &what) {
            Floats got;
            for (auto v : y) got.push_back(full(v));
            close_to(what, got, right, 1e-2), close_to(what + ": mean", mean, rm, 1e-5), close_to(what + ": deviation", inverse, ri, 1e-5);
            y.assign(120, 0xffff), mean.assign(4, NOTHING), inverse.assign(4, NOTHING);
        });
    check(told.has("batch_normalization"), "a primitive of the widened source: " + told.text);
}

void norms(cudnnHandle_t handle) {
    narrow(handle);
    epsilons(handle);
    one(handle, {"layer", CUDNN_LAYER_NORM, {3, 1, 1, 1}, {1, 4, 2, 5}, "layer_normalization", 2, 2});
    one(handle, {"rms", CUDNN_RMS_NORM, {3, 1, 1, 1}, {1, 4, 2, 5}, "layer_normalization", 2, 2});
    one(handle, {"instance", CUDNN_INSTANCE_NORM, {3, 4, 1, 1}, {1, 4, 1, 1}, "group_normalization", 2, 2});
    one(handle, {"group", CUDNN_GROUP_NORM, {3, 2, 1, 1}, {1, 4, 1, 1}, "group_normalization", 2, 2});
    one(handle, {"batch", CUDNN_BATCH_NORM, {1, 4, 1, 1}, {1, 4, 1, 1}, "batch_normalization", 9, 2});
    one(handle, {"adaptive layer", CUDNN_ADA_LAYER_NORM, {3, 1, 1, 1}, {3, 4, 2, 5}, "layer_normalization", 3, 8});
    parts(handle);
}

// Pooling by windows of 3 x 2.
static void pool(cudnnHandle_t handle, int mode, int padding) {
    Ints xd = {2, 3, 5, 6}, yd = {2, 3, 3, 4};
    D p(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR), tx = tensor(1, xd), ty = tensor(2, yd), ti = tensor(3, yd, {CUDNN_DATA_INT8, false, {}, false, 0, 1});
    int64_t window[] = {3, 1, 2, 1}, stride[] = {2, 1, 2, 1}, pad[] = {1, 1, 1, 1};
    p.kind(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, mode).kind(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    p.ints(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, {2}).kind(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE, padding);
    is(p.set(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, CUDNN_TYPE_FRACTION, 2, window), CUDNN_STATUS_SUCCESS, "window");
    is(p.set(CUDNN_ATTR_RESAMPLE_STRIDES, CUDNN_TYPE_FRACTION, 2, stride), CUDNN_STATUS_SUCCESS, "strides");
    is(p.set(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_TYPE_FRACTION, 2, pad), CUDNN_STATUS_SUCCESS, "padding");
    is(p.set(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_TYPE_FRACTION, 2, pad), CUDNN_STATUS_SUCCESS, "padding");
    p.done();
    Floats x = numbers(180, 1), y(72, NOTHING), dx(180, NOTHING), dy = numbers(72, 2), ry(72), rdx(180);
    for (auto &v : x) v -= 1;
    std::vector<int8_t> index(72, -1);
    for (int i = 0; i < 72; i++) {
        int oh = i / 4 % 3, ow = i % 4, base = i / 12 * 30, inside = 0, best = -1;
        double sum = 0;
        bool out = false;
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 2; s++) {
                int h = oh * 2 - 1 + r, w = ow * 2 - 1 + s;
                if (h < 0 || h > 4 || w < 0 || w > 5) {
                    out = true;
                    continue;
                }
                int at = base + h * 6 + w;
                inside++, sum += x[at];
                if (best < 0 || x[at] > x[best]) best = at;
            }
        if (mode == CUDNN_RESAMPLE_MAXPOOL) {
            bool zero = out && padding == CUDNN_ZERO_PAD && x[best] < 0;
            ry[i] = zero ? 0 : x[best];
            rdx[best] += dy[i];
        } else {
            int count = mode == CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING ? 6 : inside;
            ry[i] = (float)(sum / count);
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 2; s++) {
                    int h = oh * 2 - 1 + r, w = ow * 2 - 1 + s;
                    if (h >= 0 && h <= 4 && w >= 0 && w <= 5) rdx[base + h * 6 + w] += dy[i] / (float)count;
                }
        }
    }
    bool max = mode == CUDNN_RESAMPLE_MAXPOOL;
    D f(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR);
    f.with(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, p).with(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, tx).with(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, ty);
    if (max) f.with(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, ti);
    f.done();
    std::string name = "pooling " + std::to_string(mode) + " padded with " + std::to_string(padding);
    Bound bound = {{1, x.data()}, {2, y.data()}};
    if (max) bound[3] = index.data();
    run(handle, name, {&f}, bound, [&](const std::string &what) {
        close_to(what, y, ry);
        y.assign(72, NOTHING);
    });
    for (bool again : {false, true}) {
        if (again && (!max || padding == CUDNN_ZERO_PAD)) continue;
        D tdx = tensor(4, xd), tdy = tensor(5, yd), b(CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR);
        b.with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, p).with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, tdx).with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, tdy);
        Bound back = {{4, dx.data()}, {5, dy.data()}};
        if (max && !again) b.with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, ti), back[3] = index.data();
        if (max && again) {
            b.with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, tx).with(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_YDESC, ty);
            back[1] = x.data(), back[2] = ry.data();
        }
        b.done();
        run(handle, name + " gradient", {&b}, back, [&](const std::string &what) {
            close_to(what, dx, rdx);
            dx.assign(180, NOTHING);
        });
    }
}

void pools(cudnnHandle_t handle) {
    pool(handle, CUDNN_RESAMPLE_MAXPOOL, CUDNN_NEG_INF_PAD);
    pool(handle, CUDNN_RESAMPLE_MAXPOOL, CUDNN_ZERO_PAD);
    pool(handle, CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING, CUDNN_ZERO_PAD);
    pool(handle, CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING, CUDNN_ZERO_PAD);
}
