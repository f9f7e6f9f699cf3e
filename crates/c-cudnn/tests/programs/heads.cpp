// Multi-head attention against loops: layouts, projections, biases, beams, windows, residuals, one step at a time, and gradients.
#include "check.hpp"

#include <algorithm>

namespace {
struct Setup {
    cudnnDataType_t type;
    unsigned mode;
    int heads, sizes[3], projections[4], steps[2], batch, beam;
    bool windows, residual;
    int layout;
};

// A container: its descriptor, its values by batch, beam, time and vector.
struct Sequences {
    cudnnSeqDataDescriptor_t desc = nullptr;
    int dims[4], strides[4];
    std::vector<int> lengths;
    Buffer buffer;
    Sequences(cudnnDataType_t type, int time, int batch, int beam, int channels, int layout, bool shorter)
        : dims{time, batch, beam, channels}, buffer(type, size_t(time) * batch * beam * channels) {
        const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        cudnnSeqDataAxis_t axes[4];
        for (int i = 0; i < 3; i++) axes[i] = cudnnSeqDataAxis_t(orders[layout][i]);
        axes[3] = CUDNN_SEQDATA_VECT_DIM;
        int step = 1;
        for (int i = 4; i-- > 0; step *= dims[axes[i]]) strides[axes[i]] = step;
        for (int n = 0; n < batch * beam; n++) lengths.push_back(shorter ? std::max(1, time - n % 3) : time);
        OK(cudnnCreateSeqDataDescriptor(&desc));
        OK(cudnnSetSeqDataDescriptor(desc, type, 4, dims, axes, lengths.size(), lengths.data(), nullptr));
    }
    ~Sequences() { OK(cudnnDestroySeqDataDescriptor(desc)); }
    size_t at(int t, int b, int m, int c) const { return size_t(t) * strides[0] + size_t(b) * strides[1] + size_t(m) * strides[2] + c; }
    double get(int t, int b, int m, int c) const { return buffer.get(at(t, b, m, c)); }
    int length(int b, int m) const { return lengths[b * dims[2] + m]; }
};

// Everything of one attention, in the caller's memory.
struct Case {
    Setup s;
    cudnnAttnDescriptor_t desc = nullptr;
    int width[3], outputs;
    Sequences q, k, v, o;
    Buffer weights;
    std::vector<int> low, high;
    size_t weight_bytes = 0, work = 0, reserve = 0;

    static int out(const Setup &s) { return s.projections[3] ? s.projections[3] : s.heads * (s.projections[2] ? s.projections[2] : s.sizes[2]); }
    explicit Case(const Setup &s)
        : s(s), outputs(out(s)), q(s.type, s.steps[0], s.batch, s.beam, s.sizes[0], s.layout, true),
          k(s.type, s.steps[1], s.batch, s.mode & 1 ? s.beam : 1, s.sizes[1], s.layout, true),
          v(s.type, s.steps[1], s.batch, s.mode & 1 ? s.beam : 1, s.sizes[2], (s.layout + 1) % 6, true),
          o(s.type, s.steps[0], s.batch, s.beam, outputs, (s.layout + 2) % 6, true), weights(s.type, 1) {
        OK(cudnnCreateAttnDescriptor(&desc));
        OK(cudnnSetAttnDescriptor(desc, s.mode, s.heads, 0.7, s.type, s.type == CUDNN_DATA_DOUBLE ? s.type : CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, nullptr,
                                  nullptr, s.sizes[0], s.sizes[1], s.sizes[2], s.projections[0], s.projections[1], s.projections[2], s.projections[3],
                                  s.steps[0], s.steps[1], s.batch, s.beam));
        for (int i = 0; i < 3; i++) width[i] = s.projections[i] ? s.projections[i] : s.sizes[i];
        OK(cudnnGetMultiHeadAttnBuffers(handle(), desc, &weight_bytes, &work, &reserve));
        weights = Buffer(s.type, std::max<size_t>(1, weight_bytes / (Buffer(s.type, 1).bytes.size())));
        weights.random(5);
        q.buffer.random(1);
        k.buffer.random(2);
        v.buffer.random(3);
        for (int t = 0; t < s.steps[0]; t++) {
            low.push_back(s.windows ? t / 2 : 0);
            high.push_back(s.windows ? std::min(s.steps[1], t + 2) : s.steps[1]);
        }
        // Padding is never read.
        for (auto *c : {&q, &k, &v})
            for (int b = 0; b < s.batch; b++)
                for (int m = 0; m < c->dims[2]; m++)
                    for (int t = c->length(b, m); t < c->dims[0]; t++)
                        for (int i = 0; i < c->dims[3]; i++) c->buffer.set(c->at(t, b, m, i), NAN);
    }
    ~Case() { OK(cudnnDestroyAttnDescriptor(desc)); }

    double weight(cudnnMultiHeadAttnWeightKind_t kind, int h, int p, int e) const {
        static cudnnTensorDescriptor_t shape = [] {
            cudnnTensorDescriptor_t made;
            OK(cudnnCreateTensorDescriptor(&made));
            return made;
        }();
        void *at = nullptr;
        OK(cudnnGetMultiHeadAttnWeights(handle(), desc, kind, weight_bytes, weights.bytes.data(), shape, &at));
        if (!at) return NAN;
        cudnnDataType_t type;
        int rank, dims[3], strides[3];
        OK(cudnnGetTensorNdDescriptor(shape, 3, &type, &rank, dims, strides));
        CHECK(rank == 3 && h < dims[0] && p < dims[1] && e < dims[2]);
        size_t first = size_t(static_cast<const uint8_t *>(at) - weights.bytes.data()) / Buffer(s.type, 1).bytes.size();
        return weights.get(first + size_t(h) * strides[0] + size_t(p) * strides[1] + size_t(e) * strides[2]);
    }
    // The offsets of a weight, queried once.
    std::vector<double> table(int kind, int heads, int rows, int columns) const {
        std::vector<double> all;
        for (int h = 0; h < heads; h++)
            for (int p = 0; p < rows; p++)
                for (int e = 0; e < columns; e++) all.push_back(weight(cudnnMultiHeadAttnWeightKind_t(kind), h, p, e));
        return all;
    }
    struct Tables {
        std::vector<double> w[4], b[4];
    };
    Tables tables() const {
        Tables all;
        for (int i = 0; i < 4; i++) {
            if (!s.projections[i]) continue;
            all.w[i] = i == 3 ? table(3, s.heads, outputs, width[2]) : table(i, s.heads, width[i], s.sizes[i]);
            if (s.mode & 2) all.b[i] = i == 3 ? table(7, 1, outputs, 1) : table(4 + i, s.heads, width[i], 1);
        }
        return all;
    }
    // One channel of a head of queries, keys or values.
    double projected(const Tables &t, int side, const Sequences &from, int b, int m, int step, int h, int p) const {
        if (!s.projections[side]) return from.get(step, b, m, p);
        double sum = s.mode & 2 ? t.b[side][h * width[side] + p] : 0;
        for (int e = 0; e < s.sizes[side]; e++) sum += t.w[side][(size_t(h) * width[side] + p) * s.sizes[side] + e] * from.get(step, b, m, e);
        return sum;
    }
    // The result by loops: batch, beam, time, channel; without the residual.
    std::vector<double> truth() const {
        auto t = tables();
        std::vector<double> all;
        for (int b = 0; b < s.batch; b++)
            for (int m = 0; m < s.beam; m++)
                for (int step = 0; step < s.steps[0]; step++) {
                    std::vector<double> joined;
                    int km = s.mode & 1 ? m : 0, end = std::min(high[step], k.length(b, km));
                    bool alive = step < q.length(b, m);
                    for (int h = 0; h < s.heads; h++) {
                        std::vector<double> score;
                        double most = -INFINITY, sum = 0;
                        for (int j = low[step]; alive && j < end; j++) {
                            double dot = 0;
                            for (int p = 0; p < width[0]; p++) dot += projected(t, 0, q, b, m, step, h, p) * projected(t, 1, k, b, km, j, h, p);
                            score.push_back(0.7 * dot);
                            most = std::max(most, score.back());
                        }
                        for (double &x : score) sum += x = std::exp(x - most);
                        for (int p = 0; p < width[2]; p++) {
                            double head = 0;
                            for (size_t j = 0; j < score.size(); j++) head += score[j] / sum * projected(t, 2, v, b, km, low[step] + int(j), h, p);
                            joined.push_back(head);
                        }
                    }
                    for (int c = 0; c < outputs; c++) {
                        double value = s.projections[3] ? 0 : joined[c];
                        for (size_t i = 0; s.projections[3] && i < joined.size(); i++)
                            value += t.w[3][(i / width[2] * outputs + c) * width[2] + i % width[2]] * joined[i];
                        if (s.projections[3] && s.mode & 2) value += t.b[3][c];
                        all.push_back(alive ? value : 0);
                    }
                }
        return all;
    }
    void forward(int step, Buffer *residual, Workspace &space, Workspace *kept) {
        OK(cudnnMultiHeadAttnForward(handle(), desc, step, low.data(), high.data(), q.lengths.data(), k.lengths.data(), q.desc, q.buffer.data(),
                                     residual ? residual->data() : nullptr, k.desc, k.buffer.data(), v.desc, v.buffer.data(), o.desc, o.buffer.data(),
                                     weight_bytes, weights.data(), space.bytes.size(), space.data(), kept ? kept->bytes.size() : 0, kept ? kept->data() : nullptr));
    }
    void compare_out(const std::vector<double> &wanted, Buffer *residual, int only, const char *what) {
        size_t i = 0;
        bool right = true;
        for (int b = 0; b < s.batch; b++)
            for (int m = 0; m < s.beam; m++)
                for (int t = 0; t < s.steps[0]; t++)
                    for (int c = 0; c < outputs; c++, i++) {
                        if (only >= 0 && t != only) continue;
                        double more = residual && t < q.length(b, m) ? residual->get(q.at(t, b, m, c)) : 0;
                        right &= close(o.get(t, b, m, c), wanted[i] + more, s.type, 4);
                    }
        check(right, what, __FILE__, __LINE__);
    }
};

void backward(Case &c) {
    Workspace space(c.work), kept(c.reserve);
    c.forward(-1, nullptr, space, &kept);
    c.compare_out(c.truth(), nullptr, -1, "attention that trains");
    Sequences dout(c.s.type, c.s.steps[0], c.s.batch, c.s.beam, c.outputs, (c.s.layout + 2) % 6, true);
    dout.buffer.random(9);
    auto loss = [&] {
        auto y = c.truth();
        double sum = 0;
        size_t i = 0;
        for (int b = 0; b < c.s.batch; b++)
            for (int m = 0; m < c.s.beam; m++)
                for (int t = 0; t < c.s.steps[0]; t++)
                    for (int n = 0; n < c.outputs; n++, i++) sum += t < c.q.length(b, m) ? y[i] * dout.get(t, b, m, n) : 0;
        return sum;
    };
    Buffer dq(c.s.type, c.q.buffer.size()), dk(c.s.type, c.k.buffer.size()), dv(c.s.type, c.v.buffer.size()), dw(c.s.type, c.weights.size());
    Workspace again(c.work);
    OK(cudnnMultiHeadAttnBackwardData(handle(), c.desc, c.low.data(), c.high.data(), c.q.lengths.data(), c.k.lengths.data(), dout.desc, dout.buffer.data(),
                                      c.q.desc, dq.data(), c.q.buffer.data(), c.k.desc, dk.data(), c.k.buffer.data(), c.v.desc, dv.data(), c.v.buffer.data(),
                                      c.weight_bytes, c.weights.data(), c.work, again.data(), c.reserve, kept.data()));
    auto weights = [&](cudnnWgradMode_t mode) {
        OK(cudnnMultiHeadAttnBackwardWeights(handle(), c.desc, mode, c.q.desc, c.q.buffer.data(), c.k.desc, c.k.buffer.data(), c.v.desc, c.v.buffer.data(),
                                             dout.desc, dout.buffer.data(), c.weight_bytes, c.weights.data(), dw.data(), c.work, again.data(), c.reserve,
                                             kept.data()));
    };
    weights(CUDNN_WGRAD_MODE_SET);
    struct Part {
        Sequences *of;
        Buffer *gradient;
        const char *what;
    };
    for (auto part : {Part{&c.q, &dq, "gradient of queries"}, Part{&c.k, &dk, "gradient of keys"}, Part{&c.v, &dv, "gradient of values"}}) {
        // Padding has no influence.
        Buffer clean = part.of->buffer;
        for (size_t i = 0; i < clean.size(); i++)
            if (std::isnan(clean.get(i))) CHECK(part.gradient->get(i) == 0);
        for (size_t i = 0; i < part.of->buffer.size(); i++)
            if (std::isnan(part.of->buffer.get(i))) part.of->buffer.set(i, 0);
        compare_gradient(*part.gradient, part.of->buffer, loss, part.what);
        part.of->buffer = clean;
    }
    if (c.weight_bytes > 0) {
        compare_gradient(dw, c.weights, loss, "gradient of the weights of attention");
        Buffer before = dw;
        weights(CUDNN_WGRAD_MODE_ADD);
        for (size_t i = 0; i < dw.size(); i++) CHECK(close(dw.get(i), 2 * before.get(i), c.s.type, 8));
    }
}

void heads() {
    const Setup all[] = {
        {CUDNN_DATA_DOUBLE, 2, 2, {5, 6, 7}, {3, 3, 4, 5}, {4, 6}, 2, 1, false, true, 0},
        {CUDNN_DATA_DOUBLE, 1, 3, {4, 4, 2}, {0, 0, 0, 3}, {3, 5}, 2, 2, true, false, 1},
        {CUDNN_DATA_DOUBLE, 2, 2, {4, 3, 5}, {3, 3, 2, 0}, {5, 4}, 1, 3, true, false, 2},
        {CUDNN_DATA_FLOAT, 3, 4, {8, 8, 8}, {4, 4, 4, 8}, {6, 7}, 3, 2, true, true, 3},
        {CUDNN_DATA_HALF, 0, 2, {8, 8, 8}, {4, 4, 4, 8}, {3, 10}, 2, 1, false, false, 4},
        {CUDNN_DATA_BFLOAT16, 2, 1, {6, 6, 6}, {6, 6, 6, 6}, {3, 4}, 2, 1, false, true, 5},
        {CUDNN_DATA_FLOAT, 0, 2, {4, 4, 6}, {0, 0, 0, 0}, {3, 4}, 2, 2, false, false, 3},
    };
    for (const Setup &s : all) {
        Case c(s);
        auto wanted = c.truth();
        Buffer residual(s.type, c.q.buffer.size());
        residual.random(11);
        Buffer *more = s.residual && s.sizes[0] == c.outputs ? &residual : nullptr;
        size_t need = 0;
        OK(cudnnGetMultiHeadAttnBuffers(handle(), c.desc, nullptr, &need, nullptr));
        Workspace space(need);
        c.forward(-1, more, space, nullptr);
        c.compare_out(wanted, more, -1, "attention");
        for (int t = 0; t < s.steps[0]; t++) {
            c.forward(t, more, space, nullptr);
            c.compare_out(wanted, more, t, "attention of one time-step");
        }
        if (s.type == CUDNN_DATA_DOUBLE) backward(c);
        IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
           cudnnMultiHeadAttnForward(handle(), c.desc, -1, c.low.data(), c.high.data(), nullptr, nullptr, c.q.desc, c.q.buffer.data(), nullptr, c.k.desc,
                                     c.k.buffer.data(), c.v.desc, c.v.buffer.data(), c.o.desc, c.o.buffer.data(), c.weight_bytes, c.weights.data(), need - 1,
                                     space.data(), 0, nullptr));
    }
}
Area a("heads", heads);

// Dropout: the result is linear in the kept elements, and the gradient uses the same mask.
void dropped() {
    cudnnDropoutDescriptor_t drop = nullptr;
    size_t bytes = 0;
    OK(cudnnCreateDropoutDescriptor(&drop));
    OK(cudnnDropoutGetStatesSize(handle(), &bytes));
    Workspace states(bytes);
    OK(cudnnSetDropoutDescriptor(drop, handle(), 0.5f, states.data(), bytes, 17));
    Setup s = {CUDNN_DATA_FLOAT, 0, 1, {4, 4, 64}, {0, 0, 0, 0}, {1, 1}, 1, 1, false, false, 0};
    Case c(s);
    OK(cudnnSetAttnDescriptor(c.desc, 0, 1, 1, s.type, s.type, CUDNN_DEFAULT_MATH, nullptr, drop, 4, 4, 64, 0, 0, 0, 0, 1, 1, 1, 1));
    OK(cudnnGetMultiHeadAttnBuffers(handle(), c.desc, &c.weight_bytes, &c.work, &c.reserve));
    Workspace space(c.work), kept(c.reserve);
    c.forward(-1, nullptr, space, &kept);
    Buffer dq(s.type, 4), dk(s.type, 4), dv(s.type, 64), ones(s.type, 64);
    ones.fill(1);
    OK(cudnnMultiHeadAttnBackwardData(handle(), c.desc, c.low.data(), c.high.data(), nullptr, nullptr, c.o.desc, ones.data(), c.q.desc, dq.data(),
                                      c.q.buffer.data(), c.k.desc, dk.data(), c.k.buffer.data(), c.v.desc, dv.data(), c.v.buffer.data(), 0, nullptr, c.work,
                                      space.data(), c.reserve, kept.data()));
    int through = 0;
    for (int i = 0; i < 64; i++) {
        bool let = dv.get(i) != 0;
        through += let;
        CHECK(close(dv.get(i), let ? 2 : 0, s.type));
        CHECK(close(c.o.get(0, 0, 0, i), let ? 2 * c.v.get(0, 0, 0, i) : 0, s.type));
    }
    CHECK(through > 12 && through < 52);
    OK(cudnnDestroyDropoutDescriptor(drop));
}
Area b("heads-dropped", dropped);

void getters() {
    Setup s = {CUDNN_DATA_FLOAT, 3, 4, {8, 8, 8}, {4, 4, 4, 8}, {6, 7}, 3, 2, true, true, 3};
    Case c(s);
    unsigned mode;
    int n[12];
    double scaler;
    cudnnDataType_t type, precision;
    cudnnMathType_t math;
    cudnnDropoutDescriptor_t one, two;
    OK(cudnnGetAttnDescriptor(c.desc, &mode, &n[0], &scaler, &type, &precision, &math, &one, &two, &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8],
                              &n[9], &n[10], &n[11]));
    CHECK(mode == 3 && n[0] == 4 && scaler == 0.7 && type == CUDNN_DATA_FLOAT && !one && !two && n[4] == 4 && n[8] == 6 && n[9] == 7 && n[11] == 2);
    int dims[4], rank = 0, lengths[6];
    size_t count = 0;
    cudnnSeqDataAxis_t axes[4];
    OK(cudnnGetSeqDataDescriptor(c.q.desc, &type, &rank, 4, dims, axes, &count, 6, lengths, nullptr));
    CHECK(rank == 4 && count == 6 && dims[CUDNN_SEQDATA_TIME_DIM] == 6 && dims[CUDNN_SEQDATA_BEAM_DIM] == 2 && axes[3] == CUDNN_SEQDATA_VECT_DIM);
    CHECK(std::equal(lengths, lengths + 6, c.q.lengths.begin()));
    // Errors say what is needed.
    cudnnSeqDataAxis_t wrong[4] = {CUDNN_SEQDATA_VECT_DIM, CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM};
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetSeqDataDescriptor(c.q.desc, CUDNN_DATA_FLOAT, 4, dims, wrong, 6, lengths, nullptr));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetSeqDataDescriptor(c.q.desc, CUDNN_DATA_FLOAT, 4, dims, axes, 5, lengths, nullptr));
    IS(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, cudnnSetAttnDescriptor(c.desc, 0, 1, 1, type, type, CUDNN_DEFAULT_MATH, nullptr, nullptr, 4, 5, 6, 0, 0, 0, 0, 1, 1, 1, 1));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetAttnDescriptor(c.desc, 8, 1, 1, type, type, CUDNN_DEFAULT_MATH, nullptr, nullptr, 4, 4, 6, 0, 0, 0, 0, 1, 1, 1, 1));
    cudnnAttnDescriptor_t fresh = nullptr;
    size_t size = 0;
    OK(cudnnCreateAttnDescriptor(&fresh));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnGetMultiHeadAttnBuffers(handle(), fresh, &size, &size, &size));
    OK(cudnnDestroyAttnDescriptor(fresh));
}
Area d("heads-getters", getters);
} // namespace
