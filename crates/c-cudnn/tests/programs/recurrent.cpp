// Recurrent networks against loops in double precision, forward and backward.
#include "check.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

namespace {
struct Case {
    cudnnDataType_t type;
    cudnnRNNMode_t cell;
    cudnnRNNBiasMode_t bias;
    bool both;
    int input, hidden, projected, layers;
    cudnnRNNDataLayout_t layout;
    std::vector<int> lengths;
    bool states;
    bool skip = false;
    double clip = 0; // of cells, where not 0
    bool torch = false; // with the arguments of PyTorch: states of five dimensions, no filling, padding off where sequences are packed
};

struct Network {
    const Case c;
    cudnnRNNDescriptor_t desc = nullptr;
    cudnnDropoutDescriptor_t dropout = nullptr;
    std::vector<uint8_t> states;
    int N, T, D, G, R;
    Buffer weights;
    std::vector<double> w; // the same, as numbers of the computation
    explicit Network(const Case &of, float p = 0) : c(of), weights(of.type, 0) {
        N = int(c.lengths.size());
        T = *std::max_element(c.lengths.begin(), c.lengths.end());
        if (c.layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) T += 1;
        D = c.both ? 2 : 1;
        G = c.cell == CUDNN_LSTM ? 4 : c.cell == CUDNN_GRU ? 3 : 1;
        R = c.projected ? c.projected : c.hidden;
        size_t size = 0;
        OK(cudnnDropoutGetStatesSize(handle(), &size));
        states.resize(size);
        OK(cudnnCreateDropoutDescriptor(&dropout));
        OK(cudnnSetDropoutDescriptor(dropout, handle(), p, states.data(), size, 1));
        OK(cudnnCreateRNNDescriptor(&desc));
        OK(cudnnSetRNNDescriptor_v8(desc, CUDNN_RNN_ALGO_STANDARD, c.cell, c.bias, c.both ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                                    c.skip ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, c.type, c.type == CUDNN_DATA_DOUBLE ? c.type : CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, c.input, c.hidden, R, c.layers, dropout,
                                    c.torch && c.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED ? CUDNN_RNN_PADDED_IO_DISABLED : CUDNN_RNN_PADDED_IO_ENABLED));
        if (c.clip != 0) OK(cudnnRNNSetClip_v9(desc, CUDNN_RNN_CLIP_MINMAX, -c.clip, c.clip));
        OK(cudnnGetRNNWeightSpaceSize(handle(), desc, &size));
        weights = Buffer(c.type, size / width());
        weights.random(3);
        for (size_t i = 0; i < weights.size(); i++) weights.set(i, weights.get(i) * 0.5);
        take();
    }
    void take() {
        w.resize(weights.size());
        for (size_t i = 0; i < w.size(); i++) w[i] = weights.get(i);
    }
    ~Network() {
        OK(cudnnDestroyRNNDescriptor(desc));
        OK(cudnnDestroyDropoutDescriptor(dropout));
    }
    long width() const { return c.type == CUDNN_DATA_DOUBLE ? 8 : c.type == CUDNN_DATA_FLOAT ? 4 : 2; }
    int inputs(int layer) const { return layer == 0 ? c.input : R * D; }
    // Index of the first element of a matrix or bias; -1 if there is none.
    std::pair<long, long> param(int pseudo, int id) {
        cudnnTensorDescriptor_t m = nullptr, b = nullptr;
        OK(cudnnCreateTensorDescriptor(&m));
        OK(cudnnCreateTensorDescriptor(&b));
        void *ma = nullptr, *ba = nullptr;
        OK(cudnnGetRNNWeightParams(handle(), desc, pseudo, weights.bytes.size(), weights.data(), id, m, &ma, b, &ba));
        cudnnDataType_t type;
        int n = 0, dims[3], strides[3];
        CHECK((ma == nullptr) == (c.skip && pseudo < D && id < G));
        if (ma) {
            OK(cudnnGetTensorNdDescriptor(m, 3, &type, &n, dims, strides));
            CHECK(type == c.type && dims[0] == 1 && strides[2] == 1);
            CHECK(dims[1] == (id == 8 && R != c.hidden ? R : c.hidden));
        }
        auto index = [&](void *p) { return p ? (static_cast<uint8_t *>(p) - weights.bytes.data()) / width() : -1; };
        OK(cudnnDestroyTensorDescriptor(m));
        OK(cudnnDestroyTensorDescriptor(b));
        return {index(ma), index(ba)};
    }
};

struct Values {
    std::vector<double> x, hx, cx, y, hy, cy;
};

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// The reference by loops. Rows of x and y are [n][t].
void reference(Network &net, const std::vector<std::vector<std::pair<long, long>>> &params, Values &v) {
    const Case &c = net.c;
    int N = net.N, H = c.hidden, R = net.R, D = net.D, G = net.G;
    std::vector<double> in = v.x;
    int width = c.input;
    v.hy.assign(size_t(c.layers) * D * N * R, 0);
    v.cy.assign(size_t(c.layers) * D * N * H, 0);
    for (int layer = 0; layer < c.layers; layer++) {
        std::vector<double> out(size_t(N) * net.T * R * D, 0);
        for (int d = 0; d < D; d++) {
            int p = layer * D + d;
            auto gate = [&](int id, int row, const double *vector, int count) {
                double sum = params[p][id].second >= 0 ? net.w[params[p][id].second + row] : 0;
                // Without a matrix it is the input itself.
                if (params[p][id].first < 0) return sum + vector[row];
                for (int i = 0; i < count; i++) sum += net.w[params[p][id].first + size_t(row) * count + i] * vector[i];
                return sum;
            };
            for (int n = 0; n < N; n++) {
                std::vector<double> h(R, 0), cell(H, 0), next(H);
                for (int i = 0; i < R; i++) h[i] = v.hx.empty() ? 0 : v.hx[(size_t(p) * N + n) * R + i];
                for (int i = 0; i < H; i++) cell[i] = v.cx.empty() ? 0 : v.cx[(size_t(p) * N + n) * H + i];
                for (int s = 0; s < c.lengths[n]; s++) {
                    int t = d ? c.lengths[n] - 1 - s : s;
                    const double *x = &in[(size_t(n) * net.T + t) * width];
                    for (int i = 0; i < H; i++) {
                        auto both = [&](int g) { return gate(g, i, x, width) + gate(G + g, i, h.data(), R); };
                        switch (c.cell) {
                        case CUDNN_RNN_RELU: next[i] = std::max(0.0, both(0)); break;
                        case CUDNN_RNN_TANH: next[i] = std::tanh(both(0)); break;
                        case CUDNN_LSTM:
                            cell[i] = sigmoid(both(1)) * cell[i] + sigmoid(both(0)) * std::tanh(both(2));
                            if (c.clip != 0) cell[i] = std::min(c.clip, std::max(-c.clip, cell[i]));
                            next[i] = sigmoid(both(3)) * std::tanh(cell[i]);
                            break;
                        default: {
                            double r = sigmoid(both(0)), u = sigmoid(both(1));
                            next[i] = (1 - u) * std::tanh(gate(2, i, x, width) + r * gate(5, i, h.data(), R)) + u * h[i];
                        }
                        }
                    }
                    if (R != H)
                        for (int i = 0; i < R; i++) {
                            h[i] = 0;
                            for (int j = 0; j < H; j++) h[i] += net.w[params[p][8].first + size_t(i) * H + j] * next[j];
                        }
                    else h = next;
                    for (int i = 0; i < R; i++) out[((size_t(n) * net.T + t) * D + d) * R + i] = h[i];
                }
                for (int i = 0; i < R; i++) v.hy[(size_t(p) * N + n) * R + i] = h[i];
                for (int i = 0; i < H; i++) v.cy[(size_t(p) * N + n) * H + i] = cell[i];
            }
        }
        in = out;
        width = R * D;
    }
    v.y = in;
}

// The offset of step t of sample n.
size_t row(const Network &net, int n, int t, int width) {
    switch (net.c.layout) {
    case CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED: {
        size_t before = 0;
        for (int s = 0; s < t; s++)
            for (int l : net.c.lengths) before += l > s;
        return (before + n) * width;
    }
    case CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED: return (size_t(t) * net.N + n) * width;
    default: return (size_t(n) * net.T + t) * width;
    }
}

void network(const Case &c) {
    Network net(c);
    int N = net.N, D = net.D, R = net.R, H = c.hidden, P = c.layers * D;
    std::vector<std::vector<std::pair<long, long>>> params(P);
    for (int p = 0; p < P; p++) {
        params[p].resize(9, {-1, -1});
        for (int id = 0; id < 2 * net.G; id++) params[p][id] = net.param(p, id);
        if (R != H) params[p][8] = net.param(p, 8);
    }
    cudnnRNNDataDescriptor_t xd = nullptr, yd = nullptr;
    OK(cudnnCreateRNNDataDescriptor(&xd));
    OK(cudnnCreateRNNDataDescriptor(&yd));
    Buffer fill(c.type, 1);
    fill.fill(-7);
    OK(cudnnSetRNNDataDescriptor(xd, c.type, c.layout, net.T, N, c.input, c.lengths.data(), c.torch ? nullptr : fill.data()));
    OK(cudnnSetRNNDataDescriptor(yd, c.type, c.layout, net.T, N, R * D, c.lengths.data(), c.torch ? nullptr : fill.data()));
    size_t rows = size_t(net.T) * N;
    Buffer x(c.type, rows * c.input), y(c.type, rows * R * D), dy(c.type, y.size()), dx(c.type, x.size());
    x.random(1);
    dy.random(2);
    auto state = [&](int width) { return c.torch ? std::vector<int>{P, N, width, 1, 1} : std::vector<int>{P, N, width}; };
    Tensor h(c.type, state(R)), hy(c.type, state(R)), dhy(c.type, state(R)), dhx(c.type, state(R));
    Tensor k(c.type, state(H)), cy(c.type, state(H)), dcy(c.type, state(H)), dcx(c.type, state(H));
    h.buffer.random(4);
    k.buffer.random(5);
    dhy.buffer.random(6);
    dcy.buffer.random(7);
    bool lstm = c.cell == CUDNN_LSTM;
    Values v;
    v.x.assign(rows * c.input, 0);
    for (int n = 0; n < N; n++)
        for (int t = 0; t < c.lengths[n]; t++)
            for (int i = 0; i < c.input; i++) v.x[(size_t(n) * net.T + t) * c.input + i] = x.get(row(net, n, t, c.input) + i);
    if (c.states) {
        for (size_t i = 0; i < h.buffer.size(); i++) v.hx.push_back(h.buffer.get(i));
        for (size_t i = 0; i < k.buffer.size() && lstm; i++) v.cx.push_back(k.buffer.get(i));
    }
    reference(net, params, v);
    auto loose = c.type == CUDNN_DATA_FLOAT || c.type == CUDNN_DATA_DOUBLE ? 1.0 : 3.0;
    auto compare_all = [&](const char *what) {
        bool right = true;
        for (int n = 0; n < N; n++)
            for (int t = 0; t < net.T; t++)
                for (int i = 0; i < R * D; i++) {
                    if (t < c.lengths[n]) right = right && close(y.get(row(net, n, t, R * D) + i), v.y[(size_t(n) * net.T + t) * R * D + i], c.type, loose);
                    else if (c.layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED && !c.torch) right = right && y.get(row(net, n, t, R * D) + i) == -7;
                }
        for (size_t i = 0; i < hy.buffer.size(); i++) right = right && close(hy.buffer.get(i), v.hy[i], c.type, loose);
        for (size_t i = 0; i < cy.buffer.size() && lstm; i++) right = right && close(cy.buffer.get(i), v.cy[i], c.type, loose);
        check(right, what, __FILE__, __LINE__);
    };
    void *hx = c.states ? h.data() : nullptr, *cx = c.states && lstm ? k.data() : nullptr, *cyp = lstm ? cy.data() : nullptr;
    size_t space = 1, kept = 1;
    OK(cudnnGetRNNTempSpaceSizes(handle(), net.desc, CUDNN_FWD_MODE_INFERENCE, xd, &space, &kept));
    CHECK(kept == 0);
    OK(cudnnRNNForward(handle(), net.desc, CUDNN_FWD_MODE_INFERENCE, nullptr, xd, x.data(), yd, y.data(), h.desc, hx, hy.data(), k.desc, cx, cyp,
                       net.weights.bytes.size(), net.weights.data(), 0, nullptr, 0, nullptr));
    compare_all("inference");
    OK(cudnnGetRNNTempSpaceSizes(handle(), net.desc, CUDNN_FWD_MODE_TRAINING, xd, &space, &kept));
    Workspace work(space), reserve(kept);
    y.fill(NAN);
    OK(cudnnRNNForward(handle(), net.desc, CUDNN_FWD_MODE_TRAINING, nullptr, xd, x.data(), yd, y.data(), h.desc, hx, hy.data(), k.desc, cx, cyp,
                       net.weights.bytes.size(), net.weights.data(), space, work.data(), kept, reserve.data()));
    compare_all("training");
    IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
       cudnnRNNForward(handle(), net.desc, CUDNN_FWD_MODE_TRAINING, nullptr, xd, x.data(), yd, y.data(), h.desc, hx, hy.data(), k.desc, cx, cyp,
                       net.weights.bytes.size(), net.weights.data(), space, work.data(), kept - 1, reserve.data()));
    OK(cudnnRNNBackwardData_v8(handle(), net.desc, nullptr, yd, y.data(), dy.data(), xd, dx.data(), h.desc, hx, dhy.data(), dhx.data(), k.desc, cx,
                               lstm ? dcy.data() : nullptr, lstm ? dcx.data() : nullptr, net.weights.bytes.size(), net.weights.data(), space, work.data(),
                               kept, reserve.data()));
    Buffer dw(c.type, net.weights.size());
    dw.fill(1);
    OK(cudnnRNNBackwardWeights_v8(handle(), net.desc, CUDNN_WGRAD_MODE_ADD, nullptr, xd, x.data(), h.desc, hx, yd, y.data(), dw.bytes.size(), dw.data(), space,
                                  work.data(), kept, reserve.data()));
    if (c.type == CUDNN_DATA_HALF) {
        for (size_t i = 0; i < dw.size(); i++) CHECK(std::isfinite(dw.get(i)));
    } else {
        auto loss = [&] {
            Values now = v;
            reference(net, params, now);
            double all = 0;
            for (int n = 0; n < N; n++)
                for (int t = 0; t < c.lengths[n]; t++)
                    for (int i = 0; i < R * D; i++) all += now.y[(size_t(n) * net.T + t) * R * D + i] * dy.get(row(net, n, t, R * D) + i);
            for (size_t i = 0; i < now.hy.size(); i++) all += now.hy[i] * dhy.buffer.get(i);
            for (size_t i = 0; i < now.cy.size() && lstm; i++) all += now.cy[i] * dcy.buffer.get(i);
            return all;
        };
        auto slope = [&](double &of, double got, const char *what) {
            double before = of, e = 1e-5;
            of = before + e;
            double up = loss();
            of = before - e;
            double down = loss();
            of = before;
            double right = (up - down) / (2 * e);
            double bound = c.type == CUDNN_DATA_DOUBLE ? 1e-6 : 1e-3;
            if (!(std::fabs(got - right) < bound * std::max(1.0, std::fabs(right)))) {
                std::string text = std::string(what) + ": " + std::to_string(got) + ", not " + std::to_string(right);
                return check(false, text.c_str(), __FILE__, __LINE__);
            }
            check(true, what, __FILE__, __LINE__);
        };
        for (size_t i = 0; i < net.w.size(); i += 1 + net.w.size() / 60) slope(net.w[i], dw.get(i) - 1, "gradient of the weights");
        for (int n = 0; n < N; n++)
            for (int t = 0; t < c.lengths[n]; t++) slope(v.x[(size_t(n) * net.T + t) * c.input], dx.get(row(net, n, t, c.input)), "gradient of x");
        for (size_t i = 0; i < v.hx.size(); i++) slope(v.hx[i], dhx.buffer.get(i), "gradient of hx");
        for (size_t i = 0; i < v.cx.size(); i++) slope(v.cx[i], dcx.buffer.get(i), "gradient of cx");
    }
    OK(cudnnDestroyRNNDataDescriptor(xd));
    OK(cudnnDestroyRNNDataDescriptor(yd));
}

void recurrent() {
    const auto packed = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED,
               batch = CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED;
    for (auto cell : {CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_TANH, CUDNN_RNN_RELU}) {
        for (auto bias : {CUDNN_RNN_DOUBLE_BIAS, CUDNN_RNN_NO_BIAS, CUDNN_RNN_SINGLE_INP_BIAS, CUDNN_RNN_SINGLE_REC_BIAS})
            network({CUDNN_DATA_FLOAT, cell, bias, false, 3, 4, 0, 1, steps, {3, 3}, true});
        network({CUDNN_DATA_FLOAT, cell, CUDNN_RNN_DOUBLE_BIAS, true, 3, 5, 0, 2, packed, {4, 2, 1}, true});
        network({CUDNN_DATA_FLOAT, cell, CUDNN_RNN_DOUBLE_BIAS, true, 3, 4, 0, 2, steps, {2, 4, 1, 4}, true});
        network({CUDNN_DATA_FLOAT, cell, CUDNN_RNN_DOUBLE_BIAS, false, 3, 4, 0, 2, batch, {1, 3, 2}, false});
        network({CUDNN_DATA_HALF, cell, CUDNN_RNN_DOUBLE_BIAS, true, 4, 4, 0, 2, packed, {3, 2}, true});
        network({CUDNN_DATA_DOUBLE, cell, CUDNN_RNN_DOUBLE_BIAS, true, 3, 4, 0, 2, steps, {2, 4, 1, 4}, true});
        network({CUDNN_DATA_DOUBLE, cell, CUDNN_RNN_SINGLE_REC_BIAS, false, 3, 4, 0, 1, packed, {3, 3, 1}, true});
        for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF})
            network({type, cell, CUDNN_RNN_DOUBLE_BIAS, true, 4, 4, 0, 2, packed, {3, 2}, true, true});
    }
    // Clipped cell states: no gradient passes where they are clipped.
    network({CUDNN_DATA_FLOAT, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, true, 3, 4, 0, 2, packed, {4, 2, 1}, true, false, 0.3});
    network({CUDNN_DATA_DOUBLE, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, true, 3, 6, 4, 2, steps, {1, 3}, true, false, 0.25});
    network({CUDNN_DATA_HALF, CUDNN_LSTM, CUDNN_RNN_NO_BIAS, false, 3, 6, 4, 1, batch, {1, 3}, true, false, 0.25});
    network({CUDNN_DATA_DOUBLE, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, true, 3, 6, 4, 2, packed, {3, 2, 2}, true});
    network({CUDNN_DATA_FLOAT, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, true, 3, 6, 4, 2, packed, {3, 2, 2}, true});
}
Area a("recurrent", recurrent);

// _cudnn_rnn and its backward pass: LSTM and GRU, one and two layers, both directions, packed sequences or not, with a projection.
void torch() {
    const auto packed = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED;
    for (auto cell : {CUDNN_LSTM, CUDNN_GRU})
        for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE}) {
            network({type, cell, CUDNN_RNN_DOUBLE_BIAS, true, 3, 5, 0, 2, packed, {4, 3, 1}, true, false, 0, true});
            network({type, cell, CUDNN_RNN_DOUBLE_BIAS, false, 4, 4, 0, 1, steps, {3, 3}, true, false, 0, true});
            network({type, cell, CUDNN_RNN_NO_BIAS, false, 4, 4, 0, 1, packed, {2, 2}, true, false, 0, true});
        }
    network({CUDNN_DATA_FLOAT, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, true, 3, 6, 4, 2, packed, {3, 2, 2}, true, false, 0, true});
}
Area d("torch-recurrent", torch);

void descriptors() {
    Network net({CUDNN_DATA_FLOAT, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, true, 3, 6, 4, 2, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, {3, 2}, true});
    cudnnRNNAlgo_t algo;
    cudnnRNNMode_t cell;
    cudnnRNNBiasMode_t bias;
    cudnnDirectionMode_t direction;
    cudnnRNNInputMode_t input;
    cudnnDataType_t type, precision;
    cudnnMathType_t math;
    int32_t sizes[4];
    cudnnDropoutDescriptor_t dropout = nullptr;
    uint32_t flags = 0;
    OK(cudnnGetRNNDescriptor_v8(net.desc, &algo, &cell, &bias, &direction, &input, &type, &precision, &math, sizes, sizes + 1, sizes + 2, sizes + 3, &dropout,
                                &flags));
    CHECK(cell == CUDNN_LSTM && direction == CUDNN_BIDIRECTIONAL && sizes[0] == 3 && sizes[1] == 6 && sizes[2] == 4 && sizes[3] == 2 &&
          dropout == net.dropout && flags == CUDNN_RNN_PADDED_IO_ENABLED);
    cudnnRNNClipMode_t clip;
    cudnnNanPropagation_t nan;
    double low = 0, high = 0;
    OK(cudnnRNNSetClip_v8(net.desc, CUDNN_RNN_CLIP_MINMAX, CUDNN_PROPAGATE_NAN, -1, 2));
    OK(cudnnRNNGetClip_v8(net.desc, &clip, &nan, &low, &high));
    CHECK(clip == CUDNN_RNN_CLIP_MINMAX && nan == CUDNN_PROPAGATE_NAN && low == -1 && high == 2);
    OK(cudnnRNNSetClip_v9(net.desc, CUDNN_RNN_CLIP_NONE, 0, 0));
    OK(cudnnRNNGetClip_v9(net.desc, &clip, &low, &high));
    CHECK(clip == CUDNN_RNN_CLIP_NONE);
    OK(cudnnBuildRNNDynamic(handle(), net.desc, 4));
    cudnnRNNDataDescriptor_t data = nullptr;
    OK(cudnnCreateRNNDataDescriptor(&data));
    float fill = 3, told = 0;
    int lengths[2] = {3, 1}, n = 0, t = 0, c = 0, got[2] = {0, 0};
    cudnnRNNDataLayout_t layout;
    OK(cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 3, 2, 5, lengths, &fill));
    OK(cudnnGetRNNDataDescriptor(data, &type, &layout, &t, &n, &c, 2, got, &told));
    CHECK(t == 3 && n == 2 && c == 5 && got[1] == 1 && told == 3);
    int grows[2] = {1, 3};
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 3, 2, 5, grows, &fill));
    OK(cudnnDestroyRNNDataDescriptor(data));
}
Area b("recurrent_descriptors", descriptors);

// A case of tests/vectors/cudnn/rnn.txt, computed with JAX: its values by name.
struct Truth {
    Case c;
    std::map<std::string, std::vector<double>> of;
};

std::vector<Truth> truths() {
    std::vector<Truth> all;
    for (auto &line : lines("rnn.txt")) {
        std::istringstream text(line);
        std::string word;
        text >> word;
        if (word == "case") {
            int cell, both, n;
            Truth t{};
            text >> cell >> both >> t.c.input >> t.c.hidden >> t.c.projected >> t.c.layers;
            while (text >> n) t.c.lengths.push_back(n);
            t.c.cell = cudnnRNNMode_t(cell), t.c.both = both, t.c.bias = CUDNN_RNN_DOUBLE_BIAS, t.c.states = true;
            all.push_back(t);
        } else if (word != "end") {
            size_t count = 0;
            text >> count;
            auto &values = all.back().of[word];
            for (double v; text >> v;) values.push_back(v);
            CHECK(values.size() == count);
        }
    }
    return all;
}

// Pairs of indices in the weight space and in the file: matrices on the input, on the state, and the projection, for all gates; biases separately.
void each_weight(Network &net, const std::function<void(long, bool, size_t)> &visit) {
    size_t w = 0, b = 0;
    for (int p = 0; p < net.c.layers * net.D; p++) {
        for (int id = 0; id < 2 * net.G; id++) {
            auto [matrix, bias] = net.param(p, id);
            int columns = id < net.G ? net.inputs(p / net.D) : net.R;
            for (int i = 0; i < net.c.hidden * columns; i++) visit(matrix + i, false, w++);
            for (int i = 0; i < net.c.hidden; i++) visit(bias + i, true, b++);
        }
        if (net.R != net.c.hidden)
            for (int i = 0; i < net.R * net.c.hidden; i++) visit(net.param(p, 8).first + i, false, w++);
    }
}

void against(Truth &truth, cudnnDataType_t type, cudnnRNNDataLayout_t layout) {
    Case c = truth.c;
    c.type = type, c.layout = layout;
    Network net(c);
    auto &of = truth.of;
    const int N = net.N, P = c.layers * net.D, longest = *std::max_element(c.lengths.begin(), c.lengths.end());
    const bool lstm = c.cell == CUDNN_LSTM;
    each_weight(net, [&](long at, bool bias, size_t i) { net.weights.set(at, of[bias ? "b" : "w"][i]); });
    cudnnRNNDataDescriptor_t xd = nullptr, yd = nullptr;
    OK(cudnnCreateRNNDataDescriptor(&xd));
    OK(cudnnCreateRNNDataDescriptor(&yd));
    Buffer fill(type, 1);
    fill.fill(0);
    OK(cudnnSetRNNDataDescriptor(xd, type, layout, net.T, N, c.input, c.lengths.data(), fill.data()));
    OK(cudnnSetRNNDataDescriptor(yd, type, layout, net.T, N, net.R * net.D, c.lengths.data(), fill.data()));
    const size_t rows = size_t(net.T) * N;
    Buffer x(type, rows * c.input), y(type, rows * net.R * net.D), dy(type, y.size()), dx(type, x.size());
    x.fill(0), dy.fill(0);
    auto each_row = [&](int width, const std::function<void(size_t, size_t)> &visit) {
        for (int n = 0; n < N; n++)
            for (int t = 0; t < c.lengths[n]; t++)
                for (int i = 0; i < width; i++) visit(row(net, n, t, width) + i, (size_t(n) * longest + t) * width + i);
    };
    each_row(c.input, [&](size_t at, size_t i) { x.set(at, of["x"][i]); });
    each_row(net.R * net.D, [&](size_t at, size_t i) { dy.set(at, of["dy"][i]); });
    Tensor h(type, {P, N, net.R}), hy(type, {P, N, net.R}), dhy(type, {P, N, net.R}), dhx(type, {P, N, net.R});
    Tensor k(type, {P, N, c.hidden}), cy(type, {P, N, c.hidden}), dcy(type, {P, N, c.hidden}), dcx(type, {P, N, c.hidden});
    auto fill_from = [&](Tensor &t, const char *name) {
        for (size_t i = 0; i < t.buffer.size(); i++) t.buffer.set(i, of[name][i]);
    };
    fill_from(h, "hx"), fill_from(dhy, "dhy");
    if (lstm) fill_from(k, "cx"), fill_from(dcy, "dcy");
    size_t space = 0, kept = 0;
    OK(cudnnGetRNNTempSpaceSizes(handle(), net.desc, CUDNN_FWD_MODE_TRAINING, xd, &space, &kept));
    Workspace work(space), reserve(kept);
    void *cx = lstm ? k.data() : nullptr, *cyp = lstm ? cy.data() : nullptr;
    OK(cudnnRNNForward(handle(), net.desc, CUDNN_FWD_MODE_TRAINING, nullptr, xd, x.data(), yd, y.data(), h.desc, h.data(), hy.data(), k.desc, cx, cyp,
                       net.weights.bytes.size(), net.weights.data(), space, work.data(), kept, reserve.data()));
    OK(cudnnRNNBackwardData_v8(handle(), net.desc, nullptr, yd, y.data(), dy.data(), xd, dx.data(), h.desc, h.data(), dhy.data(), dhx.data(), k.desc, cx,
                               lstm ? dcy.data() : nullptr, lstm ? dcx.data() : nullptr, net.weights.bytes.size(), net.weights.data(), space, work.data(),
                               kept, reserve.data()));
    Buffer dw(type, net.weights.size());
    dw.fill(0);
    OK(cudnnRNNBackwardWeights_v8(handle(), net.desc, CUDNN_WGRAD_MODE_ADD, nullptr, xd, x.data(), h.desc, h.data(), yd, y.data(), dw.bytes.size(), dw.data(),
                                  space, work.data(), kept, reserve.data()));
    bool right = true;
    const double bound = type == CUDNN_DATA_DOUBLE ? 1e-9 : 2e-5;
    auto same = [&](double got, double expected) { right = right && std::fabs(got - expected) <= bound * std::max(1.0, std::fabs(expected)); };
    each_row(net.R * net.D, [&](size_t at, size_t i) { same(y.get(at), of["y"][i]); });
    each_row(c.input, [&](size_t at, size_t i) { same(dx.get(at), of["dx"][i]); });
    auto all = [&](Tensor &t, const char *name) {
        for (size_t i = 0; i < t.buffer.size(); i++) same(t.buffer.get(i), of[name][i]);
    };
    all(hy, "hy"), all(dhx, "dhx");
    if (lstm) all(cy, "cy"), all(dcx, "dcx");
    each_weight(net, [&](long at, bool bias, size_t i) { same(dw.get(at), of[bias ? "db" : "dw"][i]); });
    std::string what = "cell " + std::to_string(c.cell) + (c.both ? " in both directions" : "") + ", layout " + std::to_string(layout) + " as JAX computes it";
    check(right, what.c_str(), __FILE__, __LINE__);
    OK(cudnnDestroyRNNDataDescriptor(xd));
    OK(cudnnDestroyRNNDataDescriptor(yd));
}

void outside() {
    auto all = truths();
    CHECK(all.size() >= 20);
    for (auto &truth : all)
        for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE})
            for (auto layout : {CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED})
                against(truth, type, layout);
}
Area e("recurrent_truth", outside);

// Dropout between layers: inference has none, and training twice from copies of the states gives the same.
void dropped() {
    Network net({CUDNN_DATA_FLOAT, CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, false, 3, 16, 0, 2, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, {4, 4}, false}, 0.5f);
    cudnnRNNDataDescriptor_t xd = nullptr, yd = nullptr;
    OK(cudnnCreateRNNDataDescriptor(&xd));
    OK(cudnnCreateRNNDataDescriptor(&yd));
    OK(cudnnSetRNNDataDescriptor(xd, CUDNN_DATA_FLOAT, net.c.layout, 4, 2, 3, net.c.lengths.data(), nullptr));
    OK(cudnnSetRNNDataDescriptor(yd, CUDNN_DATA_FLOAT, net.c.layout, 4, 2, 16, net.c.lengths.data(), nullptr));
    Buffer x(CUDNN_DATA_FLOAT, 24), y[3] = {{CUDNN_DATA_FLOAT, 128}, {CUDNN_DATA_FLOAT, 128}, {CUDNN_DATA_FLOAT, 128}};
    x.random(1);
    size_t space = 0, kept = 0;
    OK(cudnnGetRNNTempSpaceSizes(handle(), net.desc, CUDNN_FWD_MODE_TRAINING, xd, &space, &kept));
    Workspace reserve(kept);
    Tensor h(CUDNN_DATA_FLOAT, {2, 2, 16});
    auto copy = net.states;
    for (int i = 0; i < 3; i++) {
        if (i == 1) net.states = copy;
        OK(cudnnRNNForward(handle(), net.desc, i < 2 ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, nullptr, xd, x.data(), yd, y[i].data(), h.desc,
                           nullptr, nullptr, h.desc, nullptr, nullptr, net.weights.bytes.size(), net.weights.data(), 0, nullptr, i < 2 ? kept : 0,
                           i < 2 ? reserve.data() : nullptr));
    }
    CHECK(y[0].bytes == y[1].bytes && y[0].bytes != y[2].bytes);
    OK(cudnnDestroyRNNDataDescriptor(xd));
    OK(cudnnDestroyRNNDataDescriptor(yd));
}
Area c("recurrent_dropout", dropped);
} // namespace
