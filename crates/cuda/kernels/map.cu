// Pointwise: each thread makes elements of the destination, neighbours in memory by neighbouring threads.
//
// The header has `unravel` (the position of element i), `element` (reads, computes, writes), and where the destination has padding `inside` and
// `clear`, which zeroes it.
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(256) map(const __grid_constant__ Args a) {
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += (i64)gridDim.x * blockDim.x) {
        index p[RANK];
        unravel(a, (index)i, p);
#ifdef PADDED
        if (!inside(a, p)) {
            clear(a, p);
            continue;
        }
#endif
        element(a, p);
    }
}
