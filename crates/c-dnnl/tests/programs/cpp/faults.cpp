// What happens to a process: it forks, its threads are pinned, have small stacks, end, or compute in other modes; its files are limited.
#include <dirent.h>
#include <pthread.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common.hpp"

void area_convolution();
void area_products();
void area_normalization();
void area_elementwise();
void area_windows();
void area_moving();
void area_recurrent();

namespace {

// A product on several threads, with code of its own for each slope.
struct product {
    matmul::primitive_desc pd;
    matmul primitive;
    memory src, weights, dst;

    explicit product(memory::dim n, float slope = 0)
        : pd(the_engine(), plain({n, n}), plain({n, n}), plain({n, n}), with(slope))
        , primitive(pd)
        , src(put(pd.src_desc(), integers(n * n, 1, 3)))
        , weights(put(pd.weights_desc(), integers(n * n, 2, 3)))
        , dst(pd.dst_desc(), the_engine()) {}

    static primitive_attr with(float slope) {
        primitive_attr attr;
        post_ops ops;
        if (slope != 0) ops.append_eltwise(algorithm::eltwise_linear, slope, 0);
        attr.set_post_ops(ops);
        return attr;
    }

    void execute() { run(primitive, {{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst}}); }
    float first() const { return *static_cast<const float *>(dst.get_data_handle()); }
};

// Runs `what` in a forked child; false where it returns false, dies, or hangs.
template <typename What>
bool in_child(What what, unsigned seconds = 120) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(seconds);
        bool right = false;
        try {
            right = what();
        } catch (const dnnl::error &) {}
        _exit(right ? 0 : 1);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// Bytes of the process: those that are mapped, and those that have memory.
std::pair<size_t, size_t> process_bytes() {
    long size = 0, resident = 0;
    if (FILE *file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    return {size_t(size) * page, size_t(resident) * page};
}

size_t resident_bytes() { return process_bytes().second; }

// The forks of an area that `usual` are of without OXIDNN_FORKS.
int forks(int usual) {
    const char *count = std::getenv("OXIDNN_FORKS");
    return count ? std::atoi(count) : usual;
}

// The process's threads but the first.
std::vector<pid_t> other_threads() {
    std::vector<pid_t> threads;
    DIR *tasks = opendir("/proc/self/task");
    while (const dirent *task = readdir(tasks)) {
        const pid_t thread = pid_t(std::atoi(task->d_name));
        if (thread > 0 && thread != getpid()) threads.push_back(thread);
    }
    closedir(tasks);
    return threads;
}

int allowed(pid_t thread) {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(thread, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void pin(int core, pid_t thread = 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    CHECK(sched_setaffinity(thread, sizeof set, &set) == 0);
}

} // namespace

// Children execute what their parent made, and make and execute what it did not, while the parent's threads do the same.
void area_forks() {
    product p(96);
    p.execute();
    const float want = p.first();
    std::atomic<bool> stop {false};
    std::atomic<int> made {0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++)
        threads.emplace_back([&, t] {
            for (int i = 1; !stop; i++, made++)
                product(16 + i % 32, float(i * 2 + t)).execute();
        });
    while (made < 10)
        std::this_thread::yield();
    for (int i = 0, n = forks(150); i < n; i++) {
        p.execute();
        CHECK(in_child([&] {
            p.execute();
            if (p.first() != want) return false;
            product own(96, -float(i + 2));
            own.execute();
            if (own.first() != want * -float(i + 2)) return false;
            // A child of the child.
            return i % 50 != 0 || in_child([&] {
                p.execute();
                return p.first() == want;
            });
        }));
    }
    stop = true;
    for (auto &t : threads)
        t.join();
    p.execute();
    CHECK(p.first() == want);
}

// A child of a process whose asynchronous stream has work under way: the work that the parent had begun is the parent's, as the next wait says; what the
// child submits then is done, and its children's too.
void area_forked_stream() {
    product p(96), large(700);
    p.execute();
    const float want = p.first();
    for (int i = 0, n = forks(60); i < n; i++) {
        const bool busy = i % 2;
        if (busy)
            large.primitive.execute(the_stream(), {{DNNL_ARG_SRC, large.src}, {DNNL_ARG_WEIGHTS, large.weights}, {DNNL_ARG_DST, large.dst}});
        else
            the_stream().wait(); // The work of the round before may take longer than that round's child lived.
        CHECK(in_child([&] {
            const bool told = thrown([&] { the_stream().wait(); }) != dnnl_success;
            if (told && !busy) return false;
            product own(32 + i % 3, 2.0f);
            own.execute();
            p.execute();
            if (p.first() != want) return false;
            return i % 20 != 0 || in_child([&] {
                p.execute();
                return p.first() == want;
            });
        }));
        the_stream().wait();
    }
}

// Children use memory whose uses other threads of their parent look at in that moment.
void area_forked_memory() {
    product p(32);
    p.execute();
    const float want = p.first();
    std::atomic<bool> stop {false};
    std::atomic<int> ready {0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            stream own(the_engine());
            memory dst(p.pd.dst_desc(), the_engine());
            for (bool first = true; !stop; first = false) {
                p.primitive.execute(own, {{DNNL_ARG_SRC, p.src}, {DNNL_ARG_WEIGHTS, p.weights}, {DNNL_ARG_DST, dst}});
                p.src.unmap_data(p.src.map_data());
                ready += first;
            }
            own.wait();
        });
    while (ready < 4)
        std::this_thread::yield();
    for (int i = 0, n = forks(300); i < n; i++)
        CHECK(in_child([&] {
            p.execute();
            return p.first() == want;
        }));
    stop = true;
    for (auto &t : threads)
        t.join();
}

// Forks between jobs, when workers of the parent are on their way to sleep.
void area_forks_after_jobs() {
    product p(96);
    p.execute();
    const float want = p.first();
    for (int i = 0, n = forks(1500); i < n; i++) {
        p.execute();
        CHECK(in_child([&] {
            p.execute();
            return p.first() == want;
        }));
    }
}

// A child has no way to write to the code that its parent runs, nor to threads of its parent's.
void area_forked_code() {
    product p(96);
    p.execute();
    CHECK(in_child([] {
        FILE *maps = std::fopen("/proc/self/maps", "r");
        char line[4096];
        std::vector<std::pair<unsigned long, unsigned long>> views;
        while (maps && std::fgets(line, sizeof line, maps)) {
            unsigned long from, to;
            char rights[8];
            if (std::strstr(line, "oxidnn-code") && std::sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3) {
                if (rights[1] == 'w') return false;
                views.emplace_back(from, to - from);
            }
        }
        if (!maps) return false;
        std::fclose(maps);
        for (auto &view : views) {
            void *start = reinterpret_cast<void *>(view.first);
            if (mprotect(start, view.second, PROT_READ | PROT_WRITE) == 0) std::memset(start, 0xcc, view.second);
        }
        return true;
    }));
    const float before = p.first();
    p.execute();
    CHECK(p.first() == before);
}

// The first use on a thread that is pinned to one core leaves the process all the others.
void area_pinned_thread() {
    const int cores = allowed(getpid());
    std::thread([] {
        pin(sched_getcpu());
        product(64).execute();
    }).join();
    product(512).execute();
    const std::vector<pid_t> workers = other_threads();
    for (pid_t worker : workers)
        EQUAL(allowed(worker), cores);
    EQUAL(workers.size(), size_t(cores - 1));
}

// Returns when a thread of this process sleeps.
void wait_for_sleep(pid_t thread) {
    const std::string name = "/proc/self/task/" + std::to_string(thread) + "/stat";
    for (char state = 0; state != 'S'; usleep(200))
        if (FILE *file = std::fopen(name.c_str(), "r")) {
            if (std::fscanf(file, "%*d %*[^)]) %c", &state) != 1) state = 0;
            std::fclose(file);
        }
}

// The cores that a sleeping worker was given from outside stay its own, whatever this process and its children execute then.
void area_masks() {
    product p(384);
    p.execute();
    const std::vector<pid_t> workers = other_threads();
    cpu_set_t all;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int i = 0; i < 60; i++) {
        for (pid_t worker : workers)
            CHECK(sched_setaffinity(worker, sizeof all, &all) == 0);
        p.execute();
        const int core = sched_getcpu();
        for (pid_t worker : workers) {
            wait_for_sleep(worker);
            pin(core, worker);
        }
        if (i % 4 == 0)
            CHECK(in_child([&] {
                p.execute();
                return true;
            }));
        p.execute();
        for (pid_t worker : workers) {
            wait_for_sleep(worker);
            cpu_set_t set;
            CHECK(sched_getaffinity(worker, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 && CPU_ISSET(core, &set));
        }
    }
}

// Wherever the system has no more memory, calls say so, or it was enough.
void area_little_memory() {
    for (size_t kb = 64; kb <= 3072; kb += 188)
        CHECK(in_child([&] {
            const rlimit most {process_bytes().first + (kb << 10), RLIM_INFINITY};
            if (setrlimit(RLIMIT_AS, &most) != 0) return false;
            try {
                for (memory::dim i = 1; i < 40; i++) {
                    const dnnl_status_t status = thrown([&] { product(8 * i, float(i)).execute(); });
                    if (status != dnnl_success && status != dnnl_out_of_memory) return false;
                }
            } catch (const std::bad_alloc &) {
                // The program's own.
            }
            return true;
        }));
}

// A scratchpad of the program's that lies in the result as well is refused, or does no harm to anything else.
void area_shared_scratchpad() {
    primitive_attr attr;
    attr.set_scratchpad_mode(scratchpad_mode::user);
    const md src = open({2, 32, 14, 14}), weights = open({64, 32, 3, 3}), dst = open({2, 64, 14, 14});
    convolution_forward::primitive_desc pd(
            the_engine(), prop_kind::forward_inference, algorithm::convolution_direct, src, weights, dst, {1, 1}, {1, 1}, {1, 1}, attr);
    const size_t scratch = pd.scratchpad_desc().get_size();
    CHECK(scratch > 0);
    std::vector<char> both(scratch + pd.dst_desc().get_size() + 64);
    convolution_forward convolve(pd);
    memory from(pd.src_desc(), the_engine()), by(pd.weights_desc(), the_engine());
    memory to(pd.dst_desc(), the_engine(), both.data()), room(pd.scratchpad_desc(), the_engine(), both.data());
    THROWS(dnnl_invalid_arguments,
            run(convolve, {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_DST, to}, {DNNL_ARG_SCRATCHPAD, room}}));
}

// Streams, and answers about descriptors, ask nothing of the system: a call of it would end the child.
void area_quiet_calls() {
    const md desc = plain({8, 16});
    stream(the_engine()).wait();
    CHECK(in_child([&] {
        std::vector<dnnl_stream_t> streams(64);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return false;
        bool right = true;
        for (int i = 0; i < 1000; i++) {
            dnnl_stream_t &s = streams[size_t(i) % streams.size()];
            right = right && dnnl_stream_create(&s, the_engine().get(), dnnl_stream_default_flags) == dnnl_success;
            right = right && dnnl_memory_desc_get_size(desc.get()) == 512 && dnnl_memory_desc_equal(desc.get(), desc.get());
            right = right && dnnl_stream_destroy(s) == dnnl_success;
        }
        syscall(SYS_exit, right ? 0 : 1);
        return false;
    }));
}

// All areas of primitives on a thread with a small stack.
void area_small_stack() {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    CHECK(pthread_attr_setstacksize(&attr, 64 << 10) == 0);
    void (*const areas[])() = {area_convolution, area_products, area_normalization, area_elementwise, area_windows, area_moving, area_recurrent};
    for (auto area : areas) {
        pthread_t thread;
        auto call = [](void *area) -> void * {
            reinterpret_cast<void (*)()>(area)();
            return nullptr;
        };
        CHECK(pthread_create(&thread, &attr, call, reinterpret_cast<void *>(area)) == 0);
        CHECK(pthread_join(thread, nullptr) == 0);
    }
    pthread_attr_destroy(&attr);
}

// Files may not grow: code goes elsewhere.
void area_small_files() {
    const rlimit none {0, 0};
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
    product p(96), scaled(96, 2);
    p.execute();
    scaled.execute();
    CHECK(scaled.first() == 2 * p.first());
}

// Memory that the library allocates costs nothing before it is used.
void area_large_memory() {
    const size_t before = resident_bytes();
    memory large(md({1 << 14, 1 << 14}, dt::f32, tag::ab), the_engine());
    CHECK(resident_bytes() - before < 64 << 20);
    const float *data = static_cast<const float *>(large.get_data_handle());
    CHECK(data[0] == 0 && data[(1 << 28) - 1] == 0 && reinterpret_cast<uintptr_t>(data) % 64 == 0);
}

// Results are those of the calling thread's modes, whichever thread computes them and whatever mode was first used.
void area_float_modes() {
    const unsigned usual = _mm_getcsr(), flush = usual | 0x8040, up = (usual & ~0x6000u) | 0x4000;
    const memory::dim n = 1 << 20;
    const md desc = plain({n});
    memory src(desc, the_engine()), dst(desc, the_engine());
    float *from = static_cast<float *>(src.get_data_handle()), *to = static_cast<float *>(dst.get_data_handle());
    eltwise_forward scale(eltwise_forward::primitive_desc(
            the_engine(), prop_kind::forward_inference, algorithm::eltwise_linear, desc, desc, 1.f / 3, 0.f));
    auto different = [&](unsigned mode, float value) {
        for (memory::dim i = 0; i < n; i++)
            from[i] = value;
        _mm_setcsr(mode);
        run(scale, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
        volatile float third = 1.f / 3, factor = value;
        const float want = factor * third;
        _mm_setcsr(usual);
        memory::dim count = 0;
        for (memory::dim i = 0; i < n; i++)
            count += std::memcmp(&to[i], &want, sizeof want) != 0;
        return count;
    };
    for (unsigned mode : {flush, usual, up, flush, up, usual}) {
        EQUAL(different(mode, 3e-39f), 0);
        EQUAL(different(mode, 1.1f), 0);
    }
}

// The first thread ends before the process: that ends when nobody but the library's threads is left.
void area_last_thread() {
    product(512).execute();
    CHECK(true);
    std::fflush(stdout);
    alarm(30);
    pthread_exit(nullptr);
}
