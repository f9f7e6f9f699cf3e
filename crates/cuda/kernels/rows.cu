// Rows: each output is made of many terms in stages (a mean, then a variance), and the row may be written afterwards.
//
// A block has `width` outputs next to each other in memory and 256 / width threads for the terms of each. Every thread reads AHEAD terms together, and adds them in order, then
// the threads' sums are added as a tree: the order depends on sizes only.
//
// The header has `output(a, o, p)`, the position of output o; `row_term(a, r, p)`, which moves p to term r of its row; by stage `identity`, `combine`,
// `term` and `close`, which gives the stage's number; `result`, run once an output with the positions of its terms at 0, and `each`, run once a term, with the numbers of all stages.
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(256) rows(const __grid_constant__ Args a) {
    begin();
    __shared__ real tree[256];
    const int width = (int)a.width, lane = threadIdx.x % width, part = threadIdx.x / width, parts = 256 / width;
    for (i64 first = (i64)blockIdx.x * width; first < a.outputs; first += (i64)gridDim.x * width) {
        const i64 o = first + lane;
        const bool valid = o < a.outputs;
        index p[RANK + 2] = {};
        real s[STAGES];
        if (valid) output(a, (index)o, p);
        // Where the terms of an output are split among several, p[RANK + 1] says which part this is.
        const i64 begin = p[RANK + 1] * a.chunk, end = min(begin + a.chunk, a.terms);
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage) {
            real x = identity(stage);
            if (valid) {
                i64 r = begin + part;
                // Terms without a branch between them are read together.
                for (; r + (AHEAD - 1) * parts < end; r += AHEAD * parts) {
                    real t[AHEAD];
#pragma unroll
                    for (int j = 0; j < AHEAD; ++j) {
                        row_term(a, (index)(r + j * parts), p);
                        t[j] = term(stage, a, p, s);
                    }
#pragma unroll
                    for (int j = 0; j < AHEAD; ++j) x = combine(stage, x, t[j]);
                }
                for (; r < end; r += parts) {
                    row_term(a, (index)r, p);
                    x = combine(stage, x, term(stage, a, p, s));
                }
            }
            tree[threadIdx.x] = x;
            __syncthreads();
            for (int half = parts / 2; half > 0; half /= 2) {
                if (part < half) tree[threadIdx.x] = combine(stage, tree[threadIdx.x], tree[threadIdx.x + half * width]);
                __syncthreads();
            }
            s[stage] = close(stage, a, tree[lane], s);
            __syncthreads();
        }
        if (valid && part == 0) {
            index q[RANK + 2] = {};
            output(a, (index)o, q);
            result(a, o, q, s);
        }
#ifdef WRITES
        if (valid) {
            for (i64 r = begin + part; r < end; r += parts) {
                row_term(a, (index)r, p);
                each(a, p, s);
            }
        }
#endif
    }
}
