// Forward convolution of few input channels (the stem of a network) on Hopper, 16-bit types, filters up to 8 wide.
//
// Implicit GEMM whose A is read from overlapping windows in shared memory, without a gather. window_pack.cu first copies the source with its padding
// and CHANNELS channels (4 or 8, filled with zeros). A filter row at one output pixel is then 8 * CHANNELS consecutive elements: CHANNELS pieces of 16
// bytes. The row of the next output pixel begins `phases` pieces further. The copy stores the pieces of a line by their index modulo `phases`, so
// the i-th pieces of neighbouring windows are neighbours, and 8 of them are a core matrix of an unswizzled wgmma operand (descriptor_pieces).
// K runs over filter rows, and in a row over pieces in the order of `piece`.
//
// A CTA keeps the weights of 64 output channels in shared memory and loops over tiles of pixels (persistent). A tile is two blocks of TILE_W x 64 / TILE_W
// pixels of one image, one above the other, one per consumer warpgroup: 64 x 1 for NCHW results, 8 x 8 for NHWC. A producer thread loads the input lines
// of the next tiles into a ring of `buffers` buffers.
//
// Interface
//   defines      CHANNELS 4 (even stride along W) or 8; TILE_M 128, TILE_N 64, CONSUMERS 2, STAGES 1; A_MN = B_MN = 0; TILE_W 8, or 64 with STORE_PLANES
//   parameters   (TensorMap a, TensorMap b, TensorMap c, WindowParams), by value
//   maps         a  the copy as 8-byte elements, rank 4, (2 positions, phases, rows, N), box (2 width, phases, lines, 1), no swizzle
//                b  packed weights (KH * 8 * CHANNELS rounded up to 128 bytes; OC), rank 3, box (64, TILE_N, 1), 128-byte swizzle
//                c  (OC, OW, OH, N), box (64, 8, 8, 1), 128-byte swizzle; STORE_PLANES: (OW, OH, OC, N), box (64, 1, 64, 1)
//   grid         a multiple of `columns`; 384 threads; 32,768 + 3,072 + filters * 8,192 + buffers * buffer bytes of shared memory; SPLIT 1, no clusters
#ifndef TILE_W
#define TILE_W 8
#endif
#define OPERANDS_APART 1
#include "tile_sm90.cuh"

enum : int {
    kPieces = CHANNELS,            // 16-byte pieces of a filter row
    kFilter = TILE_N * 128,        // bytes of 128 bytes of K of the weights
    kBuffers = 4,                  // at most
    kFilters = kBarriers + 1024,   // offset of the weights in shared memory
};

// A unit is 16 bytes.
struct WindowParams {
    int oc, columns;              // output channels; tiles of them
    int tiles, across, down;      // tiles of pixels: in all, and per image along W and H
    int step;                     // stride along H
    int rows;                     // of the filter
    int line, loaded;             // units of a line of the input tile; bytes of all its lines
    int next_rows, next_block;    // units to the next 8 rows of A; to the second consumer's block
    int filters;                  // 128-byte slices of K of the weights
    int buffers, buffer;          // input buffers; bytes of one
    int piece[kPieces];           // units from the beginning of a window to its pieces
    Destination c;
    Epilogue epilogue;
};

// The input buffers and their full (`ready`) and empty (`free`) mbarriers.
struct Input {
    u32 at, barriers;
    const WindowParams &p;

    __device__ __forceinline__ Input(const Shared &s, const WindowParams &p) : at(s.base + kFilters + p.filters * kFilter), barriers(s.sums() + 8), p(p) {}
    __device__ __forceinline__ u32 buffer(int i) const { return at + i * p.buffer; }
    __device__ __forceinline__ u32 ready(int i) const { return barriers + i * 8; }
    __device__ __forceinline__ u32 free(int i) const { return barriers + (kBuffers + i) * 8; }
};

// A position in the ring of input buffers.
struct Turn {
    int at = 0;
    u32 phase = 0;

    __device__ __forceinline__ void next(int count) {
        if (++at == count) at = 0, phase ^= 1;
    }
};

// The first pixel of the block of rows that begins at row `row` of M.
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

// The producer thread: all weights once, then the input lines of each tile.
__device__ __forceinline__ void load_tiles(const Shared &s, const Input &input, const TensorMap &a, const TensorMap &b, const WindowParams &p) {
    int first = blockIdx.x / p.columns, column = (blockIdx.x - first * p.columns) * TILE_N;
    barrier_expect(s.full(0), p.filters * kFilter);
    for (int i = 0; i < p.filters; i++) tma_load(s.base + kFilters + i * kFilter, b, s.full(0), i * kTileK, column, 0);
    Turn turn;
    for (int t = first; t < p.tiles; t += gridDim.x / p.columns, turn.next(p.buffers)) {
        Corner at = corner_of(p, t * TILE_M);
        barrier_wait(input.free(turn.at), turn.phase ^ 1);
        barrier_expect(input.ready(turn.at), p.loaded);
        tma_load(input.buffer(turn.at), a, input.ready(turn.at), at.w * 2, 0, at.h * p.step, at.n);
    }
}

// The main loop of a tile: per filter row, one wgmma for each two pieces.
__device__ __forceinline__ void multiply(u32 filter, u32 unit, const WindowParams &p, Acc (&acc)[TILE_N / 2]) {
    wgmma_fence();
#pragma unroll 1
    for (int r = 0; r < p.rows; r++, unit += p.line) {
        u64 b = descriptor_k_major(filter + r * kPieces * 16 / 128 * kFilter + r * kPieces * 16 % 128);
#pragma unroll
        for (int k = 0; k < kPieces; k += 2) {
            u64 a = descriptor_pieces(unit + p.piece[k], p.piece[k + 1] - p.piece[k], p.next_rows);
            Wgmma<TILE_N, 0, 0>::multiply(acc, a, b + k, r | k);
        }
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(acc);
}

__device__ __forceinline__ void multiply_tiles(const Shared &s, const Input &input, const TensorMap &c, const WindowParams &p, int consumer) {
    int first = blockIdx.x / p.columns, column = (blockIdx.x - first * p.columns) * TILE_N, chunk = 0;
    Turn turn;
    barrier_wait(s.full(0), 0);
    for (int t = first; t < p.tiles; t += gridDim.x / p.columns, turn.next(p.buffers)) {
        Block block{p.tiles * TILE_M, p.oc, 0, t * TILE_M, column};
        Finish<TILE_N> finish(p.epilogue, block);
        Acc acc[1][TILE_N / 2];
        barrier_wait(input.ready(turn.at), turn.phase);
        multiply(s.base + kFilters, (input.buffer(turn.at) >> 4) + consumer * p.next_block, p, acc[0]);
        if (threadIdx.x % 128 == 0) barrier_arrive(input.free(turn.at));
        store_rows<TILE_N>(s, c, p.c, WindowPlace(p), consumer, acc, finish, block, chunk);
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    conv_window_sm90(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
                     const __grid_constant__ WindowParams p) {
    Shared s = shared_layout();
    Input input(s, p);
    if (threadIdx.x == 0) {
        tma_prefetch(a);
        tma_prefetch(b);
        tma_prefetch(c);
        for (int i = 0; i < p.buffers; i++) {
            barrier_init(input.ready(i), 1);
            barrier_init(input.free(i), CONSUMERS);
        }
    }
    start_block(s);

    int warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        registers_lower<40>();
        if (threadIdx.x == 0) load_tiles(s, input, a, b, p);
    } else {
        registers_raise<96>();
        multiply_tiles(s, input, c, p, warpgroup - 1);
    }
    finish_block();
}
