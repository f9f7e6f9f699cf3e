// C[rows, N] = epilogue(A[rows, K] W[K, N]) for weights of four bits with scales of groups of K, and up to 16 rows, at the speed of memory.
//
// Two weights of a byte are neighbours along N. The product is made as its transpose with mma.sync: W^T is the operand of 16 rows, and as the order
// of rows and of K within an instruction is free, a lane's words are used as they lie: each byte of its word of one k gives rows g and g + 8 of an
// instruction. Weights become 16-bit floats exactly (their values are small integers); scales multiply the sums of each group.
//
// A block owns WIDTH columns. Its 8 warps and the SPLIT blocks of its cluster divide K; sums are added in a fixed order.
//
// ABI
//   defines      A_TYPE (T_BF16 or T_F16), C_TYPE, SCALE_TYPE; UNSIGNED 0 or 1; ROWS 8 or 16 (rows beyond the last one are not stored); WIDTH 64 or 128;
//                SPLIT 1, 2, 4, 8
//   parameters   (W4Params) by value; K a multiple of 32, N of 16, rows of weights aligned to 8 bytes; groups a multiple of 32 of K, or none (`group` K)
//   grid         ceil(N / WIDTH) * SPLIT; cluster SPLIT; block 256 threads; shared memory ROWS * WIDTH * 32 bytes
#include "epilogue.cuh"
#include "four_bits.cuh"
#include "sm90.cuh"

using A = Element<A_TYPE>;
using C = Element<C_TYPE>;
using Scale = Element<SCALE_TYPE>;
constexpr int kWarps = 8, kBlocks = ROWS / 8;
constexpr int kAhead = 4;                              // pieces on their way to registers: a warp has few of them, and memory takes longer than any of them
constexpr int kBlocksAtOnce = ROWS == 8 && WIDTH == 64 ? 2 : 1;
constexpr int kLane = WIDTH / 8, kTiles = kLane / 2;   // columns of a lane; instructions that they make

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

// 32 of K for all columns: lane (g, q) has kLane columns of 8 k, from 8q on.
struct Piece {
    u32 w[8][kLane / 8];
    uint4 a[kBlocks];
};

__device__ __forceinline__ Piece load_piece(const W4Params &p, int k, int column, int g, int q) {
    Piece x;
    const u8 *w = p.w + i64(k + q * 8) * p.w_row + min(column, p.n - kLane) / 2;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const u8 *from = w + i * p.w_row;
        if constexpr (WIDTH == 128) {
            asm volatile("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(x.w[i][0]), "=r"(x.w[i][kLane / 8 - 1]) : "l"(from));
        } else {
            asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(x.w[i][0]) : "l"(from));
        }
    }
#pragma unroll
    for (int b = 0; b < kBlocks; b++) x.a[b] = *reinterpret_cast<const uint4 *>(p.a + min(b * 8 + g, p.rows - 1) * p.a_row + k + q * 8);
    return x;
}

__device__ __forceinline__ void multiply_piece(const Piece &x, float (&sum)[kTiles][kBlocks][4]) {
#pragma unroll
    for (int half = 0; half < 2; half++) {   // 16 of K each
#pragma unroll
        for (int byte = 0; byte < kTiles; byte++) {
            u32 word[4];
#pragma unroll
            for (int i = 0; i < 4; i++) word[i] = x.w[half * 4 + i][byte / 4];
            // The byte of two k's, each in the low byte of a half; the other bytes are masked off later.
            u32 select = u32(byte % 4) * 0x0011 | u32(byte % 4 + 4) * 0x1100;
            u32 low = __byte_perm(word[0], word[1], select), high = __byte_perm(word[2], word[3], select);
            u32 a[4] = {widen(low), widen(low >> 4), widen(high), widen(high >> 4)};
#pragma unroll
            for (int b = 0; b < kBlocks; b++) multiply(sum[byte][b], a, half ? x.a[b].z : x.a[b].x, half ? x.a[b].w : x.a[b].y);
        }
    }
}

// The scales of a lane's columns, on their way from the first piece of a group on.
struct Scales {
    Scale::Raw of[kLane];
};
__device__ __forceinline__ Scales load_scales(const W4Params &p, int group, int column) {
    const Scale::Raw *from = p.scales + group * p.scale_row + min(column, p.n - kLane);
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

extern "C" __global__ void __launch_bounds__(256, kBlocksAtOnce) gemm_w4(const __grid_constant__ W4Params p) {
    extern __shared__ float parts[];   // [warp][row][column]
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, q = lane % 4;
    int rank = SPLIT > 1 ? int(cluster_rank()) : 0, first_column = blockIdx.x / SPLIT * WIDTH, column = first_column + g * kLane;
    // This warp's share of K, in pieces of 32.
    int pieces = p.k / 32, share = rank * kWarps + warp, from = pieces * share / (kWarps * SPLIT), to = pieces * (share + 1) / (kWarps * SPLIT);
    let_next_kernel_start();
    wait_for_previous_kernel();

    float total[kTiles][kBlocks][4] = {}, sum[kTiles][kBlocks][4] = {};
    Piece next[kAhead];
    Scales scales;
#pragma unroll
    for (int j = 0; j < kAhead; j++) next[j] = load_piece(p, min(from + j, pieces - 1) * 32, column, g, q);
    for (int first = from; first < to; first += kAhead) {
#pragma unroll
        for (int j = 0; j < kAhead; j++) {
            int i = first + j;
            if (i >= to) break;
            if (i == from || i * 32 % p.group == 0) scales = load_scales(p, i * 32 / p.group, column);
            multiply_piece(next[j], sum);
            if (i + kAhead < to) next[j] = load_piece(p, (i + kAhead) * 32, column, g, q);
            if (i + 1 == to || (i + 1) * 32 % p.group == 0) add_group(scales, sum, total);
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
    if constexpr (SPLIT > 1) {
        cluster_sync();
    } else {
        __syncthreads();
    }
    constexpr int kShare = ROWS * WIDTH / SPLIT;   // elements that this block finishes, four a thread
    u32 base = shared_address(parts);
    for (int i = threadIdx.x * 4; i < kShare; i += 1024) {
        int at = rank * kShare + i, row = at / WIDTH, n = first_column + at % WIDTH;
        float x[4] = {};
#pragma unroll
        for (int r = 0; r < SPLIT; r++) {
            u32 v[kWarps][4];
#pragma unroll
            for (int w = 0; w < kWarps; w++) {
                u32 address = base + (w * ROWS * WIDTH + at) * 4;
                if constexpr (SPLIT > 1) {
                    cluster_load4(address, r, v[w][0], v[w][1], v[w][2], v[w][3]);
                } else {
                    uint4 y = shared_load16(address);
                    v[w][0] = y.x, v[w][1] = y.y, v[w][2] = y.z, v[w][3] = y.w;
                }
            }
#pragma unroll
            for (int w = 0; w < kWarps; w++) {
#pragma unroll
                for (int e = 0; e < 4; e++) x[e] += __uint_as_float(v[w][e]);
            }
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (row < p.rows && n + e < p.n) p.c[row * p.c_row + n + e] = C::store(epilogue(x[e], p.epilogue, 0, row, n + e));
        }
    }
    if constexpr (SPLIT > 1) cluster_sync();
}
