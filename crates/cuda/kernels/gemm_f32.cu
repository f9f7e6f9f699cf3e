// C[batch, M, N] = epilogue(A[batch, M, K] B[batch, K, N]) in f32 with FMA on the CUDA cores (SIMT), in IEEE arithmetic.
//
// The tiles and the pipeline are those of simt.cuh. Split-K: blockIdx.z divides K, and add_parts.cu adds the parts.
//
// Interface
//   defines      those of simt.cuh; A_MN, B_MN: contiguous along M or N instead of K; C_ALIGNED: groups of four columns of C are aligned to 16 bytes
//   parameters   (GemmF32Params) by value
//   grid         (tiles, batch, parts of K)
#include "epilogue.cuh"
#include "simt.cuh"

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
    Corner corner = corner_of(blockIdx.x, p.tiles_m, p.tiles_n, p.group);
    int m0 = corner.m, n0 = corner.n;
    const float *a = p.a + int(blockIdx.y) % p.a_modulo * p.a_batch, *b = p.b + int(blockIdx.y) % p.b_modulo * p.b_batch;
    int begin = int(blockIdx.z) * p.part, end = min(begin + p.part, p.k);
    float acc[ROWS][kColumns] = {};
    Piece<A_MN, kTileM> next_a;
    Piece<B_MN, kTileN> next_b;
    bool inside = ALIGNED && m0 + kTileM <= p.m && n0 + kTileN <= p.n;
    i64 apart_a = next_a.apart(p.a_stride), apart_b = next_b.apart(p.b_stride);
    const float *from_a = next_a.first(a, p.a_stride, m0, begin), *from_b = next_b.first(b, p.b_stride, n0, begin);
    multiply_stages(begin, end, next_a, next_b, acc, [&](int k) {
        if (inside && k + kDepth <= end) {
            next_a.template load<true>(from_a, apart_a, 0, 0);
            next_b.template load<true>(from_b, apart_b, 0, 0);
        } else {
            next_a.template load<false>(from_a, apart_a, p.m - m0, end - k);
            next_b.template load<false>(from_b, apart_b, p.n - n0, end - k);
        }
        from_a += next_a.step(p.a_stride), from_b += next_b.step(p.b_stride);
    });

    float *c = p.c + i64(blockIdx.y) * p.c_batch, *partial = p.partial ? p.partial + (i64(blockIdx.z) * p.batch + blockIdx.y) * p.m * p.n : nullptr;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int y = m0 + own_row() + r / 4 * 16 + r % 4;
        if (y >= p.m) continue;
#pragma unroll
        for (int i = 0; i < kColumns; i += 4) store4(p, c, partial, y, n0 + own_column() + i * 8, &acc[r][i]);
    }
}
