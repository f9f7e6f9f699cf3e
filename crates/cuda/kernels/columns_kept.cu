// Large batch normalisation of NHWC tensors (matrices of pixels by channels), forward training and backward, and group normalisation forward, in one launch:
// two sums per column, then the elements that depend on them.
//
// A cooperative launch: all CTAs are co-resident. Pass 1 adds each CTA's rows; the sums go to `partial`; the CTAs that share statistics (of a group of columns;
// for group normalisation of an image) synchronise through a counter in global memory; each CTA then adds the sums of all their parts in a fixed order, and
// pass 2 computes its rows' elements in the reverse order. Each thread streams its first `ringed` rows through a ring of STAGES slots in shared memory (cp.async,
// no barriers; AHEAD rows are in flight in pass 1), and loads the others, at most KEPT, to registers: these, and the rows that pass 1 read last through the ring,
// are still there when pass 2 begins, and many of the others are in L2. The first `once` rows of a thread do not fit and are loaded with evict-first.
//
// Mapping: a CTA has WIDTH columns, VECTOR per thread: LANES threads are side by side, the others are DOWN rows. `parts` CTAs share the `rows` of an image (for
// batch normalisation all rows are one); part i of them has the groups of DOWN rows that begin at i * DOWN plus multiples of `row_step`. With MOMENTS the sums are
// of differences from `pivot`, the column's element in the first row of the CTA, and of their squares, and the statistics are mean and variance; SHARE (GROUP,
// unless 0) neighbouring columns share them, and a CTA then has all columns.
//
// The generated header has
//   struct Walk      the addresses of a row's vectors: `begin(a, r, c, step)` of row r; `next` and `back` move by `step` rows
//   struct Loaded    one row's vector of each matrix: `fetch` copies it to a ring slot, `load` reads it from there, `take` from global memory
//   struct Terms     `begin(a, c)` prepares the columns from c on; `add(x, v, s0, s1)` adds the terms of column v to both sums; with MOMENTS `term(x, v)` is the
//                    number whose mean and variance are wanted
//   rows_of          `rows_of(a, part)`, the rows of a part
//   settle           `settle(a, image, c, s, is_first, to)` derives NUMBERS coefficients of column c from the sums (or mean and variance), and stores statistics
//                    and parameter gradients if `is_first`
//   struct Columns   `begin(from)` takes the coefficients; `make(a, x, r, c)` writes the elements of row r
#include "fetch.cuh"
#include "args.cuh"

#define DOWN (THREADS / LANES)

// Threads of a warp with the same columns, `across` of which are side by side, are added by shuffles if they divide the warp. The sums of the CTA are then in so
// many rows of shared memory.
DEVICE constexpr bool shuffles(int across) { return across < 32 && 32 % across == 0; }
DEVICE constexpr int row_width(int across) { return shuffles(across) ? 32 : across; }

enum : int {
    WIDTH = LANES * VECTOR,
    SHARE = GROUP ? GROUP : 1,
    SPAN = WIDTH / SHARE,           // statistics of the CTA's columns
    PIECE = SPAN % 4 ? 1 : 4,       // statistics that a thread of join() reads at a time
    PIECES = SPAN / PIECE,
    SUMMED = THREADS / row_width(LANES),
    JOINED = THREADS / row_width(PIECES),
    ROOM = SUMMED * WIDTH > 2 * JOINED * SPAN ? SUMMED * WIDTH : 2 * JOINED * SPAN,
};

// Stores the sums of the CTA's columns, which begin at `first`. `numbers` is free space.
DEVICE void publish(const Args& a, real* room, real (*numbers)[WIDTH], real (&sums)[2][VECTOR], const real (&pivot)[VECTOR], i64 first, int image, int part) {
    const int own = threadIdx.x % LANES * VECTOR;
#pragma unroll
    for (int s = 0; s < 2; ++s) {
#pragma unroll
        for (int step = 16; step >= LANES && shuffles(LANES); step /= 2) {
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) sums[s][v] += __shfl_xor_sync(~0u, sums[s][v], step);
        }
        __syncthreads();
        if (threadIdx.x % row_width(LANES) < LANES) {
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) room[threadIdx.x / row_width(LANES) * WIDTH + own + v] = sums[s][v];
        }
#ifdef MOMENTS
        if (threadIdx.x < LANES) {
#pragma unroll
            for (int v = 0; v < VECTOR; ++v) numbers[2][own + v] = pivot[v];
        }
#endif
        __syncthreads();
        for (int j = threadIdx.x; j < WIDTH; j += THREADS) {
            real x = room[j];
#pragma unroll
            for (int w = 1; w < SUMMED; ++w) x += room[w * WIDTH + j];
            numbers[s][j] = x;
        }
    }
    const i64 row = (i64)image * a.parts + part, other_sum = a.part_rows * a.stats;
    real* to = a.partial + row * a.stats + first / SHARE;
    const real rows = rows_of(a, (index)part), share = (real)1 / rows;
    for (int j = threadIdx.x; j < WIDTH && first + j < a.columns; j += THREADS) {
        real x = numbers[0][j], y = numbers[1][j];
#ifdef MOMENTS
        y = max(fma(-x, x * share, y), (real)0);
        x = fma(x, share, numbers[2][j]);
#endif
        if (SHARE == 1) to[j] = x, to[other_sum + j] = y;
        else numbers[0][j] = x, numbers[1][j] = y;
    }
    if (SHARE == 1) return;
    __syncthreads();
    for (int j = threadIdx.x; j < SPAN; j += THREADS) {
        const real *means = &numbers[0][j * SHARE], *squares = &numbers[1][j * SHARE];
        real mean = 0, square = 0;
        for (int k = 0; k < SHARE; ++k) mean += means[k];
        mean /= SHARE;
        for (int k = 0; k < SHARE; ++k) square += fma(rows * (means[k] - mean), means[k] - mean, squares[k]);
        to[j] = mean, to[other_sum + j] = square;
    }
}

// The counters of CTAs that share statistics, for any launch of this module: two never run at the same time, since each takes most of the shared memory of nearly
// all SMs. The lower bits count the CTAs that have published their sums, and are 0 between launches; the last one changes the TURN.
#define TURN 0x80000000u
#define COUNTERS 1024   // a GPU has fewer SMs
__device__ u32 counters[COUNTERS];

DEVICE u32 turn_of(const u32* counter) {
    u32 seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    return seen & TURN;
}

// Publishes the CTA's sums, and waits until all parts have done so; `before` is the counter's TURN at the begin.
DEVICE void meet(const Args& a, u32* counter, bool is_first, u32 before) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const u32 own = is_first ? TURN - (u32)(a.parts - 1) : 1;
        asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(own) : "memory");
        while (turn_of(counter) == before) {}
    }
    __syncthreads();
}

DEVICE void piece(real (&x)[PIECE], const real* from) {
    if (PIECE == 4) *(float4*)x = __ldcg((const float4*)from);
    else x[0] = __ldcg(from);
}

// Adds the sums of all parts of the image in a fixed order, and stores the coefficients of the columns from `first` on in `numbers`.
DEVICE void join(const Args& a, real* room, real (*numbers)[WIDTH], i64 first, int image, bool is_first) {
    const int own = threadIdx.x % PIECES * PIECE, parts = (int)a.parts, row = threadIdx.x / row_width(PIECES);
    const i64 other_sum = a.part_rows * a.stats, start = first / SHARE;
    const real* from = a.partial + (i64)image * parts * a.stats + start;
    const int count = (int)min((i64)SPAN, a.stats - start);
    if (row < JOINED) {
        real sums[2][PIECE] = {};
        if (own < count) {
#ifdef MOMENTS
            __align__(16) real base[PIECE];
            piece(base, from + own);
#endif
            const int together = JOINED * (row_width(PIECES) / PIECES);
#pragma unroll 4
            for (int part = threadIdx.x / PIECES; part < parts; part += together) {
                __align__(16) real x[PIECE], y[PIECE];
                piece(x, from + own + part * a.stats);
                piece(y, from + own + part * a.stats + other_sum);
#ifdef MOMENTS
                // Mean and squared differences from it become sums of differences, and of their squares, from the mean of the first part.
                const real rows = rows_of(a, (index)part) * SHARE;
#pragma unroll
                for (int i = 0; i < PIECE; ++i) {
                    const real d = x[i] - base[i];
                    x[i] = rows * d;
                    y[i] = fma(x[i], d, y[i]);
                }
#endif
#pragma unroll
                for (int i = 0; i < PIECE; ++i) sums[0][i] += x[i], sums[1][i] += y[i];
            }
        }
#pragma unroll
        for (int s = 0; s < 2; ++s) {
#pragma unroll
            for (int step = 16; step >= PIECES && shuffles(PIECES); step /= 2) {
#pragma unroll
                for (int i = 0; i < PIECE; ++i) sums[s][i] += __shfl_xor_sync(~0u, sums[s][i], step);
            }
            if (threadIdx.x % row_width(PIECES) < PIECES) {
#pragma unroll
                for (int i = 0; i < PIECE; ++i) room[(s * JOINED + row) * SPAN + own + i] = sums[s][i];
            }
        }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < count; j += THREADS) {
        real s[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            s[k] = room[k * JOINED * SPAN + j];
#pragma unroll
            for (int w = 1; w < JOINED; ++w) s[k] += room[(k * JOINED + w) * SPAN + j];
        }
#ifdef MOMENTS
        const real share = (real)1 / (real)(a.rows * SHARE), apart = s[0] * share;
        s[0] = __ldcg(from + j) + apart;
        s[1] = max(fma(-apart, apart, s[1] * share), (real)0);
#endif
        if (SHARE > 1) room[j] = s[0], room[SPAN + j] = s[1];
        else settle(a, image, first + j, s, is_first, &numbers[0][j]);
    }
    __syncthreads();
    if (SHARE == 1) return;
    for (int j = threadIdx.x; j < WIDTH && first + j < a.columns; j += THREADS) {
        const real s[2] = {room[j / SHARE], room[SPAN + j / SHARE]};
        settle(a, image, first + j, s, is_first, &numbers[0][j]);
    }
    __syncthreads();
}

// The sums of one row's vector; `pivot` is not used without MOMENTS.
DEVICE void add_row(const Terms& terms, const Loaded& x, const real (&pivot)[VECTOR], real (&sums)[2][VECTOR]) {
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) {
#ifdef MOMENTS
        const real d = terms.term(x, v) - pivot[v];
        sums[0][v] += d;
        sums[1][v] = fma(d, d, sums[1][v]);
#else
        terms.add(x, v, sums[0][v], sums[1][v]);
#endif
    }
}

// The elements of the row in `slot` of the ring that thread threadIdx.x % LANES, of the CTA's first row, has copied there; all have waited for their copies.
DEVICE void pivots(const Terms& terms, const u8* slot, real (&pivot)[VECTOR]) {
#ifdef MOMENTS
    __syncthreads();
    Loaded x;
    x.load(slot, threadIdx.x % LANES);
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) pivot[v] = terms.term(x, v);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) columns_kept(const __grid_constant__ Args a) {
    begin();
    extern __shared__ __align__(16) u8 ring[];
    __shared__ __align__(16) real room[ROOM], numbers[NUMBERS][WIDTH];
    const int lane = threadIdx.x % LANES, image = blockIdx.y / (u32)a.parts, part = blockIdx.y % (u32)a.parts;
    const i64 first = (i64)blockIdx.x * WIDTH, c = first + lane * VECTOR, step = a.row_step, own_row = (i64)part * DOWN + threadIdx.x / LANES;
    const i64 begin = image * a.rows + own_row;
    const int turns = c < a.columns && own_row < a.rows ? (int)((a.rows - 1 - own_row) / step) + 1 : 0, ringed = min(turns, (int)a.ringed);
    const int once = (int)a.once, again = ringed - STAGES;
    u32* const counter = counters + image * gridDim.x + blockIdx.x;
    const u32 before = threadIdx.x == 0 ? turn_of(counter) : 0;
    const u64 stays = stays_policy(), goes = goes_policy();
    // Rows that stay in the ring for pass 2 need not stay in L2.
    auto policy = [&](int k) { return k < once || k >= again ? goes : stays; };
    Terms terms;
    Walk walk;
    if (c < a.columns) terms.begin(a, c);
    walk.begin(a, begin, c, step);
#pragma unroll 1
    for (int k = 0; k < AHEAD; ++k) {
        if (k < ringed) Loaded::fetch(walk, ring + k * SLOT, policy(k)), walk.next();
        commit_fetches();
    }
    real sums[2][VECTOR] = {}, pivot[VECTOR] = {};
    wait_fetches<AHEAD - 1>();
    pivots(terms, ring, pivot);
    __syncthreads();   // before the first slot is used again
    int slot = 0, to = AHEAD % STAGES, k = 0;
    auto add_next = [&](bool fetches) {
        wait_fetches<AHEAD - 1>();
        Loaded x;
        x.load(ring + slot * SLOT, threadIdx.x);
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        if (fetches) {
            Loaded::fetch(walk, ring + to * SLOT, policy(k + AHEAD));
            walk.next();
            to = to + 1 == STAGES ? 0 : to + 1;
        }
        commit_fetches();
        add_row(terms, x, pivot, sums);
    };
#pragma unroll 1
    for (; k < ringed - AHEAD; ++k) add_next(true);
#if KEPT
    Loaded kept[KEPT];
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        if (ringed + i < turns) kept[i].take(walk), walk.next();
    }
#endif
#pragma unroll 1
    for (; k < ringed; ++k) add_next(false);
#if KEPT
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        if (ringed + i < turns) add_row(terms, kept[i], pivot, sums);
    }
#endif
    publish(a, room, numbers, sums, pivot, first, image, part);
    meet(a, counter, part == 0, before);
    join(a, room, numbers, first, image, part == 0);
    Columns columns;
    columns.begin(&numbers[0][lane * VECTOR]);
#if KEPT
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        if (ringed + i < turns) columns.make(a, kept[i], begin + (ringed + i) * step, c);
    }
#endif
    walk.begin(a, begin + (again - 1) * step, c, step);
#pragma unroll 1
    for (k = ringed - 1; k >= 0; --k) {
        slot = slot == 0 ? STAGES - 1 : slot - 1;
        wait_fetches<STAGES - 1>();
        Loaded x;
        x.load(ring + slot * SLOT, threadIdx.x);
        if (k >= STAGES) Loaded::fetch(walk, ring + slot * SLOT, goes), walk.back();
        commit_fetches();
        columns.make(a, x, begin + k * step, c);
    }
}
