// The C++ program: dnnl.hpp, one area per file.
#include "common.hpp"

#define AREAS(each_area) \
    each_area(convolution) each_area(products) each_area(normalization) each_area(elementwise) each_area(windows) each_area(moving) \
            each_area(recurrent) each_area(execution) each_area(verbose) each_area(graphs) each_area(graph_training) each_area(fusion) each_area(internals) each_area(limits)
// What oneDNN forbids or its usual build does not have.
#define OWN_AREAS(each_area) each_area(concurrency) each_area(threadpools) each_area(ukernels) each_area(extensions) each_area(modes) each_area(gpus)
#define DECLARE(name) void area_##name();
#define ROW(name) {#name, guarded<area_##name>, false},
#define OWN_ROW(name) {#name, guarded<area_##name>, true},

AREAS(DECLARE)
OWN_AREAS(DECLARE)
DECLARE(openmp)
DECLARE(environment)
// What happens to a process, each in one of its own.
#define FAULTS(each_area) \
    each_area(forks) each_area(forks_after_jobs) each_area(forked_code) each_area(forked_stream) each_area(forked_memory) each_area(pinned_thread) each_area(small_stack) \
            each_area(small_files) each_area(large_memory) each_area(float_modes) each_area(last_thread) each_area(masks) each_area(little_memory) each_area(shared_scratchpad) each_area(quiet_calls) \
            each_area(fuzz)
FAULTS(DECLARE)

// An area that ends in an error of the library is a failed check; the others still run.
template <void (*run)()>
void guarded() {
    try {
        run();
    } catch (const dnnl::error &e) {
        count_check(false, (std::string(e.what()) + ": " + dnnl_status2str(e.status)).c_str(), __FILE__, __LINE__);
    }
}

int main(int argc, char **argv) {
    static const area areas[] = {AREAS(ROW) OWN_AREAS(OWN_ROW)};
    static const area alone[] = {ROW(openmp) ROW(environment) FAULTS(OWN_ROW)};
    for (const area &a : alone)
        if (argc == 2 && std::strcmp(argv[1], a.name) == 0) return run_areas(&a, 1, argc, argv);
    return run_areas(areas, COUNT_OF(areas), argc, argv);
}
