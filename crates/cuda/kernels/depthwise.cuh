// Depthwise convolution of NHWC images on Hopper: what depthwise_sm90.cu and depthwise_weights_sm90.cu share.
//
// TMA (tiled mode) loads a source tile with its halo into shared memory, 64 channels per pixel, with zeros outside of the image. A warp computes STRIP
// consecutive pixels of an output row, a lane two channels of them: each source pixel is read once per filter row, into registers, for all outputs of
// the strip that use it.
//
// Defines: A_TYPE (T_BF16, T_F16, T_F32), TAPS_W (taps along W), STEP (stride along W), STRIP
#pragma once
#include "epilogue.cuh"
#include "sm90.cuh"

using A = Element<A_TYPE>;

enum : int {
    kChannels = 64, kWarps = 8,
    kPair = 2 * int(sizeof(A::Raw)), kPixel = kChannels / 2 * kPair,   // bytes
    kSpan = (STRIP - 1) * STEP + TAPS_W,                               // source pixels of a row that a strip reads
};

struct Geometry {
    int channels, blocks;                // channels; blocks of 64 of them
    int height;                          // of the source
    int rows, columns;                   // of the result
    int tile_rows, strips;               // rows of an output tile; strips per row
    int down, across;                    // tiles of an image along H and W
    int pitch, bytes;                    // pixels of a row of the source tile; bytes of the tile
    int stride, dilation;                // along H
    int padding_h, padding_w;
};

// The first pixel of an output tile.
struct Tile {
    int n, y, x;
};
__device__ __forceinline__ Tile tile_at(const Geometry &g, int t) {
    int line = t / g.across, n = line / g.down;
    return Tile{n, (line - n * g.down) * g.tile_rows, (t - line * g.across) * g.strips * STRIP};
}

// Dynamic shared memory, aligned to 128 bytes for TMA.
__device__ __forceinline__ u8 *aligned_memory() {
    extern __shared__ u8 memory[];
    return memory + (-shared_address(memory) & 127);
}

// Two channels as f32.
__device__ __forceinline__ float2 load_pair(const u8 *from) {
    if constexpr (A_TYPE == T_F32) return *reinterpret_cast<const float2 *>(from);
    u32 v = *reinterpret_cast<const u32 *>(from);
    if constexpr (A_TYPE == T_BF16) return float2{__uint_as_float(v << 16), __uint_as_float(v & 0xFFFF0000)};
    return float2{Element<T_F16>::load(u16(v)), Element<T_F16>::load(u16(v >> 16))};
}

// COUNT consecutive pixels of a row.
template <int COUNT> __device__ __forceinline__ void load_pixels(float2 (&v)[COUNT], const u8 *from) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) v[i] = load_pair(from + i * kPixel);
}
