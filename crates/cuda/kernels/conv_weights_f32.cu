// Weight gradients of convolution and deconvolution in f32 with FMA on the CUDA cores, in IEEE arithmetic: C[channel, (tap, other channel)] = sum over the pixels
// of the small grid of small[pixel, channel] * large[pixel of the tap, other channel]. K = pixels of the small grid.
//
// The tiles and the pipeline are those of simt.cuh. Both operands are contiguous along channels (NHWC, NDHWC). A thread's columns are four channels of one tap;
// it steps from pixel to pixel. Split-K: blockIdx.z divides the pixels, and reduce_parts.cu adds the parts.
//
// Interface
//   defines      those of simt.cuh; SPATIAL: 3, or 2 if all sizes along D are 1
//   parameters   (ConvWeightsF32Params) by value
//   grid         (tiles, 1, parts of K)
#include "epilogue.cuh"
#include "simt.cuh"

struct ConvWeightsF32Params {
    const float *small, *large;
    float *c;                               // (parts, m, n)
    int m, n, k, part;                      // channels of the small grid; taps x held; pixels; K of a part, a multiple of 16
    int channels, held;                     // channels of the large grid, and from tap to tap in C, a multiple of 4
    int tiles_m, tiles_n, group;            // rasterisation as in tile_sm90.cuh, Schedule
    int taps[3];                            // along W, H, D, as all that follow
    int size[3], stride[3], start[3], offset[3], read[3];   // pixels; of the large grid: from one to the next, the first tap's first, from tap to tap; its size
    int step[4];                            // a thread's pixels from one to the next (kThreads / (kTileN / 4)), as steps along W, H, D and N
    int pitch[4];                           // strides of the large grid along W, H, D, N in elements
    i64 lead;                               // from pixel to pixel of the small grid, in elements
    Epilogue epilogue;
};

// A pixel of the small grid: its position along W, H, D, and the image.
struct Pixel {
    int at[4];
    __device__ __forceinline__ void of(const ConvWeightsF32Params &p, int k) {
        int line = k / p.size[0], plane = line / p.size[1], n = plane / p.size[2];
        at[0] = k - line * p.size[0], at[1] = line - plane * p.size[1], at[2] = plane - n * p.size[2], at[3] = n;
    }
    __device__ __forceinline__ void step(const ConvWeightsF32Params &p) {
        int carry = 0;
#pragma unroll
        for (int d = 0; d < SPATIAL; d++) {
            at[d] += p.step[d] + carry;
            carry = at[d] >= p.size[d];
            if (carry) at[d] -= p.size[d];
        }
        at[3] += p.step[3] + carry;
    }
};

// Four channels; zeros for those that do not exist.
__device__ __forceinline__ void load4(float (&to)[4], const float *from, int valid) {
    if (ALIGNED && valid >= 4) {
        float4 x = *reinterpret_cast<const float4 *>(from);
        to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) to[j] = j < valid ? from[j] : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS) conv_weights_f32(const __grid_constant__ ConvWeightsF32Params p) {
    begin();
    Corner corner = corner_of(blockIdx.x, p.tiles_m, p.tiles_n, p.group);
    int begin = int(blockIdx.z) * p.part, end = min(begin + p.part, p.k);
    float acc[ROWS][kColumns] = {};
    Piece<true, kTileM> next_a;
    Piece<true, kTileN> next_b;
    // The thread's columns: a tap, and the first of four channels.
    int column = corner.n + next_b.row(0), tap = column / p.held, channel = column - tap * p.held, line = tap / p.taps[0];
    int taps[3] = {tap - line * p.taps[0], line % p.taps[1], line / p.taps[1]}, shift[SPATIAL];
    int own = column < p.n ? p.channels - channel : 0, others = p.m - corner.m - next_a.row(0);
#pragma unroll
    for (int d = 0; d < SPATIAL; d++) shift[d] = p.start[d] + taps[d] * p.offset[d];
    // All pixels of the thread are at the same distance, those of a stage and of the next one.
    static_assert(kThreads / next_b.kAcross * next_b.kRuns == kDepth, "a stage's pixels of a thread are evenly spaced");
    Pixel pixel;
    pixel.of(p, begin + next_b.depth(0));
    const float *small = p.small + corner.m + next_a.row(0);
    multiply_stages(begin, end, next_a, next_b, acc, [&](int k) {
#pragma unroll
        for (int i = 0; i < next_a.kRuns; i++) {
            int depth = k + next_a.depth(i);
            load4(next_a.v[i], small + depth * p.lead, depth < end ? others : 0);
        }
#pragma unroll
        for (int i = 0; i < next_b.kRuns; i++) {
            bool inside = k + next_b.depth(i) < end;
            int at = pixel.at[3] * p.pitch[3] + channel;
#pragma unroll
            for (int d = 0; d < SPATIAL; d++) {
                int where = pixel.at[d] * p.stride[d] + shift[d];
                inside = inside && unsigned(where) < unsigned(p.read[d]);
                at += where * p.pitch[d];
            }
            load4(next_b.v[i], p.large + at, inside ? own : 0);
            pixel.step(p);
        }
    });

    float *c = p.c + i64(blockIdx.z) * p.m * p.n;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int y = corner.m + own_row() + r / 4 * 16 + r % 4;
        if (y >= p.m) continue;
#pragma unroll
        for (int i = 0; i < kColumns; i += 4) {
            // Columns come in groups of four.
            int x = corner.n + own_column() + i * 8;
            if (x < p.n) *reinterpret_cast<float4 *>(c + i64(y) * p.n + x) = make_float4(acc[r][i], acc[r][i + 1], acc[r][i + 2], acc[r][i + 3]);
        }
    }
}
