// Reductions along contiguous rows (softmax, layer normalisation) with the row in registers: one read of the input, all stages, one write.
//
// A row has THREADS threads (several rows per CTA if that is below 256), or CLUSTER CTAs of THREADS threads, which exchange values through distributed
// shared memory. Grid-stride loop over rows.
//
// With RING > 0 the kernel is persistent: each CTA keeps in registers what all rows share, and prefetches the next RING - 1 rows into a ring in shared memory
// (cp.async) while it reduces one. Each thread copies what it reads itself, so the ring needs no barrier.
//
// The generated header has `row`, which loads, reduces and writes the row of output o in vectors of VECTOR terms, and `reduced`, which combines a stage's values of
// all threads of a row in an order that depends on the sizes and on the row's offset from a vector boundary. With RING it also has `fetch_row`, which copies a
// row into a slot of the ring, and `struct Shared`, the vectors that all rows share.
#define PER_BLOCK (THREADS < 256 ? 256 / THREADS : 1)
#include "fetch.cuh"
#include "args.cuh"

#if RING
#define TOGETHER (1024 / (THREADS * PER_BLOCK))
#else
#define TOGETHER 1
#endif

extern "C" __global__ void __launch_bounds__(THREADS * PER_BLOCK, TOGETHER) rows_vector(const __grid_constant__ Args a) {
    begin();
#if CLUSTER > 1
    for (i64 o = blockIdx.x / CLUSTER; o < a.outputs; o += gridDim.x / CLUSTER) row(a, (index)o, true, blockIdx.x % CLUSTER * THREADS + threadIdx.x);
#else
    const int own = threadIdx.x / THREADS, lane = threadIdx.x % THREADS;
    const i64 step = (i64)gridDim.x * PER_BLOCK;
    i64 first = (i64)blockIdx.x * PER_BLOCK;
#if RING
    Shared shared;
    shared.begin(a, (index)(first + own), first + own < a.outputs, lane);
    auto fetch_next = [&](i64 next, int slot) {
        if (next + own < a.outputs) fetch_row(a, (index)(next + own), true, lane, slot);
        commit_fetches();
    };
    for (int slot = 0; slot < RING - 1; ++slot) fetch_next(first + slot * step, slot);
    for (int slot = 0; first < a.outputs; first += step, slot = slot + 1 == RING ? 0 : slot + 1) {
        fetch_next(first + (RING - 1) * step, slot == 0 ? RING - 1 : slot - 1);
        wait_fetches<RING - 1>();
        row(a, (index)(first + own), first + own < a.outputs, lane, slot, shared);
    }
#else
    for (; first < a.outputs; first += step) row(a, (index)(first + own), first + own < a.outputs, lane);
#endif
#endif
}
