// Spatial transformers and connectionist temporal classification.
#include "check.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace {
void transformer() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE}) {
        for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
            cudnnSpatialTransformerDescriptor_t desc = nullptr;
            OK(cudnnCreateSpatialTransformerDescriptor(&desc));
            int dims[4] = {2, 3, 4, 5};
            OK(cudnnSetSpatialTransformerNdDescriptor(desc, CUDNN_SAMPLER_BILINEAR, type, 4, dims));
            Buffer theta(type, 12), grid(type, 2 * 4 * 5 * 2), dgrid(type, grid.size()), dtheta(type, 12);
            theta.random(1);
            OK(cudnnSpatialTfGridGeneratorForward(handle(), desc, theta.data(), grid.data()));
            auto point = [&](int n, int h, int w, int i) {
                double x = -1 + 2.0 * w / 4, y = -1 + 2.0 * h / 3;
                return theta.get(n * 6 + i * 3) * x + theta.get(n * 6 + i * 3 + 1) * y + theta.get(n * 6 + i * 3 + 2);
            };
            for (int n = 0; n < 2; n++)
                for (int h = 0; h < 4; h++)
                    for (int w = 0; w < 5; w++)
                        for (int i = 0; i < 2; i++) CHECK(close(grid.get(((n * 4 + h) * 5 + w) * 2 + i), point(n, h, w, i), type));
            Tensor x(type, {2, 3, 6, 7}, format), dx(type, x.dims, format), y(type, {2, 3, 4, 5}, format), dy(type, y.dims, format);
            x.buffer.random(2);
            dy.buffer.random(3);
            auto sample = [&](const std::vector<int> &at) {
                size_t g = (size_t(at[0] * 4 + at[2]) * 5 + at[3]) * 2;
                double px = (grid.get(g) + 1) * 3, py = (grid.get(g + 1) + 1) * 2.5, sum = 0;
                for (int h = 0; h < 6; h++)
                    for (int w = 0; w < 7; w++)
                        sum += std::max(0.0, 1 - std::fabs(px - w)) * std::max(0.0, 1 - std::fabs(py - h)) * x.get({at[0], at[1], h, w});
                return sum;
            };
            Factor one(1, type), two(2, type), zero(0, type);
            OK(cudnnSpatialTfSamplerForward(handle(), desc, one.data(), x.desc, x.data(), grid.data(), zero.data(), y.desc, y.data()));
            compare(y, sample, "sampler");
            Buffer old = y.buffer;
            OK(cudnnSpatialTfSamplerForward(handle(), desc, two.data(), x.desc, x.data(), grid.data(), one.data(), y.desc, y.data()));
            compare(y, [&](auto &at) { return 2 * sample(at) + old.get(y.at(at)); }, "sampler, added");
            OK(cudnnSpatialTfSamplerBackward(handle(), desc, one.data(), x.desc, x.data(), zero.data(), dx.desc, dx.data(), one.data(), dy.desc, dy.data(),
                                             grid.data(), zero.data(), dgrid.data()));
            OK(cudnnSpatialTfGridGeneratorBackward(handle(), desc, dgrid.data(), dtheta.data()));
            if (type == CUDNN_DATA_DOUBLE) {
                auto loss = [&] {
                    double all = 0;
                    for (size_t i = 0; i < y.volume(); i++) all += sample(y.position(i)) * dy.get(y.position(i));
                    return all;
                };
                compare_gradient(dx.buffer, x.buffer, loss, "gradient of an image");
                compare_gradient(dgrid, grid, loss, "gradient of a grid");
                compare_gradient(dtheta, theta, [&] {
                    for (int n = 0; n < 2; n++)
                        for (int h = 0; h < 4; h++)
                            for (int w = 0; w < 5; w++)
                                for (int i = 0; i < 2; i++) grid.set(((n * 4 + h) * 5 + w) * 2 + i, point(n, h, w, i));
                    return loss();
                }, "gradient of a transform");
            }
            IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, cudnnSpatialTfGridGeneratorForward(handle(), desc, nullptr, grid.data()));
            OK(cudnnDestroySpatialTransformerDescriptor(desc));
        }
    }
}
Area a("transformer", transformer);

// The probability of labels by summing over all letters^time paths.
double brute(const std::vector<std::vector<double>> &probs, const std::vector<int> &labels) {
    int letters = int(probs[0].size()), time = int(probs.size());
    double sum = 0;
    std::vector<int> path(time, 0);
    while (true) {
        std::vector<int> told;
        double p = 1;
        for (int t = 0; t < time; t++) {
            if (path[t] != 0 && (t == 0 || path[t] != path[t - 1])) told.push_back(path[t]);
            p *= probs[t][path[t]];
        }
        if (told == labels) sum += p;
        int t = 0;
        while (t < time && ++path[t] == letters) path[t++] = 0;
        if (t == time) return sum;
    }
}

void ctc() {
    const int T = 5, N = 3, A = 4;
    cudnnCTCLossDescriptor_t desc = nullptr;
    OK(cudnnCreateCTCLossDescriptor(&desc));
    for (bool soft : {false, true}) {
        OK(cudnnSetCTCLossDescriptor_v9(desc, CUDNN_DATA_FLOAT, soft ? CUDNN_LOSS_NORMALIZATION_SOFTMAX : CUDNN_LOSS_NORMALIZATION_NONE,
                                        CUDNN_CTC_ZERO_OOB_GRADIENTS, 10));
        Tensor probs(CUDNN_DATA_FLOAT, {T, N, A}), gradients(CUDNN_DATA_FLOAT, {T, N, A});
        Buffer act(CUDNN_DATA_DOUBLE, T * N * A);
        act.random(7);
        auto row = [&](int t, int n) {
            std::vector<double> p(A);
            double sum = 0;
            for (int i = 0; i < A; i++) sum += p[i] = std::exp(act.get((t * N + n) * A + i));
            for (double &v : p) v /= sum;
            return p;
        };
        for (int t = 0; t < T; t++)
            for (int n = 0; n < N; n++)
                for (int i = 0; i < A; i++) probs.set({t, n, i}, soft ? act.get((t * N + n) * A + i) : row(t, n)[i]);
        const int labels[] = {1, 1, 2, 3}, lengths[] = {2, 1, 1}, times[] = {5, 3, 4};
        std::vector<float> costs(N);
        size_t size = 7;
        OK(cudnnGetCTCLossWorkspaceSize(handle(), probs.desc, gradients.desc, labels, lengths, times, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, &size));
        OK(cudnnGetCTCLossWorkspaceSize_v8(handle(), CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, probs.desc, gradients.desc, &size));
        CHECK(size == 0);
        OK(cudnnCTCLoss(handle(), probs.desc, probs.data(), labels, lengths, times, costs.data(), gradients.desc, gradients.data(),
                        CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, nullptr, 0));
        auto loss = [&](int n) {
            std::vector<std::vector<double>> p;
            for (int t = 0; t < times[n]; t++) p.push_back(row(t, n));
            int first = n == 0 ? 0 : n == 1 ? 2 : 3;
            return -std::log(brute(p, std::vector<int>(labels + first, labels + first + lengths[n])));
        };
        for (int n = 0; n < N; n++) CHECK(close(costs[n], loss(n), CUDNN_DATA_FLOAT));
        Buffer told(CUDNN_DATA_DOUBLE, act.size());
        for (size_t i = 0; i < told.size(); i++) told.set(i, gradients.buffer.get(i));
        for (size_t i = 0; i < act.size(); i++) {
            double before = act.get(i), h = 1e-5;
            auto all = [&] { return loss(0) + loss(1) + loss(2); };
            act.set(i, before + h);
            double up = all();
            act.set(i, before - h);
            double down = all();
            act.set(i, before);
            CHECK(std::fabs(told.get(i) - (up - down) / (2 * h)) < 1e-4);
        }
        std::vector<float> again(N);
        OK(cudnnCTCLoss_v8(handle(), CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC, desc, probs.desc, probs.data(), labels, lengths, times, again.data(), nullptr,
                           nullptr, 0, nullptr));
        CHECK(again == costs);
        // Impossible: more labels than steps.
        const int short_times[] = {2, 3, 4};
        OK(cudnnCTCLoss_v8(handle(), CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, probs.desc, probs.data(), labels, lengths, short_times, again.data(),
                           gradients.desc, gradients.data(), 0, nullptr));
        CHECK(std::isinf(again[0]) && again[1] == costs[1] && gradients.get({0, 0, 0}) == 0);
        const int wrong[] = {0, 1, 2, 3};
        IS(CUDNN_STATUS_BAD_PARAM, cudnnCTCLoss_v8(handle(), CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, probs.desc, probs.data(), wrong, lengths, times,
                                                   again.data(), nullptr, nullptr, 0, nullptr));
    }
    cudnnDataType_t type;
    cudnnLossNormalizationMode_t norm;
    cudnnCTCGradMode_t mode;
    cudnnNanPropagation_t nan;
    int longest = 0;
    OK(cudnnGetCTCLossDescriptor_v9(desc, &type, &norm, &mode, &longest));
    CHECK(norm == CUDNN_LOSS_NORMALIZATION_SOFTMAX && longest == 10);
    OK(cudnnSetCTCLossDescriptor_v8(desc, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_NONE, CUDNN_PROPAGATE_NAN, 20));
    OK(cudnnGetCTCLossDescriptor_v8(desc, &type, &norm, &nan, &longest));
    CHECK(nan == CUDNN_PROPAGATE_NAN && longest == 20);
    OK(cudnnSetCTCLossDescriptorEx(desc, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX, CUDNN_NOT_PROPAGATE_NAN));
    OK(cudnnGetCTCLossDescriptorEx(desc, &type, &norm, &nan));
    CHECK(norm == CUDNN_LOSS_NORMALIZATION_SOFTMAX && nan == CUDNN_NOT_PROPAGATE_NAN);
    OK(cudnnSetCTCLossDescriptor(desc, CUDNN_DATA_FLOAT));
    OK(cudnnGetCTCLossDescriptor(desc, &type));
    CHECK(type == CUDNN_DATA_FLOAT);
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetCTCLossDescriptor(desc, CUDNN_DATA_HALF));
    OK(cudnnDestroyCTCLossDescriptor(desc));
}
Area b("ctc", ctc);

// The cases of tests/vectors/cudnn/ctc.txt, computed with optax.
void truth() {
    cudnnCTCLossDescriptor_t desc = nullptr;
    OK(cudnnCreateCTCLossDescriptor(&desc));
    OK(cudnnSetCTCLossDescriptor_v9(desc, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX, CUDNN_CTC_ZERO_OOB_GRADIENTS, 255));
    int steps = 0, letters = 0, cases = 0;
    std::vector<int> times, labels, lengths;
    std::map<std::string, std::vector<double>> of;
    for (auto &line : lines("ctc.txt")) {
        std::istringstream text(line);
        std::string word;
        text >> word;
        if (word == "case") {
            text >> steps >> letters;
            times.clear(), labels.clear(), lengths.clear();
            while (text >> word) {
                if (word == ":") lengths.push_back(0);
                else if (lengths.empty()) times.push_back(std::stoi(word));
                else labels.push_back(std::stoi(word)), lengths.back()++;
            }
        } else if (word != "end") {
            size_t count = 0;
            text >> count;
            of[word].clear();
            for (double v; text >> v;) of[word].push_back(v);
            CHECK(of[word].size() == count);
        } else {
            Tensor x(CUDNN_DATA_FLOAT, {steps, int(times.size()), letters}), dx(CUDNN_DATA_FLOAT, x.dims);
            for (size_t i = 0; i < x.buffer.size(); i++) x.buffer.set(i, of["x"][i]);
            dx.buffer.fill(NAN);
            std::vector<float> costs(times.size(), NAN);
            OK(cudnnCTCLoss_v8(handle(), CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, x.desc, x.data(), labels.data(), lengths.data(), times.data(), costs.data(), dx.desc,
                               dx.data(), 0, nullptr));
            for (size_t n = 0; n < costs.size(); n++) CHECK(std::fabs(costs[n] - of["cost"][n]) <= 1e-5 * std::max(1.0, of["cost"][n]));
            bool right = true;
            for (size_t i = 0; i < dx.buffer.size(); i++) right = right && std::fabs(dx.buffer.get(i) - of["dx"][i]) <= 1e-5;
            check(right, "gradients of the loss as optax computes them", __FILE__, __LINE__);
            cases++;
        }
    }
    CHECK(cases >= 3);
    OK(cudnnDestroyCTCLossDescriptor(desc));
}
Area t("ctc_truth", truth);

// _cudnn_ctc_loss in both versions: inputs before softmax, concatenated labels, no gradient for infinite losses.
void torch_ctc() {
    const int T = 4, N = 2, A = 3;
    const int labels[] = {1, 2, 2}, lengths[] = {2, 1}, times[] = {4, 3};
    Tensor in(CUDNN_DATA_FLOAT, {T, N, A}), grad(CUDNN_DATA_FLOAT, {T, N, A});
    in.buffer.random(11);
    auto row = [&](int t, int n, double more = 0, int at = -1) {
        std::vector<double> p(A);
        double sum = 0;
        for (int i = 0; i < A; i++) sum += p[i] = std::exp(in.get({t, n, i}) + (i == at ? more : 0));
        for (double &v : p) v /= sum;
        return p;
    };
    auto loss = [&](int n, int step = -1, int letter = -1, double more = 0) {
        std::vector<std::vector<double>> p;
        for (int t = 0; t < times[n]; t++) p.push_back(t == step ? row(t, n, more, letter) : row(t, n));
        return -std::log(brute(p, n == 0 ? std::vector<int>{1, 2} : std::vector<int>{2}));
    };
    for (bool v8 : {false, true}) {
        cudnnCTCLossDescriptor_t desc = nullptr;
        OK(cudnnCreateCTCLossDescriptor(&desc));
        std::vector<float> costs(N, -1);
        size_t size = 1;
        // Elements after a sequence's end are unchanged.
        grad.buffer.fill(0);
        if (v8) {
            OK(cudnnSetCTCLossDescriptor_v9(desc, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX, CUDNN_CTC_SKIP_OOB_GRADIENTS, 255));
            OK(cudnnGetCTCLossWorkspaceSize_v8(handle(), CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, in.desc, grad.desc, &size));
            Workspace space(size);
            OK(cudnnCTCLoss_v8(handle(), CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, in.desc, in.data(), labels, lengths, times, costs.data(), grad.desc, grad.data(), size,
                               space.data()));
        } else {
            OK(cudnnSetCTCLossDescriptorEx(desc, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX, CUDNN_PROPAGATE_NAN));
            OK(cudnnGetCTCLossWorkspaceSize(handle(), in.desc, grad.desc, labels, lengths, times, CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, &size));
            Workspace space(size);
            OK(cudnnCTCLoss(handle(), in.desc, in.data(), labels, lengths, times, costs.data(), grad.desc, grad.data(), CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, desc, space.data(),
                            size));
        }
        for (int n = 0; n < N; n++) CHECK(close(costs[n], loss(n), CUDNN_DATA_FLOAT));
        for (int t = 0; t < T; t++)
            for (int n = 0; n < N; n++)
                for (int i = 0; i < A; i++) {
                    double h = 1e-5, slope = t < times[n] ? (loss(n, t, i, h) - loss(n, t, i, -h)) / (2 * h) : 0;
                    CHECK(std::fabs(grad.get({t, n, i}) - slope) < 1e-4);
                }
        OK(cudnnDestroyCTCLossDescriptor(desc));
    }
}
Area c("torch-ctc", torch_ctc);

// cudnn_affine_grid_generator and cudnn_grid_sampler with their gradients: NCHW, factors of 1 and 0.
void torch_grid() {
    const int N = 2, C = 3, H = 4, W = 5, h = 3, w = 6;
    cudnnSpatialTransformerDescriptor_t desc = nullptr;
    OK(cudnnCreateSpatialTransformerDescriptor(&desc));
    const int dims[] = {N, C, h, w};
    OK(cudnnSetSpatialTransformerNdDescriptor(desc, CUDNN_SAMPLER_BILINEAR, CUDNN_DATA_FLOAT, 4, dims));
    Tensor x(CUDNN_DATA_FLOAT, {N, C, H, W}), y(CUDNN_DATA_FLOAT, {N, C, h, w}), dx(CUDNN_DATA_FLOAT, x.dims), dy(CUDNN_DATA_FLOAT, y.dims);
    Buffer theta(CUDNN_DATA_FLOAT, N * 6), grid(CUDNN_DATA_FLOAT, N * h * w * 2), dgrid(CUDNN_DATA_FLOAT, grid.size()), dtheta(CUDNN_DATA_FLOAT, theta.size());
    x.buffer.random(1), dy.buffer.random(2), theta.random(3);
    OK(cudnnSpatialTfGridGeneratorForward(handle(), desc, theta.data(), grid.data()));
    float one = 1, zero = 0;
    y.buffer.fill(NAN), dx.buffer.fill(NAN), dgrid.fill(NAN), dtheta.fill(NAN);
    OK(cudnnSpatialTfSamplerForward(handle(), desc, &one, x.desc, x.data(), grid.data(), &zero, y.desc, y.data()));
    std::vector<double> wanted(x.buffer.size(), 0), slopes(theta.size(), 0);
    auto weight = [](double at, int i) { return std::max(0.0, 1 - std::fabs(at - i)); };
    auto slope = [](double at, int i) { return std::fabs(at - i) >= 1 ? 0.0 : at >= i ? -1.0 : 1.0; };
    bool right = true;
    for (int n = 0; n < N; n++)
        for (int i = 0; i < h * w; i++) {
            double place[] = {-1 + 2.0 * (i % w) / (w - 1), -1 + 2.0 * (i / w) / (h - 1), 1}, at[2], towards[2] = {0, 0};
            for (int d = 0; d < 2; d++) {
                double sum = 0;
                for (int k = 0; k < 3; k++) sum += theta.get(n * 6 + d * 3 + k) * place[k];
                right = right && close(grid.get((n * h * w + i) * 2 + d), sum, CUDNN_DATA_FLOAT, 4);
                at[d] = (grid.get((n * h * w + i) * 2 + d) + 1) * ((d ? H : W) - 1) / 2.0;
            }
            for (int c = 0; c < C; c++) {
                double sum = 0, g = dy.get({n, c, i / w, i % w});
                for (int r = 0; r < H; r++)
                    for (int s = 0; s < W; s++) {
                        double v = x.get({n, c, r, s});
                        sum += weight(at[0], s) * weight(at[1], r) * v;
                        wanted[x.at({n, c, r, s})] += weight(at[0], s) * weight(at[1], r) * g;
                        towards[0] += slope(at[0], s) * weight(at[1], r) * v * g * (W - 1) / 2.0, towards[1] += weight(at[0], s) * slope(at[1], r) * v * g * (H - 1) / 2.0;
                    }
                right = right && close(y.get({n, c, i / w, i % w}), sum, CUDNN_DATA_FLOAT, 8);
            }
            for (int d = 0; d < 2; d++)
                for (int k = 0; k < 3; k++) slopes[n * 6 + d * 3 + k] += towards[d] * place[k];
        }
    CHECK(right);
    OK(cudnnSpatialTfSamplerBackward(handle(), desc, &one, x.desc, x.data(), &zero, dx.desc, dx.data(), &one, dy.desc, dy.data(), grid.data(), &zero, dgrid.data()));
    OK(cudnnSpatialTfGridGeneratorBackward(handle(), desc, dgrid.data(), dtheta.data()));
    for (size_t i = 0; i < wanted.size(); i++) right = right && close(dx.buffer.get(i), wanted[i], CUDNN_DATA_FLOAT, 8);
    for (size_t i = 0; i < slopes.size(); i++) right = right && std::fabs(dtheta.get(i) - slopes[i]) < 1e-3 * (1 + std::fabs(slopes[i]));
    CHECK(right);
    OK(cudnnDestroySpatialTransformerDescriptor(desc));
}
Area d("torch-grid", torch_grid);
} // namespace
