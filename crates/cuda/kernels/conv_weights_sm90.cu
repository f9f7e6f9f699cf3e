// Weight gradient of a convolution on Hopper, NHWC and NDHWC, 16-bit types and TF32:
// diff_weights[oc, tap, ic] = sum over output pixels of diff_dst[pixel, oc] * src[pixel of the tap, ic].
//
// Implicit GEMM with M = output channels, N = taps x input channels, K = pixels; both operands are MN-major. The pipeline is that of gemm_sm90.cu.
// A is loaded in tiled mode. B is gathered in im2col mode, 128 bytes of channels of one tap at a time, with the channels of a tap padded with zeros to
// kRun, so that a tile can span taps. Split-K: pixels are divided into parts, whose f32 sums go to a workspace that reduce_parts.cu adds.
//
// SHIFTS > 1 (the number of taps along H) reuses B for all taps along H: consumer j has 64 output channels of diff_dst shifted by tap j, so the same
// stage of src serves every filter row. The walk over pixels has (SHIFTS - 1) * shift additional lines, where the shifted diff_dst is zero.
//
// Interface
//   parameters   (TensorMap a, TensorMap b, TensorMap c, WeightsParams), by value; A_MN = B_MN = 1
//   maps         a  tiled, rank 3: (OC, pixels, 1), box (kRun, kRun, 1), 128-byte swizzle; with SHIFTS im2col like b, from the last tap's line on
//                b  im2col, rank SPATIAL + 2: (C, W, H[, D], N), channels per pixel kRun, pixels per column kRun, strides and corners as in conv_sm90.cu
//                c  (taps * IC, OC, parts) as in gemm_sm90.cu: the workspace, or with one part the gradient; IC rounded up to kRun
//   grid, block, shared memory: as in gemm_sm90.cu; no clusters, SPLIT 1
#include "tile_sm90.cuh"

#ifndef SPATIAL
#define SPATIAL 2
#endif
#ifndef SHIFTS
#define SHIFTS 1
#endif

static_assert(SHIFTS == 1 || (SHIFTS == CONSUMERS && TILE_M == 64 * SHIFTS && kRun == 64), "a warpgroup has 64 channels of one tap along H");

struct WeightsParams {
    int m, n;                           // output channels; columns: taps * input channels, with SHIFTS without the taps along H
    int stages;                         // of a part, kTileK pixels each
    int blocks;                         // of kRun input channels, per tap
    int filter[3], dilation[3];         // along W, H, D
    int size[3], stride[3], start[3];   // along W, H, D: pixels of diff_dst; stride in src; position in src of the first pixel's first tap
    int shift, line;                    // SHIFTS: pixels from one tap along H to the next; columns of a filter row (taps along W * input channels)
    int slice, given;                   // rows of a slice, whose tiles read so many input channels of their own (groups)
    Schedule schedule;                  // its batch counts the parts
    Destination c;
    Epilogue epilogue;
};

// The first channel and the tap offset of a block of kRun columns of B.
struct Columns {
    int c;
    u16 x, y, z;

    __device__ __forceinline__ void find(const WeightsParams &p, int block, int row) {
        int tap = block / p.blocks, line = tap / p.filter[0], iz = line / p.filter[1];
        c = (block - tap * p.blocks) * kRun;
        // Columns beyond the last tap load any channel; they are not stored.
        if (block * kRun >= p.n) c = p.blocks * kRun, tap = line = iz = 0;
        c += row / p.slice * p.given;
        x = u16((tap - line * p.filter[0]) * p.dilation[0]), y = u16((line - iz * p.filter[1]) * p.dilation[1]), z = u16(iz * p.dilation[2]);
    }
};

// The pixel of diff_dst with index i; `add` advances by a stage with carries instead of divisions.
struct Pixel {
    int w, h, d, n;

    __device__ __forceinline__ Pixel(const WeightsParams &p, int i) {
        int line = i / p.size[0], plane = line / p.size[1];
        w = i - line * p.size[0], h = line - plane * p.size[1], n = plane / p.size[2], d = plane - n * p.size[2];
    }
    __device__ __forceinline__ void add(const WeightsParams &p, const Pixel &step) {
        w += step.w, h += step.h, d += step.d, n += step.n;
        if (w >= p.size[0]) w -= p.size[0], h++;
        if (h >= p.size[1]) h -= p.size[1], d++;
        if (d >= p.size[2]) d -= p.size[2], n++;
    }
};

__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &a, const TensorMap &b, const WeightsParams &p, int first, int step) {
    Ring ring;
    Pixel stage(p, kTileK);
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Columns columns[TILE_N / kRun];
#pragma unroll
        for (int i = 0; i < TILE_N / kRun; i++) columns[i].find(p, tile.n / kRun + i, tile.m / SHIFTS);
        int pixel = tile.batch * p.stages * kTileK;
        Pixel at(p, pixel);
        for (int i = 0; i < p.stages; i++, pixel += kTileK, at.add(p, stage), ring.next()) {
            claim_stage(s, ring);
            if constexpr (SHIFTS == 1) {
                load_a<A_MN>(s, ring, a, pixel, tile.m, 0);
            } else {
#pragma unroll
                for (int j = 0; j < SHIFTS; j++) {
                    u32 to = s.a(ring.stage) + j * 8192;
                    int channel = tile.m / SHIFTS, line = at.h - (SHIFTS - 1) * p.shift;
                    u16 up = u16((SHIFTS - 1 - j) * p.shift);
                    if constexpr (SPATIAL == 2) {
                        tma_load_im2col(to, a, s.full(ring.stage), channel, at.w, line, at.n, 0, up);
                    } else {
                        tma_load_im2col(to, a, s.full(ring.stage), channel, at.w, line, at.d, at.n, 0, up, 0);
                    }
                }
            }
            int w = at.w * p.stride[0] + p.start[0], h = at.h * p.stride[1] + p.start[1], d = at.d * p.stride[2] + p.start[2];
#pragma unroll
            for (int j = 0; j < TILE_N / kRun; j++) {
                u32 to = s.b(ring.stage) + j * (kTileK * 128);
                const Columns &c = columns[j];
                if constexpr (SPATIAL == 2) {
                    tma_load_im2col(to, b, s.full(ring.stage), c.c, w, h, at.n, c.x, c.y);
                } else {
                    tma_load_im2col(to, b, s.full(ring.stage), c.c, w, h, d, at.n, c.x, c.y, c.z);
                }
            }
        }
    }
}

__device__ __forceinline__ void multiply_tiles(const Shared &s, const TensorMap &c, const WeightsParams &p, int consumer, int first, int step) {
    Ring ring;
    int turn = 0;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Acc acc[kBlocksM][TILE_N / 2];
        accumulate(s, ring, consumer, p.stages, acc);
        Block block{p.m, p.n, tile.batch, tile.m, tile.n};
        if constexpr (SHIFTS > 1) {
            // All consumers have the same output channels and different taps along H. A tile's columns lie in one row of the filter.
            int line = tile.n / p.line;
            block.row = tile.m / SHIFTS - consumer * 64, block.column += (line * (SHIFTS - 1) + consumer) * p.line;
        }
        store_rows<TILE_N>(s, c, p.c, MatrixPlace{}, consumer, acc, Finish<TILE_N>(p.epilogue, block), block, turn);
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_weights_sm90(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
                      const __grid_constant__ WeightsParams p) {
    Shared s = shared_layout();
    if (threadIdx.x == 0) {
        tma_prefetch(a);
        tma_prefetch(b);
        if (STORE == STORE_TMA) tma_prefetch(c);
    }
    start_block(s);

    int warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        if constexpr (CONSUMERS > 1) registers_lower<56>();
        if (threadIdx.x == 0) load_tiles(s, a, b, p, blockIdx.x, gridDim.x);
    } else {
        if constexpr (CONSUMERS > 1) registers_raise<CONSUMERS == 2 ? 224 : 152>();
        multiply_tiles(s, c, p, warpgroup - 1, blockIdx.x, gridDim.x);
    }
    finish_block();
}
