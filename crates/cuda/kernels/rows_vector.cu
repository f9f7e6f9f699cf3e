// Reductions along contiguous rows (softmax, layer normalisation) with the row in registers: one read of the input, all stages, one write.
//
// A row has THREADS threads (PER_BLOCK rows a CTA), or CLUSTER CTAs of THREADS threads, which exchange values through distributed
// shared memory. Grid-stride loop over rows. With STAGED a CTA has an SM for itself, and each thread prefetches its vectors of the CTA's next row into shared
// memory (cp.async, no barriers).
//
// With RUN the rows of a CTA are one run of memory, which is copied to shared memory and back in vectors: for short rows that begin at any offset.
//
// With EXACT the vectors of all threads fill a row, so that no branches are needed. The generated header has `row`, which loads, reduces and writes the row of output o in vectors of VECTOR terms, and `reduced`, which combines a stage's values of
// all threads of a row in an order that depends on the sizes and on the row's offset from a vector boundary; and `prepare`, which copies what all rows share to
// shared memory, if they begin at any offset.
#include "args.cuh"

// CTAs that share an SM, at least; without a number the compiler chooses fewer registers than with 1.
#if RESIDENT
#define BOUNDS THREADS* PER_BLOCK, RESIDENT
#else
#define BOUNDS THREADS* PER_BLOCK
#endif

extern "C" __global__ void __launch_bounds__(BOUNDS) rows_vector(const __grid_constant__ Args a) {
    begin();
    prepare(a);
    Ahead ahead;
#if STAGED
    fetch_row(a, (index)blockIdx.x, threadIdx.x, ahead);
#endif
#if CLUSTER > 1
    for (i64 o = blockIdx.x / CLUSTER; o < a.outputs; o += gridDim.x / CLUSTER) row(a, (index)o, true, blockIdx.x % CLUSTER * THREADS + threadIdx.x, ahead);
#else
    const int own = threadIdx.x / THREADS;
    for (i64 first = (i64)blockIdx.x * PER_BLOCK; first < a.outputs; first += (i64)gridDim.x * PER_BLOCK) {
#if RUN
        const int rows = (int)min((i64)PER_BLOCK, a.outputs - first);
        take_run(a, first, rows);
        __syncthreads();
        row(a, (index)(first + own), own < rows, threadIdx.x % THREADS, ahead);
        __syncthreads();
        give_run(a, first, rows);
        __syncthreads();
#elif EXACT && PER_BLOCK == 1
        row(a, (index)first, true, threadIdx.x, ahead);
#elif EXACT && THREADS == 32
        if (first + own < a.outputs) row(a, (index)(first + own), true, threadIdx.x % THREADS, ahead);
#else
        row(a, (index)(first + own), first + own < a.outputs, threadIdx.x % THREADS, ahead);
#endif
    }
#endif
}
