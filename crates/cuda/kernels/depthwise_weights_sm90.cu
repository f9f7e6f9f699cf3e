// Weight gradient of a depthwise convolution of NHWC images on Hopper: diff_weights[tap, c] = sum over output pixels of diff_dst[pixel, c] * src[pixel of the
// tap, c]. Mapping in depthwise.cuh.
//
// Tiles are distributed over gridDim.x parts. A lane accumulates two channels over all tiles of its part and the strips of its warp in registers; the warps'
// sums are added through shared memory, and reduce_parts.cu adds the parts.
//
// Interface
//   defines      of depthwise.cuh; ROWS (filter rows of a CTA)
//   parameters   (TensorMap src, TensorMap diff_dst, DepthwiseWeightsParams), by value
//   maps         (C, W, H, N) without swizzle, boxes (64, pitch, rows of a tile, 1) and (64, STRIP * strips, rows of the result, 1)
//   grid         (parts, blocks of channels, groups of filter rows), 256 threads; shared memory for both tiles, at least for the sums of all warps
#include "depthwise.cuh"

enum : int { kTaps = ROWS * TAPS_W };

struct DepthwiseWeightsParams {
    Geometry g;
    int tiles, high;   // tiles of all images; taps along H
    float *parts;      // (parts, taps, channels)
};

extern "C" __global__ void __launch_bounds__(256, kTaps <= 9 ? 3 : 2)
    depthwise_weights_sm90(const __grid_constant__ TensorMap src, const __grid_constant__ TensorMap diff_dst,
                           const __grid_constant__ DepthwiseWeightsParams p) {
    __shared__ alignas(8) u64 barrier;
    u8 *pixels = aligned_memory(), *given = pixels + p.g.bytes;
    u32 full = shared_address(&barrier);
    int c0 = int(blockIdx.y) * kChannels, first = int(blockIdx.z) * ROWS, width = p.g.strips * STRIP;
    begin();
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        barrier_init_fence();
    }
    __syncthreads();

    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2 sum[kTaps] = {};
    u32 phase = 0;
    for (int t = int(blockIdx.x); t < p.tiles; t += int(gridDim.x), phase ^= 1) {
        Tile tile = tile_at(p.g, t);
        if (threadIdx.x == 0) {
            barrier_expect(full, p.g.bytes + p.g.tile_rows * width * kPixel);
            tma_load(shared_address(pixels), src, full, c0, tile.x * STEP - p.g.padding_w,
                     tile.y * p.g.stride - p.g.padding_h + first * p.g.dilation, tile.n);
            tma_load(shared_address(given), diff_dst, full, c0, tile.x, tile.y, tile.n);
        }
        barrier_wait(full, phase);
        for (int item = warp; item < p.g.tile_rows * p.g.strips; item += kWarps) {
            int y = item / p.g.strips, x = (item - y * p.g.strips) * STRIP;
            if (tile.y + y >= p.g.rows || tile.x + x >= p.g.columns) continue;
            float2 d[STRIP];
            load_pixels(d, given + (y * width + x) * kPixel + lane * kPair);
#pragma unroll
            for (int ky = 0; ky < ROWS; ky++) {
                float2 v[kSpan];
                load_pixels(v, pixels + ((y * p.g.stride + ky * p.g.dilation) * p.g.pitch + x * STEP) * kPixel + lane * kPair);
#pragma unroll
                for (int kx = 0; kx < TAPS_W; kx++) {
#pragma unroll
                    for (int s = 0; s < STRIP; s++) {
                        float2 &own = sum[ky * TAPS_W + kx];
                        own.x = fmaf(d[s].x, v[s * STEP + kx].x, own.x);
                        own.y = fmaf(d[s].y, v[s * STEP + kx].y, own.y);
                    }
                }
            }
        }
        __syncthreads();   // all have read the tiles
    }

    float2 *sums = reinterpret_cast<float2 *>(pixels);
#pragma unroll
    for (int i = 0; i < kTaps; i++) sums[(warp * kTaps + i) * 32 + lane] = sum[i];
    __syncthreads();
    for (int i = int(threadIdx.x); i < kTaps * 32; i += 256) {
        int tap = first * TAPS_W + i / 32, c = c0 + i % 32 * 2;
        float2 all = sums[i];
        for (int w = 1; w < kWarps; w++) all.x += sums[w * kTaps * 32 + i].x, all.y += sums[w * kTaps * 32 + i].y;
        if (tap >= p.high * TAPS_W || c >= p.g.channels) continue;
        *reinterpret_cast<float2 *>(p.parts + (i64(blockIdx.x) * p.high * TAPS_W + tap) * p.g.channels + c) = all;
    }
}
