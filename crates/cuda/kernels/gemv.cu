// C[batch, rows, N] = epilogue(A[batch, rows, K] W[batch, N, K]^T) for up to 8 rows, bound by the bandwidth of reading W once.
//
// A warp computes COLUMNS columns of all rows. Its lanes divide K, 16 bytes (8 elements) each, coalesced, with kUnroll loads in flight; a butterfly of
// shuffles adds the lanes' sums. 4 warps per CTA.
//
// Interface
//   defines      A_TYPE, B_TYPE (16-bit types), C_TYPE; ROWS 1, 2, 4 or 8 (rows beyond the last one are not stored); COLUMNS 1, 2 or 4
//   parameters   (GemvParams) by value; K a multiple of 8, rows of A and W aligned to 16 bytes
//   grid         (ceil(N / (4 * COLUMNS)), batch), blocks of 128 threads
#include "epilogue.cuh"

using A = Element<A_TYPE>;
using B = Element<B_TYPE>;
using C = Element<C_TYPE>;

enum : int { kUnroll = 32 / (COLUMNS + ROWS) >= 4 ? 4 : 2 };   // 16-byte loads in flight per row and column

struct GemvParams {
    const u16 *a, *w;
    C::Raw *c;
    int rows, n, k;
    i64 a_row, w_row, c_row, c_column;      // strides in elements
    i64 a_batch, w_batch, c_batch;
    Epilogue epilogue;
};

template <class T> __device__ __forceinline__ void unpack(uint4 v, float (&x)[8]) {
    u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = T::load(u16(words[i / 2] >> i % 2 * 16));
}

// Weights are read once: do not allocate them in L1.
__device__ __forceinline__ uint4 load_once(const u16 *p) {
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}

extern "C" __global__ void __launch_bounds__(128) gemv(const __grid_constant__ GemvParams p) {
    int lane = threadIdx.x % 32, column = (blockIdx.x * 4 + threadIdx.x / 32) * COLUMNS;
    const u16 *w[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) w[c] = p.w + blockIdx.y * p.w_batch + min(column + c, p.n - 1) * p.w_row;
    begin();
    float sum[ROWS][COLUMNS] = {};
    const u16 *a = p.a + blockIdx.y * p.a_batch;
    for (int k0 = lane * 8; k0 < p.k; k0 += 256 * kUnroll) {
        uint4 ws[kUnroll][COLUMNS], as[kUnroll][ROWS];
#pragma unroll
        for (int u = 0; u < kUnroll; u++) {
            int k = k0 + u * 256;
            bool in = k < p.k;
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) ws[u][c] = in ? load_once(w[c] + k) : uint4{0, 0, 0, 0};
#pragma unroll
            for (int r = 0; r < ROWS; r++) as[u][r] = in ? *reinterpret_cast<const uint4 *>(a + min(r, p.rows - 1) * p.a_row + k) : uint4{0, 0, 0, 0};
        }
#pragma unroll
        for (int u = 0; u < kUnroll; u++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                float x[8];
                unpack<A>(as[u][r], x);
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) {
                    float y[8];
                    unpack<B>(ws[u][c], y);
#pragma unroll
                    for (int i = 0; i < 8; i++) sum[r][c] = fmaf(x[i], y[i], sum[r][c]);
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
            for (int step = 16; step; step /= 2) sum[r][c] += __shfl_xor_sync(~0u, sum[r][c], step);
            if (lane == r * COLUMNS + c && r < p.rows && column + c < p.n) {
                p.c[blockIdx.y * p.c_batch + r * p.c_row + (column + c) * p.c_column] = C::store(epilogue(sum[r][c], p.epilogue, blockIdx.y, r, column + c));
            }
        }
    }
}
