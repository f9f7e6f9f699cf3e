// C[M, N] = epilogue(A[M, K] W[K, N]) on Hopper for weights of four bits with scales of groups of K, and many rows.
//
// As gemm_sm90.cu, but TMA loads the weights as they lie, and two more warpgroups widen each stage of them into the block of B that wgmma reads:
// neighbours of a byte are neighbours along N, so a row of 64 columns of one k becomes a row of 128 bytes of a block that is contiguous along N.
//
// ABI
//   defines      of tile_sm90.cuh with A_TYPE = B_TYPE (16 bits), B_MN 1, TRANSFORMED 2, CONSUMERS 2, TILE_N 128, no clusters but SPLIT; SCALE_TYPE
//                (T_BF16 or T_F16, that of A); UNSIGNED 0 or 1
//   parameters   (TensorMap a, TensorMap w, TensorMap c, W4Params), all by value
//   maps         a and c as in gemm_sm90.cu; w of bytes, rank 3, no swizzle: (N / 2, K, 1), box (TILE_N / 2, 64, 1)
//   grid         as in gemm_sm90.cu; block 640 threads; shared memory as there and STAGES * (4,096 + 8) more; groups are multiples of 64 of K, N of 32
#include "four_bits.cuh"
#include "tile_sm90.cuh"

struct W4Params {
    int m, n, k_stages, group;                     // group: stages of one row of scales
    Schedule schedule;
    const Element<SCALE_TYPE>::Raw *scales;        // (groups, N)
    i64 scale_row;
    Destination c;
    Epilogue epilogue;
};

struct Span {
    int first, count;
};
__device__ __forceinline__ Span span(const W4Params &p) {
    if constexpr (SPLIT == 1) return Span{0, p.k_stages};
    int rank = int(cluster_rank()), first = p.k_stages * rank / SPLIT;
    return Span{first, p.k_stages * (rank + 1) / SPLIT - first};
}

__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &a, const TensorMap &w, const W4Params &p, int first, int step) {
    Ring ring;
    Span k = span(p);
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        for (int i = 0; i < k.count; i++, ring.next()) {
            claim_stage(s, ring);
            tma_load(s.packed(ring.stage), w, s.full(ring.stage), tile.n / 2, (k.first + i) * kTileK, 0);
            load_a<A_MN>(s, ring, a, (k.first + i) * kTileK, tile.m, 0);
        }
    }
}

__device__ __forceinline__ u32 multiply_pair(u32 a, u32 b) {
    u32 r;
#if A_TYPE == T_BF16
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#endif
    return r;
}

// Eight neighbours in a word times their scales.
__device__ __forceinline__ void transform_word(u32 to, u32 word, const u32 *scales) {
    u32 x[4];
#pragma unroll
    for (int i = 0; i < 4; i++) x[i] = widen(word >> i * 4);   // columns i and i + 4
    shared_store(to, multiply_pair(__byte_perm(x[0], x[1], 0x5410), scales[0]), multiply_pair(__byte_perm(x[2], x[3], 0x5410), scales[1]),
                 multiply_pair(__byte_perm(x[0], x[1], 0x7632), scales[2]), multiply_pair(__byte_perm(x[2], x[3], 0x7632), scales[3]));
}

__device__ __forceinline__ void load_scales(u32 (&scales)[16], const W4Params &p, int group, int column) {
    const Element<SCALE_TYPE>::Raw *from = p.scales + group * p.scale_row;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        uint4 v = *reinterpret_cast<const uint4 *>(from + min(column + j * 8, p.n - 8));
        scales[j * 4] = v.x, scales[j * 4 + 1] = v.y, scales[j * 4 + 2] = v.z, scales[j * 4 + 3] = v.w;
    }
}

// The transforming warpgroups: a thread has 32 columns of one k of every stage. Scales are on their way while those before them are used.
__device__ __forceinline__ void transform_tiles(const Shared &s, const W4Params &p, int first, int step) {
    Ring ring;
    Span k = span(p);
    int row = threadIdx.x % 64, part = threadIdx.x % 256 / 64, last = (p.k_stages - 1) / p.group;
    for (int t = first; t < p.schedule.count(); t += step) {
        int column = p.schedule.at(t).n + part * 32, group = -1;
        u32 scales[16], next[16];
        load_scales(next, p, k.first / p.group, column);
        for (int i = 0; i < k.count; i++, ring.next()) {
            int now = (k.first + i) / p.group;
            if (now != group) {
                group = now;
#pragma unroll
                for (int j = 0; j < 16; j++) scales[j] = next[j];
                load_scales(next, p, min(now + 1, last), column);
            }
            barrier_wait(s.full(ring.stage), ring.phase);
            u32 to = s.b(ring.stage) + part / 2 * 8192 + row * 128;
            uint4 v = shared_load16(s.packed(ring.stage) + row * (TILE_N / 2) + part * 16);
            u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++) transform_word(to + ((part % 2 * 4 + i) ^ row % 8) * 16, words[i], scales + i * 4);
            fence_async_proxy();
            barrier_arrive(s.ready(ring.stage));
        }
    }
}

__device__ __forceinline__ void multiply_tiles(const Shared &s, const TensorMap &c, const W4Params &p, int consumer, int first, int step) {
    Ring ring;
    int turn = 0;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        Block block{p.m, p.n, 0, tile.m, tile.n};
        Acc acc[kBlocksM][TILE_N / 2];
        accumulate(s, ring, consumer, span(p).count, acc);
        if constexpr (SPLIT == 1) {
            store_rows<TILE_N>(s, c, p.c, MatrixPlace{}, consumer, acc, p.epilogue, block, turn);
        } else {
            Acc sum[kBlocksM][kColumns / 2];
            add_partial_sums(s, consumer, acc, sum);
            block.column += int(cluster_rank()) * kColumns;
            if (block.column < tile.n + TILE_N) store_rows<kColumns>(s, c, p.c, MatrixPlace{}, consumer, sum, p.epilogue, block, turn);
        }
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm_w4_sm90(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap w, const __grid_constant__ TensorMap c,
                 const __grid_constant__ W4Params p) {
    Shared s = shared_layout();
    if (threadIdx.x == 0) {
        tma_prefetch(a);
        tma_prefetch(w);
        if (STORE != STORE_DIRECT) tma_prefetch(c);
    }
    start_block(s);

    int first = blockIdx.x / SPLIT, step = gridDim.x / SPLIT, warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        registers_lower<32>();
        if (threadIdx.x == 0) load_tiles(s, a, w, p, first, step);
        if constexpr (SPLIT > 1) cluster_sync();   // the consumers' one, in add_partial_sums
    } else if (warpgroup <= CONSUMERS) {
        registers_raise<144>();
        multiply_tiles(s, c, p, warpgroup - 1, first, step);
    } else {
        registers_lower<80>();
        transform_tiles(s, p, first, step);
        if constexpr (SPLIT > 1) cluster_sync();
    }
    finish_block();
}
