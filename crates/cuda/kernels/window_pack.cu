// Packs the operands of conv_window_sm90.cu: the source with its padding and CHANNELS channels, and weights whose rows are 8 taps of CHANNELS channels.
// Missing channels, taps and padding are zeros.
//
// Interface
//   defines        CHANNELS 4 or 8; 16-bit elements
//   window_pack    (PackParams); one thread per piece of 16 bytes, CTAs of 256 threads; any strides of the source (NHWC, NCHW)
//   window_weights (WeightsPackParams); one thread per tap (8 in a row) of an output channel, CTAs of 256 threads
#include "types.cuh"

struct alignas(CHANNELS * 2) Pixel {
    u16 c[CHANNELS];
};

// A piece: the neighbouring pixels in 16 bytes.
enum : int { kPixels = 8 / CHANNELS };
struct alignas(16) Piece {
    Pixel pixel[kPixels];
};

struct PackParams {
    const u16 *src;
    Piece *to;                              // (images, rows, phases, positions): piece i of a row is at phase i % phases, position i / phases
    int channels, width, height;            // of the source
    int before_w, before_h;                 // padding
    int positions, phases, rows, pieces;    // of the result; pieces in all
    int unused;
    i64 stride_c, stride_w, stride_h, stride_n;
};

extern "C" __global__ void __launch_bounds__(256) window_pack(const __grid_constant__ PackParams p) {
    begin();
    int at = int(blockIdx.x) * 256 + int(threadIdx.x);
    if (at >= p.pieces) return;
    int part = at / p.positions, line = part / p.phases, n = line / p.rows, h = line - n * p.rows - p.before_h;
    int w = ((at - part * p.positions) * p.phases + part - line * p.phases) * kPixels - p.before_w;
    Piece x{};
    if (h >= 0 && h < p.height) {
        const u16 *from = p.src + n * p.stride_n + h * p.stride_h + w * p.stride_w;
#pragma unroll
        for (int i = 0; i < kPixels; i++) {
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
                if (c < p.channels && w + i >= 0 && w + i < p.width) x.pixel[i].c[c] = __ldg(from + i * p.stride_w + c * p.stride_c);
            }
        }
    }
    p.to[at] = x;
}

struct WeightsPackParams {
    const u16 *weights;
    Pixel *to;                              // (oc, rows, 8 taps)
    int oc, channels, taps_w, taps_h, rows; // rows: taps_h rounded up to whole stages
    u32 order;                              // permutation of the pieces of a row, four bits each
    i64 stride_o, stride_c, stride_w, stride_h;
};

__device__ __forceinline__ void pack_tap(const WeightsPackParams &p, int at) {
    int slot = at % 8, h = at / 8 % p.rows, o = at / 8 / p.rows;
    int w = int(p.order >> slot / kPixels * 4 & 15) * kPixels + slot % kPixels;
    Pixel x{};
    if (w < p.taps_w && h < p.taps_h) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            if (c < p.channels) x.c[c] = __ldg(p.weights + o * p.stride_o + h * p.stride_h + w * p.stride_w + c * p.stride_c);
        }
    }
    p.to[at] = x;
}

extern "C" __global__ void __launch_bounds__(256) window_weights(const __grid_constant__ WeightsPackParams p) {
    begin();
    int at = blockIdx.x * 256 + threadIdx.x;
    if (at < p.oc * p.rows * 8) pack_tap(p, at);
    end();
}
