// Sums down the columns of row-major matrices (batch normalisation of NHWC, gradients of scale, shift and bias), in parts: partial[sum, part, column].
//
// A thread has VECTOR columns; LANES threads are side by side (coalesced), the other DOWN of the CTA go down the rows. blockIdx.y is the part: part i starts
// at row i * apart and takes groups of DOWN rows, `row_step` apart, within `span` rows. Threads of a column are added by a tree in shared memory.
//
// The generated header has SUMS and `struct Terms`: `begin(a, c)` prepares the columns from c on, `at(a, r, c, t)` sets t to their terms of row r (with ADDS it
// adds them to t). With TOGETHER a thread loads that many rows before it uses them: `Terms::Loaded` holds a row's vectors, and `at(a, x, r, c, t)` takes
// its terms from them, and may store results. With MOMENTS there is one term, and the results of a part are its mean and its sum of squared differences
// from the mean. Each thread then adds differences from its own first term, so that large means do not cancel; `rows_of(a, part)` is the number of rows of
// a part.
#include "args.cuh"

#define DOWN (256 / LANES)

// The sum of each column over the CTA's threads, returned to all of them.
DEVICE void summed(real (*tree)[VECTOR + 1], real (&x)[VECTOR]) {
    const int lane = threadIdx.x % LANES, down = threadIdx.x / LANES;
    __syncthreads();
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) tree[threadIdx.x][v] = x[v];
    __syncthreads();
    for (int half = DOWN / 2; half > 0; half /= 2) {
        if (down < half) {
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) tree[threadIdx.x][v] += tree[threadIdx.x + half * LANES][v];
        }
        __syncthreads();
    }
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) x[v] = tree[lane][v];
}

DEVICE void keep(const Args& a, int sum, i64 c, const real (&x)[VECTOR]) {
    if (threadIdx.x >= LANES || c >= a.columns) return;
    real* to = a.partial + ((i64)sum * gridDim.y + blockIdx.y) * a.columns + c;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) to[v] = x[v];
}

extern "C" __global__ void __launch_bounds__(256) columns(const __grid_constant__ Args a) {
    begin();
    __shared__ real tree[256][VECTOR + 1];
    const i64 c = ((i64)blockIdx.x * LANES + threadIdx.x % LANES) * VECTOR;
    const i64 begin = blockIdx.y * a.apart, end = min(begin + a.span, a.rows), step = a.row_step;
    const bool inside = c < a.columns;
    Terms terms;
    if (inside) terms.begin(a, c);
#ifdef MOMENTS
    real first[VECTOR] = {}, sum[VECTOR] = {}, square[VECTOR] = {};
    i64 r = begin + threadIdx.x / LANES;
    int count = 0;
    if (inside && r < end) {
        real t[1][VECTOR];
        terms.at(a, r, c, t);
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) first[v] = t[0][v];
        count = 1;
        auto add = [&](i64 row) {
            terms.at(a, row, c, t);
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) {
                const real d = t[0][v] - first[v];
                sum[v] += d;
                square[v] = fma(d, d, square[v]);
            }
        };
        // No branches between four rows, so that their loads are in flight together.
        for (r += step; r + 3 * step < end; r += 4 * step, count += 4) {
#pragma unroll
            for (int j = 0; j < 4; ++j) add(r + j * step);
        }
        for (; r < end; r += step, ++count) add(r);
    }
    const real own = (real)count, share = count > 0 ? (real)1 / own : (real)0, all = (real)1 / rows_of(a, (index)blockIdx.y);
    real mean[VECTOR], total[VECTOR];
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        square[v] = max(fma(-sum[v], sum[v] * share, square[v]), (real)0);
        first[v] = fma(sum[v], share, first[v]);
        mean[v] = own * first[v];
    }
    summed(tree, mean);
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        mean[v] *= all;
        const real d = first[v] - mean[v];
        total[v] = square[v] + own * d * d;
    }
    summed(tree, total);
    keep(a, 0, c, mean);
    keep(a, 1, c, total);
#else
    real sums[SUMS][VECTOR] = {};
#ifdef ADDS
    if (inside) {
        for (i64 r = begin + threadIdx.x / LANES; r < end; r += step) terms.at(a, r, c, sums);
    }
#elif defined(TOGETHER)
    if (inside) {
        for (i64 r = begin + threadIdx.x / LANES; r < end; r += TOGETHER * step) {
            Terms::Loaded x[TOGETHER];
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) {
                if (r + j * step < end) x[j].load(a, r + j * step, c);
            }
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) {
                if (r + j * step >= end) break;
                real t[SUMS][VECTOR];
                terms.at(a, x[j], r + j * step, c, t);
#pragma unroll
                for (int s = 0; s < SUMS; ++s) {
#pragma unroll
                    for (int v = 0; v < VECTOR; ++v) sums[s][v] += t[s][v];
                }
            }
        }
    }
#else
    if (inside) {
        const int ahead = SUMS == 1 ? 4 : SUMS == 2 ? 2 : 1;
        auto add = [&](i64 row) {
            real t[SUMS][VECTOR];
            terms.at(a, row, c, t);
#pragma unroll
            for (int s = 0; s < SUMS; ++s) {
#pragma unroll
                for (int v = 0; v < VECTOR; ++v) sums[s][v] += t[s][v];
            }
        };
        i64 r = begin + threadIdx.x / LANES;
        for (; r + (ahead - 1) * step < end; r += ahead * step) {
#pragma unroll
            for (int j = 0; j < ahead; ++j) add(r + j * step);
        }
        for (; r < end; r += step) add(r);
    }
#endif
#pragma unroll
    for (int s = 0; s < SUMS; ++s) {
        summed(tree, sums[s]);
        keep(a, s, c, sums[s]);
    }
#endif
}
