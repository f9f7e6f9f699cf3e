// Products of f32 without tensor cores: C = epilogue(A B), every product and sum rounded as f32 has it.
//
// A block makes 128 x 128 with 256 threads, each 8 x 8 in registers as four squares of 4 x 4: eight numbers of both operands are read from shared memory
// for 64 products. K goes by 16; the next stage is on its way from memory to registers while one is multiplied.
//
// ABI
//   defines      A_MN, B_MN (contiguous along M or N in place of K), ALIGNED (rows are aligned to 16 bytes)
//   parameters   (GemmF32Params) by value
//   grid         (tiles, batch, parts of K), 256 threads
#include "epilogue.cuh"

constexpr int kTile = 128, kDepth = 16, kPitch = kTile + 4;

struct GemmF32Params {
    const float *a, *b;
    float *c;
    int m, n, k, part;                      // K of a part, a multiple of 16
    int tiles_m, tiles_n, group;            // groups of rows of tiles are walked column by column
    int a_modulo, b_modulo, batch;
    i64 a_stride, b_stride;                 // elements from one row (of M or N, or of K with A_MN, B_MN) to the next
    i64 a_batch, b_batch;
    i64 c_row, c_column, c_batch;
    float *partial;                         // where K is divided: sums by part, batch, row and column
    Epilogue epilogue;
};

// A thread's eight elements of a stage of one operand: two runs of four.
template <bool MN> struct Piece {
    float v[2][4];

    // Where run `i` of this thread is in a tile: its row (of M or N) and its K.
    static __device__ __forceinline__ int row(int i) { return MN ? int(threadIdx.x) % 32 * 4 : int(threadIdx.x) / 4 + i * 64; }
    static __device__ __forceinline__ int depth(int i) { return MN ? int(threadIdx.x) / 32 + i * 8 : int(threadIdx.x) % 4 * 4; }

    __device__ __forceinline__ void load(const float *base, i64 stride, int row0, int rows, int k0, int end) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int r = row0 + row(i), k = k0 + depth(i), lead = MN ? k : r, inner = MN ? r : k, leads = MN ? end : rows, inners = MN ? rows : end;
            const float *from = base + lead * stride + inner;
#if ALIGNED
            if (lead < leads && inner + 4 <= inners) {
                float4 x = *reinterpret_cast<const float4 *>(from);
                v[i][0] = x.x, v[i][1] = x.y, v[i][2] = x.z, v[i][3] = x.w;
                continue;
            }
#endif
#pragma unroll
            for (int j = 0; j < 4; j++) v[i][j] = lead < leads && inner + j < inners ? from[j] : 0.0f;
        }
    }

    __device__ __forceinline__ void store(float (*to)[kPitch]) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if constexpr (MN) {
                *reinterpret_cast<float4 *>(&to[depth(i)][row(i)]) = make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++) to[depth(i) + j][row(i)] = v[i][j];
            }
        }
    }
};

__device__ __forceinline__ void read8(float (&to)[8], const float *from) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float4 x = *reinterpret_cast<const float4 *>(from + i * 64);
        to[i * 4] = x.x, to[i * 4 + 1] = x.y, to[i * 4 + 2] = x.z, to[i * 4 + 3] = x.w;
    }
}

extern "C" __global__ void __launch_bounds__(256, 2) gemm_f32(const __grid_constant__ GemmF32Params p) {
    __shared__ __align__(16) float as[2][kDepth][kPitch], bs[2][kDepth][kPitch];
    int per_group = p.group * p.tiles_n, first = int(blockIdx.x) / per_group * p.group, within = int(blockIdx.x) - first * p.tiles_n;
    int rows = min(p.group, p.tiles_m - first), m0 = (first + within % rows) * kTile, n0 = within / rows * kTile;
    const float *a = p.a + int(blockIdx.y) % p.a_modulo * p.a_batch, *b = p.b + int(blockIdx.y) % p.b_modulo * p.b_batch;
    int begin = int(blockIdx.z) * p.part, end = min(begin + p.part, p.k);
    int row = int(threadIdx.x) / 16 * 4, column = int(threadIdx.x) % 16 * 4;

    float acc[8][8] = {};
    Piece<A_MN> next_a;
    Piece<B_MN> next_b;
    next_a.load(a, p.a_stride, m0, p.m, begin, end);
    next_b.load(b, p.b_stride, n0, p.n, begin, end);
    next_a.store(as[0]);
    next_b.store(bs[0]);
    __syncthreads();
    int stage = 0;
    for (int k = begin; k < end; k += kDepth, stage ^= 1) {
        bool more = k + kDepth < end;
        if (more) {
            next_a.load(a, p.a_stride, m0, p.m, k + kDepth, end);
            next_b.load(b, p.b_stride, n0, p.n, k + kDepth, end);
        }
#pragma unroll
        for (int i = 0; i < kDepth; i++) {
            float x[8], y[8];
            read8(x, &as[stage][i][row]);
            read8(y, &bs[stage][i][column]);
#pragma unroll
            for (int r = 0; r < 8; r++) {
#pragma unroll
                for (int c = 0; c < 8; c++) acc[r][c] = fmaf(x[r], y[c], acc[r][c]);
            }
        }
        if (more) {
            next_a.store(as[stage ^ 1]);
            next_b.store(bs[stage ^ 1]);
            __syncthreads();
        }
    }

    float *c = p.c + i64(blockIdx.y) * p.c_batch;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        int y = m0 + row + r / 4 * 64 + r % 4;
        if (y >= p.m) continue;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int x = n0 + column + i / 4 * 64 + i % 4;
            if (x >= p.n) continue;
            if (p.partial) {
                p.partial[((i64(blockIdx.z) * p.batch + blockIdx.y) * p.m + y) * p.n + x] = acc[r][i];
            } else {
                c[y * p.c_row + x * p.c_column] = epilogue(acc[r][i], p.epilogue, blockIdx.y, y, x);
            }
        }
    }
}
