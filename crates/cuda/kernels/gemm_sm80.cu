// C[batch, M, N] = epilogue(A[batch, M, K] B[batch, K, N]) with cp.async and mma.sync: for sm_80 and later, and on all GPUs for operands that TMA cannot
// address (any alignment, any row stride).
//
// A CTA computes one tile of 128 x 128 by 8 warps (2 x 4), a warp 64 x 32 of it, or of 64 x 64 by 4 warps (2 x 2), a warp 32 x 32. A cp.async pipeline of three
// stages of 128 bytes of K feeds ldmatrix and mma.sync. Rows of 128 bytes are swizzled in shared memory: 16-byte unit u of row r is at u ^ r % 8, so neither the
// copies nor ldmatrix have bank conflicts. Rows beyond M or N repeat the last one; their results are not stored. Accumulators are in registers. Results go
// through shared memory, 32 rows at a time, and are stored in the widest units that the rows of C allow; element by element if its columns are not contiguous.
//
// Interface
//   defines      A_TYPE, B_TYPE, C_TYPE (bf16, f16, tf32, s8, u8; f8 from sm_89 on); A_MN, B_MN as in tile_sm90.cuh (16-bit types only);
//                A_ALIGN, B_ALIGN: alignment of the rows in bytes (16, 8, 4 or less); C_ALIGN: the same of C, 0 if its columns are not contiguous;
//                TILE: rows and columns of a tile, 64 or 128
//   parameters   (Gemm80Params) by value
//   grid         (tiles of M * tiles of N, batch); block 2 * TILE threads; shared memory 256 * TILE bytes a stage, for three or as many as K has
#include "epilogue.cuh"

using A = Element<A_TYPE>;
using B = Element<B_TYPE>;
using C = Element<C_TYPE>;

#if A_TYPE == T_S8 || A_TYPE == T_U8
typedef int Acc;
#else
typedef float Acc;
#endif

enum : int { kTile = TILE, kThreads = 2 * TILE, kBytes = TILE * 128, kTileK = 128 / int(sizeof(A::Raw)), kStages = 3 };
enum : int { kWarpRows = TILE / 2, kFragments = kWarpRows / 16 };   // rows of a warp, and of those its fragments; 32 columns

// From Hopper on 512 threads share an SM; others have no memory for the stages of so many. Hopper multiplies f8 as f16, which takes more registers. Without a
// number of CTAs the compiler chooses fewer registers than with 1.
#if __CUDA_ARCH__ >= 900 && A_TYPE != T_E4M3 && A_TYPE != T_E5M2
#define BOUNDS kThreads, 512 / kThreads
#else
#define BOUNDS kThreads
#endif

struct Gemm80Params {
    const A::Raw *a;
    const B::Raw *b;
    C::Raw *c;
    int m, n, k;
    int tiles_m, tiles_n, group;            // rasterisation as in tile_sm90.cuh, Schedule
    int a_divide, a_modulo, b_divide, b_modulo;   // batch of the operand = batch / divide % modulo
    i64 a_stride, b_stride;                 // leading dimensions in elements: of M or N, or of K with A_MN, B_MN
    i64 a_batch, b_batch;
    i64 c_row, c_column, c_batch;
    Epilogue epilogue;
};

__device__ __forceinline__ u32 shared_address(const void *p) { return u32(__cvta_generic_to_shared(p)); }

// A word of so many bytes.
template <int BYTES> struct Unit;
template <> struct Unit<1> { using Type = u8; };
template <> struct Unit<2> { using Type = u16; };
template <> struct Unit<4> { using Type = u32; };
template <> struct Unit<8> { using Type = uint2; };
template <> struct Unit<16> { using Type = uint4; };

// Copies 16 bytes to shared memory, the first `valid` from memory, zeros behind them: by cp.async of the widest unit that ALIGN allows, or element by element.
template <int ALIGN, class Raw> __device__ __forceinline__ void copy16(u32 to, const Raw *from, int valid) {
    if constexpr (ALIGN >= 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(max(0, min(16, valid))) : "memory");
    } else if constexpr (ALIGN >= 4) {
#pragma unroll
        for (int i = 0; i < 16; i += ALIGN) {
            int some = max(0, min(ALIGN, valid - i));
            const u8 *own = reinterpret_cast<const u8 *>(from) + i;
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to + i), "l"(some ? own : reinterpret_cast<const u8 *>(from)), "n"(ALIGN), "r"(some) : "memory");
        }
    } else {
        enum : int { kSize = int(sizeof(Raw)) };
        const auto *own = reinterpret_cast<const typename Unit<kSize>::Type *>(from);
        u32 words[4] = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < 16; i += kSize) {
            if (i < valid) words[i / 4] |= u32(own[i / kSize]) << i % 4 * 8;
        }
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
    }
}

// Loads one operand's stage. K-major: kTile rows of 128 bytes of K. MN-major: blocks of 64 of M or N, each kTileK rows (of K) of 128 bytes.
template <bool MN, int ALIGN, class Raw>
__device__ __forceinline__ void load_operand(u32 to, const Raw *base, i64 stride, int row0, int rows, int k0, int depth) {
    int line0 = int(threadIdx.x) / 8, u = int(threadIdx.x) % 8, in_unit = 16 / int(sizeof(Raw));
#pragma unroll(ALIGN >= 8 ? 4 : ALIGN == 4 ? 1 : 2)   // units whose addresses are in registers at a time
    for (int i = 0; i < kTile * 8 / kThreads; i++) {
        int line = line0 + i * (kThreads / 8), lead, inner, valid;
        if constexpr (MN) {
            lead = k0 + line % kTileK, inner = row0 + line / kTileK * 64 + u * in_unit;
            valid = lead < depth ? (rows - inner) * int(sizeof(Raw)) : 0;
        } else {
            lead = min(row0 + line, rows - 1), inner = k0 + u * in_unit;
            valid = (depth - inner) * int(sizeof(Raw));
        }
        copy16<ALIGN>(to + line * 128 + (u ^ line % 8) * 16, valid > 0 ? base + lead * stride + inner : base, valid);
    }
}

template <bool TRANSPOSED> __device__ __forceinline__ void load_matrices(u32 (&r)[4], u32 address) {
    if constexpr (TRANSPOSED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
    }
}

// Loads a fragment of 16 rows from `row` on by 32 bytes of K (`step`): matrices (rows 0-7, low K), (rows 8-15, low), (rows 0-7, high), (rows 8-15, high).
template <bool MN> __device__ __forceinline__ void load_fragment(u32 (&r)[4], u32 block, int row, int step) {
    int lane = threadIdx.x % 32;
    if constexpr (MN) {   // rows of memory are K, 16 to a step
        int k = step * 16 + lane / 16 * 8 + lane % 8, unit = (row % 64 + (lane / 8 & 1) * 8) / 8;
        load_matrices<true>(r, block + row / 64 * 8192 + k * 128 + (unit ^ k % 8) * 16);
    } else {
        int line = row + lane % 16, unit = step * 2 + lane / 16;
        load_matrices<false>(r, block + line * 128 + (unit ^ line % 8) * 16);
    }
}

// D[16, 8] += A[16, K] B[K, 8] with 32 bytes of K.
__device__ __forceinline__ void multiply(Acc (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if A_TYPE == T_BF16
#define MMA "m16n8k16.row.col.f32.bf16.bf16.f32"
#elif A_TYPE == T_F16
#define MMA "m16n8k16.row.col.f32.f16.f16.f32"
#elif A_TYPE == T_TF32
#define MMA "m16n8k8.row.col.f32.tf32.tf32.f32"
#elif A_TYPE == T_E4M3 && B_TYPE == T_E4M3
#define MMA "m16n8k32.row.col.f32.e4m3.e4m3.f32"
#elif A_TYPE == T_E4M3 && B_TYPE == T_E5M2
#define MMA "m16n8k32.row.col.f32.e4m3.e5m2.f32"
#elif A_TYPE == T_E5M2 && B_TYPE == T_E4M3
#define MMA "m16n8k32.row.col.f32.e5m2.e4m3.f32"
#elif A_TYPE == T_E5M2 && B_TYPE == T_E5M2
#define MMA "m16n8k32.row.col.f32.e5m2.e5m2.f32"
#elif A_TYPE == T_S8 && B_TYPE == T_S8
#define MMA "m16n8k32.row.col.s32.s8.s8.s32"
#elif A_TYPE == T_S8 && B_TYPE == T_U8
#define MMA "m16n8k32.row.col.s32.s8.u8.s32"
#elif A_TYPE == T_U8 && B_TYPE == T_S8
#define MMA "m16n8k32.row.col.s32.u8.s8.s32"
#elif A_TYPE == T_U8 && B_TYPE == T_U8
#define MMA "m16n8k32.row.col.s32.u8.u8.s32"
#endif
#if A_TYPE == T_S8 || A_TYPE == T_U8
#define ACC(x) "+r"(x)
#else
#define ACC(x) "+f"(x)
#endif
    asm volatile("mma.sync.aligned." MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : ACC(d[0]), ACC(d[1]), ACC(d[2]), ACC(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Rounds f32 to TF32 (to nearest); the tensor cores would truncate.
__device__ __forceinline__ void round_fragment(u32 (&r)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[i]) : "f"(__uint_as_float(r[i])));
}

// Multiplies a warp's part of one stage.
__device__ __forceinline__ void multiply_stage(u32 a, u32 b, int row, int column, Acc (&acc)[kFragments][4][4]) {
#pragma unroll
    for (int step = 0; step < 4; step++) {
        u32 fa[kFragments][4], fb[2][4];
#pragma unroll
        for (int i = 0; i < kFragments; i++) load_fragment<A_MN>(fa[i], a, row + i * 16, step);
#pragma unroll
        for (int j = 0; j < 2; j++) load_fragment<B_MN>(fb[j], b, column + j * 16, step);
#if A_TYPE == T_TF32
#pragma unroll
        for (int i = 0; i < kFragments; i++) round_fragment(fa[i]);
#pragma unroll
        for (int j = 0; j < 2; j++) round_fragment(fb[j]);
#endif
#pragma unroll
        for (int i = 0; i < kFragments; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) multiply(acc[i][j], fa[i], fb[j / 2][j % 2], fb[j / 2][j % 2 + 2]);
        }
    }
}

__device__ __forceinline__ C::Raw convert(Acc sum, const Gemm80Params &p, int row, int column) {
#if C_TYPE == T_S32 && (A_TYPE == T_S8 || A_TYPE == T_U8) && !defined(HAS_EPILOGUE)
    return sum;
#else
    return C::store(epilogue(float(sum), p.epilogue, blockIdx.y, row, column));
#endif
}

#if C_ALIGN
enum : int { kSize = int(sizeof(C::Raw)), kUnit = C_ALIGN > kSize ? C_ALIGN : kSize, kOfUnit = kUnit / kSize };
enum : int { kLine = kTile * kSize + 16, kUnits = kTile / kOfUnit };   // bytes of a row in shared memory, padded so that threads of a fragment meet in few banks

// Stores the 32 rows of fragments `i` of all warps.
__device__ __forceinline__ void store_rows(u8 *staged, C::Raw *c, const Gemm80Params &p, int i, int m0, int n0) {
    using Word = Unit<kUnit>::Type;
    static_assert(32 * kUnits % kThreads == 0, "threads share the units evenly");
#pragma unroll
    for (int j = 0; j < 32 * kUnits / kThreads; j++) {
        int unit = int(threadIdx.x) + j * kThreads, line = unit / kUnits, x = unit % kUnits * kOfUnit, y = line / 16 * kWarpRows + i * 16 + line % 16;
        if (m0 + y >= p.m) continue;
        const u8 *from = staged + line * kLine + x * kSize;
        C::Raw *to = c + i64(m0 + y) * p.c_row + n0 + x;
        if (n0 + x + kOfUnit <= p.n) {
            *reinterpret_cast<Word *>(to) = *reinterpret_cast<const Word *>(from);
        } else {
#pragma unroll
            for (int e = 0; e < kOfUnit; e++) {
                if (n0 + x + e < p.n) to[e] = reinterpret_cast<const C::Raw *>(from)[e];
            }
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(BOUNDS) gemm_sm80(const __grid_constant__ Gemm80Params p) {
    extern __shared__ __align__(1024) u8 stages[];
    begin();
    int per_group = p.group * p.tiles_n, first = blockIdx.x / per_group * p.group, within = blockIdx.x - first * p.tiles_n;
    int rows = min(p.group, p.tiles_m - first), m0 = (first + within % rows) * kTile, n0 = within / rows * kTile;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp % 2 * kWarpRows, column = warp / 2 * 32;
    const A::Raw *a = p.a + int(blockIdx.y) / p.a_divide % p.a_modulo * p.a_batch;
    const B::Raw *b = p.b + int(blockIdx.y) / p.b_divide % p.b_modulo * p.b_batch;
    u32 base = shared_address(stages);
    int count = (p.k + kTileK - 1) / kTileK;

    auto load = [&](int stage) {
        u32 to = base + stage % kStages * 2 * kBytes;
        if (stage < count) {
            load_operand<A_MN, A_ALIGN>(to, a, p.a_stride, m0, p.m, stage * kTileK, p.k);
            load_operand<B_MN, B_ALIGN>(to + kBytes, b, p.b_stride, n0, p.n, stage * kTileK, p.k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    Acc acc[kFragments][4][4] = {};
#pragma unroll
    for (int i = 0; i < kStages - 1; i++) load(i);
    for (int i = 0; i < count; i++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
        __syncthreads();   // stage i is complete, and all have read the stage that is loaded next
        load(i + kStages - 1);
        u32 from = base + i % kStages * 2 * kBytes;
        multiply_stage(from, from + kBytes, row, column, acc);
    }

    C::Raw *c = p.c + blockIdx.y * p.c_batch;
#pragma unroll
    for (int i = 0; i < kFragments; i++) {
#if C_ALIGN
        __syncthreads();   // the stages, or the rows before, have been read
#endif
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int line = lane / 4 + e / 2 * 8, y = m0 + row + i * 16 + line, own = column + j * 8 + lane % 4 * 2 + e % 2, x = n0 + own;
#if C_ALIGN
                *reinterpret_cast<C::Raw *>(stages + (row / kWarpRows * 16 + line) * kLine + own * kSize) = convert(acc[i][j][e], p, min(y, p.m - 1), min(x, p.n - 1));
#else
                if (y < p.m && x < p.n) c[y * p.c_row + x * p.c_column] = convert(acc[i][j][e], p, y, x);
#endif
            }
        }
#if C_ALIGN
        __syncthreads();
        store_rows(stages, c, p, i, m0, n0);
#endif
    }
}
