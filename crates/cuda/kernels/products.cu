// Generic batched (implicit) GEMM for any types and layouts: out(z, m, n) = sum over k of left(z, m, k) * right(z, k, n). Matmul, inner product, convolution and
// its gradients differ only in the generated accessors.
//
// A CTA computes tiles of 64 x 64 (grid-stride loop): 16 of K of both operands are loaded and converted into shared memory, and each of 256 threads accumulates
// 4 x 4. Split-K: with PARTS, part i of K goes to `partial`, and parts.cu adds the parts.
//
// The generated header has `left` and `right`, which load and convert an element; `store(a, z, m, n, sum)`, the epilogue; `factor`, the type of operands
// (float, double or int), and `total`, that of sums. LEFT_K_FIRST and RIGHT_N_FIRST tell which index neighbouring threads take, so that loads are coalesced.
#include "args.cuh"

#define TILE 64
#define DEPTH 16

extern "C" __global__ void __launch_bounds__(256) products(const __grid_constant__ Args a) {
    begin();
    __shared__ factor lefts[DEPTH][TILE + 1], rights[DEPTH][TILE + 1];
    const int t = threadIdx.x, row = t / 16 * 4, column = t % 16;
    for (i64 block = blockIdx.x; block < a.tiles; block += gridDim.x) {
        const i64 n0 = block % a.tiles_n * TILE, m0 = block / a.tiles_n % a.tiles_m * TILE;
        const i64 rest = block / a.tiles_n / a.tiles_m, z = rest % a.batches, part = rest / a.batches;
        const i64 begin = part * a.k_part, end = min(begin + a.k_part, a.k);
        total sums[4][4] = {};
        for (i64 k0 = begin; k0 < end; k0 += DEPTH) {
            for (int i = 0; i < 4; ++i) {
#ifdef LEFT_K_FIRST
                const int k = t % DEPTH, m = t / DEPTH + i * (256 / DEPTH);
#else
                const int m = t % TILE, k = t / TILE + i * (256 / TILE);
#endif
                const bool inside = m0 + m < a.m && k0 + k < end;
                lefts[k][m] = inside ? left(a, (index)z, (index)(m0 + m), (index)(k0 + k)) : (factor)0;
            }
            for (int i = 0; i < 4; ++i) {
#ifdef RIGHT_N_FIRST
                const int n = t % TILE, k = t / TILE + i * (256 / TILE);
#else
                const int k = t % DEPTH, n = t / DEPTH + i * (256 / DEPTH);
#endif
                const bool inside = n0 + n < a.n && k0 + k < end;
                rights[k][n] = inside ? right(a, (index)z, (index)(k0 + k), (index)(n0 + n)) : (factor)0;
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < DEPTH; ++k) {
                factor x[4], y[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) x[i] = lefts[k][row + i], y[i] = rights[k][column + 16 * i];
#pragma unroll
                for (int i = 0; i < 4; ++i)
#pragma unroll
                    for (int j = 0; j < 4; ++j) sums[i][j] += (total)x[i] * y[j];
            }
            __syncthreads();
        }
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                const i64 m = m0 + row + i, n = n0 + column + 16 * j;
                if (m >= a.m || n >= a.n) continue;
#ifdef PARTS
                a.partial[((part * a.batches + z) * a.m + m) * a.n + n] = sums[i][j];
#else
                store(a, (index)z, (index)m, (index)n, sums[i][j]);
#endif
            }
        }
    }
}
