// Engines of GPUs, as oxidnn has them: none without a driver, and with one what lies between it and the processor.
#define DNNL_EXPERIMENTAL_PROFILING
#include "common.hpp"
#include "oxidnn_dnnl.h"

namespace {

// The processor's memory with these values.
memory on_cpu(const engine &cpu, const md &desc, const values &v) {
    memory m(desc, cpu);
    auto *data = m.map_data<float>();
    for (size_t i = 0; i < v.size(); i++)
        data[i] = float(v[i]);
    m.unmap_data(data);
    return m;
}

values all(const memory &m) {
    auto *data = m.map_data<float>();
    const values v(data, data + m.get_desc().get_size() / sizeof(float));
    m.unmap_data(data);
    return v;
}

void without_a_gpu() {
    dnnl_engine_t e = nullptr;
    INVALID(dnnl_engine_create(&e, dnnl_gpu, 0));
    CHECK(e == nullptr);
    const engine cpu(engine::kind::cpu, 0);
    void *raw = nullptr;
    INVALID(oxidnn_engine_get_cuda_context(cpu.get(), &raw));
    INVALID(oxidnn_engine_create_cuda(&e, nullptr));
    stream s(cpu);
    dnnl_stream_t over = nullptr;
    INVALID(oxidnn_stream_get_cuda_stream(s.get(), &raw));
    INVALID(oxidnn_stream_create_cuda(&over, cpu.get(), nullptr));
    THROWS(dnnl_unimplemented, stream(cpu, stream::flags::profiling));
}

// To the GPU in a blocked layout, and back: a reorder and a copy on the GPU's stream.
void transfers(const engine &cpu, const engine &gpu) {
    const dims d = {3, 20, 5, 4};
    const values x = some(volume(d), 1);
    const memory from = on_cpu(cpu, plain(d), x);
    memory there(md(d, dt::f32, tag::nChw16c), gpu), back(plain(d), cpu);
    const reorder::primitive_desc to(cpu, from.get_desc(), gpu, there.get_desc()), fro(gpu, there.get_desc(), cpu, back.get_desc());
    CHECK(to.get_src_engine() == cpu && to.get_dst_engine() == gpu && to.get_engine() == gpu);
    CHECK(fro.get_src_engine() == gpu && fro.get_dst_engine() == cpu && fro.get_engine() == gpu);
    stream s(gpu);
    memory source = from;
    reorder(to).execute(s, source, there);
    reorder(fro).execute(s, there, back);
    s.wait();
    NEAR_ALL(all(back), x, 0, "there and back");
    void *handle = there.get_data_handle();
    memory same(there.get_desc(), gpu, handle), again(plain(d), cpu);
    reorder(fro).execute(s, same, again);
    s.wait();
    NEAR_ALL(all(again), x, 0, "memory at the address of another");
}

// A product on streams of all makes, without waiting in between.
void streams(const engine &cpu, const engine &gpu) {
    const memory::dim n = 64;
    const values a = integers(n * n, 1, 3), b = integers(n * n, 2, 3);
    values want(n * n, 0);
    for (memory::dim i = 0; i < n; i++)
        for (memory::dim j = 0; j < n; j++)
            for (memory::dim k = 0; k < n; k++)
                want[i * n + j] += a[i * n + k] * b[k * n + j];
    void *context = nullptr;
    OK(oxidnn_engine_get_cuda_context(gpu.get(), &context));
    CHECK(context != nullptr);
    dnnl_engine_t other = nullptr;
    OK(oxidnn_engine_create_cuda(&other, context));
    const engine over(other);
    CHECK(over.get_kind() == engine::kind::gpu);
    for (const engine &e : {gpu, over}) {
        const matmul::primitive_desc pd(e, plain({n, n}), plain({n, n}), plain({n, n}));
        const matmul product(pd);
        stream own(e);
        void *raw = nullptr;
        OK(oxidnn_stream_get_cuda_stream(own.get(), &raw));
        CHECK(raw != nullptr);
        for (void *which : {raw, static_cast<void *>(nullptr), reinterpret_cast<void *>(2)}) {
            dnnl_stream_t handle = nullptr;
            OK(oxidnn_stream_create_cuda(&handle, e.get(), which));
            stream s(handle);
            memory x(plain({n, n}), e), y(plain({n, n}), e), z(plain({n, n}), e), out(plain({n, n}), cpu);
            memory left = on_cpu(cpu, plain({n, n}), a), right = on_cpu(cpu, plain({n, n}), b);
            reorder(left, x).execute(s, left, x);
            reorder(right, y).execute(s, right, y);
            product.execute(s, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, y}, {DNNL_ARG_DST, z}});
            reorder(z, out).execute(s, z, out);
            s.wait();
            NEAR_ALL(all(out), want, 0, "a product on a stream of the caller's");
        }
    }
}

void profiling(const engine &gpu) {
    stream s(gpu, stream::flags::profiling);
    memory x(plain({1024, 1024}), gpu);
    const eltwise_forward relu(eltwise_forward::primitive_desc(
            gpu, prop_kind::forward_inference, algorithm::eltwise_relu, x.get_desc(), x.get_desc(), 0.f));
    for (int i = 0; i < 3; i++)
        relu.execute(s, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, x}});
    int count = 0;
    OK(dnnl_query_profiling_data(s.get(), dnnl_profiling_data_kind_time, &count, nullptr));
    EQUAL(count, 3);
    uint64_t times[3] = {};
    OK(dnnl_query_profiling_data(s.get(), dnnl_profiling_data_kind_time, &count, times));
    for (uint64_t t : times)
        CHECK(t > 0 && t < 1000000000);
    INVALID(dnnl_query_profiling_data(s.get(), dnnl_profiling_data_kind_undef, &count, times));
    OK(dnnl_query_profiling_data(s.get(), dnnl_profiling_data_kind_undef, &count, nullptr));
    EQUAL(count, 3);
    OK(dnnl_reset_profiling(s.get()));
    OK(dnnl_query_profiling_data(s.get(), dnnl_profiling_data_kind_time, &count, nullptr));
    EQUAL(count, 0);
}

void mappings(const engine &gpu) {
    memory m(plain({3, 5}), gpu);
    auto *first = m.map_data<float>(), *second = m.map_data<float>();
    CHECK(first && second && first != second && first != m.get_data_handle());
    for (int i = 0; i < 15; i++)
        first[i] = float(i);
    m.unmap_data(second);
    m.unmap_data(first);
    values want(15);
    for (int i = 0; i < 15; i++)
        want[i] = i;
    NEAR_ALL(all(m), want, 0, "what was written to a mapping");
    float other = 0;
    INVALID(dnnl_memory_unmap_data(m.get(), &other));
}

} // namespace

void area_gpus() {
    const size_t count = engine::get_count(engine::kind::gpu);
    dnnl_engine_t e = nullptr;
    INVALID(dnnl_engine_create(&e, dnnl_gpu, count));
    if (count == 0) return without_a_gpu();
    const engine cpu(engine::kind::cpu, 0), gpu(engine::kind::gpu, 0);
    CHECK(gpu.get_kind() == engine::kind::gpu);
    transfers(cpu, gpu);
    streams(cpu, gpu);
    profiling(gpu);
    mappings(gpu);
}
