// Layer normalisation backward in one pass over the rows: diff_src of each row, and partial sums for the gradients of scale and shift.
//
// With x^ = (x - mean) * inverse and g = scale * diff_dst: diff_src = (g - mean(g) - x^ mean(g x^)) * inverse, diff_scale = sum of diff_dst x^ and diff_shift =
// sum of diff_dst over the rows.
//
// CTA i takes rows i, i + gridDim.x, ... A thread has VECTOR * CHUNKS columns, and keeps their two column sums in registers over all rows of the CTA; they go
// to partial[sum, CTA, column]. Rows are prefetched into a ring of STAGES slots in shared memory: with BULK (Hopper) by a thread that copies whole rows
// (cp.async.bulk), otherwise each thread copies what it reads itself (cp.async).
//
// The generated header has the matrices `src`, `diff_dst` and `diff_src` (columns.rs), `row_mean` and `row_variance` of a row, `inverse_of` a variance, `factor`
// (scale) of a column, and CENTRED (0 for RMS normalisation: no mean). With ADRIFT rows are not aligned to vectors, but all rows of a CTA have the same offset
// from a vector boundary. Vectors are then aligned in memory, so the first and last vector of a row may contain elements of the neighbouring rows, which are
// masked.
#include "fetch.cuh"
#include "args.cuh"

#define WARPS (THREADS / 32)
#define TOGETHER (ADRIFT ? 1 : VECTOR < 4 ? VECTOR : 4)

// Bytes of a thread's vector.
#define SRC_BYTES (VECTOR * (int)sizeof(src_number::word))
#define DIFF_BYTES (VECTOR * (int)sizeof(diff_dst_number::word))

// The first column of a thread's vector of a chunk; with ADRIFT it may be negative.
DEVICE i64 column(const Args& a, int chunk) {
    const i64 before = ADRIFT ? a.src_offset + (i64)blockIdx.x * a.src_step & VECTOR - 1 : 0;
    return (i64)(chunk * THREADS + threadIdx.x) * VECTOR - before;
}
DEVICE bool is_column(const Args& a, i64 c) { return !ADRIFT || c >= 0 && c < a.columns; }

// The vectors of a chunk in a stage of the ring: those of the source, then those of the gradient.
DEVICE u8* staged(int stage, int chunk, bool diff) {
    extern __shared__ __align__(16) u8 ring[];
    const int rows = CHUNKS * THREADS, place = stage * rows * (SRC_BYTES + DIFF_BYTES);
    return ring + place + (diff ? rows * SRC_BYTES + chunk * THREADS * DIFF_BYTES : chunk * THREADS * SRC_BYTES);
}

DEVICE const src_number::word* src_row(const Args& a, i64 r) { return (const src_number::word*)a.src_rows + a.src_offset + r * a.src_step; }
DEVICE const diff_dst_number::word* diff_row(const Args& a, i64 r) { return (const diff_dst_number::word*)a.diff_dst_rows + a.diff_dst_offset + r * a.diff_dst_step; }

#if BULK
DEVICE u64* arrived(int stage) {
    __shared__ __align__(8) u64 barriers[STAGES];
    return barriers + stage;
}

// Thread 0 copies the vectors of a row; behind the last row nothing is read.
DEVICE void fetch_row(const Args& a, i64 r, int stage) {
    if (threadIdx.x != 0 || r >= a.rows) return;
    const i64 first = column(a, 0), all = a.columns - first, count = (ADRIFT && r < a.rows - 1 ? all + VECTOR - 1 : all) / VECTOR * VECTOR;
    const u32 bytes = (u32)count * sizeof(src_number::word), diff_bytes = (u32)count * sizeof(diff_dst_number::word);
    expect_bytes(arrived(stage), bytes + diff_bytes);
    bulk_fetch(staged(stage, 0, false), src_row(a, r) + first, bytes, arrived(stage));
    bulk_fetch(staged(stage, 0, true), diff_row(a, r) + first, diff_bytes, arrived(stage));
}
#else
DEVICE void fetch_row(const Args& a, i64 r, int stage) {
    if (r < a.rows) {
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const i64 c = column(a, k);
            if (c >= a.columns) continue;
            u8 *to = staged(stage, k, false) + threadIdx.x * SRC_BYTES, *to_diff = staged(stage, k, true) + threadIdx.x * DIFF_BYTES;
            const src_number::word* x = src_row(a, r) + c;
            const diff_dst_number::word* d = diff_row(a, r) + c;
            if (ADRIFT && r == a.rows - 1) {
                fetch_until<SRC_BYTES>(to, x, (a.columns - c) * (i64)sizeof *x);
                fetch_until<DIFF_BYTES>(to_diff, d, (a.columns - c) * (i64)sizeof *d);
            } else {
                fetch<SRC_BYTES>(to, x);
                fetch<DIFF_BYTES>(to_diff, d);
            }
        }
    }
    commit_fetches();
}
#endif

// Streaming stores of 16 bytes: the result is not read again soon.
DEVICE void store_once(const Vector<diff_src_number, VECTOR>& v, void* data, i64 at) {
    const int bytes = VECTOR * (int)sizeof(diff_src_number::word);
    uint4* to = (uint4*)((diff_src_number::word*)data + at);
    if (bytes % 16 != 0) return v.store(data, at);
#pragma unroll
    for (int i = 0; i < bytes / 16; ++i) __stcs(to + i, ((const uint4*)v.words)[i]);
}

// The sums over the CTA, in a fixed order, returned to all threads. `parts` alternates between rows, so that one barrier is enough.
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

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) rows_gradient(const __grid_constant__ Args a) {
    begin();
    __shared__ real parts[2][2][WARPS];
    real factors[CHUNKS][VECTOR] = {}, sums[2][CHUNKS][VECTOR] = {};
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            const i64 c = column(a, k) + i;
            if (c < a.columns && is_column(a, c)) factors[k][i] = factor(a, c);
        }
    }
#if BULK
    if (threadIdx.x == 0) {
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage) init_barrier(arrived(stage));
        fence_barriers();
    }
    __syncthreads();
    u32 phase = 0;
#endif
#pragma unroll
    for (int stage = 0; stage < STAGES - 1 + BULK; ++stage) fetch_row(a, blockIdx.x + (i64)stage * gridDim.x, stage);
    const real share = (real)1 / (real)a.columns;
    real mean = row_mean(a, blockIdx.x), variance = row_variance(a, blockIdx.x);
    int turn = 0, stage = 0;
    for (i64 r = blockIdx.x; r < a.rows; r += gridDim.x, turn ^= 1, stage = stage + 1 == STAGES ? 0 : stage + 1) {
#if BULK
        wait_bytes(arrived(stage), phase);
        if (stage == STAGES - 1) phase ^= 1;
#else
        fetch_row(a, r + (i64)(STAGES - 1) * gridDim.x, stage == 0 ? STAGES - 1 : stage - 1);
        wait_fetches<STAGES - 1>();
#endif
        const i64 later = min(r + gridDim.x, a.rows - 1);
        const real next_mean = row_mean(a, later), next_variance = row_variance(a, later), inverse = inverse_of(variance);
        real s[2] = {}, apart[CHUNKS][VECTOR] = {}, g[CHUNKS][VECTOR] = {};   // sums of g = factor * d and of g (x - mean)
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const i64 c = column(a, k);
            if (c >= a.columns) continue;
            Vector<src_number, VECTOR> x;
            Vector<diff_dst_number, VECTOR> dd;
            x.load(staged(stage, k, false), threadIdx.x * VECTOR);
            dd.load(staged(stage, k, true), threadIdx.x * VECTOR);
            if (BULK && ADRIFT && r == a.rows - 1 && c + VECTOR > a.columns) {
                x.load_until(src_row(a, r), c, a.columns);
                dd.load_until(diff_row(a, r), c, a.columns);
            }
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) {
                const bool inside = is_column(a, c + i);
                const real d = inside ? dd.number(i) : (real)0;
                apart[k][i] = inside ? x.number(i) - mean : (real)0, g[k][i] = d * factors[k][i];
                s[0] += g[k][i];
                s[1] = fma(g[k][i], apart[k][i], s[1]);
                sums[0][k][i] = fma(d * inverse, apart[k][i], sums[0][k][i]);
                sums[1][k][i] += d;
            }
        }
        reduced(s, parts[turn]);
#if BULK
        fetch_row(a, r + (i64)STAGES * gridDim.x, stage);   // all threads have read the stage
#endif
        // (g - mean(g) - x^ mean(g x^)) inverse, where x^ = (x - mean) inverse
        const real constant = CENTRED ? -s[0] * share * inverse : (real)0, slope = -(s[1] * share * inverse) * inverse * inverse;
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const i64 c = column(a, k);
            if (c >= a.columns) continue;
            Vector<diff_src_number, VECTOR> out;
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) out.words[i] = diff_src_number::encode(fma(g[k][i], inverse, fma(apart[k][i], slope, constant)));
            const i64 at = a.diff_src_offset + r * a.diff_src_step + c;
            if (ADRIFT && (c < 0 || c + VECTOR > a.columns)) {
                out.store_part(a.diff_src_rows, at, (int)max(-c, (i64)0), (int)min(a.columns - c, (i64)VECTOR));
            } else {
                store_once(out, a.diff_src_rows, at);
            }
        }
        mean = next_mean, variance = next_variance;
    }
#pragma unroll
    for (int sum = 0; sum < 2; ++sum) {
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const i64 c = column(a, k);
            if (c >= a.columns) continue;
            real* to = a.partial + ((i64)sum * gridDim.x + blockIdx.x) * a.columns + c;
#pragma unroll
            for (int i = 0; i < VECTOR; i += TOGETHER) {
                if (!ADRIFT) Vector<F32, TOGETHER>::copy((u32*)to + i, (const u32*)sums[sum][k] + i);
                else if (is_column(a, c + i)) to[i] = sums[sum][k][i];
            }
        }
    }
}
