// C[M, N] = epilogue(A[M, K] W[K, N]) on Hopper for 4-bit weights with scales per group of K (mixed-input GEMM).
//
// The transposed product C^T = W^T A^T, so that W^T is wgmma's register operand: weights are converted in registers and not written back to shared memory,
// whose bandwidth A needs. The pipeline, producer and split-K cluster are those of tile_sm90.cuh; its "A" is W^T and its "B" is A of this product.
//
// A byte holds two weights that are neighbours along N, so a word of ldmatrix.trans holds four columns of two k. The order of rows within an instruction is
// free: the two nibbles at the same position of both k make one register of the operand (two k of one row). The two consumers take different bytes of these
// words (own_column). A consumer converts the next stage while wgmma multiplies one.
//
// Interface
//   defines      of tile_sm90.cuh with A_TYPE = B_TYPE (16 bits), A_MN 0, B_MN 0, PACKED_A 1, CONSUMERS 2, TILE_M 128 (columns of C), TILE_N 8, 16, 32, 64,
//                128 or 256 (rows of C), STORE_DIRECT, no clusters but SPLIT; UNSIGNED 0 or 1; PAIRED 1: C is aligned to two of its elements
//   parameters   (TensorMap w, TensorMap scales, TensorMap a, W4Params), by value
//   maps         w of bytes, rank 3, 64-byte swizzle: (N / 2, K, 1), box (64, 64, 1); scales of A's type: (N, K / group, 1), no swizzle, box (128, 1, 1); a as b in
//                gemm_sm90.cu: (K, M, 1), box (64, TILE_N, 1)
//   grid         as in gemm_sm90.cu; block 384 threads; shared memory 1,024 + STAGES * (4,096 + TILE_N * 128 + 256 + 16) + 16 bytes
//   sizes        groups are multiples of 64 of K, N of 32
#include "four_bits.cuh"
#include "tile_sm90.cuh"

struct W4Params {
    int n, m, k_stages, group;   // columns and rows of C; stages of K; stages per group of scales
    Schedule schedule;           // its M is N of C
    C::Raw *c;
    i64 c_row;
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

__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &w, const TensorMap &scales, const TensorMap &a, const W4Params &p, int first,
                                           int step) {
    Ring ring;
    Span k = span(p);
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        for (int i = k.first; i < k.first + k.count; i++, ring.next()) {
            claim_stage(s, ring);
            tma_load(s.a(ring.stage), w, s.full(ring.stage), tile.m / 2, i * kTileK, 0);
            tma_load(s.scales(ring.stage), scales, s.full(ring.stage), tile.m, i / p.group, 0);
            load_b<false>(s, ring, a, i * kTileK, tile.n, 0);
        }
    }
}

// ---- consumers: main loop ----------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ u32 multiply_pair(u32 a, u32 b) {
    u32 r;
#if A_TYPE == T_BF16
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#endif
    return r;
}

// A stage of wgmma's register operand. Rows g and g + 8 of lane (g, q) are column own_column() of the tile and the next one.
typedef u32 Widened[kStepsK][4];
__device__ __forceinline__ int own_column(int consumer) { return int(threadIdx.x) % 128 / 32 * 32 + int(threadIdx.x) % 32 / 4 * 4 + consumer * 2; }

__device__ __forceinline__ void widen_stage(Widened &w, const Shared &s, int stage, int consumer) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, shift = consumer * 8;
    u32 at = s.a(stage) + lane * 64 + ((warp ^ (lane >> 1 & 3)) * 16), words[2 * kStepsK];
    matrix_load4_transposed(words, at);   // 8 k each
    matrix_load4_transposed(words + 4, at + 2048);
    u32 scales = shared_load(s.scales(stage) + own_column(consumer) * 2);
    u32 even = __byte_perm(scales, 0, 0x1010), odd = __byte_perm(scales, 0, 0x3232);
#pragma unroll
    for (int k = 0; k < kStepsK; k++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            w[k][h * 2] = multiply_pair(widen(words[k * 2 + h] >> shift), even);
            w[k][h * 2 + 1] = multiply_pair(widen(words[k * 2 + h] >> (shift + 4)), odd);
        }
    }
}

// The main loop: accumulates `stages` stages (one or more).
__device__ __forceinline__ void accumulate_widened(const Shared &s, Ring &ring, int consumer, int stages, Acc (&acc)[1][TILE_N / 2]) {
    Widened w[2];
    int previous = 0;
    for (int done = 0; done < stages; done += 2) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            if (done + h == stages) break;
            barrier_wait(s.full(ring.stage), ring.phase);
            widen_stage(w[h], s, ring.stage, consumer);
            u64 b = descriptor_k_major(s.b(ring.stage));
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < kStepsK; k++) WgmmaRegisters<TILE_N, 0>::multiply(acc[0], w[h][k], b + (k * 32 >> 4), k ? 1 : done + h);
            wgmma_commit();
            if (done + h) {
                wgmma_wait<1>();   // all but the group just committed: the previous stage and its registers are free
                release_stage(s, previous);
            }
            previous = ring.stage;
            ring.next();
        }
    }
    wgmma_wait<0>();
    release_stage(s, previous);
    wgmma_pin(acc[0]);
}

// ---- consumers: epilogue and stores ------------------------------------------------------------------------------------------------------

// Stores COLUMNS rows of C from `row` on, of the two neighbouring columns of C that this thread has.
template <int COLUMNS> __device__ __forceinline__ void store_pairs(const W4Params &p, const Acc (&acc)[COLUMNS / 2], int row, int column) {
    struct alignas(2 * sizeof(C::Raw)) Pair {
        C::Raw even, odd;
    };
    row += threadIdx.x % 4 * 2;
    if (column >= p.n) return;
#pragma unroll
    for (int j = 0; j < COLUMNS / 4; j++) {
        int m = row + j / 2 * 8 + j % 2, i = j / 2 * 4 + j % 2;
        if (m >= p.m) continue;
        C::Raw *to = p.c + m * p.c_row + column;
        C::Raw even = C::store(epilogue(acc[i], p.epilogue, 0, m, column)), odd = C::store(epilogue(acc[i + 2], p.epilogue, 0, m, column + 1));
        if constexpr (PAIRED) {
            *reinterpret_cast<Pair *>(to) = Pair{even, odd};
        } else {
            to[0] = even, to[1] = odd;
        }
    }
}

__device__ __forceinline__ void multiply_tiles(const Shared &s, const W4Params &p, int consumer, int first, int step) {
    Ring ring;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        int column = tile.m + own_column(consumer);
        Acc acc[1][TILE_N / 2];
        accumulate_widened(s, ring, consumer, span(p).count, acc);
        if constexpr (SPLIT == 1) {
            store_pairs<TILE_N>(p, acc[0], tile.n, column);
        } else {
            Acc sum[1][kColumns / 2];
            add_partial_sums(s, consumer, acc, sum);
            int own = int(cluster_rank()) * kColumns;
            if (own < TILE_N) store_pairs<kColumns>(p, sum[0], tile.n + own, column);
        }
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, TILE_N <= 32 ? 2 : 1)
    gemm_w4_sm90(const __grid_constant__ TensorMap w, const __grid_constant__ TensorMap scales, const __grid_constant__ TensorMap a,
                 const __grid_constant__ W4Params p) {
    Shared s = shared_layout();
    if (threadIdx.x == 0) {
        tma_prefetch(w);
        tma_prefetch(scales);
        tma_prefetch(a);
    }
    start_block(s);

    int first = blockIdx.x / SPLIT, step = gridDim.x / SPLIT, warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        if constexpr (TILE_N > 32) registers_lower<40>();
        if (threadIdx.x == 0) load_tiles(s, w, scales, a, p, first, step);
        if constexpr (SPLIT > 1) cluster_meet();   // matches the consumers' cluster barrier in add_partial_sums
    } else {
        if constexpr (TILE_N > 32) registers_raise<232>();
        multiply_tiles(s, p, warpgroup - 1, first, step);
    }
    finish_block();
}
