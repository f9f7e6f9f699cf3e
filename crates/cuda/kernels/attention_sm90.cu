// Attention forward on Hopper: O = softmax(scale * Q K^T + mask) V in one pass over keys and values, with online softmax (Milakov and Gimelshein, 2018) and
// the schedule of FlashAttention-3 (Shah et al., 2024). 16-bit types, f32 accumulation; scores and probabilities stay in registers.
//
// Mapping. Persistent: a CTA loops over tiles of 64 * CONSUMERS queries of one head. Warpgroup 0 is the producer: one thread loads Q of the tile, and tiles
// of TILE_N keys and values into two rings of STAGES stages (full and empty mbarriers for K and for V). Each of the CONSUMERS other warpgroups has 64 queries
// and walks over the tiles of keys from the last to the first:
//   S = Q K^T by wgmma from shared memory; scale, mask, online softmax in registers; O += P V by wgmma with P from registers.
// Two overlaps hide the softmax:
//   within a warpgroup    the wgmma of S of the next tile and of P V of this one are issued together; the softmax of the next tile runs while P V does
//   between warpgroups    named barriers make consumers issue their wgmma in turns (ping-pong), so one's softmax overlaps the others' products
// The result goes through shared memory and TMA. With DIVIDED the keys of a head are split over several work items (flash-decoding), whose unnormalised
// outputs, maxima and sums attention_parts.cu combines.
//
// Few queries (FEW), as in decode, are bound by the bytes of keys and values: each is read once, so they are the first to leave L2. Shared memory has two slots of
// eight queries, so that the next item's are there in time, and wgmma takes the eight as each of its eight groups of rows; of what these compute, the first
// warp's first group counts. Where keys are contiguous along the sequence, CTAs that walked over the same tiles in step would all address the same 256 of the
// 2 * keys bytes of a row, and so the same channels of memory: each item begins at another tile.
//
// Interface
//   defines      A_TYPE = B_TYPE (T_BF16, T_F16), C_TYPE; HEAD 64 or 128 (smaller heads: zeros beyond the tensor); TILE_N, multiple of 64 with K_MN, else
//                of 16; CONSUMERS 1 to 3; STAGES; CAUSAL; K_MN 1 if K is (head size, keys) with keys contiguous; MASK_TYPE if there is a mask to add;
//                SCALE_TYPE of the scale (default f32), DIVIDE 1 if scores are divided by it; DIVIDED 1 if keys are divided into parts; FEW 1 for at most 8
//                queries, with CONSUMERS 1
//   parameters   (TensorMap q, TensorMap k, TensorMap v, TensorMap o, AttentionParams), by value
//   maps         rank 4, 128-byte swizzle, zeros beyond, strides multiples of 16 bytes; dimensions innermost first:
//                  q  (head size, queries, heads, batch), box (64, 64 * CONSUMERS, 1, 1), with FEW (64, 8, 1, 1)
//                  k  K_MN 0: (head size, keys, kv heads, batch), box (64, TILE_N, 1, 1)    K_MN 1: (keys, head size, kv heads, batch), box (64, HEAD, 1, 1)
//                  v  (head size, keys, kv heads, batch), box (64, TILE_N, 1, 1)
//                  o  (head size, queries, heads, batch), box (64, 64, 1, 1); not used with DIVIDED or FEW
//   grid         min(SMs * kResident, tiles of queries * heads * batch * parts); no cluster; block 128 * (1 + CONSUMERS)
//   shared       1,280 + HEAD * 2 * (2 * 64 * CONSUMERS + 2 * STAGES * TILE_N) bytes; where that is beyond 232,448, or with DIVIDED, HEAD * 128 * CONSUMERS less;
//                with FEW 1,280 + HEAD * 2 * (2 * 8 + 2 * STAGES * TILE_N)
//   decode       a single query per head with grouped heads: the host passes the heads that share keys as queries of one head
#include "wgmma.cuh"

#ifndef DIVIDED
#define DIVIDED 0
#endif
#ifndef FEW
#define FEW 0
#endif

enum : int {
    kQueries = 64 * CONSUMERS, kBlocksD = HEAD / 64,
    kSlotsQ = FEW ? 2 : 1, kRowsQ = FEW ? 8 : kQueries, kTileQ = kRowsQ * HEAD * 2, kBytesQ = kSlotsQ * kTileQ, kBytesKv = TILE_N * HEAD * 2,
    kThreads = 128 * (1 + CONSUMERS),
    kResident = CONSUMERS == 1 && kBytesQ + STAGES * kBytesKv <= 56 << 10 ? 2 : 1,   // CTAs per SM
};
// O is staged in a buffer of its own, or where that does not fit in Q's, which is then released to the producer only after the store.
enum : bool { kStaged = !DIVIDED && !FEW, kOwnBlock = !kStaged || 1280 + 2 * kBytesQ + 2 * STAGES * kBytesKv <= 232448 };
enum : int { kBytesQo = kOwnBlock && kStaged ? 2 * kBytesQ : kBytesQ };
#ifndef SCALE_TYPE
#define SCALE_TYPE T_F32
#endif
#ifndef DIVIDE
#define DIVIDE 0
#endif
#define LOG2E 1.4426950408889634f

using C = Element<C_TYPE>;

struct AttentionParams {
    int queries, keys, heads, batch;
    int share;                 // query heads per kv head
    int tiles;                 // tiles of queries per head
    int chunk;                 // heads whose tiles are scheduled together, so that their keys and values fit L2
    int causal_offset;         // query i sees keys up to i + causal_offset
    u64 scale;                 // the bits of the scale, where scale_at is null
    const Element<SCALE_TYPE>::Raw *scale_at;
    float *log_sum;            // (batch, heads, queries): log-sum-exp of the scores, or null
#if FEW && !DIVIDED
    C::Raw *to;                // the result
    i64 to_query, to_head, to_batch, to_size;   // its strides and the head size, in elements
#endif
#if DIVIDED
    int parts, part;           // parts of the keys; tiles of keys in a part
    float *out;                // (parts, batch, heads, queries, HEAD): O before division by the sum
    float2 *sums;              // (parts, batch, heads, queries): the maximum, times log2(e), and the sum of exponentials
#endif
#ifdef MASK_TYPE
    const Element<MASK_TYPE>::Raw *mask;
    i64 mask_batch, mask_head, mask_query, mask_key;   // strides in elements
#endif
};

struct Shared {
    u32 base;

    __device__ __forceinline__ u32 q(int slot) const { return base + slot * kTileQ; }
    __device__ __forceinline__ u32 o() const { return base + kBytesQo - kBytesQ; }
    __device__ __forceinline__ u32 k(int stage) const { return base + kBytesQo + stage * kBytesKv; }
    __device__ __forceinline__ u32 v(int stage) const { return base + kBytesQo + (STAGES + stage) * kBytesKv; }
    // mbarriers: of each slot of Q full and empty; of each stage full K, empty K, full V, empty V.
    __device__ __forceinline__ u32 barrier(int i) const { return base + kBytesQo + 2 * STAGES * kBytesKv + i * 8; }
    __device__ __forceinline__ u32 q_full(int slot) const { return barrier(slot); }
    __device__ __forceinline__ u32 q_empty(int slot) const { return barrier(kSlotsQ + slot); }
    __device__ __forceinline__ u32 k_full(int stage) const { return barrier(2 * kSlotsQ + stage); }
    __device__ __forceinline__ u32 k_empty(int stage) const { return barrier(2 * kSlotsQ + STAGES + stage); }
    __device__ __forceinline__ u32 v_full(int stage) const { return barrier(2 * kSlotsQ + 2 * STAGES + stage); }
    __device__ __forceinline__ u32 v_empty(int stage) const { return barrier(2 * kSlotsQ + 3 * STAGES + stage); }
};

template <int SLOTS> struct Ring {
    int stage = 0;
    u32 phase = 0;

    __device__ __forceinline__ void next() {
        if (++stage == SLOTS) stage = 0, phase ^= 1;
    }
};

// A work item: the queries from `first` on of one head, and the tiles of keys [begin, end) that they see (with DIVIDED those in a part).
struct Work {
    int first, head, batch, kv_head, begin, end, part;

    // The walk over the tiles of keys: downwards, from the last one or in a circle from any.
    __device__ __forceinline__ int first_tile() const { return FEW && K_MN ? begin + (head + batch) * 11 % (end - begin) : end - 1; }
    __device__ __forceinline__ int next_tile(int tile) const { return FEW && K_MN && tile == begin ? end - 1 : tile - 1; }
};

__device__ __forceinline__ int count_parts(const AttentionParams &p) {
#if DIVIDED
    return p.parts;
#else
    return 1;
#endif
}

__device__ __forceinline__ int count_work(const AttentionParams &p) { return p.tiles * p.heads * p.batch * count_parts(p); }

// This CTA's work item after `t`. With a causal mask, where items get shorter, every other round assigns CTAs in reverse order (load balance).
__device__ __forceinline__ int next_tile(int t) {
    int blocks = gridDim.x;
    return CAUSAL ? 2 * (t / blocks + 1) * blocks - 1 - t : t + blocks;
}

// Work items are ordered by chunk of heads, then by queries from the last to the first (under a causal mask: longest first), then by head and part.
__device__ __forceinline__ Work work_at(const AttentionParams &p, int t) {
    int part = t % count_parts(p);
    t /= count_parts(p);
    int all = p.heads * p.batch, chunk = t / (p.chunk * p.tiles), base = chunk * p.chunk;
    t -= base * p.tiles;
    int heads = min(p.chunk, all - base), row = t / heads, head = base + t - row * heads;
    int first = (p.tiles - 1 - row) * kQueries;
    int keys = CAUSAL ? min(p.keys, first + kQueries + p.causal_offset) : p.keys;
    int batch = head / p.heads;
    head -= batch * p.heads;
    Work w{first, head, batch, head / p.share, 0, max(1, (keys + TILE_N - 1) / TILE_N), part};
#if DIVIDED
    w.begin = part * p.part, w.end = min(w.end, w.begin + p.part);
#endif
    return w;
}

// ---- producer --------------------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void load_tile(u32 to, const TensorMap &map, u32 barrier, int inner, int outer, const Work &w) {
    if (FEW) {
        tma_load_once(to, map, barrier, inner, outer, w.kv_head, w.batch);
    } else {
        tma_load(to, map, barrier, inner, outer, w.kv_head, w.batch);
    }
}

__device__ __forceinline__ void load_keys(const Shared &s, const Ring<STAGES> &ring, const TensorMap &k, int key, const Work &w) {
    barrier_wait(s.k_empty(ring.stage), ring.phase ^ 1);
    barrier_expect(s.k_full(ring.stage), kBytesKv);
#pragma unroll
    for (int i = 0; i < (K_MN ? TILE_N / 64 : kBlocksD); i++) {
        u32 to = s.k(ring.stage) + i * (K_MN ? HEAD : TILE_N) * 128;
        load_tile(to, k, s.k_full(ring.stage), K_MN ? key + i * 64 : i * 64, K_MN ? 0 : key, w);
    }
}

__device__ __forceinline__ void load_values(const Shared &s, const Ring<STAGES> &ring, const TensorMap &v, int key, const Work &w) {
    barrier_wait(s.v_empty(ring.stage), ring.phase ^ 1);
    barrier_expect(s.v_full(ring.stage), kBytesKv);
#pragma unroll
    for (int i = 0; i < kBlocksD; i++) load_tile(s.v(ring.stage) + i * TILE_N * 128, v, s.v_full(ring.stage), i * 64, key, w);
}

__device__ __forceinline__ void load_queries(const Shared &s, const Ring<kSlotsQ> &ring, const TensorMap &q, const Work &w) {
    barrier_wait(s.q_empty(ring.stage), ring.phase ^ 1);
    barrier_expect(s.q_full(ring.stage), kTileQ);
#pragma unroll
    for (int i = 0; i < kBlocksD; i++) tma_load(s.q(ring.stage) + i * kRowsQ * 128, q, s.q_full(ring.stage), i * 64, w.first, w.head, w.batch);
}

// Queries are loaded after STAGES - 1 tiles of keys and values: these find empty stages before the consumers have finished with the queries of the item before.
__device__ __forceinline__ void load_work(const Shared &s, const TensorMap &q, const TensorMap &k, const TensorMap &v, const AttentionParams &p) {
    Ring<STAGES> ring;
    Ring<kSlotsQ> queries;
    for (int t = blockIdx.x; t < count_work(p); t = next_tile(t), queries.next()) {
        Work w = work_at(p, t);
        int count = w.end - w.begin, ahead = min(STAGES - 1, count);
        for (int i = 1, tile = w.first_tile(); i <= count; i++, tile = w.next_tile(tile), ring.next()) {
            load_keys(s, ring, k, tile * TILE_N, w);
            load_values(s, ring, v, tile * TILE_N, w);
            if (i == ahead) load_queries(s, queries, q, w);
        }
    }
}

// ---- wgmma -----------------------------------------------------------------------------------------------------------------------------------

// Issues scores = Q K^T of a consumer's queries and one tile of keys.
__device__ __forceinline__ void begin_scores(const Shared &s, int slot, int stage, int consumer, Acc (&scores)[TILE_N / 2]) {
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < HEAD / 16; i++) {
        u64 a = descriptor_k_major(s.q(slot) + i / 4 * kRowsQ * 128 + consumer * 8192 + i % 4 * 32, FEW ? 0 : 1024);
        u64 b = K_MN ? descriptor_mn_major(s.k(stage) + i * 2048, HEAD * 128) : descriptor_k_major(s.k(stage) + i / 4 * TILE_N * 128 + i % 4 * 32);
        Wgmma<TILE_N, 0, K_MN>::multiply(scores, a, b, i != 0);
    }
    wgmma_commit();
}

// Issues out += P V; `add` 0 overwrites `out`.
__device__ __forceinline__ void begin_output(const Shared &s, int stage, const u32 (&p)[TILE_N / 16][4], Acc (&out)[HEAD / 2], u32 add) {
    wgmma_fence();
    u64 v = descriptor_mn_major(s.v(stage), TILE_N * 128);
#pragma unroll
    for (int i = 0; i < TILE_N / 16; i++) WgmmaRegisters<HEAD, 1>::multiply(out, p[i], v + i * (2048 >> 4), i ? 1 : add);
    wgmma_commit();
}

__device__ __forceinline__ void release(u32 barrier) {
    if (threadIdx.x % 128 == 0) barrier_arrive(barrier);
}

// ---- softmax ---------------------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float exp2_fast(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// A thread has two rows of its warp's 16, of which only the first exists with FEW; four threads share a row. `max` is the running maximum of the scores that softmax gets, `sum` the thread's
// partial sum.
struct Rows {
    float max[2], sum[2];
};

enum : int { kRows = FEW ? 1 : 2 };

// Whether element i of an accumulator is in a row that exists.
__device__ __forceinline__ constexpr bool is_there(int i) { return i / 2 % 2 < kRows; }

__device__ __forceinline__ float over_row(float x, bool max) {
    float y = __shfl_xor_sync(~0u, x, 1);
    x = max ? fmaxf(x, y) : x + y;
    y = __shfl_xor_sync(~0u, x, 2);
    return max ? fmaxf(x, y) : x + y;
}

__device__ __forceinline__ float the_scale(const AttentionParams &p) {
    using S = Element<SCALE_TYPE>;
    S::Raw raw;
    if (p.scale_at) {
        raw = *p.scale_at;
    } else if constexpr (sizeof(S::Raw) == 4) {
        raw = __uint_as_float(u32(p.scale));
    } else {
        raw = S::Raw(p.scale);
    }
    return DIVIDE ? 1.0f / S::load(raw) : S::load(raw);
}

// Starts to fetch the scale, which would otherwise wait behind the first keys and values of all CTAs. L2 has what the preceding kernel writes later, too.
__device__ __forceinline__ void prefetch_scale(const AttentionParams &p) {
    if (p.scale_at) asm volatile("prefetch.global.L2 [%0];" ::"l"(p.scale_at) : "memory");
}

// Scales the scores and adds the mask where that cannot be folded into the exponential: with a mask, which is added after scaling, or a scale that is not
// positive. `query` is the thread's first row, `key` its first column.
template <bool SCALED> __device__ __forceinline__ void scale_scores(Acc (&scores)[TILE_N / 2], const AttentionParams &p, const Work &w, int query, int key, float factor) {
#ifdef MASK_TYPE
    const Element<MASK_TYPE>::Raw *mask = p.mask + w.batch * p.mask_batch + w.head * p.mask_head;
#pragma unroll
    for (int i = 0; i < TILE_N / 2; i++) {
        i64 row = min(query + (i & 2) * 4, p.queries - 1), column = min(key + i / 4 * 8 + (i & 1), p.keys - 1);
        scores[i] = scores[i] * factor + Element<MASK_TYPE>::load(mask[row * p.mask_query + column * p.mask_key]);
    }
#else
    if constexpr (SCALED) {
#pragma unroll
        for (int i = 0; i < TILE_N / 2; i++) scores[i] *= factor;
    }
#endif
}

// Sets the scores of keys beyond the last one, and of those that the causal mask excludes, to -infinity.
__device__ __forceinline__ void hide(Acc (&scores)[TILE_N / 2], const AttentionParams &p, int query, int key) {
    // The last keys of the thread's two rows.
    int last = CAUSAL ? min(p.keys - 1, query + p.causal_offset) : p.keys - 1, last8 = CAUSAL ? min(p.keys - 1, query + 8 + p.causal_offset) : p.keys - 1;
#pragma unroll
    for (int i = 0; i < TILE_N / 2; i++) {
        if (key + i / 4 * 8 + (i & 1) > (i & 2 ? last8 : last)) scores[i] = -__int_as_float(0x7f800000);
    }
}

// A step of the online softmax: updates maximum and sum and replaces the scores by exp(score - maximum). `correction` rescales the earlier output of each row.
template <bool FIRST> __device__ __forceinline__ void softmax(Acc (&scores)[TILE_N / 2], Rows &rows, float scale, float (&correction)[2]) {
    const float kLowest = -__int_as_float(0x7f800000);
    float max[2] = {FIRST ? kLowest : rows.max[0], FIRST ? kLowest : rows.max[1]}, shift[2];
#pragma unroll
    for (int i = 0; i < TILE_N / 2; i++) if (is_there(i)) max[i / 2 % 2] = fmaxf(max[i / 2 % 2], scores[i]);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
        max[r] = over_row(max[r], true);
        shift[r] = max[r] == kLowest ? 0.0f : max[r] * scale;   // all keys of the row so far are masked: avoid -inf - -inf
        correction[r] = FIRST ? 0.0f : exp2_fast(rows.max[r] * scale - shift[r]);
        rows.max[r] = max[r];
        rows.sum[r] = FIRST ? 0.0f : rows.sum[r] * correction[r];
    }
#pragma unroll
    for (int i = 0; i < TILE_N / 2; i++) if (is_there(i)) scores[i] = exp2_fast(scores[i] * scale - shift[i / 2 % 2]);
#pragma unroll
    for (int i = 0; i < TILE_N / 2; i++) if (is_there(i)) rows.sum[i / 2 % 2] += scores[i];
}

// P as 16-bit A fragments: the accumulator layout of 64 x 16 is the fragment layout of A.
__device__ __forceinline__ void pack_probabilities(const Acc (&scores)[TILE_N / 2], u32 (&p)[TILE_N / 16][4]) {
#pragma unroll
    for (int i = 0; i < TILE_N / 4; i++) p[i / 4][i % 4] = is_there(i * 2) ? pack2<A_TYPE>(scores[i * 2], scores[i * 2 + 1]) : 0;
}

// ---- consumer --------------------------------------------------------------------------------------------------------------------------------

// Ping-pong between consumers: named barrier 1 + i is consumer i's turn to issue wgmma.
__device__ __forceinline__ void take_turn(int consumer) {
    if constexpr (CONSUMERS > 1) named_barrier(1 + consumer, 256);
}
__device__ __forceinline__ void give_turn(int consumer) {
    if constexpr (CONSUMERS > 1) named_barrier_arrive(1 + (consumer + 1) % CONSUMERS, 256);
}

#if DIVIDED
// Stores the unnormalised output, maximum and sum of a part of the keys.
__device__ __forceinline__ void store_part(const AttentionParams &p, const Work &w, int consumer, const Acc (&out)[HEAD / 2], const Rows &rows, float scale) {
    int lane = threadIdx.x % 32, query = w.first + consumer * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
    for (int r = 0; r < kRows; r++, query += 8) {
        float sum = over_row(rows.sum[r], false);
        if (query >= p.queries) continue;
        i64 row = (i64(w.part * p.batch + w.batch) * p.heads + w.head) * p.queries + query;
        if (lane % 4 == 0) p.sums[row] = make_float2(rows.max[r] * scale, sum);
        float2 *to = reinterpret_cast<float2 *>(p.out + row * HEAD) + lane % 4;
#pragma unroll
        for (int j = 0; j < HEAD / 8; j++) to[j * 4] = make_float2(out[j * 4 + r * 2], out[j * 4 + r * 2 + 1]);
    }
}
#elif FEW
// Divides by the sums and stores the queries from registers; stores the log-sum-exp if wanted.
__device__ __forceinline__ void store_few(const AttentionParams &p, const Work &w, const Acc (&out)[HEAD / 2], const Rows &rows, float scale) {
    int lane = threadIdx.x % 32, query = threadIdx.x % 128 / 32 * 16 + lane / 4;
    float sum = over_row(rows.sum[0], false), inverse = sum > 0 ? 1.0f / sum : 0.0f;
    if (query >= p.queries) return;
    if (p.log_sum && lane % 4 == 0) p.log_sum[i64(w.batch * p.heads + w.head) * p.queries + query] = rows.max[0] * (scale / LOG2E) + logf(sum);
    C::Raw *to = p.to + w.batch * p.to_batch + w.head * p.to_head + query * p.to_query;
#pragma unroll
    for (int i = 0; i < HEAD / 4; i++) {
        int at = i / 2 * 8 + lane % 4 * 2 + i % 2;
        if (at < p.to_size) to[at] = C::store(out[i / 2 * 4 + i % 2] * inverse);
    }
}
#endif

// Divides by the sums and stores 64 rows by TMA through this consumer's rows of the staging buffer; stores the log-sum-exp if wanted.
__device__ __forceinline__ void store_output(const Shared &s, const TensorMap &o, const AttentionParams &p, const Work &w, int consumer, Acc (&out)[HEAD / 2],
                                             const Rows &rows, float scale) {
    int thread = threadIdx.x % 128, lane = thread % 32, warp = thread / 32, query = w.first + consumer * 64 + warp * 16 + lane / 4;
    float inverse[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float sum = over_row(rows.sum[r], false);
        inverse[r] = sum > 0 ? 1.0f / sum : 0.0f;
        if (p.log_sum && lane % 4 == 0 && query + r * 8 < p.queries) {
            p.log_sum[i64(w.batch * p.heads + w.head) * p.queries + query + r * 8] = rows.max[r] * (scale / LOG2E) + logf(sum);
        }
    }
    if (thread == 0) tma_store_wait<0>();
    named_barrier(1 + CONSUMERS + consumer, 128);
    u32 line = s.o() + consumer * 8192 + (warp * 16 + (lane >> 3 & 1) * 8 + lane % 8) * 128;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j += 2) {
        u32 v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = pack2<C_TYPE>(out[j * 4 + i * 2] * inverse[i % 2], out[j * 4 + i * 2 + 1] * inverse[i % 2]);
        matrix_store4(line + j / 8 * kQueries * 128 + (u32(j % 8 + (lane >> 4)) ^ (lane % 8)) * 16, v[0], v[1], v[2], v[3]);
    }
    fence_async_proxy();
    named_barrier(1 + CONSUMERS + consumer, 128);
    if (thread == 0) {
#pragma unroll
        for (int i = 0; i < kBlocksD; i++) tma_store(o, s.o() + i * kQueries * 128 + consumer * 8192, i * 64, w.first + consumer * 64, w.head, w.batch);
        tma_store_commit();
        if (!kOwnBlock) {
            tma_store_wait<0>();
            barrier_arrive(s.q_empty(0));
        }
    }
}

// The loop of a consumer over work items. The first tile of keys that it visits is peeled: without FEW it is the last in order, and only there
// may keys be beyond the end.
template <bool SCALED>
__device__ __forceinline__ void attend(const Shared &s, const TensorMap &o, const AttentionParams &p, int consumer, float factor) {
    const float scale = SCALED ? LOG2E : factor * LOG2E;
    const int lane = threadIdx.x % 32, row = consumer * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4, column = lane % 4 * 2;
    Ring<STAGES> keys, values;
    Ring<kSlotsQ> queries;
    if (consumer == CONSUMERS - 1) give_turn(consumer);
    for (int t = blockIdx.x; t < count_work(p); t = next_tile(t), queries.next()) {
        Work w = work_at(p, t);
        Acc out[HEAD / 2];
        u32 probabilities[TILE_N / 16][4];
        Rows rows;
        float correction[2];
        // Keys from here on are masked for the consumer's first query: only tiles that reach it need masking.
        int hidden = CAUSAL ? min(p.keys, w.first + consumer * 64 + p.causal_offset + 1) : p.keys;
        int tile = w.first_tile();
        barrier_wait(s.q_full(queries.stage), queries.phase);
        {
            Acc scores[TILE_N / 2];
            barrier_wait(s.k_full(keys.stage), keys.phase);
            begin_scores(s, queries.stage, keys.stage, consumer, scores);
            wgmma_wait<0>();
            wgmma_pin(scores);
            release(s.k_empty(keys.stage));
            keys.next();
            int key = tile * TILE_N;
            scale_scores<SCALED>(scores, p, w, w.first + row, key + column, factor);
            hide(scores, p, w.first + row, key + column);
            softmax<true>(scores, rows, scale, correction);
            pack_probabilities(scores, probabilities);
        }
        u32 add = 0;
        for (int left = w.end - w.begin - 1; left > 0; left--, add = 1) {
            tile = w.next_tile(tile);
            Acc scores[TILE_N / 2];
            barrier_wait(s.k_full(keys.stage), keys.phase);
            take_turn(consumer);
            begin_scores(s, queries.stage, keys.stage, consumer, scores);
            barrier_wait(s.v_full(values.stage), values.phase);
            begin_output(s, values.stage, probabilities, out, add);
            give_turn(consumer);
            wgmma_wait<1>();
            wgmma_pin(scores);
            release(s.k_empty(keys.stage));
            keys.next();
            int key = tile * TILE_N;
            scale_scores<SCALED>(scores, p, w, w.first + row, key + column, factor);
            if ((CAUSAL || FEW) && key + TILE_N > hidden) hide(scores, p, w.first + row, key + column);
            softmax<false>(scores, rows, scale, correction);
            wgmma_wait<0>();
            wgmma_pin(out);
            release(s.v_empty(values.stage));
            values.next();
#pragma unroll
            for (int i = 0; i < HEAD / 2; i++) if (is_there(i)) out[i] *= correction[i / 2 % 2];
            pack_probabilities(scores, probabilities);
        }
        if (kOwnBlock) release(s.q_empty(queries.stage));
        barrier_wait(s.v_full(values.stage), values.phase);
        begin_output(s, values.stage, probabilities, out, add);
        wgmma_wait<0>();
        wgmma_pin(out);
        release(s.v_empty(values.stage));
        values.next();
#if DIVIDED
        store_part(p, w, consumer, out, rows, scale);
#elif FEW
        store_few(p, w, out, rows, scale);
#else
        store_output(s, o, p, w, consumer, out, rows, scale);
#endif
    }
    if (consumer == 0) take_turn(consumer);   // consumes the last arrival, which nobody waits for otherwise
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    attention_sm90(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
                   const __grid_constant__ TensorMap o, const __grid_constant__ AttentionParams p) {
    extern __shared__ u8 shared_memory[];
    Shared s{(shared_address(shared_memory) + 1023) & ~1023u};
    if (threadIdx.x == 0) {
        tma_prefetch(q);
        tma_prefetch(k);
        tma_prefetch(v);
        tma_prefetch(o);
        for (int i = 0; i < kSlotsQ; i++) {
            barrier_init(s.q_full(i), 1);
            barrier_init(s.q_empty(i), CONSUMERS);
        }
        for (int i = 0; i < STAGES; i++) {
            barrier_init(s.k_full(i), 1);
            barrier_init(s.k_empty(i), CONSUMERS);
            barrier_init(s.v_full(i), 1);
            barrier_init(s.v_empty(i), CONSUMERS);
        }
        barrier_init_fence();
    }
    if (threadIdx.x == 128) prefetch_scale(p);
    __syncthreads();
    begin();

    int warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        if constexpr (CONSUMERS > 1 || kResident > 1) registers_lower<CONSUMERS == 3 ? 32 : 24>();
        if (threadIdx.x == 0) load_work(s, q, k, v, p);
    } else {
        if constexpr (CONSUMERS > 1 || kResident > 1) registers_raise<CONSUMERS == 3 ? 160 : CONSUMERS == 2 ? 240 : 232>();
        const float factor = the_scale(p);
#ifdef MASK_TYPE
        attend<true>(s, o, p, warpgroup - 1, factor);
#else
        if (factor <= 0) {
            attend<true>(s, o, p, warpgroup - 1, factor);
        } else {
            attend<false>(s, o, p, warpgroup - 1, factor);
        }
#endif
    }
    tma_store_wait<0>();
}
