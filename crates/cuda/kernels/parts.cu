// The reduction of a split-K launch of products.cu: adds the partial sums in the order of the parts and stores the results. It includes the generated
// header of products.cu (sizes, `partial`, `store`). A grid-stride loop, one element per thread.
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
