// Activations, softmax, sums and products of tensors, reductions, dropout.
#include "check.hpp"

#include <algorithm>

namespace {
const auto types = {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE};
const auto formats = {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC};

double act(cudnnActivationMode_t mode, double v, double c) {
    switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + std::exp(-v));
    case CUDNN_ACTIVATION_RELU: return std::max(v, 0.0);
    case CUDNN_ACTIVATION_TANH: return std::tanh(v);
    case CUDNN_ACTIVATION_CLIPPED_RELU: return std::min(std::max(v, 0.0), c);
    case CUDNN_ACTIVATION_ELU: return v > 0 ? v : c * (std::exp(v) - 1);
    case CUDNN_ACTIVATION_SWISH: return v / (1 + std::exp(-c * v));
    default: return v;
    }
}

void activations() {
    cudnnActivationDescriptor_t desc = nullptr;
    OK(cudnnCreateActivationDescriptor(&desc));
    for (auto type : types) {
        for (auto format : formats) {
            for (int mode = 0; mode <= CUDNN_ACTIVATION_SWISH; mode++) {
                for (int scaled = 0; scaled < 2; scaled++) {
                    double alpha = scaled ? 2 : 1, beta = scaled ? 0.5 : 0, c = 0.75; // parameters of functions are single precision, for doubles too
                    Factor a(alpha, type), b(beta, type);
                    auto kind = cudnnActivationMode_t(mode);
                    OK(cudnnSetActivationDescriptor(desc, kind, CUDNN_PROPAGATE_NAN, c));
                    OK(cudnnSetActivationDescriptorSwishBeta(desc, c));
                    Tensor x(type, {2, 3, 4, 5}, format), y(type, x.dims, format), dy(type, x.dims, format), dx(type, x.dims, format);
                    x.buffer.random(1);
                    dy.buffer.random(2);
                    if (scaled) y.buffer.random(3), dx.buffer.random(4);
                    Buffer old = y.buffer, older = dx.buffer;
                    OK(cudnnActivationForward(handle(), desc, a.data(), x.desc, x.data(), b.data(), y.desc, y.data()));
                    compare(y, [&](auto &at) { return alpha * act(kind, x.get(at), c) + (scaled ? beta * old.get(y.at(at)) : 0); }, "activation");
                    if (scaled) OK(cudnnActivationForward(handle(), desc, Factor(1, type).data(), x.desc, x.data(), Factor(0, type).data(), y.desc, y.data()));
                    OK(cudnnActivationBackward(handle(), desc, a.data(), y.desc, y.data(), dy.desc, dy.data(), x.desc, x.data(), b.data(), dx.desc, dx.data()));
                    compare(dx, [&](auto &at) {
                        double h = 1e-6, v = x.get(at), slope = (act(kind, v + h, c) - act(kind, v - h, c)) / (2 * h);
                        return alpha * slope * dy.get(at) + (scaled ? beta * older.get(dx.at(at)) : 0);
                    }, "gradient of an activation", type == CUDNN_DATA_DOUBLE ? 1e3 : 3);
                }
            }
        }
    }
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double c = 0, swish = 0;
    OK(cudnnGetActivationDescriptor(desc, &mode, &nan, &c));
    OK(cudnnGetActivationDescriptorSwishBeta(desc, &swish));
    CHECK(mode == CUDNN_ACTIVATION_SWISH && nan == CUDNN_PROPAGATE_NAN && c == 0.75 && swish == 0.75);
    IS(CUDNN_STATUS_BAD_PARAM, cudnnSetActivationDescriptor(desc, cudnnActivationMode_t(50), nan, 0));
    OK(cudnnDestroyActivationDescriptor(desc));
}
Area a("activations", activations);

void softmax() {
    for (auto type : types) {
        for (auto in : formats) {
            for (auto out : formats) {
                for (auto algo : {CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG}) {
                    for (auto mode : {CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL}) {
                        Tensor x(type, {2, 5, 3, 2}, in), y(type, x.dims, out), dy(type, x.dims, in), dx(type, x.dims, out);
                        x.buffer.random(1);
                        dy.buffer.random(2);
                        bool whole = mode == CUDNN_SOFTMAX_MODE_INSTANCE;
                        auto sum = [&](auto &at, auto f) {
                            double s = 0;
                            for (size_t i = 0; i < x.volume(); i++) {
                                auto p = x.position(i);
                                if (p[0] == at[0] && (whole || (p[2] == at[2] && p[3] == at[3]))) s += f(p);
                            }
                            return s;
                        };
                        auto right = [&](auto &at) {
                            double p = std::exp(x.get(at)) / sum(at, [&](auto &q) { return std::exp(x.get(q)); });
                            return algo == CUDNN_SOFTMAX_LOG ? std::log(p) : p;
                        };
                        OK(cudnnSoftmaxForward(handle(), algo, mode, Factor(1, type).data(), x.desc, x.data(), Factor(0, type).data(), y.desc, y.data()));
                        compare(y, right, "softmax");
                        dx.buffer.random(5);
                        Buffer old = dx.buffer;
                        OK(cudnnSoftmaxBackward(handle(), algo, mode, Factor(2, type).data(), y.desc, y.data(), dy.desc, dy.data(), Factor(1, type).data(),
                                                dx.desc, dx.data()));
                        compare(dx, [&](auto &at) {
                            double g = algo == CUDNN_SOFTMAX_LOG
                                           ? dy.get(at) - std::exp(y.get(at)) * sum(at, [&](auto &q) { return dy.get(q); })
                                           : y.get(at) * (dy.get(at) - sum(at, [&](auto &q) { return dy.get(q) * y.get(q); }));
                            return 2 * g + old.get(dx.at(at));
                        }, "gradient of softmax", 4);
                    }
                }
            }
        }
    }
}
Area b("softmax", softmax);

void sums() {
    for (auto type : types) {
        cudnnOpTensorDescriptor_t desc = nullptr;
        OK(cudnnCreateOpTensorDescriptor(&desc));
        for (int op = 0; op <= CUDNN_OP_TENSOR_NOT; op++) {
            for (int variant = 0; variant < 2; variant++) {
                double a1 = variant ? 1.5 : 1, a2 = variant ? 0.3 : 1, be = variant ? 0.7 : 0;
                if (type != CUDNN_DATA_DOUBLE) a1 = float(a1), a2 = float(a2), be = float(be);
                auto kind = cudnnOpTensorOp_t(op);
                OK(cudnnSetOpTensorDescriptor(desc, kind, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN));
                Tensor x(type, {2, 3, 4, 5}), z(type, variant ? std::vector<int>{1, 3, 1, 1} : x.dims), y(type, x.dims, CUDNN_TENSOR_NHWC);
                x.buffer.random(1);
                if (kind == CUDNN_OP_TENSOR_SQRT)
                    for (size_t i = 0; i < x.buffer.size(); i++) x.buffer.set(i, std::fabs(x.buffer.get(i)));
                z.buffer.random(2);
                if (variant) y.buffer.random(3);
                Buffer old = y.buffer;
                OK(cudnnOpTensor(handle(), desc, Factor(a1, type).data(), x.desc, x.data(), Factor(a2, type).data(), z.desc, z.data(), Factor(be, type).data(),
                                 y.desc, y.data()));
                compare(y, [&](auto &at) {
                    double v = a1 * x.get(at), w = a2 * (variant ? z.buffer.get(at[1]) : z.get(at)), r = 0;
                    switch (kind) {
                    case CUDNN_OP_TENSOR_ADD: r = v + w; break;
                    case CUDNN_OP_TENSOR_MUL: r = v * w; break;
                    case CUDNN_OP_TENSOR_MIN: r = std::min(v, w); break;
                    case CUDNN_OP_TENSOR_MAX: r = std::max(v, w); break;
                    case CUDNN_OP_TENSOR_SQRT: r = std::sqrt(v); break;
                    default: r = 1 - v;
                    }
                    return r + (variant ? be * old.get(y.at(at)) : 0);
                }, "op tensor", 2);
            }
        }
        cudnnOpTensorOp_t op;
        cudnnDataType_t compute;
        cudnnNanPropagation_t nan;
        OK(cudnnGetOpTensorDescriptor(desc, &op, &compute, &nan));
        CHECK(op == CUDNN_OP_TENSOR_NOT && nan == CUDNN_PROPAGATE_NAN);
        OK(cudnnDestroyOpTensorDescriptor(desc));
        for (double beta : {0.0, 1.0, 0.25}) {
            for (double alpha : {1.0, 3.0}) {
                Tensor bias(type, {1, 3, 1, 1}), y(type, {2, 3, 4, 5});
                bias.buffer.random(1);
                if (beta != 0) y.buffer.random(2);
                Buffer old = y.buffer;
                OK(cudnnAddTensor(handle(), Factor(alpha, type).data(), bias.desc, bias.data(), Factor(beta, type).data(), y.desc, y.data()));
                compare(y, [&](auto &at) { return alpha * bias.buffer.get(at[1]) + (beta == 0 ? 0 : beta * old.get(y.at(at))); }, "add tensor", 3);
                Tensor t(CUDNN_DATA_FLOAT, y.dims, CUDNN_TENSOR_NHWC), before(CUDNN_DATA_FLOAT, y.dims, CUDNN_TENSOR_NHWC);
                t.buffer.random(4);
                before.buffer = t.buffer;
                float f = float(alpha), g = float(beta);
                OK(cudnnTransformTensor(handle(), &f, y.desc, y.data(), &g, t.desc, t.data()));
                compare(t, [&](auto &at) { return alpha * y.get(at) + beta * before.get(at); }, "transform tensor", 10);
            }
        }
        Tensor y(type, {2, 3, 4, 5}, {200, 60, 12, 2});
        Buffer value(type, 1);
        value.set(0, 1.25);
        OK(cudnnSetTensor(handle(), y.desc, y.data(), value.data()));
        OK(cudnnScaleTensor(handle(), y.desc, y.data(), Factor(0.1, type).data()));
        compare(y, [&](auto &) { return 1.25 * (type == CUDNN_DATA_DOUBLE ? 0.1 : double(0.1f)); }, "set and scale tensor");
    }
}
Area c("sums", sums);

void reductions() {
    cudnnReduceTensorDescriptor_t desc = nullptr;
    OK(cudnnCreateReduceTensorDescriptor(&desc));
    for (auto type : types) {
        for (auto to : std::vector<std::vector<int>>{{1, 3, 1, 1}, {2, 1, 4, 5}, {1, 1, 1, 1}, {2, 3, 4, 5}}) {
            for (int op = 0; op <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS; op++) {
                bool indexed = op == CUDNN_REDUCE_TENSOR_MIN || op == CUDNN_REDUCE_TENSOR_MAX || op == CUDNN_REDUCE_TENSOR_AMAX;
                auto kind = cudnnReduceTensorOp_t(op);
                OK(cudnnSetReduceTensorDescriptor(desc, kind, type == CUDNN_DATA_DOUBLE ? type : CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                                  indexed ? CUDNN_REDUCE_TENSOR_FLATTENED_INDICES : CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
                Tensor x(type, {2, 3, 4, 5}), y(type, to);
                x.buffer.random(1);
                if (op == CUDNN_REDUCE_TENSOR_MUL || op == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS)
                    for (size_t i = 0; i < x.buffer.size(); i++) x.buffer.set(i, op == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS && i % 7 == 0 ? 0 : 0.9 + 0.2 * std::fabs(x.buffer.get(i)));
                y.buffer.random(2);
                Buffer old = y.buffer;
                size_t bytes = 0, space = 1;
                OK(cudnnGetReductionIndicesSize(handle(), desc, x.desc, y.desc, &bytes));
                OK(cudnnGetReductionWorkspaceSize(handle(), desc, x.desc, y.desc, &space));
                CHECK(bytes == (indexed ? 4 * y.volume() : 0));
                std::vector<uint32_t> indices(bytes / 4, 77);
                OK(cudnnReduceTensor(handle(), desc, indices.data(), bytes, nullptr, space, Factor(2, type).data(), x.desc, x.data(), Factor(0.5, type).data(), y.desc,
                                     y.data()));
                if (indexed)
                    IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, cudnnReduceTensor(handle(), desc, indices.data(), bytes - 1, nullptr, 0, Factor(2, type).data(),
                                                                                  x.desc, x.data(), Factor(0.5, type).data(), y.desc, old.data()));
                size_t element = 0;
                compare(y, [&](auto &at) {
                    double r = op == CUDNN_REDUCE_TENSOR_MUL || op == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS ? 1 : 0;
                    int count = 0;
                    uint32_t best = 0;
                    for (size_t i = 0; i < x.volume(); i++) {
                        auto p = x.position(i);
                        bool mine = true;
                        for (int d = 0; d < 4; d++) mine = mine && (to[d] == 1 || p[d] == at[d]);
                        if (!mine) continue;
                        double v = x.get(p);
                        bool first = count == 0;
                        switch (kind) {
                        case CUDNN_REDUCE_TENSOR_MUL: r *= v; break;
                        case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: r *= v == 0 ? 1 : v; break;
                        case CUDNN_REDUCE_TENSOR_MIN: if (first || v < r) r = v, best = count; break;
                        case CUDNN_REDUCE_TENSOR_MAX: if (first || v > r) r = v, best = count; break;
                        case CUDNN_REDUCE_TENSOR_AMAX: if (first || std::fabs(v) > r) r = std::fabs(v), best = count; break;
                        case CUDNN_REDUCE_TENSOR_NORM1: r += std::fabs(v); break;
                        case CUDNN_REDUCE_TENSOR_NORM2: r += v * v; break;
                        default: r += v;
                        }
                        count++;
                    }
                    if (kind == CUDNN_REDUCE_TENSOR_AVG) r /= count;
                    if (kind == CUDNN_REDUCE_TENSOR_NORM2) r = std::sqrt(r);
                    if (indexed) CHECK(indices[element] == best);
                    element++;
                    return 2 * r + 0.5 * old.get(y.at(at));
                }, "reduction", 100);
            }
        }
    }
    cudnnReduceTensorOp_t op;
    cudnnDataType_t compute;
    cudnnNanPropagation_t nan;
    cudnnReduceTensorIndices_t indices;
    cudnnIndicesType_t indices_type;
    OK(cudnnGetReduceTensorDescriptor(desc, &op, &compute, &nan, &indices, &indices_type));
    CHECK(op == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS && indices_type == CUDNN_32BIT_INDICES);
    OK(cudnnDestroyReduceTensorDescriptor(desc));
}
Area d("reductions", reductions);

void dropout() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF}) {
        Tensor x(type, {4, 8, 16, 16}), y(type, x.dims), z(type, x.dims), dx(type, x.dims);
        x.buffer.fill(1);
        size_t size = 0, kept = 0;
        OK(cudnnDropoutGetStatesSize(handle(), &size));
        OK(cudnnDropoutGetReserveSpaceSize(x.desc, &kept));
        Workspace states(size), reserve(kept);
        cudnnDropoutDescriptor_t desc = nullptr;
        OK(cudnnCreateDropoutDescriptor(&desc));
        IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, cudnnSetDropoutDescriptor(desc, handle(), 0.25f, states.data(), size - 1, 5));
        IS(CUDNN_STATUS_BAD_PARAM, cudnnSetDropoutDescriptor(desc, handle(), 1.5f, states.data(), size, 5));
        OK(cudnnSetDropoutDescriptor(desc, handle(), 0.25f, states.data(), size, 5));
        Workspace copy = states;
        OK(cudnnDropoutForward(handle(), desc, x.desc, x.data(), y.desc, y.data(), reserve.data(), kept));
        double dropped = 0;
        for (size_t i = 0; i < y.buffer.size(); i++) {
            double v = y.buffer.get(i);
            CHECK(v == 0 || close(v, 1 / 0.75, type));
            dropped += v == 0;
        }
        CHECK(std::fabs(dropped / double(y.buffer.size()) - 0.25) < 0.03);
        OK(cudnnDropoutBackward(handle(), desc, x.desc, x.data(), dx.desc, dx.data(), reserve.data(), kept));
        for (size_t i = 0; i < y.buffer.size(); i++) CHECK(close(dx.buffer.get(i), y.buffer.get(i), type));
        OK(cudnnDropoutForward(handle(), desc, x.desc, x.data(), z.desc, z.data(), reserve.data(), kept));
        CHECK(z.buffer.bytes != y.buffer.bytes);
        // A copy of the states continues from where it was taken.
        cudnnDropoutDescriptor_t again = nullptr;
        OK(cudnnCreateDropoutDescriptor(&again));
        OK(cudnnRestoreDropoutDescriptor(again, handle(), 0.25f, copy.data(), size, 5));
        OK(cudnnDropoutForward(handle(), again, x.desc, x.data(), z.desc, z.data(), reserve.data(), kept));
        CHECK(z.buffer.bytes == y.buffer.bytes);
        float p = 0;
        void *at = nullptr;
        unsigned long long seed = 0;
        OK(cudnnGetDropoutDescriptor(again, handle(), &p, &at, &seed));
        CHECK(p == 0.25f && at == copy.data() && seed == 5);
        IS(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, cudnnDropoutForward(handle(), desc, x.desc, x.data(), y.desc, y.data(), reserve.data(), kept - 1));
        OK(cudnnDestroyDropoutDescriptor(desc));
        OK(cudnnDestroyDropoutDescriptor(again));
    }
}
Area e("dropout", dropout);
} // namespace
