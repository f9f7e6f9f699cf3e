// The older builders, in the order in which PyTorch calls them: descriptors, a graph, heuristics INSTANT then FALLBACK with filters by notes, plans, a
// variant pack; and the fused convolution, add, bias, ReLU.
#pragma once
#include "common.hpp"

#include <array>

namespace builders_area {

namespace {

const int64_t XD[] = {2, 4, 6, 5}, WD[] = {8, 4, 3, 3}, YD[] = {2, 8, 6, 5}, BD[] = {1, 8, 1, 1};

fe::Tensor described(const int64_t *dims, int64_t id, bool is_virtual = false) {
    int64_t s[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    return fe::TensorBuilder().setDim(4, dims).setStride(4, s).setId(id).setAlignment(16).setDataType(CUDNN_DATA_FLOAT).setVirtual(is_virtual).build();
}

fe::ConvDesc convolution() {
    const int64_t one[] = {1, 1};
    return fe::ConvDescBuilder().setDataType(CUDNN_DATA_FLOAT).setMathMode(CUDNN_CROSS_CORRELATION).setNDims(2).setStrides(2, one).setPrePadding(2, one)
        .setPostPadding(2, one).setDilation(2, one).build();
}

fe::OperationGraph graph_of(cudnnHandle_t handle, std::vector<const fe::Operation *> ops) {
    return fe::OperationGraphBuilder().setHandle(handle).setOperationGraph((int64_t)ops.size(), const_cast<fe::Operation const **>(ops.data())).build();
}

// What PyTorch drops: what is not deterministic, what converts its inputs down, and tensor cores without TF32.
bool dropped(cudnnBackendDescriptor_t config) {
    return fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC>(config) || fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS>(config) ||
           fe::hasNumericalNote<CUDNN_NUMERICAL_NOTE_TENSOR_CORE>(config);
}

void execute_all(cudnnHandle_t handle, const std::string &what, fe::OperationGraph &graph, const std::vector<std::pair<int64_t, void *>> &bound,
                 const std::function<void(const std::string &)> &judge) {
    fe::EngineConfigList configs;
    fe::get_heuristics_list(std::array<std::string, 2>{"heuristics_instant", "heuristics_fallback"}, graph, dropped, configs);
    check(configs.size() >= 2, what + ": configurations");
    for (auto &config : configs) {
        auto plan = fe::ExecutionPlanBuilder().setHandle(handle).setEngineConfig(config, graph.getTag()).build();
        Device workspace(plan.getWorkspaceSize());
        std::vector<void *> pointers;
        std::vector<int64_t> uids;
        for (auto &b : bound) uids.push_back(b.first), pointers.push_back(b.second);
        auto pack = fe::VariantPackBuilder().setWorkspacePointer(plan.getWorkspaceSize() ? workspace.p : nullptr)
                        .setDataPointers((int64_t)pointers.size(), pointers.data()).setUids((int64_t)uids.size(), uids.data()).build();
        check(cudnnBackendExecute(handle, plan.get_raw_desc(), pack.get_raw_desc()) == CUDNN_STATUS_SUCCESS, what + ": execute");
        judge(what + " by " + plan.getTag());
    }
}

}  // namespace

void builders(cudnnHandle_t handle) {
    Floats x = numbers(240, 1), w = numbers(288, 2), z = numbers(480, 3), b = numbers(8, 4), dy = numbers(480, 5), y(480), dx(240), dw(288), ry(480), rf(480), rdx(240), rdw(288);
    for (int n = 0; n < 2; n++)
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < 30; i++)
                for (int c = 0; c < 4; c++)
                    for (int r = 0; r < 3; r++)
                        for (int s = 0; s < 3; s++) {
                            int h = i / 5 - 1 + r, v = i % 5 - 1 + s;
                            if (h < 0 || h > 5 || v < 0 || v > 4) continue;
                            int xi = ((n * 4 + c) * 6 + h) * 5 + v, wi = ((k * 4 + c) * 3 + r) * 3 + s, yi = (n * 8 + k) * 30 + i;
                            ry[yi] += x[xi] * w[wi], rdx[xi] += dy[yi] * w[wi], rdw[wi] += x[xi] * dy[yi];
                        }
    for (int i = 0; i < 480; i++) rf[i] = std::max(0.0f, ry[i] + 0.5f * z[i] + b[i / 30 % 8]);
    try {
        auto forward = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR).setxDesc(described(XD, 'x')).setyDesc(described(YD, 'y'))
                           .setwDesc(described(WD, 'w')).setcDesc(convolution()).build();
        auto g = graph_of(handle, {&forward});
        execute_all(handle, "convolution", g, {{'x', x.data()}, {'y', y.data()}, {'w', w.data()}}, [&](const std::string &what) { close_to(what, y, ry); });
        auto data = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR).setdxDesc(described(XD, 'x')).setdyDesc(described(YD, 'y'))
                        .setwDesc(described(WD, 'w')).setcDesc(convolution()).build();
        auto gd = graph_of(handle, {&data});
        execute_all(handle, "data gradient", gd, {{'x', dx.data()}, {'y', dy.data()}, {'w', w.data()}}, [&](const std::string &what) { close_to(what, dx, rdx); });
        auto filter = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR).setxDesc(described(XD, 'x')).setdyDesc(described(YD, 'y'))
                          .setdwDesc(described(WD, 'w')).setcDesc(convolution()).build();
        auto gf = graph_of(handle, {&filter});
        execute_all(handle, "filter gradient", gf, {{'x', x.data()}, {'y', dy.data()}, {'w', dw.data()}}, [&](const std::string &what) { close_to(what, dw, rdw); });
        auto conv = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR).setxDesc(described(XD, 'x')).setyDesc(described(YD, 'A', true))
                        .setwDesc(described(WD, 'w')).setcDesc(convolution()).build();
        auto add = fe::PointWiseDescBuilder().setMode(CUDNN_POINTWISE_ADD).setMathPrecision(CUDNN_DATA_FLOAT).build();
        auto relu = fe::PointWiseDescBuilder().setMode(CUDNN_POINTWISE_RELU_FWD).setMathPrecision(CUDNN_DATA_FLOAT).build();
        auto plus_z = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(conv.getOutputTensor()).setbDesc(described(YD, 'z'))
                          .setyDesc(described(YD, 'B', true)).setpwDesc(add).setAlpha(1.0f).setAlpha2(0.5f).build();
        auto plus_b = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(plus_z.getOutputTensor()).setbDesc(described(BD, 'b'))
                          .setyDesc(described(YD, 'C', true)).setpwDesc(add).build();
        auto last = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(plus_b.getOutputTensor()).setyDesc(described(YD, 'y')).setpwDesc(relu).build();
        auto fused = graph_of(handle, {&conv, &plus_z, &plus_b, &last});
        execute_all(handle, "convolution, add, bias, ReLU", fused, {{'x', x.data()}, {'y', y.data()}, {'w', w.data()}, {'z', z.data()}, {'b', b.data()}},
                    [&](const std::string &what) { close_to(what, y, rf); });
    } catch (fe::cudnnException &e) {
        check(false, std::string("an exception: ") + e.what());
    }
}
}  // namespace builders_area
