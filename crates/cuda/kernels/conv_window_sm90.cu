// Forward convolution of few input channels on Hopper (the first one of a network), 16-bit types, filters up to 8 wide.
//
// window_pack.cu first copies the source into CHANNELS channels (4 or 8, the others zero) with its padding around it. A row of the filter at one
// pixel is then 8 * CHANNELS contiguous elements, and the windows of neighbouring pixels overlap: a tensor map whose pixels are a stride apart and
// whose innermost dimension is a window reads them as the rows of a matrix. K runs over the filter's rows, 8 * CHANNELS each.
//
// A tile is a rectangle of TILE_W x 128 / TILE_W pixels of one image (TILE_M 128): 16 x 8, which wastes little where rows are short, or 64 x 2 where the
// result's pixels are next to each other.
//
// ABI
//   defines      CHANNELS 4 (the stride of W times 8 bytes must be a multiple of 16) or 8; TILE_M 128; A_MN = B_MN = 0; HALF_ROWS_A 1 for CHANNELS 4; TILE_W 16, or 64 with
//                STORE_PLANES
//   parameters   (TensorMap a, TensorMap b, TensorMap c, WindowParams), all by value
//   maps         a  tiled, rank 5, of the packed source with rows of `pitch` elements: (8 * CHANNELS, OW, KH, OH, N), strides in elements (stride_w * CHANNELS,
//                   pitch, stride_h * pitch, rows * pitch), box (8 * CHANNELS, TILE_W, 1, 128 / TILE_W, 1),
//                   64-byte swizzle for CHANNELS 4, else 128
//                b  packed weights (KH rounded up to 128 bytes of K, times 8 * CHANNELS; OC), rank 3, box (64, TILE_N, 1), 128-byte swizzle
//                c  (OC, OW, OH, N), box (64, 16, 4, 1), 128-byte swizzle; STORE_PLANES: (OW, OH, OC, N), box (64, 1, 64, 1)
//   grid, block, shared memory: as in gemm_sm90.cu; no clusters, SPLIT 1, STORE_TMA or STORE_PLANES
#ifndef TILE_W
#define TILE_W 16
#endif
#define HALF_ROWS_A (CHANNELS == 4)
#include "tile_sm90.cuh"

struct WindowParams {
    int oc, ow, oh;
    int across, down;     // tiles of an image along W and H
    int stages;
    Schedule schedule;    // its rows of tiles are the tiles of all images
    Destination c;
    Epilogue epilogue;
};

struct Corner {
    int w, h, n;
};
__device__ __forceinline__ Corner corner_of(const WindowParams &p, int row) {
    int tile = row / TILE_M, line = tile / p.across, n = line / p.down;
    return Corner{(tile - line * p.across) * TILE_W, (line - n * p.down) * (TILE_M / TILE_W) + row % TILE_M / TILE_W, n};
}

struct WindowPlace : MatrixPlace {
    const WindowParams &p;

    __device__ __forceinline__ WindowPlace(const WindowParams &p) : p(p) {}
    __device__ __forceinline__ void store(const TensorMap &map, u32 chunk, const Block &b, int column) const {
        Corner at = corner_of(p, b.row);
        if constexpr (STORE == STORE_PLANES) {
            tma_store(map, chunk, at.w, at.h, column, at.n);
        } else {
            tma_store(map, chunk, column, at.w, at.h, at.n);
        }
    }
};

__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &a, const TensorMap &b, const WindowParams &p, int first, int step) {
    constexpr int kRows = HALF_ROWS_A ? 2 : 1;   // of the filter in a stage
    Ring ring;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Corner at = corner_of(p, tile.m);
        for (int i = 0; i < p.stages; i++, ring.next()) {
            claim_stage(s, ring);
#pragma unroll
            for (int j = 0; j < kRows; j++) tma_load(s.a(ring.stage) + j * TILE_M * 64, a, s.full(ring.stage), 0, at.w, i * kRows + j, at.h, at.n);
            tma_load(s.b(ring.stage), b, s.full(ring.stage), i * kTileK, tile.n, 0);
        }
    }
}

__device__ __forceinline__ void multiply_tiles(const Shared &s, const TensorMap &c, const WindowParams &p, int consumer, int first, int step) {
    Ring ring;
    int turn = 0;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Block block{p.schedule.tiles_m * TILE_M, p.oc, 0, tile.m, tile.n};
        Finish<TILE_N> finish(p.epilogue, block);
        Acc acc[kBlocksM][TILE_N / 2];
        accumulate(s, ring, consumer, p.stages, acc);
        store_rows<TILE_N>(s, c, p.c, WindowPlace(p), consumer, acc, finish, block, turn);
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_window_sm90(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
                     const __grid_constant__ WindowParams p) {
    Shared s = shared_layout();
    if (threadIdx.x == 0) {
        tma_prefetch(a);
        tma_prefetch(b);
        tma_prefetch(c);
    }
    start_block(s);

    int warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        if constexpr (CONSUMERS > 1) registers_lower<CONSUMERS == 2 ? 40 : 32>();
        if (threadIdx.x == 0) load_tiles(s, a, b, p, blockIdx.x, gridDim.x);
    } else {
        if constexpr (CONSUMERS > 1) registers_raise<CONSUMERS == 2 ? 232 : 160>();
        multiply_tiles(s, c, p, warpgroup - 1, blockIdx.x, gridDim.x);
    }
    finish_block();
}
