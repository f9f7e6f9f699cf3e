// Generic reductions (softmax, normalisations, reduction): each output reduces a row of `terms` terms in STAGES stages (a mean, then a variance),
// TOGETHER of which are independent of each other and computed in one pass. With WRITES the row's elements are written from the results.
//
// A CTA has `width` outputs that are neighbours in memory, and 256 / width threads per output. A thread combines every (256 / width)-th term, AHEAD loads at
// a time; a tree in shared memory combines the threads' values. The order depends on the sizes only.
//
// The generated header has `output(a, o, p)`, the position of output o; `row_term(a, r, p)`, which moves p to term r of its row; per stage `identity`, `term`,
// `combine` and `close`, which turns the combined value into the stage's result; `result`, called once per output; and `each`, called once per term; both
// with the results of all stages.
#include "args.cuh"

extern "C" __global__ void __launch_bounds__(256) rows(const __grid_constant__ Args a) {
    begin();
    __shared__ real tree[TOGETHER][256];
    const int width = (int)a.width, lane = threadIdx.x % width, part = threadIdx.x / width, parts = 256 / width;
    for (i64 first = (i64)blockIdx.x * width; first < a.outputs; first += (i64)gridDim.x * width) {
        const i64 o = first + lane;
        const bool valid = o < a.outputs;
        index p[RANK + 2] = {};
        real s[STAGES];
        if (valid) output(a, (index)o, p);
        // p[RANK + 1] is the part, where the terms of a row are split over several outputs.
        const i64 begin = p[RANK + 1] * a.chunk, end = min(begin + a.chunk, a.terms);
#pragma unroll
        for (int stage = 0; stage < STAGES; stage += TOGETHER) {
            real x[TOGETHER];
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) x[k] = identity(stage + k);
            // AHEAD terms without branches between them, so that their loads are in flight together. Behind the end the last term is loaded and not used.
            auto combine_from = [&](i64 r, bool is_whole) {
                real t[AHEAD][TOGETHER];
#pragma unroll
                for (int j = 0; j < AHEAD; ++j) {
                    const i64 at = r + j * parts;
                    row_term(a, (index)(is_whole ? at : min(at, end - 1)), p);
#pragma unroll
                    for (int k = 0; k < TOGETHER; ++k) t[j][k] = term(stage + k, a, p, s);
                }
#pragma unroll
                for (int j = 0; j < AHEAD; ++j) {
#pragma unroll
                    for (int k = 0; k < TOGETHER; ++k) {
                        if (is_whole || r + j * parts < end) x[k] = combine(stage + k, x[k], t[j][k]);
                    }
                }
            };
            if (valid) {
                i64 r = begin + part;
                for (; r + (AHEAD - 1) * parts < end; r += AHEAD * parts) combine_from(r, true);
                if (r < end) combine_from(r, false);
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) tree[k][threadIdx.x] = x[k];
            __syncthreads();
            for (int half = parts / 2; half > 0; half /= 2) {
                if (part < half) {
#pragma unroll
                    for (int k = 0; k < TOGETHER; ++k) tree[k][threadIdx.x] = combine(stage + k, tree[k][threadIdx.x], tree[k][threadIdx.x + half * width]);
                }
                __syncthreads();
            }
#pragma unroll
            for (int k = 0; k < TOGETHER; ++k) s[stage + k] = close(stage + k, a, tree[k][lane], s);
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
