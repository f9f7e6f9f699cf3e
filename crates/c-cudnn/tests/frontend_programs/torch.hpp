// What PyTorch does for a convolution (its v8 path) and for a quantised one: tensors with their own strides and alignment, heuristics INSTANT, then the fallback
// list, filters by notes, and either the first plan that runs or the fastest one measured; one to three dimensions, every type and direction.
#pragma once
#include "common.hpp"

#include <cuda_fp16.h>
#include <cudnn_frontend_find_plan.h>
#include <cudnn_frontend_get_plan.h>

#include <array>

namespace torch_area {
namespace {

// Values of a type, at an address that is as unaligned as that of a tensor's view may be.
struct Numbers {
    cudnnDataType_t type;
    size_t size, count, skip;
    std::vector<uint8_t> bytes;
    Numbers(cudnnDataType_t type, int64_t count, bool odd = false)
        : type(type), size(type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : type == CUDNN_DATA_INT8 ? 1 : 2), count((size_t)count), skip(odd ? size : 0), bytes(count * size + 64, 0xff) {}
    uint8_t *data() { return bytes.data() + (-(uintptr_t)bytes.data() & 31) + skip; }
    // The largest power of two that divides the address, at most 32.
    int64_t alignment() { return std::min<int64_t>(32, (int64_t)((uintptr_t)data() & -(uintptr_t)data())); }
    double get(size_t i) {
        uint8_t *p = data() + i * size;
        if (type == CUDNN_DATA_DOUBLE) return *(double *)p;
        if (type == CUDNN_DATA_FLOAT) return *(float *)p;
        if (type == CUDNN_DATA_INT8) return *(int8_t *)p;
        if (type == CUDNN_DATA_HALF) return __half2float(*(__half *)p);
        uint32_t bits = (uint32_t)*(uint16_t *)p << 16;
        float v;
        memcpy(&v, &bits, 4);
        return v;
    }
    void set(size_t i, double v) {
        uint8_t *p = data() + i * size;
        float f = (float)v;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        if (type == CUDNN_DATA_DOUBLE) *(double *)p = v;
        else if (type == CUDNN_DATA_FLOAT) *(float *)p = f;
        else if (type == CUDNN_DATA_INT8) *(int8_t *)p = (int8_t)v;
        else if (type == CUDNN_DATA_HALF) *(__half *)p = __float2half(f);
        else *(uint16_t *)p = (uint16_t)(bits >> 16);
    }
    Numbers &random(unsigned seed) {
        auto v = numbers((int64_t)count, seed);
        for (size_t i = 0; i < count; i++) set(i, type == CUDNN_DATA_INT8 ? std::floor(v[i] * 20) : std::floor(v[i] * 64) / 64);
        return *this;
    }
    double bound() const { return type == CUDNN_DATA_DOUBLE ? 1e-12 : type == CUDNN_DATA_FLOAT ? 1e-4 : type == CUDNN_DATA_HALF ? 4e-3 : 2e-2; }
    void judge(const std::string &what, const std::vector<double> &wanted) {
        for (size_t i = 0; i < wanted.size(); i++)
            if (!(std::fabs(get(i) - wanted[i]) <= bound() * (1 + std::fabs(wanted[i]))))
                return check(false, what + ": element " + std::to_string(i) + " is " + std::to_string(get(i)) + ", expected " + std::to_string(wanted[i]));
        checks++;
    }
};

// Strides of a memory format: NHWC or NCHW.
Ints strides(const Ints &d, bool last) {
    Ints s(d.size(), 1);
    int64_t step = last ? d[1] : 1;
    for (size_t i = d.size(); i-- > 2; step *= d[i]) s[i] = step;
    s[1] = last ? 1 : step, s[0] = last ? step : step * d[1];
    return s;
}

fe::Tensor described(const Ints &d, bool last, int64_t id, cudnnDataType_t type, int64_t alignment, bool is_virtual = false) {
    auto s = strides(d, last);
    return fe::TensorBuilder().setDim((int64_t)d.size(), d.data()).setStride((int64_t)d.size(), s.data()).setId(id).setAlignment(alignment).setDataType(type).setVirtual(is_virtual).build();
}

fe::OperationGraph graph_of(cudnnHandle_t handle, std::vector<fe::Operation const *> ops) {
    return fe::OperationGraphBuilder().setHandle(handle).setOperationGraph((int64_t)ops.size(), ops.data()).build();
}

// Candidates of configurations; notes filter those that are not deterministic, convert inputs down, or round to TF32.
fe::executionPlans_t plans_of(cudnnHandle_t handle, fe::OperationGraph &graph, cudnnBackendDescriptorType_t operation, bool deterministic, bool tf32) {
    auto filtered = [=](std::vector<fe::ManagedOpaqueDescriptor> &from) {
        fe::EngineConfigList to;
        fe::filter(from, to, [=](cudnnBackendDescriptor_t c) {
            if (deterministic && fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC>(c)) return true;
            return fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS>(c) || (!tf32 && fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_TENSOR_CORE>(c));
        });
        return to;
    };
    auto heuristic = [=](fe::OperationGraph &g) {
        auto heuristics = fe::EngineHeuristicsBuilder().setOperationGraph(g).setHeurMode(CUDNN_HEUR_MODE_INSTANT).build();
        return filtered(heuristics.getEngineConfig(heuristics.getEngineConfigCount()));
    };
    auto fallback = [=](fe::OperationGraph &g) {
        auto list = fe::EngineFallbackListBuilder().setOperationGraph(g).setOperation(operation).build();
        return filtered(list.getFallbackList());
    };
    std::array<fe::GeneratorSource const, 2> sources = {heuristic, fallback};
    return fe::EngineConfigGenerator((int)sources.size(), sources.data()).cudnnGetPlan(handle, graph);
}

struct Bound {
    int64_t id;
    void *data;
};

void execute(cudnnHandle_t handle, const fe::ExecutionPlan &plan, const std::vector<Bound> &bound, const std::string &what) {
    Device workspace((size_t)plan.getWorkspaceSize());
    std::vector<void *> data;
    std::vector<int64_t> ids;
    for (auto &b : bound) data.push_back(b.data), ids.push_back(b.id);
    auto pack = fe::VariantPackBuilder().setWorkspacePointer(plan.getWorkspaceSize() ? workspace.p : nullptr).setDataPointers((int64_t)data.size(), data.data()).setUids((int64_t)ids.size(), ids.data()).build();
    check(cudnnBackendExecute(handle, plan.get_raw_desc(), pack.get_raw_desc()) == CUDNN_STATUS_SUCCESS, what + ": execute");
}

// The first plan that runs, or, with `benchmark`, all of them by their times.
void run_plans(cudnnHandle_t handle, fe::executionPlans_t plans, bool benchmark, const std::vector<Bound> &bound, const std::string &what, const std::function<void(const std::string &)> &judge) {
    check(!plans.empty(), what + ": plans");
    if (benchmark) {
        int64_t most = 0;
        for (auto &plan : plans) most = std::max(most, plan.getWorkspaceSize());
        Device workspace((size_t)most);
        std::vector<void *> data;
        std::vector<int64_t> ids;
        for (auto &b : bound) data.push_back(b.data), ids.push_back(b.id);
        auto pack = fe::VariantPackBuilder().setDataPointers((int64_t)data.size(), data.data()).setUids((int64_t)ids.size(), ids.data()).setWorkspacePointer(most ? workspace.p : nullptr).build();
        plans = fe::time_sorted_plan<fe::CudnnFindSamplingTechnique::CUDNN_FIND_SAMPLE_ONCE>(handle, std::move(plans), pack, 10);
        check(!plans.empty(), what + ": measured plans");
    }
    for (auto &plan : plans) {
        execute(handle, plan, bound, what);
        judge(what + " by " + plan.getTag());
        // A cached plan, on the same memory.
        execute(handle, plan, bound, what);
        judge(what + " again");
        if (!benchmark) return;
    }
}

struct Case {
    Ints x, w, padding, stride, dilation;
    int64_t groups;
};

void convolution(cudnnHandle_t handle, const Case &c, cudnnDataType_t type, bool last, bool odd) {
    Ints yd = {c.x[0], c.w[0]};
    for (size_t d = 2; d < c.x.size(); d++) yd.push_back((c.x[d] + 2 * c.padding[d - 2] - c.dilation[d - 2] * (c.w[d] - 1) - 1) / c.stride[d - 2] + 1);
    Numbers x(type, product(c.x), odd), w(type, product(c.w)), y(type, product(yd), odd), dy(type, product(yd)), dx(type, x.count, odd), dw(type, w.count);
    x.random(1), w.random(2), dy.random(3);
    std::vector<double> ry(y.count, 0), rx(x.count, 0), rw(w.count, 0);
    Ints xs = strides(c.x, last), ws = strides(c.w, last), ys = strides(yd, last);
    size_t rank = c.x.size();
    for (int64_t i = 0; i < product(yd); i++)
        for (int64_t j = 0; j < product(c.w) / c.w[0]; j++) {
            Ints to(rank), tap(rank);
            int64_t rest = i, xi = 0, wi = 0, yi = 0;
            for (size_t d = rank; d-- > 0; rest /= yd[d]) to[d] = rest % yd[d], yi += to[d] * ys[d];
            rest = j;
            for (size_t d = rank; d-- > 1; rest /= c.w[d]) tap[d] = rest % c.w[d];
            tap[0] = to[1];
            bool inside = true;
            for (size_t d = 0; d < rank; d++) {
                int64_t at = d == 0 ? to[0] : d == 1 ? to[1] / (c.w[0] / c.groups) * c.w[1] + tap[1] : to[d] * c.stride[d - 2] - c.padding[d - 2] + tap[d] * c.dilation[d - 2];
                inside = inside && at >= 0 && at < c.x[d];
                xi += at * xs[d], wi += tap[d] * ws[d];
            }
            if (inside) ry[yi] += x.get(xi) * w.get(wi), rx[xi] += dy.get(yi) * w.get(wi), rw[wi] += x.get(xi) * dy.get(yi);
        }
    int64_t dims = (int64_t)rank - 2;
    auto desc = fe::ConvDescBuilder().setDataType(type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT).setMathMode(CUDNN_CROSS_CORRELATION).setNDims(dims)
                    .setStrides(dims, c.stride.data()).setPrePadding(dims, c.padding.data()).setPostPadding(dims, c.padding.data()).setDilation(dims, c.dilation.data()).build();
    auto tensor = [&](const Ints &d, int64_t id, Numbers &n) { return described(d, last, id, type, n.alignment()); };
    // With benchmarking for NHWC, then deterministic.
    std::string name = std::to_string(dims) + "-D, type " + std::to_string(type) + (last ? ", channels last" : "") + (odd ? ", unaligned" : "");
    const auto FORWARD = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, DATA = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
               FILTER = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
    auto forward = fe::OperationBuilder(FORWARD).setxDesc(tensor(c.x, 'x', x)).setyDesc(tensor(yd, 'y', y)).setwDesc(tensor(c.w, 'w', w)).setcDesc(desc).build();
    auto g = graph_of(handle, {&forward});
    run_plans(handle, plans_of(handle, g, FORWARD, last, false), last, {{'x', x.data()}, {'y', y.data()}, {'w', w.data()}}, "convolution " + name, [&](const std::string &what) { y.judge(what, ry); });
    // This is also what a transposed convolution computes.
    auto data = fe::OperationBuilder(DATA).setdxDesc(tensor(c.x, 'x', dx)).setdyDesc(tensor(yd, 'y', dy)).setwDesc(tensor(c.w, 'w', w)).setcDesc(desc).build();
    auto gd = graph_of(handle, {&data});
    run_plans(handle, plans_of(handle, gd, DATA, last, false), last, {{'x', dx.data()}, {'y', dy.data()}, {'w', w.data()}}, "transposed " + name, [&](const std::string &what) { dx.judge(what, rx); });
    auto filter = fe::OperationBuilder(FILTER).setxDesc(tensor(c.x, 'x', x)).setdyDesc(tensor(yd, 'y', dy)).setdwDesc(tensor(c.w, 'w', dw)).setcDesc(desc).build();
    auto gf = graph_of(handle, {&filter});
    run_plans(handle, plans_of(handle, gf, FILTER, last, true), last, {{'x', x.data()}, {'y', dy.data()}, {'w', dw.data()}}, "weights " + name, [&](const std::string &what) { dw.judge(what, rw); });
}

fe::Operation pointwise(cudnnPointwiseMode_t mode, const fe::Tensor &x, const fe::Tensor *b, const fe::Tensor &y) {
    auto desc = fe::PointWiseDescBuilder().setMode(mode).setMathPrecision(CUDNN_DATA_FLOAT).build();
    auto builder = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    builder.setxDesc(x).setyDesc(y).setpwDesc(desc);
    if (b) builder.setbDesc(*b);
    return builder.build();
}

// quantized::conv2d_relu: 8-bit inputs, 32-bit accumulation, bias times a multiplier, ReLU, output multiplier; multipliers are full-size tensors.
void quantised(cudnnHandle_t handle) {
    const Ints xd = {2, 16, 5, 4}, wd = {8, 16, 3, 3}, yd = {2, 8, 5, 4}, bd = {1, 8, 1, 1};
    Numbers x(CUDNN_DATA_INT8, product(xd)), w(CUDNN_DATA_INT8, product(wd)), y(CUDNN_DATA_INT8, product(yd));
    x.random(1), w.random(2);
    Floats bias = numbers(8, 3), scale(product(yd), 64), again(product(yd), 1.0f / 128);
    for (auto &v : bias) v = std::floor(v * 16);
    Ints xs = strides(xd, true), ws = strides(wd, true), ys = strides(yd, true), one = {1, 1};
    std::vector<double> wanted(product(yd), 0);
    for (int64_t n = 0; n < 2; n++)
        for (int64_t k = 0; k < 8; k++)
            for (int64_t h = 0; h < 5; h++)
                for (int64_t v = 0; v < 4; v++) {
                    double sum = bias[k] * 64.0;
                    for (int64_t c = 0; c < 16; c++)
                        for (int64_t r = 0; r < 9; r++) {
                            int64_t i = h - 1 + r / 3, j = v - 1 + r % 3;
                            if (i >= 0 && i < 5 && j >= 0 && j < 4) sum += x.get(n * xs[0] + c + i * xs[2] + j * xs[3]) * w.get(k * ws[0] + c + r / 3 * ws[2] + r % 3 * ws[3]);
                        }
                    wanted[n * ys[0] + k + h * ys[2] + v * ys[3]] = std::min(127.0, std::nearbyint(std::max(0.0, sum) / 128));
                }
    auto desc = fe::ConvDescBuilder().setDataType(CUDNN_DATA_INT32).setMathMode(CUDNN_CROSS_CORRELATION).setNDims(2).setStrides(2, one.data()).setPrePadding(2, one.data())
                    .setPostPadding(2, one.data()).setDilation(2, one.data()).build();
    auto tensor = [&](const Ints &d, int64_t id, cudnnDataType_t type, bool inner = false) { return described(d, true, id, type, 16, inner); };
    auto sums = tensor(yd, 'A', CUDNN_DATA_INT32, true), scaled = tensor(yd, 'B', CUDNN_DATA_FLOAT, true), biased = tensor(yd, 'C', CUDNN_DATA_FLOAT, true), kept = tensor(yd, 'D', CUDNN_DATA_FLOAT, true);
    auto multiplier = tensor(yd, 's', CUDNN_DATA_FLOAT), requantiser = tensor(yd, 'q', CUDNN_DATA_FLOAT);
    auto conv = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR).setxDesc(tensor(xd, 'x', CUDNN_DATA_INT8)).setwDesc(tensor(wd, 'w', CUDNN_DATA_INT8)).setyDesc(sums).setcDesc(desc).build();
    auto times = pointwise(CUDNN_POINTWISE_MUL, tensor(bd, 'b', CUDNN_DATA_FLOAT), &multiplier, scaled), plus = pointwise(CUDNN_POINTWISE_ADD, sums, &scaled, biased),
         relu = pointwise(CUDNN_POINTWISE_RELU_FWD, biased, nullptr, kept), last = pointwise(CUDNN_POINTWISE_MUL, kept, &requantiser, tensor(yd, 'r', CUDNN_DATA_INT8));
    auto g = graph_of(handle, {&conv, &times, &plus, &relu, &last});
    run_plans(handle, plans_of(handle, g, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, true, false), true,
              {{'x', x.data()}, {'w', w.data()}, {'b', bias.data()}, {'s', scale.data()}, {'q', again.data()}, {'r', y.data()}}, "quantised convolution", [&](const std::string &what) { y.judge(what, wanted); });
}

// quantized::linear: the same with a matrix product.
void quantised_linear(cudnnHandle_t handle) {
    const Ints ad = {1, 6, 32}, bd = {1, 32, 8}, cd = {1, 6, 8};
    Numbers a(CUDNN_DATA_INT8, 192), b(CUDNN_DATA_INT8, 256), y(CUDNN_DATA_INT8, 48);
    a.random(1), b.random(2);
    Floats scale(48, 1.0f / 64);
    std::vector<double> wanted(48, 0);
    for (int i = 0; i < 48; i++) {
        for (int k = 0; k < 32; k++) wanted[i] += a.get(i / 8 * 32 + k) * b.get(i % 8 * 32 + k);
        wanted[i] = std::max(-128.0, std::min(127.0, std::nearbyint(wanted[i] / 64)));
    }
    auto tensor = [&](const Ints &d, const Ints &s, int64_t id, cudnnDataType_t type, bool inner = false) {
        return fe::TensorBuilder().setDim(3, d.data()).setStride(3, s.data()).setId(id).setAlignment(16).setDataType(type).setVirtual(inner).build();
    };
    auto sums = tensor(cd, packed(cd), 'A', CUDNN_DATA_INT32, true), multiplier = tensor(cd, packed(cd), 's', CUDNN_DATA_FLOAT);
    auto desc = fe::MatMulDescBuilder().setComputeType(CUDNN_DATA_INT32).build();
    auto product_of = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR).setaMatDesc(tensor(ad, packed(ad), 'x', CUDNN_DATA_INT8)).setbMatDesc(tensor(bd, {256, 1, 32}, 'w', CUDNN_DATA_INT8))
                          .setcMatDesc(sums).setmatmulDesc(desc).build();
    auto last = pointwise(CUDNN_POINTWISE_MUL, sums, &multiplier, tensor(cd, packed(cd), 'r', CUDNN_DATA_INT8));
    auto g = graph_of(handle, {&product_of, &last});
    run_plans(handle, plans_of(handle, g, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, true, false), true, {{'x', a.data()}, {'w', b.data()}, {'s', scale.data()}, {'r', y.data()}}, "quantised linear",
              [&](const std::string &what) { y.judge(what, wanted); });
}

}  // namespace

void torch(cudnnHandle_t handle) {
    const Case cases[] = {
        {{2, 4, 1, 9}, {6, 4, 1, 3}, {0, 1}, {1, 2}, {1, 1}, 1},  // one-dimensional: a height of 1
        {{2, 4, 7, 6}, {6, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
        {{1, 3, 9, 8}, {4, 3, 3, 2}, {2, 0}, {2, 1}, {2, 1}, 1},
        {{2, 4, 5, 5}, {4, 1, 3, 3}, {1, 1}, {2, 2}, {1, 1}, 4},
        {{1, 2, 4, 5, 6}, {4, 2, 2, 3, 3}, {0, 1, 1}, {1, 1, 2}, {1, 1, 1}, 1},
    };
    try {
        for (auto &c : cases)
            for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16})
                for (bool last : {false, true}) convolution(handle, c, type, last, type == CUDNN_DATA_FLOAT);
        quantised(handle);
        quantised_linear(handle);
    } catch (fe::cudnnException &e) {
        check(false, std::string("an exception: ") + e.what());
    }
}
}  // namespace torch_area
