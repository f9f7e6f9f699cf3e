// Layer normalisation backward in one pass over the rows: diff_src of each row, and partial sums for the gradients of scale and shift.
//
// With x^ = (x - mean) * inverse and g = scale * diff_dst: diff_src = (g - mean(g) - x^ mean(g x^)) * inverse, diff_scale = sum of diff_dst x^ and diff_shift =
// sum of diff_dst over the rows.
//
// A row has a team of THREADS threads: a CTA, or, with TEAMS > 1, a warp of a CTA of TEAMS warps. Team i takes rows i, i + teams, ... A thread has VECTOR * CHUNKS
// columns, and keeps their two column sums in registers over all rows of the team; those of a CTA's teams, or of a cluster of CLUSTER CTAs, are added through
// (distributed) shared memory, and go to partial[sum, CTA or cluster, column]. Rows are prefetched into a ring of STAGES slots a team in shared memory: with BULK
// (Hopper) by a thread that copies whole rows (cp.async.bulk), otherwise each thread copies what it reads itself (cp.async).
//
// The generated header has the matrices `src`, `diff_dst` and `diff_src` (columns.rs), `row_mean` and `row_variance` of a row, `inverse_of` a variance, `factor`
// (scale) of a column, and CENTRED (0 for RMS normalisation: no mean). With ADRIFT rows are not aligned to vectors, but all rows of a team have the same offset
// from a vector boundary: vectors begin at the first boundary in the row, and the columns before it and behind the last vector are the edge, one per thread.
#include "fetch.cuh"
#include "args.cuh"
#if CLUSTER > 1
#include "cluster.cuh"
#endif

#define WARPS (THREADS / 32)
#define TOGETHER (ADRIFT ? 1 : VECTOR < 4 ? VECTOR : 4)

// Bytes of a thread's vector.
#define SRC_BYTES (VECTOR * (int)sizeof(src_number::word))
#define DIFF_BYTES (VECTOR * (int)sizeof(diff_dst_number::word))

// This thread's team in the CTA, and of all; its place in it; the number of teams.
DEVICE int own_team() { return TEAMS == 1 ? 0 : threadIdx.x / THREADS; }
DEVICE int team() { return blockIdx.x * TEAMS + own_team(); }
DEVICE int lane() { return TEAMS == 1 ? threadIdx.x : threadIdx.x % THREADS; }
DEVICE int teams() { return gridDim.x * TEAMS; }

// The columns before the first vector of the team's rows, and the number of vectors; a thread's first column in a chunk; its column of the edge, -1 if it has none.
DEVICE int head(const Args& a) { return ADRIFT ? (int)min(-(a.src_offset + (i64)team() * a.src_step) & VECTOR - 1, a.columns) : 0; }
DEVICE int vectors(const Args& a) { return ((int)a.columns - head(a)) / VECTOR; }
DEVICE int column(const Args& a, int chunk) { return head(a) + (chunk * THREADS + lane()) * VECTOR; }
DEVICE int edge(const Args& a) {
    const int c = lane() < head(a) ? lane() : lane() + vectors(a) * VECTOR;
    return ADRIFT && lane() < 2 * VECTOR && c < (int)a.columns ? c : -1;
}
DEVICE bool is_vector(const Args& a, int c) { return c + VECTOR <= (int)a.columns; }

// The vectors of a chunk in a stage of the ring: those of the source, then those of the gradient.
DEVICE u8* staged(int stage, int chunk, bool diff) {
    extern __shared__ __align__(16) u8 ring[];
    const int rows = CHUNKS * THREADS, place = (own_team() * STAGES + stage) * rows * (SRC_BYTES + DIFF_BYTES);
    return ring + place + (diff ? rows * SRC_BYTES + chunk * THREADS * DIFF_BYTES : chunk * THREADS * SRC_BYTES);
}

DEVICE const src_number::word* src_row(const Args& a, i64 r) { return (const src_number::word*)a.src_rows + a.src_offset + r * a.src_step; }
DEVICE const diff_dst_number::word* diff_row(const Args& a, i64 r) { return (const diff_dst_number::word*)a.diff_dst_rows + a.diff_dst_offset + r * a.diff_dst_step; }

#if BULK
DEVICE u64* arrived(int stage) {
    __shared__ __align__(8) u64 barriers[TEAMS * STAGES];
    return barriers + own_team() * STAGES + stage;
}

// A team's first thread copies the vectors of a row.
DEVICE void fetch_row(const Args& a, i64 r, int stage) {
    if (lane() != 0 || r >= a.rows) return;
    const u32 bytes = vectors(a) * SRC_BYTES, diff_bytes = vectors(a) * DIFF_BYTES;
    expect_bytes(arrived(stage), bytes + diff_bytes);
    if (ADRIFT && bytes == 0) return;
    bulk_fetch(staged(stage, 0, false), src_row(a, r) + head(a), bytes, arrived(stage));
    bulk_fetch(staged(stage, 0, true), diff_row(a, r) + head(a), diff_bytes, arrived(stage));
}
#else
DEVICE void fetch_row(const Args& a, i64 r, int stage) {
    if (r < a.rows) {
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const int c = column(a, k);
            if (!is_vector(a, c)) continue;
            fetch<SRC_BYTES>(staged(stage, k, false) + lane() * SRC_BYTES, src_row(a, r) + c);
            fetch<DIFF_BYTES>(staged(stage, k, true) + lane() * DIFF_BYTES, diff_row(a, r) + c);
        }
    }
    commit_fetches();
}
#endif

// The sums over the team, in a fixed order, returned to all threads. `parts` alternates between rows, so that one barrier is enough.
DEVICE void reduced(real (&s)[2], real (*parts)[WARPS]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) s[i] += __shfl_xor_sync(~0u, s[i], step);
        if (TEAMS == 1 && threadIdx.x % 32 == 0) parts[i][threadIdx.x / 32] = s[i];
    }
    if (TEAMS > 1) return __syncwarp();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        s[i] = parts[i][0];
#pragma unroll
        for (int w = 1; w < WARPS; ++w) s[i] += parts[i][w];
    }
}

// The compiler keeps a vector's elements no longer, but only the vector, and converts them again.
template <class V> DEVICE void forget(V& v) {
#pragma unroll
    for (int i = 0; i < (int)sizeof(v.words) / 4; ++i) asm volatile("" : "+r"(((u32*)v.words)[i]));
}

extern "C" __global__ void __launch_bounds__(THREADS * TEAMS, BLOCKS) rows_gradient(const __grid_constant__ Args a) {
    begin();
    __shared__ real parts[2][2][WARPS];
    real factors[CHUNKS][VECTOR] = {}, sums[2][CHUNKS][VECTOR] = {};
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) {
            if (is_vector(a, column(a, k))) factors[k][i] = factor(a, column(a, k) + i);
        }
    }
#if BULK
    if (lane() == 0) {
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage) init_barrier(arrived(stage));
        fence_barriers();
    }
    __syncthreads();
    u32 phase = 0;
#endif
#pragma unroll
    for (int stage = 0; stage < STAGES - 1 + BULK; ++stage) fetch_row(a, team() + (i64)stage * teams(), stage);
    const int own = edge(a);
    const real own_factor = own >= 0 ? factor(a, own) : (real)0;
    real own_x = 0, own_d = 0, own_sums[2] = {};
    auto load_edge = [&](i64 r, real& x, real& d) {
        if (own >= 0) x = src_number::decode(src_row(a, r)[own]), d = diff_dst_number::decode(diff_row(a, r)[own]);
    };
    const i64 first = min((i64)team(), a.rows - 1);
    load_edge(first, own_x, own_d);
    const real share = (real)1 / (real)a.columns;
    real mean = row_mean(a, first), variance = row_variance(a, first);
    int turn = 0, stage = 0;
    for (i64 r = team(); r < a.rows; r += teams(), turn ^= 1, stage = stage + 1 == STAGES ? 0 : stage + 1) {
#if BULK
        wait_bytes(arrived(stage), phase);
        if (stage == STAGES - 1) phase ^= 1;
#else
        fetch_row(a, r + (i64)(STAGES - 1) * teams(), stage == 0 ? STAGES - 1 : stage - 1);
        wait_fetches<STAGES - 1>();
#endif
        const i64 later = min(r + teams(), a.rows - 1);
        const real next_mean = row_mean(a, later), next_variance = row_variance(a, later), inverse = inverse_of(variance);
        real next_x = 0, next_d = 0;
        load_edge(later, next_x, next_d);
        real s[2] = {}, apart[CHUNKS][VECTOR] = {}, g[CHUNKS][VECTOR] = {};   // sums of g = factor * d and of g (x - mean)
        auto add = [&](real x, real d, real factor, real& apart, real& g, real& sum_dx, real& sum_d) {
            apart = x - mean, g = d * factor;
            s[0] += g;
            s[1] = fma(g, apart, s[1]);
            sum_dx = fma(d * inverse, apart, sum_dx);
            sum_d += d;
        };
        Vector<src_number, VECTOR> x[CHUNKS];
        Vector<diff_dst_number, VECTOR> dd[CHUNKS];
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            if (!is_vector(a, column(a, k))) continue;
            x[k].load(staged(stage, k, false), lane() * VECTOR);
            dd[k].load(staged(stage, k, true), lane() * VECTOR);
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) add(x[k].number(i), dd[k].number(i), factors[k][i], apart[k][i], g[k][i], sums[0][k][i], sums[1][k][i]);
        }
        real own_apart = 0, own_g = 0;
        if (own >= 0) add(own_x, own_d, own_factor, own_apart, own_g, own_sums[0], own_sums[1]);
        reduced(s, parts[turn]);
#if BULK
        fetch_row(a, r + (i64)STAGES * teams(), stage);   // all threads have read the stage
#endif
        // (g - mean(g) - x^ mean(g x^)) inverse, where x^ = (x - mean) inverse
        const real constant = CENTRED ? -s[0] * share * inverse : (real)0, slope = -(s[1] * share * inverse) * inverse * inverse;
        auto result = [&](real g, real apart) { return diff_src_number::encode(fma(g, inverse, fma(apart, slope, constant))); };
        const i64 row = a.diff_src_offset + r * a.diff_src_step;
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const int c = column(a, k);
            if (!is_vector(a, c)) continue;
            if (TEAMS > 1) forget(x[k]), forget(dd[k]);
            Vector<diff_src_number, VECTOR> out;
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) {
                if (TEAMS > 1) apart[k][i] = x[k].number(i) - mean, g[k][i] = dd[k].number(i) * factors[k][i];
                out.words[i] = result(g[k][i], apart[k][i]);
            }
            out.store_once(a.diff_src_rows, row + c);
        }
        if (own >= 0) ((diff_src_number::word*)a.diff_src_rows)[row + own] = result(own_g, own_apart);
        own_x = next_x, own_d = next_d;
        mean = next_mean, variance = next_variance;
    }
    auto store = [&](real* to, int sum) {
#pragma unroll
        for (int k = 0; k < CHUNKS; ++k) {
            const int c = column(a, k);
            if (!is_vector(a, c)) continue;
#pragma unroll
            for (int i = 0; i < VECTOR; i += TOGETHER) Vector<F32, TOGETHER>::copy((u32*)to + c + i, (const u32*)sums[sum][k] + i);
        }
        if (own >= 0) to[own] = own_sums[sum];
    };
#if TEAMS > 1
    extern __shared__ __align__(16) u8 ring[];
    real* const room = (real*)ring;
    const int columns = (int)a.columns, own_room = own_team() * 2 * columns;
    __syncthreads();
    store(room + own_room, 0);
    store(room + own_room + columns, 1);
    __syncthreads();
    for (int j = threadIdx.x; j < 2 * columns; j += THREADS * TEAMS) {
        real sum = room[j];
        for (int t = 1; t < TEAMS; ++t) sum += room[t * 2 * columns + j];
        a.partial[((i64)(j / columns) * gridDim.x + blockIdx.x) * columns + j % columns] = sum;
    }
#elif CLUSTER > 1 || ADRIFT
    // Through shared memory, from where neighbouring threads store neighbouring sums; each CTA adds a share of the cluster's, in the order of ranks.
    real* const room = (real*)staged(0, 0, false);
    const int columns = (int)a.columns, rank = blockIdx.x % CLUSTER;
    __syncthreads();
    store(room, 0);
    store(room + columns, 1);
#if CLUSTER > 1
    meet_cluster();
#else
    __syncthreads();
#endif
    for (int j = rank * THREADS + threadIdx.x; j < 2 * columns; j += CLUSTER * THREADS) {
        const i64 part = (i64)(j / columns) * (gridDim.x / CLUSTER) + blockIdx.x / CLUSTER;
#if CLUSTER > 1
        real x = there(room[j], 0);
#pragma unroll
        for (int b = 1; b < CLUSTER; ++b) x += there(room[j], b);
#else
        const real x = room[j];
#endif
        a.partial[part * columns + j % columns] = x;
    }
#if CLUSTER > 1
    meet_cluster();   // a CTA must not exit while others read its shared memory
#endif
#else
#pragma unroll
    for (int sum = 0; sum < 2; ++sum) store(a.partial + ((i64)sum * gridDim.x + blockIdx.x) * a.columns, sum);
#endif
}
