// Products in f32 with FMA on the CUDA cores, in IEEE arithmetic: what gemm_f32.cu, conv_f32.cu and conv_weights_f32.cu share.
//
// A CTA computes a tile of WARPS_M * 4 * ROWS by WARPS_N * 64. A warp is 4 x 8 threads; a thread has ROWS x 8 accumulators, as blocks of 4 x 4. Shared
// memory is double-buffered, 16 of K a stage; the next stage is loaded from global memory to registers while one is multiplied.
//
// The FMAs of a row are consecutive and alternate rows run backwards, so consecutive FMAs share an operand and use the register reuse cache.
//
//   defines   ROWS 8 or 16; WARPS_M, WARPS_N; BLOCKS: CTAs per SM; ALIGNED: groups of four elements of A and B are aligned to 16 bytes
//   block     32 * WARPS_M * WARPS_N threads
//   shared    128 * (tile's rows + columns) + 512 bytes
#pragma once

enum : int { kThreads = 32 * WARPS_M * WARPS_N, kColumns = 8, kTileM = WARPS_M * 4 * ROWS, kTileN = WARPS_N * 8 * kColumns, kDepth = 16 };

// Offset of the elements of depth `d` (of K) in a stage. Every four depths are padded by 8 elements, so that transposing K-major rows has no bank conflicts.
template <int TILE> __device__ __forceinline__ constexpr int line(int d) { return d * TILE + d / 4 * 8; }
enum : int { kStageA = line<kTileM>(kDepth), kStageB = line<kTileN>(kDepth) };

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

// This thread's first row and column of the tile; the others of a block of four follow, those of the next block are 16 rows or 32 columns on. Two rows of threads
// per half warp.
__device__ __forceinline__ int own_row() {
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    return warp / WARPS_N * 4 * ROWS + (lane / 16 * 2 + lane % 2) * 4;
}
__device__ __forceinline__ int own_column() {
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    return warp % WARPS_N * 8 * kColumns + lane % 16 / 2 * 4;
}

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

// Multiplies A and B over K from `begin` to `end`. `load(k)` loads this thread's groups of the stage at `k` to `next_a` and `next_b`; it is called in order of K.
template <class A, class B, class Load>
__device__ __forceinline__ void multiply_stages(int begin, int end, A &next_a, B &next_b, float (&acc)[ROWS][kColumns], Load load) {
    extern __shared__ __align__(16) float stages_a[];
    float *stages_b = stages_a + 2 * kStageA;
    load(begin);
    next_a.store(stages_a);
    next_b.store(stages_b);
    __syncthreads();
    int stage = 0;
    for (int k = begin; k < end; k += kDepth, stage ^= 1) {
        bool more = k + kDepth < end;
        if (more) load(k + kDepth);
        multiply(stages_a + stage * kStageA + own_row(), stages_b + stage * kStageB + own_column(), acc);
        if (more) {
            next_a.store(stages_a + (stage ^ 1) * kStageA);
            next_b.store(stages_b + (stage ^ 1) * kStageB);
            __syncthreads();
        }
    }
}

// The tile of a CTA: its first row and column. Rasterisation as in tile_sm90.cuh, Schedule.
struct Corner {
    int m, n;
};
__device__ __forceinline__ Corner corner_of(int block, int tiles_m, int tiles_n, int group) {
    int per_group = group * tiles_n, first = block / per_group * group, within = block - first * tiles_n, rows = min(group, tiles_m - first);
    return Corner{(first + within % rows) * kTileM, within / rows * kTileN};
}
