// Adds what products.cu left of a K in parts, in their order, and finishes the sums. The header is that of products.cu.
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(256) parts(const __grid_constant__ Args a) {
    begin();
    const i64 count = a.batches * a.m * a.n;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (i64)gridDim.x * blockDim.x) {
        const index n = (index)(i % a.n), m = (index)(i / a.n % a.m), z = (index)(i / a.n / a.m);
        total sum = 0;
        for (i64 part = 0; part < a.parts; ++part) sum += a.partial[part * count + i];
        store(a, z, m, n, sum);
    }
}
