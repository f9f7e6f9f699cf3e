// Short forms for cudnn-frontend's graphs, and counted checks.
#pragma once
#include <cuda_runtime_api.h>
#include <cudnn_frontend.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

extern int checks, failures;

inline void check(bool ok, const std::string &what) {
    checks++;
    if (!ok) {
        failures++;
        printf("FAILED: %s\n", what.c_str());
    }
}

inline bool good(fe::error_t e, const std::string &what) {
    check(e.is_good(), what + ": " + e.get_message());
    return e.is_good();
}

inline void close_to(const std::string &what, const Floats &got, const Floats &expected, double tolerance = 1e-4) {
    for (size_t i = 0; i < expected.size(); i++) {
        if (!(std::fabs(got[i] - expected[i]) <= tolerance * (1 + std::fabs(expected[i])))) {
            check(false, what + ": element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", expected " + std::to_string(expected[i]));
            return;
        }
    }
    checks++;
}

inline Floats numbers(int64_t count, unsigned seed) {
    Floats v(count);
    unsigned state = seed * 2654435761u + 12345;
    for (auto &x : v) {
        state = state * 1664525u + 1013904223u;
        x = (float)((int)(state >> 20) - 2048) / 1024.0f;
    }
    return v;
}

inline int64_t product(const Ints &v) {
    int64_t p = 1;
    for (auto x : v) p *= x;
    return p;
}

inline Ints packed(const Ints &dims) {
    Ints s(dims.size(), 1);
    for (int i = (int)dims.size() - 2; i >= 0; i--) s[i] = s[i + 1] * dims[i + 1];
    return s;
}

inline Ints channels_last(const Ints &d) { return {d[1] * d[2] * d[3], 1, d[1] * d[3], d[1]}; }

// Device memory from the CUDA runtime.
struct Device {
    void *p = nullptr;
    size_t bytes;
    explicit Device(size_t n) : bytes(n) { check(cudaMalloc(&p, n ? n : 1) == cudaSuccess, "cudaMalloc"), cudaMemset(p, 0xff, n); }
    explicit Device(const Floats &v) : Device(v.size() * 4) { cudaMemcpy(p, v.data(), bytes, cudaMemcpyHostToDevice); }
    Device(const Device &) = delete;
    ~Device() { cudaFree(p); }
    Floats floats() const {
        Floats v(bytes / 4);
        cudaMemcpy(v.data(), p, bytes, cudaMemcpyDeviceToHost);
        return v;
    }
};

inline fe::graph::Graph float_graph() {
    fe::graph::Graph g;
    g.set_io_data_type(fe::DataType_t::FLOAT).set_intermediate_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
    return g;
}

inline Tensor input(fe::graph::Graph &g, const char *name, const Ints &dims, const Ints &strides = {}) {
    return g.tensor(fe::graph::Tensor_attributes().set_name(name).set_dim(dims).set_stride(strides.empty() ? packed(dims) : strides));
}

using Bound = std::unordered_map<Tensor, void *>;

// Validates, plans by all heuristics, and executes every plan.
inline bool run(cudnnHandle_t handle, const std::string &what, fe::graph::Graph &g, Bound bound, const std::function<void(const std::string &)> &judge) {
    if (!good(g.validate(), what + ": validate") || !good(g.build_operation_graph(handle), what + ": graph")) return false;
    if (!good(g.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}), what + ": plans")) return false;
    if (!good(g.check_support(), what + ": support") || !good(g.build_plans(fe::BuildPlanPolicy_t::ALL), what + ": build")) return false;
    for (int64_t i = 0; i < g.get_execution_plan_count(); i++) {
        Device workspace(g.get_workspace_size_plan_at_index(i));
        if (good(g.execute_plan_at_index(handle, bound, workspace.p, i), what + ": execute")) judge(what + " by plan " + std::to_string(i));
    }
    return true;
}
