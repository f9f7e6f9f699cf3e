// Milliseconds from before the library is loaded until it is, and until the first primitive is made.
#include <chrono>
#include <cstdio>
#include <dlfcn.h>

#include "dnnl.h"

template <typename F>
F *find(void *library, F *, const char *name) {
    return reinterpret_cast<F *>(dlsym(library, name));
}
#define CALL(name, ...) \
    if (find(library, static_cast<decltype(&name)>(nullptr), #name)(__VA_ARGS__) != dnnl_success) return 1

int main(int, char **argv) {
    using clock = std::chrono::steady_clock;
    const auto since = [](clock::time_point begin) { return std::chrono::duration<double, std::milli>(clock::now() - begin).count(); };
    const auto begin = clock::now();
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    const double loaded = since(begin);
    dnnl_engine_t engine;
    dnnl_memory_desc_t src, weights, dst;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    const dnnl_dims_t dims = {64, 64};
    CALL(dnnl_engine_create, &engine, dnnl_cpu, 0);
    CALL(dnnl_memory_desc_create_with_tag, &src, 2, dims, dnnl_f32, dnnl_ab);
    CALL(dnnl_memory_desc_create_with_tag, &weights, 2, dims, dnnl_f32, dnnl_ab);
    CALL(dnnl_memory_desc_create_with_tag, &dst, 2, dims, dnnl_f32, dnnl_ab);
    CALL(dnnl_matmul_primitive_desc_create, &desc, engine, src, weights, nullptr, dst, nullptr);
    CALL(dnnl_primitive_create, &primitive, desc);
    std::printf("%f %f\n", loaded, since(begin));
    return 0;
}
