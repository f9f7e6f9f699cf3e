// Measured choices: prints the lists of algorithms and heuristics, and how many measurements they took; the test compares processes.
#include "raw.hpp"

namespace {
int measured, taken, warned;

void listen(cudnnSeverity_t severity, void *, const cudnnDebug_t *, const char *message) {
    const std::string text = message;
    measured += severity == CUDNN_SEV_INFO && text.rfind("measured: ", 0) == 0;
    taken += severity == CUDNN_SEV_INFO && text.rfind("times of the kernel store: ", 0) == 0;
    warned += severity == CUDNN_SEV_WARNING && text.rfind("measured times that are not taken: ", 0) == 0;
}

// A 3x3 convolution by the classic interface.
struct Classic {
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    Floats source = numbers(32 * 28 * 28, 1), filter = numbers(32 * 32 * 9, 2), result = Floats(32 * 28 * 28);
    Classic() {
        cudnnCreateTensorDescriptor(&x), cudnnCreateTensorDescriptor(&y), cudnnCreateFilterDescriptor(&w), cudnnCreateConvolutionDescriptor(&conv);
        is(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 32, 28, 28), CUDNN_STATUS_SUCCESS, "x");
        is(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 32, 28, 28), CUDNN_STATUS_SUCCESS, "y");
        is(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 32, 32, 3, 3), CUDNN_STATUS_SUCCESS, "w");
        is(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT), CUDNN_STATUS_SUCCESS, "conv");
    }
    Classic(const Classic &) = delete;
    ~Classic() {
        cudnnDestroyTensorDescriptor(x), cudnnDestroyTensorDescriptor(y), cudnnDestroyFilterDescriptor(w), cudnnDestroyConvolutionDescriptor(conv);
    }
};

template <class Perf> void print(const char *what, const Perf *perf, int count, bool with_times) {
    printf("%s:", what);
    for (int i = 0; i < count; i++) {
        bool ok = perf[i].status == CUDNN_STATUS_SUCCESS;
        check(ok ? (perf[i].time > 0) == with_times : perf[i].time < 0, "a time where it was measured");
        if (with_times && ok && i > 0) check(perf[i - 1].time <= perf[i].time, "the fastest first");
        if (ok) printf(" %d", int(perf[i].algo));
    }
    printf("\n");
}

// The configurations of a mode, in order: engine and knob.
void print(const char *what, const D &g, int mode, bool computes, const Bound &bound, cudnnHandle_t handle) {
    D heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.with(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g).kind(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode).done();
    std::vector<D> configs;
    std::vector<cudnnBackendDescriptor_t> list;
    for (int i = 0; i < 16; i++) configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), list.push_back(configs.back().d);
    int64_t count = 0;
    is(cudnnBackendGetAttribute(heuristics.d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 16, &count, list.data()), CUDNN_STATUS_SUCCESS, "results");
    printf("%s:", what);
    for (int i = 0; i < count; i++) {
        D engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR), choice(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        int64_t got = 0;
        is(cudnnBackendGetAttribute(list[i], CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &engine.d), CUDNN_STATUS_SUCCESS, "engine");
        is(cudnnBackendGetAttribute(list[i], CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &got, &choice.d), CUDNN_STATUS_SUCCESS, "knob");
        printf(" %d.%d", int(engine.int64(CUDNN_ATTR_ENGINE_GLOBAL_INDEX)), got ? int(choice.int64(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)) : 0);
        if (!computes) continue;
        D plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        plan.with(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[i]).done();
        is(execute(handle, plan, bound), CUDNN_STATUS_SUCCESS, "a plan of the list");
    }
    printf("\n");
}

// A product with a bias passed by value and ReLU; with `lengths`, a graph that reads integers.
struct Graph {
    D a = tensor(1, {1, 64, 96}), b = tensor(2, {1, 96, 128}), c = between(3, {1, 64, 128}), s = tensor(4, {1, 1, 1}, {CUDNN_DATA_FLOAT, false, {}, true, 0, 1});
    D d = tensor(5, {1, 64, 128}), m{CUDNN_BACKEND_MATMUL_DESCRIPTOR}, p{CUDNN_BACKEND_POINTWISE_DESCRIPTOR}, product{CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR},
      sum{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
    Graph() {
        m.kind(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
        p.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_ADD).kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
        product.with(CUDNN_ATTR_OPERATION_MATMUL_DESC, m).with(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a).with(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
        product.with(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c).done();
        sum.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, c).with(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, s);
        sum.with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, d).done();
    }
};
} // namespace

void measured_choices(cudnnHandle_t handle) {
    is(cudnnSetCallback(1 << CUDNN_SEV_INFO | 1 << CUDNN_SEV_WARNING, nullptr, listen), CUDNN_STATUS_SUCCESS, "listen");
    Classic c;
    cudnnConvolutionFwdAlgoPerf_t forward[8];
    cudnnConvolutionBwdDataAlgoPerf_t data[6];
    cudnnConvolutionBwdFilterAlgoPerf_t weights[7];
    int count = 0;
    std::vector<char> room(1 << 22);
    auto predicted = [&](const char *what) {
        is(cudnnGetConvolutionForwardAlgorithm_v7(handle, c.x, c.w, c.conv, c.y, 8, &count, forward), CUDNN_STATUS_SUCCESS, what);
        print(what, forward, count, false);
    };
    predicted("Get before Find");
    is(cudnnFindConvolutionForwardAlgorithmEx(handle, c.x, c.source.data(), c.w, c.filter.data(), c.conv, c.y, c.result.data(), 8, &count, forward, room.data(), room.size()),
       CUDNN_STATUS_SUCCESS, "FindEx");
    print("FindEx", forward, count, true);
    is(cudnnFindConvolutionForwardAlgorithm(handle, c.x, c.w, c.conv, c.y, 8, &count, forward), CUDNN_STATUS_SUCCESS, "Find");
    print("Find", forward, count, true);
    predicted("Get");
    // Without a workspace, algorithms that need one do not fit, even if their times are known.
    is(cudnnFindConvolutionForwardAlgorithmEx(handle, c.x, c.source.data(), c.w, c.filter.data(), c.conv, c.y, c.result.data(), 8, &count, forward, nullptr, 0),
       CUDNN_STATUS_SUCCESS, "FindEx without room");
    for (int i = 0; i < count; i++) check(forward[i].status == CUDNN_STATUS_SUCCESS ? forward[i].memory == 0 : forward[i].time < 0, "what needs no room");
    is(cudnnFindConvolutionBackwardDataAlgorithm(handle, c.w, c.y, c.conv, c.x, 6, &count, data), CUDNN_STATUS_SUCCESS, "Find by data");
    print("Find by data", data, count, true);
    is(cudnnFindConvolutionBackwardFilterAlgorithm(handle, c.x, c.y, c.conv, c.w, 7, &count, weights), CUDNN_STATUS_SUCCESS, "Find by weights");
    print("Find by weights", weights, count, true);
    // A flipped filter is another problem.
    is(cudnnSetConvolution2dDescriptor(c.conv, 1, 1, 1, 1, 1, 1, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT), CUDNN_STATUS_SUCCESS, "conv");
    is(cudnnFindConvolutionForwardAlgorithm(handle, c.x, c.w, c.conv, c.y, 8, &count, forward), CUDNN_STATUS_SUCCESS, "Find, turned");
    print("Find, turned", forward, count, true);
    Graph of;
    D g = graph(handle, {&of.product, &of.sum});
    Floats A = numbers(64 * 96, 1), B = numbers(96 * 128, 2), out(64 * 128);
    float bias = 0.5f;
    const Bound bound = {{1, A.data()}, {2, B.data()}, {4, &bias}, {5, out.data()}};
    print("A before B", g, CUDNN_HEUR_MODE_A, false, bound, handle);
    print("B", g, CUDNN_HEUR_MODE_B, true, bound, handle);
    print("A", g, CUDNN_HEUR_MODE_A, false, bound, handle);
    print("instant", g, CUDNN_HEUR_MODE_INSTANT, false, bound, handle);
    print("fallback", g, CUDNN_HEUR_MODE_FALLBACK, false, bound, handle);
    // A graph that depends on integers of the program is not measured on zeros.
    D which = tensor(12, {1, 4, 16}, {CUDNN_DATA_INT32, false, {}, false, 0, 1}), rows = tensor(13, {1, 4, 16});
    D p(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), sum(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    p.kind(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY).kind(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT).done();
    sum.with(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p).with(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, which).with(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, rows).done();
    D whole = graph(handle, {&sum});
    const int before = measured;
    print("B of whole numbers", whole, CUDNN_HEUR_MODE_B, false, bound, handle);
    check(measured == before, "a graph that reads whole numbers is not measured");
    is(cudnnSetCallback(0, nullptr, nullptr), CUDNN_STATUS_SUCCESS, "listen no more");
    printf("measured %d, taken %d, warned %d\n", measured, taken, warned);
}
