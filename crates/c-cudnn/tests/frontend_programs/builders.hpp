// The older builders, in the order in which PyTorch calls them: descriptors, a graph, heuristics INSTANT then FALLBACK with filters by notes, plans, a
// variant pack; and the fused convolution, add, bias, ReLU.
#pragma once
#include "attention.hpp"
#include "common.hpp"
#include "norms.hpp"

#include <array>

namespace builders_area {

namespace {

const int64_t XD[] = {2, 4, 6, 5}, WD[] = {8, 4, 3, 3}, YD[] = {2, 8, 6, 5}, BD[] = {1, 8, 1, 1};

fe::Tensor described(const int64_t *dims, int64_t id, bool is_virtual = false) {
    int64_t s[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    return fe::TensorBuilder().setDim(4, dims).setStride(4, s).setId(id).setAlignment(16).setDataType(CUDNN_DATA_FLOAT).setVirtual(is_virtual).build();
}

fe::Tensor tensor(const Ints &dims, int64_t id, bool is_virtual = false, bool by_value = false) {
    Ints s = packed(dims);
    return fe::TensorBuilder().setDim((int64_t)dims.size(), dims.data()).setStride((int64_t)s.size(), s.data()).setId(id).setAlignment(16)
        .setDataType(CUDNN_DATA_FLOAT).setVirtual(is_virtual).setByValue(by_value).build();
}

fe::ConvDesc convolution() {
    const int64_t one[] = {1, 1};
    return fe::ConvDescBuilder().setDataType(CUDNN_DATA_FLOAT).setMathMode(CUDNN_CROSS_CORRELATION).setNDims(2).setStrides(2, one).setPrePadding(2, one)
        .setPostPadding(2, one).setDilation(2, one).build();
}

fe::OperationGraph graph_of(cudnnHandle_t handle, std::vector<const fe::Operation *> ops) {
    return fe::OperationGraphBuilder().setHandle(handle).setOperationGraph((int64_t)ops.size(), const_cast<fe::Operation const **>(ops.data())).build();
}

// What PyTorch filters out: engines that are not deterministic, that convert inputs down, or that use tensor cores without TF32.
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
        // The same plan, from its text.
        auto again = fe::ExecutionPlanBuilder().setHandle(handle).loadFromJson(plan.getJsonRepresentation());
        check(again.getWorkspaceSize() == plan.getWorkspaceSize(), what + ": workspace of the text");
        check(cudnnBackendExecute(handle, again.get_raw_desc(), pack.get_raw_desc()) == CUDNN_STATUS_SUCCESS, what + ": execute the text");
        judge(what + " by the text of " + plan.getTag());
    }
}

// A matrix product followed by bias and GELU.
void product_chain(cudnnHandle_t handle) {
    const Ints AD = {1, 5, 7}, ND = {1, 7, 6}, CD = {1, 5, 6}, RD = {1, 1, 6};
    Floats a = numbers(35, 1), b = numbers(42, 2), bias = numbers(6, 3), c(30), right(30);
    for (int i = 0; i < 30; i++) {
        double sum = bias[i % 6];
        for (int k = 0; k < 7; k++) sum += (double)a[i / 6 * 7 + k] * b[k * 6 + i % 6];
        right[i] = (float)(0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0))));
    }
    auto m = fe::MatMulDescBuilder().setComputeType(CUDNN_DATA_FLOAT).build();
    auto add = fe::PointWiseDescBuilder().setMode(CUDNN_POINTWISE_ADD).setComputeType(CUDNN_DATA_FLOAT).build();
    auto gelu = fe::PointWiseDescBuilder().setMode(CUDNN_POINTWISE_GELU_FWD).setComputeType(CUDNN_DATA_FLOAT).build();
    auto product = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR).setaMatDesc(tensor(AD, 'a')).setbMatDesc(tensor(ND, 'b'))
                       .setcMatDesc(tensor(CD, 'A', true)).setmatmulDesc(m).build();
    auto sum = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(product.getOutputTensor()).setbDesc(tensor(RD, 'v'))
                   .setyDesc(tensor(CD, 'B', true)).setpwDesc(add).build();
    auto last = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(sum.getOutputTensor()).setyDesc(tensor(CD, 'c')).setpwDesc(gelu).build();
    auto g = graph_of(handle, {&product, &sum, &last});
    execute_all(handle, "product, bias, GELU", g, {{'a', a.data()}, {'b', b.data()}, {'v', bias.data()}, {'c', c.data()}}, [&](const std::string &what) { close_to(what, c, right); });
}

// A chain of pointwise operations, summed over the last two dimensions.
void sum_of_chain(cudnnHandle_t handle) {
    const Ints D = {2, 3, 4, 5}, SD = {2, 3, 1, 1};
    Floats x = numbers(120, 1), scale = numbers(6, 2), y(6), right(6);
    for (int i = 0; i < 120; i++) right[i / 20] += std::max(0.0f, x[i] * scale[i / 20]);
    auto mul = fe::PointWiseDescBuilder().setMode(CUDNN_POINTWISE_MUL).setComputeType(CUDNN_DATA_FLOAT).build();
    auto relu = fe::PointWiseDescBuilder().setMode(CUDNN_POINTWISE_RELU_FWD).setComputeType(CUDNN_DATA_FLOAT).build();
    auto add = fe::ReductionDescBuilder().setComputeType(CUDNN_DATA_FLOAT).setReductionOp(CUDNN_REDUCE_TENSOR_ADD).build();
    auto scaled = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(tensor(D, 'x')).setbDesc(tensor(SD, 's')).setyDesc(tensor(D, 'A', true))
                      .setpwDesc(mul).build();
    auto bent = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(scaled.getOutputTensor()).setyDesc(tensor(D, 'B', true)).setpwDesc(relu).build();
    auto sum = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR).setxDesc(bent.getOutputTensor()).setyDesc(tensor(SD, 'y')).setreductionDesc(add).build();
    auto g = graph_of(handle, {&scaled, &bent, &sum});
    execute_all(handle, "chain and its sum", g, {{'x', x.data()}, {'s', scale.data()}, {'y', y.data()}}, [&](const std::string &what) { close_to(what, y, right); });
}

void layer_norm(cudnnHandle_t handle) {
    using namespace norms_area;
    Rows r(false);
    Floats y(N * C), m(N), v(N), dx(N * C), ds(C), db(C);
    float epsilon = EPSILON;
    auto forward = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR).setNormalizationMode(fe::NormMode_t::LAYER_NORM)
                       .setNormFwdPhase(fe::NormFwdPhase_t::TRAINING).setxDesc(tensor(norms_area::XD, 'x')).setScaleAndBias(tensor(PD, 's'), tensor(PD, 'b'))
                       .setSavedMeanAndInvVar(tensor(SD, 'm'), tensor(SD, 'v')).setEpsilonTensor(tensor({1, 1, 1, 1}, 'e', false, true)).setyDesc(tensor(norms_area::XD, 'y')).build();
    auto g = graph_of(handle, {&forward});
    execute_all(handle, "layer norm", g,
                {{'x', r.x.data()}, {'s', r.scale.data()}, {'b', r.bias.data()}, {'m', m.data()}, {'v', v.data()}, {'e', &epsilon}, {'y', y.data()}},
                [&](const std::string &what) { close_to(what, y, r.y, 1e-3), close_to(what + ": mean", m, r.mean, 1e-3), close_to(what + ": deviation", v, r.inverse, 1e-3); });
    auto back = fe::OperationBuilder(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR).setNormalizationMode(fe::NormMode_t::LAYER_NORM).setxDesc(tensor(norms_area::XD, 'x'))
                    .setdyDesc(tensor(norms_area::XD, 'y')).setScale(tensor(PD, 's')).setSavedMeanAndInvVar(tensor(SD, 'm'), tensor(SD, 'v'))
                    .setDScaleAndDBias(tensor(PD, 'S'), tensor(PD, 'B')).setdxDesc(tensor(norms_area::XD, 'X')).build();
    auto gb = graph_of(handle, {&back});
    execute_all(handle, "layer norm gradient", gb,
                {{'x', r.x.data()}, {'y', r.dy.data()}, {'s', r.scale.data()}, {'m', r.mean.data()}, {'v', r.inverse.data()}, {'S', ds.data()}, {'B', db.data()}, {'X', dx.data()}},
                [&](const std::string &what) { close_to(what, dx, r.dx, 1e-3), close_to(what + ": scale", ds, r.dscale, 1e-3), close_to(what + ": bias", db, r.dbias, 1e-3); });
}

// Operations of attention by name; results are virtual tensors unless they are outputs.
struct Chain {
    std::vector<fe::Operation> ops;
    int64_t next = 1000;
    fe::Tensor made(const Ints &dims) { return tensor(dims, next++, true); }
    fe::Tensor matmul(const fe::Tensor &a, const fe::Tensor &b, fe::Tensor c) {
        auto m = fe::MatMulDescBuilder().setComputeType(CUDNN_DATA_FLOAT).build();
        ops.push_back(fe::OperationBuilder(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR).setaMatDesc(a).setbMatDesc(b).setcMatDesc(c).setmatmulDesc(m).build());
        return c;
    }
    fe::Tensor with(cudnnPointwiseMode_t mode, const fe::Tensor &x, const fe::Tensor &b, fe::Tensor y) {
        auto p = fe::PointWiseDescBuilder().setMode(mode).setComputeType(CUDNN_DATA_FLOAT).build();
        ops.push_back(fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(x).setbDesc(b).setyDesc(y).setpwDesc(p).build());
        return y;
    }
    fe::Tensor of(cudnnPointwiseMode_t mode, const fe::Tensor &x, fe::Tensor y) {
        auto p = fe::PointWiseDescBuilder().setMode(mode).setComputeType(CUDNN_DATA_FLOAT).build();
        ops.push_back(fe::OperationBuilder(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR).setxDesc(x).setyDesc(y).setpwDesc(p).build());
        return y;
    }
    fe::Tensor reduced(cudnnReduceTensorOp_t op, const fe::Tensor &x, fe::Tensor y) {
        auto r = fe::ReductionDescBuilder().setComputeType(CUDNN_DATA_FLOAT).setReductionOp(op).build();
        ops.push_back(fe::OperationBuilder(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR).setxDesc(x).setyDesc(y).setreductionDesc(r).build());
        return y;
    }
    fe::OperationGraph graph(cudnnHandle_t handle) const {
        std::vector<const fe::Operation *> all;
        for (auto &op : ops) all.push_back(&op);
        return graph_of(handle, all);
    }
};

// A tensor of rows, seen as columns.
fe::Tensor turned(const Ints &dims, int64_t id) {
    const int64_t d[] = {dims[0], dims[1], dims[3], dims[2]}, s[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], 1, dims[3]};
    return fe::TensorBuilder().setDim(4, d).setStride(4, s).setId(id).setAlignment(16).setDataType(CUDNN_DATA_FLOAT).build();
}

// Attention from products, a softmax of reductions and pointwise operations, and its gradients; heads of keys and values are repeated for grouped queries.
void attention(cudnnHandle_t handle) {
    using namespace attention_area;
    float scale = 0.25f;
    Reference r(false, scale);
    const Ints PD = {B, H, S, T}, FD = {B, H, T, D}, RD = {B, H, S, 1}, ONE = {1, 1, 1, 1};
    auto repeated = [&](const Floats &v) {
        Floats all(B * H * T * D);
        for (int i = 0; i < B * H; i++) std::copy_n(v.begin() + (i / H * G + i % H / (H / G)) * T * D, T * D, all.begin() + i * T * D);
        return all;
    };
    auto gathered = [&](const Floats &v) {
        Floats all(B * G * T * D);
        for (int i = 0; i < B * H; i++)
            for (int j = 0; j < T * D; j++) all[(i / H * G + i % H / (H / G)) * T * D + j] += v[i * T * D + j];
        return all;
    };
    Floats k = repeated(r.k), v = repeated(r.v), o(r.o.size()), dq(r.q.size()), dk(k.size()), dv(v.size()), p(B * H * S * T);
    auto factor = [&] { return tensor(ONE, 'f', false, true); };
    Chain f;
    auto scores = f.with(CUDNN_POINTWISE_MUL, f.matmul(tensor(QD, 'q'), turned(FD, 'k'), f.made(PD)), factor(), f.made(PD));
    auto low = f.with(CUDNN_POINTWISE_SUB, scores, f.reduced(CUDNN_REDUCE_TENSOR_MAX, scores, f.made(RD)), f.made(PD));
    auto powers = f.of(CUDNN_POINTWISE_EXP, low, f.made(PD));
    auto weights = f.with(CUDNN_POINTWISE_DIV, powers, f.reduced(CUDNN_REDUCE_TENSOR_ADD, powers, f.made(RD)), tensor(PD, 'p'));
    f.matmul(weights, tensor(FD, 'v'), tensor(OD, 'o'));
    auto g = f.graph(handle);
    execute_all(handle, "attention by the older builders", g, {{'q', r.q.data()}, {'k', k.data()}, {'v', v.data()}, {'f', &scale}, {'p', p.data()}, {'o', o.data()}},
                [&](const std::string &what) { close_to(what, o, r.o, 1e-4); });
    Chain b;
    b.matmul(turned(PD, 'p'), tensor(QD, 'd'), tensor(FD, 'V'));
    auto slopes = b.matmul(tensor(QD, 'd'), turned(FD, 'v'), b.made(PD));
    auto along = b.reduced(CUDNN_REDUCE_TENSOR_ADD, b.with(CUDNN_POINTWISE_MUL, tensor(QD, 'd'), tensor(OD, 'o'), b.made(QD)), b.made(RD));
    auto rest = b.with(CUDNN_POINTWISE_MUL, b.with(CUDNN_POINTWISE_SUB, slopes, along, b.made(PD)), tensor(PD, 'P'), b.made(PD));
    auto scaled = b.with(CUDNN_POINTWISE_MUL, rest, factor(), tensor(PD, 's'));
    b.matmul(scaled, tensor(FD, 'k'), tensor(QD, 'Q'));
    auto gb = b.graph(handle);
    Floats s(p.size());
    execute_all(handle, "gradients of attention by the older builders", gb,
                {{'p', p.data()}, {'P', p.data()}, {'d', r.dout.data()}, {'v', v.data()}, {'k', k.data()}, {'o', o.data()}, {'f', &scale}, {'V', dv.data()}, {'Q', dq.data()}, {'s', s.data()}},
                [&](const std::string &what) { close_to(what + ": queries", dq, r.dq, 1e-3), close_to(what + ": values", gathered(dv), r.dv, 1e-3); });
    Chain c;
    c.matmul(turned(PD, 's'), tensor(QD, 'q'), tensor(FD, 'K'));
    auto gc = c.graph(handle);
    execute_all(handle, "gradient of keys by the older builders", gc, {{'s', s.data()}, {'q', r.q.data()}, {'K', dk.data()}},
                [&](const std::string &what) { close_to(what, gathered(dk), r.dk, 1e-3); });
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
        product_chain(handle);
        sum_of_chain(handle);
        layer_norm(handle);
        attention(handle);
    } catch (fe::cudnnException &e) {
        check(false, std::string("an exception: ") + e.what());
    }
}
}  // namespace builders_area
