// Implicit GEMM convolution of NHWC and NDHWC tensors on Hopper: C[pixel, oc] = epilogue(sum over taps and ic of src[pixel of the tap, ic] *
// weights[oc, tap, ic]). M = output pixels, N = output channels, K = taps x input channels, the channels of a tap being consecutive stages.
//
// The pipeline, warp specialisation, schedules and stores are those of gemm_sm90.cu. Only A's loads differ: TMA's im2col mode (PTX ISA: tensor im2col
// mode) gathers TILE_M pixels of 128 bytes of channels. It walks the bounding box of the positions of the filter's first tap with the convolution's
// strides, adds the tap's offset, and fills the padding with zeros.
//
// The same kernel computes
//   forward          B_MN 0, weights (oc, taps, ic)
//   backward data    diff_dst with the same weights in place, B_MN 1: K = taps x output channels, taps in reverse order (tap_step -1). A strided
//                    convolution is split by the residue of the source pixel modulo the stride: each residue is a Walk of stride 1 over every
//                    stride-th tap, whose pixels are not contiguous in the result (STORE_ROWS, `place`). A residue that no tap reaches is a Walk that
//                    loads one stage of zeros. Walks of the same size share a launch as batches, the one with most taps first.
//   deconvolution    as backward data
//
// Interface
//   parameters   (TensorMap a, TensorMap b, TensorMap c, ConvParams), by value
//   maps         a  im2col, rank SPATIAL + 2: (C, W, H[, D], N), channels per pixel tile K, pixels per column TILE_M, element strides = strides, corners
//                   lower = -padding, upper = padding after - (taps - 1) * dilation; 128-byte swizzle
//                b  tiled, rank 3, 128-byte swizzle. B_MN 0: (IC, taps, OC), box (tile K, 1, TILE_N / CLUSTER_M)
//                                                    B_MN 1: (IC, taps, OC), box (64, 1, tile K); IC is N and OC is K of this product
//                c  as in gemm_sm90.cu with M = pixels, N = channels, one batch; STORE_PLANES by TMA: (pixels of an image, a multiple of 64, OC,
//                   N), box (64, min(64, columns), 1)
//   grid, cluster, block, shared memory: as in gemm_sm90.cu, CLUSTER_N 1
#include "tile_sm90.cuh"

#ifndef SPATIAL
#define SPATIAL 2   // 1-D convolutions have H = 1
#endif

enum : int { kWalks = STORE == STORE_ROWS ? 8 : 1, kBeyond = 1 << 24 };   // walks of a launch, at most; a channel that no tensor has

// A set of output pixels that use the same taps. Arrays are along W, H, D.
struct Walk {
    int taps[3];                          // number of taps
    int tap_first[3], tap_step[3];        // tap i of the walk is tap_first + i * tap_step of the filter
    int tap_offset[3];                    // input pixels from one tap of the walk to the next
    int shift[3];                         // input pixels from the launch's `start` to the first tap of this walk
    int stages;                           // of all taps. Without taps (taps[0] is 0): 1, at channels beyond the last, which read zeros
    i64 at;                               // of the result's first pixel, in elements
};

struct ConvParams {
    int pixels, channels;                 // M and N of a walk
    int k_blocks;                         // stages of a tap
    int filter[3];                        // taps of the whole filter along W, H, D
    int size[3], stride[3], start[3];     // along W, H, D: result pixels; stride of the input; input position of the first pixel's first tap
    Schedule schedule;
    int slice, given;                     // columns of a slice, whose tiles read so many channels of their own (groups)
    int unused;
    Walk walks[kWalks];
    Destination c;
    i64 place[4];                         // strides of the result along W, H, D, N in elements (STORE_ROWS; STORE_PLANES uses N's only)
    Epilogue epilogue;
};

__device__ __forceinline__ int walk_of(const Tile &t) { return kWalks > 1 ? t.batch : 0; }

// The input pixel that the first tap of output pixel `m` reads.
struct Pixel {
    int w, h, d, n;
};
__device__ __forceinline__ Pixel first_pixel(const ConvParams &p, int m) {
    int line = m / p.size[0], w = m - line * p.size[0];
    int plane = line / p.size[1], h = line - plane * p.size[1];
    int n = plane / p.size[2], d = plane - n * p.size[2];
    return Pixel{w * p.stride[0] + p.start[0], h * p.stride[1] + p.start[1], d * p.stride[2] + p.start[2], n};
}

// Loads this CTA's share of a stage of B and multicasts it to the cluster. `k` is the first channel along K, `column` along N. With B_MN, the rows of
// the stage are channels along K.
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

// The stages of a walk's tile that this CTA multiplies: all, or with SPLIT the share of its rank in the cluster.
struct Span {
    int first, count;
};
__device__ __forceinline__ Span span(const ConvParams &p, int walk) {
    int stages = p.walks[walk].stages;
    if constexpr (SPLIT == 1) return Span{0, stages};
    int rank = int(cluster_rank()), first = stages * rank / SPLIT;
    return Span{first, stages * (rank + 1) / SPLIT - first};
}

// Tap i of a walk: its index in the filter, and its offset in input pixels for TMA.
struct Tap {
    int index;
    u16 x, y, z;

    __device__ __forceinline__ Tap(const ConvParams &p, const Walk &w, int i) {
        int line = i / max(1, w.taps[0]), ix = i - line * w.taps[0], iz = line / w.taps[1], iy = line - iz * w.taps[1];
        index = ((w.tap_first[2] + iz * w.tap_step[2]) * p.filter[1] + w.tap_first[1] + iy * w.tap_step[1]) * p.filter[0] + w.tap_first[0] + ix * w.tap_step[0];
        x = u16(w.shift[0] + ix * w.tap_offset[0]), y = u16(w.shift[1] + iy * w.tap_offset[1]), z = u16(w.shift[2] + iz * w.tap_offset[2]);
    }
};

// The producer thread. `k` counts the stages of a tap; a walk without taps loads its stages at k = k_blocks, beyond the last channel
// of the weights.
__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &a, const TensorMap &b, const ConvParams &p, int first, int step) {
    Ring ring;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Pixel at = first_pixel(p, tile.m);
        const Walk &walk = p.walks[walk_of(tile)];
        Span all = span(p, walk_of(tile));
        int channel = walk.taps[0] ? tile.n / p.slice * p.given : kBeyond;
        int tap = all.first / p.k_blocks, k = walk.taps[0] ? all.first - tap * p.k_blocks : p.k_blocks;
        for (int left = all.count; left > 0; tap++, k = 0) {
            Tap moved(p, walk, tap);
            for (; (k < p.k_blocks || !walk.taps[0]) && left > 0; k++, left--, ring.next()) {
                claim_stage(s, ring);
                if constexpr (SPATIAL == 2) {
                    tma_load_im2col(s.a(ring.stage), a, s.full(ring.stage), channel + k * kTileK, at.w, at.h, at.n, moved.x, moved.y);
                } else {
                    tma_load_im2col(s.a(ring.stage), a, s.full(ring.stage), channel + k * kTileK, at.w, at.h, at.d, at.n, moved.x, moved.y, moved.z);
                }
                load_weights(s, ring, b, k * kTileK, moved.index, tile.n);
            }
        }
    }
}

// Addresses of rows for STORE_ROWS (pixels are not contiguous) and STORE_PLANES (NCHW).
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

// setmaxnreg of the producer, which needs more registers for several walks, and of the consumers.
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
        if constexpr (SPLIT > 1) cluster_meet();   // matches the consumers' cluster barrier in add_partial_sums
    } else {
        if constexpr (CONSUMERS > 1) registers_raise<kMultiplying>();
        multiply_tiles(s, c, p, warpgroup - 1, first, step);
    }
    finish_block();
}
