// wgmma.mma_async (PTX ISA: asynchronous warpgroup level matrix instructions), M = 64 and one instruction's K of 32 bytes: D[64, N] (+)= A[64, K] B[K, N].
// A comes from shared memory or registers, B from shared memory, D is in registers. A_TYPE and B_TYPE fix the types of a module; D is f32, or s32
// for integers.
//
// Layout of D: thread t of the warpgroup, with w = t / 32, g = t % 32 / 4, q = t % 4, holds in d[4j .. 4j+3] the elements
// (16w + g, 8j + 2q), (16w + g, 8j + 2q + 1), (16w + g + 8, 8j + 2q), (16w + g + 8, 8j + 2q + 1).
#pragma once
#include "sm90.cuh"

#if A_TYPE == T_S8 || A_TYPE == T_U8
typedef int Acc;
#define ACC(x) "+r"(x)
#else
typedef float Acc;
#define ACC(x) "+f"(x)
#endif

// The instruction's K, in elements, and its types.
#if A_TYPE == T_BF16
#define WGMMA_TYPES "k16.f32.bf16.bf16"
#elif A_TYPE == T_F16
#define WGMMA_TYPES "k16.f32.f16.f16"
#elif A_TYPE == T_TF32
#define WGMMA_TYPES "k8.f32.tf32.tf32"
#elif A_TYPE == T_E4M3 && B_TYPE == T_E4M3
#define WGMMA_TYPES "k32.f32.e4m3.e4m3"
#elif A_TYPE == T_E4M3 && B_TYPE == T_E5M2
#define WGMMA_TYPES "k32.f32.e4m3.e5m2"
#elif A_TYPE == T_E5M2 && B_TYPE == T_E4M3
#define WGMMA_TYPES "k32.f32.e5m2.e4m3"
#elif A_TYPE == T_E5M2 && B_TYPE == T_E5M2
#define WGMMA_TYPES "k32.f32.e5m2.e5m2"
#elif A_TYPE == T_S8 && B_TYPE == T_S8
#define WGMMA_TYPES "k32.s32.s8.s8"
#elif A_TYPE == T_S8 && B_TYPE == T_U8
#define WGMMA_TYPES "k32.s32.s8.u8"
#elif A_TYPE == T_U8 && B_TYPE == T_S8
#define WGMMA_TYPES "k32.s32.u8.s8"
#elif A_TYPE == T_U8 && B_TYPE == T_U8
#define WGMMA_TYPES "k32.s32.u8.u8"
#endif

// Immediates after scale-d: the signs of A and B (imm-scale) and, for 16-bit types, whether A and B are MN-major (imm-trans).
#if A_TYPE == T_S8 || A_TYPE == T_U8
#define WGMMA_FLAGS(A, B) ""
#elif A_TYPE == T_BF16 || A_TYPE == T_F16
#define WGMMA_FLAGS(A, B) ", 1, 1, %" #A ", %" #B
#else
#define WGMMA_FLAGS(A, B) ", 1, 1"
#endif

#define REGISTERS_4 "%0, %1, %2, %3"
#define REGISTERS_8 REGISTERS_4 ", %4, %5, %6, %7"
#define REGISTERS_16 REGISTERS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define REGISTERS_32 REGISTERS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_40 REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define REGISTERS_48 REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define REGISTERS_64 REGISTERS_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define REGISTERS_80 REGISTERS_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define REGISTERS_88 REGISTERS_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define REGISTERS_96 REGISTERS_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define REGISTERS_128 REGISTERS_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define OPERANDS_4(i) ACC(d[i]), ACC(d[i + 1]), ACC(d[i + 2]), ACC(d[i + 3])
#define OPERANDS_8(i) OPERANDS_4(i), OPERANDS_4(i + 4)
#define OPERANDS_16(i) OPERANDS_8(i), OPERANDS_8(i + 8)
#define OPERANDS_32(i) OPERANDS_16(i), OPERANDS_16(i + 16)
#define OPERANDS_40(i) OPERANDS_32(i), OPERANDS_8(i + 32)
#define OPERANDS_48(i) OPERANDS_32(i), OPERANDS_16(i + 32)
#define OPERANDS_64(i) OPERANDS_32(i), OPERANDS_32(i + 32)
#define OPERANDS_80(i) OPERANDS_64(i), OPERANDS_16(i + 64)
#define OPERANDS_88(i) OPERANDS_80(i), OPERANDS_8(i + 80)
#define OPERANDS_96(i) OPERANDS_64(i), OPERANDS_32(i + 64)
#define OPERANDS_128(i) OPERANDS_64(i), OPERANDS_64(i + 64)

// d = a b, or d += a b with `add`. `a` and `b` are matrix descriptors; MN_A, MN_B: the operand is MN-major (16-bit types only).
template <int N, int MN_A, int MN_B> struct Wgmma;

// R = N / 2 accumulators, assembly operands %0 to %(R - 1); the others are numbered from R on.
#define WGMMA(N, R, P0, P1, P2, P3, P4)                                                                                                  \
    template <int MN_A, int MN_B> struct Wgmma<N, MN_A, MN_B> {                                                                          \
        static __device__ __forceinline__ void multiply(Acc (&d)[R], u64 a, u64 b, u32 add) {                                            \
            asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #P2 ", 0;\n wgmma.mma_async.sync.aligned.m64n" #N WGMMA_TYPES           \
                         " {" REGISTERS_##R "}, %" #P0 ", %" #P1 ", p" WGMMA_FLAGS(P3, P4) ";\n}"                                        \
                         : OPERANDS_##R(0)                                                                                               \
                         : "l"(a), "l"(b), "r"(add), "n"(MN_A), "n"(MN_B));                                                              \
        }                                                                                                                                \
    };

WGMMA(8, 4, 4, 5, 6, 7, 8)
WGMMA(16, 8, 8, 9, 10, 11, 12)
WGMMA(32, 16, 16, 17, 18, 19, 20)
WGMMA(64, 32, 32, 33, 34, 35, 36)
WGMMA(96, 48, 48, 49, 50, 51, 52)
WGMMA(80, 40, 40, 41, 42, 43, 44)
WGMMA(128, 64, 64, 65, 66, 67, 68)
WGMMA(160, 80, 80, 81, 82, 83, 84)
WGMMA(176, 88, 88, 89, 90, 91, 92)
WGMMA(192, 96, 96, 97, 98, 99, 100)
WGMMA(256, 128, 128, 129, 130, 131, 132)

#if A_TYPE == T_BF16 || A_TYPE == T_F16 || A_TYPE == T_TF32
// A in registers, four per thread. 16-bit types, 64 x 16: two elements per register, in the order of the accumulators of a 64 x 16 block.
// TF32, 64 x 8: lane 4g + q of warp w has (16w + g, q), (16w + g + 8, q), (16w + g, q + 4), (16w + g + 8, q + 4).
#if A_TYPE == T_TF32
#define WGMMA_FLAG(B)
#else
#define WGMMA_FLAG(B) ", %" #B
#endif
template <int N, int MN_B> struct WgmmaRegisters;

#define WGMMA_REGISTERS(N, R, P0, P1, P2, P3, P4, P5, P6)                                                                                \
    template <int MN_B> struct WgmmaRegisters<N, MN_B> {                                                                                 \
        static __device__ __forceinline__ void multiply(Acc (&d)[R], const u32 (&a)[4], u64 b, u32 add) {                                \
            asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #P5 ", 0;\n wgmma.mma_async.sync.aligned.m64n" #N WGMMA_TYPES           \
                         " {" REGISTERS_##R "}, {%" #P0 ", %" #P1 ", %" #P2 ", %" #P3 "}, %" #P4 ", p, 1, 1" WGMMA_FLAG(P6) ";\n}"        \
                         : OPERANDS_##R(0)                                                                                               \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(MN_B));                                     \
        }                                                                                                                                \
    };

WGMMA_REGISTERS(8, 4, 4, 5, 6, 7, 8, 9, 10)
WGMMA_REGISTERS(16, 8, 8, 9, 10, 11, 12, 13, 14)
WGMMA_REGISTERS(32, 16, 16, 17, 18, 19, 20, 21, 22)
WGMMA_REGISTERS(64, 32, 32, 33, 34, 35, 36, 37, 38)
WGMMA_REGISTERS(128, 64, 64, 65, 66, 67, 68, 69, 70)
WGMMA_REGISTERS(192, 96, 96, 97, 98, 99, 100, 101, 102)
WGMMA_REGISTERS(256, 128, 128, 129, 130, 131, 132, 133, 134)
#endif

// Orders register accesses before it with the wgmma after it. Stores to shared memory need fence_async_proxy besides.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most PENDING committed groups are unfinished.
template <int PENDING> __device__ __forceinline__ void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory"); }
// A compiler barrier: accesses to these accumulators are not moved across it.
template <int R> __device__ __forceinline__ void wgmma_pin(Acc (&d)[R]) {
#pragma unroll
    for (int i = 0; i < R; i++) asm volatile("" : ACC(d[i])::"memory");
}

// ---- matrix descriptors (PTX ISA: asynchronous warpgroup level matrix shared memory layout) ------------------------------------------

// The first two describe 128-byte swizzle: rows of 128 bytes, permuted in 16-byte units within 8 rows (1,024 bytes), as TMA writes them.
//
// K-major: a row is 128 bytes of K of one m or n. `next` is the distance in bytes between groups of 8 rows; with 0 all are the first.
__device__ __forceinline__ u64 descriptor_k_major(u32 address, u32 next = 1024) {
    return u64(address >> 4 & 0x3FFF) | 1ull << 16 | u64(next >> 4) << 32 | 1ull << 62;
}

// MN-major, 16-bit types: a row is 64 elements of M or N of one k; `next` is the distance in bytes to the next 64 elements of M or N.
__device__ __forceinline__ u64 descriptor_mn_major(u32 address, u32 next) {
    return u64(address >> 4 & 0x3FFF) | u64(next >> 4) << 16 | 64ull << 32 | 1ull << 62;
}

// K-major without swizzle, made of core matrices (8 consecutive rows of 16 bytes). In units of 16 bytes: the address, and the distance to the next
// core matrix along K (`next_k`) and along M or N (`next_rows`). Core matrices may overlap.
__device__ __forceinline__ u64 descriptor_pieces(u32 unit, u32 next_k, u32 next_rows) {
    return u64(unit & 0x3FFF) | u64(next_k) << 16 | u64(next_rows) << 32;
}
