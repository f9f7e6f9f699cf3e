// Depthwise convolution of NHWC images on Hopper, forward, and backward data as a convolution with the flipped filter. Mapping in depthwise.cuh: one CTA per
// tile of output pixels and 64 channels; the filter is in shared memory, or in registers if it has at most 9 taps.
//
// Interface
//   defines      of depthwise.cuh; C_TYPE; TAPS_H (taps along H)
//   parameters   (TensorMap src, DepthwiseParams), both by value
//   map          (C, W, H, N) without swizzle, box (64, pitch, rows of a source tile, 1)
//   grid         blocks of channels * tiles of all images; 256 threads; shared memory for a source tile, and 128 bytes for alignment
#include "depthwise.cuh"

using C = Element<C_TYPE>;

enum : int { kTaps = TAPS_H * TAPS_W };
enum : bool { kHeld = kTaps <= 9 };   // the filter is kept in registers

struct DepthwiseParams {
    Geometry g;
    const A::Raw *filter;
    i64 filter_c, filter_h, filter_w;   // strides; negative where the filter is flipped
    C::Raw *dst;
    i64 dst_n, dst_h, dst_w;
    Epilogue epilogue;
};

__device__ __forceinline__ void load_filter(float (*to)[kChannels], const DepthwiseParams &p, int c0) {
    for (int i = int(threadIdx.x); i < kTaps * kChannels; i += 256) {
        int tap = i / kChannels, c = i % kChannels, y = tap / TAPS_W;
        bool inside = c0 + c < p.g.channels;
        to[tap][c] = inside ? A::load(p.filter[(c0 + c) * p.filter_c + y * p.filter_h + (tap - y * TAPS_W) * p.filter_w]) : 0.0f;
    }
}

__device__ __forceinline__ void store_pair(C::Raw *to, float low, float high) {
    if constexpr (C_TYPE == T_BF16 || C_TYPE == T_F16) {
        *reinterpret_cast<u32 *>(to) = pack2<C_TYPE>(low, high);
    } else {
        to[0] = C::store(low), to[1] = C::store(high);
    }
}

extern "C" __global__ void __launch_bounds__(256, kHeld ? 4 : 2)
    depthwise_sm90(const __grid_constant__ TensorMap src, const __grid_constant__ DepthwiseParams p) {
    __shared__ alignas(8) u64 barrier;
    __shared__ alignas(16) float filter[kTaps][kChannels];
    u8 *pixels = aligned_memory();
    u32 full = shared_address(&barrier);
    int block = int(blockIdx.x) / p.g.blocks, c0 = (int(blockIdx.x) - block * p.g.blocks) * kChannels;
    Tile tile = tile_at(p.g, block);
    int top = tile.y * p.g.stride - p.g.padding_h;
    begin();
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        barrier_init_fence();
        barrier_expect(full, p.g.bytes);
        tma_load(shared_address(pixels), src, full, c0, tile.x * STEP - p.g.padding_w, top, tile.n);
    }
    load_filter(filter, p, c0);
    __syncthreads();

    int lane = threadIdx.x % 32, c = c0 + lane * 2;
    float2 held[kHeld ? kTaps : 1];
    if constexpr (kHeld) {
#pragma unroll
        for (int i = 0; i < kTaps; i++) held[i] = *reinterpret_cast<const float2 *>(&filter[i][lane * 2]);
    }
    barrier_wait(full, 0);
    for (int item = int(threadIdx.x) / 32; item < p.g.tile_rows * p.g.strips; item += kWarps) {
        int y = item / p.g.strips, x = (item - y * p.g.strips) * STRIP;
        if (tile.y + y >= p.g.rows || tile.x + x >= p.g.columns) continue;
        float2 sum[STRIP] = {};
#pragma unroll
        for (int ky = 0; ky < TAPS_H; ky++) {
            int line = y * p.g.stride + ky * p.g.dilation;
            if (u32(top + line) >= u32(p.g.height)) continue;
            float2 v[kSpan];
            load_pixels(v, pixels + (line * p.g.pitch + x * STEP) * kPixel + lane * kPair);
#pragma unroll
            for (int kx = 0; kx < TAPS_W; kx++) {
                const int tap = ky * TAPS_W + kx;
                float2 w = kHeld ? held[kHeld ? tap : 0] : *reinterpret_cast<const float2 *>(&filter[tap][lane * 2]);
#pragma unroll
                for (int s = 0; s < STRIP; s++) {
                    sum[s].x = fmaf(v[s * STEP + kx].x, w.x, sum[s].x);
                    sum[s].y = fmaf(v[s * STEP + kx].y, w.y, sum[s].y);
                }
            }
        }
        int oy = tile.y + y, ox = tile.x + x;
        C::Raw *to = p.dst + tile.n * p.dst_n + oy * p.dst_h + ox * p.dst_w + c;
#pragma unroll
        for (int s = 0; s < STRIP; s++) {
            int pixel = (tile.n * p.g.rows + oy) * p.g.columns + ox + s;
            if (ox + s >= p.g.columns || c >= p.g.channels) break;
            store_pair(to + s * p.dst_w, epilogue(sum[s].x, p.epilogue, 0, pixel, c), epilogue(sum[s].y, p.epilogue, 0, pixel, c + 1));
        }
    }
}
