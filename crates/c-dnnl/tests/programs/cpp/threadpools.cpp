// A thread pool of the program's own: streams that run on it, and the three products.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "common.hpp"
#include "oneapi/dnnl/dnnl_threadpool.hpp"

namespace {

// Four threads that take pieces of one call at a time.
class pool : public threadpool_interop::threadpool_iface {
public:
    std::atomic<int> calls {0};

    int get_num_threads() const override { return 4; }
    bool get_in_parallel() const override { return inside; }
    uint64_t get_flags() const override { return 0; }
    void wait() override {}
    void parallel_for(int n, const std::function<void(int, int)> &fn) override {
        calls++;
        std::atomic<int> next {0};
        auto work = [&] {
            inside = true;
            for (int i = next++; i < n; i = next++)
                fn(i, n);
            inside = false;
        };
        std::vector<std::thread> threads;
        for (int t = 1; t < std::min(n, get_num_threads()); t++)
            threads.emplace_back(work);
        work();
        for (auto &t : threads)
            t.join();
    }

private:
    static thread_local bool inside;
};
thread_local bool pool::inside = false;

void streams() {
    pool mine;
    stream s = threadpool_interop::make_stream(the_engine(), &mine);
    CHECK(threadpool_interop::get_threadpool(s) == &mine);
    const dims d = {8, 32, 28, 28}, w = {32, 32, 3, 3};
    const values x = integers(volume(d), 1, 3), k = integers(volume(w), 2, 3);
    convolution_forward::primitive_desc pd(
            the_engine(), prop_kind::forward_inference, algorithm::convolution_direct, open(d), open(w), open(d), {1, 1}, {1, 1}, {1, 1});
    convolution_forward conv(pd);
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), x)}, {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), k)}};
    const values want = run_for(conv, args, DNNL_ARG_DST, pd.dst_desc());
    args[DNNL_ARG_DST] = memory(pd.dst_desc(), the_engine());
    conv.execute(s, args);
    s.wait();
    NEAR_ALL(get(args[DNNL_ARG_DST]), want, 0, "a convolution on the caller's pool");
    CHECK(mine.calls > 0);
    dnnl_stream_t none = nullptr;
    void *got = nullptr;
    INVALID(dnnl_threadpool_interop_stream_create(nullptr, the_engine().get(), &mine));
    INVALID(dnnl_threadpool_interop_stream_create(&none, nullptr, &mine));
    INVALID(dnnl_threadpool_interop_stream_get_threadpool(s.get(), nullptr));
    INVALID(dnnl_threadpool_interop_stream_get_threadpool(nullptr, &got));
}

void concurrency_limit() {
    int before = 0, now = 0;
    OK(dnnl_threadpool_interop_get_max_concurrency(&before));
    CHECK(before > 0);
    OK(dnnl_threadpool_interop_set_max_concurrency(3));
    OK(dnnl_threadpool_interop_get_max_concurrency(&now));
    EQUAL(now, 3);
    INVALID(dnnl_threadpool_interop_get_max_concurrency(nullptr));
    OK(dnnl_threadpool_interop_set_max_concurrency(before));
}

void products() {
    pool mine;
    const int m = 6, n = 5, k = 7;
    std::vector<float> a(m * k), b(k * n), c(m * n), c2(m * n);
    std::vector<uint8_t> u(m * k);
    std::vector<int8_t> s(m * k), t(k * n);
    std::vector<int32_t> i32(m * n), other(m * n), zero(1, 0);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = float(i % 5);
        u[i] = uint8_t(i % 100);
        s[i] = int8_t(int(i % 100) - 50);
    }
    for (size_t i = 0; i < b.size(); i++) {
        b[i] = float(i % 7) - 3;
        t[i] = int8_t(int(i % 60) - 30);
    }
    CHECK(threadpool_interop::sgemm('N', 'N', m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n, &mine) == dnnl::status::success);
    CHECK(sgemm('N', 'N', m, n, k, 1, a.data(), k, b.data(), n, 0, c2.data(), n) == dnnl::status::success);
    CHECK(c == c2);
    CHECK(threadpool_interop::gemm_u8s8s32('N', 'N', 'F', m, n, k, 1, u.data(), k, 3, t.data(), n, -2, 0, i32.data(), n, zero.data(), &mine)
            == dnnl::status::success);
    CHECK(gemm_u8s8s32('N', 'N', 'F', m, n, k, 1, u.data(), k, 3, t.data(), n, -2, 0, other.data(), n, zero.data())
            == dnnl::status::success);
    CHECK(i32 == other);
    CHECK(threadpool_interop::gemm_s8s8s32('N', 'N', 'F', m, n, k, 1, s.data(), k, 3, t.data(), n, -2, 0, i32.data(), n, zero.data(), &mine)
            == dnnl::status::success);
    CHECK(gemm_s8s8s32('N', 'N', 'F', m, n, k, 1, s.data(), k, 3, t.data(), n, -2, 0, other.data(), n, zero.data())
            == dnnl::status::success);
    CHECK(i32 == other);
}

} // namespace

void area_threadpools() {
    streams();
    concurrency_limit();
    products();
}
