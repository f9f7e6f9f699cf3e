// Rows whose terms stay in registers between their stages: THREADS threads a row, and as many rows a block as make 256 threads.
//
// The header has `load`, which brings the terms of output o, neighbours of VECTOR, and `row`, which reduces and writes them, in an order that depends on nothing
// but the sizes. With CARRIED sums by term, `row` adds its terms
// to what a thread carries from row to row, and blocks leave them as parts in `partial`: sums, then blocks, then terms.
#define PER_BLOCK (THREADS < 256 ? 256 / THREADS : 1)
#include "args.cuh"

#if CARRIED && THREADS < 1024
extern "C" __global__ void __launch_bounds__(THREADS * PER_BLOCK, 1024 / (THREADS * PER_BLOCK)) rows_vector(const __grid_constant__ Args a) {
#else
extern "C" __global__ void __launch_bounds__(THREADS * PER_BLOCK) rows_vector(const __grid_constant__ Args a) {
#endif
    const int own = threadIdx.x / THREADS, lane = threadIdx.x % THREADS;
    Carried carried = {};
    const i64 step = (i64)gridDim.x * PER_BLOCK;
    i64 o = (i64)blockIdx.x * PER_BLOCK + own;
    Kept kept;
    load(a, (index)o, o < a.outputs, lane, kept);
    for (; o - own < a.outputs; o += step) {
#if CARRIED
        Kept next;   // on its way while this one is worked on
        load(a, (index)(o + step), o + step < a.outputs, lane, next);
        row(a, (index)o, o < a.outputs, lane, kept, carried);
        kept = next;
#else
        row(a, (index)o, o < a.outputs, lane, kept, carried);
        load(a, (index)(o + step), o + step < a.outputs, lane, kept);
#endif
    }
#if CARRIED
#pragma unroll
    for (int sum = 0; sum < CARRIED; ++sum) {
        const i64 part = ((i64)sum * gridDim.x + blockIdx.x) * PER_BLOCK + own;
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            const i64 r = (i64)(c * THREADS + lane) * VECTOR;
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) {
                if (r < a.terms) a.partial[part * a.terms + r + i] = carried.sums[sum][c][i];
            }
        }
    }
#endif
}
