// What a call costs over its computation: convolutions so small that little else is left. Run by hand (`program cost`), since it asserts no times.
#include "check.hpp"

#include <algorithm>
#include <ctime>

namespace {
// Microseconds that this thread has computed: what others do on the machine does not count.
double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e6 + double(t.tv_nsec) * 1e-3;
}

// The best of some rounds, in microseconds a call.
template <class F> double best(F f) {
    double least = INFINITY;
    for (int round = 0; round < 20; round++) {
        double begin = now();
        for (int i = 0; i < 500; i++) f();
        least = std::min(least, (now() - begin) / 500);
    }
    return least;
}

void cost() {
    double begin = now();
    cudnnHandle_t h = nullptr;
    OK(cudnnCreate(&h));
    double made = now();
    Tensor x(CUDNN_DATA_FLOAT, {1, 16, 4, 4}, CUDNN_TENSOR_NHWC), y(CUDNN_DATA_FLOAT, {1, 16, 4, 4}, CUDNN_TENSOR_NHWC), bias(CUDNN_DATA_FLOAT, {1, 16, 1, 1});
    Buffer w(CUDNN_DATA_FLOAT, 16 * 16);
    x.buffer.random(1), w.random(2), bias.buffer.random(3);
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    cudnnActivationDescriptor_t relu = nullptr;
    cudnnPoolingDescriptor_t pool = nullptr;
    OK(cudnnCreateFilterDescriptor(&filter));
    OK(cudnnCreateConvolutionDescriptor(&conv));
    OK(cudnnCreateActivationDescriptor(&relu));
    OK(cudnnCreatePoolingDescriptor(&pool));
    OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 16, 16, 1, 1));
    OK(cudnnSetConvolution2dDescriptor(conv, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    OK(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 1, 1, 0, 0, 1, 1));
    const auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    size_t bytes = 0;
    float one = 1, zero = 0;
    OK(cudnnGetConvolutionForwardWorkspaceSize(h, x.desc, filter, conv, y.desc, algo, &bytes));
    Workspace space(bytes);
    auto forward = [&] { return cudnnConvolutionForward(h, &one, x.desc, x.data(), filter, w.data(), conv, algo, space.data(), bytes, &zero, y.desc, y.data()); };
    OK(forward());
    std::printf("handle %.0f us, first convolution %.0f us\n", made - begin, now() - made);
    std::printf("convolution %.2f us\n", best(forward));
    std::printf("convolution, bias, activation %.2f us\n", best([&] {
                    return cudnnConvolutionBiasActivationForward(h, &one, x.desc, x.data(), filter, w.data(), conv, algo, space.data(), bytes, &zero, y.desc,
                                                                 y.data(), bias.desc, bias.data(), relu, y.desc, y.data());
                }));
    std::printf("activation %.2f us\n", best([&] { return cudnnActivationForward(h, relu, &one, x.desc, x.data(), &zero, y.desc, y.data()); }));
    std::printf("pooling %.2f us\n", best([&] { return cudnnPoolingForward(h, pool, &one, x.desc, x.data(), &zero, y.desc, y.data()); }));
    std::printf("sum %.2f us\n", best([&] { return cudnnAddTensor(h, &one, bias.desc, bias.data(), &one, y.desc, y.data()); }));
    std::printf("query of a workspace %.2f us\n", best([&] { return cudnnGetConvolutionForwardWorkspaceSize(h, x.desc, filter, conv, y.desc, algo, &bytes); }));
    OK(cudnnDestroyPoolingDescriptor(pool));
    OK(cudnnDestroyActivationDescriptor(relu));
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyFilterDescriptor(filter));
    OK(cudnnDestroy(h));
}
Area a("cost", cost, true);
} // namespace
