// Pointwise: each thread makes elements of the destination, neighbours in memory by neighbouring threads.
//
// The header has `unravel` (the position of element i), `element` (reads, computes, writes), and where the destination has padding `inside` and
// `clear`, which zeroes it. Where neighbours lie next to each other in every tensor it has `vector`, which does VECTOR elements, and `aligned`: whether
// memory is such that they are moved in words of 16 bytes. With BACKWARDS the last elements are made first.
#include "args.cuh"

#ifdef BACKWARDS
#define TURNED true
#else
#define TURNED false
#endif

extern "C" __global__ void __launch_bounds__(256) map(const __grid_constant__ Args a) {
    begin();
    const i64 thread = (i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (i64)gridDim.x * blockDim.x;
#ifdef VECTOR
    if (aligned(a)) {
        for (i64 i = thread * VECTOR; i < a.count; i += threads * VECTOR) {
            index p[RANK];
            unravel(a, (index)(TURNED ? a.count - VECTOR - i : i), p);
            vector(a, p);
        }
        return;
    }
#endif
    for (i64 i = thread; i < a.count; i += threads) {
        index p[RANK];
        unravel(a, (index)(TURNED ? a.count - 1 - i : i), p);
#ifdef PADDED
        if (!inside(a, p)) {
            clear(a, p);
            continue;
        }
#endif
        element(a, p);
    }
}
