// Pooling, resampling and LRN: each thread computes a tile of TALL_TILE x WIDE_TILE results of VECTOR channels, so that inputs shared by their windows are read
// once. Grid-stride loop over tiles; neighbouring threads have neighbours in memory.
//
// The generated header has `first`, the position of the first result of tile i; `tile`, which computes the results of a tile that exist; and `aligned`, whether
// the addresses allow vector accesses of VECTOR channels; otherwise channels are done singly. BLOCKS CTAs share an SM.
#include "args.cuh"

#ifndef BLOCKS
#define BLOCKS 4
#endif

extern "C" __global__ void __launch_bounds__(256, BLOCKS) windows(const __grid_constant__ Args a) {
    begin();
    const i64 thread = (i64)blockIdx.x * blockDim.x + threadIdx.x, threads = (i64)gridDim.x * blockDim.x;
    index p[RANK];
    if (aligned(a)) {
        for (i64 i = thread; i < a.tiles; i += threads) {
            first(a, (index)i, p);
            tile<VECTOR, TALL_TILE, WIDE_TILE>(a, p);
        }
        return;
    }
    for (i64 i = thread; i < a.tiles * VECTOR; i += threads) {
        first(a, (index)(i / VECTOR), p);
        p[1] += (index)(i % VECTOR);
        tile<1, TALL_TILE, WIDE_TILE>(a, p);
    }
}
