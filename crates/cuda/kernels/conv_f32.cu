// Implicit GEMM convolution of NHWC and NDHWC tensors in f32 with FMA on the CUDA cores, in IEEE arithmetic: C[pixel, oc] = epilogue(sum over taps and channels
// of src[pixel of the tap, channel] * weights[oc, tap, channel]). M = output pixels, N = output channels, K = taps x channels.
//
// The tiles and the pipeline are those of simt.cuh. A thread loads groups of four channels of a few pixels; it knows the position of each pixel's first tap and
// steps from tap to tap, so that a stage costs a comparison per pixel and dimension. The channels of a tap are padded to `held`, a multiple of four. Passes that
// read the small grid (backward data, deconvolution) are Walks as in conv_sm90.cu, one for each blockIdx.y. Split-K: blockIdx.z divides K, and add_parts.cu
// adds the parts; a single walk only.
//
// Interface
//   defines      those of simt.cuh; SPATIAL: 3, or 2 if all sizes along D are 1; WALKS: 1 or 8; C_ALIGNED: groups of four channels of C are aligned to 16 bytes
//   parameters   (ConvF32Params) by value
//   grid         (tiles, walks, parts of K)
#include "epilogue.cuh"
#include "simt.cuh"

// A set of output pixels that use the same taps. Arrays are along W, H, D.
struct Walk {
    int taps[3];       // number of taps
    int start[3];      // input position of the first pixel's first tap
    int offset[3];     // input pixels from one tap to the next
    int filter[3];     // elements of the weights from one tap to the next
    int first;         // the first tap's weights, in elements
    int depth;         // taps x held
    i64 at;            // of the result's first pixel, in elements
};

struct ConvF32Params {
    const float *src, *weights;
    float *c;
    int m, n, part;                         // pixels of a walk, output channels; K of a part, a multiple of 16
    int channels, held;                     // input channels of a tap, and from tap to tap in the weights
    int tiles_m, tiles_n, group;            // rasterisation as in tile_sm90.cuh, Schedule
    int size[3], stride[3], read[3];        // along W, H, D: output pixels of a walk; input pixels from one to the next; the input's size
    int lead;                               // weights of an output channel, in elements
    int pitch[4];                           // strides of the input along W, H, D, N in elements
    i64 place[4];                           // strides of the result along W, H, D, N in elements
    float *partial;                         // split-K: (parts, m, n); otherwise null
    Walk walks[WALKS];
    Epilogue epilogue;
};

// The position of output pixel `m`: along W, H, D, and the image.
struct Pixel {
    int at[3], n;
};
__device__ __forceinline__ Pixel pixel_of(const ConvF32Params &p, int m) {
    int line = m / p.size[0], plane = line / p.size[1], n = plane / p.size[2];
    return Pixel{{m - line * p.size[0], line - plane * p.size[1], plane - n * p.size[2]}, n};
}

// Four channels of a row; zeros for those that do not exist.
__device__ __forceinline__ void load4(float (&to)[4], const float *from, int valid) {
    if (ALIGNED && valid >= 4) {
        float4 x = *reinterpret_cast<const float4 *>(from);
        to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) to[j] = j < valid ? from[j] : 0.0f;
    }
}

// This thread's place along K: tap and channel.
struct Tap {
    int tap[3], channel;
    __device__ __forceinline__ Tap(const ConvF32Params &p, const Walk &walk, int k) {
        int t = k / p.held, line = t / walk.taps[0];
        channel = k - t * p.held;
        tap[0] = t - line * walk.taps[0], tap[2] = line / walk.taps[1], tap[1] = line - tap[2] * walk.taps[1];
    }
    __device__ __forceinline__ void step(const ConvF32Params &p, const Walk &walk) {
        for (channel += kDepth; channel >= p.held; channel -= p.held) {
            if (++tap[0] < walk.taps[0]) continue;
            tap[0] = 0;
            if (++tap[1] < walk.taps[1]) continue;
            tap[1] = 0, tap[2]++;
        }
    }
};

// Stores four neighbouring channels of an output pixel, or of a part.
__device__ __forceinline__ void store4(const ConvF32Params &p, float *c, float *partial, int y, int x, float *sums) {
    if (!partial) {
#pragma unroll
        for (int e = 0; e < 4; e++) sums[e] = epilogue(sums[e], p.epilogue, blockIdx.y, y, min(x + e, p.n - 1));
    }
    float *to = (partial ? partial + i64(y) * p.n : c) + x;
#if C_ALIGNED
    if (x < p.n) *reinterpret_cast<float4 *>(to) = make_float4(sums[0], sums[1], sums[2], sums[3]);
#else
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if (x + e < p.n) to[e] = sums[e];
    }
#endif
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS) conv_f32(const __grid_constant__ ConvF32Params p) {
    begin();
#if WALKS > 1
    // In shared memory, so that it takes no registers.
    __shared__ Walk walk;
    if (threadIdx.x < sizeof(Walk) / 4) reinterpret_cast<int *>(&walk)[threadIdx.x] = reinterpret_cast<const int *>(&p.walks[blockIdx.y])[threadIdx.x];
    __syncthreads();
#else
    const Walk &walk = p.walks[0];
#endif
    Corner corner = corner_of(blockIdx.x, p.tiles_m, p.tiles_n, p.group);
    int begin = int(blockIdx.z) * p.part, end = min(begin + p.part, walk.depth);
    float acc[ROWS][kColumns] = {};
    Piece<false, kTileM> next_a;
    Piece<false, kTileN> next_b;
    // Of the thread's pixels: the position of the first tap and its offset in the input. A pixel beyond the last is outside of any input.
    int where[next_a.kRuns][SPATIAL], at[next_a.kRuns];
#pragma unroll
    for (int i = 0; i < next_a.kRuns; i++) {
        int m = corner.m + next_a.row(i);
        Pixel pixel = pixel_of(p, m);
        at[i] = pixel.n * p.pitch[3];
#pragma unroll
        for (int d = 0; d < SPATIAL; d++) {
            where[i][d] = m < p.m ? pixel.at[d] * p.stride[d] + walk.start[d] : -(1 << 30);
            at[i] += where[i][d] * p.pitch[d];
        }
    }
    Tap tap(p, walk, begin + next_a.depth(0));
    multiply_stages(begin, end, next_a, next_b, acc, [&](int k) {
        int valid = k + next_a.depth(0) < end ? p.channels - tap.channel : 0;
        int to_tap = tap.channel, to_weights = walk.first + tap.channel, shift[SPATIAL];
#pragma unroll
        for (int d = 0; d < SPATIAL; d++) {
            shift[d] = tap.tap[d] * walk.offset[d];
            to_tap += shift[d] * p.pitch[d], to_weights += tap.tap[d] * walk.filter[d];
        }
#pragma unroll
        for (int i = 0; i < next_a.kRuns; i++) {
            bool inside = true;
#pragma unroll
            for (int d = 0; d < SPATIAL; d++) inside = inside && unsigned(where[i][d] + shift[d]) < unsigned(p.read[d]);
            load4(next_a.v[i], p.src + at[i] + to_tap, inside ? valid : 0);
        }
#pragma unroll
        for (int i = 0; i < next_b.kRuns; i++) {
            int n = corner.n + next_b.row(i);
            load4(next_b.v[i], p.weights + i64(n) * p.lead + to_weights, n < p.n ? valid : 0);
        }
        tap.step(p, walk);
    });

    float *partial = p.partial ? p.partial + i64(blockIdx.z) * p.m * p.n : nullptr;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int y = corner.m + own_row() + r / 4 * 16 + r % 4;
        if (y >= p.m) continue;
        Pixel pixel = pixel_of(p, y);
        float *c = p.c + walk.at + pixel.n * p.place[3] + pixel.at[2] * p.place[2] + pixel.at[1] * p.place[1] + pixel.at[0] * p.place[0];
#pragma unroll
        for (int i = 0; i < kColumns; i += 4) store4(p, c, partial, y, corner.n + own_column() + i * 8, &acc[r][i]);
    }
}
