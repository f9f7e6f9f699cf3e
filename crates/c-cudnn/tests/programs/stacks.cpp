// Programs call from threads with little room on the stack (fibres, coroutines, runtimes of other languages): primitives are made for them all the same.
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
    // Sizes that nothing else here has, so that nothing is found made.
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

// Two threads with a handle each, on streams of their own, get what one gets.
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
