// One tile of a product on Hopper: what `gemm_sm90.cu` and `conv_sm90.cu` share.
//
// A block has one warpgroup that loads (a single thread of it) and CONSUMERS warpgroups that multiply. They meet at a ring of STAGES stages in
// shared memory; a stage holds 128 bytes of K of TILE_M rows of A and TILE_N rows of B. Each consumer owns TILE_M / CONSUMERS rows of the tile;
// with ALTERNATE the two take whole tiles in turns, so that one stores its result while the other multiplies.
//
// Defines (all by the host):
//   A_TYPE, B_TYPE, C_TYPE     codes of types.cuh
//   A_MN, B_MN                 1: the operand is contiguous along M or N instead of K (16-bit types; TF32, which mma.sync multiplies then)
//   TILE_M, TILE_N             64 * CONSUMERS or 128 * CONSUMERS (64 or 128 with ALTERNATE); 8, 16, 32 or a multiple of 64 that wgmma.cuh has
//   CONSUMERS, STAGES
//   ALTERNATE                  1: two consumers multiply tiles in turns
//   CLUSTER_M, CLUSTER_N       blocks of a cluster along M and N: those with the same n share loads of B, those with the same m of A
//   SPLIT                      blocks of a cluster that share one tile and divide K; their sums are added in the order of their ranks
//   STORE                      STORE_TMA, STORE_TMA_TRANSPOSED (C is contiguous along M; 16-bit types), STORE_ROWS (each row of C has its own
//                              address, a multiple of 16 bytes), STORE_PLANES (rows are contiguous in C, images of them apart; 16-bit types),
//                              STORE_DIRECT (any strides)
//   PLANE_UNIT                 of STORE_PLANES: 0 by TMA, or how many rows a thread stores at a time, which are in one image and aligned together
//   C_SWAPPED                  1: with direct stores, the user's rows are this product's columns
//   PROMOTE                    0, or after how many stages the tensor cores' sums are added to f32 registers (f8, whose sums are short)
//   PACKED_A                   1: A's stage is 64 rows (of K) of TILE_M numbers of four bits, and one row of their scales (gemm_w4_sm90.cu)
//   OPERANDS_APART             1: the kernel has its own places for A and B in shared memory, and stages are empty (conv_window_sm90.cu)
#pragma once
#include "wgmma.cuh"
#include "mma_tf32.cuh"
#include "epilogue.cuh"

#define STORE_DIRECT 0
#define STORE_TMA 1
#define STORE_TMA_TRANSPOSED 2
#define STORE_ROWS 3
#define STORE_PLANES 4

// TF32 as wgmma does not read it.
#define MMA_SYNC (A_TYPE == T_TF32 && (A_MN || B_MN))

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
#ifndef C_SWAPPED
#define C_SWAPPED 0
#endif

using A = Element<A_TYPE>;
using B = Element<B_TYPE>;
using C = Element<C_TYPE>;

enum : int {
    kTileK = 128 / int(sizeof(A::Raw)),
    kRun = kTileK,                          // of M or N in 128 bytes of an operand that is contiguous along it
    kStepsK = 4,                            // instructions along K in a stage, 32 bytes each
    kSharers = ALTERNATE ? 1 : CONSUMERS,   // consumers of one tile
    kTurns = CONSUMERS / kSharers,          // tiles that consumers have at the same time
    kBlocksM = TILE_M / (64 * kSharers),    // blocks of 64 rows of one consumer
    kBytesA = PACKED_A ? TILE_M * 32 : TILE_M * 128, kBytesB = TILE_N * 128,
    kBytesStage = OPERANDS_APART ? 0 : kBytesA + kBytesB,
    kCluster = CLUSTER_M * CLUSTER_N,
    kThreads = 128 * (1 + CONSUMERS),
    kColumns = SPLIT == 1 ? TILE_N : (TILE_N / SPLIT < 8 ? 8 : TILE_N / SPLIT),   // what a block stores of each of its rows
    kBytesSums = TILE_M * kColumns * 4,                                           // of what one block sends to another
};
enum : bool { kTurned = STORE == STORE_TMA_TRANSPOSED || STORE == STORE_PLANES };   // C is contiguous along M
enum : int { kChunkBytes = 8192 };                     // of a consumer's result on its way out; each has two

static_assert(kBlocksM * 64 * kSharers == TILE_M, "a tile is made of blocks of 64 rows");
static_assert(!ALTERNATE || (CONSUMERS == 2 && SPLIT == 1 && !PROMOTE && !MMA_SYNC && !PACKED_A), "two consumers take turns at whole tiles by wgmma");
static_assert(STORE != STORE_TMA || kColumns * int(sizeof(C::Raw)) % 128 == 0, "TMA stores rows of 128 bytes of the columns that are the block's own");
static_assert(SPLIT == 1 || kCluster == 1, "a cluster divides K or shares loads");
static_assert(SPLIT == 1 || SPLIT * kBytesSums <= STAGES * kBytesStage, "partial sums must fit where the stages were");

// Shared memory: the ring, the chunks, the barriers. The host asks for SHARED_BYTES and 1,024 more for alignment.
enum : int {
    kChunks = STORE == STORE_DIRECT ? 0 : CONSUMERS * 2 * kChunkBytes,
    kBytesScales = PACKED_A ? TILE_M * 2 : 0,   // of a stage
    kBarriers = STAGES * (kBytesStage + kBytesScales) + kChunks,
};

struct Shared {
    u32 base;

    __device__ __forceinline__ u32 a(int stage) const { return base + stage * kBytesStage; }
    __device__ __forceinline__ u32 b(int stage) const { return base + stage * kBytesStage + kBytesA; }
    __device__ __forceinline__ u32 chunk(int consumer, int i) const { return base + STAGES * kBytesStage + (consumer * 2 + i) * kChunkBytes; }
    __device__ __forceinline__ u32 scales(int stage) const { return base + STAGES * kBytesStage + kChunks + stage * kBytesScales; }
    __device__ __forceinline__ u32 full(int stage) const { return base + kBarriers + stage * 8; }
    __device__ __forceinline__ u32 empty(int stage) const { return base + kBarriers + (STAGES + stage) * 8; }
    __device__ __forceinline__ u32 sums() const { return base + kBarriers + 2 * STAGES * 8; }
};

// A position in the ring.
struct Ring {
    int stage = 0;
    u32 phase = 0;

    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
    // Past `count` stages, which are another consumer's.
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

// Once per block, before anything else: barriers, and all blocks of the cluster know of them.
__device__ __forceinline__ void start_block(const Shared &s) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(s.full(i), 1);
            barrier_init(s.empty(i), kSharers * kCluster);
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

// ---- which tile --------------------------------------------------------------------------------------------------------------------------

struct Tile {
    int batch, m, n;   // m and n in elements
};

// The order of tiles, in units of clusters: groups of `group` rows of tiles, each walked column by column, so that the blocks that run at the
// same time read few rows of A and few columns of B, which stay in the second-level cache.
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

// ---- loading -----------------------------------------------------------------------------------------------------------------------------

// Loads this block's share of ROWS rows of an operand, of which SHARERS blocks need the same; `mask` names them.
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

// The loading thread: waits until all who read the stage have left it, in every block that gets these loads.
__device__ __forceinline__ void claim_stage(const Shared &s, const Ring &ring) {
    barrier_wait(s.empty(ring.stage), ring.phase ^ 1);
    barrier_expect(s.full(ring.stage), kBytesStage + kBytesScales);
}

// ---- multiplying -------------------------------------------------------------------------------------------------------------------------

// Which of the tile's shares of rows a consumer has.
__device__ __forceinline__ int share_of(int consumer) { return ALTERNATE ? 0 : consumer; }

// Consumers with tiles of their own multiply in turns: a barrier tells only the last phase of a stage from the one before, so nobody may wait for a
// stage before the other has seen all of his.
__device__ __forceinline__ void take_turn(int consumer) { named_barrier(4 + consumer, 256); }
__device__ __forceinline__ void give_turn(int consumer) { named_barrier_arrive(5 - consumer, 256); }

// A consumer has read a stage.
__device__ __forceinline__ void release_stage(const Shared &s, int stage) {
    u32 thread = threadIdx.x % 128;
    if constexpr (kCluster == 1) {
        if (thread == 0) barrier_arrive(s.empty(stage));
    } else {
        if (thread < kCluster) barrier_arrive_at(s.empty(stage), thread);
    }
}

#if MMA_SYNC
// Adds one stage to `acc` by mma.sync: a warp has the rows that wgmma would give it.
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
// Multiplies one stage into `acc`; with `add` 0 what `acc` held is dropped.
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

// The sums of `stages` stages (one or more), in registers. With ALTERNATE the other consumer multiplies from then on, if there is `more`.
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
            if (k) {
                wgmma_wait<1>();
                release_stage(s, previous);
            }
            previous = ring.stage;
            ring.next();
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
        named_barrier(1 + consumer, 128);   // all warps have read the stage
        release_stage(s, ring.stage);
        ring.next();
    }
#else
    int previous = 0;
    for (int k = 0; k < stages; k++) {
        barrier_wait(s.full(ring.stage), ring.phase);
        multiply_stage(s, ring.stage, consumer, acc, k);
        if (k) {
            wgmma_wait<1>();   // all but what was just begun: the stage before is free
            release_stage(s, previous);
        }
        previous = ring.stage;
        ring.next();
    }
    if (ALTERNATE && more) give_turn(consumer);
    wgmma_wait<0>();
    release_stage(s, previous);
#pragma unroll
    for (int i = 0; i < kBlocksM; i++) wgmma_pin(acc[i]);
#endif
}

// SPLIT blocks hold partial sums of one tile: each sends those of the others' columns to their rings, which are idle, and adds what comes of its own, in the
// order of the ranks. What a block sends lies as threads have it, 64 rows behind each other.
__device__ __forceinline__ void add_partial_sums(const Shared &s, int consumer, Acc (&acc)[kBlocksM][TILE_N / 2], Acc (&sum)[kBlocksM][kColumns / 2]) {
    constexpr int kOwn = kColumns / 2;
    u32 rank = cluster_rank(), at = s.base + consumer * kBlocksM * kOwn * 512 + threadIdx.x % 128 * 16;
    cluster_meet();   // no consumer of any block reads its ring any more
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

// ---- storing -----------------------------------------------------------------------------------------------------------------------------

// The result in memory, for direct stores: strides in elements.
struct Destination {
    C::Raw *data;
    i64 row, column, batch;
};

// The extent of the kernel's product, and where a consumer's 64 rows of it begin.
struct Block {
    int m, n, batch, row, column;
};

// Whether bias comes to the elements by shuffles.
#if defined(COLUMN_BIAS) && STORE != STORE_DIRECT && STORE != STORE_TMA_TRANSPOSED
#define BIAS_IN_LANES 1
#else
#define BIAS_IN_LANES 0
#endif

// The chain of post-ops of a block's columns. Where bias differs by column only, a warp's lanes hold it, two of every 64 columns each.
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
    // The bias of this thread's two of the 8 columns from `first` on.
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

// The value of an element, by the chain of post-ops, in the result's type.
__device__ __forceinline__ float finish(Acc sum, float bias, const Epilogue &e, const Block &b, int row, int column) {
    row = min(row, b.m - 1), column = min(column, b.n - 1);
#if BIAS_IN_LANES
    return epilogue(float(sum), bias, e, b.batch, row, column);
#endif
    return STORE == STORE_TMA_TRANSPOSED || C_SWAPPED ? epilogue(float(sum), e, b.batch, column, row) : epilogue(float(sum), e, b.batch, row, column);
}

// Without post-ops, sums of integers go out exactly.
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

// Writes a chunk of 64 rows of 128 bytes, swizzled as TMA's 128-byte swizzle reads it. WIDTH columns from FIRST on.
template <int FIRST, int WIDTH, int COLUMNS>
__device__ __forceinline__ void write_chunk(u32 chunk, const Acc (&acc)[COLUMNS / 2], const Finish<COLUMNS> &f, const Block &b) {
    int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, g = lane / 4, q = lane % 4;
    int row = warp * 16 + g, y = b.row + row, x = b.column + FIRST + q * 2;
    if constexpr (sizeof(C::Raw) == 2) {
        // Lane l gives stmatrix the address of row l % 8 of the matrix l / 8: rows 0-7 and 8-15 of 8 columns, then of the next 8.
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

// Where chunks of a plain matrix go. Kernels whose rows lie otherwise have their own.
struct MatrixPlace {
    __device__ __forceinline__ void store(const TensorMap &map, u32 chunk, const Block &b, int column) const {
        if constexpr (STORE == STORE_TMA_TRANSPOSED) {
            tma_store(map, chunk, b.row, column, b.batch);
        } else {
            tma_store(map, chunk, column, b.row, b.batch);
        }
    }
    __device__ __forceinline__ i64 offset(int row) const { return 0; }
};

// Sends COLUMNS columns of a consumer's 64 rows out through its two chunks, which take turns.
template <int COLUMNS, int FIRST = 0, class Place>
__device__ __forceinline__ void store_tma(const Shared &s, const TensorMap &map, const Place &place, int consumer, const Acc (&acc)[COLUMNS / 2],
                                          const Finish<COLUMNS> &f, const Block &b, int &turn) {
    constexpr int kUnit = kTurned ? 64 : 128 / int(sizeof(C::Raw));
    constexpr int kWidth = COLUMNS < kUnit ? COLUMNS : kUnit;
    if constexpr (FIRST < COLUMNS) {
        bool leader = threadIdx.x % 128 == 0;
        u32 chunk = s.chunk(consumer, turn);
        turn ^= 1;
        if (leader) tma_store_wait<1>();
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

// The same, but threads copy the rows of the chunk, 16 bytes at a time: eight threads a row, four rows a thread.
template <int COLUMNS, int FIRST = 0>
__device__ __forceinline__ void store_scattered(const Shared &s, C::Raw *data, const i64 (&offsets)[4], int consumer, const Acc (&acc)[COLUMNS / 2],
                                                const Finish<COLUMNS> &f, const Block &b, int &turn) {
    constexpr int kUnit = 128 / int(sizeof(C::Raw)), kPiece = 16 / int(sizeof(C::Raw));
    if constexpr (FIRST < COLUMNS) {
        u32 chunk = s.chunk(consumer, turn);
        turn ^= 1;
        write_chunk<FIRST, COLUMNS - FIRST < kUnit ? COLUMNS - FIRST : kUnit, COLUMNS>(chunk, acc, f, b);
        named_barrier(1 + consumer, 128);   // all have read what this chunk held two turns ago, and have written it now
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

#if PLANE_UNIT
struct alignas(PLANE_UNIT * 2) PlaneUnit {
    u16 v[PLANE_UNIT];
};

// The same of images whose planes TMA does not reach: neighbouring threads copy neighbouring pixels of a channel.
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

// Stores a consumer's part of a tile whose first element is (m, n).
template <int COLUMNS, class Place>
__device__ __forceinline__ void store_rows(const Shared &s, const TensorMap &map, const Destination &c, const Place &place, int consumer,
                                           const Acc (&acc)[kBlocksM][COLUMNS / 2], const Finish<COLUMNS> &f, Block b, int &turn) {
    b.row += share_of(consumer) * kBlocksM * 64;
#pragma unroll
    for (int i = 0; i < kBlocksM; i++, b.row += 64) {
        if constexpr (STORE == STORE_DIRECT) {
            store_direct<COLUMNS>(c, acc[i], f.e, b);
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

// ---- a block's end -----------------------------------------------------------------------------------------------------------------------

// Shared memory is in use until here: by stores on their way, and by the other blocks that share loads.
__device__ __forceinline__ void finish_block() {
    if constexpr (STORE != STORE_DIRECT) tma_store_wait<0>();
    if constexpr (kCluster > 1) cluster_meet();
}
