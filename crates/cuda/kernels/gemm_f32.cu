// Products of f32 without tensor cores: C = epilogue(A B), every product and sum rounded as f32 has it.
//
// A thread has ROWS x 8 sums in registers, as squares of 4 x 4; a warp has 4 x 8 threads. K goes by 16; the next stage is on its way from memory to registers
// while one is multiplied.
//
// Products of a row follow each other, and rows go back and forth: so one operand of each is the one of the product before, which needs no register to be read.
//
// ABI
//   defines      A_MN, B_MN (contiguous along M or N in place of K), ALIGNED (rows are aligned to 16 bytes), C_ALIGNED (so are runs of four columns of C); ROWS 8 or 16; WARPS_M, WARPS_N; BLOCKS of a
//                multiprocessor
//   parameters   (GemmF32Params) by value
//   grid         (tiles of WARPS_M * 4 * ROWS by WARPS_N * 64, batch, parts of K), 32 * WARPS_M * WARPS_N threads
//   shared       128 * (tile's rows + columns) + 512 bytes
#include "epilogue.cuh"

enum : int { kThreads = 32 * WARPS_M * WARPS_N, kColumns = 8, kTileM = WARPS_M * 4 * ROWS, kTileN = WARPS_N * 8 * kColumns, kDepth = 16 };

// Where an operand's elements of depth `d` begin in a stage: those of every four depths are 8 further, so that a warp that turns rows of K meets each bank once.
template <int TILE> __device__ __forceinline__ constexpr int line(int d) { return d * TILE + d / 4 * 8; }
enum : int { kStageA = line<kTileM>(kDepth), kStageB = line<kTileN>(kDepth) };

struct GemmF32Params {
    const float *a, *b;
    float *c;
    int m, n, k, part;                      // K of a part, a multiple of 16
    int tiles_m, tiles_n, group;            // groups of rows of tiles are walked column by column
    int a_modulo, b_modulo, batch;
    i64 a_stride, b_stride;                 // elements from one row (of M or N, or of K with A_MN, B_MN) to the next
    i64 a_batch, b_batch;
    i64 c_row, c_column, c_batch;
    float *partial;                         // where K is divided: sums by part, batch, row and column
    Epilogue epilogue;
};

// A thread's elements of a stage of one operand, in runs of four.
template <bool MN, int TILE> struct Piece {
    enum : int { kRuns = TILE * kDepth / 4 / kThreads, kAcross = MN ? TILE / 4 : kDepth / 4 };
    static_assert(kRuns * kThreads * 4 == TILE * kDepth, "threads share a stage evenly");
    float v[kRuns][4];

    // Where run `i` of this thread is in a tile: its row (of M or N) and its K.
    static __device__ __forceinline__ int unit(int i) { return int(threadIdx.x) + i * kThreads; }
    static __device__ __forceinline__ int row(int i) { return MN ? unit(i) % kAcross * 4 : unit(i) / kAcross; }
    static __device__ __forceinline__ int depth(int i) { return MN ? unit(i) / kAcross : unit(i) % kAcross * 4; }

    __device__ __forceinline__ void load(const float *base, i64 stride, int row0, int rows, int k0, int end) {
#pragma unroll
        for (int i = 0; i < kRuns; i++) {
            int r = row0 + row(i), k = k0 + depth(i), lead = MN ? k : r, inner = MN ? r : k, leads = MN ? end : rows, inners = MN ? rows : end;
            const float *from = base + lead * stride + inner;
#if ALIGNED
            if (lead < leads && inner + 4 <= inners) {
                float4 x = *reinterpret_cast<const float4 *>(from);
                v[i][0] = x.x, v[i][1] = x.y, v[i][2] = x.z, v[i][3] = x.w;
                continue;
            }
#endif
#pragma unroll
            for (int j = 0; j < 4; j++) v[i][j] = lead < leads && inner + j < inners ? from[j] : 0.0f;
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

// Runs of four, STEP elements from one to the next.
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

// Stores four neighbours of a row of C, or of sums of a part.
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
    // Neighbouring lanes are in neighbouring rows and columns of a warp.
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    int row = warp / WARPS_N * 4 * ROWS + (lane / 16 * 2 + lane % 2) * 4, column = warp % WARPS_N * 8 * kColumns + lane % 16 / 2 * 4;

    float acc[ROWS][kColumns] = {};
    Piece<A_MN, kTileM> next_a;
    Piece<B_MN, kTileN> next_b;
    next_a.load(a, p.a_stride, m0, p.m, begin, end);
    next_b.load(b, p.b_stride, n0, p.n, begin, end);
    next_a.store(stages_a);
    next_b.store(stages_b);
    __syncthreads();
    int stage = 0;
    for (int k = begin; k < end; k += kDepth, stage ^= 1) {
        bool more = k + kDepth < end;
        if (more) {
            next_a.load(a, p.a_stride, m0, p.m, k + kDepth, end);
            next_b.load(b, p.b_stride, n0, p.n, k + kDepth, end);
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
