// Element-wise operations on row-major matrices with coefficients per column (the second pass of batch normalisation of NHWC).
//
// A thread has VECTOR columns and keeps their coefficients in registers; LANES threads are side by side, the others of the CTA take rows. Rows are divided into
// parts as in columns.cu, and visited from the last to the first: what the preceding launch read last is still in L2. AHEAD rows are loaded together;
// BLOCKS CTAs share an SM.
//
// The generated header has `struct Loaded`, one row's vector of each matrix that is read, and `struct Columns`: `begin(a, r, c)` loads the coefficients of the
// columns from c on, for a part that begins at row r; `make(a, x, r, c)` writes their elements of row r.
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(256, BLOCKS) columns_map(const __grid_constant__ Args a) {
    begin();
    const i64 c = ((i64)blockIdx.x * LANES + threadIdx.x % LANES) * VECTOR;
    const i64 start = (i64)(gridDim.y - 1 - blockIdx.y) * a.apart, end = min(start + a.span, a.rows), step = a.row_step;
    const i64 own = start + threadIdx.x / LANES;
    if (c >= a.columns || own >= end) return;
    Columns columns;
    columns.begin(a, start, c);
    for (i64 r = own + (end - 1 - own) / step * step; r >= own; r -= AHEAD * step) {
        Loaded x[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
            if (r - j * step >= own) x[j].load(a, r - j * step, c);
        }
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
            if (r - j * step >= own) columns.make(a, x[j], r - j * step, c);
        }
    }
}
