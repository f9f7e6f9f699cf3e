// TF32 fragments for mma.sync from stages in TMA's 128-byte swizzle, for MN-major operands, which wgmma reads for 16-bit types only.
//
// mma.sync.m16n8k8 expects an operand's elements (line g, k q) and (line g, k q + 4) in lane 4g + q, a line being a row of A or a column of B. The
// order along K is free if both operands use the same one, so odd lanes exchange the two: then the loads of MN-major operands are free of bank
// conflicts. TMA has rounded the elements to TF32.
#pragma once
#include "sm90.cuh"

// Loads 16 lines (8 with LINES 8) from `line` on, a multiple of 16, by the 8 elements of K of `step`: r[h] and r[h + 2] are the two elements of line g + 8h.
template <bool MN, int LINES> __device__ __forceinline__ void load_lines(u32 (&r)[4], u32 block, int line, int step) {
    int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
    if constexpr (MN) {
        // MN-major: blocks of 32 lines by 32 k; a row is 128 bytes (32 lines) of one k, and its 16-byte unit u lies at u ^ k % 8.
        u32 first = block + line / 32 * 4096 + step * 1024 + g % 4 * 4;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int k = q ^ ((q ^ half) & 1) * 4;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                u32 at = first + k * 128 + ((line % 32 / 4 + h * 2 + g / 4) ^ k) * 16;
                asm volatile("ld.shared.b32 %0, [%1];" : "=r"(r[half * 2 + h]) : "r"(at));
            }
        }
    } else {
        // K-major: a row is 128 bytes of K of one line, and its 16-byte unit u lies at u ^ line % 8.
        int own = lane % LINES;
        u32 at = block + (line + own) * 128 + ((step * 2 + lane / 16) ^ own % 8) * 16, v[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at));
#pragma unroll
        for (int i = 0; i < 4; i++) r[i] = q & 1 ? v[i ^ 2] : v[i];
    }
}

// D[16, 8] += A[16, 8] B[8, 8].
__device__ __forceinline__ void mma_tf32(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
