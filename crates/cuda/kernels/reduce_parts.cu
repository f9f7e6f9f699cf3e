// C[m, n] = epilogue(sum over i of parts[i, m, n]): the reduction of a split-K product whose parts are dense f32 matrices, one after the other.
//
// A thread adds every LANES-th part of four neighbouring elements; LANES threads per group of four, whose sums are added through shared memory. The
// order of additions depends on the number of parts and LANES only.
//
// Interface
//   defines      C_TYPE, LANES (8 or 32)
//   parameters   (ReduceParams) by value; n is a multiple of 4
//   grid         ceil(m * n * LANES / 1,024) CTAs of 256 threads
#include "epilogue.cuh"

struct ReduceParams {
    const float *parts;
    int count, m, n;
    Element<C_TYPE>::Raw *c;
    i64 row, column;   // strides of c, in elements
    Epilogue epilogue;
};

enum : int { kGroups = 256 / LANES };

extern "C" __global__ void __launch_bounds__(256) reduce_parts(const __grid_constant__ ReduceParams p) {
    __shared__ float4 sums[LANES][kGroups];
    begin();
    i64 size = i64(p.m) * p.n, at = (i64(blockIdx.x) * kGroups + threadIdx.x % kGroups) * 4;
    int lane = threadIdx.x / kGroups;
    float4 sum = {0, 0, 0, 0};
    if (at < size) {
#pragma unroll 8
        for (int i = lane; i < p.count; i += LANES) {
            float4 x = *reinterpret_cast<const float4 *>(p.parts + i * size + at);
            sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
        }
    }
    sums[lane][threadIdx.x % kGroups] = sum;
    __syncthreads();
    if (lane || at >= size) return;
#pragma unroll
    for (int i = 1; i < LANES; i++) {
        float4 x = sums[i][threadIdx.x];
        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
    }
    int row = int(at / p.n), column = int(at - i64(row) * p.n);
    float v[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int i = 0; i < 4; i++) p.c[row * p.row + (column + i) * p.column] = Element<C_TYPE>::store(epilogue(v[i], p.epilogue, 0, row, column + i));
}
