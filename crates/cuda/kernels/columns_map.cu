// Elements of matrices whose columns are neighbours in memory, by numbers that belong to the columns: VECTOR columns a thread, which keeps their numbers, LANES threads
// next to each other; the others of the block go up the rows. Rows are divided in parts as those of columns.cu, and the last ones are made first: what the launch
// before read last is in the second-level cache still.
//
// The header has `struct Loaded`, what one row has of the matrices that are read, and `struct Columns`: `begin(a, r, c)` prepares the columns from c on, of a part that
// begins with row r, and `make(a, x, r, c)` writes theirs of row r. AHEAD rows are read together; BLOCKS blocks share a
// multiprocessor.
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
