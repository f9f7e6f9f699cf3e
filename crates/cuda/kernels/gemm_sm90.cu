// C[batch, M, N] = epilogue(A[batch, M, K] B[batch, K, N]) on Hopper: persistent blocks, TMA, wgmma.
//
// One thread loads stages of A and B into a ring; two warpgroups multiply them, each half of a tile or every other tile (tile_sm90.cuh). Blocks take
// tiles in an order that keeps what they read in the second-level cache, and the loading thread runs ahead into the next tile while results are stored.
//
// ABI
//   parameters   (TensorMap a, TensorMap b, TensorMap c, GemmParams), all by value. With STORE_DIRECT, c is not read.
//   maps         rank 3, 128-byte swizzle, zeros beyond the tensor, element strides 1; dimensions, innermost first:
//                  a  A_MN 0: (K, M, batches), box (128 bytes, TILE_M / CLUSTER_N, 1)     A_MN 1: (M, K, batches), box (128 bytes, tile K, 1)
//                  b  B_MN 0: (K, N, batches), box (128 bytes, TILE_N / CLUSTER_M, 1)     B_MN 1: (N, K, batches), box (128 bytes, tile K, 1)
//                  c  STORE_TMA: (N, M, batches), box (128 bytes, 64, 1)     STORE_TMA_TRANSPOSED: (M, N, batches), box (128 bytes, as many columns or fewer, 1)
//                tile K is 128 bytes; columns is TILE_N, or max(8, TILE_N / SPLIT). Bases are aligned to 16 bytes, strides are multiples of 16.
//   grid         SPLIT 1: min(clusters that fit, tiles of clusters) * CLUSTER_M * CLUSTER_N; else tiles * SPLIT. In one dimension.
//   cluster      CLUSTER_M * CLUSTER_N, or SPLIT
//   block        128 * (1 + CONSUMERS) threads
//   shared       1,024 + STAGES * (TILE_M + TILE_N) * 128 + (STORE_DIRECT ? 0 : CONSUMERS * 16,384) + 16 * (STAGES + 1) bytes
//   f8           sums of the tensor cores keep 14 bits or so: PROMOTE adds them to f32 registers every so many stages
#include "tile_sm90.cuh"

struct GemmParams {
    int m, n, k_stages;          // of the product; stages of K in one part, at least SPLIT
    int parts;                   // K is divided in this many parts, stored as batches behind each other (for reduce.cu)
    Schedule schedule;           // in clusters; its batch counts parts too
    int a_divide, a_modulo;      // the operand's batch is batch / divide % modulo, so that broadcasts need no copies
    int b_divide, b_modulo;
    Destination c;
    Epilogue epilogue;
};

// Stages of K of this block: all of a part, or its share where the blocks of a cluster divide it.
struct Span {
    int first, count;
};
__device__ __forceinline__ Span span(const GemmParams &p, int part) {
    if constexpr (SPLIT == 1) return Span{part * p.k_stages, p.k_stages};
    int rank = int(cluster_rank()), first = p.k_stages * rank / SPLIT;
    return Span{first, p.k_stages * (rank + 1) / SPLIT - first};
}

__device__ __forceinline__ void load_tiles(const Shared &s, const TensorMap &a, const TensorMap &b, const GemmParams &p, int first, int step) {
    Ring ring;
    for (int t = first; t < p.schedule.count(); t += step) {
        Tile tile = p.schedule.at(t);
        int batch = tile.batch / p.parts;
        Span k = span(p, tile.batch - batch * p.parts);
        int batch_a = batch / p.a_divide % p.a_modulo, batch_b = batch / p.b_divide % p.b_modulo;
        for (int i = 0; i < k.count; i++, ring.next()) {
            claim_stage(s, ring);
            load_a<A_MN>(s, ring, a, (k.first + i) * kTileK, tile.m, batch_a);
            load_b<B_MN>(s, ring, b, (k.first + i) * kTileK, tile.n, batch_b);
        }
    }
}

__device__ __forceinline__ void multiply_tiles(const Shared &s, const TensorMap &c, const GemmParams &p, int consumer, int first, int step) {
    Ring ring;
    int turn = 0, stages = span(p, 0).count, before = consumer % kTurns;
    ring.skip(before * stages);
    for (int t = first + before * step; t < p.schedule.count(); t += kTurns * step, ring.skip((kTurns - 1) * stages)) {
        if (ALTERNATE && t != first) take_turn(consumer);
        Tile tile = p.schedule.at(t);
        Block block{p.m, p.n, tile.batch, tile.m, tile.n};
        Finish<TILE_N> finish(p.epilogue, block);
        Acc acc[kBlocksM][TILE_N / 2];
        accumulate(s, ring, consumer, stages, acc, t + step < p.schedule.count());
        if constexpr (SPLIT == 1) {
            store_rows<TILE_N>(s, c, p.c, MatrixPlace{}, consumer, acc, finish, block, turn);
        } else {
            Acc sum[kBlocksM][kColumns / 2];
            add_partial_sums(s, consumer, acc, sum);
            block.column += int(cluster_rank()) * kColumns;
            if (block.column < tile.n + TILE_N) store_rows<kColumns>(s, c, p.c, MatrixPlace{}, consumer, sum, Finish<kColumns>(p.epilogue, block), block, turn);
        }
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
              const __grid_constant__ GemmParams p) {
    Shared s = shared_layout();
    if (threadIdx.x == 0) {
        tma_prefetch(a);
        tma_prefetch(b);
        if (STORE != STORE_DIRECT) tma_prefetch(c);
    }
    start_block(s);

    constexpr int kBlocks = kCluster * SPLIT;
    int first = blockIdx.x / kBlocks, step = gridDim.x / kBlocks, warpgroup = warpgroup_index();
    if (warpgroup == 0) {
        if constexpr (CONSUMERS > 1) registers_lower<CONSUMERS == 2 ? 40 : 32>();
        if (threadIdx.x == 0) load_tiles(s, a, b, p, first, step);
        if constexpr (SPLIT > 1) cluster_meet();   // the consumers' one, in add_partial_sums
    } else {
        if constexpr (CONSUMERS > 1) registers_raise<CONSUMERS == 2 ? 232 : 160>();
        multiply_tiles(s, c, p, warpgroup - 1, first, step);
    }
    finish_block();
}
