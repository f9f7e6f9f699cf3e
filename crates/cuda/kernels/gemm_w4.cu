// C[rows, N] = epilogue(A[rows, K] W[K, N]) for 4-bit weights with scales per group of K, and up to 16 rows (decode), bound by the bandwidth of reading W.
//
// The transposed product C^T = W^T A^T by mma.sync: columns of C are M (16 per instruction), rows of C are N (8). A byte holds two weights that are neighbours
// along N. The order of rows and of K within an instruction is free, so weights need no shuffling: each byte of a lane's word of one k gives rows g and
// g + 8 of an instruction. Weights become 16-bit floats exactly (small integers); scales multiply the f32 sums of each group.
//
// A CTA computes WIDTH columns. Split-K: the 8 warps of a CTA and the SPLIT CTAs of its cluster divide K; sums are added in a fixed order, through shared and
// distributed shared memory. No shared memory for the operands: W and A go from global memory to registers, kAhead pieces ahead.
//
// Interface
//   defines      A_TYPE (T_BF16 or T_F16), C_TYPE, SCALE_TYPE; UNSIGNED 0 or 1; ROWS 8 or 16 (rows beyond the last one are not stored); WIDTH 64;
//                SPLIT 1, 2, 4, 8
//   parameters   (W4Params) by value; K a multiple of 32, N of 16, rows of weights aligned to 8 bytes; groups a multiple of 32 of K, or none (`group` K)
//   grid         ceil(N / WIDTH) * SPLIT; cluster SPLIT; block 256 threads; shared memory ROWS * WIDTH * 36 bytes
#include "epilogue.cuh"
#include "four_bits.cuh"
#include "sm90.cuh"

using A = Element<A_TYPE>;
using C = Element<C_TYPE>;
using Scale = Element<SCALE_TYPE>;
enum : int { kWarps = 8, kBlocks = ROWS / 8 };
// Pieces in flight to registers, and CTAs per SM (measured on an H200: more is slower).
enum : int {
    kAhead = ROWS == 8 ? 4 : 3, kBlocksAtOnce = ROWS == 8 ? 2 : 1,
    kLane = WIDTH / 8, kTiles = kLane / 2,   // columns of a lane; M tiles of mma.sync that they make
};

struct W4Params {
    const u16 *a;
    const u8 *w;
    const Scale::Raw *scales;              // (K / group, N)
    C::Raw *c;
    int rows, n, k, group;
    i64 a_row, w_row, scale_row, c_row;    // a, scales and c in elements, w in bytes
    Epilogue epilogue;
};

__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if A_TYPE == T_BF16
#define MMA_TYPES "f32.bf16.bf16.f32"
#else
#define MMA_TYPES "f32.f16.f16.f32"
#endif
    asm volatile("mma.sync.aligned.m16n8k16.row.col." MMA_TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A warp's operands for 32 of K and all columns: lane (g, q) has kLane columns of 8 k, from 8q on.
struct Piece {
    u32 w[8];
    uint4 a[kBlocks];
};

// Where a lane's operands of the next piece are.
struct Cursor {
    const u8 *w;
    const u16 *a[kBlocks];
};

__device__ __forceinline__ Cursor cursor_at(const W4Params &p, int k, int column, int g, int q) {
    Cursor at;
    at.w = p.w + i64(k + q * 8) * p.w_row + min(column, p.n - kLane) / 2;
#pragma unroll
    for (int b = 0; b < kBlocks; b++) at.a[b] = p.a + min(b * 8 + g, p.rows - 1) * p.a_row + k + q * 8;
    return at;
}

// Loads a piece and moves on to the next one.
__device__ __forceinline__ Piece load_piece(const W4Params &p, Cursor &at) {
    Piece x;
#pragma unroll
    for (int i = 0; i < 8; i++) asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(x.w[i]) : "l"(at.w + i * p.w_row));
    at.w += 32 * p.w_row;
#pragma unroll
    for (int b = 0; b < kBlocks; b++) {
        x.a[b] = *reinterpret_cast<const uint4 *>(at.a[b]);
        at.a[b] += 32;
    }
    return x;
}

__device__ __forceinline__ void multiply_piece(const Piece &x, float (&sum)[kTiles][kBlocks][4]) {
#pragma unroll
    for (int half = 0; half < 2; half++) {   // 16 of K each
#pragma unroll
        for (int byte = 0; byte < kTiles; byte++) {
            // Two bytes (four columns) of two k, one k in each half of the word; `widen` masks what is not wanted.
            const u32 *word = x.w + half * 4, select = byte < 2 ? 0x5410 : 0x7632, shift = byte % 2 * 8;
            u32 low = __byte_perm(word[0], word[1], select), high = __byte_perm(word[2], word[3], select);
            u32 a[4] = {widen(low >> shift), widen(low >> (shift + 4)), widen(high >> shift), widen(high >> (shift + 4))};
#pragma unroll
            for (int b = 0; b < kBlocks; b++) multiply(sum[byte][b], a, half ? x.a[b].z : x.a[b].x, half ? x.a[b].w : x.a[b].y);
        }
    }
}

// The scales of a lane's columns, loaded a group ahead.
struct Scales {
    Scale::Raw of[kLane];
};
__device__ __forceinline__ Scales load_scales(const Scale::Raw *from) {
    Scales x;
#pragma unroll
    for (int j = 0; j < kLane; j++) x.of[j] = __ldg(from + j);
    return x;
}

// Adds the sums of a group times their scales to `total`.
__device__ __forceinline__ void add_group(const Scales &scales, float (&sum)[kTiles][kBlocks][4], float (&total)[kTiles][kBlocks][4]) {
#pragma unroll
    for (int j = 0; j < kTiles; j++) {
        float even = Scale::load(scales.of[j * 2]), odd = Scale::load(scales.of[j * 2 + 1]);
#pragma unroll
        for (int b = 0; b < kBlocks; b++) {
#pragma unroll
            for (int e = 0; e < 4; e++) total[j][b][e] = fmaf(sum[j][b][e], e < 2 ? even : odd, total[j][b][e]), sum[j][b][e] = 0;
        }
    }
}

// Results that a CTA of the cluster stores; turns in which a CTA's threads visit all ROWS * WIDTH sums, four neighbours at a time.
enum : int { kShare = ROWS * WIDTH / SPLIT, kTurns = (ROWS * WIDTH + 1023) / 1024 };

// Adds the warps' sums of the four elements from `at` on.
__device__ __forceinline__ float4 sum_of_warps(const float *parts, int at) {
    float4 x = {};
#pragma unroll
    for (int w = 0; w < kWarps; w++) {
        float4 y = *reinterpret_cast<const float4 *>(parts + w * ROWS * WIDTH + at);
        x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
    }
    return x;
}

extern "C" __global__ void __launch_bounds__(256, kBlocksAtOnce) gemm_w4(const __grid_constant__ W4Params p) {
    extern __shared__ float parts[];   // [warp][row][column], and what the other CTAs of the cluster send: [rank][element]
    __shared__ u64 arrived;
    // The same in all lanes, which the compiler sees by the shuffle.
    const int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0);
    int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    int rank = SPLIT > 1 ? int(cluster_rank()) : 0, first_column = blockIdx.x / SPLIT * WIDTH, column = first_column + g * kLane;
    u32 barrier = shared_address(&arrived), sent = shared_address(parts + kWarps * ROWS * WIDTH);
    if constexpr (SPLIT > 1) {
        if (threadIdx.x == 0) {
            barrier_init(barrier, 1);
            barrier_init_fence();
        }
        cluster_arrive();
    }
    // This warp's share of K, in pieces of 32.
    int pieces = p.k / 32, share = rank * kWarps + warp, from = pieces * share / (kWarps * SPLIT), to = pieces * (share + 1) / (kWarps * SPLIT);
    begin();

    float total[kTiles][kBlocks][4] = {}, sum[kTiles][kBlocks][4] = {};
    Piece next[kAhead];
    Cursor at = cursor_at(p, from * 32, column, g, q);
#pragma unroll
    for (int j = 0; j < kAhead; j++) {
        if (from + j < to) next[j] = load_piece(p, at);
    }
    // Pieces of a group of scales, and those left in this one.
    int of_group = p.group / 32, group = from / of_group, left = (group + 1) * of_group - from;
    const Scale::Raw *scales_at = p.scales + group * p.scale_row + min(column, p.n - kLane);
    Scales scales = {};
    if (from < to) scales = load_scales(scales_at);
    for (int first = from; first < to; first += kAhead) {
#pragma unroll
        for (int j = 0; j < kAhead; j++) {
            int i = first + j;
            if (i >= to) break;
            multiply_piece(next[j], sum);
            if (i + kAhead < to) next[j] = load_piece(p, at);
            if (--left == 0 || i + 1 == to) {
                add_group(scales, sum, total);
                left = of_group, scales_at += p.scale_row;
                if (i + 1 < to) scales = load_scales(scales_at);
            }
        }
    }
#pragma unroll
    for (int j = 0; j < kTiles; j++) {
#pragma unroll
        for (int b = 0; b < kBlocks; b++) {
#pragma unroll
            for (int e = 0; e < 4; e++) parts[(warp * ROWS + b * 8 + q * 2 + e % 2) * WIDTH + g * kLane + j * 2 + e / 2] = total[j][b][e];
        }
    }
    if constexpr (SPLIT > 1) cluster_wait();
    __syncthreads();
    if (SPLIT > 1 && threadIdx.x == 0) barrier_expect(barrier, (SPLIT - 1) * kShare * 4);
#pragma unroll
    for (int turn = 0; turn < kTurns; turn++) {
        int at = (turn * 256 + int(threadIdx.x)) * 4, owner = at / kShare, own = at % kShare;
        if (at >= ROWS * WIDTH || owner == rank) continue;
        float4 x = sum_of_warps(parts, at);
        cluster_send4(cluster_address(sent + (rank * kShare + own) * 4, owner), cluster_address(barrier, owner), __float_as_uint(x.x), __float_as_uint(x.y),
                      __float_as_uint(x.z), __float_as_uint(x.w));
    }
#pragma unroll
    for (int turn = 0; turn < kTurns; turn++) {
        int at = (turn * 256 + int(threadIdx.x)) * 4, own = at - rank * kShare, row = at / WIDTH, n = first_column + at % WIDTH;
        if (own < 0 || own >= kShare) continue;
        float4 mine = sum_of_warps(parts, at);
        float x[4] = {};
        if constexpr (SPLIT > 1) barrier_wait(barrier, 0);
#pragma unroll
        for (int r = 0; r < SPLIT; r++) {
            float4 y = r == rank ? mine : *reinterpret_cast<const float4 *>(parts + kWarps * ROWS * WIDTH + r * kShare + own);
            x[0] += y.x, x[1] += y.y, x[2] += y.z, x[3] += y.w;
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (row < p.rows && n + e < p.n) p.c[row * p.c_row + n + e] = C::store(epilogue(x[e], p.epilogue, 0, row, n + e));
        }
    }
}
