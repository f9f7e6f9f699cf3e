// Columns whose terms stay in registers between their stages: of the GROUP threads that share columns, a warp or the block, LANES next to each other have VECTOR
// neighbouring columns each, and the others share the terms of these. A thread has CHUNKS terms or fewer, but SURE of them. BLOCKS blocks share a multiprocessor at least.
//
// Where STAGED is not 0 no more blocks run than at once, and each copies the columns of so many of its turns ahead into shared memory: memory is read while columns are
// reduced and written. A thread copies what it reads itself, so that no barrier is needed.
//
// The header has `column`, which loads, reduces and writes the columns from output o on, and asks for those that are `step` further; it calls `reduced`, with a stage's
// numbers of each thread's terms: those of all of them, combined in an order that depends on nothing but the sizes. `fetch_columns` asks for the first ones.
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
