// Short forms for descriptors of the backend interface, and counted checks.
#pragma once
#include <cudnn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "device.hpp"

extern int checks, failures;

inline void check(bool ok, const std::string &what) {
    checks++;
    if (!ok) {
        failures++;
        char text[2048] = "";
        cudnnGetLastErrorString(text, sizeof text);
        printf("FAILED: %s (%s)\n", what.c_str(), text);
    }
}

inline void is(cudnnStatus_t got, cudnnStatus_t expected, const std::string &what) {
    check(got == expected, what + ": got " + std::to_string(got) + ", expected " + std::to_string(expected));
}

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

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

// A descriptor, destroyed at the end.
struct D {
    cudnnBackendDescriptor_t d = nullptr;
    explicit D(int type) { is(cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)type, &d), CUDNN_STATUS_SUCCESS, "create"); }
    D(const D &) = delete;
    D(D &&o) noexcept : d(o.d) { o.d = nullptr; }
    ~D() { cudnnBackendDestroyDescriptor(d); }
    cudnnStatus_t set(int name, int type, int64_t count, const void *p) {
        return cudnnBackendSetAttribute(d, (cudnnBackendAttributeName_t)name, (cudnnBackendAttributeType_t)type, count, p);
    }
    D &ints(int name, const Ints &v) {
        is(set(name, CUDNN_TYPE_INT64, (int64_t)v.size(), v.data()), CUDNN_STATUS_SUCCESS, "ints " + std::to_string(name));
        return *this;
    }
    // An enumerator, or a 32-bit integer.
    D &kind(int name, int type, int v) {
        is(set(name, type, 1, &v), CUDNN_STATUS_SUCCESS, "kind " + std::to_string(name));
        return *this;
    }
    D &flag(int name, bool v) {
        is(set(name, CUDNN_TYPE_BOOLEAN, 1, &v), CUDNN_STATUS_SUCCESS, "flag " + std::to_string(name));
        return *this;
    }
    D &real(int name, double v) {
        is(set(name, CUDNN_TYPE_DOUBLE, 1, &v), CUDNN_STATUS_SUCCESS, "real " + std::to_string(name));
        return *this;
    }
    D &single(int name, float v) {
        is(set(name, CUDNN_TYPE_FLOAT, 1, &v), CUDNN_STATUS_SUCCESS, "single " + std::to_string(name));
        return *this;
    }
    D &with(int name, const D &o) {
        is(set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &o.d), CUDNN_STATUS_SUCCESS, "descriptor " + std::to_string(name));
        return *this;
    }
    D &all(int name, const std::vector<const D *> &list) {
        std::vector<cudnnBackendDescriptor_t> p;
        for (auto o : list) p.push_back(o->d);
        is(set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, (int64_t)p.size(), p.data()), CUDNN_STATUS_SUCCESS, "descriptors " + std::to_string(name));
        return *this;
    }
    D &done() {
        is(cudnnBackendFinalize(d), CUDNN_STATUS_SUCCESS, "finalize");
        return *this;
    }
    int64_t int64(int name) const {
        int64_t v = -1;
        is(cudnnBackendGetAttribute(d, (cudnnBackendAttributeName_t)name, CUDNN_TYPE_INT64, 1, nullptr, &v), CUDNN_STATUS_SUCCESS,
           "get " + std::to_string(name));
        return v;
    }
};

struct TensorOf {
    int dtype = CUDNN_DATA_FLOAT;
    bool is_virtual = false;
    Ints strides = {};
    bool by_value = false;
    int reordering = 0;
    // Channels in a vector; sizes and strides count vectors.
    int vector = 1;
};

// Size in bytes of contiguous elements of a type.
inline size_t bytes_of(int dtype, int64_t count) {
    switch (dtype) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64: return count * 8;
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_INT32: return count * 4;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16: return count * 2;
    case CUDNN_DATA_FP4_E2M1:
    case CUDNN_DATA_INT4:
    case CUDNN_DATA_UINT4: return (count + 1) / 2;
    case CUDNN_DATA_BOOLEAN: return (count + 7) / 8;
    default: return count;
    }
}

inline D tensor(int64_t uid, const Ints &dims, const TensorOf &of = {}) {
    D t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    t.ints(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid}).ints(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
    t.ints(CUDNN_ATTR_TENSOR_STRIDES, of.strides.empty() ? packed(dims) : of.strides).ints(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
    t.kind(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, of.dtype).flag(CUDNN_ATTR_TENSOR_IS_VIRTUAL, of.is_virtual);
    if (of.by_value) t.flag(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    if (of.reordering) t.kind(CUDNN_ATTR_TENSOR_REORDERING_MODE, CUDNN_TYPE_TENSOR_REORDERING_MODE, of.reordering);
    if (of.vector > 1) t.ints(CUDNN_ATTR_TENSOR_VECTOR_COUNT, {of.vector}).ints(CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, {1});
    t.done();
    const Ints steps = of.strides.empty() ? packed(dims) : of.strides;
    int64_t last = 0;
    for (size_t d = 0; d < dims.size(); d++) last += (dims[d] - 1) * steps[d];
    known()[uid] = {bytes_of(of.dtype, (last + 1) * of.vector), of.by_value};
    return t;
}
inline D between(int64_t uid, const Ints &dims, int dtype = CUDNN_DATA_FLOAT) { return tensor(uid, dims, {dtype, true, {}, false, 0, 1}); }

inline D graph(cudnnHandle_t handle, const std::vector<const D *> &ops) {
    D g(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    is(g.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle), CUDNN_STATUS_SUCCESS, "handle");
    g.all(CUDNN_ATTR_OPERATIONGRAPH_OPS, ops).done();
    return g;
}

inline D plan_of(cudnnHandle_t handle, const D &g, int64_t index) {
    D engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.with(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, g).ints(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {index}).done();
    D config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    config.with(CUDNN_ATTR_ENGINECFG_ENGINE, engine).done();
    D plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    is(plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle), CUDNN_STATUS_SUCCESS, "handle");
    plan.with(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config).done();
    return plan;
}

using Bound = std::map<int64_t, const void *>;

inline D pack_of(const Bound &bound, void *workspace) {
    D pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    Ints uids;
    std::vector<const void *> pointers;
    for (auto &b : bound) uids.push_back(b.first), pointers.push_back(b.second);
    is(pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace), CUDNN_STATUS_SUCCESS, "workspace");
    is(pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, (int64_t)pointers.size(), pointers.data()), CUDNN_STATUS_SUCCESS,
       "pointers");
    pack.ints(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids).done();
    return pack;
}

inline cudnnStatus_t execute(cudnnHandle_t handle, const D &plan, const Bound &bound) {
    int64_t bytes = plan.int64(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    // A workspace of exactly that size, unaligned, filled with NaN; null for size 0.
    std::vector<unsigned char> room(bytes + 1, 0xff);
    if (on_device()) {
        Device device;
        Bound there = bound;
        for (auto &[uid, at] : there)
            if (at && known().count(uid) && !known()[uid].by_value) at = device.copy(const_cast<void *>(at), known()[uid].bytes);
        D pack = pack_of(there, bytes ? static_cast<char *>(device.constant(room.data(), room.size())) + 1 : nullptr);
        return cudnnBackendExecute(handle, plan.d, pack.d);
    }
    D pack = pack_of(bound, bytes ? room.data() + 1 : nullptr);
    return cudnnBackendExecute(handle, plan.d, pack.d);
}

// Collects what plans report during its lifetime: the implementations of their steps.
struct Told {
    std::string text;
    static void listen(cudnnSeverity_t, void *user, const cudnnDebug_t *, const char *message) {
        for (; *message; message += strlen(message) + 1) static_cast<Told *>(user)->text += std::string(message) + "\n";
    }
    Told() { is(cudnnSetCallback(1 << CUDNN_SEV_INFO, this, listen), CUDNN_STATUS_SUCCESS, "listen"); }
    Told(const Told &) = delete;
    ~Told() { is(cudnnSetCallback(0, nullptr, nullptr), CUDNN_STATUS_SUCCESS, "listen no more"); }
    bool has(const std::string &word) const { return text.find(word) != std::string::npos; }
    // The largest number of steps of a plan.
    int steps() const {
        int most = 0;
        for (size_t at = 0; (at = text.find(": ", at)) != std::string::npos; at += 2) most = std::max(most, atoi(text.c_str() + at + 2));
        return most;
    }
};

// Runs the graph on every engine and has `judge` check the results each time.
inline void run(cudnnHandle_t handle, const std::string &what, const std::vector<const D *> &ops, const Bound &bound,
                const std::function<void(const std::string &)> &judge) {
    D g = graph(handle, ops);
    int64_t count = g.int64(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
    check(count == 3, "engines");
    for (int64_t i = 0; i < count; i++) {
        std::string name = what + " on engine " + std::to_string(i);
        int before = failures;
        D plan = plan_of(handle, g, i);
        if (failures == before) is(execute(handle, plan, bound), CUDNN_STATUS_SUCCESS, name);
        if (failures == before && computes()) judge(name);
    }
}

inline void close_to(const std::string &what, const Floats &got, const Floats &expected, double tolerance = 1e-5) {
    if (!computes()) return;
    check(got.size() == expected.size(), what + ": sizes");
    for (size_t i = 0; i < got.size() && i < expected.size(); i++) {
        bool same = got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i]));
        if (!same && !(std::fabs(got[i] - expected[i]) <= tolerance * (1 + std::fabs(expected[i])))) {
            check(false, what + ": element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", expected " + std::to_string(expected[i]));
            return;
        }
    }
    checks++;
}

// Reproducible values between -2 and 2.
inline Floats numbers(int64_t count, unsigned seed) {
    Floats v(count);
    unsigned state = seed * 2654435761u + 12345;
    for (auto &x : v) {
        state = state * 1664525u + 1013904223u;
        x = (float)((int)(state >> 20) - 2048) / 1024.0f;
    }
    return v;
}

inline const float NOTHING = std::numeric_limits<float>::quiet_NaN();

void convolutions(cudnnHandle_t);
void elements(cudnnHandle_t);
void products(cudnnHandle_t);
void reductions(cudnnHandle_t);
void pools(cudnnHandle_t);
void nans(cudnnHandle_t);
void knobs(cudnnHandle_t);
void norms(cudnnHandle_t);
void attention(cudnnHandle_t);
void moving(cudnnHandle_t);
void blocks(cudnnHandle_t);
void random_numbers(cudnnHandle_t);
void objects(cudnnHandle_t);
void fuzz(cudnnHandle_t);
void measured_choices(cudnnHandle_t);
