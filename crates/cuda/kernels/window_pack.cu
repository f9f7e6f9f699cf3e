// What conv_window_sm90.cu reads: a source with its padding around it and CHANNELS channels, and weights whose rows are 8 taps of CHANNELS channels.
//
// ABI
//   defines        CHANNELS 4 or 8; 16-bit elements
//   window_pack    (PackParams); one thread a pixel of the result, blocks of 256 threads; any strides of the source, so NCHW needs no other copy
//   window_weights (WeightsPackParams); one thread a tap (of 8 in a row) of an output channel, blocks of 256 threads
#include "types.cuh"

struct alignas(CHANNELS * 2) Pixel {
    u16 c[CHANNELS];
};

struct PackParams {
    const u16 *src;
    Pixel *to;
    int channels, width, height;            // of the source
    int before_w, before_h;                 // padding
    int pitch, rows, images;                // pixels of a row of the result, its rows, images
    i64 stride_c, stride_w, stride_h, stride_n;
};

extern "C" __global__ void __launch_bounds__(256) window_pack(const __grid_constant__ PackParams p) {
    begin();
    i64 at = i64(blockIdx.x) * 256 + threadIdx.x;
    if (at >= i64(p.pitch) * p.rows * p.images) return;
    int line = int(at / p.pitch), w = int(at - i64(line) * p.pitch) - p.before_w, n = line / p.rows, h = line - n * p.rows - p.before_h;
    Pixel x{};
    if (w >= 0 && w < p.width && h >= 0 && h < p.height) {
        const u16 *from = p.src + n * p.stride_n + h * p.stride_h + w * p.stride_w;
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            if (c < p.channels) x.c[c] = __ldg(from + c * p.stride_c);
        }
    }
    p.to[at] = x;
}

struct WeightsPackParams {
    const u16 *weights;
    Pixel *to;                              // (oc, rows, 8 taps)
    int oc, channels, taps_w, taps_h, rows; // rows: taps_h rounded up to whole stages
    i64 stride_o, stride_c, stride_w, stride_h;
};

extern "C" __global__ void __launch_bounds__(256) window_weights(const __grid_constant__ WeightsPackParams p) {
    begin();
    int at = blockIdx.x * 256 + threadIdx.x;
    if (at >= p.oc * p.rows * 8) return;
    int w = at % 8, h = at / 8 % p.rows, o = at / 8 / p.rows;
    Pixel x{};
    if (w < p.taps_w && h < p.taps_h) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            if (c < p.channels) x.c[c] = __ldg(p.weights + o * p.stride_o + h * p.stride_h + w * p.stride_w + c * p.stride_c);
        }
    }
    p.to[at] = x;
}
