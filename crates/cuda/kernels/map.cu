// Element-wise operations: a grid-stride loop over the elements of the destination in the order of memory (coalesced).
//
// The generated header has `unravel`, the position of element i, and `element`, which reads, computes and writes one element; if the destination has padding,
// `inside` and `clear`, which zeroes it. If all tensors are contiguous along the same dimension it has `vector`, which does the same for VECTOR elements, and
// `aligned`, whether the addresses allow vector accesses; elements after the last whole vector are done singly. With BACKWARDS the order is reversed.
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
