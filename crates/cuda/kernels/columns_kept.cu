// Sums down the columns of matrices, and then elements by these, in one launch whose blocks run all at once: each adds its rows, all meet, and each makes its rows' elements
// from the last row to the first. Rows come through a ring of STAGES in shared memory, copied ahead by the threads that read them: those that were added last are there
// when elements are made, and many of those before them in the second-level cache.
//
// A thread has VECTOR columns, LANES threads are next to each other, the others of the block go down the rows. Part i (blockIdx.y) has the groups of as many rows as go down
// together that begin with row i * DOWN and are a multiple of `row_step` further.
//
// The header has `struct Loaded`, what one row has of the matrices: `fetch` copies it to a place of the ring, from where `load` takes it; `struct Terms`: `begin(a, c)`
// prepares the columns from c on, `add(x, v, s)` adds the terms of column v to both sums, or with MOMENTS `term(x, v)` is the number whose mean and variance are wanted;
// `settle(a, c, s, is_first, to)`, which makes of column c's sums, or mean and variance, the NUMBERS that its elements are made with, and stores results where it is
// the first; `struct Columns`: `begin(from)` takes these numbers, and `make(a, x, r, c)` writes the elements of row r. The first `once` rows of a thread are gone before they are
// read again. `counters` has a zero for each group of columns.
#include "fetch.cuh"
#include "args.cuh"

#define DOWN (THREADS / LANES)
#define WIDTH (LANES * VECTOR)
#define WARPS (THREADS / 32)
#define FOURS (WIDTH / 4)
#define JOINED (THREADS / (FOURS > 32 ? FOURS : 32))

// The sum over the threads of each column, in all of them.
DEVICE void summed(real (*room)[WIDTH], real (&x)[VECTOR]) {
    const int own = threadIdx.x % LANES * VECTOR;
#pragma unroll
    for (int step = 16; step >= LANES; step /= 2) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) x[v] += __shfl_xor_sync(~0u, x[v], step);
    }
    __syncthreads();
    if (threadIdx.x % 32 < LANES) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) room[threadIdx.x / 32][own + v] = x[v];
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        x[v] = room[0][own + v];
#pragma unroll
        for (int w = 1; w < WARPS; ++w) x[v] += room[w][own + v];
    }
}

DEVICE void keep(const Args& a, int sum, i64 c, const real (&x)[VECTOR]) {
    if (threadIdx.x >= LANES || c >= a.columns) return;
    real* to = a.partial + ((i64)sum * gridDim.y + blockIdx.y) * a.columns + c;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) to[v] = x[v];
}

// All blocks with these columns have kept their sums.
DEVICE void meet(const Args& a) {
    __syncthreads();
    if (threadIdx.x == 0) {
        u32* counter = a.counters + blockIdx.x;
        u32 seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
        } while (seen < gridDim.y);
    }
    __syncthreads();
}

DEVICE void add_four(float4& sum, float4 x) { sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w; }

#ifdef MOMENTS
// The mean of a part and its squared differences as sums of differences from `from`.
DEVICE void shift(real& mean, real& square, real from, real rows) {
    const real d = mean - from;
    mean = rows * d;
    square = fma(mean, d, square);
}
#endif

// Adds the numbers of all parts, in a fixed order: column j's go to `numbers`.
DEVICE void join(const Args& a, real (*room)[WIDTH], real (*numbers)[WIDTH], i64 first) {
    const int four = threadIdx.x % FOURS * 4, parts = (int)gridDim.y;
    const i64 c = first + four;
    float4 sums[2] = {};
    if (c < a.columns) {
        const real* from = a.partial + c;
#ifdef MOMENTS
        const float4 own = __ldcg((const float4*)from);
#endif
#pragma unroll 4
        for (int part = threadIdx.x / FOURS; part < parts; part += THREADS / FOURS) {
            float4 x = __ldcg((const float4*)(from + part * a.columns)), y = __ldcg((const float4*)(from + (i64)(parts + part) * a.columns));
#ifdef MOMENTS
            const real rows = rows_of(a, (index)part);
            shift(x.x, y.x, own.x, rows), shift(x.y, y.y, own.y, rows), shift(x.z, y.z, own.z, rows), shift(x.w, y.w, own.w, rows);
#endif
            add_four(sums[0], x);
            add_four(sums[1], y);
        }
    }
#pragma unroll
    for (int step = 16; step >= FOURS; step /= 2) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            float4 other;
            other.x = __shfl_xor_sync(~0u, sums[s].x, step), other.y = __shfl_xor_sync(~0u, sums[s].y, step);
            other.z = __shfl_xor_sync(~0u, sums[s].z, step), other.w = __shfl_xor_sync(~0u, sums[s].w, step);
            add_four(sums[s], other);
        }
    }
    if (FOURS >= 32 || threadIdx.x % 32 < FOURS) {
        const int row = threadIdx.x / (FOURS > 32 ? FOURS : 32);
#pragma unroll
        for (int s = 0; s < 2; ++s) *(float4*)&room[s * JOINED + row][four] = sums[s];
    }
    __syncthreads();
    const int j = threadIdx.x;
    if (j < WIDTH && first + j < a.columns) {
        real s[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            s[k] = room[k * JOINED][j];
#pragma unroll
            for (int row = 1; row < JOINED; ++row) s[k] += room[k * JOINED + row][j];
        }
#ifdef MOMENTS
        const real share = (real)1 / (real)a.rows, apart = s[0] * share;
        s[0] = __ldcg(a.partial + first + j) + apart;
        s[1] = max(fma(-apart, apart, s[1] * share), (real)0);
#endif
        settle(a, first + j, s, blockIdx.y == 0, &numbers[0][j]);
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) columns_kept(const __grid_constant__ Args a) {
    begin();
    extern __shared__ __align__(16) u8 ring[];
    __shared__ __align__(16) real room[2 * WARPS][WIDTH], numbers[NUMBERS][WIDTH];
    const int lane = threadIdx.x % LANES;
    const i64 first = (i64)blockIdx.x * WIDTH, c = first + lane * VECTOR, step = a.row_step, begin = (i64)blockIdx.y * DOWN + threadIdx.x / LANES;
    const int turns = c < a.columns && begin < a.rows ? (int)((a.rows - 1 - begin) / step) + 1 : 0, once = (int)a.once, again = turns - STAGES;
    const u64 stays = stays_policy(), goes = goes_policy();
    Terms terms;
    if (turns > 0) terms.begin(a, c);
#pragma unroll 1
    for (int k = 0; k < STAGES; ++k) {
        if (k < turns) Loaded::fetch(a, begin + k * step, c, ring + k * SLOT, k < once || k >= again ? goes : stays);
        commit_fetches();
    }
    int slot = 0;
    real sums[2][VECTOR] = {};
#ifdef MOMENTS
    real own_first[VECTOR] = {};
    wait_fetches<STAGES - 1>();
    if (turns > 0) {
        Loaded x;
        x.load(ring);
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) own_first[v] = terms.term(x, v);
    }
#endif
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
        wait_fetches<STAGES - 1>();
        Loaded x;
        x.load(ring + slot * SLOT);
        // What stays in the ring is not looked for in the cache.
        if (k < again) Loaded::fetch(a, begin + (k + STAGES) * step, c, ring + slot * SLOT, k + STAGES < once || k + STAGES >= again ? goes : stays);
        commit_fetches();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) {
#ifdef MOMENTS
            const real d = terms.term(x, v) - own_first[v];
            sums[0][v] += d;
            sums[1][v] = fma(d, d, sums[1][v]);
#else
            terms.add(x, v, sums[0][v], sums[1][v]);
#endif
        }
    }
#ifdef MOMENTS
    const real own = (real)turns, share = turns > 0 ? (real)1 / own : (real)0, all = (real)1 / rows_of(a, (index)blockIdx.y);
    real mean[VECTOR];
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        sums[1][v] = max(fma(-sums[0][v], sums[0][v] * share, sums[1][v]), (real)0);
        own_first[v] = fma(sums[0][v], share, own_first[v]);
        mean[v] = own * own_first[v];
    }
    summed(room, mean);
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        sums[0][v] = mean[v] * all;
        const real d = own_first[v] - sums[0][v];
        sums[1][v] = fma(own * d, d, sums[1][v]);
    }
    summed(room, sums[1]);
#else
    summed(room, sums[0]);
    summed(room, sums[1]);
#endif
    keep(a, 0, c, sums[0]);
    keep(a, 1, c, sums[1]);
    meet(a);
    join(a, room, numbers, first);
    Columns columns;
    columns.begin(&numbers[0][lane * VECTOR]);
#pragma unroll 1
    for (int k = turns - 1; k >= 0; --k) {
        slot = slot == 0 ? STAGES - 1 : slot - 1;
        wait_fetches<STAGES - 1>();
        Loaded x;
        x.load(ring + slot * SLOT);
        if (k >= STAGES) Loaded::fetch(a, begin + (k - STAGES) * step, c, ring + slot * SLOT, goes);
        commit_fetches();
        columns.make(a, x, begin + k * step, c);
    }
}
