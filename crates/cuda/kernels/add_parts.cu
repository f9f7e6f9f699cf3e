// C[batch, m, n] = epilogue(sum over i of parts[i, batch, m, n]): the reduction of the split-K products of gemm_f32.cu, whose parts are dense f32.
// For any n; parts are added in their order. One thread per element.
//
// Interface
//   defines      C_TYPE
//   parameters   (AddParams) by value
//   grid         ceil(batch * m * n / 256) CTAs of 256 threads
#include "epilogue.cuh"

struct AddParams {
    const float *parts;
    Element<C_TYPE>::Raw *c;
    int count, batch, m, n;
    i64 row, column, c_batch;   // strides of c in elements
    Epilogue epilogue;
};

extern "C" __global__ void __launch_bounds__(256) add_parts(const __grid_constant__ AddParams p) {
    begin();
    i64 size = i64(p.batch) * p.m * p.n, at = i64(blockIdx.x) * 256 + threadIdx.x;
    if (at >= size) return;
    float sum = p.parts[at];
    for (int i = 1; i < p.count; i++) sum += p.parts[i * size + at];
    int batch = int(at / (i64(p.m) * p.n)), within = int(at - i64(batch) * p.m * p.n), row = within / p.n, column = within - row * p.n;
    p.c[batch * p.c_batch + row * p.row + column * p.column] = Element<C_TYPE>::store(epilogue(sum, p.epilogue, batch, row, column));
}
