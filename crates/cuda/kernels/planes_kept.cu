// Batch normalisation of NCHW tensors, forward training and backward, in one launch: two sums per channel, then the elements that depend on them.
//
// A cluster of CLUSTER CTAs has one channel. Pass 1 adds the channel's vectors, the CTAs exchange their sums through distributed shared memory, and pass 2
// computes the elements in the reverse order. Each thread streams its own vectors through a ring of STAGES slots in shared memory (cp.async, no barriers):
// the vectors that pass 1 read last are still in the ring when pass 2 begins, and many of the others are in L2. BLOCKS CTAs share an SM.
//
// A plane has `plane.n` vectors of VECTOR elements; the vectors of a channel, image by image, are distributed round-robin over the threads of the cluster.
//
// The generated header has
//   struct Loaded    one vector of each tensor: `fetch` copies it to a ring slot, `load` reads it from there
//   struct Terms     `begin(a, c)` prepares channel c; `add(x, v, s0, s1)` adds the terms of element v to both sums; with MOMENTS `term(x, v)` is the number
//                    whose mean and variance are wanted
//   struct Channel   `begin(a, c, s, is_first)` derives the coefficients of pass 2 from the sums (or mean and variance), and stores statistics and parameter
//                    gradients if `is_first`; `make` writes a vector
#include "fetch.cuh"
#include "args.cuh"
#if CLUSTER > 1
#include "cluster.cuh"
#endif

#define WARPS (THREADS / 32)

// The sum over the CTA, returned to all threads. Each call needs a `room` of its own.
DEVICE real summed(real* room, real x) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    x = room[0];
#pragma unroll
    for (int w = 1; w < WARPS; ++w) x += room[w];
    return x;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) planes_kept(const __grid_constant__ Args a) {
    begin();
    extern __shared__ __align__(16) u8 ring[];
    __shared__ real room[3][WARPS], kept[3];
    const int rank = blockIdx.x % CLUSTER, c = blockIdx.x / CLUSTER, step = CLUSTER * THREADS, begin = rank * THREADS + threadIdx.x;
    const int vectors = (int)a.vectors, turns = begin < vectors ? (vectors - 1 - begin) / step + 1 : 0;
    const u64 stays = stays_policy(), goes = goes_policy();
    auto fetch_turn = [&](int k, int slot, u64 policy) {
        int image = begin + k * step;
        const int pixel = split(a.plane, image) * VECTOR;
        Loaded::fetch(a, image, c, pixel, ring + slot * SLOT, policy);
    };
    Terms terms;
    terms.begin(a, c);
#pragma unroll 1
    for (int k = 0; k < STAGES; ++k) {
        if (k < turns) fetch_turn(k, k, stays);
        commit_fetches();
    }
    int slot = 0;
    real sums[2][2] = {};
#ifdef MOMENTS
    real first = 0;
    wait_fetches<STAGES - 1>();
    if (turns > 0) {
        Loaded x;
        x.load(ring);
        first = terms.term(x, 0);
    }
#endif
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
        wait_fetches<STAGES - 1>();
        Loaded x;
        x.load(ring + slot * SLOT);
        if (k + STAGES < turns) fetch_turn(k + STAGES, slot, stays);
        commit_fetches();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) {
            real* s = sums[v % 2];
#ifdef MOMENTS
            const real d = terms.term(x, v) - first;
            s[0] += d;
            s[1] = fma(d, d, s[1]);
#else
            terms.add(x, v, s[0], s[1]);
#endif
        }
    }
    real s[2] = {sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]};
#ifdef MOMENTS
    // Mean and sum of squared differences: of the thread from sums of differences from its first term, then of the CTA, then of the cluster, merged as by
    // Chan, Golub and LeVeque (1983) so that large means do not cancel. `block` is the number of vectors of the CTA.
    const int block = max((vectors - rank * THREADS) / step * THREADS + min((vectors - rank * THREADS) % step, THREADS), 0);
    const real own = (real)(turns * VECTOR), share = turns > 0 ? (real)1 / own : (real)0, count = (real)block * VECTOR;
    s[1] = max(fma(-s[0], s[0] * share, s[1]), (real)0);
    first = fma(s[0], share, first);
    s[0] = summed(room[0], own * first) / max(count, (real)1);
    const real apart = first - s[0];
    s[1] = summed(room[1], fma(own * apart, apart, s[1]));
#if CLUSTER > 1
    if (threadIdx.x == 0) kept[0] = s[0], kept[1] = s[1], kept[2] = count;
    meet_cluster();
    const real all = (real)1 / ((real)vectors * VECTOR), from = there(kept[0], 0);
    real far = 0, square = 0;
#pragma unroll
    for (int b = 0; b < CLUSTER; ++b) {
        const real d = there(kept[0], b) - from, n = there(kept[2], b);
        far = fma(n, d, far);
        square += fma(n * d, d, there(kept[1], b));
    }
    far *= all;
    s[0] = from + far;
    s[1] = max(fma(-far, far, square * all), (real)0);
#else
    s[1] /= count;
#endif
#else
    s[0] = summed(room[0], s[0]);
    s[1] = summed(room[1], s[1]);
#if CLUSTER > 1
    if (threadIdx.x == 0) kept[0] = s[0], kept[1] = s[1];
    meet_cluster();
    s[0] = there(kept[0], 0), s[1] = there(kept[1], 0);
#pragma unroll
    for (int b = 1; b < CLUSTER; ++b) s[0] += there(kept[0], b), s[1] += there(kept[1], b);
#endif
#endif
    Channel channel;
    channel.begin(a, c, s, rank == 0 && threadIdx.x == 0);
#pragma unroll 1
    for (int k = turns - 1; k >= 0; --k) {
        slot = slot == 0 ? STAGES - 1 : slot - 1;
        wait_fetches<STAGES - 1>();
        Loaded x;
        x.load(ring + slot * SLOT);
        if (k >= STAGES) fetch_turn(k - STAGES, slot, goes);
        commit_fetches();
        int image = begin + k * step;
        const int pixel = split(a.plane, image) * VECTOR;
        channel.make(a, x, image, c, pixel);
    }
#if CLUSTER > 1
    // A CTA must not exit while others read its shared memory.
    meet_cluster();
#endif
}
