// Programs that have OpenMP: executions use its threads, as many as it was told.
#include <dirent.h>
#include <dlfcn.h>

#include <thread>

#include "common.hpp"

namespace {

int threads_of_process() {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && readdir(tasks))
        count++;
    if (tasks) closedir(tasks);
    return count;
}

values convolve() {
    const dims d = {4, 32, 28, 28}, w = {32, 32, 3, 3};
    convolution_forward::primitive_desc pd(
            the_engine(), prop_kind::forward_inference, algorithm::convolution_direct, open(d), open(w), open(d), {1, 1}, {1, 1}, {1, 1});
    arguments args = {{DNNL_ARG_SRC, put(pd.src_desc(), integers(volume(d), 1, 3))},
            {DNNL_ARG_WEIGHTS, put(pd.weights_desc(), integers(volume(w), 2, 3))}};
    return run_for(convolution_forward(pd), args, DNNL_ARG_DST, pd.dst_desc());
}

} // namespace

void area_openmp() {
    void *openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    auto set_threads = openmp ? (void (*)(int))dlsym(openmp, "omp_set_num_threads") : nullptr;
    const int before = threads_of_process();
    CHECK(before > 0);
    if (!set_threads || std::thread::hardware_concurrency() < 2) return;
    set_threads(1);
    const values alone = convolve();
    EQUAL(threads_of_process(), before);
    set_threads(2);
    NEAR_ALL(convolve(), alone, 0, "a convolution on two threads of OpenMP");
    EQUAL(threads_of_process(), before + 1);
}
