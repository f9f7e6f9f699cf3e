// C[batch, M, N] = epilogue(A[batch, M, K] B[batch, K, N]) in f32 with FMA on the CUDA cores (SIMT), in IEEE arithmetic.
//
// A CTA computes a tile of WARPS_M * 4 * ROWS by WARPS_N * 64. A warp is 4 x 8 threads; a thread has ROWS x 8 accumulators, as blocks of 4 x 4. Shared
// memory is double-buffered, 16 of K a stage; the next stage is loaded from global memory to registers while one is multiplied. Split-K: blockIdx.z divides
// K, and add_parts.cu adds the parts.
//
// The FMAs of a row are consecutive and alternate rows run backwards, so consecutive FMAs share an operand and use the register reuse cache.
//
// Interface
//   defines      A_MN, B_MN: contiguous along M or N instead of K; ALIGNED: rows are aligned to 16 bytes; C_ALIGNED: so are groups of four columns of C;
//                ROWS 8 or 16; WARPS_M, WARPS_N; BLOCKS: CTAs per SM
//   parameters   (GemmF32Params) by value
//   grid         (tiles of WARPS_M * 4 * ROWS by WARPS_N * 64, batch, parts of K), 32 * WARPS_M * WARPS_N threads
//   shared       128 * (tile's rows + columns) + 512 bytes
#include "epilogue.cuh"

enum : int { kThreads = 32 * WARPS_M * WARPS_N, kColumns = 8, kTileM = WARPS_M * 4 * ROWS, kTileN = WARPS_N * 8 * kColumns, kDepth = 16 };

// Offset of the elements of depth `d` (of K) in a stage. Every four depths are padded by 8 elements, so that transposing K-major rows has no bank conflicts.
template <int TILE> __device__ __forceinline__ constexpr int line(int d) { return d * TILE + d / 4 * 8; }
enum : int { kStageA = line<kTileM>(kDepth), kStageB = line<kTileN>(kDepth) };

struct GemmF32Params {
    const float *a, *b;
    float *c;
    int m, n, k, part;                      // part: K of a part, a multiple of 16
    int tiles_m, tiles_n, group;            // rasterisation as in tile_sm90.cuh, Schedule
    int a_modulo, b_modulo, batch;          // batch of the operand = batch % modulo
    i64 a_stride, b_stride;                 // leading dimensions in elements: of M or N, or of K with A_MN, B_MN
    i64 a_batch, b_batch;
    i64 c_row, c_column, c_batch;
    float *partial;                         // split-K: (parts, batch, m, n); otherwise null
    Epilogue epilogue;
};

// A thread's elements of a stage of one operand, in groups of four, on their way from global to shared memory.
template <bool MN, int TILE> struct Piece {
    enum : int { kRuns = TILE * kDepth / 4 / kThreads, kAcross = MN ? TILE / 4 : kDepth / 4 };
    static_assert(kRuns * kThreads * 4 == TILE * kDepth, "threads share a stage evenly");
    static_assert(kThreads % kAcross == 0, "the groups of a thread are in a line");
    float v[kRuns][4];

    // Group `i` of this thread: its row (of M or N) and depth (of K) in the tile.
    static __device__ __forceinline__ int unit(int i) { return int(threadIdx.x) + i * kThreads; }
    static __device__ __forceinline__ int row(int i) { return MN ? unit(i) % kAcross * 4 : unit(i) / kAcross; }
    static __device__ __forceinline__ int depth(int i) { return MN ? unit(i) / kAcross : unit(i) % kAcross * 4; }

    // The address of this thread's first group, and the distance of its groups and of stages.
    static __device__ __forceinline__ const float *first(const float *base, i64 stride, int row0, int k0) {
        int r = row0 + row(0), k = k0 + depth(0);
        return MN ? base + k * stride + r : base + r * stride + k;
    }
    static __device__ __forceinline__ i64 apart(i64 stride) { return kThreads / kAcross * stride; }
    static __device__ __forceinline__ i64 step(i64 stride) { return MN ? kDepth * stride : kDepth; }

    // The groups of a stage; `rows` and `depths` are left in the matrix from the stage's first row and depth on. With INSIDE the stage has all of its own.
    template <bool INSIDE> __device__ __forceinline__ void load(const float *from, i64 apart, int rows, int depths) {
#pragma unroll
        for (int i = 0; i < kRuns; i++, from += apart) {
            int lead = MN ? depth(i) : row(i), inner = MN ? row(i) : depth(i), leads = MN ? depths : rows, inners = MN ? rows : depths;
            if constexpr (!INSIDE) {
                if (!ALIGNED || lead >= leads || inner + 4 > inners) {
#pragma unroll
                    for (int j = 0; j < 4; j++) v[i][j] = lead < leads && inner + j < inners ? from[j] : 0.0f;
                    continue;
                }
            }
            float4 x = *reinterpret_cast<const float4 *>(from);
            v[i][0] = x.x, v[i][1] = x.y, v[i][2] = x.z, v[i][3] = x.w;
        }
    }

    __device__ __forceinline__ void store(float *stage) const {
#pragma unroll
        for (int i = 0; i < kRuns; i++) {
            float *to = stage + line<TILE>(depth(i)) + row(i);
            if constexpr (MN) {
                *reinterpret_cast<float4 *>(to) = make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++) to[j * TILE] = v[i][j];
            }
        }
    }
};

// Reads groups of four elements, STEP elements from one to the next.
template <int COUNT, int STEP> __device__ __forceinline__ void read(float (&to)[COUNT], const float *from) {
#pragma unroll
    for (int i = 0; i < COUNT / 4; i++) {
        float4 x = *reinterpret_cast<const float4 *>(from + i * STEP);
        to[i * 4] = x.x, to[i * 4 + 1] = x.y, to[i * 4 + 2] = x.z, to[i * 4 + 3] = x.w;
    }
}

// Multiplies a stage.
__device__ __forceinline__ void multiply(const float *a, const float *b, float (&acc)[ROWS][kColumns]) {
#pragma unroll
    for (int i = 0; i < kDepth; i++) {
        float x[ROWS], y[kColumns];
        read<ROWS, 16>(x, a + line<kTileM>(i));
        read<kColumns, 32>(y, b + line<kTileN>(i));
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int j = 0; j < kColumns; j++) {
                int c = r % 2 ? kColumns - 1 - j : j;
                acc[r][c] = fmaf(x[r], y[c], acc[r][c]);
            }
        }
    }
}

// Stores four neighbouring elements of a row of C, or of a part.
__device__ __forceinline__ void store4(const GemmF32Params &p, float *c, float *partial, int y, int x, float *sums) {
    if (!partial) {
#pragma unroll
        for (int e = 0; e < 4; e++) sums[e] = epilogue(sums[e], p.epilogue, blockIdx.y, y, min(x + e, p.n - 1));
    }
    float *to = partial ? partial + i64(y) * p.n + x : c + y * p.c_row + x * p.c_column;
#if C_ALIGNED
    if (x < p.n) *reinterpret_cast<float4 *>(to) = make_float4(sums[0], sums[1], sums[2], sums[3]);
#else
    i64 step = partial ? 1 : p.c_column;
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if (x + e < p.n) to[e * step] = sums[e];
    }
#endif
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS) gemm_f32(const __grid_constant__ GemmF32Params p) {
    extern __shared__ __align__(16) float stages_a[];
    float *stages_b = stages_a + 2 * kStageA;
    int per_group = p.group * p.tiles_n, first = int(blockIdx.x) / per_group * p.group, within = int(blockIdx.x) - first * p.tiles_n;
    int rows = min(p.group, p.tiles_m - first), m0 = (first + within % rows) * kTileM, n0 = within / rows * kTileN;
    const float *a = p.a + int(blockIdx.y) % p.a_modulo * p.a_batch, *b = p.b + int(blockIdx.y) % p.b_modulo * p.b_batch;
    int begin = int(blockIdx.z) * p.part, end = min(begin + p.part, p.k);
    // Position of the lane in the warp's 4 x 8 threads: two rows of threads per half warp.
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    int row = warp / WARPS_N * 4 * ROWS + (lane / 16 * 2 + lane % 2) * 4, column = warp % WARPS_N * 8 * kColumns + lane % 16 / 2 * 4;

    float acc[ROWS][kColumns] = {};
    Piece<A_MN, kTileM> next_a;
    Piece<B_MN, kTileN> next_b;
    bool inside = ALIGNED && m0 + kTileM <= p.m && n0 + kTileN <= p.n;
    i64 apart_a = next_a.apart(p.a_stride), apart_b = next_b.apart(p.b_stride);
    const float *from_a = next_a.first(a, p.a_stride, m0, begin), *from_b = next_b.first(b, p.b_stride, n0, begin);
    next_a.load<false>(from_a, apart_a, p.m - m0, end - begin);
    next_b.load<false>(from_b, apart_b, p.n - n0, end - begin);
    next_a.store(stages_a);
    next_b.store(stages_b);
    __syncthreads();
    int stage = 0;
    for (int k = begin; k < end; k += kDepth, stage ^= 1) {
        bool more = k + kDepth < end;
        int left = end - k - kDepth;
        from_a += next_a.step(p.a_stride), from_b += next_b.step(p.b_stride);
        if (inside && left >= kDepth) {
            next_a.load<true>(from_a, apart_a, 0, 0);
            next_b.load<true>(from_b, apart_b, 0, 0);
        } else if (more) {
            next_a.load<false>(from_a, apart_a, p.m - m0, left);
            next_b.load<false>(from_b, apart_b, p.n - n0, left);
        }
        multiply(stages_a + stage * kStageA + row, stages_b + stage * kStageB + column, acc);
        if (more) {
            next_a.store(stages_a + (stage ^ 1) * kStageA);
            next_b.store(stages_b + (stage ^ 1) * kStageB);
            __syncthreads();
        }
    }

    float *c = p.c + i64(blockIdx.y) * p.c_batch, *partial = p.partial ? p.partial + (i64(blockIdx.z) * p.batch + blockIdx.y) * p.m * p.n : nullptr;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int y = m0 + row + r / 4 * 16 + r % 4;
        if (y >= p.m) continue;
#pragma unroll
        for (int i = 0; i < kColumns; i += 4) store4(p, c, partial, y, n0 + column + i * 8, &acc[r][i]);
    }
}
