// Attention backward for 16-bit types by mma.sync (sm_80 and later). Scores are not stored: the probabilities are recomputed from the log-sum-exp of the
// forward pass, as in FlashAttention (Dao et al., 2022), appendix B.
//
// With S = scale * Q K^T, P = exp(S - log_sum) and dS = P (dO V^T - own), where own is the row sum of dO * O:
//   OF_KEYS 1   a CTA owns 128 keys and loops over tiles of queries of all heads that share them: diff_v = P^T dO, diff_k = scale * dS^T Q
//   OF_KEYS 0   a CTA owns 128 queries and loops over tiles of the keys that they see: diff_q = scale * dS K
// Two launches instead of one: each gradient is then summed by one CTA in a fixed order, without atomics.
//
// The owned rows are M of all products, 16 for each of 8 warps. The tile of the others (64 rows, or 32 where registers are short) is double-buffered in shared
// memory by cp.async. S and dS stay in registers, where accumulators have the layout of A fragments of the next product.
//
// Interface
//   defines      A_TYPE (bf16, f16), C_TYPE, HEAD 64 or 128 (smaller heads: zeros beyond), K_MN 1 if K is (head size, keys), OF_KEYS, CAUSAL,
//                DIVIDE, SCALE_TYPE
//   parameters   (BackwardParams) by value; rows are aligned to 16 bytes
//   grid         (blocks of 128 owned rows, heads (of keys with OF_KEYS), batch), 256 threads
#include "types.cuh"

// kOther: with heads of 128, diff_k and diff_v leave registers for the scores of 32 queries only.
enum : int {
    kOwn = 128, kOther = OF_KEYS && HEAD == 128 ? 32 : 64,
    kOwnBytes = kOwn * HEAD * 2, kOtherBytes = kOther * HEAD * 2,
};
#define LOG2E 1.4426950408889634f
using C = Element<C_TYPE>;

// A tensor (batch, heads, rows, columns); strides in elements.
struct Tensor4 {
    u64 data;
    i64 batch, head, row, column;
};

struct BackwardParams {
    int queries, keys, heads, share;      // heads: of queries; share: query heads per kv head
    int depth, values, causal_offset, pad;   // head sizes of Q and K, and of V and O
    Tensor4 q, k, v, d;                   // rows of k are keys; d is dO
    Tensor4 first, second;                // diff_k and diff_v, or diff_q
    const float *log_sum, *own;           // (batch, heads, queries)
    u64 scale;                            // the bits of the scale, where scale_at is null
    const Element<SCALE_TYPE>::Raw *scale_at;
};

__device__ __forceinline__ u32 shared_address(const void *p) { return u32(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ float exp2_fast(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

__device__ __forceinline__ float the_scale(const BackwardParams &p) {
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

// Loads a tile of LINES x INNER elements by cp.async: blocks of 64 inner elements, 128 bytes a line, 16-byte units swizzled (u ^ line % 8) against bank
// conflicts; zeros beyond `lines` and `inners`.
template <int LINES, int INNER> __device__ __forceinline__ void load_tile(u32 to, const u16 *from, i64 stride, int line0, int lines, int inner0, int inners) {
#pragma unroll
    for (int i = 0; i < LINES * INNER / 8 / 256; i++) {
        int unit = int(threadIdx.x) + i * 256, u = unit % 8, line = unit / 8 % LINES, block = unit / 8 / LINES;
        int y = line0 + line, x = inner0 + block * 64 + u * 8, valid = y < lines ? max(0, min(16, (inners - x) * 2)) : 0;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + block * LINES * 128 + line * 128 + (u ^ line % 8) * 16),
                     "l"(valid ? from + y * stride + x : from), "r"(valid)
                     : "memory");
    }
}

template <bool TRANSPOSED> __device__ __forceinline__ void load_matrices(u32 (&r)[4], u32 address) {
    if constexpr (TRANSPOSED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
    }
}

// Loads the fragment of 16 of M or N from `row` on by 16 of K from `k` on. The lines of the tile are along M or N, or with BY_K along K.
template <bool BY_K, int LINES> __device__ __forceinline__ void load_fragment(u32 (&r)[4], u32 tile, int row, int k) {
    int lane = threadIdx.x % 32;
    if constexpr (BY_K) {
        int line = k + lane / 16 * 8 + lane % 8, unit = row % 64 / 8 + (lane / 8 & 1);
        load_matrices<true>(r, tile + row / 64 * LINES * 128 + line * 128 + (unit ^ line % 8) * 16);
    } else {
        int line = row + lane % 16, unit = k % 64 / 8 + lane / 16;
        load_matrices<false>(r, tile + k / 64 * LINES * 128 + line * 128 + (unit ^ line % 8) * 16);
    }
}

__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if A_TYPE == T_BF16
#define OPERANDS "f32.bf16.bf16.f32"
#else
#define OPERANDS "f32.f16.f16.f32"
#endif
    asm volatile("mma.sync.aligned.m16n8k16.row.col." OPERANDS " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// sum = own other^T: a warp's 16 owned rows by all other rows, summed over the head size. A_BY_K, B_BY_K as in load_fragment.
template <bool A_BY_K, bool B_BY_K> __device__ __forceinline__ void multiply_rows(float (&sum)[kOther / 8][4], u32 own, u32 other, int row) {
    constexpr int kOwnLines = A_BY_K ? HEAD : kOwn, kOtherLines = B_BY_K ? HEAD : kOther;
#pragma unroll
    for (int i = 0; i < kOther / 8 * 4; i++) sum[i / 4][i % 4] = 0;
#pragma unroll
    for (int k = 0; k < HEAD; k += 16) {
        u32 a[4];
        load_fragment<A_BY_K, kOwnLines>(a, own, row, k);
#pragma unroll
        for (int n = 0; n < kOther; n += 16) {
            u32 b[4];
            load_fragment<B_BY_K, kOtherLines>(b, other, n, k);
            multiply(sum[n / 8], a, b[0], b[2]);
            multiply(sum[n / 8 + 1], a, b[1], b[3]);
        }
    }
}

// out += weights other: a warp's 16 owned rows by the head size, summed over the other rows.
template <bool B_BY_K> __device__ __forceinline__ void multiply_others(float (&out)[HEAD / 8][4], const float (&weights)[kOther / 8][4], u32 other) {
    constexpr int kLines = B_BY_K ? kOther : HEAD;
#pragma unroll
    for (int k = 0; k < kOther; k += 16) {
        const float(&low)[4] = weights[k / 8], (&high)[4] = weights[k / 8 + 1];
        u32 a[4] = {pack2<A_TYPE>(low[0], low[1]), pack2<A_TYPE>(low[2], low[3]), pack2<A_TYPE>(high[0], high[1]), pack2<A_TYPE>(high[2], high[3])};
#pragma unroll
        for (int n = 0; n < HEAD; n += 16) {
            u32 b[4];
            load_fragment<B_BY_K, kLines>(b, other, n, k);
            multiply(out[n / 8], a, b[0], b[2]);
            multiply(out[n / 8 + 1], a, b[1], b[3]);
        }
    }
}

__device__ __forceinline__ void store_rows(const Tensor4 &t, int batch, int head, int row0, int rows, int columns, const float (&out)[HEAD / 8][4], float factor) {
    C::Raw *to = reinterpret_cast<C::Raw *>(t.data) + batch * t.batch + head * t.head;
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < HEAD / 8; j++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int row = row0 + lane / 4 + e / 2 * 8, column = j * 8 + lane % 4 * 2 + e % 2;
            if (row < rows && column < columns) to[row * t.row + column * t.column] = C::store(out[j][e] * factor);
        }
    }
}

__device__ __forceinline__ const u16 *matrix_of(const Tensor4 &t, int batch, int head) {
    return reinterpret_cast<const u16 *>(t.data) + batch * t.batch + head * t.head;
}

// Loads TILE keys of K from `key` on: one per line, or with K_MN along the lines.
template <int TILE> __device__ __forceinline__ void load_keys(u32 to, const BackwardParams &p, int batch, int kv_head, int key) {
    const u16 *k = matrix_of(p.k, batch, kv_head);
    if constexpr (K_MN) {
        load_tile<HEAD, TILE>(to, k, p.k.column, 0, p.depth, key, p.keys);
    } else {
        load_tile<TILE, HEAD>(to, k, p.k.row, key, p.keys, 0, p.depth);
    }
}

struct Numbers {
    float log_sum, own;
};

// Log-sum-exp (times log2(e)) and `own` of a query. Queries beyond the last, and those all of whose keys are masked, get +infinity: their P is 0.
__device__ __forceinline__ Numbers numbers_of(const BackwardParams &p, int batch, int head, int query) {
    const float infinity = __int_as_float(0x7f800000);
    if (query >= p.queries) return Numbers{infinity, 0};
    i64 at = i64(batch * p.heads + head) * p.queries + query;
    float l = p.log_sum[at];
    return Numbers{l == -infinity ? infinity : l * LOG2E, p.own[at]};
}

// From the unscaled score s and (dO V^T) in ds: the probability P in s, and the gradient of the scaled score dS in ds.
__device__ __forceinline__ void differentiate(float &s, float &ds, const BackwardParams &p, const Numbers &n, float scale, int query, int key) {
    bool seen = key < p.keys && (!CAUSAL || key <= query + p.causal_offset);
    s = seen ? exp2_fast(s * scale - n.log_sum) : 0.0f;
    ds = s == 0 ? 0.0f : s * (ds - n.own);
}

extern "C" __global__ void __launch_bounds__(256, 1) attention_backward_sm80(const __grid_constant__ BackwardParams p) {
    extern __shared__ __align__(1024) u8 memory[];
    __shared__ Numbers numbers[2][kOther];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp * 16;
    const int first = int(blockIdx.x) * kOwn, batch = blockIdx.z;
    const u32 base = shared_address(memory);
    const float factor = the_scale(p), scale = factor * LOG2E;
    auto other = [&](int stage) { return base + 2 * kOwnBytes + stage * 2 * kOtherBytes; };

    float out[HEAD / 8][4] = {}, s[kOther / 8][4], ds[kOther / 8][4];
#if OF_KEYS
    const int kv_head = blockIdx.y;
    float out_v[HEAD / 8][4] = {};
    load_keys<kOwn>(base, p, batch, kv_head, first);
    load_tile<kOwn, HEAD>(base + kOwnBytes, matrix_of(p.v, batch, kv_head), p.v.row, first, p.keys, 0, p.values);
    // Causal: tiles of queries before this one do not see the first owned key.
    const int begin = CAUSAL ? max(0, first - p.causal_offset) / kOther : 0, tiles = (p.queries + kOther - 1) / kOther;
    const int each = max(0, tiles - begin), count = each * p.share;
    auto load = [&](int i) {
        if (i < count) {
            int head = kv_head * p.share + i / each, query = (begin + i % each) * kOther;
            load_tile<kOther, HEAD>(other(i % 2), matrix_of(p.q, batch, head), p.q.row, query, p.queries, 0, p.depth);
            load_tile<kOther, HEAD>(other(i % 2) + kOtherBytes, matrix_of(p.d, batch, head), p.d.row, query, p.queries, 0, p.values);
            if (threadIdx.x < kOther) numbers[i % 2][threadIdx.x] = numbers_of(p, batch, head, query + int(threadIdx.x));
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
#else
    const int head = blockIdx.y, kv_head = head / p.share;
    load_tile<kOwn, HEAD>(base, matrix_of(p.q, batch, head), p.q.row, first, p.queries, 0, p.depth);
    load_tile<kOwn, HEAD>(base + kOwnBytes, matrix_of(p.d, batch, head), p.d.row, first, p.queries, 0, p.values);
    const Numbers own[2] = {numbers_of(p, batch, head, first + row + lane / 4), numbers_of(p, batch, head, first + row + lane / 4 + 8)};
    const int last = CAUSAL ? min(p.keys, first + kOwn + p.causal_offset) : p.keys, count = max(0, (last + kOther - 1) / kOther);
    auto load = [&](int i) {
        if (i < count) {
            load_keys<kOther>(other(i % 2), p, batch, kv_head, i * kOther);
            load_tile<kOther, HEAD>(other(i % 2) + kOtherBytes, matrix_of(p.v, batch, kv_head), p.v.row, i * kOther, p.keys, 0, p.values);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
#endif
    load(0);
    for (int i = 0; i < count; i++) {
        load(i + 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        const u32 tile = other(i % 2);
#if OF_KEYS
        multiply_rows<K_MN, 0>(s, base, tile, row);
        multiply_rows<0, 0>(ds, base + kOwnBytes, tile + kOtherBytes, row);
        const int query0 = (begin + i % each) * kOther;
#pragma unroll
        for (int j = 0; j < kOther / 8; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int query = j * 8 + lane % 4 * 2 + e % 2, key = first + row + lane / 4 + e / 2 * 8;
                differentiate(s[j][e], ds[j][e], p, numbers[i % 2][query], scale, query0 + query, key);
            }
        }
        multiply_others<1>(out_v, s, tile + kOtherBytes);
        multiply_others<1>(out, ds, tile);
#else
        multiply_rows<0, K_MN>(s, base, tile, row);
        multiply_rows<0, 0>(ds, base + kOwnBytes, tile + kOtherBytes, row);
#pragma unroll
        for (int j = 0; j < kOther / 8; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int key = i * kOther + j * 8 + lane % 4 * 2 + e % 2, query = first + row + lane / 4 + e / 2 * 8;
                differentiate(s[j][e], ds[j][e], p, own[e / 2], scale, query, key);
            }
        }
        multiply_others<!K_MN>(out, ds, tile);
#endif
        __syncthreads();   // all have read the buffer that is loaded next
    }
#if OF_KEYS
    store_rows(p.first, batch, kv_head, first + row, p.keys, p.depth, out, factor);
    store_rows(p.second, batch, kv_head, first + row, p.keys, p.values, out_v, 1.0f);
#else
    store_rows(p.first, batch, head, first + row, p.queries, p.depth, out, factor);
#endif
}
