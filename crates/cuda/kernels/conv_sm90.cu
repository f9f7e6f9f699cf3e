// Convolution of NHWC and NDHWC tensors on Hopper as an implicit product: rows are pixels of the result, columns its channels, and K runs over the
// taps of the filter and, in each, over input channels. TMA's im2col mode gathers the rows: from a first pixel it walks the bounding box of all
// places that the filter's first tap visits, with the convolution's strides, and adds the tap's offset; what lies in the padding reads zeros.
//
// The same kernel is
//   forward           src with weights (oc, taps, ic), B_MN 0
//   backward by data  diff_dst with the same weights as they lie, B_MN 1 and `flip` 1: taps in reverse order, K over output channels. Of a strided
//                     convolution each residue of the source's pixels is one launch: its taps are every stride-th one (`tap_first`, `tap_step`))
//   transposed        as backward by data
//
// ABI
//   parameters   (TensorMap a, TensorMap b, TensorMap c, ConvParams), all by value
//   maps         a  im2col, rank SPATIAL + 2: (C, W, H[, D], N), channels per pixel tile K, pixels per column TILE_M, element strides = strides, corners
//                   lower = -padding, upper = padding after - (taps - 1) * dilation; 128-byte swizzle
//                b  tiled, rank 3, 128-byte swizzle. B_MN 0: (IC, taps, OC), box (tile K, 1, TILE_N / CLUSTER_M)
//                                                    B_MN 1: (IC, taps, OC), box (64, 1, tile K), where IC are this product's columns
//                c  as in gemm_sm90.cu with M = pixels, N = channels, one batch
//   grid, cluster, block, shared memory: as in gemm_sm90.cu, CLUSTER_N 1, SPLIT 1
#include "tile_sm90.cuh"

#ifndef SPATIAL
#define SPATIAL 2   // 1-D convolutions have H = 1
#endif

struct ConvParams {
    int pixels, channels;                 // of the result: M and N
    int k_blocks;                         // stages of each tap
    int taps[3];                          // that this launch visits along W, H, D
    int tap_first[3], tap_step[3];        // which of the filter's they are
    int tap_offset[3];                    // pixels from one visited tap to the next
    int filter[3];                        // the filter's taps along W, H, D
    int size[3], stride[3], start[3];     // of the result along W, H, D; of the walk; where the first pixel's first tap is
    Schedule schedule;
    Destination c;
    Epilogue epilogue;
};

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

__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &a, const TensorMap &b, const ConvParams &p, int first, int step) {
    Ring ring;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Pixel at = first_pixel(p, tile.m);
        for (int z = 0; z < p.taps[2]; z++) {
            for (int y = 0; y < p.taps[1]; y++) {
                for (int x = 0; x < p.taps[0]; x++) {
                    int tap = ((p.tap_first[2] + z * p.tap_step[2]) * p.filter[1] + p.tap_first[1] + y * p.tap_step[1]) * p.filter[0] +
                              p.tap_first[0] + x * p.tap_step[0];
                    u16 ox = u16(x * p.tap_offset[0]), oy = u16(y * p.tap_offset[1]), oz = u16(z * p.tap_offset[2]);
                    for (int k = 0; k < p.k_blocks; k++, ring.next()) {
                        claim_stage(s, ring);
                        if constexpr (SPATIAL == 2) {
                            tma_load_im2col(s.a(ring.stage), a, s.full(ring.stage), k * kTileK, at.w, at.h, at.n, ox, oy);
                        } else {
                            tma_load_im2col(s.a(ring.stage), a, s.full(ring.stage), k * kTileK, at.w, at.h, at.d, at.n, ox, oy, oz);
                        }
                        load_weights(s, ring, b, k * kTileK, tap, tile.n);
                    }
                }
            }
        }
    }
}

__device__ __forceinline__ void multiply_tiles(const Shared &s, const TensorMap &c, const ConvParams &p, int consumer, int first, int step) {
    Ring ring;
    int stages = p.taps[0] * p.taps[1] * p.taps[2] * p.k_blocks;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Acc acc[kBlocksM][TILE_N / 2];
        accumulate(s, ring, consumer, stages, acc);
        store_rows<TILE_N>(s, c, p.c, consumer, acc, p.epilogue, Block{p.pixels, p.channels, 0, tile.m, tile.n});
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_sm90(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
              const __grid_constant__ ConvParams p) {
    Shared s = shared_layout();
    if (threadIdx.x == 0) {
        tma_prefetch(a);
        tma_prefetch(b);
        if (STORE != STORE_DIRECT) tma_prefetch(c);
    }
    start_block(s);

    int first = blockIdx.x / kCluster, step = gridDim.x / kCluster, warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        if constexpr (CONSUMERS == 2) registers_lower<40>();
        if (threadIdx.x == 0) load_tiles(s, a, b, p, first, step);
    } else {
        if constexpr (CONSUMERS == 2) registers_raise<232>();
        multiply_tiles(s, c, p, warpgroup - 1, first, step);
    }
    finish_block();
}
