// Repeated calls: a handle records what they execute, keyed by the states of descriptors and by which addresses are equal.
#include "check.hpp"

namespace {
struct Calls {
    Tensor x{CUDNN_DATA_FLOAT, {2, 8, 5, 6}}, y{CUDNN_DATA_FLOAT, {2, 8, 5, 6}}, z{CUDNN_DATA_FLOAT, {2, 8, 5, 6}}, bias{CUDNN_DATA_FLOAT, {1, 8, 1, 1}};
    Buffer w{CUDNN_DATA_FLOAT, 8 * 8 * 9};
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    cudnnActivationDescriptor_t act = nullptr;
    cudnnPoolingDescriptor_t pool = nullptr;
    int mode = CUDNN_ACTIVATION_RELU;
    bool correlation = true;
    Calls() {
        OK(cudnnCreateFilterDescriptor(&filter)), OK(cudnnCreateConvolutionDescriptor(&conv)), OK(cudnnCreateActivationDescriptor(&act)), OK(cudnnCreatePoolingDescriptor(&pool));
        OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 8, 3, 3));
        OK(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, CUDNN_PROPAGATE_NAN, 3, 3, 1, 1, 1, 1));
        describe();
        x.buffer.random(1), w.random(2), z.buffer.random(3), bias.buffer.random(4);
    }
    ~Calls() {
        OK(cudnnDestroyPoolingDescriptor(pool)), OK(cudnnDestroyActivationDescriptor(act)), OK(cudnnDestroyConvolutionDescriptor(conv)), OK(cudnnDestroyFilterDescriptor(filter));
    }
    void describe() {
        OK(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, correlation ? CUDNN_CROSS_CORRELATION : CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
        OK(cudnnSetActivationDescriptor(act, cudnnActivationMode_t(mode), CUDNN_PROPAGATE_NAN, 0));
    }
    double convolved(const std::vector<int> &at) const {
        double sum = 0;
        for (int c = 0; c < 8; c++)
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) {
                    int h = at[2] - 1 + r, v = at[3] - 1 + s;
                    size_t tap = correlation ? size_t(r * 3 + s) : size_t(8 - r * 3 - s);
                    if (h >= 0 && h < 5 && v >= 0 && v < 6) sum += x.get({at[0], c, h, v}) * w.get(size_t(at[1] * 8 + c) * 9 + tap);
                }
        return sum;
    }
    double active(double v) const { return mode == CUDNN_ACTIVATION_RELU ? std::max(v, 0.0) : std::tanh(v); }
};

void repeats() {
    Calls c;
    const auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    size_t size = 0;
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle(), c.x.desc, c.filter, c.conv, c.y.desc, algo, &size));
    float beta = 0;
    for (int i = 0; i < 12; i++) {
        // A series of calls that differ in data, factor, workspace or descriptor state, or are in place.
        Workspace space(size + 256);
        float alpha = i == 5 ? 2 : 1;
        if (i == 7) c.mode = CUDNN_ACTIVATION_TANH, c.describe();
        if (i == 9) {
            c.correlation = false, c.describe();
            OK(cudnnGetConvolutionForwardWorkspaceSize(handle(), c.x.desc, c.filter, c.conv, c.y.desc, algo, &size));
            space = Workspace(size);
        }
        c.x.buffer.random(unsigned(i + 10));
        c.y.buffer.fill(NAN);
        OK(cudnnConvolutionForward(handle(), &alpha, c.x.desc, c.x.data(), c.filter, c.w.data(), c.conv, algo, space.bytes.data() + i % 3, size, &beta, c.y.desc, c.y.data()));
        compare(c.y, [&](auto &at) { return alpha * c.convolved(at); }, "a repeated convolution", 16);
        float more = 0.5;
        // The second summand is the result's memory, or other memory.
        Buffer z = c.z.buffer;
        void *second = i % 2 ? z.data() : c.y.data();
        if (i % 2 == 0) c.y.buffer = z;
        OK(cudnnConvolutionBiasActivationForward(handle(), &alpha, c.x.desc, c.x.data(), c.filter, c.w.data(), c.conv, algo, space.bytes.data(), size, &more, c.z.desc, second, c.bias.desc,
                                                 c.bias.data(), c.act, c.y.desc, c.y.data()));
        compare(c.y, [&](auto &at) { return c.active(alpha * c.convolved(at) + 0.5 * z.get(c.z.at(at)) + c.bias.get({0, at[1], 0, 0})); }, "with bias and activation", 16);
        // Without the workspace that it needs, or with too small a one, a call fails every time.
        if (size > 0) IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, cudnnConvolutionForward(handle(), &alpha, c.x.desc, c.x.data(), c.filter, c.w.data(), c.conv, algo, nullptr, size, &beta, c.y.desc, c.y.data()));
        IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, cudnnConvolutionForward(handle(), &alpha, c.x.desc, nullptr, c.filter, c.w.data(), c.conv, algo, space.data(), size, &beta, c.y.desc, c.y.data()));
        IS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, cudnnConvolutionForward(handle(), nullptr, c.x.desc, c.x.data(), c.filter, c.w.data(), c.conv, algo, space.data(), size, &beta, c.y.desc, c.y.data()));
        Tensor same(CUDNN_DATA_FLOAT, c.x.dims);
        same.buffer = c.x.buffer;
        bool in_place = i % 3 == 0;
        float old = i % 2 ? 0 : 0.25f;
        c.y.buffer.random(7);
        Buffer before = in_place ? c.x.buffer : c.y.buffer;
        Tensor &to = in_place ? same : c.y;
        OK(cudnnActivationForward(handle(), c.act, &alpha, c.x.desc, in_place ? same.data() : c.x.data(), &old, c.x.desc, to.data()));
        if (!in_place || old == 0) compare(to, [&](auto &at) { return alpha * c.active(c.x.get(at)) + old * before.get(c.y.at(at)); }, "a repeated activation", 4);
        OK(cudnnAddTensor(handle(), &alpha, c.bias.desc, c.bias.data(), &alpha, c.x.desc, same.data()));
        if (!in_place) compare(same, [&](auto &at) { return alpha * (c.x.get(at) + c.bias.get({0, at[1], 0, 0})); }, "a repeated sum", 4);
        OK(cudnnPoolingForward(handle(), c.pool, &alpha, c.x.desc, c.x.data(), &beta, c.y.desc, c.y.data()));
        compare(c.y, [&](auto &at) {
            double sum = 0;
            for (int r = -1; r < 2; r++)
                for (int s = -1; s < 2; s++)
                    if (at[2] + r >= 0 && at[2] + r < 5 && at[3] + s >= 0 && at[3] + s < 6) sum += c.x.get({at[0], at[1], at[2] + r, at[3] + s});
            return alpha * sum / 9;
        }, "a repeated pooling", 4);
        OK(cudnnSoftmaxForward(handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &alpha, c.x.desc, c.x.data(), &beta, c.y.desc, c.y.data()));
        compare(c.y, [&](auto &at) {
            double sum = 0;
            for (int k = 0; k < 8; k++) sum += std::exp(c.x.get({at[0], k, at[2], at[3]}));
            return alpha * std::exp(c.x.get(at)) / sum;
        }, "a repeated softmax", 4);
    }
}
Area a("repeats", repeats);
} // namespace
