// Gradients of rows that share a mean and a variance (layer normalisation), with the sums down the columns for those of scale and shift in the same pass.
//
// A block takes every gridDim.x-th row and loads the next one while it reduces one. A thread has VECTOR * CHUNKS columns; their sums over the rows of the
// block go to `partial`, one row for each sum and block.
//
// The header has the matrices `src`, `diff_dst` and `diff_src` of columns.rs, `row_mean` and `row_variance` of a row, `inverse_of` a variance, `factor` of a column, and
// CENTRED: whether rows have a mean.
#include "args.cuh"

#define WARPS (THREADS / 32)

struct Row {
    Vector<src_number, VECTOR> x[CHUNKS];
    Vector<diff_dst_number, VECTOR> d[CHUNKS];
    real mean, variance;
};

DEVICE i64 column(int chunk) { return (i64)(chunk * THREADS + threadIdx.x) * VECTOR; }

DEVICE void load_row(const Args& a, i64 r, Row& row) {
    if (r >= a.rows) return;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
        const i64 c = column(k);
        if (c >= a.columns) continue;
        row.x[k].load(a.src_rows, a.src_offset + r * a.src_step + c);
        row.d[k].load(a.diff_dst_rows, a.diff_dst_offset + r * a.diff_dst_step + c);
    }
    row.mean = row_mean(a, r), row.variance = row_variance(a, r);
}

// Words of 16 bytes, each by one instruction, that nobody reads soon.
DEVICE void store_once(const Vector<diff_src_number, VECTOR>& v, void* data, i64 at) {
    const int bytes = VECTOR * (int)sizeof(diff_src_number::word);
    uint4* to = (uint4*)((diff_src_number::word*)data + at);
    if (bytes % 16 != 0) return v.store(data, at);
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i) __stcs(to + i, ((const uint4*)v.words)[i]);
}

// The sums over all threads, in an order that depends on nothing; `parts` is another one from row to row.
DEVICE void reduced(real (&s)[2], real (*parts)[WARPS]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) s[i] += __shfl_xor_sync(~0u, s[i], step);
        if (threadIdx.x % 32 == 0) parts[i][threadIdx.x / 32] = s[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        s[i] = parts[i][0];
#pragma unroll
        for (int w = 1; w < WARPS; ++w) s[i] += parts[i][w];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 512 / THREADS) rows_gradient(const __grid_constant__ Args a) {
    begin();
    __shared__ real parts[2][2][WARPS];
    real factors[CHUNKS][VECTOR] = {}, sums[2][CHUNKS][VECTOR] = {};
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            if (column(k) < a.columns) factors[k][i] = factor(a, column(k) + i);
        }
    }
    Row row = {}, next = {};
    load_row(a, blockIdx.x, row);
    const real share = (real)1 / (real)a.columns;
    int turn = 0;
    for (i64 r = blockIdx.x; r < a.rows; r += gridDim.x, turn ^= 1, row = next) {
        load_row(a, r + gridDim.x, next);
        const real inverse = inverse_of(row.variance);
        real s[2] = {};   // of g = factor * d and of g x^
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) {
                const real d = row.d[k].number(i), normal = (row.x[k].number(i) - row.mean) * inverse, g = d * factors[k][i];
                s[0] += g;
                s[1] = fma(g, normal, s[1]);
                sums[0][k][i] = fma(d, normal, sums[0][k][i]);
                sums[1][k][i] += d;
            }
        }
        reduced(s, parts[turn]);
        const real mean_g = CENTRED ? s[0] * share : (real)0, mean_gx = s[1] * share;
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            if (column(k) >= a.columns) continue;
            Vector<diff_src_number, VECTOR> out;
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) {
                const real normal = (row.x[k].number(i) - row.mean) * inverse;
                out.words[i] = diff_src_number::encode((row.d[k].number(i) * factors[k][i] - mean_g - normal * mean_gx) * inverse);
            }
            store_once(out, a.diff_src_rows, a.diff_src_offset + r * a.diff_src_step + column(k));
        }
    }
#pragma unroll
    for (int sum = 0; sum < 2; ++sum) {
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) {
                if (column(k) < a.columns) a.partial[((i64)sum * gridDim.x + blockIdx.x) * a.columns + column(k) + i] = sums[sum][k][i];
            }
        }
    }
}
