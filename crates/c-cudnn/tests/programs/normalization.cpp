// Batch normalisation, through its own functions and cudnnNormalization*.
#include "check.hpp"

#include <algorithm>

namespace {
struct Case {
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    cudnnBatchNormMode_t mode;
    int ops; // 0 nothing, 1 relu, 2 add and relu
    bool general;
};

void one(const Case &c) {
    const double epsilon = 1e-3, factor = 0.25;
    bool each = c.mode == CUDNN_BATCHNORM_PER_ACTIVATION;
    Tensor x(c.type, {3, 4, 3, 2}, c.format), y(c.type, x.dims, c.format), z(c.type, x.dims, c.format);
    Tensor dy(c.type, x.dims, c.format), dx(c.type, x.dims, c.format), dz(c.type, x.dims, c.format);
    x.buffer.random(1);
    z.buffer.random(2);
    dy.buffer.random(3);
    cudnnTensorDescriptor_t params = nullptr, stats = nullptr;
    OK(cudnnCreateTensorDescriptor(&params));
    OK(cudnnCreateTensorDescriptor(&stats));
    if (c.general) OK(cudnnDeriveNormTensorDescriptor(params, stats, x.desc, each ? CUDNN_NORM_PER_ACTIVATION : CUDNN_NORM_PER_CHANNEL, 1));
    else OK(cudnnDeriveBNTensorDescriptor(params, x.desc, c.mode));
    cudnnDataType_t type;
    int n = 0, dims[8], strides[8];
    OK(cudnnGetTensorNdDescriptor(params, 8, &type, &n, dims, strides));
    CHECK(type == (c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT) && dims[0] == 1 && dims[1] == 4 && dims[2] == (each ? 3 : 1));
    size_t width = each ? 24 : 4;
    auto slot = [&](const std::vector<int> &at) { return each ? size_t(at[1] * strides[1] + at[2] * strides[2] + at[3] * strides[3]) : size_t(at[1]); };
    Buffer scale(type, width), bias(type, width), rm(type, width), rv(type, width), sm(type, width), si(type, width), ds(type, width), db(type, width);
    scale.random(4);
    bias.random(5);
    rm.random(6);
    rv.fill(2);
    Buffer rm0 = rm, rv0 = rv;
    cudnnActivationDescriptor_t act = nullptr;
    OK(cudnnCreateActivationDescriptor(&act));
    OK(cudnnSetActivationDescriptor(act, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
    std::vector<double> mean(width), var(width);
    double count = each ? 3 : 18;
    auto statistics = [&] {
        std::fill(mean.begin(), mean.end(), 0);
        std::fill(var.begin(), var.end(), 0);
        for (size_t i = 0; i < x.volume(); i++) mean[slot(x.position(i))] += x.get(x.position(i)) / count;
        for (size_t i = 0; i < x.volume(); i++) var[slot(x.position(i))] += std::pow(x.get(x.position(i)) - mean[slot(x.position(i))], 2) / count;
    };
    auto value = [&](const std::vector<int> &at) {
        size_t s = slot(at);
        double v = scale.get(s) * (x.get(at) - mean[s]) / std::sqrt(var[s] + epsilon) + bias.get(s) + (c.ops == 2 ? z.get(at) : 0);
        return c.ops ? std::max(v, 0.0) : v;
    };
    Factor a(1, c.type), b(0, c.type);
    size_t space = 1, kept = 1;
    auto ops = cudnnBatchNormOps_t(c.ops);
    auto nops = cudnnNormOps_t(c.ops);
    auto nmode = each ? CUDNN_NORM_PER_ACTIVATION : CUDNN_NORM_PER_CHANNEL;
    auto algo = CUDNN_NORM_ALGO_STANDARD;
    if (c.general) {
        OK(cudnnGetNormalizationForwardTrainingWorkspaceSize(handle(), nmode, nops, algo, x.desc, z.desc, y.desc, params, act, stats, &space, 1));
        OK(cudnnGetNormalizationTrainingReserveSpaceSize(handle(), nmode, nops, algo, act, x.desc, &kept, 1));
    } else {
        OK(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(handle(), c.mode, ops, x.desc, z.desc, y.desc, params, act, &space));
        OK(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle(), c.mode, ops, act, x.desc, &kept));
    }
    CHECK(space == 0 && kept == (c.ops ? 9u : 0u));
    Workspace reserve(kept);
    statistics();
    if (c.general)
        OK(cudnnNormalizationForwardTraining(handle(), nmode, nops, algo, a.data(), b.data(), x.desc, x.data(), params, scale.data(), bias.data(), factor, stats,
                                             rm.data(), rv.data(), epsilon, sm.data(), si.data(), act, z.desc, z.data(), y.desc, y.data(), nullptr, 0,
                                             reserve.data(), kept, 1));
    else if (c.ops)
        OK(cudnnBatchNormalizationForwardTrainingEx(handle(), c.mode, ops, a.data(), b.data(), x.desc, x.data(), z.desc, z.data(), y.desc, y.data(), params,
                                                    scale.data(), bias.data(), factor, rm.data(), rv.data(), epsilon, sm.data(), si.data(), act, nullptr, 0,
                                                    reserve.data(), kept));
    else
        OK(cudnnBatchNormalizationForwardTraining(handle(), c.mode, a.data(), b.data(), x.desc, x.data(), y.desc, y.data(), params, scale.data(), bias.data(),
                                                  factor, rm.data(), rv.data(), epsilon, sm.data(), si.data()));
    // Statistics are in single precision, even for doubles.
    auto loose = c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_FLOAT : c.type;
    for (size_t i = 0; i < y.volume(); i++) {
        auto at = y.position(i);
        CHECK(close(y.get(at), value(at), loose, 10));
    }
    for (size_t i = 0; i < width; i++) {
        CHECK(close(sm.get(i), mean[i], CUDNN_DATA_FLOAT) && close(si.get(i), 1 / std::sqrt(var[i] + epsilon), CUDNN_DATA_FLOAT, 20));
        CHECK(close(rm.get(i), 0.75 * rm0.get(i) + 0.25 * mean[i], CUDNN_DATA_FLOAT));
        CHECK(close(rv.get(i), 0.75 * rv0.get(i) + 0.25 * var[i] * count / (count - 1), CUDNN_DATA_FLOAT));
    }
    for (int saved = 0; saved < 2; saved++) {
        void *m = saved ? sm.data() : nullptr, *i = saved ? si.data() : nullptr;
        if (c.general)
            OK(cudnnNormalizationBackward(handle(), nmode, nops, algo, a.data(), b.data(), a.data(), b.data(), x.desc, x.data(), y.desc, y.data(), dy.desc,
                                          dy.data(), dz.desc, dz.data(), dx.desc, dx.data(), params, scale.data(), bias.data(), ds.data(), db.data(), epsilon,
                                          stats, m, i, act, nullptr, 0, reserve.data(), kept, 1));
        else if (c.ops)
            OK(cudnnBatchNormalizationBackwardEx(handle(), c.mode, ops, a.data(), b.data(), a.data(), b.data(), x.desc, x.data(), y.desc, y.data(), dy.desc,
                                                 dy.data(), dz.desc, dz.data(), dx.desc, dx.data(), params, scale.data(), bias.data(), ds.data(), db.data(),
                                                 epsilon, m, i, act, nullptr, 0, reserve.data(), kept));
        else
            OK(cudnnBatchNormalizationBackward(handle(), c.mode, a.data(), b.data(), a.data(), b.data(), x.desc, x.data(), dy.desc, dy.data(), dx.desc,
                                               dx.data(), params, scale.data(), ds.data(), db.data(), epsilon, m, i));
        std::vector<double> sb(width, 0), ss(width, 0);
        auto through = [&](auto &at) { return c.ops && value(at) <= 0 ? 0 : dy.get(at); };
        auto hat = [&](auto &at) { return (x.get(at) - mean[slot(at)]) / std::sqrt(var[slot(at)] + epsilon); };
        for (size_t e = 0; e < x.volume(); e++) {
            auto at = x.position(e);
            sb[slot(at)] += through(at);
            ss[slot(at)] += through(at) * hat(at);
        }
        double far = 0;
        for (size_t e = 0; e < x.volume(); e++) {
            auto at = x.position(e);
            size_t s = slot(at);
            double right = scale.get(s) / std::sqrt(var[s] + epsilon) * (through(at) - sb[s] / count - hat(at) * ss[s] / count);
            far = std::max(far, std::fabs(dx.get(at) - right));
            if (c.ops == 2) CHECK(close(dz.get(at), through(at), c.type));
        }
        CHECK(far < (c.type == CUDNN_DATA_HALF ? 5e-2 : 2e-4));
        for (size_t s = 0; s < width; s++) CHECK(close(ds.get(s), ss[s], loose, 20) && close(db.get(s), sb[s], loose, 20));
    }
    // Inference, with other statistics.
    rv.fill(0.5);
    if (c.general)
        OK(cudnnNormalizationForwardInference(handle(), nmode, nops, algo, a.data(), b.data(), x.desc, x.data(), params, scale.data(), bias.data(), stats,
                                              rm.data(), rv.data(), z.desc, z.data(), act, y.desc, y.data(), epsilon, 1));
    else
        OK(cudnnBatchNormalizationForwardInference(handle(), c.mode, a.data(), b.data(), x.desc, x.data(), y.desc, y.data(), params, scale.data(), bias.data(),
                                                   rm.data(), rv.data(), epsilon));
    for (size_t i = 0; i < width; i++) mean[i] = rm.get(i), var[i] = 0.5;
    for (size_t i = 0; i < y.volume(); i++) {
        auto at = y.position(i);
        size_t s = slot(at);
        double plain = scale.get(s) * (x.get(at) - mean[s]) / std::sqrt(var[s] + epsilon) + bias.get(s);
        CHECK(close(y.get(at), c.general ? value(at) : plain, loose, 4));
    }
    OK(cudnnDestroyActivationDescriptor(act));
    OK(cudnnDestroyTensorDescriptor(params));
    OK(cudnnDestroyTensorDescriptor(stats));
}

void normalization() {
    for (auto type : {CUDNN_DATA_FLOAT, CUDNN_DATA_HALF, CUDNN_DATA_DOUBLE})
        for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC})
            for (auto mode : {CUDNN_BATCHNORM_SPATIAL, CUDNN_BATCHNORM_SPATIAL_PERSISTENT, CUDNN_BATCHNORM_PER_ACTIVATION})
                for (int ops = 0; ops < 3; ops++)
                    for (bool general : {false, true}) one({type, format, mode, ops, general});
    size_t size = 9;
    Tensor x(CUDNN_DATA_FLOAT, {2, 3, 4, 5});
    OK(cudnnGetBatchNormalizationBackwardExWorkspaceSize(handle(), CUDNN_BATCHNORM_SPATIAL, CUDNN_BATCHNORM_OPS_BN, x.desc, x.desc, x.desc, x.desc, x.desc,
                                                         x.desc, nullptr, &size));
    CHECK(size == 0);
    OK(cudnnGetNormalizationBackwardWorkspaceSize(handle(), CUDNN_NORM_PER_CHANNEL, CUDNN_NORM_OPS_NORM, CUDNN_NORM_ALGO_STANDARD, x.desc, x.desc, x.desc,
                                                  x.desc, x.desc, x.desc, nullptr, x.desc, &size, 1));
    float one = 1, zero = 0;
    std::vector<float> v(600, 1);
    IS(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, cudnnBatchNormalizationForwardInference(handle(), CUDNN_BATCHNORM_SPATIAL, &one, &zero, x.desc, x.data(), x.desc,
                                                                                      x.data(), x.desc, v.data(), v.data(), v.data(), v.data(), 1e-5));
    CHECK(last_error().find("derive") != std::string::npos);
}
Area a("normalization", normalization);
} // namespace
