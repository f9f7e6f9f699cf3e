// Building blocks of the warp-specialised Hopper kernels (gemm_sm90.cu, conv_sm90.cu and relatives): the shared-memory pipeline, the wgmma main
// loop, the reduction over a split-K cluster, the epilogue and the stores of one tile of C.
//
// A CTA has a producer warpgroup, one thread of which loads, and CONSUMERS consumer warpgroups. They communicate through a ring of STAGES stages;
// a stage holds 128 bytes of K of TILE_M rows of A and TILE_N rows of B. A consumer computes TILE_M / CONSUMERS rows of a tile (cooperative
// schedule), or with ALTERNATE whole tiles, in turns with the other consumer (ping-pong schedule).
//
// Accumulators: acc[i] is the wgmma fragment of 64 rows by TILE_N columns (layout in wgmma.cuh); a consumer has kBlocksM of them.
//
// Defines, all set by the host:
//   A_TYPE, B_TYPE, C_TYPE     type codes of types.cuh
//   A_MN, B_MN                 1: the operand is contiguous along M or N (MN-major) instead of K. wgmma reads that for 16-bit types only. TF32: an
//                              MN-major A is passed in registers; with an MN-major B the main loop uses mma.sync.
//   TILE_M, TILE_N             TILE_M: 64 or 128 times CONSUMERS (64 or 128 with ALTERNATE); TILE_N: a width of Wgmma in wgmma.cuh
//   CONSUMERS, STAGES
//   ALTERNATE                  1: ping-pong schedule of two consumers
//   CLUSTER_M, CLUSTER_N       CTAs of a cluster along M and N; multicast shares B among those with the same n and A among those with the same m
//   SPLIT                      CTAs of a cluster that divide K of one tile (split-K); partial sums are added in the order of ranks
//   STORE                      STORE_TMA; STORE_TMA_TRANSPOSED: C is contiguous along M (16 and 32 bits); STORE_ROWS: each row of C has its own
//                              address, a multiple of 16 bytes; STORE_PLANES: C is contiguous along M within an image (NCHW, 16-bit types);
//                              STORE_LINES: rows begin anywhere; STORE_DIRECT: any strides, element by element
//   LINE_UNIT                  STORE_LINES: elements of a row that a thread stores at a time; rows are aligned to them
//   REALIGN                    1: lines of an MN-major B (16 bits) begin anywhere; warps align them in shared memory (realign.cuh)
//   PLANE_UNIT                 STORE_PLANES: 0 for TMA, or the rows of C that a thread stores at a time; they lie in one image and are aligned together
//   C_SWAPPED                  1: the host swapped A and B, so row and column are exchanged for the epilogue (direct stores)
//   PROMOTE                    0, or the number of stages after which wgmma's sums are added to f32 registers. FP8 wgmma accumulates with some 14
//                              bits of mantissa (DeepSeek-V3 technical report, arXiv:2412.19437, section 3.3.2).
//   PACKED_A                   1: a stage of A is 64 rows of K of TILE_M 4-bit weights and one row of their scales (gemm_w4_sm90.cu)
//   OPERANDS_APART             1: the kernel lays out A and B in shared memory itself, and stages have no bytes here (conv_window_sm90.cu)
#pragma once
#include "wgmma.cuh"
#include "mma_tf32.cuh"
#include "epilogue.cuh"

#define STORE_DIRECT 0
#define STORE_TMA 1
#define STORE_TMA_TRANSPOSED 2
#define STORE_ROWS 3
#define STORE_PLANES 4
#define STORE_LINES 5

// MN-major TF32: wgmma cannot read it from shared memory. A may come from registers, B may not.
#define A_LOADED (A_TYPE == T_TF32 && A_MN && !B_MN)
#define MMA_SYNC (A_TYPE == T_TF32 && B_MN)

#ifndef ALTERNATE
#define ALTERNATE 0
#endif
#ifndef PACKED_A
#define PACKED_A 0
#endif
#ifndef OPERANDS_APART
#define OPERANDS_APART 0
#endif
#ifndef PROMOTE
#define PROMOTE 0
#endif
#ifndef PLANE_UNIT
#define PLANE_UNIT 0
#endif
#ifndef LINE_UNIT
#define LINE_UNIT 1
#endif
#ifndef REALIGN
#define REALIGN 0
#endif
#ifndef C_SWAPPED
#define C_SWAPPED 0
#endif

using A = Element<A_TYPE>;
using B = Element<B_TYPE>;
using C = Element<C_TYPE>;

enum : int {
    kTileK = 128 / int(sizeof(A::Raw)),
    kRun = kTileK,                          // elements along M or N in 128 bytes of an MN-major operand
    kStepsK = 4,                            // wgmma instructions along K in a stage, 32 bytes each
    kSharers = ALTERNATE ? 1 : CONSUMERS,   // consumers of one tile
    kTurns = CONSUMERS / kSharers,          // tiles in progress at the same time
    kBlocksM = TILE_M / (64 * kSharers),    // 64-row blocks of one consumer
    kBytesA = PACKED_A ? TILE_M * 32 : TILE_M * 128, kBytesB = TILE_N * 128,
    kLine = (TILE_N + 8) * 2,   // bytes of a line of B as TMA loads it for REALIGN, from an aligned address on
    kBytesLines = REALIGN ? kTileK * kLine : 0, kAligners = REALIGN ? 3 : 0,   // warps
    kBytesStage = OPERANDS_APART ? 0 : kBytesA + kBytesB + kBytesLines,
    kCluster = CLUSTER_M * CLUSTER_N,
    kThreads = 128 * (1 + CONSUMERS),
    kColumns = SPLIT == 1 ? TILE_N : (TILE_N / SPLIT < 8 ? 8 : TILE_N / SPLIT),   // columns that a CTA stores
    kBytesSums = TILE_M * kColumns * 4,                                           // partial sums that one CTA sends to another
};
enum : bool { kTurned = STORE == STORE_TMA_TRANSPOSED || STORE == STORE_PLANES };   // C is contiguous along M
// A chunk stages 64 x 128 bytes of C for the store; each consumer has two. Narrow tiles, which are transposed, take one chunk of TILE_N lines of 128 bytes; transposed
// ones whose columns are no multiple of 64 store chunks of 32 lines.
enum : int { kChunkBytes = TILE_N < 64 ? TILE_N * 128 : 8192, kOwnChunks = TILE_N < 64 ? 1 : 2 };

static_assert(kBlocksM * 64 * kSharers == TILE_M, "a tile is made of blocks of 64 rows");
static_assert(!ALTERNATE || (CONSUMERS == 2 && SPLIT == 1 && !PROMOTE && !MMA_SYNC && !PACKED_A), "two consumers take turns at whole tiles by wgmma");
static_assert(STORE != STORE_TMA || kColumns * int(sizeof(C::Raw)) % 128 == 0, "TMA stores rows of 128 bytes of the columns that are the block's own");
static_assert(SPLIT == 1 || kCluster == 1, "a cluster divides K or shares loads");
static_assert(!REALIGN || sizeof(A::Raw) == 2 && B_MN && kCluster == 1, "each CTA aligns lines of 16-bit elements");
static_assert(SPLIT == 1 || SPLIT * kBytesSums <= STAGES * kBytesStage, "partial sums must fit where the stages were");

// Shared memory, from a 1,024-byte boundary: the stages, the chunks of C, the scales of PACKED_A, the mbarriers.
enum : int {
    kChunks = STORE == STORE_DIRECT ? 0 : CONSUMERS * kOwnChunks * kChunkBytes,
    kBytesScales = PACKED_A ? TILE_M * 2 : 0,   // per stage
    kBarriers = STAGES * (kBytesStage + kBytesScales) + kChunks,
};

struct Shared {
    u32 base;

    __device__ __forceinline__ u32 a(int stage) const { return base + stage * kBytesStage; }
    __device__ __forceinline__ u32 b(int stage) const { return base + stage * kBytesStage + kBytesA; }
    __device__ __forceinline__ u32 chunk(int consumer, int i) const { return base + STAGES * kBytesStage + (consumer * kOwnChunks + i) * kChunkBytes; }
    __device__ __forceinline__ u32 scales(int stage) const { return base + STAGES * kBytesStage + kChunks + stage * kBytesScales; }
    __device__ __forceinline__ u32 full(int stage) const { return base + kBarriers + stage * 8; }
    __device__ __forceinline__ u32 empty(int stage) const { return base + kBarriers + (STAGES + stage) * 8; }
    __device__ __forceinline__ u32 sums() const { return base + kBarriers + 2 * STAGES * 8; }
    // REALIGN: lines of B as they were loaded, and the mbarriers that complete when they are there.
    __device__ __forceinline__ u32 lines(int stage) const { return b(stage) + kBytesB; }
    __device__ __forceinline__ u32 lines_full(int stage) const { return sums() + 8 + stage * 8; }
};

// A position in the ring and the parity of its mbarrier phase.
struct Ring {
    int stage = 0;
    u32 phase = 0;

    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
    // Skips the `count` stages of another consumer's tile.
    __device__ __forceinline__ void skip(int count) {
        stage += count;
        phase ^= stage / STAGES & 1;
        stage %= STAGES;
    }
};

__device__ __forceinline__ Shared shared_layout() {
    extern __shared__ u8 shared_memory[];
    return Shared{(shared_address(shared_memory) + 1023) & ~1023u};
}

// Prologue of a CTA: initialises the mbarriers, makes them visible to the cluster, and waits for the preceding kernel (programmatic dependent launch).
__device__ __forceinline__ void start_block(const Shared &s) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(s.full(i), 1 + kAligners);
            barrier_init(s.empty(i), kSharers * kCluster);
            if (REALIGN) barrier_init(s.lines_full(i), 1);
        }
        if constexpr (SPLIT > 1) {
            barrier_init(s.sums(), 1);
            barrier_expect(s.sums(), (SPLIT - 1) * kBytesSums);
        }
        barrier_init_fence();
    }
    if constexpr (kCluster > 1 || SPLIT > 1) {
        cluster_meet();
    } else {
        __syncthreads();
    }
    begin();
}

// ---- tile scheduler ----------------------------------------------------------------------------------------------------------------------

struct Tile {
    int batch, m, n;   // m and n in elements
};

// Rasterisation order of the tiles, in units of clusters: groups of `group` rows of tiles, column by column within a group. CTAs that run at the same
// time then read few distinct rows of A and columns of B, which hit in L2.
struct Schedule {
    int tiles_m, tiles_n, batch, group;

    __device__ __forceinline__ int count() const { return tiles_m * tiles_n * batch; }
    __device__ __forceinline__ Tile at(int t) const {
        int per_batch = tiles_m * tiles_n, batch = t / per_batch;
        t -= batch * per_batch;
        int per_group = group * tiles_n, first = t / per_group * group;
        t -= first * tiles_n;
        int rows = min(group, tiles_m - first), column = t / rows, row = first + (t - column * rows);
        u32 rank = kCluster > 1 ? cluster_rank() : 0;
        return Tile{batch, (row * CLUSTER_M + int(rank % CLUSTER_M)) * TILE_M, (column * CLUSTER_N + int(rank / CLUSTER_M)) * TILE_N};
    }
};

// ---- producer ----------------------------------------------------------------------------------------------------------------------------

// Loads ROWS rows of an operand into a stage. SHARERS CTAs of the cluster need the same rows: each loads its share and multicasts it to the CTAs in `mask`.
template <bool MN, int ROWS, int SHARERS>
__device__ __forceinline__ void load_rows(u32 to, const TensorMap &map, u32 barrier, int share, u16 mask, int k, int row, int batch) {
    if constexpr (!MN) {
        constexpr int kPart = ROWS / SHARERS;
        if constexpr (SHARERS == 1) {
            tma_load(to, map, barrier, k, row, batch);
        } else {
            tma_load_multicast(to + share * kPart * 128, map, barrier, mask, k, row + share * kPart, batch);
        }
    } else {
        constexpr int kPart = ROWS / kRun / SHARERS;
#pragma unroll
        for (int i = 0; i < kPart; i++) {
            int block = share * kPart + i;
            if constexpr (SHARERS == 1) {
                tma_load(to + block * (kTileK * 128), map, barrier, row + block * kRun, k, batch);
            } else {
                tma_load_multicast(to + block * (kTileK * 128), map, barrier, mask, row + block * kRun, k, batch);
            }
        }
    }
}

template <bool MN> __device__ __forceinline__ void load_a(const Shared &s, const Ring &ring, const TensorMap &map, int k, int m, int batch) {
    u32 rank = CLUSTER_N > 1 ? cluster_rank() : 0;
    u16 mask = 0;
    for (int i = 0; i < CLUSTER_N; i++) mask |= 1 << (rank % CLUSTER_M + i * CLUSTER_M);
    load_rows<MN, TILE_M, CLUSTER_N>(s.a(ring.stage), map, s.full(ring.stage), rank / CLUSTER_M, mask, k, m, batch);
}

template <bool MN> __device__ __forceinline__ void load_b(const Shared &s, const Ring &ring, const TensorMap &map, int k, int n, int batch) {
    u32 rank = CLUSTER_M > 1 ? cluster_rank() : 0;
    u16 mask = u16(((1 << CLUSTER_M) - 1) << (rank / CLUSTER_M * CLUSTER_M));
    load_rows<MN, TILE_N, CLUSTER_M>(s.b(ring.stage), map, s.full(ring.stage), rank % CLUSTER_M, mask, k, n, batch);
}

// Waits until the stage is empty in every CTA that receives these loads, and tells its full barrier how many bytes to expect.
__device__ __forceinline__ void claim_stage(const Shared &s, const Ring &ring) {
    barrier_wait(s.empty(ring.stage), ring.phase ^ 1);
    barrier_expect(s.full(ring.stage), REALIGN ? kBytesA : kBytesStage + kBytesScales);
}

// ---- consumers: main loop ----------------------------------------------------------------------------------------------------------------

// Which part of the tile's rows a consumer has.
__device__ __forceinline__ int share_of(int consumer) { return ALTERNATE ? 0 : consumer; }

// Ping-pong: the main loops of the two consumers are ordered by named barriers. An mbarrier wait tells only the current phase from the one before
// (parity), so a consumer must not wait for its stages until the other has seen all of its own.
__device__ __forceinline__ void take_turn(int consumer) { named_barrier(4 + consumer, 256); }
__device__ __forceinline__ void give_turn(int consumer) { named_barrier_arrive(5 - consumer, 256); }

// The consumer has read the stage: arrives at its empty barrier in every CTA of the cluster.
__device__ __forceinline__ void release_stage(const Shared &s, int stage) {
    u32 thread = threadIdx.x % 128;
    if constexpr (kCluster == 1) {
        if (thread == 0) barrier_arrive(s.empty(stage));
    } else {
        if (thread < kCluster) barrier_arrive_at(s.empty(stage), thread);
    }
}

// After issuing the wgmma of a stage: the previous stage's have completed, so that stage is released. `before` is 0 for the first stage.
__device__ __forceinline__ void free_before(const Shared &s, Ring &ring, int &previous, int before) {
    if (before) {
        wgmma_wait<1>();   // all but the group just committed
        release_stage(s, previous);
    }
    previous = ring.stage;
    ring.next();
}

#if MMA_SYNC
// Adds one stage to `acc` by mma.sync. Each warp computes the rows that wgmma would give it, so the accumulators have the same layout.
__device__ __forceinline__ void add_stage(const Shared &s, int stage, int consumer, Acc (&acc)[kBlocksM][TILE_N / 2]) {
    constexpr int kLines = TILE_N < 16 ? TILE_N : 16;
    int row = consumer * kBlocksM * 64 + int(threadIdx.x) % 128 / 32 * 16;
#pragma unroll
    for (int k = 0; k < kStepsK; k++) {
        u32 a[kBlocksM][4];
#pragma unroll
        for (int i = 0; i < kBlocksM; i++) load_lines<A_MN, 16>(a[i], s.a(stage), row + i * 64, k);
#pragma unroll
        for (int n = 0; n < TILE_N; n += kLines) {
            u32 b[4];
            load_lines<B_MN, kLines>(b, s.b(stage), n, k);
#pragma unroll
            for (int h = 0; h < kLines / 8; h++) {
#pragma unroll
                for (int i = 0; i < kBlocksM; i++) mma_tf32(reinterpret_cast<float (&)[4]>(acc[i][n / 2 + h * 4]), a[i], b[h], b[h + 2]);
            }
        }
    }
}
#else
// Issues the wgmma of one stage; `add` 0 overwrites `acc`.
__device__ __forceinline__ void multiply_stage(const Shared &s, int stage, int consumer, Acc (&acc)[kBlocksM][TILE_N / 2], u32 add) {
    constexpr u32 kStepA = A_MN ? 2048 : 32, kStepB = B_MN ? 2048 : 32;       // 32 bytes of K
    constexpr u32 kBlockA = 8192;                                             // 64 rows
    u32 at = s.a(stage) + share_of(consumer) * kBlocksM * kBlockA;
    u64 a = A_MN ? descriptor_mn_major(at, 8192) : descriptor_k_major(at);
    u64 b = B_MN ? descriptor_mn_major(s.b(stage), 8192) : descriptor_k_major(s.b(stage));
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < kStepsK; k++) {
#pragma unroll
        for (int i = 0; i < kBlocksM; i++) {
            Wgmma<TILE_N, A_MN, B_MN>::multiply(acc[i], a + ((k * kStepA + i * kBlockA) >> 4), b + (k * kStepB >> 4), k ? 1 : add);
        }
    }
    wgmma_commit();
}
#endif

#if A_LOADED
// MN-major TF32 A: loads the consumer's rows of a stage into registers, from which wgmma reads them.
typedef u32 LoadedA[kStepsK][kBlocksM][4];

__device__ __forceinline__ void load_stage(LoadedA &a, const Shared &s, int stage, int consumer) {
    int row = share_of(consumer) * kBlocksM * 64 + int(threadIdx.x) % 128 / 32 * 16;
    bool odd = threadIdx.x & 1;
#pragma unroll
    for (int k = 0; k < kStepsK; k++) {
#pragma unroll
        for (int i = 0; i < kBlocksM; i++) {
            u32 r[4];
            load_lines<true, 16>(r, s.a(stage), row + i * 64, k);
            // load_lines exchanges k and k + 4 in odd lanes; B is read from shared memory in plain order, so undo that.
#pragma unroll
            for (int j = 0; j < 4; j++) a[k][i][j] = odd ? r[j ^ 2] : r[j];
        }
    }
}
__device__ __forceinline__ void multiply_loaded(const LoadedA &a, const Shared &s, int stage, Acc (&acc)[kBlocksM][TILE_N / 2], u32 add) {
    u64 b = descriptor_k_major(s.b(stage));
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < kStepsK; k++) {
#pragma unroll
        for (int i = 0; i < kBlocksM; i++) WgmmaRegisters<TILE_N, 0>::multiply(acc[i], a[k][i], b + (k * 32 >> 4), k ? 1 : add);
    }
    wgmma_commit();
}
#endif

// The main loop: accumulates `stages` stages (one or more). In the ping-pong schedule the other consumer starts its main loop once all wgmma are
// issued, if there is `more` to do.
__device__ __forceinline__ void accumulate(const Shared &s, Ring &ring, int consumer, int stages, Acc (&acc)[kBlocksM][TILE_N / 2], bool more = false) {
#if PROMOTE
    Acc part[kBlocksM][TILE_N / 2];
#pragma unroll
    for (int i = 0; i < kBlocksM * TILE_N / 2; i++) acc[i / (TILE_N / 2)][i % (TILE_N / 2)] = 0;
    int previous = 0;
    for (int done = 0; done < stages; done += PROMOTE) {
        for (int k = 0; k < min(PROMOTE, stages - done); k++) {
            barrier_wait(s.full(ring.stage), ring.phase);
            multiply_stage(s, ring.stage, consumer, part, k);
            free_before(s, ring, previous, k);
        }
        wgmma_wait<0>();
        release_stage(s, previous);
#pragma unroll
        for (int i = 0; i < kBlocksM; i++) {
            wgmma_pin(part[i]);
#pragma unroll
            for (int j = 0; j < TILE_N / 2; j++) acc[i][j] += part[i][j];
        }
    }
#elif MMA_SYNC
#pragma unroll
    for (int i = 0; i < kBlocksM * TILE_N / 2; i++) acc[i / (TILE_N / 2)][i % (TILE_N / 2)] = 0;
    for (int k = 0; k < stages; k++) {
        barrier_wait(s.full(ring.stage), ring.phase);
        add_stage(s, ring.stage, consumer, acc);
        named_barrier(1 + consumer, 128);   // all warps of the consumer have read the stage
        release_stage(s, ring.stage);
        ring.next();
    }
#else
    int previous = 0;
#if A_LOADED
    LoadedA a[2];   // double buffer: one is loaded while wgmma reads the other
    for (int done = 0; done < stages; done += 2) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            if (done + h == stages) break;
            barrier_wait(s.full(ring.stage), ring.phase);
            load_stage(a[h], s, ring.stage, consumer);
            multiply_loaded(a[h], s, ring.stage, acc, done + h);
            free_before(s, ring, previous, done + h);
        }
    }
#else
    for (int k = 0; k < stages; k++) {
        barrier_wait(s.full(ring.stage), ring.phase);
        multiply_stage(s, ring.stage, consumer, acc, k);
        free_before(s, ring, previous, k);
    }
#endif
    if (ALTERNATE && more) give_turn(consumer);
    wgmma_wait<0>();
    release_stage(s, previous);
#pragma unroll
    for (int i = 0; i < kBlocksM; i++) wgmma_pin(acc[i]);
#endif
}

// Split-K over a cluster: SPLIT CTAs hold partial sums of the whole tile. Each CTA owns kColumns columns; it sends the sums of the others' columns to
// their shared memory (st.async, into the idle stages) and adds what it receives for its own, in the order of ranks. Sums are laid out as threads
// hold them: 16 bytes per thread, 128 threads, then the next four accumulators.
__device__ __forceinline__ void add_partial_sums(const Shared &s, int consumer, Acc (&acc)[kBlocksM][TILE_N / 2], Acc (&sum)[kBlocksM][kColumns / 2]) {
    constexpr int kOwn = kColumns / 2;
    u32 rank = cluster_rank(), at = s.base + consumer * kBlocksM * kOwn * 512 + threadIdx.x % 128 * 16;
    cluster_meet();   // no CTA of the cluster reads its stages any more
#pragma unroll
    for (int r = 0; r < SPLIT && r * kColumns < TILE_N; r++) {
        if (r == rank) continue;
        u32 to = cluster_address(at + rank * kBytesSums, r), barrier = cluster_address(s.sums(), r);
#pragma unroll
        for (int j = 0; j < kBlocksM * kOwn; j += 4) {
            u32 *v = reinterpret_cast<u32 *>(&acc[j / kOwn][r * kOwn + j % kOwn]);
            cluster_send4(to + j * 512, barrier, v[0], v[1], v[2], v[3]);
        }
    }
    if (rank * kColumns >= TILE_N) return;
    barrier_wait(s.sums(), 0);
#pragma unroll
    for (int j = 0; j < kBlocksM * kOwn; j++) sum[j / kOwn][j % kOwn] = 0;
#pragma unroll
    for (int r = 0; r < SPLIT; r++) {
        if (r == rank) {
#pragma unroll
            for (int j = 0; j < kBlocksM * kOwn; j++) sum[j / kOwn][j % kOwn] += acc[j / kOwn][min(r * kOwn + j % kOwn, TILE_N / 2 - 1)];
        } else {
#pragma unroll
            for (int j = 0; j < kBlocksM * kOwn; j += 4) {
                uint4 v = shared_load16(at + r * kBytesSums + j * 512);
                u32 part[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (int e = 0; e < 4; e++) sum[j / kOwn][j % kOwn + e] += *reinterpret_cast<Acc *>(&part[e]);
            }
        }
    }
}

// ---- consumers: epilogue and stores ------------------------------------------------------------------------------------------------------

// C in global memory, for stores by threads; strides in elements.
struct Destination {
    C::Raw *data;
    i64 row, column, batch;
};

// The extent of C (m, n), and the first row and column of a block of 64 rows.
struct Block {
    int m, n, batch, row, column;
};

// A bias that depends on the column only is held in the lanes of a warp and distributed by shuffles.
#if defined(COLUMN_BIAS) && STORE != STORE_DIRECT && STORE != STORE_TMA_TRANSPOSED
#define BIAS_IN_LANES 1
#else
#define BIAS_IN_LANES 0
#endif

// The epilogue of COLUMNS columns. With BIAS_IN_LANES lane l holds the bias of columns 2l and 2l + 1 of every 64, loaded before the main loop.
template <int COLUMNS> struct Finish {
    const Epilogue &e;
#if BIAS_IN_LANES
    float2 bias[(COLUMNS + 63) / 64];
#endif

    __device__ __forceinline__ Finish(const Epilogue &e, const Block &b) : e(e) {
#if BIAS_IN_LANES
#pragma unroll
        for (int i = 0; i < (COLUMNS + 63) / 64; i++) {
            int column = b.column + i * 64 + threadIdx.x % 32 * 2;
            bias[i].x = column_bias(e, b.batch, min(column, b.n - 1)), bias[i].y = column_bias(e, b.batch, min(column + 1, b.n - 1));
        }
#endif
    }
    // The bias of the two accumulator columns that this thread has among the 8 columns from `first` on.
    __device__ __forceinline__ float2 bias_of(int first) const {
#if BIAS_IN_LANES
        float2 v = bias[first / 64];
        int lane = first % 64 / 2 + threadIdx.x % 4;
        return make_float2(__shfl_sync(~0u, v.x, lane), __shfl_sync(~0u, v.y, lane));
#else
        return float2{};
#endif
    }
};

// The epilogue of one element. Rows and columns beyond C are clamped: their values are computed but not stored.
__device__ __forceinline__ float finish(Acc sum, float bias, const Epilogue &e, const Block &b, int row, int column) {
    row = min(row, b.m - 1), column = min(column, b.n - 1);
#if BIAS_IN_LANES
    return epilogue(float(sum), bias, e, b.batch, row, column);
#endif
    return STORE == STORE_TMA_TRANSPOSED || C_SWAPPED ? epilogue(float(sum), e, b.batch, column, row) : epilogue(float(sum), e, b.batch, row, column);
}

// Converts to C's type. Integer sums without an epilogue are stored without going through f32.
__device__ __forceinline__ C::Raw convert(Acc sum, float bias, const Epilogue &e, const Block &b, int row, int column) {
#if C_TYPE == T_S32 && (A_TYPE == T_S8 || A_TYPE == T_U8) && !defined(HAS_EPILOGUE)
    return sum;
#else
    return C::store(finish(sum, bias, e, b, row, column));
#endif
}

template <int COLUMNS>
__device__ __forceinline__ void store_direct(const Destination &c, const Acc (&acc)[COLUMNS / 2], const Epilogue &e, const Block &b) {
    int lane = threadIdx.x % 32, row = b.row + threadIdx.x % 128 / 32 * 16 + lane / 4, column = b.column + lane % 4 * 2;
    C::Raw *base = c.data + b.batch * c.batch;
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; j++) {
        int y = row + (j & 2) * 4, x = column + j / 4 * 8 + (j & 1);
        if (y < b.m && x < b.n) base[y * c.row + x * c.column] = convert(acc[j], 0, e, b, y, x);
    }
}

// Writes WIDTH columns from FIRST on into a chunk, in TMA's 128-byte swizzle: 64 rows of 128 bytes, or transposed (kTurned) lines of 128 bytes of M.
template <int FIRST, int WIDTH, int COLUMNS>
__device__ __forceinline__ void write_chunk(u32 chunk, const Acc (&acc)[COLUMNS / 2], const Finish<COLUMNS> &f, const Block &b) {
    int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, g = lane / 4, q = lane % 4;
    int row = warp * 16 + g, y = b.row + row, x = b.column + FIRST + q * 2;
    if constexpr (sizeof(C::Raw) == 2) {
        // stmatrix.x4: lane l has the address of row l % 8 of matrix l / 8. Matrices: rows 0-7 and 8-15 of 8 columns, then of the next 8.
        int line = kTurned ? (lane >> 4) * 8 + lane % 8 : warp * 16 + (lane >> 3 & 1) * 8 + lane % 8;
        u32 unit = kTurned ? u32(warp * 2 + (lane >> 3 & 1)) ^ (lane % 8) : u32(lane >> 4) ^ (lane % 8);
        u32 at = chunk + line * 128;
#pragma unroll
        for (int j = 0; j < WIDTH / 8; j += 2) {
            u32 v[4];
            float2 bias[2] = {f.bias_of(FIRST + j * 8), f.bias_of(FIRST + j * 8 + 8)};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                constexpr int kLast = COLUMNS / 2 - 1;
                int at = FIRST / 2 + j * 4 + i * 2, r = y + (i & 1) * 8, c = x + (j + i / 2) * 8;
                v[i] = pack2<C_TYPE>(finish(acc[min(at, kLast - 1)], bias[i / 2].x, f.e, b, r, c), finish(acc[min(at + 1, kLast)], bias[i / 2].y, f.e, b, r, c + 1));
            }
            if constexpr (kTurned) {
                matrix_store4_transposed(at + j * 1024 + unit * 16, v[0], v[1], v[2], v[3]);
            } else {
                matrix_store4(at + ((unit ^ j) * 16), v[0], v[1], v[2], v[3]);
            }
        }
    } else {
#pragma unroll
        for (int j = 0; j < WIDTH / 8; j++) {
            float2 bias = f.bias_of(FIRST + j * 8);
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int i = FIRST / 2 + j * 4 + h * 2, r = y + h * 8, c = x + j * 8;
                C::Raw low = convert(acc[i], bias.x, f.e, b, r, c), high = convert(acc[i + 1], bias.y, f.e, b, r, c + 1);
                if constexpr (kTurned) {
                    // A line is 128 bytes of M of one column; the 64 rows are two blocks of 32.
                    int line = j * 8 + q * 2, place = row + h * 8, unit = place % 32 / 4;
                    u32 at = chunk + place / 32 * 4096 + line * 128 + place % 4 * 4;
                    shared_store(at + (unit ^ line % 8) * 16, *reinterpret_cast<u32 *>(&low));
                    shared_store(at + 128 + (unit ^ (line + 1) % 8) * 16, *reinterpret_cast<u32 *>(&high));
                    continue;
                }
                u32 byte = (j * 8 + q * 2) * sizeof(C::Raw);
                u32 at = chunk + (row + h * 8) * 128 + (byte ^ g * 16);
                if constexpr (sizeof(C::Raw) == 4) {
                    shared_store(at, *reinterpret_cast<u32 *>(&low), *reinterpret_cast<u32 *>(&high));
                } else {
                    shared_store16(at, u16(u8(low)) | u16(u8(high)) << 8);
                }
            }
        }
    }
}

// How a chunk of a plain matrix is stored by TMA. Kernels with another layout of C have their own Place.
struct MatrixPlace {
    __device__ __forceinline__ void store(const TensorMap &map, u32 chunk, const Block &b, int column) const {
        if constexpr (STORE == STORE_TMA_TRANSPOSED) {
            constexpr int kRows = 128 / int(sizeof(C::Raw));
#pragma unroll
            for (int i = 0; i < 64 / kRows; i++) tma_store(map, chunk + i * 4096, b.row + i * kRows, column, b.batch);
        } else {
            tma_store(map, chunk, column, b.row, b.batch);
        }
    }
    __device__ __forceinline__ i64 offset(int row) const { return 0; }
};

// Stores COLUMNS columns of 64 rows by TMA through the consumer's chunks: with two, one is written while TMA still reads the other.
template <int COLUMNS, int FIRST = 0, class Place>
__device__ __forceinline__ void store_tma(const Shared &s, const TensorMap &map, const Place &place, int consumer, const Acc (&acc)[COLUMNS / 2],
                                          const Finish<COLUMNS> &f, const Block &b, int &turn) {
    constexpr int kUnit = kTurned && COLUMNS % 64 ? 32 : 128 / int(sizeof(C::Raw));
    constexpr int kWidth = COLUMNS < kUnit ? COLUMNS : kUnit;
    if constexpr (FIRST < COLUMNS) {
        bool leader = threadIdx.x % 128 == 0;
        u32 chunk = s.chunk(consumer, turn);
        turn ^= kOwnChunks - 1;
        if (leader) tma_store_wait<kOwnChunks - 1>();
        named_barrier(1 + consumer, 128);
        write_chunk<FIRST, kWidth, COLUMNS>(chunk, acc, f, b);
        fence_async_proxy();
        named_barrier(1 + consumer, 128);
        if (leader) {
            place.store(map, chunk, b, b.column + FIRST);
            tma_store_commit();
        }
        store_tma<COLUMNS, FIRST + kUnit>(s, map, place, consumer, acc, f, b, turn);
    }
}

// STORE_ROWS: threads copy the rows from the chunk to their addresses, 16 bytes at a time; eight threads per row, four rows per thread.
template <int COLUMNS, int FIRST = 0>
__device__ __forceinline__ void store_scattered(const Shared &s, C::Raw *data, const i64 (&offsets)[4], int consumer, const Acc (&acc)[COLUMNS / 2],
                                                const Finish<COLUMNS> &f, const Block &b, int &turn) {
    constexpr int kUnit = 128 / int(sizeof(C::Raw)), kPiece = 16 / int(sizeof(C::Raw));
    if constexpr (FIRST < COLUMNS) {
        u32 chunk = s.chunk(consumer, turn);
        turn ^= 1;
        write_chunk<FIRST, COLUMNS - FIRST < kUnit ? COLUMNS - FIRST : kUnit, COLUMNS>(chunk, acc, f, b);
        // One barrier is enough for two chunks: behind it all have written this one, and have read the other, which is written next.
        named_barrier(1 + consumer, 128);
        int thread = threadIdx.x % 128, unit = thread % 8, column = b.column + FIRST + unit * kPiece;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = thread / 8 + i * 16;
            if (b.row + row < b.m && column < b.n && FIRST + unit * kPiece < COLUMNS) {
                *reinterpret_cast<uint4 *>(data + offsets[i] + column) = shared_load16(chunk + row * 128 + ((unit ^ row % 8) * 16));
            }
        }
        store_scattered<COLUMNS, FIRST + kUnit>(s, data, offsets, consumer, acc, f, b, turn);
    }
}

struct alignas(LINE_UNIT * sizeof(C::Raw)) LineUnit {
    C::Raw v[LINE_UNIT];
};

// STORE_LINES: neighbouring lanes copy neighbouring units of a row from the chunk. A warp copies the 16 rows that it wrote.
template <int COLUMNS, int FIRST = 0>
__device__ __forceinline__ void store_lines(const Shared &s, const Destination &c, int consumer, const Acc (&acc)[COLUMNS / 2], const Finish<COLUMNS> &f,
                                            const Block &b, int &turn) {
    constexpr int kSize = int(sizeof(C::Raw)), kUnit = 128 / kSize, kWidth = COLUMNS - FIRST < kUnit ? COLUMNS - FIRST : kUnit;
    if constexpr (FIRST < COLUMNS) {
        u32 chunk = s.chunk(consumer, turn);
        turn ^= 1;
        write_chunk<FIRST, kWidth, COLUMNS>(chunk, acc, f, b);
        __syncwarp();   // behind it all have read the other chunk, too, which is written next
        constexpr int kLanes = kWidth / LINE_UNIT < 32 ? kWidth / LINE_UNIT : 32;   // of a row
        int lane = threadIdx.x % 32, first = threadIdx.x % 128 / 32 * 16 + lane / kLanes, own = lane % kLanes * LINE_UNIT;
        int rows = b.m - b.row - first, columns = min(kWidth, b.n - b.column - FIRST);
        C::Raw *to = c.data + b.batch * c.batch + (b.row + first) * c.row + (b.column + FIRST + own) * c.column;
#pragma unroll
        for (int i = 0; i < 16; i += 32 / kLanes, to += 32 / kLanes * c.row) {
#pragma unroll
            for (int j = 0; j < kWidth; j += kLanes * LINE_UNIT) {
                u32 byte = u32((own + j) * kSize) ^ (first + i) % 8 * 16;
                LineUnit unit = *reinterpret_cast<const LineUnit *>(__cvta_shared_to_generic(chunk + (first + i) * 128 + byte));
                if (i < rows && own + j < columns) *reinterpret_cast<LineUnit *>(to + j * c.column) = unit;
            }
        }
        store_lines<COLUMNS, FIRST + kUnit>(s, c, consumer, acc, f, b, turn);
    }
}

#if PLANE_UNIT
struct alignas(PLANE_UNIT * 2) PlaneUnit {
    u16 v[PLANE_UNIT];
};

// STORE_PLANES for layouts that TMA cannot address: neighbouring threads copy neighbouring pixels of a channel from the chunk.
template <int COLUMNS, int FIRST = 0, class Place>
__device__ __forceinline__ void store_planes(const Shared &s, const Destination &c, const Place &place, int consumer, const Acc (&acc)[COLUMNS / 2],
                                             const Finish<COLUMNS> &f, const Block &b, int &turn) {
    constexpr int kWidth = COLUMNS - FIRST < 64 ? COLUMNS - FIRST : 64, kUnits = 64 / PLANE_UNIT, kLines = 128 / kUnits;
    if constexpr (FIRST < COLUMNS) {
        u32 chunk = s.chunk(consumer, turn);
        turn ^= 1;
        write_chunk<FIRST, kWidth, COLUMNS>(chunk, acc, f, b);
        named_barrier(1 + consumer, 128);   // as in store_scattered
        int thread = threadIdx.x % 128, first = thread % kUnits * PLANE_UNIT, line = thread / kUnits, column = b.column + FIRST + line;
        C::Raw *to = c.data + place.offset(b.row + first) + column * c.column;
        bool inside = b.row + first < b.m;
#pragma unroll 8
        for (int i = 0; i < kWidth; i += kLines) {
            u32 at = chunk + (line + i) * 128 + ((first / 8 ^ (line + i) % 8) * 16) + first % 8 * 2;
            PlaneUnit unit = *reinterpret_cast<const PlaneUnit *>(__cvta_shared_to_generic(at));
            if (inside && column + i < b.n) *reinterpret_cast<PlaneUnit *>(to + i * c.column) = unit;
        }
        store_planes<COLUMNS, FIRST + 64>(s, c, place, consumer, acc, f, b, turn);
    }
}
#endif

// Applies the epilogue to a consumer's rows of a tile and stores them. `b` is the position of the tile.
template <int COLUMNS, class Place>
__device__ __forceinline__ void store_rows(const Shared &s, const TensorMap &map, const Destination &c, const Place &place, int consumer,
                                           const Acc (&acc)[kBlocksM][COLUMNS / 2], const Finish<COLUMNS> &f, Block b, int &turn) {
    b.row += share_of(consumer) * kBlocksM * 64;
#pragma unroll
    for (int i = 0; i < kBlocksM; i++, b.row += 64) {
        if constexpr (STORE == STORE_DIRECT) {
            store_direct<COLUMNS>(c, acc[i], f.e, b);
        } else if constexpr (STORE == STORE_LINES) {
            store_lines<COLUMNS>(s, c, consumer, acc[i], f, b, turn);
        } else if constexpr (STORE == STORE_ROWS) {
            i64 offsets[4];
#pragma unroll
            for (int j = 0; j < 4; j++) offsets[j] = place.offset(min(b.row + int(threadIdx.x) % 128 / 8 + j * 16, b.m - 1));
            store_scattered<COLUMNS>(s, c.data, offsets, consumer, acc[i], f, b, turn);
#if PLANE_UNIT
        } else if constexpr (STORE == STORE_PLANES) {
            store_planes<COLUMNS>(s, c, place, consumer, acc[i], f, b, turn);
#endif
        } else {
            store_tma<COLUMNS>(s, map, place, consumer, acc[i], f, b, turn);
        }
    }
}

// ---- end of a CTA ------------------------------------------------------------------------------------------------------------------------

// Keeps the CTA's shared memory alive until TMA stores have read it and, in a cluster, until no other CTA multicasts into it or arrives at its barriers.
__device__ __forceinline__ void finish_block() {
    if constexpr (STORE != STORE_DIRECT) tma_store_wait<0>();
    if constexpr (kCluster > 1) cluster_meet();
}
