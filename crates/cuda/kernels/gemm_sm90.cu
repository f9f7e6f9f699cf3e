// C[batch, M, N] = epilogue(A[batch, M, K] B[batch, K, N]) on Hopper (sm_90a): a persistent, warp-specialised GEMM with TMA and wgmma.
//
// Mapping. A CTA computes TILE_M x TILE_N tiles of C. At most as many CTAs are launched as the GPU has SMs (without SPLIT); each cluster starts at
// the tile of its index and strides by the number of clusters, in the order of Schedule, which keeps the operands of concurrent tiles in L2.
//   warpgroup 0    the producer: one thread issues TMA loads of A and B into a ring of STAGES stages in shared memory (load_tiles).
//   the others     CONSUMERS consumer warpgroups: wgmma from shared memory into f32 or s32 accumulators in registers, then the epilogue and
//                  the store (multiply_tiles). ALTERNATE 0 is the cooperative schedule: a consumer has TILE_M / CONSUMERS rows of every tile.
//                  ALTERNATE 1 is the ping-pong schedule: two consumers take alternate tiles, and one's epilogue overlaps the other's main loop.
// The producer does not wait at the end of a tile: it loads the next tile's stages while the consumers store this one. With several consumers,
// setmaxnreg moves registers from the producer to them. With TILE_N < 64 two CTAs fit an SM, this kernel's and one of the next, which starts while this one ends.
//
// Pipeline. A stage holds 128 bytes of K (64 elements of 16 bits) of TILE_M rows of A and TILE_N rows of B, in TMA's 128-byte swizzle, and has two
// mbarriers: `full` completes when TMA has written the bytes of the stage, `empty` when all consumers that read it have released it, in every CTA
// of the cluster. In a cluster of CLUSTER_M x CLUSTER_N CTAs, each CTA loads its share of the tiles that are common to a row or column of the
// cluster and multicasts it.
//
// Split-K, for too few tiles: SPLIT CTAs of a cluster divide K, exchange partial sums through distributed shared memory and each store a share of
// the columns; or `parts` parts of K are stored as f32 batches of C, which reduce_parts.cu adds. Both add in a fixed order.
//
// tile_sm90.cuh has the pipeline, the main loop, the epilogue and the stores, which conv_sm90.cu and others share; its head lists the defines.
//
// Interface
//   parameters   (TensorMap a, TensorMap b, TensorMap c, GemmParams), by value. With STORE_DIRECT and STORE_LINES c is not used.
//   maps         tiled mode, rank 3, 128-byte swizzle, zero fill, element strides 1; dimensions innermost first:
//                  a  A_MN 0: (K, M, batches), box (128 bytes, TILE_M / CLUSTER_N, 1)     A_MN 1: (M, K, batches), box (128 bytes, tile K, 1)
//                  b  B_MN 0: (K, N, batches), box (128 bytes, TILE_N / CLUSTER_M, 1)     B_MN 1: (N, K, batches), box (128 bytes, tile K, 1)
//                     REALIGN: as in realign.cuh
//                  c  STORE_TMA: (N, M, batches), box (128 bytes, 64, 1)
//                     STORE_TMA_TRANSPOSED: (M, N, batches), box (128 bytes, as many columns as a chunk has, 1)
//                tile K is the number of elements in 128 bytes; a CTA has TILE_N columns, or max(8, TILE_N / SPLIT). Bases and strides are multiples
//                of 16 bytes.
//   grid         1-D. SPLIT 1: min(SMs / cluster size, clusters of tiles) * cluster size; otherwise tiles * SPLIT.
//   cluster      CLUSTER_M * CLUSTER_N, or SPLIT
//   block        128 * (1 + CONSUMERS) threads
//   shared       1,024 (alignment) + STAGES * kBytesStage + (STORE_DIRECT ? 0 : CONSUMERS * kOwnChunks * kChunkBytes) + 16 * (STAGES + 1) bytes; with
//                REALIGN 8 * STAGES more
#include "tile_sm90.cuh"
#if REALIGN
#include "realign.cuh"
#endif

struct GemmParams {
    int m, n, k_stages;          // extent of C; stages of one part of K, at least SPLIT
    int parts;                   // parts of K; the batch index of C is batch * parts + part
    Schedule schedule;           // in clusters of tiles; its batch count includes the parts
    int a_divide, a_modulo;      // batch of the operand = batch / divide % modulo: broadcast without copies
    int b_divide, b_modulo;
#if REALIGN
    Lines lines;                 // of B
#endif
    Destination c;
    Epilogue epilogue;
};

// The stages of K that this CTA multiplies: all of a part, or with SPLIT the share of its rank in the cluster.
struct Span {
    int first, count;
};
__device__ __forceinline__ Span span(const GemmParams &p, int part) {
    if constexpr (SPLIT == 1) return Span{part * p.k_stages, p.k_stages};
    int rank = int(cluster_rank()), first = p.k_stages * rank / SPLIT;
    return Span{first, p.k_stages * (rank + 1) / SPLIT - first};
}

// The producer thread: for each tile and stage, waits until the stage is empty and issues the loads, which complete on its full barrier.
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
#if REALIGN
            load_lines_of_b(s, ring.stage, b, p.lines, (k.first + i) * kTileK, tile.n, batch_b);
#else
            load_b<B_MN>(s, ring, b, (k.first + i) * kTileK, tile.n, batch_b);
#endif
        }
    }
}

#if REALIGN
// The warps that align B, `aligner` being one of them.
__device__ __forceinline__ void align_tiles(const Shared &s, const GemmParams &p, int aligner, int first, int step) {
    Ring ring;
    for (int t = first; t < p.schedule.count(); t += step) {
        int count = span(p, p.schedule.at(t).batch % p.parts).count;
        for (int i = 0; i < count; i++, ring.next()) align_stage(s, ring, p.lines, aligner);
    }
}
#endif

// A consumer warpgroup: for each of its tiles, accumulates all stages, reduces over the cluster (SPLIT), applies the epilogue and stores.
// In the ping-pong schedule it skips the stages of the other consumer's tiles.
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

extern "C" __global__ void __launch_bounds__(kThreads, TILE_N < 64 ? 2 : 1)
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
        if constexpr (CONSUMERS > 1 && TILE_N >= 64) registers_lower<REALIGN ? 56 : CONSUMERS == 2 ? 40 : 32>();
        if (threadIdx.x == 0) load_tiles(s, a, b, p, first, step);
#if REALIGN
        if (threadIdx.x >= 32) align_tiles(s, p, threadIdx.x / 32 - 1, first, step);
#endif
        if constexpr (SPLIT > 1) cluster_meet();   // matches the consumers' cluster barrier in add_partial_sums
    } else {
        if constexpr (CONSUMERS > 1 && TILE_N >= 64) registers_raise<CONSUMERS == 2 ? (REALIGN ? 224 : 232) : (REALIGN ? 152 : 160)>();
        multiply_tiles(s, c, p, warpgroup - 1, first, step);
    }
    finish_block();
}
