// products.cu with one thread per output, for groups with so few channels that tiles would be mostly empty. The same generated header. With Z_FIRST
// neighbouring threads take neighbouring groups.
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(256) dots(const __grid_constant__ Args a) {
    begin();
    const i64 count = a.batches * a.m * a.n;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (i64)gridDim.x * blockDim.x) {
#ifdef Z_FIRST
        const index z = (index)(i % a.batches), n = (index)(i / a.batches % a.n), m = (index)(i / a.batches / a.n);
#else
        const index m = (index)(i % a.m), n = (index)(i / a.m % a.n), z = (index)(i / a.m / a.n);
#endif
        total sum = 0;
        for (i64 k = 0; k < a.k; ++k) sum += (total)left(a, z, m, (index)k) * right(a, z, (index)k, n);
        store(a, z, m, n, sum);
    }
}
