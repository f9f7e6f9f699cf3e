// B of a product whose lines (N contiguous, one per k) begin at any multiple of an element, for gemm_sm90.cu. TMA needs addresses that are multiples of 16 bytes:
// of `period` neighbouring lines (2, 4 or 8) the first is aligned, so the tensor is described by periods, and line j of each is loaded from the aligned address
// before it on. Three warps shift the lines into the swizzled stage that wgmma reads.
//
//   map b   (extent of a period: (period - 1) * lead + N, K / period, batches), box (TILE_N + 8, 64 / period, 1), no swizzle
#pragma once
#include "tile_sm90.cuh"

static_assert(kTileK == 64 && (TILE_N == 64 || TILE_N == 128), "a warp aligns two or four lines at a time");

struct Lines {
    int lead;   // elements from one line to the next
    int bits;   // log2(period)

    // Lines of a stage that have the same place in their periods.
    __device__ __forceinline__ int of_run() const { return kTileK >> bits; }
};

// Loads a stage: row `run * of_run() + i` is line `run` of period i.
__device__ __forceinline__ void load_lines_of_b(const Shared &s, int stage, const TensorMap &map, const Lines &lines, int k, int n, int batch) {
    barrier_expect(s.lines_full(stage), kBytesLines);
    for (int run = 0; run < 1 << lines.bits; run++) {
        tma_load(s.lines(stage) + run * lines.of_run() * kLine, map, s.lines_full(stage), (run * lines.lead + n) & ~7, k >> lines.bits, batch);
    }
}

// The 16 bytes from word WORDS of 32 on, by `pick` of __byte_perm half a word later.
template <int WORDS> __device__ __forceinline__ uint4 shifted(const uint4 &a, const uint4 &b, u32 pick) {
    u32 w[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}, v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = __byte_perm(w[WORDS + i], w[WORDS + i + 1], pick);
    return make_uint4(v[0], v[1], v[2], v[3]);
}

enum : int { kUnits = TILE_N / 8, kRows = 32 / kUnits };   // 16-byte units of a line; lines of a warp at a time

// Aligns this lane's units of eight rows, in shared memory from `from` on; all loads are in flight at once.
template <int WORDS> __device__ __forceinline__ void align_rows(u32 from, const u32 (&to)[8 / kRows], u32 pick) {
    uint4 a[8 / kRows], b[8 / kRows];
#pragma unroll
    for (int i = 0; i < 8 / kRows; i++) a[i] = shared_load16(from + i * kRows * kLine), b[i] = shared_load16(from + i * kRows * kLine + 16);
#pragma unroll
    for (int i = 0; i < 8 / kRows; i++) {
        uint4 v = shifted<WORDS>(a[i], b[i], pick);
        shared_store(to[i], v.x, v.y, v.z, v.w);
    }
}

// An aligning warp: eight rows of a stage at a time, which are of one run, so that all lanes shift alike. A lane has 16 bytes of a line.
__device__ __forceinline__ void align_stage(const Shared &s, const Ring &ring, const Lines &lines, int aligner) {
    int lane = threadIdx.x % 32, unit = lane % kUnits;
    barrier_wait(s.lines_full(ring.stage), ring.phase);
#pragma unroll 1
    for (int first = aligner * 8; first < kTileK; first += kAligners * 8) {
        int row = first + lane / kUnits, run = first >> (6 - lines.bits), shift = run * lines.lead % 8;
        u32 from = s.lines(ring.stage) + row * kLine + unit * 16, pick = shift % 2 ? 0x5432 : 0x3210, to[8 / kRows];
#pragma unroll
        for (int i = 0; i < 8 / kRows; i++) {
            int line = (((row + i * kRows) & (lines.of_run() - 1)) << lines.bits) + run;
            to[i] = s.b(ring.stage) + unit / 8 * 8192 + line * 128 + (unit % 8 ^ line % 8) * 16;
        }
        if (shift < 2) align_rows<0>(from, to, pick);
        else if (shift < 4) align_rows<1>(from, to, pick);
        else if (shift < 6) align_rows<2>(from, to, pick);
        else align_rows<3>(from, to, pick);
    }
    fence_async_proxy();
    __syncwarp();
    if (lane == 0) barrier_arrive(s.full(ring.stage));
}
