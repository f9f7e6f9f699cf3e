// Windows: each thread makes a tile of results, TALL_TILE along one dimension by WIDE_TILE along the last one, of VECTOR channels: what their windows share is read once.
// Neighbouring threads have neighbours in memory.
//
// The header has `first`, the position of the first result of tile i, `tile`, which makes those that are there, and `aligned`: whether memory is such that VECTOR channels are moved in words of 16 bytes.
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(256, 4) windows(const __grid_constant__ Args a) {
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
