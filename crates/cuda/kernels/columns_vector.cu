// Columns whose terms stay in registers between their stages: LANES threads next to each other have VECTOR neighbouring columns each, the other threads of the block
// share the terms of these. BLOCKS blocks share a multiprocessor at least.
//
// The header has `column`, which loads, reduces and writes the columns from output o on; it calls `reduced`, with a stage's numbers of each thread's terms: those of
// all of them, combined in an order that depends on nothing but the sizes.
#define PARTS (THREADS / LANES)
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) columns_vector(const __grid_constant__ Args a) {
    begin();
    const int lane = threadIdx.x % LANES, part = threadIdx.x / LANES;
    for (i64 first = (i64)blockIdx.x * (LANES * VECTOR); first < a.outputs; first += (i64)gridDim.x * (LANES * VECTOR)) {
        const i64 o = first + lane * VECTOR;
        column(a, o, o < a.outputs, part);
    }
}
