// Device memory, if OXIDNN_CUDNN_ENGINE selects the CUDA engine: host buffers are copied there and back around an execution.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

// Whether executions run on a device.
inline bool on_device() {
    static const char *engine = std::getenv("OXIDNN_CUDNN_ENGINE");
    return engine && std::string(engine) == "cuda";
}

// Whether results can be checked: the simulated driver of the tests of `crates/cuda` computes nothing.
inline bool computes() {
    static const bool it = !std::getenv("OXIDNN_TEST_DRIVER");
    return it;
}

// A tensor by its unique id: its size in bytes, and whether it is passed by value (in host memory on any engine).
struct Known {
    size_t bytes;
    bool by_value;
};
inline std::map<int64_t, Known> &known() {
    static std::map<int64_t, Known> all;
    return all;
}

// Device memory through the driver API.
class Device {
    template <typename... Args> void call(const char *name, Args... args) {
        auto function = reinterpret_cast<int (*)(Args...)>(dlsym(library, name));
        if (!function || function(args...) != 0) std::abort();
    }
    void *library, *context = nullptr;
    std::vector<uint64_t> held;
    std::map<void *, std::pair<uint64_t, size_t>> copies;

  public:
    Device() : library(dlopen("libcuda.so.1", RTLD_NOW)) {
        if (!library) library = dlopen("libcuda.so", RTLD_NOW);
        if (!library) std::abort();
        call("cuInit", 0u);
        call("cuDevicePrimaryCtxRetain", &context, 0);
        call("cuCtxPushCurrent_v2", context);
    }
    Device(const Device &) = delete;
    ~Device() {
        for (auto &[host, there] : copies) call("cuMemcpyDtoH_v2", host, there.first, there.second);
        for (auto address : held) call("cuMemFree_v2", address);
        call("cuCtxPopCurrent_v2", &context);
        call("cuDevicePrimaryCtxRelease_v2", 0);
    }
    // A copy of host memory, copied back at the end.
    void *copy(void *host, size_t bytes) {
        auto at = copies.find(host);
        if (at != copies.end() && at->second.second >= bytes) return reinterpret_cast<void *>(at->second.first);
        void *there = constant(host, bytes);
        copies[host] = {reinterpret_cast<uint64_t>(there), bytes};
        return there;
    }
    // The same, not copied back.
    void *constant(const void *host, size_t bytes) {
        uint64_t address = 0;
        call("cuMemAlloc_v2", &address, bytes);
        held.push_back(address);
        call("cuMemcpyHtoD_v2", address, host, bytes);
        return reinterpret_cast<void *>(address);
    }
};
