// Calls from threads with a small stack (fibres, coroutines, runtimes of other languages): primitives are created nevertheless.
#include "check.hpp"

#include <pthread.h>

#include <functional>

namespace {
void *call(void *f) {
    (*static_cast<std::function<void()> *>(f))();
    return nullptr;
}

void on_stack(size_t bytes, std::function<void()> f) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, bytes) == 0);
    CHECK(pthread_create(&thread, &attributes, call, &f) == 0);
    CHECK(pthread_join(thread, nullptr) == 0);
    pthread_attr_destroy(&attributes);
}

void stacks() {
    static cudnnHandle_t h = nullptr;
    on_stack(64 << 10, [] { OK(cudnnCreate(&h)); });
    // Sizes that nothing else here uses, so that no primitive is cached.
    for (int channels : {19, 23, 64}) {
        on_stack(64 << 10, [=] {
            Tensor x(CUDNN_DATA_FLOAT, {2, channels, 11, 13}), y(CUDNN_DATA_FLOAT, {2, channels, 11, 13});
            cudnnFilterDescriptor_t filter = nullptr;
            cudnnConvolutionDescriptor_t conv = nullptr;
            OK(cudnnCreateFilterDescriptor(&filter));
            OK(cudnnCreateConvolutionDescriptor(&conv));
            OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, channels, channels, 3, 3));
            OK(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
            size_t size = 0;
            OK(cudnnGetConvolutionForwardWorkspaceSize(h, x.desc, filter, conv, y.desc, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, &size));
            OK(cudnnGetConvolutionBackwardDataWorkspaceSize(h, filter, y.desc, conv, x.desc, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, &size));
            OK(cudnnGetConvolutionBackwardFilterWorkspaceSize(h, x.desc, y.desc, conv, filter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, &size));
            OK(cudnnDestroyConvolutionDescriptor(conv));
            OK(cudnnDestroyFilterDescriptor(filter));
        });
    }
    on_stack(64 << 10, [] { OK(cudnnDestroy(h)); });
}
Area a("stacks", stacks);

// Executions there: generated code, portable code and the reference, selected by types and layouts that few implementations take.
void executions() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE})
        for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
            const int C = 12;
            Tensor x(type, {2, C, 9, 7}, format), y(type, x.dims, format), w(type, {C, C, 3, 3}, format), wide(type, {1, C, 1, 1});
            Tensor stats(type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, {1, C, 1, 1});
            x.buffer.random(1), w.buffer.random(2), stats.buffer.fill(1), wide.buffer.fill(0);
            Factor one(1, type), two(2, type), zero(0, type);
            on_stack(64 << 10, [&] {
                cudnnHandle_t h = nullptr;
                OK(cudnnCreate(&h));
                cudnnFilterDescriptor_t filter = nullptr;
                cudnnConvolutionDescriptor_t conv = nullptr;
                cudnnPoolingDescriptor_t pool = nullptr;
                cudnnLRNDescriptor_t lrn = nullptr;
                cudnnReduceTensorDescriptor_t reduce = nullptr;
                cudnnActivationDescriptor_t tanh = nullptr;
                OK(cudnnCreateFilterDescriptor(&filter)), OK(cudnnCreateConvolutionDescriptor(&conv)), OK(cudnnCreatePoolingDescriptor(&pool));
                OK(cudnnCreateLRNDescriptor(&lrn)), OK(cudnnCreateReduceTensorDescriptor(&reduce)), OK(cudnnCreateActivationDescriptor(&tanh));
                OK(cudnnSetFilter4dDescriptor(filter, type, format, C, C, 3, 3));
                auto compute = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
                OK(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, compute));
                OK(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 3, 3, 1, 1, 1, 1));
                OK(cudnnSetReduceTensorDescriptor(reduce, CUDNN_REDUCE_TENSOR_NORM2, compute, CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
                OK(cudnnSetActivationDescriptor(tanh, CUDNN_ACTIVATION_TANH, CUDNN_PROPAGATE_NAN, 0));
                Tensor got(type, x.dims, format);
                for (int twice = 0; twice < 3; twice++) {
                    OK(cudnnConvolutionForward(h, one.data(), x.desc, x.data(), filter, w.data(), conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, zero.data(), y.desc, y.data()));
                    OK(cudnnConvolutionBackwardData(h, one.data(), filter, w.data(), y.desc, y.data(), conv, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, nullptr, 0, zero.data(), x.desc, got.data()));
                    OK(cudnnConvolutionBackwardFilter(h, one.data(), x.desc, x.data(), y.desc, y.data(), conv, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, nullptr, 0, zero.data(), filter, w.data()));
                    OK(cudnnPoolingForward(h, pool, one.data(), x.desc, x.data(), zero.data(), y.desc, y.data()));
                    OK(cudnnPoolingBackward(h, pool, one.data(), y.desc, y.data(), y.desc, x.data(), x.desc, x.data(), zero.data(), got.desc, got.data()));
                    OK(cudnnLRNCrossChannelForward(h, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1, one.data(), x.desc, x.data(), zero.data(), y.desc, y.data()));
                    OK(cudnnDivisiveNormalizationForward(h, lrn, CUDNN_DIVNORM_PRECOMPUTED_MEANS, one.data(), x.desc, x.data(), nullptr, got.data(), y.data(), zero.data(), y.desc, y.data()));
                    OK(cudnnActivationForward(h, tanh, two.data(), x.desc, x.data(), zero.data(), y.desc, y.data()));
                    OK(cudnnAddTensor(h, two.data(), wide.desc, wide.data(), two.data(), y.desc, y.data()));
                    OK(cudnnBatchNormalizationForwardInference(h, CUDNN_BATCHNORM_SPATIAL, one.data(), zero.data(), x.desc, x.data(), got.desc, got.data(), stats.desc, stats.data(), stats.data(),
                                                               stats.data(), stats.data(), 1e-5));
                    size_t size = 0;
                    OK(cudnnGetReductionWorkspaceSize(h, reduce, x.desc, wide.desc, &size));
                    Workspace space(size);
                    OK(cudnnReduceTensor(h, reduce, nullptr, 0, space.data(), size, one.data(), x.desc, x.data(), zero.data(), wide.desc, wide.data()));
                    OK(cudnnSoftmaxForward(h, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, one.data(), x.desc, x.data(), zero.data(), y.desc, y.data()));
                }
                OK(cudnnDestroyActivationDescriptor(tanh)), OK(cudnnDestroyReduceTensorDescriptor(reduce)), OK(cudnnDestroyLRNDescriptor(lrn));
                OK(cudnnDestroyPoolingDescriptor(pool)), OK(cudnnDestroyConvolutionDescriptor(conv)), OK(cudnnDestroyFilterDescriptor(filter));
                OK(cudnnDestroy(h));
            });
            compare(y, [&](auto &at) {
                double sum = 0;
                for (int c = 0; c < C; c++) sum += std::exp(x.get({at[0], c, at[2], at[3]}));
                return x.get(at) - std::log(sum);
            }, "the last of them on a short stack");
        }
}
Area c("stacks-execution", executions);

// Two threads with a handle and a stream each get the same results as one.
void streams() {
    struct Work {
        void *stream;
        Tensor x, y;
        explicit Work(uintptr_t stream) : stream(reinterpret_cast<void *>(stream)), x(CUDNN_DATA_FLOAT, {3, 5, 17, 9}), y(CUDNN_DATA_FLOAT, x.dims) { x.buffer.random(unsigned(stream)); }
        void run() {
            cudnnHandle_t h = nullptr;
            OK(cudnnCreate(&h));
            for (int i = 0; i < 50; i++) {
                float one = 1, zero = 0;
                cudaStream_t told = nullptr;
                OK(cudnnSetStream(h, static_cast<cudaStream_t>(i % 2 ? stream : nullptr)));
                OK(cudnnGetStream(h, &told));
                OK(cudnnSoftmaxForward(h, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, x.desc, x.data(), &zero, y.desc, y.data()));
            }
            OK(cudnnDestroy(h));
        }
    };
    Work a(0x1000), b(0x2000);
    pthread_t one, two;
    std::function<void()> first = [&] { a.run(); }, second = [&] { b.run(); };
    CHECK(pthread_create(&one, nullptr, call, &first) == 0 && pthread_create(&two, nullptr, call, &second) == 0);
    CHECK(pthread_join(one, nullptr) == 0 && pthread_join(two, nullptr) == 0);
    for (Work *w : {&a, &b})
        compare(w->y, [&](auto &at) {
            double sum = 0;
            for (int c = 0; c < 5; c++) sum += std::exp(w->x.get({at[0], c, at[2], at[3]}));
            return std::exp(w->x.get(at)) / sum;
        }, "a thread with a stream of its own");
}
Area b("streams", streams);
} // namespace
