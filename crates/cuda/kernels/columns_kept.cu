// Large batch normalisation of NHWC tensors (matrices of pixels by channels), forward training and backward, and group normalisation forward, in one launch:
// two sums per column, then the elements that depend on them.
//
// A cooperative launch: all CTAs are co-resident. Pass 1 adds each CTA's rows; the sums go to `partial`; the CTAs that share statistics (of a group of columns;
// for group normalisation of an image) synchronise through a counter in global memory (`counters`, zeroed); each CTA then adds the sums of all their parts in
// a fixed order, and pass 2 computes its rows' elements in the reverse order. Each thread streams its own rows through a ring of STAGES slots in shared memory
// (cp.async, no barriers; AHEAD rows are in flight in pass 1): the rows that pass 1 read last are still in the ring when pass 2 begins, and many of the others
// are in L2. The first `once` rows of a thread do not fit and are loaded with evict-first.
//
// Mapping: a thread has VECTOR columns; LANES threads are side by side, the others of the CTA are DOWN rows. `parts` CTAs share the `rows` of an image (for batch
// normalisation all rows are one); part i of them has the groups of DOWN rows that begin at i * DOWN plus multiples of `row_step`. With GROUP > 0 that many
// neighbouring columns share mean and variance, and a CTA has all columns.
//
// The generated header has
//   struct Loaded    one row's vector of each matrix: `fetch` copies it to a ring slot, `load` reads it from there
//   struct Terms     `begin(a, c)` prepares the columns from c on; `add(x, v, s0, s1)` adds the terms of column v to both sums; with MOMENTS `term(x, v)` is the
//                    number whose mean and variance are wanted
//   settle           `settle(a, image, c, s, is_first, to)` derives NUMBERS coefficients of column c from the sums (or mean and variance), and stores statistics
//                    and parameter gradients if `is_first`
//   struct Columns   `begin(from)` takes the coefficients; `make(a, x, r, c)` writes the elements of row r
#include "fetch.cuh"
#include "args.cuh"

#define DOWN (THREADS / LANES)
#define WIDTH (LANES * VECTOR)
#define FOURS (WIDTH / 4)

// Threads of a warp with the same columns, `across` of which are side by side, are added by shuffles if they divide the warp. The sums of the CTA are then in so
// many rows of shared memory.
DEVICE constexpr bool shuffles(int across) { return across < 32 && 32 % across == 0; }
DEVICE constexpr int row_width(int across) { return shuffles(across) ? 32 : across; }
enum : int { SUMMED = THREADS / row_width(LANES), JOINED = THREADS / row_width(FOURS), ROOM = SUMMED > 2 * JOINED ? SUMMED : 2 * JOINED };

// The sum of each column over the CTA's threads, returned to all of them.
DEVICE void summed(real (*room)[WIDTH], real (&x)[VECTOR]) {
    const int own = threadIdx.x % LANES * VECTOR;
#pragma unroll
    for (int step = 16; step >= LANES && shuffles(LANES); step /= 2) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) x[v] += __shfl_xor_sync(~0u, x[v], step);
    }
    __syncthreads();
    if (threadIdx.x % row_width(LANES) < LANES) {
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) room[threadIdx.x / row_width(LANES)][own + v] = x[v];
    }
    __syncthreads();
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
        x[v] = room[0][own + v];
#pragma unroll
        for (int w = 1; w < SUMMED; ++w) x[v] += room[w][own + v];
    }
}

DEVICE void keep(const Args& a, int sum, i64 c, const real (&x)[VECTOR]) {
    if (threadIdx.x >= LANES || c >= a.columns) return;
    real* to = a.partial + ((i64)sum * gridDim.y + blockIdx.y) * a.columns + c;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) to[v] = x[v];
}

// Waits until all CTAs that share statistics have stored their sums.
DEVICE void meet(const Args& a, int image) {
    __syncthreads();
    if (threadIdx.x == 0) {
        u32* counter = a.counters + image * gridDim.x + blockIdx.x;
        u32 seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
        } while (seen < (u32)a.parts);
    }
    __syncthreads();
}

DEVICE void add_four(float4& sum, float4 x) { sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w; }

#ifdef MOMENTS
// Turns the mean and the sum of squared differences of a part with `rows` rows into sums of differences, and of their squares, from the common value `from`.
DEVICE void shift(real& mean, real& square, real from, real rows) {
    const real d = mean - from;
    mean = rows * d;
    square = fma(mean, d, square);
}
#endif

// Adds the sums of all parts of the image in a fixed order, and stores the coefficients of the CTA's columns in `numbers`.
DEVICE void join(const Args& a, real (*room)[WIDTH], real (*numbers)[WIDTH], i64 first, int image) {
    const int four = threadIdx.x % FOURS * 4, parts = (int)a.parts, row = threadIdx.x / row_width(FOURS);
    const i64 c = first + four, other_sum = (i64)gridDim.y * a.columns;
    const real* from = a.partial + (i64)image * parts * a.columns + c;
    float4 sums[2] = {};
    if (c < a.columns && row < JOINED) {
#ifdef MOMENTS
        const float4 own = __ldcg((const float4*)from);
#endif
#pragma unroll 4
        for (int part = threadIdx.x / FOURS; part < parts; part += THREADS / FOURS) {
            float4 x = __ldcg((const float4*)(from + part * a.columns)), y = __ldcg((const float4*)(from + other_sum + part * a.columns));
#ifdef MOMENTS
            const real rows = rows_of(a, (index)part);
            shift(x.x, y.x, own.x, rows), shift(x.y, y.y, own.y, rows), shift(x.z, y.z, own.z, rows), shift(x.w, y.w, own.w, rows);
#endif
            add_four(sums[0], x);
            add_four(sums[1], y);
        }
    }
#pragma unroll
    for (int step = 16; step >= FOURS && shuffles(FOURS); step /= 2) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            float4 other;
            other.x = __shfl_xor_sync(~0u, sums[s].x, step), other.y = __shfl_xor_sync(~0u, sums[s].y, step);
            other.z = __shfl_xor_sync(~0u, sums[s].z, step), other.w = __shfl_xor_sync(~0u, sums[s].w, step);
            add_four(sums[s], other);
        }
    }
    if (threadIdx.x % row_width(FOURS) < FOURS && row < JOINED) {
#pragma unroll
        for (int s = 0; s < 2; ++s) *(float4*)&room[s * JOINED + row][four] = sums[s];
    }
    __syncthreads();
    const int width = (int)min((i64)WIDTH, a.columns - first);
    for (int j = threadIdx.x; j < width; j += THREADS) {
        real s[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            s[k] = room[k * JOINED][j];
#pragma unroll
            for (int row = 1; row < JOINED; ++row) s[k] += room[k * JOINED + row][j];
        }
#ifdef MOMENTS
        const real share = (real)1 / (real)a.rows, apart = s[0] * share;
        s[0] = __ldcg(from - c + first + j) + apart;
        s[1] = max(fma(-apart, apart, s[1] * share), (real)0);
#endif
        if (GROUP) room[0][j] = s[0], room[1][j] = s[1];
        else settle(a, image, first + j, s, blockIdx.y % parts == 0, &numbers[0][j]);
    }
    __syncthreads();
#if GROUP
    for (int j = threadIdx.x; j < width; j += THREADS) {
        const real *means = &room[0][j / GROUP * GROUP], *variances = &room[1][j / GROUP * GROUP];
        real s[2] = {};
        for (int k = 0; k < GROUP; ++k) s[0] += means[k];
        s[0] /= GROUP;
        for (int k = 0; k < GROUP; ++k) s[1] += fma(means[k] - s[0], means[k] - s[0], variances[k]);
        s[1] /= GROUP;
        settle(a, image, j, s, blockIdx.y % parts == 0, &numbers[0][j]);
    }
    __syncthreads();
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) columns_kept(const __grid_constant__ Args a) {
    begin();
    extern __shared__ __align__(16) u8 ring[];
    __shared__ __align__(16) real room[ROOM][WIDTH], numbers[NUMBERS][WIDTH];
    const int lane = threadIdx.x % LANES, image = blockIdx.y / (u32)a.parts, part = blockIdx.y % (u32)a.parts;
    const i64 first = (i64)blockIdx.x * WIDTH, c = first + lane * VECTOR, step = a.row_step, own_row = (i64)part * DOWN + threadIdx.x / LANES;
    const i64 begin = image * a.rows + own_row;
    const int turns = c < a.columns && own_row < a.rows ? (int)((a.rows - 1 - own_row) / step) + 1 : 0, once = (int)a.once, again = turns - STAGES;
    const u64 stays = stays_policy(), goes = goes_policy();
    Terms terms;
    if (turns > 0) terms.begin(a, c);
#pragma unroll 1
    for (int k = 0; k < AHEAD; ++k) {
        if (k < turns) Loaded::fetch(a, begin + k * step, c, ring + k * SLOT, k < once || k >= again ? goes : stays);
        commit_fetches();
    }
    int slot = 0;
    real sums[2][VECTOR] = {};
#ifdef MOMENTS
    real own_first[VECTOR] = {};
    wait_fetches<AHEAD - 1>();
    if (turns > 0) {
        Loaded x;
        x.load(ring);
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) own_first[v] = terms.term(x, v);
    }
#endif
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
        wait_fetches<AHEAD - 1>();
        Loaded x;
        x.load(ring + slot * SLOT);
        // Rows that stay in the ring for pass 2 need not stay in L2.
        const int next = k + AHEAD, to = slot + AHEAD < STAGES ? slot + AHEAD : slot + AHEAD - STAGES;
        if (next < turns) Loaded::fetch(a, begin + next * step, c, ring + to * SLOT, next < once || next >= again ? goes : stays);
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
    const real own = (real)turns, share = turns > 0 ? (real)1 / own : (real)0, all = (real)1 / rows_of(a, (index)part);
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
    meet(a, image);
    join(a, room, numbers, first, image);
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
