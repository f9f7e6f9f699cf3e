// Convolution in its three passes, with bias and activation, by every algorithm.
#include "check.hpp"

#include <algorithm>

namespace {
struct Filter {
    cudnnFilterDescriptor_t desc = nullptr;
    std::vector<int> dims;
    bool last;
    Buffer buffer;
    Filter(cudnnDataType_t type, std::vector<int> d, cudnnTensorFormat_t format)
        : dims(d), last(format == CUDNN_TENSOR_NHWC), buffer(type, [&] {
              size_t n = 1;
              for (int s : d) n *= s;
              return n;
          }()) {
        OK(cudnnCreateFilterDescriptor(&desc));
        OK(cudnnSetFilterNdDescriptor(desc, type, format, int(dims.size()), dims.data()));
    }
    ~Filter() { OK(cudnnDestroyFilterDescriptor(desc)); }
    int taps() const {
        int n = 1;
        for (size_t d = 2; d < dims.size(); d++) n *= dims[d];
        return n;
    }
    size_t at(int k, int c, int tap) const {
        return last ? (size_t(k) * taps() + tap) * dims[1] + c : (size_t(k) * dims[1] + c) * taps() + tap;
    }
};

struct Case {
    cudnnDataType_t type;
    std::vector<int> x, w; // N C spatial, K C/groups spatial
    std::vector<int> pad, stride, dilation;
    int groups;
    cudnnConvolutionMode_t mode;
    cudnnTensorFormat_t format;
};

struct Problem {
    const Case c;
    cudnnConvolutionDescriptor_t conv = nullptr;
    Tensor *x = nullptr, *y = nullptr;
    Filter *w = nullptr;
    explicit Problem(const Case &of) : c(of) {
        OK(cudnnCreateConvolutionDescriptor(&conv));
        OK(cudnnSetConvolutionNdDescriptor(conv, int(c.pad.size()), c.pad.data(), c.stride.data(), c.dilation.data(), c.mode,
                                           c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
        OK(cudnnSetConvolutionGroupCount(conv, c.groups));
        int n = 0, pad[8], stride[8], dilation[8];
        cudnnConvolutionMode_t mode;
        cudnnDataType_t compute;
        OK(cudnnGetConvolutionNdDescriptor(conv, 8, &n, pad, stride, dilation, &mode, &compute));
        CHECK(n == int(c.pad.size()) && mode == c.mode && std::equal(pad, pad + n, c.pad.begin()) && std::equal(stride, stride + n, c.stride.begin()) &&
              std::equal(dilation, dilation + n, c.dilation.begin()));
        x = new Tensor(c.type, c.x, c.format);
        w = new Filter(c.type, c.w, c.format);
        std::vector<int> dims(c.x.size());
        OK(cudnnGetConvolutionNdForwardOutputDim(conv, x->desc, w->desc, int(dims.size()), dims.data()));
        y = new Tensor(c.type, dims, c.format);
        x->buffer.random(1);
        w->buffer.random(2);
    }
    ~Problem() {
        delete x;
        delete y;
        delete w;
        OK(cudnnDestroyConvolutionDescriptor(conv));
    }
    // Calls f(position of x, position of y, output channel, input channel of the group, tap) for every product.
    template <typename F>
    void products(F f) const {
        size_t spatial = c.pad.size();
        int per = y->dims[1] / c.groups, in = c.w[1];
        for (size_t i = 0; i < y->volume(); i++) {
            auto to = y->position(i);
            int group = to[1] / per;
            for (int ci = 0; ci < in; ci++) {
                for (int tap = 0; tap < w->taps(); tap++) {
                    std::vector<int> from(to.size()), k(spatial);
                    int rest = tap;
                    for (size_t d = spatial; d-- > 0;) {
                        k[d] = rest % c.w[d + 2];
                        rest /= c.w[d + 2];
                    }
                    bool inside = true;
                    for (size_t d = 0; d < spatial; d++) {
                        int at = to[d + 2] * c.stride[d] - c.pad[d] + k[d] * c.dilation[d];
                        inside = inside && at >= 0 && at < c.x[d + 2];
                        from[d + 2] = at;
                    }
                    from[0] = to[0];
                    from[1] = group * in + ci;
                    int used = c.mode == CUDNN_CONVOLUTION ? w->taps() - 1 - tap : tap;
                    if (inside) f(from, to, to[1], ci, used);
                }
            }
        }
    }
};

void passes(const Case &c, double alpha, double beta) {
    Problem p(c);
    double scale = p.w->taps() * p.c.w[1];
    Factor a(alpha, c.type), b(beta, c.type);
    std::vector<double> before(p.y->buffer.size(), 0), sums(p.y->buffer.size(), 0);
    p.products([&](auto &from, auto &to, int k, int ci, int tap) {
        sums[p.y->at(to)] += p.x->get(from) * p.w->buffer.get(p.w->at(k, ci, tap));
    });
    for (int algo = 0; algo < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; algo++) {
        size_t size = 0;
        auto status = cudnnGetConvolutionForwardWorkspaceSize(handle(), p.x->desc, p.w->desc, p.conv, p.y->desc, cudnnConvolutionFwdAlgo_t(algo), &size);
        if (status != CUDNN_STATUS_SUCCESS) {
            CHECK(algo >= 4 && status == CUDNN_STATUS_NOT_SUPPORTED);
            continue;
        }
        if (beta == 0) p.y->buffer.fill(NAN);
        else p.y->buffer.random(7);
        for (size_t i = 0; i < before.size(); i++) before[i] = beta == 0 ? 0 : p.y->buffer.get(i);
        Workspace space(size);
        OK(cudnnConvolutionForward(handle(), a.data(), p.x->desc, p.x->data(), p.w->desc, p.w->buffer.data(), p.conv, cudnnConvolutionFwdAlgo_t(algo),
                                   space.data(), size, b.data(), p.y->desc, p.y->data()));
        compare(*p.y, [&](auto &at) { return alpha * sums[p.y->at(at)] + beta * before[p.y->at(at)]; }, "forward", scale);
        if (size > 0)
            IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT,
               cudnnConvolutionForward(handle(), a.data(), p.x->desc, p.x->data(), p.w->desc, p.w->buffer.data(), p.conv,
                                       cudnnConvolutionFwdAlgo_t(algo), space.data(), size - 1, b.data(), p.y->desc, p.y->data()));
    }
    p.y->buffer.random(3);
    std::vector<double> dx(p.x->buffer.size(), 0), dw(p.w->buffer.size(), 0);
    p.products([&](auto &from, auto &to, int k, int ci, int tap) {
        dx[p.x->at(from)] += p.y->get(to) * p.w->buffer.get(p.w->at(k, ci, tap));
        dw[p.w->at(k, ci, tap)] += p.y->get(to) * p.x->get(from);
    });
    Tensor gx(c.type, c.x, c.format);
    for (int algo = 0; algo < 2; algo++) {
        if (beta == 0) gx.buffer.fill(NAN);
        else gx.buffer.random(8);
        Buffer old = gx.buffer;
        size_t size = 0;
        OK(cudnnGetConvolutionBackwardDataWorkspaceSize(handle(), p.w->desc, p.y->desc, p.conv, gx.desc, cudnnConvolutionBwdDataAlgo_t(algo), &size));
        Workspace space(size);
        OK(cudnnConvolutionBackwardData(handle(), a.data(), p.w->desc, p.w->buffer.data(), p.y->desc, p.y->data(), p.conv,
                                        cudnnConvolutionBwdDataAlgo_t(algo), space.data(), size, b.data(), gx.desc, gx.data()));
        compare(gx, [&](auto &at) { return alpha * dx[gx.at(at)] + (beta == 0 ? 0 : beta * old.get(gx.at(at))); }, "gradient of the data", scale);
    }
    Filter gw(c.type, c.w, c.format);
    for (int algo : {0, 1, 3}) {
        if (beta == 0) gw.buffer.fill(NAN);
        else gw.buffer.random(9);
        Buffer old = gw.buffer;
        size_t size = 0;
        OK(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle(), p.x->desc, p.y->desc, p.conv, gw.desc, cudnnConvolutionBwdFilterAlgo_t(algo), &size));
        Workspace space(size);
        OK(cudnnConvolutionBackwardFilter(handle(), a.data(), p.x->desc, p.x->data(), p.y->desc, p.y->data(), p.conv,
                                          cudnnConvolutionBwdFilterAlgo_t(algo), space.data(), size, b.data(), gw.desc, gw.buffer.data()));
        double products = double(p.y->volume()) / p.y->dims[1];
        for (size_t i = 0; i < dw.size(); i++) {
            double wanted = alpha * dw[i] + (beta == 0 ? 0 : beta * old.get(i));
            CHECK(close(gw.buffer.get(i), wanted, c.type, products));
        }
    }
    Tensor db(c.type, [&] {
        std::vector<int> dims(c.x.size(), 1);
        dims[1] = p.y->dims[1];
        return dims;
    }());
    db.buffer.random(4);
    Buffer old = db.buffer;
    OK(cudnnConvolutionBackwardBias(handle(), a.data(), p.y->desc, p.y->data(), b.data(), db.desc, db.data()));
    std::vector<double> sum(db.buffer.size(), 0);
    for (size_t i = 0; i < p.y->volume(); i++) sum[p.y->position(i)[1]] += p.y->get(p.y->position(i));
    for (size_t i = 0; i < sum.size(); i++)
        CHECK(close(db.buffer.get(i), alpha * sum[i] + (beta == 0 ? 0 : beta * old.get(i)), c.type, double(p.y->volume()) / double(sum.size())));
}

void convolution() {
    const auto cross = CUDNN_CROSS_CORRELATION, turned = CUDNN_CONVOLUTION;
    const auto first = CUDNN_TENSOR_NCHW, last = CUDNN_TENSOR_NHWC;
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE, CUDNN_DATA_BFLOAT16}) {
        for (auto mode : {cross, turned}) {
            for (auto format : {first, last}) {
                passes({type, {2, 8, 9, 7}, {6, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, mode, format}, 1, 0);
                passes({type, {2, 8, 9, 7}, {6, 4, 3, 2}, {1, 0}, {2, 1}, {1, 2}, 2, mode, format}, 2.5, 0);
            }
        }
        passes({type, {1, 4, 10}, {5, 4, 3}, {1}, {2}, {1}, 1, turned, first}, 1, 1);
        passes({type, {1, 4, 5, 6, 4}, {3, 4, 2, 3, 2}, {0, 1, 1}, {1, 2, 1}, {1, 1, 1}, 1, turned, first}, 1, 0);
        passes({type, {2, 6, 5, 5}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6, cross, first}, 1.5, 0.5);
    }
    // Factors that single precision cannot represent: doubles use them exactly.
    passes({CUDNN_DATA_DOUBLE, {2, 3, 5, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, turned, first}, 0.1, 0.7);
    passes({CUDNN_DATA_FLOAT, {2, 8, 14, 14}, {16, 8, 1, 1}, {0, 0}, {1, 1}, {1, 1}, 1, turned, last}, -1, 2);
}
Area a("convolution", convolution);

void finish() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF}) {
        for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
            for (int variant = 0; variant < 5; variant++) {
                Problem p({type, {2, 8, 6, 6}, {8, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, CUDNN_CROSS_CORRELATION, format});
                double alpha1 = variant == 1 ? 2 : 1, alpha2 = variant == 0 ? 0 : variant == 2 ? 0.5 : 1;
                Tensor z(type, p.y->dims, format), bias(type, {1, 8, 1, 1});
                z.buffer.random(5);
                bias.buffer.random(6);
                bool in_place = variant == 3;
                if (in_place) p.y->buffer = z.buffer;
                cudnnActivationDescriptor_t act = nullptr;
                OK(cudnnCreateActivationDescriptor(&act));
                OK(cudnnSetActivationDescriptor(act, variant == 4 ? CUDNN_ACTIVATION_IDENTITY : CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
                std::vector<double> sums(p.y->buffer.size(), 0);
                p.products([&](auto &from, auto &to, int k, int ci, int tap) {
                    sums[p.y->at(to)] += p.x->get(from) * p.w->buffer.get(p.w->at(k, ci, tap));
                });
                size_t size = 0;
                auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
                OK(cudnnGetConvolutionForwardWorkspaceSize(handle(), p.x->desc, p.w->desc, p.conv, p.y->desc, algo, &size));
                Workspace space(size);
                Factor a1(alpha1, type), a2(alpha2, type);
                OK(cudnnConvolutionBiasActivationForward(handle(), a1.data(), p.x->desc, p.x->data(), p.w->desc, p.w->buffer.data(), p.conv, algo,
                                                         space.data(), size, a2.data(), z.desc, in_place ? p.y->data() : z.data(), bias.desc,
                                                         bias.data(), act, p.y->desc, p.y->data()));
                compare(*p.y, [&](auto &at) {
                    double v = alpha1 * sums[p.y->at(at)] + alpha2 * z.get(at) + bias.buffer.get(at[1]);
                    return variant == 4 ? v : std::max(v, 0.0);
                }, "bias and activation", 72);
                OK(cudnnDestroyActivationDescriptor(act));
            }
        }
    }
}
Area b("convolution_bias_activation", finish);

void lists() {
    Problem p({CUDNN_DATA_FLOAT, {1, 16, 12, 12}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, CUDNN_CROSS_CORRELATION, CUDNN_TENSOR_NCHW});
    int count = 0, most = 0;
    cudnnConvolutionFwdAlgoPerf_t forward[16];
    OK(cudnnGetConvolutionForwardAlgorithmMaxCount(handle(), &most));
    CHECK(most == 8);
    OK(cudnnGetConvolutionForwardAlgorithm_v7(handle(), p.x->desc, p.w->desc, p.conv, p.y->desc, most, &count, forward));
    CHECK(count == 8 && forward[0].status == CUDNN_STATUS_SUCCESS && forward[7].status == CUDNN_STATUS_NOT_SUPPORTED);
    OK(cudnnGetConvolutionForwardAlgorithm_v7(handle(), p.x->desc, p.w->desc, p.conv, p.y->desc, 1, &count, forward));
    CHECK(count == 1);
    OK(cudnnFindConvolutionForwardAlgorithm(handle(), p.x->desc, p.w->desc, p.conv, p.y->desc, most, &count, forward));
    CHECK(count == 8);
    for (int i = 0; i + 1 < count; i++) {
        bool ok = forward[i].status == CUDNN_STATUS_SUCCESS, next = forward[i + 1].status == CUDNN_STATUS_SUCCESS;
        CHECK(ok || !next);
        if (ok && next) CHECK(forward[i].time <= forward[i + 1].time && forward[i].time > 0);
        if (ok) {
            size_t size = 0;
            OK(cudnnGetConvolutionForwardWorkspaceSize(handle(), p.x->desc, p.w->desc, p.conv, p.y->desc, forward[i].algo, &size));
            CHECK(size == forward[i].memory);
        }
    }
    OK(cudnnFindConvolutionForwardAlgorithmEx(handle(), p.x->desc, p.x->data(), p.w->desc, p.w->buffer.data(), p.conv, p.y->desc, p.y->data(), most,
                                              &count, forward, nullptr, 0));
    CHECK(forward[0].status == CUDNN_STATUS_SUCCESS && forward[0].memory == 0);
    cudnnConvolutionBwdDataAlgoPerf_t data[16];
    OK(cudnnGetConvolutionBackwardDataAlgorithmMaxCount(handle(), &most));
    CHECK(most == 6);
    OK(cudnnGetConvolutionBackwardDataAlgorithm_v7(handle(), p.w->desc, p.y->desc, p.conv, p.x->desc, most, &count, data));
    CHECK(count == 6 && data[0].status == CUDNN_STATUS_SUCCESS && data[0].determinism == CUDNN_DETERMINISTIC);
    OK(cudnnFindConvolutionBackwardDataAlgorithm(handle(), p.w->desc, p.y->desc, p.conv, p.x->desc, most, &count, data));
    std::vector<uint8_t> space(1 << 22);
    OK(cudnnFindConvolutionBackwardDataAlgorithmEx(handle(), p.w->desc, p.w->buffer.data(), p.y->desc, p.y->data(), p.conv, p.x->desc, p.x->data(), most,
                                                   &count, data, space.data(), space.size()));
    CHECK(data[0].status == CUDNN_STATUS_SUCCESS);
    cudnnConvolutionBwdFilterAlgoPerf_t filter[16];
    OK(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(handle(), &most));
    CHECK(most == 7);
    OK(cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle(), p.x->desc, p.y->desc, p.conv, p.w->desc, most, &count, filter));
    CHECK(count == 7 && filter[0].status == CUDNN_STATUS_SUCCESS);
    OK(cudnnFindConvolutionBackwardFilterAlgorithm(handle(), p.x->desc, p.y->desc, p.conv, p.w->desc, most, &count, filter));
    OK(cudnnFindConvolutionBackwardFilterAlgorithmEx(handle(), p.x->desc, p.x->data(), p.y->desc, p.y->data(), p.conv, p.w->desc, p.w->buffer.data(),
                                                     most, &count, filter, space.data(), space.size()));
    CHECK(filter[0].status == CUDNN_STATUS_SUCCESS);
}
Area c("convolution_lists", lists);

void faults() {
    Problem p({CUDNN_DATA_FLOAT, {1, 4, 6, 6}, {4, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, CUDNN_CROSS_CORRELATION, CUDNN_TENSOR_NCHW});
    float one = 1, zero = 0;
    auto run = [&](cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y, const void *data, const void *alpha, int algo) {
        return cudnnConvolutionForward(handle(), alpha, x, data, p.w->desc, p.w->buffer.data(), p.conv, cudnnConvolutionFwdAlgo_t(algo), nullptr, 0,
                                       &zero, y, p.y->data());
    };
    OK(run(p.x->desc, p.y->desc, p.x->data(), &one, 0));
    IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, run(p.x->desc, p.y->desc, nullptr, &one, 0));
    IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, run(p.x->desc, p.y->desc, p.x->data(), nullptr, 0));
    IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, run(nullptr, p.y->desc, p.x->data(), &one, 0));
    IS(CUDNN_STATUS_NOT_SUPPORTED, run(p.x->desc, p.y->desc, p.x->data(), &one, CUDNN_CONVOLUTION_FWD_ALGO_FFT));
    CHECK(last_error().find("Fourier") != std::string::npos);
    IS(CUDNN_STATUS_BAD_PARAM, run(p.x->desc, p.y->desc, p.x->data(), &one, 77));
    Tensor wrong(CUDNN_DATA_FLOAT, {1, 4, 9, 9});
    IS(CUDNN_STATUS_BAD_PARAM, run(p.x->desc, wrong.desc, p.x->data(), &one, 0));
    auto text = last_error();
    CHECK(text.find("cudnnConvolutionForward") != std::string::npos && text.find("problem: --conv") != std::string::npos);
    if (text.find("problem: --conv") == std::string::npos) std::printf("%s\n", text.c_str());
    cudnnTensorDescriptor_t empty = nullptr;
    OK(cudnnCreateTensorDescriptor(&empty));
    IS(CUDNN_STATUS_BAD_PARAM, run(empty, p.y->desc, p.x->data(), &one, 0));
    OK(cudnnDestroyTensorDescriptor(empty));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetConvolutionGroupCount(p.conv, 0));
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetConvolution2dDescriptor(p.conv, -1, 0, 1, 1, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
    int a[6], groups = 0;
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    cudnnMathType_t math;
    cudnnReorderType_t reorder;
    OK(cudnnSetConvolution2dDescriptor(p.conv, 1, 2, 3, 4, 5, 6, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
    OK(cudnnGetConvolution2dDescriptor(p.conv, a, a + 1, a + 2, a + 3, a + 4, a + 5, &mode, &type));
    for (int i = 0; i < 6; i++) CHECK(a[i] == i + 1);
    OK(cudnnSetConvolutionMathType(p.conv, CUDNN_FMA_MATH));
    OK(cudnnGetConvolutionMathType(p.conv, &math));
    OK(cudnnSetConvolutionReorderType(p.conv, CUDNN_NO_REORDER));
    OK(cudnnGetConvolutionReorderType(p.conv, &reorder));
    OK(cudnnGetConvolutionGroupCount(p.conv, &groups));
    CHECK(math == CUDNN_FMA_MATH && reorder == CUDNN_NO_REORDER && groups == 1 && mode == CUDNN_CONVOLUTION && type == CUDNN_DATA_FLOAT);
}
Area d("convolution_faults", faults);
} // namespace
