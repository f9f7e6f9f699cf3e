// The overhead of calls, and convolutions compared with oneDNN's interface. Run by hand, since no times are asserted: `program speed` does both and
// prints the results, with OXIDNN_DNNL=PATH of a libdnnl.so.3, pinned to one core (`taskset -c 1`).
#include "check.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>

namespace {
// Microseconds of a clock; this thread's CPU time does not count other work on the machine.
double now(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
    timespec t;
    clock_gettime(clock, &t);
    return double(t.tv_sec) * 1e6 + double(t.tv_nsec) * 1e-3;
}

// The best of several rounds, in microseconds per call.
template <class F> double best(F f, int rounds = 20, int calls = 500) {
    double least = INFINITY;
    for (int round = 0; round < rounds; round++) {
        double begin = now();
        for (int i = 0; i < calls; i++) f();
        least = std::min(least, (now() - begin) / calls);
    }
    return least;
}

enum Pass { FORWARD, DATA, FILTER };

// A convolution of one group, square, with channels last.
struct Shape {
    int n, ic, oc, size, kernel, stride, pad;
    int out() const { return (size + 2 * pad - kernel) / stride + 1; }
};

// The C functions of a oneDNN library that a convolution needs.
struct Dnnl {
    typedef void *Handle;
    struct Arg {
        int arg;
        Handle memory;
    };
    void *library;
    Handle engine = nullptr, stream = nullptr;
    template <class... A> int call(const char *name, A... args) const {
        auto f = reinterpret_cast<int (*)(A...)>(dlsym(library, name));
        CHECK(f != nullptr);
        return f ? f(args...) : -1;
    }
    explicit Dnnl(const char *path) : library(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (!library) return;
        CHECK(call("dnnl_engine_create", &engine, 1, size_t(0)) == 0 && call("dnnl_stream_create", &stream, engine, 1u) == 0);
    }
    // A description with channels last.
    Handle described(std::array<int64_t, 4> d) const {
        Handle md = nullptr;
        int64_t dims[12] = {d[0], d[1], d[2], d[3]}, strides[12] = {d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]};
        CHECK(call("dnnl_memory_desc_create_with_strides", &md, 4, static_cast<const int64_t *>(dims), 3, static_cast<const int64_t *>(strides)) == 0);
        return md;
    }
    // A primitive with its arguments, to be executed.
    struct Ready {
        Handle primitive = nullptr;
        std::vector<Arg> args;
    };
    Ready convolution(Pass pass, const Shape &s, void *x, void *w, void *y) const {
        int o = s.out();
        Handle src = described({s.n, s.ic, s.size, s.size}), weights = described({s.oc, s.ic, s.kernel, s.kernel}), dst = described({s.n, s.oc, o, o}), pd = nullptr, hint = nullptr, none = nullptr;
        const int64_t strides[] = {s.stride, s.stride}, dilations[] = {0, 0}, padding[] = {s.pad, s.pad};
        const int64_t *st = strides, *di = dilations, *pa = padding;
        CHECK(call("dnnl_convolution_forward_primitive_desc_create", &hint, engine, pass == FORWARD ? 96 : 64, 1, src, weights, none, dst, st, di, pa, pa, none) == 0);
        if (pass == FORWARD) pd = hint;
        if (pass == DATA) CHECK(call("dnnl_convolution_backward_data_primitive_desc_create", &pd, engine, 1, src, weights, dst, st, di, pa, pa, hint, none) == 0);
        if (pass == FILTER) CHECK(call("dnnl_convolution_backward_weights_primitive_desc_create", &pd, engine, 1, src, weights, none, dst, st, di, pa, pa, hint, none) == 0);
        Ready ready;
        CHECK(call("dnnl_primitive_create", &ready.primitive, pd) == 0);
        auto memory = [&](int arg, Handle md, void *data) {
            Handle made = nullptr;
            CHECK(call("dnnl_memory_create", &made, md, engine, data) == 0);
            ready.args.push_back({arg, made});
        };
        memory(pass == DATA ? 129 : 1, src, x), memory(pass == FILTER ? 161 : 33, weights, w), memory(pass == FORWARD ? 17 : 145, dst, y);
        return ready;
    }
    auto runner(const Ready &ready) const {
        auto execute = reinterpret_cast<int (*)(Handle, Handle, int, const Arg *)>(dlsym(library, "dnnl_primitive_execute"));
        auto wait = reinterpret_cast<int (*)(Handle)>(dlsym(library, "dnnl_stream_wait"));
        return [=, this_stream = stream] { execute(ready.primitive, this_stream, int(ready.args.size()), ready.args.data()), wait(this_stream); };
    }
};

// The same by cuDNN's classic functions.
struct Classic {
    Shape s;
    Tensor x, y;
    Buffer w;
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t conv = nullptr;
    Workspace space{0};
    float one = 1, zero = 0;
    size_t bytes = 0;
    explicit Classic(const Shape &s)
        : s(s), x(CUDNN_DATA_FLOAT, {s.n, s.ic, s.size, s.size}, CUDNN_TENSOR_NHWC), y(CUDNN_DATA_FLOAT, {s.n, s.oc, s.out(), s.out()}, CUDNN_TENSOR_NHWC),
          w(CUDNN_DATA_FLOAT, size_t(s.oc) * s.ic * s.kernel * s.kernel) {
        OK(cudnnCreateFilterDescriptor(&filter));
        OK(cudnnCreateConvolutionDescriptor(&conv));
        OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, s.oc, s.ic, s.kernel, s.kernel));
        OK(cudnnSetConvolution2dDescriptor(conv, s.pad, s.pad, s.stride, s.stride, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
        OK(cudnnSetConvolutionMathType(conv, CUDNN_FMA_MATH));
        x.buffer.random(1), w.random(2), y.buffer.random(3);
    }
    ~Classic() {
        OK(cudnnDestroyConvolutionDescriptor(conv));
        OK(cudnnDestroyFilterDescriptor(filter));
    }
    void query(Pass pass) {
        if (pass == FORWARD) OK(cudnnGetConvolutionForwardWorkspaceSize(handle(), x.desc, filter, conv, y.desc, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, &bytes));
        if (pass == DATA) OK(cudnnGetConvolutionBackwardDataWorkspaceSize(handle(), filter, y.desc, conv, x.desc, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, &bytes));
        if (pass == FILTER) OK(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle(), x.desc, y.desc, conv, filter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, &bytes));
        space = Workspace(bytes);
    }
    cudnnStatus_t run(Pass pass) {
        if (pass == FORWARD)
            return cudnnConvolutionForward(handle(), &one, x.desc, x.data(), filter, w.data(), conv, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, space.data(), bytes, &zero, y.desc, y.data());
        if (pass == DATA)
            return cudnnConvolutionBackwardData(handle(), &one, filter, w.data(), y.desc, y.data(), conv, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, space.data(), bytes, &zero, x.desc, x.data());
        return cudnnConvolutionBackwardFilter(handle(), &one, x.desc, x.data(), y.desc, y.data(), conv, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, space.data(), bytes, &zero, filter, w.data());
    }
};

// A descriptor of the backend interface.
struct Described {
    cudnnBackendDescriptor_t d = nullptr;
    explicit Described(cudnnBackendDescriptorType_t type) { OK(cudnnBackendCreateDescriptor(type, &d)); }
    Described(const Described &) = delete;
    ~Described() { OK(cudnnBackendDestroyDescriptor(d)); }
    Described &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void *values) {
        OK(cudnnBackendSetAttribute(d, name, type, count, values));
        return *this;
    }
    Described &of(cudnnBackendAttributeName_t name, const Described &other) { return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.d); }
    void done() { OK(cudnnBackendFinalize(d)); }
};

void tensor(Described &t, int64_t id, std::array<int64_t, 4> dims) {
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t strides[] = {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]}, alignment = 16;
    t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type).set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims.data());
    t.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides).set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
    t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment).done();
}

// Times of a plan's execution, and of a variant pack with it.
std::array<double, 2> plan_costs(Classic &c) {
    const Shape &s = c.s;
    Described x(CUDNN_BACKEND_TENSOR_DESCRIPTOR), w(CUDNN_BACKEND_TENSOR_DESCRIPTOR), y(CUDNN_BACKEND_TENSOR_DESCRIPTOR), conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    tensor(x, 1, {s.n, s.ic, s.size, s.size}), tensor(w, 2, {s.oc, s.ic, s.kernel, s.kernel}), tensor(y, 3, {s.n, s.oc, s.out(), s.out()});
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    int64_t two = 2, ones[] = {1, 1}, strides[] = {s.stride, s.stride}, padding[] = {s.pad, s.pad}, zero = 0;
    conv.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type).set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    conv.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &two).set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
    conv.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, strides).set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, padding);
    conv.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, padding).done();
    Described op(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR), graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
        config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    op.of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv).of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    op.of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w).of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y).done();
    cudnnHandle_t h = handle();
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &h).of(CUDNN_ATTR_OPERATIONGRAPH_OPS, op).done();
    engine.of(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph).set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &zero).done();
    config.of(CUDNN_ATTR_ENGINECFG_ENGINE, engine).done();
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &h).of(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config).done();
    int64_t size = 0, ids[] = {1, 2, 3};
    OK(cudnnBackendGetAttribute(plan.d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, nullptr, &size));
    Workspace space{size_t(size)};
    void *pointers[] = {c.x.data(), c.w.data(), c.y.data()}, *work = space.data();
    auto fill = [&](Described &pack) {
        pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work).set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
        pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids).done();
    };
    Described pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    fill(pack);
    double execution = best([&] { return cudnnBackendExecute(h, plan.d, pack.d); });
    double both = best([&] {
        Described each(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        fill(each);
        return cudnnBackendExecute(h, plan.d, each.d);
    });
    return {execution, both};
}

// Targets: overhead of at most 2 us per call, layers as fast as through oneDNN's interface, loading and a first result in 10 ms.
struct Verdicts {
    double over = -INFINITY, ratio = INFINITY, start = 0;
} verdicts;

void cost() {
    double begin = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    OK(cudnnSetStream(handle(), nullptr));
    const Shape shape = {1, 16, 16, 4, 1, 1, 0};
    Classic c(shape);
    c.query(FORWARD);
    OK(c.run(FORWARD));
    const double first = now(CLOCK_MONOTONIC) - wall;
    std::printf("loading %.0f us, handle and first convolution %.0f us\n", begin, first);
    verdicts.start = begin + first;
    double bare = NAN;
    if (const char *path = std::getenv("OXIDNN_DNNL")) {
        Dnnl dnnl(path);
        if (dnnl.library) bare = best(dnnl.runner(dnnl.convolution(FORWARD, shape, c.x.data(), c.w.data(), c.y.data())));
    }
    auto line = [&](const char *what, double us) {
        std::printf("%-40s %6.2f us, %+.2f over the primitive\n", what, us, us - bare);
        if (!std::isnan(bare)) verdicts.over = std::max(verdicts.over, us - bare);
    };
    line("primitive of OXIDNN_DNNL", bare);
    line("convolution", best([&] { return c.run(FORWARD); }));
    Tensor bias(CUDNN_DATA_FLOAT, {1, 16, 1, 1});
    bias.buffer.random(3);
    cudnnActivationDescriptor_t relu = nullptr;
    cudnnPoolingDescriptor_t pool = nullptr;
    OK(cudnnCreateActivationDescriptor(&relu));
    OK(cudnnCreatePoolingDescriptor(&pool));
    OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    OK(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 1, 1, 0, 0, 1, 1));
    const auto algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    cudnnHandle_t h = handle();
    auto &x = c.x, &y = c.y;
    line("convolution, bias, activation", best([&] {
             return cudnnConvolutionBiasActivationForward(h, &c.one, x.desc, x.data(), c.filter, c.w.data(), c.conv, algo, c.space.data(), c.bytes, &c.zero, y.desc, y.data(), bias.desc,
                                                          bias.data(), relu, y.desc, y.data());
         }));
    auto [execution, both] = plan_costs(c);
    line("execution of a plan", execution);
    line("a variant pack and its execution", both);
    std::printf("activation %.2f us\n", best([&] { return cudnnActivationForward(h, relu, &c.one, x.desc, x.data(), &c.zero, y.desc, y.data()); }));
    std::printf("pooling %.2f us\n", best([&] { return cudnnPoolingForward(h, pool, &c.one, x.desc, x.data(), &c.zero, y.desc, y.data()); }));
    std::printf("sum %.2f us\n", best([&] { return cudnnAddTensor(h, &c.one, bias.desc, bias.data(), &c.one, y.desc, y.data()); }));
    std::printf("query of a workspace %.2f us\n", best([&] { return cudnnGetConvolutionForwardWorkspaceSize(h, x.desc, c.filter, c.conv, y.desc, algo, &c.bytes); }));
    OK(cudnnDestroyPoolingDescriptor(pool));
    OK(cudnnDestroyActivationDescriptor(relu));
}
Area a("cost", cost, true);

// The layers of ResNet-50 through both interfaces, in turns: ratio of CPU times, oneDNN's interface to cuDNN's.
void resnet() {
    const char *path = std::getenv("OXIDNN_DNNL");
    Dnnl dnnl(path ? path : "libdnnl.so.3");
    if (!dnnl.library) return (void)std::printf("no libdnnl.so.3: name one in OXIDNN_DNNL\n");
    const char *given = std::getenv("OXIDNN_BATCH");
    const int n = given ? std::atoi(given) : 1;
    const Shape layers[] = {{n, 3, 64, 224, 7, 2, 3},    {n, 64, 64, 56, 1, 1, 0},    {n, 64, 64, 56, 3, 1, 1},    {n, 64, 256, 56, 1, 1, 0},   {n, 256, 64, 56, 1, 1, 0},   {n, 256, 128, 56, 1, 1, 0},
                            {n, 128, 128, 56, 3, 2, 1},  {n, 128, 512, 28, 1, 1, 0},  {n, 256, 512, 56, 1, 2, 0},  {n, 512, 128, 28, 1, 1, 0},  {n, 128, 128, 28, 3, 1, 1},  {n, 512, 256, 28, 1, 1, 0},
                            {n, 256, 256, 28, 3, 2, 1},  {n, 256, 1024, 14, 1, 1, 0}, {n, 512, 1024, 28, 1, 2, 0}, {n, 1024, 256, 14, 1, 1, 0}, {n, 256, 256, 14, 3, 1, 1},  {n, 1024, 512, 14, 1, 1, 0},
                            {n, 512, 512, 14, 3, 2, 1},  {n, 512, 2048, 7, 1, 1, 0},  {n, 1024, 2048, 14, 1, 2, 0}, {n, 2048, 512, 7, 1, 1, 0}, {n, 512, 512, 7, 3, 1, 1}};
    for (Pass pass : {FORWARD, DATA, FILTER}) {
        double logs = 0;
        for (const Shape &s : layers) {
            Classic c(s);
            c.query(pass);
            auto theirs = dnnl.runner(dnnl.convolution(pass, s, c.x.data(), c.w.data(), c.y.data()));
            auto ours = [&] { OK(c.run(pass)); };
            double least[] = {INFINITY, INFINITY};
            ours(), theirs(), ours(), theirs();
            for (int round = 0; round < 10; round++) {
                for (int which = 0; which < 2; which++) {
                    double begin = now(CLOCK_PROCESS_CPUTIME_ID);
                    which ? ours() : theirs();
                    least[which] = std::min(least[which], now(CLOCK_PROCESS_CPUTIME_ID) - begin);
                }
            }
            logs += std::log(least[0] / least[1]);
            std::printf("%d: ic%d oc%d size%d kernel%d stride%d: %.0f us, by oneDNN's interface %.0f us: %.3f\n", pass, s.ic, s.oc, s.size, s.kernel, s.stride, least[1], least[0], least[0] / least[1]);
        }
        std::printf("geometric mean of %s: %.3f\n", pass == FORWARD ? "forward" : pass == DATA ? "gradients by data" : "gradients by weights", std::exp(logs / double(std::size(layers))));
        verdicts.ratio = std::min(verdicts.ratio, std::exp(logs / double(std::size(layers))));
    }
}
Area b("resnet", resnet, true);

void speed() {
    cost();
    resnet();
    auto verdict = [](const char *what, double got, const char *bound, bool holds) {
        std::printf("verdict: %s: %.3f, promised %s: %s\n", what, got, bound, holds ? "holds" : "DOES NOT HOLD");
    };
    verdict("microseconds of the costliest call over the primitive", verdicts.over, "at most 2", verdicts.over <= 2);
    verdict("layers of ResNet-50 beside libdnnl.so.3, least mean", verdicts.ratio, "at least 0.98", verdicts.ratio >= 0.98);
    verdict("milliseconds of loading and a first convolution", verdicts.start * 1e-3, "less than 10", verdicts.start < 1e4);
}
Area d("speed", speed, true);
} // namespace
