// Transpositions: elements that are neighbours in memory along one loop before and along another one afterwards, moved through shared memory in tiles of
// 64 x 64. Where all rows are aligned, both ways in words of 16 bytes.
//
// The header has UNIT, the type of the elements as words, LANES of them to 16 bytes, and `bases`, which adds where the tiles of batch `b` begin.
#include "args.cuh"

#define TILE 64
// Rows of a tile are an odd number of 32-bit words apart.
#define PITCH (TILE + (LANES > 4 ? LANES / 4 : 1))

extern "C" __global__ void __launch_bounds__(256) transpose(const __grid_constant__ Args a) {
    __shared__ __align__(16) UNIT tile[TILE][PITCH];
    const i64 count = a.tiles_r * a.tiles_c * a.batches;
    const bool aligned = a.vectors && (((u64)a.src_data | (u64)a.dst_data) & 15) == 0;
    for (i64 t = blockIdx.x; t < count; t += gridDim.x) {
        const i64 tc = t % a.tiles_c, rest = t / a.tiles_c, r0 = rest % a.tiles_r * TILE, c0 = tc * TILE;
        i64 from = a.src_origin, to = a.dst_origin;
        bases(a, (index)(rest / a.tiles_r), from, to);
        const UNIT* src = (const UNIT*)a.src_data + from + r0 * a.src_row + c0;
        UNIT* dst = (UNIT*)a.dst_data + to + c0 * a.dst_row + r0;
        const int rows = (int)min((i64)TILE, a.rows - r0), columns = (int)min((i64)TILE, a.columns - c0);
        if (aligned) {
            for (int i = threadIdx.x; i < TILE * TILE / LANES; i += 256) {
                const int r = i / (TILE / LANES), c = i % (TILE / LANES) * LANES;
                if (r < rows && c < columns) {
                    UNIT v[LANES];
                    *(uint4*)v = *(const uint4*)(src + r * a.src_row + c);
#pragma unroll
                    for (int j = 0; j < LANES; ++j) tile[r][c + j] = v[j];
                }
            }
        } else {
            for (int i = threadIdx.x; i < TILE * TILE; i += 256) {
                const int r = i / TILE, c = i % TILE;
                if (r < rows && c < columns) tile[r][c] = src[r * a.src_row + c];
            }
        }
        __syncthreads();
        if (aligned) {
            for (int i = threadIdx.x; i < TILE * TILE / LANES; i += 256) {
                const int c = i / (TILE / LANES), r = i % (TILE / LANES) * LANES;
                if (r < rows && c < columns) {
                    UNIT v[LANES];
#pragma unroll
                    for (int j = 0; j < LANES; ++j) v[j] = tile[r + j][c];
                    *(uint4*)(dst + c * a.dst_row + r) = *(uint4*)v;
                }
            }
        } else {
            for (int i = threadIdx.x; i < TILE * TILE; i += 256) {
                const int c = i / TILE, r = i % TILE;
                if (r < rows && c < columns) dst[c * a.dst_row + r] = tile[r][c];
            }
        }
        __syncthreads();
    }
}
