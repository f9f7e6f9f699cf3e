// Reductions down columns (softmax or normalisation along a dimension that is not contiguous), with all terms in registers: one read of the input, all stages,
// one write.
//
// GROUP threads (a warp or the CTA) share columns: LANES of them are side by side with VECTOR columns each, the other GROUP / LANES divide the terms. A thread
// has at most CHUNKS terms, and at least SURE (those need no bounds check). BLOCKS: CTAs per SM, at least.
//
// With STAGED > 0 the kernel is persistent and each CTA prefetches the columns of its next STAGED iterations into shared memory (cp.async), so that loads overlap
// with reductions and stores. A thread copies what it reads itself: no barriers.
//
// The generated header has `column`, which loads, reduces and writes the columns from output o on and prefetches those `step` further, `fetch_columns`, the
// prefetch, and `reduced`, which combines a stage's values of all threads in an order that depends on the sizes only.
#define PARTS (GROUP / LANES)
#define WIDTH (THREADS / GROUP * LANES * VECTOR)
#include "fetch.cuh"
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) columns_vector(const __grid_constant__ Args a) {
    begin();
    const int lane = threadIdx.x / GROUP * LANES + threadIdx.x % LANES, part = threadIdx.x % GROUP / LANES;
    const i64 step = (i64)gridDim.x * WIDTH;
    i64 first = (i64)blockIdx.x * WIDTH;
#if STAGED
#pragma unroll
    for (int turn = 0; turn < STAGED; ++turn) fetch_columns(a, first + turn * step + lane * VECTOR, part, turn);
#endif
    for (int slot = 0; first < a.outputs; first += step) {
        column(a, first + lane * VECTOR, STAGED * step, part, slot);
        if (++slot >= STAGED) slot = 0;
    }
}
