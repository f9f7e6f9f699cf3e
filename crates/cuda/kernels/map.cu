// Pointwise: each thread makes elements of the destination, neighbours in memory by neighbouring threads.
//
// The header has `unravel` (the position of element i), `element` (reads, computes, writes), and where the destination has padding `inside` and
// `clear`, which zeroes it. Where neighbours lie next to each other in every tensor it has `vector`, which does VECTOR elements, and `aligned`: whether
// memory is such that they are moved in words of 16 bytes; what is left behind whole vectors is made one by one. With BACKWARDS the last elements are made first.
#include "args.cuh"

#ifdef BACKWARDS
#define TURNED true
#else
#define TURNED false
#endif

extern "C" __global__ void __launch_bounds__(256) map(const __grid_constant__ Args a) {
    begin();
    const i64 thread = (i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (i64)gridDim.x * blockDim.x;
    i64 done = 0;
#ifdef VECTOR
    if (aligned(a)) {
        done = a.count / VECTOR * VECTOR;
        for (i64 i = thread * VECTOR; i < done; i += threads * VECTOR) {
            index p[RANK];
            unravel(a, (index)(TURNED ? done - VECTOR - i : i), p);
            vector(a, p);
        }
    }
#endif
    for (i64 i = done + thread; i < a.count; i += threads) {
        index p[RANK];
        unravel(a, (index)(TURNED && done == 0 ? a.count - 1 - i : i), p);
#ifdef PADDED
        if (!inside(a, p)) {
            clear(a, p);
            continue;
        }
#endif
        element(a, p);
    }
    end();
}
