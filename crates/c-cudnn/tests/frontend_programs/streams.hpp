// Streams, events and graphs of the host's runtime: executions run in stream order, and captured ones when the graph is launched.
#pragma once
#include "common.hpp"

namespace streams_area {
namespace {

const int COUNT = 2 * 6 * 5 * 4;

Floats softmax(const Floats &x) {
    Floats y(x.size());
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 20; i++) {
            double sum = 0;
            for (int c = 0; c < 6; c++) sum += std::exp(x[(n * 6 + c) * 20 + i]);
            for (int c = 0; c < 6; c++) y[(n * 6 + c) * 20 + i] = (float)(std::exp(x[(n * 6 + c) * 20 + i]) / sum);
        }
    return y;
}

struct Step {
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t d;
    explicit Step(cudnnHandle_t handle) : handle(handle) {
        check(!cudnnCreateTensorDescriptor(&d) && !cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 6, 5, 4), "a descriptor");
    }
    ~Step() { cudnnDestroyTensorDescriptor(d); }
    // y = 1.5 * softmax(x) + beta * y on a stream; the factor of 1.5 needs temporary memory of the library until the work is done.
    void operator()(cudaStream_t stream, void *x, void *y, float beta = 0) const {
        float alpha = 1.5;
        check(!cudnnSetStream(handle, stream), "cudnnSetStream");
        check(!cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &alpha, d, x, &beta, d, y), "cudnnSoftmaxForward on a stream");
    }
};

Floats scaled(Floats v, float by) {
    for (auto &e : v) e *= by;
    return v;
}

// A chain of dependent operations over two streams.
void in_order(const Step &step) {
    cudaStream_t s[2];
    cudaEvent_t e[2], begin;
    for (int i = 0; i < 2; i++) check(!cudaStreamCreate(&s[i]) && !cudaEventCreate(&e[i]), "streams and events");
    check(!cudaEventCreate(&begin) && !cudaEventRecord(begin, s[0]), "an event at the beginning");
    Floats x = numbers(COUNT, 1), wanted = x, got(COUNT);
    Device a(x), b(COUNT * 4);
    for (int i = 0; i < 40; i++) {
        step(s[i % 2], i % 2 ? b.p : a.p, i % 2 ? a.p : b.p);
        wanted = scaled(softmax(wanted), 1.5);
        check(!cudaEventRecord(e[i % 2], s[i % 2]) && !cudaStreamWaitEvent(s[1 - i % 2], e[i % 2], 0), "one stream waits for the other");
    }
    check(!cudaMemcpyAsync(got.data(), a.p, a.bytes, cudaMemcpyDeviceToHost, s[0]), "a copy behind them");
    check(!cudaStreamSynchronize(s[0]), "cudaStreamSynchronize");
    close_to("a chain over two streams", got, wanted);
    float ms = -1;
    check(!cudaEventSynchronize(e[1]) && !cudaEventElapsedTime(&ms, begin, e[1]) && ms > 0, "time passes");
    // The null stream synchronises with all others.
    Device c(COUNT * 4);
    step(s[1], a.p, b.p), step(nullptr, b.p, c.p);
    check(!cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    close_to("the null stream", c.floats(), scaled(softmax(scaled(softmax(wanted), 1.5)), 1.5));
    for (int i = 0; i < 2; i++) check(!cudaStreamDestroy(s[i]) && !cudaEventDestroy(e[i]), "they end");
    cudaEventDestroy(begin);
}

// Two streams are captured, the second by waiting for the first; the graph is launched on new data.
void captured(const Step &step) {
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    check(!cudaStreamCreate(&s) && !cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking) && !cudaEventCreate(&fork) && !cudaEventCreate(&join), "streams");
    Device x(numbers(COUNT, 1)), y(COUNT * 4), z(COUNT * 4);
    Floats out(COUNT, 7), untouched = out;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    check(!cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    step(s, x.p, y.p);
    check(!cudaEventRecord(fork, s) && !cudaStreamWaitEvent(t, fork, 0), "the second joins");
    cudaStreamCaptureStatus status;
    check(!cudaStreamIsCapturing(t, &status) && status == cudaStreamCaptureStatusActive, "both are captured");
    check(!cudaMemsetAsync(z.p, 0, z.bytes, t), "a fill is captured");
    step(t, y.p, z.p, 2);
    check(!cudaEventRecord(join, t) && !cudaStreamWaitEvent(s, join, 0), "and comes back");
    check(!cudaMemcpyAsync(out.data(), z.p, z.bytes, cudaMemcpyDeviceToHost, s), "a copy is captured");
    check(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported, "nobody waits for what is captured");
    // Functions that compute on the host cannot be captured, and return an error.
    cudnnReduceTensorDescriptor_t reduce;
    cudnnTensorDescriptor_t one;
    uint32_t index[1];
    float alpha = 1, beta = 0;
    check(!cudnnCreateReduceTensorDescriptor(&reduce) && !cudnnCreateTensorDescriptor(&one) && !cudnnSetTensor4dDescriptor(one, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1) &&
          !cudnnSetReduceTensorDescriptor(reduce, CUDNN_REDUCE_TENSOR_MAX, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN, CUDNN_REDUCE_TENSOR_FLATTENED_INDICES, CUDNN_32BIT_INDICES), "a reduction with indices");
    check(cudnnReduceTensor(step.handle, reduce, index, 4, nullptr, 0, &alpha, step.d, x.p, &beta, one, y.p) != CUDNN_STATUS_SUCCESS, "indices are not captured");
    check(!cudnnDestroyReduceTensorDescriptor(reduce) && !cudnnDestroyTensorDescriptor(one), "it ends");
    check(!cudaStreamEndCapture(s, &graph), "cudaStreamEndCapture");
    check(out == untouched, "nothing is done while it is captured");
    check(!cudaGraphInstantiate(&instance, graph, 0) && !cudaGraphDestroy(graph), "cudaGraphInstantiate");
    for (unsigned seed : {1u, 5u, 9u}) {
        Floats now = numbers(COUNT, seed);
        check(!cudaMemcpy(x.p, now.data(), x.bytes, cudaMemcpyHostToDevice) && !cudaGraphLaunch(instance, s) && !cudaStreamSynchronize(s), "cudaGraphLaunch");
        close_to("a graph", out, scaled(softmax(scaled(softmax(now), 1.5)), 1.5));
    }
    check(!cudaGraphExecDestroy(instance) && cudaGraphLaunch(instance, s) == cudaErrorInvalidValue, "the graph ends");
    cudaStreamDestroy(s), cudaStreamDestroy(t), cudaEventDestroy(fork), cudaEventDestroy(join);
}

// Captured work keeps the library's temporary memory (here the flipped filter), whatever is computed before the graph is launched.
void kept(cudnnHandle_t handle) {
    cudnnTensorDescriptor_t d;
    cudnnFilterDescriptor_t f;
    cudnnConvolutionDescriptor_t c;
    check(!cudnnCreateTensorDescriptor(&d) && !cudnnCreateFilterDescriptor(&f) && !cudnnCreateConvolutionDescriptor(&c), "descriptors");
    check(!cudnnSetTensor4dDescriptor(d, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 6, 5, 4) && !cudnnSetFilter4dDescriptor(f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 6, 6, 3, 3) &&
          !cudnnSetConvolution2dDescriptor(c, 1, 1, 1, 1, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT), "a true convolution");
    Device x(numbers(COUNT, 1)), y(COUNT * 4), w(numbers(324, 2)), other(numbers(324, 3));
    auto run = [&](const Device &filter) {
        float one = 1, zero = 0;
        check(!cudnnConvolutionForward(handle, &one, d, x.p, f, filter.p, c, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, &zero, d, y.p), "cudnnConvolutionForward");
    };
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    check(!cudaStreamCreate(&s) && !cudnnSetStream(handle, s), "a stream");
    run(w);
    check(!cudaStreamSynchronize(s), "wait");
    Floats wanted = y.floats();
    check(!cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), "capture");
    run(w);
    check(!cudaStreamEndCapture(s, &graph) && !cudaGraphInstantiate(&instance, graph, 0) && !cudaGraphDestroy(graph), "a graph");
    for (int i = 0; i < 3; i++) run(other);
    check(!cudaGraphLaunch(instance, s) && !cudaStreamSynchronize(s), "launch");
    close_to("a captured convolution", y.floats(), wanted);
    check(!cudaGraphExecDestroy(instance) && !cudnnSetStream(handle, nullptr) && !cudaStreamDestroy(s), "end");
    cudnnDestroyTensorDescriptor(d), cudnnDestroyFilterDescriptor(f), cudnnDestroyConvolutionDescriptor(c);
}

// A plan of cudnn-frontend with a scalar passed by value, captured, and added to a graph without capture.
void plans(cudnnHandle_t handle) {
    const Ints d = {1, 4, 16};
    auto g = float_graph();
    auto x = input(g, "x", d);
    auto by = g.tensor(fe::graph::Tensor_attributes().set_name("by").set_dim({1, 1, 1}).set_stride({1, 1, 1}).set_is_pass_by_value(true).set_data_type(fe::DataType_t::FLOAT));
    auto y = g.pointwise(x, by, fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::MUL).set_compute_data_type(fe::DataType_t::FLOAT));
    x->set_uid(1), by->set_uid(2), y->set_output(true).set_uid(3);
    if (!good(g.build(handle, {fe::HeurMode_t::A}), "a product by value")) return;
    Floats in = numbers(64, 3);
    Device dx(in), dy(256), space((size_t)g.get_workspace_size());
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    check(!cudaStreamCreate(&s) && !cudnnSetStream(handle, s), "a stream");
    {
        float value = 3;
        std::unordered_map<int64_t, void *> pack = {{1, dx.p}, {2, &value}, {3, dy.p}};
        check(!cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), "capture");
        good(g.execute(handle, pack, space.p), "execute while it is captured");
        check(!cudaStreamEndCapture(s, &graph), "end");
        value = -1;
        check(!cudaGraphInstantiate(&instance, graph, 0) && !cudaGraphLaunch(instance, s) && !cudaStreamSynchronize(s), "launch");
        close_to("a number by value that changed since", dy.floats(), scaled(in, 3));
        check(!cudaGraphExecDestroy(instance) && !cudaGraphDestroy(graph), "end of the graph");
        value = 5;
        good(g.execute(handle, pack, space.p), "execute on the stream");
        value = 0;
        check(!cudaStreamSynchronize(s), "wait");
        close_to("a number by value that changed while it was used", dy.floats(), scaled(in, 5));
        value = 4;
        check(!cudaGraphCreate(&graph, 0), "cudaGraphCreate");
        if (good(g.populate_cuda_graph(handle, pack, space.p, graph), "populate_cuda_graph")) {
            cudaMemset(dy.p, 0xff, dy.bytes);
            check(!cudaGraphInstantiate(&instance, graph, 0) && !cudaGraphLaunch(instance, s) && !cudaStreamSynchronize(s), "launch what was populated");
            close_to("a graph that was populated", dy.floats(), scaled(in, 4));
            check(!cudaGraphExecDestroy(instance), "it ends");
            value = 6;
            if (good(g.update_cuda_graph(handle, pack, space.p, graph), "update_cuda_graph")) {
                check(!cudaGraphInstantiate(&instance, graph, 0) && !cudaGraphLaunch(instance, s) && !cudaStreamSynchronize(s), "launch what was updated");
                close_to("a graph that was updated", dy.floats(), scaled(in, 6));
                check(!cudaGraphExecDestroy(instance), "it ends, too");
            }
        }
        check(!cudaGraphDestroy(graph), "end");
    }
    check(!cudnnSetStream(handle, nullptr) && !cudaStreamDestroy(s), "the stream ends");
}

}  // namespace

void streams(cudnnHandle_t handle) {
    {
        Step step(handle);
        in_order(step);
        captured(step);
    }
    cudnnSetStream(handle, nullptr);
    kept(handle);
    plans(handle);
}
}  // namespace streams_area
