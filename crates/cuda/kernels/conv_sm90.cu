// Convolution of NHWC and NDHWC tensors on Hopper as an implicit product: rows are pixels of the result, columns its channels, and K runs over the
// taps of the filter and, in each, over input channels. TMA's im2col mode gathers the rows: from a first pixel it walks the bounding box of all
// places that the filter's first tap visits, with the convolution's strides, and adds the tap's offset; what lies in the padding reads zeros.
//
// The same kernel is
//   forward           src with weights (oc, taps, ic), B_MN 0
//   backward by data  diff_dst with the same weights as they lie, B_MN 1: K over output channels, taps in reverse order (tap_step -1). Of a strided
//                     convolution each residue of the source's pixels is a walk of its own: its taps are every stride-th one, its stride is 1, and
//                     its pixels lie apart (STORE_ROWS with `place`); a residue without taps is a walk that reads zeros. Walks of the same size, with the
//                     longest first, are one launch: they count as batches
//   transposed        as backward by data
//
// ABI
//   parameters   (TensorMap a, TensorMap b, TensorMap c, ConvParams), all by value
//   maps         a  im2col, rank SPATIAL + 2: (C, W, H[, D], N), channels per pixel tile K, pixels per column TILE_M, element strides = strides, corners
//                   lower = -padding, upper = padding after - (taps - 1) * dilation; 128-byte swizzle
//                b  tiled, rank 3, 128-byte swizzle. B_MN 0: (IC, taps, OC), box (tile K, 1, TILE_N / CLUSTER_M)
//                                                    B_MN 1: (IC, taps, OC), box (64, 1, tile K), where IC are this product's columns
//                c  as in gemm_sm90.cu with M = pixels, N = channels, one batch; STORE_PLANES by TMA: (pixels of an image, a multiple of 64, OC,
//                   N), box (64, min(64, columns), 1)
//   grid, cluster, block, shared memory: as in gemm_sm90.cu, CLUSTER_N 1
#include "tile_sm90.cuh"

#ifndef SPATIAL
#define SPATIAL 2   // 1-D convolutions have H = 1
#endif

enum : int { kWalks = STORE == STORE_ROWS ? 8 : 1 };   // of a launch at most

struct Walk {
    int taps[3];                          // that it visits along W, H, D
    int tap_first[3], tap_step[3];        // which of the filter's they are
    int tap_offset[3];                    // pixels from one visited tap to the next
    int shift[3];                         // pixels from where all walks start to the first tap of this one
    int stages;                           // of all taps; without taps (0 along W) one that reads channels beyond the last, which are zeros
    i64 at;                               // of the result's first pixel, in elements
};

struct ConvParams {
    int pixels, channels;                 // of a walk's result: M and N
    int k_blocks;                         // stages of each tap
    int filter[3];                        // the filter's taps along W, H, D
    int size[3], stride[3], start[3];     // of the result along W, H, D; of the walks; where the first pixel's first tap is
    Schedule schedule;
    int unused;
    Walk walks[kWalks];
    Destination c;
    i64 place[4];                         // STORE_ROWS: strides of the result along W, H, D, N in elements; STORE_PLANES: the last one
    Epilogue epilogue;
};

__device__ __forceinline__ int walk_of(const Tile &t) { return kWalks > 1 ? t.batch : 0; }

// The pixel of the source that the first tap of the result's pixel `m` reads.
struct Pixel {
    int w, h, d, n;
};
__device__ __forceinline__ Pixel first_pixel(const ConvParams &p, int m) {
    int line = m / p.size[0], w = m - line * p.size[0];
    int plane = line / p.size[1], h = line - plane * p.size[1];
    int n = plane / p.size[2], d = plane - n * p.size[2];
    return Pixel{w * p.stride[0] + p.start[0], h * p.stride[1] + p.start[1], d * p.stride[2] + p.start[2], n};
}

// This block's share of a tile's weights, for all blocks of the cluster. K-major: rows are output channels, `k` counts input channels. Else
// rows of a stage are output channels too, but they are K, and columns are input channels.
__device__ __forceinline__ void load_weights(const Shared &s, const Ring &ring, const TensorMap &b, int k, int tap, int column) {
    constexpr int kParts = B_MN ? TILE_N / 64 / CLUSTER_M : 1, kPart = B_MN ? 64 : TILE_N / CLUSTER_M;
    constexpr int kPartBytes = B_MN ? kTileK * 128 : kPart * 128;
    u32 rank = kCluster > 1 ? cluster_rank() : 0;
#pragma unroll
    for (int i = 0; i < kParts; i++) {
        int part = int(rank) * kParts + i, c = column + part * kPart;
        u32 to = s.b(ring.stage) + part * kPartBytes;
        int x = B_MN ? c : k, z = B_MN ? k : c;
        if constexpr (kCluster == 1) {
            tma_load(to, b, s.full(ring.stage), x, tap, z);
        } else {
            tma_load_multicast(to, b, s.full(ring.stage), u16((1 << kCluster) - 1), x, tap, z);
        }
    }
}

static_assert(!(ALTERNATE && STORE == STORE_ROWS), "consumers take turns at tiles of equal length");

// Stages of a walk's tile of this block: all, or its share where the blocks of a cluster divide K.
struct Span {
    int first, count;
};
__device__ __forceinline__ Span span(const ConvParams &p, int walk) {
    int stages = p.walks[walk].stages;
    if constexpr (SPLIT == 1) return Span{0, stages};
    int rank = int(cluster_rank()), first = stages * rank / SPLIT;
    return Span{first, stages * (rank + 1) / SPLIT - first};
}

// A tap's number in the filter, and its distance from the first one in pixels.
struct Tap {
    int index;
    u16 x, y, z;

    __device__ __forceinline__ Tap(const ConvParams &p, const Walk &w, int i) {
        int line = i / max(1, w.taps[0]), ix = i - line * w.taps[0], iz = line / w.taps[1], iy = line - iz * w.taps[1];
        index = ((w.tap_first[2] + iz * w.tap_step[2]) * p.filter[1] + w.tap_first[1] + iy * w.tap_step[1]) * p.filter[0] + w.tap_first[0] + ix * w.tap_step[0];
        x = u16(w.shift[0] + ix * w.tap_offset[0]), y = u16(w.shift[1] + iy * w.tap_offset[1]), z = u16(w.shift[2] + iz * w.tap_offset[2]);
    }
};

__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &a, const TensorMap &b, const ConvParams &p, int first, int step) {
    Ring ring;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Pixel at = first_pixel(p, tile.m);
        const Walk &walk = p.walks[walk_of(tile)];
        Span all = span(p, walk_of(tile));
        int tap = all.first / p.k_blocks, k = walk.taps[0] ? all.first - tap * p.k_blocks : p.k_blocks;
        for (int left = all.count; left > 0; tap++, k = 0) {
            Tap moved(p, walk, tap);
            for (; (k < p.k_blocks || !walk.taps[0]) && left > 0; k++, left--, ring.next()) {
                claim_stage(s, ring);
                if constexpr (SPATIAL == 2) {
                    tma_load_im2col(s.a(ring.stage), a, s.full(ring.stage), k * kTileK, at.w, at.h, at.n, moved.x, moved.y);
                } else {
                    tma_load_im2col(s.a(ring.stage), a, s.full(ring.stage), k * kTileK, at.w, at.h, at.d, at.n, moved.x, moved.y, moved.z);
                }
                load_weights(s, ring, b, k * kTileK, moved.index, tile.n);
            }
        }
    }
}

// Where the rows of a result go whose pixels lie apart, or channels do.
struct PixelPlace : MatrixPlace {
    const ConvParams &p;
    int walk;

    __device__ __forceinline__ PixelPlace(const ConvParams &p, int walk) : p(p), walk(walk) {}
    __device__ __forceinline__ void store(const TensorMap &map, u32 chunk, const Block &b, int column) const {
        if constexpr (STORE == STORE_PLANES) {
            int image = p.size[0] * p.size[1] * p.size[2], n = b.row / image;
            tma_store(map, chunk, b.row - n * image, column, n);
        } else {
            MatrixPlace::store(map, chunk, b, column);
        }
    }
    __device__ __forceinline__ i64 offset(int row) const {
        if constexpr (STORE == STORE_PLANES) {
            int image = p.size[0] * p.size[1] * p.size[2], n = row / image;
            return row - n * image + n * p.place[3];
        }
        int line = row / p.size[0], w = row - line * p.size[0], plane = line / p.size[1], h = line - plane * p.size[1], n = plane / p.size[2];
        return w * p.place[0] + h * p.place[1] + (plane - n * p.size[2]) * p.place[2] + n * p.place[3] + p.walks[walk].at;
    }
};

__device__ __forceinline__ void multiply_tiles(const Shared &s, const TensorMap &c, const ConvParams &p, int consumer, int first, int step) {
    Ring ring;
    int turn = 0, stages = span(p, 0).count, before = consumer % kTurns;
    ring.skip(before * stages);
    for (int t = first + before * step; t < p.schedule.count(); t += kTurns * step, ring.skip((kTurns - 1) * stages)) {
        if (ALTERNATE && t != first) take_turn(consumer);
        Tile tile = p.schedule.at(t);
        Block block{p.pixels, p.channels, walk_of(tile), tile.m, tile.n};
        Finish<TILE_N> finish(p.epilogue, block);
        Acc acc[kBlocksM][TILE_N / 2];
        if constexpr (STORE == STORE_ROWS) stages = span(p, walk_of(tile)).count;
        accumulate(s, ring, consumer, stages, acc, t + step < p.schedule.count());
        if constexpr (SPLIT == 1) {
            store_rows<TILE_N>(s, c, p.c, PixelPlace(p, walk_of(tile)), consumer, acc, finish, block, turn);
        } else {
            Acc sum[kBlocksM][kColumns / 2];
            add_partial_sums(s, consumer, acc, sum);
            block.column += int(cluster_rank()) * kColumns;
            if (block.column < tile.n + TILE_N) store_rows<kColumns>(s, c, p.c, PixelPlace(p, walk_of(tile)), consumer, sum, Finish<kColumns>(p.epilogue, block), block, turn);
        }
    }
}

// Registers of the thread that loads, which wants more of them for several walks, and of those that multiply.
enum : int { kLoading = (kWalks > 1) ? 56 : CONSUMERS == 2 ? 40 : 32, kMultiplying = (CONSUMERS == 2 ? 232 : 160) - (kWalks > 1 ? 8 : 0) };

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_sm90(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
              const __grid_constant__ ConvParams p) {
    Shared s = shared_layout();
    if (threadIdx.x == 0) {
        tma_prefetch(a);
        tma_prefetch(b);
        if (STORE == STORE_TMA || STORE == STORE_PLANES && !PLANE_UNIT) tma_prefetch(c);
    }
    start_block(s);

    constexpr int kBlocks = kCluster * SPLIT;
    int first = blockIdx.x / kBlocks, step = gridDim.x / kBlocks, warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        if constexpr (CONSUMERS > 1) registers_lower<kLoading>();
        if (threadIdx.x == 0) load_tiles(s, a, b, p, first, step);
        if constexpr (SPLIT > 1) cluster_meet();   // the consumers' one, in add_partial_sums
    } else {
        if constexpr (CONSUMERS > 1) registers_raise<kMultiplying>();
        multiply_tiles(s, c, p, warpgroup - 1, first, step);
    }
    finish_block();
}
