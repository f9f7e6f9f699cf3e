// Reductions along contiguous rows (softmax, layer normalisation) with the row in registers: one read of the input, all stages, one write.
//
// Where RING is not 0 no more blocks run than at once: each takes one row after the other, keeps what rows share, and copies the next RING - 1 rows into shared memory while it
// reduces one. A thread copies what it reads itself, so that no barrier is needed.
//
// The header has `row`, which loads, reduces and writes the row of output o by neighbours of VECTOR terms; it calls `reduced`, with a stage's number
// of each thread's terms: the number of all of them, combined in an order that depends on the sizes, and on where in a vector the row begins. With a ring there are
// `fetch_row` and `struct Shared`, too.
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
